"""The k greatest of many elements: without a full sort, in the order of a stable sort."""

from __future__ import annotations

import numpy as np
import pytest

from tfg.core.ops.array.sorting import approx_top_k, top_k
from tfg.core.types.dtypes import int32

RNG = np.random.default_rng(3)
ROWS = {
    "distinct": RNG.permutation(60).reshape(2, 30) - 30,
    "tied": RNG.integers(-2, 3, (3, 40)),
    "equal": np.zeros((2, 20), int),
    "tied in one row": np.stack((np.arange(24) // 6, np.arange(24))),
    "no rows": np.zeros((0, 12), int),
}


@pytest.mark.sampled(6)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int32", "int64", "uint8"])
@pytest.mark.parametrize("rows", ROWS.values(), ids=ROWS)
@pytest.mark.parametrize("k", [1, 3])
def test_the_greatest_come_first_and_of_equals_the_first(rows, k, dtype):
    x = rows.astype(dtype)
    values, index = top_k(x, np.int32(k), sorted=True, index_type=int32)
    expected = [sorted(range(len(row)), key=lambda i, row=row: -float(row[i]))[:k] for row in x]
    assert index.tolist() == expected
    assert values.tolist() == [[row[i] for i in places] for row, places in zip(x.tolist(), expected)]


def test_what_is_no_number_comes_where_tensorflow_leaves_it():
    """No comparison with NaN is true: a heap of the first three elements takes no other, and a maximum alone skips NaN."""
    x = np.full((2, 16), np.nan, np.float32)
    x[0, 5], x[1, [2, 7, 11]] = 1, 2
    _, index = top_k(x, np.int32(3), sorted=True, index_type=int32)
    assert index.tolist() == [[0, 1, 2], [0, 1, 2]]
    _, index = top_k(x, np.int32(1), sorted=True, index_type=int32)
    assert index.tolist() == [[5], [2]]


def test_what_is_no_number_comes_last_in_long_rows():
    x = np.arange(5000, dtype=np.float32)
    x[[7, 4000]] = np.nan
    values, index = top_k(x, np.int32(5000), sorted=True, index_type=int32)
    assert index[-2:].tolist() == [7, 4000]
    assert values[:-2].tolist() == sorted(x[~np.isnan(x)].tolist(), reverse=True)


@pytest.mark.parametrize("is_max_k", [True, False])
@pytest.mark.parametrize("k", [1, 3, 20])
def test_approximate_ones_are_exact_along_any_dimension(k, is_max_k):
    x = RNG.integers(-40, 40, (50, 13)).astype(np.float32)
    values, index = approx_top_k(x, k=k, reduction_dimension=0, is_max_k=is_max_k, aggregate_to_topk=True)
    expected = [sorted(range(50), key=lambda i, row=row: -row[i] if is_max_k else row[i])[:k] for row in x.T.tolist()]
    assert index.T.tolist() == expected
    np.testing.assert_array_equal(values, np.take_along_axis(x, index, 0))
