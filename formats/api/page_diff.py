"""Two graphs in one page: the second graph with the nodes that the first has more, and what changed of each node."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from ...core.comparing.graph_diff import GraphDiff, NodeChange
from ...core.comparing.matching import GraphMatch
from ...core.drawing.view_model import NodeOverlay
from ...core.explaining.node_listing import node_record
from ...core.graph.graph import Function, Graph, Node, Output
from ...core.graph.traversal import predecessors
from ...core.graph.variable_nodes import find_variables
from ...core.inference.inference import infer
from ...core.support import dataclasses
from ...core.support.errors import TfgError
from ..model_diff import diff_matched

_TITLE: Final = "Differences"

Change = tuple[str, str, str]
"""A field of a node, with its text before and after."""


@dataclasses.dataclass(frozen=True, slots=True)
class MergedGraphs:
    """Both graphs as one: `states` says of nodes that they are added, removed, changed, or have other shapes."""

    first: Graph
    """The first graph by itself."""
    graph: Graph
    states: NodeOverlay
    changes: Mapping[Node, tuple[Change, ...]]
    verdict: str
    before: Mapping[Node, Node]
    """The nodes of both by the nodes of the first graph and its functions."""
    after: Mapping[Node, Node]
    values: NodeOverlay | None = None
    """Where the values of the nodes part, of graphs that were run."""
    notes: tuple[str, ...] = ()
    names: tuple[str, str] = ("before", "after")
    """The names of both files."""

    @property
    def removed(self) -> set[Node]:
        """Return the nodes that only the first graph has."""
        return {node for node, state in self.states.values.items() if state == "removed"}

    @property
    def overlays(self) -> tuple[NodeOverlay, ...]:
        """The overlays that colour the nodes, the most telling first."""
        return (self.states,) if self.values is None else (self.values, self.states)


def merged_graphs(before: Graph, after: Graph) -> MergedGraphs:
    """Return both graphs as one, their nodes matched as `tfg diff` matches them; the arguments stay as they are."""
    match = GraphMatch(before, after)
    difference = diff_matched(before, after, match)
    graph = after.copy()
    removed = _add_removed(graph, difference, match)
    changes = _shape_changes(before, after, match)
    # A later state replaces an earlier one: a changed node whose shapes differ, too, is shown as changed.
    states = dict.fromkeys((graph[name] for name in changes), "shapes differ")
    merged = {graph[name]: list(lines) for name, lines in changes.items()}
    for node, change in _changed(graph, difference):
        states[node] = "changed"
        merged[node] = [(c.field, c.before or "", c.after or "") for c in change.changes] + merged.get(node, [])
    for node, lines in _variables(graph, difference).items():
        states[node] = "changed"
        merged.setdefault(node, []).extend(lines)
    states |= dict.fromkeys(_added(graph, difference), "added") | dict.fromkeys(removed.values(), "removed")
    # The page shows the merged graph, while the runs and the shapes of each model are by the nodes of its own graph.
    nodes_after = dict(_paired(after, graph))
    kept = {node: nodes_after[other] for node, other in _counterparts(match) if other in nodes_after}
    lines_of = {node: tuple(lines) for node, lines in merged.items()}
    overlay = NodeOverlay(_TITLE, states, is_of_both=True)
    return MergedGraphs(before, graph, overlay, lines_of, difference.verdict, {**kept, **removed}, nodes_after)


def _paired(graph: Graph, copy: Graph) -> Iterator[tuple[Node, Node]]:
    """Yield the nodes of a graph and its functions with the nodes of the same name in a copy with more nodes."""
    yield from ((node, copy[node.name]) for node in graph)
    for name, function in graph.functions.items():
        yield from ((node, copy.functions[name].body[node.name]) for node in function.body)


def _counterparts(match: GraphMatch) -> Iterator[tuple[Node, Node]]:
    """Yield the matched nodes of two graphs and their functions."""
    yield from match.nodes.items()
    for name in match.functions:
        yield from match.body(name).items()


def _add_removed(graph: Graph, difference: GraphDiff, match: GraphMatch) -> dict[Node, Node]:
    """Add the nodes and functions that only the first graph has; return the added nodes by the first graph's."""
    for name in difference.functions_removed:
        # A function that only the first graph has may be called by its removed nodes.
        graph.functions.setdefault(name, match.before.functions[name])
    removed = _add_nodes(graph, match.before, [record.name for record in difference.removed], match.nodes)
    names = {other: name for name, other in match.functions.items()}
    for change in difference.functions_changed:
        if change.removed:
            name = names[change.name]
            # `Graph.copy` shares the functions with the original, which must not get the added nodes.
            function = graph.functions[change.name] = _copied(graph, graph.functions[change.name])
            lost = [record.name for record in change.removed]
            removed |= _add_nodes(function.body, match.before.functions[name].body, lost, match.body(name))
    return removed


