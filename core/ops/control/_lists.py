"""Helpers of kernels and gradients of tensor lists: checked arguments, rows of tensors, lists shaped like others."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ...building.gradbuilder import GradientBuilder
from ...runtime.state.tensor_lists import TensorList
from ...support.errors import InvalidArgumentError
from ...types.arrays import Array
from ...types.dtypes import DType
from ...types.shapes import UNKNOWN, Shape, as_shape, merge_shapes


def list_in(handle: Array, dtype: DType | None = None) -> TensorList:
    """Return the list in a handle; InvalidArgumentError where the handle holds another object, or elements of another
    dtype.
    """
    if handle.ndim:
        raise InvalidArgumentError(f"Input list must be a scalar saw: {Shape(np.shape(handle))}")
    content = handle.item()
    if not isinstance(content, TensorList):
        raise InvalidArgumentError(f"Input handle is not a list. Saw: '{type(content).__name__}'")
    if dtype is not None and content.dtype is not dtype:
        raise InvalidArgumentError(f"Invalid data types; op elements {dtype} but list elements {content.dtype}")
    return content


def shape_in(tensor: Array) -> Shape:
    """Return the shape in a shape tensor: -1 is an unknown rank, and in a vector an unknown dimension."""
    if not np.ndim(tensor):
        if int(tensor) != -1:
            raise InvalidArgumentError("The only valid scalar shape tensor is the fully unknown shape specified as -1.")
        return UNKNOWN
    dims = tensor.tolist()
    if tensor.ndim != 1 or min(dims, default=0) < -1:
        raise InvalidArgumentError(f"Shape must be at most rank 1 with dimensions >= -1, it is {dims}")
    return as_shape(dims) if -1 in dims else _constant_shape(tuple(dims))


@functools.lru_cache(1024)
def _constant_shape(dims: tuple[int, ...]) -> Shape:
    """Return a shape without unknown dimensions. The cache is safe, as no unknown dimension needs an identity of its own."""
    return Shape(dims)


def lowered_shape(element_shape: Any) -> Shape:
    """Return the shape in a shape tensor; unknown where the tensor is no constant while a program is built."""
    return shape_in(np.asarray(element_shape)) if isinstance(element_shape, (np.ndarray, np.generic)) else UNKNOWN


def lowered_dims(items: Any, element_shape: Any) -> tuple[int, ...] | None:
    """Return the dimensions of elements by a list and a shape tensor; None where any dimension is unknown."""
    merged = merged_shapes(items.declared, lowered_shape(element_shape))
    return merged.known() if merged.is_known else None


def require_vector(tensor: Array, what: str) -> None:
    """Raise InvalidArgumentError where `tensor` is a scalar; `what` begins the message."""
    if not np.ndim(tensor):
        raise InvalidArgumentError(f"{what} be at least a vector, but saw shape: ()")


def merged_shapes(first: Shape, second: Shape) -> Shape:
    """Two shapes that must agree, the rank of either perhaps unknown."""
    try:
        return merge_shapes(first, second)
    except InvalidArgumentError:
        raise InvalidArgumentError(f"Tried to use incompatible shapes for elements of a list: {first} and {second}") from None


def reserve_like(g: GradientBuilder, handle: Any, dtype: Any) -> Any:
    """Return a list of unset elements, with the length and the element shape of the list in `handle`."""
    shape = g.TensorListElementShape(handle, shape_type="int32")
    return g.TensorListReserve(shape, g.TensorListLength(handle), element_dtype=dtype)
