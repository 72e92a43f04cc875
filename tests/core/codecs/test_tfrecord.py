"""Records read in pieces equal records read singly, up to the first damaged record."""

import gzip
import io

import numpy as np
import pytest

from tfg.core.codecs import tfrecord
from tfg.core.codecs.tfrecord import RecordError, decode_record, encode_record, read_records

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
