"""Scaled sums in place, whoever computes them."""

import numpy as np
import pytest

from tfg.core.numerics.scaled_sums import add_scaled, move_towards, scale_and_add
from tfg.core.types.dtypes import from_name

DTYPES = {"float32": 1e-6, "float64": 1e-14, "half": 4e-3, "bfloat16": 3e-2, "complex64": 1e-6}
LAYOUTS = {
    "as usual": lambda a: a,
    "by columns": np.asfortranarray,
    "with gaps": lambda a: np.repeat(a, 2, -1)[..., ::2],
}


def pair(shape, dtype):
    rng = np.random.default_rng(sum(shape))
    return [rng.normal(size=shape).astype(from_name(dtype).numpy) for _ in range(2)]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (0,), (7,), (40, 50), (3, 1000)])
def test_sums_of_scaled_arrays(shape, dtype, layout):
    kind = np.result_type(from_name(dtype).numpy) if dtype != "bfloat16" else np.float32
    wider = np.complex128 if dtype.startswith("complex") else np.float64
    for function, wanted in (
        (lambda y, x, f: add_scaled(y, x, f), lambda y, x, f: y + f * x),
        (lambda y, x, f: scale_and_add(y, f, x), lambda y, x, f: f * y + x),
        (lambda y, x, f: move_towards(y, x, f, np.empty_like(x)), lambda y, x, f: y + (x - y) * f),
    ):
        y, x = pair(shape, dtype)
        factor = np.asarray(0.3, kind).astype(y.dtype)[()]
        expected = wanted(y.astype(wider), x.astype(wider), wider(factor))
        x, changed = LAYOUTS[layout](x) if shape else x, y.copy()
        before = x.copy()
        function(changed, x, factor)
        np.testing.assert_allclose(changed.astype(wider), expected, rtol=DTYPES[dtype], atol=4 * DTYPES[dtype])
        np.testing.assert_array_equal(x, before)


@pytest.mark.parametrize("factor", [0.0, 1.0])
def test_what_is_times_zero_counts_where_it_is_not_finite(factor):
    y, x = np.ones(2000, np.float32), np.ones(2000, np.float32)
    x[5] = np.inf
    add_scaled(y, x, np.float32(factor))
    assert np.isnan(y[5]) if factor == 0 else np.isposinf(y[5])
    scale_and_add(x, np.float32(0), np.ones(2000, np.float32))
    assert np.isnan(x[5]) and x[6] == 1


def test_the_scratch_may_be_what_is_moved_towards():
    for size in (10, 4000):
        y, x = pair((size,), "float32")
        expected = y + (x - y) * np.float32(0.25)
        move_towards(y, x, np.float32(0.25), x)
        np.testing.assert_allclose(y, expected, rtol=1e-5, atol=1e-6)
