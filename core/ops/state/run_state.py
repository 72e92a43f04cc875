"""Objects that live as long as a run: TensorArrays of V1 loops, and stacks, on which a loop leaves values for its gradient.

Handles are references (V1), strings (V2 of TensorArrays) or resources (the last version).
"""

from __future__ import annotations

import copy
import functools
import itertools
import os
from typing import Any, NamedTuple, TypeVar

import numpy as np

from ...building.gradbuilder import GradientBuilder, Gradients
from ...graph.graph import Node, Output
from ...registry.registry import WITHOUT_GRADIENT, facts, gradient, kernel, lower, onnx, shape, zero_cost
from ...runtime.state.edge_values import RunState, is_of, scalar_object
from ...runtime.state.kernel_context import KernelContext
from ...runtime.state.resources import Variable
from ...runtime.state.tensor_arrays import TensorArray
from ...support.errors import InvalidArgumentError, UnimplementedError
from ...types import dtypes
from ...types.arrays import Array, Result, object_array
from ...types.dtypes import DType
from ...types.shapes import SCALAR, UNKNOWN, Shape, TensorSpec, merge_shapes
from ..control import _onnx_lists as lists
from ..shared.shape_arguments import ints

_CONTAINER = "_tensor_arrays"
_GRADS_CONTAINER = "_tensor_array_grads"
_unique = itertools.count()
_Held = TypeVar("_Held")


def _versions(name: str) -> tuple[str, str, str]:
    """Return the three names of an op that exists for each kind of handle."""
    return name, f"{name}V2", f"{name}V3"


def _string_handle(held: TensorArray | Stack, container: str) -> Array:
    return object_array([os.fsencode(container), os.fsencode(held.name)], (2,))


def _reference(held: TensorArray | Stack, container: str) -> Variable:
    """Return a V1 handle: a reference to the container and the name."""
    handle = Variable(held.name, dtypes.string, Shape((2,)))
    handle.assign(_string_handle(held, container))
    return handle


def _behind(ctx: KernelContext, handle: Array | Variable, kind: type[_Held]) -> _Held:
    """Return the object behind a handle of any version."""
    if isinstance(handle, Variable):
        handle = handle.read()
    # The last version, the handle of nearly all graphs, holds the object itself.
    if handle.size == 1 and isinstance(handle.item(), kind):
        return handle.item()
    if handle.size != 2:
        misfit = "Stack handle must have two elements" if kind is Stack else "Tensor array handle must be a 2-element vector"
        raise InvalidArgumentError(f"{misfit}, but had shape: {Shape(np.shape(handle))}")
    container, name = map(os.fsdecode, handle.ravel().tolist())
    return ctx.step.resources.get(container, name, kind)


class ArrayAttributes(NamedTuple):
    """The attributes of a new array; V1 and V2 say nothing about the shapes of elements among each other."""

    dtype: DType
    element_shape: Shape
    dynamic_size: bool
    clear_after_read: bool
    tensor_array_name: str
    identical_element_shapes: bool = False


def _new_array(ctx: KernelContext, size: Array, attrs: ArrayAttributes) -> TensorArray:
    if np.ndim(size):
        raise InvalidArgumentError(f"TensorArray size must be scalar, but had shape: {Shape(np.shape(size))}")
    if size < 0:
        raise InvalidArgumentError("Size should be >= 0.")
    options = attrs._asdict()
    name = options.pop("tensor_array_name") or ctx.name
    # A number, because one node makes an array in each iteration of an outer loop.
    array = TensorArray(f"{name}_{next(_unique)}", size=int(size), **options)
    return ctx.step.resources.get_or_create(_CONTAINER, array.name, TensorArray, lambda: array)


@kernel("TensorArray", shape="-> 2", arithmetic=False)
def tensor_array(ctx: KernelContext, size: Array, *, attrs: ArrayAttributes) -> Any:
    return _reference(_new_array(ctx, size, attrs), _CONTAINER)


