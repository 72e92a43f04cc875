"""Colours: contrast, hue, saturation, and conversion between RGB and HSV."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from ...building.gradbuilder import GradientBuilder, Gradients
from ...graph.graph import Node, Output
from ...numerics.half_precision import wide
from ...registry.registry import NOT_DIFFERENTIABLE, WITHOUT_GRADIENT, arrays, everywhere, gradient, kernel
from ...support.errors import FailedPreconditionError, InvalidArgumentError
from ...types.arrays import Array, Result
from ..shared.argument_checks import require_min_rank, require_shape, scalar
from ..shared.decompositions import gradient_by_parts
from ..shared.elementwise_tables import counted


def _check_colours(images: Array, rank: int, error: type[Any] = InvalidArgumentError) -> None:
    require_min_rank(images, rank, "images")
    channels = images.shape[-1]
    if isinstance(channels, int) and channels != 3:
        raise error(f"input must have 3 channels but input only has {channels} channels.")


_CHANNEL_OF: Final = np.array([[2, 2, 0, 0, 1, 1], [1, 0, 2, 1, 0, 2], [0, 1, 1, 2, 2, 0]])
"""The rows hold the smallest, the middle and the largest of the channels (0 red, 1 green, 2 blue) in each sixth of the
colour circle.
"""
_RANK_OF: Final = np.argsort(_CHANNEL_OF, axis=0)
"""The inverse of `_CHANNEL_OF`: the rank of red, green and blue in each sixth of the colour circle."""


_TILE: Final = 1 << 14
"""The number of pixels in a tile, whose temporary arrays fit in a cache."""


def _in_tiles(change: Callable[[Array], Array], images: Array) -> Array:
    """`change` of some pixels (n, 3) at a time."""
    pixels = images.reshape(-1, 3)
    result = np.empty_like(pixels)
    for start in range(0, len(pixels), _TILE):
        result[start : start + _TILE] = change(pixels[start : start + _TILE])
    return result.reshape(images.shape)


def _planes(images: Array) -> Array:
    """Red, green and blue (3, pixels), float32."""
    return np.ascontiguousarray(images.reshape(-1, 3).T, np.float32)


def _picked(planes: Array, table: Array, sector: Array) -> Array:
    """Return for each row of `table` (3, 6) and each pixel (n) the value of the plane named by the table for the pixel's
    sector.
    """
    # A gather from flat planes is one pass, in place of a choice among three planes for each of six sectors.
    places = table.take(sector, axis=1)
    places *= sector.size
    places += np.arange(sector.size)
    return planes.reshape(-1).take(places)


def _interleaved(planes: Array, like: Array) -> Array:
    """Planes (3, pixels) as images of the shape and dtype of others."""
    return planes.T.astype(like.dtype, "C").reshape(like.shape)


def _channels(images: Any) -> list[Any]:
    """Return the three channels (..., 1)."""
    return [images[..., i : i + 1] for i in range(3)]


def _sixths(xp: Any, channels: Sequence[Any], largest: Any, spread: Any) -> Any:
    """Return hues in sixths of a turn, -1 .. 5; 0 for grey."""
    r, g, b = channels
    # Grey has no hue: its quotients would be 0 / 0, and their NaN would reach derivatives even where another value is
    # chosen.
    safe = xp.where(spread > 0, spread, 1)
    hue = xp.where(r == largest, (g - b) / safe, xp.where(g == largest, (b - r) / safe + 2, (r - g) / safe + 4))
    return xp.where(spread > 0, hue, 0)


def _shares(xp: Any, sixths: Any) -> Any:
    """Return the shares (..., 3) of red, green and blue, 0 .. 1, in the pure colours of hues (..., 1)."""
    # Red is full around 0 and 6, green around 2, blue around 4; each falls to 0 within two sixths.
    ramps = (abs(sixths - 3) - 1, 2 - abs(sixths - 2), 2 - abs(sixths - 4))
    return xp.clip(xp.concatenate(ramps, -1), 0, 1)


def _rgb_to_hsv(xp: Any, images: Any) -> Any:
    """Return hue, saturation and value, each 0 .. 1."""
    value = xp.max(images, -1, keepdims=True)
    spread = value - xp.min(images, -1, keepdims=True)
    saturation = xp.where(value > 0, spread / xp.where(value > 0, value, 1), 0)
    hue = _sixths(xp, _channels(images), value, spread) / 6
    # Purples lie before red, at negative hues.
    return xp.concatenate((xp.where(hue < 0, hue + 1, hue), saturation, value), -1)


def _hsv_to_rgb(xp: Any, images: Any) -> Any:
    """Return red, green and blue."""
    hue, saturation, value = _channels(images)
    return ((1 - saturation) + saturation * _shares(xp, hue * 6)) * value


@everywhere(
    "RGBToHSV",
    shape="... 3 -> ... 3",
    flops=counted(
        21, 0, "A pixel: extremes and their difference 5, saturation 2, hue by each of three sectors 14.", of_rows=True
    ),
    facts=("own_gradient",),
)
def rgb_to_hsv(xp: Any, images: Any) -> Any:
    """Red, green and blue to hue, saturation and value, along the last dimension."""
    _check_colours(images, 1, FailedPreconditionError)
    return _rgb_to_hsv(xp, wide(images)).astype(images.dtype, copy=False)


def _channel(g: GradientBuilder, x: Output, index: int) -> Output:
    """Return a channel of the last dimension, without that dimension."""
    return g.Squeeze(g.GatherV2(x, [index], -1), squeeze_dims=[-1])


def _reciprocal(g: GradientBuilder, x: Output) -> Output:
    return g.DivNoNan(g.OnesLike(x), x)


@gradient("RGBToHSV")
def rgb_to_hsv_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    """By channels: value = max, saturation = 1 - min / max, hue = (difference of the other two) / (6 (max - min)).

    The largest channel is the first with that value, and the smallest is the last with that value.
    """
    dtype = node.inputs[0].base_dtype
    r, gr, b = (_channel(g, node.inputs[0], i) for i in range(3))
    dh, ds, dv = (_channel(g, grad, i) for i in range(3))
    cast = lambda condition: g.Cast(condition, DstT=dtype)  # noqa: E731 - shorthand in a formula
    both = lambda x, y: cast(g.LogicalAnd(x, y))  # noqa: E731
    big = (
        both(g.GreaterEqual(r, gr), g.GreaterEqual(r, b)),
        both(g.Greater(gr, r), g.GreaterEqual(gr, b)),
        both(g.Greater(b, r), g.Greater(b, gr)),
    )
    small = (
        both(g.Less(r, gr), g.Less(r, b)),
        both(g.LessEqual(gr, r), g.Less(gr, b)),
        both(g.LessEqual(b, r), g.LessEqual(b, gr)),
    )
    channels = (r, gr, b)
    pick = lambda masks: g.AddN([g.Mul(m, c) for m, c in zip(masks, channels)])  # noqa: E731
    largest, smallest = pick(big), pick(small)
    inverse = _reciprocal(g, largest)
    ds_small, ds_big = g.Neg(inverse), g.Mul(smallest, g.Square(inverse))
    spread = g.Mul(_reciprocal(g, g.Sub(largest, smallest)), g.constant(1 / 6, dtype))
    parts = []
    # With the hue n / (6 c): d(n / (6 c)) = (dn - (n / c) dc) / (6 c), and dc = 1 for the largest, -1 for the smallest.
    ahead = [g.Sub(gr, b), g.Sub(b, r), g.Sub(r, gr)]
    numerator = g.AddN([g.Mul(m, n) for m, n in zip(big, ahead)])
    ratio = g.DivNoNan(numerator, g.Sub(largest, smallest))
    for i in range(3):
        sign = g.Sub(big[(i + 2) % 3], big[(i + 1) % 3])
        dhue = g.Mul(g.Sub(sign, g.Mul(ratio, g.Sub(big[i], small[i]))), spread)
        dsaturation = g.AddV2(g.Mul(big[i], ds_big), g.Mul(small[i], ds_small))
        parts.append(g.AddN([g.Mul(dh, dhue), g.Mul(ds, dsaturation), g.Mul(dv, big[i])]))
    return [g.Pack(parts, axis=-1)]


@everywhere(
    "HSVToRGB",
    shape="... 3 -> ... 3",
    gradient=NOT_DIFFERENTIABLE,
    flops=counted(26, 0, "A pixel: hue times six and three clipped ramps 16, and the mixture with grey 10.", of_rows=True),
)
def hsv_to_rgb(xp: Any, images: Any) -> Any:
    """Hue, saturation and value to red, green and blue, along the last dimension."""
    _check_colours(images, 1, FailedPreconditionError)
    return _hsv_to_rgb(xp, wide(images)).astype(images.dtype, copy=False)


@kernel(
    "AdjustHue",
    shape="... -> ...",
    gradient=WITHOUT_GRADIENT,
    flops=counted(20, 0, "A pixel: order 5, hue 6, the turn within a circle 5, and back 4.", of_rows=True),
)
def adjust_hue(images: Array, delta: Array) -> Result:
    """Hues turned by `delta` turns; the smallest and the largest channel keep their values."""
    delta = scalar(delta, "delta")
    _check_colours(images, 3)
    return _in_tiles(lambda pixels: _turned(pixels, delta), images)


def _turned(images: Array, delta: float) -> Array:
    channels = _planes(images)
    r, g, b = channels
    # TensorFlow finds the sixth by comparisons, whose ties decide which of two equal channels is the middle one.
    ahead, behind = np.where(b < r, 1, np.where(b > g, 3, 2)), np.where(b < g, 0, np.where(b > r, 4, 5))
    sector = np.where(r < g, ahead, behind)
    smallest, middle, largest = _picked(channels, _CHANNEL_OF, sector)
    # TensorFlow multiplies the turns by 6 in float32 before it adds them.
    is_grey, spread, turns = largest == smallest, largest - smallest, np.float32(delta) * np.float32(6)
    ratio = _mirrored((middle - smallest) / np.where(is_grey, np.float32(1), spread), sector)
    hue = _wrap(np.where(is_grey, np.float32(0), sector.astype(np.float32) + ratio) + turns)
    sector = _sector_of(hue)
    middle = smallest + _mirrored(hue - sector.astype(np.float32), sector) * spread
    return _interleaved(_picked(np.stack((smallest, middle, largest)), _RANK_OF, sector), images)


def _mirrored(ratio: Array, sector: Array) -> Array:
    """Return the ratio in even sectors, and 1 - ratio in odd sectors."""
    return np.where(sector & 1, 1 - ratio, ratio)


def _sector_of(hue: Array) -> Array:
    """Return the sixth of the colour circle, 0 for no number."""
    return np.fmin(np.fmax(hue, np.float32(0)), np.float32(5)).astype(np.int64)


def _wrap(hue: Array) -> Array:
    """Wrap hue to [0, 6); a few turns are subtracted singly, which rounds as TensorFlow's loop does."""
    if np.any(np.abs(hue) > 60):
        hue = np.mod(hue, np.float32(6))
    while np.any(hue < 0):
        hue = np.where(hue < 0, hue + np.float32(6), hue)
    while np.any(hue >= 6):
        hue = np.where(hue >= 6, hue - np.float32(6), hue)
    return hue


