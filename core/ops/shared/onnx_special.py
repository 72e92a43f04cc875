"""Special functions in ONNX, which has only Erf: polynomials through values of the kernels' functions, and series."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.polynomial import chebyshev
from scipy import special

from ...types import dtypes
from ...types.arrays import Array

_DEGREE: Final = 8
_STEPS: Final = 300
"""Terms of series and continued fractions: all that count where arguments are up to a thousand."""
_BERNOULLI: Final = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6)

Function = Callable[[Array], Any]


def widened(lowering: Callable[..., Any]) -> Callable[..., Any]:
    """Return the lowering computed in 64 bits for any input dtype: logarithms of large numbers lose digits."""

    @functools.wraps(lowering)
    def wide(g: Any, *values: Any) -> Any:
        return g.cast(lowering(g, *(g.cast(value, dtypes.float64) for value in values)), values[0].dtype)

    return wide


def interpolated(g: Any, x: Any, function: Function, low: float, high: float, pieces: int = 128) -> Any:
    """Approximate a function between two bounds: on each of `pieces` intervals a polynomial through its values at Chebyshev
    nodes.
    """
    nodes = chebyshev.chebpts1(_DEGREE + 1)
    half = (high - low) / pieces / 2
    centres = low + half * (2 * np.arange(pieces) + 1)
    values = np.asarray(function(centres + half * nodes[:, None]))
    series = np.linalg.solve(chebyshev.chebvander(nodes, _DEGREE), values)
    powers = np.array([chebyshev.cheb2poly(column) for column in np.where(series == 0, 1e-300, series).T])
    position = g.Div(g.Sub(x, low), 2 * half)
    place = g.Max(g.Min(g.cast(g.Floor(position), dtypes.int64), pieces - 1), 0)
    t = g.Sub(g.Mul(g.Sub(position, g.cast(place, x.dtype)), 2), 1)
    rows = [g.Gather(g.constant(column, x.dtype), place, axis=0) for column in powers.T]
    return functools.reduce(lambda sum_, row: g.Add(g.Mul(sum_, t), row), rows[::-1])


def smooth(g: Any, x: Any, function: Function, turn: float = 8) -> Any:
    """Return a function of x >= 0 that is smooth in x up to `turn`, and in 1/x from there on."""

    def turned(v: Array) -> Any:
        return function(np.where(v <= 1, turn * v, turn / (2 - v)))

    v = g.Where(g.Less(x, turn), g.Div(x, turn), g.Sub(2, g.Div(g.like(turn, x), x)))
    return interpolated(g, v, turned, 0, 2, 256)


def polynomial(g: Any, x: Any, coefficients: tuple[float, ...]) -> Any:
    """The first coefficient is of x to the power of 0."""
    last, *rest = coefficients[::-1]
    return functools.reduce(lambda sum_, c: g.Add(g.Mul(sum_, x), c), rest, g.like(last, x))


# Bessel functions. What is divided by here grows as they do at 0 and infinity.


def bessel_i0e(g: Any, x: Any) -> Any:
    size = g.Abs(x)
    return g.Div(smooth(g, size, lambda x: special.i0e(x) * np.sqrt(1 + x)), g.Sqrt(g.Add(size, 1)))


def bessel_i1e(g: Any, x: Any) -> Any:
    size = g.Abs(x)
    under = g.Mul(g.Add(size, 1), g.Sqrt(g.Add(size, 1)))
    value = g.Mul(smooth(g, size, lambda x: special.i1e(x) * (1 + x) ** 1.5 / x), g.Div(size, under))
    return g.Mul(g.Where(g.IsInf(size), 0, value), g.Sign(x))


def grown(lowering: Callable[..., Any]) -> Callable[..., Any]:
    """Times exp(|x|)."""
    return lambda g, x: g.Mul(lowering(g, x), g.Exp(g.Abs(x)))


def shrunk(lowering: Callable[..., Any]) -> Callable[..., Any]:
    """Times exp(-x)."""
    return lambda g, x: g.Mul(lowering(g, x), g.Exp(g.Neg(x)))


def _by_logarithm(g: Any, x: Any, function: Function) -> Any:
    """Return a function of positive numbers that is smooth in their logarithm."""
    return interpolated(g, g.Log(x), lambda logarithm: function(np.exp(logarithm)), -90, 90, 720)


def bessel_k0e(g: Any, x: Any) -> Any:
    value = g.Div(_by_logarithm(g, x, lambda x: special.k0e(x) * np.sqrt(1 + x)), g.Sqrt(g.Add(x, 1)))
    return _on_positive(g, x, value)


def _on_positive(g: Any, x: Any, value: Any) -> Any:
    """Return the result for positive numbers; infinity for others, 0 for infinity."""
    return g.Where(g.LessOrEqual(x, 0), math.inf, g.Where(g.IsInf(x), 0, value))


def bessel_k1e(g: Any, x: Any) -> Any:
    """Return the scaled K1, by its behaviour: 1/x near 0 and 1/sqrt(x) far away."""
    inverse = g.Reciprocal(x)
    ratio = _by_logarithm(g, x, lambda x: special.k1e(x) / (1 / x + np.sqrt(1 / x)))
    return _on_positive(g, x, g.Mul(ratio, g.Add(inverse, g.Sqrt(inverse))))


_FAR: Final = 8
"""From where on Bessel functions are worked out as waves."""


def _wave(g: Any, x: Any, order: int) -> tuple[Any, Any]:
    """Return J and Y of large numbers: real and imaginary part of a wave times a smooth function of 1/x (Hankel's
    expansion).
    """

    def part(take: Function) -> Any:
        turn = np.exp(1j * math.pi * (1 / 4 + order / 2))
        inverse = g.Div(g.like(_FAR, x), x)
        return interpolated(g, inverse, lambda s: take(special.hankel1e(order, _FAR / s) * np.sqrt(_FAR / s) * turn), 0, 1, 32)

    angle = g.Sub(x, math.pi * (1 / 4 + order / 2))
    cosine, sine, root = g.Cos(angle), g.Sin(angle), g.Sqrt(x)
    p, q = part(np.real), part(np.imag)
    first = g.Sub(g.Mul(p, cosine), g.Mul(q, sine))
    second = g.Add(g.Mul(p, sine), g.Mul(q, cosine))
    return g.Div(first, root), g.Div(second, root)


def _near_j(g: Any, x: Any, order: int) -> Any:
    return interpolated(g, x, special.j1 if order else special.j0, 0, _FAR)


def bessel_j(g: Any, x: Any, order: int) -> Any:
    size = g.Abs(x)
    value = g.Where(g.Less(size, _FAR), _near_j(g, size, order), _wave(g, size, order)[0])
    return g.Mul(value, g.Sign(x)) if order else value


def bessel_y(g: Any, x: Any, order: int) -> Any:
    """Return Y: near zero J times a logarithm, a pole, and a smooth rest."""

    def rest(x: Array) -> Any:
        if order:
            return special.y1(x) - 2 / math.pi * (np.log(x) * special.j1(x) - 1 / x)
        return special.y0(x) - 2 / math.pi * np.log(x) * special.j0(x)

    singular = g.Mul(g.Log(x), _near_j(g, x, order))
    if order:
        singular = g.Sub(singular, g.Reciprocal(x))
    near = g.Add(interpolated(g, x, rest, 0, _FAR), g.Mul(singular, 2 / math.pi))
    return g.Where(g.LessOrEqual(x, 0), -math.inf, g.Where(g.Less(x, _FAR), near, _wave(g, x, order)[1]))


def bessel_y1(g: Any, x: Any) -> Any:
    """In 32 bits no number at zero, as in TensorFlow."""
    value = widened(functools.partial(bessel_y, order=1))(g, x)
    return g.Where(g.Equal(x, 0), math.nan, value) if x.dtype is dtypes.float32 else value


# The gamma function and its derivatives.


def lgamma(g: Any, x: Any) -> Any:
    """Stirling's series from 8.5 on; below 0.5 by reflection."""
    is_left = g.Less(x, 0.5)
    right = g.Where(is_left, g.Sub(1, x), x)
    inverse = g.Reciprocal(right)
    series = polynomial(g, g.Mul(inverse, inverse), (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188))
    logarithm = g.Sub(g.Mul(g.Sub(right, 0.5), g.Sub(g.Log(right), 1)), 0.5 - math.log(2 * math.pi) / 2)
    far = g.Where(g.IsInf(right), right, g.Add(logarithm, g.Mul(series, inverse)))
    value = g.Where(g.Less(right, 8.5), interpolated(g, right, special.gammaln, 0.5, 8.5), far)
    reflected = g.Sub(math.log(math.pi), g.Add(g.Log(g.Abs(_sine(g, x))), value))
    return g.Where(g.IsInf(x), math.inf, g.Where(is_left, reflected, value))