@kernel("TensorArrayV2", shape="-> 2", arithmetic=False)
def tensor_array_v2(ctx: KernelContext, size: Array, *, attrs: ArrayAttributes) -> Result:
    return _string_handle(_new_array(ctx, size, attrs), _CONTAINER)


@kernel("TensorArrayV3", facts=("run_state", "stated_pair", "container"), arithmetic=False)
def tensor_array_v3(ctx: KernelContext, size: Array, *, attrs: ArrayAttributes) -> tuple[Result, Result]:
    """Return the handle and a first flow value, which orders the ops on the array."""
    return scalar_object(_new_array(ctx, size, attrs)), np.float32(0)


@shape("TensorArrayV3")
def tensor_array_v3_shape(
    size: TensorSpec, *, dtype: DType, element_shape: Shape, identical_element_shapes: bool
) -> tuple[Any, Any]:
    # A partial shape without identical_element_shapes lets elements differ, so nothing is known of all of them.
    declared = element_shape if identical_element_shapes or element_shape.is_known else UNKNOWN
    return TensorSpec(dtypes.resource, SCALAR, handle=(TensorSpec(dtype, declared),)), SCALAR


def _gradient_array(ctx: KernelContext, handle: Array, source: str, prepended: tuple[int, ...] = ()) -> TensorArray:
    array = _behind(ctx, handle, TensorArray)
    # TensorFlow refuses an array of gradients here, and so has no second derivatives through arrays.
    array.require_open()
    # Named by `source`, the sweep that asks: gradients of two calls of tf.gradients must not be summed in one array.
    name = f"{array.name}@{source}"
    return ctx.step.resources.get_or_create(_GRADS_CONTAINER, name, TensorArray, lambda: array.gradient(name, prepended))


@kernel("TensorArrayGrad", shape="-> 2", facts=("backward",), arithmetic=False)
def tensor_array_grad(ctx: KernelContext, handle: Array, flow_in: Array, *, source: str) -> Any:
    """Return the array of gradients of `source` for an array, created at the first call."""
    return _reference(_gradient_array(ctx, handle, source), _GRADS_CONTAINER)


@kernel("TensorArrayGradV2", shape="-> 2", facts=("backward",), arithmetic=False)
def tensor_array_grad_v2(ctx: KernelContext, handle: Array, flow_in: Array, *, source: str) -> Result:
    return _string_handle(_gradient_array(ctx, handle, source), _GRADS_CONTAINER)


@kernel("TensorArrayGradV3", facts=("run_state", "stated_pair", "backward"), arithmetic=False)
def tensor_array_grad_v3(ctx: KernelContext, handle: Array, flow_in: Array, *, source: str) -> tuple[Result, Result]:
    return scalar_object(_gradient_array(ctx, handle, source)), flow_in


@shape("TensorArrayGradV3")
def tensor_array_grad_v3_shape(handle: TensorSpec, flow_in: TensorSpec) -> tuple[TensorSpec, Shape]:
    return TensorSpec(dtypes.resource, SCALAR, handle=handle.handle), SCALAR


@kernel("TensorArrayGradWithShape", shape="-> (), ()", arithmetic=False)
def tensor_array_grad_with_shape(
    ctx: KernelContext, handle: Array, flow_in: Array, shape_to_prepend: Array, *, source: str
) -> tuple[Result, Result]:
    dims = ints(shape_to_prepend, "shape_to_prepend")
    if min(dims, default=0) < 0:
        raise InvalidArgumentError(f"shape_to_prepend must not be negative: {list(dims)}")
    return scalar_object(_gradient_array(ctx, handle, source, dims)), flow_in


def _index(index: Array) -> int:
    if np.ndim(index):
        raise InvalidArgumentError(f"TensorArray index must be scalar, but had shape: {Shape(np.shape(index))}")
    return int(index)


def _require_dtype(array: TensorArray, dtype: DType, what: str) -> None:
    if array.dtype is not dtype:
        raise InvalidArgumentError(f"TensorArray dtype is {array.dtype} but Op {what} dtype {dtype}.")


