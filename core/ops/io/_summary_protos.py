"""Summary messages, byte for byte as TensorFlow serializes them.

https://github.com/tensorflow/tensorflow/blob/master/tensorflow/core/framework/summary.proto names the fields.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...codecs import png, wav, wire
from ...numerics.tensor_statistics import bucket_histogram
from ...runtime.state import tensor_proto_bytes
from ...support.errors import InvalidArgumentError
from ...types.arrays import Array
from ...types.dtypes import DType

_TAG, _SIMPLE_VALUE, _IMAGE, _HISTOGRAM, _AUDIO, _NODE_NAME, _TENSOR, _METADATA = 1, 2, 4, 5, 6, 7, 8, 9


def value(tag: bytes, *parts: bytes) -> bytes:
    """Return a value of a Summary."""
    return wire.bytes_field(1, wire.string_field(_TAG, tag) + b"".join(parts))


def node_name_part(name: bytes) -> bytes:
    """Return the part of a value that names its node, used where there is no tag."""
    return wire.string_field(_NODE_NAME, name)


def number_part(number: Any) -> bytes:
    """Return the part of a value that holds a number."""
    return wire.float_field(_SIMPLE_VALUE, number, always=True)


def histogram_part(values: Array, name: str) -> bytes:
    """Return the part of a value that holds a histogram; InvalidArgumentError for NaN and infinity."""
    numbers = np.asarray(values)
    if not np.isfinite(numbers).all():
        if np.isnan(numbers).any():
            raise InvalidArgumentError(f"Nan in summary histogram for: {name}")
        raise InvalidArgumentError(f"Infinity in Histogram for: {name}")
    summary = bucket_histogram(numbers)
    message = b"".join(
        wire.double_field(number, item)
        for number, item in enumerate((summary.minimum, summary.maximum, summary.count, summary.total, summary.sum_squares), 1)
    )
    message += wire.packed_doubles(6, summary.limits) + wire.packed_doubles(7, summary.counts)
    return wire.bytes_field(_HISTOGRAM, message)


def tensor_part(array: Array, dtype: DType) -> bytes:
    """Return the part of a value that holds a tensor."""
    return wire.bytes_field(_TENSOR, tensor_proto_bytes.serialize(np.asarray(array), dtype))


def metadata_part(metadata: bytes) -> bytes:
    """Return the part of a value that holds the metadata."""
    return wire.bytes_field(_METADATA, metadata)


def numbered_tags(tag: bytes, kind: bytes, count: int, limit: int) -> list[bytes]:
    """Return tags of up to `limit` items, numbered unless the limit is 1."""
    if limit == 1:
        return [tag + b"/" + kind]
    return [b"%s/%s/%d" % (tag, kind, i) for i in range(min(count, limit))]


def images(tag: bytes, tensor: Array, limit: int, bad_color: Array) -> bytes:
    """Return a Summary with up to `limit` images of a batch (n, height, width, channels)."""
    if tensor.ndim != 4 or tensor.shape[3] not in (1, 3, 4):
        raise InvalidArgumentError(f"Tensor must be 4-D with last dim 1, 3, or 4, not {tensor.shape}")
    if len(tensor) and not tensor.size:
        raise InvalidArgumentError(f"Tensor must not be empty, its shape is {tensor.shape}")
    _, height, width, channels = tensor.shape
    if bad_color.dtype != np.uint8 or bad_color.ndim != 1 or bad_color.size < channels:
        raise InvalidArgumentError(f"bad_color must be a uint8 vector of {channels} or more, not {bad_color}")
    result = b""
    for name, image in zip(numbered_tags(tag, b"image", len(tensor), limit), tensor):
        pixels = image if image.dtype == np.uint8 else normalized(image, bad_color[:channels])
        fields = [wire.varint_field(i, n) for i, n in enumerate((height, width, channels), 1)]
        fields.append(wire.bytes_field(4, png.encode(pixels)))
        result += value(name, wire.bytes_field(_IMAGE, b"".join(fields)))
    return result


def normalized(image: Array, bad_color: Array) -> Array:
    """Return a float image as uint8: scaled to 255, with negative values around 128; pixels that are not finite are
    bad_color.
    """
    finite = np.isfinite(image.astype(np.float64)).all(axis=2)
    inside = image[finite]
    low, high = (np.float32(inside.min()), np.float32(inside.max())) if inside.size else (np.float32(0), np.float32(0))
    largest = max(abs(low), high) if low < 0 else high
    span, offset = (np.float32(127), np.float32(128)) if low < 0 else (np.float32(255), np.float32(0))
    # The scale is a float, the arithmetic that of the image's own dtype.
    scale = (np.float32(0) if largest < 1e-6 else span / largest).astype(image.dtype)
    pixels = np.empty(image.shape, np.uint8)
    pixels[finite] = (inside * scale + offset.astype(image.dtype)).astype(np.uint8)
    pixels[~finite] = bad_color
    return pixels


def audio(tag: bytes, tensor: Array, rate: Any, limit: int) -> bytes:
    """Return a Summary with up to `limit` clips of a batch (n, frames) or (n, frames, channels)."""
    if tensor.ndim not in (2, 3):
        raise InvalidArgumentError(f"Tensor must be 3-D or 2-D, got: {tensor.shape}")
    if not rate > 0:
        raise InvalidArgumentError("sample_rate must be > 0")
    if np.isinf(rate):
        raise InvalidArgumentError("sample_rate must be in (0, 2^32)")
    frames_per_second = max(round(float(rate)), 1)
    frames, channels = tensor.shape[1], tensor.shape[2] if tensor.ndim == 3 else 1
    result = b""
    for name, clip in zip(numbered_tags(tag, b"audio", len(tensor), limit), tensor):
        fields = wire.float_field(1, rate) + wire.varint_field(2, channels) + wire.varint_field(3, frames)
        contents = wav.encode(clip.reshape(frames, channels), frames_per_second)
        fields += wire.bytes_field(4, contents) + wire.bytes_field(5, b"audio/wav")
        result += value(name, wire.bytes_field(_AUDIO, fields))
    return result
