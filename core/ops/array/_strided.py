"""The index arithmetic of StridedSlice: from begin, end, strides and five bit masks to a NumPy index."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

import numpy as np

from ...support.errors import InvalidArgumentError
from ...types.arrays import Array, Result
from ...types.dims import Dim, DimLike, ceil_div, dim_max, dim_min, floor_div, is_never_negative
from ...types.shapes import UNKNOWN, Shape, TensorSpec, merge_shapes
from ..shared.argument_checks import with_rank
from ..shared.shape_arguments import dims_of, ints, numbers

_MOST_SHAPES: Final = 64
"""The largest number of shapes whose index a slice caches."""
MOST_ENTRIES: Final = 31
"""TensorFlow keeps the masks in 32 bits, and takes fewer entries than bits."""


class Masks(NamedTuple):
    """The bit masks of a strided slice: bit i speaks of the i-th entry of begin, end and strides."""

    begin_mask: int
    end_mask: int
    ellipsis_mask: int
    new_axis_mask: int
    shrink_axis_mask: int

    def check(self) -> None:
        if self.ellipsis_mask & (self.ellipsis_mask - 1):
            raise InvalidArgumentError("Multiple ellipses in slice spec not allowed")

    def entries(self, count: int, rank: int) -> Iterator[tuple[str, int, int]]:
        """Yield (kind, position in begin, input axis) of each entry; an ellipsis becomes an entry `all` for each axis."""
        used = sum(1 for i in range(count) if not (self.ellipsis_mask | self.new_axis_mask) >> i & 1)
        if used > rank:
            raise InvalidArgumentError(f"Index out of range using input dim {rank}; input has only {rank} dims")
        has_ellipsis = bool(self.ellipsis_mask & ((1 << count) - 1))
        axis = 0
        for i in range(count):
            if self.ellipsis_mask >> i & 1:
                for _ in range(rank - used):
                    yield "all", i, axis
                    axis += 1
            elif self.new_axis_mask >> i & 1:
                yield "new", i, axis
            else:
                yield ("shrink" if self.shrink_axis_mask >> i & 1 else "slice"), i, axis
                axis += 1
        if not has_ellipsis:
            for rest in range(axis, rank):
                yield "all", count, rest


def numpy_index(shape: tuple[int, ...], begin: Any, end: Any, strides: Any, masks: Masks) -> tuple[Any, ...]:
    """Return the NumPy index that takes the slice; InvalidArgumentError for bounds and strides that TensorFlow refuses."""
    dims = np.shape(begin)
    if len(dims) != 1 or dims[0] > MOST_ENTRIES or np.shape(end) != dims or np.shape(strides) != dims:
        raise InvalidArgumentError(
            "Expected begin, end, and strides to be 1D equal size tensors, but got shapes "
            f"{Shape(np.shape(begin))}, {Shape(np.shape(end))} and {Shape(np.shape(strides))}"
        )
    return _index(shape, tuple(numbers(begin)), tuple(numbers(end)), tuple(numbers(strides)), masks)


@functools.lru_cache(4096)
def _index(
    shape: tuple[int, ...], starts: tuple[int, ...], stops: tuple[int, ...], steps: tuple[int, ...], masks: Masks
) -> tuple[Any, ...]:
    masks.check()
    return tuple(
        _entry_index(kind, i, shape[axis] if kind == "shrink" else 0, starts, stops, steps, masks)
        for kind, i, axis in masks.entries(len(steps), len(shape))
    )


def _entry_index(
    kind: str, i: int, size: int, starts: tuple[int, ...], stops: tuple[int, ...], steps: tuple[int, ...], masks: Masks
) -> int | slice | None:
    if kind == "all":
        return slice(None)
    if kind == "new":
        return None
    if steps[i] == 0:
        raise InvalidArgumentError(f"strides[{i}] must be non-zero")
    if kind == "shrink":
        return _single(starts[i], steps[i], size, i)
    return slice(None if masks.begin_mask >> i & 1 else starts[i], None if masks.end_mask >> i & 1 else stops[i], steps[i])


def _single(start: int, step: int, size: int, i: int) -> int:
    if step < 0:
        raise InvalidArgumentError("only stride 1 allowed on non-range indexing.")
    if not -size <= start < size:
        raise InvalidArgumentError(f"slice index {start} of dimension {i} out of bounds.")
    return start


def slice_by(begin: Array, end: Array, strides: Array, *, masks: Masks) -> Callable[..., Result]:
    """Return a StridedSlice by constant vectors, with a cached index for each shape."""
    index = functools.lru_cache(_MOST_SHAPES)(lambda dims: (*numpy_index(dims, begin, end, strides, masks), ...))
    return lambda x, *_: x[index(x.shape)]


def spread_by(dims: Array, begin: Array, end: Array, strides: Array, *, masks: Masks) -> Callable[..., Result]:
    """Return a StridedSliceGrad of the same shape at the same places each time."""
    sizes = whole_dims(dims)
    index = numpy_index(sizes, begin, end, strides, masks)

    def spread(dims: Array, begin: Array, end: Array, strides: Array, dy: Array) -> Result:
        return spread_out(sizes, index, dy)

    return spread


def spread_out(dims: tuple[int, ...], index: tuple[Any, ...], dy: Array) -> Array:
    """Zeros of shape `dims`, or empty strings, with `dy` at the index; InvalidArgumentError where the shapes there differ."""
    result = np.full(dims, b"", object) if dy.dtype == object else np.zeros(dims, dy.dtype)
    place = result[(*index, ...)]
    if place.shape != dy.shape:
        raise InvalidArgumentError(f"shape of dy was {Shape(np.shape(dy))} instead of {Shape(place.shape)}")
    place[...] = dy
    return result


def whole_dims(dims: Array) -> tuple[int, ...]:
    """Return the dimensions of the tensor that a slice was taken of."""
    sizes = ints(dims, "shape")
    if min(sizes, default=0) < 0:
        raise InvalidArgumentError(f"the shape {sizes} has a negative dimension")
    return sizes


def sliced_shape(x: Shape, begin: TensorSpec, end: TensorSpec, strides: TensorSpec, masks: Masks) -> Shape:
    """Return the shape of the slice, as far as the inputs' values and the masks tell."""
    masks.check()
    (count,) = with_rank(merge_shapes(merge_shapes(begin.shape, end.shape), strides.shape), 1)
    if x.dims is None or not isinstance(count, int) or count > MOST_ENTRIES:
        return UNKNOWN
    starts, stops, steps = (dims_of(spec) for spec in (begin, end, strides))
    dims: list[DimLike] = []
    for kind, i, axis in masks.entries(count, len(x.dims)):
        if kind == "new":
            dims.append(1)
        elif kind == "all":
            dims.append(x.dims[axis])
        elif kind == "slice":
            dims.append(_sliced_dim(x.dims[axis], i, starts, stops, steps, masks))
        else:
            _check_single(x.dims[axis], None if starts is None else starts[i], None if steps is None else steps[i], i)
    return Shape(dims)