@kernel(*_versions("TensorArrayWrite"), shape="-> ()", flops=zero_cost, facts=("side_effect", "on_run_state"))
def tensor_array_write(
    ctx: KernelContext, handle: Array | Variable, index: Array, value: Array, flow_in: Array, *, T: DType
) -> Array:
    """Write an element and return the flow."""
    array = _behind(ctx, handle, TensorArray)
    _require_dtype(array, T, "is trying to write")
    array.write(_index(index), value)
    return flow_in


# Gradients: each forward write becomes a backward read of an array of gradients beside the array.
# As in TensorFlow, the gradients of all three versions are made of the ops of the third.
def _gradient_handle(g: GradientBuilder, handle: Output, flow: Output, source: str) -> tuple[Output, Output]:
    """Return the handle of the array of gradients, and a flow that waits for its creation."""
    grad_handle, _ = g.TensorArrayGradV3(handle, flow, source=source)
    # The array of gradients takes the size of the array when it is made, and fixes it.
    with g.control_dependencies([grad_handle]):
        return grad_handle, g.Identity(flow)


@gradient(*_versions("TensorArrayWrite"))
def tensor_array_write_gradient(g: GradientBuilder, node: Node, flow: Output) -> Gradients:
    handle, index, value, _ = node.inputs
    handle, _ = _gradient_handle(g, handle, flow, g.sweep)
    return [None, None, g.TensorArrayReadV3(handle, index, flow, dtype=value.base_dtype), flow]


@kernel(*_versions("TensorArrayRead"), flops=zero_cost, facts=("on_run_state",))
def tensor_array_read(ctx: KernelContext, handle: Array | Variable, index: Array, flow_in: Array, *, dtype: DType) -> Array:
    array = _behind(ctx, handle, TensorArray)
    _require_dtype(array, dtype, "requested")
    return array.read(_index(index))


@shape(*_versions("TensorArrayRead"))
def tensor_array_read_shape(handle: TensorSpec, index: TensorSpec, flow_in: TensorSpec) -> Shape:
    return handle.handle[0].shape if handle.handle else UNKNOWN


@gradient(*_versions("TensorArrayRead"))
def tensor_array_read_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    handle, index, flow = node.inputs
    handle, flow = _gradient_handle(g, handle, flow, g.sweep)
    return [None, None, g.TensorArrayWriteV3(handle, index, grad, flow)]


@kernel(*_versions("TensorArrayGather"), flops=zero_cost, facts=("on_run_state",))
def tensor_array_gather(
    ctx: KernelContext, handle: Array | Variable, indices: Array, flow_in: Array, *, dtype: DType, element_shape: Shape
) -> Array:
    """The elements at `indices`, stacked."""
    if np.ndim(indices) != 1:
        raise InvalidArgumentError(f"Expected indices to be a vector, but received shape: {Shape(np.shape(indices))}")
    array = _behind(ctx, handle, TensorArray)
    _require_dtype(array, dtype, "requested")
    return array.gather(indices.tolist(), element_shape)


@shape(*_versions("TensorArrayGather"))
def tensor_array_gather_shape(handle: TensorSpec, indices: TensorSpec, flow_in: TensorSpec, *, element_shape: Shape) -> Shape:
    if handle.handle:
        element_shape = merge_shapes(element_shape, handle.handle[0].shape)
    if element_shape.dims is None:
        return UNKNOWN
    count = indices.shape[0] if indices.rank == 1 else None
    return Shape((count,)) + element_shape


@gradient(*_versions("TensorArrayGather"))
def tensor_array_gather_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    handle, indices, flow = node.inputs
    handle, flow = _gradient_handle(g, handle, flow, g.sweep)
    # Writes to an array of gradients add up, so an element that was gathered twice gets the sum.
    return [None, None, g.TensorArrayScatterV3(handle, indices, grad, flow)]


