"""Shape functions of many ops: results whose shapes are constant, or are the shapes of inputs."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from ...types.shapes import SCALAR, Shape, TensorSpec, merge_shapes, shape_from
from .argument_checks import with_rank


def first_shape(x: TensorSpec, *rest: Any) -> Shape:
    return x.shape


def resize_shape(images: TensorSpec, size: TensorSpec, *rest: TensorSpec) -> Shape:
    """Return the shape of a batch of images of the height and width in `size`."""
    batch, _, _, channels = with_rank(images.shape, 4)
    return Shape((batch, *shape_from(size, 2), channels))


def besides_scalars(inputs: Sequence[TensorSpec]) -> Shape:
    """Return the shape that all inputs have except scalars, which count as such a tensor."""
    tensors = [x.shape for x in inputs if x.rank != 0]
    return functools.reduce(merge_shapes, tensors) if tensors else SCALAR
