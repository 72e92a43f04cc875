"""Convolutions of images and their gradients as array programs, in the forms that XLA runs fastest on CPUs.

A convolution needs many filters to be fast. A gradient for the filter treats the batch as channels and the gradient of the
result as the filter, so large batches, few positions and strides are slow.
"""

from __future__ import annotations

import math
from typing import Any, Final

from ...types.arrays import Array
from ..shared.convolution_shared import StrictGeometry, convolved
from ..shared.window_geometry import WindowAttributes

_FILTERS: Final = 32
"""The number of filters of a few channels up to which more filters take no more time."""
_FILTERS_OF_COLORS: Final = 64
"""The same for three channels: 2 x 224 x 224 x 3 with 24 filters of 3 x 3 takes 2.8 ms, with twice the filters 0.4 ms."""
_MANY_CHANNELS: Final = 8
"""Channels from which XLA's convolutions of few filters, and with strides the gradient for the filter, are fast.

The gradient for 64 filters of 7 x 7 with strides of 2, over 2 x 224 x 224 x 3, takes 12.0 ms; by columns 6.1 ms.
"""
_CACHED: Final = 400_000
"""The number of elements of a part of a batch's gradient, which a processor's cache then holds as the filter.

Batch 8 of 56 x 56 x 64 with 64 filters of 3 x 3 takes 50 ms at once and 19 ms in parts, batch 32 204 ms and 67 ms.
"""
_MOST_PARTS: Final = 32
"""Parts of a batch up to which compilation stays short: a part takes 0.1 s."""
_MOST_COLUMNS: Final = 1 << 23
"""Elements of the columns up to which the copy is cheaper than the strides of a convolution's transpose."""


