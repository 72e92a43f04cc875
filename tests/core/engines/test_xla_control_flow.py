"""Loops, conditionals, calls, lists and stacks in XLA. Skipped where JAX is not installed."""

from __future__ import annotations

import gc

import numpy as np
import pytest

pytest.importorskip("jax", reason="the extra tfg[xla] is not installed")
pytestmark = pytest.mark.engine

from tests import opcases  # noqa: E402
from tests.cases.control_flow import counted  # noqa: E402
from tests.comparison import assert_same  # noqa: E402
from tests.core.gradients.test_graphs import case, run  # noqa: E402
from tests.functions import define  # noqa: E402
from tests.recorded_answers import answers  # noqa: E402
from tfg.core.building.builder import GraphBuilder  # noqa: E402
from tfg.core.engines.engine_registry import find_engine  # noqa: E402
from tfg.core.engines.protocol import inner_steps  # noqa: E402
from tfg.core.numerics import weak_cache  # noqa: E402
from tfg.core.runtime.session.session import Session  # noqa: E402
from tfg.core.support.errors import InvalidArgumentError, TfgError  # noqa: E402
from tfg.core.types.shapes import Shape  # noqa: E402


def engaged(graph):
    """A session with XLA for groups of any size."""
    engine = find_engine("xla")
    engine.smallest = 1
    return Session(graph, engine=engine)


def ops_taken(session):
    """Return the ops of the groups that ran in the engine, with the ops in loops."""
    groups = [group for group in session._runtime.groups if group.runs]
    return {step.node.op for group in groups for step in inner_steps(group.cluster.body.steps)}


def test_a_loop_that_does_not_compile_costs_one_node():
    """The value of the loop grows from iteration to iteration."""
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[None], name="x")
    before = b.Neg(b.Neg(x), name="before")
    axis = b.constant(np.int32(0))
    define(b, "small", ["float"], lambda f, a: [f.Less(f.Size(a, out_type="int32"), f.constant(np.int32(9)))])
    define(b, "grown", ["float"], lambda f, a: [f.ConcatV2([a, a], f.constant(np.int32(0)))])
    grown = b.StatelessWhile([before], cond="small", body="grown", output_shapes=[Shape(None)], name="loop")[0]
    b.Neg(b.Sum(grown, axis), name="y")
    session = engaged(b.graph)
    assert session.run("y:0", {"x:0": [1, 2, 3]}) == -24
    assert ops_taken(session) >= {"Neg", "Sum"}
    (refusal,) = session.engine_report().refused
    assert refusal.nodes == ("loop",)
    assert "the number of iterations" in refusal.reason


FAMILIES = {
    "control_flow": {"LoopCond", "Switch", "Merge"},
    "functional": {"If", "StatelessIf", "Case", "StatelessCase", "While", "StatelessWhile", "PartitionedCall"},
    "tensor_list": {"TensorListFromTensor", "EmptyTensorList", "TensorListStack", "TensorListPopBack", "TensorListSetItem"},
    "tensor_array": {"TensorArrayV3", "TensorArrayReadV3", "TensorArrayWriteV3", "TensorArrayGatherV3", "TensorArrayGradV3"},
}


@pytest.mark.parametrize("family", FAMILIES)
def test_cases_are_as_recorded(family):
    """Cases that TensorFlow refuses are refused by NumPy, and the engine leaves them to NumPy."""
    taken = set()
    for c in opcases.load_cases(family):
        b = GraphBuilder()
        steps = c.build(b)
        session = engaged(b.graph)
        for fetches, step in zip(steps, answers(family).steps(c.key), strict=True):
            if step["error"]:
                with pytest.raises(TfgError):
                    session.run(list(fetches), c.feeds)
                continue
            for got, want in zip(session.run(list(fetches), c.feeds), step["results"], strict=True):
                assert_same(got, want, c.tolerance)
        taken |= ops_taken(session)
    assert taken >= FAMILIES[family]


IN_LOOPS = ("two_in_loop_False_v1", "two_in_loop_True_v1")
"""V1 conditionals in V1 loops: gradients push on stacks on branches."""


@pytest.mark.parametrize("key", ["map_v1", "while_v1", "map_v2", "while_v2", "cond_v2", "case_v1", "case_v2", *IN_LOOPS])
def test_gradients_of_control_flow_stay_in_the_engine(key):
    graph, names, feeds, want = case(key)
    session = engaged(graph)
    for got, expected in zip(run(session, names, feeds), want, strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-5)
    flow = {"LoopCond", "While", "StatelessWhile", "If", "StatelessIf", "Case", "StatelessCase"}
    assert ops_taken(session) & flow
    assert [refusal for refusal in session.engine_report().refused if refusal.op in flow] == []


