"""Bytes and text into tensors: DecodeRaw, DecodeCSV, DecodeCompressed, TensorProtos."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ...numerics.float_mode import keeps_subnormals
from ...registry.registry import WITHOUT_GRADIENT, kernel, shape, zero_cost
from ...runtime.state import tensor_proto_bytes
from ...runtime.state.edge_values import scalar_object
from ...runtime.state.run_context import check_time, reserve
from ...support.errors import DataLossError, InvalidArgumentError, UnimplementedError
from ...types import dtypes
from ...types.arrays import Array, Result, object_array
from ...types.dtypes import DType
from ...types.shapes import SCALAR, Shape, TensorSpec, merge_shapes
from ..shared.argument_checks import require
from ..shared.numerals import parse_number, plain_numbers
from ..shared.string_functions import map_bytes


def _swapped(array: Array, dtype: DType, little_endian: bool) -> Array:
    """Return the numbers with their bytes in the order asked for; the parts of a complex number keep their places."""
    if little_endian or dtype.size == 1:
        return array
    # TensorFlow swaps the bytes of the real and of the imaginary part, each in its place.
    part = dtype.size // 2 if dtype.is_complex else dtype.size
    return array.view(f"u{part}").byteswap().view(dtype.numpy)


@kernel("DecodeRaw", shape="... -> ... _", arithmetic=False)
def decode_raw(bytes: Array, *, out_type: DType, little_endian: bool) -> Result:
    """The bytes of each string as numbers, (...) -> (..., length / size)."""
    texts = bytes.ravel().tolist()
    length = len(texts[0]) if texts else 0
    # Room for both the joined bytes and the array, asked for before either is made.
    reserve(2 * length * len(texts))
    for i, text in enumerate(texts):
        if len(text) != length:
            raise InvalidArgumentError(
                f"DecodeRaw requires input strings to all be the same size, but element {i} has size {len(text)} != {length}"
            )
    if length % out_type.size:
        raise InvalidArgumentError(
            f"Input to DecodeRaw has length {length} that is not a multiple of {out_type.size}, the size of {out_type}"
        )
    result = (*bytes.shape, length // out_type.size)
    # A byte other than 0 and 1 is no valid bool for NumPy; it counts as true.
    if out_type is dtypes.bool_:
        return (np.frombuffer(b"".join(texts), np.uint8) != 0).reshape(result)
    return _swapped(np.frombuffer(b"".join(texts), out_type.numpy), out_type, little_endian).reshape(result)


@kernel("DecodePaddedRaw", arithmetic=False)
def decode_padded_raw(input_bytes: Array, fixed_length: Array, *, out_type: DType, little_endian: bool) -> Result:
    """Decode the first `fixed_length` bytes of each string as numbers; shorter strings are padded with zeros."""
    if np.ndim(fixed_length):
        raise InvalidArgumentError(f"k must be scalar, got shape {np.shape(fixed_length)}")
    length = int(fixed_length)
    if length <= 0:
        raise InvalidArgumentError(f"fixed_length ({length}) must be greater than zero.")
    if length % out_type.size:
        raise InvalidArgumentError(f"fixed_length ({length}) must be a multiple of the size of out_type ({out_type.size})")
    data = b"".join(text[:length].ljust(length, b"\0") for text in input_bytes.ravel().tolist())
    array = _swapped(np.frombuffer(data, out_type.numpy), out_type, little_endian)
    return array.reshape(*input_bytes.shape, length // out_type.size)


@shape("DecodePaddedRaw")
def decode_padded_raw_shape(input_bytes: TensorSpec, fixed_length: TensorSpec, *, out_type: DType) -> Shape:
    merge_shapes(fixed_length.shape, SCALAR)
    length = 0 if fixed_length.value is None else fixed_length.value.item()
    return input_bytes.shape + Shape([length // out_type.size if length > 0 else None])


_WINDOW_BITS = {"ZLIB": 15, "GZIP": 31}


@kernel("DecodeCompressed", shape="... -> ...", facts=("elementwise",), arithmetic=False)
def decode_compressed(bytes: Array, *, compression_type: str) -> Result:
    """Decompress each string; a truncated string yields its readable part."""
    if compression_type == "":
        return bytes
    if compression_type == "ZSTD":
        raise UnimplementedError("ZSTD needs a library that tfg does not have")
    if compression_type not in _WINDOW_BITS:
        raise InvalidArgumentError(f"Only ZLIB, ZSTD, GZIP or NONE are supported compressions, not {compression_type}")
    return map_bytes(lambda text: _inflate(text, _WINDOW_BITS[compression_type]), bytes)


def _inflate(text: bytes, window_bits: int) -> bytes:
    """Decompress a text: a single stream, or all gzip streams up to an empty stream."""
    pieces: list[bytes] = []
    while text:
        stream = zlib.decompressobj(window_bits)
        before = len(pieces)
        try:
            pieces += _inflated(stream, text, sum(map(len, pieces)))
        except zlib.error as error:
            raise DataLossError(f"inflate() failed with error: {error}") from error
        # Gzip files may be several streams in a row; TensorFlow stops at one that yields nothing.
        text = stream.unused_data if any(pieces[before:]) and window_bits == _WINDOW_BITS["GZIP"] else b""
    return b"".join(pieces)


_PIECE = 1 << 20


def _inflated(stream: Any, text: bytes, taken: int) -> Iterator[bytes]:
    """Yield the decompressed pieces of a stream while the run has time and memory; `taken` bytes precede them."""
    while text:
        piece = stream.decompress(text, _PIECE)
        taken += len(piece)
        check_time()
        reserve(2 * taken)  # the pieces and their concatenation
        yield piece
        text = stream.unconsumed_tail
    yield stream.flush()


@kernel("SerializeTensor", shape="-> ()", arithmetic=False)
def serialize_tensor(tensor: Array, *, T: DType) -> Result:
    """The tensor as a serialized TensorProto."""
    if T.is_object and T is not dtypes.string:
        raise UnimplementedError(f"tfg does not serialize tensors of {T}")
    return scalar_object(tensor_proto_bytes.serialize(np.asarray(tensor), T))


@kernel("ParseTensor", shape="-> *", arithmetic=False)
def parse_tensor(serialized: Array, *, out_type: DType) -> Result:
    """The tensor in a serialized TensorProto."""
    if serialized.ndim:
        raise InvalidArgumentError(f"Expected `serialized` to be a scalar, got shape: {serialized.shape}")
    try:
        array, dtype = tensor_proto_bytes.parse(serialized.item())
    except DataLossError as error:
        raise InvalidArgumentError(f"Could not parse `serialized` as TensorProto: {error}") from None
    except ValueError as error:
        raise InvalidArgumentError(f"Cannot parse tensor from proto: {error}") from None
    if dtype is not out_type:
        raise InvalidArgumentError(f"Type mismatch between parsed tensor ({dtype}) and dtype ({out_type})")
    return array


def csv_value(
    field: bytes, missing: bytes, dtype: DType, default: Array | bytes | None, record: int | str, column: int
) -> Any:
    """Return the value of a field, or the default of an empty or missing field; InvalidArgumentError where the text has no
    value of `dtype`.
    """
    if not field or field == missing:
        if default is None:
            raise InvalidArgumentError(f"Field {column} is required but missing in record {record}!")
        return default
    value = field if dtype is dtypes.string else parse_number(field, dtype.numpy)
    if value is None:
        raise InvalidArgumentError(f"Field {column} in record {record} is not a valid {dtype}: {field!r}")
    return value


def _csv_column(fields: Sequence[bytes], missing: bytes, dtype: DType, default: Array | bytes | None, column: int) -> Array:
    """Return the values of a column's fields, in the order of the records."""
    # The usual column has no gap, and then needs no mask.
    are_whole = all(fields) and missing not in fields
    non_empty = fields if are_whole else [field for field in fields if field and field != missing]
    # One by one from here on, so that the error names the first record without the field.
    if not are_whole and default is None:
        values = None
    else:
        values = object_array(non_empty) if dtype is dtypes.string else plain_numbers(non_empty, dtype.numpy)
    if values is None:
        return np.array([csv_value(field, missing, dtype, default, i, column) for i, field in enumerate(fields)], dtype.numpy)
    if are_whole:
        return values
    filled = np.full(len(fields), default, dtype.numpy)
    filled[[bool(field) and field != missing for field in fields]] = values
    return filled


