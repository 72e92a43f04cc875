"""Ragged tensors in variants: a variant for the whole tensor, or for each row."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from ...building.gradbuilder import GradientBuilder, Gradients
from ...graph.graph import Node, Output
from ...registry.registry import gradient, kernel, shape, zero_cost
from ...runtime.state.edge_values import is_of, scalar_object
from ...runtime.state.variants import added, zeros_like
from ...support import dataclasses
from ...support.errors import InvalidArgumentError, UnimplementedError
from ...types.arrays import Array, Result, object_array
from ...types.dtypes import DType
from ...types.shapes import SCALAR, UNKNOWN, Shape, TensorSpec
from ..shared.argument_checks import require
from .ragged import check_nested


@dataclasses.dataclass(frozen=True)
class RaggedVariant:
    """A ragged tensor inside a variant."""

    nested: tuple
    values: np.ndarray

    def zeros_like(self) -> Any:
        return RaggedVariant(self.nested, zeros_like(self.values))

    def __add__(self, other: Any) -> Any:
        if not isinstance(other, RaggedVariant):
            return NotImplemented
        # Gradients of one variant have its row splits, so their sum is that of the values.
        same = len(self.nested) == len(other.nested) and all(map(np.array_equal, self.nested, other.nested))
        require(same, "ragged tensors of different row splits in variants have no sum")
        return RaggedVariant(self.nested, added(self.values, other.values))


@kernel("RaggedTensorToVariant", flops=zero_cost)
def ragged_tensor_to_variant(nested: list[Array], values: Array, *, batched_input: bool) -> Result:
    """Return a ragged tensor as a single variant, or each of its rows as a variant."""
    if not batched_input:
        return scalar_object(RaggedVariant(tuple(nested), values))
    check_nested(nested, values)
    if not nested:
        return object_array([RaggedVariant((), row) for row in values])
    starts = nested[0]
    rows = []
    for begin, end in itertools.pairwise(starts):
        # Each level of the row is cut out of the whole, and its splits begin at 0 again.
        levels, low, high = [], begin, end
        for splits in nested[1:]:
            part = splits[low : high + 1]
            levels.append(part - part[0])
            low, high = part[0], part[-1]
        rows.append(RaggedVariant(tuple(levels), values[low:high]))
    return object_array(rows)


@shape("RaggedTensorToVariant")
def ragged_tensor_to_variant_shape(nested: list[TensorSpec], values: TensorSpec, *, batched_input: bool) -> Shape:
    if not batched_input:
        return SCALAR
    return Shape([nested[0].shape[0] - 1 if nested else values.shape[0]])


@gradient("RaggedTensorToVariant")
def ragged_tensor_to_variant_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    """Return the values of the gradient's variants; their row splits equal the row splits of the inputs."""
    *nested, values = node.inputs
    batched = node.attr("batched_input")
    shape_of_values, dtype = g.shape_of(values), values.base_dtype
    # The rows of a dense tensor: a vector of variants would decode to a ragged tensor of one level more.
    if batched and not nested:
        towards = g.RaggedTensorToVariantGradient(grad, g.constant(np.zeros(0, np.int64)), shape_of_values, Tvalues=dtype)
    else:
        decoded = g.RaggedTensorFromVariant(
            grad,
            input_ragged_rank=len(nested) - batched,
            output_ragged_rank=len(nested),
            Tvalues=dtype,
            Tsplits=node.attr("Tsplits"),
        )
        towards = g.Reshape(decoded[-1], shape_of_values)
    return [*([None] * len(nested)), towards]


@kernel("RaggedTensorFromVariant", flops=zero_cost)
def ragged_tensor_from_variant(
    encoded: Array, *, input_ragged_rank: int, output_ragged_rank: int, Tvalues: DType, Tsplits: DType
) -> Any:
    """Return the ragged tensor of the variants, whose dimensions become outer levels."""
    items = np.ravel(encoded).tolist()
    # -1 leaves the ragged rank of the variants to be found from the two others.
    inner = output_ragged_rank - encoded.ndim if input_ragged_rank == -1 else input_ragged_rank
    if not output_ragged_rank and encoded.ndim and inner <= 0:
        return _stacked(items, Tvalues)
    if inner < 0 or inner + encoded.ndim != output_ragged_rank:
        raise InvalidArgumentError(f"output_ragged_rank {output_ragged_rank} is not {encoded.ndim} above that of the variants")
    for item in items:
        _check_variant(item, inner, Tvalues)
        require(np.shape(item.values)[1:] == np.shape(items[0].values)[1:], "the variants hold values of different shapes")
    require(not encoded.ndim or all(np.ndim(item.values) for item in items), "the variants hold scalars")
    if not encoded.ndim:
        return [s.astype(Tsplits.numpy) for s in items[0].nested], items[0].values
    levels = [np.arange(math.prod(encoded.shape[:d]) + 1) * encoded.shape[d] for d in range(1, encoded.ndim)]
    # The innermost dimension of the variants counts the rows that each of them holds.
    levels.append(_ends([len(i.nested[0]) - 1 if inner else len(i.values) for i in items]))
    for level in range(inner):
        levels.append(_ends(np.concatenate([np.diff(i.nested[level]) for i in items] or [np.zeros(0, np.int64)])))
    values = np.concatenate([i.values for i in items]) if items else np.zeros(0, Tvalues.numpy)
    return [s.astype(Tsplits.numpy) for s in levels], values


