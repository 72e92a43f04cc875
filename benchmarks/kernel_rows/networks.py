"""Layers of networks, quantization, random numbers, tables and variables."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tfg import GraphBuilder

from .making import Built, Fixed, Row, fixed, ints, normal, numerals, one, row, shapes_of, unit


def network_rows() -> Iterator[Row]:
    ones, same = [1, 1, 1, 1], {"padding": "SAME"}
    x = normal(4, 56, 56, 32)
    for op, filters in (("Conv2D", (3, 3, 32, 32)), ("DepthwiseConv2dNative", (3, 3, 32, 1))):
        yield row(op, x, normal(*filters), strides=ones, **same)
        yield row(op, x, normal(*filters), strides=[1, 2, 2, 1], note="stride 2", **same)
        yield row(op, x, normal(*filters), strides=ones, dilations=[1, 2, 2, 1], note="dilated", **same)
        yield row(op, normal(1, 8, 8, 32), normal(*filters), strides=ones, **same)
        yield row(f"{op}BackpropInput", fixed(4, 56, 56, 32), normal(*filters), x, strides=ones, **same)
        yield row(f"{op}BackpropFilter", x, fixed(*filters), x, strides=ones, **same)
    yield row(
        "Conv2DBackpropInput", fixed(4, 112, 112, 32), normal(3, 3, 32, 32), x, strides=[1, 2, 2, 1], note="stride 2", **same
    )
    yield row("Conv2DBackpropInput", fixed(1, 7, 7, 512), normal(3, 3, 512, 512), normal(1, 7, 7, 512), strides=ones, **same)
    volume, w3 = normal(1, 16, 32, 32, 8), normal(3, 3, 3, 8, 16)
    yield row("Conv3D", volume, w3, strides=[1] * 5, **same)
    yield row("Conv3D", volume, w3, strides=[1, 2, 2, 2, 1], note="stride 2", **same)
    yield row("Conv3DBackpropInputV2", fixed(1, 16, 32, 32, 8), w3, normal(1, 16, 32, 32, 16), strides=[1] * 5, **same)
    yield row("Conv3DBackpropFilterV2", volume, fixed(3, 3, 3, 8, 16), normal(1, 16, 32, 32, 16), strides=[1] * 5, **same)
    for kind in ("Max", "Avg"):
        yield row(f"{kind}Pool", x, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], **same)
        yield row(f"{kind}Pool", x, ksize=[1, 3, 3, 1], strides=ones, note="3x3", **same)
        yield row(f"{kind}Pool3D", volume, ksize=[1, 2, 2, 2, 1], strides=[1, 2, 2, 2, 1], **same)
    pooled3 = normal(1, 8, 16, 16, 8)
    yield row("AvgPool3DGrad", fixed(1, 16, 32, 32, 8), pooled3, ksize=[1, 2, 2, 2, 1], strides=[1, 2, 2, 2, 1], **same)
    yield row("MaxPool3DGrad", volume, pooled3, pooled3, ksize=[1, 2, 2, 2, 1], strides=[1, 2, 2, 2, 1], **same)
    top = x.reshape(4, 28, 2, 28, 2, 32).max((2, 4))
    yield row("MaxPoolGrad", x, top, top, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], **same)
    yield row("MaxPoolGrad", x, x, x, ksize=[1, 3, 3, 1], strides=ones, note="3x3", **same)
    yield row("MaxPoolGradGrad", x, top, x, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], **same)
    yield row("AvgPoolGrad", fixed(4, 56, 56, 32), top, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], **same)
    yield row("MaxPoolWithArgmax", x, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], **same)
    for kind in ("Max", "Avg"):
        yield row(f"Fractional{kind}Pool", x, pooling_ratio=[1.0, 1.44, 1.73, 1.0], deterministic=True, seed=1, seed2=2)
    rows, columns = (np.concatenate([np.arange(0, 56, 2), [56]]).astype(np.int64) for _ in range(2))
    yield row("FractionalAvgPoolGrad", fixed(4, 56, 56, 32, dtype=np.int64), top, rows, columns)
    yield row("FractionalMaxPoolGrad", x, top, top, rows, columns)
    window = {"strides": ones, "rates": ones, **same}
    yield row("Dilation2D", x, normal(3, 3, 32), **window)
    yield row("Dilation2DBackpropInput", x, normal(3, 3, 32), x, **window)
    yield row("Dilation2DBackpropFilter", x, normal(3, 3, 32), x, **window)
    yield row("LRN", x)
    yield row("LRNGrad", x, x, x)
    per_channel = [unit(32) for _ in range(4)]
    for training in (True, False):
        statistics = [fixed(dtype=np.float32)] * 2 if training else per_channel[2:]
        yield row(
            "FusedBatchNormV3", x, *per_channel[:2], *statistics, is_training=training, note="training" if training else ""
        )
        yield row(
            "FusedBatchNormGradV3", x, x, *per_channel[:3], unit(32), is_training=training, note="training" if training else ""
        )
    yield row("BiasAdd", x, unit(32))
    yield row("BiasAddGrad", x)
    logits = normal(50, 8, 30)
    lengths = np.full(8, 50, np.int32)
    labels = np.stack([np.repeat(np.arange(8), 10), np.tile(np.arange(10), 8)], 1).astype(np.int64)
    yield row("CTCLoss", logits, labels, ints(29, 80), lengths)
    yield row("CTCGreedyDecoder", logits, lengths)
    yield row("CTCBeamSearchDecoder", logits, lengths, beam_width=10, top_paths=1)
    cell = {"forget_bias": 1.0, "cell_clip": -1.0, "use_peephole": False}
    state = [normal(8, 64) for _ in range(3)]
    peepholes = [unit(64) for _ in range(3)]
    yield row("LSTMBlockCell", state[0], state[1], state[2], normal(128, 256), *peepholes, unit(256), **cell)
    yield row(
        "BlockLSTM", one(20, np.int64), normal(20, 8, 64), state[1], state[2], normal(128, 256), *peepholes, unit(256), **cell
    )
    yield row("GRUBlockCell", state[0], state[1], normal(128, 128), normal(128, 64), unit(128), unit(64))


def quantize_rows() -> Iterator[Row]:
    large, low, high = normal(300, 1000), one(-3, np.float32), one(3, np.float32)
    yield row("FakeQuantWithMinMaxArgs", large, min=-3.0, max=3.0)
    yield row("FakeQuantWithMinMaxVars", large, low, high)
    yield row(
        "FakeQuantWithMinMaxVarsPerChannel", large, Fixed(np.full(1000, -3, np.float32)), Fixed(np.full(1000, 3, np.float32))
    )
    yield row("FakeQuantWithMinMaxArgsGradient", large, large, min=-3.0, max=3.0)
    yield row("FakeQuantWithMinMaxVarsGradient", large, large, low, high)
    yield row(
        "FakeQuantWithMinMaxVarsPerChannelGradient",
        large,
        large,
        Fixed(np.full(1000, -3, np.float32)),
        Fixed(np.full(1000, 3, np.float32)),
    )
    for mode in ("MIN_COMBINED", "MIN_FIRST", "SCALED"):
        yield row("QuantizeV2", large, low, high, T="quint8" if mode != "SCALED" else "qint8", mode=mode, note=mode)
    yield row("QuantizeAndDequantizeV2", large, low, high)
    yield row("QuantizeAndDequantizeV4", large, low, high, range_given=True, note="range given")
    yield row("QuantizeAndDequantizeV3", large, low, high, one(8))

    def dequantize(mode: str) -> Row:
        def build(b: GraphBuilder) -> Built:
            x = b.Placeholder(dtype="uint8", shape=[300, 1000], name="x")
            quantized = b.Bitcast(x, type="quint8")
            return (
                [b.Dequantize(quantized, b.constant(low.value), b.constant(high.value), mode=mode)],
                {"x:0": ints(256, 300, 1000, dtype=np.uint8)},
                [],
            )

        return Row(f"Dequantize 300x1000 {mode}", build)

    yield dequantize("MIN_COMBINED")
    yield dequantize("MIN_FIRST")

    def quantized(op: str, *inputs: Any, **attrs: Any) -> Row:
        """An op of quint8 inputs, each with its range, that gives qint32."""

        def build(b: GraphBuilder) -> Built:
            feeds = {f"x{i}:0": value for i, value in enumerate(inputs)}
            outputs = [
                b.Bitcast(b.Placeholder(dtype="uint8", shape=list(v.shape), name=f"x{i}"), type="quint8")
                for i, v in enumerate(inputs)
            ]
            ranges = [b.constant(np.float32(v)) for _ in inputs for v in (-1, 1)]
            made = b.apply(op, *outputs, *ranges, **attrs)
            return [b.Bitcast(made[0], type="int32")], feeds, []

        return Row(" ".join([op, *shapes_of(inputs)]), build)

    a = ints(256, 200, 200, dtype=np.uint8)
    yield quantized("QuantizedMatMul", a, a, Toutput="qint32")
    yield quantized(
        "QuantizedConv2D",
        ints(256, 1, 28, 28, 16, dtype=np.uint8),
        ints(256, 3, 3, 16, 16, dtype=np.uint8),
        strides=[1, 1, 1, 1],
        padding="SAME",
        out_type="qint32",
    )


def random_rows() -> Iterator[Row]:
    seeds = {"seed": 1, "seed2": 2}
    for count in (1000, 200000):
        shape = fixed(count)
        for op in ("RandomUniform", "RandomStandardNormal", "TruncatedNormal"):
            yield row(op, shape, dtype="float32", note=str(count), **seeds)
            yield row(op, shape, dtype="float64", note=f"{count} double", **seeds)
        yield row("RandomUniform", shape, dtype="half", note=f"{count} half", **seeds)
        yield row("RandomUniformInt", shape, one(0), one(100), note=str(count), **seeds)
        few = fixed(count // 100)
        for alpha in (0.5, 3.0):
            yield row("RandomGamma", few, Fixed(np.full(100, alpha, np.float32)), note=f"{count} {alpha}", **seeds)
        for rate in (3.0, 30.0):
            yield row("RandomPoissonV2", few, Fixed(np.full(100, rate, np.float32)), note=f"{count} {rate}", **seeds)
        yield row("RandomShuffle", np.arange(count), **seeds)
        settings = [one(v, np.float32) for v in (0, 1, -1, 2)]
        yield row("ParameterizedTruncatedNormal", shape, *settings, note=str(count), **seeds)
        tails = [one(v, np.float32) for v in (0, 1, 3, 9)]
        yield row("ParameterizedTruncatedNormal", shape, *tails, note=f"{count} tail", **seeds)
        yield row("Multinomial", normal(10, 100), one(count // 10), note=str(count), **seeds)
        key, counter, algorithm = np.array([1], np.uint64), np.array([1, 2], np.uint64), one(1)
        for kind in ("Uniform", "Normal"):
            yield row(f"StatelessRandom{kind}V2", shape, key, counter, algorithm, note=str(count))
            yield row(f"StatelessRandom{kind}", shape, np.array([1, 2], np.int64), note=str(count))
        yield row("StatelessTruncatedNormalV2", shape, key, counter, algorithm, note=str(count))
        yield row("StatelessRandomUniformIntV2", shape, key, counter, algorithm, one(0), one(100), note=str(count))
        yield row("StatelessRandomUniformFullIntV2", shape, key, counter, algorithm, dtype="int32", note=str(count))
        yield row("StatelessRandomGammaV3", fixed(count), key, counter, algorithm, one(2, np.float32), note=str(count))
        yield row(
            "StatelessRandomBinomial",
            fixed(count),
            np.array([1, 2], np.int64),
            one(20, np.float64),
            one(0.4, np.float64),
            note=str(count),
        )
        yield row(
            "StatelessRandomPoisson",
            fixed(count),
            np.array([1, 2], np.int64),
            one(5, np.float32),
            dtype="float32",
            note=str(count),
        )
        yield row("StatelessParameterizedTruncatedNormal", shape, np.array([1, 2], np.int64), *settings, note=str(count))
        yield row("StatelessShuffle", np.arange(count), key, counter, algorithm)
        yield row("StatelessMultinomial", normal(10, 100), one(count // 10), np.array([1, 2], np.int64), note=str(count))
    yield row("SobolSample", one(8), one(1000), one(0))
    for op in ("Uniform", "LogUniform"):
        yield row(
            f"{op}CandidateSampler",
            ints(1000, 10, 1, dtype=np.int64),
            num_true=1,
            num_sampled=100,
            unique=True,
            range_max=1000,
            **seeds,
        )


def resource_rows() -> Iterator[Row]:
    def table(
        keys: Any, values: Any, default: Any, sought: Any, make: Callable[[GraphBuilder], Any], note: str
    ) -> Iterator[Row]:
        def find(b: GraphBuilder) -> Built:
            handle = make(b)
            b.LookupTableInsertV2(handle, b.constant(keys), b.constant(values), name="fill")
            wanted = b.Placeholder(
                dtype="string" if sought.dtype == object else sought.dtype.name, shape=list(sought.shape), name="x"
            )
            return [b.LookupTableFindV2(handle, wanted, b.constant(default))], {"x:0": sought}, ["fill"]

        def insert(b: GraphBuilder) -> Built:
            handle = make(b)
            b.LookupTableInsertV2(handle, b.constant(keys), b.constant(values), name="fill")
            with b.control_dependencies([b.graph["fill"]]):
                return [b.LookupTableSizeV2(handle)], {}, []

        yield Row(f"LookupTableFindV2 {len(sought)} {note}", find)
        yield Row(f"LookupTableInsertV2 {len(keys)} {note}", insert)

    def dense(b: GraphBuilder) -> Any:
        return b.MutableDenseHashTableV2(b.constant(np.int64(-1)), b.constant(np.int64(-2)), value_dtype="int64")

    def vectors(b: GraphBuilder) -> Any:
        return b.MutableHashTableOfTensorsV2(key_dtype="int64", value_dtype="float32", value_shape=[4])

    keys, texts = np.arange(5000), numerals("word%d", np.arange(5000))
    values = np.arange(5000) * 3
    for count in (10, 10000):
        sought = ints(6000, count, dtype=np.int64)
        yield from table(
            keys, values, np.int64(-1), sought, lambda b: b.MutableHashTableV2(key_dtype="int64", value_dtype="int64"), "int64"
        )
        yield from table(
            texts,
            values,
            np.int64(-1),
            numerals("word%d", sought),
            lambda b: b.MutableHashTableV2(key_dtype="string", value_dtype="int64"),
            "string",
        )
        yield from table(keys, values, np.int64(-1), sought, dense, "dense")
        yield from table(keys, normal(5000, 4), np.zeros(4, np.float32), sought, vectors, "vectors")

    def variable(op: str, *inputs: Any, reads: bool = False, **attrs: Any) -> Row:
        """An op on a variable of 1000 x 300 floats; fetched is a number that waits for it."""

        def build(b: GraphBuilder) -> Built:
            handle = b.VarHandleOp(dtype="float32", shape=[1000, 300], shared_name="v")
            b.AssignVariableOp(handle, b.constant(np.zeros((1000, 300), np.float32)), name="fill")
            feeds, outputs = {}, []
            for i, value in enumerate(inputs):
                outputs.append(b.Placeholder(dtype=value.dtype.name, shape=list(value.shape), name=f"x{i}"))
                feeds[f"x{i}:0"] = value
            made = b.apply(op, handle, *outputs, **attrs)
            if reads:
                return [made], feeds, ["fill"]
            with b.control_dependencies([made]):
                return [b.Identity(b.constant(np.float32(0)))], feeds, ["fill"]

        return Row(" ".join([op, *shapes_of(inputs)]), build)

    some, part = ints(1000, 500), normal(500, 300)
    for how in ("Add", "Update", "Sub", "Mul", "Max", "Min", "Div"):
        yield variable(f"ResourceScatter{how}", some, part + (4 if how == "Div" else 0))
    yield variable("ResourceScatterNdAdd", some[:, None], part)
    yield variable("ResourceScatterNdUpdate", some[:, None], part)
    yield variable("ResourceGather", some, reads=True, dtype="float32")
    yield variable("ResourceGatherNd", ints(300, 5000, 2), reads=True, dtype="float32")
    yield variable("AssignAddVariableOp", normal(1000, 300))
    yield variable("ResourceApplyGradientDescent", np.array(0.1, np.float32), normal(1000, 300))
