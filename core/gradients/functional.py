"""Gradients of function calls, If, Case and While.

A call is differentiated by two new functions. The *forward* function does what the original does and returns, besides, the
intermediate values that the backward pass needs; the call node is changed to call it. The *backward* function takes the
original's arguments, those intermediates and the gradients of the results, and returns the gradients of the arguments.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, Final

from ..building.gradbuilder import Gradient, GradientBuilder, Gradients
from ..dtypes import DType
from ..errors import ResourceExhaustedError
from ..functions.call_kinds import BY_NAME, CALL_KINDS, call_kind, call_op
from ..functions.instantiation import origin_of
from ..graph import Function, Node, Output
from ..tensors import FuncRef
from .function_bodies import differentiate
from .function_parts import (
    Differentiated,
    DifferentiatedCall,
    add_backward_function,
    add_forward_function,
    dtype_of,
    find_function,
)
from .slices import alike, gradient_dtype, rebuilt, zeros_for
from .slices import parts as tensors_of
from .sweep import Sweep

_MAX_SAVED: Final = 10_000
"""The intermediate values that a function may save for its gradient; each level of calls may double them."""


def call_gradient(backward: Sweep, node: Node, grads: Gradients) -> Gradients:
    """The gradient of a node that runs one function, once."""
    g = backward.builder
    kind = call_kind(backward.graph.functions, node) or BY_NAME
    reference = kind.references(node)[0]
    before, arguments = node.inputs[: kind.before], kind.arguments(node.inputs)
    nothing = [None] * kind.before
    function = find_function(backward.graph, node, reference)
    dense = _dense(g, node, grads, [function])
    if function.gradient is not None:
        return [*nothing, *_declared_gradient(g, node, arguments, function.gradient, dense)]
    call = _differentiated_call(backward, node, function, reference, [_grad_dtype(grad) for grad in dense])
    parts = call.parts
    _retarget_call(node, FuncRef(call.forward), [*node.output_dtypes, *(dtype_of(v) for v in parts.captured)])
    saved = [node.output(len(parts.results) + i) for i in range(len(parts.captured))]
    inputs = [*arguments, *saved, *(grad for grad in dense if grad is not None)]
    if not call.backward:
        return [*nothing, *parts.grads]
    results = iter(g.apply(node.op, *before, inputs, f=FuncRef(call.backward), Tout=_dtypes(parts.grads)))
    return [*nothing, *(rebuilt(grad, results) for grad in parts.grads)]


def _differentiated_call(
    backward: Sweep, node: Node, function: Function, reference: FuncRef, wanted: Sequence[DType | None]
) -> DifferentiatedCall:
    """The functions for a call, made once for all calls of a function that gradients of the same results arrive at."""
    # What a registered gradient reads of a function outside comes in by other arguments of each call.
    key = (repr(reference), tuple(wanted), node if backward.graph.registered_gradients else None)
    if key not in backward.calls:
        parts = differentiate(backward, node, function, reference.attrs, wanted)
        _require_few(parts, node)
        forward = add_forward_function(backward.graph, parts)
        is_differentiable = any(grad is not None for grad in parts.grads)
        name = add_backward_function(backward.graph, parts, parts.grads) if is_differentiable else ""
        backward.calls[key] = DifferentiatedCall(parts, forward, name)
    return backward.calls[key]


def _require_few(parts: Differentiated, node: Node) -> None:
    """ResourceExhaustedError where a function would return more intermediate values than any graph can need."""
    count = len(parts.captured)
    if count > _MAX_SAVED:
        problem = f"the gradient of function '{parts.function.name}' would save {count:,} values, of {_MAX_SAVED:,} allowed"
        raise ResourceExhaustedError(problem, node=node.name, op=node.op)


def branch_gradient(backward: Sweep, node: Node, grads: Gradients) -> Gradients:
    """The gradient of If or Case: an If or Case of the gradients of its branches."""
    kind = CALL_KINDS[node.op]
    results = _branch_gradient(backward, node, kind.references(node), grads)
    for name, value in kind.naming(node, map(FuncRef, results.forwards)).items():
        node.set_attr(name, value)
    return _branch_call(backward.builder, node, results, kind.naming(node, map(FuncRef, results.backwards)))


@dataclasses.dataclass(slots=True)
class _Branches:
    """The functions that the branches of an If or Case become, and what the calls carry; `grads` are those of one branch."""

    forwards: list[str]
    backwards: list[str]
    saved: list[Output]
    dense: list[Output]
    grads: list[Gradient]


def _branch_gradient(
    backward: Sweep, node: Node, references: Sequence[FuncRef], grads: Gradients
) -> _Branches:
    """Differentiate all branches and let them agree: each returns placeholders for what only the others save."""
    functions = [find_function(backward.graph, node, reference) for reference in references]
    dense = _dense(backward.builder, node, grads, functions)
    wanted = [_grad_dtype(grad) for grad in dense]
    all_parts = [
        differentiate(backward, node, function, reference.attrs, wanted)
        for function, reference in zip(functions, references)
    ]
    for parts in all_parts:
        _require_few(parts, node)
    _agree(all_parts)
    saved_dtypes = [[dtype_of(v) for v in parts.captured] for parts in all_parts]
    count = len(node.output_dtypes)
    total = [dtype for found in saved_dtypes for dtype in found]
    node.set_attr("Tout", [*node.output_dtypes, *total])
    node.set_attr("output_shapes", [])
    forwards, backwards = [], []
    for i, parts in enumerate(all_parts):
        before = [dtype for found in saved_dtypes[:i] for dtype in found]
        after = [dtype for found in saved_dtypes[i + 1 :] for dtype in found]
        forwards.append(add_forward_function(backward.graph, parts, before, after))
        backwards.append(add_backward_function(backward.graph, parts, parts.grads, before, after))
    return _Branches(
        forwards,
        backwards,
        [node.output(count + i) for i in range(len(total))],
        [grad for grad in dense if grad is not None],
        all_parts[0].grads,
    )


def _agree(branches: Sequence[Differentiated]) -> None:
    """Let every branch have a gradient, of the same kind, for each argument that one of them has a gradient for."""
    with contextlib.ExitStack() as stack:
        builders = [stack.enter_context(parts.adding()) for parts in branches]
        for i in range(len(branches[0].grads)):
            present = [grad for parts in branches if (grad := parts.grads[i]) is not None]
            if not present:
                continue
            dtype = gradient_dtype(present[0])
            all_grads = [
                zeros_for(g, parts.args[i].output(), dtype) if (grad := parts.grads[i]) is None else grad
                for g, parts in zip(builders, branches)
            ]
            for parts, grad in zip(branches, alike(builders, all_grads)):
                parts.grads[i] = grad


def _branch_call(g: GradientBuilder, node: Node, branches: _Branches, attrs: Mapping[str, Any]) -> list[Gradient]:
    if all(grad is None for grad in branches.grads):
        return [None] * len(node.inputs)
    inputs = [*node.inputs[1:], *branches.saved, *branches.dense]
    results = iter(g.apply(node.op, node.inputs[0], inputs, Tout=_dtypes(branches.grads), **attrs))
    return [None, *(rebuilt(grad, results) for grad in branches.grads)]


def _dense(
    g: GradientBuilder, node: Node, grads: Gradients, functions: Sequence[Function]
) -> list[Output | None]:
    """The gradients as tensors, with zeros for the results that have none, as in TensorFlow; saved values need none."""
    library = g.graph.functions
    own = min(len(library.get(origin_of(function), function).results) for function in functions)
    filled = list(grads)
    for i in range(own):
        if filled[i] is None and _is_number(node.output(i)):
            filled[i] = g.zeros_like(node.output(i))
    return [None if grad is None else g.densify(grad) for grad in filled]


def _is_number(value: Output) -> bool:
    return dtype_of(value).is_floating or dtype_of(value).is_complex


def _retarget_call(node: Node, reference: FuncRef, output_dtypes: Sequence[DType]) -> None:
    """Let a call node call another function with more results."""
    if node.op not in CALL_KINDS:
        node.op = call_op(is_stateful=True)
        node.attrs = {"Tin": [dtype_of(value) for value in node.inputs]}
    node.set_attr("f", reference)
    node.set_attr("Tout", list(output_dtypes))


def _declared_gradient(
    g: GradientBuilder, node: Node, arguments: Sequence[Output], gradient: str, grads: Sequence[Output | None]
) -> Gradients:
    """A call of the gradient function that the library declares for this one: (inputs, gradients) -> gradients."""
    filled = [g.zeros_like(node.output(i)) if grad is None else grad for i, grad in enumerate(grads)]
    found = g.PartitionedCall([*arguments, *filled], f=FuncRef(gradient), Tout=[dtype_of(v) for v in arguments])
    return list(found)


def _dtypes(grads: Gradients) -> list[DType]:
    return [dtype_of(tensor) for grad in grads for tensor in tensors_of(grad)]


def _grad_dtype(grad: Output | None) -> DType | None:
    return None if grad is None else dtype_of(grad)
