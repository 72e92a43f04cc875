"""What a graph says of shapes spares gradients the sums over dimensions that nothing was broadcast along."""

from __future__ import annotations

import numpy as np
import pytest

import tfg
from tfg.core.gradients.backward import add_gradients


def gradients_of_sum(x_shape, y_shape, x, y):
    """The gradients of x * y, and the ops that were added for them."""
    g = tfg.GraphBuilder()
    a, b = (g.Placeholder(dtype="float32", shape=shape, name=name) for shape, name in ((x_shape, "x"), (y_shape, "y")))
    product = g.Mul(a, b, name="product")
    before = len(g.graph)
    names = [value.name for value in add_gradients(g.graph, [product], [a, b])]
    added = [node.op for node in list(g.graph)[before:]]
    return tfg.Session(g.graph).run(names, {a.name: x, b.name: y}), added


ROWS = np.arange(6, dtype=np.float32).reshape(2, 3)
ROW, ONE = ROWS[1:], ROWS[1:, 1:2]


@pytest.mark.parametrize(
    ("x_shape", "y_shape", "x", "y", "sums"),
    [
        ((2, 3), (2, 3), ROWS, ROWS + 1, 0),
        ((2, 3), (3,), ROWS, ROW[0], 1),
        ((None, 3), (1, 3), ROWS, ROW, 1),
        ((None, 3), (3,), ROWS, ROW[0], 1),
        ((None, 3), (2, 3), ROW, ROWS, 2),
        ((None, 3), (None, 3), ROW, ROWS, 2),
        ((2, 3), None, ROWS, ONE[0], 2),
        (None, None, ONE, ROWS, 2),
        ((), (2, 3), np.float32(2), ROWS, 1),
    ],
    ids=str,
)
def test_sums_where_a_value_may_have_been_broadcast(x_shape, y_shape, x, y, sums):
    (dx, dy), added = gradients_of_sum(x_shape, y_shape, x, y)
    whole = np.broadcast_shapes(np.shape(x), np.shape(y))
    np.testing.assert_allclose(dx, folded(np.broadcast_to(y, whole), np.shape(x)))
    np.testing.assert_allclose(dy, folded(np.broadcast_to(x, whole), np.shape(y)))
    assert added.count("Sum") == sums


def folded(values, shape):
    """Values summed over what a shape was broadcast along."""
    values = values.sum(axis=tuple(range(values.ndim - len(shape))))
    return values.sum(axis=tuple(i for i, size in enumerate(shape) if size == 1), keepdims=True)


def test_values_of_one_unknown_shape():
    g = tfg.GraphBuilder()
    x = g.Placeholder(dtype="float32", shape=(None, 3))
    before = len(g.graph)
    y = g.Mul(g.Tanh(x), g.Exp(x))
    names = [value.name for value in add_gradients(g.graph, [y], [x])]
    assert not {"Sum", "BroadcastGradientArgs"} & {node.op for node in list(g.graph)[before:]}
    value = tfg.Session(g.graph).run(names, {x.name: ROWS})[0]
    expected = np.exp(ROWS) * (1 - np.tanh(ROWS) ** 2) + np.tanh(ROWS) * np.exp(ROWS)
    np.testing.assert_allclose(value, expected, rtol=1e-5)


def test_loops_that_change_shapes():
    """In an iteration a loop variable may have been broadcast, though it has one shape where it enters."""
    g = tfg.GraphBuilder()
    x = g.Placeholder(dtype="float32", shape=(1,), name="x")
    enter = g.Enter(x, frame_name="loop")
    merge = g.Merge([enter, enter])[0]
    count = g.Enter(g.constant(0), frame_name="loop")
    counts = g.Merge([count, count])[0]
    going = g.LoopCond(g.Less(counts, g.Enter(g.constant(2), frame_name="loop", is_constant=True)))
    leaving, body = g.Switch(merge, going)
    counted = g.Switch(counts, going)[1]
    grown = g.Mul(body, g.Enter(g.constant([1.0, 2.0, 3.0]), frame_name="loop", is_constant=True))
    g.graph.set_input(merge.node, 1, g.NextIteration(grown))
    one = g.Enter(g.constant(1), frame_name="loop", is_constant=True)
    g.graph.set_input(counts.node, 1, g.NextIteration(g.AddV2(counted, one)))
    y = g.Exit(leaving)
    names = [value.name for value in add_gradients(g.graph, [y], [x])]
    np.testing.assert_allclose(tfg.Session(g.graph).run(names, {x.name: [5.0]})[0], [1.0 + 4.0 + 9.0])
