"""Helpers of the string families: elementwise application of functions of bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from ...runtime.state.run_context import check_time, is_bounded, reserve
from ...types.arrays import object_array


def map_bytes(function: Callable[[bytes], bytes], array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """`function` of each string."""
    return object_array(bounded(map(function, array.ravel().tolist())), array.shape)


def map_to(dtype: Any, function: Callable[[bytes], Any], array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """`function` of each string as numbers."""
    return np.array(list(bounded(map(function, array.ravel().tolist()))), dtype).reshape(array.shape)


def bounded(values: Iterable[Any]) -> Iterable[Any]:
    """Yield the values while the run has time, and memory for the strings among them."""
    # A generator between the elements would cost more than many of the functions, so only runs with limits have it.
    return _checked(values) if is_bounded() else values


def _checked(values: Iterable[Any]) -> Iterator[Any]:
    taken = 0
    for value in values:
        taken += len(value) if isinstance(value, bytes) else 0
        check_time()
        reserve(taken)
        yield value


def joined(separator: bytes, strings: Iterable[bytes]) -> bytes:
    """Strings with a separator between them, where the run has memory for that."""
    listed = list(strings)
    # Before the join: the check must come before the memory is taken.
    reserve(sum(map(len, listed)) + len(separator) * len(listed))
    return separator.join(listed)


def joined_rows(separator: bytes, rows: Iterable[Iterable[bytes]]) -> Iterable[bytes]:
    """Yield each row's strings, joined."""
    return bounded(joined(separator, row) for row in rows) if is_bounded() else map(separator.join, rows)