def _sine(g: Any, x: Any) -> Any:
    """Return sin(pi x), up to sign, from the fractional part of x."""
    return g.Sin(g.Mul(g.Sub(x, g.Round(x)), math.pi))


def digamma(g: Any, x: Any) -> Any:
    """Return the asymptotic series from 8.5 on; below 0.5 by reflection."""
    is_left = g.Less(x, 0.5)
    right = g.Where(is_left, g.Sub(1, x), x)
    inverse = g.Reciprocal(right)
    square = g.Mul(inverse, inverse)
    series = polynomial(g, square, tuple(-b / (2 * k) for k, b in enumerate(_BERNOULLI, 1)))
    far = g.Add(g.Sub(g.Log(right), g.Mul(inverse, 0.5)), g.Mul(series, square))
    value = g.Where(g.Less(right, 8.5), interpolated(g, right, special.digamma, 0.5, 8.5), far)
    fraction = g.Mul(g.Sub(x, g.Round(x)), math.pi)
    reflected = g.Sub(value, g.Mul(g.Div(g.Cos(fraction), g.Sin(fraction)), math.pi))
    is_pole = g.And(g.LessOrEqual(x, 0), g.Equal(x, g.Round(x)))
    return g.Where(is_pole, math.nan, g.Where(is_left, reflected, value))


