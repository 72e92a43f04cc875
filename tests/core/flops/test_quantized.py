"""FLOPs formulas of quantized arithmetic against naive definitions."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.flops import definitions, definitions_images
from tests.core.flops import definitions_quantized as quantized
from tests.core.flops.counting import normal, positive
from tests.core.flops.held import EXAMPLES, SMALL, Cases, Node, hold, holds
from tests.core.flops.test_formulas import windows_of
from tfg.core.registry.catalog import CATALOG

HELD: Cases = {}
EDGES = [(), ()]
"""One range."""


def placeholder(dtype, *shape):
    return lambda g: g.Placeholder(dtype=dtype, shape=shape)


def array(draw, tally, rank=4):
    return positive(tally, *[draw(SMALL) for _ in range(rank)])


# ---- to integers and back


@holds(HELD, "QuantizeV2")
def quantize_v2(draw, tally):
    x, mode = array(draw, tally, 2), draw(st.sampled_from(["SCALED", "MIN_FIRST", "MIN_COMBINED"]))
    dtype = draw(st.sampled_from(["qint8", "quint8"]))
    quantized.quantized(x, mode, dtype == "qint8")
    return Node([x.shape, *EDGES], {"T": dtype, "mode": mode})


@holds(HELD, "Dequantize")
def dequantize(draw, tally):
    x, mode = array(draw, tally, 2), draw(st.sampled_from(["SCALED", "MIN_FIRST", "MIN_COMBINED"]))
    dtype = draw(st.sampled_from(["qint8", "quint8"]))
    quantized.dequantized(x, mode, dtype == "qint8")
    return Node([placeholder(dtype, *x.shape), *EDGES], {"mode": mode})


def simulator(op, more, names):
    """`more`: the inputs after the range."""

    @holds(HELD, op)
    def case(draw, tally):
        x, range_given, axis = array(draw, tally, 3), draw(st.booleans()), -1
        attrs = {"range_given": range_given}
        if "axis" in names:
            attrs["axis"] = axis = draw(st.integers(-1, 2))
        if "round_mode" in names:
            attrs["round_mode"] = draw(st.sampled_from(["HALF_TO_EVEN", "HALF_UP"]))
        quantized.simulated(x, range_given, attrs.get("round_mode") == "HALF_UP", axis)
        edges = [() if axis == -1 else (x.shape[axis],)] * 2
        return Node([x.shape, *edges, *more], attrs)


simulator("QuantizeAndDequantizeV2", [], ("axis", "round_mode"))
simulator("QuantizeAndDequantizeV3", [np.int32(8)], ("axis",))
simulator("QuantizeAndDequantizeV4", [], ("axis", "round_mode"))


@holds(HELD, "QuantizeAndDequantizeV4Grad")
def quantize_and_dequantize_v4_grad(draw, tally):
    x = array(draw, tally, 2)
    quantized.inside(x)
    return Node([x.shape, x.shape, *EDGES])


@holds(HELD, "FakeQuantWithMinMaxArgsGradient")
def fake_quant_with_min_max_args_gradient(draw, tally):
    x = array(draw, tally, 3)
    quantized.inside(x)
    return Node([x.shape, x.shape])


def fake(op, edges_of, axes):
    """An op and its gradient; edges_of(channels) are the shapes of the inputs that give the range, one for all `axes`."""

    @holds(HELD, op)
    def forward(draw, tally):
        x = array(draw, tally, 3)
        quantized.fake(x)
        return Node([x.shape, *edges_of(x.shape[2])])

    @holds(HELD, f"{op}Gradient")
    def backward(draw, tally):
        x = array(draw, tally, 3)
        quantized.fake_gradient(x, x, axes)
        return Node([x.shape, x.shape, *edges_of(x.shape[2])])


fake("FakeQuantWithMinMaxVars", lambda channels: EDGES, None)
fake("FakeQuantWithMinMaxVarsPerChannel", lambda channels: [(channels,)] * 2, (0, 1))


# ---- elementwise ops, pooling, norms


@holds(HELD, "QuantizedAdd")
def quantized_add(draw, tally):
    x = array(draw, tally, 2)
    y = positive(tally, x.shape[1])
    _ = quantized.clipped(x * 2.0 + 1.0) + quantized.clipped(y * 2.0 + 1.0)
    return Node([placeholder("quint8", *x.shape), placeholder("quint8", *y.shape), *EDGES, *EDGES], {"Toutput": "qint32"})


@holds(HELD, "QuantizedMul")
def quantized_mul(draw, tally):
    x = array(draw, tally, 2)
    y = positive(tally, x.shape[1])
    _ = (x - 3.0) * (y - 3.0)
    return Node([placeholder("quint8", *x.shape), placeholder("quint8", *y.shape), *EDGES, *EDGES], {"Toutput": "qint32"})


@holds(HELD, "QuantizedBiasAdd")
def quantized_bias_add(draw, tally):
    x = array(draw, tally, 2)
    bias = positive(tally, x.shape[1])
    _ = quantized.from_float(quantized.to_float(x)) + quantized.from_float(quantized.to_float(bias)) - 3.0
    inputs = [placeholder("quint8", *x.shape), placeholder("quint8", *bias.shape), *EDGES, *EDGES]
    return Node(inputs, {"out_type": "qint32"})


def unary(op, definition, rank=4, extra=(), dtype="quint8", **attrs):
    """definition(x) of one quantized tensor."""

    @holds(HELD, op)
    def case(draw, tally):
        x = array(draw, tally, rank)
        definition(x)
        return Node([placeholder(dtype, *x.shape), *extra, *EDGES], attrs)


unary("QuantizedRelu", lambda x: np.maximum(x, 0.0))
unary("QuantizedRelu6", quantized.clipped)
unary("QuantizedReluX", quantized.clipped, extra=[np.float32(3)])
unary("RequantizationRange", lambda x: quantized.extremes(x, None), dtype="qint32")


@holds(HELD, "RequantizationRangePerChannel")
def requantization_range_per_channel(draw, tally):
    x = array(draw, tally)
    quantized.extremes(x, (0, 1, 2))
    return Node([placeholder("qint32", *x.shape), x.shape[3:], x.shape[3:]], {"clip_value_max": 1e9})


@holds(HELD, "RequantizePerChannel")
def requantize_per_channel(draw, tally):
    x = array(draw, tally)
    quantized.clipped(np.rint(x * 2.0))
    return Node([placeholder("qint32", *x.shape), x.shape[3:], x.shape[3:], *EDGES])


@holds(HELD, "Requantize")
def requantize(draw, tally):
    x, dtype = array(draw, tally), draw(st.sampled_from(["qint8", "quint8"]))
    quantized.requantized(x, dtype == "quint8")
    return Node([placeholder("qint32", *x.shape), *EDGES, *EDGES], {"out_type": dtype})


@holds(HELD, "QuantizeDownAndShrinkRange")
def quantize_down_and_shrink_range(draw, tally):
    x, dtype = array(draw, tally), draw(st.sampled_from(["qint8", "quint8"]))
    quantized.extremes(x, None)
    quantized.requantized(x, dtype == "quint8")
    return Node([placeholder("qint32", *x.shape), *EDGES], {"out_type": dtype})


def pooling(op, is_mean):
    @holds(HELD, op)
    def case(draw, tally):
        batch, channels = draw(SMALL), draw(SMALL)
        sizes, window, strides, _, padding = windows_of(draw, 2, dilated=False)
        windows = definitions.Windows(sizes, window, strides, [1, 1], padding)
        quantized.pooled(normal(tally, batch, *sizes, channels), windows, is_mean)
        attrs = {"ksize": [1, *window, 1], "strides": [1, *strides, 1], "padding": padding}
        return Node([placeholder("quint8", batch, *sizes, channels), *EDGES], attrs)


pooling("QuantizedMaxPool", False)
pooling("QuantizedAvgPool", True)


@holds(HELD, "QuantizedInstanceNorm")
def quantized_instance_norm(draw, tally):
    x, range_given = array(draw, tally), draw(st.booleans())
    quantized.instance_norm(x, range_given)
    attrs = {"output_range_given": range_given, "given_y_min": -1.0, "given_y_max": 1.0}
    return Node([placeholder("quint8", *x.shape), *EDGES], attrs)


@holds(HELD, "QuantizedBatchNormWithGlobalNormalization")
def quantized_batch_norm(draw, tally):
    x, is_scaled = array(draw, tally), draw(st.booleans())
    vectors = [positive(tally, x.shape[3]) for _ in range(4)]
    quantized.batch_norm(x, *vectors[:3], vectors[3] if is_scaled else None)
    inputs = [item for shape in (x.shape, *[x.shape[3:]] * 4) for item in (placeholder("quint8", *shape), *EDGES)]
    attrs = {"out_type": "qint32", "variance_epsilon": 1e-5, "scale_after_normalization": is_scaled}
    return Node(inputs, attrs)


@holds(HELD, "QuantizedResizeBilinear")
def quantized_resize_bilinear(draw, tally):
    x, size, dtype = array(draw, tally), [draw(SMALL), draw(SMALL)], draw(st.sampled_from(["quint8", "qint32", "float"]))
    if dtype == "float":
        definitions_images.bilinear(x, *size)
    else:
        quantized.bilinear_in_fixed_point(x, *size)
    return Node([placeholder(dtype, *x.shape), np.int32(size), *EDGES])


# ---- products


@holds(HELD, "QuantizedMatMul")
def quantized_mat_mul(draw, tally):
    (m, k), n, flips = (draw(SMALL), draw(SMALL)), draw(SMALL), [draw(st.booleans()) for _ in range(2)]
    _ = less_zero(positive(tally, m, k)) @ less_zero(positive(tally, k, n))
    a, b = (k, m) if flips[0] else (m, k), (n, k) if flips[1] else (k, n)
    attrs = {"transpose_a": flips[0], "transpose_b": flips[1]}
    return Node([placeholder("quint8", *a), placeholder("quint8", *b), *EDGES, *EDGES], attrs, tally.products)


def less_zero(x):
    """Without the integer that stands for zero."""
    return x - 3.0


def as_it_is(x):
    return x


def convolved(draw, tally, is_depthwise, left=as_it_is, right=as_it_is):
    """(sums, shapes of image and filter, attributes) of a convolution of integers."""
    batch, depth, filters = draw(st.integers(1, 2)), draw(SMALL), draw(SMALL)
    sizes, window, strides, dilations, padding = windows_of(draw, 2, dilated=not is_depthwise)
    windows = definitions.Windows(sizes, window, strides, dilations, padding)
    image, kernel = (batch, *sizes, depth), (*window, depth, filters)
    grouped = (*window, 1, depth * filters) if is_depthwise else kernel
    x, w = left(normal(tally, *image)), right(normal(tally, *grouped))
    sums = definitions.convolve(x, w, windows, depth if is_depthwise else 1)
    return sums, image, kernel, {"strides": [1, *strides, 1], "dilations": [1, *dilations, 1], "padding": padding}


@holds(HELD, "QuantizedConv2D")
def quantized_conv2d(draw, tally):
    _, image, kernel, attrs = convolved(draw, tally, False, less_zero, less_zero)
    return Node([placeholder("quint8", *image), placeholder("quint8", *kernel), *EDGES, *EDGES], attrs, tally.products)


DTYPES = {"Tinput": "quint8", "Tfilter": "qint8", "T1": "quint8", "T2": "qint8", "Tsummand": "quint8"}


def fused_steps(op, per_channel, float_bias):
    """What the op's name says in the order in which it is done."""
    end = (re.findall("(?:Requantize|Dequantize)$", op) or [""])[0]
    steps = []
    if "Bias" in op:
        steps.append("bias" if not float_bias else "float bias of floats" if end == "Dequantize" else "float bias")
    if "Sum" in op:
        steps.append("quantized summand" if end else "summand")
    steps += ["Relu"] if "Relu" in op else []
    return steps + ([end] if end else ["one step for all channels"] if per_channel else [])


