"""The wire format against protobuf's own library."""

from __future__ import annotations

import struct

import pytest

from tfg.core.codecs import wire
from tfg.core.support.errors import DataLossError
from tfg.formats.protos.example_pb2 import Feature
from tfg.formats.protos.graph_pb2 import TensorProto

NUMBERS = [0, 1, -1, 127, 128, -(1 << 63), (1 << 63) - 1]


def _fields(message, number):
    return [field for field in wire.fields(message.SerializeToString()) if field.number == number]


def test_integers_are_read_packed_or_not():
    message = TensorProto(int64_val=NUMBERS)
    number = TensorProto.INT64_VAL_FIELD_NUMBER
    assert wire.repeated_integers(_fields(message, number)) == NUMBERS
    plain = b"".join(wire.varint_field(number, n, always=True) for n in NUMBERS)
    assert list(TensorProto.FromString(plain).int64_val) == NUMBERS
    assert wire.repeated_integers(wire.fields(plain)) == NUMBERS


def test_floats_are_written_as_protobuf_reads_them():
    values = [0.0, -0.0, 1.5, float("inf")]
    plain = b"".join(wire.float_field(TensorProto.FLOAT_VAL_FIELD_NUMBER, v, always=True) for v in values)
    assert list(TensorProto.FromString(plain).float_val) == values
    assert wire.repeated_fixed(wire.fields(plain), 4) == struct.pack("<4f", *values)
    packed = wire.packed_doubles(TensorProto.DOUBLE_VAL_FIELD_NUMBER, values)
    assert packed == TensorProto(double_val=values).SerializeToString()


def test_fields_of_another_wire_type_are_passed_over():
    data = wire.varint_field(1, 7) + wire.bytes_field(1, b"text") + wire.double_field(1, 2.5)
    assert wire.contents(data, 1) == [b"text"]
    assert wire.repeated_fixed(wire.fields(wire.float_field(2, 1.5) + wire.double_field(2, 2.5)), 4) == struct.pack("<f", 1.5)
    assert wire.repeated_integers(wire.fields(wire.double_field(1, 2.5))) == []


def test_bytes_and_views_are_walked_alike():
    data = Feature(bytes_list={"value": [b"", b"abc"]}).SerializeToString()
    assert [f.payload for f in wire.fields(data)] == [f.payload for f in wire.fields(memoryview(data))]
    (inner,) = wire.contents(memoryview(data), 1)
    assert wire.contents(inner, 1) == [b"", b"abc"]


@pytest.mark.parametrize("data", [b"\x08", b"\x0a\x05ab", b"\x00\x01", b"\x0b\x01", b"\x08" + b"\xff" * 10 + b"\x01"])
def test_damaged_messages_are_refused(data):
    with pytest.raises(DataLossError):
        list(wire.fields(data))
