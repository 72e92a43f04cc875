"""Ops that make one-hot rows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...registry.registry import facts, kernel, lower, not_differentiable, onnx, shape, zero_flops
from ...support.errors import InvalidArgumentError
from ...types import dtypes
from ...types.arrays import Array, Result
from ...types.dims import Dim
from ...types.shapes import UNKNOWN, Shape, TensorSpec
from ..shared.argument_checks import require_rank
from ..shared.shape_arguments import dims_of


@kernel("OneHot")
def one_hot(indices: Array, depth: Array, on_value: Array, off_value: Array, *, axis: int) -> Result:
    """`on_value` at each index along a new dimension of size `depth`, `off_value` elsewhere."""
    depth = _depth(depth)
    for name, value in (("on_value", on_value), ("off_value", off_value)):
        if np.ndim(value) != 0:
            raise InvalidArgumentError(f"{name} must be a scalar, but got: {Shape(np.shape(value))}")
    rank = np.ndim(indices)
    position = rank if axis == -1 else axis
    if not 0 <= position <= rank:
        raise InvalidArgumentError(f"Expected axis to be -1 or between [0, {rank}]. But received: {axis}")
    shape = np.shape(indices)
    outer, inner = math.prod(shape[:position]), math.prod(shape[position:])
    result = np.full((*shape[:position], depth, *shape[position:]), off_value, np.asarray(on_value).dtype)
    at = np.reshape(indices, (outer, inner)).astype(np.intp)
    places = (at + np.arange(outer)[:, None] * depth) * inner + np.arange(inner)
    result.reshape(-1)[places[(at >= 0) & (at < depth)]] = on_value
    return result


def _depth(depth: Array) -> int:
    if np.ndim(depth) != 0:
        raise InvalidArgumentError(f"depth must be a scalar, but got: {Shape(np.shape(depth))}")
    if depth < 0:
        raise InvalidArgumentError(f"depth must be non-negative, got: {int(depth)}")
    return int(depth)


@shape("OneHot")
def one_hot_shape(indices: TensorSpec, depth: TensorSpec, on_value: TensorSpec, off_value: TensorSpec, *, axis: int) -> Shape:
    for name, spec in (("depth", depth), ("on_value", on_value), ("off_value", off_value)):
        require_rank(spec, 0, name)
    if indices.rank is None:
        return UNKNOWN
    depths = dims_of(depth)
    size = depths[0] if depths else Dim.unknown()
    if isinstance(size, int) and size < 0:
        raise InvalidArgumentError(f"depth must be non-negative, got: {size}")
    if not -1 <= axis <= indices.rank:
        raise InvalidArgumentError(f"Expected axis to be -1 or between [0, {indices.rank}]. But received: {axis}")
    position = indices.rank if axis == -1 else axis
    return indices.shape[:position] + Shape([size]) + indices.shape[position:]


not_differentiable("OneHot")
zero_flops("OneHot")


lower("OneHot", static=(1,))(
    lambda xla, i, depth, on, off, *, axis: xla.where(xla.one_hot(i, int(depth), axis=axis, dtype=bool), on, off)
)


@onnx("OneHot")
def _one_hot_onnx(g: Any, indices: Any, depth: Any, on_value: Any, off_value: Any, *, axis: int) -> Any:
    """Return True where the position along the new axis equals the index."""
    rank = g.rank(indices)
    axis = rank if axis == -1 else axis
    count = g.cast(depth, indices.dtype) if indices.dtype.name != "uint8" else g.cast(depth, dtypes.int32)
    places = g.Range(g.like(0, count), g.reshape(count, []), g.like(1, count))
    places = g.reshape(places, [-1], [1] * (rank - axis))
    return g.Where(g.Equal(g.cast(g.unsqueeze(indices, axis), count.dtype), places), on_value, off_value)


facts("half_clear", of=["OneHot"])
