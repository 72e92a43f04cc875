"""Cases of the binary family."""

import numpy as np

from tests.opcases import case, integers, normal, strings, uniform

NAN, INF = np.nan, np.inf
FLOATS = ("half", "bfloat16", "float32", "double")
COMPLEX = ("complex64", "complex128")
SIGNED = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
INTEGERS = (*SIGNED, *UNSIGNED)
X = np.array([1, -1, 1, -1, 5.5, -5.5, 5.5, 1, 0, INF, -1, NAN, 0, -7, 7], np.float32)
Y = np.array([INF, INF, -INF, -INF, 2, 2, -2, 0, 3, 2, 0.1, 1, NAN, 2, -2], np.float32)
# op: the dtypes of TensorFlow's kernel
ARITHMETIC = {
    "Add": (*FLOATS, *COMPLEX, *SIGNED, "uint8"),
    "AddV2": (*FLOATS, *COMPLEX, *INTEGERS),
    "Sub": (*FLOATS, *COMPLEX, *INTEGERS),
    "Mul": (*FLOATS, *COMPLEX, *INTEGERS),
    "Div": (*FLOATS, *COMPLEX, *INTEGERS),
    "RealDiv": (*FLOATS, *COMPLEX),
    "FloorDiv": (*FLOATS, *INTEGERS),
    "TruncateDiv": (*FLOATS, *INTEGERS),
    "FloorMod": (*FLOATS, *INTEGERS),
    "Mod": ("float32", "double", "int32", "int64"),
    "TruncateMod": ("float32", "double", "int32", "int64"),
    "DivNoNan": (*FLOATS, *COMPLEX),
    "MulNoNan": (*FLOATS, *COMPLEX),
    "Maximum": (*FLOATS, *INTEGERS),
    "Minimum": (*FLOATS, *INTEGERS),
    "SquaredDifference": (*FLOATS, *COMPLEX, "int32", "int64"),
    "Pow": (*FLOATS, *COMPLEX),
    "Atan2": FLOATS,
}
DIVISIONS = ("Div", "FloorDiv", "TruncateDiv", "FloorMod", "Mod", "TruncateMod")
ORDER = ("Less", "LessEqual", "Greater", "GreaterEqual")


def operand(size, dtype, seed):
    if dtype in INTEGERS:
        low = 1 if dtype in UNSIGNED else -9
        values = integers(*size, low=low, high=9, dtype=dtype, seed=seed)
        return np.where(values == 0, 3, values).astype(values.dtype)
    if dtype in COMPLEX:
        return normal(*size, dtype=dtype, seed=seed)
    return uniform(*size, low=0.4, high=3, dtype=dtype, seed=seed)


def arithmetic():
    cases = []
    for op, types in ARITHMETIC.items():
        cases += [case(op, operand((2, 3), t, 0), operand((3,), t, 1)) for t in types]
        cases += [
            case(op, normal(2, 1, 3, dtype="double") + 4, normal(4, 1, dtype="double") + 4),
            case(op, normal(0, 3), normal(1, 3)),
            case(op, normal(3), normal(2)),
            case(op, np.float32(2), np.float32(3)),
        ]
        if "float32" in types:
            cases.append(case(op, X, Y))
    return cases


def smallest(dtype):
    """Numbers around a dtype's smallest number, and divisors without overflow of the quotients."""
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    return np.array([low, low, low, low + 1, -1, 1, high], dtype), np.array([low, high, 2, -1, low, low, low], dtype)


