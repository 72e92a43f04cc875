"""Complex functions in single precision beside NumPy's in double precision."""

import numpy as np
import pytest

from tfg.core.numerics import complex_functions

SIZE = complex_functions.WORTHWHILE
FUNCTIONS = pytest.mark.parametrize(
    ("function", "exact", "largest"),
    [
        (complex_functions.sqrt, np.sqrt, 38),
        (complex_functions.log, np.log, 38),
        (complex_functions.exp, np.exp, 1.8),
    ],
    ids=["sqrt", "log", "exp"],
)
SPECIAL = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 1e-45, 3e38, -3e38, 88.0, -88.0, 1e5]


def spread(count, largest):
    """Numbers of every size, real and imaginary parts apart, and some near the unit circle."""
    rng = np.random.default_rng(0)
    parts = rng.uniform(-1, 1, (2, count)) * 10 ** rng.uniform(-44, largest, (2, count))
    circle = np.exp(1j * rng.uniform(-np.pi, np.pi, count)) * (1 + rng.normal(size=count) * 1e-5)
    return np.concatenate([parts[0] + 1j * parts[1], circle, rng.normal(size=count) * (1 + 2j)]).astype(np.complex64)


@FUNCTIONS
def test_values_are_within_some_units(function, exact, largest):
    z = spread(50_001, largest)
    got, want = function(z), exact(z.astype(np.complex128))
    for part in ("real", "imag"):
        expected = getattr(want, part)
        unit = np.spacing(np.abs(expected).astype(np.float32)).astype(np.float64)
        assert np.max(np.abs(getattr(got, part) - expected) / unit) < 6


@FUNCTIONS
def test_edges_are_numpys(function, exact, largest):
    z = np.resize([complex(x, y) for x in SPECIAL for y in SPECIAL], 4 * SIZE).astype(np.complex64)
    with np.errstate(all="ignore"):
        got, want = function(z), exact(z)
    for part in ("real", "imag"):
        np.testing.assert_allclose(getattr(got, part), getattr(want, part), rtol=1e-6, atol=0)
        known = ~np.isnan(getattr(want, part))
        np.testing.assert_array_equal(np.signbit(getattr(got, part))[known], np.signbit(getattr(want, part))[known])


@FUNCTIONS
@pytest.mark.parametrize("shape", [(), (0,), (7,), (SIZE,), (3, SIZE), (33, 257, 2)])
def test_any_shape(function, exact, largest, shape):
    z = spread(1 + int(np.prod(shape)), 1)[: int(np.prod(shape))].reshape(shape)
    np.testing.assert_allclose(function(z), exact(z), rtol=1e-6)
    np.testing.assert_array_equal(function(np.asfortranarray(z)), function(z))
    double = z.astype(np.complex128)
    np.testing.assert_array_equal(function(double), exact(double))


def test_logarithms_beside_the_unit_circle():
    """log |1 + iy| is y^2 / 2, far below the precision of the sum of squares."""
    y = np.float32([1e-4, 1e-5, 1e-7, 1e-10, 1e-20, -3e-6])
    want = np.resize(np.log1p(y.astype(np.float64) ** 2) / 2, SIZE)
    for unit in (1, -1, 1j, -1j):
        z = np.resize(unit * (1 + 1j * y), SIZE).astype(np.complex64)
        np.testing.assert_allclose(complex_functions.log(z).real, want, rtol=1e-6, atol=1e-44)
