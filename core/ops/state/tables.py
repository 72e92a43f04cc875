"""Lookup tables: hash tables initialized once, and mutable tables."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np

from ...registry.registry import facts, kernel, not_arithmetic, onnx, shape
from ...runtime.state.edge_values import scalar_object
from ...runtime.state.kernel_context import KernelContext
from ...support import dataclasses
from ...support.errors import InvalidArgumentError
from ...support.hints import Hint, option
from ...types import dtypes
from ...types.arrays import Array, Result
from ...types.dims import Dim
from ...types.dtypes import DType
from ...types.shapes import SCALAR, UNKNOWN, Shape, TensorSpec
from ..shared.kernel_files import file_name, read_file
from ..shared.numerals import parse_number
from ..shared.plain_shapes import scalar_shape, signature
from ..shared.resource_access import ReferenceHandle, named, resource
from ._tables import DenseTable, LookupTable, MutableTable, StaticTable, file_lines

# TensorFlow's TextFileIndex: column numbers below 0 stand for no column.
_LINE_NUMBER, _WHOLE_LINE = -1, -2


def _shared(
    ctx: KernelContext,
    container: str,
    shared_name: str,
    kind: type[Any],
    types: tuple[DType, DType],
    create: Callable[..., Any],
) -> Any:
    """Return the table of that name; InvalidArgumentError if its key and value dtypes differ from `types`."""
    handle = named(ctx, container, shared_name, LookupTable, create)
    table = resource(handle, LookupTable)
    # The name may be that of a table which another node made.
    if type(table) is not kind or (table.key_dtype, table.value_dtype) != types:
        raise InvalidArgumentError(
            f"table '{table.name}' maps {table.key_dtype} to {table.value_dtype}, not {types[0]} to {types[1]}"
        )
    return handle


@kernel("HashTable", "HashTableV2")
def hash_table(ctx: KernelContext, *, container: str, shared_name: str, key_dtype: DType, value_dtype: DType) -> Any:
    """A table for an initializer to fill."""
    types = (key_dtype, value_dtype)
    return _shared(ctx, container, shared_name, StaticTable, types, lambda: StaticTable(ctx.name, *types))


@kernel("AnonymousHashTable")
def anonymous_hash_table(ctx: KernelContext, *, key_dtype: DType, value_dtype: DType) -> Result:
    """A table without a name, for an initializer to fill."""
    return scalar_object(StaticTable(ctx.name, key_dtype, value_dtype))


@kernel("MutableHashTable", "MutableHashTableV2")
def mutable_hash_table(ctx: KernelContext, *, container: str, shared_name: str, key_dtype: DType, value_dtype: DType) -> Any:
    """A table of scalars."""
    types = (key_dtype, value_dtype)
    return _shared(ctx, container, shared_name, MutableTable, types, lambda: MutableTable(ctx.name, *types))


@kernel("AnonymousMutableHashTable")
def anonymous_mutable_hash_table(ctx: KernelContext, *, key_dtype: DType, value_dtype: DType) -> Result:
    """A table of scalars without a name."""
    return scalar_object(MutableTable(ctx.name, key_dtype, value_dtype))


def _handle(dtype: Any, key: Any, value: Any, value_shape: Any = SCALAR, key_shape: Any = SCALAR) -> TensorSpec:
    """Return the spec of a table's handle, with the specs of keys and values."""
    return TensorSpec(dtype, SCALAR, None, (TensorSpec(key, key_shape), TensorSpec(value, value_shape)))


_CREATE_MUTABLE = ("MutableHashTable", "MutableHashTableV2", "AnonymousMutableHashTable")
_CREATE = ("HashTable", "HashTableV2", "AnonymousHashTable", *_CREATE_MUTABLE)


@shape(*_CREATE)
def hash_table_shape(*, key_dtype: DType, value_dtype: DType) -> TensorSpec:
    return _handle(dtypes.resource, key_dtype, value_dtype)


def _vector_shape(value_shape: Shape) -> tuple[int, ...]:
    if value_shape.rank != 1:
        raise InvalidArgumentError(f"Default value must be a vector, got shape {value_shape}")
    return value_shape.known()


@kernel("MutableHashTableOfTensors", "MutableHashTableOfTensorsV2")
def mutable_hash_table_of_tensors(
    ctx: KernelContext, *, container: str, shared_name: str, key_dtype: DType, value_dtype: DType, value_shape: Shape
) -> Any:
    """A table of vectors."""
    types, size = (key_dtype, value_dtype), _vector_shape(value_shape)
    return _shared(ctx, container, shared_name, MutableTable, types, lambda: MutableTable(ctx.name, *types, size))


@kernel("AnonymousMutableHashTableOfTensors")
def anonymous_mutable_hash_table_of_tensors(
    ctx: KernelContext, *, key_dtype: DType, value_dtype: DType, value_shape: Shape
) -> Result:
    """A table of vectors without a name."""
    return scalar_object(MutableTable(ctx.name, key_dtype, value_dtype, _vector_shape(value_shape)))


_CREATE_OF_TENSORS = ("MutableHashTableOfTensors", "MutableHashTableOfTensorsV2", "AnonymousMutableHashTableOfTensors")


@shape(*_CREATE_OF_TENSORS)
def mutable_hash_table_of_tensors_shape(*, key_dtype: DType, value_dtype: DType, value_shape: Shape) -> TensorSpec:
    return _handle(dtypes.resource, key_dtype, value_dtype, value_shape)


@kernel("MutableDenseHashTable")
def mutable_dense_hash_table(empty_key: Array) -> Any:
    raise InvalidArgumentError("this op lacks deleted_key, which TensorFlow needs to create the table")


