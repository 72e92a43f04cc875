"""Special functions: gamma and beta families, error functions, Bessel functions, integrals, x log y with care for zeros."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special

from ...building.gradbuilder import GradientBuilder, Gradients
from ...graph.graph import Node, Output
from ...numerics import elementwise
from ...numerics.elementwise import gamma_sample_gradient, igamma_gradient
from ...numerics.half_precision import wide
from ...registry.registry import (
    WITHOUT_GRADIENT,
    Cost,
    arrays,
    arrays_as,
    facts,
    gradient,
    kernel,
    lower,
    lower_as,
    onnx,
    onnx_arrays,
    shape,
)
from ...support.errors import InvalidArgumentError
from ...types.arrays import Array, Result
from ...types.shapes import Shape, TensorSpec
from ..shared import special_programs as programs
from ..shared.decompositions import by_ops
from ..shared.elementwise_tables import (
    RESULT,
    Binary,
    Unary,
    binary_flops,
    binary_shape,
    broadcasting,
    counted,
    register_binary,
    register_unary,
)
from ..shared.plain_shapes import besides_scalars

# (g, x, y, dy) -> dx


def _times(derivative: Callable[..., Any]) -> Callable[..., Any]:
    """Return a gradient from the derivative as a function (g, x, y)."""
    return lambda g, x, y, dy: g.Mul(dy, derivative(g, x, y))


def _gaussian(g: GradientBuilder, x: Output, scale: float, sign: float = -1) -> Output:
    return g.Mul(g.scalar_like(x, scale), g.Exp(g.Mul(g.scalar_like(x, sign), g.Square(x))))


def _at_zero(g: GradientBuilder, x: Output, value: float, otherwise: Output) -> Output:
    """Return `otherwise`, but `value` where x is zero, as the formula divides by zero there."""
    return g.SelectV2(g.Equal(x, g.scalar_like(x, 0)), g.scalar_like(x, value), otherwise)


def _i1e_derivative(g: GradientBuilder, x: Output, y: Output) -> Output:
    return _at_zero(g, x, 0.5, g.Sub(g.BesselI0e(x), g.Mul(y, g.AddV2(g.Sign(x), g.Reciprocal(x)))))


def _fresnel_derivative(name: str) -> Callable[..., Any]:
    return lambda g, x, y: getattr(g, name)(g.Mul(g.scalar_like(x, math.pi / 2), g.Square(x)))


def _spence_derivative(g: GradientBuilder, x: Output, y: Output) -> Output:
    one = g.scalar_like(x, 1)
    return g.SelectV2(g.Equal(x, one), g.scalar_like(x, -1), g.RealDiv(g.Log(x), g.Sub(one, x)))


_DERIVATIVES = {
    "Lgamma": lambda g, x, y: g.Digamma(x),
    "Digamma": lambda g, x, y: g.Polygamma(g.scalar_like(x, 1), x),
    "Erf": lambda g, x, y: _gaussian(g, x, 2 / math.sqrt(math.pi)),
    "Erfc": lambda g, x, y: _gaussian(g, x, -2 / math.sqrt(math.pi)),
    "Erfinv": lambda g, x, y: _gaussian(g, y, math.sqrt(math.pi) / 2, 1),
    "Ndtri": lambda g, x, y: _gaussian(g, y, math.sqrt(2 * math.pi), 0.5),
    "Dawsn": lambda g, x, y: g.Sub(g.scalar_like(x, 1), g.Mul(g.scalar_like(x, 2), g.Mul(x, y))),
    "Expint": lambda g, x, y: g.RealDiv(g.Exp(x), x),
    "FresnelCos": _fresnel_derivative("Cos"),
    "FresnelSin": _fresnel_derivative("Sin"),
    "Spence": _spence_derivative,
    "BesselI0": lambda g, x, y: g.BesselI1(x),
    "BesselI0e": lambda g, x, y: g.Sub(g.BesselI1e(x), g.Mul(g.Sign(x), y)),
    # TensorFlow's value at zero is 1, though the derivative there is 1/2.
    "BesselI1": lambda g, x, y: _at_zero(g, x, 1, g.Sub(g.BesselI0(x), g.RealDiv(y, x))),
    "BesselI1e": _i1e_derivative,
    "BesselK0": lambda g, x, y: g.Neg(g.BesselK1(x)),
    "BesselK0e": lambda g, x, y: g.Sub(y, g.BesselK1e(x)),
    "BesselK1": lambda g, x, y: g.Sub(g.Neg(g.BesselK0(x)), g.RealDiv(y, x)),
    "BesselK1e": lambda g, x, y: g.Sub(g.Mul(y, g.Sub(g.scalar_like(x, 1), g.Reciprocal(x))), g.BesselK0e(x)),
    "BesselJ0": lambda g, x, y: g.Neg(g.BesselJ1(x)),
    # The formula has 0 / 0 at 0, and the limit there is 1/2.
    "BesselJ1": lambda g, x, y: _at_zero(g, x, 0.5, g.Sub(g.BesselJ0(x), g.RealDiv(y, x))),
    "BesselY0": lambda g, x, y: g.Neg(g.BesselY1(x)),
    "BesselY1": lambda g, x, y: g.Sub(g.BesselY0(x), g.RealDiv(y, x)),
}


def _on_positive(function: Callable[..., Any], otherwise: float) -> Callable[..., Any]:
    """Return `function` for positive numbers and a constant for other numbers."""

    def positive(x: Array) -> Array:
        below = x <= 0
        return np.where(below, x.dtype.type(otherwise), function(np.where(below, x.dtype.type(1), x)))

    return positive


def _bessel_y1(x: Array) -> Array:
    """Return Y1; at zero NaN in single precision, as in TensorFlow."""
    value = _on_positive(special.y1, -np.inf)(x)
    return np.where(x == 0, x.dtype.type(np.nan), value) if x.dtype == np.float32 else value


_FUNCTIONS = {
    # C's lgamma is infinite at both infinities, SciPy's at minus infinity is not.
    "Lgamma": lambda x: np.where(np.isinf(x), np.inf, special.gammaln(x)).astype(x.dtype),
    # SciPy's digamma is infinite at 0, where TensorFlow's is NaN.
    "Digamma": lambda x: np.where(x == 0, x.dtype.type(np.nan), special.digamma(x)),
    "Erf": elementwise.erf,
    "Erfc": elementwise.erfc,
    "Erfinv": special.erfinv,
    "Ndtri": special.ndtri,
    "Dawsn": special.dawsn,
    # TensorFlow's Expint is NaN below 0 and at infinity, where SciPy's expi has values.
    "Expint": lambda x: np.where((x < 0) | np.isposinf(x), x.dtype.type(np.nan), special.expi(x)),
    "FresnelCos": lambda x: special.fresnel(x)[1],
    "FresnelSin": lambda x: special.fresnel(x)[0],
    "Spence": special.spence,
    "BesselI0": special.i0,
    "BesselI0e": special.i0e,
    "BesselI1": special.i1,
    "BesselI1e": special.i1e,
    # Not the NaN that SciPy gives for negative numbers: Eigen returns the limit at 0 for them, too.
    "BesselK0": _on_positive(special.k0, np.inf),
    "BesselK0e": _on_positive(special.k0e, np.inf),
    "BesselK1": _on_positive(special.k1, np.inf),
    "BesselK1e": _on_positive(special.k1e, np.inf),
    "BesselJ0": special.j0,
    "BesselJ1": special.j1,
    "BesselY0": _on_positive(special.y0, -np.inf),
    "BesselY1": _bessel_y1,
}

register_unary(Unary(op, function, _times(_DERIVATIVES[op]), 0, 1, widened=True) for op, function in _FUNCTIONS.items())
facts("monotone", of=("Erf", "Erfinv", "Ndtri"))
facts("unit_range", of=("Erf",))


def _checked(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return `function` with a check of broadcasting; the result has the inputs' dtype."""
    return broadcasting(lambda x, y: np.asarray(function(x, y)).astype(x.dtype, copy=False))


