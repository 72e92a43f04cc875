"""Convolutions in two and three dimensions and their gradients."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from ...inference.profiler_formulas import backprop_filter, backprop_input, window
from ...numerics.convolution import Epilogue
from ...registry.registry import (
    Blockwise,
    Cost,
    blockwise,
    facts,
    flops,
    kernel,
    layout,
    lower,
    onnx,
    profiled,
    shape,
    shaped,
    without_gradient,
)
from ...types.arrays import Array, Result
from ...types.shapes import Shape, TensorSpec, merge_shapes, shape_from
from ..shared.argument_checks import require, require_rank, with_rank
from ..shared.convolution_shared import (
    Geometry,
    StrictGeometry,
    by_shape,
    convolution_shape,
    convolve,
    convolved,
    empty_filter_gradient,
    empty_input_gradient,
    filter_gradient,
    input_gradient,
    input_sizes_2d,
    lower_gradients,
    register_gradients,
    window_multiply_adds,
)
from ..shared.decompositions import composed
from ..shared.onnx_lowerings import channels_first, filter_first, in_format, window_attrs, window_of
from ..shared.shape_arguments import ints
from ..shared.window_geometry import (
    WindowAttributes,
    checked,
    explicit_pads,
    is_channels_first,
    shape_from_channels_last,
    shape_to_channels_last,
    to_channels_last,
)


@kernel("Conv2D", facts=("row_wise",))
def conv2d(
    x: Array,
    w: Array,
    *,
    window: WindowAttributes,
    epilogue: Epilogue | None = None,
    bias: Array | None = None,
) -> Result:
    """(N, H, W, C) with (KH, KW, C / groups, F) -> (N, OH, OW, F), or NCHW."""
    geometry = checked(Geometry, 4, window)
    return convolve(x, w, geometry, epilogue, bias)


@kernel("Conv3D", facts=("row_wise",))
def conv3d(
    x: Array, w: Array, *, window: WindowAttributes,
    epilogue: Epilogue | None = None, bias: Array | None = None,
) -> Result:  # fmt: skip
    """(N, D, H, W, C) with (KD, KH, KW, C / groups, F) -> (N, OD, OH, OW, F), or NCDHW."""
    # TensorFlow has a kernel of oneDNN for these two dtypes and one of Eigen for the others, with other errors for strides
    # over batch or channels.
    geometry = Geometry if x.dtype.name in ("float32", "bfloat16") else StrictGeometry
    return convolve(x, w, checked(geometry, 5, window), epilogue, bias)


@shape("Conv2D", "Conv3D")
def conv_shape(x: TensorSpec, w: TensorSpec, *, window: WindowAttributes) -> Shape:
    return convolution_shape(x, w, Geometry(len(window.data_format), window))


blockwise("Conv2D", Blockwise(np.multiply, takes_bias=True))
blockwise("Conv3D", Blockwise(np.multiply, takes_bias=True))
layout("T. -> T", "Conv2D", "Conv3D")
profiled(window(-1), "Conv2D", "Conv3D")


@flops("Conv2D", "Conv3D")
def convolution_flops(x: TensorSpec, w: TensorSpec, *, outputs: list[TensorSpec]) -> Cost:
    """Count a multiply-add for each result element and each place and channel of the window."""
    return window_multiply_adds(outputs[0].shape.num_elements, tuple(w.shape[:-1]))


@kernel("Conv2DBackpropInput", facts=("settled_by_shapes", "backward"))
def conv2d_backprop_input(sizes: Array, w: Array, grad: Array, *, window: WindowAttributes) -> Result:
    """Return the gradient of Conv2D for its input, of shape `sizes`."""
    geometry = checked(StrictGeometry, 4, window)
    empty = empty_input_gradient(sizes, grad)
    if empty is not None:
        return empty
    return input_gradient(input_sizes_2d(sizes, w.shape, grad, window.data_format), w, grad, geometry)


@shape("Conv2DBackpropInput")
def conv2d_backprop_input_shape(sizes: TensorSpec, w: TensorSpec, grad: TensorSpec, *, data_format: str) -> Shape:
    if sizes.shape.is_known and sizes.shape.known() == (2,):
        height, width = shape_from(sizes, 2)
        batch = shape_to_channels_last(with_rank(grad.shape, 4), data_format)[0]
        return shape_from_channels_last((batch, height, width, with_rank(w.shape, 4)[2]), data_format)
    batch = with_rank(grad.shape, 4)[0]
    return merge_shapes(shape_from(sizes, 4), Shape([batch, None, None, None]))


register_gradients("Conv2D", "Conv2DBackpropInput", "Conv2DBackpropFilter")
profiled(backprop_input, "Conv2DBackpropInput", differs="tf.profiler counts input positions, tfg output positions")


@kernel("Conv3DBackpropInputV2", shape="<a b c d e> -> a b c d e", facts=("settled_by_shapes", "backward"))
def conv3d_backprop_input_v2(sizes: Array, w: Array, grad: Array, *, window: WindowAttributes) -> Result:
    """Return the gradient of Conv3D for its input, of shape `sizes`."""
    geometry = checked(StrictGeometry, 5, window)
    empty = empty_input_gradient(sizes, grad)
    return input_gradient(ints(sizes, "input_sizes", 5), w, grad, geometry) if empty is None else empty


register_gradients("Conv3D", "Conv3DBackpropInputV2", "Conv3DBackpropFilterV2")
layout("V.T -> T", "Conv2DBackpropInput", "Conv3DBackpropInputV2")


@flops("Conv2DBackpropInput", "Conv3DBackpropInputV2")
def convolution_backprop_input_flops(sizes: TensorSpec, w: TensorSpec, grad: TensorSpec) -> Cost:
    """The multiply-adds of the forward pass again, as each adds its weight times the gradient to its input element."""
    return window_multiply_adds(grad.shape.num_elements, tuple(w.shape[:-1]))


@kernel("Conv2DBackpropInputV2", "Conv3DBackpropInput", facts=("backward",))
def backprop_input_by_shape(x: Array, w: Array, grad: Array, *, window: WindowAttributes) -> Result:
    """Return the gradient for the input, with the shape taken from the input itself."""
    rank = len(window.strides)
    require_rank(x, rank, "input")
    return input_gradient(x.shape, w, grad, checked(StrictGeometry, rank, window))


layout("T.T -> T", "Conv2DBackpropInputV2")


@kernel("Conv2DBackpropFilterV2", "Conv3DBackpropFilter", facts=("backward",))
def backprop_filter_by_shape(x: Array, w: Array, grad: Array, *, window: WindowAttributes) -> Result:
    """Return the gradient for the filter, with the shape taken from the filter itself."""
    rank = len(window.strides)
    require_rank(w, rank, "filter")
    return filter_gradient(x, w.shape, grad, checked(StrictGeometry, rank, window))


shaped("... -> ...", "Conv2DBackpropInputV2")
shaped("a b c d e -> a b c d e", "Conv3DBackpropInput")
shaped("*, ... -> ...", "Conv2DBackpropFilterV2")
shaped("*, a b c d e -> a b c d e", "Conv3DBackpropFilter")
flops("Conv2DBackpropInputV2", "Conv3DBackpropInput", "Conv2DBackpropFilterV2", "Conv3DBackpropFilter")(
    convolution_backprop_input_flops
)
composed("Conv2DBackpropInputV2", "Conv2DBackpropFilterV2", "Conv3DBackpropInput", "Conv3DBackpropFilter")(by_shape)


@kernel("Conv2DBackpropFilter", shape="*, <a b c d> -> a b c d", facts=("backward",))
def conv2d_backprop_filter(x: Array, sizes: Array, grad: Array, *, window: WindowAttributes) -> Result:
    """Return the gradient of Conv2D for its filter, of shape `sizes`."""
    geometry = checked(StrictGeometry, 4, window)
    empty = empty_filter_gradient(x, sizes, grad)
    return filter_gradient(x, ints(sizes, "filter_sizes", 4), grad, geometry) if empty is None else empty


layout("T.T -> .", "Conv2DBackpropFilter", "Conv2DBackpropFilterV2", "Conv3DBackpropFilterV2")
profiled(backprop_filter, "Conv2DBackpropFilter", differs="tf.profiler counts input positions, tfg output positions")


@kernel("Conv3DBackpropFilterV2", shape="*, <a b c d e> -> a b c d e", facts=("backward",))
def conv3d_backprop_filter_v2(x: Array, sizes: Array, grad: Array, *, window: WindowAttributes) -> Result:
    """Return the gradient of Conv3D for its filter, of shape `sizes`; for an empty filter TensorFlow checks no more."""
    empty = empty_filter_gradient(x, sizes, grad)
    # In three dimensions an empty filter is answered before the attributes are checked, a filter of zeros after.
    if empty is not None and not empty.size:
        return empty
    geometry = checked(StrictGeometry, 5, window)
    return filter_gradient(x, ints(sizes, "filter_sizes", 5), grad, geometry) if empty is None else empty


@flops("Conv2DBackpropFilter", "Conv3DBackpropFilterV2")
def convolution_backprop_filter_flops(
    x: TensorSpec, sizes: TensorSpec, grad: TensorSpec, *, outputs: list[TensorSpec]
) -> Cost:
    """The multiply-adds of the forward pass: each adds its input element times the gradient to its weight."""
    return window_multiply_adds(grad.shape.num_elements, tuple(outputs[0].shape[:-1]))


@kernel("Conv", flops=convolution_flops)
def conv(x: Array, w: Array, *, window: WindowAttributes, batch_dims: int, groups: int) -> Result:
    """Conv2D or Conv3D by the input's rank; leading `batch_dims` dimensions are batch."""
    require(batch_dims >= 1, f"batch_dims must be positive, not {batch_dims}")
    rank = np.ndim(x) - batch_dims + 1
    require(rank in (4, 5), f"input of shape {np.shape(x)} has neither 2 nor 3 spatial dimensions")
    if groups != 1 and np.ndim(w) == rank:
        channels = to_channels_last(x, window.data_format).shape[-1]
        require(w.shape[-2] * groups == channels, f"{groups} groups of depth {w.shape[-2]} do not make {channels} channels")
    lead = x.shape[:batch_dims]
    geometry = checked(StrictGeometry, rank, window._replace(dilations=window.dilations or (1,) * rank))
    # All batch dimensions become one, by their product: NumPy cannot infer a -1 beside a 0.
    y = convolve(x.reshape(math.prod(lead), *x.shape[batch_dims:]), w, geometry)
    return y.reshape(lead + y.shape[1:])


