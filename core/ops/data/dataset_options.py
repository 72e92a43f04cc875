"""Datasets that leave elements as they are: options, assertions, advice about threads and statistics."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from ...datasets import run_options
from ...datasets.dataset import Dataset
from ...datasets.filter_take_skip import ChooseFastestBranch, part_of
from ...graph.callers import function_references
from ...registry.op_facts import has_fact
from ...registry.registry import kernel
from ...runtime.state.edge_values import scalar_object
from ...runtime.state.kernel_context import KernelContext
from ...runtime.state.resources import Shared
from ...support.errors import InvalidArgumentError
from ...types.arrays import Array
from ...types.tensors import FuncRef
from ..io.summaries import WriterResource
from ..shared.resource_access import creates_handle, named, resource
from ._datasets import GraphFunction, Number, Positive, Texts, dataset_kernel, with_twins


@dataset_kernel("OptionsDataset")
def options_dataset(ctx: KernelContext, input_dataset: Dataset, *, serialized_options: str) -> Dataset:
    """The same elements, with options."""
    # The attribute is a serialized message: the graph holds bytes as text, and those that are no UTF-8 as surrogates.
    return run_options.Options((input_dataset,), serialized_options.encode("utf-8", "surrogateescape"))


@dataset_kernel("PrefetchDataset")
def prefetch_dataset(ctx: KernelContext, input_dataset: Dataset, buffer_size: Number) -> Dataset:
    """The same elements, prepared ahead."""
    if buffer_size < -1:
        raise InvalidArgumentError("buffer_size must be >= 0 or set buffer_size to be -1 for auto-tuning")
    return run_options.Prefetch((input_dataset,), buffer_size)


def _decoded(transformations: Texts) -> list[str]:
    # All names of transformations are ASCII: other bytes equal none of them, and only have to stand in the error.
    return [text.decode("utf-8", "replace") for text in transformations]


@dataset_kernel("AssertNextDataset", facts=("observes_pipeline",))
def assert_next_dataset(ctx: KernelContext, input_dataset: Dataset, transformations: Texts) -> Dataset:
    """Return the same elements; the following transformations must have the given names."""
    return run_options.AssertNext((input_dataset,), _decoded(transformations))


@dataset_kernel("AssertPrevDataset", facts=("observes_pipeline",))
def assert_prev_dataset(ctx: KernelContext, input_dataset: Dataset, transformations: Texts) -> Dataset:
    """Return the same elements; the preceding transformations must have the given names."""
    return run_options.AssertPrev((input_dataset,), _decoded(transformations))


@dataset_kernel("IgnoreErrorsDataset")
def ignore_errors_dataset(ctx: KernelContext, input_dataset: Dataset) -> Dataset:
    """The elements that do not fail."""
    return run_options.IgnoreErrors((input_dataset,))


@dataset_kernel("SleepDataset")
def sleep_dataset(ctx: KernelContext, input_dataset: Dataset, sleep_microseconds: Number) -> Dataset:
    """The same elements, each after a pause."""
    if sleep_microseconds < 0:
        raise InvalidArgumentError(f"`sleep_microseconds` must be >= 0, not {sleep_microseconds}")
    return run_options.Sleep((input_dataset,), sleep_microseconds)


@dataset_kernel(
    "ModelDataset", "OptimizeDataset", "OptimizeDatasetV2", "NonSerializableDataset", "FinalizeDataset", "RewriteDataset",
    "BytesProducedStatsDataset", "LatencyStatsDataset", "SetStatsAggregatorDataset", "ThreadPoolDataset",
)  # fmt: skip
def advice_dataset(ctx: KernelContext, input_dataset: Dataset, *others: Any) -> Dataset:
    """Return the same elements: the advice concerns TensorFlow's threads only."""
    return run_options.Advice((input_dataset,), ctx.node.op.removeprefix("Experimental").partition("Dataset")[0])


@dataset_kernel("AutoShardDataset", facts=("observes_pipeline",))
def auto_shard_dataset(
    ctx: KernelContext, input_dataset: Dataset, num_workers: Number, index: Number, *, auto_shard_policy: int
) -> Dataset:
    """A worker's part of the files, or of the elements."""
    if num_workers < 1 or not 0 <= index < num_workers:
        raise InvalidArgumentError(
            f"num_workers must be >= 1 and index from 0 to num_workers - 1, not {num_workers} and {index}"
        )
    part = part_of(input_dataset, num_workers, index, auto_shard_policy, _reads_files)
    return run_options.Advice((part,), "AutoShard")


