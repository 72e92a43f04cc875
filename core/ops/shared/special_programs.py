"""Special functions as array programs, of JAX and of ONNX, which has only Erf: polynomials through values, and series."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.polynomial import chebyshev
from scipy import special

from ...types.arrays import Array

_DEGREE: Final = 8
_STEPS: Final = 300
"""Terms of series and continued fractions: all that count where arguments are up to a thousand."""
_BERNOULLI: Final = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6)

Function = Callable[[Array], Any]


def widened(program: Callable[..., Any]) -> Callable[..., Any]:
    """Return the program computed in 64 bits for any input dtype: logarithms of large numbers lose digits."""

    @functools.wraps(program)
    def wide(xp: Any, *values: Any) -> Any:
        return program(xp, *(value.astype(wide_float(xp)) for value in values)).astype(values[0].dtype)

    return wide


def wide_float(xp: Any) -> Any:
    """Return the widest dtype of floats that the programs of a namespace may have."""
    return np.float64 if xp.has_64_bits else np.float32


def _interpolated(xp: Any, x: Any, function: Function, low: float, high: float, pieces: int = 128) -> Any:
    """Approximate a function between two bounds: on each of `pieces` intervals a polynomial through its values at Chebyshev
    nodes.
    """
    nodes = chebyshev.chebpts1(_DEGREE + 1)
    half = (high - low) / pieces / 2
    centres = low + half * (2 * np.arange(pieces) + 1)
    values = np.asarray(function(centres + half * nodes[:, None]))
    # All intervals in one system: a column of values for each.
    series = np.linalg.solve(chebyshev.chebvander(nodes, _DEGREE), values)
    # cheb2poly drops zeros at the end and would return rows of different lengths: 1e-300 stands for them.
    powers = np.array([chebyshev.cheb2poly(column) for column in np.where(series == 0, 1e-300, series).T])
    position = (x - low) / (2 * half)
    # Arguments out of bounds take the nearest piece; the caller replaces their results.
    place = xp.clip(xp.floor(position).astype(np.int64), 0, pieces - 1)
    t = (position - place.astype(x.dtype)) * 2 - 1
    rows = [xp.take(column.astype(x.dtype), place, 0) for column in powers.T]
    return functools.reduce(lambda total, row: total * t + row, rows[::-1])


def _smooth(xp: Any, x: Any, function: Function, turn: float = 8) -> Any:
    """Return a function of x >= 0 that is smooth in x up to `turn`, and in 1/x from there on."""

    def turned(v: Array) -> Any:
        # The inverse of the substitution below, which maps [0, inf) to [0, 2]: polynomials in 1/x describe the function far
        # away.
        return function(np.where(v <= 1, turn * v, turn / (2 - v)))

    return _interpolated(xp, xp.where(x < turn, x / turn, 2 - turn / x), turned, 0, 2, 256)


def _polynomial(x: Any, coefficients: tuple[float, ...]) -> Any:
    """The first coefficient is of x to the power of 0."""
    last, *rest = coefficients[::-1]
    return functools.reduce(lambda total, c: total * x + c, rest, last)


# Bessel functions. What is divided by here grows as they do at 0 and infinity.


def bessel_i0e(xp: Any, x: Any) -> Any:
    size = abs(x)
    return _smooth(xp, size, lambda x: special.i0e(x) * np.sqrt(1 + x)) / xp.sqrt(size + 1)


def bessel_i1e(xp: Any, x: Any) -> Any:
    size = abs(x)
    # The scaled I1 is x / 2 near 0 and falls as 1 / sqrt(x): the quotient is smooth, and its relative error small everywhere.
    value = _smooth(xp, size, lambda x: special.i1e(x) * (1 + x) ** 1.5 / x) * (size / ((size + 1) * xp.sqrt(size + 1)))
    return xp.where(xp.isinf(size), 0, value) * xp.sign(x)


def grown(program: Callable[..., Any]) -> Callable[..., Any]:
    """Times exp(|x|)."""
    return lambda xp, x: program(xp, x) * xp.exp(abs(x))


def shrunk(program: Callable[..., Any]) -> Callable[..., Any]:
    """Times exp(-x)."""
    return lambda xp, x: program(xp, x) * xp.exp(-x)


def _by_logarithm(xp: Any, x: Any, function: Function) -> Any:
    """Return a function of positive numbers that is smooth in their logarithm."""
    # exp(-90) and exp(90) are beyond the range of float32 on both sides.
    return _interpolated(xp, xp.log(x), lambda logarithm: function(np.exp(logarithm)), -90, 90, 720)


def bessel_k0e(xp: Any, x: Any) -> Any:
    return _on_positive(xp, x, _by_logarithm(xp, x, lambda x: special.k0e(x) * np.sqrt(1 + x)) / xp.sqrt(x + 1))


def _on_positive(xp: Any, x: Any, value: Any) -> Any:
    """Return the result for positive numbers; infinity for others, 0 for infinity."""
    return xp.where(x <= 0, math.inf, xp.where(xp.isinf(x), 0, value))


def bessel_k1e(xp: Any, x: Any) -> Any:
    """Return the scaled K1, by its behaviour: 1/x near 0 and 1/sqrt(x) far away."""
    inverse = 1 / x
    ratio = _by_logarithm(xp, x, lambda x: special.k1e(x) / (1 / x + np.sqrt(1 / x)))
    return _on_positive(xp, x, ratio * (inverse + xp.sqrt(inverse)))


_FAR: Final = 8
"""From where on Bessel functions are worked out as waves."""


def _wave(xp: Any, x: Any, order: int) -> tuple[Any, Any]:
    """Return J and Y of large numbers: real and imaginary part of a wave times a smooth function of 1/x (Hankel's
    expansion).
    """

    def part(take: Function) -> Any:
        turn = np.exp(1j * math.pi * (1 / 4 + order / 2))
        inverse = _FAR / x
        return _interpolated(
            xp, inverse, lambda s: take(special.hankel1e(order, _FAR / s) * np.sqrt(_FAR / s) * turn), 0, 1, 32
        )

    angle = x - math.pi * (1 / 4 + order / 2)
    # The wave itself stays outside of the polynomial, which would need many pieces for its periods.
    cosine, sine, root = xp.cos(angle), xp.sin(angle), xp.sqrt(x)
    p, q = part(np.real), part(np.imag)
    return (p * cosine - q * sine) / root, (p * sine + q * cosine) / root


def _near_j(xp: Any, x: Any, order: int) -> Any:
    return _interpolated(xp, x, special.j1 if order else special.j0, 0, _FAR)


def bessel_j(xp: Any, x: Any, order: int) -> Any:
    size = abs(x)
    value = xp.where(size < _FAR, _near_j(xp, size, order), _wave(xp, size, order)[0])
    return value * xp.sign(x) if order else value


def bessel_y(xp: Any, x: Any, order: int) -> Any:
    """Return Y: near zero J times a logarithm, a pole, and a smooth rest."""

    def rest(x: Array) -> Any:
        if order:
            # Without logarithm and pole the rest is a power series.
            return special.y1(x) - 2 / math.pi * (np.log(x) * special.j1(x) - 1 / x)
        return special.y0(x) - 2 / math.pi * np.log(x) * special.j0(x)

    singular = xp.log(x) * _near_j(xp, x, order)
    if order:
        singular = singular - 1 / x
    near = _interpolated(xp, x, rest, 0, _FAR) + singular * (2 / math.pi)
    return xp.where(x <= 0, -math.inf, xp.where(x < _FAR, near, _wave(xp, x, order)[1]))


def bessel_y1(xp: Any, x: Any) -> Any:
    """In 32 bits no number at zero, as in TensorFlow."""
    value = widened(functools.partial(bessel_y, order=1))(xp, x)
    return xp.where(x == 0, math.nan, value) if x.dtype == np.float32 else value


# The gamma function and its derivatives.


def lgamma(xp: Any, x: Any) -> Any:
    """Stirling's series from 8.5 on; below 0.5 by reflection."""
    is_left = x < 0.5
    right = xp.where(is_left, 1 - x, x)
    inverse = 1 / right
    # From 8.5 on the first term that is left out is about 1e-13.
    series = _polynomial(inverse * inverse, (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188))
    logarithm = (right - 0.5) * (xp.log(right) - 1) - (0.5 - math.log(2 * math.pi) / 2)
    # inf - inf would be NaN.
    far = xp.where(xp.isinf(right), right, logarithm + series * inverse)
    value = xp.where(right < 8.5, _interpolated(xp, right, special.gammaln, 0.5, 8.5), far)
    # sin(pi x), up to sign, from the fractional part of x
    reflected = math.log(math.pi) - (xp.log(abs(xp.sin((x - xp.rint(x)) * math.pi))) + value)
    return xp.where(xp.isinf(x), math.inf, xp.where(is_left, reflected, value))


