"""Lookup tables: from keys to values, both tensors."""

from __future__ import annotations

import functools
import itertools
import math
import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from ...codecs.hashes import murmur64
from ...numerics.hash_tables import ChainedOrder, IntegerIndex
from ...registry.registry import kernel, onnx, shape
from ...runtime.state.edge_values import scalar_object
from ...runtime.state.kernel_context import KernelContext
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
from ...support.hints import Hint, option, step
from ...types import dtypes
from ...types.arrays import Array, Result, object_array
from ...types.dims import Dim
from ...types.dtypes import DType
from ...types.shapes import SCALAR, UNKNOWN, Shape, TensorSpec
from ..shared.kernel_files import file_name, read_file
from ..shared.numerals import parse_number
from ..shared.resource_access import ReferenceHandle, named, resource

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
        key_dtype: DType,
        value_dtype: DType,
        value_shape: tuple[int, ...],
        empty_key: np.ndarray[Any, Any],
        deleted_key: np.ndarray[Any, Any],
        buckets: int,
        max_load: float,
    ) -> None:
        super().__init__(name, key_dtype, value_dtype, value_shape, empty_key.shape)
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


# TensorFlow's TextFileIndex: column numbers below 0 stand for no column.
_LINE_NUMBER, _WHOLE_LINE = -1, -2


class TableAttributes(NamedTuple):
    """The attributes of a new table: tables of scalars state no value shape, and tables without a name no container."""

    key_dtype: DType
    value_dtype: DType
    value_shape: Shape | None = None
    container: str | None = None


def _made(ctx: KernelContext, attrs: TableAttributes, kind: Callable[..., LookupTable], *rest: Any) -> Any:
    """Return a handle of the table of that name, made of the attributes and `rest` at first touch, or of a table without a
    name; InvalidArgumentError if a table of the name has other dtypes.
    """
    types = (attrs.key_dtype, attrs.value_dtype)
    create = functools.partial(kind, ctx.name, *types, *rest)
    if attrs.container is None:
        return scalar_object(create())
    handle = named(ctx, LookupTable, lambda name: create())
    table = resource(handle, LookupTable)
    # The name may be that of a table which another node made.
    if type(table) is not kind or (table.key_dtype, table.value_dtype) != types:
        raise InvalidArgumentError(
            f"table '{table.name}' maps {table.key_dtype} to {table.value_dtype}, not {types[0]} to {types[1]}"
        )
    return handle


def _handle_shape(*keys: TensorSpec, attrs: TableAttributes) -> TensorSpec:
    """Return the spec of a table's handle, with the specs of keys and values; dense tables take keys as inputs."""
    key = TensorSpec(attrs.key_dtype, keys[0].shape if keys else SCALAR)
    value = TensorSpec(attrs.value_dtype, SCALAR if attrs.value_shape is None else attrs.value_shape)
    return TensorSpec(dtypes.resource, SCALAR, None, (key, value))


@kernel("HashTable", "HashTableV2", "AnonymousHashTable", shape=_handle_shape, facts=("table", "owns_state"), arithmetic=False)
def hash_table(ctx: KernelContext, *, attrs: TableAttributes) -> Any:
    """A table for an initializer to fill."""
    return _made(ctx, attrs, StaticTable)


_OF_TENSORS = ("MutableHashTableOfTensors", "MutableHashTableOfTensorsV2", "AnonymousMutableHashTableOfTensors")
_MUTABLE = ("table", "owns_state", "saved_table")
"""The facts of tables that insertions change."""
_INITIALIZES = ("initializes_table", "fills_table", "side_effect")


@kernel(
    "MutableHashTable", "MutableHashTableV2", "AnonymousMutableHashTable", *_OF_TENSORS, shape=_handle_shape, facts=_MUTABLE,
    arithmetic=False,
)  # fmt: skip
def mutable_hash_table(ctx: KernelContext, *, attrs: TableAttributes) -> Any:
    """A table of scalars, or of vectors."""
    if attrs.value_shape is None:
        return _made(ctx, attrs, MutableTable)
    if attrs.value_shape.rank != 1:
        raise InvalidArgumentError(f"Default value must be a vector, got shape {attrs.value_shape}")
    return _made(ctx, attrs, MutableTable, attrs.value_shape.known())


