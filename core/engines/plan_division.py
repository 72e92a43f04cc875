"""Division of a plan into groups for an engine, and the rest.

The level of a step is the largest number of crossings on a path to the step, from a step that the engine takes to a refused
step. An edge never leads to a lower level, and never from an able step to a refused step of the same level: so all able
steps of a level are a convex group, and going by levels, the rest before the group, is a topological order. (Counting the
crossings back gives an equally good order, but a step that waits for a variable's read would not share a group with steps
that do not.)
"""

from __future__ import annotations

import collections
import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from ..graph.callers import function_references
from ..graph.graph import Graph, Node, Output
from ..graph.purity import impurity
from ..graph.traversal import sources_first
from ..planning.effects import READ, accesses
from ..planning.plan import Loop, Plan, Step, with_releases
from ..planning.reachability import needed_sources
from ..registry.op_facts import has_fact
from ..support import dataclasses
from ..support.errors import DeadlineExceededError, TfgError
from ..support.user_signals import pass_on
from ..types import dtypes
from ..types.dtypes import DType
from . import reasons
from .protocol import (
    ENDING,
    Body,
    Cluster,
    Declined,
    Engine,
    Engined,
    EngineValue,
    ShapePrecompute,
    UnsupportedNodes,
    inner_steps,
    inputs_of,
    results_of,
)
from .reasons import Reason
from .step_bodies import (
    COUNTS,
    body_of,
    constants_by_slot,
    fixed_inputs,
    is_constant_step,
    is_held_together,
    only_decides,
    without_kernel,
)

_Reach: TypeAlias = tuple[int, int]
"""The highest levels of the able and of the other steps that something waits for."""
_NOTHING: Final = -1
_FREE: Final[_Reach] = (_NOTHING, _NOTHING)


@dataclasses.dataclass(frozen=True, slots=True)
class Partition:
    """A divided plan: the reasons for the remaining steps, by node, and the number of steps in groups too small."""

    plan: Plan
    refusals: Mapping[Node, Reason]
    too_small: int = 0


def partition(plan: Plan, graph: Graph, engine: Engine, refused: Mapping[Node, Reason] = MappingProxyType({})) -> Partition:
    """Divide a plan between `engine` and NumPy, in linear time; NumPy gets the nodes `refused` in any case."""
    # Dataflow runs node by node as values arrive, so there is no order of steps from which a group could be cut.
    if plan.needs_dataflow:
        return Partition(plan, {step.node: reasons.LOOPS_BY_NODE for step in plan.steps})
    original, refusals = plan, {**_refusals(plan, graph, engine), **refused}
    fetched = {slot for slot in plan.fetches if slot is not None}
    # Refusing torn nodes moves levels, and a level that was large enough may no longer be. So the division begins anew; it
    # ends, because each round refuses a node more.
    while True:
        able = [step.node not in refusals and not is_free(step) for step in original.steps]
        precomputed = _Precomputing(original, graph, able, engine).precomputed()
        plan, able = precomputed.plan, precomputed.able
        levels = _Levels(plan, graph, able, precomputed.instead).levels
        sizes = collections.Counter(level for level, is_able in zip(levels, able) if is_able)
        # A group costs a call and copies of its inputs and results, whatever it computes.
        worth = {level for level, size in sizes.items() if size >= engine.smallest}
        worth |= {levels[i] for i, step in enumerate(plan.steps) if able[i] and _is_worth_a_group(step)}
        units = _units(levels, [is_able and level in worth for level, is_able in zip(levels, able)], engine.largest)
        torn = _torn(plan, units, able, fetched) if engine.takes_control_flow else []
        if not torn:
            break
        refusals |= dict.fromkeys(torn, reasons.TORN)
    # In a level the steps of NumPy come first, as groups of the level may wait for them, and no step of NumPy waits for a
    # group of its level. Joins come last, since they may wait for both.
    order = sorted(range(len(able)), key=lambda i: (levels[i], 2 * _is_join(plan.steps[i]) or able[i], i))
    steps = list(_UnitGrouping(plan, units, fetched).steps(order))
    small = sum(size for level, size in sizes.items() if level not in worth)
    return Partition(dataclasses.replace(plan, steps=with_releases(steps, fetched)), refusals, small)


