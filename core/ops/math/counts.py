"""Counts of integers, dense and sparse; histograms, buckets, and isotonic regression."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...building.gradbuilder import GradientBuilder, Gradients
from ...graph.graph import Node, Output
from ...numerics.half_precision import wide
from ...numerics.sequences import decreasing_fit
from ...registry.registry import WITHOUT_GRADIENT, Cost, arrays, everywhere, flops, gradient, kernel, onnx, shape
from ...support.errors import InvalidArgumentError, UnimplementedError
from ...types import dtypes
from ...types.arrays import Array, Result
from ...types.dtypes import DType
from ...types.shapes import UNKNOWN, Shape, TensorSpec, dims_of
from ..shared.argument_checks import require, require_known_sizes
from ..shared.elementwise_tables import counted, unary_flops
from ..shared.shape_arguments import scalar_of
from ..shared.sparse_tensors import flat_positions, index_vectors, rank_of, sparse_shapes, validate


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
    # The keys below number the places of all counts, and must not overflow.
    if math.prod((*group_shape, max(width, 1))) >= 1 << 63:
        raise InvalidArgumentError(f"counts of {width} values in groups {list(group_shape)} have too many places")
    keys = groups[is_counted] * max(width, 1) + values[is_counted]
    # Sorted keys are the entries in row-major order, as a sparse tensor has them.
    distinct, inverse = np.unique(keys, return_inverse=True)
    if binary:
        counts = np.ones(distinct.size, dtype)
    else:
        terms = weights.ravel()[is_counted] if weights.size else weights.ravel()
        counts = _counts(inverse.ravel(), terms, distinct.size, dtype)
    return index_vectors(distinct, [*group_shape, max(width, 1)]), counts, np.array([*group_shape, width], np.int64)


def _width(values: Array, minlength: int, maxlength: int) -> int:
    """Return the size of the last dimension: maxlength if given, else the greatest value plus 1, at least minlength."""
    if maxlength >= 0:
        return maxlength
    # TensorFlow seeks the greatest value from 0 on, so that no values at all still have a bin for 0.
    largest = int(values.max()) + 1 if values.size else 1
    return max(largest, minlength)


def _check_weights(weights: Array, values: Array) -> None:
    if np.size(weights) and np.shape(weights) != np.shape(values):
        raise InvalidArgumentError(
            f"Weights and values must have the same shape. Weight shape: {Shape(np.shape(weights))}; "
            f"values shape: {Shape(np.shape(values))}"
        )


@kernel("DenseCountSparseOutput", gradient=WITHOUT_GRADIENT, flops=unary_flops(1))
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
def dense_count_shape(values: TensorSpec) -> tuple[Shape, ...]:
    return sparse_shapes(values.rank)


@kernel("SparseCountSparseOutput", gradient=WITHOUT_GRADIENT)
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
    require(0 not in rows, "Cannot allocate 0 batches, is the dense shape too wide?")
    groups = flat_positions(indices[:, :-1], rows)
    return _sparse_counts(groups, values.astype(np.int64), weights, rows, minlength, maxlength, binary_output)


@shape("SparseCountSparseOutput")
def sparse_count_shape(indices: TensorSpec, values: TensorSpec, dense_shape: TensorSpec) -> tuple[Shape, ...]:
    return sparse_shapes(rank_of(indices, dense_shape))


@kernel("RaggedCountSparseOutput", shape="-> n 2, n, 2", gradient=WITHOUT_GRADIENT)
def ragged_count(
    splits: Array, values: Array, weights: Array, *, minlength: int, maxlength: int, binary_output: bool
) -> tuple[Result, Result, Result]:
    """Counts of each row of a ragged matrix; splits and values may have any shape."""
    splits, values, weights = np.ravel(splits), np.asarray(values), np.asarray(weights)
    require(splits.size >= 2, "Must provide at least 2 elements for the splits argument")
    _check_weights(weights, values)
    values = values.ravel()
    groups = _ragged_rows(splits, values.size)
    return _sparse_counts(groups, values.astype(np.int64), weights, [splits.size - 1], minlength, maxlength, binary_output)


def _ragged_rows(splits: Array, count: int) -> Array:
    """Return the row of each value; InvalidArgumentError if the splits do not divide `count` values."""
    if not splits.size or splits[0] != 0:
        raise InvalidArgumentError(f"Splits must start with 0, not with {splits.tolist()[:1]}")
    if splits[-1] != count or np.any(splits[1:] < splits[:-1]):
        raise InvalidArgumentError(f"Splits must ascend to the number of values, {count}: {splits.tolist()[:10]}")
    return np.repeat(np.arange(splits.size - 1), np.diff(splits))


count_flops = counted(1, 1, "One addition for each value.")
flops("RaggedCountSparseOutput", "SparseCountSparseOutput")(count_flops)


def _bincounts(groups: Any, rows: int, values: Array, size: int, weights: Array, binary: bool) -> Array:
    """Return counts or sums of weights, (rows, size); values from `size` on, and negative values, are dropped."""
    is_counted = (values >= 0) & (values < size)
    # Each group has its own bins, after those of the group before, so that one count serves all.
    keys = (groups * size + values)[is_counted]
    if not binary:
        # Without values the weights do not count, of whatever number.
        terms = weights.reshape(values.shape)[is_counted] if weights.size and values.size else weights.ravel()[:0]
        return _counts(keys, terms, rows * size, weights.dtype).reshape(rows, size)
    result = np.zeros(rows * size, weights.dtype)
    result[keys] = 1
    return result.reshape(rows, size)


def _check_not_negative(values: Array) -> None:
    require(not values.size or values.min() >= 0, "Input must be non-negative")


@kernel("SparseBincount", gradient=WITHOUT_GRADIENT, flops=count_flops)
def sparse_bincount(
    indices: Array, values: Array, dense_shape: Array, size: Array, weights: Array, *, binary_output: bool
) -> Result:
    """Counts of a sparse vector, (size,), or of each row of a sparse matrix, (rows, size)."""
    count, weights = bin_count(size), np.asarray(weights)
    validate(indices, values, dense_shape)
    # TensorFlow looks at no weights of a matrix without values.
    if values.size or dense_shape.size == 1:
        _check_weights(weights.ravel(), values)
    if np.any(indices < 0) or np.any(indices >= dense_shape):
        raise InvalidArgumentError(f"an index is out of bounds of {dense_shape.tolist()}")
    if dense_shape.size == 1:
        _check_not_negative(values)
        return _bincounts(0, 1, values.astype(np.int64), count, weights, binary_output)[0]
    if dense_shape.size != 2:
        raise InvalidArgumentError(f"the input must be of rank 1 or 2, not {dense_shape.size}")
    # Not checked for negative values, which TensorFlow drops from a matrix and refuses in a vector.
    return _bincounts(indices[:, 0], int(dense_shape[0]), values.astype(np.int64), count, weights, binary_output)


@shape("SparseBincount")
def sparse_bincount_shape(indices: TensorSpec, values: TensorSpec, dense_shape: TensorSpec, size: TensorSpec) -> Shape:
    dims, bins = dims_of(dense_shape), dims_of(size)
    count = bins[0] if bins else None
    if dims is None:
        return UNKNOWN
    require(len(dims) in (1, 2), f"the input must be of rank 1 or 2, not {len(dims)}")
    return Shape([count]) if len(dims) == 1 else Shape([dims[0], count])


@kernel("RaggedBincount", gradient=WITHOUT_GRADIENT, flops=count_flops, shape="n, *, <size> -> n-1 size")
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


@onnx("DenseCountSparseOutput")
def _dense_count_onnx(
    g: Any, values: Any, weights: Any, *, minlength: int, maxlength: int, binary_output: bool
) -> tuple[Any, Any, Any]:
    """Count densely, and return the entries above zero as a sparse tensor."""
    # The 0 gives a bin even to no values, as in `_width`.
    largest = g.ReduceMax(g.Concat(g.reshape(g.cast(values, dtypes.int64), -1), [0], axis=0), [0], keepdims=1)
    width = g.vector(g.constant(maxlength)) if maxlength >= 0 else g.Max(g.Add(largest, 1), minlength)

    def counted(terms: Any, is_binary: bool) -> Any:
        inputs = [values, g.reshape(width, []), terms]
        return g.evaluate(dense_bincount_arrays, (1,), (1,), inputs, {"binary_output": is_binary})

    # An element is any value that occurs: its weights may sum to zero.
    number = counted(g.constant(np.zeros(0), weights.dtype), binary_output)
    places = g.transpose(g.NonZero(g.Greater(number, 0)), [1, 0])
    is_weighted = not binary_output and weights.shape.dims != (0,)
    counts = counted(weights, False) if is_weighted else number
    return places, g.GatherND(counts, places), g.joined(g.slice(g.dims(values), 0, -1), width)


# Counts of dense integers, histograms, buckets, and isotonic regression.


def _counts(keys: Array, weights: Array, size: int, dtype: Any) -> Array:
    """Count each key below `size`, or sum its weights."""
    if not weights.size:
        return np.bincount(keys, minlength=size)[:size].astype(dtype)
    # bincount would add integers in double, which is exact up to 2^53 only.
    if dtype.kind in "iu":
        sums = np.zeros(size, dtype)
        np.add.at(sums, keys, weights)
        return sums
    if dtype.kind == "c":
        real, imaginary = (_counts(keys, part, size, np.dtype(np.float64)) for part in (weights.real, weights.imag))
        return (real + 1j * imaginary).astype(dtype)
    return np.bincount(keys, wide(weights), size)[:size].astype(dtype)


def bin_count(size: Array) -> int:
    """Return the number of bins; InvalidArgumentError for another than a scalar that is not negative."""
    if np.ndim(size):
        raise InvalidArgumentError(f"Shape must be rank 0 but is rank {np.ndim(size)}")
    if size < 0:
        raise InvalidArgumentError(f"size ({size}) must be non-negative")
    return int(size)


def _require_counted(values: Array) -> None:
    if values.size and values.min() < 0:
        raise InvalidArgumentError(f"Input arr must be non-negative! It holds {values.min()}")


@kernel("Bincount", shape="*, <size> -> size", gradient=WITHOUT_GRADIENT, flops=unary_flops(1))
def bincount(arr: Array, size: Array, weights: Array) -> Result:
    """Count the occurrences of each integer in `arr`, or sum their weights, (size,); integers from `size` on are left out."""
    count, flat = bin_count(size), np.ravel(arr)
    require(weights.size in (0, flat.size), "Input indices and weights must have the same size.")
    _require_counted(flat)
    return _bincounts(0, 1, flat, count, weights, False)[0]


@kernel("DenseBincount", gradient=WITHOUT_GRADIENT, flops=unary_flops(1))
def dense_bincount(input: Array, size: Array, weights: Array, *, binary_output: bool) -> Result:
    """Counts of a vector, (size,), or of each row of a matrix, (rows, size)."""
    input, count = np.asarray(input), bin_count(size)
    if input.ndim == 1 and input.size and not weights.size and not binary_output and 0 <= input.min() <= input.max() < count:
        return np.bincount(input, minlength=count).astype(weights.dtype)
    require(input.ndim <= 2, f"Shape must be at most rank 2 but is rank {input.ndim}")
    fits = weights.shape == input.shape or not weights.size
    require(fits, f"`weights` must be the same shape as `arr` or of length 0, not {weights.shape} and {input.shape}")
    _require_counted(input)
    rows = input.shape[0] if input.ndim == 2 else 1
    require(rows * count < 1 << 63, f"counts of {count} values in {rows} rows have too many places")
    result = _bincounts(np.arange(rows)[:, None], rows, np.atleast_2d(input), count, weights, binary_output)
    return result if input.ndim == 2 else result[0]


@shape("DenseBincount")
def dense_bincount_shape(input: TensorSpec, size: TensorSpec) -> Shape:
    if input.rank is None:
        return UNKNOWN
    require(input.rank <= 2, f"Shape must be at most rank 2 but is rank {input.rank}")
    bins = scalar_of(size)
    return Shape([input.shape[0], bins]) if input.rank == 2 else Shape([bins])


# Two clips, a difference, a quotient and a count each.
@kernel("HistogramFixedWidth", gradient=WITHOUT_GRADIENT, flops=unary_flops(5))
def histogram_fixed_width(values: Array, value_range: Array, nbins: Array, *, dtype: DType) -> Result:
    """Count the values in each of `nbins` equal parts of the range, (nbins,); outer parts also count values beyond."""
    require(np.shape(value_range) == (2,), "value_range should be a vector of 2 elements.")
    low, high = value_range
    require(low < high, f"value_range should satisfy value_range[0] < value_range[1], but got '[{low}, {high}]'")
    require(np.ndim(nbins) == 0, "nbins should be a scalar.")
    require(nbins > 0, f"nbins should be a positive number, but got '{nbins}'")
    flat = np.ravel(values)
    require(flat.dtype.kind != "f" or not np.isnan(flat).any(), "Histogram values must not contain NaN")
    step = (float(high) - float(low)) / int(nbins)
    # TensorFlow clips and subtracts in the dtype of the values, and divides in double.
    distances = (np.maximum(flat, low) - low).astype(np.float64) / step
    np.fmax(distances, 0, out=distances)  # 0 for NaN, which the distance to an infinite end is
    places = np.minimum(distances, int(nbins) - 1, out=distances).astype(np.int64)
    return np.bincount(places, minlength=int(nbins)).astype(dtype.numpy)


@shape("HistogramFixedWidth")
def histogram_fixed_width_shape(values: TensorSpec, value_range: TensorSpec, nbins: TensorSpec) -> Shape:
    count = scalar_of(nbins)
    require(count is None or count > 0, f"nbins must be positive, not {count}")
    return Shape([count])


@everywhere("Bucketize", shape="... -> ...", gradient=WITHOUT_GRADIENT, facts=("row_wise",))
def bucketize(xp: Any, x: Any, *, boundaries: list[float]) -> Any:
    """Count the ascending boundaries that are not above each element."""
    # The attribute holds float32, so that a double 0.1 lies below the boundary 0.1.
    limits = np.asarray(boundaries, np.float32)
    require(np.all(limits[1:] >= limits[:-1]), f"Expected sorted boundaries, not {boundaries}")
    if x.dtype != np.float32 and not xp.has_64_bits:
        raise UnimplementedError(f"buckets of {x.dtype} need 64-bit numbers in JAX")
    wide_x = x if x.dtype == np.float32 else x.astype(np.float64)
    return xp.searchsorted(limits.astype(wide_x.dtype), wide_x, side="right")


@flops("Bucketize")
def bucketize_flops(input: TensorSpec, *, boundaries: list[float]) -> Cost:
    """At most: the comparisons of a binary search."""
    return Cost(input.shape.num_elements * len(boundaries).bit_length())


@kernel("IsotonicRegression", shape="... -> ..., ...")
def isotonic_regression(input: Array, *, output_dtype: DType) -> tuple[Result, Result]:
    """Return the nearest descending sequence to each row, and the index of each element's constant part."""
    if not input.size:
        return np.zeros(input.shape, output_dtype.numpy), np.zeros(input.shape, np.int32)
    rows = np.asarray(input).reshape(-1, input.shape[-1] if input.ndim else 1)
    values, segments = np.empty(rows.shape, output_dtype.numpy), np.empty(rows.shape, np.int32)
    for i, row in enumerate(rows):
        values[i], segments[i] = decreasing_fit(row.astype(np.float64).tolist())
    return values.reshape(input.shape), segments.reshape(input.shape)


