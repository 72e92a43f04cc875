"""Derivatives of a graph, order by order, against central differences of the order before."""

from __future__ import annotations

import random

import numpy as np

import tfg
from tests.core.inference.forgetting import forgotten, hold
from tfg.core.gradients import gradients
from tfg.core.graph.graph import Graph

X, W = np.array([0.7, 1.2]), np.array([1.0, 0.6])
"""Where the derivatives are taken, and the weights by which each becomes a number again."""


def assert_orders(graph: Graph, tensor: str, first: int, last: int) -> None:
    """The derivatives of `tensor`, itself the one before `first`, with respect to `x:0` are what differences say.

    What inference says of their graphs holds for every value.
    """
    for order in range(first, last + 1):
        b = tfg.GraphBuilder(graph.copy())
        value = b.graph.output(tensor)
        value = value if order == 1 else b.Sum(b.Mul(value, b.constant(W)), [0])
        graph, (result,) = gradients(b.graph, value.name, "x:0", name=f"order_{order}")
        assert result is not None, order
        session = tfg.Session(graph)
        (slopes,) = hold(forgotten(graph, {"x:0": X}, random.Random(order), count=1), session, [result], {"x:0": X})
        np.testing.assert_allclose(slopes @ W, difference(session, value.name), rtol=1e-6, atol=1e-7, err_msg=f"order {order}")
        tensor = result


def difference(session: tfg.Session, tensor: str) -> float:
    """The derivative of a number along W, by five points."""
    step = 1e-3
    at = {k: session.run(tensor, {"x:0": X + k * step * W}) for k in (-2, -1, 1, 2)}
    return float((8 * (at[1] - at[-1]) - (at[2] - at[-2])) / (12 * step))
