"""Complex numbers, absent from ONNX's operators: operators on pairs of real and imaginary parts."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from ..types import dtypes
from ..types.dtypes import DType
from .blocks import Value

_PARTWISE: Final = frozenset((
    "Identity", "Reshape", "Transpose", "Unsqueeze", "Squeeze", "Concat", "Slice", "Gather", "GatherElements", "GatherND",
    "Expand", "Tile", "Where", "Pad", "Split", "ReverseSequence", "ScatterND", "ScatterElements", "Trilu", "Compress",
    "Add", "Sub", "Neg", "Sum", "ReduceSum", "ReduceMean", "CumSum",
))  # fmt: skip
"""Operators that apply to each part alone."""
_OF_SHAPES: Final = frozenset(("Shape", "Size"))
_LARGE: Final = 20
"""Beyond this real part the hyperbolic tangent is 1 in 64 bits."""


def part_dtype(dtype: DType) -> DType:
    """Return the dtype of the parts of a complex number."""
    return dtypes.float32 if dtype is dtypes.complex64 else dtypes.float64


def whole_dtype(dtype: DType) -> DType:
    """Return the dtype of the complex number with parts of a dtype."""
    return dtypes.complex64 if dtype is dtypes.float32 else dtypes.complex128


def on_parts(
    g: Any, name: str, values: Sequence[Value | None], outputs: int, dtype: DType | None, attrs: dict[str, Any]
) -> Any:
    """Emit an operator on values of which some are complex; refuse an operator without a complex form."""
    if name in _OF_SHAPES:
        return g.op(name, g.parts(values[0])[0], **attrs)
    if name == "Cast":
        return _cast(g, values[0], dtype)
    if name in _PARTWISE and attrs.get("reduction", "none") in ("none", "add"):
        return _partwise(g, name, values, outputs, attrs)
    if name not in _FUNCTIONS:
        g.refuse(f"ONNX has no {name} of complex numbers")
    return _FUNCTIONS[name](g, *values, **attrs)


def _partwise(g: Any, name: str, values: Sequence[Value | None], outputs: int, attrs: dict[str, Any]) -> Any:
    sides = []
    for side in (0, 1):
        inputs = [g.parts(value)[side] if value is not None and value.dtype.is_complex else value for value in values]
        sides.append(g.op(name, *inputs, outputs=outputs, **attrs))
    if outputs == 1:
        return g.complex(*sides)
    return [g.complex(real, imag) for real, imag in zip(*sides)]


def _cast(g: Any, value: Any, dtype: Any) -> Value:
    """Cast complex from and to real numbers, whose imaginary part is 0; a truth value is "not 0"."""
    if dtype.is_complex:
        parts = g.parts(value) if value.dtype.is_complex else (value, None)
        real = g.cast(parts[0], part_dtype(dtype))
        result: Value = g.complex(real, g.zeros_like(real) if parts[1] is None else g.cast(parts[1], part_dtype(dtype)))
    elif dtype is dtypes.bool_:
        result = g.Not(g.Equal(value, 0))
    else:
        result = g.cast(g.parts(value)[0], dtype)
    return result


def _bilinear(name: str) -> Callable[..., Value]:
    """Emit a product (a + bi)(c + di) = ac - bd + (ad + bc)i by an operator of real numbers."""

    def function(g: Any, x: Any, y: Any, **attrs: Any) -> Value:
        def product(left: Any, right: Any) -> Any:
            return g.op(name, left, right, **attrs)

        (a, b), (c, d) = g.parts(x), g.parts(y)
        result: Value = g.complex(g.Sub(product(a, c), product(b, d)), g.Add(product(a, d), product(b, c)))
        return result

    return function


def _einsum(g: Any, *values: Any, equation: str) -> Value:
    if len(values) == 2:
        return _bilinear("Einsum")(g, *values, equation=equation)
    if len(values) > 2:
        g.refuse("Einsum of more than two complex tensors has no lowering")
    result: Value = g.complex(*(g.Einsum(part, equation=equation) for part in g.parts(values[0])))
    return result


def _div(g: Any, x: Any, y: Any) -> Value:
    """Emit x times the conjugate of y over |y|^2, scaled so that no square overflows."""
    c, d = g.parts(y)
    scale = g.Max(g.Abs(c), g.Abs(d))
    c, d = g.Div(c, scale), g.Div(d, scale)
    size = g.Mul(g.Add(g.Mul(c, c), g.Mul(d, d)), scale)
    product = g.Mul(x, g.complex(c, g.Neg(d)))
    result: Value = g.complex(*(g.Div(part, size) for part in g.parts(product)))
    return result


def _equal(g: Any, x: Any, y: Any) -> Value:
    same: Value = g.And(*(g.Equal(a, b) for a, b in zip(g.parts(x), g.parts(y))))
    return same


def magnitude(g: Any, x: Any) -> Any:
    """Emit the absolute value, scaled so that no square overflows."""
    a, b = (g.Abs(part) for part in g.parts(x))
    large = g.Max(a, b)
    ratio = g.Div(g.Min(a, b), large)
    size = g.Mul(large, g.Sqrt(g.Add(g.Mul(ratio, ratio), 1)))
    # If the larger part is 0 or infinite, the ratio of the parts is 0/0 or inf/inf.
    return g.Where(g.Or(g.Equal(large, 0), g.IsInf(large)), large, size)


def arctangent(g: Any, y: Any, x: Any) -> Any:
    """Emit the arc tangent of y/x, turned by pi in the half plane x < 0 and on the border."""
    half = g.Where(g.Less(y, 0), g.like(-math.pi / 2, y), math.pi / 2)
    turned = g.Add(g.Atan(g.Div(y, x)), g.Where(g.Less(x, 0), g.Mul(half, 2), 0))
    return g.Where(g.Equal(x, 0), g.Where(g.Equal(y, 0), 0, half), turned)


def angle(g: Any, x: Any) -> Any:
    real, imag = g.parts(x)
    return arctangent(g, imag, real)


def _prod(g: Any, x: Any, axes: Any, *, keepdims: int, **_: Any) -> Any:
    """Emit the product along each axis in turn, element by element."""
    places = sorted({int(axis) % g.rank(x) for axis in g.known(axes, "axes").reshape(-1)})
    for axis in places:
        x = _prod_along(g, x, axis)
    return x if keepdims else g.squeeze(x, *places)


def _prod_along(g: Any, x: Any, axis: int) -> Any:
    def advance(k: Any, product: Any) -> Any:
        return [g.Mul(product[0], g.Gather(x, g.unsqueeze(k, 0), axis=axis))]

    # A sum of zeros has the shape of the product, also where only the run knows sizes.
    ones = g.Add(g.ReduceSum(g.zeros_like(x), [axis]), 1)
    return g.repeat(g.reshape(g.dim(x, axis), []), [ones], advance)[0]


def _exp(g: Any, x: Any) -> Value:
    real, imag = g.parts(x)
    size = g.Exp(real)
    result: Value = g.complex(g.Mul(size, g.Cos(imag)), g.Mul(size, g.Sin(imag)))
    return result


def _log(g: Any, x: Any) -> Value:
    result: Value = g.complex(g.Log(magnitude(g, x)), angle(g, x))
    return result


def _sqrt(g: Any, x: Any) -> Value:
    """Emit the root with a real part of at least 0; the larger part is computed first, so that no digits are lost."""
    real, imag = g.parts(x)
    larger = g.Sqrt(g.Mul(g.Add(magnitude(g, x), g.Abs(real)), 0.5))
    smaller = g.Where(g.Equal(larger, 0), 0, g.Div(g.Mul(imag, 0.5), larger))
    is_right = g.Not(g.Less(real, 0))
    turned = g.Where(g.Less(imag, 0), g.Neg(larger), larger)
    result: Value = g.complex(g.Where(is_right, larger, g.Abs(smaller)), g.Where(is_right, smaller, turned))
    return result


def _sinh(g: Any, x: Any) -> Value:
    a, b = g.parts(x)
    result: Value = g.complex(g.Mul(g.Sinh(a), g.Cos(b)), g.Mul(g.Cosh(a), g.Sin(b)))
    return result


def _cosh(g: Any, x: Any) -> Value:
    a, b = g.parts(x)
    result: Value = g.complex(g.Mul(g.Cosh(a), g.Cos(b)), g.Mul(g.Sinh(a), g.Sin(b)))
    return result


def _tanh(g: Any, x: Any) -> Value:
    """Emit (sinh 2a + i sin 2b) / (cosh 2a + cos 2b)."""
    a, b = g.parts(x)
    a, b = g.Mul(g.Max(g.Min(a, _LARGE), -_LARGE), 2), g.Mul(b, 2)
    under = g.Add(g.Cosh(a), g.Cos(b))
    result: Value = g.complex(g.Div(g.Sinh(a), under), g.Div(g.Sin(b), under))
    return result


def _turned(g: Any, x: Any) -> Value:
    """Emit i x."""
    real, imag = g.parts(x)
    result: Value = g.complex(g.Neg(imag), real)
    return result


def _turned_back(g: Any, x: Any) -> Value:
    real, imag = g.parts(x)
    result: Value = g.complex(imag, g.Neg(real))
    return result


def _around(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return -i f(i x): a circular function from a hyperbolic function."""
    return lambda g, x: _turned_back(g, function(g, _turned(g, x)))


