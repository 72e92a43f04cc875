"""Ops that resize images, and their gradients."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from ...building.gradbuilder import GradientBuilder, Gradients
from ...graph.graph import Node, Output
from ...numerics import resize as numerics
from ...numerics.array_namespace import NUMPY
from ...numerics.half_precision import wide
from ...numerics.resize import Taps
from ...registry.registry import (
    Cost,
    everywhere,
    facts,
    flops,
    gradient,
    kernel,
    lower,
    multiply_adds,
    not_differentiable,
    onnx,
    onnx_arrays,
    shape,
    shaped,
    zero_cost,
)
from ...types import dtypes
from ...types.arrays import Array, Result
from ...types.dims import DimLike, dim_min
from ...types.shapes import UNKNOWN, TensorSpec
from ..shared.argument_checks import require, require_rank, require_shape, with_rank
from ..shared.decompositions import by_ops, gradient_by_parts
from ..shared.elementwise_tables import RESULT, counted
from ..shared.plain_shapes import resize_shape
from ..shared.shape_arguments import ints

_ATTRS = ("align_corners", "half_pixel_centers")


def _check_image(images: Array, name: str = "images") -> None:
    require_rank(images, 4, name)
    # The batch may be empty: an empty result is no error.
    sizes = [size for size in images.shape[1:] if isinstance(size, int)]  # ONNX may not know the others
    require(min(sizes, default=1) > 0, f"{name} must not be empty: {images.shape}")


def _check_centers(align_corners: bool, half_pixel_centers: bool) -> None:
    require(not (align_corners and half_pixel_centers), "align_corners and half_pixel_centers exclude each other")


def _size(images: Array, size: Array) -> tuple[int, int]:
    """Return the checked output height and width."""
    require_rank(images, 4, "images")
    height, width = ints(size, "size", 2)
    require(height > 0 and width > 0, f"size must be positive, not {(height, width)}")
    _check_image(images)
    return height, width


def _taps(method: Callable[..., Any], shape: tuple[int, ...], height: int, width: int, *settings: bool) -> tuple[Any, Any]:
    """Return the taps of rows and columns."""
    return method(shape[1], height, *settings), method(shape[2], width, *settings)


def _check_gradient(grads: Array, original_image: Array) -> None:
    _check_image(grads, "grads")
    _check_image(original_image, "original_image")
    ends = (grads.shape[0], grads.shape[3]), (original_image.shape[0], original_image.shape[3])
    require(ends[0] == ends[1], f"batch and channels of grads and original_image differ: {ends[0]} and {ends[1]}")


facts("row_wise", of=("ResizeArea", "ResizeBicubic", "ResizeBilinear", "ResizeNearestNeighbor"))


def _resampled(xp: Any, images: Array, rows: Taps, columns: Taps) -> Array:
    """(N, H, W, C) -> (N, height, width, C), float32, in NumPy."""
    # Integers of images are small, so sums of them cannot overflow or hide an infinity.
    return numerics.resample(images.astype(np.float32), rows, columns, is_small=images.dtype.kind in "iu")


def _image_taps(method: Callable[..., Any], images: Array, size: Array, *settings: bool) -> tuple[Any, Any]:
    """Check images and return the taps of their rows and columns."""
    _check_centers(*settings)
    return _taps(method, images.shape, *_size(images, size), *settings)


def _attrs(node: Node) -> dict[Any, Any]:
    return {name: node.attr(name) for name in _ATTRS}


gradient("ResizeBilinear")(by_ops("ResizeBilinearGrad dy 0"))
flops("ResizeBilinear")(counted(Cost(9, macs=3), RESULT, "Three interpolations, each a difference and a multiply-add."))


@gradient("ResizeBicubic")
def resize_bicubic_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    """None but for float images, as in TensorFlow."""
    image = node.inputs[0]
    if image.base_dtype.name not in ("float", "double"):
        return [None, None]
    return [g.ResizeBicubicGrad(grad, image, **_attrs(node)), None]


flops("ResizeBicubic")(counted(Cost(40, macs=20), RESULT, "Four rows and one column of four multiply-adds for each element."))


@kernel("ResizeNearestNeighbor", flops=zero_cost, facts=("half_clear",))
def resize_nearest_neighbor(images: Array, size: Array, *, align_corners: bool, half_pixel_centers: bool) -> Result:
    """(N, H, W, C) -> (N, height, width, C)."""
    rows, columns = _image_taps(numerics.nearest, images, size, align_corners, half_pixel_centers)
    return numerics.taken(images, rows, columns)


@gradient("ResizeNearestNeighbor")
def resize_nearest_neighbor_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    size = g.Slice(g.shape_of(node.inputs[0]), [1], [2])
    return [g.ResizeNearestNeighborGrad(grad, size, **_attrs(node)), None]


shape("ResizeBilinear", "ResizeBicubic", "ResizeNearestNeighbor", "ResizeArea")(resize_shape)


@flops("ResizeArea")
def resize_area_flops(images: TensorSpec, *, align_corners: bool, outputs: list[TensorSpec]) -> Cost:
    """A multiply-add for each element that an output element covers, in part or whole."""
    batch, *sizes, channels = with_rank(images.shape, 4)
    rows, columns = (_covered(n, out, align_corners) for n, out in zip(sizes, outputs[0].shape[1:3]))
    return multiply_adds(batch * rows * columns * channels)


def _covered(size: DimLike, outputs: int, align_corners: bool) -> DimLike:
    """Return the number of positions under the outputs of an axis; a position under two outputs counts twice."""
    if not (isinstance(size, int) and isinstance(outputs, int)):
        return UNKNOWN.num_elements
    # Aligned corners map the centers of the first and last pixels on each other, so there is one step less than pixels.
    step, unit = (size - 1, outputs - 1) if align_corners and outputs > 1 else (size, outputs)
    if not outputs:
        return 0
    whole = outputs // (unit // math.gcd(step, unit))  # outputs that end where an input ends
    return outputs * step // unit + outputs - whole


def _gradient_taps(method: Callable[..., Any], grads: Array, original_image: Array, *settings: bool) -> tuple[Any, Any]:
    """Check the original image and return the taps of its rows and columns."""
    _check_centers(*settings)
    _check_image(grads, "grads")
    _check_image(original_image, "original_image")
    return _taps(method, original_image.shape, *grads.shape[1:3], *settings)


flops("ResizeBilinearGrad")(counted(Cost(8, macs=4), 0, "A multiply-add for each of the four neighbours."))
shaped("*, ... -> ...", "ResizeBilinearGrad", "ResizeBicubicGrad")
flops("ResizeBicubicGrad")(counted(Cost(32, macs=16), 0, "A multiply-add for each of the sixteen neighbours."))
# TensorFlow declares it so, although the op is as linear as that of ResizeBicubic.
not_differentiable("ResizeBilinearGrad")


@gradient("ResizeBicubicGrad", "ResizeNearestNeighborGrad")
def resize_grad_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    """Return the resize of the gradient: the op is linear in its gradient input."""
    attrs = {name: node.attr(name) for name in ("align_corners", "half_pixel_centers")}
    return [g.apply(node.op.removesuffix("Grad"), grad, _size_of(g, node.inputs[0]), **attrs), None]


facts("backward", of=("ResizeBicubicGrad", "ResizeBilinearGrad"))


@gradient_by_parts("ResizeArea")
def resize_area_parts(g: GradientBuilder, node: Node, inputs: Sequence[Output]) -> list[Output]:
    """Multiply by the matrices that an identity gives as an image; TensorFlow has no gradient for the op."""
    images, size = inputs
    height, width = (_area_weights(g, node, images, size, axis) for axis in (0, 1))
    rows = g.Einsum([height, g.Cast(images, DstT="float32")], equation="ih,nhwc->niwc")
    return [g.Einsum([width, rows], equation="jw,niwc->nijc")]


def _area_weights(g: GradientBuilder, node: Node, images: Output, size: Output, axis: int) -> Output:
    """Return the matrix (target, source) of the weights along height or width."""
    source, target = (
        g.StridedSlice(values, [place], [place + 1], [1], shrink_axis_mask=1)
        for values, place in ((g.shape_of(images), axis + 1), (size, axis))
    )
    one = g.constant(1, "int32")
    identity = g.MatrixDiag(g.Fill(g.Pack([source], axis=0), g.constant(1.0, "float32")))
    image = g.Reshape(identity, g.Pack([one, source, source, one], axis=0))
    weights = g.ResizeArea(image, g.Pack([target, source], axis=0), align_corners=node.attr("align_corners"))
    # The weights depend on sizes alone, and ResizeArea would be asked for its own gradient again.
    return g.StopGradient(g.Reshape(weights, g.Pack([target, source], axis=0)))


def _size_of(g: GradientBuilder, images: Output) -> Output:
    return g.StridedSlice(g.shape_of(images), [1], [3], [1])


def _positions_taken(grads: Array, size: Array, *settings: bool) -> tuple[tuple[int, int], Array, Array]:
    """Return height and width of the image, and the rows and columns of the nearest neighbours of `grads`."""
    _check_centers(*settings)
    _check_image(grads, "grads")
    height, width = ints(size, "size", 2)
    require(height > 0 and width > 0, f"size must be positive, not {(height, width)}")
    return (height, width), *_taps(numerics.nearest, (1, height, width, 1), *grads.shape[1:3], *settings)


_FEW = 8
"""The number of taps up to which rows are added in turn, reading whole lines of memory."""


def _sum_along(axis: int, x: Array, targets: Array, count: int) -> Array:
    """Slice i along an axis added to slice targets[i] of `count`; targets do not decrease."""
    result = np.zeros((*x.shape[:axis], count, *x.shape[axis + 1 :]), x.dtype)
    if not len(targets):
        return result
    # Targets are sorted, so equal ones are runs.
    starts = np.flatnonzero(np.concatenate(([True], targets[1:] != targets[:-1])))
    sizes = np.diff(starts, append=len(targets))
    before: tuple[Any, ...] = (slice(None),) * axis
    # Sums of runs visit each element once, however long the runs are, but read memory in short pieces.
    if sizes.max() > _FEW:
        result[(*before, targets[starts])] = np.add.reduceat(x, starts, axis)
        return result
    for turn in range(sizes.max()):
        places = starts[sizes > turn]
        result[(*before, _slice_of(targets[places]))] += x[(*before, _slice_of(places + turn))]
    return result


def _slice_of(places: Array) -> Any:
    """Return the slice that takes ascending places, where they are evenly apart."""
    first, last = int(places[0]), int(places[-1])
    # A slice is a view; an index with an array would copy the rows before they are added.
    step = int(places[1]) - first if len(places) > 1 else 1
    return slice(first, last + 1, step) if (np.diff(places) == step).all() else places


def _scaling_taps(
    shape: tuple[int, ...], height: int, width: int, scale: Array, translation: Array, kernel_type: str, antialias: bool
) -> list[Taps]:
    require(kernel_type in numerics.SAMPLING_KERNELS, f"unknown kernel_type '{kernel_type}'")
    scales, translations = _pair(scale, "scale"), _pair(translation, "translation")
    require(all(factor > 0 for factor in scales), f"scale must be positive, not {scales}")
    sizes = zip(shape[1:3], (height, width), scales, translations)
    return [numerics.scaled_and_translated(*size, kernel_type, antialias) for size in sizes]


def _pair(x: Array, name: str) -> list[Any]:
    """Return the two numbers of a vector, for rows and columns."""
    require_shape(x, (2,), name)
    return x.tolist()


@gradient("ScaleAndTranslate")
def scale_and_translate_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    image, _, scale, translation = node.inputs
    attrs = {name: node.attr(name) for name in ("kernel_type", "antialias")}
    dx = g.ScaleAndTranslateGrad(grad, g.Cast(image, DstT="float"), scale, translation, **attrs)
    return [g.Cast(dx, DstT=image.base_dtype), None, None, None]


@flops("ScaleAndTranslate")
def scale_and_translate_flops(
    images: TensorSpec, size: TensorSpec, scale: TensorSpec, *, kernel_type: str, antialias: bool, outputs: list[TensorSpec]
) -> Cost:
    """Rows, then columns: for each element a multiply-add for each place of the kernel, inside of the image or not."""
    return _scaling_cost(images, outputs[0], scale, kernel_type, antialias)


def _scaling_cost(images: TensorSpec, scaled: TensorSpec, scale: TensorSpec, kernel_type: str, antialias: bool) -> Cost:
    batch, *sizes, channels = with_rank(images.shape, 4)
    height, width = with_rank(scaled.shape, 4)[1:3]
    scales = [None, None] if scale.value is None else _pair(scale.value, "scale")
    rows, columns = (_span(n, factor, kernel_type, antialias) for n, factor in zip(sizes, scales))
    return multiply_adds(batch * height * channels * (sizes[1] * rows + width * columns))


def _span(size: DimLike, scale: Any, kernel_type: str, antialias: bool) -> DimLike:
    """Return the number of taps of each output position; unknown where the scale stretches the kernel and is unknown."""
    require(kernel_type in numerics.SAMPLING_KERNELS, f"unknown kernel_type '{kernel_type}'")
    if antialias and scale is None:
        return UNKNOWN.num_elements
    require(scale is None or scale > 0, f"scale must be positive, not {scale}")
    stretch = max(1 / scale, 1) if antialias else 1
    # To either side of the center the radius of the kernel, stretched when the image shrinks.
    return dim_min(2 * math.ceil(numerics.SAMPLING_KERNELS[kernel_type][0] * stretch) + 1, size)


@flops("ScaleAndTranslateGrad")
def scale_and_translate_grad_flops(
    grads: TensorSpec, original_image: TensorSpec, scale: TensorSpec, *, kernel_type: str, antialias: bool
) -> Cost:
    """The multiply-adds of the forward pass again."""
    return _scaling_cost(original_image, grads, scale, kernel_type, antialias)


@gradient("ScaleAndTranslateGrad")
def scale_and_translate_grad_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    """Return the forward op of the gradient: the op is linear in its gradient input."""
    grads, _, scale, translation = node.inputs
    attrs = {name: node.attr(name) for name in ("kernel_type", "antialias")}
    return [g.ScaleAndTranslate(grad, _size_of(g, grads), scale, translation, **attrs), None, None, None]


def _resized_onnx(
    g: Any, images: Any, size: Any, mode: str, align_corners: bool, half_pixel_centers: bool, **attrs: Any
) -> Any:
    """(n, h, w, c) of other sizes; where half_pixel_centers is false, pixels stand at their corners."""
    # ONNX's names for TensorFlow's two flags.
    how = "align_corners" if align_corners else "half_pixel" if half_pixel_centers else "asymmetric"
    # By the reshape, ONNX's checker knows that there are four sizes.
    sizes = g.joined(g.dim(images, 0), g.dim(images, 3), g.vector(g.reshape(size, 2)))
    attrs = {"mode": mode, "coordinate_transformation_mode": how, **attrs}
    return g.channels_last(g.Resize(g.channels_first(images), None, None, sizes, **attrs), 4)


# ONNX has an operator for these two, for sizes of any kind.
@onnx("ResizeBilinear")
def _bilinear_onnx(g: Any, images: Any, size: Any, *, align_corners: bool, half_pixel_centers: bool) -> Any:
    return _resized_onnx(g, g.cast(images, dtypes.float32), size, "linear", align_corners, half_pixel_centers)


@onnx("ResizeNearestNeighbor")
def _nearest_onnx(g: Any, images: Any, size: Any, *, align_corners: bool, half_pixel_centers: bool) -> Any:
    # TensorFlow rounds to the nearest pixel with aligned corners and rounds down otherwise. With half-pixel centers ONNX
    # counts from the center of a pixel, so that its position is half a pixel less, which rounding makes up for.
    rounding = "round_prefer_ceil" if align_corners or half_pixel_centers else "floor"
    return _resized_onnx(g, images, size, "nearest", align_corners, half_pixel_centers, nearest_mode=rounding)


def _area_taps(images: Array, size: Array, align_corners: bool, half_pixel_centers: bool) -> tuple[Any, Any]:
    return _taps(numerics.area, images.shape, *_size(images, size), align_corners)


def _resizing(taps: Callable[..., tuple[Taps, Taps]], resample: Callable[..., Any]) -> Callable[..., Any]:
    """Return the program of a resizing; `taps` of images, a size and the attributes says how to `resample` both axes."""

    def program(xp: Any, images: Any, size: Any, *, align_corners: bool, half_pixel_centers: bool = False) -> Any:
        return resample(xp, images, *taps(images, size, align_corners, half_pixel_centers))

    return program


def _gradient_of_resizing(method: Callable[..., Taps]) -> Callable[..., Any]:
    """Return the program of the gradient of a resizing."""

    def program(xp: Any, grads: Any, images: Any, *, align_corners: bool, half_pixel_centers: bool) -> Any:
        taps = _gradient_taps(method, grads, images, align_corners, half_pixel_centers)
        if not xp.is_eager:
            return _added(xp, grads, images.dtype, *taps)
        # TensorFlow multiplies in float32 and adds in double precision, whatever the products lose.
        if images.dtype == np.float64:
            return numerics.resample_gradient_wide(grads, *taps)
        return numerics.resample_gradient(grads, *taps).astype(images.dtype, copy=False)

    return program


def _taken(xla: Any, images: Any, *axes: Taps) -> Any:
    """Resample images (N, H, W, C) along height and width, float32; NaN stays at its taps."""
    resized = images.astype(np.float32)
    if numerics.stays(images.shape, *axes):
        return resized
    for axis, taps in enumerate(axes, start=1):
        if taps.is_between:
            resized = numerics.interpolate(xla, resized, taps, axis)
            continue
        # The weights get a dimension for each that follows the axis, and broadcast over the others.
        weights = taps.weights.astype(np.float32).reshape(*taps.weights.shape, *(1,) * (3 - axis))
        resized = xla.sum(xla.take(resized, taps.indices, axis=axis) * weights, axis=axis + 1)
    return resized


def _multiplied(xp: Any, images: Any, rows: Taps, columns: Taps) -> Any:
    """Resample by products with matrices: a third of the time in onnxruntime, but NaN spreads along rows and columns."""
    return _spread(xp, images.astype(np.float32), rows.matrix(np.float32).T, columns.matrix(np.float32).T)


def _added(xla: Any, grads: Any, dtype: Any, rows: Taps, columns: Taps) -> Any:
    """Return the gradient for images of that dtype; in double the sums alone are double, as TensorFlow's are."""
    if dtype != np.float64:
        return _spread(xla, grads, rows.matrix(np.float32), columns.matrix(np.float32)).astype(dtype)
    total: Any = 0
    # One pair of taps at a time: the product of the two weights with the gradient is rounded to float32 before it is added.
    for i, row_weight in zip(rows.indices.T, rows.weights.T.astype(np.float32)):
        for j, column_weight in zip(columns.indices.T, columns.weights.T.astype(np.float32)):
            part = grads * row_weight[:, None, None] * column_weight[:, None]
            total = total + _spread(xla, part.astype(np.float64), _ones(i, rows.size), _ones(j, columns.size))
    return total


