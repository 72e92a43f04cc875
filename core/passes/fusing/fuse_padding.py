"""Padding and resizing fused into the convolution behind them."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from ...graph.graph import Node, Output
from ...registry.op_facts import ops_with
from ...types import dtypes
from ..base.accuracy import Accuracy
from ..base.rule_sets import RuleSet
from ..rules.linear_maps import is_read, is_read_only_by
from ..rules.rewrite import Rewriter, attrs_of

ZERO_PADDING = RuleSet()
"""The rules whose result has gradients."""
MIRROR_PADDING = RuleSet()

_CONVOLUTIONS = ("Conv2D", "DepthwiseConv2dNative", "_FusedConv2D")
_BIASES = ("BiasAdd", *ops_with("addition"))
_FUSED_PAD_DTYPES = ("float", "double", "half", "bfloat16")


@ZERO_PADDING.rule(*_CONVOLUTIONS, algebra="conv(pad(x, p), padding v) -> conv(x, padding v + p)", accuracy=Accuracy.ROUNDING)
def pad_into_convolution(r: Rewriter, node: Node) -> Output | None:
    pad = node.inputs[0].node
    if pad.op not in ("Pad", "PadV2") or not is_read(r, node):
        return None
    if pad.op == "PadV2" and not r.is_all(pad.inputs[2], 0):
        r.refuse("it does not pad with zeros")
        return None
    if node.attr("padding") == b"SAME":
        r.refuse("padding SAME depends on the padded size")
        return None
    if node.op == "DepthwiseConv2dNative" and any(user.op in _BIASES for user in node.uses):
        # Grappler would fuse the two for any padding, and an explicit padding would abort the process.
        r.refuse("TensorFlow cannot fuse a depthwise convolution with explicit padding and its bias")
        return None
    is_first = node.attr("data_format") == b"NCHW"
    paddings = _spatial_paddings(r, pad, node, (2, 3) if is_first else (1, 2))
    if paddings is None:
        return None
    before = node.attr("explicit_paddings") or [0] * 8
    explicit = [a + b for a, b in zip(before, itertools.chain.from_iterable(paddings.tolist()))]
    attrs = attrs_of(node, padding=b"EXPLICIT", explicit_paddings=explicit)
    return r.add(node.op, pad.inputs[0], *_other_arguments(node), **attrs)


def _other_arguments(node: Node) -> tuple[Any, ...]:
    """Return the weights, and for the fused op the lists of arguments and host arguments."""
    if node.op != "_FusedConv2D":
        return (node.inputs[1],)
    end = 2 + node.attrs["num_args"]
    return (node.inputs[1], node.inputs[2:end], node.inputs[end:])


@MIRROR_PADDING.rule(
    "Conv2D",
    algebra="conv(mirror_pad(resize(x, s), p), w) -> fused_resize_and_pad_conv(x, s, p, w)",
    accuracy=Accuracy.ROUNDING,
)
def resize_into_convolution(r: Rewriter, node: Node) -> Output | None:
    pad = node.inputs[0].node
    resize = pad.inputs[0].node if pad.op == "MirrorPad" else pad
    if resize.op != "ResizeBilinear" or not _has_fused_kernel(r, node, ("float",)):
        return None
    if resize.attr("half_pixel_centers"):
        r.refuse("FusedResizeAndPadConv2D does not support half_pixel_centers")
        return None
    if resize.attrs["T"] is not dtypes.float32:
        r.refuse(f"FusedResizeAndPadConv2D does not support {resize.attrs['T'].name} images with float weights")
        return None
    if not is_read_only_by(r, resize, [pad, node]):
        r.refuse(f"other nodes also read {resize.name}")
        return None
    paddings = _mirror_paddings(r, pad, node) if pad is not resize else r.constant(np.zeros((4, 2)), resize.inputs[1])
    if paddings is None:
        return None
    attrs = {**_fused_attributes(node, pad), "resize_align_corners": resize.attr("align_corners")}
    return r.FusedResizeAndPadConv2D(*resize.inputs, paddings, node.inputs[1], **attrs)


@MIRROR_PADDING.rule("Conv2D", algebra="conv(mirror_pad(x, p), w) -> fused_pad_conv(x, p, w)", accuracy=Accuracy.ROUNDING)
def mirror_pad_into_convolution(r: Rewriter, node: Node) -> Output | None:
    pad = node.inputs[0].node
    if pad.op != "MirrorPad" or not _has_fused_kernel(r, node, _FUSED_PAD_DTYPES):
        return None
    paddings = _mirror_paddings(r, pad, node)
    if paddings is None:
        return None
    return r.FusedPadConv2D(pad.inputs[0], paddings, node.inputs[1], **_fused_attributes(node, pad))


def _mirror_paddings(r: Rewriter, pad: Node, node: Node) -> Output | None:
    """Return the paddings as int32, if height and width alone are padded."""
    if _spatial_paddings(r, pad, node, (1, 2)) is None:
        return None
    return pad.inputs[1] if pad.inputs[1].dtype is dtypes.int32 else r.Cast(pad.inputs[1], DstT=dtypes.int32)


def _fused_attributes(node: Node, pad: Node) -> dict[str, Any]:
    mode = pad.attr("mode") if pad.op == "MirrorPad" else b"REFLECT"
    return {"mode": mode, "strides": node.attr("strides"), "padding": node.attr("padding")}


def _spatial_paddings(r: Rewriter, pad: Node, node: Node, spatial: tuple[int, int]) -> Any:
    """Return the paddings of the image's height and width; None, with a refusal, where there may be others."""
    paddings = r.constant_value(pad.inputs[1])
    if paddings is None:
        r.refuse("the paddings are not constant")
    elif any(np.any(pair != 0) for axis, pair in enumerate(paddings) if axis not in spatial):
        r.refuse("it also pads the batch or the channels")
    elif not is_read_only_by(r, pad, [node]):
        r.refuse(f"other nodes also read {pad.name}")
    else:
        return paddings
    return None


def _has_fused_kernel(r: Rewriter, node: Node, names: tuple[str, ...]) -> bool:
    """Return True where TensorFlow's kernels that pad while they convolve give the same result.

    The kernels mix up the images of a batch, whatever the batch size; so their result is right for a single image only.
    """
    if not is_read(r, node):
        return False
    dims = r.shape(node.output()).dims
    for is_wrong, reason in (
        (node.attrs["T"].name not in names, f"the fused op has no kernel for {node.attrs['T'].name}"),
        (node.attr("data_format") != b"NHWC", "the fused op supports only NHWC"),
        (node.attr("padding") == b"EXPLICIT", "the fused op does not support additional explicit padding"),
        (list(node.attr("dilations")) != [1] * 4, "the fused op does not support dilations"),
        (dims is None or dims[0] != 1, "TensorFlow's fused op mixes up the images of a batch, and the batch may have several"),
    ):
        if is_wrong:
            r.refuse(reason)
            return False
    return True
