"""Streaming for `tfg dump`: shows the nodes of very large files one by one, without a graph in memory."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import TypeVar

from ...core.explaining.node_listing import NodeFilter, NodeRecord, function_records, node_record, require_nodes
from ...core.support.escaping import printable_line, printable_proto
from ...formats.graphdef import NodeStream
from ...formats.node_writing import NodePrinter
from ...formats.saving import to_text
from .. import render
from ..sections.dump_sections import COLUMNS, function_section, node_row

T = TypeVar("T")


def dump_stream(stream: NodeStream, chosen: NodeFilter, format_: str) -> None:
    """Print the matching nodes of the graph, then of functions; NotFoundError if no node matches."""
    nodes = _FirstNodes(chosen.apply(stream.nodes()))
    if format_ == "text":
        texts = map(NodePrinter().text, nodes)
        render.print_lines(printable_proto(text).rstrip("\n") for text in texts)
        if chosen.is_empty:
            render.print_text(printable_proto(to_text(stream.rest())))
        return
    records = map(node_record, nodes)
    if format_ == "csv":
        both = _FirstNodes(itertools.chain(records, _in_functions(stream, chosen)))
        render.require_table("nodes")
        render.print_csv((*COLUMNS, "function"), ((*node_row(node), node.function or "") for node in both))
        require_nodes(both.some, chosen)
        return
    if format_ == "list":
        render.print_lines(printable_line(record.line) for record in records)
    else:
        render.print_rows(tuple(COLUMNS), map(node_row, records))
    functions = function_records(stream.functions(), chosen)
    first = list(itertools.islice(functions, 1))
    require_nodes([*nodes.some, *first], chosen)
    if first:
        render.print_lines([""])
        all_of_them = itertools.chain(first, functions)
        render.print_sections(function_section(function, body, format_) for function, body in all_of_them)


class _FirstNodes(Iterator[T]):
    """An iterator that keeps the first item."""

    def __init__(self, items: Iterator[T]) -> None:
        self._items = items
        self.some: list[T] = []

    def __next__(self) -> T:
        item = next(self._items)
        self.some = self.some or [item]
        return item


def _in_functions(stream: NodeStream, chosen: NodeFilter) -> Iterator[NodeRecord]:
    """Yield the nodes of all functions; call after all other nodes were read."""
    for _, body in function_records(stream.functions(), chosen):
        yield from body
