"""How `tfg dump` shows nodes, snapshots and stages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from ...core.explaining.node_listing import MOST_ALIKE, NodeFilter, NodeRecord, attribute_text, ordered, own_attributes
from ...core.graph.graph import Function, Graph
from ...core.support import dataclasses
from ...core.support.keyed_cache import KeyedCache
from ...core.support.words import counted
from ..render import Section, Table, Text

if TYPE_CHECKING:
    from ...core.comparing.graph_diff import FunctionChange, GraphDiff, Snapshot
    from ...core.comparing.node_changes import FieldChange
    from ...core.explaining.stages import RecoveredStage


_MAX_VALUE: Final = 200
"""The largest number of characters of a value in a row of changes."""


class DumpedGraph(NamedTuple):
    """A graph to be dumped, under the name that was given for it; its order, and whether shapes are inferred."""

    graph: Graph
    name: str
    shapes: bool = False
    order: str = "graph"

    def text(self, chosen: NodeFilter) -> str:
        """The chosen nodes, or the whole graph, in protobuf's text format."""
        from ...formats.graphdef import NodePrinter
        from ...formats.saving import to_text

        if chosen.is_empty:
            return to_text(self.graph)
        return "".join(map(NodePrinter().text, ordered(chosen.apply(self.graph), self.order)))


def node_sections(
    dump: DumpedGraph, nodes: Sequence[NodeRecord], functions: Mapping[str, Sequence[NodeRecord]], format_: str
) -> Iterator[Section]:
    """Yield the nodes of the graph, then of each function."""
    if format_ == "csv":
        yield _node_table(
            [*nodes, *(node for body in functions.values() for node in body)], with_function=bool(functions)
        )._replace(name="nodes")
        return
    if nodes or not functions:
        yield _show(format_)(nodes)
    for name, body in functions.items():
        yield function_section(dump.graph.functions[name], body, format_)


def function_section(function: Function, body: Sequence[NodeRecord], format_: str) -> Section:
    """Return the nodes of a function below its signature, and some of them below its name: the signature may be long."""
    count = len(function.body)
    title = _function_text(function) if len(body) == count else f"{function.name}: {len(body):,} of {counted(count, 'node')}"
    return _show(format_)(body, f"function {title}")


def _show(format_: str) -> Callable[..., Section]:
    return _node_lines if format_ == "list" else _node_table


def _function_text(function: Function) -> str:
    """A function's signature: `f(x: float, w: resource) -> (y: float)`."""
    signature = function.signature
    arguments, results = (
        ", ".join(f"{arg.name}: {arg.dtype or arg.type_attr or arg.type_list_attr}" for arg in args)
        for args in (signature.inputs, signature.outputs)
    )
    return f"{function.name}({arguments}) -> ({results})"


def _node_lines(nodes: Sequence[NodeRecord], title: str = "") -> Text:
    return Text([node.line for node in nodes], title, "code")


COLUMNS: Final = ("name", "op", "outputs", "inputs", "device", "colocation", "attributes")


def node_rows(nodes: Iterable[NodeRecord]) -> Iterator[tuple[str, ...]]:
    """Yield the cells of all columns for each node; alike records, which share their attributes, share texts too."""
    shared: KeyedCache[tuple[int, int], tuple[NodeRecord, str, str, str]] = KeyedCache(MOST_ALIKE)
    for node in nodes:
        key = id(node.attributes), id(node.outputs)
        known = shared.get(key)
        if known is None:
            colocation = ", ".join(f"loc:@{name}" for name in node.colocation)
            known = node, ", ".join(map(str, node.outputs)), colocation, attribute_text(own_attributes(node))
            if node.inputs:  # as records do, for the value of a node without inputs may be large
                shared[key] = known
        _, outputs, colocation, attributes = known
        yield node.name, node.op, outputs, ", ".join(node.arguments), node.device, colocation, attributes


def _node_table(nodes: Sequence[NodeRecord], title: str = "", with_function: bool = False) -> Table:
    columns: dict[str, Sequence[str]] = dict.fromkeys(COLUMNS, ()) | dict(zip(COLUMNS, zip(*node_rows(nodes))))
    if with_function:
        columns["function"] = tuple(node.function or "" for node in nodes)
    shown = [name for name, cells in columns.items() if any(cells) or name in ("name", "op", "outputs", "inputs")]
    return Table(tuple(shown), list(zip(*(columns[name] for name in shown))), title)


def snapshot_sections(snapshots: Sequence[Snapshot], format_: str) -> Iterator[Section]:
    """Yield the changes of each stage."""
    if format_ == "csv":
        staged = [(snapshot.stage, *row) for snapshot in snapshots for row in change_rows(snapshot.diff)]
        yield Table(("stage", "change", "name", "op", "detail"), staged)
        return
    for number, snapshot in enumerate(snapshots, 1):
        title = f"stage {number}: {snapshot.stage} ({counted(snapshot.nodes, 'node')}; {snapshot.diff.summary})"
        rows = change_rows(snapshot.diff)
        if not rows:
            yield Text(snapshot.note or "the graph is empty", title)
        elif format_ == "list":
            yield Text(list(map(_change_line, rows)), title, "code")
        else:
            yield Table(("change", "name", "op", "detail"), rows, title)


_SIGNS = {"added": "+", "removed": "-"}


def _change_line(row: tuple[str, str, str, str]) -> str:
    change, name, op, detail = row
    return f"~ {name} ({op}): {detail}" if change == "changed" else f"{_SIGNS[change]} {name} = {op}{detail}"


def change_rows(diff: GraphDiff | FunctionChange) -> list[tuple[str, str, str, str]]:
    """(change, name, op, detail) of every node that differs."""
    rows = [("removed", node.name, node.op, _arguments(node)) for node in diff.removed]
    rows += [("added", node.name, node.op, _arguments(node)) for node in diff.added]
    rows += [("changed", change.name, change.op, "; ".join(map(short_change, change.changes))) for change in diff.changed]
    return rows


def _arguments(node: NodeRecord) -> str:
    text = f"({', '.join(node.arguments)})"
    location = {"_class": "loc:@" + ", loc:@".join(node.colocation)} if node.colocation else {}
    attributes = attribute_text(own_attributes(node) | location)
    return f"{text} {{{attributes}}}" if attributes else text


def short_change(change: FieldChange) -> str:
    """Return a change of a field with the first part of long values; JSON has all of them."""
    return str(dataclasses.replace(change, before=_shortened(change.before), after=_shortened(change.after)))


def _shortened(value: str | None) -> str | None:
    return value if value is None or len(value) <= _MAX_VALUE else f"{value[: _MAX_VALUE - 3]}..."


def stage_sections(stages: Sequence[RecoveredStage], format_: str) -> Iterator[Section]:
    """An overview, then the nodes of each stage with the evidence."""
    if format_ == "csv":
        rows = [(stage.name, node.name, node.op, node.evidence) for stage in stages for node in stage.nodes]
        yield Table(("stage", "name", "op", "evidence"), rows)
        return
    overview = [(number, stage.name, len(stage.nodes), stage.evidence) for number, stage in enumerate(stages, 1)]
    yield Table(("number", "stage", "nodes", "evidence"), overview)
    for number, stage in enumerate(stages, 1):
        title = f"stage {number}: {stage.name} ({counted(len(stage.nodes), 'node')})"
        if format_ == "list":
            yield Text([f"{node.name} = {node.op}: {node.evidence}" for node in stage.nodes], title)
        else:
            yield Table(("name", "op", "evidence"), [(n.name, n.op, n.evidence) for n in stage.nodes], title)
