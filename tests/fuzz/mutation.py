"""Bytes changed as storage, transfer and those who mean harm change them."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from random import Random

_NUMBERS = (0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x7FFFFFFFFFFFFFFF, 0xFFFFFFFFFFFFFFFF)
_TEXTS = (
    b"\0",
    b"\xff",
    b"\x80",
    b"-1",
    b"{",
    b"}",
    b'"',
    b"1e999",
    b"nan",
    b"\n",
    b"\xc3\x28",
    b"\xed\xa0\x80",
    b"../",
    b":",
)


def changed_bytes(random: Random, data: bytes, other: bytes = b"") -> bytes:
    """`data` with a few changes, of which one may bring in pieces of `other`."""
    changed = bytearray(data)
    for _ in range(random.choice((1, 1, 2, 5))):
        start = random.randrange(len(changed) + 1)
        end = min(len(changed), start + random.choice((1, 2, 4, 16, 100)))
        random.choice(_CHANGES)(random, changed, start, end, other)
    return bytes(changed)


_Change = Callable[[Random, bytearray, int, int, bytes], None]


def _overwrite(random: Random, data: bytearray, start: int, end: int, other: bytes) -> None:
    data[start:end] = random.randbytes(end - start)


def _flip(random: Random, data: bytearray, start: int, end: int, other: bytes) -> None:
    """One bit: of a protobuf's tag it is another field or another wire type, of a length another length."""
    if start < end:
        data[start] ^= 1 << random.randrange(8)


def _cut(random: Random, data: bytearray, start: int, end: int, other: bytes) -> None:
    del data[start:end]


def _truncate(random: Random, data: bytearray, start: int, end: int, other: bytes) -> None:
    del data[start:]


def _repeat(random: Random, data: bytearray, start: int, end: int, other: bytes) -> None:
    data[start:start] = data[start:end] * random.choice((1, 2, 10))


def _insert(random: Random, data: bytearray, start: int, end: int, other: bytes) -> None:
    data[end:end] = random.choice(_TEXTS)


def _lie(random: Random, data: bytearray, start: int, end: int, other: bytes) -> None:
    """A number that is often a limit in the place of a length: of fixed size, or as a varint."""
    number = random.choice(_NUMBERS)
    if random.random() < 0.5:
        kind = random.choice(("<B", "<H", "<I", "<Q", ">I", ">Q"))
        packed = struct.pack(kind, number & (1 << 8 * struct.calcsize(kind)) - 1)
        data[start : start + len(packed)] = packed
    else:
        data[start : start + 1] = varint(number)


def _swap(random: Random, data: bytearray, start: int, end: int, other: bytes) -> None:
    """Two pieces change places."""
    place = random.randrange(len(data) + 1)
    if end <= place:
        first, second = bytes(data[start:end]), bytes(data[place : place + end - start])
        data[place : place + end - start] = first
        data[start:end] = second


def _splice(random: Random, data: bytearray, start: int, end: int, other: bytes) -> None:
    """The rest is that of another file."""
    data[start:] = other[random.randrange(len(other) + 1) :] if random.random() < 0.5 else other[start:]


_CHANGES: Sequence[_Change] = (_overwrite, _flip, _flip, _cut, _truncate, _repeat, _insert, _lie, _lie, _swap, _splice)


def varint(number: int) -> bytes:
    """A number as protobuf writes it."""
    result = bytearray()
    while number > 0x7F:
        result.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*result, number])
