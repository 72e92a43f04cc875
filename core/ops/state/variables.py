"""Variables: V1 references and resource handles, counters, temporary variables and tensors kept by the session.

A reference and a resource handle both lead to a `resources.Variable`. References live under (container, name), resource
variables under the same keys with `_RESOURCE` before the container, so that the two may share a name, as in TensorFlow.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from ...building.gradbuilder import GradientBuilder, Gradients
from ...graph.graph import Node, Output
from ...inference.profiler_formulas import of_input
from ...registry.registry import (
    WITHOUT_GRADIENT,
    facts,
    flops,
    gradient,
    kernel,
    lower,
    not_differentiable,
    profiled,
    shape,
    shaped,
    zero_cost,
)
from ...runtime.state.edge_values import is_of, scalar_object
from ...runtime.state.kernel_context import KernelContext
from ...runtime.state.resources import ANONYMOUS_NAME, Variable, no_value_hint
from ...runtime.state.tensor_arrays import zeros
from ...support.errors import AlreadyExistsError, FailedPreconditionError, InvalidArgumentError, NotFoundError, OutOfRangeError
from ...types.arrays import Array, Result
from ...types.dtypes import DType, resource
from ...types.shapes import SCALAR, UNKNOWN, Shape, TensorSpec, merge_shapes
from ..shared.decompositions import by_ops
from ..shared.elementwise_tables import counted
from ..shared.resource_access import resource_variable, same_shape, variable_behind
from ..shared.shape_arguments import shape_value

_STEP_CONTAINER: Final = "temporary variables"

_RESOURCE: Final = "resource:"


@kernel("VariableV2", "Variable", shape="-> {shape}...", facts=("variable", "owns_state"), arithmetic=False)
def variable(ctx: KernelContext, *, dtype: DType, shape: Shape, container: str, shared_name: str) -> Any:
    """Return the reference of the variable of that container and name; an empty variable needs no initializer."""
    target = ctx.state(lambda: _ref_variable(ctx, dtype, shape, container, shared_name or ctx.name))
    if target.dtype is not dtype:
        raise InvalidArgumentError(f"variable '{target.name}' is {target.dtype}, not {dtype}")
    return target


def _ref_variable(ctx: KernelContext, dtype: DType, shape: Shape, container: str, name: str) -> Variable:
    if shape.dims is not None and not shape.is_known:
        raise InvalidArgumentError(f"the shape {shape} of a variable must be fully known")
    return ctx.resources.get_or_create(container, name, Variable, lambda: _new_variable(name, dtype, shape))


def _new_variable(name: str, dtype: DType, shape: Shape) -> Variable:
    created = Variable(name, dtype, shape if shape.is_known else SCALAR)
    if shape.is_known and shape.num_elements == 0:
        created.assign(np.zeros(shape.known(), dtype.numpy))
    return created


@kernel("TemporaryVariable", shape="-> {shape}...", facts=("side_effect", "owns_state"), arithmetic=False)
def temporary_variable(ctx: KernelContext, *, shape: Shape, dtype: DType, var_name: str) -> Any:
    """Return the reference of a variable that lives until destroyed or until the step ends; its first value is zeros."""
    name = var_name or ctx.name
    created = Variable(name, dtype, shape)
    # TensorFlow leaves the memory as it finds it; zeros make runs repeatable.
    created.assign(zeros(shape.known(), dtype))
    # Another node of the run has the name.
    if ctx.step.resources.get_or_create(_STEP_CONTAINER, name, Variable, lambda: created) is not created:
        raise AlreadyExistsError(f"temporary variable '{name}' exists")
    return created


@kernel("Assign", facts=("side_effect", "assignment"), arithmetic=False)
def assign(ref: Any, value: Array, *, validate_shape: bool) -> Any:
    """The reference, holding `value` now."""
    if validate_shape and value.shape != _current_shape(ref):
        raise InvalidArgumentError(
            f"Assign requires shapes of both tensors to match: variable '{ref.name}' has {Shape(_current_shape(ref))}, "
            f"the value {Shape(value.shape)}"
        )
    ref.assign(value)
    return ref


def _current_shape(variable: Variable) -> tuple[int, ...]:
    return variable.shape.known() if variable.value_shape is None else variable.value_shape


@shape("Assign")
def assign_shape(ref: TensorSpec, value: TensorSpec, *, validate_shape: bool) -> Shape:
    return merge_shapes(ref.shape, value.shape) if validate_shape else value.shape


def _register_increment(op: str, resource_op: str, ufunc: np.ufunc, doc: str) -> None:
    """Register the kernels that add to, or subtract from, a variable of either kind."""

    def change(variable: Variable, value: Array, op: str) -> None:
        same_shape(variable, value, op)
        # After the checks: `writable` may copy the value, for nothing if the addition is refused.
        memory = variable.writable()
        ufunc(memory, value, out=memory)

    def assign(ref: Any, value: Array) -> Any:
        change(ref, value, op)
        return ref

    def assign_variable(resource: Array, value: Array) -> None:
        change(resource_variable(resource), value, resource_op)

    assign.__doc__, assign_variable.__doc__ = f"{doc} the variable and return the reference.", f"{doc} the variable."
    kernel(op)(assign)
    kernel(resource_op)(assign_variable)


_register_increment("AssignAdd", "AssignAddVariableOp", np.add, "Add `value` to")
_register_increment("AssignSub", "AssignSubVariableOp", np.subtract, "Subtract `value` from")


shaped("..., ... -> ...", "AssignAdd", "AssignSub")
profiled(of_input(1), "AssignAdd", "AssignSub")


@kernel("AssignVariableOp", facts=("side_effect", "assignment"), arithmetic=False)
def assign_variable_op(resource: Array, value: Array, *, dtype: DType, validate_shape: bool) -> None:
    """Put `value` into the variable."""
    target = variable_behind(resource)
    if not target.is_initialized:
        # In TensorFlow the first assignment makes the variable, of its own dtype.
        target.dtype = dtype
    elif target.dtype is not dtype:
        raise InvalidArgumentError(
            f"Trying to assign variable with wrong dtype: '{target.name}' is {target.dtype}, not {dtype}"
        )
    elif validate_shape and target.value_shape != value.shape:
        raise InvalidArgumentError(
            f"Trying to assign to variable with tensor with wrong shape: '{target.name}' has {Shape(target.value_shape)}, "
            f"the value {Shape(value.shape)}"
        )
    target.assign(value)


@shape("AssignVariableOp", "AssignAddVariableOp", "AssignSubVariableOp")
def assign_variable_op_shape(resource: TensorSpec, value: TensorSpec, *, dtype: DType) -> list[Any]:
    merge_shapes(_content_shape(resource, dtype), value.shape)
    return []


flops("AssignAdd", "AssignSub", "AssignAddVariableOp", "AssignSubVariableOp")(counted(1, 1, "An addition for each element."))


not_differentiable("AssignAdd", "AssignSub", "AssignAddVariableOp", "AssignSubVariableOp")
facts("side_effect", "increment", of=("AssignAdd", "AssignSub", "AssignAddVariableOp", "AssignSubVariableOp"))


@kernel("IsVariableInitialized", shape="-> ()", facts=("snapshot", "initialization_test", "metadata"), arithmetic=False)
def is_variable_initialized(ref: Any) -> Result:
    return np.bool_(ref.is_initialized)


@kernel("VarIsInitializedOp", shape="-> ()", facts=("snapshot", "initialization_test", "metadata"), arithmetic=False)
def var_is_initialized_op(resource: Array) -> Result:
    return np.bool_(variable_behind(resource).is_initialized)


@kernel("CountUpTo", shape="-> ()", facts=("side_effect",), arithmetic=False)
def count_up_to(ref: Any, *, limit: int) -> Result:
    """The count so far; OutOfRangeError from `limit` on."""
    if np.ndim(ref.read()):
        raise InvalidArgumentError(f"CountUpTo needs a scalar variable, '{ref.name}' has {Shape(ref.read().shape)}")
    return _count(ref, limit)


def _count(variable: Variable, limit: int) -> Any:
    count = variable.read()
    if count >= limit:
        raise OutOfRangeError(f"Reached limit of {limit}")
    # Not in place: a run may still hold the count that is returned.
    variable.assign(count + count.dtype.type(1))
    return count


@kernel("ResourceCountUpTo", shape="-> ()", facts=("side_effect",), arithmetic=False)
def resource_count_up_to(resource: Array, *, limit: int, T: DType) -> Result:
    """The count so far; OutOfRangeError from `limit` on."""
    counter = resource_variable(resource)
    if np.ndim(counter.read()):
        raise InvalidArgumentError(f"ResourceCountUpTo needs a scalar variable, '{counter.name}' is none")
    if counter.dtype is not T:
        raise InvalidArgumentError(f"variable '{counter.name}' is {counter.dtype}, not {T}")
    return _count(counter, limit)


@kernel("DestroyTemporaryVariable", shape="... -> ...", gradient=WITHOUT_GRADIENT, flops=zero_cost, facts=("side_effect",))
def destroy_temporary_variable(ctx: KernelContext, ref: Any, *, var_name: str) -> Result:
    """Destroy a temporary variable and return its last value."""
    # The name goes and the reference stays: its value is the op's result.
    ctx.step.resources.remove(_STEP_CONTAINER, var_name)
    return ref.read()


@kernel(
    "RefIdentity",
    shape="... -> ...",
    gradient=by_ops("dy"),
    flops=zero_cost,
    facts=("forwarding", "transparent", "inexpensive"),
)
def ref_identity(input: Any) -> Any:
    return input


@kernel("VarHandleOp", gradient=WITHOUT_GRADIENT, flops=zero_cost, facts=("variable", "owns_state"))
def var_handle_op(ctx: KernelContext, *, dtype: DType, shape: Shape, container: str, shared_name: str) -> Result:
    """Return the handle of the resource variable of that container and name; an anonymous variable is new in every run."""
    if shared_name == ANONYMOUS_NAME:
        # Kept by the handle alone: without a name no other node could ask for it.
        return scalar_object(Variable(ctx.name, dtype, shape))
    return ctx.state(lambda: _handle(ctx, dtype, shape, container, shared_name))


def _handle(ctx: KernelContext, dtype: DType, shape: Shape, container: str, name: str) -> Array:
    key = _RESOURCE + container
    return scalar_object(ctx.resources.get_or_create(key, name, Variable, lambda: Variable(name, dtype, shape)))


@shape("VarHandleOp")
def var_handle_op_shape(*, dtype: DType, shape: Shape) -> TensorSpec:
    return _handle_spec(dtype, shape)


def _handle_spec(dtype: DType, shape: Shape) -> TensorSpec:
    return TensorSpec(resource, SCALAR, handle=(TensorSpec(dtype, shape),))


@kernel("_VarHandlesOp", gradient=WITHOUT_GRADIENT, flops=zero_cost)
def var_handles_op(
    ctx: KernelContext, *, dtypes: list[DType], shapes: list[Shape], containers: list[str], shared_names: list[str]
) -> Sequence[Result]:
    """The handles of several resource variables."""
    return ctx.state(lambda: [_handle(ctx, *item) for item in zip(dtypes, shapes, containers, shared_names)])


@shape("_VarHandlesOp")
def var_handles_op_shape(*, dtypes: list[DType], shapes: list[Shape]) -> list[TensorSpec]:
    return [_handle_spec(dtype, shape) for dtype, shape in zip(dtypes, shapes)]


@kernel("ReadVariableOp", gradient=by_ops("dy"), flops=zero_cost, facts=("snapshot",))
def read_variable_op(resource: Array, *, dtype: DType) -> Result:
    """Return the variable's current value."""
    target = variable_behind(resource)
    if not target.is_initialized:
        raise FailedPreconditionError(
            f"Could not find variable {target.name}: it is uninitialized or was destroyed",
            hint=no_value_hint(target.name),
        )
    if target.dtype is not dtype:
        raise InvalidArgumentError(f"Trying to read variable with wrong dtype: '{target.name}' is {target.dtype}, not {dtype}")
    return target.read()


