"""Argument checks that recur in kernels and shape functions; each failure is an InvalidArgumentError that shows the values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from ...support.errors import InvalidArgumentError
from ...types.arrays import Array
from ...types.dims import DimLike
from ...types.shapes import Shape, TensorSpec, as_shape, merge_shapes

_ARRAYS: Final = (np.ndarray, np.generic)
"""The types of a kernel's inputs; the operator | would make a new type at each call, which takes longer than the check."""


def require(condition: Any, message: str) -> None:
    """InvalidArgumentError(message) unless the condition holds."""
    if not condition:
        raise InvalidArgumentError(message)


def require_rank(x: Array | TensorSpec, rank: int, name: str) -> None:
    """Require an array of exactly this rank, or a spec of this or unknown rank."""
    if not isinstance(x, TensorSpec):
        require_dims(np.shape(x), rank, name)
    elif x.rank is not None:
        require_dims(x.shape, rank, name)


def require_dims(shape: Sequence[int] | Shape, rank: int, name: str) -> None:
    """A shape that is known has this rank."""
    if len(shape) != rank:
        raise InvalidArgumentError(f"{name} must be of rank {rank}, not of shape {as_shape(shape)}")


def require_min_rank(x: Array, rank: int, name: str) -> None:
    """`x` has at least this rank."""
    if np.ndim(x) < rank:
        raise InvalidArgumentError(f"{name} must have at least rank {rank}, not shape {np.shape(x)}")


def require_shape(x: Any, shape: Sequence[Any], name: str) -> None:
    """`x` has exactly this shape, as far as sizes are known: of arrays in a lowering some are not."""
    if not may_equal(np.shape(x), shape):
        raise InvalidArgumentError(f"{name} must have shape {tuple(shape)}, not {np.shape(x)}")


def require_same_shape(x: Any, y: Any, what: str) -> None:
    """Require x and y to have the same shape, as far as sizes are known; `what` names the two in the message."""
    if not may_equal(np.shape(x), np.shape(y)):
        raise InvalidArgumentError(f"{what} must have the same shape, not {np.shape(x)} and {np.shape(y)}")


def require_broadcast(x: Any, y: Any) -> None:
    """The shapes of x and y broadcast, as far as they are known."""
    for m, n in zip(reversed(x.shape), reversed(y.shape)):
        fits = not (isinstance(m, int) and isinstance(n, int)) or m == n or 1 in (m, n)
        require(fits, f"shapes {x.shape} and {y.shape} do not broadcast")


def is_empty(xp: Any, x: Any) -> bool:
    """Return whether an array of NumPy, or of a namespace like it, is known to have no elements."""
    size = xp.size(x)
    return isinstance(size, int) and size == 0


def may_equal(dims: Sequence[Any], expected: Sequence[Any]) -> bool:
    """Return False for shapes that are known to differ."""
    if len(dims) != len(expected):
        return False
    # A loop, as kernels ask it in each run; a generator takes four times as long for a matrix.
    for size, other in zip(dims, expected):  # noqa: SIM110 - see above
        if isinstance(size, int) and isinstance(other, int) and size != other:
            return False
    return True


def require_known_sizes(expected: tuple[Any, ...], sizes: tuple[Any, ...]) -> None:
    """Require equal shapes of arrays in a lowering, as far as sizes are known before the run."""
    require(may_equal(sizes, expected), f"{sizes} must be {expected}")


def scalar(x: Array, name: str) -> Any:
    """Return the element of a tensor of rank 0: a number, or the bytes of a string."""
    if isinstance(x, _ARRAYS) and not x.ndim:
        return x.item()
    if np.ndim(x) != 0:
        raise InvalidArgumentError(f"{name} must be a scalar, not of shape {np.shape(x)}")
    return np.asarray(x).item()


def single(x: Array, name: str) -> Any:
    """Return the element of a tensor with a single element, of any rank."""
    if isinstance(x, _ARRAYS) and x.size == 1:
        return x.item()
    if np.size(x) != 1:
        raise InvalidArgumentError(f"{name} must have one element, not shape {np.shape(x)}")
    return np.asarray(x).item()


def with_rank(shape: Shape, rank: int) -> tuple[DimLike, ...]:
    """Return the dimensions of a shape that must have this rank."""
    return tuple(merge_shapes(shape, Shape([None] * rank)))
