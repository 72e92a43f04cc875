"""Pools and their gradients as array programs."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

_MOST_SLICES: Final = 25
"""Places in a window up to which a slice for each is faster than XLA's scatter."""


def max_pool(xla: Any, x: Any, *, ksize: Sequence[int], strides: Sequence[int], padding: str) -> Any:
    """Return the largest element of each window."""
    return xla.lax.reduce_window(x, _lowest(x.dtype), xla.lax.max, ksize, strides, padding)


def max_pool_gradient(xla: Any, x: Any, y: Any, dy: Any, *, ksize: Sequence[int], strides: Sequence[int], padding: str) -> Any:
    """Return the gradient of each window at its first largest element; on a CPU XLA's scatter is 5 to 20 times slower."""
    if not xla.is_cpu or math.prod(ksize) > _MOST_SLICES:
        return xla.pulled_back(functools.partial(max_pool, xla, ksize=ksize, strides=strides, padding=padding), x, dy)
    pads = xla.lax.padtype_to_pads(x.shape, ksize, strides, padding)
    padded = xla.lax.pad(x, _lowest(x.dtype), [(low, high, 0) for low, high in pads])
    spans = [(count - 1) * stride + 1 for count, stride in zip(dy.shape, strides)]
    places = list(itertools.product(*map(range, ksize)))
    seen = [xla.lax.slice(padded, place, np.add(place, spans), strides) for place in places]
    largest = functools.reduce(xla.maximum, seen)
    gradient, is_taken, zero = xla.zeros(padded.shape, dy.dtype), xla.zeros(dy.shape, bool), np.zeros((), dy.dtype)
    for place, elements in zip(places, seen):
        is_first = (elements == largest) & ~is_taken
        is_taken = is_taken | is_first
        around = zip(place, padded.shape, spans, strides)
        sparse = [(before, size - before - span, stride - 1) for before, size, span, stride in around]
        gradient = gradient + xla.lax.pad(xla.where(is_first, dy, zero), zero, sparse)
    begin = [low for low, _ in pads]
    return xla.lax.slice(gradient, begin, np.add(begin, x.shape))


def _lowest(dtype: np.dtype[Any]) -> Any:
    return np.array(np.iinfo(dtype).min if dtype.kind in "iu" else -np.inf, dtype)
