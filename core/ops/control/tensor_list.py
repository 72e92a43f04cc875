"""TensorLists, the accumulators of functional loops: variants that hold tensors of a common dtype.

The `handle` of a list's spec has three specs: the spec of the elements, of the shape `NO_ELEMENT` while none is set; a
scalar with the length of the list; and the declared shape of all elements.
"""

from __future__ import annotations

import functools
import itertools
from typing import Any

import numpy as np

from ...building.gradbuilder import GradientBuilder, Gradients
from ...graph.graph import Node, Output
from ...registry.registry import gradient, kernel, lower, onnx, shape, zero_cost
from ...runtime.state.edge_values import scalar_object
from ...runtime.state.run_context import reserve
from ...runtime.state.tensor_arrays import rows_of, zeros
from ...runtime.state.tensor_lists import ANY, NOTHING_SET, TensorList
from ...support import dataclasses
from ...support.errors import InvalidArgumentError
from ...types import dtypes
from ...types.arrays import Array, Result, object_array
from ...types.dims import Dim, DimLike, is_never_negative
from ...types.dtypes import DType
from ...types.shapes import (
    NO_ELEMENT,
    POSITION,
    SCALAR,
    UNKNOWN,
    Shape,
    TensorSpec,
    as_shape,
    common_value,
    covering_shape,
    dims_of,
    fits,
    merge_shapes,
    substituted,
    unknown_dims,
)
from ..shared.argument_checks import require_rank, scalar
from ..shared.decompositions import by_ops, by_outputs
from ..shared.shape_arguments import ints, scalar_value, shape_value
from . import _onnx_lists as lists


def list_in(handle: Array, dtype: DType | None = None) -> TensorList:
    """Return the list in a handle; InvalidArgumentError if the handle holds another object, or elements of another
    dtype.
    """
    if handle.ndim:
        raise InvalidArgumentError(f"Input list must be a scalar saw: {Shape(np.shape(handle))}")
    content = handle.item()
    if not isinstance(content, TensorList):
        raise InvalidArgumentError(f"Input handle is not a list. Saw: '{type(content).__name__}'")
    if dtype is not None and content.dtype is not dtype:
        raise InvalidArgumentError(f"Invalid data types; op elements {dtype} but list elements {content.dtype}")
    return content


def shape_in(tensor: Array) -> Shape:
    """Return the shape in a shape tensor: -1 is an unknown rank, and in a vector an unknown dimension."""
    if not np.ndim(tensor):
        if int(tensor) != -1:
            raise InvalidArgumentError("The only valid scalar shape tensor is the fully unknown shape specified as -1.")
        return UNKNOWN
    dims = tensor.tolist()
    if tensor.ndim != 1 or min(dims, default=0) < -1:
        raise InvalidArgumentError(f"Shape must be at most rank 1 with dimensions >= -1, it is {dims}")
    # Loops ask for the same shape in each iteration.
    return as_shape(dims) if -1 in dims else _constant_shape(tuple(dims))


@functools.lru_cache(1024)
def _constant_shape(dims: tuple[int, ...]) -> Shape:
    """Return a shape without unknown dimensions. The cache is safe, as no unknown dimension needs an identity of its own."""
    return Shape(dims)


def lowered_shape(element_shape: Any) -> Shape:
    """Return the shape in a shape tensor; unknown if the tensor is no constant while a program is built."""
    return shape_in(np.asarray(element_shape)) if isinstance(element_shape, (np.ndarray, np.generic)) else UNKNOWN


def lowered_dims(items: Any, element_shape: Any) -> tuple[int, ...] | None:
    """Return the dimensions of elements by a list and a shape tensor; None if any dimension is unknown."""
    merged = merged_shapes(items.declared, lowered_shape(element_shape))
    return merged.known() if merged.is_known else None


def require_vector(tensor: Array, what: str) -> None:
    """Raise InvalidArgumentError if `tensor` is a scalar; `what` begins the message."""
    if not np.ndim(tensor):
        raise InvalidArgumentError(f"{what} be at least a vector, but saw shape: ()")


def merged_shapes(first: Shape, second: Shape) -> Shape:
    """Two shapes that must agree, the rank of either perhaps unknown."""
    try:
        return merge_shapes(first, second)
    except InvalidArgumentError:
        raise InvalidArgumentError(f"Tried to use incompatible shapes for elements of a list: {first} and {second}") from None