@flops("IsotonicRegression")
def isotonic_regression_flops(input: TensorSpec) -> Cost:
    """For rising rows, which become a single pool: a comparison and the mean of two pools for each element but the first."""
    return Cost(5 * (input.shape.num_elements - input.shape[:-1].num_elements))


@gradient("IsotonicRegression")
def isotonic_regression_gradient(g: GradientBuilder, node: Node, grad: Output, grad_segments: Output | None) -> Gradients:
    """Give each element the mean gradient of its constant part."""
    (x,) = node.inputs
    shape_ = g.shape_of(x)
    size = g.StridedSlice(shape_, [-1], [0], [1], end_mask=1, shrink_axis_mask=1)
    firsts = g.FloorDiv(g.Range(0, g.Size(x, out_type="int32"), 1), size)
    # The op numbers the parts of each row from 0, and SegmentMean takes one ascending sequence of ids.
    parts = g.AddV2(g.Mul(firsts, size), g.Reshape(node.output(1), [-1]))
    means = g.SegmentMean(g.Reshape(grad, [-1]), parts)
    return [g.Cast(g.Reshape(g.GatherV2(means, parts, 0), shape_), DstT=x.base_dtype)]


@arrays("Bincount", static=(1,), sizes=(1,))
def _bincount_arrays(xp: Any, arr: Any, size: Any, weights: Any) -> Any:
    count = math.prod(arr.shape)
    if _has_weights(weights) and isinstance(count, int):
        require_known_sizes((count,), (math.prod(weights.shape),))
    return _counted_places(xp, arr if arr.ndim == 1 else xp.reshape(arr, (count,)), _bins(size), weights, False)