def _spread(xla: Any, grads: Any, rows: Array, columns: Array) -> Any:
    """Products with the matrices (outputs, size) of both axes."""
    tall = xla.einsum("oh,nopc->nhpc", rows, grads)
    return xla.einsum("pw,nhpc->nhwc", columns, tall)


def _ones(places: Array, size: int, dtype: Any = np.float64) -> Array:
    """Return the matrix (outputs, size) that takes a single position for each output."""
    return (places[:, None] == np.arange(size)).astype(dtype)


_bilinear, _bicubic = (functools.partial(_image_taps, method) for method in (numerics.bilinear, numerics.bicubic))
resize_bilinear: Final = functools.partial(_resizing(_bilinear, _resampled), NUMPY)
for _op, _of_images in (("ResizeBilinear", _bilinear), ("ResizeBicubic", _bicubic), ("ResizeArea", _area_taps)):
    kernel(_op)(functools.partial(_resizing(_of_images, _resampled), NUMPY))
    lower(_op, static=(1,))(_resizing(_of_images, _taken))
    if _op != "ResizeBilinear":
        onnx_arrays(_op, static=(1,))(_resizing(_of_images, _multiplied))
everywhere("ResizeBilinearGrad")(_gradient_of_resizing(numerics.bilinear))
everywhere("ResizeBicubicGrad")(_gradient_of_resizing(numerics.bicubic))