def recurrent(b, x, limit):
    """Return a V1 loop that pushes the factors, and a loop that pops them: x ** (limit + 1), and the product of the popped
    values.
    """
    handle = b.StackV2(b.constant(np.int32(-1)), elem_type="float32")

    def loop(name, count, value, step, stop):
        stack, least = (b.Enter(v, frame_name=name, is_constant=True) for v in (handle, stop))
        entered = [b.Enter(v, frame_name=name) for v in (count, value)]
        merged = [b.Merge([v, v])[0] for v in entered]
        goes_on = b.LoopCond(b.Less(merged[0], least))
        switches = [b.Switch(m, goes_on) for m in merged]
        going = [b.Identity(s[1]) for s in switches]
        one = b.Enter(b.constant(np.int32(1)), frame_name=name, is_constant=True)
        with b.control_dependencies([going[0].node]):
            stepped = step(stack, going[1])
        for node, after in zip(merged, (b.AddV2(going[0], one), stepped)):
            b.graph.set_input(node.node, 1, b.NextIteration(after))
        return [b.Exit(s[0]) for s in switches]

    start = b.constant(np.int32(0))
    factor = b.Enter(x, frame_name="forward", is_constant=True)
    count, power = loop("forward", start, x, lambda s, v: b.Mul(b.StackPushV2(s, v), factor), limit)
    _, product = loop("backward", start, b.Identity(power), lambda s, v: b.Mul(v, b.StackPopV2(s, elem_type="float32")), count)
    return power, product


@pytest.mark.parametrize("fed", [False, True])
def test_stacks_need_to_know_how_often_a_loop_runs(fed):
    """Where a fed value says so, NumPy runs the loop, and the report says why."""
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[2], name="x")
    limit = b.Placeholder(dtype="int32", shape=[], name="limit") if fed else b.constant(np.int32(4))
    power, product = recurrent(b, x, limit)
    feeds = {"x:0": np.float32([2, 3])} | ({"limit:0": 4} if fed else {})
    session = engaged(b.graph)
    result = session.run([power.name, product.name], feeds)
    np.testing.assert_array_equal(result[0], np.float32([2, 3]) ** 5)
    np.testing.assert_array_equal(result[1], np.float32([2, 3]) ** (5 + 1 + 2 + 3 + 4))
    (group,) = session.engine_report().groups
    assert (group.runs, group.reason and "unknown number of iterations" in group.reason) == ((0, True) if fed else (1, None))


def collected(b, limit, also_read):
    """Return a V1 loop that appends 0, 1, 4, 9 ... to a list; with `also_read`, the loop reads the length on the way."""
    reserved = b.TensorListReserve(b.constant(np.zeros(0, "i")), b.constant(np.int32(0)), element_dtype="float32")
    start = (b.constant(np.int32(0)), reserved, b.constant(np.int32(0)))
    entered = [b.Enter(value, frame_name="collected") for value in start]
    merged = [b.Merge([value, value])[0] for value in entered]
    most, one = (b.Enter(v, frame_name="collected", is_constant=True) for v in (limit, b.constant(np.int32(1))))
    goes_on = b.LoopCond(b.Less(merged[0], most))
    switches = [b.Switch(value, goes_on) for value in merged]
    number, items, seen = (b.Identity(switch[1]) for switch in switches)
    square = b.Cast(b.Mul(number, number), DstT="float32")
    longer = b.TensorListSetItem(items, number, square, resize_if_index_out_of_bounds=True)
    seen = b.AddV2(seen, b.TensorListLength(items)) if also_read else seen
    for merge, new in zip(merged, (b.AddV2(number, one), longer, seen)):
        b.graph.set_input(merge.node, 1, b.NextIteration(new))
    leaving = [b.Exit(switch[0]) for switch in switches[1:]]
    return b.TensorListStack(leaving[0], b.constant(np.zeros(0, "i")), element_dtype="float32"), leaving[1]


@pytest.mark.parametrize("also_read", [False, True])
def test_a_list_that_grows_in_a_loop_has_room_from_the_start(also_read):
    """If no other node reads the list on the way; the trip count is part of the compiled program."""
    b = GraphBuilder()
    squares, seen = collected(b, b.Placeholder(dtype="int32", shape=[], name="limit"), also_read)
    names = [b.Neg(squares).name, *([seen.name] if also_read else [])]
    session = engaged(b.graph)
    for limit in (4, 2):
        result = session.run(names, {"limit:0": limit})
        np.testing.assert_array_equal(result[0], -(np.arange(limit, dtype="f") ** 2))
        assert result[1:] == ([sum(range(limit))] if also_read else [])
    assert ("TensorListSetItem" in ops_taken(session)) is not also_read