@shape("ReadVariableOp")
def read_variable_op_shape(resource: TensorSpec, *, dtype: DType) -> Shape:
    return _content_shape(resource, dtype)


def _content_shape(resource: TensorSpec, dtype: Any = None) -> Shape:
    """Return the static shape of the variable behind a handle."""
    if not resource.handle:
        return UNKNOWN
    content = resource.handle[0]
    if dtype is not None and content.dtype is not dtype:
        raise InvalidArgumentError(f"the variable is {content.dtype}, not {dtype}")
    return content.shape


@kernel("_ReadVariablesOp", flops=zero_cost, facts=("snapshot", "inexpensive"))
def read_variables_op(resources: list[Array], *, dtypes: list[DType]) -> Sequence[Result]:
    """The values of several variables."""
    # Before the first is read, so that a single error names all of them.
    missing = [target.name for target in map(variable_behind, resources) if not target.is_initialized]
    if missing:
        raise FailedPreconditionError(f"the following variables are uninitialized: {', '.join(missing)}")
    return [read_variable_op(r, dtype=dtype) for r, dtype in zip(resources, dtypes)]


@shape("_ReadVariablesOp")
def read_variables_op_shape(resources: list[TensorSpec], *, dtypes: list[DType]) -> list[Shape]:
    return [_content_shape(r, dtype) for r, dtype in zip(resources, dtypes)]


