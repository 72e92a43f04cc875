"""Subnormal numbers: which ops count them as zero, and which pass them on.

TensorFlow flushes subnormal numbers of float32, float64 and bfloat16; a half is computed as a normal float32. The tensors
have full vectors of the processor, because TensorFlow's code for single elements differs. Left out are a transposition and a
maximum of bfloat16 that oneDNN flushes.
"""

import numpy as np

from tests.opcases import case, graph_case, i32
from tfg.core.types import dtypes

TEXT = np.array([b"1e-40", b"3e-310", b"1"], object)

_PATTERNS = {
    "float32": [1e-40, -3e-39, 2e-45, 0, 1, -4e-38, 1.5e-38, 0.5],
    "double": [1e-310, -3e-309, 5e-324, 0, 1, -4e-308, 3e-308, 0.5],
    "half": [6e-8, -3e-5, 1e-6, 0, 1, -1e-4, 7e-5, 0.5],
    "bfloat16": [1e-40, -3e-39, 1e-40, 0, 1, -4e-38, 1.5e-38, 0.5],
}
"""Three subnormal numbers, zero, and normal numbers, two of which are near the least."""
_BITS = {"float32": ("int32", 23), "double": ("int64", 52), "half": ("int16", 10), "bfloat16": ("int16", 7)}
"""The integers of a dtype's size, and the bits of a mantissa."""
TYPES = tuple(_PATTERNS)
FULL = ("float32", "double")


def numbers(dtype, *shape):
    """The pattern again and again."""
    wide = np.resize(np.array(_PATTERNS[dtype]), shape or (64,))
    return wide.astype(dtypes.from_name(dtype).numpy)


def kept(op, dtype, *inputs, result=None, **attrs):
    """A case with the op's first output, and with where the output is subnormal: tolerances take such numbers for zero."""
    names = [[f"x{i}_{j}" for j in range(len(v))] if isinstance(v, list) else f"x{i}" for i, v in enumerate(inputs)]
    feeds = {}
    for name, value in zip(names, inputs):
        feeds.update(zip(name, value) if isinstance(name, list) else [(name, np.asarray(value))])

    def build(g):
        made = {n: g.Placeholder(dtype=dtypes.from_numpy(v.dtype), shape=v.shape, name=n) for n, v in feeds.items()}
        g.add(op, [[made[n] for n in name] if isinstance(name, list) else made[name] for name in names], attrs, "op")
        integer, mantissa = _BITS[result or dtype]
        number = dtypes.from_name(integer).numpy
        bits = g.Bitcast(g.graph.output("op:0"), type=integer)
        magnitude = g.BitwiseAnd(bits, np.array(np.iinfo(number).max, number))
        is_below = g.Less(magnitude, np.array(1 << mantissa, number))
        g.LogicalAnd(g.Greater(magnitude, np.array(0, number)), is_below, name="is_subnormal")
        return [["op:0", "is_subnormal:0"]]

    shapes = " ".join("x".join(map(str, value.shape)) or "scalar" for value in feeds.values())
    settings = ",".join(str(value) for value in attrs.values())
    return graph_case(f"{op} {dtype} {shapes} {settings}".strip(), op, build, **feeds)


def zeros(dtype, *shape):
    return np.zeros_like(numbers(dtype, *shape))


def ones(dtype, *shape):
    return np.ones_like(numbers(dtype, *shape))


