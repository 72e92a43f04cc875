"""The times of the nodes of two graphs, run in turn on the same feeds."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from ..comparing.value_comparison import NodeTimes, TimeComparison
from ..graph.graph import Graph, Node
from ..runtime.session.session import Session
from .measured import KernelRecorder


def compare_times(
    sessions: tuple[Session, Session],
    fetches: tuple[Sequence[str], Sequence[str]],
    feeds: tuple[Mapping[str, Any], Mapping[str, Any]],
    matched: Mapping[Node, Node],
    runs: int = 5,
) -> TimeComparison:
    """Run two graphs in turn, once without a record and `runs` times with one, and compare the times of matched nodes."""
    recorders = [[KernelRecorder() for _ in range(runs + 1)] for _ in sessions]
    for turn in range(runs + 1):
        # Each side goes first in every other turn: the second finds caches and the clock of the processor as the first left
        # them.
        for side in (0, 1) if turn % 2 else (1, 0):
            sessions[side].run(list(fetches[side]), feeds[side], hook=recorders[side][turn])
    # The first turn makes plans and binds kernels.
    times = [_medians(records[1:]) for records in recorders]
    graphs = [session.runnable() for session in sessions]
    names = {node.name: other.name for node, other in matched.items()}
    rows = _rows(graphs[0], graphs[1], times[0], times[1], names)
    return TimeComparison(tuple(rows), *(sum(seconds.values()) for seconds in times))


def _medians(records: Sequence[KernelRecorder]) -> dict[str, float]:
    """Return the median seconds of each node of the graph in a run; functions count for the node that calls them."""
    totals: list[dict[str, int]] = []
    for recorder in records:
        totals.append({})
        for path, own in recorder.own_times():
            totals[-1][path] = totals[-1].get(path, 0) + own
    paths = dict.fromkeys(path for total in totals for path in total)
    return {path: statistics.median(total.get(path, 0) for total in totals) / 1e9 for path in paths}


def _rows(
    before: Graph, after: Graph, mine: Mapping[str, float], theirs: Mapping[str, float], matched: Mapping[str, str]
) -> list[NodeTimes]:
    others = {other: name for name, other in matched.items()}
    ops = [
        {path: graph[path].op if path in graph else "" for path in times} for graph, times in ((before, mine), (after, theirs))
    ]
    rows = [
        NodeTimes(path, ops[0][path], matched.get(path, path), seconds, theirs.get(matched.get(path, path)))
        for path, seconds in mine.items()
    ]
    rows += [
        NodeTimes(path, ops[1][path], path, None, seconds)
        for path, seconds in theirs.items()
        if others.get(path, path) not in mine
    ]
    return sorted(rows, key=lambda row: -row.slowdown)
