"""Glimpses of images and projective transforms."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...building.gradbuilder import GradientBuilder, Gradients
from ...graph.graph import Node, Output
from ...registry.registry import WITHOUT_GRADIENT, Cost, flops, gradient, kernel, zero_cost
from ...runtime.state.kernel_context import KernelContext
from ...types.arrays import Array, Result
from ...types.shapes import TensorSpec
from ..shared.argument_checks import require, require_rank, scalar, with_rank
from ..shared.quantized_ranges import round_half_away
from ..shared.shape_arguments import ints

_BEYOND = np.float32(2**62)
"""A row beyond the rows of all images."""


def _corner(offset: Array, image: int, size: int, centered: bool, normalized: bool, version: int) -> int:
    """Return the glimpse's first row (or column), cut off towards zero as in TensorFlow."""
    at, image, size = np.float32(offset), np.float32(image), np.float32(size)
    require(np.isfinite(at), f"offsets must be finite, not {at}")
    at = at * image if normalized else at
    if version == 1:
        # Version 1 always takes the offset for the middle of the glimpse; version 2 only with both flags.
        at = (at / 2 + image / 2 if centered else at) - size / 2
    elif centered:
        at = at / 2 + image / 2 - size / 2 if normalized else at + image / 2
    # An offset beyond all integers has no defined cast in C++, and lies outside of any image anyway.
    return int(np.clip(at, -_BEYOND, _BEYOND))


def _overlap(start: int, size: int, image: int) -> tuple[Any, Any]:
    """Return the slices of glimpse and image where they meet."""
    if start < 0:
        length = min(max(size + start, 0), image)
        first = size - max(size + start, 0)
        return slice(first, first + length), slice(0, length)
    length = max(min(size, image - start), 0)
    return slice(0, length), slice(start, start + length)


def _noise(image: Array, height: int, width: int, uniform_noise: bool, noise: str, generator: np.random.Generator) -> Array:
    """Return the pixels around the image: uniform between its extremes, normal with each channel's moments, or zero."""
    shape = (height, width, image.shape[2])
    if noise == "zero":
        return np.zeros(shape, np.float32)
    if uniform_noise and noise == "uniform":
        low, high = image.min(initial=0), image.max(initial=0)
        return (low + generator.random(shape, np.float32) * (high - low)).astype(np.float32)
    mean, sigma = image.mean((0, 1)), image.std((0, 1))
    values = mean + generator.standard_normal(shape, np.float32) * sigma
    return np.clip(values, image.min((0, 1)), image.max((0, 1))).astype(np.float32)


class Glimpses(NamedTuple):
    """The meaning of offsets, and the noise that fills pixels outside the image."""

    centered: bool
    normalized: bool
    uniform_noise: bool
    noise: str


def _glimpses(ctx: KernelContext, images: Array, size: Array, offsets: Array, glimpses: Glimpses, version: int) -> Array:
    centered, normalized, uniform_noise, noise = glimpses
    require_rank(images, 4, "input")
    require(noise in ("uniform", "gaussian", "zero"), f"noise must be uniform, gaussian or zero, not '{noise}'")
    require(not uniform_noise or noise == "uniform", f"uniform_noise excludes noise '{noise}'")
    height, width = ints(size, "size", 2)
    require(height >= 0 and width >= 0, f"size must not be negative: {(height, width)}")
    require_rank(offsets, 2, "offsets")
    require(offsets.shape == (images.shape[0], 2), f"offsets {offsets.shape} do not fit input {images.shape}")
    result = np.empty((images.shape[0], height, width, images.shape[3]), np.float32)
    if not result.size:
        return result
    require(images.size > 0, f"input must not be empty: {images.shape}")
    # TensorFlow takes no seed for this noise, so no numbers can agree.
    generator = ctx.state(np.random.default_rng)
    for image, offset, glimpse in zip(images, offsets, result):
        top, left = (_corner(o, n, s, centered, normalized, version) for o, n, s in zip(offset, image.shape, (height, width)))
        rows, image_rows = _overlap(top, height, image.shape[0])
        columns, image_columns = _overlap(left, width, image.shape[1])
        # Noise is drawn only for a glimpse that leaves its image.
        if (rows, columns) != (slice(0, height), slice(0, width)):
            glimpse[...] = _noise(image, height, width, uniform_noise, noise, generator)
        glimpse[rows, columns] = image[image_rows, image_columns]
    return result


@kernel("ExtractGlimpse", shape="b _ _ c, <h w>, b _ -> b h w c", arithmetic=False)
def extract_glimpse(ctx: KernelContext, input: Array, size: Array, offsets: Array, *, glimpses: Glimpses) -> Result:
    """Windows of the images (N, H, W, C) around the offsets (N, 2), with noise where they leave the image."""
    return _glimpses(ctx, input, size, offsets, glimpses, 1)