def _zeta(x: Array, q: Array) -> Array:
    """Hurwitz's zeta; at the poles q = 0, -1, -2 ... infinite for even x and NaN for others."""
    value = special.zeta(x, q)
    is_pole = (q <= 0) & (q == np.floor(q)) & (x > 1)
    return np.where(is_pole, np.where(x % 2 == 0, np.inf, np.nan), value)


def _polygamma(n: Array, x: Array) -> Array:
    """Return the n-th derivative of digamma, (-1)^(n+1) n! zeta(n+1, x); NaN unless n is a natural number."""
    n, x = np.broadcast_arrays(n, x)
    result = np.full(n.shape, np.nan)
    natural = (n >= 0) & (n == np.floor(n))
    n, x = n[natural], x[natural]
    value = np.where(n % 2 == 0, -1.0, 1.0) * np.exp(special.gammaln(n + 1.0)) * _zeta(n + 1.0, x)
    result[natural] = np.where(n == 0, np.where(x == 0, np.nan, special.digamma(x)), value)
    return result


def _igamma(a: Array, x: Array) -> Array:
    invalid = (x < 0) | (a <= 0) | np.isnan(a) | np.isnan(x)
    # Eigen looks at x first: at 0 the result is 0 for any a, even a NaN.
    value = np.where(invalid & (x != 0), np.nan, special.gammainc(np.where(invalid, 1, a), np.where(invalid, 0, x)))
    return np.where(np.isposinf(a) & (x >= 0), 0, value)


