"""Complex numbers, absent from ONNX's operators: operators on pairs of real and imaginary parts."""

from __future__ import annotations

import functools
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
    return g.evaluate(_FUNCTIONS[name], (), (), values, attrs)


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


# Functions of complex numbers are array programs: `xp` is the namespace of `array_programs`.


def _bilinear(name: str) -> Callable[..., Any]:
    """Return a product (a + bi)(c + di) = ac - bd + (ad + bc)i by an operator of real numbers."""

    def function(xp: Any, x: Any, y: Any, **attrs: Any) -> Any:
        def product(left: Any, right: Any) -> Any:
            return xp.array_of(xp.g.op(name, left.value, right.value, **attrs))

        a, b, c, d = x.real, x.imag, y.real, y.imag
        return xp.complex(product(a, c) - product(b, d), product(a, d) + product(b, c))

    return function


def _einsum(xp: Any, *arrays: Any, equation: str) -> Any:
    if len(arrays) == 2:
        return _bilinear("Einsum")(xp, *arrays, equation=equation)
    if len(arrays) > 2:
        xp.g.refuse("Einsum of more than two complex tensors has no lowering")
    return xp.complex(*(xp.einsum(equation, part) for part in (arrays[0].real, arrays[0].imag)))


def _quotient(xp: Any, x: Any, y: Any) -> Any:
    """Return x times the conjugate of y over |y|^2, scaled so that no square overflows."""
    c, d = y.real, y.imag
    scale = xp.maximum(abs(c), abs(d))
    c, d = c / scale, d / scale
    size = (c * c + d * d) * scale
    product = x * xp.complex(c, -d)
    return xp.complex(product.real / size, product.imag / size)


def _magnitude(xp: Any, x: Any) -> Any:
    """Return the absolute value, scaled so that no square overflows."""
    a, b = abs(x.real), abs(x.imag)
    large = xp.maximum(a, b)
    ratio = xp.minimum(a, b) / large
    # If the larger part is 0 or infinite, the ratio of the parts is 0/0 or inf/inf.
    return xp.where((large == 0) | xp.isinf(large), large, large * xp.sqrt(ratio * ratio + 1))


def _prod(xp: Any, x: Any, axes: Any, *, keepdims: int, **_: Any) -> Any:
    """Return the product along each axis in turn, element by element."""
    places = sorted({int(axis) % x.ndim for axis in xp.g.known(axes.value, "axes").reshape(-1)})
    result = functools.reduce(functools.partial(_prod_along, xp), places, x)
    return result if keepdims else xp.array_of(xp.g.squeeze(result.value, *places))


def _prod_along(xp: Any, x: Any, axis: int) -> Any:
    # A sum of zeros has the shape of the product, also where only the run knows sizes.
    ones = xp.sum(xp.zeros_like(x), axis, keepdims=True) + 1
    return xp.fori_loop(0, x.shape[axis], lambda k, product: product * xp.take(x, k[None], axis), ones)


def _exp(xp: Any, x: Any) -> Any:
    size = xp.exp(x.real)
    return xp.complex(size * xp.cos(x.imag), size * xp.sin(x.imag))


def _sqrt(xp: Any, x: Any) -> Any:
    """Return the root with a real part of at least 0; the larger part is computed first, so that no digits are lost."""
    real, imag = x.real, x.imag
    larger = xp.sqrt((abs(x) + abs(real)) * 0.5)
    smaller = xp.where(larger == 0, 0, imag * 0.5 / larger)
    is_right = ~(real < 0)
    turned = xp.where(imag < 0, -larger, larger)
    return xp.complex(xp.where(is_right, larger, abs(smaller)), xp.where(is_right, smaller, turned))


def _sinh(xp: Any, x: Any) -> Any:
    a, b = x.real, x.imag
    return xp.complex(xp.sinh(a) * xp.cos(b), xp.cosh(a) * xp.sin(b))


def _cosh(xp: Any, x: Any) -> Any:
    a, b = x.real, x.imag
    return xp.complex(xp.cosh(a) * xp.cos(b), xp.sinh(a) * xp.sin(b))


def _tanh(xp: Any, x: Any) -> Any:
    """Return (sinh 2a + i sin 2b) / (cosh 2a + cos 2b)."""
    a, b = xp.clip(x.real, -_LARGE, _LARGE) * 2, x.imag * 2
    under = xp.cosh(a) + xp.cos(b)
    return xp.complex(xp.sinh(a) / under, xp.sin(b) / under)


def _turned(xp: Any, x: Any) -> Any:
    """Return i x."""
    return xp.complex(-x.imag, x.real)


def _around(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return -i f(i x): a circular function from a hyperbolic function."""

    def turned(xp: Any, x: Any) -> Any:
        result = function(xp, _turned(xp, x))
        return xp.complex(result.imag, -result.real)

    return turned


def _asinh(xp: Any, x: Any) -> Any:
    """Return log(x + sqrt(x² + 1)), taken where no digits are lost, in the right half plane."""
    is_left = x.real < 0
    right = xp.where(is_left, -x, x)
    result = xp.log(right + xp.sqrt(right * right + 1))
    return xp.where(is_left, -result, result)


def _power(xp: Any, x: Any, y: Any) -> Any:
    """Return exp(y log x); 1 for an exponent of 0, and 0 of 0 for another."""
    is_zero = x == 0
    return xp.where(y == 0, 1, xp.where(is_zero, 0, xp.exp(y * xp.log(xp.where(is_zero, 1, x)))))


def _sign(xp: Any, x: Any) -> Any:
    """Return x over its absolute value; 0 for 0."""
    size = abs(x)
    return xp.complex(*(xp.where(size == 0, 0, part / size) for part in (x.real, x.imag)))


def _norm(xp: Any, x: Any, axes: Any, **attrs: Any) -> Any:
    return xp.array_of(xp.g.ReduceL2(abs(x).value, axes.value, **attrs)).astype(x.dtype)


_FUNCTIONS: Final[Mapping[str, Callable[..., Any]]] = {
    "Mul": _bilinear("Mul"), "MatMul": _bilinear("MatMul"), "Einsum": _einsum, "Div": _quotient, "Abs": _magnitude,
    "Equal": lambda xp, x, y: (x.real == y.real) & (x.imag == y.imag), "Reciprocal": lambda xp, x: 1 / x, "Exp": _exp,
    "Log": lambda xp, x: xp.complex(xp.log(abs(x)), xp.angle(x)), "Sqrt": _sqrt, "Pow": _power, "Sign": _sign, "Sinh": _sinh,
    "Cosh": _cosh, "Tanh": _tanh, "Sin": _around(_sinh), "Tan": _around(_tanh), "Cos": lambda xp, x: _cosh(xp, _turned(xp, x)),
    "Asinh": _asinh, "Acosh": lambda xp, x: xp.log(x + xp.sqrt(x + 1) * xp.sqrt(x - 1)), "Asin": _around(_asinh),
    "Atanh": lambda xp, x: (xp.log(x + 1) - xp.log(1 - x)) * 0.5, "Acos": lambda xp, x: math.pi / 2 - xp.arcsin(x),
    "Atan": _around(lambda xp, x: xp.arctanh(x)), "Sigmoid": lambda xp, x: (xp.tanh(x * 0.5) + 1) * 0.5, "ReduceL2": _norm,
    "NonZero": lambda xp, x: xp.array_of(xp.g.NonZero((x != 0).value)), "ReduceProd": _prod,
    "Round": lambda xp, x: xp.complex(xp.rint(x.real), xp.rint(x.imag)),
}  # fmt: skip
