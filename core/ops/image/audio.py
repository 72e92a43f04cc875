"""Audio: WAV files, spectrograms and mel-frequency cepstral coefficients."""

from __future__ import annotations

import operator
import struct
from typing import Any

import numpy as np

from ...codecs import wav
from ...registry.registry import WITHOUT_GRADIENT, Cost, everywhere, flops, kernel, shape
from ...runtime.state.edge_values import scalar_object
from ...runtime.state.run_context import reserve
from ...types.arrays import Array, Result
from ...types.dims import dim_max
from ...types.shapes import SCALAR, Shape, TensorSpec
from ..shared.argument_checks import require, require_rank, scalar, with_rank


def _read_wav(data: bytes) -> tuple[Any, Any]:
    """(samples (n, channels) of int16, rate); only 16-bit PCM, as in TensorFlow, and only one chunk of data."""
    require(data[:4] == b"RIFF" and data[8:12] == b"WAVE", "the contents are not a RIFF WAVE file")
    form: Any = None
    samples: Any = None
    at = 12
    while at < len(data):
        require(at + 8 <= len(data), f"the WAV file ends within the head of a chunk, at byte {at}")
        name, size = struct.unpack_from("<4sI", data, at)
        at += 8
        body = data[at : at + size]
        if name == b"fmt ":
            require(size in (16, 18) and len(body) == size, f"the format chunk of the WAV file has {size} bytes, not 16 or 18")
            form = struct.unpack("<HHIIHH", body[:16])
            _check_format(*form)
        elif name == b"data":
            require(form is not None, "the WAV file has no format chunk before its data")
            require(samples is None, "the WAV file has two chunks of data")
            require(len(body) == size, f"the data of the WAV file end after {len(body)} of {size} bytes")
            # Whole frames only. TensorFlow goes on behind the last one, too, so that half a frame is read as the head of the
            # next chunk.
            count = size // (2 * form[1])
            samples = np.frombuffer(body, "<i2", count * form[1]).reshape(count, form[1])
            size = samples.nbytes
        at += size
    require(samples is not None, "the WAV file has no data")
    return samples, form[2]


def _check_format(code: int, channels: int, rate: int, bytes_per_second: int, bytes_per_sample: int, bits: int) -> None:
    require(code == 1, f"the WAV file has format {code}; only PCM (1) is supported")
    require(channels >= 1, f"a WAV file of {channels} channels")
    require(bits == 16, f"the WAV file has {bits} bits a sample; only 16 are supported")
    require(
        bytes_per_sample == 2 * channels and bytes_per_second == rate * bytes_per_sample,
        f"the WAV file's header contradicts itself: {bytes_per_sample} bytes a sample, {bytes_per_second} a second",
    )


def _require_desired(**desired: int) -> None:
    for name, count in desired.items():
        require(count >= -1, f"{name} must be >= -1, got {count}")


@kernel("DecodeWav", facts=("sound_contents",), arithmetic=False)
def decode_wav(contents: Array, *, desired_channels: int, desired_samples: int) -> tuple[Result, Result]:
    """Decode a 16-bit PCM WAV file to floats in [-1, 1) (samples, channels), and its rate; cut or padded to the desired
    sizes.
    """
    _require_desired(desired_channels=desired_channels, desired_samples=desired_samples)
    data = scalar(contents, "contents")
    require(isinstance(data, bytes) and len(data) <= 2**31 - 1, "contents must be a string of less than 2 GiB")
    samples, rate = _read_wav(data)
    if desired_channels != -1:
        # The graph states this number, whatever the file holds.
        reserve(8 * desired_channels * (1 + len(samples)))
        # Channels that the file lacks are copies of its last channel, as in TensorFlow.
        taken = np.minimum(np.arange(desired_channels), samples.shape[1] - 1)
        samples = samples[:, taken]
    if desired_samples != -1:
        reserve(12 * desired_samples * samples.shape[1])
        missing = max(desired_samples - len(samples), 0)
        samples = np.pad(samples[:desired_samples], ((0, missing), (0, 0)))
    return samples.astype(np.float32) / np.float32(32768), np.int32(rate)


