"""Messages of any type into tensors, and back: DecodeProtoV2, EncodeProto. Fields are read in protobuf's wire format."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from ...codecs import wire
from ...codecs.message_types import MessageField, MessageType, message_type
from ...codecs.wire import FIXED32, FIXED64, LENGTH_DELIMITED, START_GROUP, VARINT, varint
from ...registry.registry import kernel, shape
from ...runtime.state.kernel_context import KernelContext
from ...runtime.state.run_context import reserve
from ...support import dataclasses
from ...support.errors import DataLossError, InvalidArgumentError, NotFoundError
from ...types import dtypes
from ...types.arrays import Array, Result, object_array
from ...types.dtypes import DType
from ...types.shapes import UNKNOWN, Shape, TensorSpec, merge_shapes
from ..shared.argument_checks import require
from ..shared.kernel_files import read_file
from ..shared.string_functions import bounded

_LOCAL = "local://"
_BYTES = "bytes://"


class DecodeAttributes(NamedTuple):
    """The attributes of DecodeProtoV2."""

    message_type: str
    field_names: list[str]
    output_types: list[DType]
    descriptor_source: str
    message_format: str
    sanitize: bool


@dataclasses.dataclass(frozen=True, slots=True)
class _Kind:
    """A type of fields: how a message stores a value, the NumPy type of the stored value, and the dtypes of tensors."""

    wire_type: int
    stored: str
    dtypes: tuple[DType, ...]
    is_zigzag: bool = False


_TEXT: Final = (dtypes.string,)
_INT: Final = (dtypes.int32, dtypes.int64)
_UINT: Final = (dtypes.uint32, dtypes.uint64)
_KINDS: Final[Mapping[str, _Kind]] = {
    "double": _Kind(FIXED64, "<f8", (dtypes.float64,)),
    "float": _Kind(FIXED32, "<f4", (dtypes.float32, dtypes.float64)),
    "int64": _Kind(VARINT, "<i8", (dtypes.int64,)),
    "uint64": _Kind(VARINT, "<u8", (dtypes.uint64,)),
    "int32": _Kind(VARINT, "<i4", _INT),
    "fixed64": _Kind(FIXED64, "<u8", (dtypes.uint64,)),
    "fixed32": _Kind(FIXED32, "<u4", _UINT),
    "bool": _Kind(VARINT, "?", (dtypes.bool_,)),
    "string": _Kind(LENGTH_DELIMITED, "O", _TEXT),
    "group": _Kind(START_GROUP, "O", _TEXT),
    "message": _Kind(LENGTH_DELIMITED, "O", _TEXT),
    "bytes": _Kind(LENGTH_DELIMITED, "O", _TEXT),
    "uint32": _Kind(VARINT, "<u4", _UINT),
    "enum": _Kind(VARINT, "<i4", (dtypes.int32,)),
    "sfixed32": _Kind(FIXED32, "<i4", _INT),
    "sfixed64": _Kind(FIXED64, "<i8", (dtypes.int64,)),
    "sint32": _Kind(VARINT, "<i4", _INT, is_zigzag=True),
    "sint64": _Kind(VARINT, "<i8", (dtypes.int64,), is_zigzag=True),
}
"""The types of fields in a .proto file."""


@dataclasses.dataclass(frozen=True, slots=True)
class _FieldColumn:
    """A field that is read into a tensor of a dtype."""

    field: MessageField
    dtype: DType

    @property
    def kind(self) -> _Kind:
        return _KINDS[self.field.kind]


class _FieldValues:
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
        # The last of several values counts where a field is not repeated.
        self.count = self.count + 1 if is_repeated else 1

    def add_packed(self, values: Sequence[Any], is_repeated: bool) -> None:
        """Append the values of a packed list. A field that is not repeated counts the list, but keeps its default."""
        self.packed_at = max(self.packed_at, len(self.values))
        if is_repeated:
            self.values += values
        # A quirk of TensorFlow's two passes: the first counts the packed values, the second finds no place for them.
        self.count = self.count + len(values) if is_repeated else min(self.count + len(values), 1)


def _read_message(data: bytes, columns: Mapping[int, tuple[int, _FieldColumn]], count: int) -> list[_FieldValues]:
    """Return the values of `count` fields, (place, field) by number; DataLossError for a damaged message.

    Fields of other numbers, or of another wire type than the field's, are skipped.
    """
    result = [_FieldValues() for _ in range(count)]
    for entry in wire.fields(data, groups=True):
        place, column = columns.get(entry.number, (-1, None))
        if column is None:
            continue
        kind, is_repeated = column.kind, column.field.is_repeated
        if entry.wire_type == kind.wire_type:
            result[place].add(_value(entry, kind), is_repeated)
        # Parsers accept packed lists for any repeated number, whatever the .proto file asks for.
        elif entry.wire_type == LENGTH_DELIMITED:
            result[place].add_packed(_packed(entry.payload, column), is_repeated)
    return result


def _value(entry: wire.Field, kind: _Kind) -> Any:
    if kind.wire_type == START_GROUP:
        # TensorFlow returns a group with its tags.
        return bytes(entry.data[entry.tag_start : entry.end])
    if kind.wire_type == LENGTH_DELIMITED:
        return entry.payload
    if kind.wire_type == VARINT:
        return _number(wire.read_varint(entry.data, entry.start, entry.end)[0], kind)
    return np.frombuffer(entry.payload, kind.stored).item()


def _number(value: int, kind: _Kind) -> int:
    """Return the number in a varint: its low bits, perhaps signed or in zigzag."""
    if kind.stored == "?":
        return value != 0
    stored = np.dtype(kind.stored)
    bits = 8 * stored.itemsize
    # Negative int32 are written as 64 bits, of which only the low 32 count.
    value &= (1 << bits) - 1
    if kind.is_zigzag:
        return value >> 1 ^ -(value & 1)
    return value - (1 << bits) if stored.kind == "i" and value >> bits - 1 else value


def _packed(payload: bytes, column: _FieldColumn) -> list[Any]:
    kind = column.kind
    if kind.wire_type == VARINT:
        # TensorFlow takes the 32 bits of an int32 in a packed list for unsigned where the tensor is int64.
        unsigned = column.field.kind == "int32" and column.dtype is dtypes.int64
        read = _KINDS["uint32"] if unsigned else kind
        return [_number(value, read) for value in wire.packed_integers(payload)]
    if kind.wire_type == START_GROUP:
        raise DataLossError("TYPE_GROUP encountered as packed")
    if len(payload) % np.dtype(kind.stored).itemsize:
        raise DataLossError(f"Illegal data length for packed fixed-size type: {len(payload)}")
    return np.frombuffer(payload, kind.stored).tolist()


def _write_field(field: MessageField, values: np.ndarray[Any, Any]) -> bytes:
    """Return the encoded values of a field, (count,); a field that is not repeated may have several values, too."""
    kind = _KINDS[field.kind]
    if kind.stored == "O":
        return b"".join(_written_text(field, kind, text) for text in values.tolist())
    # To the stored width first, so that int64 beyond int32 wrap around as a C++ cast.
    numbers = values.astype(kind.stored)
    if kind.wire_type == VARINT:
        items = [varint(number << 1 ^ number >> 63 if kind.is_zigzag else number) for number in numbers.tolist()]
    else:
        items = [number.tobytes() for number in numbers]
    if field.is_packed:
        return wire.bytes_field(field.number, b"".join(items))
    tag = varint(field.number << 3 | kind.wire_type)
    return b"".join(tag + item for item in items)


def _written_text(field: MessageField, kind: _Kind, text: bytes) -> bytes:
    if kind.wire_type == START_GROUP:
        return varint(field.number << 3 | START_GROUP) + text + varint(field.number << 3 | wire.END_GROUP)
    return wire.bytes_field(field.number, text)


@kernel("DecodeProtoV2", shape="... -> ... {output_types}, ... _ [output_types]", facts=("reads_files",), arithmetic=False)
def decode_proto(ctx: KernelContext, bytes: Array, *, attributes: DecodeAttributes) -> tuple[Result, list[Result]]:
    """Fields of serialized messages (...) as tensors (..., the largest count of the field), and their counts."""
    message = _message_type(ctx, attributes.descriptor_source, attributes.message_type)
    columns = _columns(message, attributes)
    binary = _binary_form(message, attributes)
    texts = bytes.ravel().tolist()
    require(texts, "Bufs argument must contain at least one value")
    # Of a field asked for twice the first output gets the values.
    by_number = {column.field.number: (place, column) for place, column in reversed(list(enumerate(columns)))}
    rows = [_read_message(binary(text), by_number, len(columns)) for text in bounded(texts)]
    sizes = np.array([[values.count for values in row] for row in rows], np.int32)
    tensors = [_padded(column, [row[i] for row in rows], bytes.shape) for i, column in enumerate(columns)]
    return sizes.reshape(*bytes.shape, len(columns)), tensors


def _message_type(ctx: KernelContext, source: str, name: str) -> MessageType:
    message = message_type(_descriptors(ctx, source), name)
    if message is None:
        raise InvalidArgumentError(
            f"No descriptor found for message type {name}",
            hint="set the attribute descriptor_source to a file with the FileDescriptorSet of the message"
            if source == _LOCAL
            else "",
        )
    return message


def _descriptors(ctx: KernelContext, source: str) -> bytes | None:
    """Return the FileDescriptorSet in an attribute or in a file; None for the messages of TensorFlow."""
    if source == _LOCAL:
        return None
    if source.startswith(_BYTES):
        return source.removeprefix(_BYTES).encode("utf-8", "surrogateescape")
    try:
        return read_file(ctx, source)
    except NotFoundError as error:
        raise InvalidArgumentError(
            f"Source does not represent serialized file descriptor set proto: {source} is neither a file nor {_BYTES}..."
        ) from error


def _columns(message: MessageType, attributes: DecodeAttributes) -> list[_FieldColumn]:
    names, types = attributes.field_names, attributes.output_types
    require(len(names) == len(types), "field_names and output_types attributes must have the same length")
    fields = [_field(message, name, attributes.message_type, extensions=True) for name in names]
    for field, dtype in zip(fields, types):
        if dtype not in _KINDS[field.kind].dtypes:
            raise InvalidArgumentError(f"Unexpected output type for {field.full_name}: {field.kind} to {dtype}")
    return [_FieldColumn(field, dtype) for field, dtype in zip(fields, types)]


def _field(message: MessageType, name: str, type_name: str, extensions: bool = False) -> MessageField:
    # TensorFlow looks for extensions when it decodes, and among the fields alone when it encodes.
    field = message.field(name, extensions)
    if field is None:
        raise InvalidArgumentError(f"Unknown field: {name} in message type {type_name}")
    return field


def _binary_form(message: MessageType, attributes: DecodeAttributes) -> Callable[[bytes], bytes]:
    """Return the function from an input to a message in binary form."""
    require(attributes.message_format in ("binary", "text"), "format must be one of binary or text")
    if attributes.message_format == "text":
        return message.from_text
    return message.sanitized if attributes.sanitize else bytes


def _padded(column: _FieldColumn, rows: Sequence[_FieldValues], batch: tuple[int, ...]) -> Result:
    """Return the values of all messages, (*batch, the largest count, at least 1), with the default for missing values."""
    # A message without a value holds the default, which needs a place.
    size = max(1, *(row.count for row in rows))
    if any(row.packed_at >= size for row in rows):
        raise DataLossError(f"ReadPackedValues: Tried to write more entries than allowed: {column.field.full_name}")
    reserve(len(rows) * size * column.dtype.numpy.itemsize)
    result = np.empty((len(rows), size), column.dtype.numpy)
    result[:] = column.field.default
    for row, values in zip(result, rows):
        row[: len(values.values)] = values.values
    return result.reshape(*batch, size)


@kernel("EncodeProto", facts=("reads_files",), arithmetic=False)
def encode_proto(
    ctx: KernelContext,
    sizes: Array,
    values: list[Array],
    *,
    field_names: list[str],
    message_type: str,
    descriptor_source: str,
) -> Result:
    """Serialized messages (...) of tensors (..., count), with the first `sizes` (..., fields) values of each."""
    message = _message_type(ctx, descriptor_source, message_type)
    fields = [_field(message, name, message_type) for name in field_names]
    batch = _common_batch(fields, values)
    _check_sizes(sizes, values, (*batch, len(fields)))
    counts = sizes.reshape(-1, len(fields))
    tables = [value.reshape(len(counts), value.shape[-1]) for value in values]
    # Protobuf writes fields in the order of their numbers.
    places = sorted(range(len(fields)), key=lambda place: fields[place].number)

    def written(row: int) -> bytes:
        # Of a negative size TensorFlow writes a packed list of negative length, which no parser reads.
        parts = [(fields[i], tables[i][row, : max(0, counts[row, i])]) for i in places if counts[row, i]]
        return b"".join(_write_field(field, part) for field, part in parts)

    return object_array(bounded(map(written, range(len(counts)))), batch)


def _common_batch(fields: Sequence[MessageField], values: Sequence[Array]) -> tuple[int, ...]:
    """Return the dimensions before the last, equal for all values."""
    require(len(fields) == len(values), "Length of inputs list must match field_names")
    for field, value in zip(fields, values):
        if value.dtype not in [dtype.numpy for dtype in _KINDS[field.kind].dtypes]:
            raise InvalidArgumentError(f"Incompatible type for field {field.full_name}: {value.dtype} for {field.kind}")
        if value.ndim < 2:
            raise InvalidArgumentError(f"Invalid shape {value.shape} for field {field.full_name}: not at least a matrix")
        require(value.shape[:-1] == values[0].shape[:-1], "Values must match up to the last dimension")
    return values[0].shape[:-1]


def _check_sizes(sizes: Array, values: Sequence[Array], expected: tuple[int, ...]) -> None:
    if sizes.shape != expected:
        raise InvalidArgumentError(f"sizes should be batch_size + [len(field_names)]: {expected}, not {sizes.shape}")
    widths = np.array([value.shape[-1] for value in values])
    require((sizes <= widths).all(), "Size to write must not be larger than value tensor")


@shape("EncodeProto")
def encode_proto_shape(sizes: TensorSpec, values: list[TensorSpec]) -> Shape:
    batch = UNKNOWN
    for value in values:
        if value.rank is not None and value.rank < 2:
            raise InvalidArgumentError(f"Shape must be at least rank 2 but is rank {value.rank}")
        batch = merge_shapes(batch, UNKNOWN if value.rank is None else value.shape[:-1])
    return batch