@arrays("DenseBincount", static=(1,), sizes=(1,))
def dense_bincount_arrays(xp: Any, x: Any, size: Any, weights: Any, *, binary_output: bool) -> Any:
    """Count a vector, or each row of a matrix: its numbers are offset by the row, so that a single count serves all rows."""
    require(x.ndim <= 2, f"Shape must be at most rank 2 but is rank {x.ndim}")
    if not any(isinstance(size, int) and not size for size in weights.shape):
        require_known_sizes(x.shape, weights.shape)
    count = _bins(size)
    if x.ndim < 2:
        return _counted_places(xp, xp.reshape(x, (1,)) if not x.ndim else x, count, weights, binary_output)
    rows, columns = x.shape
    places = xp.where(x < count, x + xp.arange(rows)[:, None] * count, rows * count)
    counts = _counted_places(xp, xp.reshape(places, (rows * columns,)), rows * count, weights, binary_output)
    return xp.reshape(counts, (rows, count))


def _bins(size: Any) -> Any:
    """Return the number of bins: checked, where it is known before the run."""
    return bin_count(size) if isinstance(size, np.ndarray) else size.prod()


def _has_weights(weights: Any) -> bool:
    if not all(isinstance(size, int) for size in weights.shape):
        # Without weights each value counts 1, with them its weight: two programs, and only the size tells which.
        raise UnimplementedError("the presence of weights is unknown")
    return 0 not in weights.shape


