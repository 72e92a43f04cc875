"""Differences between two graphs, and the changes that every stage of a graph's construction made."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from ..explaining.node_listing import NodeRecord, node_record
from ..graph.callers import called_functions
from ..graph.graph import Function, Graph, Node
from ..graph.traversal import reachable, topological_order
from ..registry.op_facts import has_fact
from ..support import dataclasses
from ..support.arguments import checked, expect
from ..support.display import Report, Rows
from ..support.tensor_names import parse_tensor_name
from ..support.words import counted
from .matching import GraphMatch
from .node_changes import (
    STRICT,
    AssetChange,
    FieldChange,
    Renaming,
    SignatureChange,
    VariableChange,
    attribute_changes,
    diff_signatures,
    node_changes,
    signatures_of,
)

NOTHING_CHANGED = (
    "nothing changed: a graph is the program, not its values. A run (an initializer, a training step) changes the "
    "values of variables, which the session holds, not the graph"
)


@dataclasses.dataclass(frozen=True, slots=True)
class NodeChange:
    """A node that both graphs have and that differs."""

    name: str
    """The name of the node."""
    op: str
    """The op in the second graph."""
    changes: tuple[FieldChange, ...]
    """The fields that differ."""


@dataclasses.dataclass(frozen=True, slots=True)
class FunctionChange:
    """A function that both libraries have with a different body or signature."""

    name: str
    """The name in the library."""
    added: tuple[NodeRecord, ...]
    """Nodes of the second body only."""
    removed: tuple[NodeRecord, ...]
    """Nodes of the first body only."""
    changed: tuple[NodeChange, ...]
    """Nodes of both bodies that differ."""


@dataclasses.dataclass(frozen=True, slots=True, repr=False)
class GraphDiff(Report, main_table="changed"):
    """The changes that lead from one graph to the other. Order of nodes does not count.

    `signatures_compared` is the number of signatures of either graph.
    `variables` are those whose names, shapes or values differ, of `variables_compared` in all; `variables_differ_by` is the
    largest difference of their elements. Values of variables and assets are compared if files have them.
    """

    nodes_before: int
    """How many nodes the first graph has."""
    nodes_after: int
    """How many nodes the second graph has."""
    added: tuple[NodeRecord, ...] = ()
    """Nodes of the second graph only."""
    removed: tuple[NodeRecord, ...] = ()
    """Nodes of the first graph only."""
    changed: tuple[NodeChange, ...] = ()
    """Nodes of both graphs that differ."""
    functions_added: tuple[str, ...] = ()
    """Functions of the second graph only."""
    functions_removed: tuple[str, ...] = ()
    """Functions of the first graph only."""
    functions_changed: tuple[FunctionChange, ...] = ()
    """Functions of both graphs that differ."""
    signatures: tuple[SignatureChange, ...] = ()
    """Signatures that differ."""
    signatures_compared: int = 0
    """How many signatures both models have together."""
    variables: tuple[VariableChange, ...] = ()
    """Variables whose names, shapes or values differ."""
    variables_compared: int = 0
    """How many variables both models have together."""
    variables_unread: str | None = None
    """Why variables were not compared, if a file with their values is missing."""
    assets: tuple[AssetChange, ...] = ()
    """Assets that differ."""
    versions: FieldChange | None = None
    """The versions of GraphDef, if they differ."""
    tensorflow_version: FieldChange | None = None
    """The version of TensorFlow that wrote the models, if it differs."""

    def headline(self) -> str:
        return (
            f"{self.nodes_before:,} and {counted(self.nodes_after, 'node')}, {self.summary}"
            if self.has_nodes
            else self.verdict
        )

    @property
    def has_nodes(self) -> bool:
        """Return False if values were compared, without a graph."""
        return bool(self.nodes_before or self.nodes_after)

    @property
    def is_same_graph(self) -> bool:
        """Return True if nodes and functions are the same."""
        parts = (self.added, self.removed, self.changed, self.functions_added, self.functions_removed, self.functions_changed)
        return not any(parts)

    @property
    def is_empty(self) -> bool:
        """Return True if all sections are equal; variables that were not compared may differ."""
        # Variables that could not be read count as a difference, so that no script takes them for equal.
        parts = (self.signatures, self.variables, self.variables_unread, self.assets, self.versions, self.tensorflow_version)
        return self.is_same_graph and not any(parts)

    @property
    def largest_difference(self) -> float | None:
        """Return the largest difference between elements of variables; None if no values differ."""
        return max(
            (change.largest_difference for change in self.variables if change.largest_difference is not None), default=None
        )

    @property
    def summary(self) -> str:
        """Return `2 added, 1 changed`, or `nothing changed`."""
        parts = [f"{len(nodes):,} {word}" for nodes, word in self._counts() if nodes]
        functions = len(self.functions_added) + len(self.functions_removed) + len(self.functions_changed)
        for count, noun in ((functions, "function"), (len(self.signatures), "signature")):
            parts += [_differing(count, noun)] if count else []
        parts += [self._of_variables] if self.variables else []
        parts += ["variables not compared"] if self.variables_unread is not None else []
        parts += [_differing(len(self.assets), "asset")] if self.assets else []
        parts += ["versions differ"] if self.versions or self.tensorflow_version else []
        return ", ".join(parts) or "nothing changed"

    @property
    def _of_variables(self) -> str:
        largest = self.largest_difference
        by = f", largest difference {largest:.6g}" if largest is not None else ""
        return f"{len(self.variables):,} of {_differing(self.variables_compared, 'variable')}{by}"

    @property
    def verdict(self) -> str:
        """Return the summary by sections: `same graph, same signatures; 4 of 4 variables differ, largest difference 0.001`."""
        if self.is_empty:
            return "the graphs are equal" if self.has_nodes else f"{counted(self.variables_compared, 'variable')}, all equal"
        same = ["same graph"] if self.is_same_graph and self.has_nodes else []
        same += ["same signatures"] if self.signatures_compared and not self.signatures else []
        return "; ".join(filter(None, (", ".join(same), self.summary)))

    def _counts(self) -> Iterable[tuple[Sequence[object], str]]:
        return (self.added, "added"), (self.removed, "removed"), (self.changed, "changed")


@dataclasses.dataclass(frozen=True, slots=True)
class Snapshot:
    """A graph after a stage of construction, and the changes that the stage made."""

    stage: str
    """The name of the stage, or the path of the graph."""
    nodes: int
    """How many nodes the graph has after the stage."""
    diff: GraphDiff
    """The changes since the stage before."""
    note: str = ""
    """A remark if nothing changed, or ""."""


def diff_graphs(before: Graph, after: Graph, match: GraphMatch | None = None) -> GraphDiff:
    """Return all differences in nodes, functions, signatures and versions.

    Nodes and functions match by `match`, and numbers that TensorFlow adds to names are no difference; without a `match` they
    match by name. Shapes that only one of the graphs records, as an export does, are no difference. With a `match`, nodes
    that only save and restore variables are left out if both graphs have some: the order in which Keras saves variables
    changes with each process.
    """
    return _Comparison(before, after, match).result()


def diff_around(before: Graph, after: Graph, match: GraphMatch | None = None) -> GraphDiff:
    """Return the differences in all but nodes, as `diff_graphs`."""
    return _Comparison(before, after, match).around()


class _Comparison:
    """Two graphs, the match of their nodes and functions, and the parts that are left out."""

    def __init__(self, before: Graph, after: Graph, match: GraphMatch | None) -> None:
        self.before, self.after, self.match = before, after, match
        self.renaming = STRICT if match is None else Renaming.of(match)
        savers = (NO_SAVER, NO_SAVER) if match is None else (saver_part(before), saver_part(after))
        # If only one graph saves itself, that is a difference to be told.
        self.left_out = savers if all(part.nodes for part in savers) else (NO_SAVER, NO_SAVER)

    def result(self) -> GraphDiff:
        """Return all differences."""
        matched = _same_names(self.before, self.after) if self.match is None else self.match.nodes
        added, removed, changed = self._nodes(self.before, self.after, matched)
        return dataclasses.replace(self.around(), added=added, removed=removed, changed=changed)

    def around(self) -> GraphDiff:
        """Return the differences in all but nodes."""
        before, after = ([*graph.functions] for graph in (self.before, self.after))
        names = {name: name for name in before if name in self.after.functions} if self.match is None else self.match.functions
        counterparts = set(names.values())
        # A plain graph states no release, and then none differs.
        tensorflow = [graph.meta.tensorflow_version if graph.meta is not None else "" for graph in (self.before, self.after)]
        return GraphDiff(
            len(self.before),
            len(self.after),
            functions_added=tuple(n for n in after if n not in counterparts and n not in self.left_out[1].functions),
            functions_removed=tuple(n for n in before if n not in names and n not in self.left_out[0].functions),
            functions_changed=tuple(self._functions(names)),
            signatures=diff_signatures(self.before, self.after, self.renaming),
            signatures_compared=len({name for graph in (self.before, self.after) for name in signatures_of(graph)}),
            versions=_version_change("versions", self.before.versions, self.after.versions),
            tensorflow_version=_version_change("tensorflow_version", *tensorflow),
        )

    def _nodes(
        self, before: Graph, after: Graph, matched: Mapping[Node, Node]
    ) -> tuple[tuple[NodeRecord, ...], tuple[NodeRecord, ...], tuple[NodeChange, ...]]:
        mine, theirs = (part.nodes for part in self.left_out)
        counterparts = {other: node for node, other in matched.items()}
        added = tuple(node_record(node) for node in after if node not in counterparts and node not in theirs)
        removed = tuple(node_record(node) for node in before if node not in matched and node not in mine)
        renaming = self.renaming.within(before, after, matched)
        changed = []
        for node in after:
            old = counterparts.get(node)
            if old is not None and not (node in theirs and old in mine):
                changes = tuple(node_changes(old, node, renaming))
                changed += [NodeChange(node.name, node.op, changes)] if changes else []
        return added, removed, tuple(changed)

    def _functions(self, names: Mapping[str, str]) -> Iterator[FunctionChange]:
        for name, other in names.items():
            old, new = self.before.functions[name], self.after.functions[other]
            # Copies of a graph share functions that nothing changed.
            if old is new or (name in self.left_out[0].functions and other in self.left_out[1].functions):
                continue
            matched = _same_names(old.body, new.body) if self.match is None else self.match.body(name)
            added, removed, changed = self._nodes(old.body, new.body, matched)
            changes = tuple(_interface_changes(old, new, self.renaming.within(old.body, new.body, matched)))
            if changes:
                # Told as a change of a node, so that each way of showing changes has a place for it.
                changed += (NodeChange(other, "function", changes),)
            if added or removed or changed:
                yield FunctionChange(other, added, removed, changed)


def _differing(count: int, noun: str) -> str:
    return f"{counted(count, noun)} {'differs' if count == 1 else 'differ'}"


def _version_change(field: str, before: object, after: object) -> FieldChange | None:
    """Return the change of a version that both graphs have; None if there is none."""
    return FieldChange(field, str(before), str(after)) if before and after and str(before) != str(after) else None


@checked(snapshots=list | tuple)
def diff_snapshots(snapshots: Sequence[tuple[str, Graph]]) -> Rows[Snapshot]:
    """Return the changes of each (stage, graph) against the stage before; the first starts from the empty graph."""
    expect(tuple, *snapshots)
    result: list[Snapshot] = []
    previous = Graph()
    for stage, graph in snapshots:
        diff = diff_graphs(previous, graph)
        # The first stage has none before it that it could leave as it was.
        note = NOTHING_CHANGED if result and diff.is_empty else ""
        result.append(Snapshot(stage, len(graph), diff, note))
        previous = graph
    return Rows(result)


def _same_names(before: Graph, after: Graph) -> dict[Node, Node]:
    return {node: after[node.name] for node in before if node.name in after}


def _interface_changes(old: Function, new: Function, renaming: Renaming) -> Iterator[FieldChange]:
    """Yield the differences of two functions outside of the bodies' nodes."""
    if renaming.is_new_name(old.name, new.name):
        yield FieldChange("name", old.name, new.name)
    # By the names in the body: the dtypes are compared with the nodes themselves.
    for field, a, b in (
        ("arguments", old.args, new.args),
        ("results", old.results, new.results),
        ("control_results", old.control_results, new.control_results),
    ):
        texts = [item.name for item in a], [item.name for item in b]
        if [renaming.tensor(text) for text in texts[0]] != texts[1]:
            yield FieldChange(field, *(", ".join(names) for names in texts))
    yield from attribute_changes(old.attrs, new.attrs, renaming)


