"""Cases of the segments family."""

import numpy as np

from tests.opcases import case, i32, i64, integers, normal, wide

X = wide(4, 3)
SORTED = ("SegmentSum", "SegmentMean", "SegmentProd", "SegmentMin", "SegmentMax")
UNSORTED = ("UnsortedSegmentSum", "UnsortedSegmentProd", "UnsortedSegmentMin", "UnsortedSegmentMax")
SPARSE = ("SparseSegmentSum", "SparseSegmentMean", "SparseSegmentSqrtN")
NUMBERS = integers(6, 9, dtype="float").astype(np.float64)
NANS = np.where(integers(6, 9, dtype="int32") % 2 == 0, np.nan, NUMBERS)
ZEROS = np.array([[1.0, 0], [2, 0], [0, 3], [4, 5]])


def segments():
    cases = []
    for op in SORTED:
        cases += [case(op, X, ids) for ids in (i32(0, 0, 1, 1), i64(0, 2, 2, 4))]
        cases += [case(op, integers(4, 2, low=-9, dtype=t), i32(0, 0, 0, 2)) for t in ("int32", "half", "bfloat16", "uint8")]
        cases += [case(op, normal(4), ids) for ids in (i32(0, 1, 0, 1), i32(-1, 0, 0, 1), i32(0, 1))]
        cases += [case(op, normal(0, 2), np.zeros(0, np.int32)), case(op, normal(2, 0), i32(0, 1))]
        cases += [case(op, normal(1, 10, 1), i64(1676240524292489355))]
    tied = case("SegmentMax", np.ones((3, 1)), i32(0, 0, 0), differentiable=False)
    nans = [
        case(op, NANS[:, :width].astype(dtype), i32(0, 0, 0, 1, 2, 2), differentiable=False)
        for op in ("SegmentMin", "SegmentMax")
        for width, dtype in ((9, "float32"), (5, "float64"), (3, "float16"))
    ]
    return [*cases, case("SegmentProd", ZEROS, i32(0, 0, 1, 1)), tied, *nans]


def unsorted_segments():
    cases = []
    for op in UNSORTED:
        is_sum = op in UNSORTED[:2]
        cases += [case(op, X, ids, 4, differentiable=is_sum) for ids in (i32(2, 0, 2, -1), i64(3, 3, 3, 3), i32(1, 0, 0, 4))]
        cases += [case(op, X, i32(1, 0, -1, 1), 2)]
        cases += [case(op, X, i32([0, 1, 1], [2, 2, 0], [0, 0, 0], [-1, 1, 1]), 3)]
        cases += [case(op, integers(3, 2, low=-9, dtype=t), i32(1, 1, 0), 3) for t in ("int32", "half", "uint16", "int64")]
        cases += [case(op, normal(0, 2), np.zeros(0, np.int32), 2), case(op, normal(2), i32(0), 2)]
        cases += [case(op, normal(2), i32(0, 0), -1), case(op, np.float32(3), 1, np.int64(2))]
    nans = [case(op, NANS, i32(1, 0, 1, -1, 0, 1), 3, differentiable=False) for op in UNSORTED[2:]]
    return [*cases, case("UnsortedSegmentProd", ZEROS, i32(0, 0, 1, 1), 3), *nans]


def sparse_segments():
    cases = []
    for op in SPARSE:
        cases += [case(op, X, i32(3, 0, 3), ids) for ids in (i32(0, 0, 1), i64(0, 2, 2))]
        cases += [case(op, X, i64(3, 0), i32(0, 1), sparse_gradient=True)]
        cases += [case(op, normal(4, 2, dtype=t), i32(0, 1, 1), i32(0, 0, 2)) for t in ("half", "bfloat16", "float")]
        cases += [case(op, X, i32(4, 0), i32(0, 1)), case(op, X, i32(1, 0), i32(1, 0)), case(op, X, i32(1), i32(1, 0))]
        cases += [case(op, X, np.zeros(0, np.int32), np.zeros(0, np.int32))]
        cases += [case(op, np.full((4, 2), 30000, np.float16), i32(0, 1, 2, 3, 3), i32(0, 0, 0, 0, 1))]
        cases += [case(f"{op}WithNumSegments", X, i32(3, 0, 3), i32(0, 0, 2), count) for count in (5, 3, 2, -1)]
        cases += [case(f"{op}Grad", X, i32(1, 4, 1), i32(0, 0, 3), count) for count in (6, 3)]
        cases += [case(f"{op}GradV2", X, i32(5, 1, 5), i32(0, 0, 3), count) for count in (6, 3)]
        cases += [case(f"{op}Grad", normal(2, 2), i32(1), i32(2), 3)]
        cases += [case(f"{op}Grad{v}", normal(2, 2), i32(1), i32(5), 0, differentiable=False) for v in ("", "V2")]
    return cases


CASES = [*segments(), *unsorted_segments(), *sparse_segments()]
