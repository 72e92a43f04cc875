"""What shape functions and shape-arithmetic kernels share: reading constant inputs that may hold symbolic dimensions."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any, Final

import numpy as np

from ...support.errors import InvalidArgumentError
from ...types.dims import Dim, DimLike
from ...types.dtypes import DType, int64
from ...types.shapes import UNKNOWN, Shape, TensorSpec
from .argument_checks import require, require_rank, single


def dims_of(spec: TensorSpec) -> list[DimLike] | None:
    """The elements of a constant integer input, flattened; None where it is not known."""
    return None if spec.value is None else as_dims(spec.value)


def as_dims(value: Any) -> list[DimLike]:
    """The elements of an integer array, plain or symbolic, as a flat list of int and Dim; InvalidArgumentError for others."""
    found = np.ravel(value).tolist()
    wrong = next((d for d in found if not isinstance(d, (int, Dim))), None)
    if wrong is not None:
        raise InvalidArgumentError(f"{wrong!r} is no size")
    return [d if isinstance(d, Dim) else int(d) for d in found]


def scalar_of(spec: TensorSpec) -> int | None:
    """The value of a constant integer input of one element; None where it is not a known number."""
    found = dims_of(spec)
    return found[0] if found is not None and len(found) == 1 and isinstance(found[0], int) else None


def shape_from(spec: TensorSpec, rank: int | None = None) -> Shape:
    """The shape that a vector of dimensions describes, of which it must hold `rank` if given; a negative one is unknown."""
    require_rank(spec, 1, "a shape")
    length = spec.shape[0] if spec.rank == 1 and isinstance(spec.shape[0], int) else None
    require(rank is None or length in (None, rank), f"a shape must be a vector of {rank} elements, not of shape {spec.shape}")
    found = dims_of(spec)
    if found is None:
        return unknown_dims(rank if length is None else length)
    return Shape(None if isinstance(d, int) and d < 0 else d for d in found)


def shape_value(dims: Iterable[DimLike], dtype: DType = int64) -> np.ndarray[Any, Any]:
    """Dimensions as a vector of `dtype`, or as an object array where some are symbolic."""
    listed = list(dims)
    try:
        return np.array(listed, object if any(d is None or isinstance(d, Dim) for d in listed) else dtype.numpy)
    except OverflowError:
        shown = ", ".join(map(str, listed))
        raise InvalidArgumentError(f"the dimensions [{shown}] do not fit in {dtype}") from None


def scalar_value(dim: DimLike, dtype: DType = int64) -> np.ndarray[Any, Any]:
    """One dimension as a scalar array of `dtype`, or of objects where it is symbolic."""
    return shape_value([dim], dtype).reshape(())


_MOST_DIMS: Final = 254
"""What TensorFlow's tensors have at most: a list of more dimensions is made for no vector that is said to hold them."""


def unknown_dims(rank: DimLike | None) -> Shape:
    """A shape of which only the rank is known, if that."""
    if not isinstance(rank, int):
        return UNKNOWN
    if rank > _MOST_DIMS:
        raise InvalidArgumentError(f"a tensor has at most {_MOST_DIMS} dimensions, not {rank}")
    return Shape([None] * rank)


def normalize_axis(axis: Any, rank: int, name: str = "axis") -> int:
    """A non-negative axis below `rank`; InvalidArgumentError where it is out of range."""
    if not -rank <= axis < rank:
        raise InvalidArgumentError(f"{name} {axis} is out of range [{-rank}, {rank}) for a tensor of rank {rank}")
    return axis + rank if axis < 0 else axis


def scalar_int(value: Any, name: str) -> int:
    """The one element of an integer input; InvalidArgumentError where there are more or none."""
    return number(single(value, name))


def number(value: Any) -> int:
    """A plain int; UnimplementedError for a symbolic dimension where a number is needed."""
    return operator.index(value)


def numbers(value: Any) -> list[int]:
    """The elements of an integer array as a flat list of plain ints."""
    if isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype.kind in "iu":
        return value.tolist()
    return [number(v) for v in np.ravel(value).tolist()]


def ints(value: Any, name: str, count: int | None = None) -> tuple[int, ...]:
    """A vector of integers (of `count` elements) as a tuple; InvalidArgumentError where it is of another shape."""
    if isinstance(value, np.ndarray) and value.ndim == 1 and count in (None, value.size):
        return tuple(numbers(value))
    if np.ndim(value) != 1 or (count is not None and np.size(value) != count):
        wanted = "a vector" if count is None else f"a vector of {count} elements"
        raise InvalidArgumentError(f"{name} must be {wanted}, not of shape {Shape(np.shape(value))}")
    return tuple(numbers(value))


def replaced(shape: Shape, axis: int, dim: DimLike | None) -> Shape:
    """`shape` with another dimension at `axis`."""
    dims = list(shape)
    dims[normalize_axis(axis, len(dims))] = Dim.unknown() if dim is None else dim
    return Shape(dims)