def _asinh(g: Any, x: Any) -> Any:
    """Emit log(x + sqrt(x² + 1)), taken where no digits are lost, in the right half plane."""
    is_left = g.Less(g.parts(x)[0], 0)
    right = g.Where(is_left, g.Neg(x), x)
    result = _log(g, g.Add(right, _sqrt(g, g.Add(g.Mul(right, right), 1))))
    return g.Where(is_left, g.Neg(result), result)


def _acosh(g: Any, x: Any) -> Any:
    """Emit log(x + sqrt(x + 1) sqrt(x - 1))."""
    return _log(g, g.Add(x, g.Mul(_sqrt(g, g.Add(x, 1)), _sqrt(g, g.Sub(x, 1)))))


def _atanh(g: Any, x: Any) -> Any:
    """Emit (log(1 + x) - log(1 - x)) / 2."""
    return g.Mul(g.Sub(_log(g, g.Add(x, 1)), _log(g, g.Sub(1, x))), 0.5)


def _acos(g: Any, x: Any) -> Any:
    return g.Sub(math.pi / 2, _around(_asinh)(g, x))


def _pow(g: Any, x: Any, y: Any) -> Any:
    """Emit exp(y log x); 1 for an exponent of 0, and 0 of 0 for another."""
    is_zero = g.Equal(x, 0)
    power = g.Where(is_zero, 0, _exp(g, g.Mul(y, _log(g, g.Where(is_zero, 1, x)))))
    return g.Where(g.Equal(y, 0), 1, power)


