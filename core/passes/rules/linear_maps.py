"""Convolutions and matrix products seen as linear maps: where their channels lie, and their weights scaled by channel.

Constants are put together under conditions: results differ by rounding only, whatever the other operand is.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import Any, Final

import ml_dtypes
import numpy as np

from ...graph.graph import Node, Output
from .rewrite import PRODUCTS, WEIGHTS, Rewriter, attrs_of, data_index, output_axes


def output_channels(r: Rewriter, product: Node) -> int | None:
    """Return the number of channels of the result, None where the shape of the weights is unknown or does not fit."""
    weights, axes = r.shape(product.inputs[WEIGHTS]), output_axes(product)
    if not weights.is_known or any(not -len(weights) <= axis < len(weights) for axis in axes):
        return None
    return math.prod(weights.known()[axis] for axis in axes)


def is_channels_first(node: Node) -> bool:
    """Return True for convolutions and normalizations of NCHW or NCDHW."""
    return bool(node.attr("data_format", b"").startswith(b"NC"))


def bias_format(product: Node) -> bytes:
    """Return BiasAdd's name of the layout of the product's result."""
    return b"NCHW" if is_channels_first(product) else b"NHWC"


def channel_vector(r: Rewriter, product: Node, value: Any) -> Any:
    """Return the factor or offset per channel of the result; None unless `value` is a scalar or varies along channels only."""
    return aligned_vector(r, product.output(), output_channels(r, product), is_channels_first(product), value)


def aligned_vector(r: Rewriter, tensor: Output, channels: int | None, is_first: bool, value: Any) -> Any:
    """Return `value` as a vector over the channels of `tensor`; None where broadcasting aligns `value` otherwise."""
    shape = r.shape(tensor)
    if channels is None or shape.dims is None or value.ndim > len(shape):
        return None
    if value.size == 1:
        return np.broadcast_to(value.reshape(()), (channels,))
    axis = 1 if is_first else len(shape) - 1
    aligned = (1,) * (len(shape) - value.ndim) + value.shape
    expected = tuple(channels if i == axis else 1 for i in range(len(shape)))
    return value.reshape(channels) if aligned == expected else None


def constant_weights(r: Rewriter, product: Node) -> Any:
    """Return the array of the product's weights; None, with a refusal, for non-constant weights."""
    weights = r.constant_value(product.inputs[WEIGHTS])
    if weights is None:
        r.refuse("the weights are not constant; freeze the graph first")
    return weights


def weights_take(r: Rewriter, factor: Output, value: Output) -> bool:
    """Return True if a constant factor of `value` can go into constant weights: `value` is a product, maybe with a bias."""
    product = value.node.inputs[0].node if value.node.op == "BiasAdd" else value.node
    if product.op not in PRODUCTS or r.constant_value(factor) is None:
        return False
    return r.constant_value(product.inputs[WEIGHTS]) is not None


def with_factor(r: Rewriter, product: Node, axes: tuple[int, ...], factor: Any, data: Output | None = None) -> Output:
    """Return the product with weights times a vector along `axes`, and with `data` as data if not None."""
    weights = r.constant_value(product.inputs[WEIGHTS])
    inputs = list(product.inputs)
    inputs[WEIGHTS] = r.constant(scaled(weights, axes, factor), product.inputs[WEIGHTS])
    if data is not None:
        inputs[data_index(product)] = data
    return r.add(product.op, *inputs, **attrs_of(product))


def scaled(weights: Any, axes: tuple[int, ...], factor: Any) -> Any:
    """Return `weights` times a vector along `axes`, in float32 at least."""
    places = [axis % weights.ndim for axis in axes]
    shape = [size if axis in places else 1 for axis, size in enumerate(weights.shape)]
    return wide(weights) * wide(factor).reshape(shape)


def reshaped(r: Rewriter, value: Output, reshape: Node | None) -> Output:
    """Return `value` in the shape of the Reshape or Squeeze, if there is one."""
    return value if reshape is None else r.add(reshape.op, value, *reshape.inputs[1:], **attrs_of(reshape))


