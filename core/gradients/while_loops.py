"""The gradient of While: the forward loop counts and collects, a second loop goes back."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from ..building.builder import GraphBuilder
from ..building.gradbuilder import Gradient, GradientBuilder, Gradients, IndexedSlices
from ..control_flow.copies import source_of
from ..functions.call_kinds import Form
from ..graph.graph import Function, Graph, Node, Output
from ..support.errors import UnimplementedError
from ..types import dtypes
from ..types.dtypes import DType
from ..types.tensors import FuncRef
from .function_parts import (
    Differentiated,
    add_arg,
    add_function,
    copied_body,
    copy_nodes,
    dtype_of,
    find_function,
    forward_body,
    mapped,
    require_few,
)
from .function_sweep import differentiate, known_of
from .indexed_slices import gradient_dtype, zeros_for
from .sweep import Sweep


def while_gradient(backward: Sweep, node: Node, grads: Gradients) -> Gradients:
    """Return the gradient of While: a While that runs the body's gradient once for each iteration, last iteration first.

    The forward loop counts iterations and pushes the values that the backward pass needs onto tensor lists. Loop variables
    hand their gradients from iteration to iteration; a handle hands on the gradient of the variable behind.
    """
    g = backward.builder
    grad_dtypes = tuple(_gradient_dtype(backward, value) for value in node.inputs)
    grads = [grad if dtype or _is_handle(value) else None for grad, dtype, value in zip(grads, grad_dtypes, node.inputs)]
    functions = repr(node.attr("cond")), repr(node.attr("body"))
    key = (functions, grad_dtypes, known_of(backward, node, node.inputs, Form.LOOP))
    loop = backward.functions.once(key, lambda: _differentiated_loop(backward, node, grad_dtypes))
    parts = loop.parts
    carried = {i: dtype for i, group in enumerate(zip(grad_dtypes, parts.grads, grads)) if (dtype := _dtype_among(*group))}
    _check_handles(node, parts, [i for i in carried if grad_dtypes[i] is None])
    read = parts.read_args()
    saved = _extend_while(backward.graph, g, node, loop)
    dense = [_arriving(g, node, i, dtype, grads[i]) for i, dtype in carried.items()]
    names = backward.functions.once(
        (key, tuple(carried.items())), lambda: _backward_while_functions(backward.graph, parts, carried, read)
    )
    handles = [node.inputs[i] for i in parts.handed.values()]
    inputs = [saved.count, *dense, *(node.output(i) for i in read), *handles, *saved.lists]
    results = g.apply(node.op, inputs, cond=FuncRef(names[0]), body=FuncRef(names[1]), parallel_iterations=10)
    gradients = {i: results[1 + k] for k, i in enumerate(carried)}
    return [gradients.get(i) for i in range(len(parts.args))]


@dataclasses.dataclass(frozen=True, slots=True)
class _DifferentiatedLoop:
    """A differentiated body, and the names of the condition and the body of the loop that counts and collects."""

    parts: Differentiated
    condition: str
    body: str


def _differentiated_loop(backward: Sweep, node: Node, grad_dtypes: Sequence[DType | None]) -> _DifferentiatedLoop:
    """Return the functions for loops of the same condition and body that hand on gradients of the same variables."""
    condition, body = node.attr("cond"), node.attr("body")
    parts = differentiate(backward, node, find_function(backward.graph, node, body), body.attrs, grad_dtypes, Form.LOOP)
    require_few(node, [parts])
    extra = [dtypes.int32, *[dtypes.variant] * len(parts.captured)]
    counted = _with_ignored_args(backward.graph, find_function(backward.graph, node, condition), condition.attrs, extra)
    return _DifferentiatedLoop(parts, counted, _collecting_body(backward.graph, parts))


def _dtype_among(grad_dtype: DType | None, *grads: Gradient) -> DType | None:
    """Return the dtype of a loop variable's gradient, None for a variable without a gradient."""
    return next((gradient_dtype(grad) for grad in grads if grad is not None), None) if grad_dtype is None else grad_dtype


def _gradient_dtype(sweep: Sweep, value: Output) -> DType | None:
    """Return the dtype of a loop variable's initial gradient; None where there is no gradient, or a handle's dtype is
    unknown.

    As in TensorFlow the gradient of a variable that a loop takes and does not read is zeros, not None.
    """
    if not _is_handle(value):
        return dtype_of(value) if sweep.carries_gradient(value) else None
    variable = sweep.variable_behind(value) if sweep.is_wanted(value) else None
    dtype: DType | None = variable.attr("dtype") if variable is not None else None
    return dtype if dtype is not None and (dtype.is_floating or dtype.is_complex) else None


def _arriving(g: GradientBuilder, node: Node, index: int, dtype: DType, grad: Gradient) -> Output:
    """Return the initial gradient of a loop variable."""
    if grad is not None:
        return g.densify(grad)
    return zeros_for(g, node.output(index), dtype)


def _is_handle(value: Output) -> bool:
    return dtype_of(value) is dtypes.resource


def _check_handles(node: Node, parts: Differentiated, indices: Sequence[int]) -> None:
    for i in indices:
        if source_of(parts.results[i]).node is not parts.args[i]:
            raise UnimplementedError(
                f"loop variable {i} is a handle that changes from one iteration to the next, so its gradient cannot be summed",
                node=node.name,
                op=node.op,
            )


@dataclasses.dataclass(slots=True)
class _Saved:
    """The results of a forward While for the backward While: the number of iterations, and the values of each iteration."""

    count: Output
    lists: list[Output]


