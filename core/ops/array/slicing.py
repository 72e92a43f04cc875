"""Slices: Slice, and StridedSlice with its gradient and assignments."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import numpy as np

from ...building.gradbuilder import GradientBuilder, Gradients
from ...graph.graph import Node, Output
from ...registry.registry import WITHOUT_GRADIENT, arrays, estimate, gradient, kernel, layout, lower, onnx, shape, zero_cost
from ...support.errors import InvalidArgumentError, UnimplementedError
from ...types.arrays import Array, Result
from ...types.dims import Dim, DimLike, ceil_div, dim_max, dim_min, floor_div, is_never_negative, may_stand_for_rest
from ...types.shapes import UNKNOWN, Shape, TensorSpec, dims_of, merge_shapes, shape_from, unknown_dims
from ..shared.argument_checks import require_rank, with_rank
from ..shared.decompositions import by_ops
from ..shared.onnx_lowerings import gathered, iota
from ..shared.resource_access import resource_variable
from ..shared.shape_arguments import ints, number, numbers

# The index arithmetic of StridedSlice: from begin, end, strides and five bit masks to a NumPy index.

_MOST_ENTRIES: Final = 31
"""TensorFlow keeps the masks in 32 bits, and takes fewer entries than bits."""


class Masks(NamedTuple):
    """The bit masks of a strided slice: bit i speaks of the i-th entry of begin, end and strides."""

    begin_mask: int
    end_mask: int
    ellipsis_mask: int
    new_axis_mask: int
    shrink_axis_mask: int

    def check(self) -> None:
        # More than one bit is set: x & (x - 1) clears the lowest.
        if self.ellipsis_mask & (self.ellipsis_mask - 1):
            raise InvalidArgumentError("Multiple ellipses in slice spec not allowed")

    def entries(self, count: int, rank: int) -> Iterator[tuple[str, int, int]]:
        """Yield (kind, position in begin, input axis) of each entry; an ellipsis becomes an entry `all` for each axis."""
        # The entries that take an axis of the input; the ellipsis stands for all other axes.
        used = sum(1 for i in range(count) if not (self.ellipsis_mask | self.new_axis_mask) >> i & 1)
        if used > rank:
            raise InvalidArgumentError(f"Index out of range using input dim {rank}; input has only {rank} dims")
        has_ellipsis = bool(self.ellipsis_mask & ((1 << count) - 1))
        axis = 0
        for i in range(count):
            if self.ellipsis_mask >> i & 1:
                # A bit in a later mask at the same entry counts for nothing: an ellipsis wins over a new axis, and that over
                # a shrunk one.
                for _ in range(rank - used):
                    yield "all", i, axis
                    axis += 1
            elif self.new_axis_mask >> i & 1:
                yield "new", i, axis
            else:
                yield ("shrink" if self.shrink_axis_mask >> i & 1 else "slice"), i, axis
                axis += 1
        # Where no entry is an ellipsis, TensorFlow adds one at the end.
        if not has_ellipsis:
            for rest in range(axis, rank):
                yield "all", count, rest


def _numpy_index(shape: tuple[int, ...], begin: Any, end: Any, strides: Any, masks: Masks) -> tuple[Any, ...]:
    """Return the NumPy index that takes the slice; InvalidArgumentError for bounds and strides that TensorFlow refuses."""
    dims = begin.shape
    if len(dims) != 1 or dims[0] > _MOST_ENTRIES or end.shape != dims or strides.shape != dims:
        raise InvalidArgumentError(
            "Expected begin, end, and strides to be 1D equal size tensors, but got shapes "
            f"{Shape(dims)}, {Shape(end.shape)} and {Shape(strides.shape)}"
        )
    return _index(shape, tuple(numbers(begin)), tuple(numbers(end)), tuple(numbers(strides)), masks)


@functools.lru_cache(4096)
def _index(
    shape: tuple[int, ...], starts: tuple[int, ...], stops: tuple[int, ...], steps: tuple[int, ...], masks: Masks
) -> tuple[Any, ...]:
    masks.check()
    # NumPy cuts the bounds of a range to the axis as TensorFlow does, so only the place of a single element needs the size.
    entries = [
        _entry_index(kind, i, shape[axis] if kind == "shrink" else 0, starts, stops, steps, masks)
        for kind, i, axis in masks.entries(len(steps), len(shape))
    ]
    # The ellipsis keeps a view even where all entries are numbers: NumPy would return a scalar.
    return (*entries, ...)


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
        # TensorFlow's words; a positive stride above 1 passes, as it has no effect on a single element.
        raise InvalidArgumentError("only stride 1 allowed on non-range indexing.")
    if not -size <= start < size:
        raise InvalidArgumentError(f"slice index {start} of dimension {i} out of bounds.")
    return start


def _sliced_shape(x: Shape, begin: TensorSpec, end: TensorSpec, strides: TensorSpec, masks: Masks) -> Shape:
    """Return the shape of the slice, as far as the inputs' values and the masks tell."""
    masks.check()
    (count,) = with_rank(merge_shapes(merge_shapes(begin.shape, end.shape), strides.shape), 1)
    if x.dims is None or not isinstance(count, int) or count > _MOST_ENTRIES:
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
    """Return the size of a dimension after entry i of begin, end and strides; unknown if a needed size is unknown."""
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
    # The whole dimension, also backwards, whatever its size.
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


