"""Jacobians in both modes, products, and the batching rules, against one product for each basis vector."""

from __future__ import annotations

import numpy as np
import pytest

from tfg.core.building.builder import GraphBuilder
from tfg.core.gradients.jacobian import Derivative, hessian_vector, jacobian, jvp, vjp
from tfg.core.runtime.session.runner import Runner
from tfg.core.runtime.session.session import Session
from tfg.core.support.errors import InvalidArgumentError

X = np.array([[0.3, -1.2, 0.7], [1.1, 0.4, -0.5]])


def affine(g, x):
    return g.BiasAdd(g.MatMul(x, g.constant(np.arange(12.0).reshape(3, 4) / 7)), g.constant(np.arange(4.0)))


FUNCTIONS = {
    "tanh": lambda g, x: g.Tanh(x),
    "affine": affine,
    "reshaped": lambda g, x: g.Transpose(g.Reshape(g.Square(x), [3, -1]), [1, 0]),
    "reshaped without rows": lambda g, x: g.ConcatV2([g.Reshape(g.Slice(x, [0, 0], [0, 3]), [0, -1]), x], 0),
    "reduced": lambda g, x: g.Sum(g.Exp(x), [-1]),
    "mean": lambda g, x: g.Mean(g.Mul(x, x), [0], keep_dims=True),
    "softmax": lambda g, x: g.Softmax(affine(g, x)),
    "gathered": lambda g, x: g.GatherV2(g.Sin(x), [1, 0, 1], 0),
    "cumulated": lambda g, x: g.Cumsum(g.Mul(x, x), 1),
    "joined": lambda g, x: g.ConcatV2([x, g.Neg(x)], 1),
    "constant": lambda g, x: g.constant(np.ones((2, 2))),
}


def graph_of(name):
    g = GraphBuilder()
    x = g.Placeholder(dtype="double", shape=[2, 3], name="x")
    g.Identity(FUNCTIONS[name](g, x), name="y")
    return g.graph


@pytest.mark.sampled(4)
@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_against_central_differences(name: str, mode: str) -> None:
    graph = graph_of(name)
    session = Session(graph)
    matrix = jacobian(graph, "y:0", "x:0", {"x:0": X}, mode=mode)
    step = 1e-6
    for index in np.ndindex(X.shape):
        moved = X.copy()
        moved[index] += step
        high = session.run("y:0", {"x:0": moved})
        moved[index] -= 2 * step
        difference = (high - session.run("y:0", {"x:0": moved})) / (2 * step)
        np.testing.assert_allclose(matrix[(..., *index)], difference, rtol=1e-6, atol=1e-7)


def test_small_chunks_give_the_same() -> None:
    graph = graph_of("softmax")
    whole = jacobian(graph, "y:0", "x:0", {"x:0": X}, mode="reverse")
    np.testing.assert_array_equal(jacobian(graph, "y:0", "x:0", {"x:0": X}, mode="reverse", chunk_bytes=1), whole)


def test_products() -> None:
    graph, feeds = graph_of("softmax"), {"x:0": X}
    full = jacobian(graph, "y:0", "x:0", feeds)
    v, u = np.arange(8.0).reshape(2, 4), np.arange(6.0).reshape(2, 3)
    np.testing.assert_allclose(vjp(graph, "y:0", "x:0", v, feeds), np.einsum("ab,abcd->cd", v, full), rtol=1e-12)
    np.testing.assert_allclose(jvp(graph, "y:0", "x:0", u, feeds), np.einsum("abcd,cd->ab", full, u), rtol=1e-10)


def test_hessian_vector() -> None:
    """The Hessian of sum(x^3) is diagonal: 6 x."""
    g = GraphBuilder()
    x = g.Placeholder(dtype="double", shape=[3], name="x")
    g.Sum(g.Mul(x, g.Square(x)), [0], name="y")
    point, v = np.array([1.0, -2.0, 0.5]), np.array([1.0, 1.0, 2.0])
    np.testing.assert_allclose(hessian_vector(g.graph, "y:0", "x:0", v, {"x:0": point}), 6 * point * v)


@pytest.mark.parametrize("resource", [False, True])
def test_with_respect_to_a_variable(resource: bool) -> None:
    g = GraphBuilder()
    w = g.variable(np.array([1.0, 2.0]), name="w", resource=resource)
    g.Mul(w.value, w.value, name="y")
    g.global_variables_initializer()
    runner = Runner(Session(g.graph))
    runner.initialize()
    derivative = Derivative(g.graph, "y:0", "w:0", runner.session)
    np.testing.assert_allclose(derivative.jacobian({}), [[2.0, 0.0], [0.0, 4.0]])
    runner.assign("w", lambda _: np.array([3.0, 5.0]))
    np.testing.assert_allclose(derivative.jacobian({}), [[6.0, 0.0], [0.0, 10.0]])


def test_an_unknown_mode_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="mode must be auto or forward or reverse, not 'sideways'"):
        jacobian(graph_of("tanh"), "y:0", "x:0", {"x:0": X}, mode="sideways")


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_a_handle_of_no_variable_has_no_derivatives(mode: str) -> None:
    g = GraphBuilder()
    g.LookupTableFindV2(g.HashTableV2(key_dtype="int64", value_dtype="float32", name="table"), np.int64([1]), 0.0, name="y")
    with pytest.raises(InvalidArgumentError, match="table:0' has dtype resource"):
        jacobian(g.graph, "y:0", "table:0", mode=mode)