def _counted_places(xp: Any, places: Any, count: Any, weights: Any, is_binary: bool) -> Any:
    """Count each of the integers (n,) below `count`, or sum their weights, if any."""
    xp.require((places >= 0).all())
    if is_binary or not _has_weights(weights):
        return xp.grouped(xp.ones_like(places).astype(weights.dtype), places, count, "set" if is_binary else "add")
    return xp.grouped(weights if weights.ndim == 1 else xp.reshape(weights, places.shape), places, count, "add")


@arrays("HistogramFixedWidth", static=(2,))
def _histogram_arrays(xp: Any, values: Any, value_range: Any, nbins: Array, *, dtype: DType) -> Any:
    """Count as the kernel does, in 64 bits."""
    require(value_range.shape == (2,) and nbins.ndim == 0 and nbins > 0, "value_range must be two numbers, nbins positive")
    if not xp.has_64_bits:
        raise UnimplementedError("histograms need 64-bit numbers in JAX")
    low, high = value_range[0], value_range[1]
    xp.require((low < high) & (values == values).all())
    count, flat = int(nbins), xp.reshape(values, (-1,))
    step = (high.astype(np.float64) - low.astype(np.float64)) / count
    distances = (xp.maximum(flat, low) - low).astype(np.float64) / step
    places = xp.minimum(xp.where(distances > 0, distances, 0), count - 1).astype(np.int64)
    return xp.grouped(xp.ones_like(places).astype(dtype.numpy), places, count, "add")
