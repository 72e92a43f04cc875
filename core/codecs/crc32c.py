"""CRC-32C (Castagnoli), the checksum of TensorFlow's tables, bundles and records.

The package google-crc32c of the extra `tfg[fast]` computes the checksum if installed, otherwise NumPy does.

Polynomial: Castagnoli, Braeuer and Herrmann, IEEE Trans. Commun. 41 (1993), also in RFC 3720; the mask is LevelDB's.

NumPy computes the checksum as a linear function: each bit is the parity of some bits of the buffer, selected by a mask. The
mask depends only on the distance to the end of the buffer. Many short buffers are lanes instead: NumPy table lookups
advance their checksums together, eight bytes a step.

A long buffer is shortened first. The checksum is a remainder modulo a polynomial P, so adding a multiple of P changes
nothing, and P divides x^8a + x^8b + x^8c + 1 for the a > b > c of `_MULTIPLE`. A byte may therefore be replaced by copies
at the distances a - b, a - c and a bytes further on, and a block of a - b bytes moves in three additions.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

Buffer = bytes | bytearray | memoryview

_POLYNOMIAL = 0x82F63B78
"""The CRC-32C polynomial, bits reversed (RFC 3720)."""
_MASK_DELTA = 0xA282EAD8
"""The number that TFRecord and LevelDB add to a rotated checksum."""
_SHORT = 128
"""The size, in bytes, below which the loop over single bytes takes less time (benchmarks/pipelines.py)."""
_MULTIPLE = 14867, 318, 278
"""The exponents, in bytes, of a multiple of the polynomial with four terms: the multiple below 2^14 with the largest
distance between the first two exponents.
"""
_BLOCKS = 16
"""The number of blocks that move in a single piece of memory, small enough for a cache (benchmarks/pipelines.py)."""
_COPIED = 1 << 20
"""The size, in bytes, of the pieces that google-crc32c gets: the library takes `bytes` only, so a view is copied."""


def crc32c(data: Buffer, crc: int = 0) -> int:
    """Return the checksum of `data`; `crc` is the checksum of preceding data."""
    extend = c_extension()
    if extend is not None and isinstance(data, bytes):
        return extend(crc, data)
    view = memoryview(data).cast("B")
    if extend is None:
        return _numpy_crc32c(view, crc)
    for start in range(0, len(view), _COPIED):
        crc = extend(crc, bytes(view[start : start + _COPIED]))
    return crc


@functools.cache
def c_extension() -> Callable[[int, bytes], int] | None:
    """Return google-crc32c's function (checksum before, data) -> checksum; None where its C extension is missing."""
    try:
        import google_crc32c
    except ImportError:
        return None
    return google_crc32c.extend if google_crc32c.implementation == "c" else None


