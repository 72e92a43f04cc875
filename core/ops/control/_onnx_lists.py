"""Lists and TensorArrays in ONNX: their elements stacked in one tensor, (length, element...).

A dimension of the elements that is not known yet is 1, which the first element that is written expands. Elements that are not
proven to be of one shape are `Pieces`, as long as it is known how many there are and which of them is taken; else they are
refused, as the first would be repeated to the size of another.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import numpy as np

from ...types import dtypes
from ...types.dtypes import DType
from ...types.shapes import Shape, TensorSpec


@dataclasses.dataclass(frozen=True, slots=True)
class ArrayHandle:
    """What stands for the handle of a TensorArray: its elements are in the flow."""

    dtype: DType
    shape: Shape
    grows: bool = False


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Pieces:
    """A list of elements that need not be of one shape."""

    items: tuple[Any, ...]


def _fits(elements: Any, item: Any) -> bool:
    """True unless the elements are known to have other sizes than an item, those of 1 aside, which may be unknown ones."""
    ours, sizes = elements.shape.dims, item.shape.dims
    if ours is None or sizes is None or len(ours) == 1:
        return True
    if len(ours) != len(sizes) + 1:
        return False
    return all(a in (b, 1) or not (isinstance(a, int) and isinstance(b, int)) for a, b in zip(ours[1:], sizes))


def _pieces(g: Any, elements: Any) -> list[Any]:
    """The elements one by one; refused where it is not known how many there are."""
    if isinstance(elements, Pieces):
        return list(elements.items)
    count: Any = elements.shape[0] if elements.rank else None
    if not isinstance(count, int):
        g.refuse("its elements may have several shapes, and their number is unknown")
    return [g.Gather(elements, np.array(i), axis=0) for i in range(count)]


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
    """A list of as many zeros, of lists a list of such lists, and an optional that holds zeros."""
    if hasattr(elements, "is_there"):
        held = elements.values and tuple(zeros_like(g, value) for value in elements.values)
        return dataclasses.replace(elements, values=held)
    if isinstance(elements, Pieces):
        return Pieces(tuple(zeros_like(g, item) for item in elements.items))
    return _stacked_as(g, elements, _zeros(g, elements.dtype, g.dims(elements)))


def _stacked_as(g: Any, like: Any, value: Any) -> Any:
    return g.stacked(value, like.elements) if like.is_stacked else value


def added(g: Any, values: Any) -> Any:
    """Lists added element by element, and optionals by what they hold."""
    if any(hasattr(value, "is_there") for value in values):
        held = [value.values for value in values]
        total = None if None in held else tuple(added(g, column) for column in zip(*held))
        return dataclasses.replace(values[0], values=total)
    if any(isinstance(value, Pieces) for value in values):
        columns = zip(*(_pieces(g, value) for value in values))
        return Pieces(tuple(added(g, column) for column in columns))
    return _stacked_as(g, values[0], functools.reduce(g.Add, values))


def _fitting(g: Any, elements: Any, sizes: Any) -> Any:
    """Elements of these sizes, a vector, where dimensions were unknown."""
    if sizes.array is not None and not sizes.array.all():
        return _zeros(g, elements.dtype, g.dim(elements, 0), sizes)
    found = g.Expand(elements, g.joined(g.dim(elements, 0), sizes))
    if sizes.array is not None and elements.rank:
        found.spec = TensorSpec(found.dtype, Shape((elements.shape[0], *map(int, sizes.array))))
    return found


def _room(g: Any, elements: Any, item: Any) -> Any:
    """Elements that `item` fits between."""
    elements = g.of_rank(elements, item.shape)
    if elements.shape.dims is not None and elements.shape.dims[1:] == item.shape.dims:
        return elements
    found = _fitting(g, elements, g.dims(item))
    if elements.rank and item.rank is not None:
        found.spec = TensorSpec(found.dtype, Shape((elements.shape[0], *item.shape.dims)))
    return found


def _is_empty(item: Any) -> bool:
    """True for what is known to have no elements, of which onnxruntime scatters none."""
    return item.shape.dims is not None and 0 in item.shape.dims


def written(g: Any, elements: Any, index: Any, item: Any) -> Any:
    """The list with `item` at a place."""
    agreed = _agreed_with_item(g, elements, item)
    if agreed is None or not _fits(elements, item):
        items, place = _pieces(g, elements), _place(g, index)
        return Pieces((*items[:place], item, *items[place + 1 :]))
    if _is_empty(item):
        return g.stacked(_room(g, elements, item), agreed)
    place = g.reshape(g.vector(index), 1, 1)
    return g.stacked(g.ScatterND(_room(g, elements, item), place, g.unsqueeze(item, 0)), agreed)


def _agreed(elements: Any, shape: Shape) -> Any:
    """What is known of the elements with one of a shape; None where they may be of several."""
    return None if isinstance(elements, Pieces) else elements.elements.with_item(shape)


def _agreed_with_item(g: Any, elements: Any, item: Any) -> Any:
    """The same for one more element, which may be a list only in a list of lists."""
    if isinstance(elements, Pieces):
        return None
    if not hasattr(item, "shape"):
        g.refuse("its elements are no tensors")
    return _agreed(elements, item.shape)


def scattered(g: Any, elements: Any, indices: Any, items: Any) -> Any:
    """The list with the rows of `items` at places."""
    sizes = g.slice(g.dims(items), 1, np.iinfo(np.int64).max)
    rows = Shape(items.shape.dims[1:] if items.shape.dims is not None else None)
    agreed = _agreed(elements, rows)
    if agreed is None:
        g.refuse("its elements may have several shapes")
    elements = g.of_rank(elements, rows)
    places, room = g.unsqueeze(g.vector(indices), 1), _fitting(g, elements, sizes)
    return g.stacked(room if _is_empty(items) else g.ScatterND(room, places, items), agreed)


def item(g: Any, elements: Any, index: Any, shape: Any = None) -> Any:
    """The element at a place; of a shape, a constant vector where it is known, when nothing was written."""
    if isinstance(elements, Pieces):
        return elements.items[_place(g, index)]
    return g.Gather(_shaped(g, elements, shape), index, axis=0)


def _shaped(g: Any, elements: Any, shape: Any) -> Any:
    """Elements of a shape, a constant vector where it is known."""
    sizes = None if shape is None or shape.array is None else np.asarray(shape.array, np.int64).reshape(-1)
    if sizes is None or (sizes < 0).any() or (elements.rank and elements.shape.dims[1:] == tuple(sizes)):
        return elements
    return _fitting(g, g.of_rank(elements, Shape(map(int, sizes))), g.constant(sizes))


def all_items(g: Any, elements: Any, shape: Any = None) -> Any:
    """The elements as one tensor; of a shape, a constant vector where it is known, when nothing was written."""
    if isinstance(elements, Pieces):
        return g.Concat(*(g.unsqueeze(item, 0) for item in elements.items), axis=0)
    return g.Identity(_shaped(g, elements, shape))


def taken(g: Any, elements: Any, indices: Any, shape: Any = None) -> Any:
    """The elements at several places as one tensor."""
    if isinstance(elements, Pieces):
        return all_items(g, Pieces(tuple(elements.items[int(i)] for i in g.known(indices, "indices"))))
    return g.Gather(all_items(g, elements, shape), indices, axis=0)


def length(g: Any, elements: Any) -> Any:
    if isinstance(elements, Pieces):
        return g.constant(np.int32(len(elements.items)))
    return g.cast(g.reshape(g.dim(elements, 0), []), dtypes.int32)


def element_sizes(g: Any, elements: Any) -> Any:
    """The shape of the elements; -1, for a shape that is not known, of those that have several."""
    if isinstance(elements, Pieces):
        return g.constant(np.array(-1))
    return g.slice(g.dims(elements), 1, np.iinfo(np.int64).max)


def resized(g: Any, elements: Any, count: Any, like: Any = None) -> Any:
    """The list cut to a length, or with zeros at its end."""
    if isinstance(elements, Pieces):
        g.refuse("its elements have several shapes")
    elements = elements if like is None else _room(g, elements, like)
    kept = g.slice(elements, 0, g.vector(count))
    missing = g.Sub(g.vector(count), g.dim(kept, 0))
    zeros = _zeros(g, kept.dtype, missing, *(g.dim(kept, axis) for axis in range(1, g.rank(kept))))
    return g.stacked(g.Concat(kept, zeros, axis=0), elements.elements)


def reached(g: Any, elements: Any, index: Any, item: Any) -> Any:
    """The list as long as it takes for there to be an element at a place."""
    count = len(elements.items) if isinstance(elements, Pieces) else elements.shape[0] if elements.rank else None
    if index.array is not None and isinstance(count, int) and index.array.max(initial=-1) < count:
        return elements
    return resized(g, elements, g.Max(g.dim(elements, 0), g.Add(g.vector(index), 1)), item)


def reached_by_all(g: Any, elements: Any, indices: Any, items: Any) -> Any:
    """The list as long as it takes for there to be elements at several places."""
    rows = Shape(items.shape.dims[1:] if items.shape.dims is not None else None)
    last = g.ReduceMax(g.Concat(g.vector(indices), [-1], axis=0), [0])
    elements = g.of_rank(elements, rows)
    return resized(g, elements, g.Max(g.dim(elements, 0), g.Add(last, 1)))


def pushed(g: Any, elements: Any, item: Any) -> Any:
    """The list with one more element, of the shape of those that are known to be there."""
    agreed = _agreed_with_item(g, elements, item)
    if agreed is None or _differs(elements, item):
        return Pieces((*_pieces(g, elements), item))
    return g.stacked(g.Concat(_room(g, elements, item), g.unsqueeze(item, 0), axis=0), agreed)


def _differs(elements: Any, item: Any) -> bool:
    """True where there is an element of another shape."""
    dims = elements.shape.dims
    return bool(dims and isinstance(dims[0], int) and dims[0] and item.shape.is_known and dims[1:] != item.shape.dims)


def popped(g: Any, elements: Any, shape: Any) -> tuple[Any, Any]:
    """The list without its last element, and that, of a shape as `item` has it."""
    if isinstance(elements, Pieces):
        return Pieces(elements.items[:-1]), elements.items[-1]
    return g.stacked(g.slice(elements, 0, -1), elements.elements), item(g, elements, g.constant(np.int64(-1)), shape)


def split(g: Any, tensor: Any, lengths: Any) -> Any:
    """A list of the parts of a tensor."""
    sizes = g.known(lengths, "lengths")
    if sizes.size == 0:
        g.refuse("it has no parts")
    if (sizes != sizes.flat[0]).any():
        return Pieces(tuple(g.Split(tensor, sizes.astype(np.int64), outputs=sizes.size, axis=0)))
    rest = g.slice(g.dims(tensor), 1, np.iinfo(np.int64).max)
    return g.stacked(g.reshape(tensor, [sizes.size, int(sizes.flat[0])], rest))


def joined(g: Any, elements: Any) -> tuple[Any, Any]:
    """The elements one after the other along their first dimension, and their lengths."""
    if isinstance(elements, Pieces):
        return g.Concat(*elements.items, axis=0), g.joined(*(g.dim(item, 0) for item in elements.items))
    dims = g.dims(elements)
    tensor = g.reshape(elements, -1, g.slice(dims, 2, np.iinfo(np.int64).max))
    return tensor, g.Expand(g.slice(dims, 1, 2), g.slice(dims, 0, 1))


def array_written(g: Any, handle: ArrayHandle, index: Any, value: Any, flow: Any) -> Any:
    """A TensorArray with an element at a place."""
    return written(g, reached(g, flow, index, value) if handle.grows else flow, index, value)


def array_scattered(g: Any, handle: ArrayHandle, indices: Any, value: Any, flow: Any) -> Any:
    """A TensorArray with elements at several places."""
    return scattered(g, reached_by_all(g, flow, indices, value) if handle.grows else flow, indices, value)
