"""Values compared: of two graphs or two sessions on the same feeds, node by node as they run; of two states, by name.

Two values of a tensor are compared element by element; with them come the times of the nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..engines.engine_report import EngineReport
from ..graph.deadness import ALWAYS, Deadness
from ..graph.frames import find_frames
from ..graph.graph import Graph, Node
from ..graph.traversal import topological_order
from ..planning.reachability import needed_nodes
from ..support import dataclasses
from ..support.display import Report
from ..support.words import counted
from ..types.dtypes import resource, variant
from ..types.tensors import Tensor
from .element_differences import compare, is_value

if TYPE_CHECKING:
    from ..runtime.session.session import Session


@dataclasses.dataclass(frozen=True, slots=True)
class NodeTimes:
    """The seconds of a node in a run of each graph, without called functions; None if the graph does not run the node.

    Each time is the median of all runs.
    """

    node: str
    """The node in the first graph."""
    op: str
    """The op of the node."""
    other: str
    """The node in the second graph."""
    before: float | None
    """The seconds in the first graph."""
    after: float | None
    """The seconds in the second graph."""

    @property
    def slowdown(self) -> float:
        """Return the seconds that the second graph takes longer."""
        return (self.after or 0.0) - (self.before or 0.0)


@dataclasses.dataclass(frozen=True, slots=True)
class TimeComparison:
    """The times of all nodes, the largest slowdown first, and the seconds of a run of each graph under the profile."""

    nodes: tuple[NodeTimes, ...]
    """The nodes of both graphs."""
    before: float
    """The seconds of a run of the first graph."""
    after: float
    """The seconds of a run of the second graph."""


@dataclasses.dataclass(frozen=True, slots=True)
class NodeComparison:
    """The difference in an output of a node, the worst of all executions.

    `other` is the tensor's name in the second graph. `tolerance_needed` is the smallest tolerance, relative to the largest
    value, that passes. `nonfinite_before` and `nonfinite_after` are the numbers of NaN and infinite elements in each graph.
    """

    tensor: str
    """The tensor in the first graph."""
    op: str
    """The op that makes the tensor."""
    other: str
    """The tensor in the second graph."""
    executions: int
    """How often the node ran."""
    largest_difference: float
    """The largest absolute difference of two elements."""
    tolerance_needed: float
    """The smallest tolerance that passes, relative to the largest value."""
    passed: bool
    """True if the difference is within the tolerance."""
    nonfinite_before: int = 0
    """How many elements of the first graph are NaN or infinite."""
    nonfinite_after: int = 0
    """How many elements of the second graph are NaN or infinite."""


@dataclasses.dataclass(frozen=True, slots=True, repr=False)
class GraphComparison(Report, main_table="nodes"):
    """The matched nodes of two graphs, in the order of the first graph's execution.

    `only_before` and `only_after` are nodes that the fetches need and that have no counterpart. In a comparison `of_states`
    they are variables. `times` are the times of the nodes if they were measured. In a comparison of two engines `engines`
    has a report of each engine, without NumPy.
    """

    nodes: tuple[NodeComparison, ...]
    only_before: tuple[str, ...]
    only_after: tuple[str, ...]
    of_states: bool = False
    times: TimeComparison | None = None
    engines: tuple[EngineReport, ...] = ()

    def headline(self) -> str:
        return f"{sum(not node.passed for node in self.nodes):,} of {counted(len(self.nodes), 'value')} differ"

    @property
    def first(self) -> NodeComparison | None:
        """Return the first node that differs."""
        return next((node for node in self.nodes if not node.passed), None)

    @property
    def first_nonfinite(self) -> NodeComparison | None:
        """Return the first node with more NaN or infinite elements in the second graph."""
        return next((node for node in self.nodes if node.nonfinite_after > node.nonfinite_before), None)

    @property
    def agrees(self) -> bool:
        """Return True if no node differs and, for states, both have the same variables."""
        return self.first is None and not (self.of_states and (self.only_before or self.only_after))


class ValueRecorder:
    """A hook that records the results of a graph's nodes at each execution; nodes in functions are not recorded."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.values: dict[str, list[tuple[Any, ...]]] = {}

    def __call__(self, node: Node, call: Callable[..., Any], inputs: Sequence[Any]) -> Any:
        result = call(*inputs)
        # By identity, as a node of a function's body may have the name of one of the graph.
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
    matched: Mapping[Node, Node],
) -> GraphComparison:
    """Run both graphs once and compare; `fetches` pairs the names in each graph, `feeds` are named as in the first.

    `open_session` returns the session of a graph: a seed common to both, the variables initialized, files as allowed.
    `matched` has the nodes of `after` by the nodes of `before`.
    """
    fed = renamed_feeds(matched, feeds)
    mine = _recorded(before, [name for name, _ in fetches], feeds, open_session)
    theirs = _recorded(after, [name for _, name in fetches], fed, open_session)
    order = _in_order(before, [name for name, _ in fetches])
    compared = [row for node in order if node in matched for row in _compared(node, matched[node], mine, theirs, tolerance)]
    needed = needed_nodes([after.fetch(name) for _, name in fetches])
    others = set(matched.values())
    return GraphComparison(
        tuple(compared),
        tuple(node.name for node in order if node not in matched),
        tuple(node.name for node in after if node in needed and node not in others),
    )


