"""Deadness analysis of a frame: the branches of conditionals on which nodes and loops are alive; a loop is a single unit."""

from __future__ import annotations

from typing import Final

from ..control_flow.deadness import ALWAYS, Condition, branch_of, joined, on_branch, predicate_of
from ..control_flow.frames import ENTER, MERGE, NEXT_ITERATION, SWITCH, Frame
from ..graph.graph import Node, Output
from .schedule_units import NotWellFormed, Unit, Units

_BRANCHING: Final = frozenset({*SWITCH, *MERGE})


class FrameDeadness:
    """The condition of each unit of a frame. `loop_predicate` is the output of the frame's LoopCond, None for the root."""

    def __init__(self, units: Units) -> None:
        self.units = units
        self.frame = units.frame
        self.run = units.run
        self.conditions: dict[Unit, Condition] = {}
        self._arity: dict[Output | Node, int] = {}
        self._predicates: dict[Output, Output] = {}
        condition = self.frame.loop_condition if self.frame.parent else None
        self.loop_predicate = None if condition is None else condition.output()
        self.has_branches = bool(self.frame.children) or any(node.op in _BRANCHING for node in self.frame.nodes)
        if not self.has_branches:
            self.conditions = dict.fromkeys(units.order, ALWAYS)
            return
        for unit in units.order:
            self.conditions[unit] = self._of_unit(unit)

    def of_value(self, value: Output) -> Condition:
        """Return the condition of a value, ALWAYS where the value is fed or enters the frame."""
        owner = None if value in self.run.fed else self.units.owner(value.node)
        if owner is None:
            return ALWAYS
        condition = self.conditions[owner]
        if value.node.op not in SWITCH or value.node is not owner:
            return condition
        predicate = predicate_of(value.node, self._predicates)
        self._arity[predicate] = len(value.node.output_dtypes)
        return on_branch(condition, predicate, value.index)

    def is_loop_merge(self, node: Node) -> bool:
        """Return True for the Merge of a loop variable; NotWellFormed for any other that closes a cycle."""
        if not any(value.node.op in NEXT_ITERATION for value in node.inputs if value not in self.run.fed):
            return False
        entering = [value.node.op in ENTER for value in node.inputs]
        next_iteration = [value.node.op in NEXT_ITERATION for value in node.inputs]
        is_pair = len(node.inputs) == 2 and sum(entering) == sum(next_iteration) == 1
        well_formed = is_pair and not node.control_inputs and self.frame.parent is not None
        if not well_formed or any(value in self.run.fed for value in node.inputs):
            raise NotWellFormed
        return True

    def is_loop_switch(self, node: Node) -> bool:
        return node.op in SWITCH and self.loop_predicate is not None and node.inputs[1] == self.loop_predicate

    def is_guarded(self, unit: Unit) -> bool:
        """Return True where an input of a unit may be dead although the unit's part of the loop runs."""
        condition = self.conditions[unit]
        return bool(condition) and any(predicate != self.loop_predicate for predicate, _ in condition)

    def has_unseen_control(self, node: Node) -> bool:
        """Return True where a control input may be dead and the data input alive."""
        return bool(node.control_inputs) and self.conditions[node] != self.of_value(node.inputs[0])

    def _of_unit(self, unit: Unit) -> Condition:
        if isinstance(unit, Frame):
            return self._of_loop(unit)
        if unit.op in MERGE:
            return self._of_merge(unit)
        return ALWAYS if unit.is_control_trigger else self._of_inputs(unit)

    def _of_loop(self, frame: Frame) -> Condition:
        """Return the condition on which a loop's variables enter the loop; the loop's constants may come from farther out."""
        enters = frame.with_op(ENTER)
        conditions = [self._of_inputs(enter) for enter in enters]
        condition = ALWAYS.union(*conditions)
        if any(c != condition and not enter.attr("is_constant") for enter, c in zip(enters, conditions)):
            raise NotWellFormed
        return condition

    def _of_inputs(self, node: Node) -> Condition:
        conditions = [self.of_value(value) for value in node.inputs]
        owners = [self.units.owner(control) for control in node.control_inputs]
        conditions += [self.conditions.get(owner, ALWAYS) for owner in owners if owner is not None]
        return ALWAYS.union(*conditions) if any(conditions) else ALWAYS

    def _of_merge(self, node: Node) -> Condition:
        if self.is_loop_merge(node):
            return ALWAYS
        conditions = [self.of_value(value) for value in node.inputs]
        if self.loop_predicate is not None and len({branch_of(c, self.loop_predicate) for c in conditions}) > 1:
            raise NotWellFormed
        return joined(node, conditions, self._arity)