def fused(op):
    """An op of oneDNN's: its product, then its steps; macs are those of the product alone."""

    @holds(HELD, op)
    def case(draw, tally):
        per_channel, bias_type = draw(st.booleans()), draw(st.sampled_from(["float", "qint32"]))
        sums, first, second, attrs = product(op, draw, tally) if "MatMul" in op else convolved(draw, tally, "Depthwise" in op)
        products, filters = tally.products, sums.shape[-1]
        arguments, of_attr = CATALOG[op].inputs, DTYPES | {"Tbias": bias_type}
        dtypes = {arg.name: arg.dtype.name if arg.dtype else of_attr[arg.type_attr] for arg in arguments}
        steps = fused_steps(op, per_channel and filters > 1, dtypes.get("bias") == "float")
        quantized.fused(sums, steps, positive(tally, filters), positive(tally, *sums.shape))
        shapes = {"bias": (filters,), "summand": sums.shape, arguments[0].name: first, arguments[1].name: second}
        shapes |= dict.fromkeys(["min_filter", "max_filter", "min_b", "max_b"], (filters,) if per_channel else ())
        return Node([placeholder(dtype, *shapes.get(name, ())) for name, dtype in dtypes.items()], attrs, products)


def product(op, draw, tally):
    """As `convolved`, of matrices; the first has a zero of its own in mode MIN_FIRST."""
    m, k, n, mode = draw(SMALL), draw(SMALL), draw(SMALL), draw(st.sampled_from(["MIN_FIRST", "SCALED"]))
    left = less_zero if mode == "MIN_FIRST" else as_it_is
    sums = left(positive(tally, m, k)) @ positive(tally, k, n)
    dtype = {"Toutput": "float"} if op.endswith("Dequantize") else {}
    return sums, (m, k), (k, n), {"input_quant_mode": mode, **dtype}


