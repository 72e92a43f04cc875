"""Shape functions of many ops: results whose shapes are constant, or are the shapes of inputs."""

from __future__ import annotations

from typing import Any

from ...types.shapes import SCALAR, UNKNOWN, Shape, TensorSpec, merge_shapes


def no_outputs_shape(*inputs: Any) -> tuple[()]:
    return ()


def scalar_shape(*inputs: Any) -> Shape:
    return SCALAR


def two_scalars_shape(*inputs: Any) -> tuple[Shape, Shape]:
    return SCALAR, SCALAR


def vector_shape(*inputs: Any) -> Shape:
    """Return the shape of a vector of unknown length."""
    return Shape([None])


def unknown_shape(*inputs: Any) -> Shape:
    return UNKNOWN


def first_shape(x: TensorSpec, *rest: Any) -> Shape:
    return x.shape


def second_shape(first: Any, x: TensorSpec, *rest: Any) -> Shape:
    return x.shape


def merged_shape(x: TensorSpec, y: TensorSpec) -> Shape:
    """Return the shape of two inputs that must have the same shape."""
    return merge_shapes(x.shape, y.shape)
