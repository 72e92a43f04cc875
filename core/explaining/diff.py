"""Differences between two graphs, and the changes that every stage of a graph's construction made."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from ..graph.graph import Function, Graph, Node
from ..support.display import Report
from ..support.words import counted
from ..types.shapes import Shape
from ..types.tensors import FuncRef
from .node_listing import RECORDED_SHAPES, NodeRecord, node_record, value_text

NOTHING_CHANGED = (
    "nothing changed: a graph is the program, not its values. Running it (an initializer, a training step) changes "
    "what the variables hold, and a session holds that, not the graph"
)


@dataclasses.dataclass(frozen=True, slots=True)
class FieldChange:
    """One field of a node (op, device, inputs, control_inputs or an attribute) before and after; None where the field was
    absent.
    """

    field: str
    before: str | None
    after: str | None

    def __str__(self) -> str:
        return f"{self.field}: {'-' if self.before is None else self.before} -> {'-' if self.after is None else self.after}"


@dataclasses.dataclass(frozen=True, slots=True)
class NodeChange:
    """A node that both graphs have and that differs."""

    name: str
    op: str
    changes: tuple[FieldChange, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class FunctionChange:
    """A function that both libraries have with a different body or signature."""

    name: str
    added: tuple[NodeRecord, ...]
    removed: tuple[NodeRecord, ...]
    changed: tuple[NodeChange, ...]


@dataclasses.dataclass(frozen=True, slots=True, repr=False)
class GraphDiff(Report):
    """The changes that lead from one graph to the other. Order of nodes does not count."""

    main_table: ClassVar[str] = "changed"

    nodes_before: int
    nodes_after: int
    added: tuple[NodeRecord, ...] = ()
    removed: tuple[NodeRecord, ...] = ()
    changed: tuple[NodeChange, ...] = ()
    functions_added: tuple[str, ...] = ()
    functions_removed: tuple[str, ...] = ()
    functions_changed: tuple[FunctionChange, ...] = ()
    versions: FieldChange | None = None

    def headline(self) -> str:
        return f"{self.nodes_before:,} and {counted(self.nodes_after, 'node')}, {self.summary}"

    @property
    def is_empty(self) -> bool:
        parts = (self.added, self.removed, self.changed, self.functions_added, self.functions_removed, self.functions_changed)
        return not any(parts) and self.versions is None

    @property
    def summary(self) -> str:
        """Return `2 added, 1 changed`, or `nothing changed`."""
        parts = [f"{len(nodes)} {word}" for nodes, word in self._counts() if nodes]
        functions = len(self.functions_added) + len(self.functions_removed) + len(self.functions_changed)
        parts += [f"{counted(functions, 'function')} differ"] if functions else []
        parts += ["versions differ"] if self.versions else []
        return ", ".join(parts) or "nothing changed"

    def _counts(self) -> Iterable[tuple[Sequence[object], str]]:
        return (self.added, "added"), (self.removed, "removed"), (self.changed, "changed")


@dataclasses.dataclass(frozen=True, slots=True)
class Snapshot:
    """A graph after a stage of construction, and the changes that the stage made."""

    stage: str
    nodes: int
    diff: GraphDiff
    note: str = ""


def diff_graphs(before: Graph, after: Graph) -> GraphDiff:
    """Return all differences in nodes (matched by name), functions and versions.

    Shapes that only one of the graphs records, as an export does, are no difference.
    """
    added, removed, changed = _diff_nodes(before, after)
    around = diff_around(before, after)
    return dataclasses.replace(around, added=added, removed=removed, changed=changed)


def diff_around(before: Graph, after: Graph) -> GraphDiff:
    """Return the differences in all but nodes."""
    functions_added = tuple(name for name in after.functions if name not in before.functions)
    functions_removed = tuple(name for name in before.functions if name not in after.functions)
    versions = (str(before.versions), str(after.versions))
    return GraphDiff(
        len(before),
        len(after),
        functions_added=functions_added,
        functions_removed=functions_removed,
        functions_changed=tuple(_diff_functions(before.functions, after.functions)),
        versions=FieldChange("versions", *versions)
        if all((before.versions, after.versions)) and len({*versions}) > 1
        else None,
    )


def diff_snapshots(snapshots: Iterable[tuple[str, Graph]]) -> tuple[Snapshot, ...]:
    """Return the changes of each (stage, graph) against the stage before; the first starts from the empty graph."""
    result: list[Snapshot] = []
    previous = Graph()
    for stage, graph in snapshots:
        diff = diff_graphs(previous, graph)
        note = NOTHING_CHANGED if result and diff.is_empty else ""
        result.append(Snapshot(stage, len(graph), diff, note))
        previous = graph
    return tuple(result)


def _diff_nodes(before: Graph, after: Graph) -> tuple[tuple[NodeRecord, ...], tuple[NodeRecord, ...], tuple[NodeChange, ...]]:
    added = tuple(node_record(node) for node in after if node.name not in before)
    removed = tuple(node_record(node) for node in before if node.name not in after)
    changed = []
    for node in after:
        old = before.get(node.name)
        changes = tuple(node_changes(old, node)) if old is not None else ()
        if changes:
            changed.append(NodeChange(node.name, node.op, changes))
    return added, removed, tuple(changed)


def node_changes(old: Node, new: Node) -> Iterator[FieldChange]:
    """Yield the fields in which two nodes differ; of inputs only the names are compared."""
    if old.op != new.op:
        yield FieldChange("op", old.op, new.op)
    if old.device != new.device:
        yield FieldChange("device", old.device or None, new.device or None)
    (inputs, controls), (new_inputs, new_controls) = old.input_names(), new.input_names()
    if inputs != new_inputs:
        yield FieldChange("inputs", *(", ".join(map(_tensor_name, names)) for names in (inputs, new_inputs)))
    if set(controls) != set(new_controls):
        yield FieldChange("control_inputs", *(", ".join(f"^{name}" for name in names) for names in (controls, new_controls)))
    for name in dict.fromkeys((*old.attrs, *new.attrs)):
        values = [node.attrs.get(name) for node in (old, new)]
        present = [name in node.attrs for node in (old, new)]
        if name == RECORDED_SHAPES and not all(present):
            continue
        if present[0] != present[1] or not same_value(*values):
            yield FieldChange(name, *(value_text(v) if p else None for v, p in zip(values, present)))


def _tensor_name(text: str) -> str:
    return text if ":" in text else f"{text}:0"


def same_value(a: Any, b: Any) -> bool:
    """Return True where two attribute values mean the same; an unknown dimension is as good as another, and so is a NaN."""
    if isinstance(a, Shape) and isinstance(b, Shape):
        return str(a) == str(b)
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(map(same_value, a, b))
    if isinstance(a, FuncRef) and isinstance(b, FuncRef):
        names = [*a.attrs]
        return a.name == b.name and names == [*b.attrs] and all(same_value(a.attrs[n], b.attrs[n]) for n in names)
    return type(a) is type(b) and bool(a == b or (isinstance(a, float) and a != a and b != b))


def _diff_functions(before: Mapping[str, Function], after: Mapping[str, Function]) -> Iterator[FunctionChange]:
    for name in after:
        if name not in before or before[name] is after[name]:
            continue
        added, removed, changed = _diff_nodes(before[name].body, after[name].body)
        results = [", ".join(map(str, library[name].results)) for library in (before, after)]
        if results[0] != results[1]:
            changed += (NodeChange(name, "function", (FieldChange("results", *results),)),)
        if added or removed or changed:
            yield FunctionChange(name, added, removed, changed)