def digamma(xp: Any, x: Any) -> Any:
    """Return the asymptotic series from 8.5 on; below 0.5 by reflection."""
    is_left = x < 0.5
    right = xp.where(is_left, 1 - x, x)
    inverse = 1 / right
    square = inverse * inverse
    series = _polynomial(square, tuple(-b / (2 * k) for k, b in enumerate(_BERNOULLI, 1)))
    far = xp.log(right) - inverse * 0.5 + series * square
    value = xp.where(right < 8.5, _interpolated(xp, right, special.digamma, 0.5, 8.5), far)
    # The period is taken off before the product with pi, which would lose the fraction of large numbers.
    fraction = (x - xp.rint(x)) * math.pi
    reflected = value - xp.cos(fraction) / xp.sin(fraction) * math.pi
    return xp.where((x <= 0) & (x == xp.rint(x)), math.nan, xp.where(is_left, reflected, value))


def zeta(xp: Any, x: Any, q: Any) -> Any:
    """Return Hurwitz's zeta: the first terms, until q is 10, and the Euler-Maclaurin formula for the rest."""
    # The smallest q, which may be negative, has the most terms.
    # The bound keeps a number far below 0, or minus infinity, from making a loop that does not end.
    needed = 10 - xp.floor(xp.maximum(xp.where(xp.isnan(q), 0, q), -1000))
    count = xp.max(xp.concatenate([needed.reshape(-1), np.array([10], q.dtype)])).astype(np.int64)
    first = xp.fori_loop(0, count, lambda i, total: total + (q + i.astype(q.dtype)) ** -x, xp.zeros_like(x) * xp.zeros_like(q))
    last = q + count.astype(q.dtype)
    power = last**-x
    tail = power * last / (x - 1) + power * 0.5
    factor = power * x / last
    for k, number in enumerate(_BERNOULLI, 1):
        tail = tail + factor * (number / math.factorial(2 * k))
        # x (x + 1) ... (x + 2k - 2) / last^(2k - 1) in steps: the powers alone would overflow.
        factor = factor * ((x + (2 * k - 1)) * (x + 2 * k)) / (last * last)
    is_pole = (q <= 0) & (q == xp.floor(q))
    at_pole = xp.where(xp.fmod(x, 2) == 0, math.inf, xp.zeros_like(x) + math.nan)
    refused = (x < 1) | ((q < 0) & (x != xp.floor(x)))
    return xp.where(x == 1, math.inf, xp.where(refused, math.nan, xp.where(is_pole, at_pole, first + tail)))