def _igammac(a: Array, x: Array) -> Array:
    invalid = (x < 0) | (a <= 0) | np.isnan(a) | np.isnan(x)
    return np.where(invalid, np.nan, special.gammaincc(np.where(invalid, 1, a), np.where(invalid, 1, x)))


def _unless_zero(function: Callable[..., Any]) -> Callable[..., Any]:
    """function(x, y), but 0 where x is 0, whatever y is."""
    return lambda x, y: np.where(x == 0, 0, function(x, y))


def _xlogy_gradient(g: GradientBuilder, x: Output, y: Output, z: Output, dz: Output) -> tuple[Output, Output]:
    # The logarithm of y, but 0 where x is 0, since the function is 0 there for every y.
    return g.Mul(g.Xlogy(_is_nonzero(g, x), y), dz), g.Mul(g.Xdivy(x, y), dz)


def _xlog1py_gradient(g: GradientBuilder, x: Output, y: Output, z: Output, dz: Output) -> tuple[Output, Output]:
    one = g.scalar_like(y, 1)
    return g.Mul(g.Xlog1py(_is_nonzero(g, x), y), dz), g.Mul(g.Xdivy(x, g.AddV2(y, one)), dz)


def _xdivy_gradient(g: GradientBuilder, x: Output, y: Output, z: Output, dz: Output) -> tuple[Output, Output]:
    return g.Mul(g.Xdivy(_is_nonzero(g, x), y), dz), g.Mul(g.Xdivy(g.Neg(x), g.Square(y)), dz)


def _is_nonzero(g: GradientBuilder, x: Output) -> Output:
    return g.Cast(g.NotEqual(x, g.scalar_like(x, 0)), DstT=x.base_dtype)


def _igamma_partials(g: GradientBuilder, a: Output, x: Output, z: Output, dz: Output) -> tuple[Output, Output]:
    log_density = g.Sub(g.Mul(g.Sub(a, g.scalar_like(a, 1)), g.Log(x)), g.AddV2(x, g.Lgamma(a)))
    return g.Mul(g.IgammaGradA(a, x), dz), g.Mul(g.Exp(log_density), dz)


def _zeta_gradient(g: GradientBuilder, x: Output, q: Output, z: Output, dz: Output) -> tuple[Any, Any]:
    # TensorFlow has no op for the derivative by the first argument, and no gradient for it.
    return None, g.Mul(g.Mul(g.Neg(x), g.Zeta(g.AddV2(x, g.scalar_like(x, 1)), q)), dz)


def _polygamma_gradient(g: GradientBuilder, n: Output, x: Output, z: Output, dz: Output) -> tuple[Any, Any]:
    return None, g.Mul(g.Polygamma(g.AddV2(n, g.scalar_like(n, 1)), x), dz)


