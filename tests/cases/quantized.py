"""Cases of the quantized family.

Placeholders hold plain integers; Bitcast makes them quantized.
"""

import numpy as np

from tests.opcases import case, graph_case, integers, normal
from tfg.core.types.shapes import UNKNOWN


def whole(kind, *shape, seed=0):
    """Integers over the whole range of a quantized type."""
    plain = kind.replace("q", "", 1)
    info = np.iinfo(plain)
    return kind, integers(*shape, low=info.min, high=info.max + 1, dtype=plain, seed=seed)


def f32(value):
    return np.asarray(value, np.float32)


def quantized(op, *inputs, key="", tolerance=None, **attrs):
    """An op with inputs (kind, integers) quantized, also in lists."""

    def convert(g, value):
        if isinstance(value, list):
            return [convert(g, item) for item in value]
        return g.Bitcast(g.constant(value[1]), type=value[0]) if isinstance(value, tuple) else g.constant(value)

    def build(g):
        node = g.add(op, [convert(g, value) for value in inputs], attrs, "op")
        return [[f"op:{i}" for i in range(len(node.output_dtypes))]]

    shapes = "_".join(_text(value) for value in inputs)
    return graph_case(f"{op}[{shapes}]{attrs}{key}", op, build, tolerance)


def _text(value):
    if isinstance(value, list):
        return "+".join(map(_text, value))
    kind, array = value if isinstance(value, tuple) else ("", np.asarray(value))
    return f"{kind}{'x'.join(map(str, array.shape)) or array}"


A, B = (f32(-3), f32(5)), (f32(-1), f32(2))


def products():
    conv = {"strides": [1, 2, 2, 1], "padding": "SAME", "out_type": "qint32"}
    x, w = whole("quint8", 2, 5, 6, 3), whole("quint8", 2, 3, 3, 4)
    a, b = whole("quint8", 3, 4), whole("quint8", 4, 5)
    return [
        quantized("QuantizedConv2D", x, w, *A, *B, **conv),
        quantized("QuantizedConv2D", x, whole("quint8", 1, 1, 3, 2), *A, *B, strides=[1, 1, 1, 1], padding="VALID"),
        quantized("QuantizedConv2D", x, whole("quint8", 2, 3, 2, 4), *A, *B, **conv),
        quantized("QuantizedMatMul", a, b, *A, *B),
        quantized("QuantizedMatMul", whole("quint8", 4, 3), whole("quint8", 5, 4), *A, *B, transpose_a=True, transpose_b=True),
        quantized("QuantizedMatMul", a, whole("quint8", 3, 5), *A, *B),
        quantized("QuantizedMul", a, whole("quint8", 4, seed=2), *A, *B),
        quantized("QuantizedMul", whole("quint8", 1), a, *A, *B),
        quantized("QuantizedMul", a, whole("quint8", 4), f32(1), f32(1), *B),
        quantized("QuantizedAdd", a, whole("quint8", 3, 4, seed=1), *A, *B),
        quantized("QuantizedAdd", a, whole("quint8", 4), *A, *B),
        quantized("QuantizedBiasAdd", a, whole("quint8", 4), *A, *B, out_type="qint32"),
        quantized("QuantizedBiasAdd", whole("qint8", 3, 4), whole("qint8", 4), *A, *B, out_type="qint32"),
        quantized("QuantizedBiasAdd", a, whole("quint8", 3), *A, *B, out_type="qint32"),
    ]


def activations():
    return [
        quantized("QuantizedRelu", whole("quint8", 3, 4), *A, out_type="quint8"),
        quantized("QuantizedRelu", whole("qint32", 3, 4), *A, out_type="qint32"),
        quantized("QuantizedRelu6", whole("quint8", 3, 4), f32(-3), f32(10), out_type="quint8"),
        quantized("QuantizedRelu6", whole("qint32", 3, 4), f32(-3), f32(10), out_type="qint32"),
        *(quantized(f"QuantizedRelu{n}", whole("quint8", 3), f32([-3]), f32([10]), out_type="quint8") for n in ("", "6")),
    ]


