"""Resizing, padding and convolution fused into an op."""

from __future__ import annotations

from collections.abc import Sequence

from ...building.gradbuilder import GradientBuilder
from ...graph.graph import Node, Output
from ...numerics.array_namespace import NUMPY
from ...registry.registry import Cost, flops, kernel, shape
from ...types.arrays import Array, Result
from ...types.shapes import Shape, TensorSpec, shape_from
from ..array.padding import mirror_pad, pad_shape
from ..image import image_resize
from ..shared.argument_checks import require, require_rank, with_rank
from ..shared.decompositions import composed
from ..shared.plain_shapes import resize_shape
from ..shared.window_geometry import WindowAttributes
from . import convolution


@composed("FusedPadConv2D", "FusedResizeAndPadConv2D", static=(1, -2))
def padded_convolution_parts(g: GradientBuilder, node: Node, inputs: Sequence[Output]) -> list[Output]:
    """The resizing, the padding and the convolution."""
    images, *sizes, paddings, filters = inputs
    if sizes:
        resized = g.ResizeBilinear(images, *sizes, align_corners=node.attr("resize_align_corners"))
        # ResizeBilinear gives float32, whatever the images are, and the convolution takes the filter's dtype.
        images = g.Cast(resized, DstT=node.attr("T"))
    padded = g.MirrorPad(images, paddings, mode=node.attr("mode"))
    return [g.Conv2D(padded, filters, strides=node.attr("strides"), padding=node.attr("padding"))]


def _mirror_pad(x: Array, paddings: Array, mode: str) -> Array:
    require(paddings.shape == (4, 2), f"paddings must have shape (4, 2), not {paddings.shape}")
    require(not paddings[[0, 3]].any(), f"paddings {paddings.tolist()} of batch or channels")
    padded: Array = mirror_pad(NUMPY, x, paddings, mode=mode)
    return padded


def _geometry(window: WindowAttributes) -> convolution.Geometry:
    # The op has no dilations, and the checks ask for four.
    return convolution.Geometry(4, window._replace(dilations=(1,) * 4))


@kernel("FusedPadConv2D", facts=("fused_kernel",))
def fused_pad_conv2d(input: Array, paddings: Array, filter: Array, *, mode: str, window: WindowAttributes) -> Result:
    """A mirror padding and a convolution."""
    require_rank(input, 4, "input")
    return convolution.convolve(_mirror_pad(input, paddings, mode), filter, _geometry(window))


@kernel("FusedResizeAndPadConv2D", facts=("fused_kernel",))
def fused_resize_and_pad_conv2d(
    input: Array,
    size: Array,
    paddings: Array,
    filter: Array,
    *,
    resize_align_corners: bool,
    mode: str,
    window: WindowAttributes,
) -> Result:
    """A bilinear resizing, a mirror padding and a convolution."""
    # The op is older than half-pixel centers, and has no attribute for them.
    resized = image_resize.resize_bilinear(input, size, align_corners=resize_align_corners, half_pixel_centers=False)
    return convolution.convolve(_mirror_pad(resized.astype(input.dtype), paddings, mode), filter, _geometry(window))


def _padded_shape(x: TensorSpec, paddings: TensorSpec) -> TensorSpec:
    dims = with_rank(x.shape, 4)
    if paddings.value is None:
        return TensorSpec(x.dtype, Shape((dims[0], None, None, dims[3])))
    return TensorSpec(x.dtype, pad_shape(TensorSpec(x.dtype, Shape(dims)), paddings))


@shape("FusedPadConv2D")
def fused_pad_conv2d_shape(input: TensorSpec, paddings: TensorSpec, filter: TensorSpec, *, window: WindowAttributes) -> Shape:
    return convolution.convolution_shape(_padded_shape(input, paddings), filter, _geometry(window))


@shape("FusedResizeAndPadConv2D")
def fused_resize_and_pad_conv2d_shape(
    input: TensorSpec, size: TensorSpec, paddings: TensorSpec, filter: TensorSpec, *, window: WindowAttributes
) -> Shape:
    return fused_pad_conv2d_shape(TensorSpec(input.dtype, resize_shape(input, size)), paddings, filter, window=window)


@flops("FusedPadConv2D")
def fused_pad_conv2d_flops(input: TensorSpec, paddings: TensorSpec, filter: TensorSpec, *, outputs: list[TensorSpec]) -> Cost:
    return convolution.convolution_flops(input, filter, outputs=outputs)


@flops("FusedResizeAndPadConv2D")
def fused_resize_and_pad_conv2d_flops(
    input: TensorSpec, size: TensorSpec, paddings: TensorSpec, filter: TensorSpec, *, outputs: list[TensorSpec]
) -> Cost:
    """The convolution, and three interpolations for each resized element."""
    height, width = shape_from(size, 2)
    batch, _, _, channels = with_rank(input.shape, 4)
    resized = Cost(9, macs=3) * (batch * height * width * channels)
    return convolution.convolution_flops(input, filter, outputs=outputs) + resized
