"""CBLAS as NumPy ships it: products that are added to another matrix, and the kernels that read small matrices in place."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np

from .blas_threads import numpy_blas

Array = Any
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
        for suffix, integer in (("64_", ctypes.c_int64), ("", ctypes.c_int)):
            call = getattr(library, f"scipy_cblas_{letter}gemm{suffix}", None)
            if call is not None:
                matrix = ctypes.c_void_p, integer
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
