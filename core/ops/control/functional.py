"""Ops that run functions of the graph's library: calls, If, Case, While, For, gradients of functions, mapped functions."""

from __future__ import annotations

import functools
from collections.abc import Callable, MutableMapping, Sequence
from typing import Any

import numpy as np

from ...building.gradbuilder import GradientBuilder
from ...datasets.dataset import row_of
from ...graph.graph import Function, Graph
from ...registry.registry import (
    WITHOUT_GRADIENT,
    facts,
    flops,
    handled_by_sweep,
    kernel,
    lower,
    shape,
    shaped,
    uncounted_call,
    without_gradient,
    zero_cost,
)
from ...runtime.state.edge_values import is_true
from ...runtime.state.kernel_context import Functions, KernelContext
from ...runtime.state.run_context import check_time
from ...runtime.state.tensor_arrays import zeros
from ...support.errors import FailedPreconditionError, InvalidArgumentError
from ...support.hints import Hint, feed
from ...types import dtypes
from ...types.arrays import Array, Result
from ...types.dtypes import DType
from ...types.shapes import UNKNOWN, Shape, TensorSpec
from ...types.tensors import FuncRef
from ..shared.argument_checks import require


def _checked(
    ctx: KernelContext, function: FuncRef, input_dtypes: list[DType], output_dtypes: list[DType] | None
) -> Callable[..., Any]:
    """Return the function as a callable; InvalidArgumentError if its dtypes differ from the node's.

    `output_dtypes` is None for a condition, which returns a single value of any dtype. Each function is checked once.
    """
    cache: dict[Any, Any] = ctx.state(dict)
    run = cache.get((ctx.session.functions, function, ctx.unused))
    if run is None:
        signature = ctx.session.functions.find(function).signature
        _require_dtypes(function.name, "takes", signature.input_dtypes(function.attrs), input_dtypes)
        returned = signature.output_dtypes(function.attrs)
        if output_dtypes is not None:
            _require_dtypes(function.name, "returns", returned, output_dtypes)
        elif len(returned) != 1:
            raise InvalidArgumentError(f"loop condition '{function.name}' returns {len(returned)} values, not one")
        # By the session's functions as well: a copy of the session for an engine runs the same node by other programs.
        run = cache[ctx.session.functions, function, ctx.unused] = ctx.function(function)
    return run


def _require_dtypes(function: str, verb: str, actual: list[DType], expected: list[DType]) -> None:
    if [t.base for t in actual] != [t.base for t in expected]:
        raise InvalidArgumentError(
            f"function '{function}' {verb} ({', '.join(map(str, actual))}), "
            f"which does not match ({', '.join(map(str, expected))})"
        )


def _repeated(condition: Callable[..., Any], run_body: Callable[..., Any], values: Sequence[Result]) -> Sequence[Result]:
    while is_true(condition(values)[0]):
        # A loop may go on for ever: here it meets the deadline of the run.
        check_time()
        values = run_body(values)
    return values


@kernel("PartitionedCall", "StatefulPartitionedCall", shape="-> * [Tout]")
def partitioned_call(
    ctx: KernelContext, args: list[Array], *, f: FuncRef, Tin: list[DType], Tout: list[DType]
) -> Sequence[Result]:
    """The results of the function on `args`."""
    return _checked(ctx, f, Tin, Tout)(args)


lower("PartitionedCall", "StatefulPartitionedCall", always=True)(lambda xla, args, *, f: tuple(xla.call(f, args)))


@kernel("RemoteCall", shape="-> * [Tout]")
def remote_call(
    ctx: KernelContext, target: Array, args: list[Array], *, f: FuncRef, Tin: list[DType], Tout: list[DType]
) -> Sequence[Result]:
    """The results of the function on `args`: every target is this process."""
    return _checked(ctx, f, Tin, Tout)(args)


# The gradient of a call is a call of the gradient of its function, which only the sweep can make.
handled_by_sweep("PartitionedCall", "StatefulPartitionedCall", "RemoteCall", calls=True)


