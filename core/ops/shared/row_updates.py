"""Rows in XLA that are added, multiplied or compared into the rows of their numbers, with TensorFlow's results for NaN."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...numerics.group_reductions import WORST
from ...numerics.half_precision import is_narrow
from ...support.errors import InvalidArgumentError
from ...types.shapes import Shape


def grouped(
    xla: Any,
    rows: Any,
    places: Any,
    count: int,
    how: str,
    start: Any = 0,
    in_vectors: Callable[..., int] | None = None,
) -> Any:
    """Return `count` rows of `start`, with `rows` added, multiplied, compared or set (`how`) into those at `places`.

    Rows with other places are dropped. `in_vectors` returns the number of columns that TensorFlow takes in vectors.
    """
    result = xla.full((count, *rows.shape[1:]), start, rows.dtype)
    if not math.prod(rows.shape):
        return result
    at = xla.where(places < 0, count, places)  # JAX would count negative places from the end
    return updated(xla, result, at, settled(xla, how, count, at, rows, in_vectors(rows) if in_vectors else 0), how)


def scatter_nd(xla: Any, target: Any, indices: Any, updates: Any, how: str, policy: str) -> Any:
    """Return `target` with `updates` added, compared or set (`how`) at index vectors; NumPy has the error for others."""
    require_room(target.shape, indices, updates)
    depth = scatter_depth(target.shape, indices.shape, updates.shape)
    if not target.size or not updates.size:
        return target
    if not depth:
        return updated(xla, target[None], xla.zeros(indices.shape[:-1], np.int32), updates, how)[0]
    is_inside = ((indices >= 0) & (indices < np.array(target.shape[:depth], indices.dtype))).all(-1)
    if policy != "IGNORE":
        xla.require(is_inside.all())
    # JAX would count negative places from the end, and drops those beyond it.
    places = tuple(xla.where(is_inside, indices[..., axis], target.shape[axis]) for axis in range(depth))
    return updated(xla, target, places, updates, how)


def scatter_depth(dims: Sequence[int], index_shape: tuple[int, ...], update_shape: tuple[int, ...]) -> int:
    """Return the number of dimensions that an index vector addresses; InvalidArgumentError if the shapes do not fit."""
    if not index_shape:
        raise InvalidArgumentError("indices must be at least a vector")
    depth = index_shape[-1]
    expected = (*index_shape[:-1], *dims[depth:])
    if depth > len(dims) or tuple(update_shape) != expected:
        raise InvalidArgumentError(
            f"Must have updates.shape = indices.shape[:batch_dim] + params_shape[slice_dim:], got updates.shape: "
            f"{Shape(update_shape)}, indices.shape: {Shape(index_shape)}, params_shape: {Shape(dims)}"
        )
    return depth


def require_room(target: Sequence[int], indices: Any, updates: Any) -> None:
    """Raise InvalidArgumentError if indices or updates are given, but not both, or for no elements."""
    if (indices.size or updates.size) and not (math.prod(target) and indices.size and updates.size):
        raise InvalidArgumentError(f"Indices and updates specified for empty output shape {Shape(target)}")


def updated(xla: Any, target: Any, places: Any, rows: Any, how: str) -> Any:
    """Return `target` with `rows` added (`how` is add), multiplied, compared or set at row numbers, or a tuple of places.

    Rows with a place outside the target are dropped; negative places must have been replaced before.
    """
    # XLA adds no truth values: or and and are the maximum and the minimum of 0 and 1.
    if target.dtype == bool:
        how = {"add": "max", "mul": "min", "multiply": "min"}.get(how, how)
        return updated(xla, target.astype(np.uint8), places, rows.astype(np.uint8), how).astype(bool)
    if how == "add" and is_narrow(target.dtype):
        # Sums in 16 bits stop growing after a few hundred rows; float32 is rounded once.
        sums = xla.zeros(target.shape, np.float32).at[places].add(rows.astype(np.float32), mode="drop")
        return target + sums.astype(target.dtype)
    if how == "mul" and is_narrow(target.dtype):
        products = xla.ones(target.shape, np.float32).at[places].mul(rows.astype(np.float32), mode="drop")
        return target * products.astype(target.dtype)
    return getattr(target.at[places], how)(rows, mode="drop")


def scattered(xla: Any, target: Any, vectors: Any, rows: Any, how: str) -> Any:
    """As `updated`, at index vectors (..., depth) that lie in `target`."""
    return updated(xla, target, tuple(vectors[..., axis] for axis in range(vectors.shape[-1])), rows, how)


def settled(xla: Any, how: str, count: int, places: Any, rows: Any, in_vectors: int = 0) -> Any:
    """Return the rows (n, ...) of which the extremes are TensorFlow's in the presence of NaN.

    The rule is stated in `numerics.group_reductions.settle_nans`.
    """
    if how not in WORST or rows.dtype.kind not in "fV":
        return rows

    def changed(rows: Any) -> Any:
        flat = rows.reshape(rows.shape[0], -1)
        position, is_nan = xla.arange(flat.shape[0], dtype=np.int32)[:, None], xla.isnan(flat)
        none = xla.full((count, flat.shape[1]), -1, np.int32)
        # Per segment and column the position of the last NaN: all rows up to there are lost, unless it is the last row.
        last_nan = none.at[places].max(xla.where(is_nan, position, -1), mode="drop").at[places].get(mode="clip")
        last_row = none.at[places].max(position, mode="drop").at[places].get(mode="clip")
        is_lost = (position <= last_nan) & ~(is_nan & (position == last_row))
        if in_vectors:
            sizes = xla.zeros(count, np.int32).at[places].add(1, mode="drop").at[places].get(mode="clip")
            in_vector = xla.arange(flat.shape[1]) < in_vectors
            is_lost = xla.where(in_vector, is_nan & (sizes > 1)[:, None], is_lost)
        return xla.where(is_lost, np.array(WORST[how], rows.dtype), flat).reshape(rows.shape)

    # The rows are searched for NaN in every run, and changed in few.
    return xla.lax.cond(xla.isnan(rows).any(), changed, lambda rows: rows, rows)