def zeta(g: Any, x: Any, q: Any) -> Any:
    """Return Hurwitz's zeta: the first terms, until q is 10, and the Euler-Maclaurin formula for the rest."""
    count = _terms(g, q)

    def advance(i: Any, carried: Any) -> Any:
        return [g.Add(carried[0], g.Pow(g.Add(q, g.cast(i, q.dtype)), g.Neg(x)))]

    (first,) = g.repeat(count, [g.Mul(g.zeros_like(x), g.zeros_like(q))], advance)
    last = g.Add(q, g.cast(count, q.dtype))
    power = g.Pow(last, g.Neg(x))
    tail = g.Add(g.Div(g.Mul(power, last), g.Sub(x, 1)), g.Mul(power, 0.5))
    factor = g.Div(g.Mul(power, x), last)
    for k, number in enumerate(_BERNOULLI, 1):
        tail = g.Add(tail, g.Mul(factor, number / math.factorial(2 * k)))
        factor = g.Div(g.Mul(factor, g.Mul(g.Add(x, 2 * k - 1), g.Add(x, 2 * k))), g.Mul(last, last))
    value = g.Add(first, tail)
    is_pole = g.And(g.LessOrEqual(q, 0), g.Equal(q, g.Floor(q)))
    is_even = g.Equal(g.Mod(x, g.like(2, x), fmod=1), 0)
    value = g.Where(is_pole, g.Where(is_even, g.like(math.inf, x), math.nan), value)
    refused = g.Or(g.Less(x, 1), g.And(g.Less(q, 0), g.Not(g.Equal(x, g.Floor(x)))))
    return g.Where(g.Equal(x, 1), math.inf, g.Where(refused, math.nan, value))


def _terms(g: Any, q: Any) -> Any:
    """Return the number of terms for the smallest q, which may be negative."""
    needed = g.cast(g.Sub(10, g.Floor(g.Max(g.Where(g.IsNaN(q), 0, q), -1000))), dtypes.int64)
    return g.ReduceMax(g.Concat(g.reshape(needed, -1), g.constant(np.array([10])), axis=0), keepdims=0)


def polygamma(g: Any, n: Any, x: Any) -> Any:
    """Return the n-th derivative of digamma, (-1)^(n+1) n! zeta(n+1, x)."""
    after = g.Add(n, 1)
    size = g.Mul(g.Exp(lgamma(g, after)), zeta(g, after, x))
    is_even = g.Equal(g.Mod(n, g.like(2, n), fmod=1), 0)
    value = g.Where(g.Equal(n, 0), digamma(g, x), g.Where(is_even, g.Neg(size), size))
    return g.Where(g.Or(g.Less(n, 0), g.Not(g.Equal(n, g.Floor(n)))), math.nan, value)


