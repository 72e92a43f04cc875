"""Values as a page shows them: statistics, a histogram, the first elements, a file, and small pictures.

Pictures are images, heat maps of feature maps and matrices, lines of sequences.
"""

from __future__ import annotations

import base64
import io
import math
import zlib
from collections.abc import Iterator, Mapping
from typing import Final, TypeVar

import numpy as np

from ..explaining.node_listing import value_text
from ..graph.graph import Node
from ..numerics.tensor_statistics import TensorStatistics, histogram
from ..support import dataclasses
from ..types.arrays import Array
from ..types.dtypes import DType, from_numpy
from ..types.shapes import Shape
from ..types.tensors import Tensor

_PIXELS: Final = 9216
"""How many elements all tiles of a picture have at most: a matrix of 96 x 96, or 9 maps of 32 x 32."""
_IMAGES: Final = 4
_TILES: Final = 12
_LINES: Final = 3
_POINTS: Final = 128
_READ: Final = 1024
"""How many rows and columns of a matrix are read; a larger matrix is read in steps."""
_TOP: Final = 254
_NOT_FINITE: Final = 255
_LAYOUTS: Final = ("NHWC", "NCHW")


@dataclasses.dataclass(frozen=True, slots=True)
class ValuePicture:
    """Tiles of `height` x `width` elements, one after the other, each a byte for each channel.

    A byte of an image is its brightness. A byte of a map or line is a level from 0 at `ends[0]` to 254 at `ends[1]`; 255 is
    NaN or an infinity.
    """

    kind: str
    """image, map or line."""
    width: int
    height: int
    channels: int
    pixels: str
    """The bytes, deflated and in base64."""
    ends: tuple[float, float]
    about: str
    """What the tiles are of, and what is left out."""


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class PictureFrame:
    """The part of a value that a picture shows: (tiles, rows, columns, channels), still as large as the value."""

    kind: str
    tiles: Array
    about: str

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """The sizes of the picture."""
        count, rows, columns, channels = self.tiles.shape
        if self.kind == "line":
            return count, 1, min(columns, _POINTS), 1
        # A page has pictures of thousands of values: the bytes of each are bounded, so more tiles are smaller tiles.
        side = math.isqrt(_PIXELS // (count * channels))
        if self.kind == "map":
            return count, min(rows, side), min(columns, side), 1
        scale = min(1.0, side / max(rows, columns))
        return count, max(1, int(rows * scale)), max(1, int(columns * scale)), channels

    @property
    def size(self) -> int:
        """The number of bytes of the picture, before they are deflated."""
        return math.prod(self.shape)

    def picture(self) -> ValuePicture:
        """Return the picture; elements that share a place are averaged."""
        _, rows, columns, channels = self.shape
        means = _averaged(self.tiles, rows, columns)
        low, high = _ends(means)
        if self.kind == "image":
            # Bytes are brightness already: a dark image stays dark.
            low, high = (0.0, 255.0) if self.tiles.dtype == np.uint8 else (low, high)
            levels = np.nan_to_num(_scaled(means, low, high) * 255).astype(np.uint8)
        else:
            # NaN and infinities have a level of their own, so that they are not taken for numbers of that size.
            finite = np.isfinite(means)
            levels = np.where(finite, np.rint(_scaled(np.where(finite, means, low), low, high) * _TOP), _NOT_FINITE)
        data = base64.b64encode(zlib.compress(levels.astype(np.uint8).tobytes())).decode()
        height, width = self.tiles.shape[1:3]
        smaller = f"; {height} x {width} averaged to {rows} x {columns}" if (height, width) != (rows, columns) else ""
        return ValuePicture(self.kind, columns, rows, channels, data, (float(low), float(high)), f"{self.about}{smaller}")


def frame(array: Array, layout: str = "") -> PictureFrame | None:
    """Return what a picture of an array shows; None for strings and for few elements.

    `layout` tells the axes of images and feature maps, NHWC or NCHW, where they are known.
    """
    # Strings and complex numbers have no order by which they could be coloured.
    if array.dtype == object or array.size < _LINES or array.dtype.kind == "c":
        return None
    if layout and array.ndim == 4:
        return _of_maps(np.moveaxis(array, 1, -1) if layout == "NCHW" else array)
    if array.ndim == 3 and array.dtype == np.uint8 and _is_image(array.shape):
        return PictureFrame("image", array[np.newaxis], "an image")
    # Axes of a single element, as that of a batch of one, show nothing.
    plain = array.squeeze()
    if plain.ndim == 1:
        return PictureFrame("line", plain[np.newaxis, np.newaxis, :, np.newaxis], f"{plain.size} elements")
    if plain.ndim == 2:
        return _of_matrix(plain)
    inner = plain
    while inner.ndim > 3:
        inner = inner[0]
    shown = inner[:_TILES]
    of_all = "" if inner is plain else f", at index 0 of the first {plain.ndim - 3}"
    return PictureFrame("map", shown[..., np.newaxis], f"{len(shown)} of {len(inner)} matrices{of_all}")


def _of_maps(array: Array) -> PictureFrame:
    """Return the frame of images or feature maps, (batch, height, width, channels)."""
    batch, height, width, channels = array.shape
    if _is_image(array.shape[1:]):
        shown = array[:_IMAGES]
        return PictureFrame("image", shown, f"{len(shown)} of {batch} images")
    of_batch = f" of example 1 of {batch}" if batch > 1 else ""
    if height * width == 1:
        return PictureFrame("line", array[:1, 0, :, :, np.newaxis], f"{channels} channels{of_batch}")
    shown = np.moveaxis(array[0], -1, 0)[:_TILES]
    return PictureFrame("map", shown[..., np.newaxis], f"{len(shown)} of {channels} channels{of_batch}")


def _of_matrix(matrix: Array) -> PictureFrame:
    """Return the frame of a matrix: a few long rows are lines."""
    rows, columns = matrix.shape
    if rows <= _LINES and columns >= 4 * rows:
        return PictureFrame("line", matrix[:, np.newaxis, :, np.newaxis], f"{rows} rows of {columns} elements")
    return PictureFrame("map", matrix[np.newaxis, ..., np.newaxis], f"{rows} rows, {columns} columns")


def _is_image(shape: tuple[int, ...]) -> bool:
    height, width, channels = shape
    return channels in (1, 3) and min(height, width) > 1


def _averaged(tiles: Array, rows: int, columns: int) -> Array:
    """Return the means over rectangles of elements, as doubles."""
    # A picture has a hundred rows. A million would be read and averaged for the same pixels.
    steps = (slice(None), *(slice(None, None, max(1, size // _READ)) for size in tiles.shape[1:3]))
    means = tiles[steps].astype(np.float64)
    for axis, size in ((1, rows), (2, columns)):
        starts = np.arange(size) * means.shape[axis] // size
        lengths = np.diff(starts, append=means.shape[axis])
        weights = np.repeat(1 / lengths, lengths)  # before the sum, which could overflow
        means = np.add.reduceat(means * weights.reshape(-1, *[1] * (3 - axis)), starts, axis)
    return means


def _ends(means: Array) -> tuple[float, float]:
    """Return the levels at the ends of the scale: zero is in the middle where there are numbers on both sides."""
    finite = means[np.isfinite(means)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)
    # So that the colour of zero is the same in all pictures with both signs.
    return (-max(-low, high), max(-low, high)) if low < 0 < high else (low, high)


def _scaled(means: Array, low: float, high: float) -> Array:
    """Return the means from 0 at `low` to 1 at `high`."""
    half = high / 2 - low / 2  # the whole may be too large for a double
    return (means / 2 - low / 2) / half if half > 0 else np.zeros_like(means)


def layouts(ranks: Mapping[Node, int]) -> dict[Node, str]:
    """Return NHWC or NCHW for the nodes whose values are images or feature maps.

    `ranks` has the rank of each node's first output in the order of a run. An attribute `data_format` tells the layout of a
    node; values of rank 4 before and after have the same, as far as first inputs lead.
    """
    known: dict[Node, str] = {}
    spatial = [node for node, rank in ranks.items() if rank == 4 and not _permutes(node)]
    for node in spatial:
        own = node.text_attr("data_format")
        layout = own if own in _LAYOUTS else next((known[source] for source in _first_input(node) if source in known), "")
        if layout:
            known[node] = layout
    # Backwards too: the value that a convolution reads has its layout, and no attribute of its own.
    for node in reversed(spatial):
        for source in _first_input(node):
            if node in known and ranks.get(source) == 4:
                known.setdefault(source, known[node])
    return known


def _permutes(node: Node) -> bool:
    return node.op_def is not None and any(argument.name == "perm" for argument in node.op_def.inputs)


def _first_input(node: Node) -> Iterator[Node]:
    yield from (value.node for value in node.inputs[:1])


# Values in words, with a file of the elements.

_BINS: Final = 24
_FIRST: Final = 16
"""How many elements are shown."""
_Key = TypeVar("_Key")


@dataclasses.dataclass(frozen=True, slots=True)
class NodeValue:
    """A value in words. `npy` holds a NumPy file, deflated and in base64, or nothing; `file_dtype` is the file's dtype
    where NumPy's files have no dtype of TensorFlow's kind.
    """

    holds: str
    facts: tuple[tuple[str, str], ...]
    first: str
    bins: tuple[int, ...] = ()
    """How many elements lie in each of equally long intervals from the minimum to the maximum."""
    ends: tuple[str, ...] = ()
    npy: str = ""
    file_dtype: str = ""
    title: str = ""
    """The run that made the value, and the output; empty for a value from the file of the graph."""
    picture: ValuePicture | None = None
    classes: tuple[tuple[str, float], ...] = ()
    """The best classes of the first example with their scores, where the value has a score for each class."""


def node_value(array: Array, dtype: DType, statistics: TensorStatistics, in_full: bool) -> NodeValue:
    """Return a value in words, with a file of all elements where `in_full` says so. Strings have no file, and a single
    element needs no more than itself.
    """
    bins = histogram(array, statistics, _BINS)
    elements = [value_text(item) for item in array.flat[:_FIRST].tolist()]
    first = f"{', '.join(elements)}{', ...' if array.size > _FIRST else ''}"
    holds = f"{dtype} {Shape(array.shape)}"
    ends = (_number(statistics.min), _number(statistics.max)) if len(bins) > 1 else ()
    value = NodeValue(holds, tuple(_facts(statistics)) if array.size != 1 else (), first, bins if len(bins) > 1 else (), ends)
    if not in_full or dtype.is_object or array.size == 1:
        return value
    saved = _saveable(array)
    note = str(saved.dtype) if saved.dtype != array.dtype else ""
    return dataclasses.replace(value, npy=_npy(saved), file_dtype=note)


def held_in_full(tensors: Mapping[_Key, Tensor], limit: int) -> set[_Key]:
    """Return the keys of the smallest tensors that take at most `limit` bytes together."""
    return smallest(
        {key: tensor.size * tensor.dtype.size for key, tensor in tensors.items() if not tensor.dtype.is_object}, limit
    )


def smallest(sizes: Mapping[_Key, int], limit: int) -> set[_Key]:
    """Return the keys of the smallest sizes whose sum is at most `limit`."""
    held: set[_Key] = set()
    # By size, so that the most values fit, and nothing behind the first that does not.
    for key in sorted(sizes, key=lambda key: sizes[key]):
        limit -= sizes[key]
        if limit < 0:
            break
        held.add(key)
    return held


def _facts(statistics: TensorStatistics) -> list[tuple[str, str]]:
    """Return names and texts of the statistics, without figures that the dtype does not have."""
    figures = (
        ("min", statistics.min),
        ("max", statistics.max),
        ("mean", statistics.mean),
        ("standard deviation", statistics.std),
    )
    counts = (
        ("elements", statistics.count),
        ("zeros", statistics.zeros),
        ("NaN", statistics.nans),
        ("Inf", statistics.infs),
    )
    texts = [(name, _number(figure)) for name, figure in figures if figure is not None]
    return texts + [(name, f"{count:,}") for name, count in counts]


def _number(figure: float | complex | None) -> str:
    return str(figure) if figure is None or isinstance(figure, int) else f"{figure:.6g}"


def _saveable(array: Array) -> Array:
    """Return the elements in a dtype that NumPy's files have: those of other packages as float32 or int8, without loss."""
    # Extension dtypes, such as bfloat16 of ml_dtypes, are not built in, and np.load reads them as raw bytes.
    if array.dtype.isbuiltin == 1:
        return array
    return array.astype(np.float32 if from_numpy(array.dtype).is_floating else np.int8)


def _npy(array: Array) -> str:
    file = io.BytesIO()
    # Objects would be pickled, and a page must hold no code.
    np.lib.format.write_array(file, array, allow_pickle=False)
    return base64.b64encode(zlib.compress(file.getvalue())).decode()
