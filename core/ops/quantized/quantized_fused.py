"""Quantized convolutions and products fused with a bias, a sum, an activation and a change of range (oneDNN's ops).

Inputs are symmetric: an integer means itself times (high - low) / (highest - lowest), and filters may have a range for each
output channel. Sums are exact 32-bit integers whose step is the product of the steps; a requantized result is symmetric
too.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...registry.registry import ZERO, Cost, flops, kernel, multiply_adds, onnx, shape, without_gradient
from ...support import dataclasses
from ...types.arrays import Array, Result
from ...types.dims import DimLike
from ...types.dtypes import DType
from ...types.shapes import SCALAR, Shape, TensorSpec
from ..nn import convolution, depthwise
from ..shared.argument_checks import require, require_rank, with_rank
from ..shared.quantized_ranges import limits, unclamped
from ..shared.window_geometry import WindowAttributes
from ._onnx_fused import fused

_PATTERN = re.compile(
    r"Quantized(?P<kind>Conv2D|DepthwiseConv2D|MatMul)(?P<channel>PerChannel)?(?P<bias>WithBias)?(?P<sum>SignedSum|Sum)?"
    r"(?:And)?(?P<relu>Relu)?(?:And)?(?P<end>Requantize|Dequantize)?"
)


@dataclasses.dataclass(frozen=True, slots=True)
class _Form:
    """The form of an op, from its name; `inputs` are the names of its inputs in order."""

    kind: str
    bias: bool
    sum: bool
    relu: bool
    end: str

    @property
    def inputs(self) -> list[str]:
        names = ["x", "w", *(["bias"] if self.bias else []), "min_x", "max_x", "min_w", "max_w"]
        names += ["min_out", "max_out"] if self.end else []
        summand = ["summand", *(["min_summand", "max_summand"] if self.end else [])]
        return names + (summand if self.sum else [])


class _FusedConvolution(NamedTuple):
    """The attributes of a convolution."""

    Tinput: DType
    Tfilter: DType
    out_type: DType
    strides: tuple[int, ...]
    padding: str
    dilations: tuple[int, ...]
    padding_list: tuple[int, ...] = ()
    Tsummand: DType | None = None

    @property
    def types(self) -> tuple[DType, ...]:
        """The dtypes of the operands, the result and the summand."""
        return self.Tinput, self.Tfilter, self.out_type, self.Tsummand or self.out_type

    @property
    def window(self) -> WindowAttributes:
        """The window; `padding_list` stands for explicit paddings unless all are 0."""
        explicit = self.padding_list if any(self.padding_list) else ()
        return WindowAttributes(self.strides, "EXPLICIT" if explicit else self.padding, explicit, dilations=self.dilations)


class _Product(NamedTuple):
    """The attributes of a product of matrices."""

    T1: DType
    T2: DType
    Toutput: DType
    transpose_a: bool
    transpose_b: bool
    input_quant_mode: str

    @property
    def types(self) -> tuple[DType, ...]:
        """The dtypes of the operands and the result."""
        return self.T1, self.T2, self.Toutput


def _form(op: str) -> _Form:
    match = _PATTERN.fullmatch(op)
    assert match is not None, op
    return _Form(match["kind"], bool(match["bias"]), bool(match["sum"]), bool(match["relu"]), match["end"] or "")


def _level(low: Array, high: Array, dtype: DType) -> Array:
    """Return the real size of an integer step; signed types are used symmetrically."""
    require(np.size(low) == np.size(high), f"the ends of a range have {np.size(low)} and {np.size(high)} elements")
    lowest, highest = limits(dtype)
    lowest = max(lowest, -highest)
    return (np.float32(high).reshape(-1) - np.float32(low).reshape(-1)) / np.float32(highest - lowest)


def _one_or_per_filter(low: Array, high: Array, filters: int, name: str) -> None:
    for value in (low, high):
        require(np.size(value) in (1, filters), f"the range of {name} must have 1 or {filters} elements, not {np.size(value)}")


def _accumulate(form: _Form, tensors: dict[Any, Any], attrs: Any) -> tuple[Array, Array]:
    """Return the exact sums as float64, and the step of each output channel."""
    types = attrs.types
    x, w = tensors["x"].astype(np.float64), tensors["w"].astype(np.float64)
    level = _level(tensors["min_x"], tensors["max_x"], types[0])
    require(level.size == 1, "the input must have one range")
    if form.kind == "MatMul":
        require_rank(x, 2, "a")
        require_rank(w, 2, "b")
        x = x.T if attrs.transpose_a else x
        w = w.T if attrs.transpose_b else w
        require(x.shape[1] == w.shape[0], f"matrices of {x.shape} and {w.shape} do not fit")
        if attrs.input_quant_mode == "MIN_FIRST":
            # The range is not symmetric: take away the integer that stands for zero.
            low, high = np.reshape(tensors["min_x"], ()), np.reshape(tensors["max_x"], ())
            x = x - (unclamped(0.0, low, high, types[0]) if low else 0)
        sums = x @ w
    else:
        sums = _convolve(form, x, w, attrs.window)
    _one_or_per_filter(tensors["min_w"], tensors["max_w"], sums.shape[-1], "the filter")
    return sums, level * _level(tensors["min_w"], tensors["max_w"], types[1])


def _convolve(form: _Form, x: Array, w: Array, window: WindowAttributes) -> Array:
    geometry = convolution.Geometry(4, window)
    require_rank(x, 4, "input")
    require_rank(w, 4, "filter")
    if form.kind == "Conv2D":
        return convolution.convolve(x, w, geometry)
    return depthwise.depthwise_convolve(x, w, geometry)


def _run(form: _Form, attrs: _FusedConvolution | _Product, *inputs: Array) -> Result | tuple[Result, ...]:
    """Run all steps of an op."""
    types = attrs.types
    tensors = dict(zip(form.inputs, inputs))
    sums, level = _accumulate(form, tensors, attrs)
    if form.bias:
        bias = tensors["bias"]
        require(bias.shape == sums.shape[-1:], f"the bias must have shape {sums.shape[-1:]}, not {bias.shape}")
        if bias.dtype.kind == "f":
            bias = bias.astype(np.float64) / level
            bias = bias if form.end == "Dequantize" else np.rint(bias)
        sums = sums + bias
    if form.sum:
        sums = sums + _summand(form, tensors, sums, level, types[-1])
    if form.relu:
        sums = np.maximum(sums, 0)
    if form.end == "Dequantize":
        return (sums * level).astype(np.float32)
    if form.end == "Requantize":
        return _requantized(sums, level, tensors["min_out"], tensors["max_out"], types[2])
    # TensorFlow brings all channels to the largest step, though it reports a range for each.
    sums = np.rint(sums * (level / level.max())) if level.size > 1 else sums
    lowest, highest = limits(types[2])
    low, high = level * np.float32(lowest), level * np.float32(highest)
    edge = () if level.size == 1 else level.shape
    result = np.clip(sums, lowest, highest).astype(types[2].numpy)
    return result, low.astype(np.float32).reshape(edge), high.astype(np.float32).reshape(edge)


def _summand(form: Any, tensors: Any, sums: Any, level: Any, dtype: Any) -> Any:
    """Return the summand in steps of the sums."""
    summand = tensors["summand"]
    require(summand.shape == sums.shape, f"the summand must have shape {sums.shape}, not {summand.shape}")
    if not form.end:
        return np.rint(summand.astype(np.float64) / level)
    top = np.maximum(np.abs(tensors["min_summand"]), np.abs(tensors["max_summand"])).reshape(())
    return summand.astype(np.float64) * (float(top) / limits(dtype)[1]) / level


def _requantized(sums: Array, level: Array, low: Array, high: Array, dtype: DType) -> tuple[Array, Result, Result]:
    require(np.size(low) == np.size(high) == 1, "the range of the output must be two scalars")
    low, high = np.float32(np.reshape(low, ())), np.float32(np.reshape(high, ()))
    lowest, highest = limits(dtype)
    step = max(abs(low), abs(high)) / np.float32(highest)
    scaled = np.rint(sums * (level.astype(np.float64) / float(step)))
    return np.clip(scaled, lowest, highest).astype(dtype.numpy), low, high


def _convolution_kernel(form: _Form) -> Callable[..., Any]:
    def quantized_convolution(*inputs: Array, attrs: _FusedConvolution) -> Result | tuple[Result, ...]:
        return _run(form, attrs, *inputs)

    return quantized_convolution


def _product_kernel(form: _Form) -> Callable[..., Any]:
    def quantized_product(*inputs: Array, attrs: _Product) -> Result | tuple[Result, ...]:
        return _run(form, attrs, *inputs)

    return quantized_product


def _convolution_onnx(form: _Form) -> Callable[..., Any]:
    def convolution_onnx(g: Any, *inputs: Any, attrs: _FusedConvolution) -> Any:
        return fused(g, form, attrs, dict(zip(form.inputs, inputs)))

    return convolution_onnx


def _product_onnx(form: _Form) -> Callable[..., Any]:
    def product_onnx(g: Any, *inputs: Any, attrs: _Product) -> Any:
        return fused(g, form, attrs, dict(zip(form.inputs, inputs)))

    return product_onnx


_CONVOLUTIONS = (
    "QuantizedConv2DAndRelu", "QuantizedConv2DAndReluAndRequantize", "QuantizedConv2DAndRequantize", "QuantizedConv2DWithBias",
    "QuantizedConv2DWithBiasAndRelu", "QuantizedConv2DWithBiasAndReluAndRequantize", "QuantizedConv2DWithBiasAndRequantize",
    "QuantizedConv2DWithBiasSumAndRelu", "QuantizedDepthwiseConv2DWithBiasAndRelu",
    "QuantizedDepthwiseConv2DWithBiasAndReluAndRequantize",
)  # fmt: skip
_PLAIN_CONVOLUTIONS = ("QuantizedConv2DPerChannel", "QuantizedDepthwiseConv2D", "QuantizedDepthwiseConv2DWithBias")
_SUMS = ("QuantizedConv2DWithBiasSignedSumAndReluAndRequantize", "QuantizedConv2DWithBiasSumAndReluAndRequantize")
_PRODUCTS = (
    "QuantizedMatMulWithBias", "QuantizedMatMulWithBiasAndDequantize", "QuantizedMatMulWithBiasAndRelu",
    "QuantizedMatMulWithBiasAndReluAndRequantize", "QuantizedMatMulWithBiasAndRequantize",
)  # fmt: skip
_ALL = (*_CONVOLUTIONS, *_PLAIN_CONVOLUTIONS, *_SUMS, *_PRODUCTS)
without_gradient(*_ALL)


def _edges(form: _Form, specs_by_name: dict[Any, Any], filters: DimLike) -> Shape:
    """Return the shape of the result's range: a scalar, or a number for each filter."""
    if form.end or specs_by_name["min_w"].rank == 0:
        return SCALAR
    return Shape([None if specs_by_name["min_w"].rank is None else filters])


