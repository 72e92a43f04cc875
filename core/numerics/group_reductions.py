"""Reductions of rows by group: sums, products, extremes, also in place; and products of sparse matrices.

Results for NaN and empty groups are TensorFlow's, of SegmentMax, UnsortedSegmentMax and related kernels.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from ..types.arrays import Array
from .half_precision import is_narrow
from .integers import extremes

_ONE_BY_ONE: Final = (np.multiply, np.maximum, np.minimum)
WORST: Final[Mapping[Any, float]] = {np.maximum: -np.inf, "max": -np.inf, np.minimum: np.inf, "min": np.inf}
"""The number that loses against all others, by the ufunc or by the name that array programs call it."""


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
    # reduceat is fast for one column only: for several it calls its loop once for each row of a group.
    if ufunc is np.add and rows.dtype.kind in "fc" and rows.dtype.itemsize >= 4 and rows.size > len(rows):
        return groups[starts], _sums(rows, order, starts)
    rows = rows if order is None else rows[order]
    if is_narrow(rows.dtype):
        # Each step in 16 bits would be rounded; float32 is rounded once, at the end.
        return groups[starts], ufunc.reduceat(rows.astype(np.float32), starts, axis=0).astype(rows.dtype)
    return groups[starts], ufunc.reduceat(rows, starts, axis=0, dtype=rows.dtype)


def _in_order(groups: Array) -> tuple[Array | None, Array]:
    """Return (the stable order that sorts the groups, None if sorted; the sorted groups)."""
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


def settle_nans(
    ufunc: np.ufunc, groups: Array, rows: Array, in_vectors: int = 0, in_packets: bool = False
) -> tuple[Array, Array]:
    """Change (groups, rows) so that `ufunc`, if an extreme, returns TensorFlow's results in the presence of NaN.

    TensorFlow keeps its current value only where the value compares as better, so a NaN is taken and then replaced by the
    next row. In the first `in_vectors` columns NaN is left out; several rows of only NaN give an infinity. If `in_packets`,
    NaN is left out of the whole packets with which each group begins.
    """
    if ufunc not in WORST or rows.dtype.kind not in "fV" or not np.isnan(rows).any():
        return groups, rows
    order = np.argsort(groups, kind="stable")
    groups, flat = groups[order], rows[order].reshape(len(rows), -1)
    starts = _starts(groups)
    sizes = np.diff(starts, append=len(groups))
    position, is_nan = np.arange(len(groups))[:, None], np.isnan(flat)
    # Eigen reduces a contiguous vector by packets of 8 numbers or 32 bytes, and what is left one by one.
    packet = min(8, 32 // rows.dtype.itemsize)
    is_packed = position < np.repeat(starts + sizes // packet * packet if in_packets else starts, sizes)[:, None]
    last_nan = np.repeat(np.maximum.reduceat(np.where(is_nan & ~is_packed, position, -1), starts, axis=0), sizes, axis=0)
    last_row = np.repeat(starts + sizes - 1, sizes)[:, None]
    is_lost = np.where(is_packed, is_nan, (position <= last_nan) & ~(is_nan & (position == last_row)))
    # Eigen's vector instructions take the other operand of a NaN, so that NaN is left out there; a lone row is passed on as
    # it is.
    is_lost[:, :in_vectors] = (is_nan & (np.repeat(sizes, sizes) > 1)[:, None])[:, :in_vectors]
    return groups, np.where(is_lost, rows.dtype.type(WORST[ufunc]), flat).reshape(rows.shape)


def without_nans(how: np.ufunc | str | None, rows: Any, xp: Any = np) -> Any:
    """Return rows to update others by `how`, which if an extreme changes nothing by NaN: none compares as better."""
    if how not in WORST or rows.dtype.kind not in "fV" or (xp is np and not np.isnan(rows).any()):
        return rows
    return xp.where(xp.isnan(rows), np.array(WORST[how], rows.dtype), rows)


def _sums(rows: Array, order: Array | None, starts: Array) -> Array:
    """Return the sums of ordered rows from each start to the next start; rows are added in sequence.

    The sums are the product of a sparse matrix of ones with the rows, many times faster than `reduceat` of several columns.
    """
    return sums_between(starts, np.arange(len(rows)) if order is None else order, np.ascontiguousarray(rows))


def update_rows(ufunc: np.ufunc, target: Array, groups: Array, rows: Array) -> None:
    """Compute target[groups[i]] = ufunc(target[groups[i]], rows[i]) for each i, repeated groups too; groups must be in
    range.
    """
    # NumPy's `ufunc.at` has a fast loop for one-dimensional contiguous targets alone.
    if ufunc is np.add and target.dtype.kind in "fc" and target.size == len(target) and target.flags.c_contiguous:
        np.add.at(target.reshape(-1), groups, rows.reshape(-1))
        return
    if ufunc is np.add and len(groups) and takes(target, rows):
        add_rows(target, groups, rows)
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


# Products of sparse with dense matrices, added up by SciPy's compiled loops.
# SciPy's classes check and convert all arguments, which takes many times as long as a product with some hundred rows.

_NUMBERS: Final = "bBhHiIlLqQfdFD"


def takes(*arrays: Array) -> bool:
    """Return True for contiguous arrays of equal dtype, if SciPy's loops support the dtype."""
    dtype = arrays[0].dtype
    return dtype.char in _NUMBERS and all(array.dtype == dtype and array.flags.c_contiguous for array in arrays)


