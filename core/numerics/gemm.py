"""Matrix products, divided among threads where they are large; and CBLAS as NumPy ships it.

`benchmarks/thresholds.py` measures the thresholds of this file.
"""

from __future__ import annotations

import ctypes
import functools
import math
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np

from .blas_threads import numpy_blas, one_thread
from .work_division import divide, product_parts, workers_for

Array = Any

_READING: Final = 8
"""The number of rows up to which a product takes as long as reading the second matrix."""
_LARGE_TO_READ: Final = 1 << 19
"""The number of elements of a matrix from which a product with a single row is divided into parts."""
_FEW_ROWS: Final = 32
"""The number of rows up to which transposing a product saves more time than transposing the result costs."""
_LARGE: Final = 1 << 15
"""The number of elements of a matrix from which transposing a product saves time."""
UNCOPIED: Final = 10**6
"""The multiply-adds up to which OpenBLAS's kernels for AVX-512 read float32 matrices in place; larger matrices are copied
first.
"""
_NARROW: Final = 64
"""The number of columns up to which BLAS's copying takes a good part of the time."""
_FEWEST_ROWS: Final = 16
"""The number of rows from which a product is worth a call."""
_FEWEST_COLUMNS: Final = 48
"""The number of columns of a first matrix from which adding several products takes less time than copying the matrix."""
MANY_ROWS: Final = 512
"""The number of rows from which copying a narrow column-major matrix to row-major order pays."""


def matmul(a: Array, b: Array, out: Array | None = None) -> Array:
    """Return `np.matmul` of (..., m, k) and (..., k, n), written to `out` if not None."""
    # NumPy iterates over empty matrices one by one, and a few bytes can state 10^12 of them.
    if not (a.size and b.size) and a.ndim > 1 < b.ndim and a.shape[-1] == b.shape[-2]:
        return _empty_product(a, b, out)
    if out is None and a.ndim == b.ndim == 2:
        if _is_few_by_turned(a, b):
            # The transposed product is of row-major matrices, which BLAS reads as they lie; only the small result is copied.
            return np.ascontiguousarray(matmul(b.T, a.T).T)
        work = a.shape[0] * a.shape[1] * b.shape[1]
        if workers_for(max(work, b.size * _READING)) == 1 and not _is_read_by_parts(a, b):
            # `dot` calls BLAS with less work around it than `matmul`, which a short product notices.
            return a.dot(b) if work <= UNCOPIED else _multiplied(a, b)
    # A stack times one matrix is one product of all rows: NumPy would call BLAS for each matrix of the stack.
    if out is None and b.ndim == 2 < a.ndim and a.flags.c_contiguous and b.size:
        return matmul(a.reshape(-1, a.shape[-1]), b).reshape(*a.shape[:-1], b.shape[-1])
    if a.ndim > 2 and a.ndim == b.ndim and a.shape[-2] == b.shape[-1] == 1 and out is None and a.dtype.kind == "f":
        # Products of single rows and columns are sums: a call of BLAS for each would take longer than the sum.
        return np.einsum("...i,...i->...", a[..., 0, :], b[..., 0])[..., np.newaxis, np.newaxis]
    if one_thread.share == 1 or min(a.ndim, b.ndim) < 2 or a.dtype == object:
        return np.matmul(a, b, out=out)
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    rows, inner = a.shape[-2:]
    columns = b.shape[-1]
    # A single row costs as much as eight, because the second matrix is read from memory in any case.
    workers = workers_for(math.prod(batch) * inner * columns * max(rows, _READING))
    shares = one_thread.share if b.ndim == 2 and _is_read_by_parts(a, b) else workers
    if shares == 1:
        return np.matmul(a, b, out=out)
    if out is None:
        out = np.empty((*batch, rows, columns), np.result_type(a, b))
    divide(functools.partial(_multiply, a, b, out), product_parts(rows, columns, shares), workers)
    return out


def _is_read_by_parts(a: Array, b: Array) -> bool:
    """Return True for a row times a large matrix, always computed by parts, so that results round alike on any number of
    threads.

    BLAS copies nothing there, so that parts cost next to nothing.
    """
    return a.shape[0] == 1 and b.size >= _LARGE_TO_READ and one_thread.share > 1


