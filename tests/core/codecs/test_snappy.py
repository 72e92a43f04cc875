"""Snappy's blocks and TensorFlow's frames of them."""

from __future__ import annotations

import random

import cramjam
import numpy as np
import pytest

from tfg.core.codecs import snappy
from tfg.core.support.errors import DataLossError


def test_blocks():
    assert snappy.decompress(memoryview(b"\x05\x10hello")) == b"hello"
    # A literal `ab`, a copy that runs into itself, one with a two-byte and one with a four-byte offset.
    data = b"\x12\x04ab" + b"\x11\x02" + b"\x0e\x02\x00" + b"\x0f\x08\x00\x00\x00"
    assert snappy.decompress(memoryview(data)) == b"ab" * 9
    long = b"x" * 300
    assert snappy.decompress(memoryview(b"\xac\x02\xf4\x2b\x01" + long)) == long


@pytest.mark.parametrize("size", [0, 1, 60, 61, 256, 257, 70_000, 200_001])
def test_blocks_are_read_as_they_were_written(size):
    data = np.random.default_rng(size).bytes(size)
    assert snappy.decompress(memoryview(snappy.compress(data))) == data
    assert snappy.unframed(snappy.framed(data)) == data


def test_damaged_frames():
    framed = snappy.framed(b"hello")
    for cut in range(1, len(framed)):
        with pytest.raises(DataLossError):
            snappy.unframed(framed[:cut])


@pytest.mark.parametrize(
    "data",
    [b"\x05\x10hell", b"\x05\x10helloo", b"\x02\x01\x05", b"\xff\xff\x7f\x00a", b"\x04\x00a\x02\x05", b"", b"\x00\x00"]
    + [b"\xff" * 10, b"\x80", b"\x02\x04ab\x0f"],
)
def test_damaged_blocks(data):
    with pytest.raises(DataLossError):
        snappy.decompress(memoryview(data))


def test_a_block_that_claims_too_much_is_refused_unread(monkeypatch):
    """The refusal comes before memory of the claimed size is taken."""

    def unreachable(*arguments):
        raise AssertionError

    monkeypatch.setattr(cramjam.snappy, "decompress_raw", unreachable)
    with pytest.raises(DataLossError, match="claims to hold"):
        snappy.decompress(memoryview(b"\xff\xff\xff\x7f\x00a"))


def drawn_block(random):
    """Return a block of drawn elements, most of them sound, that may claim a wrong size."""
    elements, size = b"", 0
    for _ in range(random.randrange(1, 8)):
        length = random.randrange(1, 61)
        kind = random.randrange(4) if size else 0
        offset = random.randrange(1, size + 2) if random.random() < 0.1 else random.randrange(1, max(size, 1) + 1)
        if kind == 0:
            elements += bytes([length - 1 << 2]) + random.randbytes(length)
        elif kind == 1:
            length, offset = random.randrange(4, 12), min(offset, 2047)
            elements += bytes([offset >> 8 << 5 | length - 4 << 2 | 1, offset & 255])
        else:
            elements += bytes([length - 1 << 2 | kind]) + offset.to_bytes(2 if kind == 2 else 4, "little")
        size += length
    claimed = size + (random.random() < 0.1)
    return bytearray([claimed & 127 | 128, claimed >> 7]) + elements


def outcome(block):
    """Return the data of a block, None for a refused block."""
    try:
        return snappy.decompress(memoryview(block))
    except DataLossError:
        return None


def test_drawn_blocks():
    """Whatever the bytes are, there is data or a DataLossError."""
    generator = random.Random(1)
    blocks = [drawn_block(generator) for _ in range(1000)]
    for block in blocks[::3]:
        block[generator.randrange(len(block))] = generator.randrange(256)
    outcomes = [outcome(block) for block in blocks]
    assert 300 < sum(data is not None for data in outcomes) < 900
