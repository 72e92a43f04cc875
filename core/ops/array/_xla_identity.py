"""Casts of numbers and bits, and checks of shapes, as array programs."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ...registry.registry import lower
from ...types.dtypes import DType
from ...types.shapes import Shape, merge_shapes

_TRUNCATED: Final = ("bfloat16", "float16", "float32")
"""The dtypes that a cast can round to towards zero."""


@lower("Cast")
def cast(xla: Any, x: Any, *, DstT: DType, Truncate: bool) -> Any:
    """Cast numbers; a truncating cast of floats rounds towards zero."""
    target = DstT.numpy
    is_float = x.dtype.kind == "f" and x.dtype.itemsize > np.dtype(np.float16).itemsize
    if Truncate and is_float and target.name in _TRUNCATED:
        x = _truncated(xla, x, target)
    return xla.cast(x, target)


def _truncated(xla: Any, x: Any, target: np.dtype[Any]) -> Any:
    """Return floats without the mantissa bits that `target` cannot hold."""
    excess = max(xla.finfo(x.dtype).nmant - xla.finfo(target).nmant, 0)
    bits = xla.lax.bitcast_convert_type(x, f"u{x.dtype.itemsize}")
    mask = np.array(-(1 << excess)).astype(bits.dtype)
    return xla.where(xla.isnan(x), x, xla.lax.bitcast_convert_type(bits & mask, x.dtype))


lower("Bitcast")(lambda xla, x, *, type: xla.lax.bitcast_convert_type(x, type.numpy))


@lower("EnsureShape")
def ensured(xla: Any, x: Any, *, shape: Shape) -> Any:
    """Return x where the shape agrees with `shape`."""
    merge_shapes(Shape(x.shape), shape)
    return x
