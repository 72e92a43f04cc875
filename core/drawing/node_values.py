"""A value as a page shows it: statistics, a histogram, the first elements, a picture, a file."""

from __future__ import annotations

import base64
import io
import zlib
from collections.abc import Mapping
from typing import Final, TypeVar

import numpy as np

from ..explaining.node_listing import value_text
from ..numerics.tensor_statistics import TensorStatistics, histogram
from ..support import dataclasses
from ..types.arrays import Array
from ..types.dtypes import DType, from_numpy
from ..types.shapes import Shape
from ..types.tensors import Tensor
from .value_pictures import ValuePicture

_BINS: Final = 24
_FIRST: Final = 16
"""How many elements are shown."""
_Key = TypeVar("_Key")


@dataclasses.dataclass(frozen=True, slots=True)
class NodeValue:
    """A value in words. `npy` holds a NumPy file, deflated and in base64, or nothing; `file_dtype` is the file's dtype
    where NumPy's files have no dtype of TensorFlow's kind.
    """

    holds: str
    facts: tuple[tuple[str, str], ...]
    first: str
    bins: tuple[int, ...] = ()
    """How many elements lie in each of equally long intervals from the minimum to the maximum."""
    ends: tuple[str, ...] = ()
    npy: str = ""
    file_dtype: str = ""
    title: str = ""
    """The run that made the value, and the output; empty for a value from the file of the graph."""
    picture: ValuePicture | None = None
    classes: tuple[tuple[str, float], ...] = ()
    """The best classes of the first example with their scores, where the value has a score for each class."""


def node_value(array: Array, dtype: DType, statistics: TensorStatistics, in_full: bool) -> NodeValue:
    """Return a value in words, with a file of all elements where `in_full` says so. Strings have no file, and a single
    element needs no more than itself.
    """
    bins = histogram(array, statistics, _BINS)
    elements = [value_text(item) for item in array.flat[:_FIRST].tolist()]
    first = f"{', '.join(elements)}{', ...' if array.size > _FIRST else ''}"
    holds = f"{dtype} {Shape(array.shape)}"
    ends = (_number(statistics.min), _number(statistics.max)) if len(bins) > 1 else ()
    value = NodeValue(holds, tuple(_facts(statistics)) if array.size != 1 else (), first, bins if len(bins) > 1 else (), ends)
    if not in_full or dtype.is_object or array.size == 1:
        return value
    saved = _saveable(array)
    note = str(saved.dtype) if saved.dtype != array.dtype else ""
    return dataclasses.replace(value, npy=_npy(saved), file_dtype=note)


def held_in_full(tensors: Mapping[_Key, Tensor], limit: int) -> set[_Key]:
    """Return the keys of the smallest tensors that take at most `limit` bytes together."""
    return smallest(
        {key: tensor.size * tensor.dtype.size for key, tensor in tensors.items() if not tensor.dtype.is_object}, limit
    )


def smallest(sizes: Mapping[_Key, int], limit: int) -> set[_Key]:
    """Return the keys of the smallest sizes whose sum is at most `limit`."""
    held: set[_Key] = set()
    for key in sorted(sizes, key=lambda key: sizes[key]):
        limit -= sizes[key]
        if limit < 0:
            break
        held.add(key)
    return held


def _facts(statistics: TensorStatistics) -> list[tuple[str, str]]:
    """Return names and texts of the statistics, without figures that the dtype does not have."""
    figures = (
        ("min", statistics.min),
        ("max", statistics.max),
        ("mean", statistics.mean),
        ("standard deviation", statistics.std),
    )
    counts = (
        ("elements", statistics.count),
        ("zeros", statistics.zeros),
        ("NaN", statistics.nans),
        ("Inf", statistics.infs),
    )
    texts = [(name, _number(figure)) for name, figure in figures if figure is not None]
    return texts + [(name, f"{count:,}") for name, count in counts]


def _number(figure: float | complex | None) -> str:
    return str(figure) if figure is None or isinstance(figure, int) else f"{figure:.6g}"


def _saveable(array: Array) -> Array:
    """Return the elements in a dtype that NumPy's files have: those of other packages as float32 or int8, without loss."""
    if array.dtype.isbuiltin == 1:
        return array
    return array.astype(np.float32 if from_numpy(array.dtype).is_floating else np.int8)


def _npy(array: Array) -> str:
    file = io.BytesIO()
    np.lib.format.write_array(file, array, allow_pickle=False)
    return base64.b64encode(zlib.compress(file.getvalue())).decode()
