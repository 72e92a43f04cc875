"""Datasets of batches and windows, and their inverses."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...datasets import batches, windows_and_groups
from ...datasets.dataset import Dataset, array_of
from ...runtime.state.kernel_context import KernelContext
from ...support.errors import InvalidArgumentError
from ...types.arrays import Array
from ...types.dtypes import DType
from ._datasets import dataset_kernel, dataset_of, flag_in, positive_in, require_calls


@dataset_kernel("BatchDataset", "BatchDatasetV2")
def batch_dataset(ctx: KernelContext, input_dataset: Array, batch_size: Array, drop_remainder: Any = False) -> Dataset:
    """Batch `batch_size` elements at a time."""
    size, drops = positive_in(batch_size, "Batch size"), flag_in(drop_remainder, "drop_remainder")
    return batches.Batch((dataset_of(input_dataset),), size, drops)


@dataset_kernel("ParallelBatchDataset")
def parallel_batch_dataset(
    ctx: KernelContext, input_dataset: Array, batch_size: Array, num_parallel_calls: Array, drop_remainder: Array
) -> Dataset:
    """Batch `batch_size` elements at a time."""
    require_calls(num_parallel_calls)
    size, drops = positive_in(batch_size, "Batch size"), flag_in(drop_remainder, "drop_remainder")
    return batches.ParallelBatch((dataset_of(input_dataset),), size, drops)


@dataset_kernel("PaddedBatchDataset", "PaddedBatchDatasetV2")
def padded_batch_dataset(
    ctx: KernelContext,
    input_dataset: Array,
    batch_size: Array,
    padded_shapes: list[Array],
    padding_values: list[Any],
    drop_remainder: Any = False,
    *,
    Toutput_types: list[DType],
) -> Dataset:
    """Batch `batch_size` elements at a time, padded to a common size."""
    size = positive_in(batch_size, "Batch size")
    padding = tuple(map(array_of, padding_values))
    if len(padded_shapes) != len(padding):
        raise InvalidArgumentError(f"{len(padded_shapes)} padded shapes do not fit {len(padding)} padding values")
    for value, dtype in zip(padding, Toutput_types):
        if value.ndim:
            raise InvalidArgumentError("All padding values must be scalars")
        if value.dtype != dtype.numpy:
            raise InvalidArgumentError(f"A padding value is {value.dtype}, its component {dtype}")
    for shape in padded_shapes:
        if shape.ndim != 1 or (shape < -1).any():
            raise InvalidArgumentError("All padded shapes must be vectors of sizes, -1 for one that is unknown")
    shapes = [shape.tolist() for shape in padded_shapes]
    source = dataset_of(input_dataset)
    if source.spec.dtypes and len(source.spec.dtypes) != len(shapes):
        raise InvalidArgumentError(
            f"Number of padded shapes ({len(shapes)}) must match the number of components in the input dataset's elements "
            f"({len(source.spec.dtypes)})"
        )
    return batches.PaddedBatch((source,), size, flag_in(drop_remainder, "drop_remainder"), shapes, padding)


@dataset_kernel("UnbatchDataset")
def unbatch_dataset(ctx: KernelContext, input_dataset: Array) -> Dataset:
    """The slices of elements along their first dimension."""
    return batches.Unbatch((dataset_of(input_dataset),))


@dataset_kernel("RebatchDatasetV2")
def rebatch_dataset_v2(ctx: KernelContext, input_dataset: Array, batch_sizes: Array, drop_remainder: Array) -> Dataset:
    """The rows of elements in batches of other sizes."""
    if np.ndim(batch_sizes) > 1:
        raise InvalidArgumentError("`batch_sizes` must be a scalar or a vector.")
    sizes = np.ravel(batch_sizes).tolist()
    if not sizes or min(sizes) < 0 or not any(sizes):
        raise InvalidArgumentError(f"`batch_sizes` must be sizes of at least one element, not {sizes}")
    return batches.Rebatch((dataset_of(input_dataset),), sizes, flag_in(drop_remainder, "drop_remainder"))


@dataset_kernel("RebatchDataset")
def rebatch_dataset(ctx: KernelContext, input_dataset: Array, num_replicas: Array) -> Dataset:
    """Split each batch into `num_replicas` parts."""
    return batches.LegacyRebatch((dataset_of(input_dataset),), positive_in(num_replicas, "num_replicas"))


@dataset_kernel("DenseToSparseBatchDataset")
def dense_to_sparse_batch_dataset(ctx: KernelContext, input_dataset: Array, batch_size: Array, row_shape: Array) -> Dataset:
    """Batches of tensors of different sizes as sparse tensors."""
    if np.ndim(row_shape) != 1:
        raise InvalidArgumentError("row_shape must be a vector")
    if np.any(row_shape < -1):
        raise InvalidArgumentError(f"Dimension {row_shape.min()} must be >= -1")
    source = dataset_of(input_dataset)
    if len(source.spec.dtypes) != 1:
        raise InvalidArgumentError("DenseToSparseBatchDataset only supports inputs with a single component.")
    return batches.DenseToSparseBatch((source,), positive_in(batch_size, "Batch size"), row_shape.tolist())


@dataset_kernel("WindowDataset")
def window_dataset(
    ctx: KernelContext, input_dataset: Array, size: Array, shift: Array, stride: Array, drop_remainder: Array
) -> Dataset:
    """Windows over elements, each a dataset."""
    sizes = (positive_in(size, "Window size"), positive_in(shift, "Window shift"), positive_in(stride, "Window stride"))
    return windows_and_groups.Window((dataset_of(input_dataset),), *sizes, flag_in(drop_remainder, "drop_remainder"))


@dataset_kernel("SlidingWindowDataset")
def sliding_window_dataset(
    ctx: KernelContext,
    input_dataset: Array,
    window_size: Array,
    window_shift: Array,
    window_stride: Array,
    *,
    drop_remainder: bool = True,
) -> Dataset:
    """Windows over elements, each a batch."""
    sizes = (
        positive_in(window_size, "Window size"),
        positive_in(window_shift, "Window shift"),
        positive_in(window_stride, "Window stride"),
    )
    return windows_and_groups.SlidingWindow((dataset_of(input_dataset),), *sizes, drop_remainder)
