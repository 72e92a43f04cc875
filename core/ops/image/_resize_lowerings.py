"""Resizing of images as array programs: the positions and weights are known when a program is compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...numerics.resize import Taps
from ...types.arrays import Array


def resizing(taps: Callable[..., tuple[Taps, Taps]], resample: Callable[..., Any]) -> Callable[..., Any]:
    """Return the program of a resizing; `taps` of images, a size and the attributes says how to `resample` both axes."""

    def program(xp: Any, images: Any, size: Any, *, align_corners: bool, half_pixel_centers: bool = False) -> Any:
        return resample(xp, images, *taps(images, size, align_corners, half_pixel_centers))

    return program


def gradient_of_resizing(taps: Callable[..., tuple[Taps, Taps]]) -> Callable[..., Any]:
    """Return the lowering of the gradient of a resizing; `taps` takes the gradient, the images and the two attributes."""

    def lowering(xla: Any, grads: Any, images: Any, *, align_corners: bool, half_pixel_centers: bool) -> Any:
        return resampled_gradient(xla, grads, images.dtype, *taps(grads, images, align_corners, half_pixel_centers))

    return lowering


def resampled(xla: Any, images: Any, *axes: Taps) -> Any:
    """Resample images (N, H, W, C) along height and width, float32; NaN stays at its taps."""
    resized = images.astype(np.float32)
    for axis, taps in enumerate(axes, start=1):
        weights = taps.weights.astype(np.float32).reshape(*taps.weights.shape, *(1,) * (3 - axis))
        resized = xla.sum(xla.take(resized, taps.indices, axis=axis) * weights, axis=axis + 1)
    return resized


def multiplied(xp: Any, images: Any, rows: Taps, columns: Taps) -> Any:
    """Resample by products with matrices: a third of the time in onnxruntime, but NaN spreads along rows and columns."""
    return _spread(xp, images.astype(np.float32), rows.matrix(np.float32).T, columns.matrix(np.float32).T)


def resampled_gradient(xla: Any, grads: Any, dtype: Any, rows: Taps, columns: Taps) -> Any:
    """Return the gradient for images of that dtype; in double the sums alone are double, as TensorFlow's are."""
    if dtype != np.float64:
        return _spread(xla, grads, rows.matrix(np.float32), columns.matrix(np.float32)).astype(dtype)
    total: Any = 0
    for i, row_weight in zip(rows.indices.T, rows.weights.T.astype(np.float32)):
        for j, column_weight in zip(columns.indices.T, columns.weights.T.astype(np.float32)):
            part = grads * row_weight[:, None, None] * column_weight[:, None]
            total = total + _spread(xla, part.astype(np.float64), _ones(i, rows.size), _ones(j, columns.size))
    return total


def taken_gradient(xla: Any, grads: Any, rows: Array, columns: Array, height: int, width: int) -> Any:
    """Return the gradient for images sampled at the positions in `rows` and `columns`."""
    is_short = xla.issubdtype(grads.dtype, np.floating) and grads.dtype.itemsize < np.dtype(np.float32).itemsize
    dtype = np.dtype(np.float32) if is_short else grads.dtype
    return _spread(xla, grads.astype(dtype), _ones(rows, height, dtype), _ones(columns, width, dtype)).astype(grads.dtype)


def _spread(xla: Any, grads: Any, rows: Array, columns: Array) -> Any:
    """Products with the matrices (outputs, size) of both axes."""
    tall = xla.einsum("oh,nopc->nhpc", rows, grads)
    return xla.einsum("pw,nhpc->nhwc", columns, tall)


def _ones(places: Array, size: int, dtype: Any = np.float64) -> Array:
    """Return the matrix (outputs, size) that takes a single position for each output."""
    return (places[:, None] == np.arange(size)).astype(dtype)
