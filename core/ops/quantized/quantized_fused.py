"""Quantized convolutions and products fused with a bias, a sum, an activation and a change of range (oneDNN's ops).

Inputs are symmetric: an integer means itself times (high - low) / (highest - lowest), and filters may have a range for each
output channel. Sums are exact 32-bit integers whose step is the product of the steps; a requantized result is symmetric
too.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...numerics.array_namespace import NUMPY
from ...registry.registry import ZERO, Cost, flops, kernel, lower, multiply_adds, onnx, shape, without_gradient
from ...support import dataclasses
from ...support.errors import UnimplementedError
from ...types import dtypes
from ...types.arrays import Array
from ...types.dims import DimLike
from ...types.dtypes import DType
from ...types.shapes import SCALAR, Shape, TensorSpec
from ..nn import convolution, depthwise
from ..shared.argument_checks import may_equal, require, require_rank, with_rank
from ..shared.convolution_shared import convolved
from ..shared.onnx_lowerings import transposed
from ..shared.quantized_ranges import limits, range_of, zero_point
from ..shared.window_geometry import WindowAttributes
from .quantized import convolution_of, matrix_product, products

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


_Tensors = Mapping[str, Any]
"""The inputs of an op by the names of its form."""


def _level(xp: Any, low: Any, high: Any, dtype: DType) -> Any:
    """Return the real size of an integer step, a vector; signed types are used symmetrically."""
    require(may_equal((xp.size(low),), (xp.size(high),)), f"the ends of a range have shapes {low.shape} and {high.shape}")
    lowest, highest = limits(dtype)
    # From -127 to 127 for 8 bits: the lowest integer has no counterpart and stands for nothing.
    return (xp.reshape(high, (-1,)) - xp.reshape(low, (-1,))) / np.float32(highest - max(lowest, -highest))


def _finished(xp: Any, form: _Form, sums: Any, tensors: _Tensors, types: tuple[DType, ...]) -> Any:
    """Return the results of an op of a form from the sums, which are exact in double precision."""
    of_input = _level(xp, tensors["min_x"], tensors["max_x"], types[0])
    require(may_equal((xp.size(of_input),), (1,)), "the input must have one range")
    filters = sums.shape[-1]
    for end in (tensors["min_w"], tensors["max_w"]):
        fits = may_equal((xp.size(end),), (1,)) or may_equal((xp.size(end),), (filters,))
        require(fits, f"the range of the filter must have 1 or {filters} elements, not shape {end.shape}")
    level = of_input * _level(xp, tensors["min_w"], tensors["max_w"], types[1])
    wide_level = level.astype(np.float64)
    if form.bias:
        sums = sums + _bias(xp, form, tensors["bias"], filters, wide_level)
    if form.sum:
        sums = sums + _summand(xp, form, tensors, sums, wide_level, types[-1])
    if form.relu:
        sums = xp.maximum(sums, 0)
    if form.end == "Dequantize":
        return (sums * wide_level).astype(np.float32)
    if form.end == "Requantize":
        return _requantized(xp, sums, wide_level, range_of(tensors["min_out"], tensors["max_out"], "the output", xp), types[2])
    return _in_largest_step(xp, sums, level, types[2])


def _bias(xp: Any, form: _Form, bias: Any, filters: Any, level: Any) -> Any:
    """Return the bias in steps of the sums."""
    require(may_equal(bias.shape, (filters,)), f"the bias must have shape {(filters,)}, not {bias.shape}")
    if bias.dtype.kind != "f":
        return bias.astype(np.float64)
    # A float bias is brought to the steps of the sums, where oneDNN adds it as an integer unless the result is a float.
    steps_of_sums = bias.astype(np.float64) / level
    return steps_of_sums if form.end == "Dequantize" else xp.rint(steps_of_sums)


def _summand(xp: Any, form: _Form, tensors: _Tensors, sums: Any, level: Any, dtype: DType) -> Any:
    """Return the summand in steps of the sums."""
    summand = tensors["summand"]
    require(may_equal(summand.shape, sums.shape), f"the summand must have shape {sums.shape}, not {summand.shape}")
    if not form.end:
        return xp.rint(summand.astype(np.float64) / level)
    low, high = range_of(tensors["min_summand"], tensors["max_summand"], "the summand", xp)
    top = xp.maximum(abs(low), abs(high)).astype(np.float64)
    return summand.astype(np.float64) * (top / limits(dtype)[1]) / level


def _requantized(xp: Any, sums: Any, level: Any, bounds: tuple[Any, Any], dtype: DType) -> tuple[Any, Any, Any]:
    lowest, highest = limits(dtype)
    # The wider end of the asked range decides the step, as the result is symmetric.
    step = xp.maximum(abs(bounds[0]), abs(bounds[1])) / np.float32(highest)
    scaled = xp.rint(sums * (level / step.astype(np.float64)))
    return xp.clip(scaled, lowest, highest).astype(dtype.numpy), *bounds


def _in_largest_step(xp: Any, sums: Any, level: Any, dtype: DType) -> tuple[Any, Any, Any]:
    """Return all channels in the largest step, and a range for each channel, as TensorFlow does."""
    size = xp.size(level)
    if not isinstance(size, int):
        raise UnimplementedError("the number of ranges of its filter is unknown")
    if size > 1:
        sums = xp.rint(sums * (level / xp.max(level)).astype(np.float64))
    lowest, highest = limits(dtype)
    low, high = (xp.reshape(level * np.float32(limit), () if size == 1 else (-1,)) for limit in (lowest, highest))
    return xp.clip(sums, lowest, highest).astype(dtype.numpy), low, high


def _operands(form: _Form, tensors: _Tensors, attrs: Any, xp: Any, dtype: Any) -> tuple[Any, Any]:
    """Return both operands as numbers of a dtype, which their products fit into; those of a matrix less their zero point."""
    x, w = tensors["x"].astype(dtype), tensors["w"].astype(dtype)
    if form.kind != "MatMul":
        require_rank(x, 4, "input")
        require_rank(w, 4, "filter")
        return x, w
    require_rank(x, 2, "a")
    require_rank(w, 2, "b")
    x, w = x.T if attrs.transpose_a else x, w.T if attrs.transpose_b else w
    require(x.shape[1] == w.shape[0], f"matrices of {x.shape} and {w.shape} do not fit")
    return x - _zero(xp, tensors, attrs).astype(dtype) if attrs.input_quant_mode == "MIN_FIRST" else x, w


def _zero(xp: Any, tensors: _Tensors, attrs: _Product) -> Any:
    """Return the integer that stands for zero in mode MIN_FIRST, whose range is not symmetric, int64."""
    low, high = range_of(tensors["min_x"], tensors["max_x"], "a", xp)
    return xp.where(low == 0, 0, zero_point(low, high, attrs.types[0], xp))


def _kernel(form: _Form, attrs: Any, *inputs: Array) -> Any:
    """Run an op of a form; sums are exact in double precision, of which NumPy has fast products."""
    tensors = dict(zip(form.inputs, inputs))
    x, w = _operands(form, tensors, attrs, NUMPY, np.float64)
    if form.kind == "MatMul":
        sums = x @ w
    else:
        convolve = convolution.convolve if form.kind == "Conv2D" else depthwise.depthwise_convolve
        sums = convolve(x, w, convolution.Geometry(4, attrs.window))
    return _finished(NUMPY, form, sums, tensors, attrs.types)


def _lowering(form: _Form, attrs: Any, xla: Any, *inputs: Any) -> Any:
    """Lower to products of integers, whose sums wrap around, as TensorFlow's do."""
    tensors = dict(zip(form.inputs, inputs))
    x, w = _operands(form, tensors, attrs, xla, np.int32)
    if form.kind == "MatMul":
        sums = xla.matmul(x, w)
    else:
        convolution.Geometry(4, attrs.window)
        # A single input channel for each filter makes XLA convolve every channel by itself.
        w = w if form.kind == "Conv2D" else w.reshape(*w.shape[:2], 1, -1)
        sums = convolved(xla, x, w, attrs.window)
    return _finished(xla, form, sums.astype(np.float64), tensors, attrs.types)


