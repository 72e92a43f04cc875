"""From fetches and feeds to a plan: which nodes run, in which order, and where each value lives and dies."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from ..catalog import OpDef
from ..control_flow.conditions import (
    ALWAYS,
    ENTER,
    EXIT,
    FREE,
    LOOP_OPS,
    MERGE,
    NEXT_ITERATION,
    SWITCH,
    Condition,
    Frame,
    assign_frames,
    is_contradiction,
    joined,
    predicate_of,
)
from ..control_flow.references import (
    dereferenced_inputs,
    is_view,
    memory_of_variables,
    memory_outputs,
    passed_references,
    written_reference,
)
from ..errors import InvalidArgumentError
from ..functions.call_kinds import PARTLY_READ
from ..graph import Graph, Node, Output
from ..ordering.races import Race, find_races
from ..ordering.scheduling import construction_order, execution_order, is_bypassed
from ..registry import has_fact
from ..traversal import topological_order

_PLACEHOLDERS: Final = ("Placeholder", "PlaceholderV2", "_Arg", "_DeviceArg")


@dataclasses.dataclass(frozen=True, slots=True)
class Step:
    """One node to run: the slots of its inputs and outputs, and those that nobody reads after it.

    `dereferenced` lists positions among the inputs where a variable's reference arrives and its value is wanted, `references`
    those where it is passed on and must lead to an initialized variable, `shared` those where the variable's memory is passed
    on. The result of a step that `is_view` is the memory that it takes first.
    A guarded step may meet dead values; `controls` are then the slots that tell whether its control inputs are alive, and
    `tells_liveness` says that its last output slot tells whether it was alive itself. `unused` lists outputs of a call or
    conditional that nobody reads.
    """

    node: Node
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    dereferenced: tuple[int, ...] = ()
    is_guarded: bool = False
    controls: tuple[int, ...] = ()
    tells_liveness: bool = False
    released: tuple[int, ...] = ()
    unused: tuple[int, ...] = ()
    references: tuple[int, ...] = ()
    shared: tuple[int, ...] = ()
    is_view: bool = False


@dataclasses.dataclass(frozen=True, slots=True)
class Loop(Step):
    """A well-formed V1 loop as one step of the frame around it; `node` is its LoopCond.

    Each iteration runs `head`, and while the value in slot `condition` is true, `body`; after that `tail` runs once. All three
    work on slots of the loop's own. `inputs` are written to the slots `entries` at the start, `carried` are the pairs
    (from, to) that an iteration hands to the next, and the values of the slots `exits` become the outputs.
    """

    enters: tuple[Node, ...] = ()
    head: tuple[Step, ...] = ()
    body: tuple[Step, ...] = ()
    tail: tuple[Step, ...] = ()
    slots: int = 0
    entries: tuple[int, ...] = ()
    condition: int = 0
    carried: tuple[tuple[int, int], ...] = ()
    exits: tuple[int, ...] = ()


@dataclasses.dataclass(frozen=True, slots=True)
class Plan:
    """Steps in order; `feeds` and `fetches` are slots, with None for an operation that is fetched.

    Where `needs_dataflow`, the loops are not of the form that tf.while_loop gives them: the steps are in no order, and
    dataflow.py runs them as TensorFlow's executor does. `bypassed` are nodes that pass their input on and do not run.
    """

    steps: tuple[Step, ...]
    slots: int
    feeds: tuple[int, ...]
    fetches: tuple[int | None, ...]
    targets: tuple[Output | Node, ...]
    fed: tuple[Output, ...] = ()
    needs_dataflow: bool = False
    bypassed: frozenset[Node] = frozenset()


def compile_plan(graph: Graph, fetches: Sequence[Output | Node], feeds: Sequence[Output] = ()) -> Plan:
    """The plan that computes `fetches` given `feeds`; structural errors name the node."""
    planner = _Planner(graph, fetches, feeds)
    try:
        return planner.plan()
    except _NotWellFormed:
        return planner.dataflow_plan()


def races_of(graph: Graph, fetches: Sequence[Output | Node], feeds: Sequence[Output] = ()) -> list[Race]:
    """The accesses to variables and tables, and the draws of random ops, that no path orders in a run of `fetches`."""
    return _Planner(graph, fetches, feeds).races()


def needed_nodes(fetches: Sequence[Output | Node], feeds: Sequence[Output] = ()) -> set[Node]:
    """The nodes that run for `fetches`: cut at feeds, back along data and control edges."""
    fed = frozenset(feeds)
    stack = [f if isinstance(f, Node) else f.node for f in fetches if f not in fed]
    found = set(stack)
    while stack:
        for source in needed_sources(stack.pop(), fed):
            if source is not None and source not in found:
                found.add(source)
                stack.append(source)
    return found


def unused_outputs(node: Node, needed: Container[Node], fetches: Sequence[Output | Node]) -> tuple[int, ...]:
    """The outputs of a node that neither the nodes that run nor the fetches read."""
    read = {value.index for user in node.uses if user in needed for value in user.inputs if value.node is node}
    read |= {f.index for f in fetches if isinstance(f, Output) and f.node is node}
    return tuple(i for i in range(len(node.output_dtypes)) if i not in read)


def needed_sources(node: Node, fed: frozenset[Output]) -> list[Node | None]:
    """The nodes that must run before `node`, None for a fed input. Waiting for a fed placeholder is waiting for nothing."""
    found: list[Node | None] = [None if value in fed else value.node for value in node.inputs]
    for control in node.control_inputs:
        if not (control.op in _PLACEHOLDERS and control.output() in fed):
            found.append(control)
    return found


class _NotWellFormed(Exception):
    """A loop that does not become a plain loop over steps."""


class _Planner:
    """The state of one compilation: what is needed, and in which frames it lies."""

    def __init__(self, graph: Graph, fetches: Sequence[Output | Node], feeds: Sequence[Output]) -> None:
        self.graph = graph
        self.fetches = fetches
        self.feeds = feeds
        self.fed = frozenset(feeds)
        needed = needed_nodes(fetches, feeds)
        self.needed = needed
        self.nodes = [node for node in graph if node in needed]
        self.root = Frame("", None)
        self.frames: Mapping[Node, Frame] = {}
        if any(node.op in LOOP_OPS for node in self.nodes):
            self.root, self.frames = assign_frames(self.nodes, lambda node: needed_sources(node, self.fed))
        else:
            self.root.nodes = self.nodes
        self.has_races = False

    def races(self) -> list[Race]:
        """The accesses to state in this run that no path orders."""
        return find_races(self.graph, self.nodes, lambda node: needed_sources(node, self.fed), self.frames, self.fed)

    def plan(self) -> Plan:
        races = self.races()
        self.has_races = bool(races)
        if any(race.loop is not None for race in races):
            raise _NotWellFormed
        if self.frames and len(self.frames) < len(self.nodes):
            raise _NotWellFormed
        for fetch in self.fetches:
            if isinstance(fetch, Output) and fetch not in self.fed and self.frame_around(fetch.node) is not self.root:
                raise _NotWellFormed
        level = _Level(self, self.root)
        feeds = tuple(level.slot(value) for value in self.feeds)
        steps = [step for unit in level.units for step in level.steps(unit)]
        fetches = tuple(level.slot(level.canonical(f)) if isinstance(f, Output) else None for f in self.fetches)
        released = with_releases(steps, {f for f in fetches if f is not None})
        return Plan(tuple(released), len(level.slots), feeds, fetches, tuple(self.fetches), tuple(self.feeds))

    def dataflow_plan(self) -> Plan:
        """The plan for dataflow.py: steps in no order, whose slots say no more than how many outputs there are."""
        nodes = self.construction_order()
        bypassed = frozenset(node for node in nodes if self.is_bypassed(node))
        written = {owner for node in nodes if (owner := written_reference(node)) is not None}
        memory = memory_of_variables(nodes, self.fed) if written else {}
        shared = {value for value, owner in memory.items() if owner in written}
        steps = []
        for node in nodes:
            if node in bypassed:
                continue
            definition = self.definition(node)
            outputs = tuple(range(len(definition.output_dtypes(node.attrs))))
            unused = self.unused_outputs(node) if node.op in PARTLY_READ else ()
            positions = [i for i, value in enumerate(node.inputs) if value in shared]
            steps.append(dataclasses.replace(_following(node, definition, shared, positions), outputs=outputs, unused=unused))
        return Plan(tuple(steps), 0, (), (), tuple(self.fetches), tuple(self.feeds), True, bypassed)

    def is_bypassed(self, node: Node) -> bool:
        """True for a node that TensorFlow's graph optimizer takes out, as all that it does is pass a value on."""
        return is_bypassed(node, lambda value: value in self.fed or value in self.fetches or value.node in self.fetches)

    def behind(self, value: Output) -> Output:
        """The value that reaches the user of `value` past what is bypassed."""
        while value not in self.fed and self.is_bypassed(value.node):
            value = value.node.inputs[0]
        return value

    def construction_order(self) -> list[Node]:
        """The nodes in the order in which TensorFlow makes them, where what takes a feed waits for its node, made last."""
        units: list[Any] = [*self.nodes, *sorted(self.feeds, key=str)]
        return [unit for unit in construction_order(units, self.forward_sources) if isinstance(unit, Node)]

    def forward_sources(self, unit: Any) -> Iterator[Any]:
        """What a node takes data or control from: nodes and fed values. Back edges of loops are left out."""
        if isinstance(unit, Output):
            return
        for value, source in itertools.zip_longest(unit.inputs, needed_sources(unit, self.fed)):
            if source is None:
                yield value
            elif not (unit.op in MERGE and source.op in NEXT_ITERATION):
                yield source

    def frame_around(self, node: Node) -> Frame:
        """The frame that a node's outputs are in."""
        frame = self.frames.get(node, self.root)
        return frame.parent if node.op in EXIT and frame.parent is not None else frame

    def unused_outputs(self, node: Node) -> tuple[int, ...]:
        """The outputs of a node that this run does not read."""
        return unused_outputs(node, self.needed, self.fetches)

    def definition(self, node: Node) -> OpDef:
        """The interface of a node's op or of the library function that it calls by name."""
        return definition_in(self.graph, node)


