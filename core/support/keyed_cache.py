"""A cache by keys with a single rule of eviction, for results derived from their keys."""

from __future__ import annotations

from typing import TypeVar

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


class KeyedCache(dict[_Key, _Value]):
    """A dict of at most `most` entries: a new key clears a full cache.

    Clearing is atomic and costs nothing before the cache is full, so that several threads may read and write without a
    lock. Entries can be derived from their keys again, or are counts that may begin anew.
    """

    __slots__ = ("_most",)

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most

    def __setitem__(self, key: _Key, value: _Value) -> None:
        # All entries at once rather than the oldest: to keep their order would cost each read something.
        if len(self) >= self._most and key not in self:
            self.clear()
        super().__setitem__(key, value)
