"""Formulas of tf.profiler for FLOPs: a node and the specs of its inputs and outputs to a number.

The families of ops declare their formulas with `registry.profiled`; `flops/tfprof` compares.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from ..graph.graph import Node
from ..types.shapes import TensorSpec


class Dropped(Exception):
    """tf.profiler skips the node without a word; the message says why."""


Formula = Callable[[Node, Sequence[TensorSpec], Sequence[TensorSpec]], float]


def _size(spec: TensorSpec) -> int:
    size = spec.shape.num_elements
    if not isinstance(size, int):
        raise Dropped("shapes are unknown")
    return size


def _dims(spec: TensorSpec) -> tuple[int, ...]:
    _size(spec)
    return tuple(dim for dim in spec.shape if isinstance(dim, int))


def of_input(factor: int, less: int = 0) -> Formula:
    """Return a formula: `factor` for each element of the first input, less `less`."""
    return lambda node, inputs, outputs: factor * _size(inputs[0]) - less


def of_output(factor: int) -> Formula:
    """Return a formula: `factor` for each element of the first output."""
    return lambda node, inputs, outputs: factor * _size(outputs[0])


def reduction(node: Node, inputs: Sequence[TensorSpec], outputs: Sequence[TensorSpec]) -> float:
    """Count 1 for each removed element."""
    return _size(inputs[0]) - _size(outputs[0])


def _require_nhwc(node: Node) -> None:
    # tf.profiler raises a ValueError for other formats, and drops the node whose formula fails.
    if node.attrs.get("data_format", b"NHWC") != b"NHWC":
        raise Dropped("data format NCHW")


def pool(of: int, factor: int, more: int = 0) -> Formula:
    """Return a formula: factor * window + more for each element of the output (-1) or of input number `of`."""

    def formula(node: Node, inputs: Sequence[TensorSpec], outputs: Sequence[TensorSpec]) -> float:
        _require_nhwc(node)
        window: int = math.prod(node.attr("ksize"))
        return (factor * window + more) * _size(outputs[0] if of < 0 else inputs[of])

    return formula


def inner_product(node: Node, inputs: Sequence[TensorSpec], outputs: Sequence[TensorSpec]) -> float:
    """Return the inner dimension by `transpose_a`, an attribute that batch matmuls do not have."""
    return 2 * _dims(inputs[0])[-2 if node.attrs.get("transpose_a") else -1] * _size(outputs[0])


def window(upto: int) -> Formula:
    """2 for each output element and each of the filter's first dimensions."""
    return lambda node, inputs, outputs: 2 * _size(outputs[0]) * math.prod(_dims(inputs[1])[:upto])


def backprop_input(node: Node, inputs: Sequence[TensorSpec], outputs: Sequence[TensorSpec]) -> float:
    """Count the gradient of a convolution for its input."""
    return _backprop(node, _dims(outputs[0]), _dims(inputs[1]))


def backprop_filter(node: Node, inputs: Sequence[TensorSpec], outputs: Sequence[TensorSpec]) -> float:
    """Count the gradient of a convolution for its filter."""
    return _backprop(node, _dims(inputs[0]), _dims(outputs[0]))


def _backprop(node: Node, image: Sequence[int], kernel: Sequence[int]) -> float:
    """Count by input positions over strides; the arithmetic takes output positions."""
    _require_nhwc(node)
    strides = node.attr("strides")
    return int(2 * math.prod(image) * math.prod(kernel) / (image[-1] * strides[1] * strides[2]))


def sum_of_inputs(node: Node, inputs: Sequence[TensorSpec], outputs: Sequence[TensorSpec]) -> float:
    """Count 1 for each element and each input after the first."""
    return _size(inputs[0]) * (len(inputs) - 1)
