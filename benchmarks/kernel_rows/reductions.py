"""Reductions, sorting and counting."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .making import Row, fixed, indices, ints, normal, one, row, sizes, unit, words

_LARGE = normal(300, 1000)


def reduction_rows() -> Iterator[Row]:
    for op in ("Sum", "Mean", "Max", "Prod", "EuclideanNorm"):
        for axis in (0, 1):
            yield row(op, _LARGE, fixed(axis), note=f"axis {axis}")
        yield row(op, _LARGE, fixed(0, 1), note="all")
        yield row(op, normal(30, 100, 100), fixed(0, 2), note="outer and inner")
        yield row(op, normal(8, 4), fixed(1))
    yield row("Sum", ints(9, 300, 1000), fixed(0), note="int32")
    yield row("Mean", ints(9, 300, 1000), fixed(1), note="int32")
    for dtype in (np.float64, np.float16):
        yield row("Sum", _LARGE.astype(dtype), fixed(1), note=np.dtype(dtype).name)
    yield row("All", _LARGE > 0, fixed(1))
    yield row("Any", _LARGE > 0, fixed(0))
    for op in ("ArgMax", "ArgMin"):
        for axis in (0, 1):
            yield row(op, _LARGE, one(axis), note=f"axis {axis}")
    yield row("L2Loss", _LARGE)


def cumulative_rows() -> Iterator[Row]:
    for op in ("Cumsum", "Cumprod", "CumulativeLogsumexp"):
        for axis in (0, 1):
            yield row(op, _LARGE, one(axis), note=f"axis {axis}")
        yield row(op, normal(10), one(0))
    yield row("Cumsum", _LARGE, one(1), reverse=True, exclusive=True, note="reverse exclusive")
    yield row("Cumsum", ints(9, 300, 1000), one(1), note="int32")
    yield row("IsotonicRegression", normal(20, 100))


def softmax_rows() -> Iterator[Row]:
    for op in ("Softmax", "LogSoftmax"):
        for shape in ((300, 1000), (10000, 10), (4, 10)):
            yield row(op, normal(*shape))
    yield row("SoftmaxCrossEntropyWithLogits", _LARGE, unit(300, 1000))
    yield row("SparseSoftmaxCrossEntropyWithLogits", _LARGE, ints(1000, 300))
    yield row("SparseSoftmaxCrossEntropyWithLogits", normal(10000, 10), ints(10, 10000))


def sorting_rows() -> Iterator[Row]:
    yield row("InTopKV2", _LARGE, ints(1000, 300), one(5))
    for k in (1, 5, 100, 900):
        yield row("TopKV2", _LARGE, one(k), note=f"k {k}")
    yield row("TopKV2", normal(100000), one(10), note="k 10")
    yield row("TopKV2", normal(100000), one(50000), note="k 50000")
    yield row("TopKV2", ints(1000, 300, 1000), one(10), note="int32")
    yield row("TopKV2", normal(10), one(3))
    yield row("ApproxTopK", normal(8, 10000), k=10, reduction_dimension=-1, recall_target=0.95, is_max_k=True)
    yield row("NthElement", _LARGE, one(10))
    for dtype in (np.int32, np.int64, np.float32):
        yield row("UniqueV2", ints(1000, 100000, dtype=dtype), fixed(0), note=np.dtype(dtype).name)
    yield row("Unique", ints(100000, 100000))
    yield row("Unique", words(10000, length=2))
    yield row("Unique", ints(10, 20))
    yield row("UniqueV2", ints(3, 10000, 4), fixed(0), note="rows")
    yield row("UniqueWithCounts", ints(1000, 100000))
    yield row("ListDiff", ints(5000, 10000), ints(5000, 3000))
    yield row("LowerBound", np.sort(unit(16, 1000), 1), unit(16, 5000))
    yield row("UpperBound", np.sort(unit(1, 1000), 1), unit(1, 100000))
    yield row("UpperBound", np.sort(unit(1000, 10), 1), unit(1000, 10), note="many rows")


def counting_rows() -> Iterator[Row]:
    unweighted = fixed(dtype=np.float32)
    yield row("Bincount", ints(100, 100000), one(100), unweighted)
    yield row("DenseBincount", ints(100, 100000), one(100), unweighted)
    yield row("DenseBincount", ints(100, 1000, 100), one(100), unweighted)
    yield row("DenseBincount", ints(100, 1000, 100), one(100), unit(1000, 100), note="weights")
    splits, flat = np.arange(0, 10001, 10), ints(100, 10000)
    yield row("RaggedBincount", splits, flat, one(100), unweighted)
    sparse = indices(10000, 1000, 100), ints(100, 10000, dtype=np.int64), sizes(1000, 100)
    yield row("SparseBincount", *sparse, one(100, np.int64), unweighted)
    yield row("DenseCountSparseOutput", ints(50, 500, 50), unweighted, binary_output=False)
    yield row("RaggedCountSparseOutput", splits, flat, unweighted, binary_output=False)
    yield row("Bucketize", _LARGE, boundaries=[-1.0, 0.0, 0.5, 2.0])
    yield row("HistogramFixedWidth", _LARGE, fixed(-2, 2, dtype=np.float32), one(100))
