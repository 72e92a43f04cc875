"""Cases of the quantized_fused family."""

import numpy as np

from tests.cases.quantized import f32, quantized, whole
from tests.opcases import normal

X, W = whole("quint8", 2, 5, 6, 3), whole("qint8", 2, 3, 3, 4)
RANGES = (f32(0), f32(5), f32(-2), f32(2))
CHANNELS = (f32(0), f32(5), f32([-1, -2, -3, -1]), f32([1, 2, 3, 1]))
OUT = (f32(-20), f32(20))
BIAS = normal(4)
ATTRS = {"strides": [1, 2, 2, 1], "padding": "SAME"}


def convolutions():
    bias32 = ("qint32", (BIAS * 1000).astype(np.int32))
    end, unsigned = "AndRequantize", "AndReluAndRequantize"
    summand = whole("quint8", 2, 3, 3, 4, seed=4)
    signed = whole("qint8", 2, 3, 3, 4, seed=4)
    odd = whole("qint8", 2, 3, 2, 4)
    return [
        quantized("QuantizedConv2DAndRelu", X, W, *RANGES, **ATTRS),
        quantized(f"QuantizedConv2D{end}", X, W, *RANGES, *OUT, **ATTRS),
        quantized(f"QuantizedConv2D{unsigned}", X, W, *RANGES, f32(0), f32(20), **ATTRS),
        quantized("QuantizedConv2DPerChannel", X, W, *CHANNELS, **ATTRS),
        quantized("QuantizedConv2DWithBias", X, W, BIAS, *RANGES, **ATTRS),
        quantized("QuantizedConv2DWithBias", X, W, BIAS, *CHANNELS, **ATTRS),
        quantized("QuantizedConv2DWithBiasAndRelu", X, W, BIAS, *RANGES, **ATTRS),
        quantized(f"QuantizedConv2DWithBias{end}", X, W, BIAS, *RANGES, *OUT, **ATTRS),
        quantized(f"QuantizedConv2DWithBias{end}", X, W, bias32, *RANGES, *OUT, **ATTRS),
        quantized(f"QuantizedConv2DWithBias{unsigned}", X, W, BIAS, *RANGES, f32(0), f32(20), **ATTRS),
        quantized(f"QuantizedConv2DWithBias{unsigned}", X, W, BIAS, *CHANNELS, f32(0), f32(20), **ATTRS),
        # On valid input TensorFlow's kernels for sums bring its process down.
        quantized("QuantizedConv2DWithBiasSumAndRelu", X, odd, BIAS, *RANGES, normal(2, 3, 3, 4), **ATTRS),
        quantized(f"QuantizedConv2DWithBiasSum{unsigned}", X, odd, BIAS, *RANGES, *OUT, summand, f32(0), f32(9), **ATTRS),
        quantized(
            f"QuantizedConv2DWithBiasSignedSum{unsigned}", X, odd, BIAS, *RANGES, *OUT, signed, f32(-9), f32(9), **ATTRS
        ),
    ]


def depthwise():
    w = whole("qint8", 2, 3, 3, 1)
    bias = normal(3)
    name = "QuantizedDepthwiseConv2D"
    return [
        quantized(name, X, w, *RANGES, **ATTRS),
        quantized(f"{name}WithBias", X, w, bias, *RANGES, **ATTRS),
        quantized(f"{name}WithBiasAndRelu", X, w, bias, *RANGES, **ATTRS),
        quantized(f"{name}WithBiasAndReluAndRequantize", X, w, bias, *RANGES, f32(0), f32(20), **ATTRS),
    ]


def products():
    a, b = whole("quint8", 3, 4), whole("qint8", 4, 5)
    bias = normal(5)
    ranges = (f32(0), f32(5), f32(-2), f32(2))
    name = "QuantizedMatMulWithBias"
    return [
        *(quantized(name, a, b, bias, *ranges, input_quant_mode=m) for m in ("SCALED", "MIN_FIRST")),
        quantized(f"{name}AndRelu", a, b, bias, *ranges, input_quant_mode="SCALED"),
        quantized(f"{name}AndReluAndRequantize", a, b, bias, *ranges, f32(0), f32(20), input_quant_mode="SCALED"),
        quantized(f"{name}AndRequantize", a, b, bias, *ranges, f32(0), f32(20), input_quant_mode="SCALED"),
        quantized(f"{name}AndDequantize", a, b, bias, *ranges, f32(0), f32(20), Toutput="float", input_quant_mode="SCALED"),
    ]


CASES = [*convolutions(), *depthwise(), *products()]
