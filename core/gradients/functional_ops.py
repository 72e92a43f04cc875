"""Gradients of function calls, If, Case and While.

A call is differentiated by two new functions. The *forward* function computes the original's results and also returns the
intermediate values that the backward pass needs; the call node is changed to call the forward function. The *backward*
function takes the original's arguments, the intermediates and the gradients of the results, and returns the gradients of
the arguments.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Sequence

from ..building.gradbuilder import Gradient, GradientBuilder, Gradients
from ..functions.call_kinds import BY_NAME, CALL_KINDS, Form, call_kind, call_op
from ..functions.instantiation import origin_of
from ..graph.graph import Function, Graph, Node, Output
from ..types.dtypes import DType
from ..types.tensors import FuncRef
from .function_parts import (
    Differentiated,
    add_backward_function,
    add_forward_function,
    dtype_of,
    find_function,
    require_few,
)
from .function_sweep import differentiate, known_of
from .indexed_slices import alike, gradient_dtype, rebuilt, zeros_for
from .indexed_slices import parts as tensors_of
from .sweep import Sweep


def call_gradient(backward: Sweep, node: Node, grads: Gradients) -> Gradients:
    """Return the gradients of a node that runs a single function, once."""
    g = backward.builder
    kind = call_kind(backward.graph.functions, node) or BY_NAME
    reference = kind.references(node)[0]
    before, arguments = node.inputs[: kind.before], kind.arguments(node.inputs)
    nothing = [None] * kind.before
    function = find_function(backward.graph, node, reference)
    dense = _dense(g, node, grads, [function])
    if function.gradient is not None:
        return [*nothing, *_declared_gradient(g, node, arguments, function.gradient, dense)]
    grad_dtypes = tuple(_grad_dtype(grad) for grad in dense)
    key = (repr(reference), grad_dtypes, known_of(backward, node, arguments, Form.CALL))
    call = backward.functions.once(key, lambda: _differentiated_call(backward, node, function, reference, grad_dtypes))
    _retarget_call(node, FuncRef(call.forward), [*node.output_dtypes, *call.saved])
    saved = [node.output(call.results + i) for i in range(len(call.saved))]
    inputs = [*(arguments[i] for i in call.read), *saved, *(grad for grad in dense if grad is not None)]
    if not call.backward:
        return [*nothing, *call.grads]
    results = iter(g.apply(node.op, *before, inputs, f=FuncRef(call.backward), Tout=_dtypes(call.grads)))
    return [*nothing, *(rebuilt(grad, results) for grad in call.grads)]


@dataclasses.dataclass(frozen=True, slots=True)
class _DifferentiatedCall:
    """A differentiated call, reduced to the facts needed later, since a graph may have very many calls.

    The names of the forward and the backward function, empty where there is none; the number of the function's own results,
    and the dtypes of the saved values; the arguments that the backward function takes, and the gradients that it returns.
    """

    forward: str
    backward: str
    results: int
    saved: list[DType]
    read: list[int]
    grads: Gradients


def _differentiated_call(
    backward: Sweep, node: Node, function: Function, reference: FuncRef, grad_dtypes: Sequence[DType | None]
) -> _DifferentiatedCall:
    """Return the functions for calls of a function that gradients of the same results arrive at."""
    parts = differentiate(backward, node, function, reference.attrs, grad_dtypes, Form.CALL)
    require_few(node, [parts])
    forward = add_forward_function(backward.graph, parts)
    read = parts.read_args()
    is_differentiable = any(grad is not None for grad in parts.grads)
    name = add_backward_function(backward.graph, parts, read) if is_differentiable else ""
    saved = [dtype_of(value) for value in parts.captured]
    return _DifferentiatedCall(forward, name, len(parts.results), saved, read, _returned(backward.graph, name, parts.grads))


def _returned(graph: Graph, name: str, grads: Gradients) -> list[Gradient]:
    """Return the gradients as results of the backward function; gradients beside the forward nodes would keep all nodes
    alive.
    """
    results = iter(graph.functions[name].results if name else ())
    return [rebuilt(grad, results) for grad in grads]


def branch_gradient(backward: Sweep, node: Node, grads: Gradients) -> Gradients:
    """Return the gradient of If or Case: an If or Case of the gradients of the branches."""
    g = backward.builder
    kind = CALL_KINDS[node.op]
    references = kind.references(node)
    functions = [find_function(backward.graph, node, reference) for reference in references]
    dense = _dense(g, node, grads, functions)
    grad_dtypes = tuple(_grad_dtype(grad) for grad in dense)
    key = (tuple(map(repr, references)), grad_dtypes, known_of(backward, node, kind.arguments(node.inputs), Form.BRANCH))
    branches = backward.functions.once(
        key, lambda: _differentiated_branches(backward, node, functions, references, grad_dtypes)
    )
    own = node.output_dtypes
    called = kind.naming(node, map(FuncRef, branches.forwards))
    for name, value in {**called, "Tout": [*own, *branches.saved], "output_shapes": []}.items():
        node.set_attr(name, value)
    if all(grad is None for grad in branches.grads):
        return [None] * len(node.inputs)
    saved = [node.output(len(own) + i) for i in range(len(branches.saved))]
    inputs = [*(node.inputs[1 + i] for i in branches.read), *saved, *(grad for grad in dense if grad is not None)]
    names = kind.naming(node, map(FuncRef, branches.backwards))
    results = iter(g.apply(node.op, node.inputs[0], inputs, Tout=_dtypes(branches.grads), **names))
    return [None, *(rebuilt(grad, results) for grad in branches.grads)]


@dataclasses.dataclass(frozen=True, slots=True)
class _Branches:
    """The differentiated functions of branches, the arguments they read, the dtypes they save, and a branch's gradients."""

    forwards: list[str]
    backwards: list[str]
    read: list[int]
    saved: list[DType]
    grads: list[Gradient]


