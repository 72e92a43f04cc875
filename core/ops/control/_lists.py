"""Helpers of kernels, gradients and shape functions of tensor lists.

The `handle` of a list's spec has three specs: the spec of the elements, of the shape `NO_ELEMENT` while none is set; a
scalar with the length of the list; and the declared shape of all elements.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ...building.gradbuilder import GradientBuilder
from ...runtime.state.tensor_lists import TensorList
from ...support import dataclasses
from ...support.errors import InvalidArgumentError
from ...types import dtypes
from ...types.arrays import Array
from ...types.dims import Dim, DimLike, is_never_negative
from ...types.dtypes import DType
from ...types.shapes import (
    NO_ELEMENT,
    POSITION,
    SCALAR,
    UNKNOWN,
    Shape,
    TensorSpec,
    as_shape,
    common_value,
    covering_shape,
    dims_of,
    merge_shapes,
    substituted,
    unknown_dims,
)
from ..shared.shape_arguments import scalar_value


def list_in(handle: Array, dtype: DType | None = None) -> TensorList:
    """Return the list in a handle; InvalidArgumentError if the handle holds another object, or elements of another
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
    # Loops ask for the same shape in each iteration.
    return as_shape(dims) if -1 in dims else _constant_shape(tuple(dims))


@functools.lru_cache(1024)
def _constant_shape(dims: tuple[int, ...]) -> Shape:
    """Return a shape without unknown dimensions. The cache is safe, as no unknown dimension needs an identity of its own."""
    return Shape(dims)


def lowered_shape(element_shape: Any) -> Shape:
    """Return the shape in a shape tensor; unknown if the tensor is no constant while a program is built."""
    return shape_in(np.asarray(element_shape)) if isinstance(element_shape, (np.ndarray, np.generic)) else UNKNOWN


def lowered_dims(items: Any, element_shape: Any) -> tuple[int, ...] | None:
    """Return the dimensions of elements by a list and a shape tensor; None if any dimension is unknown."""
    merged = merged_shapes(items.declared, lowered_shape(element_shape))
    return merged.known() if merged.is_known else None


def require_vector(tensor: Array, what: str) -> None:
    """Raise InvalidArgumentError if `tensor` is a scalar; `what` begins the message."""
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


def list_spec(dtype: DType, declared: Shape, length: DimLike | None = None, elements: Shape = NO_ELEMENT) -> TensorSpec:
    """Return the spec of a list with a length, perhaps unknown, and with elements of shape `elements`."""
    value: np.ndarray | None = None if length is None else scalar_value(length, dtypes.int32)
    held = (TensorSpec(dtype, elements), TensorSpec(dtypes.int32, SCALAR, value), TensorSpec(dtype, declared))
    return TensorSpec(dtypes.variant, SCALAR, handle=held)


def element_of(spec: TensorSpec, position: DimLike | None = None) -> TensorSpec:
    """Return the spec of the element at `position` of a list, of any where there is None."""
    if not spec.handle:
        return TensorSpec(spec.dtype)
    where = Dim.unknown() if position is None else position
    element = substituted(spec.handle[0], {POSITION: where})
    return dataclasses.replace(element, shape=merge_shapes(element.shape, declared_shape_of(spec)))


def element_shape_of(spec: TensorSpec) -> Shape:
    """Return the shape of a list's elements."""
    return element_of(spec).shape


def declared_shape_of(spec: TensorSpec) -> Shape:
    """Return the shape that a list declares for its elements."""
    return spec.handle[2].shape if len(spec.handle) > 2 else UNKNOWN


def with_element(spec: TensorSpec, element: TensorSpec, length: DimLike | None = None) -> TensorSpec:
    """Return the spec of a list after an element was put in."""
    spec_of_list = list_spec(element.dtype, declared_shape_of(spec), length)
    # The first element alone says what the list holds; a later one may only widen the shape.
    if length_of(spec) == 0:
        elements = TensorSpec(element.dtype, element.shape, element.value)
    else:
        before = spec.handle[0] if spec.handle else TensorSpec(element.dtype)
        elements = TensorSpec(element.dtype, covering_shape(before.shape, element.shape), common_value(before, element))
    return dataclasses.replace(spec_of_list, handle=(elements, *spec_of_list.handle[1:]))


def length_of(spec: TensorSpec) -> DimLike | None:
    """Return the length of a list; None if unknown."""
    return dim_of(spec.handle[1]) if len(spec.handle) > 1 else None


def dim_of(spec: TensorSpec) -> DimLike | None:
    """Return the number that a scalar is known to be, None if that is not known."""
    dims = dims_of(spec)
    return dims[0] if dims is not None and len(dims) == 1 else None


def static_shape(spec: TensorSpec) -> Shape:
    """Return the shape in a shape tensor, as far as inference knows its values; -1 and a scalar mean unknown."""
    value = spec.value
    if value is None:
        return unknown_dims(spec.shape[0] if spec.rank == 1 else None)
    if not value.ndim:
        return UNKNOWN
    if value.ndim > 1:
        raise InvalidArgumentError(f"a shape must be a vector, not of shape {Shape(value.shape)}")
    return Shape(d if is_never_negative(d) else None for d in dims_of(spec) or ())
