"""Datasets of the elements of others: mapped by functions of the graph, batched, selected, and shuffled."""

from __future__ import annotations

import math
from typing import Any, Final, NamedTuple

import numpy as np

from ...datasets import batches, filter_take_skip, mapping
from ...datasets.batches import MapAndBatch
from ...datasets.dataset import INFINITE, Dataset, array_of, require_places
from ...datasets.mapping import DirectedInterleave, IndexFlatMap, Sampling, WeightedFlatMap, weighted_sizes
from ...datasets.ordering import GlobalShuffle, Shuffle, ShuffleAndRepeat
from ...datasets.seeds import Seeds, seeds_of
from ...runtime.state.edge_values import scalar_object
from ...runtime.state.kernel_context import KernelContext
from ...support.errors import InvalidArgumentError
from ...types.arrays import Array
from ...types.dtypes import DType, int64
from ..shared.resource_access import resource
from ._datasets import (
    Calls,
    Flag,
    GraphFunction,
    Number,
    Positive,
    chosen_seeds,
    dataset_kernel,
    number_in,
    positive_in,
    spec_of_node,
)


@dataset_kernel("MapDataset")
def map_dataset(
    ctx: KernelContext, input_dataset: Dataset, f: GraphFunction, *, preserve_cardinality: bool, force_synchronous: bool
) -> Dataset:
    """Map the function over the elements."""
    # A function that must not run beside itself is treated as one with a state, which sees the elements one by one.
    has_state = force_synchronous or f.is_stateful
    return mapping.Map(
        (input_dataset,),
        f.of_elements(),
        keeps_cardinality=preserve_cardinality,
        is_stateful=has_state,
        has_captures=bool(f.captured),
        is_identity=f.is_identity,
        runs_early=not has_state and f.runs_early,
    )


@dataset_kernel("ParallelMapDataset", "ParallelMapDatasetV2")
def parallel_map_dataset(
    ctx: KernelContext, input_dataset: Dataset, f: GraphFunction, num_parallel_calls: Calls, *, preserve_cardinality: bool
) -> Dataset:
    """Map the function over the elements, in order."""
    return mapping.ParallelMap(
        (input_dataset,),
        f.of_elements(),
        keeps_cardinality=preserve_cardinality,
        is_stateful=f.is_stateful,
        has_captures=bool(f.captured),
        is_identity=f.is_identity,
        calls=num_parallel_calls,
        runs_early=f.runs_early,
    )


@dataset_kernel("MapAndBatchDataset")
def map_and_batch_dataset(
    ctx: KernelContext,
    input_dataset: Dataset,
    f: GraphFunction,
    batch_size: Positive,
    num_parallel_calls: Calls,
    drop_remainder: Flag,
    *,
    preserve_cardinality: bool,
) -> Dataset:
    """Batch the results of the function on the elements."""
    # A function with a state sees the elements one by one, in their order.
    calls, sizes = 1 if f.is_stateful else num_parallel_calls, (batch_size, drop_remainder)
    return MapAndBatch((input_dataset,), *sizes, f.of_elements(), preserve_cardinality, calls, runs_early=f.runs_early)


@dataset_kernel("FlatMapDataset")
def flat_map_dataset(ctx: KernelContext, input_dataset: Dataset, f: GraphFunction) -> Dataset:
    """The elements of the datasets that the function makes."""
    return mapping.FlatMap((input_dataset,), f.datasets(), runs_early=f.runs_early)


class Cycle(NamedTuple):
    """How many datasets are read in turn, and how many elements of each."""

    cycle_length: Array
    block_length: Array


class Buffers(NamedTuple):
    """The numbers of elements that TensorFlow buffers for each dataset, and prefetches."""

    buffer_output_elements: Array
    prefetch_input_elements: Array


