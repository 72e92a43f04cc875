"""Counting integers: sparse counts by row of dense, sparse and ragged inputs, and their bincounts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...registry.registry import Cost, flops, kernel, onnx, shape, without_gradient
from ...support.errors import InvalidArgumentError
from ...types import dtypes
from ...types.arrays import Array, Result
from ...types.shapes import UNKNOWN, Shape, TensorSpec
from ..shared.argument_checks import require, require_rank
from ..shared.shape_arguments import dims_of
from ..shared.sparse_checks import flat_positions, index_vectors, sparse_shapes, validate
from .histograms import bin_count, dense_bincount_arrays


def _sparse_counts(
    groups: Array, values: Array, weights: Array, group_shape: Sequence[int], minlength: int, maxlength: int, binary: bool
) -> tuple[Array, Array, Array]:
    """Return the counts as a sparse tensor: an element for each distinct value of a group; values from maxlength on are
    dropped.
    """
    _check_not_negative(values)
    dtype = weights.dtype
    is_counted = values < maxlength if maxlength >= 0 else np.ones(values.shape, bool)
    width = _width(values, minlength, maxlength)
    if math.prod((*group_shape, max(width, 1))) >= 1 << 63:
        raise InvalidArgumentError(f"counts of {width} values in groups {list(group_shape)} have too many places")
    keys = groups[is_counted] * max(width, 1) + values[is_counted]
    distinct, inverse = np.unique(keys, return_inverse=True)
    if binary:
        counts = np.ones(distinct.size, dtype)
    elif weights.size:
        counts = np.bincount(inverse.ravel(), weights.ravel()[is_counted], distinct.size).astype(dtype)
    else:
        counts = np.bincount(inverse.ravel(), minlength=distinct.size).astype(dtype)
    return index_vectors(distinct, [*group_shape, max(width, 1)]), counts, np.array([*group_shape, width], np.int64)


def _width(values: Array, minlength: int, maxlength: int) -> int:
    """Return the size of the last dimension: maxlength if given, else the greatest value plus 1, at least minlength."""
    if maxlength >= 0:
        return maxlength
    largest = int(values.max()) + 1 if values.size else 1
    return max(largest, minlength)


def _check_weights(weights: Array, values: Array) -> None:
    if np.size(weights) and np.shape(weights) != np.shape(values):
        raise InvalidArgumentError(
            f"Weights and values must have the same shape. Weight shape: {Shape(np.shape(weights))}; "
            f"values shape: {Shape(np.shape(values))}"
        )


@kernel("DenseCountSparseOutput")
def dense_count(
    values: Array, weights: Array, *, minlength: int, maxlength: int, binary_output: bool
) -> tuple[Result, Result, Result]:
    """Counts of a vector, or of each row of a matrix."""
    values, weights = np.asarray(values), np.asarray(weights)
    if values.ndim not in (1, 2):
        raise InvalidArgumentError(f"Input must be a 1 or 2-dimensional tensor. Got: {Shape(values.shape)}")
    _check_weights(weights, values)
    groups = np.repeat(np.arange(len(values)), values.shape[-1]) if values.ndim == 2 else np.zeros(values.size, np.int64)
    flat = values.ravel().astype(np.int64)
    return _sparse_counts(groups, flat, weights, values.shape[:-1], minlength, maxlength, binary_output)


@shape("DenseCountSparseOutput")
def dense_count_shape(values: TensorSpec, weights: TensorSpec) -> tuple[Shape, ...]:
    return sparse_shapes(values.rank)


@flops("DenseCountSparseOutput")
def dense_count_flops(values: TensorSpec, weights: TensorSpec) -> Cost:
    return Cost(flops=values.shape.num_elements)


without_gradient("DenseCountSparseOutput")


@kernel("SparseCountSparseOutput")
def sparse_count(
    indices: Array, values: Array, dense_shape: Array, weights: Array, *, minlength: int, maxlength: int, binary_output: bool
) -> tuple[Result, Result, Result]:
    """Counts of a sparse vector, or of each row of a sparse matrix."""
    weights = np.asarray(weights)
    validate(indices, values, dense_shape)
    if dense_shape.size not in (1, 2):
        raise InvalidArgumentError(f"the input must be of rank 1 or 2, not {dense_shape.size}")
    _check_weights(weights, values)
    if np.any(indices < 0) or np.any(indices >= dense_shape):
        raise InvalidArgumentError(f"an index is out of bounds of {dense_shape.tolist()}")
    rows = dense_shape[:-1].tolist()
    if 0 in rows:
        raise InvalidArgumentError("Cannot allocate 0 batches, is the dense shape too wide?")
    groups = flat_positions(indices[:, :-1], rows)
    return _sparse_counts(groups, values.astype(np.int64), weights, rows, minlength, maxlength, binary_output)


@shape("SparseCountSparseOutput")
def sparse_count_shape(
    indices: TensorSpec, values: TensorSpec, dense_shape: TensorSpec, weights: TensorSpec
) -> tuple[Shape, ...]:
    return sparse_shapes(dense_shape.shape[0] if dense_shape.rank == 1 else None)


@kernel("RaggedCountSparseOutput")
def ragged_count(
    splits: Array, values: Array, weights: Array, *, minlength: int, maxlength: int, binary_output: bool
) -> tuple[Result, Result, Result]:
    """Counts of each row of a ragged matrix; splits and values may have any shape."""
    splits, values, weights = np.ravel(splits), np.asarray(values), np.asarray(weights)
    if splits.size < 2:
        raise InvalidArgumentError("Must provide at least 2 elements for the splits argument")
    _check_weights(weights, values)
    values = values.ravel()
    groups = _ragged_rows(splits, values.size)
    return _sparse_counts(groups, values.astype(np.int64), weights, [splits.size - 1], minlength, maxlength, binary_output)


def _ragged_rows(splits: Array, count: int) -> Array:
    """Return the row of each value; InvalidArgumentError where the splits do not divide `count` values."""
    if not splits.size or splits[0] != 0:
        raise InvalidArgumentError(f"Splits must start with 0, not with {splits.tolist()[:1]}")
    if splits[-1] != count or np.any(splits[1:] < splits[:-1]):
        raise InvalidArgumentError(f"Splits must ascend to the number of values, {count}: {splits.tolist()[:10]}")
    return np.repeat(np.arange(splits.size - 1), np.diff(splits))


@shape("RaggedCountSparseOutput")
def ragged_count_shape(splits: TensorSpec, values: TensorSpec, weights: TensorSpec) -> tuple[Shape, ...]:
    return sparse_shapes(2)


@flops("RaggedCountSparseOutput", "SparseCountSparseOutput")
def count_flops(first: TensorSpec, values: TensorSpec, *rest: TensorSpec) -> Cost:
    return Cost(flops=values.shape.num_elements)


without_gradient("SparseCountSparseOutput", "RaggedCountSparseOutput")


def _bincounts(groups: Array, rows: int, values: Array, size: int, weights: Array, binary: bool) -> Array:
    """Return counts or sums of weights, (rows, size); values from `size` on, and negative values, are dropped."""
    result = np.zeros((rows, size), weights.dtype)
    is_counted = (values >= 0) & (values < size)
    keys = groups[is_counted] * size + values[is_counted]
    if binary:
        result.reshape(-1)[keys] = 1
    else:
        scale = weights.ravel()[is_counted] if weights.size else None
        result.reshape(-1)[...] = np.bincount(keys, scale, result.size)
    return result


def _check_not_negative(values: Array) -> None:
    if values.size and values.min() < 0:
        raise InvalidArgumentError("Input must be non-negative")


@kernel("SparseBincount")
def sparse_bincount(
    indices: Array, values: Array, dense_shape: Array, size: Array, weights: Array, *, binary_output: bool
) -> Result:
    """Counts of a sparse vector, (size,), or of each row of a sparse matrix, (rows, size)."""
    count, weights = bin_count(size), np.asarray(weights)
    validate(indices, values, dense_shape)
    if values.size or dense_shape.size == 1:
        _check_weights(weights.ravel(), values)
    if np.any(indices < 0) or np.any(indices >= dense_shape):
        raise InvalidArgumentError(f"an index is out of bounds of {dense_shape.tolist()}")
    if dense_shape.size == 1:
        _check_not_negative(values)
        return _bincounts(np.zeros(values.size, np.int64), 1, values.astype(np.int64), count, weights, binary_output)[0]
    if dense_shape.size != 2:
        raise InvalidArgumentError(f"the input must be of rank 1 or 2, not {dense_shape.size}")
    return _bincounts(indices[:, 0], int(dense_shape[0]), values.astype(np.int64), count, weights, binary_output)


@shape("SparseBincount")
def sparse_bincount_shape(
    indices: TensorSpec, values: TensorSpec, dense_shape: TensorSpec, size: TensorSpec, weights: TensorSpec
) -> Shape:
    dims, bins = dims_of(dense_shape), dims_of(size)
    count = bins[0] if bins else None
    if dims is None:
        return UNKNOWN
    require(len(dims) in (1, 2), f"the input must be of rank 1 or 2, not {len(dims)}")
    return Shape([count]) if len(dims) == 1 else Shape([dims[0], count])


@kernel("RaggedBincount")
def ragged_bincount(splits: Array, values: Array, size: Array, weights: Array, *, binary_output: bool) -> Result:
    """Counts of each row of a ragged matrix, (rows, size); values may have any shape."""
    count, weights, values = bin_count(size), np.asarray(weights), np.asarray(values)
    splits = np.ravel(splits)
    values = values.ravel()
    if values.size:
        _check_weights(weights.ravel(), values)
    _check_not_negative(values)
    groups = _ragged_rows(splits, values.size)
    return _bincounts(groups, splits.size - 1, values.astype(np.int64), count, weights, binary_output)


@shape("RaggedBincount")
def ragged_bincount_shape(splits: TensorSpec, values: TensorSpec, size: TensorSpec, weights: TensorSpec) -> Shape:
    require_rank(splits, 1, "splits")
    bins = dims_of(size)
    return Shape([splits.shape[0] - 1, bins[0] if bins else None])


flops("RaggedBincount", "SparseBincount")(count_flops)

without_gradient("SparseBincount", "RaggedBincount")


@onnx("DenseCountSparseOutput")
def _dense_count_onnx(
    g: Any, values: Any, weights: Any, *, minlength: int, maxlength: int, binary_output: bool
) -> tuple[Any, Any, Any]:
    """Count densely, and return the entries above zero as a sparse tensor."""
    largest = g.ReduceMax(g.Concat(g.reshape(g.cast(values, dtypes.int64), -1), [0], axis=0), [0], keepdims=1)
    width = g.vector(g.constant(maxlength)) if maxlength >= 0 else g.Max(g.Add(largest, 1), minlength)

    def counted(terms: Any, is_binary: bool) -> Any:
        inputs = [values, g.reshape(width, []), terms]
        return g.evaluate(dense_bincount_arrays, (1,), (1,), inputs, {"binary_output": is_binary})

    number = counted(g.constant(np.zeros(0), weights.dtype), binary_output)
    places = g.transpose(g.NonZero(g.Greater(number, 0)), [1, 0])
    is_weighted = not binary_output and weights.shape.dims != (0,)
    counts = counted(weights, False) if is_weighted else number
    return places, g.GatherND(counts, places), g.joined(g.slice(g.dims(values), 0, -1), width)
