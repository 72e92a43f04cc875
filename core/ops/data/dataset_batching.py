"""Datasets of batches and windows, and their inverses."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ...datasets import batches
from ...datasets.dataset import Dataset, array_of
from ...runtime.state.kernel_context import KernelContext
from ...support.errors import InvalidArgumentError
from ...types.arrays import Array
from ...types.dtypes import DType
from ._datasets import Calls, Flag, Positive, dataset_kernel

_BATCH: Final = {"batch_size": "Batch size"}
_WINDOW: Final = {"size": "Window size", "shift": "Window shift", "stride": "Window stride"}


@dataset_kernel("BatchDataset", "BatchDatasetV2", called=_BATCH)
def batch_dataset(ctx: KernelContext, input_dataset: Dataset, batch_size: Positive, drop_remainder: Flag = False) -> Dataset:
    """Batch `batch_size` elements at a time."""
    return batches.Batch((input_dataset,), batch_size, drop_remainder)


@dataset_kernel("ParallelBatchDataset", called=_BATCH)
def parallel_batch_dataset(
    ctx: KernelContext, input_dataset: Dataset, batch_size: Positive, num_parallel_calls: Calls, drop_remainder: Flag
) -> Dataset:
    """Batch `batch_size` elements at a time."""
    return batches.ParallelBatch((input_dataset,), batch_size, drop_remainder)


@dataset_kernel("PaddedBatchDataset", "PaddedBatchDatasetV2", called=_BATCH)
def padded_batch_dataset(
    ctx: KernelContext,
    input_dataset: Dataset,
    batch_size: Positive,
    padded_shapes: list[Array],
    padding_values: list[Any],
    drop_remainder: Flag = False,
    *,
    Toutput_types: list[DType],
) -> Dataset:
    """Batch `batch_size` elements at a time, padded to a common size."""
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
    # A dataset of unknown components has none here, and its elements are checked as they come.
    given = input_dataset.spec.dtypes
    if given and len(given) != len(shapes):
        raise InvalidArgumentError(
            f"Number of padded shapes ({len(shapes)}) must match the number of components in the input dataset's elements "
            f"({len(given)})"
        )
    return batches.PaddedBatch((input_dataset,), batch_size, drop_remainder, shapes, padding)


@dataset_kernel("UnbatchDataset")
def unbatch_dataset(ctx: KernelContext, input_dataset: Dataset) -> Dataset:
    """The slices of elements along their first dimension."""
    return batches.Unbatch((input_dataset,))


@dataset_kernel("RebatchDatasetV2")
def rebatch_dataset_v2(ctx: KernelContext, input_dataset: Dataset, batch_sizes: Array, drop_remainder: Flag) -> Dataset:
    """The rows of elements in batches of other sizes."""
    if np.ndim(batch_sizes) > 1:
        raise InvalidArgumentError("`batch_sizes` must be a scalar or a vector.")
    sizes = np.ravel(batch_sizes).tolist()
    # Single sizes may be 0, and give empty batches between the others; with all of them 0 a pass would never end.
    if not sizes or min(sizes) < 0 or not any(sizes):
        raise InvalidArgumentError(f"`batch_sizes` must be sizes of at least one element, not {sizes}")
    return batches.Rebatch((input_dataset,), sizes, drop_remainder)


@dataset_kernel("RebatchDataset")
def rebatch_dataset(ctx: KernelContext, input_dataset: Dataset, num_replicas: Positive) -> Dataset:
    """Split each batch into `num_replicas` parts."""
    return batches.LegacyRebatch((input_dataset,), num_replicas)


@dataset_kernel("DenseToSparseBatchDataset", called=_BATCH)
def dense_to_sparse_batch_dataset(
    ctx: KernelContext,
    input_dataset: Dataset,
    batch_size: Positive,
    row_shape: Array,
) -> Dataset:
    """Batches of tensors of different sizes as sparse tensors."""
    if np.ndim(row_shape) != 1:
        raise InvalidArgumentError("row_shape must be a vector")
    if np.any(row_shape < -1):
        raise InvalidArgumentError(f"Dimension {row_shape.min()} must be >= -1")
    if len(input_dataset.spec.dtypes) != 1:
        raise InvalidArgumentError("DenseToSparseBatchDataset only supports inputs with a single component.")
    return batches.DenseToSparseBatch((input_dataset,), batch_size, row_shape.tolist())


@dataset_kernel("WindowDataset", called=_WINDOW)
def window_dataset(
    ctx: KernelContext, input_dataset: Dataset, size: Positive, shift: Positive, stride: Positive, drop_remainder: Flag
) -> Dataset:
    """Windows over elements, each a dataset."""
    return batches.Window((input_dataset,), size, shift, stride, drop_remainder)


@dataset_kernel("SlidingWindowDataset", called={f"window_{name}": said for name, said in _WINDOW.items()})
def sliding_window_dataset(
    ctx: KernelContext,
    input_dataset: Dataset,
    window_size: Positive,
    window_shift: Positive,
    window_stride: Positive,
    *,
    drop_remainder: bool = True,
) -> Dataset:
    """Windows over elements, each a batch."""
    return batches.SlidingWindow((input_dataset,), window_size, window_shift, window_stride, drop_remainder)
