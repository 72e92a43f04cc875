"""Plans divided between an engine and NumPy: an order that keeps all edges, for any graph and any refusals."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.engines.fake_engine import FakeEngine
from tfg.core.building.builder import GraphBuilder
from tfg.core.engines.plan_division import partition
from tfg.core.engines.protocol import Engined
from tfg.core.graph.graph import Graph
from tfg.core.planning.planner import compile_plan
from tfg.core.planning.reachability import needed_sources
from tfg.core.runtime.session.session import Session
from tfg.core.types.shapes import Shape
from tfg.core.types.tensors import Tensor

FLOAT = {"T": "float"}


def add(graph, op, inputs=(), controls=(), **attrs):
    """Add a node named by the number of the node."""
    from tfg.core.types import dtypes

    typed = {name: dtypes.as_dtype(value) if isinstance(value, str) else value for name, value in attrs.items()}
    return graph.add_node(f"n{len(graph)}", op, inputs, controls, typed)


@st.composite
def graphs(draw, counts=False):
    """Arithmetic, constants, joins and a variable, all with control inputs at random; the outputs that may be fetched."""
    graph = Graph()
    handle = add(graph, "VarHandleOp", dtype="float", shape=Shape(()), shared_name=b"v").output()
    start = add(graph, "Const", dtype="float", value=Tensor.from_numpy(np.float32(1)))
    first = add(graph, "AssignVariableOp", [handle, start.output()], dtype="float")
    x = graph.add_node("x", "Placeholder", (), (), {"dtype": start.attrs["dtype"], "shape": Shape(())}).output()
    values, nodes = [x, start.output()], [first]
    kinds = ["Const", "Neg", "AddV2", "Sub", "Identity", "NoOp", "Read", "Write", "Add", *["Size"] * counts]
    for number in range(draw(st.integers(3, 25))):
        kind = draw(st.sampled_from(kinds))
        controls = draw(st.lists(st.sampled_from(nodes), max_size=2, unique=True))
        one, two = draw(st.sampled_from(values)), draw(st.sampled_from(values))
        if kind == "Const":
            node = add(graph, kind, (), controls, dtype="float", value=Tensor.from_numpy(np.float32(number)))
        elif kind in ("Neg", "Identity"):
            node = add(graph, kind, [one], controls, **FLOAT)
        elif kind in ("AddV2", "Sub"):
            node = add(graph, kind, [one, two], controls, **FLOAT)
        elif kind == "Read":
            node = add(graph, "ReadVariableOp", [handle], [*controls, first], dtype="float")
        elif kind == "Size":
            count = add(graph, kind, [one], controls, out_type="int32", **FLOAT)
            nodes.append(count)
            node = add(graph, "Cast", count.outputs(), (), SrcT="int32", DstT="float")
        elif kind in ("Write", "Add"):
            op = "AssignVariableOp" if kind == "Write" else "AssignAddVariableOp"
            node = add(graph, op, [handle, one], [*controls, first], dtype="float")
        else:
            node = add(graph, kind, (), controls)
        nodes.append(node)
        values += node.outputs()
    return graph, [value.name for value in values[1:]] + [node.name for node in nodes]


@settings(max_examples=75, deadline=None)
@given(graphs(counts=True), st.floats(0, 1), st.integers(0, 1000), st.integers(1, 3), st.booleans(), st.data())
@pytest.mark.slow
def test_any_graph_gives_the_same_whatever_is_refused(drawn, chance, seed, smallest, takes_variables, data):
    graph, names = drawn
    fetches = data.draw(st.lists(st.sampled_from(names), min_size=1, max_size=5, unique=True))
    engine = FakeEngine(chance=chance, seed=seed, smallest=smallest, takes_variables=takes_variables)
    engine.largest = data.draw(st.integers(1, 20))
    plain, engaged = Session(graph), Session(graph, engine=engine)
    for x in (1, 2):
        for result, expected in zip(engaged.run(fetches, {"x:0": x}), plain.run(fetches, {"x:0": x})):
            np.testing.assert_array_equal(result, expected)


@pytest.mark.slow
@settings(max_examples=75, deadline=None)
@given(graphs(), st.floats(0, 1), st.integers(0, 1000), st.booleans(), st.data())
def test_all_edges_lead_forward_between_groups(drawn, chance, seed, takes_variables, data):
    graph, names = drawn
    targets = [graph.fetch(name) for name in data.draw(st.lists(st.sampled_from(names), min_size=1, unique=True))]
    feeds = [graph.output("x:0")]
    engine = FakeEngine(chance=chance, seed=seed, takes_variables=takes_variables)
    engine.largest = data.draw(st.integers(1, 20))
    plan = partition(compile_plan(graph, targets, feeds), graph, engine).plan
    place = {node: i for i, step in enumerate(plan.steps) for node in members(step) if node.op != "NoOp"}
    written = set(plan.feeds) | {s for step in plan.steps if step.node.is_constant for s in step.outputs}
    for step in plan.steps:
        assert written.issuperset(step.inputs)
        written.update(step.outputs)
    for node, i in place.items():
        if not node.is_constant:
            assert all(place[source] <= i for source in waited_for(node, frozenset(feeds), place))


def members(step):
    """The nodes of a step."""
    inside = step.body.steps if isinstance(step, Engined) else [step]
    return [inner.node for inner in inside if inside == [step] or not inner.node.is_constant]


def waited_for(node, fed, place):
    """The nodes with a step of their own on the ways to a node."""
    result, pending = [], list(needed_sources(node, fed))
    while pending:
        source = pending.pop()
        if source in place:
            result.append(source)
        elif source is not None:
            pending += needed_sources(source, fed)
    return result


def chain():
    """Return y = ((x * a) + b) * a with a possible refusal anywhere; and z, which waits for y through a constant."""
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[2], name="x")
    two = b.constant(np.float32([2, 3]), name="two")
    first = b.Mul(x, two, name="first")
    second = b.AddV2(first, two, name="second")
    y = b.Mul(second, two, name="y")
    with b.control_dependencies([y]):
        late = b.constant(np.float32(5), name="late")
    b.AddV2(x, late, name="z")
    return b.graph


def test_a_group_has_at_most_the_largest_number_of_steps():
    b = GraphBuilder()
    value = b.Placeholder(dtype="float32", shape=[], name="x")
    for _ in range(25):
        value = b.AddV2(value, b.constant(np.float32(1)))
    engine = FakeEngine()
    engine.largest = 10
    session = Session(b.graph, engine=engine)
    assert session.run(value.name, {"x:0": 0}) == 25
    assert [group.steps for group in session.engine_report().groups] == [10, 10, 5]
    assert [len(names) for names in engine.compiled] == [20, 20, 10]


def groups_of(graph, fetches, engine):
    """The names of the nodes in each group, constants left out."""
    whole = compile_plan(graph, [graph.fetch(f) for f in fetches], [graph.output("x:0")])
    plan = partition(whole, graph, engine).plan
    return [[node.name for node in members(step)] for step in plan.steps if isinstance(step, Engined)]


def test_a_refused_node_parts_two_groups():
    graph = chain()
    assert groups_of(graph, ["y:0"], FakeEngine()) == [["first", "second", "y"]]
    assert groups_of(graph, ["y:0"], FakeEngine(["second"])) == [["first"], ["y"]]
    assert groups_of(graph, ["y:0"], FakeEngine(["first"])) == [["second", "y"]]


def test_a_constant_that_waits_parts_no_groups():
    """The constant's value is present from the start: z waits for y by the control input, and y may be in the same group."""
    engine = FakeEngine()
    assert groups_of(chain(), ["y:0", "z:0"], engine) == [["first", "second", "y", "z"]]
    assert groups_of(chain(), ["y:0", "z:0"], FakeEngine(["second"])) == [["first"], ["y", "z"]]
    result, plain = (Session(chain(), engine=e).run(["y:0", "z:0"], {"x:0": [1, 2]}) for e in (engine, None))
    np.testing.assert_array_equal(result, plain)