def edges(dtype, *more):
    """Numbers near the limits of a dtype, without its smallest, and small ones."""
    high = np.iinfo(dtype).max
    return np.array([-high, 1 - high, -(high // 2), -1, 1, 3, high // 2 + 1, high - 1, high, *more], dtype)


def integer_corners():
    low = np.array([-128, 7, -7, 7, -7, 127], np.int8)
    by = np.array([-1, 2, 2, -2, -2, 127], np.int8)
    cases = [case(op, low, by) for op in ("AddV2", "Sub", "Mul", "Div", "FloorDiv", "TruncateDiv", "FloorMod")]
    cases += [case(op, np.int32([7, -7]), np.int32([2, -2])[:, None]) for op in DIVISIONS]
    cases += [case(op, integers(3), np.int32([1, 0, 2])) for op in DIVISIONS]
    cases += [case(op, *smallest(t)) for op in ("Div", "FloorDiv", "TruncateDiv", "TruncateMod") for t in ("int32", "int64")]
    cases += [case("Pow", integers(4, low=-5, high=5, dtype=t), integers(4, high=4, dtype=t)) for t in SIGNED]
    cases += [case("Pow", edges(t), np.array([0, 1, 2, 3, 7, 29], t)[:, None]) for t in SIGNED]
    cases += [case(op, edges(t), edges(t, -7, 7)[:, None]) for op in ("FloorDiv", "FloorMod") for t in SIGNED]
    return [
        *cases,
        case("Pow", np.int32([1, 2]), np.int32([-1, 2])),
        case("Pow", np.int8([2, 0, -3]), np.int8([8, 0, 3])),
        case("Pow", np.float32([-2, -2, 0, 0, INF, NAN]), np.float32([2, 0.5, 0, -1, 0, 0])),
        case("Maximum", X, np.float32(0.5)),
        case("Minimum", np.float32(0.5), X),
        case("MulNoNan", X, np.zeros(15, np.float32)),
        case("MulNoNan", np.zeros(15, np.float32), X),
        case("DivNoNan", X, np.zeros(15, np.float32)),
    ]


def comparisons():
    cases = []
    for op in ORDER:
        cases += [case(op, operand((2, 3), t, 0), operand((3,), t, 1)) for t in (*FLOATS, *INTEGERS)]
        cases += [case(op, X, Y), case(op, normal(3), normal(2)), case(op, normal(0), np.float32(1))]
    for op in ("Equal", "NotEqual"):
        types = (*FLOATS, *COMPLEX, *INTEGERS, "bool")
        cases += [case(op, integers(2, 3, high=2, dtype=t), integers(3, high=2, dtype=t)) for t in types]
        cases += [
            case(op, X, X),
            case(op, strings("a", "b", ""), strings("a", "c", "")),
            case(op, strings("a", "b"), "b"),
            case(op, "b", "b"),
            case(op, normal(3), normal(2)),
            case(op, normal(3), normal(2), incompatible_shape_error=False),
            case(op, normal(3), normal(1), incompatible_shape_error=False),
            case(op, normal(0), normal(0)),
        ]
    booleans = np.array([True, True, False, False]), np.array([True, False])[:, None]
    cases += [case(op, *booleans) for op in ("LogicalAnd", "LogicalOr")]
    cases += [case(op, booleans[0], booleans[0][:3]) for op in ("LogicalAnd", "LogicalOr")]
    return [
        *cases,
        case("ApproximateEqual", X, X + np.float32(1e-6)),
        case("ApproximateEqual", normal(4, dtype="double"), normal(4, dtype="double") + 0.1, tolerance=0.2),
        case("ApproximateEqual", np.float32([0, 1]), np.float32([0.25, 1.25]), tolerance=0.25),
        case("ApproximateEqual", normal(4), normal(1)),
    ]


def texts():
    return [
        case("Add", strings("a", "b"), "c"),
        case("Add", "a", "c"),
        case("Add", strings("a", "b"), strings("x", "y", "z")),
    ]


def clips():
    cases = [
        case("ClipByValue", integers(2, 3, low=1, high=9, dtype=t), *integers(2, low=3, high=5, dtype=t), differentiable=False)
        for t in (*FLOATS, *SIGNED, "uint8", "uint16")
    ]
    spread = normal(2, 3, dtype="double", scale=3)
    return [
        *cases,
        case("ClipByValue", spread, np.float64(-1), np.float64(1)),
        case("ClipByValue", spread, np.full((2, 3), -1.5), np.float64(1)),
        case("ClipByValue", spread, np.float64(-1), np.full((2, 3), 1.5)),
        case("ClipByValue", spread, np.full((2, 3), -1.5), np.full((2, 3), 1.5)),
        case("ClipByValue", X, np.float32(-1), np.float32(1)),
        case("ClipByValue", X, np.float32(1), np.float32(-1)),
        case("ClipByValue", normal(3), normal(2), np.float32(1)),
        case("ClipByValue", normal(3), np.float32([0]), np.float32(1)),
        case("ClipByValue", normal(0), np.float32(0), np.float32(1)),
        case("ClipByValue", np.complex64([1 + 2j, 3, -1]), np.complex64(0), np.complex64(2 + 1j)),
        *(
            case("ClipByValue", np.array([1, np.nan, 3, -2], t), np.array(low, t), np.array(high, t), differentiable=False)
            for t in ("float32", "float64", "float16")
            for low, high in ((0, np.nan), (np.nan, 2), (np.full(4, np.nan), np.nan))
        ),
    ]


def sums():
    cases = [case("AddN", [operand((2, 3), t, i) for i in range(3)]) for t in (*FLOATS, *COMPLEX, *INTEGERS)]
    return [
        *cases,
        case("AddN", [normal(2)]),
        case("AddN", [normal(0, 2), normal(0, 2)]),
        case("AddN", [normal(2), normal(3)]),
        case("AddN", [normal(2), np.float32(1)]),
        case("AccumulateNV2", [normal(2, 2), normal(2, 2)], shape=[2, 2]),
    ]


def shape_pairs():
    pairs = [
        ([2, 3], [2, 3]),
        ([1], [1]),
        ([2, 1, 3], [1, 3]),
        ([], [2, 1]),
        ([2, 1], [1]),
        ([0, 1], [1, 1]),
        ([5, 1, 4], [3, 1]),
        ([2, 3], [3, 3]),
        ([2], [0]),
        ([], []),
    ]
    cases = []
    for op in ("BroadcastArgs", "BroadcastGradientArgs"):
        cases += [case(op, np.array(a, t), np.array(b, t)) for a, b in pairs for t in (np.int32, np.int64)]
        cases += [case(op, np.int32(2), np.int32([2])), case(op, np.int32([[2]]), np.int32([2]))]
    return cases


def mismatches():
    """Shapes that do not fit come before divisors that are zero."""
    return [case(op, np.int32([1, 2]), np.int32([0, 1, 2])) for op in ("Div", "FloorDiv", "TruncateDiv", "TruncateMod")]


CASES = [*arithmetic(), *mismatches(), *integer_corners(), *comparisons(), *texts(), *clips(), *sums(), *shape_pairs()]