@kernel("Slice", flops=zero_cost, facts=("finds_size", "shape_arithmetic", "bounded_by_inputs", "half_clear"))
def slice_(x: Array, begin: Array, size: Array) -> Result:
    """x[begin : begin + size] along each dimension; a size of -1 goes to the end."""
    if begin.ndim != 1 or size.ndim != 1:
        # `ints` raises the error for the one that is no vector.
        ints(begin, "begin"), ints(size, "size")
    return x[_windows(x.shape, tuple(begin.tolist()), tuple(size.tolist()))]


@functools.lru_cache(4096)
def _windows(dims: tuple[int, ...], starts: tuple[int, ...], sizes: tuple[int, ...]) -> tuple[Any, ...]:
    """The index of a slice; the same few come again at every step."""
    if not len(starts) == len(sizes) == len(dims):
        raise InvalidArgumentError(
            f"Expected begin and size arguments to be 1-D tensors of size {len(dims)}, "
            f"but got {len(starts)} and {len(sizes)} numbers"
        )
    windows = [_window(i, *map(number, item)) for i, item in enumerate(zip(dims, starts, sizes))]
    return (*windows, ...)


def _window(i: int, dim: int, start: int, size: int) -> Any:
    if not 0 <= start <= dim:
        raise InvalidArgumentError(f"Expected begin[{i}] in [0, {dim}], but got {start}")
    if size == -1:
        return slice(start, dim)
    if not 0 <= size <= dim - start:
        raise InvalidArgumentError(f"Expected size[{i}] in [0, {dim - start}], but got {size}")
    return slice(start, start + size)


@shape("Slice")
def slice_shape(x: TensorSpec, begin: TensorSpec, size: TensorSpec, is_likely: bool = False) -> Shape:
    require_rank(begin, 1, "begin")
    require_rank(size, 1, "size")
    sizes = dims_of(size)
    if sizes is None:
        return unknown_dims(x.rank) if x.rank is not None else merge_shapes(shape_from(size), unknown_dims(begin.shape[0]))
    starts = dims_of(begin) or [Dim.unknown()] * len(sizes)
    if x.rank is not None and not len(sizes) == len(starts) == x.rank:
        raise InvalidArgumentError(f"begin and size must have {x.rank} numbers, not {len(starts)} and {len(sizes)}")
    return Shape(_slice_dim(x.shape[i], start, n, is_likely) for i, (start, n) in enumerate(zip(starts, sizes)))