for _op in CATALOG:
    if re.match(r"Quantized(Depthwise)?(Conv2D|MatMul)(And|With|PerChannel)|QuantizedDepthwiseConv2D$", _op):
        fused(_op)


# ---- uniform quantization


def scales(number, axis_size=None):
    """Scales and zero points, one or a vector."""
    edge = () if axis_size is None else (axis_size,)
    return [item for _ in range(number) for item in (edge, placeholder("int32", *edge))]


LIMITS = {"quantization_min_val": -128, "quantization_max_val": 127}


def limited(*names):
    return {f"{name}_{key}": value for name in names for key, value in LIMITS.items()}


@holds(HELD, "UniformQuantize")
def uniform_quantize(draw, tally):
    x = array(draw, tally, 2)
    quantized.uniform(x)
    return Node([x.shape, *scales(1)], {"Tout": "qint8", **LIMITS})


@holds(HELD, "UniformDequantize")
def uniform_dequantize(draw, tally):
    x = array(draw, tally, 2)
    _ = (x - 3.0) * 0.5
    return Node([placeholder("qint8", *x.shape), *scales(1)], {"Tout": "float", **LIMITS})


@holds(HELD, "UniformRequantize")
def uniform_requantize(draw, tally):
    x = array(draw, tally, 2)
    quantized.uniform_to_output(x - 3.0)
    return Node([placeholder("qint8", *x.shape), *scales(2)], {"Tout": "qint8", **limited("input", "output")})


