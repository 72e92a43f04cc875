"""TensorLists, the accumulators of functional loops: variants that hold tensors of a common dtype."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...building.gradbuilder import GradientBuilder, Gradients
from ...graph.graph import Node, Output
from ...registry.registry import NOT_DIFFERENTIABLE, gradient, kernel, lower, onnx, shape, zero_cost
from ...runtime.state.edge_values import scalar_object
from ...runtime.state.run_context import reserve
from ...runtime.state.tensor_arrays import rows_of, zeros
from ...runtime.state.tensor_lists import ANY, NOTHING_SET, TensorList
from ...support import dataclasses
from ...support.errors import InvalidArgumentError
from ...types import dtypes
from ...types.arrays import Array, Result, object_array
from ...types.dtypes import DType
from ...types.shapes import UNKNOWN, Shape, TensorSpec, covering_shape, fits, merge_shapes
from ..shared.argument_checks import scalar
from ..shared.shape_arguments import shape_value
from . import _onnx_lists as lists
from ._lists import (
    declared_shape_of,
    dim_of,
    element_of,
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


def _require_shape(items: TensorList, value: Array, what: str) -> None:
    if not fits(value.shape, items.element_shape):
        raise InvalidArgumentError(
            f"Tried to {what} a list. Op element shape: {Shape(value.shape)} list shape: {items.element_shape}"
        )


@kernel("EmptyTensorList", gradient=NOT_DIFFERENTIABLE, flops=zero_cost)
def empty_tensor_list(element_shape: Array, max_num_elements: Array, *, element_dtype: DType) -> Result:
    limit = scalar(max_num_elements, "max_num_elements")
    return scalar_object(TensorList(element_dtype, shape_in(element_shape), [], limit, NOTHING_SET))


@shape("EmptyTensorList")
def empty_tensor_list_shape(element_shape: TensorSpec, max_num_elements: TensorSpec, *, element_dtype: DType) -> TensorSpec:
    return list_spec(element_dtype, static_shape(element_shape), 0)


@kernel("TensorListReserve", gradient=NOT_DIFFERENTIABLE, flops=zero_cost)
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
@gradient("TensorListPushBack")
def tensor_list_push_back_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    tensor = node.inputs[1]
    return list(g.TensorListPopBack(grad, g.shape_of(tensor), element_dtype=tensor.base_dtype))


@kernel("TensorListPushBackBatch", gradient=NOT_DIFFERENTIABLE, flops=zero_cost)
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


@gradient("TensorListResize")
def tensor_list_resize_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    # Back to the former length: what was cut off gets unset elements, which count as zeros.
    return [g.TensorListResize(grad, g.TensorListLength(node.inputs[0])), None]


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


@kernel("TensorListConcatLists", shape=_changed, gradient=NOT_DIFFERENTIABLE, flops=zero_cost)
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


@kernel("TensorListLength", shape="-> ()", gradient=NOT_DIFFERENTIABLE, flops=zero_cost, facts=("metadata",))
def tensor_list_length(input_handle: Array) -> Result:
    return np.int32(len(list_in(input_handle)))


@kernel("TensorListElementShape", gradient=NOT_DIFFERENTIABLE, flops=zero_cost, facts=("metadata",))
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