def conv2d(xla: Any, x: Any, w: Any, window: WindowAttributes) -> Any:
    """Convolve; few filters of few channels are too few for XLA's fast convolution on CPUs.

    Where NumPy repeats runs that fail, copies of the filters compute several columns at once; elsewhere zeros are added.
    """
    channels, filters = x.shape[3], w.shape[3]
    most = _FILTERS_OF_COLORS if channels == 3 else _FILTERS
    is_few = 0 < 2 * filters <= most and channels < _MANY_CHANNELS and max(window.dilations) == 1
    if is_few and xla.is_checked and _has_forms(xla, channels, w.shape, window):
        xla.require(xla.isfinite(x).all())
        return _by_blocks(xla, x, w, window, 1 << (most // filters).bit_length() - 1)
    if channels == 1 and filters < _FILTERS and _has_forms(xla, channels, w.shape, window):
        more = xla.pad(w, ((0, 0), (0, 0), (0, 0), (0, _FILTERS - filters)))
        return convolved(xla, x, more, window)[..., :filters]
    return _convolved(xla, x, w, window)


def input_gradient(xla: Any, sizes: Array, w: Any, dy: Any, *, window: WindowAttributes) -> Any:
    """Return the transpose of the convolution as a function of the image: columns copy no filter and skip no strides."""
    StrictGeometry(4, window)
    shape = tuple(sizes.tolist())
    form = _convolved
    if _has_forms(xla, shape[3], w.shape, window) and 0 not in dy.shape:
        is_small = _positions(dy) * math.prod(w.shape[:3]) <= _MOST_COLUMNS
        form = _by_columns if _has_few_positions(dy) or (_is_strided(window) and is_small) else form
    return xla.transposed(lambda x: form(xla, x, w, window), shape, dy)


def filter_gradient(xla: Any, x: Any, sizes: Array, dy: Any, *, window: WindowAttributes) -> Any:
    """Return the transpose of the convolution as a function of the filter, on CPUs as a sum over parts of the batch."""
    StrictGeometry(4, window)
    shape = tuple(sizes.tolist())
    if not _has_forms(xla, x.shape[3], shape, window) or 0 in dy.shape:
        return xla.transposed(lambda w: _convolved(xla, x, w, window), shape, dy)
    is_strided_image = _is_strided(window) and x.shape[3] < _MANY_CHANNELS
    form = _by_columns if _has_few_positions(dy) or is_strided_image else convolved

    def of_images(images: slice) -> Any:
        return xla.transposed(lambda w: form(xla, x[images], w, window), shape, dy[images])

    count = max(_CACHED // math.prod(dy.shape[1:]), -(-len(x) // _MOST_PARTS), 1)
    return sum((of_images(slice(start, start + count)) for start in range(count, len(x), count)), of_images(slice(count)))


def _has_forms(xla: Any, channels: int, filter_shape: tuple[int, ...], window: WindowAttributes) -> bool:
    """Return whether forms of this module apply: on a CPU, with channels last, no groups, and windows of several elements."""
    is_single = filter_shape[:2] == (1, 1)
    return xla.is_cpu and window.data_format == "NHWC" and channels == filter_shape[2] and not is_single


def _positions(dy: Any) -> int:
    return math.prod(dy.shape[:3])


def _has_few_positions(dy: Any) -> bool:
    """Return whether columns have fewer elements than two filters, whose copies in the transposes cost more."""
    return _positions(dy) <= 2 * dy.shape[3]


def _is_strided(window: WindowAttributes) -> bool:
    return max(window.strides) > 1


def _convolved(xla: Any, x: Any, w: Any, window: WindowAttributes) -> Any:
    """Convolve; on CPUs a filter of a single element is a matrix product, several times as fast as XLA's convolution."""
    is_plain = window.data_format == "NHWC" and window.padding != "EXPLICIT"
    if not (xla.is_cpu and is_plain and w.shape[:2] == (1, 1) and x.shape[3] == w.shape[2]):
        return convolved(xla, x, w, window)
    x = x[:, :: window.strides[1], :: window.strides[2]]
    return xla.matmul(x.reshape(-1, x.shape[3]), w[0, 0]).reshape(*x.shape[:3], w.shape[3])


def _by_columns(xla: Any, x: Any, w: Any, window: WindowAttributes) -> Any:
    """Convolve by a matrix product with columns: the elements of each window in a row."""
    geometry = StrictGeometry(4, window)
    counts, pads = geometry.fitted(x.shape[1:3], w.shape[:2])
    padded = xla.pad(x, ((0, 0), *pads, (0, 0)))

    def elements(row: int, column: int) -> Any:
        """Return the element of each window at a row and a column of the window."""
        starts = [place * dilation for place, dilation in zip((row, column), geometry.dilations)]
        spans = zip(starts, counts, geometry.strides)
        return padded[:, *(slice(start, start + (count - 1) * stride + 1, stride) for start, count, stride in spans)]

    places = [(row, column) for row in range(w.shape[0]) for column in range(w.shape[1])]
    columns = xla.concatenate([elements(*place) for place in places], axis=-1)
    product = xla.matmul(columns.reshape(-1, columns.shape[3]), w.reshape(-1, w.shape[3]))
    return product.reshape(len(x), *counts, w.shape[3])


def _by_blocks(xla: Any, x: Any, w: Any, window: WindowAttributes, columns: int) -> Any:
    """Convolve with shifted copies of each filter, which compute neighbouring columns of the result.

    The copies multiply elements outside their windows by 0, so all elements must be finite.
    """
    geometry = StrictGeometry(4, window)
    (_, width), (rows, (left, _)) = geometry.fitted(x.shape[1:3], w.shape[:2])
    stride = geometry.strides[1]
    shifts = range(0, columns * stride, stride)
    wide = xla.concatenate([xla.pad(w, ((0, 0), (shift, shifts[-1] - shift), (0, 0), (0, 0))) for shift in shifts], axis=-1)
    blocks, step = -(-width // columns), columns * stride
    right = (blocks - 1) * step + wide.shape[1] - left - x.shape[2]
    dimensions = ("NHWC", "HWIO", "NHWC")
    strides, pads = (geometry.strides[0], step), (rows, (left, right))
    y = xla.lax.conv_general_dilated(x, wide, strides, pads, dimension_numbers=dimensions)
    return y.reshape(*y.shape[:2], blocks * columns, w.shape[3])[:, :, :width]
