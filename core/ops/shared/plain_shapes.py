"""Shape functions of many ops: results whose shapes are constant, or are the shapes of inputs."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from ...types.shapes import SCALAR, UNKNOWN, Shape, TensorSpec, merge_shapes
from .argument_checks import with_rank


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


def ranked(rank: int, place: int = 0) -> Callable[..., Shape]:
    """Return a shape function: the shape of the input at a place, which must have this rank."""
    return lambda *inputs: Shape(with_rank(inputs[place].shape, rank))


def besides_scalars(inputs: Sequence[TensorSpec]) -> Shape:
    """Return the shape that all inputs have except scalars, which count as such a tensor."""
    tensors = [x.shape for x in inputs if x.rank != 0]
    return functools.reduce(merge_shapes, tensors) if tensors else SCALAR


def merged_shape(x: TensorSpec, y: TensorSpec) -> Shape:
    """Return the shape of two inputs that must have the same shape."""
    return merge_shapes(x.shape, y.shape)
