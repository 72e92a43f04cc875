"""The backward pass: nodes added to a graph, op by op, from the gradient functions that the families register.

A caller may give all nodes of an op another gradient.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, TypeAlias

from ..building.gradbuilder import NAMED, Gradient, GradientBuilder, Gradients, IndexedSlices, gradient_of
from ..control_flow.deadness import Deadness
from ..control_flow.frames import MERGE, Frame
from ..functions.call_kinds import Form, call_kind, call_op, check_calls, check_own_calls
from ..functions.callers import gradient_name
from ..functions.instantiation import nodes_to_change
from ..graph.graph import Graph, GraphLike, Node, Output, as_graph
from ..graph.saved_gradients import Capture, RegisteredGradient
from ..graph.traversal import reachable
from ..graph.variable_nodes import variable
from ..inference.error_context import faults_of
from ..registry import registry
from ..registry.catalog import CATALOG
from ..registry.op_facts import has_fact
from ..support.arguments import checked, expect
from ..support.errors import InvalidArgumentError, NotFoundError, UnimplementedError
from ..support.hints import Blank, Hint, command, option
from ..support.words import counted
from ..types.tensors import FuncRef
from . import functional_ops, v1_loops
from .function_parts import DifferentiatedFunctions, dtype_of, find_function
from .stack_lists import POP, use_lists_for_stacks
from .sweep import Call, Sweep
from .swept_values import alike, branches_of, gradient_dtype, map_parts, zeros_for

# Gradients of V1 conditionals: a Switch on the way forward is a Merge on the way back, and the other way round.


def switch_gradient(backward: Sweep, node: Node, grads: Gradients) -> Gradients:
    """Return the gradient from the branch that was taken; a branch without a gradient contributes zeros."""
    g = backward.builder
    dtype = gradient_dtype(next(grad for grad in grads if grad is not None))
    branches = [zeros_for(g, node.output(i), dtype) if grad is None else grad for i, grad in enumerate(grads)]
    return [map_parts(lambda *tensors: g.Merge(tensors)[0], *alike([g, g], branches)), None]


def merge_gradient(backward: Sweep, node: Node, grads: Gradients) -> Gradients:
    """Return the gradient, sent to the input that came from the branch taken."""
    g = backward.builder
    grad = grads[0]
    if grad is None:
        return [None] * len(node.inputs)
    predicate, branch_of_input = merge_predicate(node, backward.loops.deadness)
    return [map_parts(lambda part, branch=branch: g.Switch(part, predicate)[branch], grad) for branch in branch_of_input]


def merge_predicate(merge: Node, deadness: Deadness) -> tuple[Output, tuple[int, int]]:
    """Return the predicate of the branches that a cond's Merge joins, and the branch of each of the two inputs."""
    if len(merge.inputs) == 2:
        first, second = merge.inputs
        other = deadness.of_value(second)
        for predicate, branch in branches_of(first, deadness):
            if (predicate, 1 - branch) in other:
                return predicate, (branch, 1 - branch)
    raise UnimplementedError("its inputs are not the two branches of one predicate", node=merge.name, op=merge.op)


def add_gradients(
    graph: Graph,
    ys: Sequence[Output],
    xs: Sequence[Output],
    grad_ys: Sequence[Output | None] | None = None,
    stop_gradients: Iterable[Output] = (),
    *,
    name: str = "gradients",
    colocate: bool = False,
    functions: DifferentiatedFunctions | None = None,
    call: Call | None = None,
    slices_of_loops: bool = False,
) -> list[Gradient]:
    """Add the gradients of the sum of ys with respect to xs to the graph itself, and return them; sparse gradients stay
    IndexedSlices.

    With `slices_of_loops` so do those of what a V1 loop reads, as in TensorFlow: the loop collects rows, whose number grows
    with each iteration. By default it sums tensors, which engines can compile.

    `functions` are functions of the same library that were differentiated before; `call` is the call of the graph where the
    graph is a function's body.
    """
    graph.check()
    (check_calls if functions is None else check_own_calls)(graph)
    if any(node.op in POP for node in reachable(y.node for y in ys)):
        use_lists_for_stacks(graph)
    builder = GradientBuilder(graph)
    backward = Backward(builder, ys, xs, stop_gradients, colocate, functions=functions, call=call)
    backward.loops.keeps_slices = slices_of_loops
    with builder.name_scope(name) as scope:
        backward.scope = scope
        builder.sweep = scope.removesuffix("/")
        backward.seed(ys, grad_ys)
        backward.sweep()
        return [backward.total(x) for x in xs]


