"""Example and SequenceExample messages, read from their bytes.

https://github.com/tensorflow/tensorflow/blob/master/tensorflow/core/example/example.proto names the fields.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ...codecs import wire
from ...support import dataclasses
from ...support.errors import InvalidArgumentError
from ...types import dtypes
from ...types.dtypes import DType
from ._example_batches import Column, Entries

_KEY, _VALUE = (number << 3 | wire.LENGTH_DELIMITED for number in (1, 2))
"""The first bytes of the fields of a map's entry."""
_KINDS = {1: dtypes.string, 2: dtypes.float32, 3: dtypes.int64}


def concatenated(lists: Sequence[Any], dtype: DType) -> np.ndarray[Any, Any]:
    """Concatenate lists of values."""
    if dtype is dtypes.float32:
        return np.concatenate([np.empty(0, dtype.numpy), *lists], dtype=dtype.numpy)
    flat = list(itertools.chain.from_iterable(lists))
    if dtype is not dtypes.string:
        return np.array(flat, dtype.numpy)
    array = np.empty(len(flat), object)
    array[:] = flat
    return array


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
    number, payload = field if field is not None and field[0] in _KINDS else _last_list(data)
    if number == 1:
        return Feature(dtypes.string, wire.contents(payload, 1))
    if number not in _KINDS:
        return Feature(None, ())
    packed = wire.sole(payload)
    values = packed[1] if packed is not None and packed[0] == 1 else None
    if number == 3:
        return Feature(dtypes.int64, _integers(payload) if values is None else wire.packed_integers(values))
    return Feature(dtypes.float32, np.frombuffer(_floats(payload) if values is None or len(values) % 4 else values, "<f4"))


def _last_list(data: bytes) -> tuple[int, bytes]:
    """Return (kind, message) of the last list of a Feature, all parts of that list joined."""
    number, payload = 0, b""
    for kind, part in wire.parts(data):
        if kind in _KINDS:
            number, payload = kind, payload + part if kind == number else part
    return number, payload


def _integers(payload: bytes) -> list[int]:
    return wire.integers(payload, 1)


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
    end = 2 + data[1] if len(data) > 1 and data[0] == _KEY and data[1] < 0x80 else len(data)
    if end + 1 < len(data) and data[end] == _VALUE and data[end + 1] == len(data) - end - 2 < 0x80:
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
        """Return True where an example has the feature without values of any kind."""
        return any(key in example and parse_feature(example[key]).dtype is None for example in self._examples)

    def _checked(self, feature: Feature, dtype: DType, key: bytes, index: int) -> Feature | None:
        if feature.dtype is not None and feature.dtype is not dtype:
            raise InvalidArgumentError(
                f"{self.where(key, index)}.  Data types don't match. Expected type: {dtype}, Actual type: {feature.dtype}"
            )
        return feature if feature.dtype is not None else None


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
