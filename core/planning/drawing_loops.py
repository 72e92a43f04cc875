"""Loops of random ops whose draws take their turns in an order that follows from the numbers of iterations alone.

Then a plan can run them in order, once the order is known (core/runtime/execute/dataflow.py).
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence

from ..control_flow.frames import LOOP_OPS, MERGE, SWITCH
from ..functions.purity import impurity
from ..graph.graph import Graph, Node
from ..registry.op_facts import has_fact
from .node_selection import Selection
from .plan import Loop, Step


def has_plain_loops(run: Selection) -> bool:
    """Return True where no loop is inside another, and no branch depends on a value but on the conditions of loops."""
    if any(frame.enclosing is not None for frame in set(run.frames.values())):
        return False
    return all(node.inputs[1].node.is_loop_condition for node in run.nodes if node.op in SWITCH)


def draws_before_effects(graph: Graph, steps: Sequence[Step], loops: Container[Node]) -> bool:
    """Return True where all loops up to the last of `loops`, by their conditions, are of them, and no step up to there changes
    what outlives the run.
    """
    last = max(i for i, step in enumerate(steps) if isinstance(step, Loop) and step.node in loops)
    before = steps[: last + 1]
    if any(isinstance(step, Loop) and step.node not in loops for step in before):
        return False
    return all(_is_undone(graph, node) for step in before for node in _nodes(step))


def _nodes(step: Step) -> Iterator[Node]:
    if isinstance(step, Loop):
        yield from (inner.node for inner in (*step.head, *step.body, *step.tail))
    else:
        yield step.node


def _is_undone(graph: Graph, node: Node) -> bool:
    """Return True where a node leaves nothing behind but a moved stream of random numbers, or state of the run."""
    if has_fact(node.op, "random") or has_fact(node.op, "variable") or node.is_variable_read or node.is_placeholder:
        return True
    if has_fact(node.op, "run_state") or has_fact(node.op, "on_run_state") or node.op in (*LOOP_OPS, *MERGE, *SWITCH):
        return True
    return impurity(graph, node, reads=True) is None
