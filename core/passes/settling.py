"""What races in a graph that is to be optimized keeps its order: by a control edge, before anything else changes."""

from __future__ import annotations

from collections.abc import Sequence

from ..control_flow.conditions import EXIT, assign_frames
from ..graph import Graph, Node, Output
from ..planning.needed import needed_nodes, needed_sources
from ..planning.planner import compile_plan, races_of


def settle_races(
    graph: Graph, targets: Sequence[Output | Node], given: Sequence[Output], maybe_given: Sequence[Output]
) -> None:
    """Let the later one of two accesses that no path orders wait for the earlier one, when `given` and `maybe_given` are fed.

    Left alone are the iterations of a loop, and a pair of which some target needs the later one only: an edge must not make
    more run.
    """
    fed = [*given, *_outside_loops(targets, given, maybe_given)]
    races = [race for race in races_of(graph, targets, fed) if race.loop is None]
    plan = compile_plan(graph, targets, fed) if races else None
    if plan is None or plan.needs_dataflow:
        return
    place = {step.node: i for i, step in enumerate(plan.steps)}
    runs = [needed_nodes([target], fed) for target in targets]
    for race in races:
        nodes = [race.first.node, race.second.node]
        if not all(node in place for node in nodes):
            continue
        earlier, later = sorted(nodes, key=lambda node: place[node])
        if all(earlier in run for run in runs if later in run):
            graph.add_control_input(later, earlier)


def _outside_loops(targets: Sequence[Output | Node], given: Sequence[Output], maybe_given: Sequence[Output]) -> list[Output]:
    """Those of `maybe_given` that a run can be given: what is inside a V1 loop cannot be fed."""
    if not maybe_given:
        return []
    fed = frozenset(given)
    root, frames = assign_frames(needed_nodes(targets, given), lambda node: needed_sources(node, fed))

    def is_outside(value: Output) -> bool:
        frame = frames.get(value.node, root)
        return frame is root or (value.node.op in EXIT and frame.parent is root)

    return [value for value in maybe_given if is_outside(value)]
