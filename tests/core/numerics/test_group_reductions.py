"""Rows reduced by group beside a loop over the rows."""

import numpy as np
import pytest

from tfg.core.numerics.group_reductions import reduce_groups

SIZES = [(300, 100, 200), (300, 100, 2), (300, 3, 200), (600, 16, 590), (700, 30, 1)]


@pytest.mark.sampled(8)
@pytest.mark.parametrize("ufunc", [np.minimum, np.maximum, np.multiply])
@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int32])
@pytest.mark.parametrize(("count", "width", "groups"), SIZES)
def test_rows_of_each_group(count, width, groups, dtype, ufunc):
    rng = np.random.default_rng(0)
    rows, numbers = rng.integers(-3, 4, (count, width)).astype(dtype), rng.integers(0, groups, count)
    if dtype != np.int32:
        rows.flat[::101] = np.nan
    result, reduced = reduce_groups(ufunc, numbers, rows)
    assert result.tolist() == sorted({*numbers.tolist()}) and reduced.dtype == dtype
    for number, row in zip(result, reduced):
        want = rows[numbers == number].astype(np.float32 if dtype == np.float16 else dtype)
        expected = want[0]
        for other in want[1:]:
            expected = ufunc(expected, other)
        np.testing.assert_array_equal(row, expected.astype(dtype))
