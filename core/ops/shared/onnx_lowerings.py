"""Helpers of lowerings to ONNX: windows over images, channels moved to the front and back."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...types.arrays import Array
from .window_geometry import WindowAttributes, explicit_pads, is_channels_first, spatial, window_pads


def gathered(g: Any, x: Any, places: Array, dims: int, fill: Any = None) -> Any:
    """Return the elements at flat `places` of the last dimensions of `x`; `fill` where a place is -1."""
    # If no place is taken, the tensor may be empty, and Gather would fail.
    if fill is not None and (places < 0).all():
        return g.Expand(fill, g.joined(_leading(g, x, dims), places.shape))
    flat, numbers = g.reshape(x, _leading(g, x, dims), -1), np.maximum(places, 0).reshape(-1).astype(np.int64)
    elements = g.reshape(g.Gather(flat, numbers, axis=-1), _leading(g, x, dims), places.shape)
    return elements if fill is None or (places >= 0).all() else g.Where(places >= 0, elements, fill)


def _leading(g: Any, x: Any, dims: int) -> Any:
    """Return the dimensions before the last few."""
    sizes = x.shape.dims[: g.rank(x) - dims]
    if all(isinstance(size, int) for size in sizes):
        return list(sizes)
    return g.slice(g.dims(x), 0, len(sizes))


def last_dims(g: Any, x: Any, count: int) -> tuple[int, ...]:
    """Return the sizes of the last dimensions; refused if a size is unknown."""
    sizes = x.shape.dims[g.rank(x) - count :]
    if not all(isinstance(size, int) for size in sizes):
        g.refuse("a dimension of the moved elements is unknown")
    return tuple(sizes)


def numbered(sizes: Sequence[int]) -> Array:
    """Return the flat index of each place of a tensor, in the tensor's shape."""
    return np.arange(math.prod(sizes)).reshape(sizes)


def channels_first(g: Any, x: Any, data_format: str) -> Any:
    """`x` as N, C, spatial..."""
    return x if is_channels_first(data_format) else g.channels_first(x)


def in_format(g: Any, x: Any, rank: int, data_format: str) -> Any:
    """N, C, spatial... in the data format of the node."""
    return x if is_channels_first(data_format) else g.channels_last(x, rank)


def on_channels_first(g: Any, x: Any, data_format: str, function: Callable[[Any], Any]) -> Any:
    """Apply a function of N, C, spatial... to `x`, and return the result in the data format of `x`."""
    return in_format(g, function(channels_first(g, x, data_format)), g.rank(x), data_format)


def window_attrs(x: Any, sizes: Sequence[int], window: WindowAttributes) -> dict[str, Any]:
    """Return ONNX's attributes of windows of `sizes` over `x`.

    For unknown sizes of `x`, SAME is left to ONNX, with the same meaning.
    """
    strides, padding, explicit, data_format, dilations, _ = window
    steps, spread = list(spatial(strides, data_format)), list(spatial(dilations or [1] * len(strides), data_format))
    attrs: dict[str, Any] = {"strides": steps, "kernel_shape": list(sizes)}
    if any(by != 1 for by in spread):
        attrs["dilations"] = spread
    images = [1] * len(sizes) if x.rank is None else list(spatial(x.shape.dims, data_format))
    if padding == "SAME" and not all(isinstance(size, int) for size in images):
        if any(by != 1 for by in steps):
            return {**attrs, "auto_pad": "SAME_UPPER"}
        # At stride 1 SAME pads by the window alone, whatever the size: any large number gives the same paddings.
        images = [size if isinstance(size, int) else 1 << 20 for size in images]
    pads = window_pads(images, sizes, steps, spread, padding, explicit_pads(explicit, len(strides), data_format))
    return {**attrs, "pads": [before for before, _ in pads] + [after for _, after in pads]}


def window_of(g: Any, w: Any) -> list[int]:
    """Return the sizes of a filter's windows; the filter's shape is these sizes, then channels in and out."""
    dims = w.shape.dims
    if dims is None or not all(isinstance(size, int) for size in dims):
        g.refuse("the shape of its filter is unknown")
    return list(dims[:-2])


def filter_first(g: Any, w: Any) -> Any:
    """Return a filter (window..., in, out) as (out, in, window...)."""
    rank = len(w.shape)
    return g.transpose(w, [rank - 1, rank - 2, *range(rank - 2)])


def transposed(g: Any, x: Any) -> Any:
    """Return the last two dimensions exchanged."""
    rank = g.rank(x)
    return g.transpose(x, [*range(rank - 2), rank - 1, rank - 2])


def adjoint_of(g: Any, x: Any) -> Any:
    """Return the conjugate transposes of matrices."""
    return transposed(g, g.conjugate(x))


def iota(g: Any, count: Any) -> Any:
    """Return 0, 1, 2 ... below a count of a single element, int64."""
    return g.Range(g.constant(np.int64(0)), g.reshape(count, []), g.constant(np.int64(1)))


def along(g: Any, x: Any, axis: int) -> Any:
    """Return 0, 1, 2 ... along a dimension, int64."""
    return iota(g, g.dim(x, axis))
