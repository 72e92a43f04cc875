"""The nodes that XLA takes, known without JAX, and the refusals of a plan that becomes one program."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence, Set
from typing import Any, Final

from ..graph.callers import function_references, reached_functions
from ..graph.frames import MERGE, SWITCH, hands_in, is_transparent, source_of
from ..graph.graph import Function, Graph, Node, Output
from ..graph.purity import impurity
from ..graph.traversal import trail_end
from ..graph.variable_nodes import VARIABLES
from ..inference.binding import plain
from ..planning.plan import Loop, Plan, Step
from ..registry.op_facts import has_fact
from ..registry.registry import has_kernel, lowering
from ..support import dataclasses
from ..support.errors import TfgError
from ..types import dtypes
from ..types.dtypes import DType
from ..types.tensors import FuncRef
from . import reasons
from .plan_division import ineligible_inside, is_free, offered_inside, reads_variable
from .protocol import inner_steps
from .reasons import Reason, engine_error
from .step_bodies import COUNTS, called_plan, only_decides, without_kernel

# Ops that an engine translates and yet crashes on or gets wrong: a table of ops, conditions and reasons for each engine.
# A line of `ENGINE_unsupported.txt` is `OP [ATTRIBUTE=VALUE,VALUE ...] | REASON`. The line denies nodes of the op in which
# each attribute has any of the values listed. `empty=True` stands for an operand that is a constant without elements,
# `computed=1` for operand 1, counted from 0, being no constant.


@dataclasses.dataclass(frozen=True, slots=True)
class UnsupportedOp:
    """A line of the table: the op, the values of attributes, and the reason."""

    op: str
    values: Mapping[str, frozenset[str]]
    reason: Reason

    def holds(self, node: Node) -> bool:
        """Return True for a node that the line denies."""
        return self.op == node.op and all(unsupported & _known(node, name) for name, unsupported in self.values.items())


@dataclasses.dataclass(frozen=True, slots=True)
class UnsupportedOps:
    """The lines for an engine."""

    lines: tuple[UnsupportedOp, ...]

    @staticmethod
    def of(engine: str) -> UnsupportedOps:
        """Return the table of an engine that tfg brings."""
        path = os.path.join(os.path.dirname(__file__), f"{engine}_unsupported.txt")
        with open(path, encoding="ascii") as lines:
            return UnsupportedOps(tuple(_parse_line(line, engine) for line in lines if line.strip()))

    def reason(self, node: Node) -> Reason | None:
        """Return the reason against a node; None for a supported node."""
        return next((line.reason for line in self.lines if line.holds(node)), None)


def _parse_line(line: str, engine: str) -> UnsupportedOp:
    condition, _, reason = line.partition("|")
    op, *attributes = condition.split()
    pairs = (attribute.split("=") for attribute in attributes)
    return UnsupportedOp(
        op, {name: frozenset(values.split(",")) for name, values in pairs}, engine_error(reason.strip(), engine)
    )


def _known(node: Node, name: str) -> set[str]:
    """Return the values of a node's attribute or condition as the table spells them."""
    if name == "computed":
        return {str(place) for place, value in enumerate(node.inputs) if not source_of(value).node.is_constant}
    if name == "empty":
        return {str(any(map(is_empty_constant, node.inputs)))}
    return {_written(node.attr(name))}


def is_empty_constant(value: Output) -> bool:
    """Return True for a constant without elements."""
    node = source_of(value).node
    return node.is_constant and not node.attrs["value"].size


def _written(value: Any) -> str:
    """Return an attribute's value as the table spells it."""
    return value.name if isinstance(value, DType) else str(plain(value)).replace(" ", "")


# The nodes that XLA takes.

_TYPES: Final = (
    dtypes.float32, dtypes.float64, dtypes.float16, dtypes.bfloat16, dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64,
    dtypes.uint8, dtypes.uint16, dtypes.uint32, dtypes.uint64, dtypes.bool_,
    dtypes.complex64, dtypes.complex128, dtypes.qint8, dtypes.qint16, dtypes.qint32, dtypes.quint8, dtypes.quint16,
)  # fmt: skip
_OF_STACKS: Final = 2
"""The largest number of inputs of an op on stacks."""


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
        # A rule that holds `always` handles the dtypes itself, as the shape of a string tensor does.
        if others and not (rule is not None and rule.always):
            return reasons.DTYPE_OF_XLA.of(others[0])
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
            # A function that is met again while its own body is examined calls itself.
            self.of_functions[name] = reasons.RECURSIVE.of(name)
            self.of_functions[name] = self.of_body(reference)
        return self.of_functions[name]

    def of_body(self, reference: FuncRef) -> Reason | None:
        """Return the reason against a function: the reason against any node of the body."""
        try:
            _, plan = called_plan(self.functions, reference)
        except TfgError as error:
            return reasons.NOT_CALLED.of(error.message)
        if plan.needs_dataflow:
            return reasons.FUNCTION_BY_NODE.of(reference.name)
        # Only the steps of the plan count: a function may hold nodes that no result needs, and that nobody runs.
        nodes = [step.node for step in inner_steps(plan.steps) if not _is_no_computation(step)]
        # Within a function the arguments are unknown here, but at the call they may be shapes, so that the benefit of the
        # doubt goes to integers. If they are not, compiling names the node.
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
    return is_pure and lowering(node.op) is None and all(dtype in COUNTS for dtype in types)


