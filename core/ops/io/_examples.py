"""Example and SequenceExample messages, read from their bytes.

https://github.com/tensorflow/tensorflow/blob/master/tensorflow/core/example/example.proto names the fields.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from ...codecs import wire
from ...support import dataclasses
from ...support.errors import InvalidArgumentError
from ...types import dtypes
from ...types.arrays import Array, object_array
from ...types.dtypes import DType

_FIRST, _SECOND = (number << 3 | wire.LENGTH_DELIMITED for number in (1, 2))
"""The first bytes of fields; those of the entry of a map are its key and its value."""
_KINDS = {1: dtypes.string, 2: dtypes.float32, 3: dtypes.int64}


def concatenated(lists: Sequence[Any], dtype: DType) -> np.ndarray[Any, Any]:
    """Concatenate lists of values."""
    if dtype is dtypes.float32:
        # The empty array stands for no lists at all, which NumPy does not concatenate.
        return np.concatenate([np.empty(0, dtype.numpy), *lists], dtype=dtype.numpy)
    flat = list(itertools.chain.from_iterable(lists))
    return object_array(flat) if dtype is dtypes.string else np.array(flat, dtype.numpy)


# Messages of the usual form are read side by side, a step for the next field of all messages: map entries hold key, then
# value; a feature has one list; numbers are packed. For any other message, damaged messages among them, `entries_of` or
# `Entries.column` returns None, and all messages are read in a loop.

_LISTS: Final = {dtype: number << 3 | wire.LENGTH_DELIMITED for number, dtype in _KINDS.items()}
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
        read = _texts if dtype is dtypes.string else _floats_of_columns if dtype is dtypes.float32 else _integers_of_columns
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
        # Only keys of the right length are compared, all of them letter by letter at once.
        letters = np.frombuffer(self.data, np.uint8)[starts[alike, None] + np.arange(len(key))]
        alike = alike[np.all(letters == np.frombuffer(key, np.uint8), axis=1)]
        entries = np.full(self.count, -1, np.intp)
        # The last entry of a key counts, as in protobuf's maps.
        np.maximum.at(entries, self.examples[alike], alike)
        return entries[entries >= 0]


def _strings_at(places: Array, tags: Array) -> tuple[Array, Array]:
    """Return start and end of strings or messages, given the places of their tags of one byte; a truncated string ends
    behind the data.
    """
    # Most lengths are of one byte; the others are continued below, a byte of all of them at a time.
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
    # A length with more bytes than the longest is damage: its string is made to end beyond the data, which no caller takes for
    # whole.
    sizes[longer] = len(places)
    # One byte beyond the data: no end equals it, and no index overflows.
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
        # Steps for a few long messages among short ones would cost more than a loop over all.
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
    # An empty list has no field, and so no tag after which its values begin.
    inside = np.where(is_empty, ends, inside)
    parts = [data[start:end] for start, end in zip(inside.tolist(), ends.tolist())]
    return np.frombuffer(b"".join(parts), np.uint8), np.cumsum(ends - inside)


def _floats_of_columns(data: bytes, starts: Array, ends: Array) -> Column | None:
    packed = _packed(data, starts, ends)
    # The ends of all lists are multiples of 4 bytes only if each list is.
    if packed is None or np.any(packed[1] % 4):
        return None
    numbers, behind = packed
    return Column(np.diff(behind // 4, prepend=0), numbers.view("<f4").astype(np.float32))


def _integers_of_columns(data: bytes, starts: Array, ends: Array) -> Column | None:
    """Parse varints: in each varint every byte but the last has its highest bit set."""
    packed = _packed(data, starts, ends)
    if packed is None:
        return None
    numbers, behind = packed
    is_last = numbers < 0x80
    count = np.concatenate([[0], np.cumsum(is_last)])
    # A list must not end within a varint, which would run on into the next list.
    if not np.all(np.concatenate([[True], is_last])[behind]):
        return None
    stops = np.flatnonzero(is_last)
    sizes = np.diff(stops, prepend=-1)
    if sizes.max(initial=0) > _LONGEST_NUMBER:
        return None
    values = numbers[stops].astype(np.uint64)
    # From the last byte of each varint, which is the highest, towards the first.
    for i in range(1, sizes.max(initial=0)):
        longer = np.flatnonzero(sizes > i)
        values[longer] = values[longer] << np.uint64(7) | (numbers[stops[longer] - i] & np.uint8(0x7F))
    return Column(np.diff(count[behind], prepend=0), values.view(np.int64))


def _texts(data: bytes, starts: Array, ends: Array) -> Column | None:
    fields = _fields(np.frombuffer(data, np.uint8), starts, ends)
    if fields is None:
        return None
    # Found step by step, the fields of one message lie apart; the stable sort brings them together in their order.
    order = np.argsort(fields[0], kind="stable")
    inside, behind = (place[order].tolist() for place in fields[1:])
    texts = [data[start:end] for start, end in zip(inside, behind)]
    return Column(np.bincount(fields[0], minlength=len(starts)), object_array(texts))


# Messages of any form are read one by one.


@dataclasses.dataclass(frozen=True, slots=True)
class Feature:
    """The values of a feature; no dtype where the message is empty."""

    dtype: DType | None
    values: Sequence[Any] | np.ndarray[Any, Any]

    def __len__(self) -> int:
        return len(self.values)


def parse_feature(data: bytes) -> Feature:
    """Parse a Feature message, whose last list counts."""
    field = wire.sole(data)
    # A message of one field, as writers make them, needs no walk.
    number, payload = field if field is not None and field[0] in _KINDS else _last_list(data)
    if number == 1:
        return Feature(dtypes.string, wire.contents(payload, 1))
    if number not in _KINDS:
        return Feature(None, ())
    packed = wire.sole(payload)
    values = packed[1] if packed is not None and packed[0] == 1 else None
    if number == 3:
        return Feature(dtypes.int64, wire.integers(payload, 1) if values is None else wire.packed_integers(values))
    # Whatever is not one packed list goes the general way, which also reports damage.
    return Feature(dtypes.float32, np.frombuffer(_floats(payload) if values is None or len(values) % 4 else values, "<f4"))


def _last_list(data: bytes) -> tuple[int, bytes]:
    """Return (kind, message) of the last list of a Feature, all parts of that list joined."""
    number, payload = 0, b""
    for kind, part in wire.parts(data):
        if kind in _KINDS:
            # Protobuf merges occurrences of a message field, and a list of another kind in a oneof replaces the list before.
            number, payload = kind, payload + part if kind == number else part
    return number, payload


def _floats(payload: bytes) -> bytes:
    return wire.repeated_fixed((field for field in wire.fields(payload) if field.number == 1), 4)


def _map(data: bytes) -> dict[bytes, bytes]:
    """Parse a map field, where the last entry of a key counts."""
    entries: dict[bytes, bytes] = {}
    for number, entry in wire.parts(data):
        if number == 1:
            key, value = _entry(entry)
            entries[key] = value
    return entries


def _entry(data: bytes) -> tuple[bytes, bytes]:
    """Return key and value of an entry of a map; the usual form, a short key before a short value, takes few steps."""
    # Bounds first: each index below is checked by the comparison before it.
    end = 2 + data[1] if len(data) > 1 and data[0] == _FIRST and data[1] < 0x80 else len(data)
    if end + 1 < len(data) and data[end] == _SECOND and data[end + 1] == len(data) - end - 2 < 0x80:
        return data[2:end], data[end + 2 :]
    parts = dict(wire.parts(data))
    return parts.get(1, b""), parts.get(2, b"")


def parse_example(data: bytes) -> dict[bytes, bytes]:
    """Return the features of an Example by name, each still to be parsed."""
    field = wire.sole(data)
    return _map(field[1] if field is not None and field[0] == 1 else b"".join(wire.contents(data, 1)))


def parse_sequence_example(data: bytes) -> tuple[dict[bytes, bytes], dict[bytes, list[bytes]]]:
    """Return the context's features and the feature lists of a SequenceExample by name, each still to be parsed."""
    parts = {number: b"".join(wire.contents(data, number)) for number in (1, 2)}
    lists = {name: wire.contents(value, 1) for name, value in _map(parts[2]).items()}
    return _map(parts[1]), lists


