"""FLOPs formulas of image ops, dilation and fractional pooling against naive definitions."""

from __future__ import annotations

import functools
import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.flops import definitions, definitions_images
from tests.core.flops.counting import Tally, counted, normal, positive
from tests.core.flops.held import EXAMPLES, SMALL, Cases, Node, cost, hold, holds
from tests.core.flops.test_formulas import windows_of
from tfg.core.numerics.array_namespace import NUMPY
from tfg.core.ops.image import image_color

HELD: Cases = {}
SIDE = st.integers(1, 5)


# ---- resizing and crops


def image(draw, tally, seed=0):
    return normal(tally, draw(st.integers(1, 2)), draw(SIDE), draw(SIDE), draw(SMALL), seed=seed)


def resized(x, size, seed=1):
    """An array that counts with x, of the same batch and channels and another height and width."""
    return normal(x.tally, len(x), *size, x.shape[3], seed=seed)


@holds(HELD, "ResizeBilinear")
def resize_bilinear(draw, tally):
    x, size = image(draw, tally), [draw(SIDE), draw(SIDE)]
    definitions_images.bilinear(x, *size)
    return Node([x.shape, np.int32(size)], macs=tally.products)


@holds(HELD, "ResizeBicubic")
def resize_bicubic(draw, tally):
    x, size = image(draw, tally), [draw(SIDE), draw(SIDE)]
    definitions_images.bicubic(x, *size)
    return Node([x.shape, np.int32(size)], macs=tally.products)


@holds(HELD, "ResizeArea")
def resize_area(draw, tally):
    x, size, align_corners = image(draw, tally), [draw(SIDE), draw(SIDE)], draw(st.booleans())
    definitions_images.area(x, *size, align_corners)
    return Node([x.shape, np.int32(size)], {"align_corners": align_corners}, tally.products)


def resize_gradient(op, count):
    @holds(HELD, op)
    def case(draw, tally):
        x, size = image(draw, tally), [draw(SIDE), draw(SIDE)]
        grad = resized(x, size)
        taps = [definitions_images.taps(n, out, count) for n, out in zip(x.shape[1:3], size)]
        definitions_images.spread(grad, x.shape, *taps)
        return Node([grad.shape, x.shape], macs=tally.products)


resize_gradient("ResizeBilinearGrad", 2)
resize_gradient("ResizeBicubicGrad", 4)


RADII = {"lanczos1": 1, "lanczos3": 3, "lanczos5": 5, "gaussian": 1.5, "box": 1, "triangle": 1, "keyscubic": 2,
         "mitchellcubic": 2}  # fmt: skip


def scaling(draw, shape):
    """(scales, how many rows and columns are weighed, attributes)."""
    name, antialias = draw(st.sampled_from(sorted(RADII))), draw(st.booleans())
    scales = [draw(st.sampled_from([0.25, 0.5, 1.0, 2.0])) for _ in range(2)]
    stretches = [max(1 / scale, 1) if antialias else 1 for scale in scales]
    spans = [min(2 * math.ceil(RADII[name] * stretch) + 1, n) for stretch, n in zip(stretches, shape[1:3])]
    return np.float32(scales), spans, {"kernel_type": name, "antialias": antialias}


@holds(HELD, "ScaleAndTranslate")
def scale_and_translate(draw, tally):
    x, size = image(draw, tally), [draw(SIDE), draw(SIDE)]
    scales, spans, attrs = scaling(draw, x.shape)
    definitions_images.resampled(x, *size, spans)
    return Node([x.shape, np.int32(size), scales, np.float32([0, 0])], attrs, tally.products)


@holds(HELD, "ScaleAndTranslateGrad")
def scale_and_translate_grad(draw, tally):
    x, size = image(draw, tally), [draw(SIDE), draw(SIDE)]
    scales, spans, attrs = scaling(draw, x.shape)
    grad = resized(x, size)
    definitions_images.resampled_gradient(grad, x.shape, spans)
    return Node([grad.shape, x.shape, scales, np.float32([0, 0])], attrs, tally.products)


def boxes_of(grad):
    """(boxes, images) for one crop of each image."""
    return (len(grad), 4), np.arange(len(grad), dtype=np.int32)


@holds(HELD, "CropAndResize")
def crop_and_resize(draw, tally):
    x, size, method = image(draw, tally), [draw(SIDE), draw(SIDE)], draw(st.sampled_from(["bilinear", "nearest"]))
    if method == "bilinear":
        definitions_images.bilinear(x, *size)
    return Node([x.shape, *boxes_of(x), np.int32(size)], {"method": method}, tally.products)