def renamed_feeds(matched: Mapping[Node, Node], feeds: Mapping[str, Any]) -> dict[str, Any]:
    """Return feeds by the names of the second of two graphs."""
    renamed = {node.name: other.name for node, other in matched.items()}
    # From the right, since names may have colons.
    parts = ((*name.rpartition(":"), value) for name, value in feeds.items())
    return {f"{renamed.get(node, node)}{colon}{index}": value for node, colon, index, value in parts}


def _in_order(graph: Graph, fetches: Sequence[str]) -> list[Node]:
    """Return the nodes that the fetches need in order of execution, the same at each call."""
    needed = needed_nodes([graph.fetch(name) for name in fetches])
    return topological_order([node for node in graph if node in needed])


def compare_sessions(
    graph: Graph, fetches: Sequence[str], feeds: Mapping[str, Any], sessions: Sequence[Session], tolerance: float
) -> GraphComparison:
    """Run a graph once in each of two sessions, as by two engines, and compare the values on the way to the fetches.

    All values count but values in V1 loops, in conditionals and in functions. An engine returns every value, so ops that
    would be fused are computed apart.
    """
    order = _in_order(graph, fetches)
    # A value of a loop has no single value, and one of a branch none if the other branch is taken.
    frames, deadness = find_frames(graph), Deadness(set(order))
    places = [
        output
        for node in order
        if node not in frames
        for output in node.outputs()
        if deadness.of_value(output) == ALWAYS and output.base_dtype not in (resource, variant)
    ]
    names = [place.name for place in places]
    # All values in one run: a run for each would draw other random numbers.
    values = zip(places, *(session.run(names, feeds) for session in sessions))
    pairs = [(place, a, b) for place, a, b in values if is_value(a) and is_value(b)]
    return GraphComparison(
        tuple(_row(place.name, place.node.op, place.name, [(a, b)], tolerance) for place, a, b in pairs),
        (), (),
    )  # fmt: skip


def compare_outputs(outputs: Iterable[tuple[str, str, str, Any, Any]], tolerance: float) -> tuple[NodeComparison, ...]:
    """Compare values that ran apart: each the tensor, its op and its name in the second model, and both values."""
    return tuple(_row(tensor, op, other, [(a, b)], tolerance) for tensor, op, other, a, b in outputs)


def compare_values(before: Mapping[str, Tensor], after: Mapping[str, Tensor], tolerance: float) -> GraphComparison:
    """Compare the tensors of two states by name."""
    both = sorted(before.keys() & after.keys())
    rows = tuple(_row(name, "", name, [(before[name].read(), after[name].read())], tolerance) for name in both)
    only_before, only_after = (tuple(sorted(a.keys() - b.keys())) for a, b in ((before, after), (after, before)))
    return GraphComparison(rows, only_before, only_after, of_states=True)


_Values = Mapping[str, Sequence[tuple[Any, ...]]]


def _recorded(
    graph: Graph, fetches: Sequence[str], feeds: Mapping[str, Any], open_session: Callable[[Graph], Session]
) -> _Values:
    session = open_session(graph)
    # The session may run a changed copy of the graph, whose nodes the hook sees.
    recorder = ValueRecorder(session.runnable())
    session.run(list(fetches), feeds, hook=recorder)
    feed_runs = {name: [value] for name, value in feeds.items()}
    for node in _in_order(graph, fetches):
        # What is no step of a run: constants, and nodes that only pass a value on.
        if node.is_constant:
            recorder.values[node.name] = [(node.constant_value(),)]
        elif node.is_identity and node.name not in recorder.values:
            source = node.inputs[0]
            runs = feed_runs.get(source.name) or [run[source.index] for run in recorder.values.get(source.node.name, ())]
            recorder.values.update({node.name: [(value,) for value in runs]} if runs else {})
    return recorder.values


def _compared(node: Node, other: Node, mine: _Values, theirs: _Values, tolerance: float) -> Iterator[NodeComparison]:
    """Yield the outputs of a node that ran in both graphs."""
    runs, other_runs = mine.get(node.name, ()), theirs.get(other.name, ())
    if not runs or not other_runs:
        return
    for index in range(min(len(runs[0]), len(other_runs[0]))):
        pairs = [(a[index], b[index]) for a, b in zip(runs, other_runs) if is_value(a[index]) and is_value(b[index])]
        if not pairs:
            continue
        row = _row(node.output(index).name, node.op, other.output(index).name, pairs, tolerance)
        # A loop that runs more often in one graph differs even if the common iterations agree.
        yield row if len(runs) == len(other_runs) else dataclasses.replace(row, passed=False)


def _row(tensor: str, op: str, other: str, pairs: Sequence[tuple[Any, Any]], tolerance: float) -> NodeComparison:
    """Return the worst comparison of all executions."""
    # Each execution of a loop's node has its own scale.
    comparisons = [compare(tensor, number, a, b, tolerance) for number, (a, b) in enumerate(pairs, 1)]
    worst = max(comparisons, key=lambda comparison: comparison.tolerance_needed)
    nonfinite = [sum(map(_nonfinite, values)) for values in zip(*pairs)]
    return NodeComparison(
        tensor, op, other, len(comparisons), worst.largest_difference, worst.tolerance_needed, worst.passed, *nonfinite
    )  # fmt: skip


def _nonfinite(value: Any) -> int:
    """Return the number of NaN and infinite elements; 0 for values that are no numbers."""
    if not isinstance(value, (np.ndarray, np.generic)) or value.dtype.kind not in "fcV":
        return 0
    # Of a complex number, either part counts.
    return int(value.size - np.count_nonzero(np.isfinite(value)))
