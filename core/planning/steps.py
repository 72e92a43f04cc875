"""From the nodes and loops of a frame to the steps of a plan."""

from __future__ import annotations

from collections.abc import Sequence, Set

from ..control_flow.frames import ENTER, EXIT, MERGE, NEXT_ITERATION, SWITCH, Frame
from ..control_flow.references import dereferenced_inputs, is_view, kept_inputs, memory_outputs, passed_references
from ..functions.call_sites import is_partly_read
from ..graph.graph import Node, Output
from ..registry.catalog import OpDef
from .frame_deadness import FrameDeadness
from .loop_form import check_loop
from .node_selection import Selection
from .plan import Loop, Step, add_loop_releases
from .schedule_units import Unit, Units
from .slots import Slots


class FrameSteps:
    """The steps of a frame; a loop inside the frame is a single step."""

    def __init__(self, run: Selection, frame: Frame, has_races: bool = False) -> None:
        self.run = run
        self.units = Units(run, frame, has_races)
        self.deadness = FrameDeadness(self.units)
        self.slots = Slots(self.deadness)

    def steps(self, unit: Unit) -> list[Step]:
        """Return the step of a node or loop; no step for a node that only passes a value on."""
        if isinstance(unit, Frame):
            return [self.loop_step(unit)]
        is_variable = unit.op in MERGE and self.deadness.is_loop_merge(unit)
        return [] if is_variable or self.slots.is_free(unit) else [self.node_step(unit)]

    def node_step(self, node: Node) -> Step:
        count = len(node.output_dtypes or self.run.definition(node).output_dtypes(node.attrs))
        outputs = tuple([self.slots.output_slot(Output(node, i)) for i in range(count)])
        step = Step(node, tuple([self.slots.slot_of(value) for value in node.inputs]), outputs)
        if is_partly_read(node):
            step.unused = self.run.unused_outputs(node)
        if self.deadness.is_guarded(node) and node.op not in MERGE:
            self.guard(step)
        if self.slots.has_memory:
            self.note_memory(step)
        return step

    def guard(self, step: Step) -> None:
        """Note that a step may meet dead values."""
        step.is_guarded = True
        step.tells_deadness = not step.outputs or step.node.op in SWITCH
        if step.tells_deadness:
            step.outputs = (*step.outputs, self.slots.slot(step.node))
        step.controls = self.slots.controls(step.node)

    def note_memory(self, step: Step) -> None:
        """Note the references and the memory of variables that a step takes."""
        node, shared = step.node, self.slots.shared
        definition = self.run.definition(node)
        captured = kept_inputs(node, definition) if shared else ()
        values = map(self.slots.canonical, node.inputs) if shared else ()
        positions = [i for i, value in enumerate(values) if value in shared and i not in captured]
        note_memory(step, definition, shared, positions)

    def loop_step(self, frame: Frame) -> Loop:
        """Return the step of a loop inside this frame."""
        inner = FrameSteps(self.run, frame)
        sources = self.share_memory(inner)
        parts = inner.loop_parts()
        enters, exits = frame.with_op(ENTER), frame.with_op(EXIT)
        entering, carried = inner.entering(), inner.carried()
        assert inner.deadness.loop_predicate is not None
        condition = inner.slots.slot_of(inner.deadness.loop_predicate)
        exit_slots = tuple(inner.slots.slot_of(n.output()) for n in exits)
        is_guarded = self.deadness.is_guarded(frame)
        invariant = (slot for node, slot in entering if node.attr("is_constant"))
        add_loop_releases(parts, lasting={*invariant, *(a for a, _ in carried), condition}, exits=exit_slots)
        head, body, tail = map(tuple, parts)
        return Loop(
            inner.deadness.loop_predicate.node,
            tuple(self.slots.slot(sources[node]) for node, _ in entering),
            tuple(self.slots.output_slot(node.output()) for node in exits),
            tuple(i for i, (node, _) in enumerate(entering) if self.is_read_at(node, sources[node], inner)),
            is_guarded,
            tuple(dict.fromkeys(s for n in enters for s in self.slots.controls(n))) if is_guarded else (),
            references=tuple(i for i, (n, _) in enumerate(entering) if passed_references(n)),
            enters=tuple(dict.fromkeys((*(node for node, _ in entering), *enters))),
            head=head,
            body=body,
            tail=tail,
            slots=len(inner.slots.numbers),
            entries=tuple(slot for _, slot in entering),
            condition=condition,
            carried=tuple((a, b) for a, b in carried if a != b),
            exits=exit_slots,
            leaves=tuple(exits),
        )

    def loop_merges(self) -> list[Node]:
        """Return the nodes that hold the variables of this loop."""
        return [node for node in self.units.frame.with_op(MERGE) if self.deadness.is_loop_merge(node)]

    def entering(self) -> list[tuple[Node, int]]:
        """Return the nodes through which values enter this loop, variables first, with the values' slots inside the loop."""
        variables = [(_input_with_op(merge, ENTER).node, self.slots.slot(merge.output())) for merge in self.loop_merges()]
        constants = [node for node in self.units.frame.with_op(ENTER) if node.attr("is_constant")]
        return variables + [(node, self.slots.slot(node.output())) for node in constants]

    def carried(self) -> list[tuple[int, int]]:
        """Return (the slot at the end of an iteration, the slot at the beginning of the next) of each variable of this
        loop.
        """
        merges = self.loop_merges()
        ends = [self.slots.slot_of(_input_with_op(merge, NEXT_ITERATION)) for merge in merges]
        return [(end, self.slots.slot(merge.output())) for end, merge in zip(ends, merges)]

    def share_memory(self, inner: FrameSteps) -> dict[Node, Output]:
        """Return the values that enter an inner loop.

        A variable's memory stays memory where the loop neither carries nor returns the value.
        """
        entering = {enter: self.slots.canonical(enter.inputs[0]) for enter in inner.units.frame.with_op(ENTER)}
        ends = inner.units.frame.with_op((*NEXT_ITERATION, *EXIT, "LoopCond"))
        leaving = {inner.slots.canonical(node.inputs[0]) for node in ends}
        inner.slots.share(
            frozenset(
                enter.output()
                for enter in inner.units.frame.invariants
                if entering[enter] in self.slots.shared
                and enter.output() not in leaving
                and enter.output() not in self.run.fed
            )
        )
        return entering

    def is_read_at(self, enter: Node, source: Output, inner: FrameSteps) -> bool:
        """True where a reference arrives at an Enter and its value enters the loop."""
        is_reference = source in self.slots.shared or bool(dereferenced_inputs(enter, self.run.definition(enter)))
        return is_reference and enter.output() not in inner.slots.shared

    def loop_parts(self) -> tuple[list[Step], list[Step], list[Step]]:
        """Return head, body and tail; NotWellFormed where the loop does not fall into these parts."""
        check_loop(self.deadness)
        assert self.deadness.loop_predicate is not None
        taken, left = (self.deadness.loop_predicate, 1), (self.deadness.loop_predicate, 0)
        head: list[Step] = []
        body: list[Step] = []
        tail: list[Step] = []
        for unit in self.units.order:
            condition = self.deadness.conditions[unit]
            part = body if taken in condition else tail if left in condition else head
            part += self.steps(unit)
        return head, body, tail


def _input_with_op(node: Node, ops: Sequence[str]) -> Output:
    return next(value for value in node.inputs if value.node.op in ops)


def note_memory(step: Step, definition: OpDef, shared: Set[Output], positions: Sequence[int]) -> None:
    """Note in a step the references that it takes and, at `positions` of its inputs, the memory of variables.

    `shared` are the values that are the memory of variables.
    """
    node = step.node
    dereferenced = dereferenced_inputs(node, definition)
    step.dereferenced = tuple(dict.fromkeys((*dereferenced, *positions)))
    step.references = passed_references(node)
    if shared and (outputs := memory_outputs(node)) and outputs[0] in shared:
        first = len(node.inputs) if node.op in MERGE else 1
        step.dereferenced = tuple(i for i in step.dereferenced if i >= first)
        step.shared = tuple(i for i in dereferenced if i < first)
        step.is_view = is_view(node)