@kernel("MutableDenseHashTable", shape=_handle_shape, facts=_MUTABLE, arithmetic=False)
def mutable_dense_hash_table(empty_key: Array) -> Any:
    raise InvalidArgumentError("this op lacks deleted_key, which TensorFlow needs to create the table")


@kernel("MutableDenseHashTableV2", "AnonymousMutableDenseHashTable", shape=_handle_shape, facts=_MUTABLE, arithmetic=False)
def mutable_dense_hash_table_v2(
    ctx: KernelContext,
    empty_key: Array,
    deleted_key: Array,
    *,
    attrs: TableAttributes,
    initial_num_buckets: int,
    max_load_factor: float,
) -> Result:
    """Return an open-addressing table; a reserved key marks free buckets, another the buckets of removed keys."""
    empty, deleted = map(np.asarray, (empty_key, deleted_key))
    if deleted.shape != empty.shape:
        raise InvalidArgumentError(f"Empty and deleted keys must have same shape, got {empty.shape} and {deleted.shape}")
    if empty.ndim > 1:
        raise InvalidArgumentError(f"Empty key must be a scalar or a vector, got shape {empty.shape}")
    assert attrs.value_shape is not None
    return _made(ctx, attrs, DenseTable, attrs.value_shape.known(), empty, deleted, initial_num_buckets, max_load_factor)


def _static(handle: Array | ReferenceHandle) -> StaticTable:
    table = resource(handle, LookupTable)
    if not isinstance(table, StaticTable):
        raise InvalidArgumentError(f"Table {table.name} is not initializable")
    return table


@kernel("InitializeTable", "InitializeTableV2", shape="*, n, n ->", facts=_INITIALIZES, arithmetic=False)
def initialize_table(table_handle: Any, keys: Array, values: Array, *, Tkey: DType, Tval: DType) -> None:
    """Fill a table from two vectors."""
    table = _static(table_handle)
    keys, values = np.asarray(keys), np.asarray(values)
    table.check_types(Tkey, Tval)
    if keys.ndim != 1:
        raise InvalidArgumentError(f"Keys must be a vector, but received shape {keys.shape}")
    if values.ndim != 1:
        raise InvalidArgumentError(f"Values must be a vector, but received shape {values.shape}")
    if keys.size != values.size:
        raise InvalidArgumentError(f"Keys and values must have the same size {keys.size} vs {values.size}")
    table.initialize(keys, values)


@kernel(
    "InitializeTableFromTextFile",
    "InitializeTableFromTextFileV2",
    shape="*, () ->",
    facts=("reads_files", *_INITIALIZES),
    arithmetic=False,
)
def initialize_table_from_text_file(
    ctx: KernelContext,
    table_handle: Any,
    filename: Array,
    *,
    key_index: int,
    value_index: int,
    vocab_size: int,
    delimiter: str,
    offset: int,
) -> None:
    """Fill a table from the lines of a file; key and value are each a column, the whole line, or the line's number."""
    table = _static(table_handle)
    if filename.ndim:
        raise InvalidArgumentError(f"filename should be a single string, but got {filename.shape}")
    path = file_name(filename.item())
    if len(delimiter) != 1:
        raise InvalidArgumentError(f"Delimiter must be a single char, not {delimiter!r}")
    if not path:
        raise InvalidArgumentError("filename cannot be empty.")
    lines = file_lines(read_file(ctx, path), vocab_size, path)
    columns = _Columns(lines, delimiter.encode("utf-8", "surrogateescape"), offset, os.path.basename(path))
    keys = columns.read(key_index, table.key_dtype, "Key")
    values = columns.read(value_index, table.value_dtype, "Value")
    table.initialize(keys, values)


