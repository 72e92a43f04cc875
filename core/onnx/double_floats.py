"""Functions of 64-bit floats with only 32-bit kernels in onnxruntime, built from functions with 64-bit kernels."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from .blocks import Value

_LARGE: Final = 1e150
"""A bound: beyond, adding 1 to the square makes no difference; the square is still finite."""


def _polynomial(g: Any, x: Any, coefficients: Sequence[float]) -> Any:
    """Emit a polynomial by Horner's scheme; the coefficients begin with the constant."""
    return functools.reduce(lambda total, c: g.Add(g.Mul(total, x), c), coefficients[-2::-1], g.like(coefficients[-1], x))


def _half(g: Any, x: Any) -> Any:
    """Emit the tangent of half the angle whose tangent is x."""
    return g.Div(x, g.Add(g.Sqrt(g.Add(g.Mul(x, x), 1)), 1))


def _atan(g: Any, x: Any) -> Any:
    """Emit the series of a quarter of the angle, with a tangent of 0.2 at most; beyond 1 for the complement."""
    size = g.Abs(x)
    is_far = g.Greater(size, 1)
    quarter = _half(g, _half(g, g.Where(is_far, g.Reciprocal(size), size)))
    series = _polynomial(g, g.Mul(quarter, quarter), [(-1) ** k / (2 * k + 1) for k in range(13)])
    angle = g.Mul(g.Mul(quarter, series), 4)
    angle = g.Where(is_far, g.Sub(math.pi / 2, angle), angle)
    return g.Where(g.Less(x, 0), g.Neg(angle), angle)


def _asin(g: Any, x: Any) -> Any:
    return _atan(g, g.Div(x, g.Sqrt(g.Mul(g.Sub(1, x), g.Add(x, 1)))))


def _acos(g: Any, x: Any) -> Any:
    return g.Mul(_atan(g, g.Sqrt(g.Div(g.Sub(1, x), g.Add(x, 1)))), 2)


def _sinh(g: Any, x: Any) -> Any:
    """Emit a series up to 1, where the difference of exponentials would lose digits."""
    near = g.Max(g.Min(x, 1), -1)
    series = _polynomial(g, g.Mul(near, near), [1 / math.factorial(2 * k + 1) for k in range(10)])
    far = g.Mul(g.Sub(g.Exp(x), g.Exp(g.Neg(x))), 0.5)
    return g.Where(g.Less(g.Abs(x), 1), g.Mul(near, series), far)


def _cosh(g: Any, x: Any) -> Any:
    return g.Mul(g.Add(g.Exp(x), g.Exp(g.Neg(x))), 0.5)


def _asinh(g: Any, x: Any) -> Any:
    size = g.Abs(x)
    root = g.Where(g.Greater(size, _LARGE), size, g.Sqrt(g.Add(g.Mul(x, x), 1)))
    result = g.Log(g.Add(size, root))
    return g.Where(g.Less(x, 0), g.Neg(result), result)


def _acosh(g: Any, x: Any) -> Any:
    return g.Log(g.Add(x, g.Mul(g.Sqrt(g.Sub(x, 1)), g.Sqrt(g.Add(x, 1)))))


def _atanh(g: Any, x: Any) -> Any:
    return g.Mul(g.Log(g.Div(g.Add(x, 1), g.Sub(1, x))), 0.5)


def _softplus(g: Any, x: Any) -> Any:
    return g.Add(g.Max(x, 0), g.Log(g.Add(g.Exp(g.Neg(g.Abs(x))), 1)))


def _elu(g: Any, x: Any, alpha: float = 1.0) -> Any:
    return g.Where(g.Less(x, 0), g.Mul(g.Sub(g.Exp(g.Min(x, 0)), 1), alpha), x)


def _selu(g: Any, x: Any) -> Any:
    """Emit Selu with the constants of Klambauer et al. (2017); ONNX's attributes hold only 32 bits."""
    return g.Mul(_elu(g, x, 1.6732632423543772), 1.0507009873554805)


def _leaky_relu(g: Any, x: Any, alpha: float = 0.01) -> Any:
    return g.Where(g.Less(x, 0), g.Mul(x, alpha), x)


IN_DOUBLE: Final[Mapping[str, Callable[..., Value]]] = {
    "Tan": lambda g, x: g.Div(g.Sin(x), g.Cos(x)), "Atan": _atan, "Asin": _asin, "Acos": _acos, "Sinh": _sinh, "Cosh": _cosh,
    "Asinh": _asinh, "Acosh": _acosh, "Atanh": _atanh, "Softplus": _softplus, "Elu": _elu, "Selu": _selu,
    "LeakyRelu": _leaky_relu, "Softsign": lambda g, x: g.Div(x, g.Add(g.Abs(x), 1)),
}  # fmt: skip