def _sliced_dim(
    size: DimLike, i: int, starts: list[DimLike] | None, stops: list[DimLike] | None, steps: list[DimLike] | None, masks: Masks
) -> DimLike:
    """Return the size of a dimension after entry i of begin, end and strides; unknown where a needed size is unknown."""
    has_start, has_stop = not masks.begin_mask >> i & 1, not masks.end_mask >> i & 1
    if steps is None or (has_start and starts is None) or (has_stop and stops is None):
        return Dim.unknown()
    return _length(size, starts[i] if has_start and starts else None, stops[i] if has_stop and stops else None, steps[i])


def _check_single(size: DimLike, start: DimLike | None, step: DimLike | None, i: int) -> None:
    if isinstance(size, int) and isinstance(start, int):
        _single(start, step if isinstance(step, int) else 1, size, i)


def _length(size: DimLike, start: DimLike | None, stop: DimLike | None, step: DimLike) -> DimLike:
    """Return the length of `start:stop:step` on a dimension that may be symbolic."""
    if step == 0:
        raise InvalidArgumentError("strides must be non-zero")
    if not isinstance(step, int):
        return Dim.unknown()
    if start is None and stop is None:
        return ceil_div(size, abs(step))
    if isinstance(size, int) and not isinstance(start, Dim) and not isinstance(stop, Dim):
        return len(range(*slice(start, stop, step).indices(size)))
    if step < 0:
        return Dim.unknown()
    return _forward_length(size, 0 if start is None else start, stop, step)


def _forward_length(size: DimLike, start: DimLike, stop: DimLike | None, step: int) -> DimLike:
    """As `_length` for a positive step, where the size or a bound is symbolic."""
    if isinstance(start, Dim) and start != size:
        return Dim.unknown()
    if isinstance(start, int) and start < 0:
        length: DimLike = dim_min(size, -start) if stop is None else Dim.unknown()
    elif stop is None or stop == size:
        length = size - start if start == 0 else dim_max(size - start, 0)
    elif isinstance(stop, int) and stop < 0:
        length = dim_max(size + stop - start, 0)
    elif isinstance(stop, int) and isinstance(start, int) and stop <= start:
        length = 0
    elif is_never_negative(stop):
        length = dim_max(dim_min(size, stop) - start, 0)
    else:
        return Dim.unknown()
    return length if step == 1 else floor_div(length + step - 1, step)
