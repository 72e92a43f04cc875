"""Jacobians, and products with Jacobians, at given values: a single plan, basis vectors in batches."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..building.gradbuilder import GradientBuilder
from ..graph.graph import Graph, GraphLike, Output, as_graph
from ..graph.variable_nodes import RESOURCE_VARIABLES
from ..runtime.session.session import Session
from ..runtime.session.session_like import SessionLike
from ..runtime.state.edge_values import Batched
from ..support.arguments import checked
from ..support.errors import InvalidArgumentError
from ..types.arrays import Array
from ..types.shapes import UNKNOWN
from .backward import add_gradients
from .batch_axis import BatchHook

DEFAULT_CHUNK_BYTES = 256 * 2**20
MODES = ("auto", "forward", "reverse")

Feeds = Mapping[str, Any]


@checked
def jacobian(
    graph: GraphLike,
    y: str,
    x: str,
    feeds: Feeds | None = None,
    *,
    session: SessionLike | None = None,
    mode: str = "auto",
    chunk_bytes: int = DEFAULT_CHUNK_BYTES,
) -> Array:
    """Return the derivatives of every element of tensor `y` with respect to every element of tensor `x`.

    The result has the shape of y followed by the shape of x. `mode` is reverse (a product for each element of y), forward
    (a product for each element of x), or auto: the fewer products. `session` supplies the state of variables; `chunk_bytes`
    bounds the memory of a batch of basis vectors.
    """
    graph = as_graph(graph)
    return Derivative(graph, y, x, session).jacobian(feeds or {}, mode, chunk_bytes)


@checked
def vjp(graph: GraphLike, y: str, x: str, v: Any, feeds: Feeds | None = None, *, session: SessionLike | None = None) -> Array:
    """Return v^T J: the gradient of x when `v`, of y's shape, arrives at y."""
    graph = as_graph(graph)
    return Derivative(graph, y, x, session).vjp(v, feeds or {})


@checked
def jvp(graph: GraphLike, y: str, x: str, v: Any, feeds: Feeds | None = None, *, session: SessionLike | None = None) -> Array:
    """Return J v: the change of y when x moves along `v`, of x's shape."""
    graph = as_graph(graph)
    return Derivative(graph, y, x, session).jvp(v, feeds or {})


@checked
def hessian_vector(
    graph: GraphLike, y: str, x: str, v: Any, feeds: Feeds | None = None, *, session: SessionLike | None = None
) -> Array:
    """Return H v: the change of the gradient of (the sum of) y when x moves along `v`, of x's shape."""
    graph = as_graph(graph)
    return Derivative(graph, y, x, session).hessian_vector(v, feeds or {})