class FeatureColumn:
    """The same feature of many examples; errors name the example and the feature."""

    def __init__(
        self, examples: Sequence[Mapping[bytes, bytes]], names: Sequence[bytes], entries: Entries | None = None
    ) -> None:
        """Take parsed examples; `entries` are present when the examples were read side by side."""
        self._examples = examples
        self._entries = entries
        self._names = names
        self._hidden: set[bytes] = set()

    def hide(self, keys: Iterable[bytes]) -> None:
        """Make the features `keys` missing in all examples."""
        self._hidden.update(keys)

    def __len__(self) -> int:
        return len(self._examples)

    def where(self, key: bytes, index: int) -> str:
        """Return the place of a value, for messages."""
        name = self._names[index].decode("utf-8", "replace") if index < len(self._names) else "<unknown>"
        return f"Name: {name}, Key: {key.decode('utf-8', 'replace')}, Index: {index}"

    def column(self, key: bytes, dtype: DType) -> Column:
        """Return the feature of each example; an empty feature counts as missing."""
        if key in self._hidden:
            return Column(np.full(len(self), -1, np.int64), concatenated([], dtype))
        values = None if self._entries is None else self._entries.column(key, dtype)
        return self._one_by_one(key, dtype) if values is None else values

    def _one_by_one(self, key: bytes, dtype: DType) -> Column:
        features = [
            None if key not in example else self._checked(parse_feature(example[key]), dtype, key, i)
            for i, example in enumerate(self._examples)
        ]
        sizes = [-1 if feature is None else len(feature) for feature in features]
        values = concatenated([feature.values for feature in features if feature is not None], dtype)
        return Column(np.array(sizes, np.int64), values)

    def holds_nothing(self, key: bytes) -> bool:
        """Return True if an example has the feature without values of any kind."""
        return any(key in example and parse_feature(example[key]).dtype is None for example in self._examples)

    def _checked(self, feature: Feature, dtype: DType, key: bytes, index: int) -> Feature | None:
        if feature.dtype is not None and feature.dtype is not dtype:
            raise InvalidArgumentError(
                f"{self.where(key, index)}.  Data types don't match. Expected type: {dtype}, Actual type: {feature.dtype}"
            )
        return feature if feature.dtype is not None else None