COPIES = [
    item
    for t in TYPES
    for x in (numbers(t),)
    for item in (
        kept("Identity", t, x),
        kept("Reshape", t, x, i32(8, 8)),
        kept("ConcatV2", t, [x, x], np.int32(0)),
        kept("GatherV2", t, x, i32(0, 1, 2), np.int32(0)),
        kept("PadV2", t, x, np.array([[1, 1]], np.int32), x[0]),
        kept("Transpose", t, numbers(t, 8, 2), i32(1, 0)),
        kept("Tile", t, x, i32(2)),
        kept("ReverseV2", t, x, i32(0)),
        kept("BroadcastTo", t, x, i32(2, 64)),
        kept("SelectV2", t, np.arange(64) % 2 > 0, x, x),
        kept("OneHot", t, i32(0, 1), np.int32(2), x[0], x[1], axis=-1),
        kept("Fill", t, i32(3), x[0]),
        kept("ScatterNd", t, np.arange(64, dtype=np.int32)[:, np.newaxis], x, i32(64)),
        kept("TensorScatterUpdate", t, x, i32(0)[:, np.newaxis], x[2:3]),
        kept("TopKV2", t, x, np.int32(8), sorted=True),
        kept("Neg", t, x),
        kept("Abs", t, x),
        kept("CheckNumerics", t, x, message="none"),
        kept("ZerosLike", t, x),
    )
]
REDUCED = [
    item
    for t in TYPES
    for op in ("Sum", "Mean", "Max", "Prod")
    for shape, axis in (((64, 1), 1), ((3,), 0), ((3, 64), 0))
    if (op, t, shape) != ("Max", "bfloat16", (3, 64))
    for item in (kept(op, t, numbers(t, *shape), i32(axis), keep_dims=False),)
]
COMPUTED = [
    item
    for t in TYPES
    for x, one, zero in ((numbers(t), ones(t), zeros(t)),)
    for item in (
        kept("Mul", t, x, one),
        kept("Mul", t, x[:32], one[:32] * one.dtype.type(0.5)),
        kept("AddV2", t, x, zero),
        kept("Sub", t, x, zero),
        kept("RealDiv", t, x, one),
        kept("Maximum", t, x, zero),
        kept("Minimum", t, x, zero),
        kept("Square", t, x),
        kept("Sign", t, x),
        kept("Relu", t, x),
        kept("ReluGrad", t, x, one),
        kept("LeakyRelu", t, x, alpha=0.25),
        kept("Exp", t, x),
        kept("Log", t, np.abs(x)),
        kept("Sqrt", t, np.abs(x)),
        kept("Rsqrt", t, np.abs(x)),
        kept("Reciprocal", t, x),
        kept("Tanh", t, x),
        kept("Sigmoid", t, x),
        kept("Softplus", t, x),
        kept("Floor", t, x),
        kept("Ceil", t, x),
        kept("ClipByValue", t, x, -one[0], one[0]),
        kept("AddN", t, [x, zero]),
        kept("AddN", t, [x]),
        kept("SquaredDifference", t, x, zero),
        kept("DivNoNan", t, one, x),
        kept("Cumsum", t, x[:8], np.int32(0), exclusive=False, reverse=False),
        kept("Cumprod", t, x[:2], np.int32(0), exclusive=False, reverse=False),
        kept("UnsortedSegmentSum", t, x, np.arange(64, dtype=np.int32), np.int32(64)),
        kept("TensorScatterAdd", t, x, i32(0)[:, np.newaxis], x[3:4]),
        kept("Softmax", t, numbers(t, 1, 64)),
        kept("L2Loss", t, x[:3]),
        kept("MatMul", t, numbers(t, 64, 16), ones(t, 16, 16), transpose_a=False, transpose_b=False),
        kept("BatchMatMulV2", t, numbers(t, 2, 8, 8), ones(t, 2, 8, 8), adj_x=False, adj_y=False),
        kept("BiasAdd", t, numbers(t, 8, 8), zeros(t, 8)),
        case("Equal", x, zero),
        case("Less", x, zero),
        case("Greater", x, zero),
        case("IsFinite", x),
        case("ArgMax", x[:4], np.int32(0)),
        case("AsString", x[:8], scientific=True),
    )
]
IMAGES = [
    item
    for t in FULL
    for x in (numbers(t, 1, 8, 8, 8),)
    for item in (
        kept("AvgPool", t, x, ksize=[1, 2, 2, 1], strides=[1, 1, 1, 1], padding="VALID"),
        kept("Conv2D", t, x, ones(t, 1, 1, 8, 8), strides=[1, 1, 1, 1], padding="SAME"),
        kept("DepthwiseConv2dNative", t, x, ones(t, 2, 2, 8, 1), strides=[1, 1, 1, 1], padding="SAME"),
    )
]
CASTS = [kept("Cast", a, numbers(a), result=b, SrcT=a, DstT=b) for a in TYPES for b in TYPES if a != b]
CASES = [
    *COPIES,
    *REDUCED,
    *COMPUTED,
    *IMAGES,
    *CASTS,
    *(case("Cast", numbers(t), SrcT=t, DstT=to) for t in TYPES for to in ("bool", "int32")),
    *(kept("LinSpace", t, numbers(t)[0], numbers(t)[2], np.int32(3)) for t in FULL),
    *(kept("NextAfter", t, numbers(t), ones(t)) for t in FULL),
    *(kept("StringToNumber", t, TEXT, out_type=t) for t in FULL),
    *(kept("DecodeCSV", t, TEXT, [zeros(t)[:1]], OUT_TYPE=[t]) for t in FULL),
]