# Error functions and integrals.


def _quantile(r: Array) -> Any:
    """erfinv(y) / y where r is sqrt(-log(1 - y²))."""
    rest = np.exp(-r * r)
    y = np.sqrt(-np.expm1(-r * r))
    return -special.ndtri(rest / (1 + y) / 2) / math.sqrt(2) / y


def _by_tail(g: Any, y: Any, tail: Any) -> Any:
    """erfinv(y) where tail is 1 - y²."""
    return g.Mul(interpolated(g, g.Sqrt(g.Neg(g.Log(tail))), _quantile, 0, 26, 520), y)


def erfinv(g: Any, y: Any) -> Any:
    size = g.Abs(y)
    value = _by_tail(g, y, g.Mul(g.Sub(1, size), g.Add(size, 1)))
    return g.Where(g.Equal(size, 1), g.Mul(y, math.inf), value)


def ndtri(g: Any, p: Any) -> Any:
    """sqrt(2) erfinv(2p - 1), the tail worked out of p itself."""
    value = g.Mul(_by_tail(g, g.Sub(g.Mul(p, 2), 1), g.Mul(g.Mul(p, 4), g.Sub(1, p))), math.sqrt(2))
    return g.Where(g.Equal(p, 0), -math.inf, g.Where(g.Equal(p, 1), math.inf, value))


def dawsn(g: Any, x: Any) -> Any:
    size = g.Abs(x)
    slope = smooth(g, size, lambda x: special.dawsn(x) * (1 + x * x) / x, 4)
    return g.Div(slope, g.Add(x, g.Reciprocal(x)))


def expint(g: Any, x: Any) -> Any:
    """Return Ei of positive numbers: near zero a logarithm and a smooth part, far away exp(x) / x times a smooth function
    of 1/x.
    """
    near = g.Add(interpolated(g, x, lambda x: special.expi(x) - np.log(x), 0, 12), g.Log(x))
    scale = g.Div(g.like(12, x), x)
    far = g.Div(g.Mul(interpolated(g, scale, _scaled_integral, 0, 1, 64), g.Exp(x)), x)
    value = g.Where(g.Less(x, 12), near, far)
    return g.Where(g.Or(g.Less(x, 0), g.Equal(x, math.inf)), math.nan, value)


def _scaled_integral(s: Array) -> Any:
    """Ei(x) x exp(-x) where x is 12 / s; the asymptotic series where exp(x) is infinite."""
    x = 12 / s
    series = 1 + 1 / x * (1 + 2 / x * (1 + 3 / x * (1 + 4 / x * (1 + 5 / x * (1 + 6 / x)))))
    near = np.minimum(x, 600)
    return np.where(x > 600, series, special.expi(near) * near * np.exp(-near))


def fresnel(g: Any, x: Any, is_sine: bool) -> Any:
    """Return a Fresnel integral: near zero a polynomial, far away a wave around 1/2 (Abramowitz and Stegun, 7.3: f and g)."""
    size = g.Abs(x)
    near = interpolated(g, size, lambda x: special.fresnel(x)[0 if is_sine else 1], 0, 2, 64)
    angle = g.Mul(g.Mul(size, size), math.pi / 2)
    inverse = g.Div(g.like(2, size), size)
    f = g.Mul(interpolated(g, inverse, lambda s: _fresnel_parts(2 / s)[0] / s, 0, 1, 32), inverse)
    h = g.Mul(interpolated(g, inverse, lambda s: _fresnel_parts(2 / s)[1] / s, 0, 1, 32), inverse)
    if is_sine:
        wave = g.Neg(g.Add(g.Mul(f, g.Cos(angle)), g.Mul(h, g.Sin(angle))))
    else:
        wave = g.Sub(g.Mul(f, g.Sin(angle)), g.Mul(h, g.Cos(angle)))
    far = g.Where(g.IsInf(size), 0.5, g.Add(wave, 0.5))
    return g.Mul(g.Where(g.Less(size, 2), near, far), g.Sign(x))


def _fresnel_parts(x: Array) -> tuple[Any, Any]:
    """f and g by the Faddeeva function: (1 + i)/2 w((1 + i)/2 sqrt(pi) x) is g + i f."""
    value = (1 + 1j) / 2 * special.wofz((1 + 1j) / 2 * math.sqrt(math.pi) * x)
    return value.imag, value.real


