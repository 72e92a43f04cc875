"""Symbolic dimensions while steps are traced: arrays of objects, as long as shapes are computed from them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...graph.graph import Node
from ...inference.node_calls import apply_kernel
from ...registry.op_facts import has_fact
from ...support.errors import UnimplementedError
from ...support.hints import Hint, option
from ...types.dtypes import DType
from .library import jax, jnp


def extents(dims: Sequence[Any], dtype: Any) -> Any:
    """Return dimensions as an array, of objects where a dimension is symbolic."""
    return _normal(np.array([*dims], object), dtype)


def is_symbolic(value: Any) -> bool:
    """Return True for an array with a symbolic dimension."""
    return isinstance(value, np.ndarray) and value.dtype == object and any(map(_is_dimension, value.flat))


def computed(node: Node, values: Sequence[Any], static: Sequence[int]) -> list[Any] | None:
    """Return the results of a node that computes shapes; None for another node, as where a `static` input is symbolic."""
    is_shape = has_fact(node.op, "shape_arithmetic") and not any(isinstance(value, jax.Array) for value in values)
    if not is_shape or any(is_symbolic(values[place]) for place in static):
        return None
    return [
        _normal(np.asarray(value, object), dtype.numpy) for value, dtype in zip(apply_kernel(node, values), node.output_dtypes)
    ]


def traced(value: Any, dtype: DType | None) -> Any:
    """Return an array of dimensions as numbers of the program; other values are returned unchanged."""
    if not is_symbolic(value) or dtype is None:
        return value
    numbers = [jnp.asarray(dim).astype(dtype.numpy) for dim in value.flat]
    return jnp.stack(numbers).reshape(value.shape)


def require_numbers(node: Node, values: Sequence[Any]) -> None:
    """Raise UnimplementedError for a node without a lowering that takes symbolic dimensions."""
    if any(map(is_symbolic, values)):
        problem = "it computes with a symbolic dimension, which has no lowering"
        hint = Hint("set the dimension of the input, e.g. with ", option("shape"))
        raise UnimplementedError(problem, node=node.name, op=node.op, hint=hint)


def _is_dimension(value: Any) -> bool:
    return bool(jax.export.is_symbolic_dim(value))


def _normal(array: Any, dtype: Any) -> Any:
    """Return an array of the dtype where all dimensions are numbers."""
    return array if is_symbolic(array) else array.astype(dtype)