def test_a_value_that_changes_its_shape_runs_in_numpy():
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[None], name="x")
    one, three = (b.constant(np.int32(n)) for n in (1, 3))
    entered = [b.Enter(v, frame_name="grow") for v in (b.constant(np.int32(0)), x)]
    merged = [b.Merge([v, v])[0] for v in entered]
    limit, step = (b.Enter(v, frame_name="grow", is_constant=True) for v in (three, one))
    goes_on = b.LoopCond(b.Less(merged[0], limit))
    switches = [b.Switch(m, goes_on) for m in merged]
    count, value = (b.Identity(s[1]) for s in switches)
    axis = b.Enter(b.constant(np.int32(0)), frame_name="grow", is_constant=True)
    for node, after in zip(merged, (b.AddV2(count, step), b.ConcatV2([value, value], axis))):
        b.graph.set_input(node.node, 1, b.NextIteration(after))
    session = engaged(b.graph)
    result = session.run(b.Exit(switches[1][0]).name, {"x:0": [1, 2]})
    np.testing.assert_array_equal(result, np.tile([1, 2], 8))
    (group,) = session.engine_report().groups
    assert "the number of iterations" in group.reason


def test_a_weight_that_a_growing_loop_passes_on_is_copied_once(monkeypatch):
    monkeypatch.setattr(weak_cache, "entries", {})
    b = GraphBuilder()
    twice = np.eye(40, dtype="f") * 2
    twice.flags.writeable = False
    start, weight = b.Placeholder(dtype="float32", shape=[1, 40], name="x"), b.constant(twice)
    define(b, "short", ["float", "float"], lambda f, x, w: [f.Less(f.Size(x), f.constant(np.int32(320)))])
    define(b, "doubled", ["float", "float"], lambda f, x, w: [f.ConcatV2([x, f.MatMul(x, w)], f.constant(np.int32(0))), w])
    b.StatelessWhile([start, weight], cond="short", body="doubled", name="y")
    session = engaged(b.graph)
    x = np.ones((1, 40), "f")
    for _ in range(3):
        result = session.run("y:0", {"x:0": x})
    np.testing.assert_array_equal(result[:, 0], [1, 2, 2, 4, 2, 4, 4, 8])
    assert "MatMul" in ops_taken(session)
    (entry,) = weak_cache.entries.values()
    assert entry.made is not None and entry.array().shape == (40, 40)
    del session, b, start, weight, twice, entry
    gc.collect()
    assert not weak_cache.entries, "a copy outlives its weight"


def test_a_check_that_fails_is_the_error_of_numpy():
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[2], name="x")
    is_positive = b.All(b.Greater(x, b.constant(np.float32(0))), b.constant([0]))
    check = b.Assert(is_positive, [b.constant(b"negative"), x], name="check")
    with b.control_dependencies([check]):
        b.Log(x, name="y")
    session = engaged(b.graph)
    np.testing.assert_allclose(session.run("y:0", {"x:0": [1, 2]}), np.log([1, 2]), rtol=1e-6)
    assert "Assert" in ops_taken(session)
    with pytest.raises(InvalidArgumentError, match="negative") as error:
        session.run("y:0", {"x:0": [1, -2]})
    assert error.value.node == "check"
    np.testing.assert_allclose(session.run("y:0", {"x:0": [3, 2]}), np.log([3, 2]), rtol=1e-6)


def test_a_loop_waits_for_a_queue_that_is_filled_later():
    """What stands before a step that blocks is set aside with it, also inside a group."""
    b = GraphBuilder()
    queue = b.FIFOQueueV2(component_types=["float32"], shapes=[[]], name="queue")
    factor = b.QueueDequeueV2(queue, component_types=["float32"])[0]
    exits = counted(b, "loop", 3, [b.constant(np.float32(1))], [factor], lambda v, c: [b.Mul(v[0], c[0])])
    b.Identity(exits[1], name="power")
    b.QueueEnqueueV2(queue, [b.Placeholder(dtype="float32", shape=[], name="x")], name="fill")
    for session in (Session(b.graph), engaged(b.graph)):
        for value in (2, 3):
            assert session.run(["power:0", "fill"], {"x:0": value})[0] == value**3
