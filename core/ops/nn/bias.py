"""Adding a bias to the channels."""

from __future__ import annotations

from typing import Any

from ...inference.profiler_formulas import of_input, reduction
from ...numerics.channel_sums import row_sums, summed
from ...numerics.half_precision import wide
from ...registry.registry import affine, arrays, facts, flops, gradient, kernel, layout, lower, onnx, profiled, shape, shaped
from ...support.errors import InvalidArgumentError
from ...types.arrays import Array, Result
from ...types.shapes import UNKNOWN, Shape, TensorSpec
from ..shared.decompositions import by_ops
from ..shared.elementwise_tables import reduction_flops, unary_flops
from ..shared.window_geometry import is_channels_first


def _channel_axis(data_format: str, rank: int) -> int:
    """Return the axis of the channels: the last, except axis 1 for NCHW, as in TensorFlow."""
    return 1 if is_channels_first(data_format) else rank - 1


def _axis_of(value: Any, data_format: str) -> int:
    """Return the axis of the channels of an array of NumPy or XLA; InvalidArgumentError below rank 2."""
    if value.ndim < 2:
        raise InvalidArgumentError(f"Input tensor must be at least 2D: {Shape(value.shape)}")
    return _channel_axis(data_format, value.ndim)


@kernel("BiasAdd", "BiasAddV1", gradient=by_ops("dy", "BiasAddGrad dy"), facts=("half_infer", "row_wise"))
def bias_add(value: Array, bias: Array, *, data_format: str = "NHWC") -> Result:
    """Add a vector along the channels to `value`; BiasAddV1 has channels last."""
    # The most common form skips the messages of the checks: for small tensors they take longer than the sum.
    if data_format == "NHWC" and bias.ndim == 1 and value.ndim > 1 and bias.shape[0] == value.shape[-1]:
        return value + bias
    axis = _checked_axis(value, bias, data_format)
    if axis == value.ndim - 1:
        return value + bias
    return value + bias.reshape(bias.shape + (1,) * (value.ndim - 1 - axis))


def _checked_axis(value: Any, bias: Any, data_format: str) -> int:
    """Return the axis of the channels; InvalidArgumentError unless there is a bias for each channel."""
    axis = _axis_of(value, data_format)
    if bias.ndim != 1:
        raise InvalidArgumentError(f"Biases must be 1D: {Shape(bias.shape)}")
    if value.shape[axis] != bias.shape[0]:
        raise InvalidArgumentError(
            f"Must provide as many biases as the channel dimension of the input tensor: {Shape(bias.shape)} vs. "
            f"{value.shape[axis]} in {Shape(value.shape)}"
        )
    return axis


@affine("BiasAdd", "BiasAddV1", has_factor=False)
def bias_add_affine(value: Array, bias: Array, *, data_format: str = "NHWC") -> Array:
    _checked_axis(value, bias, data_format)
    return bias


@kernel("BiasAddGrad", flops=reduction_flops, facts=("backward", "half_infer"))
def bias_add_grad(out_backprop: Array, *, data_format: str) -> Result:
    """The sum over everything but the channels."""
    x = wide(out_backprop)
    # The gradient of a dense layer: BLAS sums the rows of a large matrix, as a product with ones.
    if data_format == "NHWC" and x.ndim == 2 and x is out_backprop:
        return row_sums(x)
    return summed(x, _others(out_backprop, data_format)).astype(out_backprop.dtype, copy=False)


def _others(value: Any, data_format: str) -> tuple[int, ...]:
    """Return all axes but the axis of the channels."""
    channels = _axis_of(value, data_format)
    return tuple(axis for axis in range(value.ndim) if axis != channels)


shaped("... -> ...", "BiasAdd")
shaped("... c, c -> ... c", "BiasAddV1")


@shape("BiasAddGrad")
def bias_add_grad_shape(out_backprop: TensorSpec, *, data_format: str) -> Shape:
    # TensorFlow's shape function knows a vector for an unknown rank, and says nothing below rank 2, where the kernel fails.
    if out_backprop.shape.dims is None:
        return Shape([None])
    if len(out_backprop.shape) < 2:
        return UNKNOWN
    return Shape([out_backprop.shape[_channel_axis(data_format, len(out_backprop.shape))]])


# The gradient of a channel goes to every place that was summed into the channel.
gradient("BiasAddGrad")(by_ops("BiasAdd (ZerosLike 0) dy"))


# One sum an element.
flops("BiasAdd", "BiasAddV1")(unary_flops(1))
layout("T. -> T", "BiasAdd")
layout("T -> .", "BiasAddGrad")
profiled(of_input(1), "BiasAdd")
facts("sum_of_inputs", of=("BiasAdd",))
profiled(reduction, "BiasAddGrad")


@lower("BiasAdd", "BiasAddV1")
def _bias_add_lowering(xla: Any, x: Any, bias: Any, *, data_format: str = "NHWC") -> Any:
    axis = _checked_axis(x, bias, data_format)
    return x + bias.reshape(-1, *[1] * (x.ndim - 1 - axis))


@arrays("BiasAddGrad")
def _bias_add_grad_of_arrays(xp: Any, dy: Any, *, data_format: str) -> Any:
    return xp.sum(dy, _others(dy, data_format))


@onnx("BiasAdd", "BiasAddV1")
def _bias_add_onnx(g: Any, value: Any, bias: Any, *, data_format: str = "NHWC") -> Any:
    # For channels last the rank may be unknown; an array program would have to ask for it.
    if is_channels_first(data_format):
        bias = g.unsqueeze(bias, *range(1, g.rank(value) - 1))
    return g.Add(value, bias)
