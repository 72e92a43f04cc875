"""Datasets that leave elements as they are: options, assertions, what is said of threads and statistics, caches."""

from __future__ import annotations

from typing import Any

from ..arrays import Array
from ..datasets import options
from ..datasets.base import Dataset
from ..datasets.caching import Cache, MemoryCache
from ..errors import InvalidArgumentError, UnimplementedError
from ..registry import facts, kernel, not_differentiable, shape, zero_flops
from ..runtime.kernel_context import KernelContext
from ..runtime.resources import Shared
from ..runtime.values import scalar_object
from ..shapes import SCALAR, Shape
from ._datasets import bytes_in, dataset_kernel, dataset_of, number_in, texts_in
from ._resources import named, resource


@dataset_kernel("OptionsDataset")
def options_dataset(ctx: KernelContext, input_dataset: Array, *, serialized_options: str) -> Dataset:
    """The same elements, with options."""
    return options.Options((dataset_of(input_dataset),), serialized_options.encode("utf-8", "surrogateescape"))


@dataset_kernel("PrefetchDataset")
def prefetch_dataset(ctx: KernelContext, input_dataset: Array, buffer_size: Array) -> Dataset:
    """The same elements, prepared ahead."""
    size = number_in(buffer_size, "buffer_size")
    if size < -1:
        raise InvalidArgumentError("buffer_size must be >= 0 or set buffer_size to be -1 for auto-tuning")
    return options.Prefetch((dataset_of(input_dataset),), size)


def _transformations(value: Array) -> list[str]:
    return [text.decode("utf-8", "replace") for text in texts_in(value, "transformations")]


@dataset_kernel("AssertNextDataset")
def assert_next_dataset(ctx: KernelContext, input_dataset: Array, transformations: Array) -> Dataset:
    """The same elements; what follows must be called so."""
    return options.AssertNext((dataset_of(input_dataset),), _transformations(transformations))


@dataset_kernel("AssertPrevDataset")
def assert_prev_dataset(ctx: KernelContext, input_dataset: Array, transformations: Array) -> Dataset:
    """The same elements; what came before must be called so."""
    return options.AssertPrev((dataset_of(input_dataset),), _transformations(transformations))


@dataset_kernel("IgnoreErrorsDataset")
def ignore_errors_dataset(ctx: KernelContext, input_dataset: Array) -> Dataset:
    """The elements that do not fail."""
    return options.IgnoreErrors((dataset_of(input_dataset),))


@dataset_kernel("SleepDataset")
def sleep_dataset(ctx: KernelContext, input_dataset: Array, sleep_microseconds: Array) -> Dataset:
    """The same elements, each after a pause."""
    return options.Sleep((dataset_of(input_dataset),), max(0, number_in(sleep_microseconds, "sleep_microseconds")))


@dataset_kernel(
    "ModelDataset", "OptimizeDataset", "OptimizeDatasetV2", "NonSerializableDataset", "FinalizeDataset", "RewriteDataset",
    "BytesProducedStatsDataset", "LatencyStatsDataset", "SetStatsAggregatorDataset", "ThreadPoolDataset",
    "AutoShardDataset",
)  # fmt: skip
def advice_dataset(ctx: KernelContext, input_dataset: Array, *others: Any) -> Dataset:
    """The same elements: what is said of them changes how TensorFlow's threads run."""
    return options.Advice((dataset_of(input_dataset),), ctx.node.op.removeprefix("Experimental").partition("Dataset")[0])


@dataset_kernel("PrivateThreadPoolDataset", "MaxIntraOpParallelismDataset")
def thread_limit_dataset(ctx: KernelContext, input_dataset: Array, count: Array) -> Dataset:
    """The same elements: the number of threads is that of the run."""
    if number_in(count, "the number of threads") < 0:
        raise InvalidArgumentError("`num_threads` and `max_intra_op_parallelism` must be >= 0")
    return advice_dataset(ctx, input_dataset)


@dataset_kernel("CacheDataset")
def cache_dataset(ctx: KernelContext, input_dataset: Array, filename: Array) -> Dataset:
    """The same elements, kept."""
    return _cached(ctx, input_dataset, filename, MemoryCache())


@dataset_kernel("CacheDatasetV2")
def cache_dataset_v2(ctx: KernelContext, input_dataset: Array, filename: Array, cache: Any) -> Dataset:
    """The same elements, kept in a cache that others may share."""
    found = resource(cache, MemoryCache)
    return _cached(ctx, input_dataset, filename, MemoryCache() if found is _DUMMY else found)


def _cached(ctx: KernelContext, input_dataset: Array, filename: Array, cache: MemoryCache) -> Dataset:
    path = bytes_in(filename, "filename")
    if path:
        raise UnimplementedError(
            f"a cache in the file '{path.decode('utf-8', 'replace')}' is not there: tfg keeps caches in memory",
            hint=f"feed an empty string for {ctx.node.inputs[1]}",
        )
    return Cache((dataset_of(input_dataset),), cache)


_DUMMY = MemoryCache()


@kernel("AnonymousMemoryCache")
def anonymous_memory_cache() -> tuple[Array, Array]:
    """A cache for elements, and what ends its life."""
    return scalar_object(MemoryCache()), scalar_object(None)


@kernel("DummyMemoryCache")
def dummy_memory_cache() -> Array:
    """A handle in the place of a cache that the dataset makes itself."""
    return scalar_object(_DUMMY)


@kernel("DeleteMemoryCache")
def delete_memory_cache(handle: Array, deleter: Array) -> None:
    """Nothing: a cache lives as long as something refers to it."""


class Pool(Shared):
    """Threads of TensorFlow's, or what gathers its statistics: named by graphs, and without a part in a run here."""


@kernel("ThreadPoolHandle", "ExperimentalThreadPoolHandle")
def thread_pool_handle(ctx: KernelContext, *, num_threads: int, container: str, shared_name: str) -> Any:
    """The handle of a pool of threads."""
    if num_threads <= 0:
        raise InvalidArgumentError("`num_threads` must be greater than zero.")
    return named(ctx, container, shared_name, Pool, Pool)


@kernel("StatsAggregatorHandle", "StatsAggregatorHandleV2", "ExperimentalStatsAggregatorHandle")
def stats_aggregator_handle(ctx: KernelContext, *, container: str, shared_name: str) -> Any:
    """The handle of what gathers statistics."""
    return named(ctx, container, shared_name, Pool, Pool)


@shape("ThreadPoolHandle", "ExperimentalThreadPoolHandle", "DummyMemoryCache")
@shape("StatsAggregatorHandle", "StatsAggregatorHandleV2", "ExperimentalStatsAggregatorHandle")
def handle_shape() -> Shape:
    return SCALAR


@shape("AnonymousMemoryCache")
def cache_shape() -> tuple[Shape, Shape]:
    return SCALAR, SCALAR


@shape("DeleteMemoryCache")
def delete_shape(*inputs: Any) -> None:
    return None


_HANDLES = (
    "ThreadPoolHandle", "ExperimentalThreadPoolHandle", "StatsAggregatorHandle", "StatsAggregatorHandleV2",
    "ExperimentalStatsAggregatorHandle", "AnonymousMemoryCache", "DummyMemoryCache", "DeleteMemoryCache",
)  # fmt: skip
not_differentiable(*_HANDLES)
zero_flops(*_HANDLES)
facts("side_effect", of=("DeleteMemoryCache",))
