"""Cases of the pooling family."""

import numpy as np

from tests.opcases import case, i32, integers, normal, unshaped

X = normal(2, 5, 6, 3, dtype="double")
VALID = {"ksize": [1, 2, 3, 1], "strides": [1, 1, 2, 1], "padding": "VALID"}
SAME = {"ksize": [1, 3, 3, 1], "strides": [1, 2, 2, 1], "padding": "SAME"}
FIRST = {"ksize": [1, 1, 2, 2], "strides": [1, 1, 2, 2], "padding": "VALID", "data_format": "NCHW"}
VALID3 = {"ksize": [1, 2, 2, 3, 1], "strides": [1, 1, 1, 2, 1], "padding": "VALID"}
SAME3 = {"ksize": [1, 3, 2, 3, 1], "strides": [1, 2, 2, 2, 1], "padding": "SAME"}
X3 = normal(2, 4, 5, 6, 2, dtype="double")


def maximum(x, attrs):
    """The result of MaxPool (window by window)."""
    pads = []
    for size, k, s in zip(x.shape[1:-1], attrs["ksize"][1:], attrs["strides"][1:]):
        need = max((-(-size // s) - 1) * s + k - size, 0) if attrs["padding"] == "SAME" else 0
        pads.append((need // 2, need - need // 2))
    padded = np.pad(x, [(0, 0), *pads, (0, 0)], constant_values=-np.inf)
    view = np.lib.stride_tricks.sliding_window_view(padded, attrs["ksize"][1:-1], tuple(range(1, x.ndim - 1)))
    step = tuple(slice(None, None, s) for s in attrs["strides"][1:-1])
    return view[(slice(None), *step)].max(tuple(range(x.ndim, view.ndim)))


def forward(op):
    return [
        case(op, X, **VALID),
        case(op, X, **SAME),
        case(op, normal(2, 3, 4, 5), **FIRST),
        case(op, normal(1, 4, 4, 2, dtype="half"), **SAME),
        case(op, normal(1, 4, 4, 2, dtype="bfloat16"), **VALID),
        case(op, np.zeros((0, 4, 4, 2)), **VALID),
        case(op, normal(4, 4, 2), **VALID),
    ]


def three_dimensions(op):
    return [
        case(op, X3, **VALID3),
        case(op, X3, **SAME3),
        case(op, normal(1, 3, 3, 3, 2), **SAME3),
        case(op, normal(3, 3, 2), **SAME3),
    ]


def gradients():
    results = []
    for op, x, all_attrs in (("MaxPool", X, (VALID, SAME)), ("MaxPool3D", X3, (VALID3, SAME3))):
        for attrs in all_attrs:
            y = maximum(x, attrs)
            dy = normal(*y.shape, dtype="double", seed=1)
            results += [
                case(f"{op}Grad", x, y, dy, differentiable=(2,), **attrs),
                case(f"{op}GradGrad", x, y, normal(*x.shape, dtype="double", seed=2), differentiable=(2,), **attrs),
            ]
    for op, x, all_attrs in (("AvgPool", X, (VALID, SAME)), ("AvgPool3D", X3, (VALID3, SAME3))):
        for attrs in all_attrs:
            dy = normal(*maximum(x, attrs).shape, dtype="double", seed=1)
            results.append(case(f"{op}Grad", i32(*x.shape), dy, **attrs))
    none = [normal(0, *maximum(X3, VALID3).shape[1:]) if i == 1 else normal(0, *X3.shape[1:]) for i in range(3)]
    return [*results, case("MaxPool3DGradGrad", *none, **VALID3)]


def ties():
    """Equal elements, maxima that are none, NaN and infinity."""
    results = []
    for op, shape, attrs in (("MaxPool", (2, 5, 6, 2), SAME), ("MaxPool3D", (1, 4, 5, 6, 2), VALID3)):
        x = integers(*shape, high=3, dtype="float")
        for y in (maximum(x, attrs), maximum(x, attrs) + np.float32(0.5)):
            y = y.astype(np.float32)
            results += [
                case(f"{op}Grad", x, y, normal(*y.shape), **attrs),
                case(f"{op}GradGrad", x, y, normal(*shape), **attrs),
            ]
    odd = normal(1, 4, 4, 2)
    odd[0, 1, 1], odd[0, 2:, 2:] = np.nan, -np.inf
    window = {"ksize": [1, 2, 2, 1], "strides": [1, 1, 1, 1], "padding": "VALID"}
    return [*results, case("MaxPool", odd, **window), case("MaxPoolWithArgmax", odd, **window)]


def not_finite():
    """NaN and -inf, also in windows that reach into the padding, and NaN among channels."""
    cases = []
    for channels in (1, 8):
        x = integers(2, 3, 4, 3, channels, low=-9, high=9, dtype="float")
        x[:, :, :2, :, ::2] = -np.inf
        beside = x.copy()
        beside.flat[::5] = np.nan
        wide = {"ksize": [1, 7, 2, 3, 1], "strides": [1, 2, 1, 1, 1], "padding": "SAME"}
        cases += [case("MaxPool3D", y, **attrs, differentiable=False) for y in (x, beside) for attrs in (SAME3, VALID3, wide)]
    groups = integers(2, 2, 2, 6, dtype="float")
    groups.flat[::5] = np.nan
    return [*cases, case("MaxPool", groups, ksize=[1, 1, 1, 3], strides=[1, 1, 1, 3], padding="VALID", differentiable=False)]


def second_versions():
    y = maximum(X, VALID)
    window, strides = i32(1, 2, 3, 1), i32(1, 1, 2, 1)
    return [
        case("MaxPoolV2", X, window, strides, padding="VALID"),
        case("MaxPoolV2", X, i32(1, 2, 3), strides, padding="VALID"),
        case("MaxPoolGradV2", X, y, normal(*y.shape, dtype="double"), window, strides, padding="VALID", differentiable=(2,)),
        case("MaxPoolGradGradV2", X, y, normal(*X.shape, dtype="double", seed=3), window, strides, padding="VALID"),
    ]


def with_argmax():
    y = maximum(X, VALID)
    places = integers(*y.shape, high=5 * 6 * 3, dtype="int64")
    op = "MaxPoolWithArgmax"
    return [
        case(op, X, **VALID),
        case(op, X, **SAME, include_batch_in_index=True),
        case(op, X, **SAME, Targmax="int32", differentiable=False),
        case(op, integers(1, 4, 4, 1, high=3), **SAME),
        case(op, normal(0, 4, 4, 1), **SAME),
        case("MaxPoolGradWithArgmax", X, normal(*y.shape, dtype="double"), places, **VALID),
        case("MaxPoolGradWithArgmax", X, normal(*y.shape, dtype="double"), places, **VALID, include_batch_in_index=True),
    ]


ONES = [1] * 5
CASES = [
    *forward("MaxPool"),
    *[c for c in forward("AvgPool") if c.feeds["x0:0"].shape != (2, 3, 4, 5)],
    *three_dimensions("MaxPool3D"),
    *three_dimensions("AvgPool3D"),
    *gradients(),
    *ties(),
    *not_finite(),
    *second_versions(),
    *with_argmax(),
    case("MaxPool", integers(1, 4, 4, 2), **SAME),
    case("MaxPool", normal(1, 2, 4, 4), ksize=[1, 2, 1, 1], strides=[1, 2, 1, 1], padding="SAME", data_format="NCHW"),
    *(
        unshaped("AvgPool3D", normal(1, 4, 6, 2), ksize=ONES, strides=ONES, padding="SAME", data_format=f)
        for f in ("NDHWC", "NCDHW")
    ),
    case(
        "AvgPool3DGrad", i32(2, 5, 4, 3, 2), normal(2, 3, 2, 2, 2),
        ksize=[1, 3, 2, 2, 1], strides=[1, 2, 2, 2, 1], padding="SAME",
    ),
    *(
        case("AvgPoolGrad", i32(3, 2, 2, 1), np.zeros(dims, np.float32), **SAME, differentiable=False)
        for dims in ((0, 1, 1, 1), (1, 0, 5, 2))
    ),
    unshaped("AvgPool3DGrad", i32(0, 3, 0), normal(1), ksize=ONES, strides=ONES, padding="SAME"),
    case("MaxPool", normal(1, 4, 4, 4), ksize=[1, 1, 1, 2], strides=[1, 1, 1, 2], padding="VALID"),
    case(
        "MaxPool", X, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="EXPLICIT",
        explicit_paddings=[0, 0, 1, 0, 0, 1, 0, 0],
    ),
    case("AvgPoolGrad", i32(2, 5, 6, 3), normal(2, 5, 5, 3, dtype="double"), **VALID),
]  # fmt: skip
