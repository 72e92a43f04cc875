"""Races settled before optimization: a control edge fixes the order of racing nodes, before anything else changes.

No edge switches a node off: the later node waits for a node behind the earlier node that is alive whenever the later is.
"""

from __future__ import annotations

import collections
import functools
import itertools
import math
import operator
from collections.abc import Mapping, Sequence
from typing import Final

from ...graph.call_kinds import CallSite, call_kind, call_site, function_inputs, function_targets
from ...graph.frames import EXIT, assign_frames
from ...graph.graph import Function, Graph, Node, Output
from ...graph.instantiation import instantiate
from ...graph.traversal import strongly_connected
from ...planning.effects import may_touch_state
from ...planning.live_edges import LiveEdges
from ...planning.plan import Loop, Plan
from ...planning.planner import chained_races_of, compile_plan, races_of
from ...planning.reachability import needed_nodes, needed_sources
from ...support import dataclasses

MOST_ALONE: Final = 16
"""The largest number of targets of which the order of each one's run is kept."""
FAR: Final = 64
"""The number of nodes behind a racing node that are searched for a live node."""


def settle_races(
    graph: Graph, targets: Sequence[Output | Node], feeds: Sequence[Output], overridable: Sequence[Output]
) -> None:
    """Let the later of two unordered accesses wait for the earlier, when `feeds` and `overridable` are fed.

    The same in the graph's functions. A V1 loop counts as a node: its iterations are left alone. So are pairs of which some
    target needs only the later access: an edge must not make more run.
    """
    fed = [*feeds, *_outside_loops(targets, feeds, overridable)]
    for run in _runs_in_turn(graph, targets, fed):
        _add_edges(graph, _settled(graph, run, targets, fed), fed)
    sound: set[tuple[Function, CallSite]] = set()
    for name, sites in _call_sites(graph).items():
        function = graph.functions.get(name)
        # A function with several kinds of calls has no single order, and the dtypes of a polymorphic function are known only
        # at each call.
        if function is None or function.signature.attrs or len(sites) > 1:
            continue
        (site,) = sites
        if (function.pattern, site) not in sound:
            settled = graph.functions[name] = _settled_function(graph, function, site)
            if settled is function:
                sound.add((function.pattern, site))


def _call_sites(graph: Graph) -> dict[str, set[CallSite]]:
    """Return the call sites of each function in the graph and the functions."""
    sites: dict[str, set[CallSite]] = {}
    for body in [graph, *(function.pattern.body for function in graph.functions.values())]:
        for node in body:
            kind = call_kind(graph.functions, node)
            for reference in kind.references(node) if kind is not None else ():
                sites.setdefault(reference.name, set()).add(call_site(node))
    return sites


def _runs_in_turn(graph: Graph, targets: Sequence[Output | Node], fed: Sequence[Output]) -> list[Sequence[Output | Node]]:
    """Return the runs whose orders are kept: of each target alone, and then of all, whose nodes may come in other orders.

    Nodes that race in the run of one target race in the run of all.
    """
    fetched = {target if isinstance(target, Node) else target.node for target in targets}
    if all(node in fetched for node in graph):
        return []  # each of two nodes that race runs alone
    if not 1 < len(targets) <= MOST_ALONE:
        return [targets]
    return [*([target] for target in targets), targets] if _has_races(graph, targets, fed) else []


def _has_races(graph: Graph, run: Sequence[Output | Node], fed: Sequence[Output]) -> bool:
    """Return True if nodes race, other than in the iterations of loops."""
    return may_touch_state(graph) and any(race.loop is None for race in races_of(graph, run, fed))


def _settled(
    graph: Graph,
    run: Sequence[Output | Node],
    targets: Sequence[Output | Node],
    fed: Sequence[Output],
    always: Sequence[Output | Node] = (),
) -> list[tuple[Node, Node]]:
    """Return the pairs of nodes that race in a run of the targets `run` and of `always`, in the run's order.

    Another run may have a single one of all `targets`, and `always`: if the later node of a pair runs, so must the
    earlier node.
    """
    every = [*run, *always]
    if not _has_races(graph, every, fed):
        return []
    plan = compile_plan(graph, every, fed)
    # Without a plan there is no order to keep: dataflow finds the order in each run, as TensorFlow does.
    if plan.needs_dataflow:
        return []
    loops = _loops(plan, graph, every, frozenset(fed))
    place = _places(plan, loops)
    runs = _runs(targets, always, frozenset(fed))
    races = chained_races_of(graph, every, fed, place, runs.__getitem__)
    live = _LiveNodes(graph, fed, {node: i for node, i in place.items() if node not in loops}, runs)
    pairs: list[tuple[Node, Node]] = []
    for earlier, later in ((race.first.node, race.second.node) for race in races):
        first, second = loops.get(earlier), loops.get(later)
        # Two nodes of the same loop race within its iterations, which stay as they are: an edge between them would order only
        # nodes of one iteration.
        if first is None or first is not second:
            ends = [earlier] if first is None else [node for node in first.leaves if node in runs]
            # An edge cannot lead into the middle of a frame. It leads to all entries, so no iteration begins before.
            starts = [later] if second is None else second.enters
            pairs += [(live.after(end, start), start) for end in ends for start in starts if not runs[start] & ~runs[end]]
    return pairs


