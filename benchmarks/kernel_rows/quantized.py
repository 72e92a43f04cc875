"""Numbers rounded to eight bits, and ops on these numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tfg import GraphBuilder

from .making import Built, Fixed, Row, fed, ints, normal, one, row, row_name

_LARGE, _LOW, _HIGH = normal(300, 1000), one(-3, np.float32), one(3, np.float32)


def rounding_rows() -> Iterator[Row]:
    per_channel = [Fixed(np.full(1000, bound, np.float32)) for bound in (-3, 3)]
    yield row("FakeQuantWithMinMaxArgs", _LARGE, min=-3.0, max=3.0)
    yield row("FakeQuantWithMinMaxVars", _LARGE, _LOW, _HIGH)
    yield row("FakeQuantWithMinMaxVarsPerChannel", _LARGE, *per_channel)
    yield row("FakeQuantWithMinMaxArgsGradient", _LARGE, _LARGE, min=-3.0, max=3.0)
    yield row("FakeQuantWithMinMaxVarsGradient", _LARGE, _LARGE, _LOW, _HIGH)
    yield row("FakeQuantWithMinMaxVarsPerChannelGradient", _LARGE, _LARGE, *per_channel)
    for mode in ("MIN_COMBINED", "MIN_FIRST", "SCALED"):
        yield row("QuantizeV2", _LARGE, _LOW, _HIGH, T="quint8" if mode != "SCALED" else "qint8", mode=mode, note=mode)
    yield row("QuantizeAndDequantizeV2", _LARGE, _LOW, _HIGH)
    yield row("QuantizeAndDequantizeV4", _LARGE, _LOW, _HIGH, range_given=True, note="range given")
    yield row("QuantizeAndDequantizeV3", _LARGE, _LOW, _HIGH, one(8))


def quantized_rows() -> Iterator[Row]:
    yield _dequantize("MIN_COMBINED")
    yield _dequantize("MIN_FIRST")
    a = ints(256, 200, 200, dtype=np.uint8)
    yield _quantized("QuantizedMatMul", a, a, Toutput="qint32")
    x, w = ints(256, 1, 28, 28, 16, dtype=np.uint8), ints(256, 3, 3, 16, 16, dtype=np.uint8)
    yield _quantized("QuantizedConv2D", x, w, strides=[1, 1, 1, 1], padding="SAME", out_type="qint32")


def _dequantize(mode: str) -> Row:
    def build(b: GraphBuilder) -> Built:
        quantized = b.Bitcast(b.Placeholder(dtype="uint8", shape=[300, 1000], name="x"), type="quint8")
        made = b.Dequantize(quantized, b.constant(_LOW.value), b.constant(_HIGH.value), mode=mode)
        return [made], {"x:0": ints(256, 300, 1000, dtype=np.uint8)}, []

    return Row(f"Dequantize 300x1000 {mode}", build)


def _quantized(op: str, *inputs: Any, **attrs: Any) -> Row:
    """Return an op with quint8 inputs and ranges, and a qint32 output."""

    def build(b: GraphBuilder) -> Built:
        feeds = {f"x{i}:0": value for i, value in enumerate(inputs)}
        outputs = [b.Bitcast(fed(b, value, f"x{i}"), type="quint8") for i, value in enumerate(inputs)]
        ranges = [b.constant(np.float32(v)) for _ in inputs for v in (-1, 1)]
        made = b.apply(op, *outputs, *ranges, **attrs)
        return [b.Bitcast(made[0], type="int32")], feeds, []

    return Row(row_name(op, inputs), build)
