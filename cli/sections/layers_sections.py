"""Tables of `tfg layers`."""

from __future__ import annotations

from collections.abc import Iterator

from ...core.flops.model_layers import Layer, LayersReport
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
    totals = f"{_number(report.parameters)} parameters, {_number(report.trainable)} of them trainable"
    costs = f"{shortened(report.flops)} FLOPs, {shortened(report.bytes)} bytes moved"
    meanings = [f"{symbol}: {text}" for symbol, text in report.symbols.items()]
    yield render.Text([f"{counted(len(report.layers), 'layer')}, {totals}; {costs}", *meanings, *report.notes])


def _row(layer: Layer) -> tuple[object, ...]:
    more = " ..." if len(layer.ops) > _MOST_OPS else ""
    numbers = (layer.parameters, layer.trainable, layer.flops, layer.bytes)
    shape = "" if layer.shape is None else str(layer.shape)
    texts = (_number(layer.parameters), _number(layer.trainable), shortened(layer.flops), shortened(layer.bytes))
    return (layer.name, ", ".join(layer.ops[:_MOST_OPS]) + more, shape, *map(Quantity, numbers, texts))


def _number(value: object) -> str:
    """Return a count with all its digits, as people compare counts of parameters."""
    return f"{value:,}" if isinstance(value, int) else str(value)
