"""Tables of `tfg layers`."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import Final

from ...core.flops.model_layers import Layer, LayerBlock, LayersReport, LayerTree
from ...core.flops.views import LAYER_COLUMNS, layer_texts, layer_totals
from .. import render
from ..render import Quantity

_MINOR = ("bytes moved", "trainable", "ops")
"""The columns that a narrow terminal leaves out first."""
_COSTS: Final = LAYER_COLUMNS.index("FLOPs")
"""The first column of costs."""


def layers_sections(report: LayersReport) -> Iterator[render.Section]:
    """Yield the layers, the totals, and what the symbols mean."""
    yield render.Table(LAYER_COLUMNS, [_row(layer) for layer in report.layers], minor=_MINOR)
    yield render.Text(layer_totals(report, len(report.layers)))


def summary_sections(report: LayersReport, max_rows: int, path: str) -> Iterator[render.Section]:
    """Yield the first layers without their costs, and the totals."""
    more = f" (the first {max_rows}; `tfg layers {shlex.quote(path)}` has all)" if len(report.layers) > max_rows else ""
    rows = [_row(layer)[:_COSTS] for layer in report.layers[:max_rows]]
    yield render.Table(LAYER_COLUMNS[:_COSTS], rows, f"layers{more}", minor=_MINOR)
    yield render.Text(layer_totals(report, len(report.layers)))


def tree_sections(tree: LayerTree, format_: str) -> Iterator[render.Section]:
    """Yield the blocks, each behind the block around it and further to the right, the totals, and what the symbols mean."""
    rows = [(block, depth) for each in tree.blocks for block, depth in _inside(each, 0)]
    shift = "" if format_ == "csv" else "  "
    table = [(f"{shift * depth}{_title(block)}", *_row(block.totals)[1:]) for block, depth in rows]
    yield render.Table(LAYER_COLUMNS, table, minor=_MINOR)
    yield render.Text(layer_totals(tree, tree.layers))


def _inside(block: LayerBlock, depth: int) -> Iterator[tuple[LayerBlock, int]]:
    yield block, depth
    for each in block.blocks:
        yield from _inside(each, depth + 1)


def _title(block: LayerBlock) -> str:
    return block.name if block.count == 1 else f"{block.count} x {block.name} ... {block.last}, alike"


def _row(layer: Layer) -> tuple[object, ...]:
    name, ops, shape, *texts = layer_texts(layer)
    numbers = (layer.parameters, layer.trainable, layer.flops, layer.bytes)
    return (name, ops, shape, *map(Quantity, numbers, texts))