@kernel("TensorArrayPack", shape="-> _ {element_shape}...", gradient=WITHOUT_GRADIENT, flops=zero_cost)
def tensor_array_pack(ctx: KernelContext, handle: Any, flow_in: Array, *, dtype: DType, element_shape: Shape) -> Result:
    """All elements, stacked."""
    array = _behind(ctx, handle, TensorArray)
    _require_dtype(array, dtype, "requested")
    return array.gather(range(array.packed_size), element_shape)


@kernel(*_versions("TensorArrayConcat"), flops=zero_cost, facts=("on_run_state",))
def tensor_array_concat(
    ctx: KernelContext, handle: Array | Variable, flow_in: Array, *, dtype: DType, element_shape_except0: Shape
) -> tuple[Array, ...]:
    """Concatenate all elements; return their lengths too."""
    array = _behind(ctx, handle, TensorArray)
    _require_dtype(array, dtype, "requested")
    return array.concat(element_shape_except0)


@shape(*_versions("TensorArrayConcat"))
def tensor_array_concat_shape(handle: Any, flow_in: Any, *, element_shape_except0: Any) -> tuple[Shape, Shape]:
    if handle.handle and handle.handle[0].shape.dims:
        element_shape_except0 = merge_shapes(element_shape_except0, Shape(handle.handle[0].shape.dims[1:]))
    declared = UNKNOWN if element_shape_except0.dims is None else Shape((None,)) + element_shape_except0
    return declared, Shape((None,))


@gradient(*_versions("TensorArrayConcat"))
def tensor_array_concat_gradient(g: GradientBuilder, node: Node, grad: Output, grad_lengths: Output) -> Gradients:
    handle, flow = node.inputs
    handle, flow = _gradient_handle(g, handle, flow, g.sweep)
    return [None, g.TensorArraySplitV3(handle, grad, node.output(1), flow)]


@kernel(*_versions("TensorArrayScatter"), shape="-> ()", flops=zero_cost, facts=("side_effect", "on_run_state"))
def tensor_array_scatter(
    ctx: KernelContext, handle: Array | Variable, indices: Array, value: Array, flow_in: Array, *, T: DType
) -> Array:
    """Write each row of `value` at its index and return the flow."""
    if np.ndim(indices) != 1:
        raise InvalidArgumentError(f"Expected indices to be a vector, but received shape: {Shape(np.shape(indices))}")
    _require_rows(value)
    if len(indices) != len(value):
        raise InvalidArgumentError(f"Expected len(indices) == values.shape[0], but saw: {len(indices)} vs. {len(value)}")
    array = _behind(ctx, handle, TensorArray)
    _require_dtype(array, T, "is trying to write")
    highest = max(indices.tolist(), default=-1)
    # Before the first row is written: the op is refused as a whole.
    if not array.dynamic_size and highest >= len(array):
        raise InvalidArgumentError(f"Max scatter index must be < array size ({highest} vs. {len(array)})")
    array.write_rows(indices.tolist(), value)
    array.mark_size(len(array))
    return flow_in


def _require_rows(value: Array) -> None:
    if not np.ndim(value):
        raise InvalidArgumentError("Input value for unpack must be at least a vector but received shape: ()")


@gradient(*_versions("TensorArrayScatter"))
def tensor_array_scatter_gradient(g: GradientBuilder, node: Node, flow: Output) -> Gradients:
    handle, indices, value, _ = node.inputs
    handle, _ = _gradient_handle(g, handle, flow, g.sweep)
    return [None, None, g.TensorArrayGatherV3(handle, indices, flow, dtype=value.base_dtype, element_shape=UNKNOWN), flow]


