"""Normalization by the neighbouring channels."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...building.gradbuilder import GradientBuilder, Gradients
from ...graph.graph import Node, Output
from ...numerics.half_precision import wide
from ...parallel.gemm import matmul
from ...registry.registry import Cost, arrays, facts, flops, gradient, kernel, lower, onnx, shape, without_gradient
from ...runtime.state.run_context import reserve
from ...support.errors import InvalidArgumentError
from ...types.arrays import Array, Result
from ...types.shapes import Shape, TensorSpec, merge_shapes


def _window_sums(squares: Array, radius: int) -> Array:
    """Sum squares over channels within `radius` along the last dimension: the product with a band matrix."""
    if not squares.size:
        return squares
    channels = np.arange(squares.shape[-1])
    # The band matrix grows with the square of the channels, which an input of few rows need not have memory for.
    reserve(len(channels) ** 2 * squares.itemsize)
    # A matrix product sums the neighbours faster than shifted sums, and rounds each sum alone: running sums would carry
    # errors along.
    near = (np.abs(channels[:, None] - channels) <= radius).astype(squares.dtype)
    return matmul(squares.reshape(math.prod(squares.shape[:-1]), len(channels)), near).reshape(squares.shape)


def _inverse_power(norm: Array, beta: float) -> Array:
    """Return norm to the power of -beta, computed as in TensorFlow."""
    if beta == 1:
        return np.reciprocal(norm)
    # In place, as the input may be large; the same two functions as TensorFlow's, whose results a power would differ from in
    # the last digits.
    logarithms = np.log(norm)
    logarithms *= norm.dtype.type(-beta)
    return np.exp(logarithms, out=logarithms)


def _check_lrn(x: Array, depth_radius: int) -> None:
    if not 0 <= depth_radius < 1 << 31:
        raise InvalidArgumentError(f"depth_radius = {depth_radius} larger than int max")
    if x.ndim != 4:
        raise InvalidArgumentError(f"in must be 4-dimensional: {Shape(x.shape)}")


@kernel("LRN")
def lrn(input: Array, *, depth_radius: int, bias: float, alpha: float, beta: float) -> Result:
    """x / (bias + alpha * sum of squares of the neighbouring channels) ** beta."""
    _check_lrn(input, depth_radius)
    x = wide(input)
    # A radius up to 2^31 is legal; beyond the channels it changes nothing.
    norm = bias + alpha * _window_sums(np.square(x), min(depth_radius, x.shape[-1]))
    return (x * _inverse_power(norm.astype(x.dtype, copy=False), beta)).astype(input.dtype, copy=False)


@kernel("LRNGrad")
def lrn_grad(
    input_grads: Array, input_image: Array, output_image: Array, *, depth_radius: int, bias: float, alpha: float, beta: float
) -> Result:
    _check_lrn(input_image, depth_radius)
    if not input_grads.shape == input_image.shape == output_image.shape:
        raise InvalidArgumentError("input_grads, input_image and output_image must have the same shape")
    grads, x, y = wide(input_grads), wide(input_image), wide(output_image)
    radius = min(depth_radius, x.shape[-1])
    norm = bias + alpha * _window_sums(np.square(x), radius)
    through = _window_sums(grads * y / norm, radius)
    result = grads * _inverse_power(norm.astype(x.dtype, copy=False), beta) - 2 * alpha * beta * x * through
    return result.astype(input_grads.dtype, copy=False)


@shape("LRN")
def lrn_shape(input: TensorSpec) -> Shape:
    return merge_shapes(input.shape, Shape([None] * 4))


@shape("LRNGrad")
def lrn_grad_shape(input_grads: TensorSpec, input_image: TensorSpec, output_image: TensorSpec) -> Shape:
    return merge_shapes(input_grads.shape, merge_shapes(input_image.shape, output_image.shape))


@gradient("LRN")
def lrn_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    attrs = {name: node.attr(name) for name in ("depth_radius", "bias", "alpha", "beta")}
    return [g.LRNGrad(grad, node.inputs[0], node.output(), **attrs)]


without_gradient("LRNGrad")


@flops("LRN")
def lrn_flops(input: TensorSpec, *, depth_radius: int) -> Cost:
    """A square, a sum over the window, a product and a sum, a power and a product for each element."""
    return Cost(2 * depth_radius + 4, transcendentals=1) * input.shape.num_elements


@flops("LRNGrad")
def lrn_grad_flops(input_grads: TensorSpec, input_image: TensorSpec, output_image: TensorSpec, *, depth_radius: int) -> Cost:
    """The norm and its power again, a sum over the window and six operations for each element."""
    return Cost(4 * depth_radius + 9, transcendentals=1) * input_image.shape.num_elements


facts("backward", of=("LRNGrad",))
facts("row_wise", of=("LRN",))


def _lowered_sums(xla: Any, x: Any, radius: int) -> Any:
    """Return the sums over the channels within `radius`."""
    channels = np.arange(x.shape[-1])
    return xla.matmul(x, (np.abs(channels[:, None] - channels) <= radius).astype(x.dtype))


def _lowered_power(xla: Any, norm: Any, beta: float) -> Any:
    return 1 / norm if beta == 1 else xla.exp(xla.log(norm) * norm.dtype.type(-beta))


@lower("LRN")
def _lrn_lowering(xla: Any, x: Any, *, depth_radius: int, bias: float, alpha: float, beta: float) -> Any:
    _check_lrn(x, depth_radius)
    wide_x = wide(x)
    return wide_x * _lowered_power(xla, bias + alpha * _lowered_sums(xla, wide_x * wide_x, depth_radius), beta)


@arrays("LRNGrad")
def _lrn_grad_of_arrays(xp: Any, dy: Any, x: Any, y: Any, *, depth_radius: int, bias: float, alpha: float, beta: float) -> Any:
    _check_lrn(x, depth_radius)
    if not (xp.same_shape(dy, x) and xp.same_shape(x, y)):
        raise InvalidArgumentError("input_grads, input_image and output_image must have the same shape")
    dy, x, y = map(wide, (dy, x, y))
    norm = bias + alpha * _lowered_sums(xp, x * x, depth_radius)
    through = _lowered_sums(xp, dy * y / norm, depth_radius)
    return dy * _lowered_power(xp, norm, beta) - 2 * alpha * beta * x * through


@onnx("LRN")
def _lrn_onnx(g: Any, x: Any, *, depth_radius: int, bias: float, alpha: float, beta: float) -> Any:
    """ONNX divides alpha by the size of the window."""
    size = 2 * depth_radius + 1
    return g.channels_last(g.LRN(g.channels_first(x), size=size, alpha=alpha * size, beta=beta, bias=bias), 4)
