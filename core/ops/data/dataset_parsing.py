"""Datasets of parsed Examples."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...datasets.dataset import Dataset, Element, require_types
from ...datasets.mapping import ParallelMap
from ...runtime.state.edge_values import scalar_object
from ...runtime.state.kernel_context import KernelContext
from ...support.errors import InvalidArgumentError
from ...types.arrays import object_array
from ...types.dtypes import DType, string
from ...types.shapes import Shape
from ..io.parsing_examples import dense_features, parse_batch
from ..sparse.ragged_variants import RaggedVariant
from ._datasets import Calls, dataset_kernel


@dataset_kernel("ParseExampleDataset", "ParseExampleDatasetV2")
def parse_example_dataset(
    ctx: KernelContext,
    input_dataset: Dataset,
    num_parallel_calls: Calls,
    dense_defaults: list[Any],
    *,
    sparse_keys: list[str],
    dense_keys: list[str],
    sparse_types: list[DType],
    Tdense: list[DType],
    dense_shapes: list[Shape],
    ragged_keys: list[str] = (),  # type: ignore[assignment]
    ragged_value_types: list[DType] = (),  # type: ignore[assignment]
    ragged_split_types: list[DType] = (),  # type: ignore[assignment]
) -> Dataset:
    """Parse batches of Examples: tensors in the order of their keys, sparse and ragged tensors as variants."""
    if [dtype.base for dtype in input_dataset.spec.dtypes] != [string]:
        raise InvalidArgumentError("Input dataset should be a dataset of vectors of strings")
    dense = dense_features([_encoded(key) for key in dense_keys], Tdense, dense_shapes, dense_defaults)
    if len(sparse_keys) != len(sparse_types) or not len(ragged_keys) == len(ragged_value_types) == len(ragged_split_types):
        raise InvalidArgumentError("each sparse key needs a type, each ragged key one of its values and one of its splits")
    sparse = [(_encoded(key), dtype) for key, dtype in zip(sparse_keys, sparse_types)]
    ragged = list(zip(map(_encoded, ragged_keys), ragged_value_types, ragged_split_types))
    keys = [*map(_encoded, sparse_keys), *map(_encoded, dense_keys), *map(_encoded, ragged_keys)]
    # The features of a parsed example are a dictionary in Python, which tf.data flattens by sorted keys.
    order = sorted(range(len(keys)), key=keys.__getitem__)

    def parse(element: Element) -> Element:
        require_types((string,), element)
        *columns, dense_parts, ragged_values, ragged_splits = parse_batch(
            element[0], np.empty(0, object), sparse, dense, ragged
        )
        parts: list[Any] = [object_array(list(part), (3,)) for part in zip(*columns)]
        parts += dense_parts
        parts += [scalar_object(RaggedVariant((splits,), values)) for values, splits in zip(ragged_values, ragged_splits)]
        return tuple([parts[i] for i in order])

    return ParallelMap((input_dataset,), parse)


def _encoded(key: str) -> bytes:
    return key.encode("utf-8", "surrogateescape")
