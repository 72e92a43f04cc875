"""Keys of hash tables: an index of distinct integers, and the order in which C++ iterates over a table."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Any, Final

import numpy as np

from ..types.arrays import Array

_SPREAD: Final = 4
"""How many numbers there may be from the least to the largest, for each that is there, for a place apiece."""


class IntegerIndex:
    """Places of distinct integers: a vector with a place for each number where they lie close together, else bisection."""

    def __init__(self, numbers: Array) -> None:
        order = np.argsort(numbers, kind="stable")
        ascending = numbers[order]
        self._low, self._high = ascending[0], ascending[-1]
        self._order, self._ascending = order, ascending
        self._places: Array | None = None
        span = int(self._high) - int(self._low) + 1
        if span <= _SPREAD * len(numbers):
            self._places = np.full(span, -1, np.intp)
            self._places[ascending - self._low] = order

    def places(self, sought: Array) -> Array:
        """Return the place of each element of a vector of the same dtype, -1 for a missing element."""
        if self._places is None:
            at = np.searchsorted(self._ascending, sought)
            # A number above all others is sought after the last place; the comparison below tells that it is missing.
            np.minimum(at, len(self._ascending) - 1, out=at)
            return np.where(self._ascending[at] == sought, self._order[at], -1)
        # A clipped number is a valid place, and differs from the number itself just where that is out of range; the
        # difference of unbounded integers could overflow.
        inside = np.clip(sought, self._low, self._high)
        return np.where(inside == sought, self._places[inside - self._low], -1)


# The order in which C++'s std::unordered_map (GNU libstdc++) iterates over elements.
# Insertion as in libstdc++'s bits/hashtable.h: at the front of the key's bucket, or of the list where the bucket is empty.

_SIZES = (
    1, 13, 29, 59, 127, 257, 541, 1109, 2357, 5087, 10273, 20753, 42043, 85229, 172933, 351061, 712697, 1447153, 2938679,
    5967347, 12117689, 24607243, 49969847, 101473717,
)  # fmt: skip
"""The bucket counts of libstdc++ while a map grows by single elements."""
_HEAD: Any = object()


class ChainedOrder:
    """Keys with 64-bit hashes in a linked list; `before[b]` is the key in front of the first key of bucket b."""

    def __init__(self) -> None:
        self._hashes: dict[Hashable, int] = {}
        self._next: dict[Hashable, Any] = {_HEAD: None}
        self._before: dict[int, Any] = {}
        self._sizes = iter(_SIZES)
        self._size = next(self._sizes)

    def __iter__(self) -> Iterator[Any]:
        key = self._next[_HEAD]
        while key is not None:
            yield key
            key = self._next[key]

    def insert(self, key: Hashable, hash_code: int) -> None:
        """Add a key that is not there."""
        count = len(self._hashes) + 1
        # The table starts with one bucket, which libstdc++ replaces at the first insertion.
        if self._size == 1 or count > self._size:
            while self._size == 1 or count > self._size:
                self._size = next(self._sizes)
            self._rehash()
        self._hashes[key] = hash_code
        self._link(key)

    def _link(self, key: Hashable) -> None:
        """Put a key at the front of the key's bucket, or of the list where the bucket is empty."""
        bucket = self._hashes[key] % self._size
        front = self._before.get(bucket, _HEAD)
        follower = self._next[key] = self._next[front]
        self._next[front] = key
        # The new first element precedes the former first one, whose bucket now begins after this key.
        if bucket not in self._before:
            self._before[bucket] = _HEAD
            if follower is not None:
                self._before[self._hashes[follower] % self._size] = key

    def _rehash(self) -> None:
        """Spread the keys over the buckets, in the order of the list."""
        keys = list(self)
        self._next, self._before = {_HEAD: None}, {}
        for key in keys:
            self._link(key)

    def remove(self, key: Hashable) -> None:
        """Take a key out."""
        bucket = self._hashes.pop(key) % self._size
        # The list is linked forward only, so that the element before the key is found from the bucket's beginning.
        front = before = self._before[bucket]
        while self._next[front] != key:
            front = self._next[front]
        follower = self._next.pop(key)
        self._next[front] = follower
        next_bucket = None if follower is None else self._hashes[follower] % self._size
        # The key was the last of its bucket: its follower belongs to another bucket, which now begins after `front`.
        if next_bucket != bucket:
            if front is before:
                del self._before[bucket]
            if next_bucket is not None:
                self._before[next_bucket] = front

    def clear(self) -> None:
        """Remove all keys; the number of buckets stays."""
        self._hashes, self._next, self._before = {}, {_HEAD: None}, {}
