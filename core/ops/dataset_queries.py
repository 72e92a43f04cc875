"""What is asked of a dataset as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..arrays import Array, Result
from ..datasets.base import known_size, require_index
from ..datasets.rewriting import finalized
from ..dtypes import DType
from ..errors import InvalidArgumentError
from ..registry import kernel, not_differentiable, shape, zero_flops
from ..runtime.kernel_context import KernelContext
from ..runtime.values import scalar_object
from ..shapes import SCALAR, Shape
from ..tensors import FuncRef
from ._datasets import dataset_of, function_of, number_in


@kernel("DatasetCardinality", "ExperimentalDatasetCardinality")
def dataset_cardinality(input_dataset: Array) -> Result:
    """The number of elements, -1 for infinitely many and -2 for one that is not known."""
    return np.int64(dataset_of(input_dataset).cardinality())


@kernel("DatasetToSingleElement")
def dataset_to_single_element(ctx: KernelContext, dataset: Array) -> Sequence[Result]:
    """The only element; InvalidArgumentError where there is none, or more."""
    pull = finalized(dataset_of(dataset)).begin()
    element = pull()
    if element is None:
        raise InvalidArgumentError("Dataset was empty.")
    if pull() is not None:
        raise InvalidArgumentError("Dataset had more than one element.")
    return element


@kernel("ReduceDataset")
def reduce_dataset(
    ctx: KernelContext,
    input_dataset: Array,
    initial_state: list[Any],
    captured: list[Any],
    *,
    f: FuncRef,
    output_types: list[DType],
) -> Sequence[Result]:
    """What the function makes of a state and each element, up to the last one."""
    run, state = function_of(ctx, f, captured), list(initial_state)
    for element in finalized(dataset_of(input_dataset)):
        state = run([*state, *element])
    return state


@kernel("GetElementAtIndex")
def get_element_at_index(dataset: Array, index: Array) -> Sequence[Result]:
    """The element of that place; OutOfRangeError where there is none."""
    found, place = finalized(dataset_of(dataset)), number_in(index, "index")
    require_index(place, known_size(found))
    return found.element(place)


@kernel("WrapDatasetVariant", "UnwrapDatasetVariant")
def wrap_dataset_variant(input_handle: Array) -> Array:
    """The dataset."""
    return scalar_object(dataset_of(input_handle))


_SCALARS = ("DatasetCardinality", "ExperimentalDatasetCardinality", "WrapDatasetVariant", "UnwrapDatasetVariant")
_ELEMENTS = ("DatasetToSingleElement", "ReduceDataset", "GetElementAtIndex")


@shape(*_SCALARS)
def scalar_shape(*inputs: Any) -> Shape:
    return SCALAR


@shape(*_ELEMENTS)
def element_shape(*inputs: Any, output_shapes: list[Shape]) -> Any:
    return output_shapes


not_differentiable(*_SCALARS, *_ELEMENTS)
zero_flops(*_SCALARS, *_ELEMENTS)