@kernel("TensorArrayUnpack", shape="-> ()", gradient=WITHOUT_GRADIENT, flops=zero_cost)
def tensor_array_unpack(ctx: KernelContext, handle: Any, value: Array, flow_in: Array, *, T: DType) -> Result:
    """Write each row of `value` at its place and return the flow."""
    _require_rows(value)
    array = _behind(ctx, handle, TensorArray)
    _require_dtype(array, T, "is trying to write")
    size = max(len(array), len(value)) if array.dynamic_size else len(array)
    if len(value) != size:
        raise InvalidArgumentError(f"Input value must have first dimension equal to the array size ({len(value)} vs. {size})")
    array.write_rows(range(len(value)), value)
    array.mark_size(size)
    return flow_in


@kernel(*_versions("TensorArraySplit"), shape="-> ()", flops=zero_cost, facts=("side_effect", "on_run_state"))
def tensor_array_split(
    ctx: KernelContext, handle: Array | Variable, value: Array, lengths: Array, flow_in: Array, *, T: DType
) -> Array:
    """Split `value` into pieces of `lengths` rows, write each at its place, and return the flow."""
    if np.ndim(lengths) != 1:
        raise InvalidArgumentError(f"Expected lengths to be a vector, received shape: {Shape(np.shape(lengths))}")
    if not np.ndim(value):
        raise InvalidArgumentError("Expected value to be at least a vector, but received shape: ()")
    if np.any(lengths < 0) or lengths.sum() != len(value):
        raise InvalidArgumentError(
            "Expected sum of lengths to be equal to values.shape[0], "
            f"but sum of lengths is {lengths.sum()} and value's shape is: {Shape(value.shape)}"
        )
    array = _behind(ctx, handle, TensorArray)
    _require_dtype(array, T, "is trying to write")
    if len(array) != len(lengths) and not (array.dynamic_size and len(lengths) > len(array)):
        raise InvalidArgumentError(
            f"TensorArray's size is not equal to the size of lengths ({len(array)} vs. {len(lengths)}), "
            "and the TensorArray is not marked as dynamically resizeable."
        )
    # np.split makes a part more than it has ends, and would make one of no lengths.
    array.write_pieces(np.split(value, np.cumsum(lengths)[:-1]) if len(lengths) else ())
    array.mark_size(len(lengths))
    return flow_in


@gradient(*_versions("TensorArraySplit"))
def tensor_array_split_gradient(g: GradientBuilder, node: Node, flow: Output) -> Gradients:
    handle, value, _, _ = node.inputs
    handle, _ = _gradient_handle(g, handle, flow, g.sweep)
    grad, _ = g.TensorArrayConcatV3(handle, flow, dtype=value.base_dtype, element_shape_except0=UNKNOWN)
    return [None, grad, None, flow]


@kernel(*_versions("TensorArraySize"), shape="-> ()", facts=("on_run_state",), arithmetic=False)
def tensor_array_size(ctx: KernelContext, handle: Array | Variable, flow_in: Array) -> Result:
    return np.int32(len(_behind(ctx, handle, TensorArray)))


@kernel(*_versions("TensorArrayClose"), facts=("side_effect", "on_run_state"), arithmetic=False)
def tensor_array_close(ctx: KernelContext, handle: Array | Variable) -> None:
    _behind(ctx, handle, TensorArray).close()


facts("container_read", of=[f"TensorArray{kind}V3" for kind in ("Grad", "Read", "Gather", "Concat", "Size", "Close")])


@onnx("TensorArrayV3")
def _array_onnx(g: Any, size: Any, *, dtype: DType, dynamic_size: bool, outputs: list[TensorSpec]) -> Any:
    shape = outputs[0].handle[0].shape if outputs[0].handle else UNKNOWN
    return lists.ArrayHandle(dtype, shape, dynamic_size), lists.empty(g, size, dtype, shape)