@kernel(
    "AdjustSaturation",
    shape="... -> ...",
    gradient=WITHOUT_GRADIENT,
    flops=counted(
        37,
        0,
        "A pixel: extremes and their difference 5, hue by each of three sectors 15, saturation 5, and back 12.",
        of_rows=True,
    ),
)
def adjust_saturation(images: Array, scale: Array) -> Result:
    """Saturations times `scale`, kept within 0 and 1."""
    scale = scalar(scale, "scale")
    _check_colours(images, 3)
    return _in_tiles(lambda pixels: _saturated(pixels, scale), images)


def _saturated(images: Array, scale: float) -> Array:
    r, g, b = channels = _planes(images)
    value = channels.max(0)
    spread = value - channels.min(0)
    norm = np.float32(1) / (np.float32(6) * spread)
    # TensorFlow adds the thirds in double precision.
    # In TensorFlow's order of operations: with red and green both largest, red counts.
    hue = np.where(g == value, _plus(norm * (b - r), 2.0 / 6.0), _plus(norm * (r - g), 4.0 / 6.0))
    hue = np.where(spread <= 0, np.float32(0), np.where(r == value, norm * (g - b), hue))
    hue = np.where(hue < 0, hue + np.float32(1), hue)
    saturation = np.where(value > 0, spread / np.where(value > 0, value, np.float32(1)), np.float32(0))
    saturation = np.minimum(np.float32(1), np.maximum(np.float32(0), saturation * np.float32(scale)))
    chroma = saturation * value
    base = value - chroma
    sixths = hue * np.float32(6)
    middle = chroma * (1 - np.abs(np.mod(sixths, np.float32(2)) - 1))
    # A hue of a full turn falls into no sector.
    chroma[sixths >= 6] = middle[sixths >= 6] = 0
    colours = _picked(np.stack((np.zeros_like(chroma), middle, chroma)), _RANK_OF, _sector_of(sixths))
    return _interleaved(colours + base, images)