def _reads_files(dataset: Dataset) -> bool:
    """Return True if a function of the dataset reads files named by elements."""
    origin = dataset.origin
    if origin is None or not dataset.inputs:
        return False
    functions = (origin.library.function(f.name) for f in function_references(origin.node))
    return any(has_fact(node.op, "reads_files") for function in functions for node in function.body)


@dataset_kernel("PrivateThreadPoolDataset", "MaxIntraOpParallelismDataset", called={"count": "the number of threads"})
def thread_limit_dataset(ctx: KernelContext, input_dataset: Dataset, count: Number) -> Dataset:
    """Return the same elements: the run's own number of threads holds."""
    if count < 0:
        raise InvalidArgumentError("`num_threads` and `max_intra_op_parallelism` must be >= 0")
    return advice_dataset(ctx, input_dataset)


class ThreadPoolResource(Shared):
    """A resource for TensorFlow's threads or for statistics: named by graphs, unused by runs of tfg."""

    def __init__(self, name: str) -> None:
        self.name = name


@kernel("ThreadPoolHandle", "ExperimentalThreadPoolHandle", shape="-> ()", arithmetic=False)
def thread_pool_handle(ctx: KernelContext, *, num_threads: int) -> Any:
    """The handle of a pool of threads."""
    if num_threads <= 0:
        raise InvalidArgumentError("`num_threads` must be greater than zero.")
    return named(ctx, ThreadPoolResource, ThreadPoolResource)


creates_handle(
    "StatsAggregatorHandle", "StatsAggregatorHandleV2", "ExperimentalStatsAggregatorHandle", kind=ThreadPoolResource
)


@kernel(*with_twins("StatsAggregatorSummary"), shape="-> ()", facts=("summary",), arithmetic=False)
def stats_aggregator_summary(iterator: Any) -> Array:
    """Return the Summary of the statistics: empty, as tfg collects none."""
    resource(iterator, ThreadPoolResource)
    return scalar_object(b"")


@kernel("StatsAggregatorSetSummaryWriter", facts=("side_effect",), arithmetic=False)
def stats_aggregator_set_summary_writer(stats_aggregator: Any, summary: Any) -> None:
    """Nothing but to look for the writer: where there are no statistics, none are written."""
    resource(stats_aggregator, ThreadPoolResource)
    resource(summary, WriterResource).writer()


@dataset_kernel("ChooseFastestDataset")
def choose_fastest_dataset(ctx: KernelContext, input_datasets: list[Dataset]) -> Dataset:
    """The first of several datasets that give the same elements."""
    # TensorFlow times the datasets and goes on with the fastest; their elements are supposed to be equal.
    first, *others = input_datasets
    for other in others:
        first.spec.require(other.spec)
    return run_options.Advice((first, *others), "ChooseFastest")


@dataset_kernel("ChooseFastestBranchDataset", called={name: f"`{name}`" for name in ("ratio_numerator", "ratio_denominator")})
def choose_fastest_branch_dataset(
    ctx: KernelContext,
    input_dataset: Dataset,
    ratio_numerator: Positive,
    ratio_denominator: Positive,
    captured: list[Any],
    *,
    num_elements_per_branch: int,
    branches: list[FuncRef],
    other_arguments_lengths: list[int],
) -> Dataset:
    """Apply one of several functions to a dataset."""
    if num_elements_per_branch % ratio_denominator:
        raise InvalidArgumentError("`num_elements_per_branch` must be divisible by `ratio_denominator`.")
    if len(branches) != len(other_arguments_lengths):
        raise InvalidArgumentError("branches and other_arguments_lengths must have the same length.")
    ends = itertools.accumulate(other_arguments_lengths)
    parts = [captured[end - count : end] for end, count in zip(ends, other_arguments_lengths)]
    calls = [_branch(GraphFunction(ctx, "branches", function, part)) for function, part in zip(branches, parts)]
    ratio = ratio_numerator, ratio_denominator
    return ChooseFastestBranch((input_dataset,), calls, num_elements_per_branch, ratio)


def _branch(function: GraphFunction) -> Callable[[Dataset], Dataset]:
    run = function.datasets()
    return lambda dataset: run([scalar_object(dataset)])