def spence(g: Any, x: Any) -> Any:
    """Return the dilogarithm of 1 - x: a polynomial around 1, elsewhere from the values at 1 - x and 1 / x."""
    is_large = g.Greater(x, 1.5)
    inner = g.Where(is_large, g.Reciprocal(x), x)
    is_small = g.Less(inner, 0.5)
    centre = g.Where(is_small, g.Sub(1, inner), inner)
    value = interpolated(g, centre, special.spence, 0.5, 1.5, 32)
    product = g.Where(g.Equal(inner, 0), 0, g.Mul(g.Log(inner), g.Log(g.Sub(1, inner))))
    value = g.Where(is_small, g.Sub(math.pi**2 / 6, g.Add(product, value)), value)
    logarithm = g.Log(x)
    value = g.Where(is_large, g.Sub(g.Mul(g.Mul(logarithm, logarithm), -0.5), value), value)
    return g.Where(g.Or(g.Less(x, 0), g.IsInf(x)), math.nan, value)


# The incomplete gamma and beta integrals.


def _lower_series(g: Any, a: Any, x: Any) -> tuple[Any, Any]:
    """Return the sum of x^n / (a (a+1) ... (a+n)) and its derivative by a."""
    first = g.Reciprocal(a)
    slope = g.Neg(g.Mul(first, first))

    def advance(n: Any, carried: Any) -> Any:
        term, change, total, changes = carried
        below = g.Add(a, g.cast(g.Add(n, 1), a.dtype))
        change = g.Div(g.Mul(x, g.Sub(change, g.Div(term, below))), below)
        term = g.Div(g.Mul(term, x), below)
        return [term, change, g.Add(total, term), g.Add(changes, change)]

    return tuple(g.repeat(_STEPS, [first, slope, first, slope], advance)[2:])


def _upper_fraction(g: Any, a: Any, x: Any) -> tuple[Any, Any]:
    """Return x^a exp(-x) over the upper integral, by Legendre's continued fraction from its end on, and the derivative by
    a.
    """

    def advance(i: Any, carried: Any) -> Any:
        value, slope = carried
        n = g.cast(g.Sub(g.constant(np.int64(_STEPS)), i), a.dtype)
        above = g.Div(g.Mul(n, g.Sub(n, a)), value)
        slope = g.Sub(g.Div(g.Add(n, g.Mul(above, slope)), value), 1)
        return [g.Sub(g.Add(g.Sub(x, a), g.Sub(g.Mul(n, 2), 1)), above), slope]

    start = g.Add(g.Sub(x, a), 2 * _STEPS + 1)
    return tuple(g.repeat(_STEPS, [start, g.Sub(g.zeros_like(start), 1)], advance))


def _incomplete(g: Any, a: Any, x: Any) -> tuple[Any, ...]:
    """Both arguments in their domain, where they are not, x^a exp(-x) / gamma(a), and where the upper integral is small."""
    refused = g.Or(g.Or(g.Less(x, 0), g.LessOrEqual(a, 0)), g.Or(g.IsNaN(a), g.IsNaN(x)))
    a, x = g.Where(refused, 1, a), g.Where(refused, 1, x)
    density = g.Exp(g.Sub(g.Sub(g.Mul(a, g.Log(x)), x), lgamma(g, a)))
    return a, x, refused, density, g.Greater(x, g.Add(a, 1))


def igamma(g: Any, a: Any, x: Any) -> Any:
    is_zero, is_least = g.Equal(x, 0), g.And(g.Equal(a, math.inf), g.GreaterOrEqual(x, 0))
    a, x, refused, density, is_tail = _incomplete(g, a, x)
    lower = g.Mul(density, _lower_series(g, a, x)[0])
    value = g.Where(is_tail, g.Sub(1, g.Div(density, _upper_fraction(g, a, x)[0])), lower)
    value = g.Where(refused, math.nan, g.Where(g.IsInf(x), 1, value))
    return g.Where(g.Or(is_zero, is_least), 0, value)