class Backward(Sweep):
    """A sweep that knows how to take back nodes, calls and loops."""

    def node_gradient(self, node: Node, grads: Gradients) -> Gradients:
        """Return the gradients of a node's inputs, by the named gradient or the op's; UnimplementedError where there is
        none.
        """
        named = gradient_name(node)
        if named in self.graph.registered_gradients:
            return registered_gradient(self, node, grads, self.graph.registered_gradients[named])
        special = self._whole_gradient(node)
        if special is not None and (not named or special is functional_ops.call_gradient):
            # The gradient that a call names is that of its function, in a program that is gone.
            return special(self, node, grads)
        function = gradient_of(node)
        if named and not (callable(function) or function is registry.NOT_DIFFERENTIABLE):
            raise missing_gradient(node, named)
        if function is registry.NOT_DIFFERENTIABLE:
            return [None] * len(node.inputs)
        if not callable(function):
            raise UnimplementedError(
                f"op '{node.op}' on the path to the variables has no gradient:  {' -> '.join(self.path(node))}",
                node=node.name,
                op=node.op,
                hint=f'register one in an op library, `@tfg.core.registry.registry.gradient("{node.op}")`, '
                "or stop the gradient there",
            )
        if node.is_identity and isinstance(grads[0], IndexedSlices):
            return grads  # rows of an embedding stay rows behind the read of a V1 variable
        dense = [self.dense_or_zeros(node.output(i), grad) for i, grad in enumerate(grads)]
        with faults_of(node, "gradient function"):
            result: Gradients = function(self.builder, node, *dense)
        if len(result) != len(node.inputs):
            raise InvalidArgumentError(
                f"its gradient returns {counted(len(result), 'value')} for {counted(len(node.inputs), 'input')}",
                node=node.name,
                op=node.op,
            )
        return result

    def _whole_gradient(self, node: Node) -> _WholeGradient | None:
        """Return the gradient function of a conditional or a call; None for other nodes, and for calls without a declared
        gradient.
        """
        kind = call_kind(self.graph.functions, node)
        if kind is None:
            return CONDITIONALS.get(node.op)
        is_declared = not kind.functions or registry.gradient_function(node.op) is registry.BY_SWEEP
        return CALLS[kind.form] if is_declared else None

    def loop_gradient(self, loop: Frame, grads: Gradients) -> Gradients:
        """Return the gradients of the values that enter a V1 loop, from the gradients of the values that leave."""
        return v1_loops.loop_gradient(self, loop, grads)

    def in_function(
        self, body: Graph, ys: Sequence[Output], xs: Sequence[Output], grad_ys: Sequence[Output | None], call: Call
    ) -> list[Gradient]:
        """Sweep a function's body on its own; ys without a gradient are left out."""
        pairs = [(y, grad) for y, grad in zip(ys, grad_ys) if grad is not None]
        arriving = [grad for _, grad in pairs]
        return add_gradients(body, [y for y, _ in pairs], xs, arriving, functions=self.functions, call=call)


# Gradients that need the whole sweep, not only the node: control flow and calls.
_WholeGradient: TypeAlias = Callable[[Sweep, Node, Gradients], Gradients]
CONDITIONALS: Final[Mapping[str, _WholeGradient]] = {
    "Switch": switch_gradient,
    "RefSwitch": switch_gradient,
    **dict.fromkeys(MERGE, merge_gradient),
}
CALLS: Final[Mapping[Form, _WholeGradient]] = {
    Form.CALL: functional_ops.call_gradient,
    Form.BRANCH: functional_ops.branch_gradient,
    Form.LOOP: functional_ops.while_gradient,
}


# Gradients that nodes name themselves: functions saved with the graph (tf.custom_gradient) or registered for a name.


def registered_gradient(backward: Sweep, node: Node, grads: Gradients, registered: RegisteredGradient) -> Gradients:
    """Call the function that the library registers: zeros where no gradient arrives, then the captured values."""
    g = backward.builder
    if registered.captures is None or registered.returns is None:
        raise UnimplementedError(
            f"its gradient function '{registered.function}' reads tensors that only the SavedModel describes",
            node=node.name,
            op=node.op,
            hint="differentiate the original SavedModel",
        )
    function = find_function(backward.graph, node, FuncRef(registered.function))
    arriving = [
        zeros_for(g, node.output(i), dtype_of(node.output(i))) if grad is None else g.densify(grad)
        for i, grad in enumerate(grads)
    ]
    inputs = [*arriving, *(_captured(backward, node, capture) for capture in registered.captures)]
    if len(inputs) != len(function.args) or len(registered.returns) != len(node.inputs):
        raise InvalidArgumentError(
            f"its gradient '{registered.function}' takes {len(function.args)} values and returns "
            f"{len(registered.returns)}, but must take {len(inputs)} and return {len(node.inputs)}",
            node=node.name,
            op=node.op,
        )
    op = call_op(function.signature.is_stateful)
    results = iter(g.apply(op, inputs, f=FuncRef(registered.function), Tout=[dtype_of(v) for v in function.results]))
    return [next(results) if is_returned else None for is_returned in registered.returns]