def _cycle(lengths: Cycle, calls: int = -1) -> tuple[int, int]:
    cycle = number_in(lengths.cycle_length, "cycle_length")
    if cycle == -1:
        cycle = _PROCESSORS if calls < 0 else min(calls, _PROCESSORS)
    if cycle <= 0:
        raise InvalidArgumentError("`cycle_length` must be > 0")
    return cycle, positive_in(lengths.block_length, "block_length")


_PROCESSORS = 2
"""The cycle length where the graph leaves the choice open. TensorFlow takes the number of processors; a constant keeps the
order the same everywhere.
"""


@dataset_kernel("InterleaveDataset")
def interleave_dataset(ctx: KernelContext, input_dataset: Dataset, f: GraphFunction, lengths: Cycle) -> Dataset:
    """The elements of several datasets that the function makes, in turn."""
    return mapping.Interleave((input_dataset,), f.datasets(), *_cycle(lengths), runs_early=f.runs_early)


@dataset_kernel("ParallelInterleaveDatasetV2", "ParallelInterleaveDatasetV3")
def parallel_interleave_dataset_v2(
    ctx: KernelContext, input_dataset: Dataset, f: GraphFunction, lengths: Cycle, num_parallel_calls: Calls
) -> Dataset:
    """The elements of several datasets that the function makes, in turn."""
    cycle = _cycle(lengths, num_parallel_calls)
    return mapping.ParallelInterleave((input_dataset,), f.datasets(), *cycle, runs_early=f.runs_early)


@dataset_kernel("ParallelInterleaveDatasetV4")
def parallel_interleave_dataset_v4(
    ctx: KernelContext, input_dataset: Dataset, f: GraphFunction, lengths: Cycle, buffers: Buffers, num_parallel_calls: Calls
) -> Dataset:
    """The elements of several datasets that the function makes, in turn."""
    _require_buffers(buffers)
    return parallel_interleave_dataset_v2(ctx, input_dataset, f, lengths, num_parallel_calls)


def _require_buffers(buffers: Buffers) -> None:
    outputs = number_in(buffers.buffer_output_elements, "buffer_output_elements")
    inputs = number_in(buffers.prefetch_input_elements, "prefetch_input_elements")
    if outputs != -1 and outputs <= 0:
        raise InvalidArgumentError(f"`buffer_output_elements` must be -1 or > 0 but is {outputs}")
    if inputs < -1:
        raise InvalidArgumentError(f"`prefetch_input_elements` must be -1 or >= 0 but is {inputs}")


@dataset_kernel("LegacyParallelInterleaveDatasetV2")
def legacy_parallel_interleave_dataset_v2(
    ctx: KernelContext, input_dataset: Dataset, f: GraphFunction, lengths: Cycle, buffers: Buffers
) -> Dataset:
    """The elements of several datasets that the function makes, in turn."""
    _require_buffers(buffers)
    # The older ops have no -1 that leaves the cycle length open.
    cycle, block = (positive_in(value, name) for name, value in lengths._asdict().items())
    return mapping.LegacyParallelInterleave((input_dataset,), f.datasets(), cycle, block, runs_early=f.runs_early)


@dataset_kernel("ParallelInterleaveDataset")
def parallel_interleave_dataset(
    ctx: KernelContext, input_dataset: Dataset, f: GraphFunction, lengths: Cycle, sloppy: Array, buffers: Buffers
) -> Dataset:
    """The elements of several datasets that the function makes, in turn, whatever `sloppy` would allow."""
    # A sloppy order may be any order, so the deterministic one is among those that it allows.
    return legacy_parallel_interleave_dataset_v2(ctx, input_dataset, f, lengths, buffers)


@dataset_kernel("ScanDataset")
def scan_dataset(
    ctx: KernelContext, input_dataset: Dataset, initial_state: list[Any], f: GraphFunction, *, preserve_cardinality: bool
) -> Dataset:
    """Map the function over the elements, with a state from call to call."""
    return mapping.Scan((input_dataset,), f.of_values(), tuple(map(array_of, initial_state)), preserve_cardinality)