def _onnx(form: _Form, attrs: Any, g: Any, *inputs: Any) -> Any:
    """Lower to ONNX's products of integers."""
    tensors = dict(zip(form.inputs, inputs))
    sums = g.cast(_onnx_sums(g, form, attrs, tensors), dtypes.float64)

    def program(xp: Any, *arrays: Any) -> Any:
        return _finished(xp, form, arrays[-1], dict(zip(form.inputs, arrays)), attrs.types)

    return g.evaluate(program, (), (), (*inputs, sums), {})


def _onnx_sums(g: Any, form: _Form, attrs: Any, tensors: _Tensors) -> Any:
    x, w, zero = tensors["x"], tensors["w"], g.constant(0, dtypes.int64)
    if form.kind != "MatMul":
        return products(g, convolution_of(g, attrs.window, form.kind != "Conv2D"), x, w, (zero, zero))
    x, w = transposed(g, x) if attrs.transpose_a else x, transposed(g, w) if attrs.transpose_b else w
    if attrs.input_quant_mode != "MIN_FIRST":
        return products(g, lambda *operands: matrix_product(g, *operands), x, w, (zero, zero))
    ends = tensors["min_x"], tensors["max_x"]
    zero_x = g.evaluate(lambda xp, *ends: _zero(xp, dict(zip(("min_x", "max_x"), ends)), attrs), (), (), ends, {})
    return products(g, lambda *operands: matrix_product(g, *operands), x, w, (zero_x, zero))


