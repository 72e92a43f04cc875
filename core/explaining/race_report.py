"""The races of a graph's runs in words, each with the control edge that settles the order."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from ..graph.call_kinds import function_inputs, function_targets
from ..graph.callers import called_functions
from ..graph.frames import MERGE, NEXT_ITERATION, find_frames
from ..graph.graph import Graph, GraphLike, Node, Output, as_graph
from ..graph.traversal import closure, descendants
from ..planning.effects import DRAW, WRITE, Access, accesses
from ..planning.planner import compile_plan, races_of
from ..planning.races import Race
from ..planning.reachability import needed_nodes
from ..support import dataclasses
from ..support.arguments import checked
from ..support.display import Rows

MOST_RACES: Final = 1000
"""Races that are told of a graph or a function."""


@dataclasses.dataclass(frozen=True, slots=True)
class RaceFacts:
    """Two accesses to `state` that no path orders; `first` comes first in tfg, as in TensorFlow on a single thread.

    Two accesses of the same node belong to different iterations of `loop`. `control_edge` settles the order: the first node
    becomes a control input of the second. `function` is the library function with both nodes in the body.
    """

    state: str
    """The variable or the resource."""
    first: str
    """The node that comes first in tfg."""
    first_access: str
    """The kind of the first access."""
    second: str
    """The other node."""
    second_access: str
    """The kind of the second access."""
    loop: str | None
    """The loop whose iterations race, if any."""
    function: str | None
    """The function in whose body both are, if any."""
    control_edge: tuple[str, str] | None
    """The control edge that would settle the order."""
    words: str
    """The race in a sentence."""


@dataclasses.dataclass(frozen=True, slots=True)
class RunRaces:
    """The races among the nodes that run for some fetches, called functions included.

    The graph and each function report at most MOST_RACES races, as races may be as numerous as pairs of accesses.
    """

    fetches: tuple[str, ...]
    """The fetches that run together."""
    races: tuple[RaceFacts, ...]
    """The accesses that no path orders."""
    has_more: bool = False
    """True if more races exist than are listed."""


@checked
def explain_races(graph: GraphLike, fetches: Sequence[str] = ()) -> Rows[RunRaces]:
    """Return the races of a run of `fetches`; by default of the run of each node with effects that nobody waits for."""
    graph = as_graph(graph)
    if fetches:
        return Rows([_run_races(graph, tuple(fetches))])
    return Rows(_run_races(graph, (node.name,)) for node in _guessed_targets(graph))


def _guessed_targets(graph: Graph) -> list[Node]:
    """Return the nodes without users that write or wait for a write; if nothing writes, nodes that wait for draws."""
    active = accesses(graph, list(graph))
    for kind in (WRITE, DRAW):
        leading = descendants([access.node for access in active if access.kind == kind])
        targets = [node for node in graph if node in leading and not node.uses]
        if targets:
            return targets
    return []


def _run_races(graph: Graph, fetches: tuple[str, ...]) -> RunRaces:
    targets = [graph.output(name) if ":" in name else graph.node(name) for name in fetches]
    races = list(_facts(graph, targets, (), None))
    counts = [len(races)]
    for name in called_functions(graph, needed_nodes(targets)):
        function = graph.functions[name]
        # A polymorphic function has no dtypes before a call gives them.
        if not function.signature.attrs:
            races += _facts(function.body, function_targets(function), function_inputs(function), name)
            # The races of this function alone, as the limit holds for each body.
            counts.append(len(races) - sum(counts))
    # No more than these were asked for, so a full list may be cut short.
    return RunRaces(fetches, tuple(races), max(counts) == MOST_RACES)


def _facts(
    graph: Graph, targets: Sequence[Output | Node], feeds: Sequence[Output], function: str | None
) -> Iterator[RaceFacts]:
    races = list(itertools.islice(races_of(graph, targets, feeds), MOST_RACES))
    if not races:
        return
    # Planned only for graphs with races: most have none, and a plan takes longer than the search.
    plan = compile_plan(graph, targets, feeds)
    place = {} if plan.needs_dataflow else {step.node: i for i, step in enumerate(plan.steps)}
    counters = _counters(graph) if any(race.loop is not None for race in races) else {}
    for race in races:
        first, second = race.first, race.second
        # The order of the plan, which is TensorFlow's on one thread; dataflow has none to tell.
        if place.get(first.node, 0) > place.get(second.node, 0):
            first, second = second, first
        edge = _control_edge(counters, race, first.node, second.node)
        words = _words(race, first, second, edge)
        yield RaceFacts(
            race.state.name, first.node.name, first.words, second.node.name, second.words, race.loop, function, edge, words
        )


def _control_edge(counters: Mapping[Node, Node | None], race: Race, first: Node, second: Node) -> tuple[str, str] | None:
    """Return the edge that makes the second access wait for the first, or the next iteration wait for this iteration."""
    if race.loop is None:
        return first.name, second.name
    counter = counters[race.first.node]
    return (second.name, counter.name) if counter is not None else None


def _counters(graph: Graph) -> dict[Node, Node | None]:
    """Return for each node in a loop the NextIteration that the next iteration waits for; None if none decides."""
    frames = find_frames(graph)
    deciding = {
        frame: next((node for node in frame.with_op(NEXT_ITERATION) if _decides(node)), None)
        for frame in dict.fromkeys(frames.values())
    }
    return {node: deciding[frame] for node, frame in frames.items()}


def _decides(next_iteration: Node) -> bool:
    """Return True if a loop's condition, and so the whole next iteration, waits for this NextIteration."""
    merges = (user for user in next_iteration.uses if user.op in MERGE)
    behind = closure(merges, lambda node: (user for user in node.uses if user.op not in NEXT_ITERATION))
    return any(node.is_loop_condition for node in behind)


def _words(race: Race, first: Access, second: Access, edge: tuple[str, str] | None) -> str:
    if first.node is second.node:
        said = f"'{first.node.name}' {first.words} in every iteration of loop '{race.loop}', and iterations overlap"
    else:
        where = f" in iterations of loop '{race.loop}' that overlap" if race.loop is not None else ""
        said = f"'{first.node.name}' {first.words} and '{second.node.name}' {second.words}{where}, and no path orders the two"
    return f"{said}; a control edge from '{edge[0]}' to '{edge[1]}' would order them" if edge is not None else said
