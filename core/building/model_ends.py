"""Graphs in front of a model and behind it: pictures and base64 to the model's input, scores to the best classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from ..graph.graph import Graph, Output
from ..graph.node_making import add_argument
from ..graph.purity import add_function
from ..support.errors import InvalidArgumentError
from ..support.hints import Hint, step
from ..types import dtypes
from ..types.dtypes import DType
from ..types.shapes import Shape
from .builder import GraphBuilder

_CHANNELS: Final = (1, 3, 4)
"""The numbers of channels that a picture is decoded to: grey, RGB, RGB with transparency."""


_EXACT_BITS: Final = 16
"""The width of integers whose limits float32 has."""


class Pixels(NamedTuple):
    """The pictures that a model takes."""

    height: int
    width: int
    channels: int
    channels_first: bool
    rows: int | None
    """The number of pictures, None for any."""
    is_batch: bool


class ModelEnd(NamedTuple):
    """A graph in front of a model or behind it."""

    graph: Graph
    input: str
    """The tensor of its input."""
    output: str
    """The tensor of the only output, or of the first."""


def pixels_of(shape: Shape, name: str) -> Pixels:
    """Return the pictures that an input of a shape takes: (batch, height, width, channels), (batch, channels, height, width),
    or the same without a batch; InvalidArgumentError for other shapes and for unknown sizes.
    """
    dims = tuple(shape.dims or ())
    sizes = dims[1:] if len(dims) == 4 else dims
    last, first = (sizes[-1], sizes[0]) if len(sizes) == 3 else (None, None)
    # Only if the last size cannot be that of channels: (3, 224, 3) may be either, and TensorFlow's default is channels last.
    channels_first = last not in _CHANNELS and first in _CHANNELS
    plane = sizes[1:] if channels_first else sizes[:2]
    channels = first if channels_first else last
    if channels not in _CHANNELS or not all(isinstance(size, int) for size in plane):
        raise InvalidArgumentError(
            f"input '{name}' of shape {shape} does not tell the size of a picture",
            hint=Hint(
                "set its height, width and channels, for instance ", step("shape", name=name, sizes=[None, 224, 224, 3])
            ),
        )
    rows = dims[0] if len(dims) == 4 and isinstance(dims[0], int) else None
    height, width = plane
    return Pixels(int(height), int(width), int(channels), channels_first, rows, len(dims) == 4)


def picture_decoder(
    name: str, pixels: Pixels, dtype: DType, mean: Sequence[float] = (), scale: Sequence[float] = (), *, bgr: bool = False
) -> ModelEnd:
    """Return a graph from encoded pictures to what a model takes: (pixel - mean) * scale, in the order of its channels.

    The input `name` has a string for each picture: JPEG, PNG, GIF or BMP. The size changes as by `tf.image.resize`, bilinear
    and without antialiasing. Integers are rounded, and cut off where the dtype ends.
    """
    g = GraphBuilder()
    contents = g.Placeholder(dtype=dtypes.string, shape=[pixels.rows] if pixels.is_batch else [], name=name)
    if pixels.is_batch:
        # The pictures of a batch have sizes of their own until each is resized, so each is decoded in a call.
        body = GraphBuilder(g.graph.emptied())
        argument = add_argument(body.graph, "contents", dtypes.string, 0)
        resized = _resized(body, argument.output(), pixels)
        function = add_function(g.graph, "decode_picture", body.graph, [argument], [resized])
        shapes = [Shape((pixels.height, pixels.width, pixels.channels))]
        value = g.MapDefun([contents], [], f=function, output_types=[dtypes.float32], output_shapes=shapes, name="decoded")[0]
    else:
        value = _resized(g, contents, pixels)
    value = _scaled(g, value, mean, scale, bgr=bgr, axis=3 if pixels.is_batch else 2)
    if pixels.channels_first:
        order = [0, 3, 1, 2] if pixels.is_batch else [2, 0, 1]
        value = g.Transpose(value, np.array(order, np.int32), name="channels_first")
    return ModelEnd(g.graph, contents.name, _as_dtype(g, value, dtype).name)


def _resized(g: GraphBuilder, contents: Output, pixels: Pixels) -> Output:
    """Add the decoding of a picture, (height, width, channels) in float32."""
    # Without `expand_animations=False` a GIF would have a dimension for its frames.
    picture = g.DecodeImage(contents, channels=pixels.channels, dtype=dtypes.uint8, expand_animations=False, name="decode")
    batch = g.ExpandDims(picture, np.int32(0), name="batch")
    size = np.array([pixels.height, pixels.width], np.int32)
    resized = g.ResizeBilinear(batch, size, half_pixel_centers=True, name="resize")
    result: Output = g.Squeeze(resized, squeeze_dims=[0], name="resized")
    return result


def _scaled(g: GraphBuilder, value: Output, mean: Sequence[float], scale: Sequence[float], *, bgr: bool, axis: int) -> Output:
    if bgr:
        value = g.ReverseV2(value, np.array([axis], np.int32), name="bgr")
    if mean:
        value = g.Sub(value, np.array(mean, np.float32), name="centered")
    if scale:
        value = g.Mul(value, np.array(scale, np.float32), name="scaled")
    return value


def _as_dtype(g: GraphBuilder, value: Output, dtype: DType) -> Output:
    """Add a cast from float32; integers are rounded, and those of up to 16 bits cut off where the dtype ends."""
    if dtype.is_integer:
        value = g.Rint(value, name="rounded")
    # A cast of numbers beyond the dtype wraps around; the limits of wider dtypes are not float32 numbers.
    if dtype.is_integer and np.iinfo(dtype.numpy).bits <= _EXACT_BITS:
        limits = np.iinfo(dtype.numpy)
        value = g.ClipByValue(value, np.float32(limits.min), np.float32(limits.max), name="clipped")
    if dtype is dtypes.float32:
        return value
    result: Output = g.Cast(value, DstT=dtype, name="pixels")
    return result


def base64_decoder(name: str, shape: Shape) -> ModelEnd:
    """Return a graph from base64 to the bytes that an input of strings takes; both alphabets, with padding or without."""
    g = GraphBuilder()
    text = g.Placeholder(dtype=dtypes.string, shape=shape, name=name)
    url_safe = text
    # DecodeBase64 knows only the alphabet that is safe in URLs, and no white space.
    for letter, other in ((r"\+", b"-"), ("/", b"_"), (r"\s", b"")):
        url_safe = g.StaticRegexReplace(url_safe, pattern=letter.encode(), rewrite=other)
    return ModelEnd(g.graph, text.name, g.DecodeBase64(url_safe, name="bytes").name)


def best_classes(shape: Shape, dtype: DType, k: int, labels: Sequence[str] | None = None) -> ModelEnd:
    """Return a graph from scores (..., classes) to the `k` largest scores and their classes, the largest first: labels, or
    numbers without labels. InvalidArgumentError for scores that are no real numbers, for fewer classes than `k`, and where
    there is not one label for each class.
    """
    count = shape.dims[-1] if shape.dims else None
    if shape.dims == () or not (dtype.is_floating or dtype.is_integer):
        raise InvalidArgumentError(f"ranking classes needs real scores, and the output is {dtype} of shape {shape}")
    if k < 1 or (isinstance(count, int) and k > count):
        raise InvalidArgumentError(f"an output of shape {shape} does not have {k} best classes")
    if labels is not None and isinstance(count, int) and len(labels) != count:
        hint = "use the labels of this model; some models count the background as class 0"
        raise InvalidArgumentError(f"{len(labels)} labels do not fit {count} classes", hint=hint)
    g = GraphBuilder()
    scores = g.Placeholder(dtype=dtype, shape=shape, name="input")
    best, numbers = g.TopKV2(scores, np.int32(k), name="top")
    values = g.Identity(best, name="scores")
    if labels is None:
        g.Identity(numbers, name="classes")
    else:
        g.GatherV2([label.encode() for label in labels], numbers, np.int32(0), name="classes")
    return ModelEnd(g.graph, scores.name, values.name)
