"""Images in ONNX: resized, cropped, recoloured."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...types import dtypes
from ..shared.onnx_lowerings import iota


def resized(g: Any, images: Any, size: Any, mode: str, align_corners: bool, half_pixel_centers: bool, **attrs: Any) -> Any:
    """(n, h, w, c) of other sizes; where half_pixel_centers is false, pixels stand at their corners."""
    how = "align_corners" if align_corners else "half_pixel" if half_pixel_centers else "asymmetric"
    sizes = g.joined(
        g.dim(images, 0), g.dim(images, 3), g.vector(g.reshape(size, 2))
    )  # ONNX needs to know that there are four
    attrs = {"mode": mode, "coordinate_transformation_mode": how, **attrs}
    return g.channels_last(g.Resize(g.channels_first(images), None, None, sizes, **attrs), 4)


def bilinear(g: Any, images: Any, size: Any, *, align_corners: bool, half_pixel_centers: bool) -> Any:
    return resized(g, g.cast(images, dtypes.float32), size, "linear", align_corners, half_pixel_centers)


def nearest(g: Any, images: Any, size: Any, *, align_corners: bool, half_pixel_centers: bool) -> Any:
    rounding = "round_prefer_ceil" if align_corners or half_pixel_centers else "floor"
    return resized(g, images, size, "nearest", align_corners, half_pixel_centers, nearest_mode=rounding)


def crop_and_resize(
    g: Any, image: Any, boxes: Any, box_ind: Any, crop_size: Any, *, method: str, extrapolation_value: float
) -> Any:
    """Crop boxes (y1, x1, y2, x2), in parts of an image, and resize them to a common size."""
    image = g.cast(image, dtypes.float32)
    sizes = g.vector(crop_size)
    ys, inside_y = _positions(g, boxes, 0, g.dim(image, 1), g.slice(sizes, 0, 1))
    xs, inside_x = _positions(g, boxes, 1, g.dim(image, 2), g.slice(sizes, 1, 2))
    rows = g.reshape(image, -1, g.dim(image, 3))
    first = g.Mul(g.reshape(g.vector(box_ind), -1, 1, 1), g.Mul(g.dim(image, 1), g.dim(image, 2)))

    def at(y: Any, x: Any) -> Any:
        """Return the pixels at rows (boxes, h) and columns (boxes, w), as (boxes, h, w, c)."""
        y, x = (g.cast(g.Max(place, 0), dtypes.int64) for place in (y, x))
        y, x = g.Min(y, g.Sub(g.dim(image, 1), 1)), g.Min(x, g.Sub(g.dim(image, 2), 1))
        return g.Gather(rows, g.Add(first, g.Add(g.Mul(g.unsqueeze(y, 2), g.dim(image, 2)), g.unsqueeze(x, 1))), axis=0)

    if method == "nearest":
        pixels = at(g.Floor(g.Add(ys, 0.5)), g.Floor(g.Add(xs, 0.5)))
    else:
        part_y, part_x = (g.Sub(place, g.Floor(place)) for place in (ys, xs))
        part_y, part_x = g.unsqueeze(part_y, 2, 3), g.unsqueeze(part_x, 1, 3)
        top, bottom = (_between(g, at(y, g.Floor(xs)), at(y, g.Ceil(xs)), part_x) for y in (g.Floor(ys), g.Ceil(ys)))
        pixels = _between(g, top, bottom, part_y)
    inside = g.unsqueeze(g.And(g.unsqueeze(inside_y, 2), g.unsqueeze(inside_x, 1)), 3)
    return g.Where(inside, pixels, extrapolation_value)


def _between(g: Any, a: Any, b: Any, part: Any) -> Any:
    return g.Add(a, g.Mul(g.Sub(b, a), part))


def _positions(g: Any, boxes: Any, axis: int, size: Any, count: Any) -> tuple[Any, Any]:
    """Return the samples of each box along an axis, (boxes, count), and a mask of samples inside; a single sample lies in
    the middle.
    """
    last = g.cast(g.Sub(size, 1), dtypes.float32)
    start, end = (g.Mul(g.slice(boxes, place, place + 1, 1), last) for place in (axis, axis + 2))
    steps = g.cast(iota(g, count), dtypes.float32)
    apart = g.Div(g.Sub(end, start), g.cast(g.Max(g.Sub(count, 1), 1), dtypes.float32))
    middle = g.Expand(g.Mul(g.Add(start, end), 0.5), g.joined(1, count))
    places = g.Where(g.Equal(count, 1), middle, g.Add(start, g.Mul(steps, apart)))
    return places, g.And(g.GreaterOrEqual(places, 0), g.LessOrEqual(places, last))


def suppressed(
    g: Any, boxes: Any, scores: Any, most: Any, overlap: Any, lowest: Any = None, pads: bool = False, sigma: Any = None
) -> tuple[Any, Any, Any]:
    """Return the numbers of the boxes kept, their scores, and how many they are; where `pads`, `most` numbers, zero behind
    them.
    """
    if sigma is not None and (sigma.array is None or sigma.array.any()):
        g.refuse("ONNX lowers no scores")
    count = g.vector(most)
    thresholds = [g.reshape(g.cast(value, dtypes.float32), [1]) for value in (overlap, lowest) if value is not None]
    selected = g.NonMaxSuppression(
        g.unsqueeze(g.cast(boxes, dtypes.float32), 0), g.unsqueeze(g.cast(scores, dtypes.float32), 0, 1), count, *thresholds
    )
    numbers = g.reshape(g.slice(selected, 2, 3, 1), [-1])
    valid = g.cast(g.Size(numbers), dtypes.int32)
    selected_scores = g.Gather(scores, numbers)
    if pads:
        missing = g.joined(0, g.Sub(count, g.vector(valid)))
        numbers, selected_scores = g.Pad(numbers, missing), g.Pad(selected_scores, missing)
    return g.cast(numbers, dtypes.int32), selected_scores, valid


def _channels(g: Any, images: Any) -> list[Any]:
    return [g.slice(images, i, i + 1, g.rank(images) - 1) for i in range(3)]


def to_hsv(g: Any, images: Any) -> Any:
    """Hue, saturation and value, each between 0 and 1, of red, green and blue."""
    red, green, blue = _channels(g, images)
    value = g.Max(g.Max(red, green), blue)
    spread = g.Sub(value, g.Min(g.Min(red, green), blue))
    sixth = g.Div(g.like(1, images), g.Mul(g.Where(g.Equal(spread, 0), 1, spread), 6))
    hue = g.Where(g.Equal(red, value), g.Mul(g.Sub(green, blue), sixth), g.Where(
        g.Equal(green, value), g.Add(g.Mul(g.Sub(blue, red), sixth), 2 / 6), g.Add(g.Mul(g.Sub(red, green), sixth), 4 / 6)
    ))  # fmt: skip
    hue = g.Where(g.Greater(spread, 0), g.Where(g.Less(hue, 0), g.Add(hue, 1), hue), 0)
    saturation = g.Where(g.Greater(value, 0), g.Div(spread, g.Where(g.Greater(value, 0), value, 1)), 0)
    return g.Concat(hue, saturation, value, axis=g.rank(images) - 1)


def to_rgb(g: Any, images: Any) -> Any:
    """Return the inverse of `to_hsv`."""
    hue, saturation, value = _channels(g, images)
    rest = g.Sub(1, saturation)
    parts = (g.Mul(g.Add(rest, g.Mul(saturation, share)), value) for share in _shares(g, g.Mul(hue, 6)))
    return g.Concat(*parts, axis=g.rank(images) - 1)


def saturation(g: Any, images: Any, scale: Any) -> Any:
    hue, old, value = _channels(g, to_hsv(g, images))
    new = g.Min(g.Max(g.Mul(old, g.cast(scale, images.dtype)), 0), 1)
    return to_rgb(g, g.Concat(hue, new, value, axis=g.rank(images) - 1))


def hue(g: Any, images: Any, delta: Any) -> Any:
    """Turn hues by parts of a turn: the smallest and the largest channel of each pixel keep their values."""
    dtype, images = images.dtype, g.cast(images, dtypes.float32)
    channels = _channels(g, images)
    smallest, largest = g.Min(*channels), g.Max(*channels)
    spread = g.Sub(largest, smallest)
    is_grey = g.Equal(spread, 0)
    sixths = _sixths(g, channels, largest, g.Where(is_grey, 1, spread))
    sixths = g.Add(g.Where(is_grey, 0, sixths), g.Mul(g.cast(delta, dtypes.float32), 6))
    sixths = g.Sub(sixths, g.Mul(g.Floor(g.Div(sixths, 6)), 6))
    sixths = g.Where(g.Less(sixths, 6), sixths, g.Sub(sixths, 6))
    parts = (g.Add(smallest, g.Mul(share, spread)) for share in _shares(g, sixths))
    return g.cast(g.Concat(*parts, axis=g.rank(images) - 1), dtype)


def _sixths(g: Any, channels: Sequence[Any], largest: Any, spread: Any) -> Any:
    """Return the hues in sixths of a turn, from -1 to 5, of channels with a largest value and a spread."""
    red, green, blue = channels
    ends = [g.Div(g.Sub(a, b), spread) for a, b in ((green, blue), (blue, red), (red, green))]
    others = g.Where(g.Equal(green, largest), g.Add(ends[1], 2), g.Add(ends[2], 4))
    return g.Where(g.Equal(red, largest), ends[0], others)


def _shares(g: Any, sixths: Any) -> list[Any]:
    """Return the shares of red, green and blue, from 0 to 1, in the pure colours of hues."""
    red = g.Sub(g.Abs(g.Sub(sixths, 3)), 1)
    ramps = (red, *(g.Sub(2, g.Abs(g.Sub(sixths, middle))) for middle in (2, 4)))
    return [g.Min(g.Max(ramp, 0), 1) for ramp in ramps]
