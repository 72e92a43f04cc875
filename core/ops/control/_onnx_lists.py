"""Lists and TensorArrays in ONNX: their elements stacked in a tensor, (length, element...).

An unknown dimension of the elements is 1 until the first written element expands it. Elements without a proven common shape
are `Pieces`, as long as their number and the taken index are known. Other lists are refused: ONNX would repeat the first
element to the size of another.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...support import dataclasses
from ...types import dtypes
from ...types.dtypes import DType
from ...types.shapes import Shape, TensorSpec


@dataclasses.dataclass(frozen=True, slots=True)
class ArrayHandle:
    """The handle of a TensorArray; the flow holds the elements."""

    dtype: DType
    shape: Shape
    grows: bool = False


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Pieces:
    """A list of elements with different shapes."""

    items: tuple[Any, ...]


def _fits(elements: Any, item: Any) -> bool:
    """Return True unless the known sizes of the elements differ from an item's sizes; sizes of 1 may be unknown sizes."""
    ours, sizes = elements.shape.dims, item.shape.dims
    if ours is None or sizes is None or len(ours) == 1:
        return True
    if len(ours) != len(sizes) + 1:
        return False
    return all(a in (b, 1) or not (isinstance(a, int) and isinstance(b, int)) for a, b in zip(ours[1:], sizes))


def _pieces(g: Any, elements: Any) -> list[Any]:
    """Return the elements as separate tensors; refused where their number is unknown."""
    if isinstance(elements, Pieces):
        return list(elements.items)
    count: Any = elements.shape[0] if elements.rank else None
    if not isinstance(count, int):
        g.refuse("its elements may have several shapes, and their number is unknown")
    # A scalar index drops the axis of the places, which a vector would keep.
    return [g.Gather(elements, np.array(i), axis=0) for i in range(count)]


def packed(g: Any, several: Sequence[Any]) -> Pieces:
    """Return a vector of lists."""
    return Pieces(tuple(several))


def unstacked(g: Any, items: Any, count: int) -> list[Any]:
    """Return the rows of a tensor."""
    return [g.squeeze(part, 0) for part in g.split(items, count, 0)]


def of_each(g: Any, function: Callable[..., Any], *vectors: Any) -> Pieces:
    """Apply a function of lists to vectors of lists, place by place."""
    if not all(isinstance(vector, Pieces) for vector in vectors):
        g.refuse("it takes tensors of lists")
    return Pieces(tuple(function(g, *row) for row in zip(*(vector.items for vector in vectors))))


def concatenated(g: Any, first: Any, second: Any) -> Any:
    """Return the list of the elements of two lists."""
    if not (isinstance(first, Pieces) or isinstance(second, Pieces)):
        rows, others = (value.shape.dims for value in (first, second))
        # One tensor only if the shapes are known to agree: Concat would fail in a run.
        if rows is not None and others is not None and rows[1:] == others[1:] and first.elements == second.elements:
            return g.stacked(g.Concat(first, second, axis=0), first.elements)
    return Pieces((*_pieces(g, first), *_pieces(g, second)))


def _place(g: Any, index: Any) -> int:
    return int(g.known(index, "indices").reshape(-1)[0])


def empty(g: Any, count: Any, dtype: DType, shape: Shape) -> Any:
    """`count` zeros of an element's shape, as far as that is known."""
    if dtype is dtypes.variant:
        if count.array is None or count.array.any():
            g.refuse("it is a list of lists")
        return Pieces(())
    sizes = [size if isinstance(size, int) else 1 for size in shape.dims or ()]
    return g.unwritten(_zeros(g, dtype, g.vector(count), sizes), shape)


def _zeros(g: Any, dtype: DType, *sizes: Any) -> Any:
    return g.Expand(g.constant(b"" if dtype is dtypes.string else 0, dtype), g.joined(*sizes))