def add_coordinates(result: Array, rows: Array, columns: Array, weights: Array, dense: Array) -> None:
    """Compute result[rows[i]] += weights[i] * dense[columns[i]] for each i in turn; `takes` must accept the arrays.

    The places are vectors; IndexError for a place out of range, ValueError if lengths do not fit.
    """
    if len(weights) and dense.size:
        _check_range(columns, len(dense))
        _add(result, rows, np.ascontiguousarray(columns, np.int64), weights, dense)
        _add_of_zeros(result, rows, columns, weights, dense)


def _add_of_zeros(result: Array, rows: Array, columns: Array, weights: Array, dense: Array) -> None:
    """Add the products of weights of 0 with infinities and NaN, which SciPy's loop leaves out."""
    is_zero = weights == 0
    if is_zero.any() and dense.dtype.kind in "fc":
        is_finite = np.isfinite(dense.reshape(len(dense), -1))
        has_others = np.logical_not(np.logical_and.reduce(is_finite, axis=1))
        places = np.flatnonzero(is_zero & has_others[columns])
        with np.errstate(invalid="ignore"):
            np.add.at(result, rows[places], weights[places, np.newaxis] * dense[columns[places]])


def add_rows(result: Array, rows: Array, dense: Array) -> None:
    """Compute result[rows[i]] += dense[i] for each i in turn; the arrays and errors as for `add_coordinates`."""
    if dense.size:
        _add(result, rows, np.arange(len(dense)), np.ones(len(dense), dense.dtype), dense)


def _add(result: Array, rows: Array, columns: Array, weights: Array, dense: Array) -> None:
    """Compute `add_coordinates` for valid columns of int64."""
    from scipy.sparse import _sparsetools

    # SciPy's loop trusts its arguments: a wrong length or place would read and write beyond the arrays.
    count, width = len(weights), dense.size // len(dense)
    if not len(rows) == len(columns) == count or result.size != len(result) * width:
        raise ValueError(f"{count} weights, {len(rows)} rows of {result.shape} and {len(columns)} of {dense.shape} do not fit")
    _check_range(rows, len(result))
    places = np.ascontiguousarray(rows, np.int64)
    _sparsetools.coo_matmat_dense(count, width, places, columns, weights, dense.reshape(-1), result.reshape(-1))


def sums_between(starts: Array, places: Array, dense: Array) -> Array:
    """Return the sums of dense[places] from each start to the next, rows added in sequence; `takes` must accept `dense`."""
    from scipy.sparse import _sparsetools

    _check_range(places, len(dense))
    _check_range(starts, len(places))
    count, width = len(places), dense.size // len(dense)
    result = np.zeros((len(starts), *dense.shape[1:]), dense.dtype)
    # The segments are the rows of a sparse matrix in compressed form: each starts where the one before ends.
    ends = np.append(starts, count).astype(np.int64)
    ones = np.ones(count, dense.dtype)
    indices = np.ascontiguousarray(places, np.int64)
    _sparsetools.csr_matvecs(len(starts), len(dense), width, ends, indices, ones, dense.reshape(-1), result.reshape(-1))
    return result


def _check_range(places: Array, count: int) -> None:
    """Check the range of places, which SciPy's loops do not check."""
    least, greatest = extremes(places)
    if least < 0 or greatest >= count:
        raise IndexError(f"a place of {places.tolist()[:10]} is out of range [0, {count})")
