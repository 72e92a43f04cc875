"""Cases of the quantize family."""

import numpy as np

from tests.opcases import case, graph_case, integers, normal, removed, unshaped


def f32(value):
    return np.asarray(value, np.float32)


X = normal(3, 4, scale=3)
EDGES = np.array([-7, -3, -1.5, -0.5, 0, 0.5, 1.5, 2.5, 9], np.float32)
BEYOND = np.array([-5, -1, -0.9999999, -0.5, 0, 0.3, 0.9999999, 1, 1.0000001, 5, 1e30, np.nan, np.inf, -np.inf], np.float32)


def quantize():
    types = ("quint8", "qint8", "quint16", "qint16")
    cases = [
        case("QuantizeV2", x, f32(low), f32(high), T=t, mode=m)
        for t in types
        for m in ("MIN_COMBINED", "MIN_FIRST", "SCALED")
        for x, low, high in ((X, -3, 5), (EDGES, -1.0, 2.0))
    ]
    scaled = {"T": "qint8", "mode": "SCALED"}
    lows, highs = f32([-1, -2, -3, 0]), f32([1, 3, 2, 4])
    return [
        *cases,
        case("QuantizeV2", EDGES, f32(-2), f32(3), round_mode="HALF_TO_EVEN", narrow_range=True, **scaled),
        *(
            case("QuantizeV2", EDGES, f32(-2), f32(3), T=t, mode=m, narrow_range=True)
            for t, m in (("quint8", "MIN_COMBINED"), ("qint8", "MIN_COMBINED"), ("qint8", "MIN_FIRST"))
        ),
        *(
            case("QuantizeV2", BEYOND, f32(-1), f32(high), T=t, mode=m)
            for t in (*types, "qint32")
            for m in ("MIN_COMBINED", "MIN_FIRST", "SCALED")
            for high in (0.1, 1)
        ),
        case("QuantizeV2", X, f32(1), f32(1), T="quint8"),
        case("QuantizeV2", X, f32(3), f32(1), T="quint8"),
        case("QuantizeV2", X, f32(-3), f32(1), T="qint32", mode="MIN_FIRST"),
        *(case("QuantizeV2", X, lows, highs, T="quint8", axis=1, mode=m) for m in ("MIN_COMBINED", "MIN_FIRST", "SCALED")),
        case("QuantizeV2", X, lows[:3], highs[:3], T="quint8", axis=1),
        case("QuantizeV2", X, f32(-3), f32(1), T="quint8", round_mode="HALF_TO_EVEN"),
    ]


def dequantize(kind, mode, dtype="float", bounds=(-3.0, 5.0), **attrs):
    """Integers of a quantized type (made by Bitcast) dequantized."""
    plain = kind.replace("q", "", 1)

    def build(g):
        info = np.iinfo(plain)
        x = g.constant(integers(3, 4, low=info.min, high=info.max, dtype=plain))
        low, high = ([-3.0, -1, 0, -2], [2.0, 4, 1, 3]) if "axis" in attrs else bounds
        g.Dequantize(g.Bitcast(x, type=kind), f32(low), f32(high), mode=mode, dtype=dtype, name="op", **attrs)
        return [["op:0"]]

    at = "" if bounds == (-3.0, 5.0) else f"_{bounds}"
    return graph_case(f"dequantize_{kind}_{mode}_{dtype}_{attrs}{at}", "Dequantize", build)