def _plus(x: Array, term: float) -> Array:
    """Return the sum, rounded to float32 from double precision."""
    return (x.astype(np.float64) + term).astype(np.float32)


def _mean(images: Array) -> Array:
    """Return the mean of each channel of each image, by folding the image in halves (as TensorFlow does, so that bits
    agree).
    """
    rest = images.reshape(*images.shape[:-3], -1, images.shape[-1])
    count = rest.shape[-2]
    while rest.shape[-2] > 1:
        # The upper half is added to the lower, so an odd middle row is carried over.
        right = rest.shape[-2] // 2
        left = rest.shape[-2] - right
        folded = rest[..., :left, :].copy()
        folded[..., :right, :] += rest[..., left:, :]
        rest = folded
    # TensorFlow multiplies by the rounded reciprocal.
    return (rest * images.dtype.type(np.float32(1) / np.float32(count)))[..., None, :]


def _contrast(images: Array, factor: float) -> Array:
    """(x - mean) * factor + mean, with the mean of each channel of each image."""
    if not images.size:
        return images
    *leading, height, width, channels = images.shape
    row = np.tile(_mean(images), (width, 1)).reshape(*leading, 1, width * channels)  # no loop over a few channels
    result = images.reshape(*leading, height, width * channels) - row
    result *= images.dtype.type(factor)
    result += row
    return result.reshape(images.shape)


