"""The axes over which the gradient of a broadcast operand is summed, in a run and as far as every run has the same."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ...support.errors import InvalidArgumentError
from ...types.arrays import Array
from ...types.dims import DimLike, is_never_one
from ...types.shapes import Shape, TensorSpec, broadcast_shapes


def require_vectors(s0: Array, s1: Array) -> None:
    if s0.ndim != 1 or s1.ndim != 1:
        raise InvalidArgumentError(f"shapes must be vectors, not of shape {Shape(s0.shape)} and {Shape(s1.shape)}")


@functools.lru_cache(4096)
def summed_axes(s0: tuple[int, ...], s1: tuple[int, ...], dtype: np.dtype[Any]) -> tuple[Array, ...]:
    """The axes for two shapes; the same few come again at every step of a training."""
    broadcast_shapes(Shape(s0), Shape(s1))
    rank = max(len(s0), len(s1))
    padded = ([1] * (rank - len(s)) + list(s) for s in (s0, s1))
    return tuple(np.array([i for i, d in enumerate(dims) if d == 1 and s0 != s1], dtype) for dims in padded)


def summed_in_every_run(shape_spec: TensorSpec, sizes: list[DimLike], others: list[DimLike]) -> Shape | TensorSpec:
    """Return the axes over which the gradient of an operand of `sizes` is summed; a vector of unknown length where the
    axes depend on sizes that only a run knows. Equal shapes have no axes, not even those of size 1.
    """
    ones = [True] * (len(others) - len(sizes)) + [_is_one(size) for size in sizes]
    is_equal = False if _must_differ(sizes, others) else sizes == others or None
    if not is_equal and (None in ones or (is_equal is None and True in ones)):
        return Shape([None])
    axes = [] if is_equal else [i for i, is_one in enumerate(ones) if is_one]
    return TensorSpec(shape_spec.dtype, Shape([len(axes)]), np.array(axes, shape_spec.dtype.numpy))


def _is_one(size: DimLike) -> bool | None:
    """Return whether a size is 1; None where some runs may decide otherwise."""
    if isinstance(size, int):
        return size == 1
    return False if is_never_one(size) else None


def _must_differ(sizes: list[DimLike], others: list[DimLike]) -> bool:
    """Return True where no run can have two equal shapes."""
    return len(sizes) != len(others) or any(map(_is_other, sizes, others)) or any(map(_is_other, others, sizes))


def _is_other(size: DimLike, other: DimLike) -> bool:
    return (isinstance(size - other, int) and size != other) or (size == 1 and is_never_one(other))