@dataset_kernel("ZipDataset")
def zip_dataset(ctx: KernelContext, input_datasets: list[Dataset]) -> Dataset:
    """The elements of several datasets side by side."""
    return mapping.Zip(tuple(input_datasets))


@dataset_kernel("GroupByWindowDataset")
def group_by_window_dataset(
    ctx: KernelContext,
    input_dataset: Dataset,
    key_func: GraphFunction,
    reduce_func: GraphFunction,
    window_size_func: GraphFunction,
) -> Dataset:
    """Elements gathered by a key, each full group made a dataset."""
    size_of, reduce = window_size_func.numbers(), reduce_func.datasets()
    return batches.GroupByWindow(
        (input_dataset,),
        key_func.numbers(),
        # Keys are int64 in all functions: TensorFlow refuses a key_func of int32.
        lambda key: size_of([np.int64(key)]),
        lambda key, group: reduce([np.int64(key), scalar_object(group)]),
    )


@dataset_kernel("GroupByReducerDataset")
def group_by_reducer_dataset(
    ctx: KernelContext,
    input_dataset: Dataset,
    key_func: GraphFunction,
    init_func: GraphFunction,
    reduce_func: GraphFunction,
    finalize_func: GraphFunction,
) -> Dataset:
    """Reduce all elements with the same key to a single element."""
    start, steps = init_func.of_values(), (reduce_func.of_values(), finalize_func.of_values())
    return batches.GroupByReducer((input_dataset,), key_func.numbers(), lambda key: start([np.int64(key)]), *steps)


@dataset_kernel("WeightedFlatMapDataset")
def weighted_flat_map_dataset(ctx: KernelContext, input_datasets: list[Dataset], weights: list[Any]) -> Dataset:
    """Concatenate the first elements of several datasets, in the ratio of the weights, until a dataset ends."""
    if len(input_datasets) != len(weights):
        raise InvalidArgumentError(
            "`input_datasets` and `weights` of the WeightedFlatMap must have the same size. Got "
            f"{len(input_datasets)} datasets and {len(weights)} weights."
        )
    for source in input_datasets:
        spec_of_node(ctx.node).require(source.spec)
    # How many elements each input gives is decided when the dataset is made.
    sizes = [source.cardinality() for source in input_datasets]
    for i, size in enumerate(sizes):
        if size < 0:
            word = "INFINITE" if size == INFINITE else "UNKNOWN"
            raise InvalidArgumentError(f"Cardinalities of the inputs must be known. Input {i} has {word} cardinality.")
    return WeightedFlatMap(tuple(input_datasets), weighted_sizes(sizes, _shares(weights)))


def _shares(weights: list[Any]) -> list[float]:
    """Return the weights as numbers; InvalidArgumentError unless all weights are above 0."""
    if any(np.size(weight) != 1 for weight in weights):
        raise InvalidArgumentError("`weights` must be scalars")
    shares = [float(np.ravel(weight)[0]) for weight in weights]
    for i, share in enumerate(shares):
        if not 0 < share < math.inf:
            raise InvalidArgumentError(f"`weights` must be numbers greater than 0.0. Input {i} has a weight of {share:g}")
    return shares


@dataset_kernel("IndexFlatMapDataset")
def index_flat_map_dataset(
    ctx: KernelContext,
    input_dataset: Dataset,
    map_func: GraphFunction,
    index_map_func: GraphFunction,
    output_cardinality: Number,
) -> Dataset:
    """Flatten the results of a function into slices; another function maps an index to an element and a slice."""
    return IndexFlatMap((input_dataset,), map_func.of_elements(), index_map_func.of_values(), output_cardinality)


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
def filter_dataset(ctx: KernelContext, input_dataset: Dataset, predicate: GraphFunction) -> Dataset:
    """Take the elements for which the predicate holds."""
    return _filtered(filter_take_skip.Filter, input_dataset, predicate)


