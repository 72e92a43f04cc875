"""TensorArrays: tensors by index, each written once (or summed up, in an array of gradients) and read once or often."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ...support.errors import InvalidArgumentError, UnimplementedError
from ...types.dtypes import DType
from ...types.shapes import UNKNOWN, Shape, fits, merge_shapes
from .edge_values import RunState
from .run_context import check_time, reserve

_Array = Any

_ELEMENT_BYTES = 100
"""The bytes of an element that was never written."""
_AT_ONCE = 1 << 16
"""Elements that are made, or taken apart, between two looks at the clock."""


class _Element:
    """An element: `value` is None if only a shape is known, and stands for zeros."""

    __slots__ = ("is_cleared", "is_read", "is_written", "shape", "value")

    def __init__(self) -> None:
        self.value: _Array = None
        self.shape: tuple[int, ...] | None = None
        self.is_written = False
        self.is_read = False
        self.is_cleared = False


class TensorArray(RunState):
    """The state behind a TensorArray handle."""

    def __init__(
        self,
        name: str,
        dtype: DType,
        size: int,
        element_shape: Shape = UNKNOWN,
        *,
        dynamic_size: bool = False,
        clear_after_read: bool = True,
        identical_element_shapes: bool = False,
        is_grad: bool = False,
    ) -> None:
        self.name = name
        self.dtype = dtype
        self.element_shape = element_shape
        self.dynamic_size = dynamic_size
        self.clear_after_read = clear_after_read
        self.identical_element_shapes = identical_element_shapes
        self.is_grad = is_grad
        self.is_closed = False
        self.marked_size = 0
        """The number of elements of the last split tensor; an array of gradients concatenates as many."""
        self._elements: list[_Element] = []
        self._fitting: tuple[int, ...] | None = None
        """The shape of an element that fitted: elements of the same shape need no further check."""
        self._extend(size)

    def _extend(self, size: int) -> None:
        """Extend the array to `size` elements, within the run's time and memory."""
        reserve(_ELEMENT_BYTES * max(size - len(self._elements), 0))
        while len(self._elements) < size:
            check_time()
            # Elements are made in pieces with a look at the clock in between, because a graph may ask for billions.
            self._elements += [_Element() for _ in range(min(size - len(self._elements), _AT_ONCE))]

    def gradient(self, name: str, prepended: Sequence[int] = ()) -> TensorArray:
        """Return an array of the same size for the gradients; this array may not grow any more."""
        self.dynamic_size = False
        shape = self.element_shape if self.element_shape.dims is None else Shape(prepended) + self.element_shape
        result = TensorArray(
            name,
            self.dtype,
            len(self),
            shape,
            identical_element_shapes=self.identical_element_shapes,
            is_grad=True,
        )
        result.marked_size = self.marked_size
        for mine, other in zip(self._elements, result._elements):
            # An element of the array that was written has a gradient of its shape, zeros if none arrives.
            if mine.is_written:
                other.shape = (*prepended, *(mine.shape or ()))
                other.is_written = True
        return result

    def copied(self, name: str) -> TensorArray:
        result = copy.copy(self)
        result.name = name
        result._elements = [copy.copy(element) for element in self._elements]
        return result

    def __len__(self) -> int:
        self.require_open()
        return len(self._elements)

    @property
    def packed_size(self) -> int:
        """How many elements make a whole."""
        return self.marked_size if self.is_grad else len(self)

    def mark_size(self, size: int) -> None:
        """Note the number of elements that were written at once."""
        if not self.is_grad:
            self.marked_size = size

    def require_open(self) -> None:
        if self.is_closed:
            raise InvalidArgumentError(f"TensorArray {self.name} has already been closed.")

    def close(self) -> None:
        self._elements.clear()
        self.is_closed = True

    def read(self, index: int) -> _Array:
        """Return an element, zeros if only the shape is known."""
        self.require_open()
        if not 0 <= index < len(self._elements):
            raise self._error(f"Tried to read from index {index} but array size is: {len(self._elements)}")
        element = self._elements[index]
        if element.is_cleared:
            raise self._error(
                f"Could not read index {index} twice because it was cleared after a previous read "
                "(perhaps try setting clear_after_read = false?)"
            )
        value = self._zeros(index, element) if element.value is None else element.value
        if self.clear_after_read:
            element.value = None
            element.is_cleared = True
        element.is_read = True
        return value

    def _zeros(self, index: int, element: _Element) -> _Array:
        if element.shape is None:
            if not self.element_shape.is_known:
                raise self._error(
                    f"Could not read from TensorArray index {index}: it has not been written to, and the element shape "
                    f"{self.element_shape} is not fully defined"
                )
            element.shape = self.element_shape.known()
        return zeros(element.shape, self.dtype)

    def write(self, index: int, value: _Array) -> None:
        """Write an element; an array of gradients adds instead."""
        self.require_open()
        if index < 0 or (not self.dynamic_size and index >= len(self._elements)):
            size = len(self._elements)
            raise self._error(f"Tried to write to index {index} but array is not resizeable and size is: {size}")
        if index >= len(self._elements):
            self._extend(index + 1)
        # Elements written in a loop have one shape: the comparison saves the checks of each.
        if value.shape != self._fitting or value.dtype != self.dtype.numpy:
            self._check_value(index, value)
        element = self._elements[index]
        # As in TensorFlow, and for gradients as well: the value that was read would lack this summand.
        if element.is_read:
            raise self._refused(index, "it has already been read")
        if not element.is_written:
            element.value, element.shape, element.is_written = value, value.shape, True
            return
        if not self.is_grad:
            raise self._refused(index, "it has already been written to")
        if np.shape(value) != element.shape:
            raise self._refused(index, f"the value shape is {Shape(np.shape(value))}, not {Shape(element.shape)} as before")
        element.value = value if element.value is None else element.value + value

    def write_rows(self, indices: Iterable[int], values: _Array) -> None:
        """Write each row of `values` at the matching index."""
        for index, row in zip(indices, rows_of(values)):
            self.write(index, row)

    def write_pieces(self, pieces: Iterable[_Array]) -> None:
        """Write the pieces to the places from 0."""
        for index, piece in enumerate(pieces):
            self.write(index, piece)

    def _check_value(self, index: int, value: _Array) -> None:
        if value.dtype != self.dtype.numpy:
            raise self._refused(index, f"the value dtype is {value.dtype} but TensorArray dtype is {self.dtype}")
        if not fits(value.shape, self.element_shape):
            raise self._refused(index, f"the value shape is {Shape(value.shape)}, not {self.element_shape}")
        if self.identical_element_shapes and not self.element_shape.is_known:
            self.element_shape = Shape(value.shape)
        self._fitting = value.shape

    def gather(self, indices: Sequence[int], element_shape: Shape) -> _Array:
        """Return the elements at `indices`, stacked."""
        shape = self._merged(element_shape)
        if not len(indices):
            if not shape.is_known:
                raise UnimplementedError(
                    f"TensorArray has size zero, but element shape {shape} is not fully defined. "
                    "Currently only static shapes are supported when packing zero-size TensorArrays."
                )
            return zeros((0, *shape.known()), self.dtype)
        values = [self.read(int(i)) for i in indices]
        first = values[0].shape
        self._compatible(shape, first)
        for index, value in enumerate(values):
            if value.shape != first:
                raise InvalidArgumentError(
                    f"TensorArray has inconsistent shapes. Index 0 has shape: {Shape(first)} "
                    f"but index {index} has shape: {Shape(value.shape)}"
                )
        # np.stack would first make a view of each element with another axis.
        return np.concatenate(values).reshape(len(values), *first) if first else np.stack(values)

    def concat(self, element_shape_except0: Shape) -> tuple[_Array, _Array]:
        """Return all elements concatenated along the first axis, and the number of rows of each."""
        self.require_open()
        if not self.packed_size:
            if not element_shape_except0.is_known:
                raise UnimplementedError(
                    f"TensorArray has size zero, but element_shape_except0 {element_shape_except0} is not fully defined. "
                    "Currently only static shapes are supported when concatenating zero-size TensorArrays."
                )
            return zeros((0, *element_shape_except0.known()), self.dtype), np.zeros(0, np.int64)
        values = [self.read(i) for i in range(self.packed_size)]
        for index, value in enumerate(values):
            if not np.ndim(value):
                raise InvalidArgumentError(f"Concat saw a scalar shape at index {index} but requires at least vectors.")
            self._compatible(element_shape_except0, value.shape[1:])
            if value.shape[1:] != values[0].shape[1:]:
                raise InvalidArgumentError(
                    f"TensorArray has inconsistent shapes. Index 0 has (excepting dimension 0) shape: "
                    f"{Shape(values[0].shape[1:])} but index {index} has {Shape(value.shape[1:])}"
                )
        return np.concatenate(values), np.array([len(v) for v in values], np.int64)

    def _merged(self, element_shape: Shape) -> Shape:
        return merge_shapes(self.element_shape, element_shape)

    def _compatible(self, expected: Shape, actual: tuple[int, ...]) -> None:
        if not fits(actual, expected):
            raise InvalidArgumentError(
                f"TensorArray was passed element_shape {expected} which does not match the Tensor at index 0: {Shape(actual)}"
            )

    def _refused(self, index: int, why: str) -> InvalidArgumentError:
        return self._error(f"Could not write to TensorArray index {index} because {why}.")

    def _error(self, text: str) -> InvalidArgumentError:
        return InvalidArgumentError(f"TensorArray {self.name}: {text}")


def rows_of(tensor: _Array) -> list[_Array]:
    """Return the elements along the first axis, each an array."""
    if len(tensor) <= _AT_ONCE:
        return list(tensor) if tensor.ndim > 1 else [tensor[i : i + 1].reshape(()) for i in range(len(tensor))]
    reserve(_ELEMENT_BYTES * len(tensor))
    rows: list[_Array] = []
    for start in range(0, len(tensor), _AT_ONCE):
        check_time()
        rows += rows_of(tensor[start : start + _AT_ONCE])
    return rows


def zeros(shape: Sequence[int], dtype: DType) -> _Array:
    """Return zeros of a dtype: numbers, empty strings, or None for resources and variants."""
    if dtype.is_object:
        return np.full(shape, b"" if dtype.name == "string" else None, object)
    return np.zeros(shape, dtype.numpy)
