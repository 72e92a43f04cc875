"""Streaming for `tfg dump`: shows the nodes of very large files one by one, without a graph in memory."""

from __future__ import annotations

import itertools

from ...core.explaining.node_listing import NodeFilter
from ...core.support.escaping import printable_line, printable_proto
from ...formats.api.node_streams import stream_nodes
from ...formats.graphdef import NodeStream
from ...formats.node_writing import NodePrinter
from ...formats.saving import to_text
from .. import render
from ..sections.dump_sections import COLUMNS, function_section, node_row


def dump_stream(stream: NodeStream, chosen: NodeFilter, format_: str) -> None:
    """Print the matching nodes of the graph, then of functions; NotFoundError if no node matches."""
    if format_ == "text":
        texts = map(NodePrinter().text, chosen.apply(stream.nodes()))
        render.print_lines(printable_proto(text).rstrip("\n") for text in texts)
        if chosen.is_empty:
            render.print_text(printable_proto(to_text(stream.rest())))
        return
    records = stream_nodes(stream, chosen)
    if format_ == "csv":
        render.require_table("nodes")
        render.print_csv((*COLUMNS, "function"), ((*node_row(node), node.function or "") for node in records))
        return
    if format_ == "list":
        render.print_lines(printable_line(record.line) for record in records.nodes())
    else:
        render.print_rows(tuple(COLUMNS), map(node_row, records.nodes()))
    functions = records.functions()
    first = list(itertools.islice(functions, 1))
    if first:
        render.print_lines([""])
        all_of_them = itertools.chain(first, functions)
        render.print_sections(function_section(function, body, format_) for function, body in all_of_them)
