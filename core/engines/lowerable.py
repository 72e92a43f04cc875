"""The nodes that XLA takes: nodes with correct lowerings, known without JAX."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ..control_flow.copies import hands_in, is_transparent
from ..functions.callers import function_references
from ..graph.graph import Function, Graph, Node, Output
from ..graph.traversal import trail_end
from ..planning.plan import Step
from ..registry.op_facts import has_fact
from ..registry.registry import has_kernel, lowering
from ..support.errors import TfgError
from ..types import dtypes
from ..types.tensors import FuncRef
from . import reasons
from .protocol import inner_steps
from .reasons import Reason
from .shape_checks import without_kernel
from .step_bodies import called_plan, only_decides
from .unsupported import UnsupportedOps

_TYPES: Final = (
    dtypes.float32, dtypes.float64, dtypes.float16, dtypes.bfloat16, dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64,
    dtypes.uint8, dtypes.uint16, dtypes.uint32, dtypes.uint64, dtypes.bool_,
    dtypes.complex64, dtypes.complex128, dtypes.qint8, dtypes.qint16, dtypes.qint32, dtypes.quint8, dtypes.quint16,
)  # fmt: skip
_OF_STACKS: Final = 2
"""The largest number of inputs of an op on stacks."""
_COUNTING: Final = (dtypes.int32, dtypes.int64)


def refusals(nodes: Sequence[Node], unsupported: UnsupportedOps, graph: Graph) -> dict[Node, Reason]:
    """Return reasons why nodes are not for XLA, from nodes in topological order, loops' included, without constants."""
    return _Refusals(unsupported, graph).of(nodes)


def function_refusals(function: Function) -> tuple[int, dict[Node, Reason]]:
    """Return the number of computing nodes in a pure function, and reasons why some are not for XLA; the nodes are in
    order.
    """
    nodes = [node for node in function.body if not (node.is_constant or node.is_argument or is_transparent(node))]
    return len(nodes), refusals(nodes, UnsupportedOps.of("xla"), function.body)


class _Refusals:
    """Reasons why nodes are not for XLA; each function is examined once."""

    def __init__(self, unsupported: UnsupportedOps, graph: Graph) -> None:
        self.unsupported = unsupported
        self.functions = graph.functions
        self.of_functions: dict[str, Reason | None] = {}

    def of(self, nodes: Sequence[Node]) -> dict[Node, Reason]:
        """Return the refused nodes of a plan; a node with a lowering but no input stands for a branch's output that nobody
        reads.
        """
        static = _known_while_compiling(nodes)
        unread = {node for node in nodes if not node.inputs and lowering(node.op) is not None}
        looked_at = {node: self.of_node(node, node in static) for node in nodes if node not in unread}
        refused = {node: reason for node, reason in looked_at.items() if reason is not None}
        return refused | dict.fromkeys(unread, reasons.UNREAD)

    def of_node(self, node: Node, is_known: bool) -> Reason | None:
        """Return the reason against a node, whose value `is_known` while compiling, or may turn out to be; None for an able
        node.
        """
        rule = lowering(node.op)
        types = (*node.output_dtypes, *(value.dtype for value in node.inputs))
        others = [dtype for dtype in types if dtype is not dtypes.resource and (dtype is None or dtype.base not in _TYPES)]
        if others and not (rule is not None and rule.always):
            return reasons.dtype_of_xla(others[0])
        if is_known:
            return None
        if rule is None:
            return reasons.NO_LOWERING
        return self.unsupported.reason(node) or self.of_calls(node)

    def of_calls(self, node: Node) -> Reason | None:
        """Return the reason against the functions that a node calls."""
        reasons = (self.of_function(reference.name, reference) for reference in function_references(node))
        return next((reason for reason in reasons if reason is not None), None)

    def of_function(self, name: str, reference: FuncRef) -> Reason | None:
        if name not in self.of_functions:
            self.of_functions[name] = reasons.recursive(name)
            self.of_functions[name] = self.of_body(reference)
        return self.of_functions[name]

    def of_body(self, reference: FuncRef) -> Reason | None:
        """Return the reason against a function: the reason against any node of the body."""
        try:
            _, plan = called_plan(self.functions, reference)
        except TfgError as error:
            return reasons.not_called(error.message)
        if plan.needs_dataflow:
            return reasons.by_node(reference.name)
        nodes = [step.node for step in inner_steps(plan.steps) if not _is_no_computation(step)]
        known = _known_while_compiling(nodes) | {node for node in nodes if _may_be_shape(node)}
        for node in nodes:
            reason = self.of_node(node, node in known) or without_kernel(node)
            if reason is not None:
                return reason.within(f"in function '{reference.name}', {node.op} '{node.name}'")
        return None


def _is_no_computation(step: Step) -> bool:
    node = step.node
    return node.is_constant or node.is_loop_condition or only_decides(step) or not (node.output_dtypes or node.inputs)


def _may_be_shape(node: Node) -> bool:
    """Return True for a stateless computation on integers: in a function the result may be known from shapes."""
    types = (*node.output_dtypes, *(value.dtype for value in node.inputs))
    is_pure = node.op_def is not None and not node.op_def.is_stateful and has_kernel(node.op)
    return is_pure and lowering(node.op) is None and all(dtype in _COUNTING for dtype in types)


def _known_while_compiling(nodes: Sequence[Node]) -> set[Node]:
    """Return the nodes, in topological order, whose values follow from constants and the shapes of other tensors.

    A value popped from a stack is known where all pushed values are.
    """
    own = set(nodes)
    static: set[Node] = set()
    uncertain: set[Node] = set()
    for node in nodes:
        sources = [_behind(value, own).node for value in node.inputs]
        if sources and has_fact(sources[0].op, "run_state"):
            known_so_far = len(sources) <= _OF_STACKS and sources[0] not in uncertain
            if known_so_far and all(s.is_constant or s in static for s in sources[1:]):
                static.add(node)
            else:
                uncertain.add(sources[0])
            continue
        if has_fact(node.op, "program") or not has_kernel(node.op) or next(function_references(node), None) is not None:
            continue
        if has_fact(node.op, "metadata") or all(s.is_constant or s in static for s in sources):
            static.add(node)
    return static


def _behind(value: Output, own: set[Node]) -> Output:
    """Return the value that a value is a copy of."""
    return trail_end(value, lambda v: v.node.inputs[0] if v.node not in own and hands_in(v.node) else None)
