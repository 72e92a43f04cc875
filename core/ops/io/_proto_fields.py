"""The fields of any message as numbers and strings, read from and written in protobuf's wire format.

Source: https://protobuf.dev/programming-guides/encoding.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from ...codecs import wire
from ...codecs.message_types import MessageField
from ...codecs.wire import FIXED32, FIXED64, LENGTH_DELIMITED, START_GROUP, VARINT, varint
from ...support import dataclasses
from ...support.errors import DataLossError
from ...types import dtypes
from ...types.dtypes import DType


@dataclasses.dataclass(frozen=True, slots=True)
class Kind:
    """A type of fields: how a message stores a value, the NumPy type of the stored value, and the dtypes of tensors."""

    wire_type: int
    stored: str
    dtypes: tuple[DType, ...]
    is_zigzag: bool = False


_TEXT: Final = (dtypes.string,)
_INT: Final = (dtypes.int32, dtypes.int64)
_UINT: Final = (dtypes.uint32, dtypes.uint64)
KINDS: Final[Mapping[str, Kind]] = {
    "double": Kind(FIXED64, "<f8", (dtypes.float64,)),
    "float": Kind(FIXED32, "<f4", (dtypes.float32, dtypes.float64)),
    "int64": Kind(VARINT, "<i8", (dtypes.int64,)),
    "uint64": Kind(VARINT, "<u8", (dtypes.uint64,)),
    "int32": Kind(VARINT, "<i4", _INT),
    "fixed64": Kind(FIXED64, "<u8", (dtypes.uint64,)),
    "fixed32": Kind(FIXED32, "<u4", _UINT),
    "bool": Kind(VARINT, "?", (dtypes.bool_,)),
    "string": Kind(LENGTH_DELIMITED, "O", _TEXT),
    "group": Kind(START_GROUP, "O", _TEXT),
    "message": Kind(LENGTH_DELIMITED, "O", _TEXT),
    "bytes": Kind(LENGTH_DELIMITED, "O", _TEXT),
    "uint32": Kind(VARINT, "<u4", _UINT),
    "enum": Kind(VARINT, "<i4", (dtypes.int32,)),
    "sfixed32": Kind(FIXED32, "<i4", _INT),
    "sfixed64": Kind(FIXED64, "<i8", (dtypes.int64,)),
    "sint32": Kind(VARINT, "<i4", _INT, is_zigzag=True),
    "sint64": Kind(VARINT, "<i8", (dtypes.int64,), is_zigzag=True),
}
"""The types of fields in a .proto file."""


@dataclasses.dataclass(frozen=True, slots=True)
class FieldColumn:
    """A field that is read into a tensor of a dtype."""

    field: MessageField
    dtype: DType

    @property
    def kind(self) -> Kind:
        return KINDS[self.field.kind]


class FieldValues:
    """The values of a field in a message, as TensorFlow counts and keeps them."""

    __slots__ = ("count", "packed_at", "values")

    def __init__(self) -> None:
        self.count = 0
        self.packed_at = 0
        """The number of values before the last packed list."""
        self.values: list[Any] = []

    def add(self, value: Any, is_repeated: bool) -> None:
        """Append a value, or replace the value of a field that is not repeated."""
        if is_repeated:
            self.values.append(value)
        else:
            self.values = [value]
        self.count = self.count + 1 if is_repeated else 1

    def add_packed(self, values: Sequence[Any], is_repeated: bool) -> None:
        """Append the values of a packed list. A field that is not repeated counts the list, but keeps its default."""
        self.packed_at = max(self.packed_at, len(self.values))
        if is_repeated:
            self.values += values
        self.count = self.count + len(values) if is_repeated else min(self.count + len(values), 1)


def read_message(data: bytes, columns: Mapping[int, tuple[int, FieldColumn]], count: int) -> list[FieldValues]:
    """Return the values of `count` fields, (place, field) by number; DataLossError for a damaged message.

    Fields of other numbers, or of another wire type than the field's, are skipped.
    """
    result = [FieldValues() for _ in range(count)]
    for entry in wire.fields(data, groups=True):
        place, column = columns.get(entry.number, (-1, None))
        if column is None:
            continue
        kind, is_repeated = column.kind, column.field.is_repeated
        if entry.wire_type == kind.wire_type:
            result[place].add(_value(entry, kind), is_repeated)
        elif entry.wire_type == LENGTH_DELIMITED:
            result[place].add_packed(_packed(entry.payload, column), is_repeated)
    return result


def _value(entry: wire.Field, kind: Kind) -> Any:
    if kind.wire_type == START_GROUP:
        return bytes(entry.data[entry.tag_start : entry.end])
    if kind.wire_type == LENGTH_DELIMITED:
        return entry.payload
    if kind.wire_type == VARINT:
        return _number(wire.read_varint(entry.data, entry.start, entry.end)[0], kind)
    return np.frombuffer(entry.payload, kind.stored).item()


def _number(value: int, kind: Kind) -> int:
    """Return the number in a varint: its low bits, perhaps signed or in zigzag."""
    if kind.stored == "?":
        return value != 0
    stored = np.dtype(kind.stored)
    bits = 8 * stored.itemsize
    value &= (1 << bits) - 1
    if kind.is_zigzag:
        return value >> 1 ^ -(value & 1)
    return value - (1 << bits) if stored.kind == "i" and value >> bits - 1 else value


def _packed(payload: bytes, column: FieldColumn) -> list[Any]:
    kind = column.kind
    if kind.wire_type == VARINT:
        # TensorFlow takes the 32 bits of an int32 in a packed list for unsigned where the tensor is int64.
        unsigned = column.field.kind == "int32" and column.dtype is dtypes.int64
        read = KINDS["uint32"] if unsigned else kind
        return [_number(value, read) for value in wire.packed_integers(payload)]
    if kind.wire_type == START_GROUP:
        raise DataLossError("TYPE_GROUP encountered as packed")
    if len(payload) % np.dtype(kind.stored).itemsize:
        raise DataLossError(f"Illegal data length for packed fixed-size type: {len(payload)}")
    return np.frombuffer(payload, kind.stored).tolist()


def write_field(field: MessageField, values: np.ndarray[Any, Any]) -> bytes:
    """Return the encoded values of a field, (count,); a field that is not repeated may have several values, too."""
    kind = KINDS[field.kind]
    if kind.stored == "O":
        return b"".join(_written_text(field, kind, text) for text in values.tolist())
    numbers = values.astype(kind.stored)
    if kind.wire_type == VARINT:
        items = [varint(_zigzag(number) if kind.is_zigzag else number) for number in numbers.tolist()]
    else:
        items = [number.tobytes() for number in numbers]
    if field.is_packed:
        return wire.bytes_field(field.number, b"".join(items))
    tag = varint(field.number << 3 | kind.wire_type)
    return b"".join(tag + item for item in items)


def _written_text(field: MessageField, kind: Kind, text: bytes) -> bytes:
    if kind.wire_type == START_GROUP:
        return varint(field.number << 3 | START_GROUP) + text + varint(field.number << 3 | wire.END_GROUP)
    return wire.bytes_field(field.number, text)


def _zigzag(number: int) -> int:
    return number << 1 ^ number >> 63