def _loops(plan: Plan, graph: Graph, run: Sequence[Output | Node], fed: frozenset[Output]) -> dict[Node, Loop]:
    """Return the loop's step for each node in a V1 loop, inner loops included."""
    steps = {step.enters[0]: step for step in plan.steps if isinstance(step, Loop)}
    if not steps:
        return {}
    root, frames = assign_frames(needed_nodes(run, list(fed)), lambda node: needed_sources(node, fed))
    by_frame = {frames[enter]: step for enter, step in steps.items()}
    return {node: by_frame[frame.outermost] for node, frame in frames.items() if frame is not root}


def _places(plan: Plan, loops: Mapping[Node, Loop]) -> dict[Node, int]:
    """Return the place of each node in the order of a plan; a loop is one place."""
    number = {step: i for i, step in enumerate(plan.steps)}
    return {step.node: i for step, i in number.items()} | {node: number[loop] for node, loop in loops.items()}


class _LiveNodes:
    """The nodes of a run after racing nodes, so that waiting for them neither switches a node off nor makes more run.

    `place` has the places of the nodes outside loops.
    """

    def __init__(self, graph: Graph, fed: Sequence[Output], place: Mapping[Node, int], runs: Mapping[Node, int]) -> None:
        self.edges = LiveEdges(graph, frozenset(fed))
        self.fed = frozenset(fed)
        self.place = place
        self.runs = runs

    def after(self, earlier: Node, later: Node) -> Node:
        """Return the first node behind `earlier`, in the run's order before `later`, that is alive if `later` is.

        Return `earlier` itself if the search finds none: `LiveEdges` then adds a node.
        """
        condition, place = self.edges.condition(later), self.place.get(later, -math.inf)
        pending, seen = collections.deque([earlier]), {earlier}
        while pending and len(seen) < FAR:
            node = pending.popleft()
            if self.edges.is_live(node, condition) and not self.runs[later] & ~self.runs[node]:
                return node
            behind = [user for user in node.uses if user not in seen and self.place.get(user, math.inf) < place]
            taken = [user for user in behind if _waits_for(user, node, self.fed)]
            seen.update(taken)
            pending += taken
        return earlier


def _waits_for(user: Node, node: Node, fed: frozenset[Output]) -> bool:
    """Return True if a user waits for the node in a run with the feeds `fed`."""
    return node in needed_sources(user, fed)


def _add_edges(graph: Graph, pairs: Sequence[tuple[Node, Node]], fed: Sequence[Output]) -> None:
    edges = LiveEdges(graph, frozenset(fed))
    for earlier, later in pairs:
        edges.let_wait(later, earlier)


def _runs(targets: Sequence[Output | Node], always: Sequence[Output | Node], fed: frozenset[Output]) -> dict[Node, int]:
    """Return for each node the targets whose runs include the node, a bit for each."""
    needed = needed_nodes([*targets, *always], list(fed))
    sources = {node: [source for source in needed_sources(node, fed) if source is not None] for node in needed}
    runs = dict.fromkeys(needed, 0) | dict.fromkeys(needed_nodes(always, list(fed)), (1 << len(targets)) - 1)
    for i, target in enumerate(targets):
        if target not in fed:
            runs[target if isinstance(target, Node) else target.node] |= 1 << i
    # From the targets back to the sources; the nodes of a loop reach one another, so they belong to the same runs.
    for members in reversed(strongly_connected(list(needed), sources.__getitem__)):
        bits = functools.reduce(operator.or_, map(runs.__getitem__, members))
        runs |= dict.fromkeys(members, bits)
        for source in itertools.chain.from_iterable(map(sources.__getitem__, members)):
            runs[source] |= bits
    return runs


def _settled_function(graph: Graph, function: Function, site: CallSite) -> Function:
    """Return the function, or a copy with settled races; the order holds in any call, for any subset of results read."""
    shared = function.pattern
    fed = function_inputs(shared)
    targets = function_targets(shared, site)
    count = len(shared.results) - len(site.unused)
    # Effects are the targets after the results: they happen in each call, whichever results have readers.
    pairs = _settled(shared.body, targets[:count], targets[:count], fed, targets[count:])
    if not pairs:
        return function
    # `source` is the message of the file, which saving writes unchanged as long as it is there.
    copied = dataclasses.replace(instantiate(function, {}), source=None)
    copied.body.functions = graph.functions
    inside = [(copied.body.node(earlier.name), copied.body.node(later.name)) for earlier, later in pairs]
    _add_edges(copied.body, inside, function_inputs(copied))
    return copied


def _outside_loops(targets: Sequence[Output | Node], feeds: Sequence[Output], overridable: Sequence[Output]) -> list[Output]:
    """Return the feeds of `overridable` outside V1 loops: tensors inside a loop cannot be fed."""
    if not overridable:
        return []
    fed = frozenset(feeds)
    root, frames = assign_frames(needed_nodes(targets, feeds), lambda node: needed_sources(node, fed))

    def is_outside(value: Output) -> bool:
        frame = frames.get(value.node, root)
        return frame is root or (value.node.op in EXIT and frame.parent is root)

    return [value for value in overridable if is_outside(value)]
