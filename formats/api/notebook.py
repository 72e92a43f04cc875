"""Graphs, nodes, reports and sessions as tables and pictures of a notebook.

Text of a graph is escaped here and nowhere else; no fragment has a script.
"""

from __future__ import annotations

import base64
import collections
import functools
import html
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, TypeGuard

from ...core.drawing.picture import Look, make_picture
from ...core.explaining.graph_facts import GraphFacts, facts_without_detail
from ...core.explaining.node_activations import Activations
from ...core.explaining.node_facts import NodeFacts
from ...core.explaining.node_listing import declared_shapes, node_record, own_attributes, value_text
from ...core.flops.flops_report import FlopsReport
from ...core.flops.measured import Measurement
from ...core.flops.views import by_op, readable
from ...core.graph.graph import Graph, Node, Output
from ...core.graph.summary import outputs
from ...core.passes.pipeline import OptimizeReport
from ...core.runtime.session.session import Session
from ...core.support.display import Report, Rows, record
from ...core.support.errors import TfgError
from ...core.support.escaping import printable_line
from ...core.support.words import counted, size_in_bytes
from ..dot import layout_program, to_dot
from .callable_model import Model
from .checkpoints import Checkpoint
from .viewing import GraphPage, view

_MAX_ROWS: Final = 12
_MAX_CELL: Final = 80
_MAX_PICTURED: Final = 60
"""The number of nodes up to which a graph has a picture."""
_MAX_LISTED: Final = 100_000
"""The number of nodes up to which inputs and outputs are listed."""
_SECONDS: Final = 10.0


class NotebookDisplay:
    """The implementation of `core.support.display.Display`."""

    def html(self, value: Any) -> str | None:
        """Return the tables of an object below its `repr`, and a small graph's picture; of a page, the frame.

        The picture is an image, whose scripts a browser does not run. Jupyter shows HTML if an object has both forms.
        """
        tables = "".join(_tables(value))
        picture = self.svg(value)
        # Inline SVG could run scripts and hold links from names in the graph; a browser runs no scripts in an image.
        data = base64.b64encode((picture or "").encode()).decode()
        image = "" if picture is None else f'<img alt="the graph" src="data:image/svg+xml;base64,{data}">'
        title = counted(len(value), "row") if isinstance(value, Rows) else repr(value)
        return f"<div><p><code>{_text(title)}</code></p>{image}{tables}</div>"

    def svg(self, value: Any) -> str | None:
        """Return a small graph's picture; None for other graphs, and if no layout program is installed."""
        # A notebook asks for the picture of each graph that ends a cell; a layout of a large one would take minutes.
        if not isinstance(value, Graph) or not 0 < len(value) <= _MAX_PICTURED:
            return None
        try:
            program = layout_program("svg")
            source = str(to_dot(make_picture(list(value), Look()), legend=False).source)
            return program.render(source, "svg", _SECONDS).decode()
        except TfgError:
            return None

    def page(self, graph: Graph, fetches: Sequence[str] | str, flops: bool, height: int) -> GraphPage:
        """Return the page of a graph."""
        return view(graph, fetches, flops=flops, height=height)


# Core's classes know nothing of tables, so the tables are registered here by type.
@functools.singledispatch
def _tables(value: Any) -> Iterator[str]:
    """Return the tables of an object."""
    yield from ()


@_tables.register
def _graph_tables(graph: Graph) -> Iterator[str]:
    # Each cell that ends with a graph shows this table, and a list of a million nodes would take seconds.
    if len(graph) <= _MAX_LISTED:
        yield _table(("input", "op", "dtype", "shape"), (_tensor(node) for node in graph if node.is_placeholder))
        # The nodes without readers of a graph with variables are mostly updates and initializers, and no outputs.
        ends = outputs(list(graph)) if not graph.variables else []
        yield _table(("output", "op", "dtype", "shape"), map(_tensor, ends))
    variables = [(name, one.dtype, one.shape) for name, one in graph.variables.items()]
    yield _table(("variable", "dtype", "shape"), variables)
    for signature in graph.meta.signatures.values() if graph.meta is not None else ():
        takes, gives = (", ".join(tensors) for tensors in (signature.inputs, signature.outputs))
        yield _table(("signature", "takes", "gives"), [(signature.name, takes, gives)])
    yield _table(("op", "nodes"), collections.Counter(node.op for node in graph).most_common())


def _tensor(node: Node) -> tuple[object, ...]:
    """Return name, op, dtype and declared shape of a node's first output."""
    try:
        dtypes = node.output_dtypes
        shape: object = declared_shapes(node, len(dtypes))[0] if dtypes else ""
    except TfgError as error:
        # A graph is shown even if no session could run it.
        return node.name, node.op, "?", error.message
    return node.name, node.op, dtypes[0] if dtypes else "", shape


@_tables.register
def _node_tables(node: Node) -> Iterator[str]:
    inputs, controls = node.input_names()
    yield _table(("input", "name"), enumerate([*inputs, *(f"^{name}" for name in controls)]))
    attributes = own_attributes(node_record(node)).items()
    yield _table(("attribute", "value"), ((name, value_text(value)) for name, value in attributes))
    if node.device:
        yield _table(("device",), [(node.device,)])