def _filtered(kind: type[filter_take_skip.Filter], input_dataset: Dataset, predicate: GraphFunction) -> Dataset:
    return kind(
        (input_dataset,),
        predicate.predicate(),
        is_stateful=predicate.is_stateful,
        has_captures=bool(predicate.captured),
        runs_early=predicate.runs_early,
    )


@dataset_kernel("ParallelFilterDataset")
def parallel_filter_dataset(
    ctx: KernelContext, input_dataset: Dataset, predicate: GraphFunction, num_parallel_calls: Calls
) -> Dataset:
    """Take the elements for which the predicate holds, in order."""
    return _filtered(filter_take_skip.ParallelFilter, input_dataset, predicate)


@dataset_kernel("FilterByLastComponentDataset")
def filter_by_last_component_dataset(ctx: KernelContext, input_dataset: Dataset) -> Dataset:
    """Take the elements whose last component is true, without that component."""
    return filter_take_skip.FilterByLast((input_dataset,))


@dataset_kernel("TakeWhileDataset")
def take_while_dataset(ctx: KernelContext, input_dataset: Dataset, predicate: GraphFunction) -> Dataset:
    """Take the elements before the first for which the predicate fails."""
    return filter_take_skip.TakeWhile((input_dataset,), predicate.predicate())


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


@dataset_kernel("SamplingDataset", facts=("random",))
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


_ALL = -2
"""The size of a buffer for all elements."""


def _checked_size(size: Number) -> int:
    # -1 is refused although it is the cardinality of an infinite dataset: no buffer holds all of that.
    if size <= 0 and size != _ALL:
        raise InvalidArgumentError("buffer_size must be greater than zero or UNKNOWN_CARDINALITY")
    return size


@dataset_kernel("ShuffleDataset", "ShuffleDatasetV3", facts=("random",))
def shuffle_dataset(
    ctx: KernelContext,
    input_dataset: Dataset,
    buffer_size: Number,
    seed: Number,
    seed2: Number,
    seed_generator: Any = None,
    *,
    reshuffle_each_iteration: bool,
) -> Dataset:
    """Shuffle the elements, by the seeds of a generator or by the op's own seeds."""
    seeds = chosen_seeds(ctx, seed, seed2, seed_generator, reshuffle_each_iteration)
    return Shuffle((input_dataset,), _checked_size(buffer_size), seeds)


@dataset_kernel("ShuffleDatasetV2", facts=("random",))
def shuffle_dataset_v2(ctx: KernelContext, input_dataset: Dataset, buffer_size: Number, seed_generator: Any) -> Dataset:
    """The elements in random order, by the seeds of a generator."""
    return Shuffle((input_dataset,), _checked_size(buffer_size), resource(seed_generator, Seeds))


@dataset_kernel("ShuffleAndRepeatDataset", "ShuffleAndRepeatDatasetV2", facts=("random",))
def shuffle_and_repeat_dataset(
    ctx: KernelContext,
    input_dataset: Dataset,
    buffer_size: Number,
    seed: Number,
    seed2: Number,
    count: Number,
    seed_generator: Any = None,
    *,
    reshuffle_each_iteration: bool,
) -> Dataset:
    """Shuffle the elements of several passes, by the seeds of a generator or by the op's own seeds."""
    seeds = chosen_seeds(ctx, seed, seed2, seed_generator, reshuffle_each_iteration)
    size = _checked_size(buffer_size)
    # RepeatDataset takes 0, and gives no element; this op of the same meaning refuses it in TensorFlow too.
    if count <= 0 and count != -1:
        raise InvalidArgumentError("count must be greater than zero or equal to -1.")
    return ShuffleAndRepeat((input_dataset,), size, seeds, count)


@dataset_kernel("GlobalShuffleDataset", facts=("random", "observes_pipeline"))
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