def igammac(g: Any, a: Any, x: Any) -> Any:
    a, x, refused, density, is_tail = _incomplete(g, a, x)
    upper = g.Div(density, _upper_fraction(g, a, x)[0])
    value = g.Where(is_tail, upper, g.Sub(1, g.Mul(density, _lower_series(g, a, x)[0])))
    value = g.Where(g.IsInf(x), 0, g.Where(g.IsInf(a), 1, value))
    return g.Where(refused, math.nan, value)


def _over_density(g: Any, a: Any, x: Any) -> Any:
    """Return the derivative of the lower integral by a, over x^a exp(-x) / gamma(a)."""
    logarithm = g.Sub(g.Log(x), digamma(g, a))
    total, changes = _lower_series(g, a, x)
    value, slope = _upper_fraction(g, a, x)
    upper = g.Div(g.Sub(g.Div(slope, value), logarithm), value)
    return g.Where(g.Greater(x, g.Add(a, 1)), upper, g.Add(changes, g.Mul(total, logarithm)))


def igamma_gradient(g: Any, a: Any, x: Any) -> Any:
    """By a; 0 where x is 0 or infinite."""
    is_zero = g.Equal(x, 0)
    a, x, refused, density, _ = _incomplete(g, a, x)
    value = g.Where(g.IsInf(x), 0, g.Mul(density, _over_density(g, a, x)))
    return g.Where(is_zero, 0, g.Where(refused, math.nan, value))


def gamma_sample_gradient(g: Any, alpha: Any, sample: Any) -> Any:
    """Differentiate a sample at a fixed quantile by alpha: the integral's derivative by alpha over its derivative by the
    sample.
    """
    is_zero = g.Equal(sample, 0)
    a, x, refused, _, _ = _incomplete(g, alpha, sample)
    value = g.Neg(g.Mul(_over_density(g, a, x), x))
    return g.Where(is_zero, 0, g.Where(refused, math.nan, value))


def betainc(g: Any, a: Any, b: Any, x: Any) -> Any:
    """Return the integral by its continued fraction; where that is slow, 1 less the integral with a and b exchanged."""
    inside = functools.reduce(g.And, (
        g.Greater(a, 0), g.Greater(b, 0), g.GreaterOrEqual(x, 0), g.LessOrEqual(x, 1),
    ))  # fmt: skip
    a, b, x = g.Where(inside, a, 1), g.Where(inside, b, 1), g.Where(inside, x, 0)
    is_far = g.Greater(g.Mul(x, g.Add(g.Add(a, b), 2)), g.Add(a, 1))
    first, second = g.Where(is_far, b, a), g.Where(is_far, a, b)
    part = g.Where(is_far, g.Sub(1, x), x)
    value = g.Div(_beta_density(g, first, second, part), g.Mul(first, _beta_fraction(g, first, second, part)))
    value = g.Where(g.Equal(part, 0), 0, value)
    return g.Where(inside, g.Where(is_far, g.Sub(1, value), value), math.nan)


def _beta_density(g: Any, a: Any, b: Any, x: Any) -> Any:
    """x^a (1-x)^b / B(a, b)."""
    log_beta = g.Sub(g.Add(lgamma(g, a), lgamma(g, b)), lgamma(g, g.Add(a, b)))
    return g.Exp(g.Sub(g.Add(g.Mul(a, g.Log(x)), g.Mul(b, g.Log(g.Sub(1, x)))), log_beta))


def _beta_fraction(g: Any, a: Any, b: Any, x: Any) -> Any:
    """Return the continued fraction 8.17.22 of the Digital Library of Mathematical Functions, from its end on."""

    def advance(i: Any, carried: Any) -> Any:
        m = g.cast(g.Sub(g.constant(np.int64(_STEPS)), i), a.dtype)
        twice = g.Add(a, g.Mul(m, 2))
        odd = g.Div(g.Mul(g.Mul(g.Add(a, m), g.Add(g.Add(a, b), m)), x), g.Mul(twice, g.Add(twice, 1)))
        even = g.Div(g.Mul(g.Mul(m, g.Sub(b, m)), x), g.Mul(g.Sub(twice, 1), twice))
        value = g.Sub(1, g.Div(odd, carried[0]))
        return [g.Add(g.Div(even, value), 1)]

    (value,) = g.repeat(_STEPS, [g.Add(g.Mul(g.zeros_like(a), x), 1)], advance)
    return g.Sub(1, g.Div(g.Div(g.Mul(g.Add(a, b), x), g.Add(a, 1)), value))