@gradient("_ReadVariablesOp")
def read_variables_op_gradient(g: GradientBuilder, node: Node, *grads: Output) -> Gradients:
    return list(grads)


@kernel("VariableShape", facts=("snapshot", "metadata"), arithmetic=False)
def variable_shape_op(input: Array, *, out_type: DType) -> Result:
    """Return the shape of the variable's value."""
    shape = resource_variable(input).value_shape
    assert shape is not None
    return shape_value(shape, out_type)


@shape("VariableShape")
def variable_shape_op_shape(input: TensorSpec, *, out_type: DType) -> TensorSpec | Shape:
    content = _content_shape(input)
    if content.dims is None:
        return Shape([None])
    return TensorSpec(out_type, Shape((len(content),)), shape_value(content, out_type))


@kernel("DestroyResourceOp", facts=("side_effect",), arithmetic=False)
def destroy_resource_op(ctx: KernelContext, resource: Array, *, ignore_lookup_error: bool) -> None:
    """Destroy a resource; NotFoundError if already gone, unless `ignore_lookup_error` is set."""
    target = resource.item() if resource.size == 1 else None
    if isinstance(target, Variable):
        existed = target.is_initialized
        # The object stays: other handles lead to it, and find it without a value.
        target.clear()
    else:
        keys = [key for key, held in ctx.resources.items() if held is target]
        # A resource may have several names, as an iterator has its string handle.
        existed = bool(keys)
        for key in keys:
            ctx.resources.remove(*key)
    if not existed and not ignore_lookup_error:
        raise NotFoundError("the resource to destroy does not exist")


