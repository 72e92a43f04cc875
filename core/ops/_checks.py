"""Argument checks that recur in kernels and shape functions; each failure is an InvalidArgumentError that shows the values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..dims import DimLike
from ..errors import InvalidArgumentError
from ..shapes import Shape, TensorSpec, merge_shapes

Array = np.ndarray[Any, Any]


def require(condition: Any, message: str) -> None:
    """InvalidArgumentError(message) unless the condition holds."""
    if not condition:
        raise InvalidArgumentError(message)


def require_rank(x: Array, rank: int, name: str) -> None:
    """`x` has exactly this rank."""
    if np.ndim(x) != rank:
        raise InvalidArgumentError(f"{name} must have rank {rank}, not shape {np.shape(x)}")


def require_min_rank(x: Array, rank: int, name: str) -> None:
    """`x` has at least this rank."""
    if np.ndim(x) < rank:
        raise InvalidArgumentError(f"{name} must have at least rank {rank}, not shape {np.shape(x)}")


def require_shape(x: Array, shape: Sequence[int], name: str) -> None:
    """`x` has exactly this shape."""
    if np.shape(x) != tuple(shape):
        raise InvalidArgumentError(f"{name} must have shape {tuple(shape)}, not {np.shape(x)}")


def require_same_shape(x: Array, y: Array, what: str) -> None:
    """x and y have the same shape; `what` names the two."""
    if np.shape(x) != np.shape(y):
        raise InvalidArgumentError(f"{what} must have the same shape, not {np.shape(x)} and {np.shape(y)}")


def ints(x: Array, name: str, count: int | None = None) -> tuple[int, ...]:
    """A vector of integers (of `count` elements) as a tuple."""
    if np.ndim(x) != 1 or (count is not None and np.size(x) != count):
        wanted = "a vector" if count is None else f"a vector of {count} elements"
        raise InvalidArgumentError(f"{name} must be {wanted}, not of shape {np.shape(x)}")
    return tuple(np.asarray(x).tolist())


def scalar(x: Array, name: str) -> Any:
    """The one number of a tensor of rank 0."""
    if np.ndim(x) != 0:
        raise InvalidArgumentError(f"{name} must be a scalar, not of shape {np.shape(x)}")
    return x.item()


def single(x: Array, name: str) -> Any:
    """The one number of a tensor of any rank."""
    if np.size(x) != 1:
        raise InvalidArgumentError(f"{name} must have one element, not shape {np.shape(x)}")
    return np.asarray(x).reshape(()).item()


def dims_of(spec: TensorSpec, rank: int) -> tuple[DimLike, ...]:
    """The dimensions of a spec that must have this rank; unknown ones where its rank is unknown."""
    return with_rank(spec.shape, rank)


def with_rank(shape: Shape, rank: int) -> tuple[DimLike, ...]:
    """The dimensions of a shape that must have this rank."""
    return tuple(merge_shapes(shape, Shape([None] * rank)))


def wide(x: Array) -> Array:
    """half and bfloat16 as float32, other dtypes as they are."""
    return x.astype(np.float32) if x.dtype.itemsize == 2 and x.dtype.kind in "fV" else x


def value_shape(spec: TensorSpec, rank: int | None = None) -> Shape:
    """The Shape that a vector of dimensions holds, as far as its value is known."""
    (length,) = with_rank(spec.shape, 1)
    if rank is not None and isinstance(length, int):
        require(length == rank, f"a shape must be a vector of {rank} elements, not of shape {spec.shape}")
    if spec.value is None:
        rank = length if rank is None and isinstance(length, int) else rank
        return Shape() if rank is None else Shape([None] * rank)
    sizes = ints(spec.value, "a shape", rank)
    return Shape(d if not isinstance(d, (int, np.integer)) else (int(d) if d >= 0 else None) for d in sizes)