def reserve_like(g: GradientBuilder, handle: Any, dtype: Any) -> Any:
    """Return a list of unset elements, with the length and the element shape of the list in `handle`."""
    shape = g.TensorListElementShape(handle, shape_type="int32")
    return g.TensorListReserve(shape, g.TensorListLength(handle), element_dtype=dtype)


def list_spec(dtype: DType, declared: Shape, length: DimLike | None = None, elements: Shape = NO_ELEMENT) -> TensorSpec:
    """Return the spec of a list with a length, perhaps unknown, and with elements of shape `elements`."""
    value: np.ndarray | None = None if length is None else scalar_value(length, dtypes.int32)
    held = (TensorSpec(dtype, elements), TensorSpec(dtypes.int32, SCALAR, value), TensorSpec(dtype, declared))
    return TensorSpec(dtypes.variant, SCALAR, handle=held)


def element_of(spec: TensorSpec, position: DimLike | None = None) -> TensorSpec:
    """Return the spec of the element at `position` of a list, of any where there is None."""
    if not spec.handle:
        return TensorSpec(spec.dtype)
    where = Dim.unknown() if position is None else position
    element = substituted(spec.handle[0], {POSITION: where})
    return dataclasses.replace(element, shape=merge_shapes(element.shape, declared_shape_of(spec)))


def element_shape_of(spec: TensorSpec) -> Shape:
    """Return the shape of a list's elements."""
    return element_of(spec).shape


def declared_shape_of(spec: TensorSpec) -> Shape:
    """Return the shape that a list declares for its elements."""
    return spec.handle[2].shape if len(spec.handle) > 2 else UNKNOWN


def with_element(spec: TensorSpec, element: TensorSpec, length: DimLike | None = None) -> TensorSpec:
    """Return the spec of a list after an element was put in."""
    spec_of_list = list_spec(element.dtype, declared_shape_of(spec), length)
    # The first element alone says what the list holds; a later one may only widen the shape.
    if length_of(spec) == 0:
        elements = TensorSpec(element.dtype, element.shape, element.value)
    else:
        before = spec.handle[0] if spec.handle else TensorSpec(element.dtype)
        elements = TensorSpec(element.dtype, covering_shape(before.shape, element.shape), common_value(before, element))
    return dataclasses.replace(spec_of_list, handle=(elements, *spec_of_list.handle[1:]))


def length_of(spec: TensorSpec) -> DimLike | None:
    """Return the length of a list; None if unknown."""
    return dim_of(spec.handle[1]) if len(spec.handle) > 1 else None


def dim_of(spec: TensorSpec) -> DimLike | None:
    """Return the number that a scalar is known to be, None if that is not known."""
    dims = dims_of(spec)
    return dims[0] if dims is not None and len(dims) == 1 else None


def static_shape(spec: TensorSpec) -> Shape:
    """Return the shape in a shape tensor, as far as inference knows its values; -1 and a scalar mean unknown."""
    value = spec.value
    if value is None:
        return unknown_dims(spec.shape[0] if spec.rank == 1 else None)
    if not value.ndim:
        return UNKNOWN
    if value.ndim > 1:
        raise InvalidArgumentError(f"a shape must be a vector, not of shape {Shape(value.shape)}")
    return Shape(d if is_never_negative(d) else None for d in dims_of(spec) or ())


def _require_shape(items: TensorList, value: Array, what: str) -> None:
    if not fits(value.shape, items.element_shape):
        raise InvalidArgumentError(
            f"Tried to {what} a list. Op element shape: {Shape(value.shape)} list shape: {items.element_shape}"
        )


@kernel("EmptyTensorList", arithmetic=False)
def empty_tensor_list(element_shape: Array, max_num_elements: Array, *, element_dtype: DType) -> Result:
    limit = scalar(max_num_elements, "max_num_elements")
    return scalar_object(TensorList(element_dtype, shape_in(element_shape), [], limit, NOTHING_SET))


@shape("EmptyTensorList")
def empty_tensor_list_shape(element_shape: TensorSpec, max_num_elements: TensorSpec, *, element_dtype: DType) -> TensorSpec:
    return list_spec(element_dtype, static_shape(element_shape), 0)


