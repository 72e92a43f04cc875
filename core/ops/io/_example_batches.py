"""Many Example messages read side by side: a step takes the next field of all messages.

Messages of the usual form are read here: map entries hold key, then value; a feature has one list; numbers are packed. For
any other message, damaged messages among them, nothing is returned, and `_examples` reads all messages in a loop.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from ...codecs import wire
from ...support import dataclasses
from ...types import dtypes
from ...types.arrays import Array
from ...types.dtypes import DType
from ..shared.string_functions import as_objects

_FIRST, _SECOND = (number << 3 | wire.LENGTH_DELIMITED for number in (1, 2))
_LISTS: Final = {dtypes.string: _FIRST, dtypes.float32: _SECOND, dtypes.int64: 3 << 3 | wire.LENGTH_DELIMITED}
_BEHIND: Final = bytes(16)
"""Padding after the last message, so that reading a truncated field stays in the buffer."""
_LONGEST_SIZE: Final = 5
_LONGEST_NUMBER: Final = 10
_WORTHWHILE: Final = 8
"""The smallest mean number of messages a step, lest a single long message makes many steps."""
_FEW_STEPS: Final = 64


@dataclasses.dataclass(frozen=True, slots=True)
class Column:
    """A feature of all examples: the number of values of each example, -1 where missing, and the concatenated values."""

    sizes: Array
    values: Array


@dataclasses.dataclass(frozen=True, slots=True)
class Entries:
    """The entries of all maps: the example of each entry, and the ranges of its key and its value."""

    count: int
    data: bytes
    examples: Array
    keys: tuple[Array, Array]
    values: tuple[Array, Array]

    def column(self, key: bytes, dtype: DType) -> Column | None:
        """Return the feature named `key`; None where an example has another dtype or an unusual form."""
        entries = self._last_of(key)
        starts, ends = (place[entries] for place in self.values)
        holds = ends > starts
        entries, starts, ends = entries[holds], starts[holds], ends[holds]
        places = np.frombuffer(self.data, np.uint8)
        inside, behind = _strings_at(places, starts)
        if np.any((places[starts] != _LISTS[dtype]) | (behind != ends)):
            return None
        read = _texts if dtype is dtypes.string else _floats if dtype is dtypes.float32 else _integers
        packed = read(self.data, inside, ends)
        if packed is None:
            return None
        sizes = np.full(self.count, -1, np.int64)
        sizes[self.examples[entries]] = packed.sizes
        return Column(sizes, packed.values)

    def _last_of(self, key: bytes) -> Array:
        """Return the last entry with that key in each example, in the order of examples."""
        starts, ends = self.keys
        alike = np.flatnonzero(ends - starts == len(key))
        letters = np.frombuffer(self.data, np.uint8)[starts[alike, None] + np.arange(len(key))]
        alike = alike[np.all(letters == np.frombuffer(key, np.uint8), axis=1)]
        entries = np.full(self.count, -1, np.intp)
        np.maximum.at(entries, self.examples[alike], alike)
        return entries[entries >= 0]


def _strings_at(places: Array, tags: Array) -> tuple[Array, Array]:
    """Return start and end of strings or messages, given the places of their tags of one byte; a truncated string ends
    behind the data.
    """
    starts, sizes = tags + 2, places[tags + 1].astype(np.int64)
    longer = np.flatnonzero(sizes > 0x7F)
    sizes[longer] &= 0x7F
    for i in range(1, _LONGEST_SIZE):
        if not longer.size:
            break
        more = places[starts[longer]].astype(np.int64)
        sizes[longer] |= (more & 0x7F) << 7 * i
        starts[longer] += 1
        longer = longer[more > 0x7F]
    sizes[longer] = len(places)
    return starts, np.minimum(starts + sizes, len(places) - len(_BEHIND) + 1)


def entries_of(texts: Sequence[bytes]) -> Entries | None:
    """Return the entries of the maps of Examples."""
    data = b"".join((*texts, _BEHIND))
    places = np.frombuffer(data, np.uint8)
    sizes = np.fromiter(map(len, texts), np.int64, len(texts))
    examples = np.flatnonzero(sizes)
    ends = np.cumsum(sizes)[examples]
    tags = ends - sizes[examples]
    starts, behind = _strings_at(places, tags)
    if np.any((places[tags] != _FIRST) | (behind != ends)):
        return None
    fields = _fields(places, starts, ends)
    if fields is None:
        return None
    which, entry, entry_end = fields
    key, key_end = _strings_at(places, entry)
    value, value_end = _strings_at(places, key_end)
    if np.any((places[entry] != _FIRST) | (places[key_end] != _SECOND) | (value_end != entry_end)):
        return None
    return Entries(len(texts), data, examples[which], (key, key_end), (value, value_end))


def _fields(places: Array, starts: Array, ends: Array) -> tuple[Array, Array, Array] | None:
    """Return the fields of number 1 of messages that are strings or messages: (message, start, end) for each step."""
    steps: list[tuple[Array, Array, Array]] = []
    which, tags, taken = np.arange(len(starts)), starts, 0
    while True:
        left = np.flatnonzero(tags < ends)
        which, tags, ends = which[left], tags[left], ends[left]
        taken += len(which)
        if not len(which) or taken < _WORTHWHILE * (len(steps) - _FEW_STEPS):
            break
        inside, behind = _strings_at(places, tags)
        if np.any((places[tags] != _FIRST) | (behind > ends)):
            return None
        steps.append((which, inside, behind))
        tags = behind
    if len(which):
        return None
    nothing = np.empty((3, 0), np.int64)
    return tuple(np.concatenate(parts) for parts in zip(nothing, *steps))  # type: ignore[return-value]


def _packed(data: bytes, starts: Array, ends: Array) -> tuple[Array, Array] | None:
    """Return (concatenated bytes of packed numbers, end of each list) of lists that have at most one field."""
    places = np.frombuffer(data, np.uint8)
    inside, behind = _strings_at(places, starts)
    is_empty = starts == ends
    if np.any(~is_empty & ((places[starts] != _FIRST) | (behind != ends))):
        return None
    inside = np.where(is_empty, ends, inside)
    parts = [data[start:end] for start, end in zip(inside.tolist(), ends.tolist())]
    return np.frombuffer(b"".join(parts), np.uint8), np.cumsum(ends - inside)


def _floats(data: bytes, starts: Array, ends: Array) -> Column | None:
    packed = _packed(data, starts, ends)
    if packed is None or np.any(packed[1] % 4):
        return None
    numbers, behind = packed
    return Column(np.diff(behind // 4, prepend=0), numbers.view("<f4").astype(np.float32))


def _integers(data: bytes, starts: Array, ends: Array) -> Column | None:
    """Parse varints: in each varint every byte but the last has its highest bit set."""
    packed = _packed(data, starts, ends)
    if packed is None:
        return None
    numbers, behind = packed
    is_last = numbers < 0x80
    count = np.concatenate([[0], np.cumsum(is_last)])
    if not np.all(np.concatenate([[True], is_last])[behind]):
        return None
    stops = np.flatnonzero(is_last)
    sizes = np.diff(stops, prepend=-1)
    if sizes.max(initial=0) > _LONGEST_NUMBER:
        return None
    values = numbers[stops].astype(np.uint64)
    for i in range(1, sizes.max(initial=0)):
        longer = np.flatnonzero(sizes > i)
        values[longer] = values[longer] << np.uint64(7) | (numbers[stops[longer] - i] & np.uint8(0x7F))
    return Column(np.diff(count[behind], prepend=0), values.view(np.int64))


def _texts(data: bytes, starts: Array, ends: Array) -> Column | None:
    fields = _fields(np.frombuffer(data, np.uint8), starts, ends)
    if fields is None:
        return None
    order = np.argsort(fields[0], kind="stable")
    inside, behind = (place[order].tolist() for place in fields[1:])
    texts = [data[start:end] for start, end in zip(inside, behind)]
    return Column(np.bincount(fields[0], minlength=len(starts)), as_objects(texts, (len(texts),)))
