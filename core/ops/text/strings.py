"""Strings, elementwise and joined: case, length, substrings, joins, numbers, sharded file names."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from ...numerics.float_mode import keeps_subnormals
from ...registry.registry import facts, kernel, not_arithmetic, onnx, shape
from ...runtime.state.edge_values import scalar_object
from ...runtime.state.run_context import reserve
from ...support.errors import InvalidArgumentError, OutOfRangeError, UnimplementedError
from ...types import dtypes
from ...types.arrays import Array, Result, object_array
from ...types.dims import Dim, DimLike
from ...types.dtypes import DType
from ...types.shapes import UNKNOWN, Shape, TensorSpec, broadcast_shapes, merge_shapes, unknown_dims
from ..shared.argument_checks import require, require_rank, scalar
from ..shared.numerals import parse_number, plain_numbers
from ..shared.plain_shapes import besides_scalars
from ..shared.string_functions import joined, joined_rows, map_bytes, map_to

_ELEMENTWISE = ("StringLower", "StringUpper", "StringStrip", "StringLength", "StringToNumber", "ShardedFilename")


def _recoded(of_text: Callable[[str], str], of_bytes: Callable[[bytes], bytes]) -> Callable[..., Array]:
    """Return a kernel that changes letters, those of ASCII alone where no encoding is given."""

    def recode(input: Array, *, encoding: str) -> Array:
        if encoding not in ("", "utf-8"):
            raise InvalidArgumentError(f"only utf-8 or '' (no encoding) is supported, received {encoding}")
        # ICU puts the replacement character in place of malformed bytes, too.
        change = (lambda text: of_text(text.decode("utf-8", "replace")).encode()) if encoding else of_bytes
        return map_bytes(change, input)

    return recode


kernel("StringLower", shape="... -> ...")(_recoded(str.lower, bytes.lower))
kernel("StringUpper", shape="... -> ...")(_recoded(str.upper, bytes.upper))


@kernel("StringStrip", shape="... -> ...")
def string_strip(input: Array) -> Result:
    """Without ASCII whitespace at both ends."""
    return map_bytes(bytes.strip, input)


def count_characters(text: bytes) -> int:
    """UTF-8 characters: the bytes that continue none."""
    return len(text.translate(None, _CONTINUING))


_CONTINUING = bytes(range(0x80, 0xC0))
_SHORT = 64
"""Mean bytes of a string up to which a vectorized count of characters is faster than a call for each string."""


@kernel("StringLength", shape="... -> ...")
def string_length(input: Array, *, unit: str) -> Result:
    """Bytes or UTF-8 characters of each string."""
    return map_to(np.int32, len, input) if unit == "BYTE" else _character_counts(input)


def _character_counts(input: Array) -> Array:
    """Count the UTF-8 characters of each string; short strings are counted in a single buffer."""
    texts = input.ravel().tolist()
    ends = np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)))
    if not texts or ends[-1] > _SHORT * len(texts):
        return map_to(np.int32, count_characters, input)
    # As signed numbers, bytes that continue a character are those from -128 to -65.
    begins = np.frombuffer(b"".join(texts), np.int8) >= -64
    counts = np.diff(np.concatenate([[0], np.cumsum(begins)])[ends], prepend=0)
    return counts.astype(np.int32).reshape(input.shape)


@kernel("StringToNumber", shape="... -> ...", facts=("number_text",))
@keeps_subnormals
def string_to_number(string_tensor: Array, *, out_type: DType) -> Result:
    """The number that each string spells."""
    # All at once if every text is a plain number; spellings of C alone, and errors, are looked at one by one.
    numbers = plain_numbers(string_tensor.ravel().tolist(), out_type.numpy)
    if numbers is not None:
        return numbers.reshape(string_tensor.shape)

    def parse(text: bytes) -> float | int:
        value = parse_number(text, out_type.numpy)
        if value is None:
            raise InvalidArgumentError(f"StringToNumberOp could not correctly convert string: {text!r}")
        return value

    return map_to(out_type.numpy, parse, string_tensor)


facts("elementwise", of=("StringLower", "StringUpper", "StringStrip", "StringLength", "StringToNumber"))
facts("idempotent", of=("StringLower", "StringUpper", "StringStrip"))


@kernel("Substr")
def substr(input: Array, pos: Array, len: Array, *, unit: str) -> Result:
    """`len` bytes or characters from `pos`; a negative position counts from the end, a negative length takes all."""
    pos, length = np.asarray(pos), np.asarray(len)
    if pos.shape != length.shape:
        raise InvalidArgumentError(f"pos and len should have the same shape, got: {pos.shape} vs. {length.shape}")
    result = _substr_shape(input.shape, pos.shape)
    if pos.ndim == 0:
        parts = _cut_all(input.ravel().tolist(), pos.item(), length.item(), unit)
        if parts is not None:
            return object_array(parts, result)
    items = (np.broadcast_to(array, result).ravel().tolist() for array in (input, pos, length))
    cut: Callable[..., bytes] = _cut_bytes if unit == "BYTE" else _cut_characters
    return object_array((cut(*item, index) for index, item in enumerate(zip(*items))), result)


def _cut_all(texts: list[bytes], pos: int, length: int, unit: str) -> list[bytes] | None:
    """Cut the same range of bytes from all texts; None where a text is too short for the range."""
    # ASCII characters are bytes.
    is_plain = unit == "BYTE" or (max(pos, length) >= 0 and b"".join(texts).isascii())
    if min(map(len, texts), default=0) < abs(pos) or not is_plain:
        return None
    end = pos + (length if unit == "BYTE" else max(length, 0))
    # A slice that ends at 0 or before its start would be empty in Python; here it goes to the end.
    is_open = end < pos or (pos < 0 <= end)
    part = slice(pos, None if is_open else end)
    return [text[part] for text in texts]


def _cut_characters(text: bytes, pos: int, length: int, index: int) -> bytes:
    starts = [i for i, byte in enumerate(text) if byte & 0xC0 != 0x80] + [len(text)]
    count = len(starts) - 1
    # A quirk of TensorFlow's kernel for characters: a negative position and a negative length together are out of range.
    if not -count <= pos <= count or max(pos, length) < 0:
        raise InvalidArgumentError(f"pos {pos} out of range for string at index {index}")
    start = pos + count if pos < 0 else pos
    return text[starts[start] : starts[min(start + max(length, 0), count)]]


def _cut_bytes(text: bytes, pos: int, length: int, index: int) -> bytes:
    if not -len(text) <= pos <= len(text):
        raise InvalidArgumentError(f"pos {pos} out of range for string {text!r} at index {index}")
    start = pos + len(text) if pos < 0 else pos
    return text[start:] if length < 0 else text[start : start + length]


def _substr_shape(text: tuple[int, ...], pos: tuple[int, ...]) -> tuple[int, ...]:
    try:
        result = np.broadcast_shapes(text, pos)
    except ValueError:
        raise InvalidArgumentError(f"Incompatible shapes: {text} vs. {pos}") from None
    # TensorFlow has no kernel for more dimensions.
    if pos and text != pos and len(result) > 2:
        raise UnimplementedError(f"Substr broadcast not implemented for {len(result)} dimensions")
    return result


@shape("Substr")
def substr_shape(input: TensorSpec, pos: TensorSpec, len: TensorSpec) -> Shape:
    merge_shapes(pos.shape, len.shape)
    return broadcast_shapes(input.shape, pos.shape)


@kernel("StringJoin", shape=besides_scalars, facts=("elementwise",))
def string_join(inputs: list[Array], *, separator: str) -> Result:
    """Join the strings at the same index of all inputs; scalars broadcast."""
    joiner = separator.encode("utf-8", "surrogateescape")
    full = [array.shape for array in inputs if array.ndim]
    for other in full[1:]:
        if other != full[0]:
            raise InvalidArgumentError(f"Input shapes do not match: {full[0]} vs. {other}")
    if not full:
        return scalar_object(joined(joiner, (array.item() for array in inputs)))
    columns = (array.ravel().tolist() if array.ndim else itertools.repeat(array.item()) for array in inputs)
    return object_array(joined_rows(joiner, zip(*columns)), full[0])


_ALL = (*_ELEMENTWISE, "Substr", "StringJoin", "ReduceJoin", "UnsortedSegmentJoin", "ShardedFilespec")

not_arithmetic(*_ALL)


@kernel("ReduceJoin")
def reduce_join(inputs: Array, reduction_indices: Array, *, keep_dims: bool, separator: str) -> Result:
    """Join strings along dimensions; the first named dimension varies fastest."""
    axes = _join_axes(np.ravel(reduction_indices).tolist(), inputs.ndim)
    joiner = separator.encode("utf-8", "surrogateescape")
    outer = [axis for axis in range(inputs.ndim) if axis not in axes]
    # The joined axes last, the first named as the fastest, so that each row of the result is a row in memory.
    rows = inputs.transpose(*outer, *reversed(axes)).reshape(*(inputs.shape[a] for a in outer), -1) if inputs.size else None
    result = tuple(1 if a in axes else n for a, n in enumerate(inputs.shape) if keep_dims or a not in axes)
    # Nothing is joined without axes, and the strings stay where they are.
    if not axes:
        return inputs
    if rows is None:
        return object_array([b""] * int(np.prod(result)), result)
    return object_array(joined_rows(joiner, rows.reshape(-1, rows.shape[-1]).tolist()), result)


def _join_axes(axes: list[int], rank: int) -> list[int]:
    """Axes counted from the front; OutOfRangeError and InvalidArgumentError as TensorFlow has them."""
    distinct: list[int] = []
    for axis in axes:
        if not -rank <= axis < rank:
            raise OutOfRangeError(f"Invalid reduction dimension {axis} for input with {rank} dimension(s)")
        if axis % rank in distinct:
            raise InvalidArgumentError(f"Duplicate reduction dimension {axis}")
        distinct.append(axis % rank)
    return distinct


@shape("ReduceJoin")
def reduce_join_shape(inputs: TensorSpec, reduction_indices: TensorSpec, *, keep_dims: bool) -> Shape:
    if inputs.rank is None:
        return UNKNOWN
    if reduction_indices.value is None or reduction_indices.value.dtype == object:
        return unknown_dims(inputs.rank) if keep_dims else UNKNOWN
    axes = [axis % inputs.rank for axis in np.ravel(reduction_indices.value).tolist() if inputs.rank]
    return Shape(1 if a in axes else d for a, d in enumerate(inputs.shape) if keep_dims or a not in axes)


@kernel("UnsortedSegmentJoin")
def unsorted_segment_join(inputs: Array, segment_ids: Array, num_segments: Array, *, separator: str) -> Result:
    """Strings joined by segment, (ids..., rest...) -> (num_segments, rest...)."""
    ids = np.asarray(segment_ids)
    require(np.ndim(num_segments) == 0, "Number of segments must be a scalar")
    count = int(num_segments)
    if count < 0:
        raise InvalidArgumentError(f"Number of segments must be non-negative but got {count}")
    require(ids.ndim > 0, "Segment_id cannot have rank 0")
    if ids.ndim > inputs.ndim:
        raise OutOfRangeError(f"Invalid segment_id rank {ids.ndim} for input with {inputs.ndim} dimension(s)")
    if inputs.shape[: ids.ndim] != ids.shape:
        raise InvalidArgumentError(f"segment_ids of shape {ids.shape} are not a prefix of the input's shape {inputs.shape}")
    if ids.size and (ids.min() < 0 or ids.max() >= count):
        raise InvalidArgumentError(f"segment_ids are not allowed to exceed num_segments or to have negative values: {count}")
    rest = inputs.shape[ids.ndim :]
    width = int(np.prod(rest))
    reserve(8 * count * width)
    # One number for segment and column, whose stable sort keeps the texts of a segment in their order.
    places = (ids.reshape(-1, 1).astype(np.int64) * width + np.arange(width)).ravel()
    order = np.argsort(places, kind="stable")
    places, texts = places[order], inputs.ravel()[order].tolist()
    starts = np.flatnonzero(np.diff(places, prepend=-1))
    rows = (texts[a:b] for a, b in itertools.pairwise([*starts.tolist(), len(texts)]))
    strings = joined_rows(separator.encode("utf-8", "surrogateescape"), rows)
    result = np.full(count * width, b"", object)
    result[places[starts]] = object_array(strings, starts.shape)
    return result.reshape(count, *rest)


@shape("UnsortedSegmentJoin")
def unsorted_segment_join_shape(inputs: TensorSpec, segment_ids: TensorSpec, num_segments: TensorSpec) -> Shape:
    require_rank(num_segments, 0, "num_segments")
    count: DimLike = Dim.unknown() if num_segments.value is None else num_segments.value.item()
    if inputs.rank is None or segment_ids.rank is None:
        return UNKNOWN
    return Shape((count,)) + inputs.shape[segment_ids.rank :]


@kernel("ShardedFilename", shape="(), (), () -> ()", facts=("checkpoint",))
def sharded_filename(basename: Array, shard: Array, num_shards: Array) -> Result:
    """`basename-00003-of-00010`."""
    place, count = scalar(shard, "shard"), scalar(num_shards, "num_shards")
    return scalar_object(scalar(basename, "basename") + b"-%05d-of-%05d" % (place, count))


@kernel("ShardedFilespec", shape="(), (), () -> ()", facts=("checkpoint",))
def sharded_filespec(basename: Array, num_shards: Array) -> Result:
    """The glob pattern that matches all shards."""
    return scalar_object(scalar(basename, "basename") + b"-?????-of-%05d" % scalar(num_shards, "num_shards"))


@onnx("StringJoin")
def _string_join_onnx(g: Any, inputs: list[Any], *, separator: str) -> Any:
    between = g.constant(separator.encode(), dtypes.string)
    return functools.reduce(lambda a, b: g.StringConcat(g.StringConcat(a, between) if separator else a, b), inputs)


onnx("StringToNumber")(lambda g, x, *, out_type: g.cast(x, out_type))


def _joined_axes_onnx(g: Any, axes: Any, rank: int | None) -> list[int]:
    """Return the axes in their order; a single axis may be a computed tensor."""
    if axes.shape.is_known and axes.shape.num_elements < 2:
        return [g.axis(axes, rank)] if axes.shape.num_elements else []
    return [int(axis) % (rank or 1) for axis in np.ravel(g.known(axes, "axes"))]


@onnx("ReduceJoin")
def _reduce_join_onnx(g: Any, inputs: Any, reduction_indices: Any, *, keep_dims: bool, separator: str) -> Any:
    """Join along each axis in turn, in the order of `reduction_indices`."""
    axes = _joined_axes_onnx(g, reduction_indices, inputs.rank)
    between = g.constant(separator.encode(), dtypes.string)
    for axis in axes:
        size = inputs.shape[axis]
        if not isinstance(size, int) or not size:
            g.refuse("the joined dimension is unknown or empty")
        # ONNX joins two tensors of strings, but has no reduction over an axis.
        parts = [g.slice(inputs, i, i + 1, axis) for i in range(size)]
        inputs = functools.reduce(lambda a, b: g.StringConcat(g.StringConcat(a, between) if separator else a, b), parts)
    return inputs if keep_dims else g.squeeze(inputs, *axes)


def _letters_onnx(case: str) -> Callable[..., Any]:
    def lowering(g: Any, x: Any, *, encoding: str) -> Any:
        """Change the case by StringNormalizer, whose locale C changes ASCII letters only.

        onnxruntime refuses an empty vector, so an empty string is appended and cut off again.
        """
        if encoding:
            g.refuse("ONNX changes letters of ASCII only as TensorFlow does")
        flat = g.Concat(g.reshape(x, -1), g.constant(np.array([b""], object)), axis=0)
        changed = g.StringNormalizer(flat, case_change_action=case, locale="C", is_case_sensitive=1)
        return g.of_dims(g.slice(changed, 0, -1), g.dims(x))

    return lowering


onnx("StringUpper")(_letters_onnx("UPPER"))
onnx("StringLower")(_letters_onnx("LOWER"))