def definition_in(graph: Graph, node: Node) -> OpDef:
    """The interface of a node's op or of the library function that it calls by name; InvalidArgumentError without either."""
    definition = node.op_def
    if definition is not None:
        return definition
    if node.op in graph.functions:
        return graph.functions[node.op].signature
    hint = f"`--map-op {node.op}=OTHER` or `--op-library FILE` can supply it"
    raise InvalidArgumentError(f"op '{node.op}' is not declared", node=node.name, op=node.op, hint=hint)


def _following(node: Node, definition: OpDef, shared: Container[Output], positions: Sequence[int]) -> Step:
    """A step that says what it does with references and, at `positions` of its inputs, with the memory of variables.

    `shared` are the values that are such memory.
    """
    wanted = dereferenced_inputs(node, definition)
    outputs = memory_outputs(node)
    if not outputs or outputs[0] not in shared:
        return Step(node, (), (), tuple(dict.fromkeys((*wanted, *positions))), references=passed_references(node))
    first = len(node.inputs) if node.op in MERGE else 1
    rest = tuple(i for i in dict.fromkeys((*wanted, *positions)) if i >= first)
    passed = tuple(i for i in wanted if i < first)
    return Step(node, (), (), rest, references=passed_references(node), shared=passed, is_view=is_view(node))


