"""Types of tensor values during a run."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np

Array: TypeAlias = np.ndarray[Any, Any]
"""A value of a tensor: any shape, any dtype; `object` for strings, whose elements are `bytes`."""

Result: TypeAlias = Array | np.generic
"""The type of a kernel's output: NumPy returns scalars, not arrays, for most arithmetic on shape ()."""


def object_array(values: Iterable[Any], shape: tuple[int, ...] | None = None) -> Array:
    """Return Python objects (strings, handles) as an array, a vector without a shape; sequences among them stay elements."""
    items = values if isinstance(values, (list, tuple)) else list(values)
    array = np.fromiter(items, object, len(items))  # NumPy's other ways make a dimension of lists of equal length
    return array if shape is None else array.reshape(shape)


class EngineArray:
    """A tensor in an engine's memory, for instance on a device: `array` is the engine's own, `numpy` a copy, made when
    first read.
    """

    __slots__ = ("_copy", "array", "dtype", "is_lent", "shape", "size")

    def __init__(self, array: Any) -> None:
        self.array = array
        self.dtype: np.dtype[Any] = array.dtype
        self.shape: tuple[int, ...] = array.shape
        self.size: int = array.size
        self.is_lent = False
        """True if an engine that takes the value for writing to the variable may replace `array`."""
        self._copy: Array | None = None

    @property
    def is_read(self) -> bool:
        """True once the elements were read; the copy may still share the memory of `array`."""
        return self._copy is not None

    def numpy(self) -> Array:
        """Return the elements, the same array each time."""
        if self._copy is None:
            self._copy = np.array(self.array)
        return self._copy

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        # A copy: a caller that asks by the protocol may write to the result.
        return np.array(self.numpy(), dtype)
