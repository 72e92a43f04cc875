"""Stacks, arrays of tensors and lists in an array program: an array with a row for each element, and a length."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from ...support import dataclasses
from ...support.errors import UnimplementedError
from ...types.shapes import UNKNOWN, Shape, merge_shapes
from .traced_values import jax, jnp

_MOST_BYTES: Final = 1 << 31
_NONE: Final = np.int32(0)
_UNSET, _WRITTEN, _READ = range(3)
"""The state of an element of an array."""


@jax.tree_util.register_pytree_node_class
@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class StackedElements:
    """Tensors of the same shape: the first `length` of `rows`; None as long as no shape is known.

    Where all are the same constant, `constant` holds the value in place of rows. `sites` maps the nodes that push to the
    number of elements reserved for each; `limit`, where not below 0, is the largest number of elements, and `declared`
    their required shape. `marks` holds the state of each element, where states matter.
    """

    dtype: np.dtype[Any]
    rows: Any = None
    length: Any = _NONE
    marks: Any = None
    constant: np.ndarray[Any, Any] | None = None
    sites: Mapping[str, int] = dataclasses.field(default_factory=dict)
    limit: int = -1
    declared: Shape = UNKNOWN

    def tree_flatten(self) -> tuple[tuple[Any, ...], Any]:
        """Return the arrays, and the static part, equal for exchangeable lists."""
        # Parts of the structure must be hashable, and an array is not.
        constant = None if self.constant is None else (str(self.constant.dtype), self.constant.shape, self.constant.tobytes())
        length = None if isinstance(self.length, (int, np.integer)) else self.length
        static_length = int(self.length) if length is None else None
        sites = tuple(sorted(self.sites.items()))
        return (self.rows, length, self.marks), (self.dtype, constant, static_length, self.limit, self.declared, sites)

    @classmethod
    def tree_unflatten(cls, fixed: Any, arrays: Any) -> StackedElements:
        """Return the elements from the parts of `tree_flatten`."""
        dtype, constant, known, limit, declared, sites = fixed
        rows, length, marks = arrays
        length = length if known is None else np.int32(known)
        value = None if constant is None else np.frombuffer(constant[2], constant[0]).reshape(constant[1])
        return cls(dtype, rows, length, marks, value, dict(sites), limit, declared)

    @property
    def capacity(self) -> int:
        """Return the number of elements that there is room for."""
        return 0 if self.rows is None else int(self.rows.shape[0])

    def with_room(self, shape: tuple[int, ...], capacity: int) -> StackedElements:
        """Return the list with `capacity` rows, the new rows zeros; UnimplementedError where the elements have another
        shape.
        """
        merge_shapes(self.declared, Shape(shape))
        if self.constant is not None or (self.rows is not None and self.rows.shape[1:] != shape):
            raise UnimplementedError("the tensors of a list have different shapes")
        if capacity * math.prod(dim for dim in shape if isinstance(dim, int)) * self.dtype.itemsize > _MOST_BYTES:
            raise UnimplementedError(f"a list may grow to {capacity} elements, which is too many")
        new = jnp.zeros((capacity - self.capacity, *shape), self.dtype)
        return dataclasses.replace(self, rows=new if self.rows is None else jnp.concatenate([self.rows, new]))

    def require_dtype(self, dtype: np.dtype[Any]) -> None:
        """Raise UnimplementedError for another dtype than the list's: NumPy reports the error."""
        if dtype != self.dtype:
            raise UnimplementedError(f"it holds {self.dtype}, not {dtype}")

    def of(self, dtype: np.dtype[Any]) -> StackedElements:
        """Return the list with rows in place of a constant."""
        self.require_dtype(dtype)
        if self.constant is None:
            return self
        if not isinstance(self.length, np.integer):
            raise UnimplementedError("a list mixes a constant with other tensors")
        rows = jnp.broadcast_to(jnp.asarray(self.constant), (int(self.length), *self.constant.shape))
        return dataclasses.replace(self, rows=rows, constant=None)

    def widened(self, other: StackedElements) -> StackedElements:
        """Return the list in a form that can become `other` by an iteration: with the room and the constant of `other`."""
        items = dataclasses.replace(self, sites=other.sites)
        if isinstance(self.length, np.integer) and self.length is not other.length and not _equal(self.length, other.length):
            items = dataclasses.replace(items, length=jnp.asarray(self.length, jnp.int32))
        if other.constant is not None and self.rows is None:
            return dataclasses.replace(items, constant=other.constant)
        if other.rows is not None and other.capacity > self.capacity:
            items = items.with_room(tuple(other.rows.shape[1:]), other.capacity)
        return items

    def grown(self, length: int) -> StackedElements:
        """Return the list with at least `length` elements, zeros behind the existing elements."""
        if not isinstance(self.length, np.integer) or length <= self.length:
            return self
        items = self.of(self.dtype)
        if items.rows is not None:
            items = items.with_room(tuple(items.rows.shape[1:]), max(length, items.capacity))
        return dataclasses.replace(items, length=np.int32(length))

    def alike(self, other: StackedElements) -> StackedElements:
        """Return the same elements in the form of `other.alike(self)`, as the program chooses either list at run time."""
        items = dataclasses.replace(self.widened(other), sites={**self.sites, **other.sites})
        same = isinstance(self.length, np.integer) and _equal(self.length, other.length)
        return items if same else dataclasses.replace(items, length=jnp.asarray(self.length, jnp.int32))

    def pushed(self, xla: Any, value: Any, site: str) -> StackedElements:
        """Return the list with another element at the end; `site` names the pushing node."""
        if self.limit >= 0:
            xla.require(self.length < self.limit)
        length = self.length + np.int32(1)
        # The gradient of a loop pushes shapes, the same in each iteration: as a constant they stay known to the steps that pop
        # them.
        if self.rows is None and not isinstance(value, jax.Array) and self._is_constant(value):
            merge_shapes(self.declared, Shape(np.shape(value)))
            return dataclasses.replace(self, constant=np.asarray(value), length=length)
        items = self.of(value.dtype)
        if site not in self.sites:
            # XLA's arrays have a fixed size: there is room for one element for each time that this code may run.
            count = xla.times
            if count is None:
                raise UnimplementedError("it grows in a loop with an unknown number of iterations", node=site)
            items = dataclasses.replace(items, sites={**self.sites, site: count})
            items = items.with_room(tuple(value.shape), items.capacity + count)
        items.require_shape(value.shape)
        rows = jax.lax.dynamic_update_index_in_dim(items.rows, jnp.asarray(value, self.dtype), self.length, 0)
        return dataclasses.replace(items, rows=rows, length=length)

    def _is_constant(self, value: Any) -> bool:
        """Return True if all elements so far, if there are any, are `value`."""
        if self.constant is None:
            return isinstance(self.length, np.integer) and self.length == 0
        return self.constant.shape == np.shape(value) and np.array_equal(self.constant, value)

    def popped(self, xla: Any, shape: tuple[int, ...] | None = None) -> tuple[StackedElements, Any]:
        """Return the list without the last element, and the element."""
        length = self.length - np.int32(1)
        # An empty stack is an error, which XLA would not report.
        xla.require(length >= 0)
        return dataclasses.replace(self, length=length), self.item(xla, length, shape)

    def item(self, xla: Any, index: Any, shape: tuple[int, ...] | None = None) -> Any:
        """Return the element at a valid index; `shape` is the element's where the list does not know the shape."""
        if self.constant is not None:
            return self.constant
        if self.rows is None and shape is not None:
            return jnp.zeros(shape, self.dtype)
        if not self.capacity:
            raise UnimplementedError("it reads an element from a list of unknown shape")
        return jax.lax.dynamic_index_in_dim(self.rows, jnp.asarray(index), 0, keepdims=False)

    def require_places(self, xla: Any, indices: Any) -> None:
        """Leave a run with an index out of range to NumPy."""
        xla.require(((indices >= 0) & (indices < self.length)).all())

    def require_shape(self, shape: tuple[int, ...]) -> None:
        """Raise UnimplementedError where the elements are of another shape."""
        if self.rows is None or self.rows.shape[1:] != shape:
            raise UnimplementedError("the tensors of a list have different shapes")

    def holding(self, dtype: np.dtype[Any], shape: tuple[int, ...]) -> StackedElements:
        """Return the list with a row for each element, of this dtype and shape."""
        items = self.of(dtype)
        items = items if items.rows is not None else items.with_room(shape, int(self.length))
        items.require_shape(shape)
        return items

    def placed(self, xla: Any, index: Any, value: Any, adds: bool = False) -> StackedElements:
        """Return the list with another element at an index; `adds`: with `value` added to the old element."""
        self.require_places(xla, index)
        items = self.holding(value.dtype, tuple(value.shape))
        if adds:
            value = value + items.item(xla, index)
        rows = jax.lax.dynamic_update_index_in_dim(items.rows, jnp.asarray(value, self.dtype), jnp.asarray(index), 0)
        return dataclasses.replace(items, rows=rows)

    def zeros_like(self) -> StackedElements:
        """Return a list of zeros, of the same length."""
        constant = None if self.constant is None else np.zeros_like(self.constant)
        rows = None if self.rows is None else jnp.zeros_like(self.rows)
        return dataclasses.replace(self, rows=rows, constant=constant)

    def __add__(self, other: StackedElements) -> StackedElements:
        """Return the list of sums of two lists of equal length."""
        a, b = (items.of(self.dtype) for items in (self, other))
        if isinstance(a.length, jax.Array) or isinstance(b.length, jax.Array) or int(a.length) != int(b.length):
            raise UnimplementedError("it adds lists of different lengths")
        if a.rows is None or b.rows is None:
            return b if a.rows is None else a
        return dataclasses.replace(a, rows=a.rows[: int(a.length)] + b.rows[: int(a.length)], sites={})

    def gathered(self, xla: Any, indices: Any, shape: tuple[int, ...] | None) -> Any:
        """Return the elements at indices, stacked."""
        indices = jnp.asarray(indices)
        self.require_places(xla, indices)
        if self.constant is not None:
            return jnp.broadcast_to(jnp.asarray(self.constant), (*indices.shape, *self.constant.shape))
        if self.rows is None and shape is not None:
            return jnp.zeros((*indices.shape, *shape), self.dtype)
        if not self.capacity:
            raise UnimplementedError("it reads elements from a list of unknown shape")
        return self.rows[indices]

    def scattered(self, xla: Any, indices: Any, values: Any) -> StackedElements:
        """Return the list with each row of `values` at its index, the last where an index comes twice."""
        indices = jnp.asarray(indices)
        self.require_places(xla, indices)
        items = self.holding(values.dtype, tuple(values.shape[1:]))
        return dataclasses.replace(items, rows=items.rows.at[indices].set(values))

    def stacked(self, shape: tuple[int, ...] | None) -> Any:
        """Return all elements stacked; `shape` is the elements' where the list does not know the shape."""
        if isinstance(self.length, jax.Array):
            raise UnimplementedError("a shape depends on the number of iterations of a loop")
        count = int(self.length)
        if self.constant is not None:
            return np.broadcast_to(self.constant, (count, *self.constant.shape))
        if self.rows is None:
            if shape is None:
                raise UnimplementedError("it reads elements from a list of unknown shape")
            return jnp.zeros((count, *shape), self.dtype)
        return self.rows[:count]