onnx("TensorArrayWriteV3")(lists.array_written)
facts("of_lists", "array_write", of=("TensorArrayWriteV3",))
onnx("TensorArrayScatterV3")(lists.array_scattered)
facts("array_scatter", of=("TensorArrayScatterV3",))
onnx("TensorArrayReadV3")(lambda g, handle, index, flow: lists.item(g, flow, index))
onnx("TensorArrayGatherV3")(lambda g, handle, indices, flow: lists.taken(g, flow, indices))
onnx("TensorArraySplitV3")(lambda g, handle, value, lengths, flow: lists.split(g, value, lengths))
onnx("TensorArrayConcatV3")(lambda g, handle, flow: lists.joined(g, flow))
onnx("TensorArraySizeV3")(lambda g, handle, flow: lists.length(g, flow))
# The elements in ONNX are a tensor that flows from op to op, so there is nothing to close.
onnx("TensorArrayCloseV3")(lambda g, handle: ())


# In array programs a handle is the array itself; the methods are in engines/xla/list_programs.


@lower("TensorArrayV3", static=(0,), always=True)
def _made_lowering(
    xla: Any, size: Array, *, dtype: DType, element_shape: Shape, dynamic_size: bool, clear_after_read: bool,
    identical_element_shapes: bool,
) -> tuple[Any, Any]:  # fmt: skip
    # XLA's arrays have a fixed size.
    if dynamic_size:
        raise UnimplementedError("it grows as it is written")
    shape = element_shape.known() if element_shape.is_known else None
    return xla.new_array(dtype.numpy, int(size), shape, clear_after_read, identical_element_shapes), np.float32(0)


def _changed(method: str, xla: Any, handle: Any, *values: Any) -> Any:
    """Change the elements, and return the flow, which comes last."""
    getattr(handle, method)(xla, *values[:-1])
    return values[-1]


for _method, _static in (("write", ()), ("scatter", ()), ("split", (2,))):
    lower(f"TensorArray{_method.title()}V3", static=_static, always=True)(functools.partial(_changed, _method))
lower("TensorArrayGradV3", always=True)(lambda xla, handle, flow, *, source: (xla.gradient_array(handle, source), flow))
lower("TensorArrayReadV3", always=True)(lambda xla, handle, index, flow, *, dtype: handle.read(xla, index, dtype.numpy))
lower("TensorArrayGatherV3", always=True)(lambda xla, handle, places, flow, *, dtype: handle.gather(xla, places, dtype.numpy))
lower("TensorArrayConcatV3", always=True)(lambda xla, handle, flow, *, dtype: handle.joined(xla, dtype.numpy))
lower("TensorArraySizeV3", always=True)(lambda xla, handle, flow: np.int32(handle.size))
lower("TensorArrayCloseV3", always=True)(lambda xla, handle: handle.close())


_STACKS = "_stacks"


class Stack(RunState):
    """A stack of tensors of a common dtype. A `max_size` below zero means no limit."""

    def __init__(self, name: str, dtype: DType, max_size: int) -> None:
        self.name = name
        self.dtype = dtype
        self.max_size = max_size
        self.is_closed = False
        self.elements: list[Array] = []

    def copied(self, name: str) -> Stack:
        result = copy.copy(self)
        result.name = name
        result.elements = list(self.elements)
        return result

    def push(self, value: Array) -> None:
        # Asked before the call, as V1 loops push and pop in each iteration and hardly ever find a closed stack.
        if self.is_closed:
            self._require_open()
        if not is_of(value, self.dtype):
            raise InvalidArgumentError(f"Must have type {self.dtype} but got {value.dtype}")
        if 0 <= self.max_size <= len(self.elements):
            raise InvalidArgumentError(f"Stack[{self.name}] overflowed its max_size ({self.max_size})")
        self.elements.append(value)

    def pop(self, dtype: DType) -> Array:
        if self.is_closed:
            self._require_open()
        if dtype is not self.dtype:
            raise InvalidArgumentError(f"Stack[{self.name}] holds {self.dtype}, not {dtype}")
        if not self.elements:
            raise InvalidArgumentError(f"Stack[{self.name}] is empty when calling Pop().")
        return self.elements.pop()

    def close(self) -> None:
        self.elements.clear()
        self.is_closed = True

    def _require_open(self) -> None:
        if self.is_closed:
            raise InvalidArgumentError(f"Stack[{self.name}] has already been closed.")