@kernel("TensorListReserve", arithmetic=False)
def tensor_list_reserve(element_shape: Array, num_elements: Array, *, element_dtype: DType) -> Result:
    count = scalar(num_elements, "num_elements")
    if count < 0:
        raise InvalidArgumentError(f"The num_elements to reserve must be a non negative number, but got {count}")
    # A list of unset elements holds a pointer for each, whatever number the graph asks for.
    reserve(8 * count)
    declared = shape_in(element_shape)
    item_shape = declared.known() if declared.is_known else ANY
    return scalar_object(TensorList(element_dtype, declared, [None] * count, item_shape=item_shape))


@shape("TensorListReserve")
def tensor_list_reserve_shape(element_shape: TensorSpec, num_elements: TensorSpec, *, element_dtype: DType) -> TensorSpec:
    return list_spec(element_dtype, static_shape(element_shape), dim_of(num_elements))


@kernel("TensorListPushBack", flops=zero_cost, facts=("list_push", "of_lists"))
def tensor_list_push_back(input_handle: Array, tensor: Array, *, element_dtype: DType) -> Result:
    items = list_in(input_handle, element_dtype)
    _require_shape(items, tensor, "append a tensor with incompatible shape to")
    if items.max_num_elements >= 0 and items.max_num_elements <= len(items):
        raise InvalidArgumentError(
            f"Tried to push item into a full list list size: {len(items)} max_num_elements: {items.max_num_elements}"
        )
    return scalar_object(items.pushed(tensor))


@shape("TensorListPushBack")
def tensor_list_push_back_shape(input_handle: TensorSpec, tensor: TensorSpec, *, element_dtype: DType) -> TensorSpec:
    length = length_of(input_handle)
    return with_element(input_handle, tensor, None if length is None else length + 1)


# Gradients, as TensorFlow's: lists of gradients go back the way the lists of values came.
gradient("TensorListPushBack")(by_outputs("TensorListPopBack dy #1"))


@kernel("TensorListPushBackBatch", arithmetic=False)
def tensor_list_push_back_batch(input_handles: Array, tensor: Array, *, element_dtype: DType) -> Result:
    """Append a row of a tensor to each list of a batch."""
    require_vector(tensor, "Expected tensor to")
    if np.shape(input_handles) != tensor.shape[:1]:
        raise InvalidArgumentError(
            f"Expected a vector of {len(tensor)} lists, one for each row, but saw {Shape(np.shape(input_handles))}"
        )
    results = [
        tensor_list_push_back(scalar_object(handle), row, element_dtype=element_dtype).item()
        for handle, row in zip(input_handles.tolist(), rows_of(tensor))
    ]
    return object_array(results, input_handles.shape)


@kernel("TensorListResize", flops=zero_cost)
def tensor_list_resize(input_handle: Array, size: Array) -> Result:
    count = scalar(size, "size")
    if count < 0:
        # TensorFlow's text, which names another op than this one.
        raise InvalidArgumentError(f"TensorListSlice expects size to be non-negative. Got: {count}")
    reserve(8 * count)
    return scalar_object(list_in(input_handle).resized(count))


@shape("TensorListPushBackBatch", "TensorListResize")
def changed_list_shape(input_handles: TensorSpec, other: TensorSpec) -> TensorSpec:
    return _changed(input_handles, input_handles)


def _changed(lists: TensorSpec, others: TensorSpec) -> TensorSpec:
    """Lists of other lengths, of the elements of both."""
    if not lists.handle or not others.handle:
        return TensorSpec(dtypes.variant, lists.shape)
    elements = covering_shape(lists.handle[0].shape, others.handle[0].shape)
    changed = list_spec(lists.handle[0].dtype, declared_shape_of(lists), None, elements)
    return dataclasses.replace(changed, shape=lists.shape)


# Back to the former length: what was cut off gets unset elements, which count as zeros.
gradient("TensorListResize")(by_ops("TensorListResize dy (TensorListLength 0)"))


@kernel("TensorListPopBack", flops=zero_cost, facts=("list_read", "list_pop"))
def tensor_list_pop_back(input_handle: Array, element_shape: Array, *, element_dtype: DType) -> tuple[Result, Result]:
    """Remove the last element; return the list and the element."""
    items = list_in(input_handle, element_dtype)
    elements = items.items
    if not elements:
        raise InvalidArgumentError("Trying to pop from an empty list.")
    value = elements[-1]
    if value is None:
        # Only an unset element needs the shape: merging shapes in each iteration would take longer than the pop.
        value = _element(items, len(elements) - 1, element_shape)
    return scalar_object(items.popped()), value


