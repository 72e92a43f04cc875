"""Implementation of `tfg layers`: the counts, and their tables."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from typing import Final

from ...core.explaining.default_fetches import counted_fetches
from ...core.flops.model_layers import Layer, LayerBlock, LayersReport, LayerTree
from ...core.flops.views import layer_table, layer_totals
from ...core.transforms.subgraphs import as_served
from ...formats.api.counting import layers
from ...formats.api.names import Names
from .. import render
from ..commands.layers import LayersOptions
from ..models import measure, note_unread_values
from ..next_steps import in_commands
from ..options import whole_numbers
from ..render import Quantity


def run(options: LayersOptions) -> None:
    """Print the layers, and totals below them."""
    graph = options.reader.load(options.graph)
    graph = as_served(graph, options.fetches, options.session.signature)
    note_unread_values(graph, options.quiet)
    names = Names(graph, options.session.signature).exposing(options.fetches, render.noting(options.quiet))
    graph = names.graph
    fetches = tuple(names.fetches(options.fetches or names.outputs).values()) or counted_fetches(graph)
    feeds = names.feeds(options.feeds)
    with render.Working("counting", options.quiet):
        report = layers(
            graph, fetches, shapes={names.input(name).name: shape for name, shape in options.shapes}, values=feeds,
            batch=options.batch, trips=whole_numbers("--trips", options.trips), sizes=whole_numbers("--size", options.sizes),
            measured=measure(graph, fetches, feeds, options.session, options.quiet) if options.measured else None,
        )  # fmt: skip
    # Sorted here and not by the count, so that all orders come from one count.
    if options.sort != "model":
        report = report.largest_first(options.sort)
    if options.tree:
        tree = report.tree()
        render.emit("tfg.layers.tree/1", tree, options.format_, lambda: tree_sections(tree, options.format_))
    else:
        render.emit("tfg.layers/1", report, options.format_, lambda: layers_sections(report))


_MINOR = ("bytes moved", "trainable", "ops")
"""The columns that a narrow terminal leaves out first."""
_NUMBERS = {"parameters": "parameters", "trainable": "trainable", "FLOPs": "flops", "bytes moved": "bytes"}
"""The fields of a layer behind columns of numbers."""
_SIZES: Final = re.compile(r"--(?:size|trips) \S+=NUMBER")
"""The hints of a count to set sizes and trips."""
_COSTS: Final = ("FLOPs", "bytes moved")
"""The columns that a summary of a model leaves out."""


def layers_sections(report: LayersReport) -> Iterator[render.Section]:
    """Yield the layers, the totals, and what the symbols mean."""
    yield _table(report.layers, [layer.name for layer in report.layers])
    yield render.Text(layer_totals(report, len(report.layers)))


def summary_sections(report: LayersReport, max_rows: int, path: str) -> Iterator[render.Section]:
    """Yield the first layers without their costs, and the totals."""
    more = f" (the first {max_rows}; `tfg layers {shlex.quote(path)}` has all)" if len(report.layers) > max_rows else ""
    shown = report.layers[:max_rows]
    table = _table(shown, [layer.name for layer in shown])
    places = [place for place, column in enumerate(table.columns) if column not in _COSTS]
    rows = [tuple(row[place] for place in places) for row in table.rows]
    yield render.Table(tuple(table.columns[place] for place in places), rows, f"layers{more}", minor=_MINOR)
    lines = layer_totals(report, len(report.layers))
    # `explain` shows these lines too, and lacks the options that they name.
    elsewhere = [_SIZES.sub(lambda match: f"`tfg layers {shlex.quote(path)} {match[0]}`", in_commands(line)) for line in lines]
    yield render.Text(elsewhere)


def tree_sections(tree: LayerTree, format_: str) -> Iterator[render.Section]:
    """Yield the blocks, each behind the block around it and further to the right, the totals, and what the symbols mean."""
    rows = [(block, depth) for each in tree.blocks for block, depth in _inside(each, 0)]
    # Spaces in CSV would be a part of the name.
    shift = "" if format_ == "csv" else "  "
    yield _table([block.totals for block, _ in rows], [f"{shift * depth}{_title(block)}" for block, depth in rows])
    yield render.Text(layer_totals(tree, tree.layers))


def _inside(block: LayerBlock, depth: int) -> Iterator[tuple[LayerBlock, int]]:
    yield block, depth
    for each in block.blocks:
        yield from _inside(each, depth + 1)


def _title(block: LayerBlock) -> str:
    return block.name if block.count == 1 else f"{block.count} x {block.name} ... {block.last}, alike"


def _table(layers: Sequence[Layer], titles: Sequence[str]) -> render.Table:
    columns, rows = layer_table(layers)
    fields = [_NUMBERS.get(column) for column in columns[1:]]
    cells = [
        (title, *(text if field is None else Quantity(getattr(layer, field), text) for field, text in zip(fields, row[1:])))
        for title, layer, row in zip(titles, layers, rows)
    ]
    return render.Table(columns, cells, minor=_MINOR)
