"""Ops written out naively, to be run on counted arrays: what each formula is held against.

Sliding windows follow one convention: the input is padded first and every place of every window counts, as in published
counts and in the backward pass, which is the adjoint of just these multiply-adds.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from tests.core.flops.counting import counted

Array = Any


def padding(size: int, window: int, stride: int, dilation: int, mode: str) -> tuple[int, int, int]:
    """(outputs, zeros before, zeros after) of one dimension."""
    reach = (window - 1) * dilation + 1
    if mode == "VALID":
        return max(-(-(size - reach + 1) // stride), 0), 0, 0
    outputs = -(-size // stride)
    missing = max((outputs - 1) * stride + reach - size, 0)
    return outputs, missing // 2, missing - missing // 2


class Windows:
    """The windows over an array (N, spatial..., C): for each place in the window the slice of the padded input under it."""

    def __init__(
        self, sizes: Sequence[int], window: Sequence[int], strides: Sequence[int], dilations: Sequence[int], mode: str
    ) -> None:
        results = [padding(*arguments, mode) for arguments in zip(sizes, window, strides, dilations)]
        self.outputs = [outputs for outputs, _, _ in results]
        self.pads = [(0, 0), *[(before, after) for _, before, after in results], (0, 0)]
        self.padded_sizes = [size + before + after for size, (_, before, after) in zip(sizes, results)]
        self.window, self.strides, self.dilations = window, strides, dilations

    def padded(self, x: Array, fill: float = 0.0) -> Array:
        return counted(np.pad(np.asarray(x), self.pads, constant_values=fill), x.tally)

    def places(self) -> Iterator[tuple[tuple[int, ...], tuple[slice, ...]]]:
        for place in itertools.product(*map(range, self.window)):
            starts = [i * dilation for i, dilation in zip(place, self.dilations)]
            ends = [start + (n - 1) * stride + 1 for start, n, stride in zip(starts, self.outputs, self.strides)]
            yield place, tuple(map(slice, starts, ends, self.strides))


def convolve(x: Array, w: Array, windows: Windows, groups: int) -> Array:
    """x (N, spatial..., C), w (window..., C / groups, F): (N, outputs..., F)."""
    padded, depth, filters = windows.padded(x), w.shape[-2], w.shape[-1] // groups
    parts = []
    for group in range(groups):
        total: Any = np.zeros((x.shape[0], *windows.outputs, filters))
        for place, under in windows.places():
            for c in range(depth):
                values = padded[(slice(None), *under, group * depth + c, None)]
                total = total + values * w[(*place, c, slice(group * filters, (group + 1) * filters))]
        parts.append(total)
    return np.concatenate(parts, -1)


def convolve_input_gradient(w: Array, dy: Array, windows: Windows, groups: int) -> None:
    """Each multiply-add of `convolve` sends its weight times the gradient to the element it read."""
    depth, filters = w.shape[-2], w.shape[-1] // groups
    dx = counted(np.zeros((dy.shape[0], *windows.padded_sizes, depth * groups)), w.tally)
    for group, (place, under), c, f in itertools.product(range(groups), list(windows.places()), range(depth), range(filters)):
        target = (slice(None), *under, group * depth + c)
        dx[target] = dx[target] + dy[..., group * filters + f] * w[(*place, c, group * filters + f)]


def convolve_filter_gradient(x: Array, dy: Array, shape: Sequence[int], windows: Windows, groups: int) -> None:
    """Each multiply-add of `convolve` sends the element it read times the gradient to its weight."""
    padded, depth, filters = windows.padded(x), shape[-2], shape[-1] // groups
    for group, (_, under), c, f in itertools.product(range(groups), list(windows.places()), range(depth), range(filters)):
        values = padded[(slice(None), *under, group * depth + c)]
        total: Any = counted(0.0, x.tally)
        for read, sent in zip(values.reshape(-1), dy[..., group * filters + f].reshape(-1)):
            total = total + counted(read, x.tally) * sent
    assert tuple(shape[:-2]) == tuple(windows.window)


def max_pool(x: Array, windows: Windows) -> Array:
    padded, places = windows.padded(x, -math.inf), list(windows.places())
    best = padded[(slice(None), *places[0][1])]
    for _, under in places[1:]:
        best = np.maximum(best, padded[(slice(None), *under)])
    return best


def avg_pool(x: Array, windows: Windows) -> Array:
    padded, places = windows.padded(x), list(windows.places())
    total = padded[(slice(None), *places[0][1])]
    for _, under in places[1:]:
        total = total + padded[(slice(None), *under)]
    return total / len(places)


def max_pool_gradient(x: Array, dy: Array, windows: Windows) -> None:
    """The maxima are searched again; then one addition for each window."""
    max_pool(x, windows)
    _ = dy + np.zeros(dy.shape)


def avg_pool_gradient(dy: Array, windows: Windows) -> None:
    share = dy / math.prod(windows.window)
    dx = counted(np.zeros((dy.shape[0], *windows.padded_sizes, dy.shape[-1])), dy.tally)
    for _, under in windows.places():
        dx[(slice(None), *under)] = dx[(slice(None), *under)] + share


def softmax(x: Array) -> Array:
    shifted = x - np.maximum.reduce(x, -1, keepdims=True)
    e = np.exp(shifted)
    return e / np.add.reduce(e, -1, keepdims=True)


def log_softmax(x: Array) -> Array:
    shifted = x - np.maximum.reduce(x, -1, keepdims=True)
    return shifted - np.log(np.add.reduce(np.exp(shifted), -1, keepdims=True))


def cross_entropy(x: Array, labels: Array) -> None:
    """labels: probabilities. The exponentials serve loss and gradient both."""
    shifted = x - np.maximum.reduce(x, -1, keepdims=True)
    e = np.exp(shifted)
    total = np.add.reduce(e, -1, keepdims=True)
    np.add.reduce(labels * (np.log(total) - shifted), -1)
    _ = e / total - labels


def sparse_cross_entropy(x: Array, labels: np.ndarray[Any, Any]) -> None:
    """labels: classes."""
    shifted = x - np.maximum.reduce(x, -1, keepdims=True)
    e = np.exp(shifted)
    total = np.add.reduce(e, -1, keepdims=True)
    rows = np.arange(len(labels))
    _ = np.log(total)[:, 0] - shifted[rows, labels]
    gradient = e / total
    gradient[rows, labels] = gradient[rows, labels] - 1.0


def batch_norm(x: Array, scale: Array, offset: Array, mean: Array, variance: Array) -> None:
    """Inference: folded to one multiply-add an element."""
    factor = scale / np.sqrt(variance + 1e-3)
    _ = x * factor + (offset - mean * factor)


def batch_norm_training(x: Array, scale: Array, offset: Array) -> None:
    axes, count = tuple(range(x.ndim - 1)), x.size // x.shape[-1]
    centered = x - np.add.reduce(x, axes) / count
    variance = np.add.reduce(centered * centered, axes) / count
    factor = scale / np.sqrt(variance + 1e-3)
    _ = centered * factor + offset, variance * (count / (count - 1))


def batch_norm_gradient(dy: Array, x: Array, scale: Array, mean: Array, variance: Array, is_training: bool) -> None:
    axes, count = tuple(range(x.ndim - 1)), x.size // x.shape[-1]
    inverse = 1 / np.sqrt(variance + 1e-3)
    centered = x - mean
    doffset, projection = np.add.reduce(dy, axes), np.add.reduce(dy * centered, axes)
    _ = projection * inverse
    if is_training:
        slope = inverse * inverse * (projection / count)
        _ = (dy - doffset / count - centered * slope) * (scale * inverse)
    else:
        _ = dy * (scale * inverse)


def einsum(inputs: Sequence[Array], subscripts: Sequence[str], out: str) -> None:
    """Labels that only one input has are summed first; then products are formed and summed."""
    kept = []
    for i, (x, labels) in enumerate(zip(inputs, subscripts)):
        others = {label for j, other in enumerate(subscripts) if j != i for label in other} | set(out)
        lone = tuple(i for i, label in enumerate(labels) if label not in others)
        kept.append((np.add.reduce(x, lone) if lone else x, [label for label in labels if label in others]))
    if len(kept) == 1:
        return
    (x, first), (y, second) = kept
    sizes = dict(zip([*first, *second], [*x.shape, *y.shape]))
    inner = [label for label in sizes if label not in out]
    for _ in itertools.product(*(range(sizes[label]) for label in out)):
        total: Any = counted(0.0, x.tally)
        for _ in itertools.product(*(range(sizes[label]) for label in inner)):
            product = counted(1.5, x.tally) * 2.0
            total = total + product if inner else product
