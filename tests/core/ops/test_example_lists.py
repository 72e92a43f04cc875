"""Values of features, with features without values."""

import numpy as np
import pytest

from tfg.core.codecs import wire
from tfg.core.ops.io._examples import concatenated, parse_feature
from tfg.core.support.errors import DataLossError
from tfg.core.types import dtypes


@pytest.mark.parametrize(("dtype", "values"), [
    (dtypes.float32, np.float32([1.5, 2])),
    (dtypes.int64, [3, 4]),
    (dtypes.string, [b"a", b"b"]),
])  # fmt: skip
@pytest.mark.parametrize("empty", [[], ()])
def test_lists_without_values_leave_the_dtype(dtype, values, empty):
    result = concatenated([empty, values, empty], dtype)
    assert (result.dtype, result.tolist()) == (dtype.numpy, list(values))


_UNKNOWN = wire.varint_field(9, 5)
"""A field that readers skip; a message with this field is not a plain message."""


@pytest.mark.parametrize("kind, values", [
    (1, wire.bytes_field(1, b"a")),
    (1, wire.bytes_field(1, b"a" * 200) + wire.bytes_field(1, b"")),
    (2, wire.bytes_field(1, np.float32([1, 2]).tobytes())),
    (2, wire.bytes_field(1, np.float32(range(99)).tobytes())),
    (3, wire.bytes_field(1, b"\x01\x7f")),
    (3, wire.bytes_field(1, wire.varint(300) + wire.varint(2**64 - 1))),
    (3, wire.bytes_field(1, b"")),
    (3, wire.varint_field(1, 7)),
    (4, b""),
])  # fmt: skip
def test_plain_features_are_read_as_others(kind, values):
    plain = parse_feature(wire.bytes_field(kind, values))
    for other in (wire.bytes_field(kind, values) + _UNKNOWN, wire.bytes_field(kind, values + _UNKNOWN)):
        result = parse_feature(other)
        assert (result.dtype, list(result.values)) == (plain.dtype, list(plain.values))


@pytest.mark.parametrize("data", [b"\x12\x05\x0a\x03abc", b"\x12\x80", b"\x1a\x03\x0a\x01\x80", b"\x0a\x05ab"])
def test_damaged_features_are_errors(data):
    with pytest.raises(DataLossError):
        parse_feature(data)
