"""Messages of any type into tensors, and back: DecodeProtoV2, EncodeProto."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from ...codecs.message_types import MessageField, MessageType, message_type
from ...registry.registry import facts, kernel, not_differentiable, shape, zero_flops
from ...runtime.state.kernel_context import KernelContext
from ...runtime.state.run_context import reserve
from ...support.errors import DataLossError, InvalidArgumentError, NotFoundError
from ...types.arrays import Array, Result
from ...types.dtypes import DType
from ...types.shapes import UNKNOWN, Shape, TensorSpec, merge_shapes
from ..shared.kernel_files import read_file
from ..shared.string_functions import as_objects, bounded
from ._proto_fields import KINDS, FieldColumn, FieldValues, read_message, write_field

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


@kernel("DecodeProtoV2")
def decode_proto(ctx: KernelContext, bytes: Array, *, attributes: DecodeAttributes) -> tuple[Result, list[Result]]:
    """Fields of serialized messages (...) as tensors (..., the largest count of the field), and their counts."""
    message = _message_type(ctx, attributes.descriptor_source, attributes.message_type)
    columns = _columns(message, attributes)
    binary = _binary_form(message, attributes)
    texts = bytes.ravel().tolist()
    if not texts:
        raise InvalidArgumentError("Bufs argument must contain at least one value")
    by_number = {column.field.number: (place, column) for place, column in reversed(list(enumerate(columns)))}
    rows = [read_message(binary(text), by_number, len(columns)) for text in bounded(texts)]
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


def _columns(message: MessageType, attributes: DecodeAttributes) -> list[FieldColumn]:
    names, types = attributes.field_names, attributes.output_types
    if len(names) != len(types):
        raise InvalidArgumentError("field_names and output_types attributes must have the same length")
    fields = [_field(message, name, attributes.message_type, extensions=True) for name in names]
    for field, dtype in zip(fields, types):
        if dtype not in KINDS[field.kind].dtypes:
            raise InvalidArgumentError(f"Unexpected output type for {field.full_name}: {field.kind} to {dtype}")
    return [FieldColumn(field, dtype) for field, dtype in zip(fields, types)]


def _field(message: MessageType, name: str, type_name: str, extensions: bool = False) -> MessageField:
    field = message.field(name, extensions)
    if field is None:
        raise InvalidArgumentError(f"Unknown field: {name} in message type {type_name}")
    return field


def _binary_form(message: MessageType, attributes: DecodeAttributes) -> Callable[[bytes], bytes]:
    """Return the function from an input to a message in binary form."""
    if attributes.message_format not in ("binary", "text"):
        raise InvalidArgumentError("format must be one of binary or text")
    if attributes.message_format == "text":
        return message.from_text
    return message.sanitized if attributes.sanitize else _unchanged


def _unchanged(data: bytes) -> bytes:
    return data


def _padded(column: FieldColumn, rows: Sequence[FieldValues], batch: tuple[int, ...]) -> Result:
    """Return the values of all messages, (*batch, the largest count, at least 1), with the default for missing values."""
    size = max(1, *(row.count for row in rows))
    if any(row.packed_at >= size for row in rows):
        raise DataLossError(f"ReadPackedValues: Tried to write more entries than allowed: {column.field.full_name}")
    reserve(len(rows) * size * column.dtype.numpy.itemsize)
    result = np.empty((len(rows), size), column.dtype.numpy)
    result[:] = column.field.default
    for row, values in zip(result, rows):
        row[: len(values.values)] = values.values
    return result.reshape(*batch, size)


@kernel("EncodeProto")
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
    places = sorted(range(len(fields)), key=lambda place: fields[place].number)

    def written(row: int) -> bytes:
        parts = [(fields[i], tables[i][row, : max(0, counts[row, i])]) for i in places if counts[row, i]]
        return b"".join(write_field(field, part) for field, part in parts)

    return as_objects(bounded(map(written, range(len(counts)))), batch)


def _common_batch(fields: Sequence[MessageField], values: Sequence[Array]) -> tuple[int, ...]:
    """Return the dimensions before the last, equal for all values."""
    if len(fields) != len(values):
        raise InvalidArgumentError("Length of inputs list must match field_names")
    for field, value in zip(fields, values):
        if value.dtype not in [dtype.numpy for dtype in KINDS[field.kind].dtypes]:
            raise InvalidArgumentError(f"Incompatible type for field {field.full_name}: {value.dtype} for {field.kind}")
        if value.ndim < 2:
            raise InvalidArgumentError(f"Invalid shape {value.shape} for field {field.full_name}: not at least a matrix")
        if value.shape[:-1] != values[0].shape[:-1]:
            raise InvalidArgumentError("Values must match up to the last dimension")
    return values[0].shape[:-1]


def _check_sizes(sizes: Array, values: Sequence[Array], expected: tuple[int, ...]) -> None:
    if sizes.shape != expected:
        raise InvalidArgumentError(f"sizes should be batch_size + [len(field_names)]: {expected}, not {sizes.shape}")
    widths = np.array([value.shape[-1] for value in values])
    if (sizes > widths).any():
        raise InvalidArgumentError("Size to write must not be larger than value tensor")


@shape("DecodeProtoV2")
def decode_proto_shape(bytes: TensorSpec, *, output_types: list[DType]) -> tuple[Shape, list[Shape]]:
    if bytes.rank is None:
        return UNKNOWN, [UNKNOWN] * len(output_types)
    return bytes.shape + (len(output_types),), [bytes.shape + Shape([None]) for _ in output_types]


@shape("EncodeProto")
def encode_proto_shape(sizes: TensorSpec, values: list[TensorSpec]) -> Shape:
    batch = UNKNOWN
    for value in values:
        if value.rank is not None and value.rank < 2:
            raise InvalidArgumentError(f"Shape must be at least rank 2 but is rank {value.rank}")
        batch = merge_shapes(batch, UNKNOWN if value.rank is None else value.shape[:-1])
    return batch


_ALL = ("DecodeProtoV2", "EncodeProto")
facts("reads_files", of=_ALL)
not_differentiable(*_ALL)
zero_flops(*_ALL)
