"""Specs of tensor lists, in the `handle` of a variant's spec.

A handle has three specs: the spec of the elements, of the shape `NO_ELEMENT` while none is set; a scalar with the length of
the list; and the declared shape of all elements.
"""

from __future__ import annotations

import numpy as np

from ...support import dataclasses
from ...support.errors import InvalidArgumentError
from ...types import dtypes
from ...types.dims import Dim, DimLike, is_never_negative
from ...types.dtypes import DType
from ...types.shapes import (
    NO_ELEMENT,
    POSITION,
    SCALAR,
    UNKNOWN,
    Shape,
    TensorSpec,
    common_value,
    covering_shape,
    merge_shapes,
    substituted,
)
from ..shared.shape_arguments import dims_of, scalar_value, unknown_dims


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
    if length_of(spec) == 0:
        elements = TensorSpec(element.dtype, element.shape, element.value)
    else:
        before = spec.handle[0] if spec.handle else TensorSpec(element.dtype)
        elements = TensorSpec(element.dtype, covering_shape(before.shape, element.shape), common_value(before, element))
    return dataclasses.replace(spec_of_list, handle=(elements, *spec_of_list.handle[1:]))


def length_of(spec: TensorSpec) -> DimLike | None:
    """Return the length of a list; None where unknown."""
    return dim_of(spec.handle[1]) if len(spec.handle) > 1 else None


def dim_of(spec: TensorSpec) -> DimLike | None:
    """Return the number that a scalar is known to be, None where that is not known."""
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