def _result_shapes(
    form: _Form, specs_by_name: dict[Any, Any], dims: Sequence[DimLike], filters: DimLike
) -> Shape | list[Shape]:
    if form.end == "Dequantize":
        return Shape(dims)
    edge = _edges(form, specs_by_name, filters)
    if specs_by_name["min_w"].rank is None and not form.end:
        edge = Shape()
    if specs_by_name["min_w"].shape == Shape([1]):
        edge = SCALAR
    return [Shape(dims), edge, edge]


def _convolution_shape(form: _Form, *specs: TensorSpec, attrs: _FusedConvolution) -> Shape | list[Shape]:
    by_name = dict(zip(form.inputs, specs))
    geometry = convolution.Geometry(4, attrs.window)
    batch, height, width, _ = with_rank(by_name["x"].shape, 4)
    *sizes, depth, filters = with_rank(by_name["w"].shape, 4)
    filters = filters if form.kind == "Conv2D" else depth * filters
    return _result_shapes(form, by_name, (batch, *geometry.outputs((height, width), sizes), filters), filters)


def _product_shape(form: _Form, *specs: TensorSpec, transpose_a: bool, transpose_b: bool) -> Shape | list[Shape]:
    by_name = dict(zip(form.inputs, specs))
    rows = with_rank(by_name["x"].shape, 2)[1 if transpose_a else 0]
    columns = with_rank(by_name["w"].shape, 2)[0 if transpose_b else 1]
    return _result_shapes(form, by_name, (rows, columns), columns)