def polygamma(xp: Any, n: Any, x: Any) -> Any:
    """Return the n-th derivative of digamma, (-1)^(n+1) n! zeta(n+1, x)."""
    size = xp.exp(lgamma(xp, n + 1)) * zeta(xp, n + 1, x)
    value = xp.where(n == 0, digamma(xp, x), xp.where(xp.fmod(n, 2) == 0, -size, size))
    return xp.where((n < 0) | (n != xp.floor(n)), math.nan, value)


# Error functions and integrals.


def _quantile(r: Array) -> Any:
    """erfinv(y) / y where r is sqrt(-log(1 - y²))."""
    rest = np.exp(-r * r)
    y = np.sqrt(-np.expm1(-r * r))
    return -special.ndtri(rest / (1 + y) / 2) / math.sqrt(2) / y


def _by_tail(xp: Any, y: Any, tail: Any) -> Any:
    """erfinv(y) where tail is 1 - y²."""
    # The root of the logarithm is nearly linear in the quantile; 26 reaches down to the p of exp(-676).
    return _interpolated(xp, xp.sqrt(-xp.log(tail)), _quantile, 0, 26, 520) * y


def erfinv(xp: Any, y: Any) -> Any:
    size = abs(y)
    # 1 - y^2 as a product: near 1 the square would lose the digits that count.
    return xp.where(size == 1, y * math.inf, _by_tail(xp, y, (1 - size) * (size + 1)))


def ndtri(xp: Any, p: Any) -> Any:
    """sqrt(2) erfinv(2p - 1), the tail worked out of p itself."""
    value = _by_tail(xp, p * 2 - 1, p * 4 * (1 - p)) * math.sqrt(2)
    return xp.where(p == 0, -math.inf, xp.where(p == 1, math.inf, value))


def dawsn(xp: Any, x: Any) -> Any:
    return _smooth(xp, abs(x), lambda x: special.dawsn(x) * (1 + x * x) / x, 4) / (x + 1 / x)


