"""Images: resized, recoloured, cropped, cut into patches, encoded, and bounding boxes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .making import BYTES, IMAGES, SMALL, Fixed, Row, boxes, fixed, ints, one, row, unit


def resizing_rows() -> Iterator[Row]:
    for size in ((256, 256), (64, 80)):
        for how in ("Bicubic", "Area", "Bilinear", "NearestNeighbor"):
            yield row(f"Resize{how}", IMAGES, fixed(*size), note=f"to {size[0]}")
        scale, translation = Fixed(np.array(size, np.float32) / 128), fixed(0, 0, dtype=np.float32)
        for kernel in ("lanczos3", "triangle", "gaussian"):
            yield row("ScaleAndTranslate", IMAGES, fixed(*size), scale, translation, kernel_type=kernel, note=kernel)
    yield row("ResizeBicubic", IMAGES, fixed(256, 256), half_pixel_centers=True, note="centers")
    yield row("ResizeBilinear", IMAGES, fixed(256, 256), half_pixel_centers=True, note="centers")
    yield row("ResizeBilinear", SMALL, fixed(32, 32))
    yield row("ResizeBicubic", SMALL, fixed(32, 32))
    yield row("ResizeArea", SMALL, fixed(8, 8))
    yield row("ResizeBilinear", BYTES[None], fixed(128, 128), note="uint8")
    for how in ("Bilinear", "Bicubic"):
        yield row(f"Resize{how}Grad", unit(4, 256, 256, 3), IMAGES)
    yield row("ResizeNearestNeighborGrad", unit(4, 256, 256, 3), fixed(128, 128))
    half, origin = fixed(0.5, 0.5, dtype=np.float32), fixed(0, 0, dtype=np.float32)
    yield row("ScaleAndTranslateGrad", unit(4, 64, 64, 3), IMAGES, half, origin)


def color_rows() -> Iterator[Row]:
    for op in ("RGBToHSV", "HSVToRGB"):
        yield row(op, IMAGES)
        yield row(op, SMALL)
    for op in ("AdjustHue", "AdjustSaturation", "AdjustContrastv2"):
        yield row(op, IMAGES, one(0.3, np.float32))
        yield row(op, SMALL, one(0.3, np.float32))


def crop_rows() -> Iterator[Row]:
    crops = boxes(64), ints(4, 64)
    yield row("CropAndResize", IMAGES, *crops, fixed(32, 32))
    yield row("CropAndResize", IMAGES, *crops, fixed(32, 32), method="nearest", note="nearest")
    yield row("CropAndResize", unit(1, 38, 38, 256), boxes(64), ints(1, 64), fixed(7, 7))
    yield row("CropAndResize", SMALL, boxes(4), ints(1, 4), fixed(8, 8))
    yield row("CropAndResizeGradImage", unit(64, 32, 32, 3), *crops, fixed(4, 128, 128, 3), T="float32", method="bilinear")
    yield row("CropAndResizeGradBoxes", unit(64, 32, 32, 3), IMAGES, *crops)
    turn = np.tile(np.array([[0.9, 0.1, 2, -0.1, 0.9, 3, 0, 0]], np.float32), (4, 1))
    for how in ("BILINEAR", "NEAREST"):
        yield row("ImageProjectiveTransformV3", IMAGES, turn, fixed(128, 128), one(0, np.float32), interpolation=how, note=how)
    yield row("ExtractGlimpseV2", IMAGES, fixed(32, 32), unit(4, 2), noise="zero", uniform_noise=False)
    yield row("ExtractImagePatches", IMAGES, ksizes=[1, 5, 5, 1], strides=[1, 3, 3, 1], rates=[1, 1, 1, 1], padding="SAME")
    yield row("ExtractVolumePatches", unit(2, 16, 32, 32, 3), ksizes=[1, 3, 3, 3, 1], strides=[1, 2, 2, 2, 1], padding="SAME")


def box_rows() -> Iterator[Row]:
    yield row("DrawBoundingBoxes", IMAGES, unit(4, 20, 4))
    yield row("DrawBoundingBoxesV2", IMAGES, boxes(80).reshape(4, 20, 4), unit(5, 3))
    overlap, score, sigma = one(0.5, np.float32), one(0.1, np.float32), one(0.5, np.float32)
    for count in (100, 1000):
        yield row("NonMaxSuppressionV3", boxes(count), unit(count), one(100), overlap, score)
    yield row("NonMaxSuppressionV5", boxes(500), unit(500), one(100), overlap, score, sigma)
    yield row("NonMaxSuppressionWithOverlaps", unit(500, 500), unit(500), one(100), overlap, score)
    of_classes = boxes(600).reshape(2, 300, 1, 4), unit(2, 300, 10)
    yield row("CombinedNonMaxSuppression", *of_classes, one(20), one(50), overlap, one(0.2, np.float32))
    yield row("SampleDistortedBoundingBoxV2", np.array([256, 256, 3], np.int32), boxes(4)[None], one(0.1, np.float32))


def encoding_rows() -> Iterator[Row]:
    yield row("EncodePng", BYTES)
    yield row("EncodePng", np.tile(np.arange(256, dtype=np.uint8)[:, None, None], (1, 256, 3)), note="plain")
    yield row("EncodePng", ints(65536, 128, 128, 3, dtype=np.uint16))
    yield row("EncodeJpeg", BYTES)