def is_read(r: Rewriter, node: Node) -> bool:
    """Return False for a node that a rule has replaced."""
    return bool(node.uses) or r.ctx.is_preserved(node)


def is_read_only_by(r: Rewriter, node: Node, readers: Collection[Node]) -> bool:
    """Return True if only `readers` need the node: the node may go with them."""
    others = [user for user in node.uses if user not in readers and is_read(r, user)]
    return not others and not r.ctx.is_preserved(node) and not node.control_inputs


def wide(values: Any) -> Any:
    """Widen half and bfloat16 to float32, so that a folded result is rounded only once, at the end."""
    return values.astype(np.float32) if values.dtype.itemsize == 2 else values


# Conditions on constants under which two computations of a result differ by rounding only, for any other operand.

_DIGITS: Final = 4
"""The largest ratio of the largest constant to the sum of constants: at most two bits are lost."""
_MARGIN: Final = 4
"""The factor between products of bounds and the largest number; leaves room for rounding on the way."""


def sum_hazard(total: Any, terms: Sequence[Any], unit: Any = 0.0) -> str:
    """Return the reason why `x + total` may differ by more than rounding from adding the terms in turn; empty for no
    reason.

    Terms of a few times `unit` may cancel: the last digits of the terms are those of `unit`.
    """
    sizes = [_magnitudes(term) for term in terms]
    greatest, together = _broadcast(np.maximum, sizes), _broadcast(np.add, sizes)
    if np.any((_magnitudes(total) * _DIGITS < greatest) & (greatest > _DIGITS * _magnitudes(unit))):
        return "the constants cancel"
    limits = _limits(total)
    # A term under half a unit in the last place of the largest number does not change the largest number.
    return "the sum may overflow" if not np.all(together < float(limits.max) * float(limits.eps) / 8) else ""


def product_hazard(product: Any, factors: Sequence[Any]) -> str:
    """Return the reason why `x * product` may differ by more than rounding from multiplying by the factors in turn; or
    empty.

    Where all factors grow x, or all shrink x, no intermediate result overflows or underflows unless the last result does.
    """
    if product.dtype.kind == "c":
        return "parts of complex products may overflow"
    sizes = [_magnitudes(factor) for factor in factors]
    # 1e30 * 1e30 * 1e-30 overflows on the way in float32, and the joined factor 1e30 does not.
    if not (all(np.all(size >= 1) for size in sizes) or all(np.all(size <= 1) for size in sizes)):
        return "an intermediate product may overflow or underflow"
    return "" if all(map(is_normal, (product, *factors))) else "the constants leave the range of normal numbers"


def is_normal(array: Any) -> bool:
    """Return True if all elements are 0 or normal numbers, with all their digits."""
    array = np.asarray(array)
    sizes = np.abs(array) if array.dtype.kind == "f" else _magnitudes(array)  # comparisons need no wider numbers
    return bool(np.all(np.isfinite(sizes) & ((sizes == 0) | (sizes >= float(_limits(array).smallest_normal)))))


def holds_products(array: Any, *bounds: float) -> bool:
    """Return True if results within the bounds, and partial sums, are far from overflowing in the dtype of `array`."""
    return all(math.isfinite(bound) and bound * _MARGIN < float(_limits(array).max) for bound in bounds)


def most(array: Any) -> float:
    """Return the greatest absolute value of the elements, 0 of none."""
    return float(np.max(_magnitudes(array), initial=0))


def _magnitudes(array: Any) -> Any:
    array = np.asarray(array)
    return np.abs(array.astype(np.complex128 if array.dtype.kind == "c" else np.float64))


def _broadcast(combine: Any, arrays: Sequence[Any]) -> Any:
    total = arrays[0]
    for array in arrays[1:]:
        total = combine(total, array)
    return total


def _limits(array: Any) -> Any:
    dtype = np.asarray(array).dtype
    # NumPy's finfo does not know bfloat16 and the floats of 8 bits.
    return ml_dtypes.finfo(np.zeros((), dtype).real.dtype if dtype.kind == "c" else dtype)
