"""Cases of the sparse family."""

import numpy as np

from tests.opcases import case, i64, normal, strings

INDICES = i64([0, 0], [0, 2], [1, 1])
VALUES = np.array([1.5, -2.0, 3.0])
SHAPE = i64(2, 3)
A = (INDICES, VALUES, SHAPE)
B = (i64([0, 1], [0, 2], [1, 1]), np.array([4.0, 2.0, -1.0]), SHAPE)
WORDS = (INDICES, strings(b"a", b"b", b"c"), SHAPE)
BACKWARDS = (INDICES[::-1].copy(), VALUES, SHAPE)
EMPTY = (INDICES[:0], VALUES[:0], SHAPE)
CUBE = (i64([0, 0, 1], [0, 1, 0], [1, 0, 0], [1, 1, 1]), np.arange(4.0), i64(2, 2, 2))


def structure():
    shapes = (i64(3, 2), i64(-1, 2), i64(6), i64(-1), i64(1, 2, -1), i64(4, -1), i64(3, 3), i64(-1, -1))
    return [
        *(case("SparseReorder", *parts) for parts in (A, BACKWARDS, WORDS, EMPTY, CUBE)),
        case("SparseReorder", INDICES, VALUES[:2], SHAPE),
        *(case("SparseReshape", INDICES, SHAPE, new) for new in shapes),
        case("SparseReshape", INDICES[:0], i64(0, 3), i64(-1, 3)),
        case("SparseReshape", np.array([[0, -1], [3, 1], [-2, 0]]), i64(2, 3), i64(3, 2)),
        case("SparseReshape", np.array([[5], [-7]]), i64(4), i64(4)),
        *(case("SparseReshape", np.array([[0, -1], [3, 1], [-2, 5]]), i64(2, 3), new) for new in (i64(2, 3), i64(-1, 3))),
        *(case("SparseReshape", np.array([[0, -1], [3, 1]]), i64(0, 3), new) for new in (i64(0, 3), i64(3, 0))),
        case("SparseReshape", INDICES[:0], i64(0, 3), i64(-1, 0)),
        *(case("SparseSplit", np.int64(axis), *A, num_split=n) for axis, n in ((0, 2), (1, 2), (1, 3), (-1, 1))),
        *(case("SparseSplit", np.int64(axis), *A, num_split=n) for axis, n in ((0, 3), (2, 1))),
        case("SparseSplit", np.int64(0), *WORDS, num_split=1),
        case("SparseSplit", np.int64(0), INDICES + 2, VALUES, SHAPE, num_split=1),
        *(case("SparseSlice", *A, i64(*s), i64(*n)) for s, n in (((0, 1), (9, 9)), ((0, 0), (1, 3)), ((5, 1), (2, 2)))),
        case("SparseSlice", *A, i64(0, 0), i64(0, 0)),
        case("SparseSlice", *A, i64(0, 0), i64(-1, 2)),
        case("SparseSlice", *A, i64(0), i64(1)),
        case("SparseSliceGrad", np.array([5.0, 7.0]), INDICES, i64(0, 1), i64([0, 1], [1, 0])),
        case("SparseSliceGrad", np.array([5.0, 7.0]), INDICES, i64(0, 1), i64([0, 1])),
        *(case("SparseConcat", [A[0], B[0]], [A[1], B[1]], [SHAPE, SHAPE], concat_dim=axis) for axis in (0, 1, -1, 2)),
        case("SparseConcat", [A[0], A[0]], [WORDS[1], WORDS[1]], [SHAPE, i64(2, 5)], concat_dim=1),
        case("SparseConcat", [A[0], A[0]], [A[1], A[1]], [SHAPE, i64(3, 3)], concat_dim=1, key="other shapes"),
        case("SparseConcat", [BACKWARDS[0], A[0]], [VALUES, VALUES], [SHAPE, SHAPE], concat_dim=0, key="sorted anew"),
    ]


def dense():
    zero = np.float64(-1)
    return [
        case("SparseToDense", INDICES, SHAPE, VALUES, zero),
        case("SparseToDense", INDICES.astype(np.int32), SHAPE.astype(np.int32), np.float64(2), zero),
        case("SparseToDense", i64(1, 3), i64(5), VALUES[:2], zero),
        case("SparseToDense", np.int64(1), i64(3), "x", "-"),
        case("SparseToDense", BACKWARDS[0], SHAPE, VALUES, zero),
        case("SparseToDense", BACKWARDS[0], SHAPE, VALUES, zero, validate_indices=False),
        case("SparseToDense", INDICES + 1, SHAPE, VALUES, zero, validate_indices=False),
        case("SparseToDense", i64(1, 1), i64(5), VALUES[:2], zero),
        case("SparseToDense", i64(1, 3), i64(5), VALUES, zero),
        case("SparseToDense", i64(1, 3), i64(5, 5), VALUES[:2], zero),
    ]


def sums():
    shifted = (INDICES, VALUES, i64(3, 3))
    cases = [case("SparseAdd", *A, *B, np.float64(t), differentiable=(1, 4)) for t in (0, 1, 5)]
    cases += [case(op, *A, *B, differentiable=(1, 4)) for op in ("SparseSparseMaximum", "SparseSparseMinimum")]
    cases += [case(op, *A, *EMPTY, differentiable=False) for op in ("SparseSparseMaximum", "SparseSparseMinimum")]
    cases += [case(op, *A, INDICES + 2, VALUES, SHAPE) for op in ("SparseSparseMaximum", "SparseSparseMinimum")]
    complex_ = normal(3, dtype="complex64")
    return [
        *cases,
        case("SparseAdd", INDICES, complex_, SHAPE, INDICES, complex_, SHAPE, np.float32(1)),
        case("SparseAdd", *A, *EMPTY, np.float64(0), differentiable=False),
        case("SparseAdd", *A, *shifted, np.float64(0)),
        case("SparseAdd", *BACKWARDS, *A, np.float64(0), differentiable=False),
        case("SparseAddGrad", np.arange(4.0), A[0], B[0], i64([0, 0], [0, 1], [0, 2], [1, 1])),
        case("SparseAddGrad", np.arange(3.0), A[0], B[0], i64([0, 0], [0, 1], [0, 2], [1, 1])),
    ]


def empty_rows():
    gaps = (i64([3, 1], [1, 0], [1, 2]), VALUES, i64(5, 3))
    return [
        case("SparseFillEmptyRows", *gaps, np.float64(9)),
        case("SparseFillEmptyRows", *WORDS, "-"),
        case("SparseFillEmptyRows", INDICES[:0], VALUES[:0], i64(2, 3), np.float64(9), differentiable=False),
        case("SparseFillEmptyRows", INDICES[:0], VALUES[:0], i64(0, 3), np.float64(9), differentiable=False),
        case("SparseFillEmptyRows", INDICES, VALUES, i64(1, 3), np.float64(9)),
        case("SparseFillEmptyRows", INDICES, VALUES, i64(2), np.float64(9)),
        case("SparseFillEmptyRows", INDICES, VALUES, i64(0, 3), np.float64(9)),
        *(case(f"{kind}FillEmptyRowsGrad", i64(2, 0), np.arange(4.0)) for kind in ("Sparse", "Ragged")),
        case("SparseFillEmptyRowsGrad", i64(2, 4), np.arange(4.0)),
    ]


CASES = [*structure(), *dense(), *sums(), *empty_rows()]
