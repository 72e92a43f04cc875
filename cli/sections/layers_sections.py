"""Tables of `tfg layers`."""

from __future__ import annotations

from collections.abc import Iterator

from ...core.flops.model_layers import Layer, LayerBlock, LayersReport, LayerTree
from ...core.flops.views import shortened
from ...core.support.words import counted
from .. import render
from ..render import Quantity

_COLUMNS = ("layer", "ops", "output shape", "parameters", "trainable", "FLOPs", "bytes moved")
_MINOR = ("bytes moved", "trainable", "ops")
"""The columns that a narrow terminal leaves out first."""
_MOST_OPS = 4


def layers_sections(report: LayersReport) -> Iterator[render.Section]:
    """Yield the layers, the totals, and what the symbols mean."""
    yield render.Table(_COLUMNS, [_row(layer) for layer in report.layers], minor=_MINOR)
    yield _totals(report, len(report.layers))


def tree_sections(tree: LayerTree, format_: str) -> Iterator[render.Section]:
    """Yield the blocks, each behind the block around it and further to the right, the totals, and what the symbols mean."""
    rows = [(block, depth) for each in tree.blocks for block, depth in _inside(each, 0)]
    shift = "" if format_ == "csv" else "  "
    table = [(f"{shift * depth}{_title(block)}", *_row(block.totals)[1:]) for block, depth in rows]
    yield render.Table(_COLUMNS, table, minor=_MINOR)
    yield _totals(tree, tree.layers)


def _inside(block: LayerBlock, depth: int) -> Iterator[tuple[LayerBlock, int]]:
    yield block, depth
    for each in block.blocks:
        yield from _inside(each, depth + 1)


def _title(block: LayerBlock) -> str:
    return block.name if block.count == 1 else f"{block.count} x {block.name} ... {block.last}, alike"


def _totals(report: LayersReport | LayerTree, count: int) -> render.Text:
    totals = f"{_number(report.parameters)} parameters, {_number(report.trainable)} of them trainable"
    costs = f"{shortened(report.flops)} FLOPs, {shortened(report.bytes)} bytes moved"
    meanings = [f"{symbol}: {text}" for symbol, text in report.symbols.items()]
    return render.Text([f"{counted(count, 'layer')}, {totals}; {costs}", *meanings, *report.notes])


def _row(layer: Layer) -> tuple[object, ...]:
    more = " ..." if len(layer.ops) > _MOST_OPS else ""
    numbers = (layer.parameters, layer.trainable, layer.flops, layer.bytes)
    shape = "" if layer.shape is None else str(layer.shape)
    texts = (_number(layer.parameters), _number(layer.trainable), shortened(layer.flops), shortened(layer.bytes))
    return (layer.name, ", ".join(layer.ops[:_MOST_OPS]) + more, shape, *map(Quantity, numbers, texts))


def _number(value: object) -> str:
    """Return a count with all its digits, as people compare counts of parameters."""
    return f"{value:,}" if isinstance(value, int) else str(value)