def expint(xp: Any, x: Any) -> Any:
    """Return Ei of positive numbers: near zero a logarithm and a smooth part, far away exp(x) / x times a smooth function
    of 1/x.
    """
    near = _interpolated(xp, x, lambda x: special.expi(x) - np.log(x), 0, 12) + xp.log(x)
    far = _interpolated(xp, 12 / x, _scaled_integral, 0, 1, 64) * xp.exp(x) / x
    return xp.where((x < 0) | (x == math.inf), math.nan, xp.where(x < 12, near, far))


def _scaled_integral(s: Array) -> Any:
    """Ei(x) x exp(-x) where x is 12 / s; the asymptotic series where exp(x) is infinite."""
    x = 12 / s
    series = 1 + 1 / x * (1 + 2 / x * (1 + 3 / x * (1 + 4 / x * (1 + 5 / x * (1 + 6 / x)))))
    near = np.minimum(x, 600)
    return np.where(x > 600, series, special.expi(near) * near * np.exp(-near))


def fresnel(xp: Any, x: Any, is_sine: bool) -> Any:
    """Return a Fresnel integral: near zero a polynomial, far away a wave around 1/2 (Abramowitz and Stegun, 7.3: f and g)."""
    size = abs(x)
    near = _interpolated(xp, size, lambda x: special.fresnel(x)[0 if is_sine else 1], 0, 2, 64)
    angle, inverse = size * size * (math.pi / 2), 2 / size

    def part(place: int) -> Any:
        return _interpolated(xp, inverse, lambda s: _fresnel_parts(2 / s)[place] / s, 0, 1, 32) * inverse

    f, g = part(0), part(1)
    sine, cosine = xp.sin(angle), xp.cos(angle)
    wave = -(f * cosine + g * sine) if is_sine else f * sine - g * cosine
    return xp.where(size < 2, near, xp.where(xp.isinf(size), 0.5, wave + 0.5)) * xp.sign(x)


def _fresnel_parts(x: Array) -> tuple[Any, Any]:
    """f and g by the Faddeeva function: (1 + i)/2 w((1 + i)/2 sqrt(pi) x) is g + i f."""
    value = (1 + 1j) / 2 * special.wofz((1 + 1j) / 2 * math.sqrt(math.pi) * x)
    return value.imag, value.real


def spence(xp: Any, x: Any) -> Any:
    """Return the dilogarithm of 1 - x: a polynomial around 1, elsewhere from the values at 1 - x and 1 / x."""
    is_large = x > 1.5
    inner = xp.where(is_large, 1 / x, x)
    is_small = inner < 0.5
    value = _interpolated(xp, xp.where(is_small, 1 - inner, inner), special.spence, 0.5, 1.5, 32)
    product = xp.where(inner == 0, 0, xp.log(inner) * xp.log(1 - inner))
    value = xp.where(is_small, math.pi**2 / 6 - (product + value), value)
    logarithm = xp.log(x)
    return xp.where((x < 0) | xp.isinf(x), math.nan, xp.where(is_large, logarithm * logarithm * -0.5 - value, value))


# The incomplete gamma and beta integrals.


def _lower_series(xp: Any, a: Any, x: Any) -> tuple[Any, Any]:
    """Return the sum of x^n / (a (a+1) ... (a+n)) and its derivative by a."""

    def advance(n: Any, carried: Any) -> Any:
        term, change, total, changes = carried
        below = a + (n + 1).astype(a.dtype)
        # The derivative of each term by a, from that of the term before.
        change = x * (change - term / below) / below
        term = term * x / below
        return term, change, total + term, changes + change

    first = 1 / a
    slope = -first * first
    total, changes = xp.fori_loop(0, _STEPS, advance, (first, slope, first, slope))[2:]
    return total, changes


def _upper_fraction(xp: Any, a: Any, x: Any) -> tuple[Any, Any]:
    """Return x^a exp(-x) over the upper integral, by Legendre's continued fraction from its end on, and the derivative by
    a.
    """

    def advance(i: Any, carried: Any) -> Any:
        value, slope = carried
        n = (_STEPS - i).astype(a.dtype)
        # From the last partial quotient to the first, with the derivative by a carried along: no convergence test is needed,
        # which lanes of an array could not share.
        above = n * (n - a) / value
        return x - a + (n * 2 - 1) - above, (n + above * slope) / value - 1

    start = x - a + (2 * _STEPS + 1)
    value, slope = xp.fori_loop(0, _STEPS, advance, (start, xp.zeros_like(start) - 1))
    return value, slope


