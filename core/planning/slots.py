"""The slots of a frame's values at run time, and the values that are the memory of a variable."""

from __future__ import annotations

from collections.abc import Iterator

from ..control_flow.copies import is_transparent
from ..control_flow.frames import EXIT, NEXT_ITERATION, SWITCH, Frame
from ..control_flow.references import dereferenced_inputs, is_written, kept_inputs, memory_of_variables, written_variables
from ..graph.graph import Node, Output
from ..graph.traversal import nodes_whose_op, trail_end
from ..registry.op_facts import has_fact
from .frame_deadness import FrameDeadness


class Slots:
    """The slots of a frame, numbered as they are asked for. `shared` are the values that are a variable's own memory."""

    def __init__(self, deadness: FrameDeadness) -> None:
        self.deadness = deadness
        self.units = deadness.units
        self.run = deadness.run
        self.numbers: dict[Output | Node, int] = {}
        self.originals: dict[Output, Output] = {}
        self.shared: frozenset[Output] = frozenset()
        if self.units.frame.parent is None:
            self.share(self.shared_memory())

    def share(self, values: frozenset[Output]) -> None:
        """Set the values that are a variable's own memory."""
        self.shared = values
        self.originals.clear()

    @property
    def has_memory(self) -> bool:
        """True where a step may read a variable's reference or memory."""
        return self.run.has_references or bool(self.shared)

    def slot(self, value: Output | Node) -> int:
        return self.numbers.setdefault(value, len(self.numbers))

    def slot_of(self, value: Output) -> int:
        """Return the slot of a value, or of the value that is passed on."""
        known = self.numbers.get(value)  # no copy has a number of its own
        return self.slot(self.canonical(value)) if known is None else known

    def canonical(self, value: Output) -> Output:
        """Return the output that `value` is a copy of: nodes that only pass a value on take no step."""
        known = self.originals.get(value)
        return trail_end(value, self._passed_on, self.originals) if known is None else known

    def _passed_on(self, value: Output) -> Output | None:
        return value.node.inputs[0] if value not in self.run.fed and self.is_free(value.node) else None

    def is_free(self, node: Node) -> bool:
        """True where every output of a node at this level is the node's first input."""
        if node.op not in self.run.passing_ops:
            return False
        if node.op == "Snapshot" and self.canonical(node.inputs[0]) in self.shared:
            return False
        if is_transparent(node):
            return not dereferenced_inputs(node, self.run.definition(node)) and not self.deadness.has_unseen_control(node)
        if self.deadness.loop_predicate is None or self.units.owner(node) is not node:
            return False
        return node.op in (*NEXT_ITERATION, *EXIT, "LoopCond") or self.deadness.is_loop_switch(node)

    def output_slot(self, output: Output) -> int:
        """Return the slot that an output is written to; the slot of a fed output is never read."""
        written = output if output not in self.run.fed else Output(output.node, -1 - output.index)
        return self.numbers.setdefault(written, len(self.numbers))

    def controls(self, node: Node) -> tuple[int, ...]:
        """Return the slots that tell whether the control inputs of `node` are alive, where they may be dead."""
        slots: dict[int, None] = {}
        for control in node.control_inputs:
            owner = self.units.owner(control)
            if owner is None or owner not in self.deadness.conditions or not self.deadness.is_guarded(owner):
                continue
            if control.op in SWITCH or not self.run.definition(control).output_dtypes(control.attrs):
                slots[self.slot(control)] = None
            else:
                slots[self.slot(self.canonical(control.output()))] = None
        return tuple(slots)

    def shared_memory(self) -> frozenset[Output]:
        """Return the values that are a variable's own memory, where any of them is used after a write to the variable.

        TensorFlow's kernels write in place, so a value read before a write shows the written numbers. Where no value is
        used later, the value that was read serves as well. Values that a dataset keeps are used in later runs.
        """
        writing = nodes_whose_op(self.run.nodes, lambda op: has_fact(op, "side_effect") or has_fact(op, "input_pipeline"))
        if not writing:
            return frozenset()
        first_write: dict[Node, int] = {}
        trails: dict[Output, Output] = {}
        for i, unit in enumerate(self.units.order):
            for node in [unit] if isinstance(unit, Node) else _nodes_within(unit):
                for owner in written_variables(node, trails):
                    first_write.setdefault(owner, i)
        nodes = [unit for unit in self.units.order if isinstance(unit, Node)]
        pipeline = (node for node in nodes if has_fact(node.op, "input_pipeline"))
        captured = [node.inputs[i] for node in pipeline for i in kept_inputs(node, self.run.definition(node))]
        if not first_write and not captured:
            return frozenset()
        memory = memory_of_variables(nodes, self.run.fed)
        uses = [(i, value) for i, unit in enumerate(self.units.order) for value in self.units.values_of(unit)]
        uses += [(len(self.units.order), fetch) for fetch in self.run.fetches if isinstance(fetch, Output)]
        never = len(self.units.order) + 1
        late = {owner for i, value in uses for owner in memory.get(value, ()) if i >= first_write.get(owner, never)}
        late |= {owner for value in captured for owner in memory.get(value, ()) if is_written(owner)}
        return frozenset(value for value, owners in memory.items() if not late.isdisjoint(owners))


def _nodes_within(frame: Frame) -> Iterator[Node]:
    """Yield the nodes of a loop and of the loops inside."""
    yield from frame.nodes
    for inner in frame.children:
        yield from _nodes_within(inner)
