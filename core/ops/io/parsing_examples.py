"""Serialized Examples into tensors, and Examples in JSON into serialized Examples."""

from __future__ import annotations

import base64
import binascii
import collections
import functools
import json
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from ...codecs import wire
from ...registry.registry import WITHOUT_GRADIENT, kernel, shape, zero_cost
from ...support import dataclasses
from ...support.errors import DataLossError, InvalidArgumentError
from ...types import dtypes
from ...types.arrays import Array, Result, object_array
from ...types.dims import Dim
from ...types.dtypes import DType
from ...types.shapes import UNKNOWN, Shape, TensorSpec
from ..shared.argument_checks import require, with_rank
from ..shared.string_functions import map_bytes
from . import _examples
from ._examples import Column, FeatureColumn, entries_of

MANY_MESSAGES: Final = 24
"""The smallest number of messages for which reading them side by side is faster than a loop."""


@dataclasses.dataclass(frozen=True, slots=True)
class Dense:
    """A feature of a dense tensor; an unknown first dimension `is_variable`, padded to the longest example.

    `row` are the known dimensions: all, or all but the first.
    """

    key: bytes
    dtype: DType
    shape: Shape
    default: np.ndarray[Any, Any]
    is_variable: bool
    row: tuple[int, ...]

    def check(self, index: int) -> None:
        """Raise InvalidArgumentError where shape and default do not fit each other."""
        if self.default.dtype != self.dtype.numpy:
            raise InvalidArgumentError(f"dense_defaults[{index}] is {self.default.dtype}, not {self.dtype}")
        if self.is_variable:
            # The default of a variable length is the padding, so a single number.
            if self.default.size != 1:
                raise InvalidArgumentError(
                    f"dense_shape[{index}] is a variable length shape: {self.shape}, therefore def_value[{index}] must "
                    f"contain a single element (the padding element), not {self.default.size}"
                )
        elif self.default.size and self.default.shape != self.row:
            raise InvalidArgumentError(
                f"def_value[{index}].shape() == {self.default.shape} is not compatible with "
                f"dense_shapes_[{index}] == {self.shape}"
            )


@functools.lru_cache(1024)
def _layout(shape: Shape) -> tuple[bool, tuple[int, ...]]:
    """Return True if the first dimension of a feature is unknown, and the known dimensions."""
    is_variable = bool(shape.rank) and not isinstance(shape[0], int)
    return is_variable, (shape[1:] if is_variable else shape).known()


def dense_features(
    keys: Sequence[bytes], types: Sequence[DType], shapes: Sequence[Shape], defaults: Sequence[Array]
) -> list[Dense]:
    """Return the dense features of an op; InvalidArgumentError where their number, shapes or defaults do not fit."""
    if not len(keys) == len(types) == len(shapes) == len(defaults):
        raise InvalidArgumentError(
            f"{len(keys)} dense keys, {len(types)} types, {len(shapes)} shapes and {len(defaults)} defaults do not fit"
        )
    features = [Dense(k, t, s, np.asarray(d), *_layout(s)) for k, t, s, d in zip(keys, types, shapes, defaults)]
    for i, dense in enumerate(features):
        dense.check(i)
    return features


def dense_batch(columns: FeatureColumn, dense: Dense) -> np.ndarray[Any, Any]:
    """Return a dense feature of all examples, (batch, *shape)."""
    column = columns.column(dense.key, dense.dtype)
    size = math.prod(dense.row)
    if dense.is_variable:
        return _padded(columns, dense, column, size)
    is_missing = column.sizes < 0
    is_wrong = ~is_missing & (column.sizes != size)
    # No default means that the feature is required; a feature of no elements cannot be missing.
    if size and not dense.default.size:
        is_wrong |= is_missing
    if is_wrong.any():
        raise _unfit(columns, dense, int(np.argmax(is_wrong)), column)
    # Without gaps the values of all examples already are the rows.
    rows = column.values
    if size and is_missing.any():
        rows = np.empty((len(is_missing), size), dense.dtype.numpy)
        rows[is_missing] = dense.default.ravel()
        rows[~is_missing] = column.values.reshape(-1, size)
    return rows.reshape(len(is_missing), *dense.row)


