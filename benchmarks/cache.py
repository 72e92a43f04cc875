"""The gain from values kept between runs: a matrix built from unchanged variables times a new vector in each step."""

import time

import numpy as np

import tfg

SIZE = 400


def graph():
    """y = (tanh(a) b^T + a) x with variables a and b and a fed x."""
    b = tfg.GraphBuilder()
    rng = np.random.default_rng(0)
    left, right = (b.variable(rng.standard_normal((SIZE, SIZE)).astype("f"), name, resource=True) for name in "ab")
    matrix = b.AddV2(b.MatMul(b.Tanh(left.value), right.value, transpose_b=True), left.value)
    b.MatMul(matrix, b.Placeholder(dtype="float32", shape=[SIZE, 1], name="x"), name="y")
    b.global_variables_initializer()
    return b.graph


def seconds(cache):
    session = tfg.Session(graph(), cache=cache)
    session.run("init")
    feeds = {"x:0": np.ones((SIZE, 1), "f")}
    return best_time(lambda: session.run("y:0", feeds)), session.cache_stats


def best_time(function, seconds=2.0):
    """Return the shortest time of a call of `function` in about this number of seconds."""
    function()
    best, end = float("inf"), time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = time.perf_counter()
        function()
        best = min(best, time.perf_counter() - start)
    return best


def main():
    without, _ = seconds(0)
    with_cache, stats = seconds(2**24)
    print(f"without cache {1e6 * without:8.1f} us a step")
    print(f"with cache    {1e6 * with_cache:8.1f} us a step: {without / with_cache:.0f} times as fast, {stats}")


if __name__ == "__main__":
    main()