class _Columns:
    """A file's lines, taken apart at the delimiter when a column is asked for."""

    def __init__(self, lines: list[bytes], delimiter: bytes, offset: int, name: str) -> None:
        self._lines = lines
        self._delimiter = delimiter
        self._offset = offset
        self._name = name

    def read(self, index: int, dtype: DType, what: str) -> Array:
        """Return a column as an array of the dtype."""
        if index == _LINE_NUMBER:
            if dtype is not dtypes.int64:
                raise InvalidArgumentError(f"{what} index for line number requires a dtype of int64, got {dtype}")
            return np.arange(len(self._lines), dtype=np.int64) + self._offset
        if index == _WHOLE_LINE:
            if dtype not in (dtypes.string, dtypes.int64, dtypes.int32, dtypes.float32, dtypes.float64):
                raise InvalidArgumentError(f"{what} index for whole line cannot be of dtype {dtype}")
            texts = self._lines
        else:
            texts = [self._field(i, line, index) for i, line in enumerate(self._lines)]
        values = np.empty(len(texts), dtype.numpy)
        for i, text in enumerate(texts):
            values[i] = text if dtype is dtypes.string else self._number(text, dtype, i)
        return values

    def _field(self, number: int, line: bytes, index: int) -> bytes:
        fields = line.split(self._delimiter)
        if index >= len(fields):
            raise InvalidArgumentError(
                f"Invalid number of columns in {self._name} line {number} ({line!r}) : expected at least {index + 1} "
                f"got {len(fields)}"
            )
        return fields[index]

    def _number(self, text: bytes, dtype: DType, line: int) -> Any:
        value = parse_number(text, dtype.numpy)
        if value is None:
            raise InvalidArgumentError(f"Field {text!r} in line {line} is not a valid {dtype}.")
        return value


@kernel("LookupTableFind", "LookupTableFindV2", arithmetic=False)
def lookup_table_find(table_handle: Any, keys: Array, default_value: Array, *, Tin: DType, Tout: DType) -> Result:
    """The value of each key, the default where there is none."""
    table = resource(table_handle, LookupTable)
    table.check_types(Tin, Tout)
    return table.find(np.asarray(keys), np.asarray(default_value))


@shape("LookupTableFind", "LookupTableFindV2")
def lookup_table_find_shape(table_handle: TensorSpec, keys: TensorSpec, default_value: TensorSpec) -> Shape:
    if len(table_handle.handle) != 2:
        return UNKNOWN
    key, value = table_handle.handle
    if keys.rank is None or key.rank is None:
        return UNKNOWN
    # The last dimensions of the keys are those of a single key, which a vector may be.
    return keys.shape[: keys.rank - key.rank] + value.shape


@kernel("LookupTableInsert", "LookupTableInsertV2", facts=("side_effect",), arithmetic=False)
def lookup_table_insert(table_handle: Any, keys: Array, values: Array, *, Tin: DType, Tout: DType) -> None:
    """Add or replace entries."""
    table = resource(table_handle, LookupTable)
    table.check_types(Tin, Tout)
    table.insert(np.asarray(keys), np.asarray(values))


@kernel("LookupTableRemoveV2", facts=("side_effect",), arithmetic=False)
def lookup_table_remove(table_handle: Array, keys: Array, *, Tin: DType) -> None:
    """Remove entries."""
    table = resource(table_handle, LookupTable)
    table.check_types(Tin)
    table.remove(np.asarray(keys))


@kernel("LookupTableImport", "LookupTableImportV2", facts=("fills_table", "side_effect"), arithmetic=False)
def lookup_table_import(table_handle: Any, keys: Array, values: Array, *, Tin: DType, Tout: DType) -> None:
    """Replace all entries."""
    table = resource(table_handle, LookupTable)
    table.check_types(Tin, Tout)
    table.load(np.asarray(keys), np.asarray(values))


@kernel("LookupTableSize", "LookupTableSizeV2", shape="-> ()", arithmetic=False)
def lookup_table_size(table_handle: Any) -> Result:
    """Return the number of entries."""
    return np.int64(len(resource(table_handle, LookupTable)))


@kernel("LookupTableExport", "LookupTableExportV2", arithmetic=False)
def lookup_table_export(table_handle: Any, *, Tkeys: DType, Tvalues: DType) -> tuple[Result, Result]:
    """All keys and values."""
    table = resource(table_handle, LookupTable)
    table.check_types(Tkeys, Tvalues)
    return table.export()


