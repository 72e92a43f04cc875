"""A cache of values computed from constant arrays (filters, for instance): kept as long as the array, from the third use
on.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Hashable
from typing import Any, Final, NamedTuple, TypeVar

import numpy as np

from ..types.arrays import Array

_Made = TypeVar("_Made")

_SIGHTS: Final = 3
"""Uses of an array before a computed value is cached."""


class _Kept(NamedTuple):
    """An array, the number of its uses, and the cached value."""

    array: weakref.ref[Any]
    sights: int
    made: Any


_kept: dict[tuple[int, Hashable], _Kept] = {}


def kept(array: Array, kind: Hashable, make: Callable[[Array], _Made]) -> _Made:
    """Return `make(array)`, cached under `kind` where the array cannot change."""
    key = id(array), kind
    known = _kept.get(key)
    if known is not None and known.made is not None and known.array() is array:
        found: _Made = known.made
        return found
    if not never_changes(array):
        return make(array)
    if known is None or known.array() is not array:
        known = _Kept(weakref.ref(array, functools.partial(_forget, key)), 0, None)
    made, sights = make(array), known.sights + 1
    _kept[key] = _Kept(known.array, sights, made if sights >= _SIGHTS else None)
    return made


def _forget(key: tuple[int, Hashable], _: Any) -> None:
    _kept.pop(key, None)


def never_changes(a: Array) -> bool:
    """Return True for an array in read-only memory."""
    base: Any = a
    while isinstance(base, np.ndarray):
        if base.flags.writeable:
            return False
        base = base.base
    return base is None or isinstance(base, bytes) or (isinstance(base, memoryview) and base.readonly)