def _extend_while(graph: Graph, g: GradientBuilder, node: Node, loop: _DifferentiatedLoop) -> _Saved:
    """Let the While count iterations and collect the captured values, by new loop variables behind the old."""
    first = len(node.inputs)
    element_dtypes = [dtype_of(value) for value in loop.parts.captured]
    with g.name_scope(f"{node.name}_saved/"):
        zero = g.constant(0, dtypes.int32)
        empty = [g.EmptyTensorList(-1, -1, element_dtype=dtype) for dtype in element_dtypes]
    graph.set_inputs(node, (*node.inputs, zero, *empty))
    node.set_attr("T", [dtype_of(value) for value in node.inputs])
    node.set_attr("output_shapes", [])
    node.set_attr("cond", FuncRef(loop.condition))
    node.set_attr("body", FuncRef(loop.body))
    return _Saved(node.output(first), [node.output(first + 1 + i) for i in range(len(empty))])


def _with_ignored_args(graph: Graph, function: Function, attrs: Mapping[str, Any], extra: Sequence[DType]) -> str:
    """Return the name of a copy of `function` with additional arguments that are ignored."""
    body, args, results = copied_body(graph, function, attrs)
    builder = GraphBuilder(body)
    args += [add_arg(builder, dtype, len(args) + i) for i, dtype in enumerate(extra)]
    return add_function(graph, f"{function.name}_counted", body, args, results, function)


def _collecting_body(graph: Graph, parts: Differentiated) -> str:
    """Return the name of the forward body that also counts iterations and pushes each captured value onto a list."""
    body, mapping = forward_body(parts)
    builder = GraphBuilder(body)
    args = [mapping[arg] for arg in parts.args]
    count = add_arg(builder, dtypes.int32, len(args))
    lists = [add_arg(builder, dtypes.variant, len(args) + 1 + i) for i in range(len(parts.captured))]
    results = [Output(mapping[value.node], value.index) for value in parts.results]
    results.append(builder.AddV2(count, builder.constant(1, dtypes.int32)))
    for handle, value in zip(lists, parts.captured):
        pushed = Output(mapping[value.node], value.index)
        results.append(builder.TensorListPushBack(handle, pushed, element_dtype=dtype_of(value)))
    args += [count, *lists]
    return add_function(graph, f"{parts.function.name}_collecting", body, args, results, parts.function, extends=True)


def _backward_while_functions(
    graph: Graph, parts: Differentiated, carried: Mapping[int, DType], read: Sequence[int]
) -> tuple[str, str]:
    """Return the names of the condition (iterations left) and the body (an iteration back) of the backward While.

    Loop variables: the iterations left, the gradients carried, the forward loop's variables that are read, the handles that
    inner loops forward, the lists.
    """
    body = graph.emptied()
    builder = GradientBuilder(body)
    taken_inputs = [*(parts.args[i].output() for i in read), *parts.handed]
    input_dtypes = [dtype_of(value) for value in taken_inputs]
    loop_dtypes = [dtypes.int32, *carried.values(), *input_dtypes, *[dtypes.variant] * len(parts.captured)]
    args = [add_arg(builder, dtype, i) for i, dtype in enumerate(loop_dtypes)]
    first_input = 1 + len(carried)
    first_list = first_input + len(input_dtypes)
    mapping: dict[Output, Output] = {}
    for value, taken in zip(taken_inputs, args[first_input:]):
        mapping[value] = taken.output()
    for i, taken in zip(carried, args[1:]):
        grad_arg = parts.grad_args[i]
        if grad_arg is not None:
            mapping[grad_arg.output()] = taken.output()
    lists = []
    for value, handle in zip(parts.captured, args[first_list:]):
        rest, popped = builder.TensorListPopBack(handle, builder.constant(-1, dtypes.int32), element_dtype=dtype_of(value))
        mapping[value] = popped
        lists.append(rest)
    copied = copy_nodes(body, parts.backward_nodes, mapping)
    grads = [_one_back(builder, parts, i, taken.output(), copied) for i, taken in zip(carried, args[1:])]
    left = builder.Sub(args[0], builder.constant(1, dtypes.int32))
    results = [left, *grads, *(a.output() for a in args[first_input:first_list]), *lists]
    body_name = add_function(graph, f"{parts.function.name}_gradient", body, args, results, parts.function)
    return _count_down_condition(graph, parts.function, loop_dtypes), body_name


def _one_back(g: GradientBuilder, parts: Differentiated, index: int, arriving: Output, copied: dict[Output, Output]) -> Output:
    """Return the gradient of a loop variable at the start of an iteration, from the gradient at the end."""
    grad = parts.grads[index]
    assert not isinstance(grad, IndexedSlices), "made dense for loops"
    if parts.grad_args[index] is not None:
        return g.zeros_like(arriving) if grad is None else mapped(g.graph, grad, copied)
    return arriving if grad is None else g.AddV2(arriving, mapped(g.graph, grad, copied))


def _count_down_condition(graph: Graph, function: Function, loop_dtypes: Sequence[DType]) -> str:
    builder = GraphBuilder(graph.emptied())
    args = [add_arg(builder, dtype, i) for i, dtype in enumerate(loop_dtypes)]
    more = builder.Greater(args[0], builder.constant(0, dtypes.int32))
    return add_function(graph, f"{function.name}_gradient_cond", builder.graph, args, [more], function)