@lower("ResizeNearestNeighbor", static=(1,))
def _nearest_lowered(xla: Any, images: Any, size: Array, *, align_corners: bool, half_pixel_centers: bool) -> Any:
    rows, columns = _image_taps(numerics.nearest, images, size, align_corners, half_pixel_centers)
    return xla.take(xla.take(images, rows, axis=1), columns, axis=2)


@everywhere(
    "ResizeNearestNeighborGrad",
    shape=resize_shape,
    flops=counted(1, 0, "A sum for each element."),
    facts=("backward", "half_clear"),
    static=(1,),
)
def resize_nearest_neighbor_grad(xp: Any, grads: Any, size: Array, *, align_corners: bool, half_pixel_centers: bool) -> Any:
    """The gradient for an image of height and width `size`."""
    (height, width), rows, columns = _positions_taken(grads, size, align_corners, half_pixel_centers)
    sums = wide(grads)  # half precision would lose the sums of many pixels that share a source
    if xp.is_eager:
        total = _sum_along(2, _sum_along(1, sums, rows, height), columns, width)
    else:
        total = _spread(xp, sums, _ones(rows, height, sums.dtype), _ones(columns, width, sums.dtype))
    return total.astype(grads.dtype)


@everywhere("ScaleAndTranslate", static=(1, 2, 3), shape=resize_shape)
def scale_and_translate(
    xp: Any, images: Any, size: Array, scale: Array, translation: Array, *, kernel_type: str, antialias: bool
) -> Any:
    """The image scaled, then moved, through an antialiasing kernel: (N, height, width, C), float32."""
    height, width = _size(images, size)
    taps = _scaling_taps(images.shape, height, width, scale, translation, kernel_type, antialias)
    return (_resampled if xp.is_eager else _multiplied)(xp, images, *taps)


@everywhere("ScaleAndTranslateGrad", static=(2, 3), shape="*, ... -> ...", facts=("backward",))
def scale_and_translate_grad(
    xp: Any, grads: Any, images: Any, scale: Array, translation: Array, *, kernel_type: str, antialias: bool
) -> Any:
    """The gradient for the original image."""
    _check_gradient(grads, images)
    taps = _scaling_taps(images.shape, grads.shape[1], grads.shape[2], scale, translation, kernel_type, antialias)
    return numerics.resample_gradient(grads, *taps) if xp.is_eager else _added(xp, grads, images.dtype, *taps)
