"""Shape functions of many ops: results whose shapes are constant, or are the shapes of inputs."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, Final

from ...registry.shape_signatures import signature
from ...types.shapes import SCALAR, Shape, TensorSpec, merge_shapes


def first_shape(x: TensorSpec, *rest: Any) -> Shape:
    return x.shape


resize_shape: Final = signature("b _ _ c, <h w> -> b h w c")
"""The shape of a batch of images of the height and width in the second input."""


def besides_scalars(inputs: Sequence[TensorSpec]) -> Shape:
    """Return the shape that all inputs have except scalars, which count as such a tensor."""
    tensors = [x.shape for x in inputs if x.rank != 0]
    return functools.reduce(merge_shapes, tensors) if tensors else SCALAR
