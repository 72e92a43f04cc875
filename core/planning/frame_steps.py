"""From the nodes and loops of a frame to steps: their order, the branches on which they are alive, the slots of their values.

A loop inside a frame is a single unit, and becomes a single step.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Container, Iterable, Iterator, Sequence, Set
from typing import Any, Final, TypeAlias

from ..graph.call_kinds import CALL_KINDS, is_partly_read
from ..graph.deadness import ALWAYS, Condition, branch_of, is_contradiction, joined, on_branch, predicate_of
from ..graph.frames import ENTER, EXIT, MERGE, NEXT_ITERATION, SWITCH, Frame, is_transparent
from ..graph.graph import Node, Output
from ..graph.references import (
    dereferenced_inputs,
    is_view,
    is_written,
    kept_inputs,
    memory_of_variables,
    memory_outputs,
    passed_references,
    written_variables,
)
from ..graph.traversal import closure, nodes_of_kind, topological_order, trail_end
from ..registry.catalog import OpDef
from ..registry.op_facts import NodeKinds, has_fact
from ..support.errors import InvalidArgumentError
from .node_selection import Selection
from .plan import Loop, Step, add_loop_releases
from .scheduling import construction_order, execution_order, optimized_order

Unit: TypeAlias = Node | Frame


class NotWellFormed(Exception):
    """A loop that does not become a plain loop over steps."""


class Units:
    """The nodes and loops of a frame, their edges, and an order.

    `has_races`: units that no path orders come in the order in which TensorFlow's executor runs them.
    """

    def __init__(self, run: Selection, frame: Frame, has_races: bool) -> None:
        self.run = run
        self.frame = frame
        # What enters a loop is written to the loop's slots by the step of the loop itself: an Enter needs no step inside.
        nodes = [n for n in frame.nodes if n.op not in ENTER] if frame.parent else frame.nodes
        units: list[Any] = [*nodes, *frame.children]
        # This order is made even if the executor's order replaces it, because it finds the cycles of a graph. Without races
        # every topological order has the same results, and the order of the file costs least.
        order: list[Any] = self.order_of(units) if run.frames else run.order
        self.order: list[Unit] = self.execution_order() if has_races and frame.parent is None else order

    def order_of(self, units: Sequence[Any]) -> list[Any]:
        """Return the units in order; NotWellFormed where a loop takes something from behind the loop.

        A V1 loop may run iterations before all of its inputs are there, so the nodes alone are in no cycle.
        """
        try:
            return topological_order(units, self.predecessors)
        except InvalidArgumentError as error:
            raise NotWellFormed(f"a loop takes a value that its own results precede, by way of '{error.node}'") from error

    def owner(self, source: Node) -> Unit | None:
        """Return the unit of a node at this level: the node, the loop that an Exit leaves, or None for an Enter into this
        frame.
        """
        frame = self.run.frames.get(source, self.frame)
        if frame is not self.frame:
            return frame
        return None if source.op in ENTER else source

    def sources(self, unit: Unit) -> Iterator[Node]:
        """Yield the nodes that a node, or the Enter nodes of a loop, take data or control from; back edges are left out."""
        for node in [unit] if isinstance(unit, Node) else unit.with_op(ENTER):
            yield from self.run.waits_for(node)

    def predecessors(self, unit: Any) -> Iterator[Any]:
        return (owner for source in self.sources(unit) if (owner := self.owner(source)) is not None)

    def execution_order(self) -> list[Unit]:
        """Return the units in the order in which TensorFlow's executor runs them; a loop counts as a node.

        Constants that TensorFlow's graph optimizer folds come first, with all nodes that they are computed from.
        """
        folded = frozenset(self.run.folded())

        def edges(unit: Any) -> tuple[list[Any], list[Any]]:
            return ([], []) if unit in folded else self.edges(unit)

        def sources(unit: Any) -> Iterator[Any]:
            return itertools.chain(*edges(unit))

        fetched = [owner for node in self.run.fetched_nodes() if (owner := self.owner(node)) is not None]
        every: list[Unit] = [*self.frame.nodes, *self.frame.children]
        # TensorFlow's executor never sees what only folded constants needed. Here it runs, too, before everything else.
        behind = _needed(folded, self.predecessors, every)
        gone = set(behind).difference(_needed(fetched, sources, every))
        units = optimized_order([unit for unit in every if unit not in gone], fetched, sources, sources)
        # TensorFlow's session sorts the names of the feeds before it adds a node for each.
        made: list[Any] = construction_order([*units, *sorted(self.run.feeds, key=str)], sources)
        order = execution_order(made, edges, lambda unit: _op(unit, folded))
        scheduled: dict[Unit, None] = dict.fromkeys(topological_order(behind, self.predecessors))
        for unit in order:
            if not isinstance(unit, Output):
                # A bypassed node has no place in TensorFlow's order: it comes just before the first unit that takes its value.
                scheduled |= dict.fromkeys((*self.bypassed_before(unit, scheduled), unit))
        return list(scheduled)

    def bypassed_before(self, unit: Unit, placed: Container[Unit]) -> list[Node]:
        """Return the bypassed nodes before a unit's inputs, in order, up to nodes that are `placed`."""
        bypassed = []
        for value in self.values_of(unit):
            while value not in self.run.fed and value.node not in placed and self.run.is_bypassed(value.node):
                bypassed.append(value.node)
                value = value.node.inputs[0]
        return bypassed[::-1]

    def edges(self, unit: Any) -> tuple[list[Any], list[Any]]:
        """Return the sources of a unit's data and of its control: units, and fed values."""
        fed = self.run.fed
        nodes = [] if isinstance(unit, Output) else [unit] if isinstance(unit, Node) else unit.with_op(ENTER)
        taken = [value for node in nodes for value in self.run.taken(node)]
        values = [value if value in fed else self.owner(value.node) for value in taken]
        controls = [source for node in nodes for source in self.run.waiting[node][len(node.inputs) :]]
        return values, [self.owner(source) for source in controls if source is not None]

    def values_of(self, unit: Unit) -> Iterator[Output]:
        """Yield the values that a node, or the Enter nodes of a loop, take."""
        for node in [unit] if isinstance(unit, Node) else unit.with_op(ENTER):
            yield from node.inputs