register_binary(
    (
        Binary("Polygamma", _checked(_polygamma), _polygamma_gradient, 0, 1),
        Binary("Zeta", _checked(_zeta), _zeta_gradient, 0, 1),
        Binary("Igamma", _checked(_igamma), _igamma_partials, 0, 1, widened=True),
        Binary(
            "Igammac", _checked(_igammac), lambda g, *args: tuple(map(g.Neg, _igamma_partials(g, *args))), 0, 1, widened=True
        ),
        Binary("IgammaGradA", _checked(igamma_gradient), WITHOUT_GRADIENT, 0, 1),
        Binary("RandomGammaGrad", _checked(gamma_sample_gradient), WITHOUT_GRADIENT, 0, 1),
        Binary("Xlogy", _checked(_unless_zero(lambda x, y: x * np.log(y))), _xlogy_gradient, 1, 1, widened=True),
        Binary("Xlog1py", _checked(_unless_zero(lambda x, y: x * np.log1p(y))), _xlog1py_gradient, 1, 1, widened=True),
        Binary("Xdivy", _checked(_unless_zero(np.true_divide)), _xdivy_gradient, 1, 0, widened=True),
    )
)
facts("backward", of=("IgammaGradA", "RandomGammaGrad"))


@kernel("NextAfter", shape=binary_shape, flops=binary_flops(1), facts=("elementwise",))
def next_after(x1: Array, x2: Array) -> Result:
    """The next number after x1 in the direction of x2."""
    return _checked(np.nextafter)(x1, x2)


# The step to the neighbour is constant nearly everywhere, and x2 tells the direction only.
gradient("NextAfter")(by_ops("reduce_to dy 0 1", "ZerosLike 1"))


@kernel("Betainc", flops=counted(Cost(transcendentals=1), RESULT, "One function for each element."), facts=("elementwise",))
def betainc(a: Array, b: Array, x: Array) -> Result:
    """Return the regularized incomplete beta integral I_x(a, b); inputs have equal shapes, or are scalars."""
    shapes = {np.shape(value) for value in (a, b, x) if np.ndim(value)}
    if len(shapes) > 1:
        raise InvalidArgumentError(f"a, b and x must be of one shape or scalars, not {[np.shape(v) for v in (a, b, x)]}")
    invalid = (a <= 0) | (b <= 0) | (x < 0) | (x > 1) | np.isnan(a + b + x)
    # The arguments outside of the domain are replaced before, so that SciPy does not warn of each.
    value = special.betainc(np.where(invalid, 1, a), np.where(invalid, 1, b), np.where(invalid, 0, x))
    return np.where(invalid, np.nan, value).astype(a.dtype)


@shape("Betainc")
def betainc_shape(a: TensorSpec, b: TensorSpec, x: TensorSpec) -> Shape:
    return besides_scalars([a, b, x])


@gradient("Betainc")
def betainc_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    """Differentiate by x only: x^(a-1) (1-x)^(b-1) / B(a, b)."""
    a, b, x = node.inputs
    one = g.scalar_like(x, 1)
    log_beta = g.Sub(g.AddV2(g.Lgamma(a), g.Lgamma(b)), g.Lgamma(g.AddV2(a, b)))
    powers = g.AddV2(g.Xlog1py(g.Sub(b, one), g.Neg(x)), g.Xlogy(g.Sub(a, one), x))
    # TensorFlow has no gradient for a and b either.
    return [None, None, g.reduce_to(g.Mul(g.Exp(g.Sub(powers, log_beta)), grad), x, a)]


arrays_as(Erf="erf", Erfc="erfc")
lower_as(Lgamma="lgamma", Digamma="digamma")
_LOWERED = {
    "Erfinv": "erf_inv", "Ndtri": "ndtri", "Spence": "spence", "BesselI0": "i0", "BesselI0e": "i0e", "BesselI1": "i1",
    "BesselI1e": "i1e",
}  # fmt: skip


