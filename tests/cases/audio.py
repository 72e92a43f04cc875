"""Cases of the audio family."""

import struct

import numpy as np

from tests.opcases import case, normal, strings, uniform


def wav(samples, rate=8000, code=1, bits=16, after=b""):
    """A WAV file of int16 (n, channels) as a string scalar."""
    channels = samples.shape[1]
    body = samples.astype("<i2").tobytes()
    form = struct.pack("<HHIIHH", code, channels, rate, rate * channels * bits // 8, channels * bits // 8, bits)
    header = b"RIFF" + struct.pack("<I", 36 + len(body)) + b"WAVEfmt " + struct.pack("<I", 16) + form
    return strings(header + b"data" + struct.pack("<I", len(body)) + body + after)[0]


SAMPLES = np.arange(-12, 12).reshape(12, 2) * 1000
SPECTROGRAM = uniform(2, 3, 65)

CASES = [
    case("DecodeWav", wav(SAMPLES)),
    case("DecodeWav", wav(SAMPLES), desired_channels=1, desired_samples=5),
    case("DecodeWav", wav(SAMPLES[:, :1]), desired_channels=2, desired_samples=20),
    case("DecodeWav", wav(SAMPLES, code=3)),
    case("DecodeWav", wav(SAMPLES, bits=8)),
    case("DecodeWav", strings(b"RIFF")[0]),
    case("DecodeWav", wav(SAMPLES, rate=0)),
    *(case("DecodeWav", wav(SAMPLES, after=a)) for a in (b"LIST\3\0\0\0abc", b"data\2\0\0\0ab", b"a", b"LIST\xff\0\0\0abc")),
    case("EncodeWav", uniform(7, 2, low=-1.2, high=1.2), np.int32(8000)),
    case("EncodeWav", uniform(7), np.int32(8000)),
    case("EncodeWav", uniform(7, 1), np.ones(1, np.int32)),
    case("EncodeWav", uniform(0, 2), np.int32(8000)),
    case("EncodeWav", uniform(3, 0), np.int32(8000)),
    case("EncodeWav", uniform(3, 2), np.int32(-4)),
    case("EncodeWav", uniform(3, 2), np.int32(2**31 - 1)),
    *(case("AudioSpectrogram", normal(50, 2), window_size=w, stride=s, magnitude_squared=m, tolerance=1e-3)
      for w, s, m in ((16, 7, False), (20, 20, True), (3, 2, False))),
    case("AudioSpectrogram", normal(5, 2), window_size=16, stride=7),
    case("AudioSpectrogram", normal(5), window_size=16, stride=7),
    case("AudioSpectrogram", normal(50, 2), window_size=1, stride=7),
    case("Mfcc", SPECTROGRAM, np.int32(16000)),
    case("Mfcc", SPECTROGRAM, np.int32(16000), filterbank_channel_count=10, dct_coefficient_count=5),
    case("Mfcc", SPECTROGRAM, np.int32(16000), lower_frequency_limit=100.0, upper_frequency_limit=7000.0),
    case("Mfcc", SPECTROGRAM, np.int32(4000)),
    case("Mfcc", SPECTROGRAM[0], np.int32(16000)),
    case("Mfcc", SPECTROGRAM, np.int32(16000), filterbank_channel_count=5, dct_coefficient_count=10),
]  # fmt: skip
