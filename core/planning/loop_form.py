"""Check of a loop for the form of tf.while_loop; a loop of this form becomes a plain loop over steps."""

from __future__ import annotations

from ..control_flow.deadness import is_contradiction
from ..control_flow.frames import ENTER, EXIT, MERGE, NEXT_ITERATION, Frame
from ..control_flow.references import dereferenced_inputs
from ..graph.graph import Node
from ..registry.op_facts import has_fact
from .frame_deadness import FrameDeadness
from .schedule_units import NotWellFormed


def check_loop(deadness: FrameDeadness) -> None:
    """Raise NotWellFormed unless the frame is a loop as tf.while_loop builds loops."""
    predicate = deadness.loop_predicate
    if predicate is None or deadness.conditions[predicate.node]:
        raise NotWellFormed
    expected = dict.fromkeys(NEXT_ITERATION, frozenset({(predicate, 1)}))
    expected |= dict.fromkeys(EXIT, frozenset({(predicate, 0)}))
    for unit in deadness.units.order:
        condition = deadness.conditions[unit]
        if is_contradiction(condition):
            raise NotWellFormed
        if isinstance(unit, Frame):
            continue
        if unit.op in expected and condition != expected[unit.op]:
            raise NotWellFormed
        if deadness.is_loop_switch(unit) and (condition or dereferenced_inputs(unit, deadness.run.definition(unit))):
            raise NotWellFormed
        if has_fact(unit.op, "blocks"):
            raise NotWellFormed
    for node in deadness.units.frame.nodes:
        _check_consumers(deadness, node)


def _check_consumers(deadness: FrameDeadness, node: Node) -> None:
    """Raise NotWellFormed unless the Enter and NextIteration of a loop variable go to the variable's Merge only.

    Nobody may read the second output of the Merge.
    """
    consumers = [n for n in node.uses if n in deadness.run.frames]
    if node.op in NEXT_ITERATION or (node.op in ENTER and not node.attr("is_constant")):
        if any(n.op not in MERGE or node in n.control_inputs for n in consumers):
            raise NotWellFormed
    elif node.op in ENTER:
        if any(n.op in MERGE and node.output() in n.inputs for n in consumers):
            raise NotWellFormed
    elif node.op in MERGE and deadness.is_loop_merge(node) and any(node.output(1) in n.inputs for n in consumers):
        raise NotWellFormed