def _element(items: TensorList, index: int, element_shape: Array) -> Array:
    value = items.items[index]
    if value is not None:
        return value
    merged = merged_shapes(items.element_shape, shape_in(element_shape))
    if not merged.is_known:
        # Set elements give the shape of unset elements.
        for other in items.items:
            if other is not None:
                merged = merged_shapes(merged, Shape(np.shape(other)))
    if not merged.is_known:
        raise InvalidArgumentError("Trying to read an uninitialized tensor but element_shape is not fully defined.")
    return zeros(merged.known(), items.dtype)


@shape("TensorListPopBack")
def tensor_list_pop_back_shape(
    input_handle: TensorSpec, element_shape: TensorSpec, *, element_dtype: DType
) -> tuple[TensorSpec, TensorSpec]:
    """Return the specs of the shortened list and of its former last element."""
    length = length_of(input_handle)
    last = None if length is None else length - 1
    # The last element stands at the place that is the length of the shorter list.
    element = element_of(input_handle, last)
    left = list_spec(element_dtype, declared_shape_of(input_handle), last)
    if input_handle.handle:
        left = dataclasses.replace(left, handle=(input_handle.handle[0], *left.handle[1:]))
    return left, dataclasses.replace(element, shape=merge_shapes(element.shape, static_shape(element_shape)))


@gradient("TensorListPopBack")
def tensor_list_pop_back_gradient(g: GradientBuilder, node: Node, grad_list: Output, grad_element: Output) -> Gradients:
    element = node.output(1)
    # Handles in a list have no gradient, and no zeros.
    if grad_element is None and element.dtype is dtypes.resource:
        return [None, None]
    return [g.TensorListPushBack(grad_list, g.zeros_like(element) if grad_element is None else grad_element), None]


@kernel("TensorListSetItem", flops=zero_cost, facts=("list_set", "of_lists"))
def tensor_list_set_item(
    input_handle: Array, index: Array, item: Array, *, element_dtype: DType, resize_if_index_out_of_bounds: bool
) -> Result:
    items = list_in(input_handle, element_dtype)
    place = scalar(index, "index")
    if place >= len(items) and resize_if_index_out_of_bounds:
        items = items.resized(place + 1)
    if not 0 <= place < len(items):
        raise InvalidArgumentError(f"Trying to modify element {place} in a list with {len(items)} elements.")
    _require_shape(items, item, "set a tensor with incompatible shape at a list index in")
    return scalar_object(items.replaced(place, item))


@shape("TensorListSetItem")
def tensor_list_set_item_shape(
    input_handle: TensorSpec, index: TensorSpec, item: TensorSpec, *, element_dtype: DType, resize_if_index_out_of_bounds: bool
) -> TensorSpec:
    """Return the spec of a list of the same length unless the op may lengthen it; elements take the item's shape."""
    length = None if resize_if_index_out_of_bounds else length_of(input_handle)
    return with_element(input_handle, dataclasses.replace(item, value=None), length)


@gradient("TensorListSetItem")
def tensor_list_set_item_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    handle, index, item = node.inputs
    # The item took the place of another, which therefore has no part in the result.
    list_grad = g.TensorListSetItem(grad, index, g.zeros_like(item))
    item_grad = g.TensorListGetItem(grad, index, g.shape_of(item), element_dtype=item.base_dtype)
    # The list may have been shorter before, and its gradient must have its length.
    if node.attr("resize_if_index_out_of_bounds"):
        list_grad = g.TensorListResize(list_grad, g.TensorListLength(handle))
    return [list_grad, None, item_grad]


@kernel("TensorListConcatLists", shape=_changed, arithmetic=False)
def tensor_list_concat_lists(input_a: Array, input_b: Array, *, element_dtype: DType) -> Result:
    """Concatenate the two lists of each pair."""
    if np.shape(input_a) != np.shape(input_b):
        raise InvalidArgumentError(
            f"input_a and input_b must have the same shape, but have {Shape(np.shape(input_a))} and {Shape(np.shape(input_b))}"
        )
    results = []
    for a, b in zip(input_a.ravel().tolist(), input_b.ravel().tolist()):
        first, second = (list_in(scalar_object(x), element_dtype) for x in (a, b))
        merged_shapes(first.element_shape, second.element_shape)
        results.append(first.with_items([*first.items, *second.items]))
    return object_array(results, np.shape(input_a))