def _new_stack(ctx: KernelContext, elem_type: DType, stack_name: str, max_size: int) -> Stack:
    # A number, because one node makes a stack in each iteration of an outer loop.
    name = f"{stack_name or ctx.name}_{next(_unique)}"
    return ctx.step.resources.get_or_create(_STACKS, name, Stack, lambda: Stack(name, elem_type, max_size))


@kernel("Stack", shape="-> 2", facts=("container",), arithmetic=False)
def stack(ctx: KernelContext, *, elem_type: DType, stack_name: str) -> Any:
    """A reference to the stack's container and name."""
    return _reference(_new_stack(ctx, elem_type, stack_name, -1), _STACKS)


@kernel("StackV2", shape="-> ()", facts=("container", "run_state", "stated_pair"), arithmetic=False)
def stack_v2(ctx: KernelContext, max_size: Array, *, elem_type: DType, stack_name: str) -> Result:
    if np.ndim(max_size):
        raise InvalidArgumentError(f"Stack size must be a scalar, but had shape: {Shape(np.shape(max_size))}")
    return scalar_object(_new_stack(ctx, elem_type, stack_name, int(max_size)))


@kernel("StackPush", shape="*, ... -> ...", facts=("stack_push",), arithmetic=False)
def stack_push(ctx: KernelContext, handle: Any, elem: Array) -> Result:
    """The element itself, now on top of the stack."""
    _behind(ctx, handle, Stack).push(elem)
    return elem


@kernel("StackPushV2", shape="*, ... -> ...", facts=("stack_push", "unshared", "on_run_state"), arithmetic=False)
def stack_push_v2(handle: Array, elem: Array) -> Result:
    """The element itself, now on top of the stack."""
    _from_handle(handle).push(elem)
    return elem


@kernel("StackPop", facts=("container_read", "stack_pop"), arithmetic=False)
def stack_pop(ctx: KernelContext, handle: Any, *, elem_type: DType) -> Result:
    return _behind(ctx, handle, Stack).pop(elem_type)


@kernel("StackPopV2", facts=("container_read", "stack_pop", "unshared", "on_run_state"), arithmetic=False)
def stack_pop_v2(handle: Array, *, elem_type: DType) -> Result:
    return _from_handle(handle).pop(elem_type)


@shape("StackPop", "StackPopV2")
def stack_pop_shape(handle: TensorSpec) -> Shape | TensorSpec:
    """Return the spec of the pushed values; unknown before a push."""
    # Inference puts the spec of the pushed values into the handle: the op itself knows only the dtype.
    return handle.handle[0] if handle.handle else UNKNOWN


facts("inexpensive", "asynchronous", of=("StackPush", "StackPushV2", "StackPop", "StackPopV2"))


@kernel("StackClose", facts=("inexpensive", "container_read"), arithmetic=False)
def stack_close(ctx: KernelContext, handle: Any) -> None:
    _behind(ctx, handle, Stack).close()


@kernel("StackCloseV2", facts=("inexpensive", "container_read", "unshared", "on_run_state"), arithmetic=False)
def stack_close_v2(handle: Array) -> None:
    _from_handle(handle).close()


def _from_handle(handle: Array) -> Stack:
    content = handle.item() if handle.size == 1 else None
    if not isinstance(content, Stack):
        raise InvalidArgumentError(f"the handle leads to a {type(content).__name__}, not to a stack")
    return content


# XLA's arrays have a fixed size, so a stack becomes an array of `max_size` elements, which the program must know.
lower("StackV2", static=(0,), always=True)(lambda xla, max_size, *, elem_type: xla.new_stack(elem_type.numpy, int(max_size)))
lower("StackPushV2", always=True, sites=True)(lambda xla, stack, elem, *, site="": stack.push(xla, elem, site))
lower("StackPopV2", always=True)(lambda xla, stack, *, elem_type: stack.pop(xla, elem_type.numpy))
lower("StackCloseV2", always=True)(lambda xla, stack: stack.close())