def zeros_like(g: Any, elements: Any) -> Any:
    """Return a list of zeros of the same length; a list of lists keeps its nesting, and an optional holds zeros."""
    # Told by what it has: its class stands in core/onnx, of which families of ops import nothing.
    if hasattr(elements, "is_there"):
        held = elements.values and tuple(zeros_like(g, value) for value in elements.values)
        return dataclasses.replace(elements, values=held)
    if isinstance(elements, Pieces):
        return Pieces(tuple(zeros_like(g, item) for item in elements.items))
    return _stacked_as(g, elements, _zeros(g, elements.dtype, g.dims(elements)))


def _stacked_as(g: Any, like: Any, value: Any) -> Any:
    return g.stacked(value, like.elements) if like.is_stacked else value


def added(g: Any, values: Any) -> Any:
    """Add lists element by element, and optionals by their components."""
    if any(hasattr(value, "is_there") for value in values):
        held = [value.values for value in values]
        total = None if None in held else tuple(added(g, column) for column in zip(*held))
        return dataclasses.replace(values[0], values=total)
    if any(isinstance(value, Pieces) for value in values):
        columns = zip(*(_pieces(g, value) for value in values))
        return Pieces(tuple(added(g, column) for column in columns))
    return _stacked_as(g, values[0], functools.reduce(g.Add, values))


def _fitting(g: Any, elements: Any, sizes: Any) -> Any:
    """Expand unknown dimensions of elements to `sizes`, a vector."""
    if sizes.array is not None and not sizes.array.all():
        return _zeros(g, elements.dtype, g.dim(elements, 0), sizes)
    expanded = g.Expand(elements, g.joined(g.dim(elements, 0), sizes))
    if sizes.array is not None and elements.rank:
        expanded.spec = TensorSpec(expanded.dtype, Shape((elements.shape[0], *map(int, sizes.array))))
    return expanded


def _room(g: Any, elements: Any, item: Any) -> Any:
    """Elements that `item` fits between."""
    elements = g.of_rank(elements, item.shape)
    if elements.shape.dims is not None and elements.shape.dims[1:] == item.shape.dims:
        return elements
    expanded = _fitting(g, elements, g.dims(item))
    if elements.rank and item.rank is not None:
        expanded.spec = TensorSpec(expanded.dtype, Shape((elements.shape[0], *item.shape.dims)))
    return expanded


def _is_empty(item: Any) -> bool:
    """Return True for a tensor known to be empty; onnxruntime scatters no empty tensor."""
    return item.shape.dims is not None and 0 in item.shape.dims


def written(g: Any, elements: Any, index: Any, item: Any) -> Any:
    """Return the list with `item` at a place."""
    agreed = _agreed_with_item(g, elements, item)
    if agreed is None or not _fits(elements, item):
        items, place = _pieces(g, elements), _place(g, index)
        return Pieces((*items[:place], item, *items[place + 1 :]))
    if _is_empty(item):
        return g.stacked(_room(g, elements, item), agreed)
    place = g.reshape(g.vector(index), 1, 1)
    return g.stacked(g.ScatterND(_room(g, elements, item), place, g.unsqueeze(item, 0)), agreed)


def _agreed(elements: Any, shape: Shape) -> Any:
    """Return the spec of the elements merged with a shape; None if elements may have different shapes."""
    return None if isinstance(elements, Pieces) else elements.elements.with_item(shape)


def _agreed_with_item(g: Any, elements: Any, item: Any) -> Any:
    """Return the spec of the elements merged with an item; only a list of lists takes a list as its item."""
    if isinstance(elements, Pieces):
        return None
    if not hasattr(item, "shape"):
        g.refuse("its elements are not tensors")
    return _agreed(elements, item.shape)


