"""Cases of the shapes family."""

import numpy as np

from tests.opcases import case, i32, i64, integers, normal, strings

X = normal(2, 3, dtype="double")


def questions():
    values = (X, np.float32(1), normal(0, 2), strings(b"a", b"b"))
    cases = [case(op, v, out_type=t) for op in ("Shape", "Size") for v in values for t in ("int32", "int64")]
    return [
        *cases,
        *(case("Rank", v) for v in values),
        case("ShapeN", [normal(2, 3), normal(), normal(0)], out_type="int64"),
        case("ShapeN", [normal(2, 3)]),
    ]


def changes():
    reshapes = [i32(6), i32(3, 2), i32(-1, 2), i64(1, -1, 1), i32(4, 2), i32(-1, 4), i32(-1, -1), i32(-2, 3)]
    expands = (0, 1, -1, -3, 3, -4)
    return [
        *(case("Reshape", X, dims) for dims in reshapes),
        case("Reshape", normal(0, 3), i32(-1, 2)),
        case("Reshape", normal(0, 3), i32(-1, 0)),
        case("Reshape", normal(3), i32(-1, 0)),
        case("Reshape", np.float32(3), i32(1, 1)),
        case("Reshape", normal(1), np.zeros(0, np.int32)),
        case("Reshape", strings(b"a", b"b"), i32(2, 1)),
        case("Reshape", normal(1), np.ones(254, np.int64)),
        *(case("ExpandDims", X, axis) for axis in expands),
        case("ExpandDims", X, i64(1)),
        case("ExpandDims", X, i32(0, 1)),
        *(case("Squeeze", normal(1, 3, 1, dtype="double"), squeeze_dims=dims) for dims in ([], [0], [-1], [0, 2])),
        case("Squeeze", normal(1, 3, 1), squeeze_dims=[1]),
        case("Squeeze", normal(1, 3, 1), squeeze_dims=[3]),
        case("BroadcastTo", X, i32(4, 2, 3)),
        case("BroadcastTo", normal(2, 1, dtype="double"), i64(2, 3)),
        case("BroadcastTo", np.float64(2), i32(2, 2)),
        case("BroadcastTo", normal(1, 3), i32(0, 3)),
        case("BroadcastTo", X, i32(3)),
        case("BroadcastTo", X, i32(2, 4)),
        case("BroadcastTo", strings(b"a"), i32(2)),
    ]


def fills():
    ones = ("half", "bfloat16", "double", "int8", "uint16", "int64", "complex64", "bool")
    return [
        case("Fill", i32(2, 3), np.float64(1.5)),
        case("Fill", i64(2), "text"),
        case("Fill", i32(0, 3), np.int64(1)),
        case("Fill", np.zeros(0, np.int32), np.bool_(True)),
        case("Fill", i32(-1), 1.0),
        case("Fill", i32(2), normal(2)),
        *(case("ZerosLike", integers(2, 2, dtype=t)) for t in ones),
        *(case("OnesLike", integers(2, 2, dtype=t)) for t in ones),
        case("ZerosLike", strings(b"a", b"b")),
        case("OnesLike", normal(0, 2)),
        case("Empty", i32(2, 3), dtype="float", init=True),
        case("Empty", i32(2), dtype="string", init=True),
        case("Empty", i32(-2), dtype="float", init=True),
    ]


def indices():
    hot = [case("OneHot", i32(0, 2, -1, 5), 3, 1.0, 0.0, axis=axis) for axis in (-1, 0, 1, 2)]
    dtypes = [case("OneHot", integers(2, 2, high=3, dtype=t), 3, 1.0, 0.0) for t in ("uint8", "int8", "int64")]
    return [
        *hot,
        *dtypes,
        case("OneHot", np.int64(1), 3, "yes", "no"),
        case("OneHot", i32(1), 0, np.int64(1), np.int64(0)),
        case("OneHot", i32(1), -1, 1.0, 0.0),
        case("OneHot", np.zeros((0, 2), np.int32), 3, np.bool_(True), np.bool_(False), axis=0),
        case("OneHot", i32(1), i32(3), 1.0, 0.0),
        case("InvertPermutation", i32(2, 0, 1)),
        case("InvertPermutation", i64(0)),
        case("InvertPermutation", np.zeros(0, np.int32)),
        case("InvertPermutation", i32(1, 1)),
        case("InvertPermutation", i32(0, 2)),
        case("InvertPermutation", i32(-1, 0)),
        case("UnravelIndex", i32(7, 5, 0), i32(3, 4)),
        case("UnravelIndex", np.int64(7), i64(2, 2, 3)),
        case("UnravelIndex", i32(-7, 1), i32(2, 2)),
        case("UnravelIndex", i32(12), i32(3, 4)),
        case("UnravelIndex", i32(1), i32(3, 0)),
        *(case("UnravelIndex", np.int32(i), i32()) for i in (0, -1, 5, [0], [0, 1])),
        case("UnravelIndex", np.int32(-7), i32(2**28, 2**28)),
        case("UnravelIndex", np.int64(-7), i64(2**62, 4)),
        case("UnravelIndex", np.zeros(0, np.int32), i32(3, 2)),
    ]


CASES = [*questions(), *changes(), *fills(), *indices()]
