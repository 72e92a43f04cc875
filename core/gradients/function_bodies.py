"""The sweep through the body of a function that is called."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..building.builder import GraphBuilder
from ..building.gradbuilder import GradientBuilder, Gradients
from ..dtypes import DType
from ..functions.instantiation import origin_of
from ..graph import Function, Graph, Node, Output
from ..inference import infer
from ..shapes import Shape, TensorSpec
from ..tensors import Tensor
from ..traversal import reachable
from .function_parts import Differentiated, add_arg, copied_body, source_of
from .slices import parts as tensors_of
from .sweep import Call, Sweep


def differentiate(
    sweep: Sweep,
    node: Node,
    function: Function,
    attrs: Mapping[str, Any],
    grad_dtypes: Sequence[DType | None],
    *,
    in_loop: bool = False,
) -> Differentiated:
    """The body of a function that `node` calls with the gradient nodes of its results.

    `grad_dtypes` are None where no gradient arrives.

    `in_loop`: the gradients become dense, for iterations add theirs up, and arguments count as captured where they are
    saved, those that the function does not return unchanged.
    """
    body, args, results = copied_body(sweep.graph, function, attrs)
    forward = set(body)
    builder = GraphBuilder(body)
    arriving = [dtype for dtype in grad_dtypes if dtype is not None]
    new_args = iter([add_arg(builder, dtype, len(args) + i) for i, dtype in enumerate(arriving)])
    grad_args = [None if dtype is None else next(new_args) for dtype in grad_dtypes]
    seeds = [None if arg is None else arg.output() for arg in grad_args]
    call = Call(sweep, node, origin_of(function), args)
    grads = sweep.in_function(body, results, [arg.output() for arg in args], seeds, call)
    if in_loop:
        builder_for_dense = GradientBuilder(body)
        grads = [None if grad is None else builder_for_dense.densify(grad) for grad in grads]
    # Inner loops were given nodes of their own to save values with: what the forward part needs belongs to it.
    forward = reachable(forward)
    inside = forward | {arg for arg in grad_args if arg is not None}
    backward_nodes = [node for node in body if node not in inside]
    if in_loop:
        _settle_shapes(body, backward_nodes, _iteration_specs(sweep, node, args))
    unchanged = {arg for arg, result in zip(args, results) if source_of(result).node is arg} if in_loop else set(args)
    captured = _captured(backward_nodes, grads, forward - unchanged)
    return Differentiated(function, body, args, results, grad_args, grads, backward_nodes, captured)


def _iteration_specs(sweep: Sweep, node: Node, args: Sequence[Node]) -> dict[Output, TensorSpec]:
    """What is known of a loop's variables in all iterations: shapes as the loop says, and what handles refer to."""
    found = zip(args, node.attrs.get("output_shapes") or ())
    specs = {arg.output(): TensorSpec(arg.output().base_dtype, shape) for arg, shape in found}
    for arg, value in zip(args, node.inputs):
        variable = sweep.variable_behind(value)
        if variable is not None:
            held = TensorSpec(variable.attr("dtype"), variable.attr("shape"))
            specs[arg.output()] = TensorSpec(arg.output().base_dtype, Shape(()), handle=(held,))
    return specs


def _settle_shapes(body: Graph, backward_nodes: Sequence[Node], known: Mapping[Output, TensorSpec]) -> None:
    """Let constants stand for shapes that are known, so that no values are saved for them."""
    asked = [node for node in backward_nodes if node.op in ("Shape", "VariableShape")]
    specs = infer(body, known).specs if asked else {}
    for node in asked:
        value = specs[node.output()].value
        if value is not None and value.dtype != object:
            tensor = Tensor.from_numpy(value, node.output_dtypes[0])
            node.change_op("Const")
            node.attrs = {"value": tensor, "dtype": tensor.dtype}
            node.forget_dtypes()
            body.set_inputs(node, ())


def _captured(backward_nodes: Sequence[Node], grads: Gradients, forward: set[Node]) -> list[Output]:
    """The forward values that gradient nodes, or the gradients themselves, read."""
    read = [value for node in backward_nodes for value in node.inputs]
    read += [tensor for grad in grads for tensor in tensors_of(grad)]
    return list(dict.fromkeys(v for v in read if v.node in forward and not v.node.is_constant))