@_tables.register
def _output_tables(output: Output) -> Iterator[str]:
    yield from _node_tables(output.node)


@_tables.register
def _session_tables(session: Session) -> Iterator[str]:
    rows = []
    for variable in session.model_variables():
        shape = variable.value_shape
        rows.append((variable.name, variable.dtype, variable.shape if shape is None else list(shape), variable.is_initialized))
    yield _table(("variable", "dtype", "shape", "initialized"), rows)


@_tables.register
def _model_tables(model: Model) -> Iterator[str]:
    for kind, tensors in (("input", model.inputs), ("output", model.outputs)):
        yield _table((kind, "dtype", "shape"), ((name, one.dtype, one.shape) for name, one in tensors.items()))


@_tables.register(Activations)
@_tables.register(Checkpoint)
@_tables.register(Report)
def _main_table(value: Activations | Checkpoint | Report) -> Iterator[str]:
    yield _records(value.to_records())


@_tables.register(Rows)
def _rows_tables(rows: Rows[Any]) -> Iterator[str]:
    """Yield the tables of each report, or the records of plain rows."""
    if all(isinstance(row, Report) for row in rows):
        for row in rows:
            yield f"<p><code>{_text(repr(row))}</code></p>"
            yield from _tables(row)
    else:
        yield _records(rows.to_records())


@_tables.register
def _measurement_tables(measurement: Measurement) -> Iterator[str]:
    whole = measurement.op_seconds or 1.0
    for kind, nodes in (("op", measurement.by_op()), ("node", measurement.by_node())):
        rows = [(one.path, one.calls, one.seconds * 1e3, f"{one.seconds / whole:.1%}", one.flops) for one in nodes]
        yield _table((kind, "calls", "ms", "share of time", "FLOPs"), rows)


@_tables.register
def _flops_tables(report: FlopsReport) -> Iterator[str]:
    rows = [(row.name, row.nodes, readable(row.totals.flops), f"{row.share:.1%}") for row in by_op(report.nodes)]
    yield _table(("op", "nodes", "FLOPs", "share"), rows)


@_tables.register
def _optimize_tables(report: OptimizeReport) -> Iterator[str]:
    rows = [(one.name, one.nodes_before, one.nodes_after, sum(one.fired.values())) for one in report.passes if one.fired]
    yield _table(("pass", "nodes before", "nodes after", "changes"), rows)


@_tables.register
def _facts_tables(facts: GraphFacts) -> Iterator[str]:
    yield _table(("fact", "value"), facts_without_detail(facts).items())
    for name in ("inputs", "outputs", "variables", "ops"):
        yield _records([record(row) for row in getattr(facts, name)], name)
    held = [(one.purpose, one.elements, size_in_bytes(one.bytes)) for one in facts.holdings]
    yield _table(("holds", "elements", "size"), held)


@_tables.register
def _node_facts_tables(facts: NodeFacts) -> Iterator[str]:
    rows = {
        "role": facts.role,
        "stage": f"{facts.stage} ({facts.evidence})",
        "function": facts.function,
        "inputs": ", ".join(facts.node.arguments),
        "outputs": ", ".join(map(str, facts.node.outputs)),
        "consumers": ", ".join(consumer.name for consumer in facts.consumers),
    }
    yield _table(("fact", "value"), ((name, text) for name, text in rows.items() if text))


def _records(records: Sequence[dict[str, Any]], title: str = "") -> str:
    columns = tuple(records[0]) if records else ()
    return _table(columns, (tuple(row.values()) for row in records), title)


def _table(columns: Sequence[str], rows: Iterable[Sequence[object]], title: str = "") -> str:
    """Return a table of the first rows, and a line with the number of the others; nothing for no rows."""
    # `rows` may be a generator, and the table ends with the number of rows that it leaves out.
    listed = list(rows)
    if not listed:
        return ""
    head = "".join(_cell("th", column, value) for column, value in zip(columns, listed[0], strict=True))
    body = "".join(f"<tr>{''.join(_cell('td', cell, cell) for cell in row)}</tr>" for row in listed[:_MAX_ROWS])
    more = f"<p>and {counted(len(listed) - _MAX_ROWS, 'more row')}</p>" if len(listed) > _MAX_ROWS else ""
    caption = f"<caption>{_text(title)}</caption>" if title else ""
    return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def _cell(tag: str, content: object, value: object) -> str:
    """Return a cell: text is on the left, where notebooks would put it on the right, as they do numbers."""
    style = "" if _is_number(value) else ' style="text-align:left"'
    return f"<{tag}{style}>{_text(content)}</{tag}>"


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _number(value: float) -> str:
    # Counts of elements and FLOPs run to 12 digits, which nobody reads without commas.
    return f"{value:,}" if isinstance(value, int) else f"{value:.6g}"


def _text(value: object) -> str:
    """Return text fit for HTML, on a line of its own and cut if it is long."""
    text = _number(value) if _is_number(value) else "" if value is None else str(value)
    text = text if len(text) <= _MAX_CELL else f"{text[: _MAX_CELL - 3]}..."
    return html.escape(printable_line(text))