@holds(HELD, "UniformQuantizedClipByValue")
def uniform_quantized_clip_by_value(draw, tally):
    x = array(draw, tally, 2)
    quantized.clipped(x)
    return Node([placeholder("qint32", *x.shape), *[placeholder("qint32")] * 2, *scales(1)], LIMITS)


@holds(HELD, "UniformQuantizedAdd")
def uniform_quantized_add(draw, tally):
    x = array(draw, tally, 2)
    y = positive(tally, x.shape[1])
    parts = [quantized.uniform_to_output(part - 3.0) for part in (x, y)]
    quantized.clipped(parts[0] + parts[1] - np.ones(x.shape))
    inputs = [placeholder("qint32", *x.shape), placeholder("qint32", *y.shape), *scales(3)]
    return Node(inputs, limited("lhs", "rhs", "output"))


def uniform_product(op, run):
    """run(draw, tally, left, right) applies left and right to the operands; gives sums, shapes and attributes."""
    is_hybrid = op.endswith("Hybrid")

    @holds(HELD, op)
    def case(draw, tally):
        left, names = (quantized.quantized_rows, ["rhs"]) if is_hybrid else (less_zero, ["lhs", "rhs", "output"])
        sums, first, second, attrs = run(draw, tally, left, less_zero)
        products = tally.products - (math.prod(first) if is_hybrid else 0)
        if is_hybrid:
            _ = sums * 0.5 * 0.5
        else:
            quantized.uniform_to_output(sums)
        inputs = [first if is_hybrid else placeholder("qint8", *first), placeholder("qint8", *second), *scales(len(names))]
        return Node(inputs, {"Tout": "float" if is_hybrid else "qint32", **limited(*names), **attrs}, products)


def uniform_dot(draw, tally, left, right):
    m, k, n = draw(SMALL), draw(SMALL), draw(SMALL)
    return left(positive(tally, m, k)) @ right(positive(tally, k, n)), (m, k), (k, n), {}


def uniform_convolution(draw, tally, left, right):
    """Channels come before height and width, filters before channels."""
    sums, image, kernel, attrs = convolved(draw, tally, False, left, right)
    names = {"window_strides": "strides", "rhs_dilation": "dilations"}
    result = {name: attrs[old][1:3] for name, old in names.items()} | {"padding": attrs["padding"]}
    return sums, (image[0], image[3], *image[1:3]), (kernel[3], kernel[2], *kernel[:2]), result


uniform_product("UniformQuantizedDot", uniform_dot)
uniform_product("UniformQuantizedDotHybrid", uniform_dot)
uniform_product("UniformQuantizedConvolution", uniform_convolution)
uniform_product("UniformQuantizedConvolutionHybrid", uniform_convolution)


@pytest.mark.sampled(12)
@pytest.mark.parametrize("op", HELD)
@EXAMPLES
@given(data=st.data())
def test_formula(op, data):
    hold(op, HELD[op], data.draw)