def missing_gradient(node: Node, name: str) -> UnimplementedError:
    """Return the error of a node whose named gradient is missing; the derivative of the computation would be a different
    gradient.
    """
    return UnimplementedError(
        f"its gradient '{name}' is neither saved with the graph nor registered",
        node=node.name,
        op=node.op,
        hint=f'register it: `@tfg.core.registry.registry.gradient("{name}")` on a function (g, node, *grads) '
        "in an op library; "
        "TensorFlow saves custom gradients with SaveOptions(experimental_custom_gradients=True)",
    )


def _captured(backward: Sweep, node: Node, capture: Capture) -> Output:
    """Return the value that a gradient captured, as visible in the graph under differentiation."""
    if capture.function is None:
        return _handle(backward, capture.tensor)
    captured = _seen(backward, capture)
    if captured is None:
        raise NotFoundError(
            f"its gradient reads '{capture.tensor}' of function '{capture.function}', which is out of reach",
            node=node.name,
            op=node.op,
        )
    return captured


def _handle(backward: Sweep, name: str) -> Output:
    """Return a handle of a variable of the graph that is run."""
    root = backward
    while root.call is not None:
        root = root.call.backward
    owner = variable(root.graph, name)
    container = owner.node.attr("container", b"")
    g = backward.builder
    shared_name = owner.name.encode("utf-8", "surrogateescape")
    return g.VarHandleOp(dtype=owner.dtype, shape=owner.shape, container=container, shared_name=shared_name)


def _seen(backward: Sweep, capture: Capture) -> Output | None:
    """Return the tensor itself in its own function; in a called function, the argument that holds the tensor."""
    call = backward.call
    if call is None:
        return None
    if call.function == capture.function:
        return backward.graph.output(capture.tensor)
    outer = _seen(call.backward, capture)
    return None if outer is None else call.argument_of(outer)


# Another gradient for all nodes of an op.


@checked
def override_gradients(graph: GraphLike, overrides: Mapping[str, str]) -> Graph:
    """Return a copy of the graph, of which all nodes of some ops have another gradient, also in functions.

    `overrides` maps ops to gradients: "guided" (only positive gradients pass, by the op's own gradient), "deconv" (positive
    gradients pass, whatever the input was), "straight_through" (all gradients pass), the name of an op, whose gradient
    function takes the place, or a name that an op library registers with `@gradient`. The nodes name the gradient in the
    attribute `_gradient_op_type`, as TensorFlow's `Graph.gradient_override_map` lets them. NotFoundError for an op without a
    node, and for an unknown gradient; InvalidArgumentError where the gradient does not fit the op.

        graph = tfg.override_gradients(tfg.load("frozen.pb"), {"Relu": "guided"})
        graph, (saliency,) = tfg.gradients(graph, "logits", "image")
    """
    result = as_graph(graph).copy()
    expect(str, *overrides, *overrides.values())
    for op, name in overrides.items():
        _require(op, name)
        nodes = list(nodes_to_change(result, lambda node, op=op: node.op == op))  # type: ignore[misc]
        if not nodes:
            raise NotFoundError(f"no node has the op '{op}'", hint=Hint(command("explain"), " lists the ops"))
        for node in nodes:
            node.set_attr("_gradient_op_type", name.encode())
    return result


def _require(op: str, name: str) -> None:
    """Raise the error of a gradient that is unknown, or that does not fit an op."""
    if name not in NAMED:
        if registry.gradient_function(name) is None:
            names = ", ".join(NAMED)
            known = f"the gradients are {names}, the names of ops, and those that an op library registers"
            hint = Hint(known, " (", option("op-library", Blank("FILE")), ")")
            raise NotFoundError(f"no gradient is called '{name}'", hint=hint)
    elif name == "guided":
        if not callable(registry.gradient_function(op)):
            raise InvalidArgumentError(f"op '{op}' has no gradient that could be guided")
    elif op not in CATALOG or not has_fact(op, "elementwise") or len(CATALOG[op].inputs) != 1:
        raise InvalidArgumentError(f"gradient '{name}' is for ops of one input, element by element, and '{op}' is not one")
