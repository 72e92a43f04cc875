"""Examples in JSON into serialized Examples."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ...codecs import wire
from ...registry.registry import facts, kernel, not_differentiable, shape, zero_flops
from ...support.errors import InvalidArgumentError
from ...types.arrays import Array, Result
from ..shared.plain_shapes import first_shape
from ..shared.string_functions import map_bytes


@kernel("DecodeJSONExample")
def decode_json_example(json_examples: Array) -> Result:
    """Each Example in protobuf's JSON form as a serialized Example."""
    return map_bytes(_encode_example, json_examples)


def _encode_example(text: bytes) -> bytes:
    try:
        return _message(json.loads(text), {"features": (1, _features)})
    except (ValueError, TypeError, AttributeError, OverflowError, UnicodeEncodeError, binascii.Error) as error:
        raise InvalidArgumentError(f"Error while parsing JSON: {error}") from None


def _message(value: Any, fields: Mapping[str, tuple[int, Callable[[Any], bytes]]]) -> bytes:
    """Encode a JSON object as a message, its fields in the order of the text; ValueError for an unknown field."""
    if not isinstance(value, dict):
        raise ValueError(f"{value!r} is not an object")
    result = b""
    for name, item in value.items():
        if name not in fields:
            raise ValueError(f"unknown field {name!r}")
        number, encode = fields[name]
        result += wire.bytes_field(number, encode(item)) if item is not None else b""
    return result


def _features(value: Any) -> bytes:
    if not isinstance(value, dict) or set(value) - {"feature"}:
        raise ValueError(f"{value!r} is not a Features message")
    entries = value.get("feature") or {}
    if not isinstance(entries, dict):
        raise ValueError(f"{entries!r} is not a map of features")
    return b"".join(
        wire.bytes_field(1, wire.bytes_field(1, name.encode()) + wire.bytes_field(2, _feature(item)))
        for name, item in entries.items()
    )


def _feature(value: Any) -> bytes:
    kinds: dict[str, tuple[int, Callable[[Any], bytes]]] = {
        "bytes_list": (1, _bytes_list), "float_list": (2, _float_list), "int64_list": (3, _int64_list)
    }  # fmt: skip
    camel = {"bytesList": kinds["bytes_list"], "floatList": kinds["float_list"], "int64List": kinds["int64_list"]}
    return _message(value, kinds | camel)


def _values(value: Any) -> list[Any]:
    if not isinstance(value, dict) or set(value) - {"value"}:
        raise ValueError(f"{value!r} is not a list of values")
    items = value.get("value") or []
    if not isinstance(items, list):
        raise ValueError(f"{items!r} is not a list")
    return items


def _bytes_list(value: Any) -> bytes:
    return b"".join(wire.bytes_field(1, _from_base64(item)) for item in _values(value))


def _from_base64(item: Any) -> bytes:
    """Plain or web-safe base64, with or without padding."""
    text = item.rstrip("=").replace("-", "+").replace("_", "/")
    return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)


def _float_list(value: Any) -> bytes:
    return b"".join(wire.float_field(1, float(np.float32(float(item))), always=True) for item in _values(value))


def _int64_list(value: Any) -> bytes:
    return b"".join(wire.varint_field(1, _integer(item), always=True) for item in _values(value))


def _integer(item: Any) -> int:
    number = int(item)
    if isinstance(item, bool) or (isinstance(item, float) and item != number) or not -(1 << 63) <= number < 1 << 63:
        raise ValueError(f"{item!r} is not a 64-bit integer")
    return number


shape("DecodeJSONExample")(first_shape)
facts("elementwise", of=("DecodeJSONExample",))
not_differentiable("DecodeJSONExample")
zero_flops("DecodeJSONExample")