def scattered(g: Any, elements: Any, indices: Any, items: Any) -> Any:
    """Return the list with the rows of `items` at places."""
    # The largest number is ONNX's word for the end of an axis of any size.
    sizes = g.slice(g.dims(items), 1, np.iinfo(np.int64).max)
    rows = Shape(items.shape.dims[1:] if items.shape.dims is not None else None)
    agreed = _agreed(elements, rows)
    if agreed is None:
        g.refuse("its elements may have several shapes")
    elements = g.of_rank(elements, rows)
    places, room = g.unsqueeze(g.vector(indices), 1), _fitting(g, elements, sizes)
    return g.stacked(room if _is_empty(items) else g.ScatterND(room, places, items), agreed)


def item(g: Any, elements: Any, index: Any, shape: Any = None) -> Any:
    """Return the element at `index`, of `shape` if nothing was written; a known shape is a constant vector."""
    if isinstance(elements, Pieces):
        return elements.items[_place(g, index)]
    return g.Gather(_shaped(g, elements, shape), index, axis=0)


def _shaped(g: Any, elements: Any, shape: Any) -> Any:
    """Return elements of `shape`; a known shape is a constant vector."""
    sizes = None if shape is None or shape.array is None else np.asarray(shape.array, np.int64).reshape(-1)
    if sizes is None or (sizes < 0).any() or (elements.rank and elements.shape.dims[1:] == tuple(sizes)):
        return elements
    return _fitting(g, g.of_rank(elements, Shape(map(int, sizes))), g.constant(sizes))


def all_items(g: Any, elements: Any, shape: Any = None) -> Any:
    """Return the stacked elements, of `shape` if nothing was written; a known shape is a constant vector."""
    if isinstance(elements, Pieces):
        return g.Concat(*(g.unsqueeze(item, 0) for item in elements.items), axis=0)
    return g.Identity(_shaped(g, elements, shape))


def taken(g: Any, elements: Any, indices: Any, shape: Any = None) -> Any:
    """Return the elements at `indices`, stacked."""
    if isinstance(elements, Pieces):
        return all_items(g, Pieces(tuple(elements.items[int(i)] for i in g.known(indices, "indices"))))
    return g.Gather(all_items(g, elements, shape), indices, axis=0)


def length(g: Any, elements: Any) -> Any:
    if isinstance(elements, Pieces):
        return g.constant(np.int32(len(elements.items)))
    return g.cast(g.reshape(g.dim(elements, 0), []), dtypes.int32)


def element_sizes(g: Any, elements: Any) -> Any:
    """Return the shape of the elements; -1, an unknown shape, for elements of different shapes."""
    if isinstance(elements, Pieces):
        return g.constant(np.array(-1))
    return g.slice(g.dims(elements), 1, np.iinfo(np.int64).max)


def resized(g: Any, elements: Any, count: Any, like: Any = None) -> Any:
    """Cut the list to a length, or append zeros."""
    if isinstance(elements, Pieces):
        g.refuse("its elements have several shapes")
    elements = elements if like is None else _room(g, elements, like)
    # ONNX's Slice ends with the list, so that a greater length leaves all of it, and zeros fill the rest.
    head = g.slice(elements, 0, g.vector(count))
    missing = g.Sub(g.vector(count), g.dim(head, 0))
    zeros = _zeros(g, head.dtype, missing, *(g.dim(head, axis) for axis in range(1, g.rank(head))))
    return g.stacked(g.Concat(head, zeros, axis=0), elements.elements)


def reached(g: Any, elements: Any, index: Any, item: Any) -> Any:
    """Lengthen the list until `index` is valid."""
    count = len(elements.items) if isinstance(elements, Pieces) else elements.shape[0] if elements.rank else None
    if index.array is not None and isinstance(count, int) and index.array.max(initial=-1) < count:
        return elements
    return resized(g, elements, g.Max(g.dim(elements, 0), g.Add(g.vector(index), 1)), item)


