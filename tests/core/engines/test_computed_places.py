"""Slices of a constant size at computed places: in loops, in JAX and XLA."""

from __future__ import annotations

import numpy as np
import pytest

jax = pytest.importorskip("jax", reason="the extra tfg[xla] is not installed")
pytestmark = pytest.mark.engine

import tfg  # noqa: E402
from tests.functions import define  # noqa: E402
from tfg.core.building.builder import GraphBuilder  # noqa: E402
from tfg.core.support.errors import InvalidArgumentError, UnimplementedError  # noqa: E402
from tfg.core.types.shapes import Shape  # noqa: E402

X = np.random.default_rng(0).normal(size=(5, 4)).astype(np.float32)
ONE = np.int32(1)


def strided(f, x, begin, end, **masks):
    """Slice `x` by bounds that are numbers or tensors."""
    bounds = [f.Pack([f.constant(np.int32(b)) if isinstance(b, int) else b for b in vector]) for vector in (begin, end)]
    return f.StridedSlice(x, *bounds, f.constant(np.ones(len(begin), np.int32)), **masks)


def more(f, i, n):
    return f.AddV2(f.constant(np.int32(n)), i)


SLICES = {
    "x[i]": (lambda f, x, i: strided(f, x, [i], [more(f, i, 1)], shrink_axis_mask=1), lambda x, i: x[i]),
    "x[-i]": (lambda f, x, i: strided(f, x, [f.Neg(i)], [i], shrink_axis_mask=1), lambda x, i: x[-i]),
    "x[:, i]": (
        lambda f, x, i: strided(f, x, [0, i], [0, more(f, i, 1)], shrink_axis_mask=2, begin_mask=1, end_mask=1),
        lambda x, i: x[:, i],
    ),
    "x[..., i]": (
        lambda f, x, i: strided(f, x, [0, i], [0, i], shrink_axis_mask=2, ellipsis_mask=1), lambda x, i: x[..., i],
    ),
    "x[i, 1:3]": (lambda f, x, i: strided(f, x, [i, 1], [i, 3], shrink_axis_mask=1), lambda x, i: x[i, 1:3]),
    "x[i:i+2]": (lambda f, x, i: strided(f, x, [i], [more(f, i, 2)]), lambda x, i: x[i : i + 2]),
    "x[i-1:i+1]": (
        lambda f, x, i: strided(f, x, [f.Sub(more(f, i, 0), f.constant(ONE))], [more(f, i, 1)]),
        lambda x, i: x[i - 1 : i + 1] if i else np.zeros((0, 4), np.float32),
    ),
    "x[None, i, i]": (
        lambda f, x, i: strided(f, x, [0, i, i], [0, i, i], new_axis_mask=1, shrink_axis_mask=6), lambda x, i: x[None, i, i],
    ),
    "slice": (
        lambda f, x, i: f.Slice(x, f.Pack([i, f.constant(ONE)]), f.constant(np.int32([2, -1]))), lambda x, i: x[i : i + 2, 1:],
    ),
}  # fmt: skip


def looping(cut, end=None):
    """Return a graph with a loop that adds sums of slices at the places from 1 to `end`, which is fed by default."""
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[5, 4], name="x")
    n = b.Placeholder(dtype="int32", shape=[], name="n") if end is None else b.constant(np.int32(end))
    define(b, "on", ["int32", "float", "float", "int32"], lambda f, i, a, x, n: [f.Less(i, n)])

    def body(f, i, a, x, n):
        rows = cut(f, x, i)
        total = f.Sum(f.Square(rows), f.Range(f.constant(np.int32(0)), f.Rank(rows), f.constant(ONE)))
        return [f.AddV2(i, f.constant(ONE)), f.AddV2(a, f.Tanh(total)), x, n]

    define(b, "step", ["int32", "float", "float", "int32"], body)
    first = [b.constant(ONE), b.constant(np.float32(0)), x, n]
    shapes = [Shape(()), Shape(()), Shape((5, 4)), Shape(())]
    loop = b.StatelessWhile(first, cond="on", body="step", output_shapes=shapes, name="loop")
    b.Identity(loop[1], name="y")
    return b.graph


@pytest.mark.parametrize("name", SLICES)
def test_slices_at_the_counter_of_a_loop(name):
    cut, plain = SLICES[name]
    right = sum(np.tanh(np.sum(np.square(plain(X, i)))) for i in (1, 2, 3))
    graph = looping(cut)
    function, parameters = tfg.to_jax(graph, "y:0", ["x:0", "n:0"])
    np.testing.assert_allclose(jax.jit(function)(parameters, X, np.int32(4)), right, rtol=1e-6)
    engaged = tfg.Session(graph, engine="xla")
    np.testing.assert_allclose(engaged.run("y:0", {"x:0": X, "n:0": np.int32(4)}), right, rtol=1e-6)


def test_gradients_of_rows_by_jax_and_by_the_graph():
    graph = looping(SLICES["x[i]"][0], end=4)
    right = np.zeros_like(X)
    for i in (1, 2, 3):
        right[i] = 2 * X[i] * (1 - np.tanh(np.sum(X[i] ** 2)) ** 2)
    function, parameters = tfg.to_jax(graph, "y:0", ["x:0"])
    np.testing.assert_allclose(jax.grad(function, 1)(parameters, X), right, rtol=1e-4, atol=1e-6)
    extended, (gradient,) = tfg.gradients(graph, "y:0", "x:0")
    np.testing.assert_allclose(tfg.Session(extended, engine="xla").run(gradient, {"x:0": X}), right, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("name", ["x[i]", "slice"])
def test_a_row_that_does_not_exist_is_the_graphs_error(name):
    session = tfg.Session(looping(SLICES[name][0]), engine="xla")
    with pytest.raises(InvalidArgumentError, match=r"out of bounds|Expected"):
        session.run("y:0", {"x:0": X, "n:0": np.int32(9)})


def test_a_size_that_the_place_decides_is_refused_by_name():
    graph = looping(lambda f, x, i: strided(f, x, [0], [i], begin_mask=1))
    function, parameters = tfg.to_jax(graph, "y:0", ["x:0", "n:0"])
    with pytest.raises(UnimplementedError, match=r"StridedSlice.*: its size depends on a place that is computed in the run"):
        function(parameters, X, np.int32(4))
