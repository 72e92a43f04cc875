"""Image ops written out naively, to be run on counted arrays: resizing, crops, colours, transforms, suppression, morphology.

Where an axis is resampled, positions and weights are made once for the whole axis: they are not counted.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from tests.core.flops.counting import counted
from tests.core.flops.definitions import Windows

Array = Any
Taps = list[tuple[Sequence[int], Sequence[float]]]
"""For each tap the place that each output position reads, and its weight."""


def chosen(condition: Any, x: Any, y: Any, like: Array) -> Array:
    """A choice between values, which is free."""
    return counted(np.where(*map(np.asarray, (condition, x, y))), like.tally)


# ---- resampling


def taps(size: int, outputs: int, count: int) -> Taps:
    """`count` neighbouring places of each output position, with any weights."""
    first = [i * size // outputs - (count - 1) // 2 for i in range(outputs)]
    return [([min(max(at + j, 0), size - 1) for at in first], [0.25 + j] * outputs) for j in range(count)]


def interpolated(x: Array, y: Array, share: float) -> Array:
    return x + (y - x) * share


def bilinear(x: Array, height: int, width: int) -> Array:
    """Two interpolations along the row, one along the column."""
    (top, _), (bottom, _) = taps(x.shape[1], height, 2)
    (left, _), (right, _) = taps(x.shape[2], width, 2)
    above = interpolated(x[:, top][:, :, left], x[:, top][:, :, right], 0.25)
    below = interpolated(x[:, bottom][:, :, left], x[:, bottom][:, :, right], 0.25)
    return interpolated(above, below, 0.75)


def bicubic(x: Array, height: int, width: int) -> Array:
    """Four weighted sums of four along the rows, one of these along the column."""
    columns = taps(x.shape[2], width, 4)
    rows = taps(x.shape[1], height, 4)
    sums = [weighted([(x[:, at][:, :, places], weights[0]) for places, weights in columns]) for at, _ in rows]
    return weighted([(part, weights[0]) for part, (_, weights) in zip(sums, rows)])


def weighted(parts: Sequence[tuple[Array, float]]) -> Array:
    total: Any = 0.0
    for x, weight in parts:
        total = total + x * weight
    return total


def area(x: Array, height: int, width: int, align_corners: bool) -> None:
    """The weighted sum of what each output element covers."""
    rows, columns = covered(x.shape[1], height, align_corners), covered(x.shape[2], width, align_corners)
    for row, column in itertools.product(rows, columns):
        weighted([(x[:, min(i, x.shape[1] - 1), min(j, x.shape[2] - 1)], 0.5) for i in row for j in column])


def covered(size: int, outputs: int, align_corners: bool) -> list[range]:
    scale = Fraction(size - 1, outputs - 1) if align_corners and outputs > 1 else Fraction(size, outputs)
    return [range(math.floor(i * scale), math.ceil((i + 1) * scale)) for i in range(outputs)]


def spread(grad: Array, shape: Sequence[int], rows: Taps, columns: Taps) -> None:
    """Each element times its weight, added to each place that it was made from."""
    dx = counted(np.zeros(shape), grad.tally)
    for (down, row_weights), (across, column_weights) in itertools.product(rows, columns):
        for y, x in np.ndindex(*grad.shape[1:3]):
            at = (slice(None), down[y], across[x])
            dx[at] = dx[at] + grad[:, y, x] * (row_weights[y] * column_weights[x])


def spread_nearest(grad: Array, shape: Sequence[int]) -> None:
    """Each element added to the one place that it was taken from."""
    dx = counted(np.zeros(shape), grad.tally)
    ((down, _),) = taps(shape[1], grad.shape[1], 1)
    ((across, _),) = taps(shape[2], grad.shape[2], 1)
    for y, x in np.ndindex(*grad.shape[1:3]):
        dx[:, down[y], across[x]] = dx[:, down[y], across[x]] + grad[:, y, x]


def resampled(x: Array, height: int, width: int, spans: Sequence[int]) -> Array:
    """Rows, then columns: for each position a weighted sum of its span."""
    x = weighted([(x[:, places], weights[0]) for places, weights in taps(x.shape[1], height, spans[0])])
    return weighted([(x[:, :, places], weights[0]) for places, weights in taps(x.shape[2], width, spans[1])])


def resampled_gradient(grad: Array, shape: Sequence[int], spans: Sequence[int]) -> None:
    """The adjoint of `resampled`: columns, then rows."""
    for axis, span in ((2, spans[1]), (1, spans[0])):
        dx = counted(np.zeros([*grad.shape[:axis], shape[axis], *grad.shape[axis + 1 :]]), grad.tally)
        for places, weights in taps(shape[axis], grad.shape[axis], span):
            for i, (place, weight) in enumerate(zip(places, weights)):
                source, target = (slice(None),) * axis + (i,), (slice(None),) * axis + (place,)
                dx[target] = dx[target] + grad[source] * weight
        grad = dx


def crop_boxes_gradient(grad: Array, x: Array) -> None:
    """x: one image (N, H, W, C) of which each element of `grad` has four neighbours."""
    corners = [x[: len(grad), i : i + grad.shape[1], j : j + grad.shape[2]] for i in range(2) for j in range(2)]
    top_left, top_right, bottom_left, bottom_right = corners
    by_row = (0.25 * (bottom_left - top_left) + 0.75 * (bottom_right - top_right)) * grad
    by_column = (0.25 * (top_right - top_left) + 0.75 * (bottom_right - bottom_left)) * grad
    edges = [counted(np.zeros(len(grad)), grad.tally) for _ in range(4)]
    for y, x_, c in np.ndindex(*grad.shape[1:]):
        for edge, slope in zip(edges, (by_row, by_column, by_row, by_column)):
            edge[:] = edge + slope[:, y, x_, c] * 0.5


def projective(x: Array, transforms: Array, height: int, width: int, is_bilinear: bool) -> None:
    """x (N, H, W, C), transforms (N, 8): each pixel's position, its four neighbours, and their mean weighted by distance."""
    for image, a in zip(x, transforms):
        for row, column in np.ndindex(height, width):
            a0, a1, a2, b0, b1, b2, c0, c1 = (a[i : i + 1] for i in range(8))
            scale = c0 * column + c1 * row + 1.0
            at = (b0 * column + b1 * row + b2) / scale, (a0 * column + a1 * row + a2) / scale
            if not is_bilinear:
                _ = [np.rint(v) for v in at]
                continue
            down, across = (v - np.floor(v) for v in at)
            up, back = 1 - down, 1 - across
            corners = [image[min(i, image.shape[0] - 1), min(j, image.shape[1] - 1)] for i in range(2) for j in range(2)]
            _ = up * (back * corners[0] + across * corners[1]) + down * (back * corners[2] + across * corners[3])


