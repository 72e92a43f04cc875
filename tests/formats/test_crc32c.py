"""CRC-32C of long buffers against the byte by byte definition."""

from __future__ import annotations

import numpy as np
import pytest

from tfg.core.codecs.crc32c import crc32c

SIZES = (127, 128, 255, 256, 14_867, 14_868, 4096, 29_733, 29_734, 29_735, 44_283, 247_650, 247_651, 300_001)
DATA = np.random.default_rng(1).integers(0, 256, max(SIZES), np.uint8).tobytes()


def table():
    """The step of each byte value, bit by bit."""
    steps = []
    for value in range(256):
        for _ in range(8):
            value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
        steps.append(value)
    return steps


STEPS = table()


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("before", [0, 0xE3069283])
def test_long_buffers(size, before):
    state = before ^ 0xFFFFFFFF
    for byte in DATA[:size]:
        state = STEPS[(state ^ byte) & 0xFF] ^ state >> 8
    assert crc32c(DATA[:size], before) == state ^ 0xFFFFFFFF
