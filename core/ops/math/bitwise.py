"""Bits of integers: logic, shifts and counts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...registry.registry import arrays, arrays_as, facts, flops, kernel, not_differentiable, shape
from ...support.errors import InvalidArgumentError
from ...types.arrays import Array, Result
from ...types.shapes import Shape
from ..shared.elementwise_tables import Binary, Unary, register_binary, register_unary, unary_flops
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


arrays_as(
    BitwiseAnd="bitwise_and", BitwiseOr="bitwise_or", BitwiseXor="bitwise_xor", Invert="invert",
    PopulationCount="population_count",
)  # fmt: skip


def _shift_of_arrays(name: str) -> Callable[..., Any]:
    """Return the program of a shift; the distance is clipped as in the kernel."""

    def shift(xp: Any, x: Any, y: Any) -> Any:
        return getattr(xp, name)(x, xp.clip(y, 0, x.dtype.itemsize * 8 - 1))

    return shift


arrays("LeftShift")(_shift_of_arrays("left_shift"))
arrays("RightShift")(_shift_of_arrays("right_shift"))