def _nodes_within(frame: Frame) -> Iterator[Node]:
    """The nodes of a loop and of the loops inside it."""
    yield from frame.nodes
    for inner in frame.children:
        yield from _nodes_within(inner)


_Unit = Node | Frame


class _Level:
    """The nodes of one frame, and the loops directly inside it, on their way to steps."""

    def __init__(self, planner: _Planner, frame: Frame) -> None:
        self.planner = planner
        self.frame = frame
        self.slots: dict[Output | Node, int] = {}
        self.conditions: dict[_Unit, Condition] = {}
        self.arity: dict[Output | Node, int] = {}
        self.loop_predicate = next((n.output() for n in frame.nodes if n.op == "LoopCond"), None) if frame.parent else None
        nodes = [n for n in frame.nodes if n.op not in ENTER] if frame.parent else frame.nodes
        units: list[Any] = [*nodes, *frame.children]
        order: list[Any] = topological_order(units, self.predecessors)
        self.units: list[_Unit] = self.execution_order() if planner.has_races and frame.parent is None else order
        for unit in self.units:
            self.conditions[unit] = self.condition(unit)
        self.shared = self.shared_memory() if frame.parent is None else frozenset()

    # Edges

    def owner(self, source: Node) -> _Unit | None:
        """What stands for a node at this level: the node, the loop an Exit leaves, None for an Enter into this frame."""
        frame = self.planner.frames.get(source, self.frame)
        if frame is not self.frame:
            return frame
        return None if source.op in ENTER else source

    def sources(self, unit: _Unit) -> Iterator[Node]:
        """The nodes that a node, or the Enter nodes of a loop, take data or control from; back edges are left out."""
        for node in [unit] if isinstance(unit, Node) else unit.with_op(ENTER):
            for source in needed_sources(node, self.planner.fed):
                if source is not None and not (node.op in MERGE and source.op in NEXT_ITERATION):
                    yield source

    def predecessors(self, unit: Any) -> Iterator[Any]:
        return (owner for source in self.sources(unit) if (owner := self.owner(source)) is not None)

    def execution_order(self) -> list[_Unit]:
        """The units in the order in which TensorFlow's executor runs them, a loop as if it were one node."""
        units: list[Any] = [*self.frame.nodes, *self.frame.children, *sorted(self.planner.feeds, key=str)]
        made = construction_order(units, lambda unit: itertools.chain(*self.edges(unit)))
        order = execution_order(made, self.edges, lambda unit: "" if isinstance(unit, Output) else unit.op)
        found: dict[_Unit, None] = {}
        for unit in order:
            if not isinstance(unit, Output):
                found |= dict.fromkeys((*self.bypassed_before(unit), unit))
        return list(found)

    def bypassed_before(self, unit: _Unit) -> list[Node]:
        """The bypassed nodes behind which a unit's inputs lie, in order."""
        found = []
        for value in self.values_of(unit):
            while value not in self.planner.fed and self.planner.is_bypassed(value.node):
                found.append(value.node)
                value = value.node.inputs[0]
        return found[::-1]

    def edges(self, unit: Any) -> tuple[list[Any], list[Any]]:
        """What a unit takes data and control from: units, and fed values."""
        fed = self.planner.fed
        nodes = [] if isinstance(unit, Output) else [unit] if isinstance(unit, Node) else unit.with_op(ENTER)
        taken = [self.planner.behind(value) for node in nodes for value in node.inputs]
        values = [value if value in fed else self.owner(value.node) for value in taken]
        controls = [source for node in nodes for source in needed_sources(node, fed)[len(node.inputs) :]]
        return values, [self.owner(source) for source in controls if source is not None]

    # The memory of reference variables

    def shared_memory(self) -> frozenset[Output]:
        """The values that are a variable's own memory, where one of them is used after a write to the variable.

        TensorFlow's kernels write in place, so that what was read before shows what was written. Where nothing is used later,
        the value that was read will do.
        """
        first_write: dict[Node, int] = {}
        for i, unit in enumerate(self.units):
            for node in [unit] if isinstance(unit, Node) else _nodes_within(unit):
                if (owner := written_reference(node)) is not None:
                    first_write.setdefault(owner, i)
        if not first_write:
            return frozenset()
        memory = memory_of_variables((unit for unit in self.units if isinstance(unit, Node)), self.planner.fed)
        uses = [(i, value) for i, unit in enumerate(self.units) for value in self.values_of(unit)]
        uses += [(len(self.units), fetch) for fetch in self.planner.fetches if isinstance(fetch, Output)]
        late = {memory[v] for i, v in uses if v in memory and i >= first_write.get(memory[v], len(self.units) + 1)}
        return frozenset(value for value, owner in memory.items() if owner in late)

    def values_of(self, unit: _Unit) -> Iterator[Output]:
        """The values that a node, or the Enter nodes of a loop, take."""
        for node in [unit] if isinstance(unit, Node) else unit.with_op(ENTER):
            yield from node.inputs

    def share_memory(self, inner: _Level) -> dict[Node, Output]:
        """What enters an inner loop. What is a variable's memory stays that where the loop neither carries nor returns it."""
        entering = {enter: self.canonical(enter.inputs[0]) for enter in inner.frame.with_op(ENTER)}
        ends = inner.frame.with_op((*NEXT_ITERATION, *EXIT, "LoopCond"))
        kept = {inner.canonical(node.inputs[0]) for node in ends}
        inner.shared = frozenset(
            enter.output()
            for enter in inner.frame.invariants
            if entering[enter] in self.shared and enter.output() not in kept and enter.output() not in self.planner.fed
        )
        return entering

    # Conditions

    def condition(self, unit: _Unit) -> Condition:
        """When a node or loop is alive."""
        if isinstance(unit, Frame):
            return self.loop_condition(unit)
        if unit.op in MERGE:
            return self.merge_condition(unit)
        return ALWAYS if unit.op == "ControlTrigger" else self.condition_of_inputs(unit)

    def loop_condition(self, frame: Frame) -> Condition:
        """When all that enters a loop is alive: when its variables are; constants may come from farther out."""
        enters = frame.with_op(ENTER)
        found = [self.condition_of_inputs(enter) for enter in enters]
        condition = ALWAYS.union(*found)
        if any(c != condition and not enter.attr("is_constant") for enter, c in zip(enters, found)):
            raise _NotWellFormed
        return condition

    def condition_of_inputs(self, node: Node) -> Condition:
        found = [self.output_condition(value) for value in node.inputs]
        found += [self.conditions.get(owner, ALWAYS) for c in node.control_inputs if (owner := self.owner(c)) is not None]
        return ALWAYS.union(*found) if any(found) else ALWAYS

    def output_condition(self, value: Output) -> Condition:
        if value in self.planner.fed:
            return ALWAYS
        owner = self.owner(value.node)
        if owner is None:
            return ALWAYS
        condition = self.conditions[owner]
        if value.node.op not in SWITCH or value.node is not owner:
            return condition
        predicate = predicate_of(value.node)
        self.arity[predicate] = len(value.node.output_dtypes)
        return condition | {(predicate, value.index)}

    def merge_condition(self, node: Node) -> Condition:
        if self.is_loop_merge(node):
            return ALWAYS
        conditions = [self.output_condition(value) for value in node.inputs]
        if self.loop_predicate is not None and len({_branch(c, self.loop_predicate) for c in conditions}) > 1:
            raise _NotWellFormed
        return joined(node, conditions, self.arity)

    def is_loop_merge(self, node: Node) -> bool:
        """True for the Merge of a loop variable; _NotWellFormed for any other that closes a cycle."""
        if not any(value.node.op in NEXT_ITERATION for value in node.inputs if value not in self.planner.fed):
            return False
        kinds = sorted(value.node.op.removeprefix("Ref") for value in node.inputs)
        well_formed = kinds == ["Enter", "NextIteration"] and not node.control_inputs and self.frame.parent is not None
        if not well_formed or any(value in self.planner.fed for value in node.inputs):
            raise _NotWellFormed
        return True

    def is_guarded(self, unit: _Unit) -> bool:
        """True where a value it takes may be dead though its part of the loop runs."""
        return any(predicate != self.loop_predicate for predicate, _ in self.conditions[unit])

    # Slots and steps

    def slot(self, value: Output | Node) -> int:
        return self.slots.setdefault(value, len(self.slots))

    def canonical(self, value: Output) -> Output:
        """The output that `value` is a copy of: nodes that only pass a value on take no step."""
        while value not in self.planner.fed and self.is_free(value.node):
            value = value.node.inputs[0]
        return value

    def is_free(self, node: Node) -> bool:
        """True where every output of a node at this level is its first input."""
        if node.op == "Snapshot" and self.canonical(node.inputs[0]) in self.shared:
            return False
        if node.op in FREE:
            return not dereferenced_inputs(node, self.planner.definition(node)) and not self.has_unseen_control(node)
        if self.loop_predicate is None or self.owner(node) is not node:
            return False
        return node.op in (*NEXT_ITERATION, *EXIT, "LoopCond") or self.is_loop_switch(node)

    def has_unseen_control(self, node: Node) -> bool:
        """True where a control input may be dead and the data input alive."""
        return bool(node.control_inputs) and self.conditions[node] != self.output_condition(node.inputs[0])

    def is_loop_switch(self, node: Node) -> bool:
        return node.op in SWITCH and self.loop_predicate is not None and node.inputs[1] == self.loop_predicate

    def steps(self, unit: _Unit) -> list[Step]:
        """The step of a node or loop; none where it only passes a value on."""
        if isinstance(unit, Frame):
            return [self.loop_step(unit)]
        is_variable = unit.op in MERGE and self.is_loop_merge(unit)
        return [] if is_variable or self.is_free(unit) else [self.node_step(unit)]

    def node_step(self, node: Node) -> Step:
        definition = self.planner.definition(node)
        is_guarded = self.is_guarded(node) and node.op not in MERGE
        count = len(definition.output_dtypes(node.attrs))
        outputs = [self.output_slot(Output(node, i)) for i in range(count)]
        tells_liveness = is_guarded and (not outputs or node.op in SWITCH)
        values = [self.canonical(value) for value in node.inputs]
        following = _following(
            node, definition, self.shared, [i for i, value in enumerate(values) if value in self.shared]
        )
        return dataclasses.replace(
            following,
            inputs=tuple(self.slot(value) for value in values),
            outputs=(*outputs, self.slot(node)) if tells_liveness else tuple(outputs),
            is_guarded=is_guarded,
            controls=self.controls(node) if is_guarded else (),
            tells_liveness=tells_liveness,
            unused=self.planner.unused_outputs(node) if node.op in PARTLY_READ else (),
        )

    def controls(self, node: Node) -> tuple[int, ...]:
        """The slots that tell whether the control inputs of `node` are alive, where they may be dead."""
        found: dict[int, None] = {}
        for control in node.control_inputs:
            owner = self.owner(control)
            if owner is None or owner not in self.conditions or not self.is_guarded(owner):
                continue
            if control.op in SWITCH or not self.planner.definition(control).output_dtypes(control.attrs):
                found[self.slot(control)] = None
            else:
                found[self.slot(self.canonical(control.output()))] = None
        return tuple(found)

    def output_slot(self, output: Output) -> int:
        """The slot an output is written to; that of a fed one is never read."""
        return self.slot(output) if output not in self.planner.fed else self.slot(Output(output.node, -1 - output.index))

    def loop_step(self, frame: Frame) -> Loop:
        inner = _Level(self.planner, frame)
        sources = self.share_memory(inner)
        parts = inner.loop_parts()
        enters = frame.with_op(ENTER)
        merges = [n for n in frame.with_op(MERGE) if inner.is_loop_merge(n)]
        entering = [(_input_with_op(m, ENTER).node, inner.slot(m.output())) for m in merges]
        entering += [(n, inner.slot(n.output())) for n in enters if n.attr("is_constant")]
        carried = [(inner.slot(inner.canonical(_input_with_op(m, NEXT_ITERATION))), inner.slot(m.output())) for m in merges]
        exits = frame.with_op(EXIT)
        assert inner.loop_predicate is not None
        condition = inner.slot(inner.canonical(inner.loop_predicate))
        exit_slots = tuple(inner.slot(inner.canonical(n.output())) for n in exits)
        is_guarded = self.is_guarded(frame)
        head, body, tail = _with_loop_releases(
            parts,
            lasting={*(slot for node, slot in entering if node.attr("is_constant")), *(a for a, _ in carried), condition},
            exits=exit_slots,
        )
        return Loop(
            inner.loop_predicate.node,
            tuple(self.slot(sources[node]) for node, _ in entering),
            tuple(self.output_slot(node.output()) for node in exits),
            tuple(i for i, (node, _) in enumerate(entering) if self.is_read_at(node, sources[node], inner)),
            is_guarded,
            tuple(dict.fromkeys(s for n in enters for s in self.controls(n))) if is_guarded else (),
            references=tuple(i for i, (n, _) in enumerate(entering) if passed_references(n)),
            enters=tuple(enters),
            head=head,
            body=body,
            tail=tail,
            slots=len(inner.slots),
            entries=tuple(slot for _, slot in entering),
            condition=condition,
            carried=tuple((a, b) for a, b in carried if a != b),
            exits=exit_slots,
        )

    def is_read_at(self, enter: Node, source: Output, inner: _Level) -> bool:
        """True where a reference arrives at an Enter and its value enters the loop."""
        is_reference = source in self.shared or bool(dereferenced_inputs(enter, self.planner.definition(enter)))
        return is_reference and enter.output() not in inner.shared

    def loop_parts(self) -> tuple[list[Step], list[Step], list[Step]]:
        """Head, body and tail; _NotWellFormed where the loop does not fall into these three."""
        self.check_loop()
        assert self.loop_predicate is not None
        taken, left = (self.loop_predicate, 1), (self.loop_predicate, 0)
        head: list[Step] = []
        body: list[Step] = []
        tail: list[Step] = []
        for unit in self.units:
            condition = self.conditions[unit]
            part = body if taken in condition else tail if left in condition else head
            part += self.steps(unit)
        return head, body, tail

    def check_loop(self) -> None:
        """_NotWellFormed unless this frame is a loop as tf.while_loop builds it."""
        predicate = self.loop_predicate
        if predicate is None or self.conditions[predicate.node]:
            raise _NotWellFormed
        expected = dict.fromkeys(NEXT_ITERATION, frozenset({(predicate, 1)}))
        expected |= dict.fromkeys(EXIT, frozenset({(predicate, 0)}))
        for unit in self.units:
            condition = self.conditions[unit]
            if is_contradiction(condition):
                raise _NotWellFormed
            if isinstance(unit, Frame):
                continue
            if unit.op in expected and condition != expected[unit.op]:
                raise _NotWellFormed
            if self.is_loop_switch(unit) and (condition or dereferenced_inputs(unit, self.planner.definition(unit))):
                raise _NotWellFormed
            if has_fact(unit.op, "blocks"):
                raise _NotWellFormed
        for node in self.frame.nodes:
            self.check_consumers(node)

    def check_consumers(self, node: Node) -> None:
        """A loop variable's Enter and NextIteration go to its Merge only, whose second output nobody reads."""
        consumers = [n for n in node.uses if n in self.planner.frames]
        if node.op in NEXT_ITERATION or (node.op in ENTER and not node.attr("is_constant")):
            if any(n.op not in MERGE or node in n.control_inputs for n in consumers):
                raise _NotWellFormed
        elif node.op in ENTER:
            if any(n.op in MERGE and node.output() in n.inputs for n in consumers):
                raise _NotWellFormed
        elif node.op in MERGE and self.is_loop_merge(node) and any(node.output(1) in n.inputs for n in consumers):
            raise _NotWellFormed


