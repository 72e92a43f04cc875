"""Reductions in ONNX, also of no elements."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...types import dtypes
from ...types.arrays import Array
from ...types.shapes import Shape


def onnx_reduction(op: str) -> Any:
    """Return the lowering to an ONNX reduction; no axes reduce no dimension. onnxruntime refuses negative axes for empty
    tensors.
    """

    def lowering(g: Any, x: Any, axes: Any, *, keep_dims: bool) -> Any:
        if axes.array is not None and x.rank:
            axes = g.constant(np.sort(axes.array.reshape(-1) % x.rank).astype(np.int64))
        return g.op(op, x, g.vector(axes), keepdims=int(keep_dims), noop_with_empty_axes=1)

    return lowering


def mean_onnx(g: Any, x: Any, axes: Any, *, keep_dims: bool) -> Any:
    """The mean of no elements is NaN, for which onnxruntime's ReduceMean has 0."""
    mean = onnx_reduction("ReduceMean")(g, x, axes, keep_dims=keep_dims)
    if x.dtype.is_integer or _surely_reduces_elements(x.shape, axes.array):
        return mean
    return g.Where(g.Equal(g.Size(x), 0), np.nan, mean)


def _surely_reduces_elements(shape: Shape, axes: Array | None) -> bool:
    """Return True where the reduced dimensions are known and not 0."""
    if shape.dims is None or axes is None:
        return False
    sizes = [shape.dims[axis] for axis in axes.reshape(-1)]
    return all(isinstance(size, int) and size > 0 for size in sizes)


def all_onnx(g: Any, x: Any, axes: Any, *, keep_dims: bool) -> Any:
    """The least of all: no truth values have True, as no whole numbers have the largest; onnxruntime refuses the former."""
    minimum = onnx_reduction("ReduceMin")
    if _surely_reduces_elements(x.shape, axes.array):
        return minimum(g, x, axes, keep_dims=keep_dims)
    return g.cast(minimum(g, g.cast(x, dtypes.int32), axes, keep_dims=keep_dims), dtypes.bool_)
