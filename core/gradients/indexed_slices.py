"""IndexedSlices where tensors have to stand: in branches, in function results, beside dense gradients."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..building.gradbuilder import Gradient, GradientBuilder, IndexedSlices
from ..graph.graph import Output
from ..types import dtypes
from ..types.dtypes import DType


def parts(grad: Gradient) -> tuple[Output, ...]:
    """Return the tensors that a gradient consists of."""
    if isinstance(grad, IndexedSlices):
        return grad.values, grad.indices, grad.dense_shape
    return () if grad is None else (grad,)


def rebuilt(model: Gradient, tensors: Iterator[Output]) -> Gradient:
    """Return a gradient of the kind of `model` from the next of `tensors`."""
    if isinstance(model, IndexedSlices):
        return IndexedSlices(next(tensors), next(tensors), next(tensors))
    return None if model is None else next(tensors)


def map_parts(change: Callable[..., Output], *grads: Output | IndexedSlices) -> Any:
    """Return a gradient of the kind of `grads`, which all share; `change` makes each tensor from the tensors of `grads`."""
    return rebuilt(grads[0], iter([change(*tensors) for tensors in zip(*map(parts, grads))]))


def alike(builders: Sequence[GradientBuilder], grads: Sequence[Output | IndexedSlices]) -> list[Output | IndexedSlices]:
    """Return the same gradients in a common kind, each changed by its builder.

    Where any gradient is slices all become slices, with indices of a common dtype; the slices of a tensor are all rows.
    """
    if not any(isinstance(grad, IndexedSlices) for grad in grads):
        return list(grads)
    slices = [grad if isinstance(grad, IndexedSlices) else _all_rows(g, grad) for g, grad in zip(builders, grads)]
    if len({s.indices.dtype for s in slices}) > 1 or len({s.dense_shape.dtype for s in slices}) > 1:
        return [IndexedSlices(s.values, _int64(g, s.indices), _int64(g, s.dense_shape)) for g, s in zip(builders, slices)]
    return list(slices)


def zeros_for(g: GradientBuilder, value: Output, dtype: DType) -> Output:
    """Return zeros of the shape of a tensor, or of the variable behind a handle, whose gradient has `dtype`."""
    if value.dtype is None or value.dtype.base is not dtypes.resource:
        return g.zeros_like(value)
    return g.Fill(g.VariableShape(value, out_type="int32"), g.constant(0, dtype))


def carries_gradient(value: Output) -> bool:
    """Return True for values with a gradient of their own dtype: floats, complex numbers, and variants that hold them.

    A variable's handle has a gradient too, of the variable's dtype.
    """
    return value.dtype is not None and has_gradient(value.dtype)


def has_gradient(dtype: DType) -> bool:
    """Return True for dtypes whose values have gradients of the same dtype."""
    return dtype.is_floating or dtype.is_complex or dtype.base is dtypes.variant


def gradient_dtype(grad: Output | IndexedSlices) -> DType:
    """Return the dtype of a gradient's values."""
    dtype = parts(grad)[0].dtype
    assert dtype is not None
    return dtype.base


def _all_rows(g: GradientBuilder, grad: Output) -> IndexedSlices:
    shape = g.shape_of(grad)
    return IndexedSlices(grad, g.Range(0, g.first_of(shape), 1), shape)


def _int64(g: GradientBuilder, value: Output) -> Output:
    return value if value.dtype is dtypes.int64 else g.Cast(value, DstT=dtypes.int64)
