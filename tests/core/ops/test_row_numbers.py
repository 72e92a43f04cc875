"""The rows that index vectors point to."""

from __future__ import annotations

import numpy as np
import pytest

from tfg.core.ops.array.gather import row_numbers
from tfg.core.support.errors import InvalidArgumentError


@pytest.mark.parametrize("rank", [1, 2, 63, 64])
def test_rows_of_as_many_dimensions_as_arrays_have(rank):
    dims = (1,) * (rank - 1) + (3,)
    indices = np.zeros((3, rank), np.int32)
    indices[:, -1] = 2, 0, 1
    assert row_numbers(indices, dims).tolist() == [2, 0, 1]


@pytest.mark.parametrize("rank", [2, 64])
@pytest.mark.parametrize("index", [-1, 3])
def test_what_points_outside_is_told(rank, index):
    indices = np.zeros((3, rank), np.int32)
    indices[1, -1] = index
    with pytest.raises(InvalidArgumentError, match=rf"indices\[1\] = \[.*{index}\] does not index into"):
        row_numbers(indices, (1,) * (rank - 1) + (3,))


def test_no_dimensions_leave_one_row():
    assert row_numbers(np.zeros((2, 0), np.int32), ()).tolist() == [0, 0]
