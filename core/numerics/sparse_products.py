"""Products of sparse with dense matrices, added up by SciPy's compiled loops.

SciPy's classes check and convert all arguments, which takes many times as long as a product with some hundred rows.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from ..types.arrays import Array
from .integers import extremes

_NUMBERS: Final = "bBhHiIlLqQfdFD"


def takes(*arrays: Array) -> bool:
    """Return True for contiguous arrays of equal dtype, if SciPy's loops support the dtype."""
    dtype = arrays[0].dtype
    return dtype.char in _NUMBERS and all(array.dtype == dtype and array.flags.c_contiguous for array in arrays)


def add_coordinates(result: Array, rows: Array, columns: Array, weights: Array, dense: Array) -> None:
    """Compute result[rows[i]] += weights[i] * dense[columns[i]] for each i in turn; `takes` must accept the arrays.

    The places are vectors; IndexError for a place out of range, ValueError where lengths do not fit.
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
