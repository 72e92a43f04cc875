"""Cases of the counts family."""

import numpy as np

from tests.opcases import case, i32, i64

NONE = np.zeros(0, np.float32)
VALUES = i32(1, 1, 4, 0, 4, 7)
WEIGHTS = np.array([0.5, 1, 2, 3, 4, 5], np.float32)
LONG = (1 << 53) + np.arange(6)
INDICES = i64([0, 0], [0, 1], [2, 0], [2, 1], [2, 2], [3, 0])
SHAPE = i64(4, 3)
SPLITS = i64(0, 2, 2, 5, 6)


def counts():
    limits = ({}, {"minlength": 10}, {"maxlength": 5}, {"minlength": 3, "maxlength": 3}, {"maxlength": 0})
    results = []
    for binary in (False, True):
        for limit in limits:
            results += [case("DenseCountSparseOutput", VALUES, NONE, **limit, binary_output=binary)]
            results += [case("SparseCountSparseOutput", INDICES, VALUES, SHAPE, NONE, **limit, binary_output=binary)]
            results += [case("RaggedCountSparseOutput", SPLITS, VALUES, NONE, **limit, binary_output=binary)]
    plain = {"binary_output": False}
    return [
        *results,
        case("DenseCountSparseOutput", VALUES.reshape(2, 3), WEIGHTS.reshape(2, 3), **plain),
        case("DenseCountSparseOutput", VALUES.astype(np.int64), WEIGHTS.astype(np.int64), **plain),
        case("DenseCountSparseOutput", VALUES, WEIGHTS[:2], **plain),
        *(case("RaggedCountSparseOutput", s, VALUES, NONE, **plain) for s in (i64([0, 2], [5, 6]), i64([0, 6]), np.int64(0))),
        case("DenseCountSparseOutput", -VALUES, NONE, **plain),
        case("DenseCountSparseOutput", VALUES.reshape(1, 2, 3), NONE, **plain),
        case("DenseCountSparseOutput", VALUES[:0], NONE, **plain),
        case("SparseCountSparseOutput", INDICES, VALUES, SHAPE, WEIGHTS.astype(np.float64), **plain, differentiable=False),
        case("SparseCountSparseOutput", INDICES[:, :1].copy(), VALUES, i64(4), WEIGHTS, **plain),
        case("RaggedCountSparseOutput", SPLITS, VALUES, WEIGHTS, **plain),
        case("RaggedCountSparseOutput", SPLITS[1:], VALUES, WEIGHTS, **plain),
        case("RaggedCountSparseOutput", SPLITS[:-1], VALUES, WEIGHTS, **plain),
        *(case("RaggedCountSparseOutput", s, VALUES[:0], NONE, **plain) for s in (i64(0), i64(0, 0), i64(), i64([0], [0]))),
        case("RaggedCountSparseOutput", SPLITS, VALUES[:, None].copy(), NONE, **plain),
        case("SparseCountSparseOutput", INDICES[:0], VALUES[:0], i64(0, 2), NONE, **plain),
        case("SparseCountSparseOutput", INDICES[:0], VALUES[:0], i64(2, 0), NONE, **plain),
    ]


def bins():
    cases = []
    for binary in (False, True):
        cases += [case("SparseBincount", INDICES, VALUES, SHAPE, 5, w, binary_output=binary) for w in (NONE, WEIGHTS)]
        cases += [case("RaggedBincount", SPLITS, VALUES, 5, w, binary_output=binary) for w in (NONE, WEIGHTS)]
    return [
        *cases,
        case("SparseBincount", INDICES[:, :1].copy(), VALUES, i64(4), 9, WEIGHTS.astype(np.int32)),
        # Doubles would cut off the last digits of these sums.
        case("DenseCountSparseOutput", VALUES, LONG, binary_output=False),
        case("SparseCountSparseOutput", INDICES, VALUES, SHAPE, LONG, binary_output=False),
        case("RaggedCountSparseOutput", SPLITS, VALUES, LONG, binary_output=False),
        case("SparseBincount", INDICES, VALUES, SHAPE, 5, LONG),
        case("RaggedBincount", SPLITS, VALUES, 5, LONG),
        case("SparseBincount", INDICES, -VALUES, SHAPE, 5, NONE),
        case("SparseBincount", INDICES, VALUES, SHAPE, -1, NONE),
        case("RaggedBincount", SPLITS, VALUES.astype(np.int64), np.int64(9), NONE),
        case("RaggedBincount", SPLITS, -VALUES, 5, NONE),
        case("RaggedBincount", SPLITS + 1, VALUES, 5, NONE),
        case("RaggedBincount", SPLITS, VALUES[:, None].copy(), 5, NONE),
        case("RaggedBincount", i64(0), VALUES[:0], 2, WEIGHTS),
        case("SparseBincount", INDICES, VALUES, i64(4, 2), 5, NONE),
        case("SparseBincount", INDICES[:, :1].copy(), VALUES, i64(2), 5, NONE),
        case("SparseBincount", INDICES[:0], VALUES[:0], SHAPE, 5, WEIGHTS),
        case("SparseBincount", INDICES[:0, :1].copy(), VALUES[:0], i64(2), 5, WEIGHTS),
    ]


CASES = [*counts(), *bins()]
