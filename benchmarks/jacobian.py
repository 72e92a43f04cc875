"""Time a 1000 x 1000 Jacobian in a batch against a vector-Jacobian product per element."""

from __future__ import annotations

import time

import numpy as np

from tfg.core.building.builder import GraphBuilder
from tfg.core.gradients.jacobian import Derivative

SIZE = 1000


def main() -> None:
    g = GraphBuilder()
    rng = np.random.default_rng(0)
    x = g.Placeholder(dtype="float", shape=[1, SIZE], name="x")
    weights = g.constant(rng.standard_normal((SIZE, SIZE)).astype(np.float32) / 30)
    g.Tanh(g.MatMul(x, weights), name="y")
    feeds = {"x:0": rng.standard_normal((1, SIZE)).astype(np.float32)}
    derivative = Derivative(g.graph, "y:0", "x:0")
    derivative.jacobian(feeds)
    start = time.perf_counter()
    batched = derivative.jacobian(feeds).reshape(SIZE, SIZE)
    in_one = time.perf_counter() - start
    basis = np.eye(SIZE, dtype=np.float32).reshape(SIZE, 1, SIZE)
    start = time.perf_counter()
    rows = np.stack([derivative.vjp(vector, feeds).ravel() for vector in basis])
    one_by_one = time.perf_counter() - start
    assert np.allclose(batched, rows, atol=1e-6)
    print(f"batched {in_one:.3f} s, one by one {one_by_one:.3f} s: {one_by_one / in_one:.0f} times as fast")


if __name__ == "__main__":
    main()