def _needed(units: Iterable[Any], sources: Callable[[Any], Iterable[Any]], every: Sequence[Any]) -> list[Any]:
    """Return the units of `every`, in order, that some units need."""
    members = set(every)
    needed = closure(members.intersection(units), lambda unit: members.intersection(sources(unit)))
    return [unit for unit in every if unit in needed]


def _op(unit: Any, folded: Container[Any]) -> str:
    """Return a unit's op type for TensorFlow's executor, "" for a fed value."""
    if isinstance(unit, Output):
        return ""
    return "Const" if unit in folded else str(unit.op)


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
        # Most graphs have no branches: nothing in them can be dead.
        if not self.frame.children and self.run.ops.isdisjoint(_BRANCHING):
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
        """Return True if an input of a unit may be dead although the unit's part of the loop runs."""
        condition = self.conditions[unit]
        return bool(condition) and any(predicate != self.loop_predicate for predicate, _ in condition)

    def has_unseen_control(self, node: Node) -> bool:
        """Return True if a control input may be dead and the data input alive."""
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
        # A Merge of a value of the body with one of the tail belongs to neither part.
        if self.loop_predicate is not None and len({branch_of(c, self.loop_predicate) for c in conditions}) > 1:
            raise NotWellFormed
        return joined(node, conditions, self._arity)


def check_loop(deadness: FrameDeadness) -> None:
    """Raise NotWellFormed unless the frame is a loop as tf.while_loop builds loops."""
    predicate = deadness.loop_predicate
    # A dead condition ends a loop, too, but a step of a plan asks only whether the condition is true.
    if predicate is None or deadness.conditions[predicate.node]:
        raise NotWellFormed
    # tf.while_loop puts the NextIteration behind the true output of a Switch, and the Exit behind the false one.
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
        # A loop is a single step. A kernel that waits inside it, as at an empty queue, would keep the node that it waits
        # for from running.
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
        # The value belongs to the iteration that the Merge begins: for another reader there is no place among the steps.
        if any(n.op not in MERGE or node in n.control_inputs for n in consumers):
            raise NotWellFormed
    elif node.op in ENTER:
        # A constant of a loop is alive in every iteration, so the Merge would have two live inputs from the second on.
        if any(n.op in MERGE and node.output() in n.inputs for n in consumers):
            raise NotWellFormed
    # The second output tells which input was alive, which a slot carried from iteration to iteration does not know.
    elif node.op in MERGE and deadness.is_loop_merge(node) and any(node.output(1) in n.inputs for n in consumers):
        raise NotWellFormed


