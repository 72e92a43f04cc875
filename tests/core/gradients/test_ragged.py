"""Gradients of ragged tensors that travel in variants: first and second derivatives of the sum of cubes are 3x² and 6x."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tfg.core.building.builder import GraphBuilder
from tfg.core.gradients import gradients
from tfg.core.gradients.jacobian import hessian_vector
from tfg.core.graph.graph import Output
from tfg.core.runtime.session.session import Session
from tfg.core.support.errors import UnimplementedError

X = np.array([1.0, 2, 3, 4, 5, 6])
V = np.array([1.0, -2, 0.5, 3, -1, 2])
ROWS = np.array([0, 1, 1, 4, 6])
OUTER, INNER = np.array([0, 2, 2, 3]), np.array([0, 1, 3, 6])


def from_variant(g: GraphBuilder, encoded: Output, inner: int, outer: int) -> Output:
    decoded = g.RaggedTensorFromVariant(
        encoded, input_ragged_rank=inner, output_ragged_rank=outer, Tvalues="double", Tsplits="int64"
    )
    return decoded[-1]


def element(g: GraphBuilder, encoded: Output, index: int) -> Output:
    """One variant, through a list as in map_fn."""
    items = g.TensorListFromTensor(encoded, np.zeros(0, np.int32))
    return g.TensorListGetItem(items, index, np.zeros(0, np.int32), element_dtype="variant")


def scalar(g: GraphBuilder, x: Output) -> Output:
    return from_variant(g, g.RaggedTensorToVariant([OUTER, INNER], x, batched_input=False), 2, 2)


def vector(g: GraphBuilder, x: Output) -> Output:
    return from_variant(g, g.RaggedTensorToVariant([ROWS], x, batched_input=True), 0, 1)


def vector_of_ragged(g: GraphBuilder, x: Output) -> Output:
    return from_variant(g, g.RaggedTensorToVariant([OUTER, INNER], x, batched_input=True), 1, 2)


def vector_of_unsaid_rank(g: GraphBuilder, x: Output) -> Output:
    return from_variant(g, g.RaggedTensorToVariant([OUTER, INNER], x, batched_input=True), -1, 2)


def matrix(g: GraphBuilder, x: Output) -> Output:
    rows = g.RaggedTensorToVariant([ROWS], x, batched_input=True)
    return from_variant(g, g.Reshape(rows, [2, 2]), -1, 2)


def dense_rows(g: GraphBuilder, x: Output) -> Output:
    return from_variant(g, g.RaggedTensorToVariant([], g.Reshape(x, [2, 3]), batched_input=True), 0, 1)


def elements(g: GraphBuilder, x: Output) -> Output:
    """A map over the rows, an empty one among them: the rank of a variant is that of a list's element."""
    rows = g.RaggedTensorToVariant([ROWS], x, batched_input=True)
    return g.ConcatV2([from_variant(g, element(g, rows, i), -1, 0) for i in range(4)], 0)


def ragged_elements(g: GraphBuilder, x: Output) -> Output:
    rows = g.RaggedTensorToVariant([OUTER, INNER], x, batched_input=True)
    return g.ConcatV2([from_variant(g, element(g, rows, i), -1, 1) for i in range(3)], 0)


def read_twice(g: GraphBuilder, x: Output) -> Output:
    """Two gradients of one variant meet: x³ = x · x² and both factors come from it."""
    rows = g.RaggedTensorToVariant([ROWS], x, batched_input=True)
    return g.Pow(g.Mul(from_variant(g, rows, 0, 1), from_variant(g, rows, -1, 1)), g.constant(np.float64(0.5)))


BUILDS = (
    scalar, vector, vector_of_ragged, vector_of_unsaid_rank, matrix, dense_rows, elements, ragged_elements, read_twice,
)  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize("build", BUILDS, ids=lambda build: build.__name__)
def test_values_in_variants(build: Callable[[GraphBuilder, Output], Output]) -> None:
    b = GraphBuilder()
    x = b.Placeholder(dtype="double", shape=[6], name="x")
    b.Sum(b.Pow(build(b, x), b.constant(np.float64(3))), [0], name="y")
    graph, (grad,) = gradients(b.graph, "y:0", "x:0")
    np.testing.assert_allclose(Session(graph).run(grad, {"x:0": X}), 3 * X**2)
    np.testing.assert_allclose(hessian_vector(b.graph, "y:0", "x:0", V, {"x:0": X}), 6 * X * V)


def test_a_second_gradient_that_needs_more_than_the_node_has_is_an_error() -> None:
    """TensorFlow writes such nodes, and has no gradient of them."""
    b = GraphBuilder()
    x = b.Placeholder(dtype="double", shape=[6], name="x")
    rows = b.RaggedTensorToVariant([ROWS], x, batched_input=True)
    b.RaggedTensorToVariantGradient(rows, b.constant(ROWS), [6], Tvalues="double", name="back")
    with pytest.raises(UnimplementedError, match="row splits") as error:
        gradients(b.graph, "back:0", "x:0")
    assert error.value.node == "back"