def csv_default(index: int, default: Array) -> Array | bytes | None:
    """Return the default of a column; None where the column is required."""
    array = np.asarray(default)
    require(array.ndim <= 1, "Each record default should be at most rank 1")
    if array.size > 1:
        raise InvalidArgumentError(f"There should only be 1 default per field but field {index} has {array.size}")
    return array.ravel()[0] if array.size else None


@kernel("DecodeCSV", shape="... -> ... [OUT_TYPE]", gradient=WITHOUT_GRADIENT, flops=zero_cost)
@keeps_subnormals
def decode_csv(
    records: Array,
    record_defaults: list[Array],
    *,
    OUT_TYPE: list[DType],
    field_delim: str,
    use_quote_delim: bool,
    na_value: str,
    select_cols: list[int],
) -> Sequence[Result]:
    """Decode the fields of records into a tensor for each column, of the records' shape."""
    _check_csv_attributes(OUT_TYPE, field_delim, select_cols)
    defaults = [csv_default(i, default) for i, default in enumerate(record_defaults)]
    delimiter, missing = field_delim.encode("utf-8", "surrogateescape"), na_value.encode("utf-8", "surrogateescape")
    columns = _csv_columns(records.ravel().tolist(), delimiter, use_quote_delim, select_cols, len(OUT_TYPE))
    return [
        _csv_column(fields, missing, dtype, default, j).reshape(records.shape)
        for j, (fields, dtype, default) in enumerate(zip(columns, OUT_TYPE, defaults))
    ]


