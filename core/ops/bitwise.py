"""Bits of integers: logic, shifts and counts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..arrays import Array, Result
from ..errors import InvalidArgumentError
from ..registry import facts, flops, kernel, not_differentiable, shape
from ..shapes import Shape
from ._elementwise import Binary, Unary, register_binary, register_unary, unary_flops, unary_shape


def _shifted(function: Callable[..., Any]) -> Callable[..., Any]:
    """A shift whose distance is kept between 0 and the number of bits less one, as TensorFlow does."""

    def shift(x: Array, y: Array) -> Array:
        distance = np.clip(y, 0, x.dtype.itemsize * 8 - 1)
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
    """The number of bits that are one, of negative numbers in two's complement."""
    return np.bitwise_count(np.asarray(x).view(f"u{x.dtype.itemsize}"))


shape("PopulationCount")(unary_shape)
flops("PopulationCount")(unary_flops(1))
not_differentiable("PopulationCount")
facts("elementwise", of=("PopulationCount",))