# Most columns are read from all Examples at once. The first column that cannot be parses every Example, once for all.
class ParsedLater(Sequence[Mapping[bytes, bytes]]):
    """The features of Examples that are known to be whole, read when the first is asked for."""

    def __init__(self, serialized: Sequence[bytes]) -> None:
        self._serialized = serialized

    def __len__(self) -> int:
        return len(self._serialized)

    def __getitem__(self, index: Any) -> Any:
        return self._parsed[index]

    @functools.cached_property
    def _parsed(self) -> list[dict[bytes, bytes]]:
        return [parse_example(text) for text in self._serialized]


def sparse(column: Column) -> tuple[Any, Any, Any]:
    """Features of different lengths as a SparseTensor, (n, 2) indices, values, dense shape."""
    # Missing features have the size -1, and no elements.
    lengths = np.maximum(column.sizes, 0)
    indices = np.stack([np.repeat(np.arange(len(lengths)), lengths), positions(lengths)], axis=1).astype(np.int64)
    return indices, column.values, np.array([len(lengths), lengths.max(initial=0)], np.int64)


def positions(lengths: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """0, 1, ... anew for each length."""
    return np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)


def ragged(column: Column, splits_dtype: DType) -> tuple[Any, Any]:
    """Features of different lengths as values and row splits."""
    splits = np.cumsum([0, *np.maximum(column.sizes, 0).tolist()]).astype(splits_dtype.numpy)
    return column.values, splits
