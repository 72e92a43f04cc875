"""Two graphs run on the same feeds, their values compared node by node in the order in which they are computed."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..graph import Graph, Node
from ..planning.needed import needed_nodes
from ..runtime.session import Session
from ..traversal import topological_order
from .matching import match_nodes
from .verification import compare


@dataclasses.dataclass(frozen=True, slots=True)
class NodeComparison:
    """How far one output of a node differs, the worst of all its executions.

    `other` is what the second graph calls it. `tolerance_needed` is the tolerance, relative to the largest value, that would
    pass.
    """

    tensor: str
    op: str
    other: str
    executions: int
    largest_difference: float
    tolerance_needed: float
    passed: bool


@dataclasses.dataclass(frozen=True, slots=True)
class GraphComparison:
    """The nodes of two graphs that stand for each other, in the order in which the first graph computes them.

    `only_before` and `only_after` are nodes that the fetches need and that have no counterpart.
    """

    nodes: tuple[NodeComparison, ...]
    only_before: tuple[str, ...]
    only_after: tuple[str, ...]

    @property
    def first(self) -> NodeComparison | None:
        """The first that differs."""
        return next((node for node in self.nodes if not node.passed), None)


class Recorder:
    """A hook that keeps what the nodes of a graph compute, each time that they run; not those of functions."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.values: dict[str, list[tuple[Any, ...]]] = {}

    def __call__(self, node: Node, call: Callable[..., Any], inputs: Sequence[Any]) -> Any:
        result = call(*inputs)
        if self.graph.get(node.name) is node:
            values = result if isinstance(result, (tuple, list)) else (result,)
            self.values.setdefault(node.name, []).append(tuple(values))
        return result


def compare_graphs(
    before: Graph,
    after: Graph,
    fetches: Sequence[tuple[str, str]],
    feeds: Mapping[str, Any],
    open_session: Callable[[Graph], Session],
    tolerance: float,
) -> GraphComparison:
    """Run both graphs once; `fetches` names what to run in each, `feeds` the values by the names of the first.

    `open_session` gives a graph the session that it runs in: one seed for both, the variables initialized, files as allowed.
    """
    matched = match_nodes(before, after)
    renamed = {node.name: other.name for node, other in matched.items()}
    fed = {
        f"{renamed.get(node, node)}:{index}": value
        for name, value in feeds.items()
        for node, _, index in [name.rpartition(":")]
    }
    mine = _recorded(before, [name for name, _ in fetches], feeds, open_session)
    theirs = _recorded(after, [name for _, name in fetches], fed, open_session)
    order = topological_order(needed_nodes([before.fetch(name) for name, _ in fetches]))
    compared = [row for node in order if node in matched for row in _compared(node, matched[node], mine, theirs, tolerance)]
    needed = needed_nodes([after.fetch(name) for _, name in fetches])
    others = set(matched.values())
    return GraphComparison(
        tuple(compared),
        tuple(node.name for node in order if node not in matched),
        tuple(node.name for node in after if node in needed and node not in others),
    )


_Values = Mapping[str, Sequence[tuple[Any, ...]]]


def _recorded(
    graph: Graph, fetches: Sequence[str], feeds: Mapping[str, Any], open_session: Callable[[Graph], Session]
) -> _Values:
    session = open_session(graph)
    recorder = Recorder(session.runnable())
    session.run(list(fetches), feeds, hook=recorder)
    for node in graph:
        if node.is_constant:  # no step of a run
            recorder.values[node.name] = [(node.attrs["value"].numpy(),)]
    return recorder.values


def _compared(node: Node, other: Node, mine: _Values, theirs: _Values, tolerance: float) -> Iterator[NodeComparison]:
    """The outputs of a node that ran in both graphs."""
    runs, other_runs = mine.get(node.name, ()), theirs.get(other.name, ())
    if not runs or not other_runs:
        return
    for index in range(min(len(runs[0]), len(other_runs[0]))):
        pairs = [(a[index], b[index]) for a, b in zip(runs, other_runs) if _is_value(a[index]) and _is_value(b[index])]
        found = [compare(node.name, number, a, b, tolerance) for number, (a, b) in enumerate(pairs, 1)]
        if not found:
            continue
        worst = max(found, key=lambda comparison: comparison.tolerance_needed)
        same_number = len(runs) == len(other_runs)
        yield NodeComparison(
            node.output(index).name, node.op, other.output(index).name, len(found), worst.largest_difference,
            worst.tolerance_needed, worst.passed and same_number,
        )  # fmt: skip


def _is_value(value: Any) -> bool:
    """False for what no two runs share: handles, lists, nothing."""
    if isinstance(value, (np.ndarray, np.generic)):
        return value.dtype != object or all(isinstance(item, bytes) for item in value.ravel())
    return isinstance(value, bytes)