def counting(b, start, name):
    """Return a V1 loop that counts from `start` to 9 and adds as often to variable `name`."""
    variable = b.variable(np.float32(0), name, resource=False)
    reference = b.RefEnter(variable.handle, frame_name=name, is_constant=True)
    limit, one = (b.Enter(b.constant(np.float32(n)), frame_name=name, is_constant=True) for n in (9, 1))
    entered = b.Enter(start, frame_name=name)
    count, _ = b.Merge([entered, entered])
    left, going = b.Switch(count, b.LoopCond(b.Less(count, limit)))
    going = b.Identity(going)
    with b.control_dependencies([going.node]):
        write = b.AssignAdd(reference, one)
    with b.control_dependencies([write.node]):
        b.graph.set_input(count.node, 1, b.NextIteration(b.AddV2(going, one)))
    return b.Exit(left), variable


def test_a_node_that_only_waits_parts_no_groups():
    """TensorFlow's gradients have many."""
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[2], name="x")
    first = b.Neg(x, name="first")
    with b.control_dependencies([first.node]):
        joined = b.NoOp(name="joined")
    with b.control_dependencies([joined]):
        b.Neg(b.Identity(first), name="second")
    engine = FakeEngine()
    assert groups_of(b.graph, ["second:0", "joined"], engine) == [["first", "second"]]
    np.testing.assert_array_equal(Session(b.graph, engine=engine).run(["second:0", "joined"], {"x:0": [1, 2]})[0], [1, 2])


