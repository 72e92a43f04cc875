"""Queries of a dataset as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...codecs import wire
from ...datasets.batches import Batch, ParallelBatch
from ...datasets.dataset import Dataset, SameElements, array_of, held_to, require_index
from ...datasets.filter_take_skip import Concatenate, Filter, Repeat, Shard, Skip, Take
from ...datasets.mapping import FlatMap, Zip
from ...datasets.ordering import Shuffle
from ...datasets.rewriting import finalized
from ...registry.registry import facts, kernel, not_differentiable, shape, without_gradient, zero_flops
from ...runtime.state.edge_values import is_of, scalar_object
from ...runtime.state.kernel_context import KernelContext
from ...support import dataclasses
from ...support.errors import FailedPreconditionError, InvalidArgumentError
from ...types.arrays import Array, Result, object_array
from ...types.dtypes import DType
from ...types.shapes import Shape
from ...types.tensors import FuncRef
from ..shared.plain_shapes import scalar_shape, signature
from ..shared.resource_access import resource
from ..state._tables import StaticTable
from ._datasets import dataset_of, function_of, number_in


@kernel("DatasetCardinality", "ExperimentalDatasetCardinality")
def dataset_cardinality(input_dataset: Array, *, cardinality_options: str = "") -> Result:
    """Return the number of elements, -1 for an infinite dataset and -2 for an unknown number."""
    dataset = dataset_of(input_dataset)
    options = cardinality_options.encode("utf-8", "surrogateescape")
    levels = wire.integers(options, 1)
    if isinstance(dataset, FlatMap) and levels and levels[-1] >= _MODERATE:
        return np.int64(dataset.counted())
    return np.array(dataset.cardinality() % 2**64, np.uint64).astype(np.int64)  # as TensorFlow's products and sums wrap


_MODERATE = 2
"""The lowest level at which functions are called to compute a cardinality."""


@kernel("DatasetToSingleElement")
def dataset_to_single_element(
    ctx: KernelContext, dataset: Array, *, output_types: list[DType], output_shapes: list[Shape]
) -> Sequence[Result]:
    """The only element; InvalidArgumentError if there is none, or more."""
    pull = finalized(dataset_of(dataset)).begin()
    element = pull()
    if element is None:
        raise InvalidArgumentError("Dataset was empty.")
    # A second element is asked for, as TensorFlow refuses a dataset that has one.
    if pull() is not None:
        raise InvalidArgumentError("Dataset had more than one element.")
    return held_to(element, output_types, output_shapes)


@kernel("ReduceDataset")
def reduce_dataset(
    ctx: KernelContext,
    input_dataset: Array,
    initial_state: list[Any],
    captured: list[Any],
    *,
    f: FuncRef,
    output_types: list[DType],
    output_shapes: list[Shape],
) -> Sequence[Result]:
    """Fold the function over the elements from an initial state."""
    run, state = function_of(ctx, f, captured), list(initial_state)
    for element in finalized(dataset_of(input_dataset)):
        state = run([*state, *element])
    # Only the last state is held to the declared shapes: in between a state may have any.
    return held_to(tuple(state), output_types, output_shapes)


not_differentiable("ReduceDataset")


@kernel("GetElementAtIndex")
def get_element_at_index(
    dataset: Array, index: Array, *, output_types: list[DType], output_shapes: list[Shape]
) -> Sequence[Result]:
    """The element of that place; OutOfRangeError if there is none."""
    source, place = dataset_of(dataset), number_in(index, "index")
    # Before the search: a dataset without random access makes all elements up to the place.
    if source.cardinality() >= 0:
        require_index(place, source.cardinality())
    return held_to(source.element(place), output_types, output_shapes)


@kernel("ComputeBatchSize")
def compute_batch_size(input_dataset: Array) -> Result:
    """Return the size of all batches in a dataset, -1 if its ops do not determine the size."""
    return np.int64(_batch_size(dataset_of(input_dataset)))


def _batch_size(dataset: Dataset) -> int:
    if isinstance(dataset, _SAME_BATCHES):
        return _batch_size(dataset.source)
    if isinstance(dataset, Zip | Concatenate):
        sizes = {_batch_size(source) for source in dataset.inputs}
        return sizes.pop() if len(sizes) == 1 else -1
    return dataset.size if isinstance(dataset, Batch) and not isinstance(dataset, ParallelBatch) else -1


_SAME_BATCHES = (SameElements, Filter, Repeat, Shard, Shuffle, Skip, Take)
"""Datasets whose elements are elements of their input, unchanged."""


@kernel("InitializeTableFromDataset")
def initialize_table_from_dataset(table_handle: Any, dataset: Array) -> None:
    """Fill a table with the pairs that a dataset gives."""
    table = resource(table_handle, StaticTable)
    # All pairs are read and checked before the table changes.
    pairs = list(finalized(dataset_of(dataset)))
    expected = (table.key_dtype, table.value_dtype)
    for pair in pairs:
        if len(pair) != 2 or not all(is_of(array_of(part), dtype) for part, dtype in zip(pair, expected)):
            actual = [array_of(component).dtype for component in pair]
            raise InvalidArgumentError(f"a table of {table.key_dtype} and {table.value_dtype} cannot be filled with {actual}")
        if any(np.ndim(part) for part in pair):
            raise InvalidArgumentError("keys and values of a table must be scalars")
    keys, values = zip(*pairs) if pairs else ((), ())
    columns = zip((keys, values), expected)
    table.initialize(*[object_array(list(c), (-1,)) if t.is_object else np.array(c, t.numpy) for c, t in columns])


@kernel("CompressElement")
def compress_element(components: list[Any]) -> Array:
    """Return an element in a variant. TensorFlow compresses the element, but only UncompressElement could see a difference."""
    return scalar_object(CompressedElement(tuple(map(array_of, components))))


@kernel("UncompressElement")
def uncompress_element(compressed: Array, *, output_types: list[DType]) -> Sequence[Result]:
    """The components of an element in a variant."""
    element = compressed.item() if np.ndim(compressed) == 0 else None
    if not isinstance(element, CompressedElement):
        raise InvalidArgumentError("Tensor does not contain a compressed element")
    component_dtypes = [component.dtype for component in element.components]
    if len(component_dtypes) != len(output_types) or not all(map(is_of, element.components, output_types)):
        raise FailedPreconditionError(f"the element holds {component_dtypes}, not {list(map(str, output_types))}")
    return element.components


@dataclasses.dataclass(frozen=True, slots=True)
class CompressedElement:
    """An element as a single value."""

    components: tuple[Any, ...]


@kernel("WrapDatasetVariant", "UnwrapDatasetVariant")
def wrap_dataset_variant(input_handle: Array) -> Array:
    """The dataset."""
    # TensorFlow wraps a dataset so that its variant can be copied to another device and back. Here there is one device.
    return scalar_object(dataset_of(input_handle))


_SCALARS = (
    "CompressElement", "ComputeBatchSize", "DatasetCardinality", "ExperimentalDatasetCardinality", "WrapDatasetVariant",
    "UnwrapDatasetVariant",
)  # fmt: skip
_GOING_THROUGH = ("InitializeTableFromDataset", "DatasetToSingleElement", "ReduceDataset")
_TAKEN = ("DatasetToSingleElement", "GetElementAtIndex", "UncompressElement")
_ELEMENTS = ("ReduceDataset", *_TAKEN)


shape(*_SCALARS)(scalar_shape)


shape(*_ELEMENTS)(signature("_* -> {output_shapes}"))


without_gradient("InitializeTableFromDataset", *_SCALARS, *_TAKEN)
facts("observes_pipeline", of=("GetElementAtIndex",))
zero_flops("InitializeTableFromDataset", *_SCALARS, *_ELEMENTS)
facts("side_effect", "initializes_table", of=("InitializeTableFromDataset",))
facts(
    "input_pipeline",
    of=("InitializeTableFromDataset", *_SCALARS, "DatasetToSingleElement", "ReduceDataset", "GetElementAtIndex"),
)
facts("takes_all_elements", of=_GOING_THROUGH)
