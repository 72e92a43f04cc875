"""Cases of the sets family."""

import numpy as np

from tests.opcases import case, i64, integers, normal, strings

OPERATIONS = ("a-b", "b-a", "intersection", "union")


A = integers(2, 2, 4, high=6)
B = integers(2, 2, 3, high=6, seed=1)
INDICES = i64([0, 0, 0], [0, 0, 1], [1, 1, 2])
SPARSE = (INDICES, np.array([5, 1, 1], np.int32), i64(2, 2, 3))
OTHER = (INDICES[1:], np.array([5, 1], np.int32), i64(2, 2, 9))
UNORDERED = (INDICES[::-1].copy(), *SPARSE[1:])
WORDS = (INDICES, strings(b"b", b"a", b"c"), i64(2, 2, 3))


def dense():
    words = strings([b"b", b"a", b"b"], [b"", b"c", b"c"])
    cases = [case("DenseToDenseSetOperation", A, B, set_operation=op, flops=28) for op in OPERATIONS]
    cases += [case("DenseToDenseSetOperation", words, words[::-1].copy(), set_operation=op, flops=12) for op in OPERATIONS]
    for t in ("int8", "uint16"):
        cases += [case("DenseToDenseSetOperation", A[0].astype(t), B[0].astype(t), set_operation="A-B")]
    return [
        *cases,
        case("DenseToDenseSetOperation", A, B[:, :1], set_operation="union"),
        case("DenseToDenseSetOperation", A[0, 0], B[0, 0], set_operation="union"),
        case("DenseToDenseSetOperation", A, B, set_operation="xor"),
        case("DenseToDenseSetOperation", integers(2, 0), integers(2, 0), set_operation="union"),
        case("DenseToDenseSetOperation", integers(0, 2), integers(0, 3), set_operation="union"),
    ]


def sparse():
    cases = [case("DenseToSparseSetOperation", A, *SPARSE, set_operation=op, flops=19) for op in OPERATIONS]
    cases += [case("SparseToSparseSetOperation", *SPARSE, *OTHER, set_operation=op, flops=5) for op in OPERATIONS]
    cases += [case("SparseToSparseSetOperation", *WORDS, *WORDS, set_operation=op) for op in OPERATIONS]
    return [
        *cases,
        case("DenseToSparseSetOperation", A[:1], *SPARSE, set_operation="union"),
        case("DenseToSparseSetOperation", A[..., :2].copy(), *SPARSE, set_operation="union", flops=11),
        case("SparseToSparseSetOperation", *SPARSE, *UNORDERED, set_operation="union"),
        case("SparseToSparseSetOperation", *SPARSE, INDICES + 1, *SPARSE[1:], set_operation="union"),
        case("SparseToSparseSetOperation", *SPARSE, INDICES[:0], SPARSE[1][:0], i64(2, 2, 0), set_operation="a-b", flops=3),
        case("SetSize", *SPARSE, flops=3),
        case("SetSize", *WORDS),
        case("SetSize", *SPARSE[:2], i64(2, 2, 2), validate_indices=False),
        case("SparseToSparseSetOperation", *SPARSE, *SPARSE[:2], i64(2, 2, 2), set_operation="union", validate_indices=False),
        case("SetSize", *UNORDERED),
        case("SetSize", *UNORDERED, validate_indices=False),
        case("SetSize", INDICES[:0], SPARSE[1][:0], i64(2, 3, 0), flops=0),
        case("SetSize", normal(3).astype(np.int64).reshape(3, 1), SPARSE[1], i64(2)),
    ]


CASES = [*dense(), *sparse()]