@kernel("DisableCopyOnRead", arithmetic=False)
def disable_copy_on_read(resource: Array) -> None:
    """Nothing: reading never copies here."""
    resource_variable(resource)


# In an array program a variable is its value at that point, which is what reaches a reader.
lower("ReadVariableOp")(lambda xla, value: value)
lower("_ReadVariablesOp")(lambda xla, values: tuple(values))
lower("Assign", "AssignVariableOp", updates=1)(lambda xla, old, value: value)
lower("AssignAdd", "AssignAddVariableOp", updates=1)(lambda xla, old, value: old + value)
lower("AssignSub", "AssignSubVariableOp", updates=1)(lambda xla, old, value: old - value)


_SESSION_CONTAINER: Final = "session tensors"


@kernel("GetSessionHandle", shape="-> ()", facts=("side_effect",), arithmetic=False)
def get_session_handle(ctx: KernelContext, value: Array) -> Result:
    """Return a name under which the session keeps `value` between runs, for feeds of GetSessionTensor."""
    # TensorFlow's form of a handle, which programs take apart for the device.
    handle: Any = f"{ctx.name};{_next_number(ctx)};/job:localhost/replica:0/task:0/device:CPU:0".encode()
    ctx.resources.get_or_create(_SESSION_CONTAINER, handle, _SessionTensor, lambda: _SessionTensor(value))
    return scalar_object(handle)


class _SessionTensor:
    """A tensor that the session keeps between runs."""

    def __init__(self, value: Any) -> None:
        self.value = value


def _next_number(ctx: KernelContext) -> int:
    # The session counts, not the node: a handle of an earlier run must never name the tensor of a later one.
    counter = ctx.resources.get_or_create(_SESSION_CONTAINER, "counter", itertools.count, itertools.count)
    return next(counter)


@kernel("GetSessionHandleV2", shape="-> ()", facts=("side_effect",), arithmetic=False)
def get_session_handle_v2(ctx: KernelContext, value: Array) -> Result:
    """Return a resource whose name refers to `value` between runs."""
    session_tensor = _SessionTensor(value)
    handle: Any = f"{ctx.name};{_next_number(ctx)};".encode()
    return scalar_object(ctx.resources.get_or_create(_SESSION_CONTAINER, handle, _SessionTensor, lambda: session_tensor))


@kernel("GetSessionTensor", shape="-> *", arithmetic=False)
def get_session_tensor(ctx: KernelContext, handle: Array, *, dtype: DType) -> Result:
    """The tensor kept under a handle."""
    value = _session_tensor(ctx, handle).value
    if not is_of(value, dtype):
        raise InvalidArgumentError(f"the tensor kept under the handle is {value.dtype}, not {dtype}")
    return value


def _session_tensor(ctx: KernelContext, handle: Array) -> _SessionTensor:
    if handle.ndim:
        raise InvalidArgumentError(f"handle must be a scalar, not of shape {Shape(handle.shape)}")
    try:
        return ctx.resources.get(_SESSION_CONTAINER, handle.item(), _SessionTensor)
    except NotFoundError:
        raise InvalidArgumentError(f"the session keeps no tensor under the handle {handle.item()!r}") from None


@kernel("DeleteSessionTensor", facts=("side_effect",), arithmetic=False)
def delete_session_tensor(ctx: KernelContext, handle: Array) -> None:
    """Forget the tensor kept under a handle."""
    # For its error, which is TensorFlow's: removing alone would say that there is no such resource.
    _session_tensor(ctx, handle)
    ctx.resources.remove(_SESSION_CONTAINER, handle.item())