def _lowered_wide(name: str) -> Callable[..., Any]:
    """Return the lowering of a function of the namespace; narrow floats are computed in 32 bits."""
    return lambda xla, *values: getattr(xla, name)(*map(wide, values))


for _op, _name in _LOWERED.items():
    lower(_op)(_lowered_wide(_name))


_LOWERED_ALIKE = {"Zeta": "zeta", "Polygamma": "polygamma", "NextAfter": "nextafter"}


def _lowered_alike(name: str, xla: Any, *values: Any) -> Any:
    """Return a function of jax.lax, which takes arrays of equal shapes and has no derivative there; the op has its own."""
    return getattr(xla.lax, name)(*(xla.lax.stop_gradient(value) for value in xla.broadcast_arrays(*values)))


for _op, _name in _LOWERED_ALIKE.items():
    lower(_op)(functools.partial(_lowered_alike, _name))

facts("own_gradient", of=["Spence", *_LOWERED_ALIKE])
# The denominator is replaced, too, where x is 0: JAX differentiates both sides of `where`, and 0 * NaN would be NaN.
arrays("Xdivy")(lambda xp, x, y: xp.where(x == 0, 0, x / xp.where(x == 0, 1, y)))
arrays("Xlog1py")(lambda xp, x, y: xp.where(x == 0, 0, x * xp.log1p(xp.where(x == 0, 0, y))))
arrays("Xlogy")(lambda xp, x, y: xp.where(x == 0, 0, x * xp.log(xp.where(x == 0, 1, y))))


_PROGRAMS: dict[str, Callable[..., Any]] = {
    "Dawsn": programs.dawsn, "Expint": programs.expint, "FresnelCos": functools.partial(programs.fresnel, is_sine=False),
    "FresnelSin": functools.partial(programs.fresnel, is_sine=True), "BesselK0": programs.shrunk(programs.bessel_k0e),
    "BesselK0e": programs.bessel_k0e, "BesselK1": programs.shrunk(programs.bessel_k1e), "BesselK1e": programs.bessel_k1e,
    "BesselJ0": functools.partial(programs.bessel_j, order=0), "BesselJ1": functools.partial(programs.bessel_j, order=1),
    "BesselY0": functools.partial(programs.bessel_y, order=0), "Igamma": programs.igamma, "Igammac": programs.igammac,
    "IgammaGradA": programs.igamma_gradient, "RandomGammaGrad": programs.gamma_sample_gradient, "Betainc": programs.betainc,
}  # fmt: skip
for _op, _program in _PROGRAMS.items():
    arrays(_op)(programs.widened(_program))
arrays("BesselY1")(programs.bessel_y1)
facts("own_gradient", of=({*_PROGRAMS, "BesselY1"} - {"IgammaGradA", "RandomGammaGrad"}))

# JAX has these functions, and ONNX none of them.
_ONNX: dict[str, Callable[..., Any]] = {
    "Lgamma": programs.lgamma, "Digamma": programs.digamma, "Polygamma": programs.polygamma, "Zeta": programs.zeta,
    "Erfinv": programs.erfinv, "Ndtri": programs.ndtri, "Spence": programs.spence,
    "BesselI0": programs.grown(programs.bessel_i0e), "BesselI0e": programs.bessel_i0e,
    "BesselI1": programs.grown(programs.bessel_i1e), "BesselI1e": programs.bessel_i1e,
}  # fmt: skip
for _op, _program in _ONNX.items():
    onnx_arrays(_op)(programs.widened(_program))


@onnx("NextAfter")
def _next_after_onnx(g: Any, x: Any, y: Any) -> Any:
    """Step to the next number by rounding: the step is between a half and three halves of the distance."""
    limits = np.finfo(x.dtype.numpy)
    step = g.Max(g.Mul(g.Abs(x), 5 / 4 * float(limits.epsneg)), float(limits.smallest_subnormal))
    neighbour = g.Where(g.Less(x, y), g.Add(x, step), g.Sub(x, step))
    return g.Where(g.Equal(x, y), y, g.Where(g.IsNaN(y), y, neighbour))


facts("half_infer", of=["Erf", "Erfc"])