class Derivative:
    """The derivative of tensor y with respect to tensor x: gradient nodes on a copy of the graph, built once and run often.

    `session` supplies the variables' values, also later, as they change.
    """

    def __init__(self, graph: Graph, y: str, x: str, session: SessionLike | None = None) -> None:
        self.graph = graph.copy()
        self.builder = GradientBuilder(self.graph)
        self.y = self.graph.output(y)
        self.x = self.graph.output(x)
        self.session = Session(self.graph) if session is None else session.on_graph(self.graph)

    def values(self, feeds: Feeds) -> tuple[Array, Array]:
        """Return the values of y and x; x counts as the value behind a variable's reference or handle."""
        y, x = self.session.run([self.y.name, self._x_value.name], feeds)
        return y, x

    def jacobian(self, feeds: Feeds, mode: str = "auto", chunk_bytes: int = DEFAULT_CHUNK_BYTES) -> Array:
        """Return all derivatives, of y's shape followed by x's."""
        if mode not in MODES:
            raise InvalidArgumentError(f"mode must be {' or '.join(MODES)}, not '{mode}'")
        for value in (self.y, self._x_value):
            if value.base_dtype.is_object:
                raise InvalidArgumentError(f"'{value.name}' has dtype {value.base_dtype}, which has no derivatives")
        y, x = self.values(feeds)
        is_forward = mode == "forward" or (mode == "auto" and x.size < y.size)
        basis_of, other = (x, y) if is_forward else (y, x)
        multiply = self.jvp if is_forward else self.vjp
        rows = np.empty((basis_of.size, other.size), x.dtype)
        for start, basis in _basis(basis_of, other, chunk_bytes):
            products = multiply(Batched(basis.reshape(-1, *basis_of.shape)), feeds)
            rows[start : start + len(basis)] = products.reshape(-1, other.size)
        return (rows.T if is_forward else rows).reshape((*y.shape, *x.shape))

    def vjp(self, v: Any, feeds: Feeds) -> Array:
        """Return v^T J, of x's shape; a batch of v gives a batch."""
        seed, product = self._reverse
        return self._run(product, {**feeds, seed.name: v})

    def jvp(self, v: Any, feeds: Feeds) -> Array:
        """Return J v, of y's shape: the gradient of v^T J with respect to v, linear in the direction that arrives there."""
        seed, direction, product = self._forward
        y, _ = self.values(feeds)
        return self._run(product, {**feeds, seed.name: np.zeros_like(y), direction.name: v})

    def hessian_vector(self, v: Any, feeds: Feeds) -> Array:
        """Return H v for the sum of y, of x's shape."""
        direction, product = self._second
        return self._run(product, {**feeds, direction.name: v})

    @functools.cached_property
    def _x_value(self) -> Output:
        if self.x.node.op not in RESOURCE_VARIABLES:
            return self.x
        return self.builder.ReadVariableOp(self.x, dtype=self.x.node.attrs["dtype"])

    @functools.cached_property
    def _reverse(self) -> tuple[Output, Output]:
        """Return a placeholder for the gradient that arrives at y, and the gradient at x."""
        seed = self._placeholder(self.y, "cotangent")
        return seed, self._gradient(self.y, seed, self.x)

    @functools.cached_property
    def _forward(self) -> tuple[Output, Output, Output]:
        seed, gradient = self._reverse
        direction = self._placeholder(self._x_value, "tangent")
        return seed, direction, self._gradient(gradient, direction, seed)

    @functools.cached_property
    def _second(self) -> tuple[Output, Output]:
        direction = self._placeholder(self._x_value, "direction")
        return direction, self._gradient(self._gradient(self.y, None, self.x), direction, self.x)

    def _placeholder(self, like: Output, name: str) -> Output:
        return self.builder.Placeholder(dtype=like.base_dtype, shape=UNKNOWN, name=name)

    def _gradient(self, y: Output, grad_y: Output | None, x: Output) -> Output:
        """Return the gradient of y with respect to x; zeros where y does not depend on x."""
        (grad,) = add_gradients(self.graph, [y], [x], [grad_y])
        like = self._x_value if x is self.x else x
        return self.builder.zeros_like(like) if grad is None else self.builder.densify(grad)

    def _run(self, fetch: Output, feeds: Feeds) -> Array:
        batch = next((value for value in feeds.values() if isinstance(value, Batched)), None)
        if batch is not None and not self.session.takes_hooks:
            return self._one_by_one(fetch, feeds, len(batch.values))
        result = self.session.run(fetch.name, feeds, hook=BatchHook(len(batch.values)) if batch is not None else None)
        if batch is None or isinstance(result, Batched):
            return result.values if isinstance(result, Batched) else result
        return np.broadcast_to(result, (len(batch.values), *result.shape))

    def _one_by_one(self, fetch: Output, feeds: Feeds, count: int) -> Array:
        """Return a run for each member of a batch, for sessions that take no batches."""
        members = (
            {name: value.values[i] if isinstance(value, Batched) else value for name, value in feeds.items()}
            for i in range(count)
        )
        return np.stack([self.session.run(fetch.name, member) for member in members])


def _basis(basis_of: Array, other: Array, chunk_bytes: int) -> Any:
    """Yield the unit vectors in chunks, with the number of the first of each chunk."""
    per_vector = max((basis_of.size + other.size) * basis_of.dtype.itemsize, 1)
    chunk = int(np.clip(chunk_bytes // per_vector, 1, max(basis_of.size, 1)))
    for start in range(0, basis_of.size, chunk):
        count = min(chunk, basis_of.size - start)
        yield start, np.eye(count, basis_of.size, start, basis_of.dtype)