def pools():
    x = whole("quint8", 2, 5, 6, 3)
    attrs = {"ksize": [1, 2, 3, 1], "strides": [1, 1, 2, 1]}
    ops = ("QuantizedMaxPool", "QuantizedAvgPool")
    return [
        *(
            quantized(op, value, *A, padding=p, **attrs)
            for op in ops
            for p in ("VALID", "SAME")
            for value in (x, whole("qint8", 2, 5, 6, 3))
        ),
        *(quantized(op, x, f32([-3]), f32([10]), padding="SAME", **attrs) for op in ops),
    ]


def norms():
    x = whole("quint8", 2, 3, 4, 5)
    vectors = [v for i in range(4) for v in (whole("quint8", 5, seed=i), f32(-1 + i), f32(4 + i))]
    op = "QuantizedBatchNormWithGlobalNormalization"
    return [
        quantized("QuantizedInstanceNorm", x, *A),
        quantized("QuantizedInstanceNorm", x, *A, output_range_given=True, given_y_min=-1.0, given_y_max=1.5),
        quantized("QuantizedInstanceNorm", x, f32(1), f32(1)),
        *(
            quantized(op, x, *A, *vectors, out_type="qint32", variance_epsilon=0.01, scale_after_normalization=s)
            for s in (False, True)
        ),
    ]


def moves():
    parts = [whole("quint8", 2, 3), whole("quint8", 2, 4)]
    signed = [whole("qint32", 2, 3), whole("qint32", 2, 4)]
    same, other = [f32(-3), f32(-3)], [f32(-1), f32(-4)]
    tops = [f32(5), f32(5)], [f32(2), f32(3)]
    return [
        quantized("QuantizedConcat", np.int32(1), parts, same, tops[0]),
        quantized("QuantizedConcat", np.int32(1), parts, other, tops[1], key="wider"),
        quantized("QuantizedConcat", np.int32(1), signed, other, tops[1]),
        quantized("QuantizedConcat", np.int32(0), parts, same, tops[0]),
        quantized("QuantizedConcatV2", parts, np.int32(1), same, tops[0]),
        quantized("QuantizedConcatV2", parts, np.int32(0), same, tops[0]),
        quantized("QuantizedReshape", whole("quint8", 3, 4), np.array([2, -1], np.int32), *A),
        quantized("QuantizedReshape", whole("quint8", 3, 4), np.array([5, -1], np.int32), *A, key="odd"),
        *(
            quantized("QuantizedResizeBilinear", whole("quint8", 1, 4, 5, 3), np.array([3, 7], np.int32), *A, align_corners=c)
            for c in (False, True)
        ),
        case("QuantizedResizeBilinear", normal(1, 4, 5, 3), np.array([3, 7], np.int32), f32(-3), f32(3)),
    ]


def ranges():
    x = whole("qint32", 1, 2, 3, 4)
    small = ("qint32", x[1] // 1000)
    channels = (f32([-1, -2, -3, -1]), f32([2, 1, 3, 4]))
    return [
        quantized("RequantizationRange", small, *A),
        quantized("QuantizeDownAndShrinkRange", small, *A, out_type="quint8", key="small"),
        quantized("QuantizeDownAndShrinkRange", x, *A, out_type="quint8"),
        *(quantized("Requantize", x, *A, f32(-1), f32(3), out_type=t) for t in ("quint8", "qint8")),
        quantized("Requantize", x, *A, f32(1), f32(3), out_type="quint8"),
        quantized("Requantize", x, *A, f32(0), f32(0), out_type="quint8"),
        quantized("RequantizationRangePerChannel", small, *channels, clip_value_max=100.0),
        quantized("RequantizationRangePerChannel", ("qint32", np.abs(small[1])), *channels, clip_value_max=1e-4),
        *(quantized("RequantizePerChannel", x, *channels, f32(-1), f32(3), out_type=t) for t in ("quint8", "qint8")),
    ]


def unscalar_ranges():
    """RequantizationRange looks at the first elements of a range of any shape."""

    def build(g):
        low, high = (g.PlaceholderWithDefault(f32(v), shape=UNKNOWN) for v in ([-1, 5], [[3]]))
        g.RequantizationRange(g.Bitcast(g.constant(np.int32([-7, 100])), type="qint32"), low, high, name="op")
        return [["op:0", "op:1"]]

    return [graph_case("a range of vectors", "RequantizationRange", build)]


CASES = [*unscalar_ranges(), *products(), *activations(), *pools(), *norms(), *moves(), *ranges()]