class Slots:
    """The slots of a frame, numbered as they are asked for. `shared` are the values that are a variable's own memory."""

    def __init__(self, deadness: FrameDeadness) -> None:
        self.deadness = deadness
        self.units = deadness.units
        self.run = deadness.run
        self.numbers: dict[Output | Node, int] = {}
        self.originals: dict[Output, Output] = {}
        self.share(frozenset() if self.units.frame.parent else self.shared_memory())

    def share(self, values: frozenset[Output]) -> None:
        """Set the values that are a variable's own memory."""
        self.shared = values
        self.has_memory = self.run.has_references or bool(values)
        """True if a step may read a variable's reference or memory."""
        self.originals.clear()

    def slot(self, value: Output | Node) -> int:
        return self.numbers.setdefault(value, len(self.numbers))

    def slots_of(self, values: Sequence[Output]) -> tuple[int, ...]:
        """Return the slots of values, or of the values that are passed on."""
        # Most values have a number already, and need no walk past the nodes that pass them on: no copy has a number.
        slots: Any = tuple(map(self.numbers.get, values))
        if None not in slots:
            return slots  # type: ignore[no-any-return]
        return tuple([self.slot(self.canonical(v)) if slot is None else slot for v, slot in zip(values, slots)])

    def canonical(self, value: Output) -> Output:
        """Return the output that `value` is a copy of: nodes that only pass a value on take no step."""
        known = self.originals.get(value)
        return trail_end(value, self._passed_on, self.originals) if known is None else known

    def _passed_on(self, value: Output) -> Output | None:
        if value.node.op not in self.run.passing_ops or value in self.run.fed or not self.is_free(value.node):
            return None
        return value.node.inputs[0]

    def is_free(self, node: Node) -> bool:
        """Return True if every output of a node at this level, whose op may pass on, is the node's first input."""
        # A Snapshot keeps the numbers of its time although the variable changes later, so it has a step that copies.
        if node.op == "Snapshot" and self.canonical(node.inputs[0]) in self.shared:
            return False
        # A reference is read where this node stands: behind it, the variable may have been written again. And with a
        # dead control input the node is dead although its input is alive, which the slot of the input cannot tell.
        if is_transparent(node):
            return not dereferenced_inputs(node, self.run.definition(node)) and not self.deadness.has_unseen_control(node)
        if self.deadness.loop_predicate is None or self.units.owner(node) is not node:
            return False
        return node.is_loop_condition or node.op in (*NEXT_ITERATION, *EXIT) or self.deadness.is_loop_switch(node)

    def written(self, outputs: Sequence[Output]) -> tuple[int, ...]:
        """Return the slots that outputs are written to; the slot of a fed output is never read."""
        numbers, fed = self.numbers, self.run.fed
        if not fed.isdisjoint(outputs):
            # The slot of a fed value holds the feed, which the result of a node with other, unfed outputs must not replace.
            outputs = [value if value not in fed else Output(value.node, -1 - value.index) for value in outputs]
        return tuple([numbers.setdefault(value, len(numbers)) for value in outputs])

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
        writing = nodes_of_kind(self.run.nodes, _keeps_or_writes)
        if not writing:
            return frozenset()
        first_write: dict[Node, int] = {}
        trails: dict[Output, Output] = {}
        for i, unit in enumerate(self.units.order):
            for node in [unit] if isinstance(unit, Node) else unit.nodes_within():
                for owner in written_variables(node, trails):
                    first_write.setdefault(owner, i)
        nodes = [unit for unit in self.units.order if isinstance(unit, Node)]
        pipeline = (node for node in nodes if has_fact(node.op, "input_pipeline"))
        captured = [node.inputs[i] for node in pipeline for i in kept_inputs(node, self.run.definition(node))]
        if not first_write and not captured:
            return frozenset()
        memory = memory_of_variables(nodes, self.run.fed)
        uses = [(i, value) for i, unit in enumerate(self.units.order) for value in self.units.values_of(unit)]
        # A fetch is read after all steps, so after every write.
        uses += [(len(self.units.order), fetch) for fetch in self.run.fetches if isinstance(fetch, Output)]
        never = len(self.units.order) + 1
        late = {owner for i, value in uses for owner in memory.get(value, ()) if i >= first_write.get(owner, never)}
        late |= {owner for value in captured for owner in memory.get(value, ()) if is_written(owner)}
        return frozenset(value for value, owners in memory.items() if not late.isdisjoint(owners))


