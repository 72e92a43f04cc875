"""The axes of the weights of convolutions and matrix products that are channels of the result and of the data."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...graph.graph import Node, Output
from ...support import dataclasses

WEIGHTS = 1
"""The index of the weights among the inputs of every product."""


@dataclasses.dataclass(frozen=True)
class _Axes:
    """The weights' axes that make up the channels of the result and of the data, and the index of the data input."""

    outputs: tuple[int, ...] = (-1,)
    inputs: tuple[int, ...] = (-2,)
    data: int = 0


_AXES = {
    "Conv2D": _Axes(),
    "Conv3D": _Axes(),
    "MatMul": _Axes(),
    "DepthwiseConv2dNative": _Axes(outputs=(-2, -1)),
    "Conv2DBackpropInput": _Axes(outputs=(-2,), inputs=(-1,), data=2),
    "Conv3DBackpropInputV2": _Axes(outputs=(-2,), inputs=(-1,), data=2),
}
PRODUCTS = tuple(_AXES)
FORWARD_PRODUCTS = tuple(op for op, axes in _AXES.items() if axes.data == 0)


def is_matrix_product(product: Node) -> bool:
    """Return True for a MatMul: the weights are a matrix, and there are neither windows nor layouts."""
    return product.op == "MatMul"


def output_axes(product: Node) -> tuple[int, ...]:
    """Return the axes of the weights that make up the channels of the result."""
    axes = _AXES[product.op]
    return axes.inputs if is_matrix_product(product) and product.attr("transpose_b") else axes.outputs


def input_axes(product: Node) -> tuple[int, ...]:
    """Return the axis of the weights that the channels of the data are summed over (for a depthwise convolution: stay apart
    in).
    """
    axes = _AXES[product.op]
    return axes.outputs if is_matrix_product(product) and product.attr("transpose_b") else axes.inputs


def data_index(product: Node) -> int:
    """Return the index of the data among the inputs."""
    return _AXES[product.op].data


def data_input(product: Node) -> Output:
    """Return the data input of a product, multiplied by the weights."""
    return product.inputs[data_index(product)]


def weights_sum(product: Node, weights: Any) -> float:
    """Return the greatest sum of absolute weights of a channel: times the greatest datum, the sum bounds the result."""
    channels = {axis % weights.ndim for axis in output_axes(product) if -weights.ndim <= axis < weights.ndim}
    summed = np.abs(weights).astype(np.float64).sum(tuple(axis for axis in range(weights.ndim) if axis not in channels))
    return float(np.max(summed, initial=0))