@shape("DecodeWav")
def decode_wav_shape(contents: TensorSpec, *, desired_channels: int, desired_samples: int) -> list[Shape]:
    _require_desired(desired_channels=desired_channels, desired_samples=desired_samples)
    with_rank(contents.shape, 0)
    return [Shape([None if n == -1 else n for n in (desired_samples, desired_channels)]), SCALAR]


@kernel("EncodeWav", shape="_ _, () -> ()", arithmetic=False)
def encode_wav(audio: Array, sample_rate: Array) -> Result:
    """Floats in [-1, 1] (samples, channels) as a 16-bit PCM WAV file."""
    require_rank(audio, 2, "audio")
    rate = scalar(sample_rate, "sample_rate")
    return scalar_object(wav.encode(audio, int(rate)))


def _fft_length(window_size: int) -> int:
    """Return the power of two that the window fits into."""
    return 1 << max(window_size - 1, 0).bit_length()


def _windows(xp: Any, x: Any, size: int, stride: int) -> Any:
    """Return the windows of each row of x (rows, samples): (rows, slices, size)."""
    samples = x.shape[1]
    if xp.is_eager and samples >= size:
        return np.lib.stride_tricks.sliding_window_view(x, size, 1)[:, ::stride]  # a view, where a gather copies
    # With fewer samples than a window the count is 0 or negative, however the quotient is rounded, and `arange` is empty.
    starts = xp.arange((samples - size + stride) // stride) * stride
    return xp.take(x, starts[:, None] + np.arange(size), 1)


@everywhere("AudioSpectrogram", gradient=WITHOUT_GRADIENT)
def audio_spectrogram(xp: Any, input: Any, *, window_size: int, stride: int, magnitude_squared: bool) -> Any:
    """Magnitudes of the Fourier transforms of Hann windows of (samples, channels): (channels, slices, bins)."""
    require(window_size >= 2, f"window_size must be at least 2, not {window_size}")
    require(stride >= 1, f"stride must be positive, not {stride}")
    require_rank(input, 2, "input")
    windows = _windows(xp, xp.transpose(input, (1, 0)).astype(np.float64), window_size, stride)
    # TensorFlow transforms in double precision too, and rounds the magnitudes alone.
    # Hann's periodic window, divided by its size rather than its size less 1: the slices of a signal then add up evenly.
    hann = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(window_size) / window_size)
    spectra = xp.fft.rfftn(windows * hann, [_fft_length(window_size)], [-1])
    squares = spectra.real * spectra.real + spectra.imag * spectra.imag
    return (squares if magnitude_squared else xp.sqrt(squares)).astype(np.float32)