def _add_nodes(graph: Graph, before: Graph, removed: Sequence[str], counterparts: Mapping[Node, Node]) -> dict[Node, Node]:
    """Add the removed nodes of a graph or body to its counterpart; return the added nodes by the removed.

    A removed argument becomes a Placeholder: the function has no such argument any more.
    """
    pending = [before[name] for name in removed]
    copies: dict[Node, Node] = {}
    while pending:
        node = pending.pop()
        if node not in copies:
            # A removed node may have the name of another node of the second graph: nodes are matched by what they compute.
            name = graph.unique_name(node.name) if node.name in graph else node.name
            op, attrs = ("Placeholder", {"dtype": node.attr("T")}) if node.is_argument else (node.op, node.attrs)
            copies[node] = graph.add_node(name, op, attrs=attrs, device=node.device)
            pending += [source for source in predecessors(node) if source not in counterparts]
    for node, made in copies.items():
        here = {source: copies.get(source) or graph[counterparts[source].name] for source in predecessors(node)}
        inputs = [Output(here[value.node], value.index) for value in node.inputs]
        # Inputs come after all nodes are there: removed nodes of a loop read each other in a circle.
        graph.set_inputs(made, inputs, [here[control] for control in node.control_inputs])
    return copies


def _copied(graph: Graph, function: Function) -> Function:
    """Return the function with a body of new nodes."""
    body = function.body.copy(graph.functions)
    return dataclasses.replace(
        function,
        body=body,
        args=[body[node.name] for node in function.args],
        results=[Output(body[value.node.name], value.index) for value in function.results],
        control_results=[body[node.name] for node in function.control_results],
    )


def _added(graph: Graph, difference: GraphDiff) -> Iterator[Node]:
    yield from (graph[record.name] for record in difference.added)
    for name in difference.functions_added:
        yield from graph.functions[name].body
    for change in difference.functions_changed:
        yield from (graph.functions[change.name].body[record.name] for record in change.added)


def _changed(graph: Graph, difference: GraphDiff) -> Iterator[tuple[Node, NodeChange]]:
    yield from ((graph[change.name], change) for change in difference.changed)
    for function in difference.functions_changed:
        body = graph.functions[function.name].body
        yield from ((body[change.name], change) for change in function.changed if change.name in body)


def _variables(graph: Graph, difference: GraphDiff) -> dict[Node, list[Change]]:
    """Return the largest difference in the value of each variable whose values differ."""
    nodes = find_variables(graph)
    named = {change.new_name or change.name: change.largest_difference for change in difference.variables}
    return {
        nodes[name].node: [("value", "", f"largest difference {largest:.6g}")]
        for name, largest in named.items()
        if name in nodes and largest is not None
    }


def _shape_changes(before: Graph, after: Graph, match: GraphMatch) -> dict[str, list[Change]]:
    """Return the matched nodes whose inferred outputs differ, by name; nothing if a graph's shapes cannot be inferred."""
    try:
        old, new = (infer(graph, functions=graph.functions) for graph in (before, after))
    except TfgError:
        return {}
    changes: dict[str, list[Change]] = {}
    for node, other in match.nodes.items():
        pairs = zip(node_record(node, old).outputs, node_record(other, new).outputs)
        lines = [(f"output {i}", str(a), str(b)) for i, (a, b) in enumerate(pairs) if str(a) != str(b)]
        if lines:
            changes[other.name] = lines
    return changes
