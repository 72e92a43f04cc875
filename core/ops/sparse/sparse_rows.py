"""Empty rows of sparse and ragged tensors, filled."""

from __future__ import annotations

import numpy as np

from ...building.gradbuilder import GradientBuilder, Gradients
from ...graph.graph import Node, Output
from ...registry.registry import Cost, arrays, facts, flops, gradient, kernel, onnx, shape, without_gradient, zero_flops
from ...support.errors import InvalidArgumentError
from ...types.arrays import Array, Result
from ...types.shapes import Shape, TensorSpec
from ..shared import sparse_programs as programs
from ..shared.argument_checks import require, require_rank
from ..shared.shape_arguments import dims_of
from ..shared.sparse_checks import rank_of, sparse_shapes


@kernel("SparseFillEmptyRows")
def sparse_fill_empty_rows(
    indices: Array, values: Array, dense_shape: Array, default_value: Array
) -> tuple[Result, Result, Result, Result]:
    """Fill empty rows with the default at column 0; return also a mask of the filled rows, and the new place of each
    element.
    """
    if np.ndim(dense_shape) != 1 or dense_shape.size == 0:
        raise InvalidArgumentError(f"dense_shape must be a vector with elements, saw: {np.shape(dense_shape)}")
    if np.ndim(indices) != 2 or np.ndim(values) != 1 or len(indices) != len(values) or np.ndim(default_value) != 0:
        raise InvalidArgumentError(
            f"indices, values and default have the shapes {np.shape(indices)}, {np.shape(values)}, {np.shape(default_value)}"
        )
    count, rank = int(dense_shape[0]), indices.shape[1]
    if rank != dense_shape.size:
        raise InvalidArgumentError(f"dense_shape has {dense_shape.size} dimensions, indices have {rank}")
    require(count >= 0, f"Expected shape dimensions to be non-negative, got {count}")
    rows = indices[:, 0]
    _check_rows(rows, count)
    order, is_empty, targets = fill_order(rows, count)
    result = np.zeros((order.size, rank), np.int64)
    result[targets] = indices
    result[order < 0, 0] = np.flatnonzero(is_empty)
    filled = np.empty(order.size, values.dtype)
    filled[...] = default_value
    filled[targets] = values
    return result, filled, is_empty, targets


def fill_order(rows: Array, count: int) -> tuple[Array, Array, Array]:
    """Return (source of each output element or -1 for a filled row, mask of empty rows, target of each input element)."""
    is_empty = np.bincount(rows, minlength=count) == 0 if count else np.zeros(0, bool)
    # One stable sort by row puts the filled rows in their places and keeps the elements of a row in turn.
    all_rows = np.concatenate([rows, np.flatnonzero(is_empty)])
    order = np.argsort(all_rows, kind="stable")
    targets = np.empty(len(order), np.int64)
    targets[order] = np.arange(len(order))
    return np.where(order < len(rows), order, -1), is_empty, targets[: len(rows)]


def _check_rows(rows: Array, count: int) -> None:
    if count == 0 and len(rows):
        raise InvalidArgumentError(f"Received SparseTensor with dense_shape[0] = 0 but indices.shape[0] = {len(rows)}")
    bad = (rows < 0) | (rows >= count)
    if np.any(bad):
        place = int(np.argmax(bad))
        raise InvalidArgumentError(f"indices({place}, 0) is invalid: {int(rows[place])} >= {count}")


@shape("SparseFillEmptyRows")
def sparse_fill_empty_rows_shape(
    indices: TensorSpec, values: TensorSpec, dense_shape: TensorSpec, default_value: TensorSpec
) -> tuple[Shape, Shape, Shape, Shape]:
    require_rank(indices, 2, "indices")
    require_rank(default_value, 0, "default_value")
    sizes = dims_of(dense_shape)
    rows, columns, _ = sparse_shapes(rank_of(indices, dense_shape))
    return rows, columns, Shape([sizes[0] if sizes else None]), Shape([indices.shape[0]])


@gradient("SparseFillEmptyRows")
def sparse_fill_empty_rows_gradient(
    g: GradientBuilder, node: Node, _indices: Output, grad: Output, _empty: Output, _map: Output
) -> Gradients:
    values, default = g.SparseFillEmptyRowsGrad(node.output(3), grad)
    return [None, values, None, default]


zero_flops("SparseFillEmptyRows")


@kernel("SparseFillEmptyRowsGrad", "RaggedFillEmptyRowsGrad")
def fill_empty_rows_grad(reverse_index_map: Array, grad_values: Array) -> tuple[Result, Result]:
    """Return the gradient of the values and the gradient of the default: the sum of the gradients not used by the values."""
    if np.ndim(reverse_index_map) != 1 or np.ndim(grad_values) != 1:
        raise InvalidArgumentError("reverse_index_map and grad_values must be vectors")
    places, grad = np.asarray(reverse_index_map), np.asarray(grad_values)
    if places.size and (places.min() < 0 or places.max() >= grad.size):
        raise InvalidArgumentError(f"Elements in reverse index must be in [0, {grad.size}) but got {places.tolist()[:10]}")
    # By a mask and not by a difference of two sums, which would cancel.
    rest = np.ones(grad.size, bool)
    rest[places] = False
    return grad[places], np.sum(grad[rest], dtype=grad.dtype)


@shape("SparseFillEmptyRowsGrad", "RaggedFillEmptyRowsGrad")
def fill_empty_rows_grad_shape(reverse_index_map: TensorSpec, grad_values: TensorSpec) -> tuple[Shape, Shape]:
    require_rank(reverse_index_map, 1, "reverse_index_map")
    require_rank(grad_values, 1, "grad_values")
    return reverse_index_map.shape, Shape(())


@flops("SparseFillEmptyRowsGrad", "RaggedFillEmptyRowsGrad")
def fill_empty_rows_grad_flops(reverse_index_map: TensorSpec, grad_values: TensorSpec) -> Cost:
    """The sum of the gradients not used by the values."""
    return Cost(flops=grad_values.shape.num_elements - reverse_index_map.shape.num_elements)


facts("backward", of=("RaggedFillEmptyRowsGrad", "SparseFillEmptyRowsGrad"))
without_gradient("RaggedFillEmptyRowsGrad", "SparseFillEmptyRowsGrad")


onnx("SparseFillEmptyRows")(programs.filled_rows)
arrays("SparseFillEmptyRowsGrad", "RaggedFillEmptyRowsGrad")(programs.filled_rows_gradient)
