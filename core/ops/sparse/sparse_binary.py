"""Sums, maxima and minima of two sparse tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...building.gradbuilder import GradientBuilder, Gradients
from ...graph.graph import Node, Output
from ...registry.registry import Cost, flops, gradient, kernel, shaped
from ...support.errors import InvalidArgumentError
from ...types.arrays import Array, Result
from ...types.dims import dim_min
from ...types.shapes import Shape, TensorSpec
from ..shared.elementwise_tables import counted
from ..shared.sparse_tensors import SparseParts, check_bounds, common_keys, merged, validate
from .sparse import taken_by_key


@kernel("SparseAdd", shape="n r, n, r, m r, m, r, () -> k r, k, r")
def sparse_add(a: SparseParts[Array], b: SparseParts[Array], thresh: Array) -> tuple[Result, Result, Result]:
    """Add two sparse tensors; sums of two elements with a magnitude below `thresh` are dropped."""
    _require_same_dense_shape(a, b)
    if np.ndim(thresh) != 0:
        raise InvalidArgumentError(f"The magnitude threshold must be a scalar: got shape {Shape(np.shape(thresh))}")
    in_a, in_b = merged(*common_keys(a.indices, b.indices))
    sums = _picked(a.values, in_a) + _picked(b.values, in_b)
    # TensorFlow compares only sums of two elements with the threshold; lone elements always stay.
    is_large = (in_a < 0) | (in_b < 0) | (thresh <= np.abs(sums))
    rows = _merged_rows(a.indices, b.indices, in_a, in_b)
    return rows[is_large], sums[is_large], a.dense_shape


def _require_same_dense_shape(a: SparseParts[Array], b: SparseParts[Array]) -> None:
    validate(*a, "a")
    validate(*b, "b")
    a_shape, b_shape = a.dense_shape.tolist(), b.dense_shape.tolist()
    if a_shape != b_shape:
        raise InvalidArgumentError(f"Operands' shapes do not match: got {a_shape} and {b_shape}")


def _picked(values: Array, places: Array) -> Array:
    """values[places], 0 where the place is -1."""
    if not len(values):
        return np.zeros(len(places), values.dtype)
    return np.where(places >= 0, values[places], values.dtype.type(0))


def _merged_rows(a_indices: Array, b_indices: Array, in_a: Array, in_b: Array) -> Array:
    # -1 in the places of a stands for an element that only b has.
    return np.concatenate([a_indices, b_indices]).take(np.where(in_a < 0, in_b + len(a_indices), in_a), axis=0)


@gradient("SparseAdd")
def sparse_add_gradient(g: GradientBuilder, node: Node, _indices: Output, grad: Output, _shape: Output) -> Gradients:
    a_indices, _, _, b_indices, _, _, _ = node.inputs
    a, b = g.SparseAddGrad(grad, a_indices, b_indices, node.output(0))
    return [None, a, None, None, b, None, None]


@flops("SparseAdd")
def sparse_add_flops(
    a_indices: TensorSpec, a_values: TensorSpec, a_shape: TensorSpec, b_indices: TensorSpec, b_values: TensorSpec
) -> Cost:
    """An upper bound: a sum, its modulus and a comparison wherever both operands have an element."""
    return Cost(flops=3 * dim_min(a_values.shape.num_elements, b_values.shape.num_elements))


@kernel("SparseAddGrad", shape="k, n r, m r, k r -> n, m", facts=("backward",), arithmetic=False)
def sparse_add_grad(grad: Array, a_indices: Array, b_indices: Array, sum_indices: Array) -> tuple[Result, Result]:
    """The gradients of the values of both summands."""
    if np.ndim(grad) != 1 or any(np.ndim(i) != 2 for i in (a_indices, b_indices, sum_indices)):
        raise InvalidArgumentError("the gradient must be a vector, the indices matrices")
    if not a_indices.shape[1] == b_indices.shape[1] == sum_indices.shape[1]:
        raise InvalidArgumentError("The densified operands should have the same ndims")
    if len(grad) != len(sum_indices):
        raise InvalidArgumentError(f"{len(grad)} gradients do not match {len(sum_indices)} elements of the sum")
    a_keys, b_keys, keys = common_keys(a_indices, b_indices, sum_indices)
    return taken_by_key(a_keys, keys, grad), taken_by_key(b_keys, keys, grad)


def _extreme(ufunc: Callable[..., Any]) -> Callable[..., Any]:
    def combine(a: SparseParts[Array], b: SparseParts[Array]) -> tuple[Array, Array]:
        """Return the greater (or lesser) of two sparse tensors wherever either has an element; missing elements are 0."""
        _require_same_dense_shape(a, b)
        check_bounds(a.indices, a.dense_shape)
        check_bounds(b.indices, b.dense_shape)
        in_a, in_b = merged(*common_keys(a.indices, b.indices))
        rows = _merged_rows(a.indices, b.indices, in_a, in_b)
        return rows, ufunc(_picked(a.values, in_a), _picked(b.values, in_b))

    return combine


sparse_sparse_maximum = kernel("SparseSparseMaximum")(_extreme(np.maximum))
sparse_sparse_minimum = kernel("SparseSparseMinimum")(_extreme(np.minimum))


shaped("n r, n, r, m r, m, r -> k r, k", "SparseSparseMaximum", "SparseSparseMinimum")


@gradient("SparseSparseMaximum", "SparseSparseMinimum")
def sparse_sparse_extreme_gradient(g: GradientBuilder, node: Node, _: Output, grad: Output) -> Gradients:
    """Give the gradient to the first operand where it is at least as extreme, else to the second."""
    a_indices, a_values, dims, b_indices, b_values, _ = node.inputs
    rows = node.output(0)
    zero = g.scalar_like(grad, 0)
    a = _densified(g, a_indices, a_values, dims, rows)
    b = _densified(g, b_indices, b_values, dims, rows)
    wins = g.GreaterEqual(a, b) if node.op == "SparseSparseMaximum" else g.LessEqual(a, b)
    # An equal element of the first operand takes the gradient alone, as in TensorFlow.
    to_a, to_b = g.SelectV2(wins, grad, zero), g.SelectV2(wins, zero, grad)
    start = g.zeros_like(dims)
    return [
        None,
        g.SparseSliceGrad(to_a, a_indices, start, rows),
        None,
        None,
        g.SparseSliceGrad(to_b, b_indices, start, rows),
        None,
    ]


def _densified(g: GradientBuilder, indices: Output, values: Output, dims: Output, rows: Output) -> Output:
    """Return the values at `rows`, 0 where the sparse tensor has none."""
    return g.SparseSliceGrad(values, rows, g.zeros_like(dims), indices)


flops("SparseSparseMaximum", "SparseSparseMinimum")(counted(1, (1, 4), "At most: a comparison for each element."))
