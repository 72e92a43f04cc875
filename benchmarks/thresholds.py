"""The worth of thresholds in `core`: the same work with the fast way and without, in turn, on one thread.

    python -m benchmarks.thresholds [WORD ...]

Prints the least CPU time of each threshold, and the ratio without the way: below 1.03 a way does not pay.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

if __name__ == "__main__":
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # which NumPy reads when it is imported

import numpy as np

from tfg.core.numerics import channel_sums, convolution, elementwise, gemm, integers, linalg, sequences, winograd
from tfg.core.random import index_draws, philox

RUNS = 30
_NEVER = 1 << 60


class Threshold(NamedTuple):
    """A fast way: `module.name` is set to `off` for the runs without the way; `work` makes the timed call."""

    module: Any
    name: str
    off: Any
    what: str
    work: Callable[[], Callable[[], object]]


def drawn(*shape: int) -> Any:
    array = np.random.default_rng(0).standard_normal(shape, np.float32)
    array.flags.writeable = False
    return array


def convolved(x: tuple[int, ...], w: tuple[int, ...], bias: bool = False) -> Callable[[], Callable[[], object]]:
    """Return a convolution at stride 1 with a result of the size of the input."""

    def work() -> Callable[[], object]:
        images, filters, vector = drawn(*x), drawn(*w), drawn(w[-1]) if bias else None
        pads = [(k // 2, k // 2) for k in w[:-2]]
        return lambda: convolution.convolve(images, filters, [1, 1], pads, [1, 1], None, vector)

    return work


def turned_filter() -> Callable[[], object]:
    x, w = drawn(1, 7, 7, 512), drawn(3, 3, 512, 512)[::-1, ::-1].swapaxes(2, 3)
    return lambda: convolution.convolve(x, w, [1, 1], [(1, 1)] * 2, [1, 1])


def few_rows() -> Callable[[], object]:
    a, b = drawn(8, 1024), drawn(1024, 1024).T
    return lambda: gemm.matmul(a, b)


def narrow_product() -> Callable[[], object]:
    a, b, out = drawn(12544, 147), drawn(147, 64), np.empty((12544, 64), np.float32)
    return lambda: gemm.multiply(a, b, out)


def long_product() -> Callable[[], object]:
    a, b, out = drawn(100352, 32), drawn(100352, 64), np.empty((32, 64), np.float32)
    return lambda: gemm.add_long_product(a.T, b, out, True)


def turned_narrow_product() -> Callable[[], object]:
    a, b, out = drawn(100000, 32), drawn(16, 32).T, np.empty((100000, 16), np.float32)
    return lambda: gemm.multiply(a, b, out)


def large_erf() -> Callable[[], object]:
    x = drawn(1 << 20)
    return lambda: elementwise.erf(x)


def many(function: Callable[..., object], *arguments: Any) -> Callable[[], Callable[[], object]]:
    """A call of microseconds, made often enough to be timed."""
    return lambda: lambda: [function(*arguments) for _ in range(100)]


def shuffled() -> Callable[[], object]:
    indices, limits, seeds = np.arange(100), np.full(100, 99), np.ones((100, 3), np.int64)
    return lambda: index_draws.shuffle_indices(indices, limits, seeds, 4)


def never(*_: Any) -> bool:
    return False


ROWS, STREAM = drawn(1 << 16, 64), philox.Philox(3, 0)

THRESHOLDS = (
    Threshold(winograd, "suits", never, "Winograd's tiles, 14 x 14 x 256", convolved((8, 14, 14, 256), (3, 3, 256, 256))),
    Threshold(winograd, "suits", never, "Winograd's tiles, 224 x 224 x 64", convolved((1, 224, 224, 64), (3, 3, 64, 64))),
    Threshold(convolution, "LARGE_FILTER", _NEVER, "a turned filter by its places", turned_filter),
    Threshold(
        convolution, "_FEW_SUMS", _NEVER, "sums that begin with a vector", convolved((1, 56, 56, 64), (1, 1, 64, 256), True)
    ),
    Threshold(gemm, "_FEW_ROWS", 0, "few rows by a turned matrix", few_rows),
    Threshold(gemm, "rows_at_once_by", lambda b: 0, "narrow products by some rows", narrow_product),
    Threshold(gemm, "columns_at_once", lambda rows, columns: 0, "long products by some columns", long_product),
    Threshold(gemm, "MANY_ROWS", _NEVER, "a narrow matrix turned around", turned_narrow_product),
    Threshold(
        channel_sums, "_WORTHWHILE", _NEVER, "sums by products with ones", many(channel_sums.summed, drawn(4096, 16), [0])
    ),
    Threshold(channel_sums, "_FEW_COLUMNS", 0, "maxima of few columns", many(channel_sums.row_maxima, drawn(4096, 10))),
    Threshold(channel_sums, "_FEW_ROWS", 0, "sums of few rows", many(channel_sums.column_sums, drawn(8, 1024))),
    Threshold(channel_sums, "_SMALL", 0, "small sums by one product", many(channel_sums.column_sums, drawn(1000, 16))),
    Threshold(channel_sums, "_MOST_ROWS", _NEVER, "moments by few rows", lambda: lambda: channel_sums.moments(ROWS)),
    Threshold(elementwise, "_FEW", _NEVER, "erf by a polynomial", many(elementwise.erf, drawn(1 << 14))),
    Threshold(elementwise, "FEW_OF_COMPLEMENT", _NEVER, "erfc by a table", many(elementwise.erfc, drawn(1 << 14))),
    Threshold(elementwise, "_AT_ONCE", _NEVER, "erf block by block", large_erf),
    Threshold(integers, "_FEW", 0, "extremes of few integers", many(integers.extremes, np.arange(16))),
    Threshold(linalg, "_MANY", _NEVER, "LU of many small matrices", many(linalg.lu, drawn(256, 4, 4))),
    Threshold(sequences, "_FEW", 0, "few keys sorted", many(sequences.sorted_top_k, drawn(1, 400), 10)),
    Threshold(index_draws, "_FEW", 0, "small permutations by a table", shuffled),
    Threshold(philox, "_FEW", 0, "few blocks one by one", many(STREAM.blocks, np.arange(8, dtype=np.uint64))),
)


def measured(threshold: Threshold) -> tuple[float, float]:
    """Return the least CPU seconds with the way and without."""
    call = threshold.work()
    given = getattr(threshold.module, threshold.name)
    times: tuple[list[float], list[float]] = ([], [])
    try:
        for _ in range(RUNS):
            for value, result in zip((given, threshold.off), times):
                setattr(threshold.module, threshold.name, value)
                begun = time.process_time()
                call()
                result.append(time.process_time() - begun)
    finally:
        setattr(threshold.module, threshold.name, given)
    return min(times[0]), min(times[1])


def rows(words: list[str]) -> Iterator[str]:
    """The lines of a table in Markdown."""
    yield "| threshold | way | ms | without |"
    yield "|---|---|---|---|"
    for threshold in THRESHOLDS:
        name = f"{threshold.module.__name__.rpartition('.')[2]}.{threshold.name}"
        if not words or any(word in name for word in words):
            seconds, without = measured(threshold)
            yield f"| {name} | {threshold.what} | {seconds * 1e3:.3f} | {without / seconds:.2f} |"


if __name__ == "__main__":
    for line in rows(sys.argv[1:]):
        print(line, flush=True)