def _sign(g: Any, x: Any) -> Any:
    """Emit x over its absolute value; 0 for 0."""
    size = magnitude(g, x)
    is_zero = g.Equal(size, 0)
    parts = (g.Where(is_zero, 0, g.Div(part, size)) for part in g.parts(x))
    return g.complex(*parts)


_FUNCTIONS: Final[Mapping[str, Callable[..., Any]]] = {
    "Mul": _bilinear("Mul"), "MatMul": _bilinear("MatMul"), "Einsum": _einsum, "Div": _div, "Equal": _equal, "Abs": magnitude,
    "Reciprocal": lambda g, x: _div(g, g.like(1, x), x), "Exp": _exp, "Log": _log, "Sqrt": _sqrt, "Pow": _pow, "Sign": _sign,
    "Sinh": _sinh, "Cosh": _cosh, "Tanh": _tanh, "Sin": _around(_sinh), "Tan": _around(_tanh), "Asinh": _asinh,
    "Cos": lambda g, x: _cosh(g, _turned(g, x)), "Acosh": _acosh, "Atanh": _atanh, "Asin": _around(_asinh), "Acos": _acos,
    "Atan": _around(_atanh), "Sigmoid": lambda g, x: g.Mul(g.Add(_tanh(g, g.Mul(x, 0.5)), 1), 0.5),
    "ReduceL2": lambda g, x, *axes, **attrs: g.cast(g.ReduceL2(magnitude(g, x), *axes, **attrs), x.dtype),
    "NonZero": lambda g, x: g.NonZero(g.Not(_equal(g, x, g.like(0, x)))), "ReduceProd": _prod,
    "Round": lambda g, x: g.complex(*map(g.Round, g.parts(x))),
}  # fmt: skip
