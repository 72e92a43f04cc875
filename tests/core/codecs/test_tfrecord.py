"""Records read in pieces equal records read singly, up to the first damaged record."""

from __future__ import annotations

import functools
import gzip
import io

import numpy as np
import pytest

from tfg.core.codecs import tfrecord
from tfg.core.codecs.tfrecord import RecordError, crc32c, decode_record, encode_record, mask, masked_crc32c, read_records

RNG = np.random.default_rng(0)
KINDS = {
    "none": [],
    "empty": [b"", b"", b""],
    "small": [RNG.bytes(size) for size in RNG.integers(0, 40, 500)],
    "mixed": [RNG.bytes(size) for size in (5, 1024, 1025, 70_000, 0, 3)],
    "large": [RNG.bytes(600_000), RNG.bytes(10), RNG.bytes(300_000)],
}


def read_until_damaged(contents):
    """Return the records before the damage, read singly, and whether there is damage."""
    result, position = [], 0
    try:
        while position < len(contents):
            record, position = decode_record(contents, position)
            result.append(record)
    except RecordError:
        return result, True
    return result, False


def read_in_pieces(stream):
    records = []
    try:
        for record in read_records(stream):
            records.append(record)
    except RecordError:
        return records, True
    return records, False


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("packed", [False, True])
def test_records_are_read(kind, packed):
    contents = b"".join(map(encode_record, KINDS[kind]))
    stream = gzip.GzipFile(fileobj=io.BytesIO(gzip.compress(contents))) if packed else io.BytesIO(contents)
    assert list(read_records(stream)) == KINDS[kind]


@pytest.mark.parametrize("piece", [1, 7, 64, 1 << 18])
def test_damage_is_found_where_it_is(piece, monkeypatch):
    monkeypatch.setattr(tfrecord, "READ_BYTES", piece)
    contents = b"".join(map(encode_record, [b"one", b"", b"three and more", b"4"]))
    for i in range(len(contents)):
        damaged = contents[:i] + bytes([contents[i] ^ 0x81]) + contents[i + 1 :]
        assert read_in_pieces(io.BytesIO(damaged)) == read_until_damaged(damaged), i
        assert read_in_pieces(io.BytesIO(contents[:i])) == read_until_damaged(contents[:i]), i


def test_records_before_the_end_of_a_packed_file_that_is_cut_off_are_there():
    packed = gzip.compress(b"".join(map(encode_record, KINDS["large"])))
    reading = read_records(gzip.GzipFile(fileobj=io.BytesIO(packed[: len(packed) // 2])))
    with pytest.raises(EOFError):
        next(reading)
    reading = read_records(gzip.GzipFile(fileobj=io.BytesIO(packed[:-20])))
    assert next(reading) == KINDS["large"][0]


SIZES = (127, 128, 255, 256, 14_867, 14_868, 4096, 29_733, 29_734, 29_735, 44_283, 247_650, 247_651, 300_001)
DATA = np.random.default_rng(1).integers(0, 256, max(SIZES), np.uint8).tobytes()


def test_known_values():
    assert crc32c(b"") == 0
    assert crc32c(b"123456789") == 0xE3069283
    assert crc32c(bytes(32)) == 0x8A9136AA
    assert crc32c(b"\xff" * 32) == 0x62A8AB43
    assert mask(crc32c(b"foo")) != crc32c(b"foo")


@pytest.mark.parametrize("size", [255, 256, 1000, 4099, 70001])
def test_lanes_are_as_pieces(size):
    data = np.random.default_rng(size).bytes(size)
    pieces = 0
    for start in range(0, size, 100):
        pieces = crc32c(data[start : start + 100], pieces)
    assert crc32c(data) == pieces
    assert crc32c(data[300:], crc32c(data[:300])) == pieces


def table():
    """The step of each byte value, bit by bit."""
    steps = []
    for value in range(256):
        for _ in range(8):
            value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
        steps.append(value)
    return steps


@functools.cache
def states(before):
    """The state after each byte of DATA, from a checksum before, by the definition."""
    steps = table()
    crcs = [before ^ 0xFFFFFFFF]
    for byte in DATA:
        crcs.append(steps[(crcs[-1] ^ byte) & 0xFF] ^ crcs[-1] >> 8)
    return crcs


@pytest.mark.sampled(9)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("before", [0, 0xE3069283])
def test_long_buffers(size, before):
    for data in (DATA[:size], memoryview(DATA)[:size], bytearray(DATA[:size])):
        assert crc32c(data, before) == states(before)[size] ^ 0xFFFFFFFF


def test_views_of_more_than_a_piece():
    data = DATA * 8
    pieces = 0
    for _ in range(8):
        pieces = crc32c(DATA, pieces)
    assert crc32c(np.frombuffer(data, np.uint8)) == crc32c(memoryview(data)) == crc32c(data) == pieces


def test_many_short_buffers():
    parts = [DATA[:size] for size in (0, 1, 7, 8, 9, 100)]
    assert [masked_crc32c(part) for part in parts] == [mask(states(0)[len(part)] ^ 0xFFFFFFFF) for part in parts]
