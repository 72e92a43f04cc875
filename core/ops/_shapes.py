"""What shape functions and shape-arithmetic kernels share: reading constant inputs that may hold symbolic dimensions."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any

import numpy as np

from ..dims import Dim, DimLike
from ..dtypes import DType, int64
from ..errors import InvalidArgumentError, UnimplementedError
from ..shapes import UNKNOWN, Shape, TensorSpec


def dims_of(spec: TensorSpec) -> list[DimLike] | None:
    """The elements of a constant integer input, flattened; None where it is not known."""
    return None if spec.value is None else as_dims(spec.value)


def as_dims(value: Any) -> list[DimLike]:
    """The elements of an integer array, plain or symbolic, as a flat list of int and Dim."""
    return [d if isinstance(d, Dim) else int(d) for d in np.ravel(value).tolist()]


def scalar_of(spec: TensorSpec) -> int | None:
    """The value of a constant integer input of one element; None where it is not a known number."""
    found = dims_of(spec)
    return found[0] if found is not None and len(found) == 1 and isinstance(found[0], int) else None


def shape_from(spec: TensorSpec) -> Shape:
    """The shape that a shape tensor describes; -1 is an unknown dimension."""
    if spec.rank is not None and spec.rank > 1:
        raise InvalidArgumentError(f"a shape must be a vector, not of shape {spec.shape}")
    found = dims_of(spec)
    if found is not None:
        return Shape(None if isinstance(d, int) and d < 0 else d for d in found)
    if spec.rank == 1 and isinstance(spec.shape[0], int):
        return Shape([None] * spec.shape[0])
    return UNKNOWN


def shape_value(dims: Iterable[DimLike], dtype: DType = int64) -> np.ndarray[Any, Any]:
    """Dimensions as a vector of `dtype`, or as an object array where some are symbolic."""
    listed = list(dims)
    return np.array(listed, object if any(isinstance(d, Dim) for d in listed) else dtype.numpy)


def scalar_value(dim: DimLike, dtype: DType = int64) -> np.ndarray[Any, Any]:
    """One dimension as a scalar array of `dtype`, or of objects where it is symbolic."""
    return np.array(dim, object if isinstance(dim, Dim) else dtype.numpy)


def unknown_dims(rank: int | None) -> Shape:
    """A shape of which only the rank is known, if that."""
    return UNKNOWN if rank is None else Shape([None] * rank)


def require_rank(spec: TensorSpec, rank: int, name: str) -> None:
    """InvalidArgumentError where the rank is known to be another."""
    if spec.rank is not None and spec.rank != rank:
        raise InvalidArgumentError(f"{name} must be of rank {rank}, not of shape {spec.shape}")


def normalize_axis(axis: int, rank: int, name: str = "axis") -> int:
    """A non-negative axis below `rank`; InvalidArgumentError where it is out of range."""
    if not -rank <= axis < rank:
        raise InvalidArgumentError(f"{name} {axis} is out of range [{-rank}, {rank}) for a tensor of rank {rank}")
    return axis + rank if axis < 0 else axis


def scalar_int(value: Any, name: str) -> int:
    """The one element of an integer input; InvalidArgumentError where there are more or none."""
    array = np.asarray(value)
    if array.size != 1:
        raise InvalidArgumentError(f"{name} must be a single number, not of shape {Shape(array.shape)}")
    return number(array.item())


def number(value: Any) -> int:
    """A plain int; UnimplementedError for a symbolic dimension where a number is needed."""
    if isinstance(value, Dim):
        raise UnimplementedError(f"the symbolic dimension {value} stands where a number is needed")
    return operator.index(value)


def numbers(value: Any) -> list[int]:
    """The elements of an integer array as a flat list of plain ints."""
    return [number(v) for v in np.ravel(value).tolist()]


def vector_ints(value: Any, name: str) -> list[int]:
    """The elements of an integer vector; InvalidArgumentError where it is of another rank."""
    if np.ndim(value) != 1:
        raise InvalidArgumentError(f"{name} must be a vector, not of shape {Shape(np.shape(value))}")
    return numbers(value)


def replaced(shape: Shape, axis: int, dim: DimLike | None) -> Shape:
    """`shape` with another dimension at `axis`."""
    dims = list(shape)
    dims[normalize_axis(axis, len(dims))] = Dim.unknown() if dim is None else dim
    return Shape(dims)