@kernel("BatchFunction", shape="-> * [Tout]")
def batch_function(
    ctx: KernelContext, in_tensors: list[Array], captured_tensors: list[Array],
    *, f: FuncRef, Tin: list[DType], Tcaptured: list[DType], Tout: list[DType], max_batch_size: int,
    allowed_batch_sizes: list[int],
) -> Sequence[Result]:  # fmt: skip
    """Call the function on a batch, padded with its first row to an allowed size.

    A session has no other callers to wait for.
    """
    sizes = {len(value) if np.ndim(value) else -1 for value in in_tensors}
    if -1 in sizes:
        raise InvalidArgumentError("Batching input tensors must have at least one dimension")
    if len(sizes) > 1:
        raise InvalidArgumentError(f"Batching input tensors must have equal 0th-dimension size, they have {sorted(sizes)}")
    size = sizes.pop() if sizes else 0
    if size > max_batch_size:
        raise InvalidArgumentError(f"Task size {size} is larger than maximum input batch size {max_batch_size}")
    padded = min((allowed for allowed in allowed_batch_sizes if allowed >= size), default=size) if size else 0
    # Padded with the first row, as in TensorFlow: the function is sure to take it.
    rows = np.where(np.arange(padded) < size, np.arange(padded), 0)
    results = _checked(ctx, f, [*Tin, *Tcaptured], Tout)([*(value[rows] for value in in_tensors), *captured_tensors])
    if any(np.ndim(result) == 0 for result in results):
        raise FailedPreconditionError("Batched output tensor has 0 dimensions")
    return [result[:size] for result in results]


@kernel("If", "StatelessIf", "_If")
def if_(
    ctx: KernelContext,
    cond: Array,
    inputs: list[Array],
    *,
    Tin: list[DType],
    Tout: list[DType],
    then_branch: FuncRef,
    else_branch: FuncRef,
) -> Sequence[Result]:
    """Call `then_branch` where `cond` is true, else `else_branch`."""
    return _checked(ctx, then_branch if is_true(cond) else else_branch, Tin, Tout)(inputs)


shaped("-> * [Tout]", "_If")


@kernel("Case", "StatelessCase")
def case(
    ctx: KernelContext,
    branch_index: Array,
    inputs: list[Array],
    *,
    Tin: list[DType],
    Tout: list[DType],
    branches: list[FuncRef],
) -> Sequence[Result]:
    """Call the branch at `branch_index`, the last branch where the index is out of range."""
    if np.ndim(branch_index):
        raise InvalidArgumentError(f"branch_index must be scalar, but has shape {Shape(np.shape(branch_index))}")
    # As TensorFlow does, an index out of range takes the last branch instead of failing.
    index = int(branch_index) if 0 <= branch_index < len(branches) else -1
    return _checked(ctx, branches[index], Tin, Tout)(inputs)


@lower("If", "StatelessIf", always=True)
def lowered_if(xla: Any, cond: Any, inputs: list[Any], *, then_branch: FuncRef, else_branch: FuncRef) -> Any:
    return xla.choose(xla.is_true(cond), [else_branch, then_branch], inputs)


@lower("Case", "StatelessCase", always=True)
def lowered_case(xla: Any, branch_index: Any, inputs: list[Any], *, branches: list[FuncRef]) -> Any:
    last = len(branches) - 1
    is_there = (branch_index >= 0) & (branch_index <= last)
    return xla.choose(branch_index * is_there + last * ~is_there, branches, inputs)


@shape("If", "StatelessIf", "Case", "StatelessCase")
def conditional_shape(
    selector: TensorSpec, inputs: list[TensorSpec], *, Tout: list[DType], output_shapes: list[Shape]
) -> list[Shape]:
    return _declared(Tout, output_shapes)


def _declared(types: list[DType], output_shapes: list[Shape]) -> Any:
    # An empty list says nothing, as in graphs older than the attribute.
    return list(output_shapes) if len(output_shapes) == len(types) else [UNKNOWN] * len(types)


@kernel("While", "StatelessWhile", "_While")
def while_(ctx: KernelContext, values: list[Array], *, T: list[DType], cond: FuncRef, body: FuncRef) -> Sequence[Result]:
    """Replace `values` by the body's results while the condition holds; results without a reader may have any value."""
    cache: dict[Any, Any] = ctx.state(dict)
    loop = cache.get((ctx.session.functions, body, ctx.unused))
    if loop is None:
        plain = functools.partial(_repeated, _checked(ctx, cond, T, None), _checked(ctx, body, T, T))
        # Made once: the loop plans its functions at its first run.
        loop = cache[ctx.session.functions, body, ctx.unused] = ctx.loop(cond, body, plain)
    return loop(values)


@lower("While", "StatelessWhile", always=True)
def lowered_while(xla: Any, values: list[Any], *, cond: FuncRef, body: FuncRef) -> Any:
    return xla.repeat(cond, body, values)


