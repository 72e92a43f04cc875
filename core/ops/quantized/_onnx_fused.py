"""oneDNN's fused quantized convolutions and products in ONNX: integer products, then the epilogue in double precision."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...types import dtypes
from ...types.dtypes import DType
from ..shared.onnx_lowerings import transposed
from ..shared.quantized_ranges import limits
from ._onnx_arithmetic import convolution_of, matrix_product, products
from ._onnx_ranges import range_of, zero_point


def fused(g: Any, form: Any, attrs: Any, tensors: Mapping[str, Any]) -> Any:
    """Return the results of an op of a form, from its inputs by name."""
    sums = g.cast(_sums(g, form, attrs, tensors), dtypes.float64)
    types = attrs.types
    level = g.Mul(*(_level(g, tensors[f"min_{name}"], tensors[f"max_{name}"], T) for name, T in zip("xw", types)))
    wide_level = g.cast(level, dtypes.float64)
    if form.bias:
        sums = g.Add(sums, _bias(g, form, tensors["bias"], wide_level))
    if form.sum:
        sums = g.Add(sums, _summand(g, form, tensors, wide_level, types[-1]))
    if form.relu:
        sums = g.Max(sums, 0)
    if form.end == "Dequantize":
        return g.cast(g.Mul(sums, wide_level), dtypes.float32)
    if form.end == "Requantize":
        return _requantized(g, sums, wide_level, range_of(g, tensors["min_out"], tensors["max_out"]), types[2])
    return _in_largest_step(g, sums, level, tensors["min_w"], types[2])


def _sums(g: Any, form: Any, attrs: Any, tensors: Mapping[str, Any]) -> Any:
    x, w, zero = tensors["x"], tensors["w"], g.constant(0, dtypes.int64)
    if form.kind != "MatMul":
        return products(g, convolution_of(g, attrs.window, form.kind != "Conv2D"), x, w, (zero, zero))
    x, w = transposed(g, x) if attrs.transpose_a else x, transposed(g, w) if attrs.transpose_b else w
    zero_x = zero
    if attrs.input_quant_mode == "MIN_FIRST":
        bounds = range_of(g, tensors["min_x"], tensors["max_x"])
        zero_x = zero_point(g, bounds, attrs.types[0])
        zero_x = g.Where(g.Equal(bounds[0], 0), zero, zero_x) if limits(attrs.types[0])[0] else zero_x
    return products(g, lambda *operands: matrix_product(g, *operands), x, w, (zero_x, zero))


def _level(g: Any, low: Any, high: Any, dtype: DType) -> Any:
    """Return the real size of an integer step, a vector; signed types are used symmetrically."""
    lowest, highest = limits(dtype)
    low, high = (g.reshape(end, [-1]) for end in (low, high))
    return g.Div(g.Sub(high, low), highest - max(lowest, -highest))


def _bias(g: Any, form: Any, bias: Any, level: Any) -> Any:
    wide = g.cast(bias, dtypes.float64)
    if not bias.dtype.is_floating:
        return wide
    wide = g.Div(wide, level)
    return wide if form.end == "Dequantize" else g.Round(wide)


def _summand(g: Any, form: Any, tensors: Mapping[str, Any], level: Any, dtype: DType) -> Any:
    """Return the summand in steps of the sums."""
    wide = g.cast(tensors["summand"], dtypes.float64)
    if not form.end:
        return g.Round(g.Div(wide, level))
    bounds = range_of(g, tensors["min_summand"], tensors["max_summand"])
    top = g.cast(g.Max(*(g.Abs(end) for end in bounds)), dtypes.float64)
    return g.Div(g.Mul(wide, g.Div(top, limits(dtype)[1])), level)


def _requantized(g: Any, sums: Any, level: Any, bounds: tuple[Any, Any], dtype: DType) -> tuple[Any, Any, Any]:
    lowest, highest = limits(dtype)
    step = g.cast(g.Div(g.Max(*(g.Abs(end) for end in bounds)), highest), dtypes.float64)
    scaled = g.Round(g.Mul(sums, g.Div(level, step)))
    return g.cast(g.Max(g.Min(scaled, highest), lowest), dtype), *bounds


def _in_largest_step(g: Any, sums: Any, level: Any, edge: Any, dtype: DType) -> tuple[Any, Any, Any]:
    """Return all channels in the largest step, and a range for each channel, as TensorFlow does."""
    if edge.shape.dims is None or not (edge.rank == 0 or isinstance(edge.shape[0], int)):
        g.refuse("the number of ranges of its filter is unknown")
    sums = g.Round(g.Mul(sums, g.cast(g.Div(level, g.ReduceMax(level, keepdims=0)), dtypes.float64)))
    ends = (g.Mul(level, limit) for limit in limits(dtype))
    low, high = (end if edge.rank and edge.shape[0] != 1 else g.reshape(end, []) for end in ends)
    lowest, highest = limits(dtype)
    return g.cast(g.Max(g.Min(sums, highest), lowest), dtype), low, high