class DenseAttrs(NamedTuple):
    """The attributes of a dense table: dtypes, value shape, initial number of buckets, and load factor."""

    key_dtype: DType
    value_dtype: DType
    value_shape: Shape
    initial_num_buckets: int
    max_load_factor: float


def _dense(ctx: KernelContext, keys: tuple[Array, Array], attrs: DenseAttrs) -> Callable[..., Any]:
    """Return a factory of dense tables; `keys` are the empty and the deleted key."""
    empty, deleted = map(np.asarray, keys)
    if deleted.shape != empty.shape:
        raise InvalidArgumentError(f"Empty and deleted keys must have same shape, got {empty.shape} and {deleted.shape}")
    if empty.ndim > 1:
        raise InvalidArgumentError(f"Empty key must be a scalar or a vector, got shape {empty.shape}")
    types, sizes = (attrs.key_dtype, attrs.value_dtype), (attrs.initial_num_buckets, attrs.max_load_factor)
    return lambda: DenseTable(ctx.name, types, attrs.value_shape.known(), empty, deleted, *sizes)


@kernel("MutableDenseHashTableV2")
def mutable_dense_hash_table_v2(
    ctx: KernelContext, empty_key: Array, deleted_key: Array, *, container: str, shared_name: str, attrs: DenseAttrs
) -> Result:
    """Return an open-addressing table; a reserved key marks free buckets, another the buckets of removed keys."""
    types = (attrs.key_dtype, attrs.value_dtype)
    return _shared(ctx, container, shared_name, DenseTable, types, _dense(ctx, (empty_key, deleted_key), attrs))


@kernel("AnonymousMutableDenseHashTable")
def anonymous_mutable_dense_hash_table(
    ctx: KernelContext, empty_key: Array, deleted_key: Array, *, attrs: DenseAttrs
) -> Result:
    """An open-addressing table without a name."""
    return scalar_object(_dense(ctx, (empty_key, deleted_key), attrs)())


_CREATE_DENSE = ("MutableDenseHashTable", "MutableDenseHashTableV2", "AnonymousMutableDenseHashTable")


@shape(*_CREATE_DENSE)
def mutable_dense_hash_table_shape(
    empty_key: TensorSpec, *deleted_key: TensorSpec, key_dtype: DType, value_dtype: DType, value_shape: Shape
) -> TensorSpec:
    return _handle(dtypes.resource, key_dtype, value_dtype, value_shape, empty_key.shape)


facts("table", "owns_state", of=(*_CREATE, *_CREATE_OF_TENSORS, *_CREATE_DENSE))
facts("saved_table", of=(*_CREATE_MUTABLE, *_CREATE_OF_TENSORS, *_CREATE_DENSE))


def _static(handle: Array | ReferenceHandle) -> StaticTable:
    table = resource(handle, LookupTable)
    if not isinstance(table, StaticTable):
        raise InvalidArgumentError(f"Table {table.name} is not initializable")
    return table


@kernel("InitializeTable", "InitializeTableV2")
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


shape("InitializeTable", "InitializeTableV2")(signature("_, (n), (n) ->"))


@kernel("InitializeTableFromTextFile", "InitializeTableFromTextFileV2")
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


shape("InitializeTableFromTextFile", "InitializeTableFromTextFileV2")(signature("_, () ->"))


facts("reads_files", of=("InitializeTableFromTextFile", "InitializeTableFromTextFileV2"))


@kernel("LookupTableFind", "LookupTableFindV2")
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


@kernel("LookupTableInsert", "LookupTableInsertV2")
def lookup_table_insert(table_handle: Any, keys: Array, values: Array, *, Tin: DType, Tout: DType) -> None:
    """Add or replace entries."""
    table = resource(table_handle, LookupTable)
    table.check_types(Tin, Tout)
    table.insert(np.asarray(keys), np.asarray(values))


@kernel("LookupTableRemoveV2")
def lookup_table_remove(table_handle: Array, keys: Array, *, Tin: DType) -> None:
    """Remove entries."""
    table = resource(table_handle, LookupTable)
    table.check_types(Tin)
    table.remove(np.asarray(keys))


@kernel("LookupTableImport", "LookupTableImportV2")
def lookup_table_import(table_handle: Any, keys: Array, values: Array, *, Tin: DType, Tout: DType) -> None:
    """Replace all entries."""
    table = resource(table_handle, LookupTable)
    table.check_types(Tin, Tout)
    table.load(np.asarray(keys), np.asarray(values))


@kernel("LookupTableSize", "LookupTableSizeV2")
def lookup_table_size(table_handle: Any) -> Result:
    """Return the number of entries."""
    return np.int64(len(resource(table_handle, LookupTable)))


shape("LookupTableSize", "LookupTableSizeV2")(scalar_shape)


@kernel("LookupTableExport", "LookupTableExportV2")
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


_INITIALIZE = (
    "InitializeTable", "InitializeTableV2", "InitializeTableFromTextFile", "InitializeTableFromTextFileV2",
)  # fmt: skip
_IMPORT = ("LookupTableImport", "LookupTableImportV2")
_WRITE = (*_INITIALIZE, *_IMPORT, "LookupTableInsert", "LookupTableInsertV2", "LookupTableRemoveV2")
_READ = tuple(f"LookupTable{what}{version}" for what in ("Find", "Size", "Export") for version in ("", "V2"))
_ALL = (*_CREATE, *_CREATE_OF_TENSORS, *_CREATE_DENSE, *_WRITE, *_READ)
facts("initializes_table", of=_INITIALIZE)
facts("fills_table", of=(*_INITIALIZE, *_IMPORT))
facts("side_effect", of=_WRITE)
not_arithmetic(*_ALL)


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
