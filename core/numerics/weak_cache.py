"""A cache of values computed from constant arrays, filters for instance: an entry lives as long as its array."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Hashable
from typing import Any, Final, NamedTuple, TypeVar

import numpy as np

from ..types.arrays import Array

_Made = TypeVar("_Made")

_USES: Final = 3
"""Uses of an array before a computed value is cached."""


class _CacheEntry(NamedTuple):
    """An array, the number of its uses, and the cached value."""

    array: weakref.ref[Any]
    uses: int
    made: Any


entries: dict[tuple[int, Hashable], _CacheEntry] = {}
"""The entries by the array's identity and the kind of the computed value."""


def cached_for_constant(array: Array, kind: Hashable, make: Callable[[Array], _Made]) -> _Made:
    """Return `make(array)`, cached under `kind` where the array cannot change."""
    key = id(array), kind
    entry = entries.get(key)
    # An id is used again after its array has died: the weak reference tells whether it is still the same array.
    if entry is not None and entry.made is not None and entry.array() is array:
        value: _Made = entry.made
        return value
    # Not before the look-up, which is cheaper: only constant arrays get an entry.
    if not never_changes(array):
        return make(array)
    if entry is None or entry.array() is not array:
        entry = _CacheEntry(weakref.ref(array, functools.partial(_forget, key)), 0, None)
    made, uses = make(array), entry.uses + 1
    entries[key] = _CacheEntry(entry.array, uses, made if uses >= _USES else None)
    return made


def _forget(key: tuple[int, Hashable], _: Any) -> None:
    entries.pop(key, None)


def never_changes(a: Array) -> bool:
    """Return True for an array in read-only memory."""
    base: Any = a
    # A read-only view of writable memory changes with it, so that every array down to the owner of the memory must be
    # read-only.
    while isinstance(base, np.ndarray):
        if base.flags.writeable:
            return False
        base = base.base
    return base is None or isinstance(base, bytes) or (isinstance(base, memoryview) and base.readonly)