def _keeps_or_writes(kind: NodeKinds) -> bool:
    return has_fact(kind.op, "side_effect") or has_fact(kind.op, "input_pipeline")


class FrameSteps:
    """The steps of a frame; a loop inside the frame is a single step."""

    def __init__(self, run: Selection, frame: Frame, has_races: bool = False) -> None:
        self.run = run
        self.units = Units(run, frame, has_races)
        self.deadness = FrameDeadness(self.units)
        self.slots = Slots(self.deadness)

    def steps(self, units: Iterable[Unit]) -> Iterator[Step]:
        """Yield the steps of nodes and loops; no step for a node that only passes a value on."""
        passing = self.run.passing_ops
        for unit in units:
            if isinstance(unit, Frame):
                yield self.loop_step(unit)
            elif unit.op not in passing or not (self.slots.is_free(unit) or self.is_loop_merge(unit)):
                yield self.node_step(unit)

    def is_loop_merge(self, node: Node) -> bool:
        return node.op in MERGE and self.deadness.is_loop_merge(node)

    def node_step(self, node: Node) -> Step:
        values = node.outputs() or [Output(node, i) for i in range(len(self.run.definition(node).output_dtypes(node.attrs)))]
        outputs = self.slots.written(values)
        step = Step(node, self.slots.slots_of(node.inputs), outputs)
        if node.op in CALL_KINDS and is_partly_read(node):
            step.unused = self.run.unused_outputs(node)
        if self.deadness.conditions[node] and node.op not in MERGE and self.deadness.is_guarded(node):
            self.guard(step)
        if self.slots.has_memory:
            self.note_memory(step)
        return step

    def guard(self, step: Step) -> None:
        """Note that a step may meet dead values."""
        step.is_guarded = True
        step.tells_deadness = not step.outputs or step.node.op in SWITCH
        # A node without outputs has no value that could be dead, and a Switch is alive though one of its outputs is dead:
        # their own deadness takes a slot.
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
        condition, *exit_slots = inner.slots.slots_of([inner.deadness.loop_predicate, *(node.output() for node in exits)])
        is_guarded = self.deadness.is_guarded(frame)
        invariant = (slot for node, slot in entering if node.attr("is_constant"))
        # Constants are read in every iteration; what the next iteration takes is copied only after the last step of this one.
        add_loop_releases(parts, lasting={*invariant, *(a for a, _ in carried), condition}, exits=exit_slots)
        head, body, tail = map(tuple, parts)
        return Loop(
            inner.deadness.loop_predicate.node,
            tuple(self.slots.slot(sources[node]) for node, _ in entering),
            self.slots.written([node.output() for node in exits]),
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
            # A variable that an iteration leaves as it is needs no copy.
            carried=tuple((a, b) for a, b in carried if a != b),
            exits=tuple(exit_slots),
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
        ends = self.slots.slots_of([_input_with_op(merge, NEXT_ITERATION) for merge in merges])
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
        """True if a reference arrives at an Enter and its value enters the loop."""
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
            # A unit that waits for neither side of the loop's condition runs before each decision.
            condition = self.deadness.conditions[unit]
            part = body if taken in condition else tail if left in condition else head
            part += self.steps((unit,))
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
