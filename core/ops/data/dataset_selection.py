"""Datasets of selected elements: taken, skipped, repeated, filtered, concatenated, cached."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...datasets import filter_take_skip
from ...datasets.dataset import Dataset
from ...datasets.mapping import DirectedInterleave, Sampling
from ...datasets.seeds import seeds_of
from ...registry.registry import facts
from ...runtime.state.kernel_context import KernelContext
from ...support.errors import InvalidArgumentError
from ...types.arrays import Array
from ...types.dtypes import int64
from ...types.tensors import FuncRef
from ._datasets import Calls, Number, dataset_kernel, is_stateful, runs_early
from ._datasets import predicate as holding


@dataset_kernel("TakeDataset")
def take_dataset(ctx: KernelContext, input_dataset: Dataset, count: Number) -> Dataset:
    """The first elements."""
    return filter_take_skip.Take((input_dataset,), count)


@dataset_kernel("SkipDataset")
def skip_dataset(ctx: KernelContext, input_dataset: Dataset, count: Number) -> Dataset:
    """Skip the first `count` elements."""
    return filter_take_skip.Skip((input_dataset,), count)


@dataset_kernel("RepeatDataset")
def repeat_dataset(ctx: KernelContext, input_dataset: Dataset, count: Number) -> Dataset:
    """The elements of several passes."""
    # Any negative count means without end.
    return filter_take_skip.Repeat((input_dataset,), max(-1, count))


@dataset_kernel("ShardDataset")
def shard_dataset(
    ctx: KernelContext, input_dataset: Dataset, num_shards: Number, index: Number, *, require_non_empty: bool
) -> Dataset:
    """Take each `num_shards`-th element, from `index` on."""
    if num_shards <= 0:
        raise InvalidArgumentError(f"Number of shards must be greater than zero (currently num_shards = {num_shards}).")
    if not 0 <= index < num_shards:
        raise InvalidArgumentError(
            f"Index must be between 0 and {num_shards - 1} (currently index = {index}, num_shards = {num_shards})."
        )
    return filter_take_skip.Shard((input_dataset,), num_shards, index, require_non_empty)


@dataset_kernel("ConcatenateDataset")
def concatenate_dataset(ctx: KernelContext, input_dataset: Dataset, another_dataset: Dataset) -> Dataset:
    """Concatenate two datasets."""
    types = [[dtype.base for dtype in source.spec.dtypes] for source in (input_dataset, another_dataset)]
    # Without types a dataset may hold anything, and its elements are looked at as they come.
    if all(types) and types[0] != types[1]:
        raise InvalidArgumentError(f"input dataset and another dataset have different output types: {types[0]}, {types[1]}")
    return filter_take_skip.Concatenate((input_dataset, another_dataset))


@dataset_kernel("FilterDataset")
def filter_dataset(ctx: KernelContext, input_dataset: Dataset, captured: list[Any], *, predicate: FuncRef) -> Dataset:
    """Take the elements for which the predicate holds."""
    return _filtered(filter_take_skip.Filter, ctx, input_dataset, captured, predicate)


def _filtered(
    kind: type[filter_take_skip.Filter], ctx: KernelContext, input_dataset: Dataset, captured: list[Any], predicate: FuncRef
) -> Dataset:
    return kind(
        (input_dataset,),
        holding(ctx, predicate, captured),
        is_stateful=is_stateful(ctx, predicate),
        has_captures=bool(captured),
        runs_early=runs_early(ctx, predicate, captured),
    )


@dataset_kernel("ParallelFilterDataset")
def parallel_filter_dataset(
    ctx: KernelContext, input_dataset: Dataset, captured: list[Any], num_parallel_calls: Calls, *, predicate: FuncRef
) -> Dataset:
    """Take the elements for which the predicate holds, in order."""
    return _filtered(filter_take_skip.ParallelFilter, ctx, input_dataset, captured, predicate)


@dataset_kernel("FilterByLastComponentDataset")
def filter_by_last_component_dataset(ctx: KernelContext, input_dataset: Dataset) -> Dataset:
    """Take the elements whose last component is true, without that component."""
    return filter_take_skip.FilterByLast((input_dataset,))


@dataset_kernel("TakeWhileDataset")
def take_while_dataset(ctx: KernelContext, input_dataset: Dataset, captured: list[Any], *, predicate: FuncRef) -> Dataset:
    """Take the elements before the first for which the predicate fails."""
    return filter_take_skip.TakeWhile((input_dataset,), holding(ctx, predicate, captured))


@dataset_kernel("UniqueDataset")
def unique_dataset(ctx: KernelContext, input_dataset: Dataset) -> Dataset:
    """Each element once."""
    types = input_dataset.spec.dtypes
    if len(types) != 1:
        raise InvalidArgumentError("UniqueDataset only supports inputs with a single component.")
    if types[0].base.name not in ("int32", "int64", "string"):
        raise InvalidArgumentError(f"UniqueDataset only supports int32, int64 and string, not {types[0]}.")
    return filter_take_skip.Unique((input_dataset,))


@dataset_kernel("AssertCardinalityDataset")
def assert_cardinality_dataset(ctx: KernelContext, input_dataset: Dataset, cardinality: Number) -> Dataset:
    """Return the same elements; an error if their number is not `cardinality`."""
    return filter_take_skip.AssertCardinality((input_dataset,), cardinality)


@dataset_kernel("SamplingDataset")
def sampling_dataset(ctx: KernelContext, input_dataset: Dataset, rate: Array, seed: Number, seed2: Number) -> Dataset:
    """Each element with the same probability."""
    seeds = seeds_of(ctx, seed, seed2)
    # The rate is rounded to float32, in which TensorFlow compares it with its samples.
    return Sampling((input_dataset,), float(np.float32(rate)), seeds)


@dataset_kernel("DirectedInterleaveDataset")
def directed_interleave_dataset(
    ctx: KernelContext,
    selector_input_dataset: Dataset,
    data_input_datasets: list[Dataset],
    *,
    stop_on_empty_dataset: bool = False,
) -> Dataset:
    """Take an element of the dataset whose number is the selector's next element."""
    # A selector without types is asked element by element.
    if selector_input_dataset.spec.dtypes not in ((), (int64,)):
        raise InvalidArgumentError("The selector input must be a dataset of scalar int64 elements.")
    return DirectedInterleave((selector_input_dataset, *data_input_datasets), stop_on_empty_dataset)


facts("random", of=["SamplingDataset"])