@pytest.mark.parametrize("smallest", [1, 100])
def test_what_follows_a_loop_comes_after_it(smallest):
    """The nodes follow by data through the exit, by a control input from the loop, and by the variable that the loop
    writes.
    """
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[], name="x")
    end, variable = counting(b, b.Neg(b.Neg(x)), "v")
    end, second = counting(b, b.Sub(end, b.constant(np.float32(4))), "w")
    with b.control_dependencies([end.node]):
        late = b.Identity(b.Neg(x))
    with b.control_dependencies([late.node]):
        reads = [b.Identity(v.handle) for v in (variable, second)]
    b.Pack([b.Neg(late), *reads, end], name="y")
    b.global_variables_initializer(name="init")
    session = Session(b.graph, engine=FakeEngine(smallest=smallest))
    session.run("init")
    np.testing.assert_array_equal(session.run("y:0", {"x:0": 2}), [2, 7, 4, 9])


def test_a_value_that_is_the_memory_of_a_variable_is_read_where_the_plan_reads_it():
    """TensorFlow's kernels write in place: values that nodes only pass on show the write, or do not."""
    b = GraphBuilder()
    v = b.variable(np.float32(1), "v", resource=False)
    read = b.Identity(b.Identity(b.Identity(v.handle)))
    b.Neg(b.Neg(read), name="read")
    b.Assign(v.handle, b.AddV2(b.Neg(b.Neg(b.Identity(v.handle))), b.constant(np.float32(1))), name="write")
    b.global_variables_initializer(name="init")
    plain, engaged = Session(b.graph), Session(b.graph, engine=FakeEngine())
    for fetches in ("init", ["read:0", "write:0"], ["read:0", "write:0"]):
        expected = plain.run(fetches)
        result = engaged.run(fetches)
        if expected is not None:
            np.testing.assert_array_equal(result, expected)


def test_groups_too_small_stay():
    graph = chain()
    result = partition(
        compile_plan(graph, [graph.fetch("y:0")], [graph.output("x:0")]), graph, FakeEngine(["second"], smallest=2)
    )
    assert not any(isinstance(step, Engined) for step in result.plan.steps)
    assert result.too_small == 2
    assert {node.name: reason for node, reason in result.refusals.items()} == {"second": "it is told to"}


@pytest.mark.parametrize(
    "op, attrs, said",
    [
        ("RandomUniform", {"dtype": "float32", "T": "int32"}, "stateful"),
        ("AsString", {"T": "int32"}, "string"),
    ],
)
def test_state_and_other_things_than_numbers_stay(op, attrs, said):
    b = GraphBuilder()
    shape = b.Placeholder(dtype="int32", shape=[1], name="x")
    getattr(b, op)(shape, name="odd", **attrs)
    plan = compile_plan(b.graph, [b.graph.fetch("odd:0")], [b.graph.output("x:0")])
    refusals = partition(plan, b.graph, FakeEngine()).refusals
    assert said in refusals[b.graph.node("odd")]


def test_variables_by_reference_stay():
    b = GraphBuilder()
    v = b.variable(np.eye(3, dtype="f"), "v", resource=False)
    b.Square(v.handle, name="y")
    plan = compile_plan(b.graph, [b.graph.fetch("y:0")], [])
    assert "by reference" in partition(plan, b.graph, FakeEngine()).refusals[b.graph.node("y")]
