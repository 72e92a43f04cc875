"""Ops that return a tensor's shape, rank or number of elements."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from ...registry.registry import facts, kernel, layout, lower, not_differentiable, onnx, shape, zero_flops
from ...support.errors import InvalidArgumentError
from ...types import dtypes
from ...types.arrays import Array, Result
from ...types.dtypes import DType
from ...types.shapes import SCALAR, Shape, TensorSpec
from ..shared.shape_arguments import scalar_value, shape_value


@kernel("Shape")
def shape_of(x: Array, *, out_type: DType) -> Result:
    """The dimensions of the input, (rank,)."""
    return _dimensions(x.shape, out_type)


@functools.lru_cache(4096)
def _dimensions(dims: tuple[int, ...], out_type: DType) -> Array:
    """A vector of dimensions; the same few come again at every step of a training."""
    return _checked(np.array(dims, np.int64), out_type)


@shape("Shape")
def shape_of_shape(x: TensorSpec, *, out_type: DType) -> Shape | TensorSpec:
    if x.rank is None:
        return Shape([None])
    return TensorSpec(out_type, Shape([x.rank]), shape_value(x.shape, out_type))


layout("T -> V", "Shape")


@kernel("ShapeN")
def shape_n(values: list[Array], *, out_type: DType) -> Sequence[Result]:
    """The dimensions of each input."""
    return [shape_of(x, out_type=out_type) for x in values]


@shape("ShapeN")
def shape_n_shape(values: list[TensorSpec], *, out_type: DType) -> list[Shape | TensorSpec]:
    return [shape_of_shape(x, out_type=out_type) for x in values]


layout("T* -> V*", "ShapeN")


@kernel("Size")
def size(x: Array, *, out_type: DType) -> Result:
    """The number of elements."""
    count = np.size(x)
    if out_type is dtypes.int32 and count > _LARGEST:
        raise InvalidArgumentError(_TOO_LARGE)
    number: Result = out_type.numpy.type(count)
    return number


_LARGEST: Final = 2**31 - 1
_TOO_LARGE: Final = "Shape output type is 32-bit but a dimension does not fit"


def _checked(value: Any, out_type: DType) -> Array:
    """Return the dimensions as `out_type`; InvalidArgumentError where a dimension is too large."""
    if out_type is dtypes.int32 and (value > _LARGEST).any():
        raise InvalidArgumentError(_TOO_LARGE)
    return value.astype(out_type.numpy)


@shape("Size")
def size_shape(x: TensorSpec, *, out_type: DType) -> Shape | TensorSpec:
    if x.rank is None:
        return SCALAR
    return TensorSpec(out_type, SCALAR, scalar_value(x.shape.num_elements, out_type))


@kernel("Rank")
def rank(x: Array) -> Result:
    """The number of dimensions."""
    return np.int32(np.ndim(x))


@shape("Rank")
def rank_shape(x: TensorSpec) -> Shape | TensorSpec:
    return SCALAR if x.rank is None else TensorSpec(dtypes.int32, SCALAR, np.array(x.rank, np.int32))


layout("T -> .", "Rank", "Size")

not_differentiable("Shape", "ShapeN", "Size", "Rank")
zero_flops("Shape", "ShapeN", "Size", "Rank")
facts("total", of=("Shape", "ShapeN", "Size", "Rank"))
facts("view", "inexpensive", "metadata", of=("Rank", "Shape", "ShapeN", "Size"))

lower("Shape")(lambda xla, x, *, out_type: xla.extents(x.shape, out_type.numpy))
lower("ShapeN")(lambda xla, values, *, out_type: tuple(xla.extents(x.shape, out_type.numpy) for x in values))
lower("Size")(lambda xla, x, *, out_type: xla.extents([x.size], out_type.numpy).reshape(()))
lower("Rank")(lambda xla, x: np.array(x.ndim, np.int32))
onnx("Shape")(lambda g, x: g.dims(x))
onnx("ShapeN")(lambda g, values: [g.dims(x) for x in values])
onnx("Rank")(lambda g, x: g.constant(np.int32(x.rank)) if x.rank is not None else g.Size(g.Shape(x)))
onnx("Size")(lambda g, x: g.Size(x))

facts("half_clear", of=["Rank", "Shape", "ShapeN", "Size"])
