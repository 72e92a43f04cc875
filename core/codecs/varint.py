"""Protobuf's integers of one to ten bytes; without NumPy, which reading a graph does not import.

Source: https://protobuf.dev/programming-guides/encoding.
"""

from __future__ import annotations

from typing import Final

MASK_64: Final = (1 << 64) - 1
"""The largest number of 64 bits."""
_SHORT: Final = [bytes([value]) for value in range(0x80)]


def varint(value: int) -> bytes:
    """A number (negative ones as 64 bits) as a varint."""
    if 0 <= value <= 0x7F:
        return _SHORT[value]
    value &= MASK_64
    result = bytearray()
    while value > 0x7F:
        result.append(value & 0x7F | 0x80)
        value >>= 7
    result.append(value)
    return bytes(result)
