"""TensorLists made of whole tensors, and turned into whole tensors again."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from ...building.gradbuilder import GradientBuilder, Gradients
from ...graph.graph import Node, Output
from ...registry.registry import gradient, kernel, lower, onnx, shape, zero_cost
from ...runtime.state.edge_values import scalar_object
from ...runtime.state.tensor_arrays import rows_of, zeros
from ...runtime.state.tensor_lists import TensorList
from ...support.errors import InvalidArgumentError
from ...types.arrays import Array, Result
from ...types.dtypes import DType
from ...types.shapes import UNKNOWN, Shape, TensorSpec, fits, merge_shapes
from ..shared.argument_checks import require_rank, scalar
from ..shared.shape_arguments import ints
from . import _onnx_lists as lists
from ._lists import (
    element_shape_of,
    length_of,
    list_in,
    list_spec,
    lowered_dims,
    lowered_shape,
    merged_shapes,
    require_vector,
    reserve_like,
    shape_in,
    static_shape,
    with_element,
)


@kernel("TensorListFromTensor", flops=zero_cost)
def tensor_list_from_tensor(tensor: Array, element_shape: Array, *, element_dtype: DType) -> Result:
    """A list of the rows of a tensor."""
    expected = shape_in(element_shape)
    require_vector(tensor, "Tensor must")
    _require_rows_of(expected, tensor)
    # The rows are views: the list shares the memory of the tensor.
    return scalar_object(TensorList(element_dtype, expected, rows_of(tensor), item_shape=tensor.shape[1:]))


def _require_rows_of(expected: Shape, tensor: Array) -> None:
    if not fits(tensor.shape[1:], expected):
        raise InvalidArgumentError(f"Specified a list with shape {expected} from a tensor with shape {Shape(tensor.shape)}")


@shape("TensorListFromTensor")
def tensor_list_from_tensor_shape(tensor: TensorSpec, element_shape: TensorSpec, *, element_dtype: DType) -> TensorSpec:
    return list_spec(element_dtype, static_shape(element_shape), tensor.shape[0], tensor.shape[1:])


def _row_shape(g: GradientBuilder, tensor: Any) -> Any:
    """Return the shape of a row of `tensor`."""
    return g.Slice(g.shape_of(tensor), [1], [-1])


@gradient("TensorListFromTensor")
def tensor_list_from_tensor_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    tensor = node.inputs[0]
    return [g.TensorListStack(grad, _row_shape(g, tensor), element_dtype=tensor.base_dtype), None]


@kernel("TensorListSplit", flops=zero_cost)
def tensor_list_split(tensor: Array, element_shape: Array, lengths: Array, *, element_dtype: DType) -> Result:
    """Split a tensor into a list of pieces with `lengths` rows each."""
    expected = shape_in(element_shape)
    if expected.dims == ():
        raise InvalidArgumentError("TensorListSplit requires element_shape to be at least of rank 1, but saw: ()")
    sizes = ints(lengths, "lengths")
    require_vector(tensor, "Tensor must")
    merged_shapes(expected[1:], Shape(tensor.shape[1:]))
    if any(size < 0 for size in sizes) or sum(sizes) > len(tensor):
        raise InvalidArgumentError(f"Attempting to slice {sizes} from tensor with length {len(tensor)}")
    if sum(sizes) != len(tensor):
        raise InvalidArgumentError(f"Unused values in tensor. Length of tensor: {len(tensor)} Values used: {sum(sizes)}")
    ends = np.cumsum([0, *sizes])
    pieces = [tensor[start:end] for start, end in itertools.pairwise(ends)]
    return scalar_object(TensorList(element_dtype, expected, pieces))


@shape("TensorListSplit")
def tensor_list_split_shape(
    tensor: TensorSpec, element_shape: TensorSpec, lengths: TensorSpec, *, element_dtype: DType
) -> TensorSpec:
    return list_spec(element_dtype, static_shape(element_shape))


@gradient("TensorListSplit")
def tensor_list_split_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    tensor, _, lengths = node.inputs
    # Pieces differ in their first dimension, and an empty list cannot tell the other dimensions.
    shape = g.ConcatV2([g.constant([-1], "int32"), _row_shape(g, tensor)], g.constant(0, "int32"))
    gathered, _ = g.TensorListConcatV2(grad, shape, lengths, element_dtype=tensor.base_dtype)
    return [gathered, None, None]


@kernel("TensorListScatter", flops=zero_cost)
def tensor_list_scatter(tensor: Array, indices: Array, element_shape: Array, *, element_dtype: DType) -> Result:
    return _scattered(tensor, indices, element_shape, -1, element_dtype)


def _scattered(tensor: Array, indices: Array, element_shape: Array, size: int, dtype: DType) -> Array:
    expected = shape_in(element_shape)
    if size < -1:
        raise InvalidArgumentError(f"TensorListScatter expects num_elements >= -1, found: {size}")
    places = _scatter_places(tensor, indices)
    _require_rows_of(expected, tensor)
    highest = max(places, default=-1)
    if size >= 0 and highest >= size:
        raise InvalidArgumentError(f"TensorListScatter: Trying to scatter at index {highest} in list with size {size}")
    items: list[Any] = [None] * (highest + 1 if size < 0 else size)
    for i, row in zip(places, rows_of(tensor)):
        # Of an index that is named twice the last row stays, as in TensorFlow.
        items[i] = row
    return scalar_object(TensorList(dtype, expected, items))


def _scatter_places(tensor: Array, indices: Array) -> tuple[int, ...]:
    require_vector(tensor, "Tensor must")
    places = ints(indices, "indices")
    if any(i < 0 for i in places):
        raise InvalidArgumentError("Indices in TensorListScatter must all be non-negative.")
    if len(places) != len(tensor):
        raise InvalidArgumentError(f"Specified {len(places)} indices for a tensor with {len(tensor)} rows")
    return places


@kernel("TensorListScatterV2", flops=zero_cost)
def tensor_list_scatter_v2(
    tensor: Array, indices: Array, element_shape: Array, num_elements: Array, *, element_dtype: DType
) -> Result:
    """A list that holds the rows of a tensor at `indices`."""
    return _scattered(tensor, indices, element_shape, scalar(num_elements, "num_elements"), element_dtype)


@shape("TensorListScatter", "TensorListScatterV2")
def tensor_list_scatter_shape(
    tensor: TensorSpec, indices: TensorSpec, element_shape: TensorSpec, *rest: TensorSpec, element_dtype: DType
) -> TensorSpec:
    return list_spec(element_dtype, static_shape(element_shape), None, tensor.shape[1:])


@gradient("TensorListScatter", "TensorListScatterV2")
def tensor_list_scatter_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    tensor, indices = node.inputs[:2]
    gathered = g.TensorListGather(grad, indices, _row_shape(g, tensor), element_dtype=tensor.base_dtype)
    return [gathered, *[None] * (len(node.inputs) - 1)]


@kernel("TensorListScatterIntoExistingList", flops=zero_cost)
def tensor_list_scatter_into_existing_list(
    input_handle: Array, tensor: Array, indices: Array, *, element_dtype: DType
) -> Result:
    """Write the rows of a tensor at `indices` into a list, lengthened as needed."""
    items = list_in(input_handle, element_dtype)
    places = _scatter_places(tensor, indices)
    _require_rows_of(items.element_shape, tensor)
    # A list is a value: older handles must not see the new rows.
    result = items.items.copy()
    result += [None] * (max(places, default=-1) + 1 - len(result))
    for i, row in zip(places, rows_of(tensor)):
        result[i] = row
    return scalar_object(items.with_items(result))


@shape("TensorListScatterIntoExistingList")
def tensor_list_scatter_into_existing_list_shape(
    input_handle: TensorSpec, tensor: TensorSpec, indices: TensorSpec, *, element_dtype: DType
) -> TensorSpec:
    return with_element(input_handle, TensorSpec(element_dtype, tensor.shape[1:]))


@gradient("TensorListScatterIntoExistingList")
def tensor_list_scatter_into_existing_list_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    _, tensor, indices = node.inputs
    gathered = g.TensorListGather(grad, indices, _row_shape(g, tensor), element_dtype=tensor.base_dtype)
    # The elements that were overwritten had no effect on the result, so that their gradients are zeros.
    return [g.TensorListScatterIntoExistingList(grad, g.zeros_like(tensor), indices), gathered, None]


@kernel("TensorListStack", flops=zero_cost)
def tensor_list_stack(input_handle: Array, element_shape: Array, *, element_dtype: DType, num_elements: int) -> Result:
    """All elements, stacked."""
    items = list_in(input_handle, element_dtype)
    if num_elements not in (-1, len(items)):
        raise InvalidArgumentError(
            f"Operation expected a list with {num_elements} elements but got a list with {len(items)} elements."
        )
    return _stacked(items, range(len(items)), shape_in(element_shape), "stack")


def _full_shape(items: TensorList, indices: Any, element_shape: Shape, what: str) -> tuple[int, ...]:
    """Return the shape of the elements at `indices`, from the list, the argument and the elements that are set."""
    merged = merged_shapes(items.element_shape, element_shape)
    if merged.is_known:
        return merged.known()
    if not len(indices):
        raise InvalidArgumentError(f"Tried to {what} elements of an empty list with non-fully-defined element_shape: {merged}")
    elements = items.items
    # Each shape is merged once: the elements mostly share one.
    for dims in dict.fromkeys([elements[i].shape for i in indices if elements[i] is not None]):
        merged = merged_shapes(merged, Shape(dims))
    if not merged.is_known:
        raise InvalidArgumentError(
            f"Tried to {what} list which only contains uninitialized tensors and has a non-fully-defined shape: {merged}"
        )
    return merged.known()


def _stacked(items: TensorList, indices: Any, element_shape: Shape, what: str) -> Array:
    full = _full_shape(items, indices, element_shape, what)
    result = zeros((len(indices), *full), items.dtype)
    elements = items.items
    for row, i in enumerate(indices):
        value = elements[i]
        if value is None:
            continue
        if value.shape != full:
            shapes = f"{Shape(full)} vs {Shape(value.shape)}"
            raise InvalidArgumentError(f"Tried to {what} tensors with unequal shapes: {shapes}")
        result[row, ...] = value
    return result


@shape("TensorListStack")
def tensor_list_stack_shape(input_handle: TensorSpec, element_shape: TensorSpec, *, num_elements: int) -> Shape:
    element = merge_shapes(element_shape_of(input_handle), static_shape(element_shape))
    return Shape((length_of(input_handle) if num_elements < 0 else num_elements,)) + element


@gradient("TensorListStack")
def tensor_list_stack_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    return [g.TensorListFromTensor(grad, _row_shape(g, grad)), None]


@kernel("TensorListGather", flops=zero_cost)
def tensor_list_gather(input_handle: Array, indices: Array, element_shape: Array, *, element_dtype: DType) -> Result:
    """The elements at `indices`, stacked."""
    items = list_in(input_handle, element_dtype)
    places = ints(indices, "indices")
    for i in places:
        if not 0 <= i < len(items):
            # TensorFlow's text, which lacks the same letter.
            raise InvalidArgumentError(f"Index {i} out o range; list only has {len(items)} elements.")
    return _stacked(items, places, shape_in(element_shape), "gather")


@shape("TensorListGather")
def tensor_list_gather_shape(input_handle: TensorSpec, indices: TensorSpec, element_shape: TensorSpec) -> Shape:
    element = merge_shapes(element_shape_of(input_handle), static_shape(element_shape))
    return Shape((indices.shape[0] if indices.rank == 1 else None,)) + element


@gradient("TensorListGather")
def tensor_list_gather_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    handle, indices, _ = node.inputs
    # As in TensorFlow, the rows are set, not added: an element that was gathered twice gets the gradient of its last copy
    # alone.
    return [g.TensorListScatterIntoExistingList(reserve_like(g, handle, grad.dtype), grad, indices), None, None]


@kernel("TensorListConcat", flops=zero_cost)
def tensor_list_concat(input_handle: Array, *, element_dtype: DType, element_shape: Shape) -> tuple[Result, Result]:
    return _concatenated(list_in(input_handle, element_dtype), element_shape, [])


def _concatenated(items: TensorList, element_shape: Shape, leading_dims: list[int]) -> tuple[Array, Array]:
    tail = merged_shapes(_without_first(items.element_shape), _without_first(element_shape))
    for value in items.items:
        if value is not None:
            if not np.ndim(value):
                raise InvalidArgumentError("Concat requires elements to be at least vectors, found scalars instead.")
            if not tail.is_known:
                tail = merged_shapes(tail, Shape(value.shape[1:]))
    if not tail.is_known:
        kind = "uninitialized elements" if len(items) else "an empty list"
        raise InvalidArgumentError(
            f"All except the first dimension must be fully defined when concating {kind}. element_shape: {element_shape}"
        )
    rows = _rows_if_unset(items, element_shape)
    pieces = [_piece(items, i, rows, tail.known(), leading_dims) for i in range(len(items))]
    lengths = np.array([len(piece) for piece in pieces], np.int64)
    # Zeros in front, since np.concatenate takes no empty list.
    return np.concatenate([zeros((0, *tail.known()), items.dtype), *pieces]), lengths


def _piece(items: TensorList, index: int, rows: int | None, tail: tuple[int, ...], leading_dims: list[int]) -> Array:
    value = items.items[index]
    if value is None:
        first = leading_dims[index] if index < len(leading_dims) else rows
        if first is None or first < 0:
            raise InvalidArgumentError(
                f"List contains uninitialized tensor at index {index} but leading_dims has only {len(leading_dims)} elements."
            )
        return zeros((first, *tail), items.dtype)
    if value.shape[1:] != tail:
        raise InvalidArgumentError(f"Tried to concat tensors with unequal shapes: {Shape(tail)} vs {Shape(value.shape[1:])}")
    return value


def _rows_if_unset(items: TensorList, element_shape: Shape) -> int | None:
    """Return the number of rows of an unset element: as a shape says, or as in all other elements; else None."""
    lengths = {len(value) for value in items.items if value is not None}
    expected, of_list = (s[0] if s.rank and isinstance(s[0], int) else None for s in (element_shape, items.element_shape))
    if expected is not None and lengths - {expected}:
        raise InvalidArgumentError(f"element_shape asks for {expected} rows, elements of the list have {sorted(lengths)}")
    if expected is None and of_list is None and len(lengths) == 1:
        return lengths.pop()
    return of_list if expected is None else expected


def _without_first(shape: Shape) -> Shape:
    if shape.dims == ():
        raise InvalidArgumentError("Concat requires elements to be at least vectors, found scalars instead.")
    return shape[1:]


@shape("TensorListConcat")
def tensor_list_concat_shape(input_handle: TensorSpec, *, element_shape: Shape) -> tuple[Shape, Shape]:
    return _concat_specs(merge_shapes(element_shape_of(input_handle), element_shape))


def _concat_specs(element: Any) -> Any:
    return UNKNOWN if not element.rank else Shape((None,)) + element[1:], Shape((None,))


@kernel("TensorListConcatV2", flops=zero_cost)
def tensor_list_concat_v2(
    input_handle: Array, element_shape: Array, leading_dims: Array, *, element_dtype: DType
) -> tuple[Result, Result]:
    """Concatenate all elements along their first axis; return their numbers of rows too.

    `leading_dims` gives the number of rows of zeros for unset elements.
    """
    require_rank(leading_dims, 1, "leading_dims")
    return _concatenated(list_in(input_handle, element_dtype), shape_in(element_shape), leading_dims.tolist())


@shape("TensorListConcatV2")
def tensor_list_concat_v2_shape(
    input_handle: TensorSpec, element_shape: TensorSpec, leading_dims: TensorSpec
) -> tuple[Shape, Shape]:
    return _concat_specs(merge_shapes(element_shape_of(input_handle), static_shape(element_shape)))


@gradient("TensorListConcat", "TensorListConcatV2")
def tensor_list_concat_gradient(g: GradientBuilder, node: Node, grad: Output, grad_lengths: Output) -> Gradients:
    handle = node.inputs[0]
    shape = g.TensorListElementShape(handle, shape_type="int32")
    return [g.TensorListSplit(grad, shape, node.output(1)), *[None] * (len(node.inputs) - 1)]


onnx("TensorListFromTensor")(lambda g, tensor, shape: g.stacked(tensor))
onnx("TensorListStack")(lambda g, elements, shape: lists.all_items(g, elements, shape))
onnx("TensorListGather")(lambda g, elements, indices, shape: lists.taken(g, elements, indices, shape))
onnx("TensorListSplit")(lambda g, tensor, shape, lengths: lists.split(g, tensor, lengths))
onnx("TensorListConcat")(lambda g, elements: lists.joined(g, elements))
onnx("TensorListConcatV2")(lists.joined)


@onnx("TensorListScatterIntoExistingList")
def _scatter_existing_onnx(g: Any, elements: Any, items: Any, indices: Any) -> Any:
    """The list grows to the largest index."""
    return lists.scattered(g, lists.reached_by_all(g, elements, indices, items), indices, items)


@onnx("TensorListScatterV2")
def _scatter_v2_onnx(g: Any, items: Any, indices: Any, shape: Any, count: Any) -> Any:
    """Scatter into as many elements as `count` or the largest index asks for."""
    # A count of -1 means as many elements as the largest index needs.
    largest = g.Add(g.ReduceMax(g.vector(indices), [0], keepdims=1), 1)
    asked = g.vector(count)
    return _scattered_onnx(g, items, indices, g.Where(g.Less(asked, 0), largest, asked))


@onnx("TensorListScatter")
def _scatter_onnx(g: Any, items: Any, indices: Any, shape: Any) -> Any:
    return _scattered_onnx(g, items, indices, g.Add(g.ReduceMax(g.vector(indices), [0], keepdims=1), 1))


def _scattered_onnx(g: Any, items: Any, indices: Any, count: Any) -> Any:
    rows = Shape(None if items.rank is None else items.shape.dims[1:])
    return lists.scattered(g, lists.empty(g, count, items.dtype, rows), indices, items)


# In an array program a list is a StackedElements of engines/xla/list_programs.


@lower("TensorListFromTensor", always=True)
def _lowered_from_tensor(xla: Any, tensor: Any, element_shape: Any) -> Any:
    return xla.listed(tensor, lowered_shape(element_shape))


@lower("TensorListStack", always=True)
def _lowered_stack(xla: Any, items: Any, element_shape: Any, *, element_dtype: DType, num_elements: int) -> Any:
    items.require_dtype(element_dtype.numpy)
    if num_elements >= 0:
        xla.require(items.length == num_elements)
    return items.stacked(lowered_dims(items, element_shape))


@lower("TensorListGather", always=True)
def _lowered_gather(xla: Any, items: Any, indices: Any, element_shape: Any, *, element_dtype: DType) -> Any:
    items.require_dtype(element_dtype.numpy)
    return items.gathered(xla, indices, lowered_dims(items, element_shape))


@lower("TensorListScatterV2", static=(3,), always=True)
def _lowered_scatter_v2(xla: Any, tensor: Any, indices: Any, element_shape: Any, num_elements: Array) -> Any:
    items = xla.elements(np.dtype(tensor.dtype), max(int(num_elements), 0), lowered_shape(element_shape))
    return items.scattered(xla, indices, tensor)


@lower("TensorListScatterIntoExistingList", always=True)
def _lowered_scatter_into(xla: Any, items: Any, tensor: Any, indices: Any) -> Any:
    return items.scattered(xla, indices, tensor)
