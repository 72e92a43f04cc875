"""Sparse tensors as array programs: their elements in a dense tensor, and products with dense matrices."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...registry.registry import lower
from ...support.errors import InvalidArgumentError
from ...types.arrays import Array
from ..array.gather import flat_places
from ..shared.xla_rows import updated


def _require_inside(xla: Any, indices: Any, dims: list[int]) -> None:
    xla.require(((indices >= 0) & (indices < np.array(dims, indices.dtype))).all())


@lower("SparseToDense", static=(1,))
def dense(xla: Any, indices: Any, dims: Array, values: Any, default: Any, *, validate_indices: bool) -> Any:
    """Return a dense tensor with values at indices, which must be in order where they are validated."""
    sizes, matrix = dims.tolist(), indices.reshape(-1, 1) if indices.ndim < 2 else indices
    is_vector = values.ndim == 1 and values.size == len(matrix)
    if matrix.ndim != 2 or dims.shape != matrix.shape[1:] or default.ndim or not (is_vector or values.ndim == 0):
        raise InvalidArgumentError(f"indices of shape {indices.shape} do not fit {sizes}")
    places = flat_places(xla, matrix, tuple(sizes), "")
    if validate_indices:
        xla.require((places[1:] > places[:-1]).all())
    flat = xla.full(math.prod(sizes), default, values.dtype)
    return flat.at[places].set(values, mode="drop").reshape(sizes)


@lower("SparseTensorDenseMatMul", static=(2,))
def product(xla: Any, indices: Any, values: Any, dense_shape: Array, matrix: Any, *, adjoint_a: bool, adjoint_b: bool) -> Any:
    """Return the product of a sparse and a dense matrix; either may be taken adjoint."""
    sizes, b = dense_shape.tolist(), xla.conj(matrix).T if adjoint_b else matrix
    if len(sizes) != 2 or b.ndim != 2 or indices.shape != (values.size, 2) or values.ndim != 1:
        raise InvalidArgumentError(f"indices of shape {indices.shape} do not fit {sizes}")
    if b.shape[0] != sizes[0 if adjoint_a else 1]:
        raise InvalidArgumentError(f"inner dimensions do not match: {sizes} and {b.shape}")
    _require_inside(xla, indices, sizes)
    rows, columns = (indices[:, place] for place in ((1, 0) if adjoint_a else (0, 1)))
    weights = xla.conj(values) if adjoint_a else values
    terms = weights[:, None] * xla.take(b, columns, 0, mode="clip")
    return updated(xla, xla.zeros((sizes[int(adjoint_a)], b.shape[1]), b.dtype), rows, terms, "add")
