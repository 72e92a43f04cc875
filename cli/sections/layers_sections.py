"""Tables of `tfg layers`."""

from __future__ import annotations

from collections.abc import Iterator

from ...core.flops.model_layers import Layer, LayersReport
from ...core.flops.views import LAYER_COLUMNS, layer_texts, layer_totals
from .. import render
from ..render import Quantity

_MINOR = ("bytes moved", "trainable", "ops")
"""The columns that a narrow terminal leaves out first."""


def layers_sections(report: LayersReport) -> Iterator[render.Section]:
    """Yield the layers, the totals, and what the symbols mean."""
    yield render.Table(LAYER_COLUMNS, [_row(layer) for layer in report.layers], minor=_MINOR)
    yield render.Text(layer_totals(report))


def _row(layer: Layer) -> tuple[object, ...]:
    name, ops, shape, *texts = layer_texts(layer)
    numbers = (layer.parameters, layer.trainable, layer.flops, layer.bytes)
    return (name, ops, shape, *map(Quantity, numbers, texts))
