"""Derivatives of the regularized incomplete gamma function by its parameter, which scipy lacks.

The series and the continued fraction are Abramowitz and Stegun 6.5.29 and 6.5.31, differentiated term by term; the
derivative of a sample is implicit: Figurnov, Mohamed and Mnih, "Implicit reparameterization gradients", NeurIPS 2018.
"""

from __future__ import annotations

import numpy as np
from scipy import special

from ..types.arrays import Array

_MAX_TERMS = 5000
"""The largest number of terms of a series, or steps of a continued fraction; without convergence the result is returned
unfinished.
"""
_EPSILON = float(np.finfo(np.float64).eps)
_SETTLED = 16 * _EPSILON
"""Relative change of a sum that counts as none: some units in the last place."""
_TINY = 1e-290
"""Absolute change of a slope that counts as none."""
_SERIES_BEYOND = 4
"""So far above a the series loses no more than three digits, while the continued fraction is slow there."""
_RESCALE = 1 / _EPSILON


def igamma_gradient(a: Array, x: Array) -> Array:
    """Return dP(a, x)/da, elementwise in float64; 0 at x = 0 and infinity, else NaN for a <= 0, x < 0 and NaN."""
    a, x = (np.array(v, np.float64) for v in np.broadcast_arrays(a, x))
    result = np.full(a.shape, np.nan)
    valid = (a > 0) & (x >= 0)
    result[(x == 0) | (valid & np.isinf(x))] = 0
    regular = valid & (x > 0) & np.isfinite(x) & np.isfinite(a)
    is_tail = regular & (x > np.maximum(a, 1) + _SERIES_BEYOND)
    is_series = regular & ~is_tail
    result[is_series] = _series(a[is_series], x[is_series])
    result[is_tail] = -_continued_fraction(a[is_tail], x[is_tail])
    return result


def gamma_sample_gradient(alpha: Array, sample: Array) -> Array:
    """Return the derivative by alpha of a Gamma(alpha, 1) sample at a fixed quantile: -(dP/da) / (dP/dx)."""
    alpha, sample = (np.array(v, np.float64) for v in np.broadcast_arrays(alpha, sample))
    density = np.exp((alpha - 1) * np.log(sample) - sample - special.gammaln(alpha))
    gradient: Array = -igamma_gradient(alpha, sample) / density
    return np.where(sample == 0, 0.0, gradient)


def _series(a: Array, x: Array) -> Array:
    """P = x^a e^-x / Gamma(a+1) (1 + x/(a+1) + x^2/((a+1)(a+2)) + ...), differentiated term by term."""
    term, total = np.ones_like(a), np.ones_like(a)
    term_slope, slope = np.zeros_like(a), np.zeros_like(a)
    for n in range(1, _MAX_TERMS):
        factor = x / (a + n)
        term_slope = factor * (term_slope - term / (a + n))
        term = term * factor
        total = total + term
        slope = slope + term_slope
        if np.all(np.abs(term_slope) <= _SETTLED * np.abs(slope) + _TINY):
            break
    scale = np.exp(a * np.log(x) - x - special.gammaln(a + 1))
    return scale * (slope + total * (np.log(x) - special.digamma(a + 1)))


def _continued_fraction(a: Array, x: Array) -> Array:
    """Return dQ/da from Q's continued fraction (Cephes igamc), numerators and denominators carried with their derivatives."""
    y, z = 1 - a, x - a + 2
    older, old = (np.ones_like(a), x), (x + 1, z * x)
    d_older, d_old = (np.zeros_like(a), np.zeros_like(a)), (np.zeros_like(a), -x)
    value, slope = old[0] / old[1], (d_old[0] - old[0] / old[1] * d_old[1]) / old[1]
    for n in range(1, _MAX_TERMS):
        y, z = y + 1, z + 2
        new = (z * old[0] - n * y * older[0], z * old[1] - n * y * older[1])
        d_new = tuple(z * dv - v - n * (y * du - u) for u, v, du, dv in zip(older, old, d_older, d_old))
        value = new[0] / new[1]
        next_slope = (d_new[0] - value * d_new[1]) / new[1]
        settled = np.all(np.abs(next_slope - slope) <= _SETTLED * np.abs(next_slope) + _TINY)
        slope = next_slope
        shrink = np.where(np.abs(new[0]) > _RESCALE, _EPSILON, 1.0)
        older, old, d_older, d_old = ((u * shrink, v * shrink) for u, v in (old, new, d_old, d_new))
        if settled and n > 2:
            break
    scale = np.exp(a * np.log(x) - x - special.gammaln(a))
    return scale * (slope + value * (np.log(x) - special.digamma(a)))