def _padded(columns: FeatureColumn, dense: Dense, column: Column, size: int) -> np.ndarray[Any, Any]:
    """Return (batch, rows of the longest example, *row) of a feature whose rows have `size` values."""
    sizes = np.maximum(column.sizes, 0)
    # Rows of no values cannot be counted by a division.
    is_wrong = sizes % size > 0 if size else column.sizes >= 0
    if is_wrong.any():
        raise _unfit(columns, dense, int(np.argmax(is_wrong)), column)
    longest = sizes.max(initial=0)
    result = np.empty((len(sizes), longest), dense.dtype.numpy)
    result[...] = dense.default.ravel()[0]
    result[np.arange(longest) < sizes[:, None]] = column.values
    return result.reshape(len(sizes), longest // max(size, 1), *dense.row)


def _unfit(columns: FeatureColumn, dense: Dense, index: int, column: Column) -> InvalidArgumentError:
    """Return the error about the number of values in an example."""
    where, size = columns.where(dense.key, index), column.sizes[index]
    if size < 0:
        return InvalidArgumentError(f"{where}: Feature (data type: {dense.dtype}) is required but could not be found.")
    if dense.is_variable:
        return InvalidArgumentError(
            f"{where}.  Number of {dense.dtype} values is not a multiple of stride length. "
            f"Saw {size} values but output shape is: {dense.shape}"
        )
    return InvalidArgumentError(
        f"{where}.  Number of {dense.dtype} values != expected.  Values size: {size} but output shape: {dense.shape}"
    )


def read_examples(serialized: list[bytes], names: list[bytes]) -> FeatureColumn:
    """Return the examples in serialized messages."""
    entries = entries_of(serialized) if len(serialized) >= MANY_MESSAGES else None
    if entries is not None:
        # All messages are whole, as the entries were found; their features are parsed only for unusual columns.
        return FeatureColumn(_examples.ParsedLater(serialized), names, entries)
    examples = []
    for text in serialized:
        try:
            examples.append(_examples.parse_example(text))
        except DataLossError as error:
            raise InvalidArgumentError(f"Could not parse example input, value: {text!r}: {error}") from None
    return FeatureColumn(examples, names)


def parse_batch(
    serialized: Array,
    names: Array,
    sparse: list[tuple[bytes, DType]],
    dense: list[Dense],
    ragged: list[tuple[bytes, DType, DType]],
) -> tuple[list[Array], ...]:
    """Return all outputs in their order. `sparse` are (key, dtype), `ragged` (key, dtype, splits dtype)."""
    is_single = serialized.ndim == 0
    if serialized.ndim > 1:
        raise InvalidArgumentError(f"Expected serialized to be a scalar or vector, got shape: {serialized.shape}")
    if names.size and names.shape != serialized.shape:
        raise InvalidArgumentError(
            f"Expected names have the same shape as serialized: name.shape={names.shape}, serialized.shape={serialized.shape}"
        )
    # A model that serves single requests parses one example a run, where arrays of a batch of one cost most of the time.
    if is_single and (alone := _parse_alone(serialized.item(), sparse, dense, ragged)) is not None:
        return alone
    columns = read_examples(serialized.ravel().tolist(), names.ravel().tolist())
    # TensorFlow finds nothing for a key that two outputs want.
    counts = collections.Counter([*(f.key for f in dense), *(key for key, _ in sparse), *(key for key, _, _ in ragged)])
    columns.hide(key for key, count in counts.items() if count > 1)
    column = columns.column
    try:
        sparse_parts = [_examples.sparse(column(key, dtype)) for key, dtype in sparse]
        ragged_parts = [_examples.ragged(column(key, dtype), splits) for key, dtype, splits in ragged]
        dense_parts = [dense_batch(columns, feature) for feature in dense]
    except DataLossError as error:
        raise InvalidArgumentError(f"Could not parse example input: {error}") from None
    if is_single:
        # A scalar has no batch dimension, nor outer splits.
        sparse_parts = [(indices[:, 1:], values, size[1:]) for indices, values, size in sparse_parts]
        ragged_parts = [(values, splits[:0]) for values, splits in ragged_parts]
        dense_parts = [part[0] for part in dense_parts]
    return (*columns_of(sparse_parts, 3), dense_parts, *columns_of(ragged_parts, 2))


def _parse_alone(
    serialized: bytes, sparse: list[tuple[bytes, DType]], dense: list[Dense], ragged: list[tuple[bytes, DType, DType]]
) -> tuple[list[Array], ...] | None:
    """Parse an example into all outputs without the arrays of a batch; None where its form is unusual."""
    ragged_or_sparse = [*sparse, *((key, dtype) for key, dtype, _ in ragged)]
    keys = [*(key for key, _ in ragged_or_sparse), *(feature.key for feature in dense)]
    try:
        example = _examples.parse_example(serialized)
        values = [_values_alone(example, key, dtype) for key, dtype in ragged_or_sparse]
        dense_parts = [_dense_alone(example, feature) for feature in dense]
    except DataLossError:
        return None
    if len(set(keys)) < len(keys) or any(part is None for part in (*values, *dense_parts)):
        return None
    sizes = [len(part) for part in values[: len(sparse)]]
    indices = [np.arange(size, dtype=np.int64).reshape(size, 1) for size in sizes]
    splits = [np.empty(0, dtype.numpy) for _, _, dtype in ragged]
    shapes = [np.array([size], np.int64) for size in sizes]
    return indices, values[: len(sparse)], shapes, dense_parts, values[len(sparse) :], splits


def _values_alone(example: Mapping[bytes, bytes], key: bytes, dtype: DType) -> Any:
    """Return the values of a feature, empty where missing; None where the dtype differs."""
    # An empty message is a feature without a kind, as a missing one.
    feature = _examples.parse_feature(example.get(key, b""))
    if feature.dtype is None:
        return np.empty(0, dtype.numpy)
    if feature.dtype is not dtype:
        return None
    if dtype is dtypes.string:
        return object_array(feature.values)
    return np.array(feature.values, dtype.numpy)


def _dense_alone(example: Mapping[bytes, bytes], dense: Dense) -> Any:
    """Return a dense feature of the right shape, or its default."""
    values, row = _values_alone(example, dense.key, dense.dtype), dense.row
    size = math.prod(row)
    if values is None or not size or not len(values):
        return None
    if dense.is_variable:
        return None if len(values) % size else values.reshape(-1, *row)
    return values.reshape(row) if len(values) == size else None


def columns_of(rows: Sequence[tuple[Array, ...]], width: int) -> list[list[Array]]:
    """Transpose rows of outputs to a list for each output argument."""
    return [[row[i] for row in rows] for i in range(width)]


def keys_of(value: Array) -> list[bytes]:
    """Return the keys in a tensor of strings."""
    keys: list[bytes] = value.ravel().tolist()
    return keys


def encoded(keys: Sequence[str]) -> list[bytes]:
    """Return keys in attributes as bytes."""
    return [key.encode("utf-8", "surrogateescape") for key in keys]


class _FeatureAttributes(NamedTuple):
    Tdense: tuple[DType, ...]
    num_sparse: int
    sparse_types: tuple[DType, ...]
    ragged_value_types: tuple[DType, ...]
    ragged_split_types: tuple[DType, ...]
    dense_shapes: tuple[Shape, ...]


class FeatureTypes(_FeatureAttributes):
    """The attributes for dtypes and shapes of features, in lists as long as the vectors of keys."""

    last_dense: tuple[list[bytes], list[Array], list[Dense]] | None = None
    """The keys, the defaults and the features of the node's last call."""

    def dense(self, keys: list[bytes], defaults: list[Array]) -> list[Dense]:
        """Return the dense features; InvalidArgumentError where their numbers, shapes or defaults differ."""
        last = self.last_dense
        # Records are parsed one by one, and checks would take a sixth of the time. Defaults are compared by identity:
        # constants are the same arrays in each run, and comparing their elements would cost as much as the checks.
        if last is None or last[0] != keys or not all(map(operator.is_, defaults, last[1])):
            # One assignment, as other threads may run the node.
            self.last_dense = last = keys, defaults, dense_features(keys, self.Tdense, self.dense_shapes, defaults)
        return last[2]

    def sparse(self, keys: Array) -> list[tuple[bytes, DType]]:
        """Return keys and dtypes of the sparse features; InvalidArgumentError where their numbers differ."""
        if not self.num_sparse == len(self.sparse_types) == keys.size:
            raise InvalidArgumentError(f"{keys.size} sparse keys and {len(self.sparse_types)} types do not fit")
        return list(zip(keys_of(keys), self.sparse_types))

    def ragged(self, keys: Array) -> list[tuple[bytes, DType, DType]]:
        """Return keys and dtypes of the ragged features; InvalidArgumentError where their numbers differ."""
        types, split_types = self.ragged_value_types, self.ragged_split_types
        if not keys.size == len(types) == len(split_types):
            raise InvalidArgumentError(f"{keys.size} ragged keys and {len(types)} types do not fit")
        return list(zip(keys_of(keys), types, split_types))


@kernel("ParseExampleV2", gradient=WITHOUT_GRADIENT, flops=zero_cost, facts=("example_contents",))
def parse_example_v2(
    serialized: Array,
    names: Array,
    sparse_keys: Array,
    dense_keys: Array,
    ragged_keys: Array,
    dense_defaults: list[Array],
    *,
    types: FeatureTypes,
) -> Any:
    """Parse Examples, a scalar or a batch (vector), into sparse, dense and ragged tensors."""
    sparse, ragged = types.sparse(sparse_keys), types.ragged(ragged_keys)
    return parse_batch(serialized, names, sparse, types.dense(keys_of(dense_keys), dense_defaults), ragged)


@kernel("ParseExample", gradient=WITHOUT_GRADIENT, flops=zero_cost, facts=("example_contents",))
def parse_example(
    serialized: Array,
    names: Array,
    sparse_keys: list[Array],
    dense_keys: list[Array],
    dense_defaults: list[Array],
    *,
    sparse_types: list[DType],
    Tdense: list[DType],
    dense_shapes: list[Shape],
) -> Any:
    """A batch of Examples into sparse and dense tensors."""
    if serialized.ndim != 1:
        raise InvalidArgumentError(f"Expected serialized to be a vector, got shape: {serialized.shape}")
    # TensorFlow ends the process if a key has more elements or none; a key of shape (1) it takes.
    require(all(key.size == 1 for key in (*sparse_keys, *dense_keys)), "Expected each key to be a scalar")
    dense = dense_features([key.item() for key in dense_keys], Tdense, dense_shapes, dense_defaults)
    sparse = list(zip((key.item() for key in sparse_keys), sparse_types))
    return parse_batch(serialized, names, sparse, dense, [])[:4]


@kernel("ParseSingleExample", gradient=WITHOUT_GRADIENT, flops=zero_cost, facts=("example_contents",))
def parse_single_example(
    serialized: Array,
    dense_defaults: list[Array],
    *,
    num_sparse: int,
    sparse_keys: list[str],
    dense_keys: list[str],
    sparse_types: list[DType],
    Tdense: list[DType],
    dense_shapes: list[Shape],
) -> Any:
    """Parse an Example (scalar) into sparse and dense tensors without a batch dimension."""
    if serialized.ndim:
        raise InvalidArgumentError(f"Expected serialized to be a scalar, got shape: {serialized.shape}")
    if not num_sparse == len(sparse_types) == len(sparse_keys):
        raise InvalidArgumentError(f"{len(sparse_keys)} sparse keys and {len(sparse_types)} types do not fit")
    dense = dense_features(encoded(dense_keys), Tdense, dense_shapes, dense_defaults)
    return parse_batch(serialized, np.empty(0, object), list(zip(encoded(sparse_keys), sparse_types)), dense, [])[:4]


def sparse_shapes(count: int, rank: int | None) -> tuple[list[Shape], list[Shape], list[Shape]]:
    """Output shapes of SparseTensors: lists of indices, values and dense shapes."""
    rows = [Dim.unknown() for _ in range(count)]
    indices = [Shape((row, rank)) for row in rows]
    return indices, [Shape((row,)) for row in rows], [Shape([rank]) for _ in range(count)]


def _batched(serialized: TensorSpec, sparse_count: int, dense: list[Shape], ragged_count: int) -> tuple[list[Shape], ...]:
    rank = serialized.rank
    sparse = sparse_shapes(sparse_count, None if rank is None else rank + 1)
    batch = UNKNOWN if rank is None else serialized.shape
    splits = Shape([None]) if rank is None else Shape([0]) if rank == 0 else Shape((serialized.shape[0] + 1,))
    return (*sparse, [batch + size for size in dense], [Shape([None]) for _ in range(ragged_count)], [splits] * ragged_count)


@shape("ParseExampleV2")
def parse_example_v2_shape(
    serialized: TensorSpec, *inputs: Any, num_sparse: int, ragged_value_types: list[DType], dense_shapes: list[Shape]
) -> tuple[list[Shape], ...]:
    return _batched(serialized, num_sparse, dense_shapes, len(ragged_value_types))


@shape("ParseExample")
def parse_example_shape(
    serialized: TensorSpec, names: TensorSpec, sparse_keys: list[TensorSpec], *inputs: Any, dense_shapes: list[Shape]
) -> tuple[list[Shape], ...]:
    rows = TensorSpec(serialized.dtype, Shape(with_rank(serialized.shape, 1)))
    return _batched(rows, len(sparse_keys), dense_shapes, 0)[:4]


@shape("ParseSingleExample")
def parse_single_example_shape(
    serialized: TensorSpec, dense_defaults: list[TensorSpec], *, num_sparse: int, dense_shapes: list[Shape]
) -> tuple[list[Shape], ...]:
    with_rank(serialized.shape, 0)
    return (*sparse_shapes(num_sparse, 1), list(dense_shapes))


@kernel("DecodeJSONExample", shape="... -> ...", facts=("elementwise",), arithmetic=False)
def decode_json_example(json_examples: Array) -> Result:
    """Each Example in protobuf's JSON form as a serialized Example."""
    return map_bytes(_encode_example, json_examples)


def _encode_example(text: bytes) -> bytes:
    try:
        return _message(json.loads(text), {"features": (1, _features)})
    except (ValueError, TypeError, AttributeError, OverflowError, UnicodeEncodeError, binascii.Error) as error:
        raise InvalidArgumentError(f"Error while parsing JSON: {error}") from None


def _message(value: Any, fields: Mapping[str, tuple[int, Callable[[Any], bytes]]]) -> bytes:
    """Encode a JSON object as a message, its fields in the order of the text; ValueError for an unknown field."""
    if not isinstance(value, dict):
        raise ValueError(f"{value!r} is not an object")
    result = b""
    for name, item in value.items():
        if name not in fields:
            raise ValueError(f"unknown field {name!r}")
        number, encode = fields[name]
        # null stands for a missing field in protobuf's JSON.
        result += wire.bytes_field(number, encode(item)) if item is not None else b""
    return result


def _features(value: Any) -> bytes:
    if not isinstance(value, dict) or set(value) - {"feature"}:
        raise ValueError(f"{value!r} is not a Features message")
    entries = value.get("feature") or {}
    if not isinstance(entries, dict):
        raise ValueError(f"{entries!r} is not a map of features")
    return b"".join(
        wire.bytes_field(1, wire.bytes_field(1, name.encode()) + wire.bytes_field(2, _feature(item)))
        for name, item in entries.items()
    )


def _feature(value: Any) -> bytes:
    # Protobuf's JSON reads both the name in the .proto file and its camel case.
    lists = {"bytes_list": _BYTES, "bytesList": _BYTES, "float_list": _FLOATS, "floatList": _FLOATS, "int64_list": _INTEGERS,
             "int64List": _INTEGERS}  # fmt: skip
    return _message(value, lists)


def _values(value: Any) -> list[Any]:
    if not isinstance(value, dict) or set(value) - {"value"}:
        raise ValueError(f"{value!r} is not a list of values")
    items = value.get("value") or []
    if not isinstance(items, list):
        raise ValueError(f"{items!r} is not a list")
    return items


def _list_of(encode: Callable[[Any], bytes]) -> Callable[[Any], bytes]:
    """Return the encoder of a list of values."""
    return lambda value: b"".join(map(encode, _values(value)))


def _from_base64(item: Any) -> bytes:
    """Plain or web-safe base64, with or without padding."""
    # Python's decoder wants one alphabet and all the padding.
    text = item.rstrip("=").replace("-", "+").replace("_", "/")
    return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)


def _integer(item: Any) -> int:
    number = int(item)
    # Protobuf takes 1.0 and "1" for integers, but not 1.5 and true.
    if isinstance(item, bool) or (isinstance(item, float) and item != number) or not -(1 << 63) <= number < 1 << 63:
        raise ValueError(f"{item!r} is not a 64-bit integer")
    return number


_BYTES = 1, _list_of(lambda item: wire.bytes_field(1, _from_base64(item)))
# Rounded first: packing a double beyond float32 is an error in Python, infinity in protobuf.
_FLOATS = 2, _list_of(lambda item: wire.float_field(1, float(np.float32(float(item))), always=True))
_INTEGERS = 3, _list_of(lambda item: wire.varint_field(1, _integer(item), always=True))
