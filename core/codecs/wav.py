"""WAV files of 16-bit PCM samples, as TensorFlow's tensorflow/core/lib/wav writes them."""

from __future__ import annotations

import struct

import numpy as np

from ..support.errors import InvalidArgumentError
from ..types.arrays import Array

_SAMPLE_BYTES = 2
"""The number of bytes of a sample: 16 bits, the only size that TensorFlow writes."""
_LARGEST = (1 << 32) - 1
"""The largest size in bytes that a header holds, a number of 32 bits."""


def encode(clip: Array, rate: int) -> bytes:
    """Encode numbers in [-1, 1], (frames, channels), as a WAV file at `rate` frames a second; NaN is silence.

    InvalidArgumentError where the header has no room for the rate, the channels or the size.
    """
    frames, channels = clip.shape
    size = frames * channels * _SAMPLE_BYTES
    if not 0 < rate <= _LARGEST:
        raise InvalidArgumentError(f"sample_rate must be in (0, 2^32), got: {rate}")
    if not 0 < channels < 1 << 16:
        raise InvalidArgumentError(f"num_channels must be in (0, 2^16), got: {channels}")
    # The size of the whole file less 8 bytes has to fit too, and the head takes 36 of them.
    if size > _LARGEST - 36:
        raise InvalidArgumentError(f"{frames} frames of {channels} channels do not fit in a WAV file")
    # Bytes a second and bytes a frame wrap around, as in TensorFlow.
    per_frame = channels * _SAMPLE_BYTES
    form = struct.pack("<HHIIHH", 1, channels, rate, rate * per_frame & _LARGEST, per_frame & 0xFFFF, 8 * _SAMPLE_BYTES)
    head = struct.pack("<4sI4s4sI", b"RIFF", 36 + size, b"WAVE", b"fmt ", len(form)) + form
    return head + struct.pack("<4sI", b"data", size) + _samples(clip).tobytes()


def _samples(clip: Array) -> Array:
    """Convert the numbers to 16-bit integers, halves away from zero."""
    scaled = np.nan_to_num(clip.astype(np.float32) * np.float32(1 << 15), nan=0.0)
    samples: Array = np.clip(np.trunc(scaled + np.copysign(np.float32(0.5), scaled)), -(1 << 15), (1 << 15) - 1).astype("<i2")
    return samples
