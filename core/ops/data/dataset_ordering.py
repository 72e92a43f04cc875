"""Datasets that shuffle."""

from __future__ import annotations

from typing import Any

from ...datasets.dataset import Dataset, require_places
from ...datasets.ordering import GlobalShuffle, Shuffle, ShuffleAndRepeat
from ...datasets.seeds import Seeds, seeds_of
from ...registry.registry import facts
from ...runtime.state.kernel_context import KernelContext
from ...support.errors import InvalidArgumentError
from ..shared.resource_access import resource
from ._datasets import Number, chosen_seeds, dataset_kernel

_ALL = -2
"""The size of a buffer for all elements."""


def _checked_size(size: Number) -> int:
    # -1 is refused although it is the cardinality of an infinite dataset: no buffer holds all of that.
    if size <= 0 and size != _ALL:
        raise InvalidArgumentError("buffer_size must be greater than zero or UNKNOWN_CARDINALITY")
    return size


def _checked_count(count: Number) -> int:
    # RepeatDataset takes 0, and gives no element; this op of the same meaning refuses it in TensorFlow too.
    if count <= 0 and count != -1:
        raise InvalidArgumentError("count must be greater than zero or equal to -1.")
    return count


@dataset_kernel("ShuffleDataset")
def shuffle_dataset(
    ctx: KernelContext,
    input_dataset: Dataset,
    buffer_size: Number,
    seed: Number,
    seed2: Number,
    *,
    reshuffle_each_iteration: bool,
) -> Dataset:
    """Shuffle the elements, in a new order in each pass where `reshuffle_each_iteration` says so."""
    seeds = seeds_of(ctx, seed, seed2, reshuffle_each_iteration)
    return Shuffle((input_dataset,), _checked_size(buffer_size), seeds)


@dataset_kernel("ShuffleDatasetV2")
def shuffle_dataset_v2(ctx: KernelContext, input_dataset: Dataset, buffer_size: Number, seed_generator: Any) -> Dataset:
    """The elements in random order, by the seeds of a generator."""
    return Shuffle((input_dataset,), _checked_size(buffer_size), resource(seed_generator, Seeds))


@dataset_kernel("ShuffleDatasetV3")
def shuffle_dataset_v3(
    ctx: KernelContext,
    input_dataset: Dataset,
    buffer_size: Number,
    seed: Number,
    seed2: Number,
    seed_generator: Any,
    *,
    reshuffle_each_iteration: bool,
) -> Dataset:
    """Shuffle the elements, by the seeds of a generator or by the op's own seeds."""
    seeds = chosen_seeds(ctx, seed, seed2, seed_generator, reshuffle_each_iteration)
    return Shuffle((input_dataset,), _checked_size(buffer_size), seeds)


@dataset_kernel("ShuffleAndRepeatDataset")
def shuffle_and_repeat_dataset(
    ctx: KernelContext,
    input_dataset: Dataset,
    buffer_size: Number,
    seed: Number,
    seed2: Number,
    count: Number,
    *,
    reshuffle_each_iteration: bool = True,
) -> Dataset:
    """The elements of several passes in random order, pass by pass."""
    seeds = seeds_of(ctx, seed, seed2, reshuffle_each_iteration)
    return ShuffleAndRepeat((input_dataset,), _checked_size(buffer_size), seeds, _checked_count(count))


@dataset_kernel("ShuffleAndRepeatDatasetV2")
def shuffle_and_repeat_dataset_v2(
    ctx: KernelContext,
    input_dataset: Dataset,
    buffer_size: Number,
    seed: Number,
    seed2: Number,
    count: Number,
    seed_generator: Any,
    *,
    reshuffle_each_iteration: bool,
) -> Dataset:
    """Shuffle the elements of several passes, by the seeds of a generator or by the op's own seeds."""
    seeds = chosen_seeds(ctx, seed, seed2, seed_generator, reshuffle_each_iteration)
    return ShuffleAndRepeat((input_dataset,), _checked_size(buffer_size), seeds, _checked_count(count))


@dataset_kernel("GlobalShuffleDataset")
def global_shuffle_dataset(
    ctx: KernelContext,
    input_dataset: Dataset,
    seed: Number,
    seed2: Number,
    seed_generator: Any,
    *,
    reshuffle_each_iteration: bool,
) -> Dataset:
    """Shuffle all elements, each read by its index."""
    require_places(input_dataset)
    seeds = chosen_seeds(ctx, seed, seed2, seed_generator, reshuffle_each_iteration)
    return GlobalShuffle((input_dataset,), seeds)


facts(
    "random",
    of=[
        "ShuffleDataset", "ShuffleDatasetV2", "ShuffleDatasetV3", "ShuffleAndRepeatDataset", "ShuffleAndRepeatDatasetV2",
        "GlobalShuffleDataset",
    ],
)  # fmt: skip
facts("observes_pipeline", of=("GlobalShuffleDataset",))