@kernel("ExtractGlimpseV2", gradient=WITHOUT_GRADIENT, flops=zero_cost, shape="b _ _ c, <h w>, b _ -> b h w c")
def extract_glimpse_v2(ctx: KernelContext, input: Array, size: Array, offsets: Array, *, glimpses: Glimpses) -> Result:
    """As ExtractGlimpse; offsets that are neither centered nor normalized name the glimpse's corner."""
    return _glimpses(ctx, input, size, offsets, glimpses, 2)


def _reflect(at: Array, size: int) -> Array:
    """Positions mirrored at the edges: dcba|abcd|dcba."""
    if size <= 1:
        return np.where((at < 0) | (at > size - 1), np.float32(0), at)
    period = np.float32(2 * size)
    # Whole periods at once, in float32 as TensorFlow computes them, then a reflection.
    below = at + period * np.trunc(-at / period)
    below = np.where(below < -size, below + period, -below - 1)
    above = at - period * np.trunc(at / period)
    above = np.where(above >= size, period - above - 1, above)
    return np.clip(np.where(at < 0, below, np.where(at > size - 1, above, at)), 0, size - 1)


def _wrap(at: Array, size: int) -> Array:
    """Positions taken around: abcd|abcd|abcd."""
    if size <= 1:
        return np.where((at < 0) | (at > size - 1), np.float32(0), at)
    # TensorFlow divides by size - 1 and moves by size, so positions far outside are not those of a true period.
    below = at + np.float32(size) * (np.trunc(-at / np.float32(size - 1)) + 1)
    above = at - np.float32(size) * np.trunc(at / np.float32(size - 1))
    return np.clip(np.where(at < 0, below, np.where(at > size - 1, above, at)), 0, size - 1)


_FILL_MODES = {
    "CONSTANT": lambda at, size: at,
    "NEAREST": lambda at, size: np.clip(at, 0, size - 1),
    "REFLECT": _reflect,
    "WRAP": _wrap,
}


def _positions(transforms: Array, height: int, width: int) -> tuple[Array, Array]:
    """Return the input position of each output pixel, (transforms, height, width) of rows and columns; NaN at infinity."""
    x = np.arange(width, dtype=np.float32)
    y = np.arange(height, dtype=np.float32)[:, None]
    a = [transforms[:, i, None, None] for i in range(8)]
    projection = a[6] * x + a[7] * y + np.float32(1)
    # Points on the horizon have no position: TensorFlow fills them, where a quotient would be infinite and might wrap
    # around.
    projection = np.where(projection == 0, np.float32(np.nan), projection)
    return (a[3] * x + a[4] * y + a[5]) / projection, (a[0] * x + a[1] * y + a[2]) / projection


def _read(images: Array, rows: Array, columns: Array, fill: Array) -> Array:
    """images[n, rows, columns], `fill` outside of them."""
    height, width = images.shape[1:3]
    inside = (rows >= 0) & (rows < height) & (columns >= 0) & (columns < width)
    batch = np.arange(len(images))[:, None, None]
    # An index outside would be an error or count from the end.
    values = images[batch, np.where(inside, rows, 0), np.where(inside, columns, 0)]
    return np.where(inside[..., None], values, fill)


_FRAME = 3
"""The width of a frame around the image, wider than the positions that `_near` allows and a neighbouring pixel."""


def _interpolated(images: Array, rows: Array, columns: Array, fill: Array) -> Array:
    """Bilinear interpolation in float32, between pixels of the images in a frame of `fill`."""
    count, height, width, channels = images.shape
    # The frame saves the four masks that neighbours outside of the image would need.
    framed = np.full((count, height + 2 * _FRAME, width + 2 * _FRAME, channels), fill, np.float32)
    framed[:, _FRAME:-_FRAME, _FRAME:-_FRAME] = images
    pixels, line = framed.reshape(-1, channels), framed.shape[2]
    row, column = np.floor(rows), np.floor(columns)
    lines = np.arange(count)[:, None, None] * framed.shape[1] + (row.astype(np.int64) + _FRAME)
    places = lines * line + (column.astype(np.int64) + _FRAME)
    down, across = (np.repeat(share[..., None], channels, -1) for share in (rows - row, columns - column))

    def between(left: Array) -> Array:
        return (1 - across) * pixels.take(left, axis=0) + across * pixels.take(left + 1, axis=0)

    # TensorFlow's order: first along rows, then between them.
    return (1 - down) * between(places) + down * between(places + line)


