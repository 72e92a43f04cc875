"""The values of features, of which some have none."""

import numpy as np
import pytest

from tfg.core import dtypes
from tfg.core.ops._examples import concatenated


@pytest.mark.parametrize(("dtype", "values"), [
    (dtypes.float32, np.float32([1.5, 2])),
    (dtypes.int64, [3, 4]),
    (dtypes.string, [b"a", b"b"]),
])  # fmt: skip
@pytest.mark.parametrize("empty", [[], ()])
def test_lists_without_values_leave_the_dtype(dtype, values, empty):
    found = concatenated([empty, values, empty], dtype)
    assert (found.dtype, found.tolist()) == (dtype.numpy, list(values))