@kernel("TensorListLength", shape="-> ()", facts=("metadata",), arithmetic=False)
def tensor_list_length(input_handle: Array) -> Result:
    return np.int32(len(list_in(input_handle)))


@kernel("TensorListElementShape", facts=("metadata",), arithmetic=False)
def tensor_list_element_shape(input_handle: Array, *, shape_type: DType) -> Result:
    """Return the shape of the elements with -1 for an unknown dimension; the scalar -1 for an unknown rank."""
    return _shape_tensor(list_in(input_handle).element_shape, shape_type)


def _shape_tensor(shape: Shape, dtype: DType) -> Array:
    if shape.dims is None:
        return np.array(-1, dtype.numpy)
    return shape_value([d if isinstance(d, int) else -1 for d in shape.dims], dtype)


@shape("TensorListElementShape")
def tensor_list_element_shape_shape(input_handle: TensorSpec) -> Shape:
    declared = declared_shape_of(input_handle)
    return UNKNOWN if declared.dims is None else Shape((len(declared),))


@kernel("TensorListGetItem", flops=zero_cost, facts=("list_read",))
def tensor_list_get_item(input_handle: Array, index: Array, element_shape: Array, *, element_dtype: DType) -> Result:
    """Return the element at `index`, zeros if unset."""
    items = list_in(input_handle, element_dtype)
    place = scalar(index, "index")
    if not 0 <= place < len(items):
        raise InvalidArgumentError(f"Trying to access element {place} in a list with {len(items)} elements.")
    return _element(items, place, element_shape)


@shape("TensorListGetItem")
def tensor_list_get_item_shape(input_handle: TensorSpec, index: TensorSpec, element_shape: TensorSpec) -> Shape:
    return merge_shapes(element_of(input_handle, dim_of(index)).shape, static_shape(element_shape))


@gradient("TensorListGetItem")
def tensor_list_get_item_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    handle, index, _ = node.inputs
    # Unset but for one element: where such lists are added, an unset element costs nothing.
    return [g.TensorListSetItem(reserve_like(g, handle, grad.dtype), index, grad), None, None]


def _element_shape(outputs: list[TensorSpec]) -> Shape:
    """Return the shape of a list's elements: the declared shape merged with the inferred shape."""
    return merge_shapes(declared_shape_of(outputs[0]), outputs[0].handle[0].shape) if outputs[0].handle else UNKNOWN


@onnx("TensorListReserve")
def _reserve_onnx(g: Any, shape: Any, count: Any, *, element_dtype: DType, outputs: list[TensorSpec]) -> Any:
    return lists.empty(g, count, element_dtype, _element_shape(outputs))


@onnx("EmptyTensorList")
def _empty_onnx(g: Any, shape: Any, most: Any, *, element_dtype: DType, outputs: list[TensorSpec]) -> Any:
    # The limit on the number of elements is left out: ONNX could not refuse one more element.
    return lists.empty(g, g.constant(np.int64(0)), element_dtype, _element_shape(outputs))


@onnx("TensorListSetItem")
def _set_item_onnx(g: Any, elements: Any, index: Any, item: Any, *, resize_if_index_out_of_bounds: bool) -> Any:
    if resize_if_index_out_of_bounds:
        elements = lists.reached(g, elements, index, item)
    return lists.written(g, elements, index, item)


onnx("TensorListGetItem")(lambda g, elements, index, shape: lists.item(g, elements, index, shape))
onnx("TensorListPushBack")(lambda g, elements, item: lists.pushed(g, elements, item))
onnx("TensorListPopBack")(lists.popped)


@onnx("TensorListConcatLists")
def _concat_lists_onnx(g: Any, a: Any, b: Any, *, outputs: list[TensorSpec]) -> Any:
    # A single list is one tensor in ONNX, and a vector of lists is not: the rank decides which it is.
    if outputs[0].rank is None:
        g.refuse("the rank of its inputs is unknown")
    return lists.concatenated(g, a, b) if outputs[0].rank == 0 else lists.of_each(g, lists.concatenated, a, b)