def _branch(condition: Condition, predicate: Output) -> int | None:
    """Which branch of `predicate` a condition names."""
    return next((branch for key, branch in condition if key == predicate), None)


def _input_with_op(node: Node, ops: Sequence[str]) -> Output:
    return next(value for value in node.inputs if value.node.op in ops)


def with_releases(steps: Sequence[Step], kept: set[int]) -> Iterator[Step]:
    """The steps with the slots to clear after each: those that neither a later step nor a fetch reads."""
    last_use: dict[int, int] = {}
    for i, step in enumerate(steps):
        for slot in (*step.outputs, *step.inputs, *step.controls):
            last_use[slot] = i
    for i, step in enumerate(steps):
        slots = dict.fromkeys((*step.outputs, *step.inputs, *step.controls))
        released = tuple(slot for slot in slots if last_use[slot] == i and slot not in kept)
        yield dataclasses.replace(step, released=released)


def _with_loop_releases(
    parts: tuple[list[Step], list[Step], list[Step]], lasting: set[int], exits: Iterable[int]
) -> tuple[tuple[Step, ...], tuple[Step, ...], tuple[Step, ...]]:
    """Head, body and tail with releases: constants and `lasting` slots stay, and what follows the head may need its values."""
    head, body, tail = parts
    lasting = lasting | {slot for step in (*head, *body, *tail) if step.node.op == "Const" for slot in step.outputs}
    needed_after = {*exits, *(slot for step in tail for slot in (*step.inputs, *step.controls))}
    run = list(with_releases([*head, *body], lasting))
    for i, step in enumerate(run[: len(head)]):
        run[i] = dataclasses.replace(step, released=tuple(s for s in step.released if s not in needed_after))
    return tuple(run[: len(head)]), tuple(run[len(head) :]), tuple(tail)
