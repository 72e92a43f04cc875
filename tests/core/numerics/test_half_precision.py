"""16-bit floats: many values are looked up, equal to computed values."""

import ml_dtypes
import numpy as np
import pytest

from tfg.core.numerics.half_precision import tabulated, wide, widened

NARROW = pytest.mark.parametrize("dtype", [np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16)], ids=str)


def every(dtype):
    """All numbers of 16 bits, twice, in two dimensions."""
    return np.tile(np.random.default_rng(0).permutation(1 << 16).astype(np.uint16), 2).reshape(512, 256).view(dtype)


def bits(x):
    return np.where(np.isnan(x.astype(np.float32)), 0, x.view(np.uint16))


@NARROW
@pytest.mark.parametrize("function", [np.tanh, np.log1p, np.exp, lambda x: x > 1], ids=["tanh", "log1p", "exp", "greater"])
@pytest.mark.parametrize("part", [np.s_[:], np.s_[::2, 1:], np.s_[3, :7], np.s_[:0], np.s_[4, 4]])
def test_what_is_looked_up_is_what_is_computed(function, part, dtype):
    x = every(dtype)[part]
    with np.errstate(all="ignore"):
        got, want = tabulated(function)(x), widened(function)(x)
    assert (got.dtype, got.shape) == (want.dtype, want.shape)
    assert np.array_equal(got, want) if got.dtype == bool else np.array_equal(bits(got), bits(want))


@NARROW
def test_widening_keeps_every_number(dtype):
    x = every(dtype)
    np.testing.assert_array_equal(wide(x), x.astype(np.float32))
    np.testing.assert_array_equal(wide(x[::3, ::2]), x[::3, ::2].astype(np.float32))
    assert wide(x).shape == x.shape