# The part of a graph that only saves and restores its variables.


@dataclasses.dataclass(frozen=True, slots=True)
class SaverPart:
    """Nodes and functions that serve no other purpose than saving and restoring variables."""

    nodes: frozenset[Node] = frozenset()
    functions: frozenset[str] = frozenset()


NO_SAVER: Final = SaverPart()


def saver_part(graph: Graph) -> SaverPart:
    """Return the nodes and functions that only the graph's saver needs, variables excepted."""
    saver = graph.meta.saver if graph.meta is not None else None
    if saver is None:
        return NO_SAVER
    names = (parse_tensor_name(text)[0] for text in (saver.save_tensor, saver.restore_op, saver.filename_tensor) if text)
    roots = [node for name in names if (node := graph.get(name)) is not None]
    nodes: set[Node] = set()
    # From the ends back: a node belongs to the saver if all its users do.
    for node in reversed(topological_order(reachable(roots))):
        is_end = node in roots or bool(node.uses)
        if is_end and nodes.issuperset(node.uses) and not has_fact(node.op, "variable"):
            nodes.add(node)
    # A function of the saver may have other callers, and then belongs to the model.
    others = called_functions(graph, (node for node in graph if node not in nodes))
    return SaverPart(frozenset(nodes), frozenset(called_functions(graph, nodes) - others))