_ENDS = {"": 0, "Requantize": 4, "Dequantize": 1}
"""Operations of the change of range: to integers a product, a rounding and two clips."""


def _finish_cost(form: _Form, specs: tuple[TensorSpec, ...], elements: DimLike) -> Cost:
    """Return the cost of the epilogue: a float bias is converted to the sums' range first, and a summand to their steps."""
    by_name = dict(zip(form.inputs, specs))
    each = form.bias + form.relu + _ENDS[form.end]
    if form.sum:
        each += 2 if form.end else 3
    if not form.end and by_name["min_w"].shape.num_elements != 1:
        each += 2
    of_bias = 0
    if form.bias and by_name["bias"].dtype.is_floating:
        of_bias = 1 if form.end == "Dequantize" else 2
    return Cost(each) * elements + (Cost(of_bias) * by_name["bias"].shape.num_elements if of_bias else ZERO)


def _convolution_cost(form: _Form, *specs: TensorSpec, outputs: list[TensorSpec]) -> Cost:
    """The convolution and its epilogue; ranges are not counted."""
    height, width, depth, _ = with_rank(specs[1].shape, 4)
    elements = outputs[0].shape.num_elements
    products = elements * height * width * (depth if form.kind == "Conv2D" else 1)
    return multiply_adds(products) + _finish_cost(form, specs, elements)


def _product_cost(
    form: _Form, *specs: TensorSpec, transpose_a: bool, input_quant_mode: str, outputs: list[TensorSpec]
) -> Cost:
    """The product, its epilogue, and in mode MIN_FIRST a difference for each element of the first matrix."""
    depth, elements = with_rank(specs[0].shape, 2)[0 if transpose_a else 1], outputs[0].shape.num_elements
    centered = Cost(1) * specs[0].shape.num_elements if input_quant_mode == "MIN_FIRST" else ZERO
    return centered + multiply_adds(elements * depth) + _finish_cost(form, specs, elements)


for _op in (*_CONVOLUTIONS, *_PLAIN_CONVOLUTIONS, *_SUMS):
    kernel(_op)(_convolution_kernel(_form(_op)))
    shape(_op)(functools.partial(_convolution_shape, _form(_op)))
    flops(_op)(functools.partial(_convolution_cost, _form(_op)))
    onnx(_op)(_convolution_onnx(_form(_op)))
for _op in _PRODUCTS:
    kernel(_op)(_product_kernel(_form(_op)))
    shape(_op)(functools.partial(_product_shape, _form(_op)))
    flops(_op)(functools.partial(_product_cost, _form(_op)))
    onnx(_op)(_product_onnx(_form(_op)))