def _equal(a: Any, b: Any) -> bool:
    return isinstance(b, np.integer) and int(a) == int(b)


@dataclasses.dataclass(frozen=True, slots=True)
class Unread:
    """A stand-in for a value that a branch hands on and nobody reads."""

    dtype: np.dtype[Any]


class _OfRun:
    """The object behind a handle while steps are traced."""

    def __init__(self, value: StackedElements) -> None:
        self.value = value
        self.is_closed = False

    def close(self) -> tuple[()]:
        """Close the object; later accesses are refused."""
        self.is_closed = True
        return ()

    def require(self, dtype: np.dtype[Any]) -> None:
        """Raise UnimplementedError for a closed object or another dtype: NumPy reports the error."""
        if self.is_closed:
            raise UnimplementedError("it is closed")
        self.value.require_dtype(dtype)


class CompiledStack(_OfRun):
    """A stack."""

    def __init__(self, dtype: np.dtype[Any], limit: int) -> None:
        super().__init__(StackedElements(dtype, limit=limit))

    def push(self, xla: Any, value: Any, site: str) -> Any:
        """Push a value and return the value."""
        self.require(value.dtype)
        self.value = self.value.pushed(xla, value, site)
        return value

    def pop(self, xla: Any, dtype: np.dtype[Any]) -> Any:
        """Pop the top element."""
        self.require(dtype)
        self.value, top = self.value.popped(xla)
        return top