def _numpy_crc32c(view: memoryview, crc: int) -> int:
    if len(view) > _MULTIPLE[0]:
        return _parities(_shortened(np.frombuffer(view, np.uint8), crc), 0xFFFFFFFF)
    if len(view) >= _SHORT:
        return _parities(np.frombuffer(view, np.uint8), crc)
    table = _byte_table()
    crc ^= 0xFFFFFFFF
    for byte in view:
        crc = table[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    return crc ^ 0xFFFFFFFF


def masked_crc32cs(parts: Sequence[bytes]) -> list[int]:
    """Return the masked checksums of many short buffers."""
    return [masked_crc32c(part) for part in parts] if c_extension() is not None else _numpy_masked_crc32cs(parts)


def _numpy_masked_crc32cs(parts: Sequence[bytes]) -> list[int]:
    """Return the masked checksums of short buffers, computed together.

    Zeros in front change nothing where a checksum begins at 0, so the buffers become lanes of equal length. The
    contribution of the usual initial value follows from the length alone.
    """
    width = -(-max(map(len, parts), default=0) // 8) * 8
    joined = b"".join([part.rjust(width, b"\0") for part in parts])
    crcs = _advance_lanes(np.frombuffer(joined, "<u4").reshape(len(parts), width // 8, 2), 0)
    crcs ^= np.array([_of_zeros(len(part)) for part in parts], np.uint32)
    masked: list[int] = (((crcs >> 15) | (crcs << 17)) + np.uint32(_MASK_DELTA)).tolist()
    return masked


@functools.lru_cache(4096)
def _of_zeros(size: int) -> int:
    return _numpy_crc32c(memoryview(bytes(size)), 0)


def _shortened(data: Any, crc: int) -> Any:
    """Return the last bytes of `data` with all other bytes moved into them; their checksum after 0xFFFFFFFF equals `data`'s
    after `crc`.
    """
    a, b, c = _MULTIPLE
    block, length = a - b, len(data) - a
    moved = np.zeros(a, np.uint8)
    moved[:4] = np.array([crc ^ 0xFFFFFFFF], "<u4").view(np.uint8)
    for start in range(0, length, _BLOCKS * block):
        piece = data[start : min(start + _BLOCKS * block, length)]
        size = len(piece)
        work = np.concatenate((piece, np.zeros(a, np.uint8)))
        work[:a] ^= moved
        for first in range(0, size, block):
            part = work[first : min(first + block, size)]
            for distance in (a - b, a - c, a):
                work[first + distance : first + distance + len(part)] ^= part
        moved = work[size:]
    return data[length:] ^ moved


def mask(crc: int) -> int:
    """Return the masked checksum stored in files; masking keeps checksums of data that contains checksums sound."""
    return (((crc >> 15) | (crc << 17)) + _MASK_DELTA) & 0xFFFFFFFF


def masked_crc32c(data: Buffer) -> int:
    """Return the masked checksum of `data`."""
    return mask(crc32c(data))


@functools.cache
def _byte_table() -> list[int]:
    """Return the checksum step of each byte value."""
    table = []
    for value in range(256):
        for _ in range(8):
            value = (value >> 1) ^ (_POLYNOMIAL if value & 1 else 0)
        table.append(value)
    return table


@functools.cache
def _word_tables() -> tuple[Any, ...]:
    """Return the checksum steps of 16-bit values that are followed by 6, 4, 2 and 0 more bytes."""
    byte_table = np.array(_byte_table(), np.uint32)
    values = np.arange(1 << 16, dtype=np.uint32)
    tables = [_after_zeros(values, 2, byte_table)]
    for _ in range(3):
        tables.append(_after_zeros(tables[-1], 2, byte_table))
    return tuple(reversed(tables))


def _after_zeros(crc: Any, count: int, byte_table: Any) -> Any:
    """Return the checksum states after `count` zero bytes."""
    for _ in range(count):
        crc = byte_table[crc & 0xFF] ^ (crc >> 8)
    return crc


def _advance_lanes(words: Any, start: int = 0xFFFFFFFF) -> Any:
    """Advance the checksum of each lane, an array of pairs of 32-bit words, without the final inversion."""
    first, second, third, fourth = _word_tables()
    crc = np.full(len(words), start, np.uint32)
    for step in range(words.shape[1]):
        low = crc ^ words[:, step, 0]
        high = words[:, step, 1]
        crc = first[low & 0xFFFF] ^ second[low >> 16] ^ third[high & 0xFFFF] ^ fourth[high >> 16]
    return crc


def _parities(data: Any, crc: int) -> int:
    """Return the checksum of at least four bytes after `crc`; zeros in front, without effect, make the bytes whole words."""
    count = -(-len(data) // 8)
    padded = np.zeros(8 * count, np.uint8)
    tail = padded[8 * count - len(data) :]
    tail[:] = data
    tail[:4] ^= np.array([crc ^ 0xFFFFFFFF], "<u4").view(np.uint8)
    masks = _masks(1 << (count - 1).bit_length())[:, -count:]
    folded = np.bitwise_xor.reduce(masks & padded.view(np.uint64), axis=1)
    bits = np.unpackbits(folded.view(np.uint8).reshape(32, 8), axis=1).sum(1, dtype=np.uint8) & 1
    return int(np.packbits(bits, bitorder="little").view("<u4")[0]) ^ 0xFFFFFFFF


@functools.cache
def _masks(count: int) -> Any:
    """Return, for each bit of a checksum, the bits of `count` words, a power of two, that change the bit: (32, count),
    uint64.
    """
    if count == 1:
        changes = np.array([1 << bit for bit in range(8)], np.uint32)
        steps = [_after_zeros(changes, place + 1, np.array(_byte_table(), np.uint32)) for place in reversed(range(8))]
        bits = np.unpackbits(np.concatenate(steps).astype("<u4").view(np.uint8).reshape(64, 4), axis=1, bitorder="little")
        return np.packbits(np.ascontiguousarray(bits.T), axis=1, bitorder="little").view(np.uint64)
    near = _masks(count // 2)
    moves = _moves(4 * count)
    far = [np.bitwise_xor.reduce(near[[bool(move >> bit & 1) for move in moves]], axis=0) for bit in range(32)]
    return np.concatenate((far, near), axis=1)


@functools.cache
def _moves(size: int) -> list[int]:
    """Return the effect of `size` following bytes, a power of two, on each single bit of a checksum."""
    if size == 1:
        return [_byte_table()[1 << bit] if bit < 8 else 1 << bit - 8 for bit in range(32)]
    half = _moves(size // 2)
    return [_apply(half, value) for value in half]


def _apply(matrix: list[int], value: int) -> int:
    result = 0
    for column in matrix:
        if value & 1:
            result ^= column
        value >>= 1
    return result