def _slice_dim(dim: DimLike, start: DimLike, size: DimLike, is_likely: bool) -> DimLike | None:
    rest = dim - start
    if size == -1:
        return rest
    # An unknown size may be -1 in a run, and then reaches to the end: unless `is_likely`, the result is unknown.
    if may_stand_for_rest(size) and size != rest:
        return size if is_likely else None
    if isinstance(dim, int) and isinstance(start, int) and isinstance(size, int) and not 0 <= size <= dim - start:
        raise InvalidArgumentError(f"a slice of {size} from {start} exceeds a dimension of {dim}")
    return size


@estimate("Slice")
def slice_estimate(x: TensorSpec, begin: TensorSpec, size: TensorSpec) -> Shape:
    """The wanted shape, where no unknown size is -1."""
    return slice_shape(x, begin, size, is_likely=True)


@gradient("Slice")
def slice_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    """Zeros around the gradient: the paddings are (begin, shape - begin - size)."""
    x, begin, _ = node.inputs
    column = [-1, 1]
    dtype = begin.base_dtype
    after = g.Sub(g.Sub(g.Shape(x, out_type=dtype), begin), g.Shape(node.output(), out_type=dtype))
    paddings = g.ConcatV2([g.Reshape(begin, column), g.Reshape(after, column)], 1)
    # TensorFlow pads as well: it has no op for the gradient of this slice.
    return [g.Pad(grad, paddings), None, None]


layout("TVV -> T", "Slice")


@kernel("StridedSlice", flops=zero_cost, facts=("shape_arithmetic", "bounded_by_inputs", "half_clear"))
def strided_slice(x: Array, begin: Array, end: Array, strides: Array, *, masks: Masks) -> Result:
    """NumPy's basic indexing, spelled as three vectors and five masks."""
    return x[_numpy_index(x.shape, begin, end, strides, masks)]


@shape("StridedSlice")
def strided_slice_shape(x: TensorSpec, begin: TensorSpec, end: TensorSpec, strides: TensorSpec, *, masks: Masks) -> Shape:
    return _sliced_shape(x.shape, begin, end, strides, masks)


@gradient("StridedSlice")
def strided_slice_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    x, *vectors = node.inputs
    # The slice takes int16 bounds, too, and the op of the gradient does not.
    dtype = "int64" if vectors[0].base_dtype.name == "int64" else "int32"
    begin, end, strides = (v if v.base_dtype.name == dtype else g.Cast(v, DstT=dtype) for v in vectors)
    return [g.StridedSliceGrad(g.Shape(x, out_type=dtype), begin, end, strides, grad, **_masks(node)), None, None, None]


def _masks(node: Node) -> dict[Any, Any]:
    return {name: node.attr(name) for name in Masks._fields}


layout("TVVV -> T", "StridedSlice")


@kernel("StridedSliceGrad", shape="<...> -> ...", flops=zero_cost, facts=("backward", "half_clear"))
def strided_slice_grad(dims: Array, begin: Array, end: Array, strides: Array, dy: Array, *, masks: Masks) -> Result:
    """Zeros of shape `dims` with `dy` at the places that the slice takes."""
    sizes = ints(dims, "shape")
    if min(sizes, default=0) < 0:
        raise InvalidArgumentError(f"the shape {sizes} has a negative dimension")
    result = np.full(sizes, b"", object) if dy.dtype == object else np.zeros(sizes, dy.dtype)
    place = result[_numpy_index(sizes, begin, end, strides, masks)]
    if place.shape != dy.shape:
        raise InvalidArgumentError(f"shape of dy was {Shape(dy.shape)} instead of {Shape(place.shape)}")
    place[...] = dy
    return result


gradient("StridedSliceGrad")(by_ops("", "", "", "", "StridedSlice dy 1 2 3"))


@kernel("TensorStridedSliceUpdate", flops=zero_cost)
def tensor_strided_slice_update(x: Array, begin: Array, end: Array, strides: Array, value: Array, *, masks: Masks) -> Result:
    """A copy of `x` with the slice replaced by `value`."""
    result = np.array(x, order="C")
    _assign_slice(result, _numpy_index(result.shape, begin, end, strides, masks), value)
    return result