@shape("While", "StatelessWhile")
def while_shape(inputs: list[TensorSpec], *, T: list[DType], output_shapes: list[Shape]) -> list[Shape]:
    return _declared(T, output_shapes)


shaped("-> * [T]", "_While")


without_gradient("BatchFunction", "_If", "_While", "For")

handled_by_sweep("If", "StatelessIf", "Case", "StatelessCase", "While", "StatelessWhile", calls=True)

flops("BatchFunction", "_If", "_While", "For")(uncounted_call)


@kernel("For", shape="-> * [T]")
def for_(
    ctx: KernelContext, start: Array, limit: Array, delta: Array, values: list[Array], *, T: list[DType], body: FuncRef
) -> Sequence[Result]:
    """`values`, replaced by the body's results for every i in range(start, limit, delta)."""
    for name, value in (("start", start), ("limit", limit), ("delta", delta)):
        if np.ndim(value):
            raise InvalidArgumentError(f"{name} must be a scalar, but has shape {Shape(np.shape(value))}")
    first, end, step = int(start), int(limit), int(delta)
    if not ((step > 0 and first <= end) or (step < 0 and first >= end) or (step == 0 and first == end)):
        raise InvalidArgumentError(f"Invalid start/limit/delta: {first} {end} {step}")
    run_body = _checked(ctx, body, [dtypes.int32, *T], T)
    # `range` refuses a step of 0, which For allows where nothing is to be done.
    for i in range(first, end, step) if step else ():
        check_time()
        values = run_body([np.int32(i), *values])
    return values


@kernel("SymbolicGradient", gradient=WITHOUT_GRADIENT, flops=uncounted_call)
def symbolic_gradient(ctx: KernelContext, inputs: list[Array], *, f: FuncRef, Tin: list[DType]) -> Sequence[Result]:
    """Return the gradients of a function's arguments, from the arguments and the gradients of its results."""
    functions = ctx.session.functions
    return functions.call_made(ctx.state(lambda: gradient_function(functions, f, Tin)), inputs)


def gradient_function(functions: Functions, f: FuncRef, dtypes_in: list[DType]) -> Function:
    """Return a function from arguments and gradients of results to gradients of arguments; a declared gradient is
    preferred.
    """
    function = functions.find(f)
    if function.gradient is not None:
        return functions.find(FuncRef(function.gradient, f.attrs))
    return differentiated(function, dtypes_in, functions.library)


def differentiated(function: Function, dtypes_in: list[DType], library: MutableMapping[str, Function]) -> Function:
    """Return a function with the body of `function` and its gradient nodes; their callees are added to the library."""
    # Imported here, as few graphs have the op.
    from ...gradients.backward import add_gradients
    from ...gradients.sweep import is_differentiable

    body: Graph = function.body.copy(library)
    builder = GradientBuilder(body)
    args = [body.node(arg.name) for arg in function.args]
    results = [body.node(value.node.name).output(value.index) for value in function.results]
    seeds = [
        builder.add("_Arg", (), {"T": dtype, "index": len(args) + i}, f"gradient_of_result_{i}")
        for i, dtype in enumerate(dtypes_in[len(args) :])
    ]
    if len(seeds) != len(results):
        raise InvalidArgumentError(f"function '{function.name}' has {len(results)} results, not {len(seeds)}")
    # The op passes a gradient for each result, also for integers, which have none.
    seeded = [(y, seed.output()) for y, seed in zip(results, seeds) if is_differentiable(y)]
    gradients = add_gradients(body, [y for y, _ in seeded], [arg.output() for arg in args], [seed for _, seed in seeded])
    grads = [builder.zeros_like(arg.output()) if grad is None else builder.densify(grad) for arg, grad in zip(args, gradients)]
    return Function(function.signature, body, [*args, *seeds], grads)


@shape("SymbolicGradient")
def symbolic_gradient_shape(inputs: list[TensorSpec], *, Tout: list[DType]) -> list[Shape]:
    """Return the shapes of the gradients: the shapes of the arguments, which are the first inputs."""
    require(len(inputs) >= len(Tout), f"it has {len(inputs)} inputs for {len(Tout)} gradients")
    return [spec.shape for spec in inputs[: len(Tout)]]