@kernel(
    "AdjustContrastv2",
    shape="... h w c, () -> ... h w c",
    flops=counted(4, 0, "An element's share of the mean, a difference, a product and a sum."),
)
def adjust_contrast_v2(images: Array, contrast_factor: Array) -> Result:
    """Scale each channel's distance from its mean by `contrast_factor`."""
    require_min_rank(images, 3, "images")
    factor = scalar(contrast_factor, "contrast_factor")
    return _contrast(images.astype(np.float32), factor).astype(images.dtype, copy=False)


@gradient_by_parts("AdjustContrastv2")
def adjust_contrast_v2_parts(g: GradientBuilder, node: Node, inputs: Sequence[Output]) -> list[Output]:
    """Compose the op of the scaled distances from the mean, plus the mean; TensorFlow has no gradient for the op."""
    images, factor = inputs
    mean = g.Mean(images, [-3, -2], keep_dims=True)
    return [g.AddV2(g.Mul(g.Sub(images, mean), g.Cast(factor, DstT=node.attr("T"))), mean)]


@kernel(
    "AdjustContrast",
    shape="... -> ...",
    gradient=WITHOUT_GRADIENT,
    flops=counted(6, 0, "As AdjustContrastv2, and two comparisons."),
)
def adjust_contrast(images: Array, contrast_factor: Array, min_value: Array, max_value: Array) -> Result:
    """As AdjustContrastv2, clipped to [min_value, max_value], float32."""
    require_min_rank(images, 3, "images")
    factor = scalar(contrast_factor, "contrast_factor")
    low, high = scalar(min_value, "min_value"), scalar(max_value, "max_value")
    return np.minimum(np.maximum(_contrast(images.astype(np.float32), factor), np.float32(low)), np.float32(high))


# The kernels of AdjustHue and AdjustSaturation sort the channels of each pixel and round as TensorFlow's loops do. On arrays
# without branches the ramps of `_shares` are shorter, and equal but for the rounding.


@arrays("AdjustHue")
def _hue_of_arrays(xp: Any, images: Any, delta: Any) -> Any:
    """Turn hues; the smallest and the largest channel of each pixel keep their values."""
    _check_colours(images, 3)
    require_shape(delta, (), "delta")
    values = images.astype(np.float32)
    smallest, largest = xp.min(values, -1, keepdims=True), xp.max(values, -1, keepdims=True)
    spread = largest - smallest
    sixths = _sixths(xp, _channels(values), largest, spread) + delta * 6
    # A product that rounds up may leave a full turn, which the choice below takes to 0.
    sixths = sixths - xp.floor(sixths / 6) * 6
    return smallest + _shares(xp, xp.where(sixths < 6, sixths, sixths - 6)) * spread


@arrays("AdjustSaturation")
def _saturation_of_arrays(xp: Any, images: Any, scale: Any) -> Any:
    _check_colours(images, 3)
    require_shape(scale, (), "scale")
    hue, saturation, value = _channels(_rgb_to_hsv(xp, images.astype(np.float32)))
    return _hsv_to_rgb(xp, xp.concatenate((hue, xp.clip(saturation * scale, 0, 1), value), -1))


@arrays("AdjustContrastv2")
def _contrast_of_arrays(xp: Any, images: Any, factor: Any) -> Any:
    require_min_rank(images, 3, "images")
    require_shape(factor, (), "contrast_factor")
    values = wide(images)
    mean = xp.mean(values, (-3, -2), keepdims=True)
    return (values - mean) * factor.astype(values.dtype) + mean


@arrays("AdjustContrast")
def _clipped_contrast_of_arrays(xp: Any, images: Any, factor: Any, low: Any, high: Any) -> Any:
    require_shape(low, (), "min_value")
    require_shape(high, (), "max_value")
    return xp.minimum(xp.maximum(_contrast_of_arrays(xp, images.astype(np.float32), factor), low), high)
