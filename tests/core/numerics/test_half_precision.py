"""16-bit floats in single precision."""

import ml_dtypes
import numpy as np
import pytest

from tfg.core.numerics.half_precision import wide

NARROW = pytest.mark.parametrize("dtype", [np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16)], ids=str)


def every(dtype):
    """All numbers of 16 bits, twice, in two dimensions."""
    return np.tile(np.random.default_rng(0).permutation(1 << 16).astype(np.uint16), 2).reshape(512, 256).view(dtype)


@NARROW
def test_widening_keeps_every_number(dtype):
    x = every(dtype)
    np.testing.assert_array_equal(wide(x).astype(dtype).astype(np.float64), x.astype(np.float64))
    assert wide(x).shape == x.shape
