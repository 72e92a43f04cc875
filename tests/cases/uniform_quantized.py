"""Cases of the uniform_quantized family."""

import numpy as np

from tests.cases.quantized import quantized, whole
from tests.opcases import normal


def f32(value):
    return np.asarray(value, np.float32)


def i32(value):
    return np.asarray(value, np.int32)


X = normal(3, 4)
INT8 = {"quantization_min_val": -128, "quantization_max_val": 127}
BEYOND = f32([-5, -1, 0, 0.3, 1, 5, 1e30, np.nan, np.inf, -np.inf])
QINT32 = {"quantization_min_val": -(2**31), "quantization_max_val": 2**31 - 1}
SCALES, ZEROS = f32([0.1, 0.2, 0.05, 0.3]), i32([0, 5, -7, 2])


def limits(*names, low=-128, high=127):
    return {f"{name}_quantization_{end}_val": value for name in names for end, value in (("min", low), ("max", high))}


WIDE = {"low": -(2**31), "high": 2**31 - 1}


def conversions():
    q = whole("qint8", 3, 4)
    output = limits("input", "output")
    return [
        *(quantized("UniformQuantize", X, f32(0.02), i32(3), Tout=t, **INT8) for t in ("qint8", "qint32")),
        *(
            quantized("UniformQuantize", BEYOND, f32(scale), i32(zero), Tout=t, **bounds)
            for t, bounds in (("qint8", INT8), ("qint32", QINT32))
            for scale, zero in ((0.02, 3), (1e-12, -3))
        ),
        quantized("UniformQuantize", X, SCALES, ZEROS, Tout="qint8", quantization_axis=1, **INT8),
        quantized("UniformQuantize", X, SCALES, ZEROS, Tout="qint8", **INT8),
        quantized("UniformQuantize", X, f32(-1), i32(0), Tout="qint8", **INT8),
        quantized("UniformDequantize", q, f32(0.02), i32(3), Tout="float", **INT8),
        quantized("UniformDequantize", q, SCALES, ZEROS, Tout="float", quantization_axis=1, **INT8),
        quantized("UniformRequantize", q, f32(0.02), i32(3), f32(0.03), i32(-4), Tout="qint8", **output),
        quantized("UniformRequantize", q, SCALES, ZEROS, f32(0.1), i32(-4), Tout="qint8", input_quantization_axis=1, **output),
        quantized(
            "UniformRequantize", q, f32(0.1), i32(-4), SCALES, ZEROS, Tout="qint8", output_quantization_axis=1, **output
        ),
    ]


def sums():
    a, b = ("qint32", i32(normal(3, 4) * 1000)), ("qint32", i32(normal(4) * 1000))
    attrs = limits("lhs", "rhs", "output", **WIDE)
    scale = (f32(0.02), i32(3))
    return [
        quantized("UniformQuantizedAdd", a, b, *scale, f32(0.05), i32(-2), f32(0.03), i32(7), **attrs),
        quantized("UniformQuantizedAdd", a, b, *scale, *scale, *scale, **attrs),
        quantized("UniformQuantizedAdd", a, ("qint32", i32([1, 2, 3])), *scale, *scale, *scale, **attrs),
        quantized("UniformQuantizedAdd", a, b, SCALES, ZEROS, *scale, *scale, **attrs),
        quantized(
            "UniformQuantizedClipByValue", a, ("qint32", i32(-100)), ("qint32", i32(250)), *scale,
            quantization_min_val=-(2**31), quantization_max_val=2**31 - 1,
        ),
    ]  # fmt: skip


def products():
    a, b = whole("qint8", 3, 4), whole("qint8", 4, 5)
    attrs = {"Tout": "qint32", **limits("lhs", "rhs"), **limits("output", **WIDE)}
    columns = (f32([0.1, 0.2, 0.05, 0.3, 0.1]), i32([0, 5, -7, 2, 1]))
    hybrid = {"Tout": "float", **limits("rhs")}
    return [
        quantized("UniformQuantizedDot", a, b, f32(0.02), i32(3), f32(0.05), i32(-2), f32(0.03), i32(7), **attrs),
        quantized(
            "UniformQuantizedDot", a, b, f32(0.02), i32(3), *columns, f32(0.03), i32(7), rhs_quantization_axis=1, **attrs
        ),
        quantized("UniformQuantizedDot", a, a, f32(0.02), i32(3), f32(0.05), i32(-2), f32(0.03), i32(7), **attrs),
        quantized("UniformQuantizedDotHybrid", X, b, f32(0.05), i32(-2), **hybrid),
        quantized("UniformQuantizedDotHybrid", f32([[0, 0, 0, 0], [1, 2, 3, 4]]), b, f32(0.05), i32(-2), **hybrid),
        quantized("UniformQuantizedDotHybrid", X, a, f32(0.05), i32(-2), **hybrid),
        quantized("UniformQuantizedDotHybrid", X, b, *columns, rhs_quantization_axis=1, **hybrid),
    ]


def convolutions():
    x, w = whole("qint8", 2, 3, 6, 5), whole("qint8", 4, 3, 3, 2)
    attrs = {"Tout": "qint32", **limits("lhs", "rhs"), **limits("output", **WIDE)}
    scales = (f32(0.02), i32(3), f32(0.05), i32(-2), f32(0.03), i32(7))
    op = "UniformQuantizedConvolution"
    strided = {"window_strides": [2, 1], "padding": "SAME", "rhs_dilation": [1, 2]}
    explicit = {"padding": "EXPLICIT", "explicit_padding": [1, 0, 2, 1], "lhs_dilation": [2, 1]}
    grouped = whole("qint8", 6, 1, 3, 2)
    hybrid = {"Tout": "float", **limits("rhs")}
    batch_grouped = {"padding": "VALID", "batch_group_count": 2}
    images, filters = whole("qint8", 4, 3, 6, 5), whole("qint8", 6, 3, 3, 2)
    return [
        quantized(op, images, filters, *scales, **batch_grouped, **attrs),
        quantized(f"{op}Hybrid", normal(4, 3, 6, 5), filters, f32(0.05), i32(-2), **batch_grouped, **hybrid),
        quantized(op, x, w, *scales, padding="VALID", **attrs),
        quantized(op, x, w, *scales, **strided, **attrs),
        quantized(op, x, w, *scales, **explicit, **attrs),
        quantized(op, x, grouped, *scales, padding="VALID", feature_group_count=3, **attrs),
        quantized(f"{op}Hybrid", normal(2, 3, 6, 5), w, f32(0.05), i32(-2), **strided, **hybrid),
    ]


CASES = [*conversions(), *sums(), *products(), *convolutions()]