# ---- colours: arrays (pixels, 3)


def extremes(x: Array) -> tuple[Array, Array, Array]:
    """The largest and the smallest channel, and their difference."""
    largest, smallest = np.maximum.reduce(x, -1), np.minimum.reduce(x, -1)
    return largest, smallest, largest - smallest


def hue_by_sector(x: Array, largest: Array, norm: Any, offsets: Sequence[float]) -> Array:
    """The difference of the two other channels over the spread, from the sector of the largest channel."""
    r, g, b = x.T
    hues = norm(g - b), norm(b - r) + offsets[0], norm(r - g) + offsets[1]
    return chosen(r == largest, hues[0], chosen(g == largest, hues[1], hues[2], x), x)


def rgb_to_hsv(x: Array) -> list[Array]:
    largest, _, spread = extremes(x)
    saturation = chosen(largest > 0, spread / largest, 0.0, x)
    hue = chosen(spread > 0, hue_by_sector(x, largest, lambda d: d / spread, (2.0, 4.0)), 0.0, x) / 6.0
    return [chosen(hue < 0, hue + 1.0, hue, x), saturation, largest]


def adjust_hue(x: Array, sixths: float) -> list[Array]:
    """The order of the channels, and the sector, follow from five comparisons."""
    r, g, b = x.T
    below, between, above, left, right = (np.asarray(c) for c in (r < g, b < r, b > g, b < g, b > r))
    sector = np.where(below, np.where(between, 1, np.where(above, 3, 2)), np.where(left, 0, np.where(right, 4, 5)))
    smallest, middle, largest = (counted(part, x.tally) for part in np.sort(np.asarray(x), -1).T)
    spread = largest - smallest
    ratio = (middle - smallest) / spread
    hue = chosen(spread == 0, 0.0, sector + chosen(sector % 2 == 0, ratio, 1.0 - ratio, x), x) + sixths
    hue = chosen(hue < 0, hue + 6.0, hue, x)
    hue = chosen(hue >= 6.0, hue - 6.0, hue, x)
    sector = np.trunc(np.asarray(hue)).astype(int)
    ratio = hue - sector
    middle = smallest + chosen(sector % 2 == 0, ratio, 1.0 - ratio, x) * spread
    return arranged(sector, largest, middle, smallest)