@shape("AudioSpectrogram")
def audio_spectrogram_shape(input: TensorSpec, *, window_size: int, stride: int) -> Shape:
    require(window_size >= 2 and stride >= 1, f"window_size {window_size} and stride {stride} are too small")
    samples, channels = with_rank(input.shape, 2)
    slices = (samples - window_size) // stride + 1
    return Shape((channels, dim_max(slices, 0), _fft_length(window_size) // 2 + 1))


@flops("AudioSpectrogram")
def audio_spectrogram_flops(*, window_size: int, magnitude_squared: bool, outputs: list[TensorSpec]) -> Cost:
    """Each slice: its window, a real FFT of 2.5 n log2(n) operations and the squares of magnitudes, or their roots."""
    channels, slices, bins = tuple(outputs[0].shape)
    length = _fft_length(window_size)
    each = window_size + 5 * length * (length.bit_length() - 1) // 2 + (3 if magnitude_squared else 4) * bins
    return Cost(1) * (channels * slices * each)


# TensorFlow's least output of a filter: the logarithm of silence would be infinite.
_FLOOR = 1e-12


def _mel(frequency: Any) -> Array:
    """Hertz to mel (O'Shaughnessy 1987)."""
    return 1127.0 * np.log1p(frequency / 700.0)


def _filterbank(bins: int, rate: int, channels: int, lower: float, upper: float) -> Array:
    """Triangular filters, evenly spaced in mel: a matrix (bins, channels)."""
    require(channels >= 1 and rate > 0 and bins >= 2, f"{channels} channels of {bins} bins at {rate} samples a second")
    require(0 <= lower < upper, f"frequencies from {lower} to {upper}")
    low = _mel(lower)
    centers = low + (_mel(upper) - low) / (channels + 1) * np.arange(1, channels + 2)
    step = 0.5 * rate / (bins - 1)
    # 1.5, not 0.5: TensorFlow follows HTK, which leaves the bin of frequency 0 out even if `lower` is 0.
    first, last = int(1.5 + lower / step), int(upper / step)
    # A column more than filters, for the bins above the last center; it is left out of the result.
    matrix = np.zeros((bins, channels + 1))
    places = np.arange(first, last + 1)
    mels = _mel(places * step)
    upper_channel = np.searchsorted(centers[:channels], mels)
    starts = np.concatenate(([low], centers))
    weights = (centers[upper_channel] - mels) / (centers[upper_channel] - starts[upper_channel])
    matrix[places, upper_channel] = 1 - weights
    below = upper_channel > 0
    matrix[places[below], upper_channel[below] - 1] = weights[below]
    return matrix[:, :channels]


def _cosines(coefficients: int, channels: int) -> Array:
    """Return the discrete cosine transform, (coefficients, channels)."""
    angles = np.pi / channels * np.arange(coefficients)[:, None] * (np.arange(channels) + 0.5)
    # HTK's factor, the same for all coefficients: an orthonormal transform has sqrt(1 / channels) for the first.
    return np.sqrt(2.0 / channels) * np.cos(angles)


@everywhere("Mfcc", static=(1,), gradient=WITHOUT_GRADIENT, shape="c slices _ -> c slices {dct_coefficient_count}")
def mfcc(
    xp: Any, spectrogram: Any, sample_rate: Array,
    *, upper_frequency_limit: float, lower_frequency_limit: float, filterbank_channel_count: int, dct_coefficient_count: int,
) -> Any:  # fmt: skip
    """Cosine transform of the logarithms of mel filters' outputs: (channels, slices, bins) -> (..., coefficients)."""
    require_rank(spectrogram, 3, "spectrogram")
    rate = scalar(sample_rate, "sample_rate")
    channels = filterbank_channel_count
    require(1 <= dct_coefficient_count <= channels, f"{dct_coefficient_count} coefficients of {channels} channels")
    bins = operator.index(spectrogram.shape[2])
    if bins >= 2 and rate > 0 and upper_frequency_limit >= 0.5 * rate * bins / (bins - 1):
        # The filters reach beyond the spectrum: TensorFlow logs an error and returns zeros.
        return xp.full((*spectrogram.shape[:2], dct_coefficient_count), np.float32(0))
    bank = _filterbank(bins, rate, channels, lower_frequency_limit, upper_frequency_limit)
    # The input holds squared magnitudes, as AudioSpectrogram with `magnitude_squared` gives, but the filters take magnitudes.
    filtered = xp.matmul(xp.sqrt(spectrogram.astype(np.float64)), bank)
    logarithms = xp.log(xp.maximum(filtered, _FLOOR))
    return xp.matmul(logarithms, _cosines(dct_coefficient_count, channels).T).astype(np.float32)


@flops("Mfcc")
def mfcc_flops(spectrogram: TensorSpec, *, filterbank_channel_count: int, dct_coefficient_count: int) -> Cost:
    """A root and two multiply-adds a bin, even outside of the limits; a bound and a logarithm a filter; a cosine transform."""
    channels, slices, bins = with_rank(spectrogram.shape, 3)
    products = 2 * bins + filterbank_channel_count * dct_coefficient_count
    each = Cost(bins + filterbank_channel_count + 2 * products, products, filterbank_channel_count)
    return each * (channels * slices)
