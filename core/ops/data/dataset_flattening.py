"""Datasets that concatenate several datasets, or the slices of elements, by index."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...datasets.dataset import INFINITE, Dataset
from ...datasets.flat_map import IndexFlatMap, WeightedFlatMap, weighted_sizes
from ...runtime.state.kernel_context import KernelContext
from ...support.errors import InvalidArgumentError
from ...types.arrays import Array
from ...types.tensors import FuncRef
from ._datasets import dataset_kernel, dataset_of, element_function, function_of, number_in, spec_of_node


@dataset_kernel("WeightedFlatMapDataset")
def weighted_flat_map_dataset(ctx: KernelContext, input_datasets: list[Array], weights: list[Any]) -> Dataset:
    """Concatenate the first elements of several datasets, in the ratio of the weights, until a dataset ends."""
    inputs = tuple(map(dataset_of, input_datasets))
    if len(inputs) != len(weights):
        raise InvalidArgumentError(
            "`input_datasets` and `weights` of the WeightedFlatMap must have the same size. Got "
            f"{len(inputs)} datasets and {len(weights)} weights."
        )
    for source in inputs:
        spec_of_node(ctx.node).require(source.spec)
    for i, size in enumerate(source.cardinality() for source in inputs):
        if size < 0:
            word = "INFINITE" if size == INFINITE else "UNKNOWN"
            raise InvalidArgumentError(f"Cardinalities of the inputs must be known. Input {i} has {word} cardinality.")
    return WeightedFlatMap(inputs, weighted_sizes([source.cardinality() for source in inputs], _shares(weights)))


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
    input_dataset: Array,
    captured_by_map: list[Any],
    captured_by_index: list[Any],
    output_cardinality: Array,
    *,
    map_func: FuncRef,
    index_map_func: FuncRef,
) -> Dataset:
    """Flatten the results of a function into slices; another function maps an index to an element and a slice."""
    function = element_function(ctx, map_func, captured_by_map)
    place_of = function_of(ctx, index_map_func, captured_by_index)
    size = number_in(output_cardinality, "output_cardinality")
    return IndexFlatMap((dataset_of(input_dataset),), function, place_of, size)