@holds(HELD, "CropAndResizeGradImage")
def crop_and_resize_grad_image(draw, tally):
    x, size, method = image(draw, tally), [draw(SIDE), draw(SIDE)], draw(st.sampled_from(["bilinear", "nearest"]))
    grad = resized(x, size)
    if method == "bilinear":
        taps = [definitions_images.taps(n, out, 2) for n, out in zip(x.shape[1:3], size)]
        definitions_images.spread(grad, x.shape, *taps)
    else:
        definitions_images.spread_nearest(grad, x.shape)
    return Node([grad.shape, *boxes_of(grad), np.int32(x.shape)], {"method": method, "T": "float"}, tally.products)


@holds(HELD, "CropAndResizeGradBoxes")
def crop_and_resize_grad_boxes(draw, tally):
    grad = image(draw, tally)
    x = resized(grad, [n + 1 for n in grad.shape[1:3]])
    definitions_images.crop_boxes_gradient(grad, x)
    return Node([grad.shape, x.shape, *boxes_of(grad)])


def projective_transform(op, *fill):
    @holds(HELD, op)
    def case(draw, tally):
        x, size = image(draw, tally), [draw(SIDE), draw(SIDE)]
        transforms, interpolation = positive(tally, len(x), 8), draw(st.sampled_from(["BILINEAR", "NEAREST"]))
        definitions_images.projective(x, transforms, *size, interpolation == "BILINEAR")
        return Node([x.shape, (len(x), 8), np.int32(size), *fill], {"interpolation": interpolation})


projective_transform("ImageProjectiveTransformV2")
projective_transform("ImageProjectiveTransformV3", np.float32(0))


# ---- colours


def colour_op(op, definition, kernel, *scalars):
    """A definition of pixels, which gives what the kernel gives."""

    @holds(HELD, op)
    def case(draw, tally):
        shape = *[draw(SMALL) for _ in range(draw(st.integers(2, 3)))], 3
        pixels = np.random.default_rng(math.prod(shape)).uniform(0, 1, shape).astype(np.float32)
        result = definition(counted(pixels.reshape(-1, 3), tally), *scalars)
        want = kernel(pixels, *map(np.float32, scalars))
        np.testing.assert_allclose(np.stack(list(map(np.asarray, result)), -1).reshape(shape), want, atol=1e-5)
        return Node([shape, *map(np.float32, scalars)], macs=0)


colour_op("RGBToHSV", definitions_images.rgb_to_hsv, functools.partial(image_color.rgb_to_hsv, NUMPY))
colour_op("AdjustHue", lambda x, turns: definitions_images.adjust_hue(x, 6 * turns), image_color.adjust_hue, 0.25)
colour_op("AdjustSaturation", definitions_images.adjust_saturation, image_color.adjust_saturation, 0.5)


# ---- suppression: the formulas are those of the worst case, in which no box overlaps another


def apart(count, tally):
    """Boxes that do not overlap, and their scores."""
    lows = 2 * np.arange(count)[:, None] + np.zeros(2)
    return counted(np.concatenate((lows, lows + 1), 1), tally), normal(tally, count)


LIMIT, IOU, SCORE = np.int32(99), np.float32(0.5), np.float32(-1e9)


def suppression(op, *rest, **attrs):
    @holds(HELD, op)
    def case(draw, tally):
        boxes, scores = apart(draw(SIDE), tally)
        assert len(definitions_images.suppress(boxes, scores, 0.5)) == len(boxes)
        return Node([boxes.shape, scores.shape, LIMIT, *rest], attrs)


suppression("NonMaxSuppression")
suppression("NonMaxSuppressionV2", IOU)
suppression("NonMaxSuppressionV3", IOU, SCORE)
suppression("NonMaxSuppressionV4", IOU, SCORE)


@holds(HELD, "NonMaxSuppressionV5")
def non_max_suppression_v5(draw, tally):
    boxes, scores = apart(draw(SIDE), tally)
    is_soft = draw(st.booleans())
    if is_soft:
        definitions_images.suppress_softly(boxes, scores)
    else:
        definitions_images.suppress(boxes, scores, 0.5)
    return Node([boxes.shape, scores.shape, LIMIT, IOU, SCORE, np.float32(is_soft)])


