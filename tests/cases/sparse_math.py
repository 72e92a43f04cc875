"""Cases of the sparse_math family."""

import itertools

import numpy as np

from tests.opcases import case, i32, i64, integers, normal, strings

INDICES = i64([0, 0], [0, 2], [1, 1])
VALUES = np.array([1.5, -2.0, 3.0])
SHAPE = i64(2, 3)
A = (INDICES, VALUES, SHAPE)
INTS = (INDICES, i32(7, -9, 4), SHAPE)


def reductions():
    cases = []
    for op in ("SparseReduceSum", "SparseReduceMax", "SparseReduceSumSparse", "SparseReduceMaxSparse"):
        cases += [case(op, *A, i32(*axes), keep_dims=k) for axes in ((0,), (1,), (0, 1), (-1, 1)) for k in (False, True)]
        cases += [case(op, *INTS, 0), case(op, *A, i32(2)), case(op, INDICES[:0], VALUES[:0], SHAPE, i32(0))]
        cases += [case(op, INDICES[::-1].copy(), VALUES, SHAPE, i32(0)), case(op, INDICES + 5, VALUES, SHAPE, i32(0))]
    for op, dtype in itertools.product(("SparseReduceMax", "SparseReduceMaxSparse"), ("half", "float", "double")):
        # A row ends with NaN, another has it in its first packet alone, and a third has only NaN.
        x = integers(4, 13, low=-9, high=9, dtype=dtype)
        x[0, ::4], x[1, :5], x[2] = np.nan, np.nan, np.nan
        cases += [case(op, np.argwhere(np.ones_like(x)), x.ravel(), i64(4, 13), i32(axis)) for axis in (0, 1)]
    return cases


def cwise():
    cases = []
    for op in ("SparseDenseCwiseAdd", "SparseDenseCwiseMul", "SparseDenseCwiseDiv"):
        cases += [case(op, *A, normal(*dims, dtype="double") + 3) for dims in ((2, 3), (3,), (2, 1), ())]
        cases += [case(op, *INTS, i32(2, 5, -2)), case(op, *A, normal(2, dtype="double"))]
        cases += [case(op, *A, normal(1, 2, 3, dtype="double"))]
        cases += [case(op, INDICES + 3, VALUES, SHAPE, normal(3, dtype="double"))]
    rows = i64([0, 0, 1], [0, 0, 2], [0, 1, 0], [1, 1, 1])
    return [
        *cases,
        case("SparseDenseCwiseDiv", *INTS, i32(2, 0, 1)),
        case("SparseSoftmax", *A),
        case("SparseSoftmax", rows, normal(4, dtype="double"), i64(2, 2, 3)),
        case("SparseSoftmax", rows[:0], normal(0), i64(2, 2, 3)),
        case("SparseSoftmax", i64([3, 0], [-1, 5], [3, 1]), normal(3), i64(1, 2), differentiable=False),
        case("SparseSoftmax", INDICES[:, :1].copy(), VALUES, i64(3)),
    ]


def products():
    dense = normal(3, 2, dtype="double")
    complex_, wide = normal(3, dtype="complex64"), normal(4, 2, dtype="complex64")
    zeros = np.array([[0, 1], [0, 0]], np.float32)
    infinite = np.array([[np.inf, 2], [np.nan, 0]], np.float32)
    return [
        case("SparseMatMul", normal(2, 3), normal(3, 4), a_is_sparse=True),
        *(
            case("SparseMatMul", *pair, a_is_sparse=a, b_is_sparse=b, transpose_a=flip, differentiable=False)
            for pair in ((zeros, infinite), (infinite, zeros))
            for a, b in ((False, False), (True, False), (False, True), (True, True))
            for flip in (False, True)
        ),
        case("SparseMatMul", normal(3, 2), normal(4, 3, dtype="bfloat16"), transpose_a=True, transpose_b=True),
        case("SparseMatMul", normal(0, 3), normal(3, 4)),
        case("SparseMatMul", normal(2, 3), normal(2, 4)),
        case("SparseMatMul", normal(3), normal(3, 4)),
        case("SparseTensorDenseAdd", *A, normal(2, 3, dtype="double")),
        case("SparseTensorDenseAdd", INDICES.astype(np.int32), VALUES, SHAPE.astype(np.int32), normal(2, 3, dtype="double")),
        case("SparseTensorDenseAdd", *A, dense),
        case("SparseTensorDenseAdd", INDICES + 1, VALUES, SHAPE, normal(2, 3, dtype="double")),
        case("SparseTensorDenseMatMul", *A, dense),
        case("SparseTensorDenseMatMul", *A, normal(2, 4, dtype="double"), adjoint_a=True),
        case("SparseTensorDenseMatMul", *A, normal(4, 3, dtype="double"), adjoint_b=True),
        case("SparseTensorDenseMatMul", INDICES, complex_, SHAPE, wide, adjoint_a=True, adjoint_b=True),
        case("SparseTensorDenseMatMul", *INTS, dense.astype(np.int32)),
        case("SparseTensorDenseMatMul", INDICES, VALUES.astype(np.float16), SHAPE, dense.astype(np.float16)),
        case("SparseTensorDenseMatMul", i64([0, 0], [0, 0]), VALUES[:2], SHAPE, dense),
        case("SparseTensorDenseMatMul", INDICES[:0], VALUES[:0], SHAPE, dense, differentiable=(3,)),
        *(
            case("SparseTensorDenseMatMul", INDICES, np.zeros_like(VALUES), SHAPE, b, differentiable=False)
            for b in (np.full_like(dense, np.nan), np.where(dense > 0, np.inf, dense))
        ),
        case("SparseTensorDenseMatMul", *A, dense[:2]),
        case("SparseTensorDenseMatMul", INDICES + 2, VALUES, SHAPE, dense),
    ]


def distances():
    hypothesis = (i64([0, 0], [0, 1], [0, 2], [1, 0]), i32(1, 2, 3, 9), i64(2, 3))
    truth = (i64([0, 0], [0, 1], [2, 0]), i32(1, 3, 4), i64(3, 2))
    words = (truth[0], strings(b"a", b"b", b"c"), truth[2])
    return [
        *(case("EditDistance", *hypothesis, *truth, normalize=n) for n in (True, False)),
        case("EditDistance", *words, *words),
        case("EditDistance", *hypothesis, truth[0][:0], truth[1][:0], truth[2]),
        case("EditDistance", *hypothesis, i64([0, 0, 0]), i32(1), i64(1, 1, 1)),
        case("EditDistance", i64([5, 0]), i32(1), i64(1, 1), i64([0, 0]), i32(1), i64(1, 1)),
    ]


CASES = [*reductions(), *cwise(), *products(), *distances()]