def arranged(sector: Any, largest: Any, middle: Any, smallest: Any) -> list[Array]:
    """Red, green and blue: which is which in the sectors from red by yellow, green, cyan, blue and magenta."""
    orders = ["lmssml", "mllmss", "ssmllm"]
    values = {"l": largest, "m": middle, "s": smallest}
    return [np.choose(sector, [np.asarray(values[letter]) for letter in order]) for order in orders]


def adjust_saturation(x: Array, scale: float) -> list[Array]:
    largest, _, spread = extremes(x)
    norm = 1.0 / (6.0 * spread)
    hue = hue_by_sector(x, largest, lambda d: norm * d, (1 / 3, 2 / 3))
    hue = chosen(spread <= 0, 0.0, hue, x)
    hue = chosen(hue < 0, hue + 1.0, hue, x)
    saturation = np.minimum(np.maximum(chosen(largest > 0, spread / largest, 0.0, x) * scale, 0.0), 1.0)
    chroma = saturation * largest
    base, sixths = largest - chroma, hue * 6.0
    middle = chroma * (1.0 - abs(np.remainder(sixths, 2.0) - 1.0))
    is_full, sector = sixths >= 6.0, np.minimum(np.trunc(np.asarray(sixths)).astype(int), 5)
    return [chosen(is_full, 0.0, part, x) + base for part in arranged(sector, chroma, middle, np.zeros(len(x)))]


# ---- suppression


def corners(boxes: Array) -> tuple[Array, Array, Array]:
    """(low, high, area) of boxes whose corners come in any order."""
    low, high = np.minimum(boxes[:, :2], boxes[:, 2:]), np.maximum(boxes[:, :2], boxes[:, 2:])
    sides = high - low
    return low, high, sides[:, 0] * sides[:, 1]


def overlap(result: tuple[Array, Array, Array], i: int, j: int) -> Array:
    """Intersection over union of two boxes."""
    (low_i, high_i, area_i), (low_j, high_j, area_j) = ([part[k : k + 1] for part in result] for k in (i, j))
    sides = np.maximum(np.minimum(high_i, high_j) - np.maximum(low_i, low_j), 0.0)
    shared = sides[:, 0] * sides[:, 1]
    return shared / (area_i + area_j - shared)


def suppress(boxes: Array, scores: Array, threshold: float) -> list[int]:
    """The boxes kept; those in order of falling scores that overlap none kept before."""
    result, order = corners(boxes), np.argsort(-np.asarray(scores))
    _ = scores > -1e9
    kept: list[int] = []
    for i in order.tolist():
        if not any((overlap(result, i, j) > threshold).item() for j in kept):
            kept.append(i)
    return kept


def suppress_softly(boxes: Array, scores: Array) -> None:
    """Each box kept lowers the scores of all that are left (Bodla et al. 2017)."""
    result, left = corners(boxes), list(range(len(boxes)))
    scores = scores.copy()
    _ = scores > -1e9
    while left:
        best = max(left, key=lambda i: scores[i].item())
        left.remove(best)
        for i in left:
            shared = overlap(result, best, i)
            scores[i : i + 1] = scores[i : i + 1] * np.exp(-0.5 * shared * shared)
            _ = scores[i : i + 1] > -1e9


def suppress_by_overlaps(overlaps: Array, scores: Array, threshold: float) -> None:
    _ = scores > -1e9
    kept: list[int] = []
    for i in np.argsort(-np.asarray(scores)).tolist():
        if not any((overlaps[i : i + 1, j] > threshold).item() for j in kept):
            kept.append(i)


# ---- windows


def dilate(x: Array, w: Array, windows: Windows) -> Array:
    """The largest sum of a window and the filter."""
    padded, best = windows.padded(x, -1e9), None
    for place, under in windows.places():
        value = padded[(slice(None), *under)] + w[place]
        best = value if best is None else np.maximum(best, value)
    return best


def pool_regions(x: Array, regions: Sequence[Sequence[range]], ufunc: Any, is_mean: bool) -> None:
    """The maximum or mean of each region of rows and columns."""
    for rows, columns in itertools.product(*regions):
        part = ufunc.reduce(x[:, rows.start : rows.stop, columns.start : columns.stop], (1, 2))
        _ = part / float(len(rows) * len(columns)) if is_mean else part


def spread_regions(grad: Array, regions: Sequence[Sequence[range]], shape: Sequence[int]) -> None:
    """Each region's gradient in equal parts."""
    dx = counted(np.zeros(shape), grad.tally)
    for (i, rows), (j, columns) in itertools.product(*map(enumerate, regions)):
        at = (slice(None), slice(rows.start, rows.stop), slice(columns.start, columns.stop))
        dx[at] = dx[at] + (grad[:, i, j] / float(len(rows) * len(columns)))[:, None, None]
