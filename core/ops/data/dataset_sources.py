"""Datasets that take their elements from tensors, ranges and random numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...datasets.dataset import Dataset, Spec, array_of
from ...datasets.seeds import SeedGenerator, seeds_of
from ...datasets.sources import Generated, ListOf, RandomNumbers, Range, Slices, SparseSlices, Tensors
from ...registry.registry import kernel
from ...runtime.state.edge_values import scalar_object
from ...runtime.state.kernel_context import KernelContext
from ...support.errors import InvalidArgumentError, UnimplementedError
from ...types.arrays import Array
from ...types.dtypes import DType, int64
from ...types.shapes import Shape
from ._datasets import DUMMY, GraphFunction, Number, chosen_seeds, dataset_kernel, flag_in, number_in


@dataset_kernel("TensorDataset")
def tensor_dataset(ctx: KernelContext, components: list[Any]) -> Dataset:
    """Return a dataset of a single element, the components."""
    return Tensors((), tuple(map(array_of, components)))


@dataset_kernel("GeneratorDataset")
def generator_dataset(
    ctx: KernelContext, init_func: GraphFunction, next_func: GraphFunction, finalize_func: GraphFunction
) -> Dataset:
    """Unfold a state by a function until the function signals the end."""
    return Generated((), init_func.of_values(), next_func.of_values(), finalize_func.of_values())


@dataset_kernel("TensorSliceDataset")
def tensor_slice_dataset(ctx: KernelContext, components: list[Any]) -> Dataset:
    """The slices of the components along their first dimension."""
    return Slices.of(components)


@dataset_kernel("SparseTensorSliceDataset")
def sparse_tensor_slice_dataset(
    ctx: KernelContext, indices: Array, values: Array, dense_shape: Array, *, Tvalues: DType
) -> Dataset:
    """The rows of a sparse tensor."""
    if indices.ndim != 2 or values.ndim != 1 or dense_shape.ndim != 1:
        raise InvalidArgumentError(
            f"Input indices must be a matrix, values and dense_shape vectors, not of shapes {Shape(indices.shape)}, "
            f"{Shape(values.shape)} and {Shape(dense_shape.shape)}"
        )
    if len(indices) != len(values) or indices.shape[1] != len(dense_shape) or not len(dense_shape):
        raise InvalidArgumentError(
            f"{Shape(indices.shape)} indices do not fit {len(values)} values of rank {len(dense_shape)}"
        )
    if np.any(dense_shape < 0):
        raise InvalidArgumentError(f"Expected shape dimensions to be non-negative, got {dense_shape.min()}")
    # Only by rows: within a row the order is free, and is kept, as in TensorFlow.
    if np.any(indices[1:, 0] < indices[:-1, 0]):
        raise UnimplementedError(
            "The SparseTensor must be ordered in the batch dimension; handling arbitrarily ordered input is not currently "
            "supported."
        )
    if len(indices) and not 0 <= indices[0, 0] <= indices[-1, 0] < dense_shape[0]:
        raise InvalidArgumentError(f"indices[:, 0] must be in [0, {dense_shape[0]})")
    slices, rank = SparseSlices((), indices, values, dense_shape), len(dense_shape) - 1
    slices.spec = Spec((int64, Tvalues, int64), (Shape([None, rank]), Shape([None]), Shape([rank])))
    return slices


@dataset_kernel("ListDataset")
def list_dataset(ctx: KernelContext, tensors: list[Any], *, output_types: list[DType]) -> Dataset:
    """Return elements whose components are consecutive tensors."""
    width = len(output_types)
    if len(tensors) % width:
        raise InvalidArgumentError(f"{len(tensors)} tensors do not make elements of {width} components")
    values = list(map(array_of, tensors))
    return ListOf((), [tuple(values[i : i + width]) for i in range(0, len(values), width)])


@dataset_kernel("RangeDataset")
def range_dataset(ctx: KernelContext, start: Number, stop: Number, step: Number, *, output_types: list[DType]) -> Dataset:
    """The numbers from `start` up to, without, `stop`."""
    if not step:
        raise InvalidArgumentError("step must be a non-zero integer.")
    if not (output_types[0].is_integer or output_types[0].is_floating):
        raise InvalidArgumentError(f"Unsupported data type: {output_types[0]}")
    return Range((), range(start, stop, step), output_types[0])


# Two seeds of zero ask for a random seed, so that nodes with equal attributes make different numbers.
@dataset_kernel("RandomDataset", "RandomDatasetV2", facts=("random",))
def random_dataset(
    ctx: KernelContext,
    seed: Number,
    seed2: Number,
    seed_generator: Any = None,
    *,
    rerandomize_each_iteration: bool = False,
    output_types: list[DType],
) -> Dataset:
    """Random numbers without end, others in each pass where that is asked for."""
    seeds = chosen_seeds(ctx, seed, seed2, seed_generator, rerandomize_each_iteration)
    if output_types != [int64]:
        raise InvalidArgumentError(f"Data type mismatch at component 0: expected {output_types[0]} but got int64.")
    return RandomNumbers((), seeds, int64)


@kernel("AnonymousSeedGenerator", shape="-> (), ()", facts=("input_pipeline",), arithmetic=False)
def anonymous_seed_generator(ctx: KernelContext, seed: Array, seed2: Array, reshuffle: Array) -> tuple[Array, Array]:
    """Return a generator of seeds for successive passes, and its deleter."""
    pair = number_in(seed, "seed"), number_in(seed2, "seed2")
    seeds = seeds_of(ctx, *pair, flag_in(reshuffle, "reshuffle"), SeedGenerator)
    return scalar_object(seeds), scalar_object(None)


@kernel("AnonymousRandomSeedGenerator", shape="-> (), ()", facts=("input_pipeline",), arithmetic=False)
def anonymous_random_seed_generator(ctx: KernelContext, seed: Array, seed2: Array) -> tuple[Array, Array]:
    """Return a generator of new seeds for each pass, and its deleter."""
    return anonymous_seed_generator(ctx, seed, seed2, np.array(True))


@kernel("DummySeedGenerator", shape="-> ()", facts=("input_pipeline",), arithmetic=False)
def dummy_seed_generator() -> Array:
    """A handle in the place of seeds that the dataset makes itself."""
    return scalar_object(DUMMY)


@kernel("DeleteSeedGenerator", "DeleteRandomSeedGenerator", facts=("side_effect", "input_pipeline"), arithmetic=False)
def delete_seed_generator(handle: Array, deleter: Array) -> None:
    """Nothing: seeds live as long as something refers to them."""