def _assign_slice(target: Array, index: tuple[Any, ...], value: Array) -> None:
    place = target[index]
    # TensorFlow assigns nothing to an empty slice, whatever the shape of the value.
    if place.size == 0:
        return
    try:
        place[...] = np.broadcast_to(value, place.shape)
    except ValueError:
        raise InvalidArgumentError(
            f"slice of shape {Shape(place.shape)} cannot be assigned a value of shape {Shape(np.shape(value))}"
        ) from None


@shape("TensorStridedSliceUpdate")
def tensor_strided_slice_update_shape(
    x: TensorSpec, begin: TensorSpec, end: TensorSpec, strides: TensorSpec, value: TensorSpec, *, masks: Masks
) -> Shape:
    _sliced_shape(x.shape, begin, end, strides, masks)
    return x.shape


@gradient("TensorStridedSliceUpdate")
def tensor_strided_slice_update_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    _, begin, end, strides, value = node.inputs
    taken = g.StridedSlice(grad, begin, end, strides, **_masks(node))
    outside = g.TensorStridedSliceUpdate(grad, begin, end, strides, g.zeros_like(value), **_masks(node))
    # The value broadcasts to the slice, so its gradient is summed back.
    return [outside, None, None, None, g.reduce_to(taken, value, taken)]


@kernel("StridedSliceAssign", shape="... -> ...", gradient=WITHOUT_GRADIENT, flops=zero_cost, facts=("side_effect",))
def strided_slice_assign(ref: Any, begin: Array, end: Array, strides: Array, value: Array, *, masks: Masks) -> Any:
    """Replace a slice of a variable by `value` and return the variable."""
    index = _numpy_index(np.shape(ref.read()), begin, end, strides, masks)
    _assign_slice(ref.writable(), index, value)
    return ref


@kernel("ResourceStridedSliceAssign", gradient=WITHOUT_GRADIENT, flops=zero_cost, facts=("side_effect",))
def resource_strided_slice_assign(
    handle: Array, begin: Array, end: Array, strides: Array, value: Array, *, masks: Masks
) -> None:
    """Replaces a slice of a resource variable by `value`."""
    variable = resource_variable(handle)
    index = _numpy_index(np.shape(variable.read()), begin, end, strides, masks)
    _assign_slice(variable.writable(), index, value)


# ONNX takes begin and size as the vectors they are. XLA takes a begin that only the run knows element by element, as the size
# has to be known.
@lower("Slice", static=(1, 2), computed=(1,))
def _slice_lowering(xla: Any, x: Any, begin: Any, size: Array) -> Any:
    starts = xla.places.elements(begin)
    for axis, (start, count) in enumerate(zip(starts, size.tolist())):
        if not isinstance(start, int):
            if count < 0:
                raise UnimplementedError("its size depends on a place that is computed in the run")
            # XLA slices from a computed place on if the number of rows is known.
            x, starts[axis] = xla.computed_rows(x, axis, start, count), 0
    return x[tuple(slice(start, None if s < 0 else start + s) for start, s in zip(starts, size.tolist()))]


_BOUNDS: Final = (1, 2, 3)
"""The places of a slice's begin, end and strides among the inputs."""


@arrays("StridedSlice", static=_BOUNDS, sizes=_BOUNDS, computed=(1, 2))
def _strided_slice_arrays(xp: Any, x: Any, begin: Any, end: Any, strides: Any, *, masks: Masks) -> Any:
    """Return the part; an engine takes bounds that only the run knows as far as it knows the size of the part."""
    index: list[Any] = []
    for i, (start, stop, step) in enumerate(zip(*xp.bounds(begin, end, strides))):
        if masks.ellipsis_mask >> i & 1:
            index.append(Ellipsis)
        elif masks.new_axis_mask >> i & 1:
            index.append(None)
        elif masks.shrink_axis_mask >> i & 1:
            index.append(start)
        else:
            first, last = None if masks.begin_mask >> i & 1 else start, None if masks.end_mask >> i & 1 else stop
            index.append(slice(first, last, step))
    if len(index) > _MOST_ENTRIES:
        raise UnimplementedError(f"it has {len(index)} bounds, and TensorFlow takes {_MOST_ENTRIES}")
    return xp.part(x, tuple(index))