@holds(HELD, "NonMaxSuppressionWithOverlaps")
def non_max_suppression_with_overlaps(draw, tally):
    count = draw(SIDE)
    definitions_images.suppress_by_overlaps(counted(np.zeros((count, count)), tally), normal(tally, count), 0.5)
    return Node([(count, count), (count,), LIMIT, IOU, SCORE])


@holds(HELD, "CombinedNonMaxSuppression")
def combined_non_max_suppression(draw, tally):
    images, count, classes, limit, clip_boxes = draw(SMALL), draw(SIDE), draw(SMALL), draw(SIDE), draw(st.booleans())
    for _ in range(images * classes):
        definitions_images.suppress(*apart(count, tally), 0.5)
    if clip_boxes:
        np.minimum(np.maximum(normal(tally, images, limit, 4), 0.0), 1.0)
    inputs = [(images, count, 1, 4), (images, count, classes), LIMIT, np.int32(limit), IOU, SCORE]
    return Node(inputs, {"clip_boxes": clip_boxes})


@EXAMPLES
@given(st.integers(1, 8), st.integers(0, 9))
def test_suppression_takes_at_most_what_is_counted(count, seed):
    tally = Tally()
    boxes = positive(tally, count, 4, seed=seed)
    definitions_images.suppress(boxes, normal(tally, count, seed=seed), 0.1)
    assert tally.flops <= cost("NonMaxSuppression", [boxes.shape, (count,), LIMIT]).flops


# ---- windows


def dilation(op, backward):
    @holds(HELD, op)
    def case(draw, tally):
        batch, channels = draw(st.integers(1, 2)), draw(SMALL)
        sizes, window, strides, rates, padding = windows_of(draw, 2)
        windows = definitions.Windows(sizes, window, strides, rates, padding)
        x, w = normal(tally, batch, *sizes, channels), normal(tally, *window, channels)
        result = definitions_images.dilate(x, w, windows)
        if backward:
            _ = normal(tally, *result.shape) + np.zeros(result.shape)
        attrs = {"strides": [1, *strides, 1], "rates": [1, *rates, 1], "padding": padding}
        return Node([x.shape, w.shape, result.shape] if backward else [x.shape, w.shape], attrs)


dilation("Dilation2D", False)
dilation("Dilation2DBackpropInput", True)
dilation("Dilation2DBackpropFilter", True)


def regions_of(draw, overlapping):
    """(size, regions) of an axis: each as long as the one before or one longer."""
    count, length = draw(st.integers(1, 3)), draw(st.integers(1, 2))
    lengths = [length + draw(st.integers(0, 1)) for _ in range(count)]
    ends = np.cumsum([0, *lengths]).tolist()
    return ends[-1], [range(a, min(b + overlapping, ends[-1])) for a, b in itertools.pairwise(ends)], np.int64(ends)


def fractional(op, run):
    """run(x, regions, tally) is the definition; inputs by name as far as the op has them."""

    @holds(HELD, op)
    def case(draw, tally):
        overlapping, batch, channels = draw(st.booleans()), draw(st.integers(1, 2)), draw(SMALL)
        (height, rows, row_ends), (width, columns, column_ends) = (regions_of(draw, overlapping) for _ in range(2))
        x, grad = (batch, height, width, channels), (batch, len(rows), len(columns), channels)
        run(normal(tally, *x), normal(tally, *grad), [rows, columns])
        if not op.endswith("Grad"):
            ratio = [1.0, height / len(rows), width / len(columns), 1.0]
            return Node([x], {"pooling_ratio": ratio, "overlapping": overlapping})
        first = [np.int64(x)] if op == "FractionalAvgPoolGrad" else [x, grad]
        return Node([*first, grad, row_ends, column_ends], {"overlapping": overlapping})


def add_each(grad):
    _ = grad + np.zeros(grad.shape)


fractional("FractionalMaxPool", lambda x, grad, regions: definitions_images.pool_regions(x, regions, np.maximum, False))
fractional("FractionalAvgPool", lambda x, grad, regions: definitions_images.pool_regions(x, regions, np.add, True))
fractional("FractionalAvgPoolGrad", lambda x, grad, regions: definitions_images.spread_regions(grad, regions, x.shape))
fractional("FractionalMaxPoolGrad", lambda x, grad, regions: (
    definitions_images.pool_regions(x, regions, np.maximum, False), add_each(grad)))  # fmt: skip


@pytest.mark.sampled(8)
@pytest.mark.parametrize("op", HELD)
@EXAMPLES
@given(data=st.data())
def test_formula(op, data):
    hold(op, HELD[op], data.draw)
