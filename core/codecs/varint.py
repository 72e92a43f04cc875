"""Protobuf's integers of one to ten bytes; without NumPy, as reading a graph must not import NumPy.

Source: https://protobuf.dev/programming-guides/encoding.
"""

from __future__ import annotations

from typing import Final

MASK_64: Final = (1 << 64) - 1
"""The largest number of 64 bits."""
_SHORT: Final = [bytes([value]) for value in range(0x80)]


def varint(value: int) -> bytes:
    """Encode a number as a varint; a negative number as 64 bits."""
    if 0 <= value <= 0x7F:
        return _SHORT[value]
    value &= MASK_64
    result = bytearray()
    while value > 0x7F:
        result.append(value & 0x7F | 0x80)
        value >>= 7
    result.append(value)
    return bytes(result)