def _known_while_compiling(nodes: Sequence[Node]) -> set[Node]:
    """Return the nodes, in topological order, whose values follow from constants and the shapes of other tensors.

    A value popped from a stack is known where all pushed values are.
    """
    own = set(nodes)
    static: set[Node] = set()
    uncertain: set[Node] = set()
    for node in nodes:
        sources = [_behind(value, own).node for value in node.inputs]
        # The ops on a stack have the handle as their first input. One push of an unknown value makes all pops unknown: which
        # push a pop belongs to follows from the order of the run.
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


# Refusals of a plan that becomes a single program, with no NumPy beside.


def whole_refusals(plan: Plan, graph: Graph, lifted: Set[Node] = frozenset()) -> dict[Node, Reason]:
    """Return the nodes because of which a plan is no program of lowerings, with reasons, in the order of the steps.

    Variables and the constants `lifted` are values that the program takes. Nodes that depend on other constants only need no
    lowering.
    """
    if plan.needs_dataflow:
        return {step.node: reasons.LOOPS_BY_NODE for step in plan.steps}
    known: dict[str, str | None] = {}
    constants = _constant_nodes(plan, graph, lifted, known)
    steps = [step for step in plan.steps if not _is_given(step)]
    ineligible = {step.node: _ineligible(step, graph, known) for step in steps}
    offered = {step.node: offered_inside(step) for step in steps if ineligible[step.node] is None}
    refused = refusals([node for nodes in offered.values() for node in nodes], UnsupportedOps.of("xla"), graph)
    inside = {node: refused[node] for nodes in offered.values() for node in nodes if node in refused}
    by_node = {node: reason for node, reason in ineligible.items() if reason is not None} | inside
    return {node: reason for node, reason in by_node.items() if node not in constants}


def _is_given(step: Step) -> bool:
    """Return True for a constant, a variable, a default, and a step that only waits or decides."""
    return is_free(step) or only_decides(step) or step.node.op in VARIABLES or is_default(step)


def is_default(step: Step) -> bool:
    """Return True for a placeholder that is not fed and has a default value."""
    return step.node.is_placeholder and not step.node.must_be_fed


def _constant_nodes(plan: Plan, graph: Graph, lifted: Set[Node], known: dict[str, str | None]) -> set[Node]:
    """Return the nodes whose values follow from constants alone, by kernels."""
    # Steps are in order, so that one pass knows of each input whether it follows from constants.
    slots: set[int] = set()
    nodes = set()
    for step in plan.steps:
        is_kernel = has_kernel(step.node.op) and next(function_references(step.node), None) is None
        follows = (
            step.node not in lifted
            and type(step) is Step
            and not step.is_guarded
            and is_kernel
            and slots.issuperset(step.inputs)
        )
        if follows and impurity(graph, step.node, known) is None:
            slots.update(step.outputs)
            nodes.add(step.node)
    return nodes


def _ineligible(step: Step, graph: Graph, known: dict[str, str | None]) -> Reason | None:
    """Return the reason against a step; a called function may read variables."""
    if not isinstance(step, Loop) and next(function_references(step.node), None) is not None:
        return _of_functions(step.node, graph, known)
    return ineligible_inside(step, graph, known, takes_variables=True, takes_control_flow=True)


def _of_functions(node: Node, graph: Graph, known: dict[str, str | None]) -> Reason | None:
    """Return the reason against a node by the first node in its functions that does more than compute and read."""
    called = [reference.name for reference in function_references(node) if reference.name in graph.functions]
    reached = (inner for name in called for inner in reached_functions(graph.functions, graph.functions[name].body))
    for name in dict.fromkeys((*called, *reached)):
        for inner in graph.functions[name].body:
            calls = next(function_references(inner), None) is not None
            if inner.is_argument or inner.is_no_op or calls or inner.op in (*SWITCH, *MERGE) or reads_variable(inner):
                continue
            why = impurity(graph, inner, known)
            if why is not None:
                return reasons.of_impurity(inner, why).within(f"in function '{name}', {inner.op} '{inner.name}'")
    return None
