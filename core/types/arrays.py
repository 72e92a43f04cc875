"""What tensors are while a graph runs."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

Array: TypeAlias = np.ndarray[Any, Any]
"""A value of a tensor: any shape, any dtype; `object` for strings, whose elements are `bytes`."""

Result: TypeAlias = Array | np.generic
"""What a kernel returns for one output: NumPy gives scalars, not arrays, for most arithmetic on shape ()."""


class Held:
    """A tensor where an engine keeps it, as on a device: `array` is the engine's own, `numpy` a copy, made when first read."""

    __slots__ = ("_copy", "array", "dtype", "is_lent", "shape", "size")

    def __init__(self, array: Any) -> None:
        self.array = array
        self.dtype: np.dtype[Any] = array.dtype
        self.shape: tuple[int, ...] = array.shape
        self.size: int = array.size
        self.is_lent = False
        """True where an engine that is given it, to write to the variable, may put another `array` in its place."""
        self._copy: Array | None = None

    @property
    def is_read(self) -> bool:
        """True once somebody has asked for the elements, of which the copy may still share the memory of `array`."""
        return self._copy is not None

    def numpy(self) -> Array:
        """The elements, the same array each time."""
        if self._copy is None:
            self._copy = np.array(self.array)
        return self._copy

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.array(self.numpy(), dtype)