def _transform(
    images: Array, transforms: Array, output_shape: Array, interpolation: str, fill_mode: str, fill_value: float
) -> Array:
    require_rank(images, 4, "images")
    require_rank(transforms, 2, "transforms")
    require(
        transforms.shape[0] in (1, images.shape[0]) and transforms.shape[1] == 8,
        f"transforms must be (1 or {images.shape[0]}, 8), not {transforms.shape}",
    )
    height, width = ints(output_shape, "output_shape", 2)
    require(height > 0 and width > 0, f"output_shape must be positive, not {(height, width)}")
    interpolation, fill_mode = interpolation.upper(), fill_mode.upper()
    require(interpolation in ("NEAREST", "BILINEAR"), f"interpolation '{interpolation}' is neither NEAREST nor BILINEAR")
    require(fill_mode in _FILL_MODES, f"fill_mode '{fill_mode}' is not one of {', '.join(_FILL_MODES)}")
    fill = np.asarray(fill_value).astype(images.dtype)
    if not images.size:
        return np.full((images.shape[0], height, width, images.shape[3]), fill)
    rows, columns = _positions(transforms, height, width)
    rows, columns = _FILL_MODES[fill_mode](rows, images.shape[1]), _FILL_MODES[fill_mode](columns, images.shape[2])
    # What lies further out reads nothing but `fill`; NaN too.
    rows, columns = _near(rows, images.shape[1]), _near(columns, images.shape[2])
    if interpolation == "BILINEAR":
        return _interpolated(images, rows, columns, fill).astype(images.dtype)
    return _read(images, round_half_away(rows).astype(np.int64), round_half_away(columns).astype(np.int64), fill)


def _near(at: Array, size: int) -> Array:
    """Clip positions to at most two pixels outside the image; NaN becomes such a position."""
    return np.where(np.isnan(at), np.float32(-2), np.clip(at, -2, size + 1)).astype(np.float32)


@kernel("ImageProjectiveTransformV2", shape="b _ _ c, *, <h w> -> b h w c")
def image_projective_transform_v2(
    images: Array, transforms: Array, output_shape: Array, *, interpolation: str, fill_mode: str
) -> Result:
    """Transform images: output pixel (x, y) is the input at ((a0 x + a1 y + a2) / k, (b0 x + b1 y + b2) / k).

    The divisor is k = c0 x + c1 y + 1.
    """
    return _transform(images, transforms, output_shape, interpolation, fill_mode, 0)


@kernel("ImageProjectiveTransformV3", shape="b _ _ c, *, <h w> -> b h w c")
def image_projective_transform_v3(
    images: Array, transforms: Array, output_shape: Array, fill_value: Array, *, interpolation: str, fill_mode: str
) -> Result:
    """As ImageProjectiveTransformV2, with the value outside of the image."""
    return _transform(images, transforms, output_shape, interpolation, fill_mode, scalar(fill_value, "fill_value"))


def _inverse_transforms(g: GradientBuilder, transforms: Any) -> Any:
    """Return the transforms that lead back: the inverse matrices, scaled so that their last element is 1."""
    ones = g.Fill(g.Pack([g.Squeeze(g.Slice(g.shape_of(transforms), [0], [1]), squeeze_dims=[0]), 1]), 1.0)
    matrices = g.Reshape(g.ConcatV2([transforms, ones], 1), [-1, 3, 3])
    # Homogeneous matrices mean the same at any scale, so the inverse is divided by its last element.
    flat = g.Reshape(g.MatrixInverse(matrices), [-1, 9])
    return g.RealDiv(g.Slice(flat, [0, 0], [-1, 8]), g.Slice(flat, [0, 8], [-1, 1]))


@gradient("ImageProjectiveTransformV2", "ImageProjectiveTransformV3")
def image_projective_transform_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    """The gradient image transformed back (TensorFlow's approximation)."""
    images, transforms = node.inputs[:2]
    size = g.Slice(g.shape_of(images), [1], [2])
    back = _inverse_transforms(g, transforms)
    attrs = {name: node.attr(name) for name in ("interpolation", "fill_mode")}
    fill = [0.0] if node.op.endswith("V3") else []
    return [g.apply(node.op, grad, back, size, *fill, **attrs), *[None] * (len(node.inputs) - 1)]


@flops("ImageProjectiveTransformV2", "ImageProjectiveTransformV3")
def image_projective_transform_flops(*, interpolation: str, outputs: list[TensorSpec]) -> Cost:
    """Fourteen operations for each pixel's position, not counting the fill mode, and two roundings; bilinear: four more for
    the shares of its neighbours, and for each element three sums of two products.
    """
    batch, height, width, channels = with_rank(outputs[0].shape, 4)
    of_pixel = 20 + 9 * channels if interpolation.upper() == "BILINEAR" else 16
    return Cost(1) * (batch * height * width * of_pixel)