def _differentiated_branches(
    backward: Sweep,
    node: Node,
    functions: Sequence[Function],
    references: Sequence[FuncRef],
    grad_dtypes: Sequence[DType | None],
) -> _Branches:
    """Differentiate all branches and equalize the signatures: each returns placeholders for values that only the others
    save.
    """
    all_parts = [
        differentiate(backward, node, function, reference.attrs, grad_dtypes, Form.BRANCH)
        for function, reference in zip(functions, references)
    ]
    require_few(node, all_parts)
    _agree(all_parts)
    saved_dtypes = [[dtype_of(v) for v in parts.captured] for parts in all_parts]
    forwards, backwards = [], []
    read = sorted({i for parts in all_parts for i in (*parts.read_args(), *parts.handed.values())})
    for i, parts in enumerate(all_parts):
        before = [dtype for branch_dtypes in saved_dtypes[:i] for dtype in branch_dtypes]
        after = [dtype for branch_dtypes in saved_dtypes[i + 1 :] for dtype in branch_dtypes]
        forwards.append(add_forward_function(backward.graph, parts, before, after))
        backwards.append(add_backward_function(backward.graph, parts, read, before, after))
    saved = [dtype for branch_dtypes in saved_dtypes for dtype in branch_dtypes]
    return _Branches(forwards, backwards, read, saved, _returned(backward.graph, backwards[0], all_parts[0].grads))


def _agree(branches: Sequence[Differentiated]) -> None:
    """Give every branch a gradient, of the same kind, for each argument that has a gradient in any branch."""
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


def _dense(g: GradientBuilder, node: Node, grads: Gradients, functions: Sequence[Function]) -> list[Output | None]:
    """Return the gradients as tensors, with zeros for the results that have none, as in TensorFlow; saved values need none."""
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
    """Call the gradient function that the library declares for a function: (inputs, gradients) -> gradients."""
    filled = [g.zeros_like(node.output(i)) if grad is None else grad for i, grad in enumerate(grads)]
    results = g.PartitionedCall([*arguments, *filled], f=FuncRef(gradient), Tout=[dtype_of(v) for v in arguments])
    return list(results)


def _dtypes(grads: Gradients) -> list[DType]:
    return [dtype_of(tensor) for grad in grads for tensor in tensors_of(grad)]


def _grad_dtype(grad: Output | None) -> DType | None:
    return None if grad is None else dtype_of(grad)
