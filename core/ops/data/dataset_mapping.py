"""Datasets that call functions of the graph on elements: maps, interleaves, scans, groups, and concatenations by index."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ...datasets import batches, mapping
from ...datasets.batches import MapAndBatch
from ...datasets.dataset import INFINITE, Dataset, array_of
from ...datasets.mapping import IndexFlatMap, WeightedFlatMap, weighted_sizes
from ...runtime.state.edge_values import scalar_object
from ...runtime.state.kernel_context import KernelContext
from ...support.errors import InvalidArgumentError
from ...types.arrays import Array
from ...types.tensors import FuncRef
from ._datasets import (
    Calls,
    Flag,
    Number,
    Positive,
    dataset_function,
    dataset_kernel,
    element_function,
    function_of,
    is_identity,
    is_stateful,
    number_function,
    number_in,
    positive_in,
    runs_early,
    spec_of_node,
)


@dataset_kernel("MapDataset")
def map_dataset(
    ctx: KernelContext,
    input_dataset: Dataset,
    captured: list[Any],
    *,
    f: FuncRef,
    preserve_cardinality: bool,
    force_synchronous: bool,
) -> Dataset:
    """Map the function over the elements."""
    # A function that must not run beside itself is treated as one with a state, which sees the elements one by one.
    has_state = force_synchronous or is_stateful(ctx, f)
    return mapping.Map(
        (input_dataset,),
        element_function(ctx, f, captured),
        keeps_cardinality=preserve_cardinality,
        is_stateful=has_state,
        has_captures=bool(captured),
        is_identity=not captured and is_identity(ctx, f),
        runs_early=not has_state and runs_early(ctx, f, captured),
    )


@dataset_kernel("ParallelMapDataset", "ParallelMapDatasetV2")
def parallel_map_dataset(
    ctx: KernelContext,
    input_dataset: Dataset,
    captured: list[Any],
    num_parallel_calls: Calls,
    *,
    f: FuncRef,
    preserve_cardinality: bool,
) -> Dataset:
    """Map the function over the elements, in order."""
    return mapping.ParallelMap(
        (input_dataset,),
        element_function(ctx, f, captured),
        keeps_cardinality=preserve_cardinality,
        is_stateful=is_stateful(ctx, f),
        has_captures=bool(captured),
        is_identity=not captured and is_identity(ctx, f),
        calls=num_parallel_calls,
        runs_early=runs_early(ctx, f, captured),
    )


@dataset_kernel("MapAndBatchDataset")
def map_and_batch_dataset(
    ctx: KernelContext,
    input_dataset: Dataset,
    captured: list[Any],
    batch_size: Positive,
    num_parallel_calls: Calls,
    drop_remainder: Flag,
    *,
    f: FuncRef,
    preserve_cardinality: bool,
) -> Dataset:
    """Batch the results of the function on the elements."""
    function = element_function(ctx, f, captured)
    # A function with a state sees the elements one by one, in their order.
    calls, early = 1 if is_stateful(ctx, f) else num_parallel_calls, runs_early(ctx, f, captured)
    sizes = batch_size, drop_remainder
    return MapAndBatch((input_dataset,), *sizes, function, preserve_cardinality, calls, runs_early=early)


@dataset_kernel("FlatMapDataset")
def flat_map_dataset(ctx: KernelContext, input_dataset: Dataset, captured: list[Any], *, f: FuncRef) -> Dataset:
    """The elements of the datasets that the function makes."""
    function, early = dataset_function(ctx, f, captured), runs_early(ctx, f, captured)
    return mapping.FlatMap((input_dataset,), function, runs_early=early)


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
def interleave_dataset(
    ctx: KernelContext, input_dataset: Dataset, captured: list[Any], lengths: Cycle, *, f: FuncRef
) -> Dataset:
    """The elements of several datasets that the function makes, in turn."""
    cycle, block = _cycle(lengths)
    function, early = dataset_function(ctx, f, captured), runs_early(ctx, f, captured)
    return mapping.Interleave((input_dataset,), function, cycle, block, runs_early=early)


@dataset_kernel("ParallelInterleaveDatasetV2", "ParallelInterleaveDatasetV3")
def parallel_interleave_dataset_v2(
    ctx: KernelContext, input_dataset: Dataset, captured: list[Any], lengths: Cycle, num_parallel_calls: Calls, *, f: FuncRef
) -> Dataset:
    """The elements of several datasets that the function makes, in turn."""
    cycle, block = _cycle(lengths, num_parallel_calls)
    function, early = dataset_function(ctx, f, captured), runs_early(ctx, f, captured)
    return mapping.ParallelInterleave((input_dataset,), function, cycle, block, runs_early=early)


@dataset_kernel("ParallelInterleaveDatasetV4")
def parallel_interleave_dataset_v4(
    ctx: KernelContext,
    input_dataset: Dataset,
    captured: list[Any],
    lengths: Cycle,
    buffers: Buffers,
    num_parallel_calls: Calls,
    *,
    f: FuncRef,
) -> Dataset:
    """The elements of several datasets that the function makes, in turn."""
    _require_buffers(buffers)
    return parallel_interleave_dataset_v2(ctx, input_dataset, captured, lengths, num_parallel_calls, f=f)


def _require_buffers(buffers: Buffers) -> None:
    outputs = number_in(buffers.buffer_output_elements, "buffer_output_elements")
    inputs = number_in(buffers.prefetch_input_elements, "prefetch_input_elements")
    if outputs != -1 and outputs <= 0:
        raise InvalidArgumentError(f"`buffer_output_elements` must be -1 or > 0 but is {outputs}")
    if inputs < -1:
        raise InvalidArgumentError(f"`prefetch_input_elements` must be -1 or >= 0 but is {inputs}")


@dataset_kernel("LegacyParallelInterleaveDatasetV2")
def legacy_parallel_interleave_dataset_v2(
    ctx: KernelContext, input_dataset: Dataset, captured: list[Any], lengths: Cycle, buffers: Buffers, *, f: FuncRef
) -> Dataset:
    """The elements of several datasets that the function makes, in turn."""
    _require_buffers(buffers)
    # The older ops have no -1 that leaves the cycle length open.
    cycle, block = (positive_in(value, name) for name, value in lengths._asdict().items())
    function, early = dataset_function(ctx, f, captured), runs_early(ctx, f, captured)
    return mapping.LegacyParallelInterleave((input_dataset,), function, cycle, block, runs_early=early)


@dataset_kernel("ParallelInterleaveDataset")
def parallel_interleave_dataset(
    ctx: KernelContext,
    input_dataset: Dataset,
    captured: list[Any],
    lengths: Cycle,
    sloppy: Array,
    buffers: Buffers,
    *,
    f: FuncRef,
) -> Dataset:
    """The elements of several datasets that the function makes, in turn, whatever `sloppy` would allow."""
    # A sloppy order may be any order, so the deterministic one is among those that it allows.
    return legacy_parallel_interleave_dataset_v2(ctx, input_dataset, captured, lengths, buffers, f=f)


@dataset_kernel("ScanDataset")
def scan_dataset(
    ctx: KernelContext,
    input_dataset: Dataset,
    initial_state: list[Any],
    captured: list[Any],
    *,
    f: FuncRef,
    preserve_cardinality: bool,
) -> Dataset:
    """Map the function over the elements, with a state from call to call."""
    state = tuple(map(array_of, initial_state))
    return mapping.Scan((input_dataset,), function_of(ctx, f, captured), state, preserve_cardinality)


@dataset_kernel("ZipDataset")
def zip_dataset(ctx: KernelContext, input_datasets: list[Dataset]) -> Dataset:
    """The elements of several datasets side by side."""
    return mapping.Zip(tuple(input_datasets))


@dataset_kernel("GroupByWindowDataset")
def group_by_window_dataset(
    ctx: KernelContext,
    input_dataset: Dataset,
    captured_by_key: list[Any],
    captured_by_reduce: list[Any],
    captured_by_size: list[Any],
    *,
    key_func: FuncRef,
    reduce_func: FuncRef,
    window_size_func: FuncRef,
) -> Dataset:
    """Elements gathered by a key, each full group made a dataset."""
    size_of = number_function(ctx, window_size_func, captured_by_size, "window_size_func")
    reduce = dataset_function(ctx, reduce_func, captured_by_reduce)
    return batches.GroupByWindow(
        (input_dataset,),
        number_function(ctx, key_func, captured_by_key, "key_func"),
        # Keys are int64 in all functions: TensorFlow refuses a key_func of int32.
        lambda key: size_of([np.int64(key)]),
        lambda key, group: reduce([np.int64(key), scalar_object(group)]),
    )


@dataset_kernel("GroupByReducerDataset")
def group_by_reducer_dataset(
    ctx: KernelContext,
    input_dataset: Dataset,
    captured_by_key: list[Any],
    captured_by_init: list[Any],
    captured_by_reduce: list[Any],
    captured_by_finalize: list[Any],
    *,
    key_func: FuncRef,
    init_func: FuncRef,
    reduce_func: FuncRef,
    finalize_func: FuncRef,
) -> Dataset:
    """Reduce all elements with the same key to a single element."""
    start = function_of(ctx, init_func, captured_by_init)
    return batches.GroupByReducer(
        (input_dataset,),
        number_function(ctx, key_func, captured_by_key, "key_func"),
        lambda key: start([np.int64(key)]),
        function_of(ctx, reduce_func, captured_by_reduce),
        function_of(ctx, finalize_func, captured_by_finalize),
    )


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
    captured_by_map: list[Any],
    captured_by_index: list[Any],
    output_cardinality: Number,
    *,
    map_func: FuncRef,
    index_map_func: FuncRef,
) -> Dataset:
    """Flatten the results of a function into slices; another function maps an index to an element and a slice."""
    function = element_function(ctx, map_func, captured_by_map)
    place_of = function_of(ctx, index_map_func, captured_by_index)
    return IndexFlatMap((input_dataset,), function, place_of, output_cardinality)