def multiply(a: Array, b: Array, out: Array) -> None:
    """Compute out = a @ b; many rows times few columns in groups of rows so small that BLAS copies nothing.

    NumPy iterates over the groups: a call of BLAS for each group would have threads take turns.
    """
    step = rows_at_once_by(b) if b.dtype == np.float32 else 0
    if step and b.strides[1] != b.itemsize and len(a) >= MANY_ROWS:
        b = np.ascontiguousarray(b)
    if not 0 < step < len(a) or b.strides[1] != b.itemsize:
        np.matmul(a, b, out=out)
        return
    each = -(-len(a) // -(-len(a) // step))
    count = len(a) // each
    stacked = count * each
    for some, number in ((slice(0, stacked), count), (slice(stacked, len(a)), 1)):
        if some.start < some.stop:
            rows, target = (x[some].reshape(number, -1, x.shape[1]) for x in (a, out))
            np.matmul(rows, b, out=target)


def repeated(rows: Array, count: int) -> Array:
    """Repeat each row `count` times in a row, in a tenth of np.tile's time."""
    result = np.empty((len(rows), count, rows.shape[1]), rows.dtype)
    result[...] = rows[:, np.newaxis]
    return result.reshape(len(rows), -1)


def rows_at_once_by(b: Array) -> int:
    """Return `rows_at_once` for a matrix; a slice of columns counts with the whole matrix's width, so that results round
    alike.
    """
    columns = max(b.strides[0] // b.itemsize, b.shape[1]) if b.strides[1] == b.itemsize else b.shape[1]
    return rows_at_once(len(b), columns)


@functools.lru_cache(1024)
def rows_at_once(inner: int, columns: int) -> int:
    """Return the number of rows in a group of `multiply` for a matrix (inner, columns); 0 for all rows at once."""
    rows = UNCOPIED // max(inner * columns, 1)
    return rows if columns <= _NARROW and rows >= _FEWEST_ROWS and takes_as_it_lies() else 0


def _is_few_by_turned(a: Array, b: Array) -> bool:
    """Return True for a few rows times a large column-major matrix: transposed, the product takes BLAS less time."""
    large = b.strides[0] == b.itemsize and b.shape[1] > _FEW_ROWS and b.size >= _LARGE
    return bool(large and 2 <= a.shape[0] <= _FEW_ROWS and a.dtype == b.dtype and a.dtype.kind == "f")


def _empty_product(a: Array, b: Array, out: Array | None) -> Array:
    """Return zeros, or nothing: NumPy iterates over matrices without elements, and their number may be huge."""
    if out is None:
        shape = (*np.broadcast_shapes(a.shape[:-2], b.shape[:-2]), a.shape[-2], b.shape[-1])
        return np.zeros(shape, np.result_type(a, b))
    out[...] = 0
    return out


def _multiplied(a: Array, b: Array) -> Array:
    """Return a @ b of two matrices, by `multiply` where faster than a single product."""
    if not a.dtype == b.dtype == np.float32 or not rows_at_once(*b.shape):
        return a.dot(b)
    out = np.empty((a.shape[0], b.shape[1]), a.dtype)
    multiply(a, b, out)
    return out


def _multiply(a: Array, b: Array, out: Array, part: tuple[slice, slice]) -> None:
    rows, columns = part
    if out.ndim == 2:
        multiply(a[rows], b[:, columns], out[rows, columns])
        return
    np.matmul(a[..., rows, :], b[..., columns], out=out[..., rows, columns])


def add_long_product(a: Array, b: Array, out: Array, is_first: bool) -> None:
    """Compute `add_product` for two matrices with a large inner dimension and a small result.

    OpenBLAS copies the matrices of a product that is added to another, so the sum of partial products is computed by NumPy.
    """
    step = columns_at_once(*out.shape) if out.dtype == a.dtype == b.dtype == np.float32 else 0
    if not step or not len(b):
        add_product(a, b, out, is_first)
        return
    count = -(-len(b) // step)
    # Parts of equal length are one stack for `matmul`; the rest is added.
    stacked = len(b) // count * count
    first, second = (x[:stacked].reshape(count, -1, x.shape[1]) for x in (a.T, b))
    # The order of the sum is the same for any number of threads, so that results do not depend on the machine.
    total = np.add.reduce(np.matmul(first.swapaxes(1, 2), second), 0)
    if stacked < len(b):
        total += np.matmul(a[:, stacked:], b[stacked:])
    if is_first:
        out[...] = total
    else:
        out += total


@functools.lru_cache(1024)
def columns_at_once(rows: int, columns: int) -> int:
    """Return the number of the first matrix's columns in a partial product of `add_long_product`, by result (rows,
    columns).

    0 means all columns at once.
    """
    count = UNCOPIED // max(rows * columns, 1)
    return count if count >= _FEWEST_COLUMNS and takes_as_it_lies() else 0


# CBLAS as NumPy ships it: products that are added to another matrix, and the kernels that read small matrices in place.

_Pair = tuple[int, int]

_ROW_MAJOR, _NO_TRANSPOSE, _TRANSPOSE = 101, 111, 112
"""CBLAS's codes for the order of elements and for transposition."""
_REALS: Final[dict[str, tuple[str, Any]]] = {"f": ("s", ctypes.c_float), "d": ("d", ctypes.c_double)}
"""The letter of CBLAS's names, and the type of a number, by the dtype's character."""
_TAKE_AS_IT_LIES: Final = frozenset((b"SkylakeX", b"Cooperlake", b"SapphireRapids"))
"""OpenBLAS's names of the kernels that read small matrices in place."""


def add_product(a: Array, b: Array, out: Array, is_first: bool) -> None:
    """Set out = a @ b where `is_first`, else add: out += a @ b.

    BLAS adds in place to matrices of equal dtype with contiguous rows; `a` and `b` may have contiguous columns.
    """
    form = product_form(a.dtype, b.dtype, out.dtype, a.shape, b.shape, a.strides, b.strides, out.strides)
    # With beta = 0 CBLAS does not read `out`, which may hold NaN before the first product.
    if form is not None:
        form.call(*form.turns, *form.sizes, 1, _address(a), form.pitches[0], _address(b), form.pitches[1],
                  0 if is_first else 1, _address(out), form.pitches[2])  # fmt: skip
    elif is_first:
        np.matmul(a, b, out=out)
    else:
        out += np.matmul(a, b)


class _ProductForm(NamedTuple):
    """CBLAS's description of three matrices: the transpositions, the sizes m, n, k, and the distances between rows."""

    call: Callable[..., None]
    turns: tuple[int, ...]
    sizes: tuple[int, int, int]
    pitches: tuple[int, ...]


@functools.lru_cache(1024)
def product_form(
    dtype_a: Any, dtype_b: Any, dtype: Any, shape_a: _Pair, shape_b: _Pair, strides_a: _Pair, strides_b: _Pair, strides: _Pair
) -> _ProductForm | None:
    """Return CBLAS's call for matrices of the given layout; None where CBLAS does not accept the layout."""
    call = _gemm(dtype.char)
    (m, k), n = shape_a, shape_b[1]
    matrices = ((shape_a, strides_a), (shape_b, strides_b), ((m, n), strides))
    rows = [layout for matrix in matrices if (layout := _as_rows(*matrix, dtype.itemsize)) is not None]
    # A column-major result would need the transposed call.
    if call is None or not dtype_a == dtype_b == dtype or len(rows) < 3 or rows[2][0] or not m * n * k:
        return None
    turns = [_TRANSPOSE if is_turned else _NO_TRANSPOSE for is_turned, _ in rows[:2]]
    return _ProductForm(call, (_ROW_MAJOR, *turns), (m, n, k), tuple([max(step // dtype.itemsize, 1) for _, step in rows]))


def _as_rows(shape: _Pair, strides: _Pair, itemsize: int) -> tuple[bool, int] | None:
    """Return (is column-major, bytes between rows or columns) of a matrix; None where neither is contiguous."""
    if strides[1] == itemsize and strides[0] >= shape[1] * itemsize:
        return False, strides[0]
    if strides[0] == itemsize and strides[1] >= shape[0] * itemsize:
        return True, strides[1]
    return None


@functools.cache
def _gemm(char: str) -> Callable[..., None] | None:
    """Return CBLAS's general product for a dtype; None where NumPy multiplies with another library."""
    if char not in _REALS:
        return None
    letter, real = _REALS[char]
    for library in numpy_blas():
        # NumPy's wheels have OpenBLAS with integers of 64 bits, and other builds with those of 32.
        for suffix, integer in (("64_", ctypes.c_int64), ("", ctypes.c_int)):
            call = getattr(library, f"scipy_cblas_{letter}gemm{suffix}", None)
            if call is not None:
                matrix = ctypes.c_void_p, integer
                # Without argument types ctypes would pass pointers as integers of 32 bits.
                call.argtypes = (*[ctypes.c_int] * 3, *[integer] * 3, real, *matrix, *matrix, real, *matrix)
                call.restype = None
                product: Callable[..., None] = call
                return product
    return None


def _address(array: Array) -> int:
    """Return the address of an array's first element."""
    start: int = array.__array_interface__["data"][0]
    return start


@functools.cache
def takes_as_it_lies() -> bool:
    """Return True if NumPy's BLAS has kernels that multiply small matrices without copies."""
    names = [f"scipy_openblas_get_corename{suffix}" for suffix in ("64_", "")]
    for get in [getattr(library, name) for library in numpy_blas() for name in names if hasattr(library, name)]:
        get.restype = ctypes.c_char_p
        return get() in _TAKE_AS_IT_LIES
    return False