def _incomplete(xp: Any, a: Any, x: Any) -> tuple[Any, ...]:
    """Both arguments in their domain, where they are not, x^a exp(-x) / gamma(a), and where the upper integral is small."""
    refused = (x < 0) | (a <= 0) | xp.isnan(a) | xp.isnan(x)
    a, x = xp.where(refused, 1, a), xp.where(refused, 1, x)
    # Arguments outside the domain are 1 from here on, so that no NaN spreads through the loops.
    return a, x, refused, xp.exp(a * xp.log(x) - x - lgamma(xp, a)), x > a + 1


def igamma(xp: Any, a: Any, x: Any) -> Any:
    is_zero = (x == 0) | ((a == math.inf) & (x >= 0))
    a, x, refused, density, is_tail = _incomplete(xp, a, x)
    value = xp.where(is_tail, 1 - density / _upper_fraction(xp, a, x)[0], density * _lower_series(xp, a, x)[0])
    return xp.where(is_zero, 0, xp.where(refused, math.nan, xp.where(xp.isinf(x), 1, value)))


def igammac(xp: Any, a: Any, x: Any) -> Any:
    a, x, refused, density, is_tail = _incomplete(xp, a, x)
    value = xp.where(is_tail, density / _upper_fraction(xp, a, x)[0], 1 - density * _lower_series(xp, a, x)[0])
    return xp.where(refused, math.nan, xp.where(xp.isinf(x), 0, xp.where(xp.isinf(a), 1, value)))


def _over_density(xp: Any, a: Any, x: Any) -> Any:
    """Return the derivative of the lower integral by a, over x^a exp(-x) / gamma(a)."""
    logarithm = xp.log(x) - digamma(xp, a)
    total, changes = _lower_series(xp, a, x)
    value, slope = _upper_fraction(xp, a, x)
    return xp.where(x > a + 1, (slope / value - logarithm) / value, changes + total * logarithm)


def igamma_gradient(xp: Any, a: Any, x: Any) -> Any:
    """By a; 0 where x is 0 or infinite."""
    is_zero = x == 0
    a, x, refused, density, _ = _incomplete(xp, a, x)
    value = xp.where(xp.isinf(x), 0, density * _over_density(xp, a, x))
    return xp.where(is_zero, 0, xp.where(refused, math.nan, value))


def gamma_sample_gradient(xp: Any, alpha: Any, sample: Any) -> Any:
    """Differentiate a sample at a fixed quantile by alpha: the integral's derivative by alpha over its derivative by the
    sample.
    """
    is_zero = sample == 0
    a, x, refused, _, _ = _incomplete(xp, alpha, sample)
    return xp.where(is_zero, 0, xp.where(refused, math.nan, -(_over_density(xp, a, x) * x)))


def betainc(xp: Any, a: Any, b: Any, x: Any) -> Any:
    """Return the integral by its continued fraction; where that is slow, 1 less the integral with a and b exchanged."""
    inside = functools.reduce(operator.and_, (a > 0, b > 0, x >= 0, x <= 1))
    a, b, x = xp.where(inside, a, 1), xp.where(inside, b, 1), xp.where(inside, x, 0)
    # Beyond the mean of the distribution the fraction converges slowly, and for the exchanged integral fast.
    is_far = x * (a + b + 2) > a + 1
    first, second, part = xp.where(is_far, b, a), xp.where(is_far, a, b), xp.where(is_far, 1 - x, x)
    value = _beta_density(xp, first, second, part) / (first * _beta_fraction(xp, first, second, part))
    value = xp.where(part == 0, 0, value)
    return xp.where(inside, xp.where(is_far, 1 - value, value), math.nan)


def _beta_density(xp: Any, a: Any, b: Any, x: Any) -> Any:
    """x^a (1-x)^b / B(a, b)."""
    log_beta = lgamma(xp, a) + lgamma(xp, b) - lgamma(xp, a + b)
    return xp.exp(a * xp.log(x) + b * xp.log(1 - x) - log_beta)


def _beta_fraction(xp: Any, a: Any, b: Any, x: Any) -> Any:
    """Return the continued fraction 8.17.22 of the Digital Library of Mathematical Functions, from its end on."""

    def advance(i: Any, value: Any) -> Any:
        m = (_STEPS - i).astype(a.dtype)
        twice = a + m * 2
        odd = (a + m) * (a + b + m) * x / (twice * (twice + 1))
        even = m * (b - m) * x / ((twice - 1) * twice)
        return even / (1 - odd / value) + 1

    value = xp.fori_loop(0, _STEPS, advance, xp.zeros_like(a) * x + 1)
    return 1 - (a + b) * x / (a + 1) / value
