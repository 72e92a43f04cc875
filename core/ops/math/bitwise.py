"""Bits of integers: logic, shifts and counts."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ...registry.registry import facts, flops, kernel, lower, lower_as, not_differentiable, onnx, onnx_as, shape
from ...support.errors import InvalidArgumentError
from ...types import dtypes
from ...types.arrays import Array, Result
from ...types.shapes import Shape
from ..shared.elementwise_tables import Binary, Unary, register_binary, register_unary, unary_flops
from ..shared.onnx_bits import unsigned
from ..shared.plain_shapes import first_shape


def _shifted(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a shift whose distance is clipped to [0, bits - 1], as in TensorFlow."""

    def shift(x: Array, y: Array) -> Array:
        distance = np.minimum(np.maximum(y, y.dtype.type(0)), y.dtype.type(x.dtype.itemsize * 8 - 1))
        try:
            return function(x, distance)
        except ValueError:
            raise InvalidArgumentError(f"Incompatible shapes: {Shape(np.shape(x))} vs. {Shape(np.shape(y))}") from None

    return shift


register_binary(
    (
        Binary("BitwiseAnd", np.bitwise_and, None),
        Binary("BitwiseOr", np.bitwise_or, None),
        Binary("BitwiseXor", np.bitwise_xor, None),
        Binary("LeftShift", _shifted(np.left_shift), None),
        Binary("RightShift", _shifted(np.right_shift), None),
    )
)
register_unary((Unary("Invert", np.invert, None),))
facts("involution", of=("Invert",))


@kernel("PopulationCount")
def population_count(x: Array) -> Result:
    """Count the set bits, of negative numbers in two's complement."""
    return np.bitwise_count(np.asarray(x).view(f"u{x.dtype.itemsize}"))


shape("PopulationCount")(first_shape)
flops("PopulationCount")(unary_flops(1))
not_differentiable("PopulationCount")
facts("elementwise", of=("PopulationCount",))


lower_as(
    BitwiseAnd="bitwise_and", BitwiseOr="bitwise_or", BitwiseXor="bitwise_xor", Invert="invert",
    PopulationCount="population_count",
)  # fmt: skip


def _lowered_shift(name: str) -> Callable[..., Any]:
    """Return the lowering of a shift; the distance is clipped as in the kernel."""

    def shift(xla: Any, x: Any, y: Any) -> Any:
        return getattr(xla, name)(x, xla.clip(y, 0, x.dtype.itemsize * 8 - 1))

    return shift


lower("LeftShift")(_lowered_shift("left_shift"))
lower("RightShift")(_lowered_shift("right_shift"))


onnx_as(BitwiseAnd="BitwiseAnd", BitwiseOr="BitwiseOr", BitwiseXor="BitwiseXor", Invert="BitwiseNot")


def _shifted_onnx(g: Any, x: Any, y: Any, direction: str) -> Any:
    """ONNX shifts unsigned numbers only, and by less than they have bits."""
    bits, distance = unsigned(x.dtype), g.Max(g.Min(y, 8 * x.dtype.size - 1), 0)
    return g.cast(g.BitShift(g.cast(x, bits), g.cast(distance, bits), direction=direction), x.dtype)


@onnx("LeftShift")
def _left_shift_onnx(g: Any, x: Any, y: Any) -> Any:
    return _shifted_onnx(g, x, y, "LEFT")


@onnx("RightShift")
def _right_shift_onnx(g: Any, x: Any, y: Any) -> Any:
    """Shift arithmetically: the complement of a negative number is shifted, so that set bits enter from the left."""
    if x.dtype.is_unsigned:
        return _shifted_onnx(g, x, y, "RIGHT")
    is_negative = g.Less(x, 0)
    shifted = _shifted_onnx(g, g.Where(is_negative, g.BitwiseNot(x), x), y, "RIGHT")
    return g.Where(is_negative, g.BitwiseNot(shifted), shifted)


@onnx("PopulationCount")
def _population_count_onnx(g: Any, x: Any) -> Any:
    """Byte by byte: the number of bits of each is in a table."""
    wide = g.cast(g.cast(x, unsigned(x.dtype)), dtypes.uint64)
    table = g.constant(np.bitwise_count(np.arange(256, dtype=np.uint8)))
    counts = []
    for byte in range(x.dtype.size):
        shifted = g.BitShift(wide, g.constant(np.uint64(8 * byte)), direction="RIGHT")
        counts.append(g.Gather(table, g.cast(g.BitwiseAnd(shifted, g.constant(np.uint64(255))), dtypes.int64), axis=0))
    return functools.reduce(g.Add, counts)