class CompiledTensorArray(_OfRun):
    """An array of tensors.

    As in NumPy an element is written once, or added to in an array of gradients, and is gone after a read if `clears`.
    """

    def __init__(self, dtype: np.dtype[Any], size: int, shape: tuple[int, ...] | None, clears: bool, is_uniform: bool) -> None:
        # Whether an element was written or read depends on computed indices, so that the states are data of the program.
        marks = jnp.zeros(size, jnp.uint8)
        rows = None if shape is None else jnp.zeros((size, *shape), dtype)
        super().__init__(StackedElements(dtype, rows, np.int32(size), marks))
        self.shape = shape
        self.clears = clears
        self.is_uniform = is_uniform
        self.is_grad = self.is_divided = False
        self.gradients: dict[str, CompiledTensorArray] = {}

    @property
    def size(self) -> int:
        """Return the number of elements."""
        self.require(self.value.dtype)
        return int(self.value.length)

    def gradient(self, source: str) -> tuple[CompiledTensorArray, bool]:
        """Return the array for the gradients of `source`, and whether the array is new."""
        if self.is_grad:
            raise UnimplementedError("it is an array of gradients of gradients")
        if source in self.gradients:
            return self.gradients[source], False
        array = self.gradients[source] = CompiledTensorArray(self.value.dtype, self.size, self.shape, True, self.is_uniform)
        array.is_grad = True
        array.begin(self)
        return array, True

    def begin(self, source: CompiledTensorArray) -> None:
        """Start as the array of gradients of `source`: zeros where that has elements."""
        rows, marks = source.value.rows, source.value.marks
        zeros = None if rows is None else jnp.zeros(rows.shape, rows.dtype)
        self.value = dataclasses.replace(self.value, rows=zeros, marks=jnp.minimum(marks, _WRITTEN))
        self.is_divided = source.is_divided

    def read(self, xla: Any, index: Any, dtype: np.dtype[Any]) -> Any:
        """Return the element at an index."""
        self.require(dtype)
        self.value.require_places(xla, index)
        mark = jax.lax.dynamic_index_in_dim(self.value.marks, jnp.asarray(index), 0, keepdims=False)
        self.require_readable(xla, mark)
        element = self.value.item(xla, index)
        if self.clears:
            self.mark(index, _READ)
        return element

    def require_readable(self, xla: Any, marks: Any) -> None:
        """Leave to NumPy a run that reads an element again after clearing, or an unwritten element of unknown shape."""
        is_known = self.shape is not None or (self.is_uniform and jnp.any(self.value.marks != _UNSET))
        xla.require(jnp.all((marks == _WRITTEN) | ((marks == _UNSET) & is_known)))

    def write(self, xla: Any, index: Any, value: Any) -> None:
        """Write an element."""
        self.require(value.dtype)
        mark = jax.lax.dynamic_index_in_dim(self.value.marks, jnp.asarray(index), 0, keepdims=False)
        xla.require(mark != _READ if self.is_grad else mark == _UNSET)
        self.value = self.value.placed(xla, index, value, adds=self.is_grad)
        self.mark(index, _WRITTEN)

    def mark(self, index: Any, what: int) -> None:
        marks = jax.lax.dynamic_update_index_in_dim(self.value.marks, np.uint8(what), jnp.asarray(index), 0)
        self.value = dataclasses.replace(self.value, marks=marks)

    def gather(self, xla: Any, indices: Any, dtype: np.dtype[Any]) -> Any:
        """Return the elements at indices, each once, stacked."""
        self.require(dtype)
        indices = jnp.asarray(indices)
        value = self.value
        if value.rows is None:
            raise UnimplementedError("it reads elements from an array without elements")
        value.require_places(xla, indices)
        marks = value.marks[indices]
        self.require_readable(xla, marks)
        if self.clears:
            # An index that comes twice would read an element that the first read has cleared.
            times = jnp.zeros(self.size, jnp.int32).at[indices].add(1)
            xla.require(jnp.all(times <= 1))
            self.value = dataclasses.replace(value, marks=value.marks.at[indices].set(_READ))
        return value.rows[indices]

    def scatter(self, xla: Any, indices: Any, values: Any) -> None:
        """Write each row of `values` to its index."""
        self.require(values.dtype)
        if not values.shape or values.shape[:1] != np.shape(indices):
            raise UnimplementedError("the numbers of indices and rows differ")
        indices = jnp.asarray(indices)
        items = self.value.holding(values.dtype, tuple(values.shape[1:]))
        items.require_places(xla, indices)
        times = jnp.zeros(self.size, jnp.int32).at[indices].add(1)
        if self.is_grad:
            xla.require(jnp.all(items.marks[indices] != _READ))
            rows = items.rows.at[indices].add(values)
        else:
            xla.require(jnp.all(items.marks[indices] == _UNSET) & jnp.all(times <= 1))
            rows = items.rows.at[indices].set(values)
        self.value = dataclasses.replace(items, rows=rows, marks=items.marks.at[indices].set(_WRITTEN))
        self.is_divided = True

    def split(self, xla: Any, values: Any, lengths: Any) -> None:
        """Write the pieces of `values` that have `lengths` rows."""
        if len(lengths) != self.size or len(set(lengths.tolist())) != 1 or int(lengths.sum()) != values.shape[0]:
            raise UnimplementedError("the tensors of an array have different shapes")
        self.scatter(xla, np.arange(self.size), values.reshape(self.size, -1, *values.shape[1:]))

    def joined(self, xla: Any, dtype: np.dtype[Any]) -> tuple[Any, Any]:
        """Return all elements concatenated, and the number of rows of each."""
        if self.is_grad and not self.is_divided:
            raise UnimplementedError("the number of elements of a row is unknown")
        rows_joined = self.gather(xla, np.arange(self.size), dtype)
        rows = np.full(self.size, rows_joined.shape[1], np.int64)
        return rows_joined.reshape(-1, *rows_joined.shape[2:]), rows
