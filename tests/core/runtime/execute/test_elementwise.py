"""Fused elementwise ops beside single kernels: the same numbers and errors, and hooks that see every kernel."""

import numpy as np
import pytest

from tests.core.runtime.execute.beside_kernels import both, drawn, groups, program
from tfg import GraphBuilder, Session
from tfg.core.runtime.execute.step_fusion import Fused
from tfg.core.runtime.execute.tiers import SETTLING_RUN, forcing

pytestmark = pytest.mark.usefixtures("same_draws", "fused_from_the_first_run")


def test_what_passes_values_on_may_be_fetched_and_fed():
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[2, 6, 6, 8], name="x")
    first = b.IdentityN([b.Neg(x), b.Relu(x)], T=["float32", "float32"])
    b.IdentityN([b.Sigmoid(first[0]), first[1]], T=["float32", "float32"], name="y")
    value = drawn(2, 6, 6, 8)
    session = Session(b.graph)
    for fetches, feeds in [(["y:0", "y:1"], {}), ([first[1].name, "y:0"], {}), (["y:1", "y:0"], {first[0].name: value / 2})]:
        for _ in range(8):
            result = session.run(fetches, {"x:0": value, **feeds})
        expected = Session(b.graph, optimize="none").run(fetches, {"x:0": value, **feeds})
        np.testing.assert_allclose(result, expected, rtol=1e-6)


def test_ones_that_come_from_outside_are_a_factor():
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[2, 6, 6, 8], name="x")
    factor = b.Placeholder(dtype="float32", shape=[8], name="factor")
    b.Neg(b.Sigmoid(b.Mul(x, factor)), name="y")
    session, single, value = Session(b.graph), Session(b.graph, optimize="none"), drawn(2, 6, 6, 8)
    for scale in (1, 1, 1, 1, 2, 1):
        feeds = {"x:0": value, "factor:0": np.full(8, scale, np.float32)}
        np.testing.assert_allclose(session.run("y:0", feeds), single.run("y:0", feeds), rtol=1e-6)


def test_one_number_for_each_image_and_channel():
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[3, 5, 5, 4], name="x")
    s = b.Placeholder(dtype="float32", shape=[3, 1, 1, 4], name="s")
    b.Relu(b.Mul(x, b.Sigmoid(s)), name="y")
    assert both(b.graph, "y:0", {"x:0": drawn(3, 5, 5, 4), "s:0": drawn(3, 1, 1, 4)})


@pytest.mark.parametrize("dtype", ["float32", "float64", "half", "bfloat16", "int32"])
def test_dtypes(dtype):
    b = GraphBuilder()
    x = b.Placeholder(dtype=dtype, shape=None, name="x")
    b.Relu(b.AddV2(b.Mul(x, x), x), name="y")
    value = Session(b.graph).run("x:0", {"x:0": 3 * drawn(4, 5).astype(np.float64)})
    result = both(b.graph, "y:0", {"x:0": value})
    assert bool(result) == (dtype in ("float32", "float64"))


def test_what_is_not_finite():
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=None, name="x")
    b.Mul(b.Relu6(b.AddV2(x, x)), b.Sigmoid(x), name="y")
    assert both(b.graph, "y:0", {"x:0": np.float32([[np.nan, np.inf, -np.inf], [-0.0, 1e38, -1e38]])})


def test_fetched_values_end_groups():
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[3, 4], name="x")
    middle = b.AddV2(x, x, name="middle")
    b.Relu(b.Neg(middle), name="y")
    session = Session(b.graph)
    for _ in range(3):
        result = session.run(["middle:0", "y:0"], {"x:0": np.full((3, 4), -1.0)})
    assert np.all(result[0] == -2) and np.all(result[1] == 2)
    assert groups(session) == [["Neg", "Relu"]]


def test_results_are_arrays_of_their_own():
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[3, 4], name="x")
    b.Relu(b.Neg(x), name="y")
    session = Session(b.graph)
    first = session.run("y:0", {"x:0": np.full((3, 4), -1.0)})
    for _ in range(4):
        session.run("y:0", {"x:0": np.full((3, 4), -7.0)})
    assert np.all(first == 1)


def test_hooks_see_every_kernel():
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[3, 4], name="x")
    b.Relu(b.Neg(b.Square(x)), name="y")
    session, seen = Session(b.graph), []

    def hook(node, call, inputs):
        seen.append(node.op)
        return call(*inputs)

    session.run("y:0", {"x:0": np.ones((3, 4))})
    session.run("y:0", {"x:0": np.ones((3, 4))}, hook=hook)
    assert seen == ["Square", "Neg", "Relu"]


def test_small_values_go_by_their_own_kernels():
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=None, name="x")
    b.Relu(b.Neg(x), name="y")
    with forcing(None):
        assert not both(b.graph, "y:0", {"x:0": drawn(5, 5)})
        session = Session(b.graph)
    for _ in range(SETTLING_RUN):
        session.run("y:0", {"x:0": drawn(5, 5)})
    assert not any(isinstance(step, Fused) for *_, step in program(session).active.instructions)


def test_shapes_may_change_from_run_to_run():
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=None, name="x")
    c = b.Placeholder(dtype="float32", shape=None, name="c")
    b.Relu(b.AddV2(b.Neg(x), c), name="y")
    session = Session(b.graph)
    for shape, other in [
        ((3, 4), (4,)),
        ((2, 3, 4), (2, 3, 4)),
        ((3, 4), (3, 1)),
        ((4,), (3, 4)),
        ((0, 4), (4,)),
        ((), ()),
    ] * 4:
        x, c = drawn(*shape), drawn(*other)
        np.testing.assert_array_equal(session.run("y:0", {"x:0": x, "c:0": c}), np.maximum(c - x, 0))
