"""Datasets that leave elements as they are: options, assertions, advice about threads and statistics."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from ...datasets import run_options
from ...datasets.choose_fastest import ChooseFastestBranch
from ...datasets.dataset import Dataset
from ...datasets.worker_shards import part_of
from ...functions.callers import function_references
from ...registry.op_facts import has_fact
from ...registry.registry import facts, kernel, not_differentiable, shape, zero_flops
from ...runtime.state.edge_values import scalar_object
from ...runtime.state.kernel_context import KernelContext
from ...runtime.state.resources import Shared
from ...support.errors import InvalidArgumentError
from ...types.arrays import Array
from ...types.shapes import SCALAR, Shape
from ...types.tensors import FuncRef
from ..io._event_writer import WriterResource
from ..shared.plain_shapes import no_outputs_shape, scalar_shape
from ..shared.resource_access import named, resource
from ._datasets import dataset_function, dataset_kernel, dataset_of, number_in, positive_in, texts_in, with_twins


@dataset_kernel("OptionsDataset")
def options_dataset(ctx: KernelContext, input_dataset: Array, *, serialized_options: str) -> Dataset:
    """The same elements, with options."""
    return run_options.Options((dataset_of(input_dataset),), serialized_options.encode("utf-8", "surrogateescape"))


@dataset_kernel("PrefetchDataset")
def prefetch_dataset(ctx: KernelContext, input_dataset: Array, buffer_size: Array) -> Dataset:
    """The same elements, prepared ahead."""
    size = number_in(buffer_size, "buffer_size")
    if size < -1:
        raise InvalidArgumentError("buffer_size must be >= 0 or set buffer_size to be -1 for auto-tuning")
    return run_options.Prefetch((dataset_of(input_dataset),), size)


def _transformations(value: Array) -> list[str]:
    return [text.decode("utf-8", "replace") for text in texts_in(value, "transformations")]


@dataset_kernel("AssertNextDataset")
def assert_next_dataset(ctx: KernelContext, input_dataset: Array, transformations: Array) -> Dataset:
    """Return the same elements; the following transformations must have the given names."""
    return run_options.AssertNext((dataset_of(input_dataset),), _transformations(transformations))


@dataset_kernel("AssertPrevDataset")
def assert_prev_dataset(ctx: KernelContext, input_dataset: Array, transformations: Array) -> Dataset:
    """Return the same elements; the preceding transformations must have the given names."""
    return run_options.AssertPrev((dataset_of(input_dataset),), _transformations(transformations))


@dataset_kernel("IgnoreErrorsDataset")
def ignore_errors_dataset(ctx: KernelContext, input_dataset: Array) -> Dataset:
    """The elements that do not fail."""
    return run_options.IgnoreErrors((dataset_of(input_dataset),))


@dataset_kernel("SleepDataset")
def sleep_dataset(ctx: KernelContext, input_dataset: Array, sleep_microseconds: Array) -> Dataset:
    """The same elements, each after a pause."""
    return run_options.Sleep((dataset_of(input_dataset),), max(0, number_in(sleep_microseconds, "sleep_microseconds")))


@dataset_kernel(
    "ModelDataset", "OptimizeDataset", "OptimizeDatasetV2", "NonSerializableDataset", "FinalizeDataset", "RewriteDataset",
    "BytesProducedStatsDataset", "LatencyStatsDataset", "SetStatsAggregatorDataset", "ThreadPoolDataset",
)  # fmt: skip
def advice_dataset(ctx: KernelContext, input_dataset: Array, *others: Any) -> Dataset:
    """Return the same elements: the advice concerns TensorFlow's threads only."""
    return run_options.Advice((dataset_of(input_dataset),), ctx.node.op.removeprefix("Experimental").partition("Dataset")[0])


@dataset_kernel("AutoShardDataset")
def auto_shard_dataset(
    ctx: KernelContext, input_dataset: Array, num_workers: Array, index: Array, *, auto_shard_policy: int
) -> Dataset:
    """A worker's part of the files, or of the elements."""
    count, place = number_in(num_workers, "num_workers"), number_in(index, "index")
    if count < 1 or not 0 <= place < count:
        raise InvalidArgumentError(f"num_workers must be >= 1 and index from 0 to num_workers - 1, not {count} and {place}")
    part = part_of(dataset_of(input_dataset), count, place, auto_shard_policy, _reads_files)
    return run_options.Advice((part,), "AutoShard")


def _reads_files(dataset: Dataset) -> bool:
    """Return True where a function of the dataset reads files named by elements."""
    origin = dataset.origin
    if origin is None or not dataset.inputs:
        return False
    functions = (origin.library.function(f.name) for f in function_references(origin.node))
    return any(has_fact(node.op, "reads_files") for function in functions for node in function.body)