@shape("Conv")
def conv_of_any_rank_shape(x: TensorSpec, w: TensorSpec, *, window: WindowAttributes, batch_dims: int) -> Shape:
    if x.rank is None:
        return Shape()
    rank = x.rank - batch_dims + 1
    require(batch_dims >= 1 and rank in (4, 5), f"{batch_dims} batch dimensions of {x.shape}")
    geometry = Geometry(rank, window._replace(dilations=window.dilations or (1,) * rank))
    dims = geometry.last((1, *tuple(x.shape)[batch_dims:]))
    *sizes, _, filters = with_rank(w.shape, rank)
    inner = shape_from_channels_last((1, *geometry.outputs(dims[1:-1], sizes), filters), window.data_format)
    return Shape((*tuple(x.shape)[:batch_dims], *tuple(inner)[1:]))


# TensorFlow registers no gradient for these.
without_gradient("Conv")


# The lowerings to XLA have the forms that XLA runs fastest on CPUs. A convolution needs many filters to be fast. A gradient
# for the filter treats the batch as channels and the gradient of the result as the filter, so large batches, few positions
# and strides are slow.

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


@lower("Conv2D")
def _conv2d_lowering(xla: Any, x: Any, w: Any, *, window: WindowAttributes) -> Any:
    """Convolve; few filters of few channels are too few for XLA's fast convolution on CPUs.

    Where NumPy repeats runs that fail, copies of the filters compute several columns at once; elsewhere zeros are added.
    """
    channels, filters = x.shape[3], w.shape[3]
    most = _FILTERS_OF_COLORS if channels == 3 else _FILTERS
    # At least twice the filters must fit, else a copy of the filters brings nothing.
    is_few = 0 < 2 * filters <= most and channels < _MANY_CHANNELS and max(window.dilations) == 1
    if is_few and xla.is_checked and _has_forms(xla, channels, w.shape, window):
        # Zeros of the widened filters times infinity would be NaN in windows that do not hold the infinite element.
        xla.require(xla.isfinite(x).all())
        return _by_blocks(xla, x, w, window, 1 << (most // filters).bit_length() - 1)
    if channels == 1 and filters < _FILTERS and _has_forms(xla, channels, w.shape, window):
        # Sums with filters of zeros are thrown away, and are still faster than few filters.
        more = xla.pad(w, ((0, 0), (0, 0), (0, 0), (0, _FILTERS - filters)))
        return convolved(xla, x, more, window)[..., :filters]
    return _convolved(xla, x, w, window)


@lower("Conv2DBackpropInput", static=(0,))
def _input_gradient_lowering(xla: Any, sizes: Array, w: Any, dy: Any, *, window: WindowAttributes) -> Any:
    """Return the transpose of the convolution as a function of the image: columns copy no filter and skip no strides."""
    StrictGeometry(4, window)
    shape = tuple(sizes.tolist())
    form = _convolved
    if _has_forms(xla, shape[3], w.shape, window) and 0 not in dy.shape:
        is_small = _positions(dy) * math.prod(w.shape[:3]) <= _MOST_COLUMNS
        form = _by_columns if _has_few_positions(dy) or (_is_strided(window) and is_small) else form
    return xla.transposed(lambda x: form(xla, x, w, window), shape, dy)


@lower("Conv2DBackpropFilter", static=(1,))
def _filter_gradient_lowering(xla: Any, x: Any, sizes: Array, dy: Any, *, window: WindowAttributes) -> Any:
    """Return the transpose of the convolution as a function of the filter, on CPUs as a sum over parts of the batch."""
    StrictGeometry(4, window)
    shape = tuple(sizes.tolist())
    if not _has_forms(xla, x.shape[3], shape, window) or 0 in dy.shape:
        return xla.transposed(lambda w: _convolved(xla, x, w, window), shape, dy)
    is_strided_image = _is_strided(window) and x.shape[3] < _MANY_CHANNELS
    form = _by_columns if _has_few_positions(dy) or is_strided_image else convolved

    def of_images(images: slice) -> Any:
        return xla.transposed(lambda w: form(xla, x[images], w, window), shape, dy[images])

    # As many images as fit, but not so many parts that compilation takes long, and at least one image.
    count = max(_CACHED // math.prod(dy.shape[1:]), -(-len(x) // _MOST_PARTS), 1)
    return sum((of_images(slice(start, start + count)) for start in range(count, len(x), count)), of_images(slice(count)))


def _has_forms(xla: Any, channels: int, filter_shape: tuple[int, ...], window: WindowAttributes) -> bool:
    """Return whether these forms apply: on a CPU, with channels last, no groups, and windows of several elements."""
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
    # A window of a single element reads only the elements that the strides leave.
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
    # Row by row, then channels: the order of the filter, which then is a matrix without a copy.
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
    # Each copy of the filter starts a stride further right, and the wide window steps over `columns` strides at once.
    shifts = range(0, columns * stride, stride)
    wide = xla.concatenate([xla.pad(w, ((0, 0), (shift, shifts[-1] - shift), (0, 0), (0, 0))) for shift in shifts], axis=-1)
    blocks, step = -(-width // columns), columns * stride
    # The last block may reach beyond the columns that exist; its surplus results are cut off below.
    right = (blocks - 1) * step + wide.shape[1] - left - x.shape[2]
    dimensions = ("NHWC", "HWIO", "NHWC")
    strides, pads = (geometry.strides[0], step), (rows, (left, right))
    y = xla.lax.conv_general_dilated(x, wide, strides, pads, dimension_numbers=dimensions)
    return y.reshape(*y.shape[:2], blocks * columns, w.shape[3])[:, :, :width]


@lower("Conv3D")
def _conv3d_lowering(xla: Any, x: Any, w: Any, *, window: WindowAttributes) -> Any:
    return convolved(xla, x, w, window)


lower_gradients("Conv3DBackpropInputV2", "Conv3DBackpropFilterV2", convolved)


# ONNX has one operator for convolutions and one for their transposes, with channels first and with other names for geometry.
@onnx("Conv2D", "Conv3D")
def convolution_onnx(g: Any, x: Any, w: Any, *, window: WindowAttributes) -> Any:
    """Channels first, as ONNX has them; depth and channels tell the number of groups."""
    rank, data_format = len(w.shape), window.data_format
    attrs = window_attrs(x, window_of(g, w), window)
    channels = shape_to_channels_last(x.shape, data_format)[-1] if x.rank == rank else None
    if channels != w.shape[-2]:
        if not isinstance(channels, int):
            g.refuse("the number of channels is unknown")
        attrs["group"] = channels // w.shape[-2]
    y = g.Conv(channels_first(g, x, data_format), filter_first(g, w), **attrs)
    return in_format(g, y, rank, data_format)


@onnx("Conv2DBackpropInput", "Conv3DBackpropInputV2")
def convolution_input_gradient_onnx(
    g: Any, sizes: Any, w: Any, dy: Any, *, window: WindowAttributes, outputs: list[TensorSpec]
) -> Any:
    """Lower to a transposed convolution, cut to the asked sizes; elements outside all windows are zero."""
    kernel_shape, rank, data_format = window_of(g, w), len(w.shape), window.data_format
    shape = shape_to_channels_last(outputs[0].shape, data_format) if outputs[0].rank == rank else (None,)
    if not isinstance(shape[-1], int):
        g.refuse("the number of channels of its result is computed")
    geometry = Geometry(rank, window)
    attrs = {
        "strides": list(geometry.strides),
        "dilations": list(geometry.dilations),
        "kernel_shape": kernel_shape,
        "group": shape[-1] // w.shape[-2],
    }
    inputs = channels_first(g, dy, data_format), g.transpose(w, [rank - 1, rank - 2, *range(rank - 2)])
    if not all(isinstance(size, int) for size in shape[1:]):
        return in_format(g, _of_computed_sizes(g, g.ConvTranspose(*inputs, **attrs), sizes, window), rank, data_format)
    pads = geometry.pads(shape[1:-1], kernel_shape)
    reached = geometry.outputs(shape[1:-1], kernel_shape)
    spans = [(n - 1) * s + (k - 1) * d + 1 for n, s, k, d in zip(reached, geometry.strides, kernel_shape, geometry.dilations)]
    # What the transposed convolution lacks of the asked size: where positive, strides skip the last elements, which get zeros;
    # where negative, it reaches into the padding, which is cut.
    short = [size + before - span for size, (before, _), span in zip(shape[1:-1], pads, spans)]
    y = g.ConvTranspose(*inputs, pads=[before for before, _ in pads] + [max(-missing, 0) for missing in short], **attrs)
    if any(missing > 0 for missing in short):
        y = g.Pad(y, [0] * (rank + 2) + [max(missing, 0) for missing in short])
    return in_format(g, y, rank, data_format)


def _of_computed_sizes(g: Any, y: Any, sizes: Any, window: WindowAttributes) -> Any:
    """Return the result of a transposed convolution without padding at computed sizes: cut, or filled with zeros."""
    rank = len(window.strides)
    first = 2 if is_channels_first(window.data_format) else 1
    reached = g.slice(g.dims(y), 2, rank)
    # The vector may leave the batch and the channels out.
    wanted = g.vector(sizes)
    wanted = g.slice(wanted, first, first + rank - 2) if wanted.shape.dims == (rank,) else wanted
    explicit = explicit_pads(window.explicit_paddings, rank, window.data_format)
    before: Any = [0] * (rank - 2) if explicit is None else [pair[0] for pair in explicit]
    if window.padding == "SAME":
        # SAME pads by what the windows reach beyond the image, and puts the smaller half before it.
        before = g.Div(g.Max(g.Sub(reached, wanted), 0), 2)
    ends = g.Add(wanted, before)
    y = g.Slice(y, before, ends, list(range(2, rank)))
    missing = g.Max(g.Sub(ends, reached), 0)
    return g.Pad(y, g.joined([0] * (rank + 2), missing))


@onnx("Conv2DBackpropFilter", "Conv3DBackpropFilterV2")
def _convolution_filter_gradient_onnx(g: Any, x: Any, sizes: Any, dy: Any, *, window: WindowAttributes) -> Any:
    """Lower to a convolution of images with batch and channels exchanged, with the gradient as filter."""
    shape, rank, data_format = tuple(g.known(sizes, "sizes").tolist()), len(window.strides), window.data_format
    dims = shape_to_channels_last(x.shape, data_format) if x.rank == rank else ()
    if not dims or not all(isinstance(size, int) for size in dims[1:]) or dims[-1] != shape[-2]:
        g.refuse("the size of its images is unknown, or it has groups")
    geometry = Geometry(rank, window)
    pads = geometry.pads(dims[1:-1], shape[:-2])
    # The gradient for a filter sums over images, as a convolution sums over channels: so batch and channels change places,
    # and strides become dilations.
    swap = [1, 0, *range(2, rank)]
    first, filters = (g.transpose(channels_first(g, value, data_format), swap) for value in (x, dy))
    ends = [pair[0] for pair in pads] + [pair[1] for pair in pads]
    steps = {"strides": list(geometry.dilations), "dilations": list(geometry.strides), "pads": ends}
    dw = g.Conv(first, filters, **steps)
    # Where strides do not reach the last elements, the convolution has places beyond the filter.
    dw = g.Slice(dw, [0] * (rank - 2), list(shape[:-2]), range(2, rank))
    return g.transpose(dw, [*range(2, rank), 0, 1])


facts(
    "half_allow",
    of=[
        "Conv2D",
        "Conv2DBackpropFilter",
        "Conv2DBackpropInput",
        "Conv3D",
        "Conv3DBackpropFilter",
        "Conv3DBackpropFilterV2",
        "Conv3DBackpropInput",
        "Conv3DBackpropInputV2",
    ],
)
