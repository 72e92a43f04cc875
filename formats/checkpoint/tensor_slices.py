"""Slices of tensors: how partitioned variables name their parts, and the order-preserving keys that tables have for them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ...core.support import dataclasses
from ...core.support.errors import InvalidArgumentError
from ..protos.checkpoint_pb2 import TensorSliceProto

Extents = tuple[tuple[int, int], ...]
"""(start, length) of each dimension; length -1 means the whole dimension."""

FULL = (0, -1)


@dataclasses.dataclass(frozen=True, slots=True)
class SliceSpec:
    """A slice of a tensor of known shape."""

    full_shape: tuple[int, ...]
    extents: Extents

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the slice."""
        return tuple(length for _, length in self.bounds)

    @property
    def bounds(self) -> Extents:
        """(start, length) with every length known."""
        return resolve(self.extents, self.full_shape)

    @property
    def index(self) -> tuple[slice, ...]:
        """Return the index of the slice in the full tensor."""
        return tuple(slice(start, start + length) for start, length in self.bounds)


def resolve(extents: Extents, shape: Sequence[int]) -> Extents:
    """Return the extents with every length known; InvalidArgumentError if the extents do not fit the shape."""
    if len(extents) != len(shape):
        raise InvalidArgumentError(
            f"slice {format_extents(extents)} has {len(extents)} dimensions, but the tensor has {len(shape)}"
        )
    resolved = tuple((start, size if length < 0 else length) for (start, length), size in zip(extents, shape))
    if any(start < 0 or start + length > size for (start, length), size in zip(resolved, shape)):
        raise InvalidArgumentError(f"slice {format_extents(extents)} lies outside shape {list(shape)}")
    return resolved


def parse_spec(spec: str) -> SliceSpec | None:
    """Parse `shape_and_slices` of Save and Restore ops, for example `10 4 0,5:-`; None for an empty text.

    InvalidArgumentError for any other text.
    """
    if not spec:
        return None
    *sizes, slice_text = spec.split(" ")
    # A size of 18 digits fits into 64 bits; Python refuses to read numbers of more than 4,300 digits with an error of its
    # own.
    if not all(re.fullmatch(r"\d{1,18}", size) for size in sizes):
        raise InvalidArgumentError(f"'{spec}' is not a shape and slice such as '10 4 0,5:-'")
    shape = tuple(map(int, sizes))
    extents = parse_extents(slice_text)
    resolve(extents, shape)
    return SliceSpec(shape, extents)


def parse_extents(text: str) -> Extents:
    """Parse the extents of `0,5:-`: `start,length` or `-` for each dimension."""
    if not text:
        return ()
    extents = []
    for part in text.split(":"):
        match = re.fullmatch(r"(\d{1,18}),(\d{1,18})", part)
        if part != "-" and match is None:
            raise InvalidArgumentError(f"'{text}' is not a slice such as '0,5:-'")
        extents.append(FULL if match is None else (int(match[1]), int(match[2])))
    return tuple(extents)


def format_extents(extents: Extents) -> str:
    """Return the text of extents, as parsed by `parse_extents`."""
    return ":".join("-" if length < 0 else f"{start},{length}" for start, length in extents)


def decode_extents(proto: TensorSliceProto) -> Extents:
    """Decode the extents of a message; an extent without a length is the whole dimension."""
    return tuple((extent.start, extent.length) if extent.HasField("length") else FULL for extent in proto.extent)


def encode_extents(extents: Extents) -> TensorSliceProto:
    """Encode extents as a message."""
    proto = TensorSliceProto()
    for start, length in extents:
        added = proto.extent.add()
        # As TensorFlow writes it: of a whole dimension both fields are left out.
        if length >= 0:
            added.start, added.length = start, length
    return proto


def decode_name(key: bytes) -> str:
    """Return the tensor name of a key; bytes that are no UTF-8 survive."""
    return key.decode("utf-8", "surrogateescape")


def decode_names(keys: Sequence[bytes]) -> list[str]:
    """Return the tensor names of keys, decoded together."""
    names = b"\0".join(keys).decode("utf-8", "surrogateescape").split("\0")
    return names if len(names) == len(keys) else list(map(decode_name, keys))  # a damaged index may have 0 in a key


def encode_name(name: str) -> bytes:
    """Return the key of a tensor name; InvalidArgumentError for an impossible name."""
    try:
        return name.encode("utf-8", "surrogateescape")
    except (AttributeError, UnicodeEncodeError):
        raise InvalidArgumentError(f"{name!r} is not a tensor name") from None


def slice_key(name: str, extents: Extents) -> bytes:
    """Return the key of a slice in a table; keys sort by name, then by the slice's numbers."""
    # TensorFlow's keys (EncodeTensorNameSlice): the 0 at the beginning keeps slices apart from the names of whole tensors.
    parts = [_ordered_number(0), _ordered_string(encode_name(name)), _ordered_number(len(extents))]
    for start, length in extents:
        parts += [_ordered_signed(start), _ordered_signed(length)]
    return b"".join(parts)


def _ordered_number(value: int) -> bytes:
    """Encode a number so that keys sort by bytes: the count of bytes, then the bytes, highest first."""
    size = (value.bit_length() + 7) // 8
    return bytes([size]) + value.to_bytes(size, "big")


def _ordered_string(value: bytes) -> bytes:
    """Encode a string so that keys sort by bytes: 0x00 and 0xFF are escaped, and 0x00 0x01 is the end."""
    return re.sub(rb"[\0\xff]", lambda m: b"\0\xff" if m[0] == b"\0" else b"\xff\0", value) + b"\0\1"


def _ordered_signed(value: int) -> bytes:
    """Encode a number as leading 1 bits, a bit for each byte, then the number; a negative number has all bits inverted."""
    # Of the 8n bits of n bytes, n count the bytes and one is the sign, so that 7n - 1 are left for the number.
    size = (value if value >= 0 else ~value).bit_length() // 7 + 1
    header = ((1 << size) - 1) << (8 * size - size)
    return ((value ^ header) & ((1 << 8 * size) - 1)).to_bytes(size, "big")