def _csv_columns(
    records: list[bytes], delimiter: bytes, quotes: bool, selected: list[int], count: int
) -> Sequence[Sequence[bytes]]:
    """Return the selected columns, all columns where `selected` is empty; each record must have `count` fields."""

    def select(fields: list[Any], record: int) -> list[Any]:
        chosen = [fields[column] for column in selected if column < len(fields)] if selected else fields
        if len(chosen) != count:
            raise InvalidArgumentError(f"Expect {count} fields but have {len(chosen)} in record {record}")
        return chosen

    # One split of all records is many times faster than a split of each.
    plain = _plain_csv_columns(records, delimiter, quotes)
    if plain is not None:
        return select(plain, 0)
    rows = [select(_split_csv(record, delimiter, quotes), i) for i, record in enumerate(records)]
    return list(zip(*rows)) if rows else [()] * count


def _plain_csv_columns(records: list[bytes], delimiter: bytes, quotes: bool) -> list[list[bytes]] | None:
    """Split records of equal width at once; None where a record is empty or needs the rules of `_split_csv`."""
    text = delimiter.join(records)
    # Joined by the delimiter, records of equal width can be told apart by counting.
    widths = {record.count(delimiter) + 1 for record in records}
    if len(widths) != 1 or not all(records) or (quotes and b'"' in text) or b"\n" in text or b"\r" in text:
        return None
    (width,), fields = widths, text.split(delimiter)
    return [fields[column::width] for column in range(width)]


def _split_csv(record: bytes, delimiter: bytes, quotes: bool) -> list[bytes]:
    """Split a record by RFC 4180; line ends are skipped before a field and are errors inside an unquoted field."""
    if not ((quotes and b'"' in record) or b"\n" in record or b"\r" in record):
        return record.split(delimiter) if record else []
    fields: list[bytes] = []
    position = 0
    while position < len(record):
        if record[position : position + 1] in (b"\n", b"\r"):
            position += 1
            continue
        read = _quoted_field if quotes and record[position : position + 1] == b'"' else _plain_field
        field, position = read(record, position, delimiter, quotes)
        fields.append(field)
    # The loop ends with the text, so an empty last field needs to be added.
    if record.endswith(delimiter):
        fields.append(b"")
    return fields


def _quoted_field(record: bytes, start: int, delimiter: bytes, quotes: bool) -> tuple[bytes, int]:
    position = start + 1
    pieces: list[bytes] = []
    while True:
        quote = record.find(b'"', position)
        if quote < 0:
            raise InvalidArgumentError("Quoted field has to end with quote followed by delim or end")
        pieces.append(record[position:quote])
        following = record[quote + 1 : quote + 2]
        # A quote before the delimiter or the end closes the field; two quotes stand for one.
        if following in (b"", delimiter):
            return b"".join(pieces), quote + 2
        if following != b'"':
            raise InvalidArgumentError("Quote inside a string has to be escaped by another quote")
        pieces.append(b'"')
        position = quote + 2


def _plain_field(record: bytes, start: int, delimiter: bytes, quotes: bool) -> tuple[bytes, int]:
    end = record.find(delimiter, start)
    end = len(record) if end < 0 else end
    field = record[start:end]
    if (quotes and b'"' in field) or b"\n" in field or b"\r" in field:
        raise InvalidArgumentError("Unquoted fields cannot have quotes/CRLFs inside")
    return field, end + 1


def _check_csv_attributes(types: list[DType], field_delim: str, select_cols: list[int]) -> None:
    if len(field_delim) != 1:
        raise InvalidArgumentError(f"field_delim should be only 1 char, not {field_delim!r}")
    require(not select_cols or len(select_cols) == len(types), "select_cols should match output size")
    # -1 before the first also refuses negative columns.
    require(all(b > a for a, b in zip([-1, *select_cols], select_cols)), "select_cols should be strictly increasing indices")
