"""Cases of the joining family."""

import numpy as np

from tests.opcases import case, i32, i64, integers, normal, removed, strings, wide

X = wide(2, 3)


def concats():
    return [
        case("ConcatV2", [wide(2, 3), wide(1, 3)], 0),
        case("ConcatV2", [wide(2, 3), wide(2, 0), wide(2, 2)], np.int64(-1)),
        case("ConcatV2", [strings(b"a"), strings(b"b", b"c")], 0),
        case("ConcatV2", [integers(2, dtype="bfloat16"), integers(1, dtype="bfloat16")], 0),
        case("ConcatV2", [normal(2, 3), normal(2, 2)], 0),
        case("ConcatV2", [normal(2, 3), normal(2)], 0),
        case("ConcatV2", [normal(2), normal(2)], 1),
        case("Concat", 1, [wide(2, 3), wide(2, 1)]),
        case("Concat", 2, [wide(2, 3), wide(2, 1)]),
        case("ConcatOffset", 1, [i32(2, 3), i32(2, 4), i32(2, 1)]),
        case("ConcatOffset", -1, [i64(2, 3), i64(2, 4)]),
        case("ConcatOffset", 0, [i32(2, 3), i32(2, 4)]),
        case("ParallelConcat", [normal(1, 3), normal(1, 3, seed=1)], shape=[2, 3]),
        case("ParallelConcat", [normal(1, 3), normal(1, 0)], shape=[2, 3]),
        case("ParallelConcat", [normal(1, 3), normal(3)], shape=[2, 3]),
        *(case("Pack", [X, wide(2, 3, seed=1)], axis=axis) for axis in (0, 1, -1, -3, 3)),
        case("Pack", [np.float32(1)], axis=0),
        case("Pack", [strings(b"a"), strings(b"b")], axis=1),
        case("Pack", [normal(2), normal(3)]),
        case("Pack", [np.int32(3), np.int32(4)]),
    ]


def tiles_and_pads():
    return [
        case("Tile", X, i32(2, 3)),
        case("Tile", X, i64(1, 0)),
        case("Tile", np.float32(1), np.zeros(0, np.int32)),
        case("Tile", strings(b"a"), i32(3)),
        case("Tile", X, i32(2)),
        case("Tile", X, i32(2, -1)),
        removed("TileGrad", wide(4, 3), i32(2, 1), version=2),
        case("Pad", X, i32([1, 0], [0, 2])),
        case("Pad", X, i64([0, 0], [0, 0])),
        case("Pad", strings(b"a"), i32([1, 1])),
        case("Pad", np.float32(1), np.zeros((0, 2), np.int32)),
        case("Pad", X, i32([1, 0])),
        case("Pad", X, i32([1, -1], [0, 0])),
        case("PadV2", X, i32([1, 0], [0, 2]), np.float64(7), differentiable=(0,)),
        case("PadV2", integers(0, 2), i32([1, 0], [1, 1]), 5),
        case("PadV2", X, i32([1, 0], [0, 2]), wide(1)),
        *(case("MirrorPad", X, i32([1, 1], [2, 1]), mode=mode) for mode in ("REFLECT", "SYMMETRIC")),
        case("MirrorPad", X, i32([2, 2], [3, 3]), mode="SYMMETRIC"),
        case("MirrorPad", X, i32([2, 0], [0, 0]), mode="REFLECT"),
        case("MirrorPad", X, i64([0, 3], [0, 0]), mode="SYMMETRIC"),
        case("MirrorPad", X, i32([-1, 0], [0, 0]), mode="SYMMETRIC"),
        case("MirrorPad", strings(b"a", b"b"), i32([1, 1]), mode="REFLECT"),
        *(case("MirrorPadGrad", wide(4, 6), i32([1, 1], [2, 1]), mode=mode) for mode in ("REFLECT", "SYMMETRIC")),
        case("MirrorPadGrad", wide(3, 3), i32([2, 1], [0, 0]), mode="REFLECT"),
    ]


def permutations():
    y = wide(2, 3, 4)
    return [
        *(case("Transpose", y, perm) for perm in (i32(2, 0, 1), i64(0, 2, 1), i32(0, 0, 1), i32(1, 0))),
        case("Transpose", y, i32(-1, 0, 1), differentiable=False),
        case("Transpose", np.float32(1), np.zeros(0, np.int32)),
        case("Transpose", strings(b"a", b"b"), i32(0)),
        case("ConjugateTranspose", normal(2, 3, dtype="complex64"), i32(1, 0)),
        case("ConjugateTranspose", X, i32(1, 0)),
        *(case("ReverseV2", y, axes) for axes in (i32(0), i64(1, -1), np.zeros(0, np.int32), i32(1, 1), i32(3))),
        case("ReverseV2", strings(b"a", b"b"), i32(0)),
        *(case("Reverse", X, np.array(flags)) for flags in ([True, False], [True, True], [False, False], [True])),
        case("ReverseSequence", wide(2, 4), i64(3, 0), seq_dim=1, batch_dim=0),
        case("ReverseSequence", wide(3, 2, 2), i32(3, 2), seq_dim=0, batch_dim=1),
        case("ReverseSequence", strings([b"a", b"b"]), i64(2), seq_dim=1),
        case("ReverseSequence", wide(2, 4), i64(3, 5), seq_dim=1),
        case("ReverseSequence", wide(2, 4), i64(3), seq_dim=1),
        case("ReverseSequence", wide(2, 4), i64(3, 1), seq_dim=0),
        case("Roll", y, 1, 0),
        case("Roll", y, i32(1, -2, 5), i64(0, 2, 2)),
        case("Roll", y, i32(1, 2), i32(0)),
        case("Roll", y, 1, 3),
        case("Roll", np.float32(1), 1, 0),
        case("Roll", normal(0, 2), 1, 0),
    ]


CASES = [*concats(), *tiles_and_pads(), *permutations()]