def both():
    low, high = np.float64(-2), np.float64(1.5)
    x = normal(3, 4, dtype="double", scale=2)
    op = "QuantizeAndDequantizeV2"
    ends = np.array([-np.inf, -3, -2, -0.0, 0, 1.5, 5, np.nan, np.inf])
    lows, highs = np.array([-1.0, -2, -3, 0]), np.array([1.0, 3, 2, 4])
    cases = [
        case(name, x, low, high, signed_input=s, range_given=g, num_bits=b, round_mode=r, differentiable=False)
        for name in (op, "QuantizeAndDequantizeV4")
        for s in (False, True)
        for g in (False, True)
        for b, r in ((8, "HALF_TO_EVEN"), (3, "HALF_UP"))
    ]
    return [
        *cases,
        case(op, x, lows, highs, axis=1, num_bits=4, narrow_range=True, differentiable=False),
        case(op, x.astype(np.float32), f32(1), f32(-1), range_given=True),
        case(op, x.astype(np.float32), f32(-1), f32(1), num_bits=63),
        case(op, x, lows, highs, range_given=True),
        case(op, x, low, high, axis=2),
        case("QuantizeAndDequantizeV3", x, low, high, np.int32(5), differentiable=False),
        case("QuantizeAndDequantizeV3", x, lows, highs, np.int32(5), axis=1, differentiable=False),
        case("QuantizeAndDequantizeV3", x, low, high, np.int32(0), differentiable=False),
        unshaped("QuantizeAndDequantizeV3", normal(dtype="double"), low, high, np.int32(8)),
        unshaped("QuantizeAndDequantizeV2", normal(dtype="double"), low, high),
        removed(
            "QuantizeAndDequantize",
            x.astype(np.float32),
            num_bits=5,
            range_given=True,
            input_min=-2.0,
            input_max=3.0,
            version=20,
        ),
        case("QuantizeAndDequantizeV4Grad", x, x * 1.3, low, high, differentiable=(0,)),
        case("QuantizeAndDequantizeV4Grad", x, x * 1.3, lows, highs, axis=1, differentiable=(0,)),
        case("QuantizeAndDequantizeV4Grad", x, x[:2], low, high),
        case("QuantizeAndDequantizeV4Grad", ends[::-1].copy(), ends, low, high, differentiable=False),
    ]


def fake():
    args, some, channel = (f"FakeQuantWithMinMax{s}" for s in ("Args", "Vars", "VarsPerChannel"))
    lows, highs = f32([-1, -2, -3, 0]), f32([1, 3, 2, 4])
    results = []
    for attrs in ({}, {"num_bits": 3}, {"num_bits": 4, "narrow_range": True}):
        results += [
            case(args, X, min=-3.0, max=1.0, **attrs),
            case(f"{args}Gradient", X * 2, X, min=-3.0, max=1.0, **attrs),
            case(some, X, f32(-3), f32(1), **attrs),
            case(f"{some}Gradient", X * 2, X, f32(-3), f32(1), **attrs),
            case(channel, X, lows, highs, **attrs),
            case(f"{channel}Gradient", X * 2, X, lows, highs, **attrs),
        ]
    return [
        *results,
        case(some, X, f32(0), f32(0)),
        case(f"{some}Gradient", X * 2, X, f32(0), f32(0)),
        case(some, X, f32(2), f32(5)),
        case(some, X, f32(-5), f32(-2)),
        case(some, X, f32([-5]), f32(-2)),
        case(channel, X, lows[:3], highs[:3]),
        case(args, X, min=1.0, max=-1.0),
        case(f"{some}Gradient", X[:2], X, f32(-3), f32(1)),
        case(channel, X[0], lows, highs),
    ]


CASES = [
    *quantize(),
    *(dequantize(t, m) for t in ("quint8", "qint8", "quint16", "qint16") for m in ("MIN_COMBINED", "MIN_FIRST", "SCALED")),
    dequantize("qint32", "MIN_FIRST"),
    *(dequantize(t, "MIN_FIRST", bounds=(-1.0, 0.1)) for t in ("quint8", "qint32")),
    dequantize("qint8", "SCALED", narrow_range=True),
    dequantize("qint8", "SCALED", axis=1),
    dequantize("quint8", "MIN_COMBINED", axis=1),
    dequantize("quint8", "MIN_COMBINED", dtype="bfloat16"),
    *both(),
    *fake(),
    *(
        case("FakeQuantWithMinMaxVars", np.float32([-3, -0.3, 0.2, 5]), *map(np.float32, limits), differentiable=False)
        for limits in ((3.25, 0.75), (1, -1), (-0.25, -2), (2, 2))
    ),
]  # fmt: skip
