"""How much packed data may unpack to, so that a small file cannot fill the memory."""

from __future__ import annotations

ROOM, _RATIO = 1 << 28, 64
"""The decompressed size, in bytes, that is always allowed, and the largest ratio of larger sizes to the packed bytes."""


def unpacked_limit(size: int) -> int:
    """Return the largest decompressed size, in bytes, of `size` packed bytes.

    Graphs and checkpoints compress 2 to 20 times, decompression bombs 1000 times.
    """
    return max(ROOM, _RATIO * size)