@onnx("TensorListPushBackBatch")
def _push_back_batch_onnx(g: Any, several: Any, items: Any, *, outputs: list[TensorSpec]) -> Any:
    if outputs[0].rank != 1 or not isinstance(several, lists.Pieces):
        g.refuse("the number of its lists is unknown")
    return lists.of_each(g, lists.pushed, several, lists.Pieces(tuple(lists.unstacked(g, items, len(several.items)))))


onnx("TensorListLength")(lambda g, elements: lists.length(g, elements))
onnx("TensorListElementShape")(lambda g, elements: lists.element_sizes(g, elements))


# In an array program a list is a StackedElements of engines/xla/list_programs.


@lower("TensorListReserve", static=(0, 1), always=True)
def _lowered_reserve(xla: Any, shape: Array, count: Array, *, element_dtype: DType) -> Any:
    return xla.elements(element_dtype.numpy, int(count), shape_in(shape))


@lower("EmptyTensorList", static=(1,), always=True)
def _lowered_empty(xla: Any, shape: Any, most: Array, *, element_dtype: DType) -> Any:
    return xla.elements(element_dtype.numpy, 0, lowered_shape(shape), limit=int(most))


@lower("TensorListPushBack", always=True, sites=True)
def _lowered_push_back(xla: Any, items: Any, item: Any, *, site: str = "") -> Any:
    return items.pushed(xla, item, site)


@lower("TensorListPopBack", always=True)
def _lowered_pop_back(xla: Any, items: Any, shape: Any, *, element_dtype: DType) -> tuple[Any, Any]:
    items.require_dtype(element_dtype.numpy)
    return items.popped(xla, lowered_dims(items, shape))


@lower("TensorListSetItem", always=True)
def _lowered_set_item(xla: Any, items: Any, index: Any, item: Any) -> Any:
    return items.placed(xla, index, item)


@lower("TensorListGetItem", always=True)
def _lowered_get_item(xla: Any, items: Any, index: Any, shape: Any, *, element_dtype: DType) -> Any:
    items.require_dtype(element_dtype.numpy)
    items.require_places(xla, index)
    return items.item(xla, index, lowered_dims(items, shape))


@lower("TensorListElementShape", always=True)
def _lowered_element_shape(xla: Any, items: Any, *, shape_type: DType) -> Any:
    return _shape_tensor(items.declared, shape_type)


lower("TensorListLength", always=True)(lambda xla, items: items.length)


onnx("TensorListResize")(lambda g, elements, count: lists.resized(g, elements, count))


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


_NO_NUMBER = np.array(-1, np.int32)
"""A number of elements that asks for as many as the largest index needs."""


@kernel("TensorListScatter", "TensorListScatterV2", flops=zero_cost)
def tensor_list_scatter(
    tensor: Array, indices: Array, element_shape: Array, num_elements: Array = _NO_NUMBER, *, element_dtype: DType
) -> Result:
    """A list that holds the rows of a tensor at `indices`."""
    expected, size = shape_in(element_shape), scalar(num_elements, "num_elements")
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
    return scalar_object(TensorList(element_dtype, expected, items))


def _scatter_places(tensor: Array, indices: Array) -> tuple[int, ...]:
    require_vector(tensor, "Tensor must")
    places = ints(indices, "indices")
    if any(i < 0 for i in places):
        raise InvalidArgumentError("Indices in TensorListScatter must all be non-negative.")
    if len(places) != len(tensor):
        raise InvalidArgumentError(f"Specified {len(places)} indices for a tensor with {len(tensor)} rows")
    return places


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


@onnx("TensorListScatter", "TensorListScatterV2")
def _scatter_onnx(g: Any, items: Any, indices: Any, shape: Any, count: Any = None) -> Any:
    """Scatter into as many elements as `count` or the largest index asks for."""
    number = g.Add(g.ReduceMax(g.vector(indices), [0], keepdims=1), 1)
    if count is not None:
        # A count of -1 means as many elements as the largest index needs.
        asked = g.vector(count)
        number = g.Where(g.Less(asked, 0), number, asked)
    rows = Shape(None if items.rank is None else items.shape.dims[1:])
    return lists.scattered(g, lists.empty(g, number, items.dtype, rows), indices, items)


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
