"""Reductions of rows by group: sums, products, extremes, also in place.

Results for NaN and empty groups are TensorFlow's, of SegmentMax, UnsortedSegmentMax and related kernels.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ..types.arrays import Array
from . import sparse_products
from .half_precision import is_narrow

_ONE_BY_ONE: Final = (np.multiply, np.maximum, np.minimum)
_WORST: Final = {np.maximum: -np.inf, np.minimum: np.inf}


def lowest(dtype: np.dtype[Any]) -> Any:
    """Return the least finite number of a dtype."""
    return _limits(dtype).min if dtype.kind != "b" else False


def highest(dtype: np.dtype[Any]) -> Any:
    """Return the greatest finite number of a dtype."""
    return _limits(dtype).max if dtype.kind != "b" else True


def _limits(dtype: np.dtype[Any]) -> Any:
    if dtype.kind in "iu":
        return np.iinfo(dtype)
    if dtype.kind == "V":
        import ml_dtypes

        return ml_dtypes.finfo(dtype)
    return np.finfo(dtype)


def reduce_groups(ufunc: np.ufunc, groups: Array, rows: Array) -> tuple[Array, Array]:
    """Return (group numbers in ascending order, `ufunc` over the rows of each group); narrow floats are reduced in float32."""
    if not len(groups):
        return groups, rows
    order, groups = _in_order(groups)
    starts = _starts(groups)
    if len(starts) == len(groups):
        return groups, rows if order is None else rows[order]
    if ufunc is np.add and rows.dtype.kind in "fc" and rows.dtype.itemsize >= 4 and rows.size > len(rows):
        return groups[starts], _sums(rows, order, starts)
    rows = rows if order is None else rows[order]
    if is_narrow(rows.dtype):
        return groups[starts], ufunc.reduceat(rows.astype(np.float32), starts, axis=0).astype(rows.dtype)
    return groups[starts], ufunc.reduceat(rows, starts, axis=0, dtype=rows.dtype)


def _in_order(groups: Array) -> tuple[Array | None, Array]:
    """Return (the stable order that sorts the groups, None where sorted; the sorted groups)."""
    if bool(np.all(groups[1:] >= groups[:-1])):
        return None, groups
    if groups.dtype.kind in "iu" and groups.min() >= 0 and groups.max() < 1 << 31:
        # np.sort of numbers is many times faster than np.argsort: the place is packed into the low bits.
        keys = np.sort(groups.astype(np.int64) << 32 | np.arange(len(groups)))
        return keys & 0xFFFFFFFF, (keys >> 32).astype(groups.dtype)
    order = np.argsort(groups, kind="stable")
    return order, groups[order]


def _starts(groups: Array) -> Array:
    """Return the first row of each of the sorted groups."""
    return np.flatnonzero(np.concatenate([[True], groups[1:] != groups[:-1]]))


def settle_nans(ufunc: np.ufunc, groups: Array, rows: Array, in_vectors: int = 0) -> tuple[Array, Array]:
    """Change (groups, rows) so that `ufunc`, if an extreme, returns TensorFlow's results in the presence of NaN.

    TensorFlow keeps its current value only where the value compares as better, so a NaN is taken and then replaced by the
    next row. In the first `in_vectors` columns NaN is left out; several rows of only NaN give an infinity.
    """
    if ufunc not in _WORST or rows.dtype.kind not in "fV" or not np.isnan(rows).any():
        return groups, rows
    order = np.argsort(groups, kind="stable")
    groups, flat = groups[order], rows[order].reshape(len(rows), -1)
    starts = _starts(groups)
    sizes = np.diff(starts, append=len(groups))
    position, is_nan = np.arange(len(groups))[:, None], np.isnan(flat)
    last_nan = np.repeat(np.maximum.reduceat(np.where(is_nan, position, -1), starts, axis=0), sizes, axis=0)
    last_row = np.repeat(starts + sizes - 1, sizes)[:, None]
    is_lost = (position <= last_nan) & ~(is_nan & (position == last_row))
    is_lost[:, :in_vectors] = (is_nan & (np.repeat(sizes, sizes) > 1)[:, None])[:, :in_vectors]
    return groups, np.where(is_lost, rows.dtype.type(_WORST[ufunc]), flat).reshape(rows.shape)


def _sums(rows: Array, order: Array | None, starts: Array) -> Array:
    """Return the sums of ordered rows from each start to the next start; rows are added in sequence.

    The sums are the product of a sparse matrix of ones with the rows, many times faster than `reduceat` of several columns.
    """
    return sparse_products.sums_between(starts, np.arange(len(rows)) if order is None else order, np.ascontiguousarray(rows))


def update_rows(ufunc: np.ufunc, target: Array, groups: Array, rows: Array) -> None:
    """Compute target[groups[i]] = ufunc(target[groups[i]], rows[i]) for each i, repeated groups too; groups must be in
    range.
    """
    if ufunc is np.add and target.dtype.kind in "fc" and target.size == len(target) and target.flags.c_contiguous:
        np.add.at(target.reshape(-1), groups, rows.reshape(-1))
        return
    if ufunc is np.add and len(groups) and sparse_products.takes(target, rows):
        sparse_products.add_rows(target, groups, rows)
        return
    if ufunc in _ONE_BY_ONE and not is_narrow(target.dtype) and target.size == len(target) and target.flags.c_contiguous:
        ufunc.at(target.reshape(-1), groups, rows.reshape(-1))
        return
    targets, reduced = reduce_groups(ufunc, groups, rows)
    if len(targets):
        target[targets] = ufunc(target[targets], reduced)


def group_sizes(groups: Array, count: int) -> Array:
    """Count the rows of each of `count` groups."""
    return np.bincount(groups, minlength=count) if len(groups) else np.zeros(count, np.int64)