def _stacked(items: list[Any], dtype: DType) -> tuple[list[Array], Array]:
    """Return the dense values of variants as rows: a ragged rank of 0 asks for no levels, whatever dimensions they have."""
    for item in items:
        _check_variant(item, 0, dtype)
        require(np.shape(item.values) == np.shape(items[0].values), "the variants hold values of different shapes")
    return [], np.stack([item.values for item in items]) if items else np.zeros(0, dtype.numpy)


def _ends(lengths: Array | list[int]) -> Array:
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def _check_variant(item: RaggedVariant, ragged_rank: int, dtype: DType) -> None:
    if not isinstance(item, RaggedVariant):
        raise InvalidArgumentError(f"Input Variant element holds a {type(item).__name__}, no ragged tensor")
    if any(np.ndim(splits) != 1 or not np.size(splits) for splits in item.nested):
        raise InvalidArgumentError("Ragged splits in a variant must be vectors with elements")
    if len(item.nested) != ragged_rank or not is_of(item.values, dtype):
        raise InvalidArgumentError(
            f"Expected a ragged tensor of rank {ragged_rank} and {dtype}, found {len(item.nested)} and {item.values.dtype}"
        )


@shape("RaggedTensorFromVariant")
def ragged_tensor_from_variant_shape(*, output_ragged_rank: int) -> tuple[list[Shape], Shape]:
    return [Shape([None]) for _ in range(output_ragged_rank)], UNKNOWN


@gradient("RaggedTensorFromVariant")
def ragged_tensor_from_variant_gradient(g: GradientBuilder, node: Node, *grads: Output) -> Gradients:
    """Give each variant the gradients of its own values. The levels above the values count the variants along their
    dimensions.
    """
    (encoded,) = node.inputs
    rank = _variant_rank(g, node)
    splits = [node.output(i) for i in range(node.attr("output_ragged_rank"))]
    rows = g.RaggedTensorToVariant(splits[max(rank - 1, 0) :], grads[-1], batched_input=rank > 0)
    return [g.Reshape(rows, g.shape_of(encoded)) if rank > 1 else rows]


def _variant_rank(g: GradientBuilder, node: Node) -> int:
    """Return the rank of the variants. An unknown rank is taken for a vector's, as in TensorFlow, where the attributes
    allow.
    """
    inner, outer = node.attr("input_ragged_rank"), node.attr("output_ragged_rank")
    if inner >= 0:
        return int(outer - inner)
    rank = g.static_shape(node.inputs[0]).rank
    return min(outer, 1) if rank is None else rank


@kernel("RaggedTensorToVariantGradient", shape="*, *, <...> -> ...", flops=zero_cost, facts=("backward",))
def ragged_tensor_to_variant_gradient_kernel(encoded: Array, row_splits: Array, dims: Array, *, Tvalues: DType) -> Result:
    """Concatenate the values of the variants, in the shape `dims`."""
    items = np.ravel(encoded).tolist()
    require(all(isinstance(item, RaggedVariant) for item in items), "the variants hold no ragged tensors")
    require(all(is_of(item.values, Tvalues) for item in items), f"the variants hold values that are not {Tvalues}")
    require(np.all(dims >= 0), f"the shape {dims.tolist()} has a negative dimension")
    parts = [np.ravel(item.values) for item in items]
    flat = np.concatenate(parts) if parts else np.zeros(0, Tvalues.numpy)
    if flat.size != math.prod(dims.tolist()):
        raise InvalidArgumentError(f"the variants hold {flat.size} values, the shape is {dims.tolist()}")
    return flat.reshape(dims.tolist())


@gradient("RaggedTensorToVariantGradient")
def ragged_tensor_to_variant_second_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    """Give each variant a row of the gradient, if each variant holds a single row of values: if there are no row splits."""
    encoded, row_splits, _ = node.inputs
    if g.static_shape(encoded).rank != 1 or not row_splits.node.is_constant or row_splits.node.attr("value").size > 1:
        problem = "its gradient needs the row splits inside the variants, which are not inputs"
        raise UnimplementedError(problem, node=node.name, op=node.op)
    return [g.RaggedTensorToVariant([], grad, batched_input=True, Tsplits=row_splits.base_dtype), None, None]