# The transpose of the slice also takes places that only the run knows; ONNX has no such transpose and gathers by a table of
# places.
@lower("StridedSliceGrad", static=(0, 1, 2, 3), computed=(1, 2))
def _strided_slice_grad_lowering(
    xla: Any, sizes: Array, begin: Any, end: Any, strides: Array, dy: Any, *, masks: Masks
) -> Any:
    def forward(x: Any) -> Any:
        return _strided_slice_arrays(xla, x, begin, end, strides, masks=masks)

    return xla.transposed(forward, tuple(sizes.tolist()), dy)


@lower("TensorStridedSliceUpdate", static=(1, 2, 3))
def _slice_update_lowering(xla: Any, x: Any, begin: Array, end: Array, strides: Array, value: Any, *, masks: Masks) -> Any:
    """Return x with a slice replaced; empty slices take values of any shape."""
    index = _numpy_index(x.shape, begin, end, strides, masks)
    return x.at[index].set(value) if np.empty(x.shape, bool)[index].size else x


_END = np.iinfo(np.int64).max


@onnx("Slice")
def _slice_onnx(g: Any, x: Any, begin: Any, size: Any) -> Any:
    """A size of -1 goes to the end."""
    starts, sizes = g.vector(begin), g.vector(size)
    ends = g.Where(g.Less(sizes, 0), _END, g.Add(starts, sizes))
    if begin.shape.is_known:
        return g.Slice(x, starts, ends, range(begin.shape.known()[0]))
    return g.Slice(x, starts, ends)


@onnx("StridedSliceGrad")
def _strided_slice_grad_onnx(g: Any, shape: Any, begin: Any, end: Any, strides: Any, dy: Any, *, masks: Masks) -> Any:
    """Return zeros, with the gradient in the slice."""
    return _placed_onnx(g, dy, g.known(shape, "bounds"), (begin, end, strides), masks, g.like(0, dy))


@onnx("TensorStridedSliceUpdate")
def _tensor_strided_slice_update_onnx(g: Any, x: Any, begin: Any, end: Any, strides: Any, value: Any, *, masks: Masks) -> Any:
    bounds = begin, end, strides
    if not x.shape.is_known or any(bound.array is None for bound in bounds):
        return _scattered_onnx(g, x, bounds, masks, value)
    return _placed_onnx(g, value, x.shape.known(), bounds, masks, x)


def _scattered_onnx(g: Any, x: Any, bounds: tuple[Any, Any, Any], masks: Masks, values: Any) -> Any:
    """Write `values` into a slice with computed bounds: the same slice of the element numbers gives the places."""
    count = g.reshape(g.Size(x), [])
    numbers = iota(g, count)
    # The slice itself finds its places, so masks and negative bounds need no second arithmetic.
    taken = g.evaluate(_strided_slice_arrays, _BOUNDS, _BOUNDS, [g.of_dims(numbers, g.dims(x)), *bounds], {"masks": masks})
    written = g.reshape(g.Expand(values, g.dims(taken)), -1)
    return g.of_dims(g.ScatterND(g.reshape(x, -1), g.reshape(taken, -1, 1), written), g.dims(x))


def _placed_onnx(g: Any, values: Any, sizes: Any, bounds: tuple[Any, Any, Any], masks: Masks, around: Any) -> Any:
    """Return a tensor of shape `sizes` with `values` in a slice and `around` elsewhere."""
    places = np.full(sizes, -1)
    begin, end, strides = (g.known(bound, "bounds") for bound in bounds)
    index = _numpy_index(places.shape, begin, end, strides, masks)
    taken = places[index]
    places[index] = np.arange(taken.size).reshape(taken.shape)
    return gathered(g, g.reshape(g.Expand(values, taken.shape), -1), places, 1, around)
