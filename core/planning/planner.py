"""From fetches and feeds to a plan: the nodes that run, their order, and the live range of each value."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence

from ..graph.call_kinds import PLAIN_CALL, CallSite, function_inputs, function_targets, is_partly_read
from ..graph.frames import LOOP_OPS, MERGE, SWITCH
from ..graph.graph import Function, Graph, Node, Output
from ..graph.purity import impurity
from ..graph.references import memory_of_variables, written_variables
from ..registry.op_facts import has_fact
from ..support import dataclasses
from ..support.gc_control import rare_collection
from ..support.grouping import grouped
from .effects import DRAW
from .frame_steps import FrameSteps, NotWellFormed, note_memory
from .node_selection import Selection
from .plan import Loop, Plan, Step, add_releases
from .races import Alike, Race, chained_races, find_races


@rare_collection()
def compile_plan(graph: Graph, fetches: Sequence[Output | Node], feeds: Sequence[Output] = ()) -> Plan:
    """Return the plan that computes `fetches` from `feeds`; structural errors name the node."""
    planner = Planner(graph, fetches, feeds)
    try:
        return planner.plan()
    except NotWellFormed as reason:
        # Dataflow runs any graph, as TensorFlow's executor does, but finds out in every run which node is ready.
        return planner.dataflow_plan(str(reason) or "a loop does not have the form of tf.while_loop")


def plan_of_function(function: Function, site: CallSite = PLAIN_CALL) -> Plan:
    """Return the plan of a function body: inputs are feeds, results are fetches, and nodes with effects run too."""
    return compile_plan(function.body, function_targets(function, site), function_inputs(function))


def races_of(graph: Graph, fetches: Sequence[Output | Node], feeds: Sequence[Output] = ()) -> Iterator[Race]:
    """Yield the accesses to variables and tables, and the draws of random ops, that no path orders in a run of `fetches`.

    Races between iterations of loops come first. The number of races may be quadratic in the number of accesses, so each is
    searched on demand.
    """
    return Planner(graph, fetches, feeds).races()


def chained_races_of(
    graph: Graph, fetches: Sequence[Output | Node], feeds: Sequence[Output], place: Mapping[Node, int], alike: Alike
) -> list[Race]:
    """Return the races, as in `races_of`, among the nodes that have a place in an order; of alike accesses only neighbours."""
    planner = Planner(graph, fetches, feeds)
    return list(chained_races(graph, planner.order, planner.waiting, planner.fed, place, alike))


class Planner(Selection):
    """A compilation: a selection, and the plans made from the selection."""

    def races(self) -> Iterator[Race]:
        """Yield the accesses to state in this run that no path orders, races between iterations of loops first."""
        return find_races(self.graph, self.order, self.waiting, self.frames, self.fed)

    def plan(self) -> Plan:
        drawing: list[Node] = []
        has_races = False
        for race in self.races():
            # Races in loops come first. A single race outside of loops decides about the order of all, and finding every
            # one may take quadratic time.
            if race.loop is None:
                has_races = True
                break
            # Draws of a node in several iterations are put in order once a run in dataflow has told their turns. Any other
            # race between iterations is settled by dataflow alone, in each run.
            if race.first.node is not race.second.node or race.first.kind != DRAW or race.first.through is not None:
                raise NotWellFormed(f"'{race.first.node.name}' {race.first.words} in several iterations of loop '{race.loop}'")
            drawing.append(race.first.node)
        return self.drawing_plan(drawing, has_races) if drawing else self.plan_of_steps(has_races)

    def drawing_plan(self, drawing: Sequence[Node], has_races: bool) -> Plan:
        """Return the plan for dataflow.py of loops whose random ops draw in an order that only dataflow tells; with a plan of
        steps where a run that knows the order may end before it has had an effect.
        """
        first = self.frames[drawing[0]]
        plan = self.dataflow_plan(f"'{drawing[0].name}' draws random numbers in several iterations of loop '{first.name}'")
        if not _has_plain_loops(self):
            return plan
        draws = grouped((self.frames[node].condition, node) for node in drawing)
        # A plan in order helps only if the turns of the draws are known before a step has an effect: until then a run can
        # begin anew.
        try:
            ordered = self.plan_of_steps(has_races)
        except NotWellFormed:
            return plan
        if not _draws_before_effects(self.graph, ordered.steps, draws):
            return plan
        return dataclasses.replace(plan, ordered=ordered, draws={loop: tuple(nodes) for loop, nodes in draws.items()})

    def plan_of_steps(self, has_races: bool) -> Plan:
        """Return the plan whose loops run an iteration after another; NotWellFormed where a loop does not have the form."""
        # Frames spread from the nodes without inputs. A node that none reaches waits for itself: it has no place in an order.
        if self.frames and len(self.frames) < len(self.nodes):
            raise NotWellFormed
        # The steps of a loop write to slots of the loop, which the frame around cannot read.
        for fetch in self.fetches:
            if isinstance(fetch, Output) and fetch not in self.fed and self.frame_around(fetch.node) is not self.root:
                raise NotWellFormed
        frame = FrameSteps(self, self.root, has_races)
        feeds = tuple(frame.slots.slot(value) for value in self.feeds)
        steps = list(frame.steps(frame.units.order))
        fetches = tuple(frame.slots.slot(frame.slots.canonical(f)) if isinstance(f, Output) else None for f in self.fetches)
        add_releases(steps, {f for f in fetches if f is not None})
        return Plan(tuple(steps), len(frame.slots.numbers), feeds, fetches, tuple(self.fetches), tuple(self.feeds))

    def dataflow_plan(self, why: str) -> Plan:
        """Return the plan for dataflow.py: steps in no order, whose slots only tell the number of outputs."""
        nodes = self.construction_order()
        bypassed = frozenset(node for node in nodes if self.is_bypassed(node))
        trails: dict[Output, Output] = {}
        written = {owner for node in nodes for owner in written_variables(node, trails)}
        memory = memory_of_variables(nodes, self.fed) if written else {}
        shared = {value for value, owners in memory.items() if not written.isdisjoint(owners)}
        steps = []
        for node in nodes:
            if node in bypassed:
                continue
            definition = self.definition(node)
            outputs = tuple(range(len(definition.output_dtypes(node.attrs))))
            unused = self.unused_outputs(node) if is_partly_read(node) else ()
            positions = [i for i, value in enumerate(node.inputs) if value in shared]
            steps.append(Step(node, (), outputs, unused=unused))
            note_memory(steps[-1], definition, shared, positions)
        return Plan(tuple(steps), 0, (), (), tuple(self.fetches), tuple(self.feeds), True, bypassed, why)


def _has_plain_loops(run: Selection) -> bool:
    """Return True if no loop is inside another, and no branch depends on a value but on the conditions of loops.

    Then the turns of the draws follow from the numbers of iterations alone, and a plan can run the loops in order, once the
    order is known (core/runtime/execute/dataflow.py).
    """
    if any(frame.enclosing is not None for frame in set(run.frames.values())):
        return False
    return all(node.inputs[1].node.is_loop_condition for node in run.nodes if node.op in SWITCH)


def _draws_before_effects(graph: Graph, steps: Sequence[Step], loops: Container[Node]) -> bool:
    """Return True if all loops up to the last of `loops`, by their conditions, are of them, and no step up to there changes
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
    """Return True if a node leaves nothing behind but a moved stream of random numbers, or state of the run."""
    if has_fact(node.op, "random") or has_fact(node.op, "variable") or node.is_variable_read or node.is_placeholder:
        return True
    # TensorArrays and stacks belong to a run: the run that begins anew makes its own.
    if has_fact(node.op, "run_state") or has_fact(node.op, "on_run_state") or node.op in (*LOOP_OPS, *MERGE, *SWITCH):
        return True
    return impurity(graph, node, reads=True) is None