def _of_convolution(function: Callable[..., Any], form: _Form) -> Callable[..., Any]:
    """Return a kernel or lowering of a convolution; the attributes that it takes follow from the annotation."""

    def quantized_convolution(*inputs: Any, attrs: _FusedConvolution) -> Any:
        return function(form, attrs, *inputs)

    return quantized_convolution


def _of_product(function: Callable[..., Any], form: _Form) -> Callable[..., Any]:
    """Return a kernel or lowering of a product."""

    def quantized_product(*inputs: Any, attrs: _Product) -> Any:
        return function(form, attrs, *inputs)

    return quantized_product


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
    # Even the rank of the result's range is open then: it is that of the filter's range.
    if specs_by_name["min_w"].rank is None and not form.end:
        edge = Shape()
    # A vector of one element counts as a single range, as in `_in_largest_step`.
    if specs_by_name["min_w"].shape == Shape([1]):
        edge = SCALAR
    return [Shape(dims), edge, edge]


def _convolution_shape(form: _Form, *specs: TensorSpec, attrs: _FusedConvolution) -> Shape | list[Shape]:
    by_name = dict(zip(form.inputs, specs))
    geometry = convolution.Geometry(4, attrs.window)
    batch, height, width, _ = with_rank(by_name["x"].shape, 4)
    *sizes, depth, filters = with_rank(by_name["w"].shape, 4)
    # In a depthwise convolution each channel of the input has that many filters of its own.
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


for _op in _ALL:
    _is_product = _op in _PRODUCTS
    _of = _of_product if _is_product else _of_convolution
    kernel(_op)(_of(_kernel, _form(_op)))
    lower(_op)(_of(_lowering, _form(_op)))
    onnx(_op)(_of(_onnx, _form(_op)))
    shape(_op)(functools.partial(_product_shape if _is_product else _convolution_shape, _form(_op)))
    flops(_op)(functools.partial(_product_cost if _is_product else _convolution_cost, _form(_op)))