def _units(levels: Sequence[int], taken: Sequence[bool], largest: int) -> list[int | None]:
    """Return for each taken step the number of the group: steps of a level, in pieces of at most `largest`, in order."""
    numbers: dict[tuple[int, int], int] = {}
    sizes: collections.Counter[int] = collections.Counter()
    units: list[int | None] = []
    for level, is_taken in zip(levels, taken):
        piece = (level, sizes[level] // largest)
        units.append(numbers.setdefault(piece, len(numbers)) if is_taken else None)
        sizes[level] += is_taken
    return units


def _is_worth_a_group(step: Step) -> bool:
    """Return True for a step worth a group of its own: only an engine runs the step, or the step may run for long."""
    calls = next(function_references(step.node), None) is not None
    return calls or isinstance(step, Loop) or has_fact(step.node.op, "program")


def _torn(plan: Plan, units: Sequence[int | None], able: Sequence[bool], fetched: Set[int]) -> list[Node]:
    """Return the able nodes that cannot join a group, as they work on non-tensors shared with steps outside the group."""
    # A list or an object of the run exists in the engine alone. NumPy has no form of it, nor has another group, so that all
    # steps on it must be in one group, or none.
    touching: dict[int, set[int | None]] = collections.defaultdict(set)
    working: dict[int, list[Node]] = collections.defaultdict(list)
    for step, unit, is_able in zip(plan.steps, units, able):
        for slot, value in (*zip(step.inputs, inputs_of(step)), *zip(step.outputs, results_of(step))):
            if is_held_together(value):
                touching[slot].add(unit)
                working[slot] += [step.node] if is_able else []
    for slot in {*fetched, *plan.feeds} & touching.keys():
        touching[slot].add(None)
    torn = (slot for slot, numbers in touching.items() if len(numbers) > 1 or None in numbers)
    return list(dict.fromkeys(node for slot in torn for node in working[slot]))


def _is_join(step: Step) -> bool:
    """Return True for a node that only waits and so may come at any time."""
    return (step.node.is_no_op or step.node.is_control_trigger) and not step.is_guarded


def is_free(step: Step) -> bool:
    """Return True for a step that does nothing in its turn: waiting for the step means waiting for its predecessors."""
    return is_constant_step(step) or _is_join(step)


def _refusals(plan: Plan, graph: Graph, engine: Engine) -> dict[Node, Reason]:
    """Return the reasons why steps run in NumPy: by their kind, and by the engine's refusals."""
    refusals: dict[Node, Reason] = {}
    # `known` has the impurity of each function, found once for all calls.
    known: dict[str, str | None] = {}
    for step in plan.steps:
        reason = None if is_free(step) else _ineligible(step, graph, known, engine)
        if reason is not None:
            refusals[step.node] = reason
    offered = [step for step in plan.steps if step.node not in refusals and not is_free(step)]
    inside = {step.node: offered_inside(step) for step in offered}
    nodes = [node for step in offered for node in inside[step.node]]
    try:
        refused = {node: reasons.of_engine(reason) for node, reason in engine.refuses(nodes, graph).items()}
    # An engine that fails to look at nodes is as one that refuses them: the run goes on in NumPy. The time limit of a run is
    # the user's, so it ends the run.
    except DeadlineExceededError:
        raise
    except Exception as error:
        pass_on(error)
        refused = dict.fromkeys(nodes, reasons.ANALYSIS_FAILED.of(error))
    for node, parts in inside.items():
        of_parts = ((part, refused[part]) for part in parts if part in refused)
        part, reason = next(of_parts, (node, None))
        if reason is not None:
            refusals[node] = reason if part is node else reason.within(f"in the loop, {part.op} '{part.name}'")
    return refusals


def offered_inside(step: Step) -> list[Node]:
    """Return the nodes that an engine is asked about for a step: the step's own, or the nodes in a loop."""
    if not isinstance(step, Loop):
        return [step.node]
    return [
        part.node
        for part in inner_steps((step,))
        if not (isinstance(part, Loop) or part.node.is_constant or _is_join(part) or only_decides(part))
    ]


def _ineligible(step: Step, graph: Graph, known: dict[str, str | None], engine: Engine) -> Reason | None:
    """Return the reason why no engine gets a step; None where an engine may."""
    if isinstance(step, Loop) and not engine.takes_control_flow:
        return reasons.V1_LOOP
    if step.is_guarded:
        return reasons.ON_BRANCH
    return ineligible_inside(step, graph, known, engine.takes_variables, engine.takes_control_flow)


def ineligible_inside(
    step: Step, graph: Graph, known: dict[str, str | None], takes_variables: bool, takes_control_flow: bool
) -> Reason | None:
    """Return the reason against a step that may lie on a branch, in a loop that the engine takes whole."""
    if isinstance(step, Loop):
        return _ineligible_loop(step, graph, known, takes_variables, takes_control_flow)
    if type(step) is not Step:
        return reasons.KEPT
    if takes_control_flow and _is_control_flow(step.node):
        return _impurity_of_calls(step.node, graph, known)
    return _ineligible_node(step, graph, known, takes_variables)


def _ineligible_loop(loop: Loop, graph: Graph, known: dict[str, str | None], *takes: bool) -> Reason | None:
    """Return the reason why no engine gets a V1 loop; no step inside may write to a variable."""
    # A V1 reference names the variable itself. An engine gets values, and a write of another thread would be invisible in the
    # loop.
    if loop.references or loop.shared:
        return reasons.BY_REFERENCE
    for part in (*loop.head, *loop.body, *loop.tail):
        if is_free(part):
            continue
        if only_decides(part):
            reason = reasons.BY_REFERENCE if any(map(_is_of_variable, part.node.inputs)) else None
        else:
            reason = reasons.WRITES_IN_LOOP if updates_variable(part.node) else ineligible_inside(part, graph, known, *takes)
        if reason is not None:
            return reason.within(f"in the loop, {part.node.op} '{part.node.name}'")
    return None


def _is_of_variable(value: Output) -> bool:
    """Return True for a reference, and for a handle that may lead to a variable."""
    return value.is_reference or (value.dtype is dtypes.resource and not is_held_together(value))


def _is_control_flow(node: Node) -> bool:
    """Return True for nodes that only engines with control flow get: calls, ops on lists, and checks."""
    values = (*node.inputs, *(node.output(i) for i in range(len(node.output_dtypes))))
    return (
        has_fact(node.op, "diagnostic")
        or any(map(is_held_together, values))
        or next(function_references(node), None) is not None
    )


def _impurity_of_calls(node: Node, graph: Graph, known: dict[str, str | None]) -> Reason | None:
    """Return the reason why no engine gets a node that calls functions, works on a list or checks values."""
    if next(function_references(node), None) is not None:
        return _of_impurity(node, impurity(graph, node, known))
    if any(value.dtype is dtypes.string and not value.node.is_constant for value in node.inputs):
        return reasons.STRINGS
    return None


def _ineligible_node(step: Step, graph: Graph, known: dict[str, str | None], takes_variables: bool) -> Reason | None:
    """Return the reason why no engine gets a step that runs a single node."""
    node = step.node
    input_dtypes = [value.dtype for value in node.inputs]
    # With variables as inputs and outputs of the group, a node may read and write them: the group as a whole is then the place
    # where they are read and written.
    if takes_variables and any(value.is_reference or value.dtype is dtypes.resource for value in node.inputs):
        reason = None if updates_variable(node) or reads_variable(node) else impurity(graph, node, known, reads=True)
        input_dtypes = [dtype for dtype in input_dtypes if dtype is not dtypes.resource]
        by_reference = not all(node.inputs[place].is_reference for place in step.dereferenced)
    else:
        reason = impurity(graph, node, known)
        by_reference = bool(step.dereferenced)
    if by_reference or step.references or step.shared or step.is_view:
        return reasons.BY_REFERENCE
    computes = node.output_dtypes or updates_variable(node)
    dtype_reason = (
        _of_impurity(node, reason)
        or _of_dtypes((*node.output_dtypes, *input_dtypes))
        or (None if computes else reasons.COMPUTES_NOTHING)
    )
    return dtype_reason or without_kernel(node)


def updates_variable(node: Node) -> bool:
    """Return True for an op that gives variables new values, computed from numbers as a rule."""
    return any(has_fact(node.op, fact) for fact in ("training", "assignment", "increment"))


def reads_variable(node: Node) -> bool:
    """Return True for an op that reads a variable's value through the handle."""
    return has_fact(node.op, "snapshot") and not has_fact(node.op, "metadata")


def _of_dtypes(types: Iterable[DType | None]) -> Reason | None:
    """Return the reason why no engine gets tensors of these dtypes."""
    bases = (dtype if dtype is None else dtype.base for dtype in types)
    others = [dtype for dtype in bases if dtype is None or not (dtype.is_numeric or dtype is dtypes.bool_)]
    return reasons.dtype_not_taken(others[0]) if others else None


def _of_impurity(node: Node, why: str | None) -> Reason | None:
    return None if why is None else reasons.of_impurity(node, why)


class _Levels:
    """The levels of a plan's steps."""

    def __init__(
        self, plan: Plan, graph: Graph, able: Sequence[bool], instead: Mapping[int, Mapping[int, int]] = MappingProxyType({})
    ) -> None:
        """Prepare the levels; `instead` maps an input of a step to the step that provides the input in place of the graph's
        producer.
        """
        self.steps = plan.steps
        self.instead = instead
        self.fed = frozenset(plan.fed)
        self.able = able
        self.levels: list[int] = []
        self.places = {node: i for i, step in enumerate(self.steps) if not is_free(step) for node in _nodes(step)}
        self.reach: dict[Node, _Reach] = {}
        before = _effect_edges(self.steps, graph, self.fed)
        for i, step in enumerate(self.steps):
            after = (self.of_step(j) for j in before.get(i, ()))
            reach = _highest([*after, *self.sources_of(i, step)])
            self.levels.append(max(reach) if is_free(step) else self.level(i, reach))

    def level(self, i: int, reach: _Reach) -> int:
        """Return the level of a step that waits for `reach`."""
        # A step of NumPy that waits for a group comes a level later, because the group is one step and ends as a whole. A step
        # of a group may share the level of the groups that it waits for. After steps of NumPy no new level is needed: within a
        # level, they come before the groups.
        group, rest = reach
        return max(group + (not self.able[i]) if group >= 0 else 0, rest, 0)

    def of_step(self, i: int) -> _Reach:
        """Return the reach of waiting for step `i`."""
        return (self.levels[i], _NOTHING) if self.able[i] else (_NOTHING, self.levels[i])

    def sources_of(self, i: int, step: Step) -> Iterator[_Reach]:
        """Yield the reach of each predecessor of a step; for a loop, of each value that enters."""
        instead = self.instead.get(i, {})
        yield from map(self.of_step, instead.values())
        own = {part.node for part in step.cluster.body.steps} if isinstance(step, ShapePrecompute) else set()
        for node in own or (step.enters if isinstance(step, Loop) else _nodes(step)):
            for place, source in enumerate(needed_sources(node, self.fed)):
                if source is not None and place not in instead and source not in own and self.places.get(source) != i:
                    yield self.of_node(source)

    def of_node(self, node: Node) -> _Reach:
        """Return the reach of waiting for a node: for a node without a step, of waiting for all predecessors."""
        place = self.places.get(node)
        if place is not None:
            return self.of_step(place)
        if node not in self.reach:
            self.look_behind(node)
        return self.reach[node]

    def look_behind(self, node: Node) -> None:
        """Find the reach of a node without a step; nodes without steps may lie on a cycle, in a loop that hands a value on."""
        # The walk keeps a list and makes no recursive calls: a chain of nodes without steps may be longer than Python's stack.
        pending = [node]
        while pending:
            current = pending[-1]
            if current not in self.reach:
                # This value stands until the sources are known, and for a node that a back edge leads to again.
                self.reach[current] = _FREE
                pending += [n for n in self.without_step(current) if n not in self.reach]
                continue
            pending.pop()
            sources = [source for source in needed_sources(current, self.fed) if source is not None]
            known = (self.of_step(self.places[s]) if s in self.places else self.reach[s] for s in sources if self.is_before(s))
            self.reach[current] = _highest(known)

    def without_step(self, node: Node) -> list[Node]:
        return [n for n in needed_sources(node, self.fed) if n is not None and n not in self.places]

    def is_before(self, node: Node) -> bool:
        """Return False for a node behind a back edge."""
        return node not in self.places or self.places[node] < len(self.levels)


def _highest(reaches: Iterable[_Reach]) -> _Reach:
    group = rest = _NOTHING
    for a, b in reaches:
        group, rest = max(group, a), max(rest, b)
    return group, rest


def _nodes(step: Step) -> Iterator[Node]:
    """Yield the nodes that a step stands for."""
    if isinstance(step, ShapePrecompute):
        return
    yield step.node
    if isinstance(step, Loop):
        yield from step.enters
        for inner in (*step.head, *step.body, *step.tail):
            yield from _nodes(inner)
    else:
        for inner in getattr(step, "body", ()):
            yield from _nodes(inner)


def _effect_edges(steps: Sequence[Step], graph: Graph, fed: frozenset[Output]) -> dict[int, set[int]]:
    """Return for each step the steps that must come before for their effects on state, whether or not a path says so.

    A write comes before later reads in the order of the plan, TensorFlow's order.
    """
    places = {node: i for i, step in enumerate(steps) for node in _nodes(step)}
    edges: dict[int, set[int]] = collections.defaultdict(set)
    last_write: dict[object, int] = {}
    reads: dict[object, list[int]] = collections.defaultdict(list)
    touched = accesses(graph, _in_order(places, fed), fed)
    own = (access for access in touched if access.node in places)
    effects: list[tuple[object, bool, int]] = [(access.state, access.kind == READ, places[access.node]) for access in own]
    accessing = {i for _, _, i in effects}
    # An effect on nothing that `accesses` knows, such as a message, stays in order with all other such effects.
    effects += [(None, False, i) for node, i in places.items() if i not in accessing and has_fact(node.op, "side_effect")]
    for state, is_read, i in sorted(effects, key=lambda item: item[2]):
        before = [last_write[state]] if state in last_write else []
        # Reads of a state may change places among themselves; a write waits for the last write and for all reads since.
        if is_read:
            reads[state].append(i)
        else:
            before += reads.pop(state, ())
            last_write[state] = i
        edges[i].update(j for j in before if j != i)
    return edges


def _in_order(places: Mapping[Node, int], fed: frozenset[Output]) -> list[Node]:
    """Return the nodes with a step, in the order of the steps, each behind nodes without a step whose values are read."""
    ordered: dict[Node, None] = {}

    def sources(node: Node) -> Iterator[Node]:
        return (s for s in needed_sources(node, fed) if s is not None and s not in places and s not in ordered)

    for node in places:
        ordered |= dict.fromkeys(sources_first(node, sources))
    return list(ordered)


class _UnitGrouping:
    """Steps in a new order, with the steps of a unit joined into a single step."""

    def __init__(self, plan: Plan, units: Sequence[int | None], fetched: set[int]) -> None:
        self.all = plan.steps
        self.units = units
        self.fed = frozenset(plan.feeds)
        self.fed_outputs = plan.fed
        self.constants = constants_by_slot(plan)
        self.members: dict[int, list[Step]] = collections.defaultdict(list)
        self.readers: dict[int, set[int | None]] = collections.defaultdict(set)
        # NumPy reads what is fetched, so that a group must return the value even if its own steps alone use it.
        for slot in fetched:
            self.readers[slot].add(None)
        for step, unit in zip(plan.steps, units):
            if unit is not None:
                self.members[unit].append(step)
            for slot in (*step.inputs, *step.controls):
                self.readers[slot].add(unit)

    def steps(self, order: Iterable[int]) -> Iterator[Step]:
        done: set[int] = set()
        for i in order:
            unit = self.units[i]
            if unit is None:
                yield self.all[i]
            elif unit not in done:
                done.add(unit)
                yield self.group(unit)

    def group(self, unit: int) -> Engined:
        members = self.members[unit]
        outputs = tuple(slot for step in members for slot in step.outputs if self.readers[slot] - {unit})
        inputs, body = body_of(members, self.constants, outputs, self.fed)
        return Engined(members[-1].node, inputs, outputs, body=dataclasses.replace(body, fed=self.fed_outputs))


def clusters(plan: Plan, graph: Graph) -> list[Cluster]:
    """Return the groups of a plan that was divided."""
    return [Cluster(graph, step.body) for step in plan.steps if isinstance(step, Engined)]


# Precomputation of values that follow from shapes alone, without waiting for the tensors.
#
# Dropout draws a number for each element of a tensor of a group: the count is computed apart from the group, before the group
# runs, from the shapes of the inputs. So the drawn numbers exist when the group begins, and the group stays whole.


@dataclasses.dataclass(frozen=True, slots=True)
class PrecomputedPlan:
    """A plan with precomputing steps added, and for each step whether an engine takes the step.

    `instead` maps an input of a step to the precomputing step that provides the value.
    """

    plan: Plan
    able: list[bool]
    instead: Mapping[int, Mapping[int, int]]


class _Precomputing:
    """Makes a plan in which steps that are not `able` no longer wait for groups just for values that follow from shapes."""

    def __init__(self, plan: Plan, graph: Graph, able: Sequence[bool], engine: Engine) -> None:
        self.plan = plan
        self.graph = graph
        self.able = able
        self.engine = engine
        self.constants = constants_by_slot(plan)
        self.makers = {slot: i for i, step in enumerate(plan.steps) for slot in step.outputs}
        self.made: dict[int, ShapePrecompute | None] = {}
        self.slots = plan.slots

    def precomputed(self) -> PrecomputedPlan:
        """Return the plan with each precomputing step before the first reader."""
        steps: list[Step] = []
        able: list[bool] = []
        places: dict[int, int] = {}
        instead: dict[int, dict[int, int]] = {}
        for step, is_able in zip(self.plan.steps, self.able):
            # Only plain steps of NumPy have inputs that can be replaced: a loop and a group have inner names for them.
            taken = {} if is_able or type(step) is not Step else self.taken(step)
            for slot, made in taken.items():
                if slot not in places:
                    places[slot] = len(steps)
                    steps.append(made)
                    able.append(False)
            if taken:
                instead[len(steps)] = {i: places[slot] for i, slot in enumerate(step.inputs) if slot in taken}
                step = dataclasses.replace(step, inputs=tuple(taken[i].outputs[0] if i in taken else i for i in step.inputs))
            steps.append(step)
            able.append(is_able)
        return PrecomputedPlan(dataclasses.replace(self.plan, steps=tuple(steps), slots=self.slots), able, instead)

    def taken(self, step: Step) -> dict[int, ShapePrecompute]:
        """Return the precomputing steps by the slots of a step's inputs that they provide."""
        by_slot = {slot: self.of_slot(slot) for slot in step.inputs if self.is_made(slot)}
        return {slot: made for slot, made in by_slot.items() if made is not None}

    def is_made(self, slot: int) -> bool:
        """Return True for a slot that a step of a group fills."""
        return slot in self.makers and self.able[self.makers[slot]]

    def of_slot(self, slot: int) -> ShapePrecompute | None:
        """Return the step that precomputes a slot; None where the value follows from more than shapes."""
        if slot not in self.made:
            self.made[slot] = self.step(slot)
        return self.made[slot]

    def step(self, slot: int) -> ShapePrecompute | None:
        values, shapes, known = {self.makers[slot]}, set[int](), set[int]()
        pending = [slot]
        while pending:
            step = self.plan.steps[self.makers[pending.pop()]]
            if not _is_count(step):
                return None
            # A shape or a size needs no values: here the walk ends, and the tensors behind need only be inferable.
            if has_fact(step.node.op, "metadata"):
                shapes.update(self.makers[i] for i in step.inputs if self.is_made(i))
                continue
            inner = [i for i in step.inputs if self.is_made(i)]
            known.update(i for i in step.inputs if i not in inner)
            pending += [i for i in inner if self.makers[i] not in values]
            values.update(self.makers[i] for i in inner)
        if not shapes or not self.close(shapes):
            return None
        members = [self.plan.steps[i] for i in sorted(values | shapes)]
        inputs, body = body_of(members, self.constants, [slot], frozenset(self.plan.feeds))
        # Assignments with `validate_shape=False` change the shape of a variable in the middle of a run.
        if not self.keeps_shapes(members):  # the early look would see the shape of before the assignment
            return None
        fixed = {*fixed_inputs(body, self.engine), *(place for place, i in enumerate(inputs) if i in known)}
        # The values of variables are known only in the run, after the writes of earlier steps.
        if not fixed.isdisjoint(body.variables):
            return None
        self.slots += 1
        node = self.plan.steps[self.makers[slot]].node
        return ShapePrecompute(node, inputs, (self.slots - 1,), cluster=Cluster(self.graph, body), known=tuple(sorted(fixed)))

    def close(self, members: set[int]) -> bool:
        """Add the predecessors in groups to `members`; False where inference cannot tell the shapes of a predecessor."""
        pending = list(members)
        while pending:
            step = self.plan.steps[pending.pop()]
            if not _has_shape(step):
                return False
            more = {self.makers[i] for i in step.inputs if self.is_made(i)} - members
            members |= more
            pending += more
        return True

    def keeps_shapes(self, members: Sequence[Step]) -> bool:
        """Return False where the run assigns to a variable read by `members`: the variable may get another shape."""
        assigning = [step.node for step in self.plan.steps if has_fact(step.node.op, "assignment")]
        if not assigning:
            return True
        nodes, fed = [step.node for step in members], frozenset(self.plan.fed)
        states = [{access.state for access in accesses(self.graph, part, fed)} for part in (nodes, assigning)]
        return states[0].isdisjoint(states[1])


def _is_count(step: Step) -> bool:
    """Return True for a step that computes integers from tensors."""
    values = (*step.node.inputs, *results_of(step))
    return (
        all(value.dtype in COUNTS for value in results_of(step))
        and _has_shape(step)
        and not any(value.dtype is dtypes.resource for value in values)
    )


def _has_shape(step: Step) -> bool:
    """Return True for a step with inferable shapes and without effects."""
    is_call = next(function_references(step.node), None) is not None
    changes = has_fact(step.node.op, "side_effect") or not step.node.output_dtypes
    values = (*step.node.inputs, *results_of(step))
    return type(step) is Step and not (is_call or changes or any(map(is_held_together, values)))


# Division of a group that an engine cannot compile whole: the nodes in the way, and the groups of the rest.

_MOST_ATTEMPTS: Final = 32
"""The largest number of failed compilations of a group and of its parts before NumPy keeps the steps."""


def said(error: Exception) -> str:
    """Return the gist of an error on a single line."""
    # Errors of OpenVINO and XLA have many lines, with addresses of their source code.
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return " ".join(lines)[:300] or type(error).__name__


@dataclasses.dataclass(frozen=True, slots=True)
class Blame:
    """The nodes of a group that do not compile, with reasons, and the number of attempts spent on the search."""

    refused: Mapping[Node, Reason]
    attempts: int


def blame(error: Exception, cluster: Cluster, values: Sequence[EngineValue], engine: Engine) -> Blame:
    """Return the nodes because of which `engine` failed to compile a group, none where the search takes too many attempts.

    The error names the nodes, or else a search finds them.
    """
    steps = [step for step in cluster.body.steps if not is_constant_step(step)]
    nodes = {node.name: step.node for step in steps for node in (step.node, *getattr(step, "leaves", ()))}
    named: Mapping[str, str] = {}
    if isinstance(error, UnsupportedNodes):
        named = error.reasons
    elif isinstance(error, TfgError) and error.node is not None:
        named = {error.node: reasons.uncompiled(error.message)}
    refused = {nodes[name]: reasons.of_engine(reason) for name, reason in named.items() if name in nodes}
    return Blame(refused, 1) if refused else _PrefixSearch(cluster, values, engine).blame(error)


def divided_again(cluster: Cluster, engine: Engine, blame: Blame) -> tuple[Body | None, Partition]:
    """Return the steps of a group divided again without the blamed nodes, and the partition; no body where no group is
    left.
    """
    body, parts = cluster.body, partition(_plan_of(cluster.body), cluster.graph, engine, blame.refused)
    attempts = body.attempts + blame.attempts
    # The attempts travel with the parts, as a part that fails is divided in its turn: without a count for all of them, a group
    # in which every node fails would compile about as often as it has nodes.
    if attempts >= _MOST_ATTEMPTS or not any(isinstance(step, Engined) for step in parts.plan.steps):
        return None, parts
    steps = tuple(_counting(step, attempts) for step in parts.plan.steps)
    return Body(steps, parts.plan.slots, body.inputs, body.outputs, fed=body.fed), parts


def _counting(step: Step, attempts: int) -> Step:
    if not isinstance(step, Engined):
        return step
    return dataclasses.replace(step, body=dataclasses.replace(step.body, attempts=attempts))


def _plan_of(body: Body) -> Plan:
    """Return the steps of a body as a plan of their own. Variables are not feeds, as the groups inside write to them."""
    # The value of a feed is kept until the end of a run, and so would be the old value of a variable.
    feeds = tuple(slot for slot in range(body.inputs) if slot not in body.variables)
    return Plan(tuple(_with_constants_late(body.steps)), body.slots, feeds, body.outputs, (), body.fed)


def _with_constants_late(steps: Sequence[Step]) -> Iterator[Step]:
    """Yield the steps with each constant just before the first reader, behind the steps that the constant waits for."""
    # A constant at the beginning would be in the first of the new groups, and the others would get the value as an input,
    # which an engine that must know the value while compiling refuses.
    constants = {step.outputs[0]: step for step in steps if is_constant_step(step)}
    for step in steps:
        if not is_constant_step(step):
            yield from (constants.pop(slot) for slot in dict.fromkeys(step.inputs) if slot in constants)
            yield step


class _PrefixSearch:
    """A binary search for the shortest prefix of the group that does not compile."""

    def __init__(self, cluster: Cluster, values: Sequence[EngineValue], engine: Engine) -> None:
        self.cluster = cluster
        self.engine = engine
        self.plan = _plan_of(cluster.body)
        self.constants = constants_by_slot(self.plan)
        self.values = dict(zip(cluster.inputs, values))
        self.steps = [step for step in self.plan.steps if not is_constant_step(step)]

    def blame(self, error: Exception) -> Blame:
        """Return the step's node, with the reason in `error`, or in the error of the shortest prefix that fails."""
        # Invariant: the first `least` steps compile, the first `most` fail. So the last step of the shortest failing prefix is
        # the one to blame, though others behind may fail too: these show when the rest compiles.
        least, most, attempts = 0, len(self.steps), 0
        # A search that cannot end within the limit would spend the compilations and blame nobody.
        if most.bit_length() + self.cluster.body.attempts > _MOST_ATTEMPTS:
            return Blame({}, 0)
        while most - least > 1:
            middle = (least + most) // 2
            failure = self.failure(middle)
            attempts += 1
            least, most, error = (middle, most, error) if failure is None else (least, middle, failure)
        return Blame({self.steps[most - 1].node: reasons.uncompiled(said(error))}, attempts)

    def failure(self, count: int) -> Exception | None:
        """Return the error of compiling the first `count` steps; None where they compile."""
        cluster, values = self.part(count)
        try:
            with contextlib.suppress(Declined):
                self.engine.compile(cluster, values)
        except ENDING:
            raise
        except Exception as error:
            pass_on(error)
            return error
        return None

    def part(self, count: int) -> tuple[Cluster, list[Any]]:
        """Return the first `count` steps, with all slots that later steps read as results, and the values of the inputs."""
        members = self.steps[:count]
        # The results are all values that later steps read: a compiler that sees no use of a value drops its step, and with it
        # the error.
        taken = {*self.cluster.body.outputs, *(slot for step in self.steps[count:] for slot in step.inputs)}
        inputs, body = body_of(members, self.constants, list(_tensors(members, taken)), frozenset(self.plan.feeds))
        fixed = {place: self.cluster.fixed[slot] for place, slot in enumerate(inputs) if slot in self.cluster.fixed}
        values = [self.values[slot] for place, slot in enumerate(inputs) if place not in fixed]
        return Cluster(self.cluster.graph, body, fixed), values


def _tensors(steps: Sequence[Step], taken: set[int]) -> Iterator[int]:
    """Yield the slots in `taken` that the steps fill, without lists and other values that stay in a group."""
    for step in steps:
        for slot, value in zip(step.outputs, results_of(step)):
            if slot in taken and not is_held_together(value):
                yield slot
