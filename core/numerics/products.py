"""Matrix products, and work that is divided among threads."""

from __future__ import annotations

import contextvars
import ctypes
import functools
import itertools
import math
import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np

from .threads import OWN_THREADS, numpy_blas, one_thread

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

Array = Any
_Part = TypeVar("_Part")

WORTH_DIVIDING: Final = 1 << 22
"""Multiply-adds from which on a product takes much longer than handing out its parts."""

_ROW_MAJOR, _NO_TRANSPOSE = 101, 111
"""What CBLAS calls them."""


def matmul(a: Array, b: Array, out: Array | None = None) -> Array:
    """`np.matmul` of (..., m, k) and (..., k, n); `out` is written to where it is given."""
    workers = one_thread.share
    if workers == 1 or min(a.ndim, b.ndim) < 2 or a.dtype == object:
        return np.matmul(a, b, out=out)
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    rows, inner = a.shape[-2:]
    columns = b.shape[-1]
    if math.prod(batch) * rows * inner * columns < WORTH_DIVIDING:
        return np.matmul(a, b, out=out)
    if out is None:
        out = np.empty((*batch, rows, columns), np.result_type(a, b))
    divide(functools.partial(_multiply, a, b, out), product_parts(rows, columns, workers))
    return out


def _multiply(a: Array, b: Array, out: Array, part: tuple[slice, slice]) -> None:
    rows, columns = part
    np.matmul(a[..., rows, :], b[..., columns], out=out[..., rows, columns])


def product_parts(rows: int, columns: int, count: int) -> list[tuple[slice, slice]]:
    """A matrix cut into so many parts along its longer side."""
    if rows >= columns:
        return [(part, slice(0, columns)) for part in cut(rows, count)]
    return [(slice(0, rows), part) for part in cut(columns, count)]


def cut(size: int, count: int) -> list[slice]:
    """A range cut into so many slices of nearly one length."""
    ends = (size * i // count for i in range(count + 1))
    return [slice(start, end) for start, end in itertools.pairwise(ends)]


def divide(work: Callable[[_Part], object], parts: Sequence[_Part]) -> None:
    """`work` on all parts, by the threads that this run may take: each goes on to the next part when it is done with one.

    NumPy's error state is that of the caller in all of them. The first error is raised when all have stopped.
    """
    workers = min(one_thread.share, len(parts))
    if workers <= 1:
        for part in parts:
            work(part)
        return
    remaining = iter(parts)

    def take() -> None:
        for part in remaining:  # next() of a list's iterator is atomic
            work(part)

    waiting = [_pool().submit(contextvars.copy_context().run, take) for _ in range(workers - 1)]
    try:
        take()
    finally:
        failures = [task.exception() for task in waiting]
    for failure in failures:
        if failure is not None:
            raise failure


def add_product(a: Array, b: Array, out: Array, is_first: bool) -> None:
    """out = a @ b where this is the first product, out += a @ b afterwards.

    BLAS adds by itself to matrices of one dtype with contiguous rows.
    """
    call = _gemm(out.dtype.char)
    is_plain = a.dtype == b.dtype == out.dtype and all(map(_has_rows, (a, b, out)))
    if call is None or not is_plain or not out.size or not a.size:
        if is_first:
            np.matmul(a, b, out=out)
        else:
            out += np.matmul(a, b)
        return
    (m, k), n = a.shape, b.shape[1]
    call(_ROW_MAJOR, _NO_TRANSPOSE, _NO_TRANSPOSE, m, n, k, 1, _address(a), _pitch(a), _address(b), _pitch(b),
         0 if is_first else 1, _address(out), _pitch(out))  # fmt: skip


def _has_rows(a: Array) -> bool:
    return a.strides[1] == a.itemsize and a.strides[0] >= a.shape[1] * a.itemsize


def _pitch(a: Array) -> int:
    return max(a.strides[0] // a.itemsize, 1)


def _address(a: Array) -> int:
    return a.__array_interface__["data"][0]


@functools.cache
def _gemm(char: str) -> Callable[..., None] | None:
    """CBLAS's general product for a dtype, from the library that NumPy multiplies with; None where that is another."""
    names = {"f": ("sgemm", ctypes.c_float), "d": ("dgemm", ctypes.c_double)}
    if char not in names:
        return None
    name, real = names[char]
    for library in numpy_blas():
        for suffix, integer in (("64_", ctypes.c_int64), ("", ctypes.c_int)):
            call = getattr(library, f"scipy_cblas_{name}{suffix}", None)
            if call is not None:
                matrix = (ctypes.c_void_p, integer)
                call.argtypes = (*[ctypes.c_int] * 3, *[integer] * 3, real, *matrix, *matrix, real, *matrix)
                call.restype = None
                return call
    return None


@functools.cache
def _pool() -> ThreadPoolExecutor:
    from concurrent.futures import ThreadPoolExecutor

    return ThreadPoolExecutor(one_thread.available, f"{OWN_THREADS}matmul")


if hasattr(os, "register_at_fork"):  # not on Windows, which has no forks
    os.register_at_fork(after_in_child=_pool.cache_clear)
