"""A group with a node that does not compile: NumPy runs the node, the engine runs the rest, and the report has the reason."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.engines.fake_engine import FakeEngine, spoiled
from tests.core.engines.test_engine_runtime import refusals
from tests.core.engines.test_plan_division import graphs
from tests.core.engines.test_variables import READS, Holding, training
from tfg.core.building.builder import GraphBuilder
from tfg.core.engines.engine_runtime import EngineRuntime
from tfg.core.engines.executables import EngineSettings
from tfg.core.engines.protocol import Declined
from tfg.core.runtime.session.session import Session


def ladder(count):
    """Return a chain of sums n0, n1 ...: each adds the number of the sum."""
    b = GraphBuilder()
    value = b.Placeholder(dtype="float32", shape=None, name="x")
    for number in range(count):
        value = b.AddV2(value, b.constant(np.float32(number)), name=f"n{number}")
    return b.graph


def groups(session):
    return [(group.last, group.steps, group.runs) for group in session.engine_report().groups]


@pytest.mark.parametrize("names_them", [True, False])
def test_the_rest_is_compiled(names_them):
    engine = FakeEngine(cannot=["n10"], names_them=names_them, smallest=4)
    session = Session(ladder(30), engine=engine)
    for _ in range(2):
        assert session.run("n29:0", {"x:0": 1}) == 1 + sum(range(30))
    assert sorted(groups(session)) == [("n29", 19, 2), ("n9", 10, 2)]
    assert refusals(session) == {"n10": "it is too hard" if names_them else "it does not compile: something is too hard"}
    assert engine.attempts <= 1 + 5 + 2  # the whole, a search among 30, two groups


def test_a_rest_that_is_too_small_stays():
    session = Session(ladder(9), engine=FakeEngine(cannot=["n6"], smallest=4))
    assert session.run("n8:0", {"x:0": 0}) == 36
    assert groups(session) == [("n5", 6, 1)]
    assert session.engine_report().in_small_groups == 2


def test_where_no_group_is_left_the_reason_is_that_of_the_group():
    session = Session(ladder(5), engine=FakeEngine(cannot=["n2"], smallest=4))
    assert session.run("n4:0", {"x:0": 0}) == 10
    (group,) = session.engine_report().groups
    assert (group.steps, group.runs, group.reason) == (5, 0, "it does not compile: node 'n2': it is too hard")


def test_other_shapes_begin_without_the_node():
    engine = FakeEngine(cannot=["n10"], smallest=4)
    session = Session(ladder(30), engine=engine)
    for size in (1, 2, 3):
        np.testing.assert_array_equal(session.run("n29:0", {"x:0": np.ones(size)}), np.full(size, 1 + sum(range(30))))
    assert engine.attempts == 1 + 3 * 2


@pytest.mark.slow
def test_the_search_has_an_end():
    engine = FakeEngine(fails=ValueError("out of order"), smallest=4)
    session = Session(ladder(500), engine=engine)
    assert session.run("n499:0", {"x:0": 0}) == sum(range(500))
    assert engine.attempts < 50
    assert [group.reason for group in session.engine_report().groups] == ["it does not compile: out of order"]


def test_a_value_that_is_not_for_the_engine_blames_no_node():
    class Picky(FakeEngine):
        def compile(self, cluster, values):
            if any(value > 3 for value in cluster.fixed.values()):
                raise Declined("it is too large")
            return super().compile(cluster, values)

        def static_inputs(self, node):
            return [0] if node.name == "n0" else ()

    engine = Picky()
    session = Session(ladder(5), engine=engine)
    assert [session.run("n4:0", {"x:0": x}) for x in (5, 2)] == [15, 12]
    assert refusals(session) == {}


def test_a_result_of_another_dtype_refuses_its_node():
    class Widening(FakeEngine):
        def compile(self, cluster, values):
            run = super().compile(cluster, values)
            wide = [output.node.name == "n5" for output in cluster.results]
            return lambda arrays: [a.astype("f8") if is_wide else a for a, is_wide in zip(run(arrays), wide)]

    session = Session(ladder(12), engine=Widening(smallest=4))
    np.testing.assert_array_equal(session.run(["n5:0", "n11:0"], {"x:0": 0}), [15, 66])
    assert refusals(session) == {"n5": "the engine returns another dtype: n5:0 is float64"}
    assert sorted(groups(session)) == [("n11", 6, 1), ("n4", 5, 1)]


def test_parts_are_verified_too():
    runtime = EngineRuntime(FakeEngine(cannot=["n2"], wrong=["n5:0"]), EngineSettings(verify=True))
    session = Session(ladder(6), engine=runtime)
    np.testing.assert_array_equal(session.run("n5:0", {"x:0": 0}), spoiled(np.float32(15)))
    assert [result.tensor for result in session.engine_report().differences] == ["n5:0"]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("resource", [True, False])
@pytest.mark.parametrize("names_them", [True, False])
@pytest.mark.parametrize("node", ["before", "update", "step"])
def test_what_touches_variables_keeps_its_order(resource, names_them, node):
    graph = training(resource)
    plain, engaged = Session(graph), Session(graph, engine=Holding(cannot=[node], names_them=names_them))
    for session in (plain, engaged):
        session.run("init")
    for _ in range(3):
        feeds = {"x:0": np.float32([1, -2])}
        for result, expected in zip(engaged.run(READS, feeds), plain.run(READS, feeds)):
            np.testing.assert_array_equal(result, expected)


def test_a_shape_from_a_variable_costs_one_node():
    """The engine would have to know the value; the rest of the group does without."""

    class Shaping(FakeEngine):
        def static_inputs(self, node):
            return [1] if node.op == "Reshape" else ()

    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[6], name="x")
    shape = b.variable(np.int32([2, 3]), "shape", resource=True)
    read = b.ReadVariableOp(shape.handle, dtype="int32", name="read")
    before = b.Neg(b.Square(x), name="before")
    b.Exp(b.Neg(b.Reshape(before, read, name="reshaped")), name="y")
    b.global_variables_initializer(name="init")
    session = Session(b.graph, engine=Shaping(takes_variables=True))
    session.run("init")
    np.testing.assert_allclose(session.run("y:0", {"x:0": np.arange(6)}), np.exp(np.arange(6.0).reshape(2, 3) ** 2), rtol=1e-6)
    assert refusals(session)["reshaped"] == "a shape depends on the value of a variable"
    assert {last for last, _, runs in groups(session) if runs} >= {"before", "y"}


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(graphs(counts=True), st.sets(st.integers(0, 25)), st.booleans(), st.integers(1, 3), st.booleans(), st.data())
def test_any_graph_gives_the_same_whatever_does_not_compile(drawn, numbers, names_them, smallest, takes_variables, data):
    graph, names = drawn
    fetches = data.draw(st.lists(st.sampled_from(names), min_size=1, max_size=5, unique=True))
    cannot = {f"n{number}" for number in numbers}
    engine = FakeEngine(cannot=cannot, names_them=names_them, smallest=smallest, takes_variables=takes_variables)
    plain, engaged = Session(graph), Session(graph, engine=engine)
    for x in (1, 2):
        for result, expected in zip(engaged.run(fetches, {"x:0": x}), plain.run(fetches, {"x:0": x})):
            np.testing.assert_array_equal(result, expected)