@kernel("MapDefun", gradient=WITHOUT_GRADIENT, flops=uncounted_call)
def map_defun(
    ctx: KernelContext,
    arguments: list[Array],
    captured_inputs: list[Array],
    *,
    f: FuncRef,
    Targuments: list[DType],
    Tcaptured: list[DType],
    output_types: list[DType],
    output_shapes: list[Shape],
) -> Sequence[Result]:
    """Call the function on every row of the arguments and stack the results."""
    if any(np.ndim(value) == 0 for value in arguments):
        raise InvalidArgumentError("All non-captured inputs must have rank of at least one")
    sizes = {len(value) for value in arguments}
    if len(sizes) > 1:
        raise InvalidArgumentError(f"All inputs must have the same dimension 0, they have {sorted(sizes)}")
    run = _checked(ctx, f, [*Targuments, *Tcaptured], output_types)
    count = len(arguments[0])
    rows = [run([*(row_of(value, i) for value in arguments), *captured_inputs]) for i in range(count)]
    # Without a row only the attribute tells the shapes.
    if not rows:
        rows = [[d if isinstance(d, int) else 0 for d in s.dims or ()] for s in output_shapes]
        return [zeros((0, *dims), dtype) for dims, dtype in zip(rows, output_types)]
    columns = list(zip(*rows))
    for column in columns:
        if len({np.shape(value) for value in column}) > 1:
            raise InvalidArgumentError(f"function '{f.name}' returns different shapes for different rows")
    return [np.stack(column) for column in columns]


@shape("MapDefun")
def map_defun_shape(
    arguments: list[TensorSpec], captured_inputs: list[TensorSpec], *, output_shapes: list[Shape]
) -> list[Shape]:
    rows = arguments[0].shape[0] if arguments[0].rank else None
    return [Shape((rows,)) + declared if declared.dims is not None else UNKNOWN for declared in output_shapes]


@kernel("FakeParam", shape="-> {shape}...", gradient=WITHOUT_GRADIENT, flops=zero_cost)
def fake_param(*, dtype: DType, shape: Shape) -> Result:
    """A value for an output that only the other branch of a conditional fills."""
    # The branch needs some value of the dtype; no node reads it, since only the other branch fills this output.
    return zeros(shape.known() if shape.is_known else (), dtype)


lower("FakeParam", always=True)(lambda xla, *, dtype: xla.unread(dtype.numpy))


@kernel("DeviceIndex", shape="-> ()", gradient=WITHOUT_GRADIENT, flops=zero_cost)
def device_index(*, device_names: list[str]) -> Result:
    """Return the index of CPU among the names; their number where CPU is missing."""
    return np.int32(device_names.index("CPU") if "CPU" in device_names else len(device_names))


@kernel("_ListToArray", gradient=WITHOUT_GRADIENT, flops=zero_cost)
def list_to_array(inputs: list[Array], *, Tin: list[DType], T: DType, N: int) -> Sequence[Result]:
    """The inputs themselves, under another signature."""
    return _regrouped(inputs, Tin, [T] * N)


@kernel("_ArrayToList", gradient=WITHOUT_GRADIENT, flops=zero_cost)
def array_to_list(inputs: list[Array], *, T: DType, N: int, out_types: list[DType]) -> Sequence[Result]:
    """The inputs themselves, under another signature."""
    return _regrouped(inputs, [T] * N, out_types)


def _regrouped(inputs: list[Array], actual: Sequence[DType], expected: Sequence[DType]) -> list[Array]:
    if list(actual) != list(expected):
        names = [", ".join(map(str, types)) for types in (actual, expected)]
        raise InvalidArgumentError(f"inputs of {names[0]} cannot be outputs of {names[1]}")
    return inputs


@shape("_ListToArray", "_ArrayToList")
def regrouped_shape(inputs: list[TensorSpec]) -> list[Shape]:
    return [spec.shape for spec in inputs]


@kernel("_Arg", "_DeviceArg", shape="-> *", gradient=WITHOUT_GRADIENT, flops=zero_cost)
def arg(ctx: KernelContext) -> Result:
    hint = Hint(feed({ctx.name: "VALUE"}), " gives it a value")
    raise InvalidArgumentError(f"argument '{ctx.name}' of a function has no value outside a call", hint=hint)


@kernel("_Retval", "_DeviceRetval", gradient=WITHOUT_GRADIENT, flops=zero_cost)
def retval(ctx: KernelContext, value: Array) -> None:
    raise InvalidArgumentError(f"result '{ctx.name}' of a function has no place outside a call")


facts("inexpensive", of=("_Arg", "_Retval"))
