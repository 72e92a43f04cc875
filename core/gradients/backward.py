"""The backward pass: nodes added to a graph, op by op, from the gradient functions that the families register."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, TypeAlias

from ..building.gradbuilder import Gradient, GradientBuilder, Gradients, IndexedSlices
from ..control_flow.frames import MERGE, Frame
from ..functions.call_kinds import Form, call_kind
from ..functions.call_validation import check_calls, check_own_calls
from ..functions.callers import gradient_name
from ..graph.graph import Graph, Node, Output
from ..graph.traversal import reachable
from ..inference.error_context import faults_of
from ..registry import registry
from ..support.errors import InvalidArgumentError, UnimplementedError
from ..support.words import counted
from . import conditionals, functional_ops, named_gradients, v1_loops, while_loops
from .function_parts import DifferentiatedFunctions
from .stack_lists import POP, use_lists_for_stacks
from .sweep import Call, Sweep


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
) -> list[Gradient]:
    """Add the gradients of the sum of ys with respect to xs to the graph itself, and return them; sparse gradients stay
    IndexedSlices.

    `functions` are functions of the same library that were differentiated before; `call` is the call of the graph where the
    graph is a function's body.
    """
    graph.check()
    (check_calls if functions is None else check_own_calls)(graph)
    if any(node.op in POP for node in reachable(y.node for y in ys)):
        use_lists_for_stacks(graph)
    builder = GradientBuilder(graph)
    backward = Backward(builder, ys, xs, stop_gradients, colocate, functions=functions, call=call)
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
            return named_gradients.registered_gradient(self, node, grads, self.graph.registered_gradients[named])
        special = self._whole_gradient(node)
        if special is not None and (not named or special is functional_ops.call_gradient):
            # The gradient that a call names is that of its function, in a program that is gone.
            return special(self, node, grads)
        function = registry.gradient_function(named or node.op)
        if named and not (callable(function) or function is registry.NOT_DIFFERENTIABLE):
            raise named_gradients.missing_gradient(node, named)
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
    "Switch": conditionals.switch_gradient,
    "RefSwitch": conditionals.switch_gradient,
    **dict.fromkeys(MERGE, conditionals.merge_gradient),
}
CALLS: Final[Mapping[Form, _WholeGradient]] = {
    Form.CALL: functional_ops.call_gradient,
    Form.BRANCH: functional_ops.branch_gradient,
    Form.LOOP: while_loops.while_gradient,
}
