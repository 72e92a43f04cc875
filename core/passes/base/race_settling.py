"""What races in a graph that is to be optimized keeps its order: by a control edge, before anything else changes."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence

from ...control_flow.frames import EXIT, assign_frames
from ...functions.call_kinds import call_kind
from ...functions.call_sites import CallSite, call_site, function_targets
from ...functions.instantiation import instantiate
from ...graph.graph import Function, Graph, Node, Output
from ...planning.planner import chained_races_of, compile_plan, races_of
from ...planning.reachability import needed_nodes, needed_sources


def settle_races(
    graph: Graph, targets: Sequence[Output | Node], given: Sequence[Output], maybe_given: Sequence[Output]
) -> None:
    """Let the later one of two accesses that no path orders wait for the earlier one, when `given` and `maybe_given` are fed.

    The same in the graph's functions. Left alone are the iterations of a V1 loop, and a pair of which some target needs the
    later one only: an edge must not make more run.
    """
    fed = [*given, *_outside_loops(targets, given, maybe_given)]
    for earlier, later in _settled(graph, targets, fed, (needed_nodes([target], fed) for target in targets)):
        graph.add_control_input(later, earlier)
    for name, sites in _call_sites(graph).items():
        function = graph.functions.get(name)
        if function is not None and not function.signature.attrs and len(sites) == 1:
            graph.functions[name] = _settled_function(graph, function, *sites)


def _call_sites(graph: Graph) -> dict[str, set[CallSite]]:
    """How the graph and its functions call each function."""
    sites: dict[str, set[CallSite]] = {}
    for body in [graph, *(function.body for function in graph.functions.values())]:
        for node in body:
            kind = call_kind(graph.functions, node)
            for reference in kind.references(node) if kind is not None else ():
                sites.setdefault(reference.name, set()).add(call_site(node))
    return sites


def _settled(
    graph: Graph, targets: Sequence[Output | Node], fed: Sequence[Output], runs: Iterable[set[Node]]
) -> list[tuple[Node, Node]]:
    """Pairs of nodes that race in a run of all targets, each in the order that they have there; the other pairs follow.

    `runs` says what runs together; it is gone through only where something races.
    """
    if all(race.loop is not None for race in races_of(graph, targets, fed)):
        return []
    plan = compile_plan(graph, targets, fed)
    if plan.needs_dataflow:
        return []
    place = {step.node: i for i, step in enumerate(plan.steps)}
    together = list(runs)
    races = chained_races_of(graph, targets, fed, place, lambda node: tuple(node in run for run in together))
    pairs = [(race.first.node, race.second.node) for race in races]
    return [(earlier, later) for earlier, later in pairs if all(earlier in run for run in together if later in run)]


def _settled_function(graph: Graph, function: Function, site: CallSite) -> Function:
    """The function, or one like it whose body orders what races there: in any call, whatever of its results is read."""
    fed = [arg.output() for arg in function.args]
    targets = function_targets(function, site)
    always = targets[len(function.results) :]
    pairs = _settled(function.body, targets, fed, (needed_nodes([target, *always], fed) for target in targets))
    if not pairs:
        return function
    copied = dataclasses.replace(instantiate(function, {}), source=None)
    copied.body.functions = graph.functions
    for earlier, later in pairs:
        copied.body.add_control_input(copied.body.node(later.name), copied.body.node(earlier.name))
    return copied


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
