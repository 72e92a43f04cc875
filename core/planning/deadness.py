"""When the nodes and loops of one frame are alive: the branches of conditionals that they lie on."""

from __future__ import annotations

from ..control_flow.conditions import ALWAYS, ENTER, MERGE, NEXT_ITERATION, SWITCH, Condition, Frame, joined, predicate_of
from ..graph.graph import Node, Output
from .schedule_units import Unit, Units


class NotWellFormed(Exception):
    """A loop that does not become a plain loop over steps."""


class Liveness:
    """The condition of each unit of a frame. `loop_predicate` is what the frame's LoopCond gives, None for the root."""

    def __init__(self, units: Units) -> None:
        self.units = units
        self.frame = units.frame
        self.run = units.run
        self.conditions: dict[Unit, Condition] = {}
        self.arity: dict[Output | Node, int] = {}
        self.predicates: dict[Output, Output] = {}
        frame = units.frame
        condition = frame.loop_condition if frame.parent else None
        self.loop_predicate = None if condition is None else condition.output()
        for unit in units.order:
            self.conditions[unit] = self.condition(unit)

    def condition(self, unit: Unit) -> Condition:
        """When a node or loop is alive."""
        if isinstance(unit, Frame):
            return self.loop_condition(unit)
        if unit.op in MERGE:
            return self.merge_condition(unit)
        return ALWAYS if unit.is_control_trigger else self.condition_of_inputs(unit)

    def loop_condition(self, frame: Frame) -> Condition:
        """When all that enters a loop is alive: when its variables are; constants may come from farther out."""
        enters = frame.with_op(ENTER)
        found = [self.condition_of_inputs(enter) for enter in enters]
        condition = ALWAYS.union(*found)
        if any(c != condition and not enter.attr("is_constant") for enter, c in zip(enters, found)):
            raise NotWellFormed
        return condition

    def condition_of_inputs(self, node: Node) -> Condition:
        found = [self.output_condition(value) for value in node.inputs]
        owners = [self.units.owner(control) for control in node.control_inputs]
        found += [self.conditions.get(owner, ALWAYS) for owner in owners if owner is not None]
        return ALWAYS.union(*found) if any(found) else ALWAYS

    def output_condition(self, value: Output) -> Condition:
        if value in self.run.fed:
            return ALWAYS
        owner = self.units.owner(value.node)
        if owner is None:
            return ALWAYS
        condition = self.conditions[owner]
        if value.node.op not in SWITCH or value.node is not owner:
            return condition
        predicate = predicate_of(value.node, self.predicates)
        self.arity[predicate] = len(value.node.output_dtypes)
        return condition | {(predicate, value.index)}

    def merge_condition(self, node: Node) -> Condition:
        if self.is_loop_merge(node):
            return ALWAYS
        conditions = [self.output_condition(value) for value in node.inputs]
        if self.loop_predicate is not None and len({_branch(c, self.loop_predicate) for c in conditions}) > 1:
            raise NotWellFormed
        return joined(node, conditions, self.arity)

    def is_loop_merge(self, node: Node) -> bool:
        """True for the Merge of a loop variable; NotWellFormed for any other that closes a cycle."""
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
        """True where a value it takes may be dead though its part of the loop runs."""
        return any(predicate != self.loop_predicate for predicate, _ in self.conditions[unit])

    def has_unseen_control(self, node: Node) -> bool:
        """True where a control input may be dead and the data input alive."""
        return bool(node.control_inputs) and self.conditions[node] != self.output_condition(node.inputs[0])


def _branch(condition: Condition, predicate: Output) -> int | None:
    """Which branch of `predicate` a condition names."""
    return next((branch for key, branch in condition if key == predicate), None)
