"""FLOPs formulas of Fourier transforms, audio ops and local response normalization against naive definitions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.flops import definitions_signals as definitions
from tests.core.flops.counting import Tally, normal, positive
from tests.core.flops.held import EXAMPLES, SMALL, Cases, Node, cost, hold, holds

HELD: Cases = {}
RANKS = {"": 1, "2D": 2, "3D": 3}


def placeholder(dtype, *shape):
    return lambda g: g.Placeholder(dtype=dtype, shape=shape)


def transform(shape, rank, tally):
    """The complex transform, which is what numpy's is."""
    pair = normal(tally, *shape), normal(tally, *shape, seed=1)
    want = np.fft.fftn(np.asarray(pair[0]) + 1j * np.asarray(pair[1]), axes=range(-rank, 0))
    re, im = definitions.transformed_nd(pair, rank)
    np.testing.assert_allclose(np.asarray(re) + 1j * np.asarray(im), want, atol=1e-8)


def complex_transform(op, rank):
    @holds(HELD, op)
    def case(draw, tally):
        shape = draw(st.integers(1, 3)), *[2 ** draw(st.integers(0, 3)) for _ in range(rank)]
        transform(shape, rank, tally)
        return Node([placeholder("complex64", *shape)])


def real_transform(op, rank):
    """Half of what the complex transform takes."""

    @holds(HELD, op)
    def case(draw, tally):
        shape = draw(st.integers(1, 3)), *[2 ** draw(st.integers(0, 3)) for _ in range(rank)]
        whole = Tally()
        transform(shape, rank, whole)
        tally.flops += math.ceil(whole.flops / shape[0] / 2) * shape[0]
        half = *shape[:-1], shape[-1] // 2 + 1
        x = shape if op.startswith("R") else placeholder("complex64", *half)
        return Node([x, np.int32(shape[1:])])


for _suffix, _rank in RANKS.items():
    complex_transform(f"FFT{_suffix}", _rank)
    complex_transform(f"IFFT{_suffix}", _rank)
    real_transform(f"RFFT{_suffix}", _rank)
    real_transform(f"IRFFT{_suffix}", _rank)


@pytest.mark.parametrize("n", [4, 8, 32, 256])
def test_half_of_the_complex_transform_lies_between_two_ways_for_real_numbers(n):
    """Radix 2 with and without the products that change nothing."""
    flops = cost("RFFT", [(n,), np.int32([n])]).flops
    tallies = [Tally(), Tally()]
    for skips, tally in enumerate(tallies):
        x = normal(tally, n)
        re, im = definitions.transformed_real(x, bool(skips))
        np.testing.assert_allclose(np.asarray(re) + 1j * np.asarray(im), np.fft.rfft(np.asarray(x)), atol=1e-9)
    assert tallies[1].flops <= flops <= tallies[0].flops


@pytest.mark.parametrize("n", [3, 5, 6, 7, 12, 100])
def test_lengths_that_are_no_power_of_two_lie_between_those_that_are(n):
    below = 2 ** (n.bit_length() - 1)
    low, flops, high = (cost("FFT", [placeholder("complex64", size)]).flops for size in (below, n, 2 * below))
    assert low < flops < high
    assert flops == math.ceil(5 * n * math.log2(n))


@holds(HELD, "AudioSpectrogram")
def audio_spectrogram(draw, tally):
    window, stride, slices, channels = draw(st.integers(2, 9)), draw(SMALL), draw(SMALL), draw(st.integers(1, 2))
    squared, length = draw(st.booleans()), 2 ** math.ceil(math.log2(window))
    for _ in range(slices * channels):
        _ = normal(tally, window) * np.ones(window)
        whole = Tally()
        transform((1, length), 1, whole)
        tally.flops += whole.flops // 2
        powers = definitions.squared_magnitudes((normal(tally, length // 2 + 1), normal(tally, length // 2 + 1)))
        _ = powers if squared else np.sqrt(powers)
    attrs = {"window_size": window, "stride": stride, "magnitude_squared": squared}
    return Node([(window + stride * (slices - 1), channels)], attrs)


@holds(HELD, "Mfcc")
def mfcc(draw, tally):
    channels, slices, bins, filters = draw(st.integers(1, 2)), draw(SMALL), draw(st.integers(2, 6)), draw(SMALL)
    coefficients = draw(st.integers(1, filters))
    for _ in range(channels * slices):
        definitions.cepstrum(positive(tally, bins), filters, coefficients)
    attrs = {"filterbank_channel_count": filters, "dct_coefficient_count": coefficients}
    return Node([(channels, slices, bins), np.int32(8000)], attrs, tally.products)


@holds(HELD, "LRN")
def lrn(draw, tally):
    x, radius = positive(tally, *[draw(SMALL) for _ in range(4)]), draw(st.integers(0, 3))
    _ = x * np.power(definitions.local_norm(x, radius), -0.5)
    return Node([x.shape], {"depth_radius": radius}, 0)


@holds(HELD, "LRNGrad")
def lrn_grad(draw, tally):
    x, radius = positive(tally, *[draw(SMALL) for _ in range(4)]), draw(st.integers(0, 3))
    definitions.local_response_gradient(positive(tally, *x.shape), x, positive(tally, *x.shape), radius)
    return Node([x.shape] * 3, {"depth_radius": radius}, 0)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("op", HELD)
@EXAMPLES
@given(data=st.data())
def test_formula(op, data):
    hold(op, HELD[op], data.draw)
