"""A cache by keys with one rule of eviction, for all results that follow from their key."""

from __future__ import annotations

from typing import TypeVar

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


class KeyedCache(dict[_Key, _Value]):
    """A dict of at most `most` entries: a new key that finds it full clears it.

    Clearing is atomic and costs nothing before the cache is full, so that several threads may read and write without a lock.
    Entries follow from their keys, or are counts that may begin anew.
    """

    __slots__ = ("_most",)

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most

    def __setitem__(self, key: _Key, value: _Value) -> None:
        if len(self) >= self._most and key not in self:
            self.clear()
        super().__setitem__(key, value)
