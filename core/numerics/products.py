"""Matrix products, large ones divided among threads."""

from __future__ import annotations

import contextvars
import functools
import itertools
import math
import os
from typing import TYPE_CHECKING, Any

import numpy as np

from .threads import OWN_THREADS, one_thread

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

Array = Any

WORTH_DIVIDING = 1 << 23
"""Multiply-adds from which on a product takes much longer than handing out its parts."""


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
    parts = _by_rows(a, b, out, workers) if rows >= columns else _by_columns(a, b, out, workers)
    _all(parts)
    return out


def _by_rows(a: Array, b: Array, out: Array, workers: int) -> list[tuple[Array, Array, Array]]:
    return [(a[..., part, :], b, out[..., part, :]) for part in _parts(a.shape[-2], workers)]


def _by_columns(a: Array, b: Array, out: Array, workers: int) -> list[tuple[Array, Array, Array]]:
    return [(a, b[..., part], out[..., part]) for part in _parts(b.shape[-1], workers)]


def _parts(size: int, workers: int) -> list[slice]:
    ends = (size * i // workers for i in range(workers + 1))
    return [slice(start, end) for start, end in itertools.pairwise(ends)]


def _all(parts: list[tuple[Array, Array, Array]]) -> None:
    """Multiply all parts, the last one in this thread; NumPy's error state is that of the caller in all of them."""
    waiting = [_pool().submit(contextvars.copy_context().run, _multiply, *part) for part in parts[:-1]]
    _multiply(*parts[-1])
    for part in waiting:
        part.result()


def _multiply(a: Array, b: Array, out: Array) -> None:
    np.matmul(a, b, out=out)


@functools.cache
def _pool() -> ThreadPoolExecutor:
    from concurrent.futures import ThreadPoolExecutor

    return ThreadPoolExecutor(one_thread.available, f"{OWN_THREADS}matmul")


if hasattr(os, "register_at_fork"):  # not on Windows, which has no forks
    os.register_at_fork(after_in_child=_pool.cache_clear)
