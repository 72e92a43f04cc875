"""Layers of networks: convolutions, pooling, normalizations, sequences."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from .making import Row, fixed, ints, normal, one, row, unit

_ONES: Final = [1, 1, 1, 1]
_SAME: Final[dict[str, Any]] = {"padding": "SAME"}
_HALVING: Final[dict[str, Any]] = {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], **_SAME}
_CLOSE: Final[dict[str, Any]] = {"ksize": [1, 3, 3, 1], "strides": _ONES, "note": "3x3", **_SAME}
_X = normal(4, 56, 56, 32)
_TOP = _X.reshape(4, 28, 2, 28, 2, 32).max((2, 4))
_VOLUME = normal(1, 16, 32, 32, 8)


def convolution_rows() -> Iterator[Row]:
    for op, filters in (("Conv2D", (3, 3, 32, 32)), ("DepthwiseConv2dNative", (3, 3, 32, 1))):
        yield row(op, _X, normal(*filters), strides=_ONES, **_SAME)
        yield row(op, _X, normal(*filters), strides=[1, 2, 2, 1], note="stride 2", **_SAME)
        yield row(op, _X, normal(*filters), strides=_ONES, dilations=[1, 2, 2, 1], note="dilated", **_SAME)
        yield row(op, normal(1, 8, 8, 32), normal(*filters), strides=_ONES, **_SAME)
        yield row(f"{op}BackpropInput", fixed(4, 56, 56, 32), normal(*filters), _X, strides=_ONES, **_SAME)
        yield row(f"{op}BackpropFilter", _X, fixed(*filters), _X, strides=_ONES, **_SAME)
    twice = fixed(4, 112, 112, 32), normal(3, 3, 32, 32), _X
    yield row("Conv2DBackpropInput", *twice, strides=[1, 2, 2, 1], note="stride 2", **_SAME)
    deep = fixed(1, 7, 7, 512), normal(3, 3, 512, 512), normal(1, 7, 7, 512)
    yield row("Conv2DBackpropInput", *deep, strides=_ONES, **_SAME)
    filters3, result = normal(3, 3, 3, 8, 16), normal(1, 16, 32, 32, 16)
    yield row("Conv3D", _VOLUME, filters3, strides=[1] * 5, **_SAME)
    yield row("Conv3D", _VOLUME, filters3, strides=[1, 2, 2, 2, 1], note="stride 2", **_SAME)
    yield row("Conv3DBackpropInputV2", fixed(1, 16, 32, 32, 8), filters3, result, strides=[1] * 5, **_SAME)
    yield row("Conv3DBackpropFilterV2", _VOLUME, fixed(3, 3, 3, 8, 16), result, strides=[1] * 5, **_SAME)
    window = {"strides": _ONES, "rates": _ONES, **_SAME}
    yield row("Dilation2D", _X, normal(3, 3, 32), **window)
    yield row("Dilation2DBackpropInput", _X, normal(3, 3, 32), _X, **window)
    yield row("Dilation2DBackpropFilter", _X, normal(3, 3, 32), _X, **window)


def pooling_rows() -> Iterator[Row]:
    for kind in ("Max", "Avg"):
        yield row(f"{kind}Pool", _X, **_HALVING)
        yield row(f"{kind}Pool", _X, **_CLOSE)
    yield row("MaxPoolGrad", _X, _TOP, _TOP, **_HALVING)
    yield row("MaxPoolGrad", _X, _X, _X, **_CLOSE)
    yield row("MaxPoolGradGrad", _X, _TOP, _X, **_HALVING)
    yield row("AvgPoolGrad", fixed(4, 56, 56, 32), _TOP, **_HALVING)
    yield row("MaxPoolWithArgmax", _X, **_HALVING)
    halving = {"ksize": [1, 2, 2, 2, 1], "strides": [1, 2, 2, 2, 1], **_SAME}
    for kind in ("Max", "Avg"):
        yield row(f"{kind}Pool3D", _VOLUME, **halving)
    pooled = normal(1, 8, 16, 16, 8)
    yield row("AvgPool3DGrad", fixed(1, 16, 32, 32, 8), pooled, **halving)
    yield row("MaxPool3DGrad", _VOLUME, pooled, pooled, **halving)


def fractional_pooling_rows() -> Iterator[Row]:
    for kind in ("Max", "Avg"):
        yield row(f"Fractional{kind}Pool", _X, pooling_ratio=[1.0, 1.44, 1.73, 1.0], deterministic=True, seed=1, seed2=2)
    ends = np.concatenate([np.arange(0, 56, 2), [56]]).astype(np.int64)
    yield row("FractionalAvgPoolGrad", fixed(4, 56, 56, 32, dtype=np.int64), _TOP, ends, ends)
    yield row("FractionalMaxPoolGrad", _X, _TOP, _TOP, ends, ends)


def normalization_rows() -> Iterator[Row]:
    yield row("LRN", _X)
    yield row("LRNGrad", _X, _X, _X)
    scale, offset, mean, variance, reserved = (unit(32) for _ in range(5))
    none = fixed(dtype=np.float32)
    for training, note in ((True, "training"), (False, "")):
        statistics = (none, none) if training else (mean, variance)
        yield row("FusedBatchNormV3", _X, scale, offset, *statistics, is_training=training, note=note)
        yield row("FusedBatchNormGradV3", _X, _X, scale, mean, variance, reserved, is_training=training, note=note)
    yield row("BiasAdd", _X, unit(32))
    yield row("BiasAddGrad", _X)


def sequence_rows() -> Iterator[Row]:
    logits = normal(50, 8, 30)
    lengths = np.full(8, 50, np.int32)
    labels = np.stack([np.repeat(np.arange(8), 10), np.tile(np.arange(10), 8)], 1).astype(np.int64)
    yield row("CTCLoss", logits, labels, ints(29, 80), lengths)
    yield row("CTCGreedyDecoder", logits, lengths)
    yield row("CTCBeamSearchDecoder", logits, lengths, beam_width=10, top_paths=1)
    cell = {"forget_bias": 1.0, "cell_clip": -1.0, "use_peephole": False}
    x, memory, output = (normal(8, 64) for _ in range(3))
    weights = normal(128, 256), unit(64), unit(64), unit(64), unit(256)
    yield row("LSTMBlockCell", x, memory, output, *weights, **cell)
    yield row("BlockLSTM", one(20, np.int64), normal(20, 8, 64), memory, output, *weights, **cell)
    yield row("GRUBlockCell", x, memory, normal(128, 128), normal(128, 64), unit(128), unit(64))
