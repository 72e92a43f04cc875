"""Cases of the reductions family."""

import numpy as np

from tests.opcases import case, integers, normal

NAN, INF = np.nan, np.inf
FLOATS = ("half", "bfloat16", "float32", "double")
COMPLEX = ("complex64", "complex128")
INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
ALL = (*FLOATS, *COMPLEX, *INTEGERS)
ORDERED = (*FLOATS, *INTEGERS)
TYPES = {"Sum": ALL, "Mean": ALL, "Prod": ALL, "EuclideanNorm": ALL, "Max": ORDERED, "Min": ORDERED}
MISSING = np.array([[NAN, 1.0, INF], [3.0, -INF, 2.0]], np.float32)


def axes(*values):
    return np.array(values, np.int32)


def numeric():
    cases = []
    for op, types in TYPES.items():
        cases += [case(op, integers(2, 3, low=1, high=90, dtype=t), axes(1)) for t in types]
        cases += [
            case(op, normal(2, 3, 4, dtype="double"), places, keep_dims=keep)
            for places in (axes(0), axes(-1, 0), axes(0, 1, 2), axes())
            for keep in (False, True)
        ]
        cases += [
            case(op, normal(2, 3), np.int32(1)),
            case(op, normal(2, 3), np.int64([-1])),
            case(op, np.float32(3), axes()),
            case(op, np.float32(-3), np.zeros(0, np.int64)),
            case(op, normal(0, 3), axes(0)),
            case(op, normal(2, 0), axes(0)),
            case(op, normal(2, 3), axes(2)),
            case(op, normal(2, 3), axes(0, -2)),
            case(op, MISSING, axes(1)),
            case(op, MISSING, axes(0)),
        ]
    return cases


WRAPPED_SQUARES = [
    ("int8", [12, 0]), ("int16", [182, 0]), ("int32", [46341, 0]), ("int32", [40000, 40000]), ("int32", [65536, 3]),
    ("int64", [3037000500, 0]), ("uint8", [182, 0]), ("uint32", [65536, 3]),
]  # fmt: skip


def corners():
    """Sums that overflow, means of integers, products with zeros, extremes that occur twice, extremes of nothing."""
    twice = np.array([[1.0, 3.0, 3.0], [2.0, 2.0, 2.0]])
    return [
        case("Sum", np.int8([100, 100]), axes(0)),
        case("Prod", np.int8([100, 100]), axes(0)),
        case("Mean", np.int32([1, -4, 0]), axes(0)),
        case("Mean", np.int8([100, 100, 100]), axes(0)),
        case("Mean", np.uint8([200, 100, 100]), axes(0)),
        case("Mean", np.int64([[1, 2], [-4, -5]]), axes(1)),
        case("EuclideanNorm", np.int32([3, 4, 1]), axes(0)),
        *(case("EuclideanNorm", np.array(x, t), axes(0)) for t, x in WRAPPED_SQUARES),
        case("EuclideanNorm", np.complex64([3, 4j]), axes(0)),
        *(case("EuclideanNorm", normal(100, dtype=t), axes(0)) for t in ("half", "bfloat16")),
        case("EuclideanNorm", np.full(3000, 30, np.float16), axes(0)),
        case("Prod", np.array([[2.0, 0.0, 3.0], [0.0, 0.0, 1.0]]), axes(1)),
        case("Sum", np.full(3000, 1, np.float16), axes(0)),
        case("Mean", np.full(3000, 60, np.float16), axes(0)),
        *(case(op, np.zeros((0, 2), t), axes(0)) for op in ("Max", "Min") for t in (np.float16, np.int32, np.uint8, np.int64)),
        *(case(op, twice, axes(1), differentiable=False) for op in ("Max", "Min")),
    ]


def logic():
    mixed = np.array([[True, False, True], [True, True, True]])
    return [
        case(op, x, places, keep_dims=keep)
        for op in ("All", "Any")
        for x, places in ((mixed, axes(1)), (mixed, axes(0, 1)), (np.zeros((0, 2), bool), axes(0)), (mixed, axes(5)))
        for keep in (False, True)
    ]


def extremes():
    cases = []
    for op in ("ArgMax", "ArgMin"):
        cases += [case(op, integers(3, 4, high=5, dtype=t), np.int32(1)) for t in (*ORDERED, "bool")]
        cases += [case(op, normal(2, 3, 4), np.int32(axis), output_type="int32") for axis in (0, -1, 1)]
        cases += [
            case(op, normal(2, 3), np.int64(0)),
            case(op, normal(2, 0), np.int32(0)),
            case(op, normal(2, 0), np.int32(1)),
            case(op, normal(2, 3), np.int32(2)),
            case(op, normal(2, 3), axes(0)),
            case(op, np.float32(2), np.int32(0)),
            case(op, MISSING, np.int32(1)),
            case(op, MISSING, np.int32(0)),
            case(op, np.full(3, NAN, np.float32), np.int32(0)),
        ]
    return [*cases, *(case("ArgMax", normal(4), np.int32(0), output_type=t) for t in ("int16", "uint16"))]


def ranges():
    types = ("int32", "int64", "float16", "float32", "float64")
    cases = [case("Range", np.array(1, t), np.array(9, t), np.array(3, t)) for t in types]
    return [
        *cases,
        case("Range", np.float32(0), np.float32(1), np.float32(0.1)),
        case("Range", np.float64(2), np.float64(-1), np.float64(-0.25)),
        case("Range", np.float32(0.3), np.float32(99), np.float32(0.1)),
        case("Range", np.float32(-3), np.float32(3), np.float32(0.01)),
        *(case("Range", np.array(5, t), np.array(-5, t), np.array(-0.7, t)) for t in ("float16", "bfloat16", "float32")),
        *(case("Range", np.array(0.1, t), np.array(20, t), np.array(0.3, t)) for t in ("float16", "bfloat16", "float32")),
        case("Range", np.float32(0), np.float32("inf"), np.float32(1)),
        case("Range", np.float32(-3e38), np.float32(3e38), np.float32(2e38)),
        case("Range", np.int64(0), np.int64(3 * 2**60 + 1), np.int64(2**60)),
        case("Range", np.int64(-(2**63)), np.int64(2**63 - 1), np.int64(2**62)),
        case("Range", 5, 0, -2),
        case("Range", 3, 3, 1),
        case("Range", 0, 5, 0),
        case("Range", 0, 5, -1),
        case("Range", 5, 0, 1),
        case("Range", np.int32([0, 1]), 5, 1),
        *(case("LinSpace", np.array(0, t), np.array(2, t), 5) for t in ("float32", "float64")),
        case("LinSpace", np.float32(1), np.float32(9), np.int64(1)),
        case("LinSpace", np.float32(1), np.float32(1), 3),
        case("LinSpace", np.float32(1), np.float32(9), 0),
        case("LinSpace", np.float32(1), np.float32(9), axes(2)),
    ]


CASES = [*numeric(), *corners(), *logic(), *extremes(), *ranges()]
