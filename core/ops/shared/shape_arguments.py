"""Helpers of shape functions and shape-arithmetic kernels: constant inputs that may hold symbolic dimensions."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any, Final

import numpy as np

from ...support.errors import InvalidArgumentError
from ...types.dims import Dim, DimLike
from ...types.dtypes import DType, int32, int64
from ...types.shapes import Shape, TensorSpec, dims_of
from .argument_checks import single

SIZE_DTYPES: Final = (int32, int64)
"""The dtypes of computations on sizes: a smaller one cuts sizes, an unsigned one has no -1."""


def scalar_of(spec: TensorSpec) -> int | None:
    """Return the value of a constant integer input with a single element; None unless the value is a known number."""
    dims = dims_of(spec)
    return dims[0] if dims is not None and len(dims) == 1 and isinstance(dims[0], int) else None


def shape_value(dims: Iterable[DimLike], dtype: DType = int64) -> np.ndarray[Any, Any]:
    """Dimensions as a vector of `dtype`, or as an object array where some are symbolic."""
    listed = list(dims)
    try:
        # An array of Dims: inference computes with it as the kernels do with numbers.
        return np.array(listed, object if any(d is None or isinstance(d, Dim) for d in listed) else dtype.numpy)
    except OverflowError:
        shown = ", ".join(map(str, listed))
        raise InvalidArgumentError(f"the dimensions [{shown}] do not fit in {dtype}") from None


def scalar_value(dim: DimLike, dtype: DType = int64) -> np.ndarray[Any, Any]:
    """Return a dimension as a scalar array of `dtype`, or of objects for a symbolic dimension."""
    return shape_value([dim], dtype).reshape(())


def is_sized(spec: TensorSpec) -> bool:
    """Return True for a vector of a known number of elements."""
    return spec.rank == 1 and isinstance(spec.shape[0], int)


def normalize_axis(axis: Any, rank: int, name: str = "axis") -> int:
    """Return the non-negative axis below `rank`; InvalidArgumentError for an axis out of range."""
    if not -rank <= axis < rank:
        raise InvalidArgumentError(f"{name} {axis} is out of range [{-rank}, {rank}) for a tensor of rank {rank}")
    return axis + rank if axis < 0 else axis


def scalar_int(value: Any, name: str) -> int:
    """Return the element of an integer input; InvalidArgumentError unless there is exactly one."""
    # The usual case, without a call for each check: steps ask for the axis in each run.
    return operator.index(value.item() if value.__class__ is np.ndarray and value.size == 1 else single(value, name))


def number(value: Any) -> int:
    """Return a plain int; UnimplementedError for a symbolic dimension where a number is needed."""
    # Dim has `__index__` only to raise the error that says why a number is needed.
    return operator.index(value)


def numbers(value: Any) -> list[int]:
    """Return the elements of an integer array as a flat list of plain ints."""
    # The usual case, without a call for each element.
    if isinstance(value, np.ndarray) and value.dtype.kind in "iu":
        return value.tolist() if value.ndim == 1 else value.ravel().tolist()
    return [number(v) for v in np.ravel(value).tolist()]


def ints(value: Any, name: str, count: int | None = None) -> tuple[int, ...]:
    """Return a vector of integers (of `count` elements) as a tuple; InvalidArgumentError for another shape."""
    vector = value if isinstance(value, np.ndarray) else np.asarray(value)
    if vector.ndim != 1 or (count is not None and vector.size != count):
        form = "a vector" if count is None else f"a vector of {count} elements"
        raise InvalidArgumentError(f"{name} must be {form}, not of shape {Shape(vector.shape)}")
    return tuple(numbers(vector))


def replaced(shape: Shape, axis: int, dim: DimLike | None) -> Shape:
    """`shape` with another dimension at `axis`."""
    dims = list(shape)
    dims[normalize_axis(axis, len(dims))] = Dim.unknown() if dim is None else dim
    return Shape(dims)


def without_ellipsis(index: tuple[Any, ...], rank: int) -> tuple[Any, ...]:
    """Return an index of an array with as many whole slices for the ellipsis as the rank leaves to it."""
    place = next((i for i, each in enumerate(index) if each is Ellipsis), len(index))
    left = rank - sum(each is not None and each is not Ellipsis for each in index)
    return (*index[:place], *[slice(None)] * left, *index[place + 1 :])
