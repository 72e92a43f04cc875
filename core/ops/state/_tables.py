"""Lookup tables: from keys to values, both tensors."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ...codecs.hashes import murmur64
from ...numerics.hash_tables import ChainedOrder, IntegerIndex
from ...runtime.state.resources import Shared
from ...runtime.state.run_context import reserve
from ...support import dataclasses
from ...support.errors import (
    AbortedError,
    FailedPreconditionError,
    InvalidArgumentError,
    OutOfRangeError,
    ResourceExhaustedError,
    UnimplementedError,
)
from ...support.hints import Hint, step
from ...types.arrays import object_array
from ...types.dtypes import DType

_MASK = (1 << 64) - 1
_MOST_BUCKETS = 1 << 44
_MANY = 1 << 7
"""The smallest number of keys for which a joint look-up is faster than a loop."""


@dataclasses.dataclass
class LookupTable(Shared):
    """Keys to values of shape `value_shape`; scalar keys as Python objects, others as tuples."""

    name: str
    key_dtype: DType
    value_dtype: DType
    value_shape: tuple[int, ...] = ()
    key_shape: tuple[int, ...] = ()
    entries: dict[Any, Any] = dataclasses.field(default_factory=dict)
    _indexed: tuple[IntegerIndex, np.ndarray[Any, Any]] | None = dataclasses.field(
        default=None, init=False, repr=False, compare=False
    )
    _sought: int = dataclasses.field(default=0, init=False, repr=False, compare=False)

    def check_types(self, keys: DType, values: DType | None = None) -> None:
        """Raise InvalidArgumentError if keys or values have another dtype than the table's."""
        if keys is not self.key_dtype or values not in (None, self.value_dtype):
            raise InvalidArgumentError(
                f"Signature mismatch, have: {keys}{'' if values is None else f'->{values}'} "
                f"expected: {self.key_dtype}->{self.value_dtype}"
            )

    def batch_shape(self, keys: np.ndarray[Any, Any]) -> tuple[int, ...]:
        """Return the shape of a tensor of keys without the key's own shape; InvalidArgumentError for a wrong shape."""
        rank = keys.ndim - len(self.key_shape)
        if rank < 0 or keys.shape[rank:] != self.key_shape:
            raise InvalidArgumentError(f"Input key shape {keys.shape} must end with the table's key shape {self.key_shape}")
        return keys.shape[:rank]

    def keys_of(self, keys: np.ndarray[Any, Any]) -> tuple[list[Any], tuple[int, ...]]:
        """Keys as they stand in the table, and the shape of the tensor of keys; InvalidArgumentError for a wrong shape."""
        shape = self.batch_shape(keys)
        if not self.key_shape:
            return keys.ravel().tolist(), shape
        return list(map(tuple, keys.reshape(math.prod(shape), math.prod(self.key_shape)).tolist())), shape

    def find(self, keys: np.ndarray[Any, Any], default: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Return the value of each key, the default where there is none."""
        shape = self.batch_shape(keys)
        full = (*shape, *self.value_shape)
        if default.shape not in (self.value_shape, full):
            raise InvalidArgumentError(f"Expected shape {self.value_shape} or {full} for default value, got {default.shape}")
        if self._is_worth_an_index(keys):
            return self._find_many(keys.ravel(), default, full)
        sought = keys.ravel().tolist() if not self.key_shape else self.keys_of(keys)[0]
        if default.ndim == 0:
            missing = default.item()
            # `map` over the method of the dictionary stays in C.
            return self._value_array(list(map(self.entries.get, sought, itertools.repeat(missing)))).reshape(full)
        result = np.empty((len(sought), *self.value_shape), self.value_dtype.numpy)
        result[...] = default.reshape(result.shape) if default.shape == full else default
        entries = list(map(self.entries.get, sought))
        present = [value is not None for value in entries]
        if any(present):
            rows = [value for value in entries if value is not None]
            result[present] = np.concatenate(rows).reshape(len(rows), *self.value_shape) if self.value_shape else rows
        return result.reshape(full)

    def _is_worth_an_index(self, keys: np.ndarray[Any, Any]) -> bool:
        """Return True once the number of integers looked up since the last change reaches the number of entries."""
        if keys.size < _MANY or keys.dtype.kind not in "iu" or self.key_shape or not self.entries:
            return False
        self._sought += keys.size
        # An index costs about a look-up of each entry, so it has paid for itself from here on.
        return self._sought >= len(self.entries)

    # 10,000 keys take 0.13 ms with an index and 1.74 without in a table of numbers, 0.16 and 1.35 in a dense table, 0.17 and
    # 5.1 with vectors as values.
    def _find_many(
        self, keys: np.ndarray[Any, Any], default: np.ndarray[Any, Any], full: tuple[int, ...]
    ) -> np.ndarray[Any, Any]:
        """Return the values, of shape `full`, of a vector of integers."""
        if self._indexed is None:
            self._indexed = IntegerIndex(self.key_array(list(self.entries))), self._value_array(list(self.entries.values()))
        index, values = self._indexed
        places = index.places(keys)
        # -1, for a key that is missing, takes any row here and is overwritten below.
        result = values.take(places, axis=0, mode="clip")
        missing = np.flatnonzero(places < 0)
        if missing.size:
            result[missing] = default.reshape(result.shape)[missing] if default.shape == full else default
        return result.reshape(full)

    def _change(self) -> None:
        """Discard the data derived from the entries."""
        self._indexed, self._sought = None, 0

    def insert(self, keys: np.ndarray[Any, Any], values: np.ndarray[Any, Any]) -> None:
        """Add or replace entries."""
        self._change()
        names, rows = self._pairs(keys, values)
        self.entries.update(zip(names, rows))

    def _pairs(self, keys: np.ndarray[Any, Any], values: np.ndarray[Any, Any]) -> tuple[list[Any], Any]:
        """Keys and their values as they stand in the table; InvalidArgumentError if their shapes do not fit."""
        names, shape = self.keys_of(keys)
        full = (*shape, *self.value_shape)
        if values.shape != full:
            raise InvalidArgumentError(f"Expected shape {full} for value, got {values.shape}")
        rows = values.reshape(len(names), *self.value_shape)
        return names, rows if self.value_shape else rows.tolist()

    def remove(self, keys: np.ndarray[Any, Any]) -> None:
        """Remove entries; ignore missing keys."""
        self._change()
        for key in self.keys_of(keys)[0]:
            self.entries.pop(key, None)

    def load(self, keys: np.ndarray[Any, Any], values: np.ndarray[Any, Any]) -> None:
        """Replace all entries."""
        self._change()
        self.entries.clear()
        self.insert(keys, values)

    def export(self) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        """Return all keys and values."""
        return self.as_arrays(self.entries)

    def as_arrays(self, keys: Iterable[Any]) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        """Entries as two tensors, in the order of `keys`."""
        names = list(keys)
        return self.key_array(names), self._value_array([self.entries[key] for key in names])

    def _value_array(self, values: list[Any]) -> np.ndarray[Any, Any]:
        """Stack values."""
        if not self.value_shape:
            is_object = self.value_dtype.is_object
            return object_array(values) if is_object else np.array(values, self.value_dtype.numpy)
        if not values:
            return np.empty((0, *self.value_shape), self.value_dtype.numpy)
        return np.concatenate(values).reshape(len(values), *self.value_shape)

    def key_array(self, names: Sequence[Any]) -> np.ndarray[Any, Any]:
        """Keys as a tensor."""
        if self.key_dtype.is_object and not self.key_shape:
            return object_array(names)
        return np.array(names, self.key_dtype.numpy).reshape(len(names), *self.key_shape)

    def __len__(self) -> int:
        return len(self.entries)


class StaticTable(LookupTable):
    """A table that is filled once, by an initializer."""

    is_initialized = False

    def find(self, keys: np.ndarray[Any, Any], default: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        if not self.is_initialized:
            raise FailedPreconditionError(
                "Table not initialized.",
                hint=Hint(f"run the initializer of table '{self.name}' first, as ", step("initialize"), " does"),
            )
        if default.size != 1:
            raise InvalidArgumentError(f"Expected a scalar default value, got shape {default.shape}")
        return super().find(keys, default.reshape(()))

    def initialize(self, keys: np.ndarray[Any, Any], values: np.ndarray[Any, Any]) -> None:
        """Fill the table. A second call needs the same number of entries and changes nothing."""
        if not keys.size:
            raise InvalidArgumentError("keys and values cannot be empty tensors.")
        if self.is_initialized:
            if len(self.entries) != keys.size:
                raise FailedPreconditionError("Table was already initialized with different data.")
            return
        entries: dict[Any, Any] = {}
        for key, value in zip(keys.ravel().tolist(), values.ravel().tolist()):
            # The same pair twice is allowed, as in TensorFlow.
            if entries.setdefault(key, value) != value:
                raise FailedPreconditionError(
                    f"HashTable has different value for same key. Key {key} has {entries[key]} and trying to add value {value}"
                )
        self._change()
        self.entries = entries
        self.is_initialized = True

    def insert(self, keys: np.ndarray[Any, Any], values: np.ndarray[Any, Any]) -> None:
        raise UnimplementedError("Insert not supported by InitializableLookupTable implementations")

    def remove(self, keys: np.ndarray[Any, Any]) -> None:
        raise UnimplementedError("Remove not supported by InitializableLookupTable implementations")

    def load(self, keys: np.ndarray[Any, Any], values: np.ndarray[Any, Any]) -> None:
        self.initialize(keys, values)

    def export(self) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        if not self.is_initialized:
            raise AbortedError("HashTable is not initialized.")
        return super().export()


def _hashes(keys: Sequence[Any]) -> list[int]:
    """TensorFlow's hashes of scalar keys: Murmur for strings, numbers themselves."""
    return murmur64(keys).tolist() if keys and isinstance(keys[0], bytes) else [int(key) & _MASK for key in keys]


def _hash(key: Any) -> int:
    return int(murmur64([key])[0]) if isinstance(key, bytes) else int(key) & _MASK


class MutableTable(LookupTable):
    """A table that grows and shrinks; it exports in the order of C++'s chained hash map, as TensorFlow does.

    Before the first removal the order follows from `entries`; from then on the order is maintained.
    """

    _order: ChainedOrder | None = None

    def _live_order(self) -> ChainedOrder:
        if self._order is None:
            self._order = ChainedOrder()
            for key, code in zip(self.entries, _hashes(list(self.entries))):
                self._order.insert(key, code)
        return self._order

    def insert(self, keys: np.ndarray[Any, Any], values: np.ndarray[Any, Any]) -> None:
        fresh = [] if self._order is None else [k for k in dict.fromkeys(self.keys_of(keys)[0]) if k not in self.entries]
        super().insert(keys, values)
        for key, code in zip(fresh, _hashes(fresh)):
            self._live_order().insert(key, code)

    def remove(self, keys: np.ndarray[Any, Any]) -> None:
        self._change()
        for key in self.keys_of(keys)[0]:
            if key in self.entries:
                self._live_order().remove(key)
                del self.entries[key]

    def load(self, keys: np.ndarray[Any, Any], values: np.ndarray[Any, Any]) -> None:
        # Cleared, not made anew: C++'s map keeps its number of buckets when it is cleared, and later exports show it.
        self._live_order().clear()
        super().load(keys, values)

    def export(self) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        return self.as_arrays(self._live_order())


class DenseTable(LookupTable):
    """An open-addressing hash table, which exports its buckets in place order.

    Probing is quadratic over a power of two of buckets; `buckets` holds keys, the empty key or the deleted key.
    """

    def __init__(
        self,
        name: str,
        dtypes: tuple[DType, DType],
        value_shape: tuple[int, ...],
        empty_key: np.ndarray[Any, Any],
        deleted_key: np.ndarray[Any, Any],
        buckets: int,
        max_load: float,
    ) -> None:
        super().__init__(name, *dtypes, value_shape, empty_key.shape)
        self.empty = self.keys_of(empty_key[None])[0][0]
        self.deleted = self.keys_of(deleted_key[None])[0][0]
        if self.empty == self.deleted:
            raise InvalidArgumentError("Empty and deleted keys cannot be equal")
        if buckets < 4 or buckets & (buckets - 1):
            raise InvalidArgumentError(f"Number of buckets must be at least 4 and a power of 2, got: {buckets}")
        if not 0 < max_load < 1:
            raise InvalidArgumentError(f"max_load_factor must be between 0 and 1, got: {max_load}")
        self.buckets = [self.empty] * buckets
        self._left: dict[int, Any] = {}  # values in the buckets of removed keys; TensorFlow leaves and exports them
        self.max_load = max_load

    def batch_shape(self, keys: np.ndarray[Any, Any]) -> tuple[int, ...]:
        """Return the shape without the key's own shape; dimensions after the first must be 1."""
        shape = super().batch_shape(keys)
        if math.prod(shape) != (len(keys) if keys.ndim else 1):
            expected = (*keys.shape[:1], *self.key_shape)
            raise InvalidArgumentError(f"Expected key shape {expected} got {keys.shape}")
        return shape

    def _hash(self, key: Any) -> int:
        if not isinstance(key, tuple):
            return _hash(key)
        if len(key) == 1:
            return _hash(key[0])
        return functools.reduce(_combine, map(_hash, key), 0)

    def _check(self, name: Any) -> None:
        if name in (self.empty, self.deleted):
            what = "empty_key" if name == self.empty else "deleted_key"
            raise InvalidArgumentError(f"Using the {what} as a table key is not allowed")

    def _may_be_forbidden(self, keys: np.ndarray[Any, Any]) -> bool:
        """Return True if a key may equal the empty or the deleted key; vectors are compared later, key by key."""
        return bool(self.key_shape) or bool(np.any((keys == self.empty) | (keys == self.deleted)))

    def find(self, keys: np.ndarray[Any, Any], default: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        if self._may_be_forbidden(keys):
            for name in self.keys_of(keys)[0]:
                self._check(name)
        return super().find(keys, default)

    def insert(self, keys: np.ndarray[Any, Any], values: np.ndarray[Any, Any]) -> None:
        """Add or replace entries; entries before a forbidden key are added."""
        self._change()
        names, rows = self._pairs(keys, values)
        self._reserve(len(names))
        if self._may_be_forbidden(keys):
            allowed = list(itertools.takewhile(lambda name: name not in (self.empty, self.deleted), names))
            self._add(allowed, rows)
            for name in names[len(allowed) : len(allowed) + 1]:
                self._check(name)
        else:
            self._add(names, rows)

    def _add(self, names: list[Any], rows: Any) -> None:
        # Each new key once, where it first comes: a key that is there already keeps its bucket.
        for name in dict.fromkeys([name for name in names if name not in self.entries]):
            self._place(name)
        self.entries.update(zip(names, rows))

    def _reserve(self, count: int) -> None:
        """Double the buckets until `count` more entries fit."""
        size = len(self.buckets)
        while len(self.entries) + count > size * self.max_load:
            size *= 2
        if size != len(self.buckets):
            reserve(8 * size)
            if size > _MOST_BUCKETS:
                raise ResourceExhaustedError(f"a table of {size} buckets does not fit into memory")
            old, self.buckets, self._left = self.buckets, [self.empty] * size, {}
            # In the order of the old buckets, as TensorFlow rebuilds a table: the order decides which key is probed further.
            for name in old:
                if name not in (self.empty, self.deleted):
                    self._place(name)

    def _place(self, name: Any) -> None:
        # The number of buckets is a power of two. Probes go 1, 2, 3 buckets further, TensorFlow's quadratic probing, which
        # shows in exports.
        mask = len(self.buckets) - 1
        index, probes = self._hash(name) & mask, 0
        while self.buckets[index] not in (self.empty, self.deleted):
            probes += 1
            index = (index + probes) & mask
        self.buckets[index] = name
        self._left.pop(index, None)

    def remove(self, keys: np.ndarray[Any, Any]) -> None:
        self._change()
        for name in self.keys_of(keys)[0]:
            self._check(name)
            if name in self.entries:
                index = self.buckets.index(name)
                self.buckets[index] = self.deleted
                self._left[index] = self.entries.pop(name)

    def load(self, keys: np.ndarray[Any, Any], values: np.ndarray[Any, Any]) -> None:
        """Take over buckets as `export` gives them."""
        self._change()
        names, _ = self.keys_of(keys)
        size = len(names)
        if size < 4 or size & (size - 1):
            raise InvalidArgumentError(f"Number of buckets must be at least 4 and a power of 2, got: {size}")
        full = (size, *self.value_shape)
        if values.size != math.prod(full):
            raise InvalidArgumentError(f"Expected shape {full} for value, got {values.shape}")
        taken = [(name, row) for name, row in zip(names, values.reshape(full)) if name not in (self.empty, self.deleted)]
        entries = dict(taken)
        if len(entries) < len(taken):  # with no free bucket the search would never end
            raise InvalidArgumentError("a key is in more than one bucket")
        self.buckets, self._left, self.entries = names, {}, entries

    def export(self) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        shape = (len(self.buckets), *(self.key_shape or (1,)))
        flat = [part for name in self.buckets for part in (name if isinstance(name, tuple) else (name,))]
        is_object = self.key_dtype.is_object
        keys = object_array(flat, shape) if is_object else np.array(flat, self.key_dtype.numpy).reshape(shape)
        values = np.zeros((len(self.buckets), *(self.value_shape or (1,))), self.value_dtype.numpy)
        # TensorFlow's free buckets hold empty strings, as those of numbers hold zeros.
        if self.value_dtype.is_object:
            values[...] = b""
        for i, name in enumerate(self.buckets):
            if name in self.entries:
                values[i] = self.entries[name]
        for i, value in self._left.items():
            values[i] = value
        return keys, values


def _combine(a: int, b: int) -> int:
    """TensorFlow's combination of two 64-bit hashes."""
    return a ^ ((b + 0x9E3779B97F4A7800 + (a << 10) + (a >> 4)) & _MASK) & _MASK


def file_lines(contents: bytes, vocab_size: int, path: str) -> list[bytes]:
    """Return the lines of a file, `vocab_size` lines unless -1; errors for an empty file and for an empty line."""
    if not contents:
        raise OutOfRangeError("Read less bytes than requested")
    # TensorFlow's reader of lines drops every carriage return.
    lines = contents.replace(b"\r", b"").split(b"\n")
    if lines[-1] == b"":
        lines.pop()
    if vocab_size == 0 or vocab_size < -1:
        raise InvalidArgumentError(f"vocab_size must be positive or -1, not {vocab_size}")
    if vocab_size > len(lines):
        raise InvalidArgumentError(f"Invalid vocab_size in {path}: expected {vocab_size} but got {len(lines)}")
    lines = lines if vocab_size < 0 else lines[:vocab_size]
    if b"" in lines:
        raise InvalidArgumentError(f"Invalid content in {path}: empty line found at position {lines.index(b'')}.")
    return lines
