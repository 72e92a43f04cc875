"""Datasets that concatenate several datasets, or the slices of elements, by index."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...datasets.dataset import INFINITE, Dataset
from ...datasets.mapping import IndexFlatMap, WeightedFlatMap, weighted_sizes
from ...runtime.state.kernel_context import KernelContext
from ...support.errors import InvalidArgumentError
from ...types.tensors import FuncRef
from ._datasets import Number, dataset_kernel, element_function, function_of, spec_of_node


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
