"""Broadcast shapes and bytes of integers in ONNX, composed from other operators."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ...support.errors import InvalidArgumentError
from ...types import dtypes
from ...types.dtypes import DType
from ...types.shapes import broadcast_shapes


def unsigned(dtype: DType) -> DType:
    """Return the unsigned integer dtype of the same size."""
    return dtypes.from_name(f"uint{8 * dtype.size}")


def _of_one_rank_onnx(g: Any, s0: Any, s1: Any) -> Any:
    """Pad the shorter of two shapes with leading 1s."""
    sizes = [g.vector(size) for size in (s0, s1)]
    rank = g.Max(*(g.dim(size, 0) for size in sizes))
    missing = [g.Expand(g.constant(np.int64(1)), g.Sub(rank, g.dim(size, 0))) for size in sizes]
    return tuple(g.Concat(*pair, axis=0) for pair in zip(missing, sizes))


def broadcast_args_onnx(g: Any, s0: Any, s1: Any) -> Any:
    first, second = _of_one_rank_onnx(g, s0, s1)
    return g.cast(g.Where(g.Equal(first, 1), second, first), s0.dtype)


def broadcast_gradient_args_onnx(g: Any, s0: Any, s1: Any) -> Any:
    """Return the places of 1s; none for equal shapes."""
    first, second = _of_one_rank_onnx(g, s0, s1)
    differs = g.Or(
        g.Not(g.Equal(g.dim(s0, 0), g.dim(s1, 0))),
        g.cast(g.ReduceMax(g.Concat(g.cast(g.Not(g.Equal(first, second)), dtypes.int64), [0], axis=0), [0]), dtypes.bool_),
    )
    one = g.constant(np.int64(1))
    return [
        g.cast(g.squeeze(g.Transpose(g.NonZero(g.And(g.Equal(sizes, one), differs)), perm=[1, 0]), 1), s0.dtype)
        for sizes in (first, second)
    ]


def equal_onnx(g: Any, a: Any, b: Any, *, incompatible_shape_error: bool) -> Any:
    """False as a whole for shapes that are known not to fit where that is no error."""
    if not incompatible_shape_error:
        try:
            broadcast_shapes(a.shape, b.shape)
        except InvalidArgumentError:
            return g.constant(np.bool_(False))
    return g.Equal(a, b)


def bitcast_onnx(g: Any, x: Any, *, type: DType) -> Any:
    """Integers as integers and complex numbers as their parts: ONNX looks at no other bytes."""
    type = dtypes.from_numpy(type.numpy) if type.is_quantized else type
    if x.dtype.is_complex and type.size * 2 == x.dtype.size:
        return g.packed(x)
    if type.is_complex and x.dtype.size * 2 == type.size:
        return g.unpacked(x)
    if not (x.dtype.is_integer and type.is_integer):
        g.refuse("ONNX has no operator for the bytes of a number")
    source, target = x.dtype.size, type.size
    if source == target:
        return g.cast(x, type)
    wide = g.cast(g.cast(x, unsigned(x.dtype)), dtypes.uint64)
    if source > target:
        shifts = np.arange(0, 8 * source, 8 * target, dtype=np.uint64)
        mask = g.constant(np.uint64((1 << 8 * target) - 1))
        return g.cast(g.BitwiseAnd(g.BitShift(g.unsqueeze(wide, -1), shifts, direction="RIGHT"), mask), type)
    shifts = np.arange(0, 8 * target, 8 * source, dtype=np.uint64)
    shifted = g.BitShift(wide, shifts, direction="LEFT")
    parts = [g.Gather(shifted, np.array(i), axis=-1) for i in range(len(shifts))]
    return g.cast(functools.reduce(g.BitwiseOr, parts), type)