@shape("LookupTableExport", "LookupTableExportV2")
def lookup_table_export_shape(table_handle: TensorSpec) -> tuple[Shape, ...]:
    if len(table_handle.handle) != 2:
        return UNKNOWN, UNKNOWN
    count = Dim.unknown()
    key, value = table_handle.handle
    # Dense tables export scalars as rows of one element; their handle's spec does not say so.
    return tuple(Shape((count,)) + spec.shape if spec.rank else UNKNOWN for spec in (key, value))


# A table of ONNX is a LabelEncoder of the keys that an initializer fills in, and the values by number.


@dataclasses.dataclass(frozen=True, slots=True)
class _TableHandle:
    """The handle of a table; the contents are in the emitter's `tables`, by the name."""

    name: str


@onnx("HashTable", "HashTableV2", "MutableHashTable", "MutableHashTableV2")
@onnx("MutableHashTableOfTensors", "MutableHashTableOfTensorsV2")
def _created_onnx(g: Any, *, shared_name: str) -> _TableHandle:
    # A table without a shared name belongs to its node alone.
    return _TableHandle(shared_name or g.source)


@onnx("InitializeTable", "InitializeTableV2", "LookupTableImport", "LookupTableImportV2")
def _filled_onnx(g: Any, table: _TableHandle, keys: Any, values: Any) -> None:
    """Keep the contents of a table, constants as in the graphs of frozen models."""
    g.tables[table.name] = _constant(g, keys), _constant(g, values)


_MAKE_INPUT: Final = Hint("make the result of the lookup an input, with ", option("from"))


def _constant(g: Any, value: Any) -> Array:
    if value.array is None:
        g.refuse(Hint("the contents of its table are not constant: ", _MAKE_INPUT))
    return np.asarray(value.array)


def _contents(g: Any, table: _TableHandle) -> tuple[Array, Array]:
    if table.name not in g.tables:
        g.refuse(Hint("no initializer fills its table: ", _MAKE_INPUT))
    contents: tuple[Array, Array] = g.tables[table.name]
    return contents


@onnx("LookupTableSize", "LookupTableSizeV2")
def _size_onnx(g: Any, table: _TableHandle) -> Any:
    # A key that an initializer states twice is a single entry.
    return g.constant(np.int64(len(set(_contents(g, table)[0].tolist()))))


@onnx("LookupTableFind", "LookupTableFindV2")
def _looked_up_onnx(g: Any, table: _TableHandle, keys: Any, default: Any) -> Any:
    """Return the value of each key, the default for keys that the table does not have."""
    known, values = _contents(g, table)
    if known.ndim != 1 or not len(known):
        g.refuse("its table is empty, or has keys of several numbers")
    numbers = _numbers(g, known, keys)
    is_there = g.unsqueeze(g.GreaterOrEqual(numbers, 0), *range(-1, -values.ndim, -1))
    # -1, the number of an unknown key, would take the last row; the row 0 that it takes here is replaced below.
    rows = g.Gather(g.constant(values, default.dtype), g.Max(numbers, 0), axis=0)
    return g.Where(is_there, rows, default)


def _numbers(g: Any, known: Array, keys: Any) -> Any:
    """Return the number of the last known key that equals each key; -1 for unknown keys."""
    # A key that comes twice has its last value, as after two insertions.
    places = {key: place for place, key in enumerate(known.tolist())}
    attrs = {"values_int64s": list(places.values()), "default_int64": -1}
    if keys.dtype is dtypes.string:
        if any("\ufffd" in key.decode(errors="replace") for key in places):
            g.refuse("ONNX's strings are UTF-8, and a key of its table has other bytes")
        return g.op("LabelEncoder", keys, dtype=dtypes.int64, keys_strings=list(places), **attrs)
    if not keys.dtype.is_integer:
        g.refuse(f"ONNX has no tables with keys of {keys.dtype}")
    # LabelEncoder knows integers of 64 bits only.
    return g.op("LabelEncoder", g.cast(keys, dtypes.int64), dtype=dtypes.int64, keys_int64s=list(places), **attrs)
