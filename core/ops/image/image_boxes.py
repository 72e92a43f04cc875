"""Boxes in images: cropping, drawing and sampling."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...building.gradbuilder import GradientBuilder, Gradients
from ...graph.graph import Node, Output
from ...numerics.interruption_points import pause
from ...numerics.resize import TILE, CropAxis, axes_of, corners, interpolated, is_inside, pixels_of
from ...random.index_draws import Words
from ...random.philox import Philox
from ...registry.registry import (
    WITHOUT_GRADIENT,
    ZERO,
    Cost,
    arrays,
    facts,
    flops,
    gradient,
    kernel,
    not_differentiable,
    zero_cost,
    zero_flops,
)
from ...runtime.state.kernel_context import KernelContext
from ...support.errors import OutOfRangeError
from ...types.arrays import Array, Result
from ...types.dtypes import DType
from ...types.shapes import TensorSpec
from ..random._random import node_stream
from ..random.random_stateless import seeded
from ..shared.argument_checks import may_equal, require, require_rank, scalar
from ..shared.elementwise_tables import counted
from ..shared.shape_arguments import ints


def _check_boxes(boxes: Array, box_ind: Array, images: int) -> int:
    """Return the number of boxes; box_ind names an image for each."""
    # The ranks first: if both tensors are empty, TensorFlow does not check the number of columns.
    require_rank(boxes, 2, "boxes")
    require_rank(box_ind, 1, "box_ind")
    if boxes.size == 0 and box_ind.size == 0:
        return 0
    require(boxes.shape[1] == 4, f"boxes must have 4 columns, not shape {boxes.shape}")
    require(box_ind.shape == boxes.shape[:1], f"box_ind {box_ind.shape} does not fit boxes {boxes.shape}")
    # A box of NaN would name no pixel, and indices made of it would be undefined.
    require(np.isfinite(boxes).all(), "boxes holds an element that is not finite")
    if np.any((box_ind < 0) | (box_ind >= images)):
        raise OutOfRangeError(f"box_ind holds {box_ind[(box_ind < 0) | (box_ind >= images)][0]}, outside of [0, {images})")
    return len(boxes)


# For method nearest TensorFlow has the gradient of boxes that bilinear has; the lowering's derivative is 0.
@kernel("CropAndResize", shape="_ _ _ c, b _, b, <h w> -> b h w c", facts=("own_gradient",))
def crop_and_resize(
    image: Array, boxes: Array, box_ind: Array, crop_size: Array, *, method: str, extrapolation_value: float
) -> Result:
    """Crops of the images' boxes (in units of the image), resized to crop_size: (boxes, height, width, C), float32."""
    require_rank(image, 4, "image")
    require(min(image.shape[1:3]) > 0, f"image must not be empty: {image.shape}")
    height, width = ints(crop_size, "crop_size", 2)
    require(height > 0 and width > 0, f"crop_size must be positive, not {(height, width)}")
    if not _check_boxes(boxes, box_ind, image.shape[0]):
        return np.zeros((0, height, width, image.shape[3]), np.float32)
    crops = np.empty((len(boxes), height, width, image.shape[3]), np.float32)
    # As many boxes at a time as fit into a cache with their four corners.
    step = max(1, TILE // max(crops[0].size, 1))
    for start in range(0, len(boxes), step):
        part = slice(start, start + step)
        rows, columns = axes_of(boxes[part], image.shape, height, width)
        if method == "nearest":
            crops[part] = pixels_of(image, box_ind[part], rows.nearest, columns.nearest)
        else:
            crops[part] = interpolated(image, box_ind[part], rows, columns)
        if not (rows.inside.all() and columns.inside.all()):
            crops[part][~is_inside(rows, columns)[..., 0]] = np.float32(extrapolation_value)
    return crops


@kernel("CropAndResizeGradImage", shape="*, *, *, <a b c d> -> a b c d", gradient=WITHOUT_GRADIENT, facts=("backward",))
def crop_and_resize_grad_image(
    grads: Array, boxes: Array, box_ind: Array, image_size: Array, *, T: DType, method: str
) -> Result:
    """The gradient for images of shape `image_size`."""
    require_rank(grads, 4, "grads")
    require(min(grads.shape[1:3]) > 0, f"grads must not be empty: {grads.shape}")
    dims = ints(image_size, "image_size", 4)
    require(min(dims) >= 0 and min(dims[1:3]) > 0, f"image_size must be positive, not {dims}")
    require(grads.shape[3] == dims[3], f"grads have {grads.shape[3]} channels, but image_size has {dims[3]}")
    count = _check_boxes(boxes, box_ind, dims[0])
    require(count == grads.shape[0], f"{count} boxes, but grads for {grads.shape[0]}")
    # Sums of half precision are kept in float32 and rounded once.
    result = np.zeros(dims, T.numpy if T.numpy.itemsize > 2 else np.float32)
    if count:
        rows, columns = axes_of(boxes, dims, *grads.shape[1:3])
        grads = np.where(is_inside(rows, columns), grads, np.float32(0))
        _scatter(result, grads, box_ind, rows, columns, method)
    return result.astype(T.numpy, copy=False)


def _scatter(result: Array, grads: Array, box_ind: Array, rows: CropAxis, columns: CropAxis, method: str) -> None:
    """Add each pixel's gradient to the pixels of its source: two matrix products for each box."""
    _, height, width, channels = result.shape
    row_matrices, column_matrices = rows.matrices(height, method), columns.matrices(width, method)
    grads = grads.astype(result.dtype, copy=False)
    for image, grad, down, across in zip(box_ind.tolist(), grads, row_matrices, column_matrices):
        rows_of, width_of = grad.shape[:2]
        spread = (down.T @ grad.reshape(rows_of, width_of * channels)).reshape(height, width_of, channels)
        result[image] += across.T @ spread


# Along both axes the slope takes five operations; each element moves with two edges of a box.
@kernel(
    "CropAndResizeGradBoxes",
    gradient=WITHOUT_GRADIENT,
    flops=counted(Cost(20, macs=4), 0, "Slopes along both axes, times the gradient, and a multiply-add for either edge."),
    shape="*, *, b _ -> b 4",
    facts=("backward",),
)
def crop_and_resize_grad_boxes(grads: Array, image: Array, boxes: Array, box_ind: Array) -> Result:
    """The gradient for the boxes, (boxes, 4)."""
    for name, value in {"grads": grads, "image": image}.items():
        require_rank(value, 4, name)
        require(min(value.shape[1:3]) > 0, f"{name} must not be empty: {value.shape}")
    require(grads.shape[3] == image.shape[3], f"channels of grads {grads.shape} and image {image.shape} differ")
    count = _check_boxes(boxes, box_ind, image.shape[0])
    require(count == grads.shape[0], f"{count} boxes, but grads for {grads.shape[0]}")
    if not count:
        return np.zeros((0, 4), np.float32)
    rows, columns = axes_of(boxes, image.shape, *grads.shape[1:3])
    top_left, top_right, bottom_left, bottom_right = corners(image, box_ind, rows, columns)
    across, down = columns.share[:, None, :, None], rows.share[:, :, None, None]
    grads = np.where(is_inside(rows, columns), grads, np.float32(0))
    by_row = (((1 - across) * (bottom_left - top_left) + across * (bottom_right - top_right)) * grads).sum((2, 3))
    by_column = (((1 - down) * (top_right - top_left) + down * (bottom_right - bottom_left)) * grads).sum((1, 3))
    # A box has the edges y1, x1, y2, x2: each element lies between two edges, and moves with either in part.
    parts = (by_row @ rows.by_start, by_column @ columns.by_start, by_row @ rows.by_end, by_column @ columns.by_end)
    return np.stack(parts, 1).astype(np.float32, copy=False)


facts("asynchronous", of=("CropAndResize", "CropAndResizeGradImage", "CropAndResizeGradBoxes"))


@gradient("CropAndResize")
def crop_and_resize_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    """TensorFlow differentiates the bilinear method; for the images only where they are float."""
    image, boxes, box_ind, _ = node.inputs
    method, dtype = node.attr("method"), image.base_dtype
    dimage = None
    if dtype.name in ("half", "float", "double"):
        dimage = g.CropAndResizeGradImage(grad, boxes, box_ind, g.shape_of(image), T=dtype, method=method)
    return [dimage, g.CropAndResizeGradBoxes(grad, image, boxes, box_ind), None, None]


@flops("CropAndResize")
def crop_and_resize_flops(*, method: str, outputs: list[TensorSpec]) -> Cost:
    """Three interpolations for each element, each a difference and a multiply-add; nothing where the nearest is taken."""
    return (ZERO if method == "nearest" else Cost(9, macs=3)) * outputs[0].shape.num_elements


@flops("CropAndResizeGradImage")
def crop_and_resize_grad_image_flops(grads: TensorSpec, *, method: str) -> Cost:
    """A multiply-add for each of the four neighbours; a sum for the nearest."""
    return (Cost(1) if method == "nearest" else Cost(8, macs=4)) * grads.shape.num_elements


# TensorFlow's colours, RGBA, in the order in which the boxes of an image take them.
_COLOURS = np.array(
    [
        [1, 1, 0, 1],
        [0, 0, 1, 1],
        [1, 0, 0, 1],
        [0, 1, 0, 1],
        [0.5, 0, 0.5, 1],
        [0.5, 0.5, 0, 1],
        [0.5, 0, 0, 1],
        [0, 0, 0.5, 1],
        [0, 1, 1, 1],
        [1, 0, 1, 1],
    ],
    np.float32,
)


def _draw(image: Array, box: Array, colour: Array) -> None:
    """The outline of a box on an image (in place); lines outside of the image are left out."""
    height, width = image.shape[:2]
    # Truncated as a C++ cast; the products are in float32, which decides the pixel.
    top, left, bottom, right = np.trunc(box * np.array([height - 1, width - 1] * 2, np.float32)).tolist()
    if not (top <= bottom and left <= right and top < height and left < width and bottom >= 0 and right >= 0):
        return
    rows = slice(int(max(top, 0)), int(min(bottom, height - 1)) + 1)
    columns = slice(int(max(left, 0)), int(min(right, width - 1)) + 1)
    for row in (top, bottom):
        if 0 <= row < height:
            image[int(row), columns] = colour
    for column in (left, right):
        if 0 <= column < width:
            image[rows, int(column)] = colour


def _draw_boxes(images: Array, boxes: Array, colours: Array) -> Array:
    require_rank(images, 4, "images")
    require_rank(boxes, 3, "boxes")
    require(images.shape[0] == boxes.shape[0], f"{images.shape[0]} images, but boxes for {boxes.shape[0]}")
    depth = images.shape[3]
    require(depth in (1, 3, 4), f"images must have 1, 3 or 4 channels, not {depth}")
    require(boxes.shape[2] == 4, f"boxes must have 4 columns, not shape {boxes.shape}")
    canvas = images.copy()
    for image, image_boxes in zip(canvas, boxes):
        for i, box in enumerate(image_boxes):
            _draw(image, box, colours[i % len(colours), :depth])
    return canvas


@kernel("DrawBoundingBoxes", shape="a b c d -> a b c d", arithmetic=False)
def draw_bounding_boxes(images: Array, boxes: Array) -> Result:
    """The images (N, H, W, C) with the outlines of their boxes (N, boxes, 4) in ten colours; white on grey images."""
    return draw_bounding_boxes_v2(images, boxes, np.zeros((0, 4), np.float32))


@kernel("DrawBoundingBoxesV2", shape="a b c d -> a b c d", gradient=WITHOUT_GRADIENT, flops=zero_cost)
def draw_bounding_boxes_v2(images: Array, boxes: Array, colors: Array) -> Result:
    """As DrawBoundingBoxes, in the given colours (n, RGBA) in turn; an empty tensor means the ten default colours."""
    require_rank(colors, 2, "colors")
    depth = images.shape[-1] if images.ndim else 0
    require(not colors.size or colors.shape[1] >= depth, f"colors {colors.shape} have fewer than {depth} columns")
    if not colors.size:
        colors = _COLOURS
        if images.ndim == 4 and images.shape[3] == 1:
            # Of a colour only the first channel counts on grey images, and several of the ten would be black.
            colors = np.ones_like(_COLOURS)
    return _draw_boxes(images, boxes, colors.astype(images.dtype))


def _nearest(value: Any) -> int:
    """Return the nearest integer, at most 2^31 - 1; 0 for NaN."""
    return int(min(np.rint(np.nan_to_num(np.float64(value), nan=0.0)), 2**31 - 1))


def _random_crop(
    width: int, height: int, area_range: Sequence[float], aspect_ratio: Any, words: Words
) -> tuple[Any, Any, Any, Any] | None:
    """Return a random (top, left, bottom, right) of the aspect ratio with an area in the range; None where rounding leaves
    no size.
    """
    # Every step in float32 and in TensorFlow's order: rounding decides sizes, and with them how many numbers are drawn.
    least, most = (np.float32(a) * np.float32(width) * np.float32(height) for a in area_range)
    if most <= 0 or aspect_ratio <= 0 or width <= 0 or height <= 0 or least > most:
        return None
    width_of = lambda rows: _nearest(np.float32(rows) * aspect_ratio)  # noqa: E731 - a formula used four times
    rows, most_rows = (_nearest(np.sqrt(area / aspect_ratio)) for area in (least, most))
    if width_of(most_rows) > width:
        # TensorFlow's slack, so that rounding the width of that many rows does not exceed the image.
        most_rows = int((width + 0.5 - 1e-7) / float(aspect_ratio))
    most_rows = min(most_rows, height)
    rows = min(rows, most_rows)
    if rows < most_rows:
        rows += words.below(most_rows - rows + 1, 32)
    # Rounding may have moved the area out of the range, by a row at most.
    rows += width_of(rows) * rows < least
    rows -= width_of(rows) * rows > most
    columns = width_of(rows)
    if not (least <= columns * rows <= most and 0 < columns <= width and 0 < rows <= height):
        return None
    top = words.below(int(height - rows), 32) if rows < height else 0
    left = words.below(width - columns, 32) if columns < width else 0
    return top, left, top + rows, left + columns


def _area(box: Array) -> Array:
    return np.maximum(box[..., 2] - box[..., 0], 0) * np.maximum(box[..., 3] - box[..., 1], 0)


def _covers(crop: tuple[Any, ...], boxes: Array, least: Any) -> Any:
    """Return True if the crop covers at least the share `least` of any box."""
    crop = np.array(crop)
    areas = _area(boxes)
    shared = _area(np.concatenate((np.maximum(crop[:2], boxes[:, :2]), np.minimum(crop[2:], boxes[:, 2:])), 1))
    with np.errstate(all="ignore"):
        # TensorFlow ignores boxes that are smaller than a pixel.
        return _area(crop) >= 1 and bool(np.any((areas >= 1) & (np.float32(shared) / np.float32(areas) >= least)))


class Crops(NamedTuple):
    """The attributes of random crops: bounds of aspect ratio and area, and the number of attempts."""

    aspect_ratio_range: tuple[float, ...]
    area_range: tuple[float, ...]
    max_attempts: int
    use_image_if_no_bounding_boxes: bool


def _check_sampling(image_size: Array, min_object_covered: float, crops: Crops) -> tuple[int, int]:
    aspect_ratio_range, area_range, max_attempts, _ = crops
    require(min_object_covered >= 0, f"min_object_covered must not be negative: {min_object_covered}")
    for name, values in (("aspect_ratio_range", aspect_ratio_range), ("area_range", area_range)):
        require(len(values) == 2 and min(values) > 0, f"{name} must be two positive numbers, not {list(values)}")
    require(max(area_range) <= 1, f"area_range {list(area_range)} exceeds 1")
    require(max_attempts > 0, f"max_attempts must be positive, not {max_attempts}")
    height, width, _ = ints(image_size, "image_size", 3)
    require(0 <= height < 2**31 - 1 and 0 <= width < 2**31 - 1, f"image_size {(height, width)} is out of range")
    return height, width


def _object_boxes(bounding_boxes: Array, height: int, width: int, use_image: bool) -> Array:
    """Return the boxes in pixels, (n, 4)."""
    require_rank(bounding_boxes, 3, "bounding_boxes")
    require(bounding_boxes.shape[2] == 4, f"bounding_boxes must have 4 columns, not shape {bounding_boxes.shape}")
    if not bounding_boxes.size:
        require(use_image, "bounding_boxes is empty, and use_image_if_no_bounding_boxes is not set")
        return np.array([[0, 0, height, width]])
    require(np.all((bounding_boxes >= 0) & (bounding_boxes <= 1)), "bounding box coordinates must be in [0, 1]")
    return (bounding_boxes.reshape(-1, 4) * np.array([height, width] * 2, np.float32)).astype(np.int64)


def _sample(stream: Philox, image_size: Array, boxes: Array, covered: float, crops: Crops) -> tuple[Array, ...]:
    """Return the first of `max_attempts` random crops that covers enough of a box, else the whole image."""
    height, width = _check_sampling(image_size, covered, crops)
    objects = _object_boxes(boxes, height, width, crops.use_image_if_no_bounding_boxes)
    # TensorFlow reserves four words for each attempt, whether it is made or not.
    words = Words(stream.reserve(1, crops.max_attempts))
    low, high = map(np.float32, crops.aspect_ratio_range)
    crop = (0, 0, height, width)
    for _ in range(crops.max_attempts):
        pause()
        ratio = np.float32(words.float32()) * (high - low) + low
        candidate = _random_crop(width, height, crops.area_range, ratio, words)
        if candidate is not None and _covers(candidate, objects, np.float32(covered)):
            crop = candidate
            break
    return _as_slice(crop, height, width, image_size.dtype)


def _as_slice(crop: tuple[Any, ...], height: int, width: int, dtype: np.dtype[Any]) -> tuple[Array, Array, Array]:
    """begin and size for a Slice of the image, and the box in units of the image."""
    top, left, bottom, right = crop
    box = np.array(crop, np.float32) / np.array([height, width] * 2, np.float32)
    begin = np.array([top, left, 0], np.int64)
    # -1: all channels, in an op of slices.
    size = np.array([bottom - top, right - left, -1], np.int64)
    return begin.astype(dtype), size.astype(dtype), box.reshape(1, 1, 4)


@kernel("SampleDistortedBoundingBox", "SampleDistortedBoundingBoxV2", shape="* -> 3, 3, 1 1 4", facts=("random",))
def sample_distorted_bounding_box(
    ctx: KernelContext, image_size: Array, boxes: Array, *least: Array, seed: int, seed2: int, crops: Crops,
    min_object_covered: float = 0.0,
) -> tuple[Result, ...]:  # fmt: skip
    """Draw a random crop that covers enough of any box: its begin, size and box. Of the second version, how much to cover is
    an input.
    """
    covered = scalar(least[0], "min_object_covered") if least else min_object_covered
    return _sample(node_stream(ctx, seed, seed2), image_size, boxes, covered, crops)


@kernel("StatelessSampleDistortedBoundingBox", shape="* -> 3, 3, 1 1 4", gradient=WITHOUT_GRADIENT, facts=("lengthy",))
def stateless_sample_distorted_bounding_box(
    image_size: Array, bounding_boxes: Array, min_object_covered: Array, seed: Array, *, crops: Crops
) -> tuple[Result, ...]:
    """As SampleDistortedBoundingBox; a pure function of a seed of two integers."""
    return _sample(seeded(seed), image_size, bounding_boxes, scalar(min_object_covered, "min_object_covered"), crops)


_SAMPLERS = ("SampleDistortedBoundingBox", "SampleDistortedBoundingBoxV2")
not_differentiable(*_SAMPLERS)
zero_flops(*_SAMPLERS, "StatelessSampleDistortedBoundingBox")


@arrays("CropAndResize", static=(3,), sizes=(3,))
def _crop_and_resize_of_arrays(
    xp: Any, image: Any, boxes: Any, box_ind: Any, crop_size: Any, *, method: str, extrapolation_value: float
) -> Any:
    """Crop boxes (y1, x1, y2, x2), in parts of an image, and resize them to a common size."""
    require_rank(image, 4, "image")
    require(may_equal(crop_size.shape, (2,)), f"crop_size must be of shape (2,), not {crop_size.shape}")
    sizes = crop_size.tolist()
    _require_positive(image.shape[1:3], "image")
    _require_positive(sizes, "crop_size")
    _check_boxes_of_arrays(xp, boxes, box_ind, image.shape[0])
    ys, xs, inside, numbers = _sampled(xp, boxes, box_ind, image.shape, sizes)
    pixels = xp.reshape(image.astype(np.float32), (-1, image.shape[3]))
    if method == "nearest":
        crops = xp.take(pixels, numbers(xp.floor(ys + 0.5), xp.floor(xs + 0.5)), 0)
    else:
        down, across = (ys - xp.floor(ys))[:, :, None, None], (xs - xp.floor(xs))[:, None, :, None]
        (top_left, top_right), (bottom_left, bottom_right) = _corners(xp, pixels, ys, xs, numbers)
        crops = _between(_between(top_left, top_right, across), _between(bottom_left, bottom_right, across), down)
    return xp.where(inside, crops, np.float32(extrapolation_value))


def _require_positive(sizes: Sequence[Any], name: str) -> None:
    """Require sizes above 0, as far as they are known."""
    require(min([size for size in sizes if isinstance(size, int)], default=1) > 0, f"{name} must not be empty: {tuple(sizes)}")


def _sampled(
    xp: Any, boxes: Any, box_ind: Any, dims: Sequence[Any], counts: Sequence[Any]
) -> tuple[Any, Any, Any, Callable[[Any, Any], Any]]:
    """Return the rows (boxes, h) and columns (boxes, w) of samples in images of `dims`, and a mask of the samples inside.

    The last result is a function from rows and columns to the numbers (boxes, h, w) of pixels, counted through all images.
    """
    _, height, width, _ = dims
    (ys, inside_y), (xs, inside_x) = (_samples(xp, boxes, i, dims[1 + i], counts[i]) for i in range(2))
    first = xp.reshape(box_ind.astype(np.int64), (-1, 1, 1)) * (height * width)

    def numbers(y: Any, x: Any) -> Any:
        # Samples outside of the image are masked later, but gather a pixel all the same.
        y, x = (xp.maximum(place, 0).astype(np.int64) for place in (y, x))
        y, x = xp.minimum(y, height - 1), xp.minimum(x, width - 1)
        return first + (y[:, :, None] * width + x[:, None, :])

    return ys, xs, (inside_y[:, :, None] & inside_x[:, None, :])[..., None], numbers


def _corners(xp: Any, pixels: Any, ys: Any, xs: Any, numbers: Callable[[Any, Any], Any]) -> list[list[Any]]:
    """Return the pixels above and below samples, each to the left and to the right."""
    columns = xp.floor(xs), xp.ceil(xs)
    return [[xp.take(pixels, numbers(y, x), 0) for x in columns] for y in (xp.floor(ys), xp.ceil(ys))]


def _between(a: Any, b: Any, part: Any) -> Any:
    return a + (b - a) * part


def _samples(xp: Any, boxes: Any, axis: int, size: Any, count: Any) -> tuple[Any, Any]:
    """Return the samples of each box along an axis, (boxes, count), and a mask of samples inside; a single sample lies in
    the middle.
    """
    last = xp.asarray(size - 1).astype(np.float32)
    start, end = (boxes[:, place : place + 1] for place in (axis, axis + 2))
    steps = xp.arange(count).astype(np.float32)
    # Each operation is rounded by itself, as in TensorFlow: else a sample on a pixel or on the border may come to lie beside.
    gaps = xp.asarray(xp.maximum(count - 1, 1)).astype(np.float32)
    apart = _rounded(xp, operator.truediv, _rounded(xp, operator.mul, end - start, last), gaps)
    several = _rounded(xp, operator.mul, start, last) + _rounded(xp, operator.mul, steps, apart)
    places = xp.where(xp.asarray(count) == 1, (start + end) * np.float32(0.5) * last, several)
    return places, (places >= 0) & (places <= last)


def _rounded(xp: Any, operation: Callable[[Any, Any], Any], a: Any, b: Any) -> Any:
    """Return a product or a quotient of float32, rounded by itself.

    XLA multiplies by the inverse of a divisor, and rounds a product and the sum that follows at once, also behind a barrier,
    which is gone when the machine's code is made. Double precision holds a product exactly, and its conversion rounds.
    """
    if not xp.has_64_bits:
        return xp.optimization_barrier(operation(a, b))
    return operation(a.astype(np.float64), b.astype(np.float64)).astype(np.float32)


def _check_boxes_of_arrays(xp: Any, boxes: Any, box_ind: Any, images: Any) -> None:
    require_rank(boxes, 2, "boxes")
    fits = may_equal((*box_ind.shape, 4), boxes.shape)
    require(fits, f"boxes of shape {boxes.shape}, and {box_ind.shape} numbers of images")
    xp.require(((box_ind >= 0) & (box_ind < images)).all() & xp.isfinite(boxes).all())


def _check_gradient_of_arrays(xp: Any, grads: Any, boxes: Any, box_ind: Any, dims: Sequence[Any]) -> None:
    """Check the inputs of a gradient for images of `dims`, as far as sizes are known."""
    require_rank(grads, 4, "grads")
    _require_positive((*grads.shape[1:3], *dims[1:3]), "grads and images")
    fits = may_equal((*boxes.shape[:1], dims[3]), (grads.shape[0], grads.shape[3]))
    require(fits, f"grads {grads.shape} do not fit {boxes.shape} boxes and images {tuple(dims)}")
    _check_boxes_of_arrays(xp, boxes, box_ind, dims[0])


@arrays("CropAndResizeGradImage", static=(3,), sizes=(3,))
def _image_gradient_of_arrays(xp: Any, grads: Any, boxes: Any, box_ind: Any, image_size: Any, *, T: DType, method: str) -> Any:
    """Add each element's gradient to the pixel nearest to it, or in shares to the four around."""
    images, height, width, channels = dims = image_size.tolist()
    _check_gradient_of_arrays(xp, grads, boxes, box_ind, dims)
    ys, xs, inside, numbers = _sampled(xp, boxes, box_ind, dims, grads.shape[1:3])
    wide_grads = xp.where(inside, grads, 0).astype(T.numpy if T.numpy.itemsize > 2 else np.float32)
    total = xp.full((images * height * width, channels), 0, wide_grads.dtype)
    for y, y_share in _neighbours(xp, ys, method):
        for x, x_share in _neighbours(xp, xs, method):
            rows = xp.reshape(wide_grads * (y_share[:, :, None] * x_share[:, None, :])[..., None], (-1, channels))
            total = xp.scattered(total, xp.reshape(numbers(y, x), (-1, 1)), rows, "add")
    return xp.reshape(total, (images, height, width, channels)).astype(T.numpy)


def _neighbours(xp: Any, places: Any, method: str) -> list[tuple[Any, Any]]:
    """Return the pixels around places of an axis, each with its share."""
    if method == "nearest":
        return [(xp.floor(places + 0.5), xp.ones_like(places))]
    part = places - xp.floor(places)
    return [(xp.floor(places), 1 - part), (xp.ceil(places), part)]


@arrays("CropAndResizeGradBoxes")
def _boxes_gradient_of_arrays(xp: Any, grads: Any, image: Any, boxes: Any, box_ind: Any) -> Any:
    """Return the gradient of the edges: the slopes of the image at the elements, times what an edge moves the element by."""
    require_rank(image, 4, "image")
    _, height, width, channels = image.shape
    _check_gradient_of_arrays(xp, grads, boxes, box_ind, image.shape)
    ys, xs, inside, numbers = _sampled(xp, boxes, box_ind, image.shape, grads.shape[1:3])
    pixels = xp.reshape(image.astype(np.float32), (-1, channels))
    (top_left, top_right), (bottom_left, bottom_right) = _corners(xp, pixels, ys, xs, numbers)
    down, across = (ys - xp.floor(ys))[:, :, None, None], (xs - xp.floor(xs))[:, None, :, None]
    grads = xp.where(inside, grads, 0)
    by_row = xp.sum(_between(bottom_left - top_left, bottom_right - top_right, across) * grads, (2, 3))
    by_column = xp.sum(_between(top_right - top_left, bottom_right - bottom_left, down) * grads, (1, 3))
    moves = _moves(xp, height, grads.shape[1]), _moves(xp, width, grads.shape[2])
    edges = [xp.sum(slopes * move[i], 1) for i in range(2) for slopes, move in zip((by_row, by_column), moves)]
    return xp.stack(edges, 1).astype(np.float32)


def _moves(xp: Any, size: Any, count: Any) -> tuple[Any, Any]:
    """Return how far the samples (count) of an axis move with the start and with the end of a box."""
    last = xp.asarray(size - 1).astype(np.float32)
    # A single sample has no gap: its quotient is computed too, and must not divide by zero.
    gaps = xp.asarray(xp.maximum(count - 1, 1)).astype(np.float32)
    reach = xp.where(xp.asarray(count) == 1, last * 0.5, xp.arange(count).astype(np.float32) * (last / gaps))
    return last - reach, reach