@dataset_kernel("PrivateThreadPoolDataset", "MaxIntraOpParallelismDataset")
def thread_limit_dataset(ctx: KernelContext, input_dataset: Array, count: Array) -> Dataset:
    """Return the same elements: the run's own number of threads holds."""
    if number_in(count, "the number of threads") < 0:
        raise InvalidArgumentError("`num_threads` and `max_intra_op_parallelism` must be >= 0")
    return advice_dataset(ctx, input_dataset)


class ThreadPoolResource(Shared):
    """A resource for TensorFlow's threads or for statistics: named by graphs, unused by runs of tfg."""


@kernel("ThreadPoolHandle", "ExperimentalThreadPoolHandle")
def thread_pool_handle(ctx: KernelContext, *, num_threads: int, container: str, shared_name: str) -> Any:
    """The handle of a pool of threads."""
    if num_threads <= 0:
        raise InvalidArgumentError("`num_threads` must be greater than zero.")
    return named(ctx, container, shared_name, ThreadPoolResource, ThreadPoolResource)


@kernel("StatsAggregatorHandle", "StatsAggregatorHandleV2", "ExperimentalStatsAggregatorHandle")
def stats_aggregator_handle(ctx: KernelContext, *, container: str, shared_name: str) -> Any:
    """Return the handle of a collector of statistics."""
    return named(ctx, container, shared_name, ThreadPoolResource, ThreadPoolResource)


@kernel(*with_twins("StatsAggregatorSummary"))
def stats_aggregator_summary(iterator: Any) -> Array:
    """Return the Summary of the statistics: empty, as tfg collects none."""
    resource(iterator, ThreadPoolResource)
    return scalar_object(b"")


@kernel("StatsAggregatorSetSummaryWriter")
def stats_aggregator_set_summary_writer(stats_aggregator: Any, summary: Any) -> None:
    """Nothing but to look for the writer: where there are no statistics, none are written."""
    resource(stats_aggregator, ThreadPoolResource)
    resource(summary, WriterResource).writer()


shape("StatsAggregatorSetSummaryWriter")(no_outputs_shape)
shape(*with_twins("StatsAggregatorSummary"))(scalar_shape)


@dataset_kernel("ChooseFastestDataset")
def choose_fastest_dataset(ctx: KernelContext, input_datasets: list[Array]) -> Dataset:
    """The first of several datasets that give the same elements."""
    first, *others = map(dataset_of, input_datasets)
    for other in others:
        first.spec.require(other.spec)
    return run_options.Advice((first, *others), "ChooseFastest")


@dataset_kernel("ChooseFastestBranchDataset")
def choose_fastest_branch_dataset(
    ctx: KernelContext,
    input_dataset: Array,
    ratio_numerator: Array,
    ratio_denominator: Array,
    captured: list[Any],
    *,
    num_elements_per_branch: int,
    branches: list[FuncRef],
    other_arguments_lengths: list[int],
) -> Dataset:
    """Apply one of several functions to a dataset."""
    ratio = positive_in(ratio_numerator, "`ratio_numerator`"), positive_in(ratio_denominator, "`ratio_denominator`")
    if num_elements_per_branch % ratio[1]:
        raise InvalidArgumentError("`num_elements_per_branch` must be divisible by `ratio_denominator`.")
    if len(branches) != len(other_arguments_lengths):
        raise InvalidArgumentError("branches and other_arguments_lengths must have the same length.")
    ends = itertools.accumulate(other_arguments_lengths)
    parts = [captured[end - count : end] for end, count in zip(ends, other_arguments_lengths)]
    calls = [_branch(ctx, function, part) for function, part in zip(branches, parts)]
    return ChooseFastestBranch((dataset_of(input_dataset),), calls, num_elements_per_branch, ratio)


def _branch(ctx: KernelContext, function: FuncRef, captured: list[Any]) -> Callable[[Dataset], Dataset]:
    """Return a function of the graph that makes a dataset of a dataset."""
    run = dataset_function(ctx, function, captured)
    return lambda dataset: run([scalar_object(dataset)])


@shape("ThreadPoolHandle", "ExperimentalThreadPoolHandle")
@shape("StatsAggregatorHandle", "StatsAggregatorHandleV2", "ExperimentalStatsAggregatorHandle")
def handle_shape() -> Shape:
    return SCALAR


_HANDLES = (
    "ThreadPoolHandle", "ExperimentalThreadPoolHandle", "StatsAggregatorHandle", "StatsAggregatorHandleV2",
    "ExperimentalStatsAggregatorHandle", "StatsAggregatorSetSummaryWriter", *with_twins("StatsAggregatorSummary"),
)  # fmt: skip
not_differentiable(*_HANDLES)
zero_flops(*_HANDLES)
facts("side_effect", of=("StatsAggregatorSetSummaryWriter",))
facts("summary", of=with_twins("StatsAggregatorSummary"))
facts("observes_pipeline", of=with_twins("AssertNextDataset", "AssertPrevDataset", "AutoShardDataset"))