def reached_by_all(g: Any, elements: Any, indices: Any, items: Any) -> Any:
    """Lengthen the list until all `indices` are valid."""
    rows = Shape(items.shape.dims[1:] if items.shape.dims is not None else None)
    # -1 stands for no index at all: a maximum of nothing is an error.
    last = g.ReduceMax(g.Concat(g.vector(indices), [-1], axis=0), [0])
    elements = g.of_rank(elements, rows)
    return resized(g, elements, g.Max(g.dim(elements, 0), g.Add(last, 1)))


def pushed(g: Any, elements: Any, item: Any) -> Any:
    """Append an item with the shape of the present elements."""
    agreed = _agreed_with_item(g, elements, item)
    if agreed is None or _differs(elements, item):
        return Pieces((*_pieces(g, elements), item))
    return g.stacked(g.Concat(_room(g, elements, item), g.unsqueeze(item, 0), axis=0), agreed)


def _differs(elements: Any, item: Any) -> bool:
    """Return True if an element has another shape."""
    dims = elements.shape.dims
    return bool(dims and isinstance(dims[0], int) and dims[0] and item.shape.is_known and dims[1:] != item.shape.dims)


def popped(g: Any, elements: Any, shape: Any) -> tuple[Any, Any]:
    """Remove the last element; return the list and the element, shaped as for `item`."""
    if isinstance(elements, Pieces):
        return Pieces(elements.items[:-1]), elements.items[-1]
    # Counted from the end, as the length may be known only in the run.
    return g.stacked(g.slice(elements, 0, -1), elements.elements), item(g, elements, g.constant(np.int64(-1)), shape)


def split(g: Any, tensor: Any, lengths: Any) -> Any:
    """Return a list of the parts of a tensor."""
    sizes = g.known(lengths, "lengths")
    if sizes.size == 0:
        g.refuse("it has no parts")
    # Equal parts are rows of a reshaped tensor; others have no tensor in common.
    if (sizes != sizes.flat[0]).any():
        return Pieces(tuple(g.Split(tensor, sizes.astype(np.int64), outputs=sizes.size, axis=0)))
    rest = g.slice(g.dims(tensor), 1, np.iinfo(np.int64).max)
    return g.stacked(g.reshape(tensor, [sizes.size, int(sizes.flat[0])], rest))


def joined(g: Any, elements: Any, shape: Any = None, leading: Any = None) -> tuple[Any, Any]:
    """Concatenate the elements along their first dimension; return their lengths too.

    Elements that were not written are zeros of `shape`, with the lengths `leading` unless that is empty.
    """
    if isinstance(elements, Pieces):
        return g.Concat(*elements.items, axis=0), g.joined(*(g.dim(item, 0) for item in elements.items))
    lengths = None if leading is None or leading.array is None or not leading.array.size else leading.array
    if lengths is not None and elements.elements.written is None:
        rest = g.known(shape, "element sizes")[1:].astype(np.int64)
        return _zeros(g, elements.dtype, [int(lengths.sum())], rest), g.constant(lengths)
    elements = _shaped(g, elements, shape)
    if lengths is not None and isinstance(elements.shape[1], int) and (lengths != elements.shape[1]).any():
        g.refuse("the elements that were not written have other lengths than the written elements")
    dims = g.dims(elements)
    tensor = g.reshape(elements, -1, g.slice(dims, 2, np.iinfo(np.int64).max))
    return tensor, g.Expand(g.slice(dims, 1, 2), g.slice(dims, 0, 1))


def array_written(g: Any, handle: ArrayHandle, index: Any, value: Any, flow: Any) -> Any:
    """Return a TensorArray with an element at a place."""
    return written(g, reached(g, flow, index, value) if handle.grows else flow, index, value)


def array_scattered(g: Any, handle: ArrayHandle, indices: Any, value: Any, flow: Any) -> Any:
    """Return a TensorArray with elements at several places."""
    return scattered(g, reached_by_all(g, flow, indices, value) if handle.grows else flow, indices, value)
