"""Refusals of a plan that becomes a single program, with no NumPy beside."""

from __future__ import annotations

from collections.abc import Set

from ..control_flow.frames import MERGE, SWITCH
from ..functions.callers import function_references, reached_functions
from ..functions.purity import impurity
from ..graph.graph import Graph, Node
from ..graph.variable_nodes import VARIABLES
from ..planning.plan import Loop, Plan, Step
from ..registry.registry import has_kernel
from . import reasons
from .lowerable import refusals
from .plan_division import ineligible_inside, is_free, offered_inside, reads_variable
from .reasons import Reason
from .step_bodies import only_decides
from .unsupported import UnsupportedOps


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
