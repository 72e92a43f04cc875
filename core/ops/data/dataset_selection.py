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
from ._datasets import dataset_kernel, dataset_of, is_stateful, number_in, require_calls, runs_early
from ._datasets import predicate as holding


@dataset_kernel("TakeDataset")
def take_dataset(ctx: KernelContext, input_dataset: Array, count: Array) -> Dataset:
    """The first elements."""
    return filter_take_skip.Take((dataset_of(input_dataset),), number_in(count, "count"))


@dataset_kernel("SkipDataset")
def skip_dataset(ctx: KernelContext, input_dataset: Array, count: Array) -> Dataset:
    """Skip the first `count` elements."""
    return filter_take_skip.Skip((dataset_of(input_dataset),), number_in(count, "count"))


@dataset_kernel("RepeatDataset")
def repeat_dataset(ctx: KernelContext, input_dataset: Array, count: Array) -> Dataset:
    """The elements of several passes."""
    return filter_take_skip.Repeat((dataset_of(input_dataset),), max(-1, number_in(count, "count")))


@dataset_kernel("ShardDataset")
def shard_dataset(
    ctx: KernelContext, input_dataset: Array, num_shards: Array, index: Array, *, require_non_empty: bool
) -> Dataset:
    """Take each `num_shards`-th element, from `index` on."""
    count, place = number_in(num_shards, "num_shards"), number_in(index, "index")
    if count <= 0:
        raise InvalidArgumentError(f"Number of shards must be greater than zero (currently num_shards = {count}).")
    if not 0 <= place < count:
        raise InvalidArgumentError(
            f"Index must be between 0 and {count - 1} (currently index = {place}, num_shards = {count})."
        )
    return filter_take_skip.Shard((dataset_of(input_dataset),), count, place, require_non_empty)


@dataset_kernel("ConcatenateDataset")
def concatenate_dataset(ctx: KernelContext, input_dataset: Array, another_dataset: Array) -> Dataset:
    """Concatenate two datasets."""
    first, second = dataset_of(input_dataset), dataset_of(another_dataset)
    types = [[dtype.base for dtype in source.spec.dtypes] for source in (first, second)]
    if all(types) and types[0] != types[1]:
        raise InvalidArgumentError(f"input dataset and another dataset have different output types: {types[0]}, {types[1]}")
    return filter_take_skip.Concatenate((first, second))


@dataset_kernel("FilterDataset")
def filter_dataset(ctx: KernelContext, input_dataset: Array, captured: list[Any], *, predicate: FuncRef) -> Dataset:
    """Take the elements for which the predicate holds."""
    return _filtered(filter_take_skip.Filter, ctx, input_dataset, captured, predicate)


def _filtered(
    kind: type[filter_take_skip.Filter], ctx: KernelContext, input_dataset: Array, captured: list[Any], predicate: FuncRef
) -> Dataset:
    return kind(
        (dataset_of(input_dataset),),
        holding(ctx, predicate, captured),
        is_stateful=is_stateful(ctx, predicate),
        has_captures=bool(captured),
        runs_early=runs_early(ctx, predicate, captured),
    )


@dataset_kernel("ParallelFilterDataset")
def parallel_filter_dataset(
    ctx: KernelContext, input_dataset: Array, captured: list[Any], num_parallel_calls: Array, *, predicate: FuncRef
) -> Dataset:
    """Take the elements for which the predicate holds, in order."""
    require_calls(num_parallel_calls)
    return _filtered(filter_take_skip.ParallelFilter, ctx, input_dataset, captured, predicate)


@dataset_kernel("FilterByLastComponentDataset")
def filter_by_last_component_dataset(ctx: KernelContext, input_dataset: Array) -> Dataset:
    """Take the elements whose last component is true, without that component."""
    return filter_take_skip.FilterByLast((dataset_of(input_dataset),))


@dataset_kernel("TakeWhileDataset")
def take_while_dataset(ctx: KernelContext, input_dataset: Array, captured: list[Any], *, predicate: FuncRef) -> Dataset:
    """Take the elements before the first for which the predicate fails."""
    return filter_take_skip.TakeWhile((dataset_of(input_dataset),), holding(ctx, predicate, captured))


@dataset_kernel("UniqueDataset")
def unique_dataset(ctx: KernelContext, input_dataset: Array) -> Dataset:
    """Each element once."""
    source = dataset_of(input_dataset)
    if len(source.spec.dtypes) != 1:
        raise InvalidArgumentError("UniqueDataset only supports inputs with a single component.")
    if source.spec.dtypes[0].base.name not in ("int32", "int64", "string"):
        raise InvalidArgumentError(f"UniqueDataset only supports int32, int64 and string, not {source.spec.dtypes[0]}.")
    return filter_take_skip.Unique((source,))


@dataset_kernel("AssertCardinalityDataset")
def assert_cardinality_dataset(ctx: KernelContext, input_dataset: Array, cardinality: Array) -> Dataset:
    """The same elements, held to their number."""
    return filter_take_skip.AssertCardinality((dataset_of(input_dataset),), number_in(cardinality, "cardinality"))


@dataset_kernel("SamplingDataset")
def sampling_dataset(ctx: KernelContext, input_dataset: Array, rate: Array, seed: Array, seed2: Array) -> Dataset:
    """Each element with the same probability."""
    seeds = seeds_of(ctx, number_in(seed, "seed"), number_in(seed2, "seed2"))
    return Sampling((dataset_of(input_dataset),), float(np.float32(rate)), seeds)


@dataset_kernel("DirectedInterleaveDataset")
def directed_interleave_dataset(
    ctx: KernelContext, selector_input_dataset: Array, data_input_datasets: list[Array], *, stop_on_empty_dataset: bool = False
) -> Dataset:
    """Take an element of the dataset whose number is the selector's next element."""
    selector, inputs = dataset_of(selector_input_dataset), [dataset_of(value) for value in data_input_datasets]
    if selector.spec.dtypes not in ((), (int64,)):
        raise InvalidArgumentError("The selector input must be a dataset of scalar int64 elements.")
    return DirectedInterleave((selector, *inputs), stop_on_empty_dataset)


facts("random", of=["SamplingDataset"])
