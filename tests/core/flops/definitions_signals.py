"""Transforms of signals written out naively, to be run on counted arrays. Complex numbers are pairs of real arrays."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tests.core.flops.counting import Tally, counted

Array = Any
Pair = tuple[Array, Array]


def turned(x: Pair, angles: Any) -> Pair:
    """Complex products with numbers on the unit circle: six operations each."""
    cosines, sines = np.cos(angles), np.sin(angles)
    return x[0] * cosines - x[1] * sines, x[0] * sines + x[1] * cosines


def joined(parts: Sequence[Array], tally: Tally) -> Array:
    return counted(np.concatenate([np.asarray(part) for part in parts]), tally)


def transformed(x: Pair) -> Pair:
    """The Fourier transform along the first dimension, a power of two, by radix 2 (Cooley and Tukey 1965)."""
    n, tally = len(x[0]), x[0].tally
    if n == 1:
        return x
    even, odd = (transformed((x[0][i::2], x[1][i::2])) for i in range(2))
    angles = (-2 * math.pi / n * np.arange(n // 2)).reshape(-1, *[1] * (x[0].ndim - 1))
    odd = turned(odd, angles)
    sums, differences = [e + o for e, o in zip(even, odd)], [e - o for e, o in zip(even, odd)]
    return joined([sums[0], differences[0]], tally), joined([sums[1], differences[1]], tally)


def transformed_nd(x: Pair, rank: int) -> Pair:
    """The transform of the last `rank` dimensions, one after the other."""
    for axis in range(-rank, 0):
        re, im = transformed((np.moveaxis(x[0], axis, 0), np.moveaxis(x[1], axis, 0)))
        x = np.moveaxis(re, 0, axis), np.moveaxis(im, 0, axis)
    return x


def transformed_real(x: Array, skips: bool) -> Pair:
    """n // 2 + 1 bins of real numbers, by radix 2 of which each block computes one bin of a conjugate pair.

    `skips`: products with 1 and i, and sums with imaginary parts that are zero, are left out.
    """
    n, tally = len(x), x.tally
    if n == 1:
        return x, counted(np.zeros(1), tally)
    even, odd = (transformed_real(x[i::2], skips) for i in range(2))
    re, im = counted(np.zeros(n // 2 + 1), tally), counted(np.zeros(n // 2 + 1), tally)
    for k in range(n // 4 + 1):
        (e_re, e_im), (o_re, o_im) = (tuple(part[k : k + 1] for part in pair) for pair in (even, odd))
        here, mirrored = slice(k, k + 1), slice(n // 2 - k, n // 2 - k + 1)
        if skips and k == 0:
            re[here], re[mirrored] = e_re + o_re, e_re - o_re
        elif skips and 4 * k == n:
            re[here], im[here] = e_re, -np.asarray(o_re)
        else:
            t_re, t_im = turned((o_re, o_im), -2 * math.pi * k / n)
            re[here], im[here] = e_re + t_re, e_im + t_im
            re[mirrored], im[mirrored] = e_re - t_re, t_im - e_im
    return re, im


def squared_magnitudes(x: Pair) -> Array:
    return x[0] * x[0] + x[1] * x[1]


def cepstrum(powers: Array, filters: int, coefficients: int) -> Array:
    """One slice: each bin goes to two filters, whose logarithms are transformed."""
    sums = counted(np.zeros(filters), powers.tally)
    for i in range(len(powers)):
        root = np.sqrt(powers[i : i + 1])
        for channel in (i % filters, (i + 1) % filters):
            at = slice(channel, channel + 1)
            sums[at] = sums[at] + root * 0.5
    logarithms = np.log(np.maximum(sums, 1e-12))
    result: Any = 0.0
    for i in range(filters):
        result = result + logarithms[i : i + 1] * np.ones(coefficients)
    return result


def window_sums(x: Array, radius: int) -> Array:
    """Sums over 2 * radius + 1 channels, those outside included."""
    channels = x.shape[-1]
    padded = counted(np.pad(np.asarray(x), [(0, 0)] * (x.ndim - 1) + [(radius, radius)]), x.tally)
    total = padded[..., :channels]
    for i in range(1, 2 * radius + 1):
        total = total + padded[..., i : i + channels]
    return total


def local_norm(x: Array, radius: int) -> Array:
    return window_sums(x * x, radius) * 0.5 + 1.0


def local_response_gradient(grad: Array, x: Array, y: Array, radius: int) -> Array:
    norm = local_norm(x, radius)
    through = window_sums(grad * y / norm, radius)
    return grad * np.power(norm, -0.5) - x * 0.25 * through
