"""Runs that processes share: the same values as one process comes to, whatever is fed, and only what leaves others alone."""

import gc
import os
import platform
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from tests.functions import define
from tfg.core.building.builder import GraphBuilder
from tfg.core.errors import InvalidArgumentError
from tfg.core.numerics import products
from tfg.core.runtime import executor, fused_calls, joint_calls, joint_runs, region_calls
from tfg.core.runtime.joint_regions import JointRegion
from tfg.core.runtime.parallel_regions import Costs
from tfg.core.runtime.session import Session
from tfg.core.tensors import FuncRef

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() != "x86_64", reason="other systems: there are teams on Linux on x86 only"
)

RUNS = 45
"""More than it takes until a team has proved itself."""


@pytest.fixture
def teams(monkeypatch):
    """The JointRuns that are made from here on, though there be threads and little to gain."""
    made = []

    class Recorded(joint_runs.JointRuns):
        def __init__(self, *args):
            super().__init__(*args)
            made.append(self)

    monkeypatch.setattr(executor, "JointRuns", Recorded)
    for module in (executor, joint_runs):
        monkeypatch.setattr(module, "team_size", lambda: 2)
    monkeypatch.setattr("tfg.core.numerics.team._MOMENT", 10.0)
    monkeypatch.setattr(products, "_WORTH_SHARING", 1)
    monkeypatch.setattr(region_calls, "_LEAST_MEAN", 0.0)
    monkeypatch.setattr(joint_calls, "_WORTH_REHEARSING", 0.0)
    monkeypatch.setattr(joint_calls, "_WORTH_A_STEP", 0.0)
    monkeypatch.setattr(joint_runs, "_WORTH_A_TEAM", 0.0)
    monkeypatch.setattr(joint_runs, "_GAIN", np.inf)
    monkeypatch.setattr(joint_runs, "_COSTS", Costs(np.inf, np.inf))
    with threadpool_limits(2, user_api="blas"):
        yield made
    for runs in made:
        if not runs.is_over:
            runs._end()


@pytest.fixture
def branches(teams, monkeypatch):
    """The same, where all goes by branches, however long these took when they were tried out beside other tests."""
    monkeypatch.setattr(joint_runs, "_COSTS", Costs(0.0, 0.0))
    monkeypatch.setattr(products, "_WORTH_SHARING", 1 << 40)
    monkeypatch.setattr(joint_runs.JointRuns, "_apart_where_better", lambda self, instruction: [instruction])
    return teams


def proved(teams):
    """The names of the nodes that teams share."""
    found = set()
    for runs in teams:
        for instruction in runs._instructions:
            call = joint_runs._joint_call_of(instruction)
            if call is not None and call.is_proved:
                found.add("region" if isinstance(instruction[1], JointRegion) else instruction[-1].node.name)
    return found


def weights(*shape, seed=0):
    return np.random.default_rng(seed).normal(0, 0.1, shape).astype(np.float32)


def network(of_variables=False):
    """A small network with what networks are made of."""
    b = GraphBuilder()
    starts = []

    def held(value):
        if not of_variables:
            return b.constant(value)
        handle = b.VarHandleOp(dtype="float32", shape=value.shape, shared_name=f"v{len(starts)}")
        starts.append(b.AssignVariableOp(handle, value, name=f"start{len(starts)}").name)
        return b.ReadVariableOp(handle, dtype="float32")

    x = b.Placeholder(dtype="float32", shape=[None, None, None, None], name="x")
    y = b.Relu(b.Conv2D(x, held(weights(7, 7, 3, 64)), strides=[1, 2, 2, 1], padding="SAME"), name="first")
    y = b.MaxPool(y, ksize=[1, 3, 3, 1], strides=[1, 2, 2, 1], padding="SAME", name="largest")
    left = b.Relu(b.BiasAdd(b.Conv2D(y, held(weights(3, 3, 64, 64)), strides=[1, 1, 1, 1], padding="SAME"), held(weights(64))))
    right = b.DepthwiseConv2dNative(y, held(weights(3, 3, 64, 1)), strides=[1, 1, 1, 1], padding="SAME", name="channelwise")
    right = b.AddV2(b.Conv2D(right, held(weights(1, 1, 64, 64)), strides=[1, 1, 1, 1], padding="SAME"), y, name="sum")
    y = b.ConcatV2([left, right], np.int32(3), name="both")
    y = b.Conv2D(y, held(weights(1, 7, 128, 192)), strides=[1, 1, 1, 1], padding="SAME", name="line")
    y = b.AvgPool(y, ksize=[1, 3, 3, 1], strides=[1, 1, 1, 1], padding="SAME", name="mean")
    y = b.Reshape(b.Mean(y, [1, 2]), [-1, 192])
    b.MatMul(y, held(weights(192, 500)), name="logits")
    return b.graph, starts


def images(count=2, size=65, seed=0):
    return np.random.default_rng(seed).random((count, size, size, 3), np.float32)


def refuse():
    raise OSError("the system refuses")


def assert_runs_agree(graph, given, starts=(), fetches=("logits:0", "both:0")):
    """With a team and without all runs give the same bits."""
    alone, shared = Session(graph, processes=1), Session(graph)
    for session in (alone, shared):
        for name in starts:
            session.run(name)
    for i in range(RUNS):
        fed = {"x:0": given[i % len(given)]}
        expected, found = alone.run(list(fetches), fed), shared.run(list(fetches), fed)
        for some, other in zip(expected, found):
            np.testing.assert_array_equal(other, some)


@pytest.mark.parametrize("of_variables", [False, True])
def test_a_network_runs_as_alone(teams, of_variables):
    graph, starts = network(of_variables)
    assert_runs_agree(graph, [images()], starts)
    assert proved(teams) >= {"first", "largest", "Relu", "both", "line", "mean"}
    assert not any(call._failures for runs in teams for call in runs._calls)


def test_other_numbers_and_shapes_may_come_at_any_time(teams):
    graph, _ = network()
    given = [images(), images(seed=1), images(1), images(2, 65, 2), images(3, 40)]
    assert_runs_agree(graph, given)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_what_is_not_finite_goes_another_way(teams, value):
    graph, _ = network()
    alone, shared = Session(graph, processes=1), Session(graph)
    for _ in range(RUNS):
        shared.run("logits:0", {"x:0": images()})
    assert proved(teams)
    broken = images()
    broken[1, 30, 30, 1] = value
    for _ in range(5):
        with np.errstate(all="ignore"):
            expected = alone.run("logits:0", {"x:0": broken})
        np.testing.assert_allclose(shared.run("logits:0", {"x:0": broken}), expected, rtol=1e-4, atol=2e-6)
    whole = {"x:0": images()}
    np.testing.assert_allclose(shared.run("logits:0", whole), alone.run("logits:0", whole), rtol=1e-4, atol=2e-6)


def test_a_transformer_runs_as_alone(teams, monkeypatch):
    """What goes element by element, alone and in chains, softmax and what a layer normalizes; products turned either way."""
    monkeypatch.setattr(fused_calls, "_WORTH_SHARING", 1)
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[None, 197, 96], name="x")
    scores = b.Softmax(b.Einsum([x, x], equation="btd,bsd->bst"), name="softmax")
    y = b.AddV2(b.Einsum([scores, x], equation="bts,bsd->btd"), x, name="sum")
    rows = b.Reshape(y, [1, -1, 96, 1])
    ones, nothing = np.ones(2 * 197, np.float32), b.constant(np.zeros(0, np.float32))
    normal = b.FusedBatchNormV3(rows, ones, ones, nothing, nothing, data_format="NCHW", is_training=True, name="normalized")[0]
    z = b.BiasAdd(b.MatMul(b.Reshape(normal, [-1, 96]), weights(96, 200)), weights(200, seed=1))
    z = b.Mul(b.Mul(z, np.float32(0.5)), b.Erfc(b.Mul(b.Neg(z), np.float32(0.7))), name="gelu")
    b.MatMul(b.Exp(z, name="exponentials"), weights(200, 500), name="logits")
    given = np.random.default_rng(0).random((2, 197, 96), np.float32)
    assert_runs_agree(b.graph, [given], fetches=("logits:0", "exponentials:0", "gelu:0"))
    assert proved(teams) >= {"softmax", "sum", "normalized", "gelu", "exponentials"}


@pytest.mark.parametrize("to_numbers", [False, True])
def test_branches_go_to_processes(branches, to_numbers):
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[None, None], name="x")
    towers = []
    for i in range(4):
        y = b.Tanh(b.MatMul(x, weights(300, 300, seed=i)))
        y = b.Sigmoid(b.MatMul(y, weights(300, 300, seed=10 + i)))
        towers.append(b.L2Loss(y) if to_numbers else y)
    b.AddN(towers, name="sum")
    alone, shared = Session(b.graph, processes=1), Session(b.graph)
    given = weights(50, 300)
    for _ in range(RUNS):
        np.testing.assert_array_equal(shared.run("sum:0", {"x:0": given}), alone.run("sum:0", {"x:0": given}))
    assert "region" in proved(branches)
    for count in (7, 50, 60, 50):
        other = {"x:0": weights(count, 300, seed=count)}
        np.testing.assert_allclose(shared.run("sum:0", other), alone.run("sum:0", other), rtol=1e-5)
    assert not any(call._failures for runs in branches for call in runs._calls)


def recurrent(b, x, count, name, is_lowered, body=lambda g, h: h):
    """The last of `count` states of a recurrent layer over x, (time, batch, 32), and all of them."""
    attrs = {"T": ["int32", "int32", "float32", "variant", "variant"], "name": name}
    shape = b.constant(np.int32([-1, 32]))
    define(b, f"{name}_goes_on", attrs["T"], lambda g, i, n, h, given, made: [g.Less(i, n)])

    def step(g, i, n, h, given, made):
        taken = g.TensorListGetItem(given, i, g.constant(np.int32([-1, 32])), element_dtype="float32")
        h = body(g, g.Tanh(g.AddV2(g.MatMul(taken, weights(32, 32)), g.MatMul(h, weights(32, 32, seed=1)))))
        return [g.AddV2(i, g.constant(np.int32(1))), n, h, given, g.TensorListSetItem(made, i, h)]

    define(b, f"{name}_step", attrs["T"], step)
    given = b.TensorListFromTensor(x, shape, element_dtype="float32")
    made = b.TensorListReserve(shape, count, element_dtype="float32")
    first = b.Fill(b.Pack([b.StridedSlice(b.Shape(x), [1], [2], [1], shrink_axis_mask=1), np.int32(32)]), np.float32(0))
    functions = {"cond": FuncRef(f"{name}_goes_on"), "body": FuncRef(f"{name}_step")}
    found = b.While(
        [b.constant(np.int32(0)), count, first, given, made], **attrs, **functions, _lower_using_switch_merge=is_lowered
    )
    return found[2], b.TensorListStack(found[4], shape, element_dtype="float32")


def both_directions(is_lowered, **attrs):
    """Two recurrent layers, one of which begins at the end."""
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[None, None, 32], name="x")
    count = b.Placeholder(dtype="int32", shape=[], name="count")
    last, forwards = recurrent(b, x, count, "forwards", is_lowered, **attrs)
    _, backwards = recurrent(b, b.ReverseV2(x, np.int32([0])), count, "backwards", is_lowered, **attrs)
    b.ConcatV2([forwards, b.ReverseV2(backwards, np.int32([0]))], np.int32(2), name="both")
    b.Identity(last, name="last")
    return b.graph


@pytest.mark.parametrize("is_lowered", [False, True])
def test_loops_go_to_processes(branches, is_lowered):
    graph = both_directions(is_lowered)
    alone, shared = Session(graph, processes=1), Session(graph)

    def assert_agree(length, size, count):
        feeds = {"x:0": weights(length, size, 32, seed=size), "count:0": np.int32(count)}
        for found, expected in zip(*(session.run(["both:0", "last:0"], feeds) for session in (shared, alone))):
            np.testing.assert_array_equal(found, expected)

    for _ in range(RUNS):
        assert_agree(20, 4, 20)
    assert "region" in proved(branches)
    for length, size, count in ((20, 4, 10), (20, 4, 20), (19, 4, 19), (1, 4, 1), (20, 5, 20), (20, 4, 20)):
        assert_agree(length, size, count)
    assert not any(call._failures for runs in branches for call in runs._calls)


def test_integers_that_change_are_seen(branches):
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[50, 300], name="x")
    shift = b.Placeholder(dtype="int32", shape=[], name="shift")
    towers = [b.Roll(b.MatMul(x, weights(300, 300, seed=i)), shift, np.int32(1)) for i in range(4)]
    b.AddN([b.Tanh(b.MatMul(y, weights(300, 300, seed=9))) for y in towers], name="sum")
    alone, shared = Session(b.graph, processes=1), Session(b.graph)
    for i in range(RUNS + 5):
        feeds = {"x:0": weights(50, 300), "shift:0": np.int32(1 if i < RUNS else i)}
        if i == RUNS:
            assert "region" in proved(branches)
        np.testing.assert_array_equal(shared.run("sum:0", feeds), alone.run("sum:0", feeds))


def test_loops_that_draw_stay(teams, monkeypatch):
    monkeypatch.setattr(joint_runs, "_COSTS", Costs(0.0, 0.0))
    graph = both_directions(False, body=lambda g, h: g.AddV2(h, g.RandomUniform(g.Shape(h), dtype="float32", seed=1)))
    session = Session(graph)
    feeds = {"x:0": weights(20, 4, 32), "count:0": np.int32(20)}
    found = [session.run("both:0", feeds) for _ in range(RUNS)]
    assert "region" not in proved(teams)
    assert len({value.tobytes() for value in found}) == RUNS


def test_a_run_with_branches_may_wait(branches):
    b = GraphBuilder()
    queue = b.FIFOQueueV2(component_types=["float32"], shared_name="queue")
    element = b.Placeholder(dtype="float32", shape=None, name="element")
    b.QueueEnqueueV2(queue, [element], name="enqueue")
    taken = b.QueueDequeueV2(queue, component_types=["float32"], name="taken")
    x = b.Placeholder(dtype="float32", shape=[50, 300], name="x")
    towers = [b.Tanh(b.MatMul(b.Tanh(b.MatMul(x, weights(300, 300, seed=i))), weights(300, 300, seed=9))) for i in range(3)]
    b.AddN(towers, name="sum")
    session, given = Session(b.graph), weights(50, 300)
    for i in range(RUNS):
        session.run("enqueue", {"element:0": np.float32(i)})
        expected, _ = session.run(["sum:0", taken[0].name], {"x:0": given})
    assert "region" in proved(branches)
    later = threading.Timer(0.2, lambda: session.run("enqueue", {"element:0": np.float32(-1)}))
    later.start()
    found, element = session.run(["sum:0", taken[0].name], {"x:0": given})
    later.join()
    assert element == -1
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("helps_later", [False, True])
def test_a_team_that_nearly_helped_has_another_trial(teams, monkeypatch, helps_later):
    monkeypatch.setattr(joint_runs, "_GAIN", 0.0)
    monkeypatch.setattr(joint_runs, "_NEARLY", np.inf)
    monkeypatch.setattr(joint_runs, "_RUNS_TO_AGAIN", 5)
    graph, _ = network()
    alone, shared = Session(graph, processes=1), Session(graph)
    teams_there = []
    for _ in range(2 * RUNS):
        found, expected = (session.run("logits:0", {"x:0": images()}) for session in (shared, alone))
        np.testing.assert_array_equal(found, expected)
        teams_there.append(any(runs._team is not None and runs._team.is_there for runs in teams))
        if helps_later and any(runs._is_last_trial for runs in teams if not runs.is_over):
            monkeypatch.setattr(joint_runs, "_GAIN", np.inf)
    first = teams_there.index(True)
    between = teams_there.index(False, first)
    assert True in teams_there[between:]
    assert teams_there[-1] is helps_later and bool(proved(teams)) is helps_later


def test_results_are_the_callers_own(teams):
    graph, _ = network()
    session = Session(graph)
    kept = [session.run(["both:0", "largest:0"], {"x:0": images(seed=i % 3)}) for i in range(RUNS)]
    assert proved(teams)
    for i, values in enumerate(kept[-6:], RUNS - 6):
        again = session.run(["both:0", "largest:0"], {"x:0": images(seed=i % 3)})
        for value, other in zip(values, again):
            assert value.flags.owndata
            np.testing.assert_array_equal(value, other)


def test_errors_are_those_of_one_process(teams):
    graph, _ = network()
    session = Session(graph)
    for _ in range(RUNS):
        session.run("logits:0", {"x:0": images()})
    with pytest.raises(InvalidArgumentError, match="input depth 4"):
        session.run("logits:0", {"x:0": np.zeros((1, 9, 9, 4), np.float32)})
    assert session.run("logits:0", {"x:0": images()}).shape == (2, 500)


def test_threads_may_run_the_session_too(teams):
    graph, _ = network()
    session = Session(graph)
    expected = [session.run("logits:0", {"x:0": images()}) for _ in range(RUNS)][-1]
    assert proved(teams)
    found = []

    def work():
        for _ in range(10):
            found.append(session.run("logits:0", {"x:0": images()}))

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for value in found:
        np.testing.assert_allclose(value, expected, rtol=1e-4, atol=2e-6)


def test_runs_go_on_when_the_members_are_killed(teams):
    graph, _ = network()
    session = Session(graph)
    expected = [session.run("logits:0", {"x:0": images()}) for _ in range(RUNS)][-1]
    (runs,) = [runs for runs in teams if not runs.is_over]
    for member in runs._team._members:
        os.kill(member.process, 9)
    for _ in range(5):
        np.testing.assert_allclose(session.run("logits:0", {"x:0": images()}), expected, rtol=1e-4, atol=2e-6)


@pytest.mark.parametrize("runs", [10, RUNS])
def test_one_that_is_forked_runs_the_session_beside_this_process(teams, runs):
    """Before there is a team too: what it rehearses with is shared with who is forked."""
    graph, _ = network()
    session = Session(graph)
    for _ in range(runs):
        session.run("both:0", {"x:0": images()})
    given = [images(seed=i) for i in range(2)]
    expected = [Session(graph, processes=1).run("both:0", {"x:0": x}) for x in given]

    def agree(i):
        return all(
            np.allclose(session.run("both:0", {"x:0": given[i]}), expected[i], rtol=1e-3, atol=1e-4) for _ in range(40)
        )

    process = os.fork()
    if not process:
        os._exit(0 if agree(1) else 1)
    assert agree(0)
    assert os.waitpid(process, 0)[1] == 0


def kept_once(b, variable, value):
    """An operation that keeps in a variable what it makes of a value, in a loop of one turn."""
    attrs = {"T": ["int32", "float32", "resource"]}
    define(b, "goes_on", attrs["T"], lambda g, i, y, v: [g.Less(i, np.int32(1))])

    def step(g, i, y, v):
        with g.control_dependencies([g.AssignVariableOp(v, g.MatMul(y, weights(300, 300, seed=1)))]):
            return [g.AddV2(i, np.int32(1)), g.Identity(y), v]

    define(b, "step", attrs["T"], step)
    functions = {"cond": FuncRef("goes_on"), "body": FuncRef("step")}
    found = b.While([b.constant(np.int32(0)), value, variable], **attrs, **functions)
    with b.control_dependencies([found[0].node]):
        b.NoOp(name="keep")


@pytest.mark.parametrize("in_loop", [False, True])
def test_a_variable_is_its_process_own(teams, in_loop):
    """Also where it was given a value that processes made: the memory of that is taken again here, not in who was forked."""
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[200, 300], name="x")
    variable = b.VarHandleOp(dtype="float32", shape=[200, 300], shared_name="v")
    y = b.MatMul(x, weights(300, 300), name="y")
    if in_loop:
        kept_once(b, variable, y)
    else:
        b.AssignVariableOp(variable, y, name="keep")
    b.ReadVariableOp(variable, dtype="float32", name="kept")
    session = Session(b.graph)
    for i in range(RUNS):
        session.run("keep", {"x:0": weights(200, 300, seed=i)})
    assert "y" in proved(teams)
    before = session.run("kept:0")
    reader, writer = os.pipe()
    process = os.fork()
    if not process:
        os.close(writer)
        os.read(reader, 1)
        os._exit(0 if np.array_equal(session.run("kept:0"), before) else 1)
    for i in range(10):
        session.run("keep", {"x:0": weights(200, 300, seed=RUNS + i)})
    os.close(writer)
    assert os.waitpid(process, 0)[1] == 0
    os.close(reader)


def test_runs_go_on_where_there_is_no_memory_to_share(teams, monkeypatch):
    monkeypatch.setattr(joint_runs, "_shared_memory", refuse)
    graph, _ = network()
    session = Session(graph)
    for _ in range(RUNS):
        assert session.run("logits:0", {"x:0": images()}).shape == (2, 500)
    assert not teams


def test_no_process_is_made_once_there_are_threads(teams, monkeypatch):
    monkeypatch.setattr(joint_runs, "team_size", lambda: 1)
    graph, _ = network()
    session = Session(graph)
    for _ in range(RUNS):
        session.run("logits:0", {"x:0": images()})
    assert teams and all(runs.is_over and runs._team is None for runs in teams)


def test_runs_go_on_where_the_system_makes_no_process(teams, monkeypatch):
    monkeypatch.setattr(os, "fork", refuse)
    graph, _ = network()
    session = Session(graph)
    found = [session.run("logits:0", {"x:0": images()}) for _ in range(RUNS)]
    assert all(runs.is_over for runs in teams)
    np.testing.assert_array_equal(found[0].shape, found[-1].shape)
    np.testing.assert_allclose(found[-1], found[0], rtol=1e-4, atol=2e-6)


def test_members_end_with_the_session(teams):
    graph, _ = network()
    session = Session(graph)
    for _ in range(RUNS):
        session.run("logits:0", {"x:0": images()})
    processes = [member.process for runs in teams for member in (runs._team._members if runs._team else ())]
    assert processes
    teams.clear()
    del session
    gc.collect()
    for process in processes:
        with pytest.raises(ProcessLookupError):
            os.kill(process, 0)


def test_a_run_with_a_hook_meets_every_kernel(teams):
    graph, _ = network()
    session = Session(graph)
    for _ in range(RUNS):
        session.run("logits:0", {"x:0": images()})
    seen = []

    def hook(node, call, inputs):
        seen.append(node.op)
        return call(*inputs)

    session.run("logits:0", {"x:0": images()}, hook=hook)
    assert {"Conv2D", "MaxPool", "Relu", "AvgPool"} <= set(seen)


def test_processes_may_be_ruled_out(teams):
    graph, _ = network()
    session = Session(graph, processes=1)
    for _ in range(RUNS):
        session.run("logits:0", {"x:0": images()})
    assert not teams


def test_one_that_trains_learns_the_same(teams):
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[None, 30, 30, 16], name="x")
    filters = b.VarHandleOp(dtype="float32", shape=[3, 3, 16, 32], shared_name="filters")
    b.AssignVariableOp(filters, weights(3, 3, 16, 32), name="start")
    w = b.ReadVariableOp(filters, dtype="float32")
    y = b.Relu(b.Conv2D(x, w, strides=[1, 1, 1, 1], padding="SAME"), name="y")
    grad = b.ReluGrad(b.Mul(y, np.float32(1e-3)), y)
    sizes = np.array([3, 3, 16, 32], np.int32)
    back = b.Conv2DBackpropFilter(x, sizes, grad, strides=[1, 1, 1, 1], padding="SAME")
    b.ResourceApplyGradientDescent(filters, np.float32(0.1), back, name="train")
    given = np.random.default_rng(0).random((4, 30, 30, 16), np.float32)
    alone, shared = Session(b.graph, processes=1), Session(b.graph)
    for session in (alone, shared):
        session.run("start")
    for _ in range(RUNS):
        expected, _ = alone.run(["y:0", "train"], {"x:0": given})
        found, _ = shared.run(["y:0", "train"], {"x:0": given})
        np.testing.assert_array_equal(found, expected)
    assert "y" in proved(teams)


SCRIPT = """
import threading, time
import numpy as np
import tfg
from tfg.core.runtime import executor
{before}
b = tfg.GraphBuilder()
x = b.Placeholder(dtype="float32", shape=[None, 56, 56, 64], name="x")
for i in range(12):
    x = b.Relu(b.Conv2D(x, np.full((3, 3, 64, 64), 1e-3, np.float32), strides=[1, 1, 1, 1], padding="SAME"))
session = tfg.Session(b.graph{options})
given = np.ones((1, 56, 56, 64), np.float32)
for _ in range(40):
    session.run(x.name, {{"x:0": given}})
from tfg.core.runtime.joint_runs import _teams
print(any(team.is_there for team in _teams))
"""


@pytest.mark.parametrize(
    ("before", "options", "has_team"),
    [
        ("", "", True),
        ("", ", processes=1", False),
        ("", ", fuse=False", False),
        ("threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()", "", False),
        ("import resource; resource.setrlimit(resource.RLIMIT_AS, (1 << 36, 1 << 36))", "", False),
    ],
)
def test_a_program_has_a_team_where_it_may_have_one(before, options, has_team):
    """In a process of its own, which has no threads; whether a team pays depends on the machine, so any gain will do."""
    before += "\nfrom tfg.core.runtime import joint_runs; joint_runs._GAIN = 100.0"
    code = textwrap.dedent(SCRIPT).format(before=before, options=options)
    env = {**os.environ, "OPENBLAS_NUM_THREADS": "2"}
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, env=env)
    assert done.stderr == ""
    assert done.stdout.strip() == str(has_team)


def test_steps_on_the_memory_of_reference_variables(teams):
    """A filter that something may still look at when it has been written to; each step sees it as it is then."""

    def built():
        b = GraphBuilder()
        x = b.Placeholder(dtype="float32", shape=[2, 40, 40, 16], name="x")
        v = b.VariableV2(dtype="float32", shape=[3, 3, 16, 16], name="v")
        start, read = b.Assign(v, weights(3, 3, 16, 16), name="start"), b.Identity(v)
        y = b.Conv2D(x, read, strides=[1, 1, 1, 1], padding="SAME", name="conv")
        grad = b.Conv2DBackpropFilter(x, [3, 3, 16, 16], y, strides=[1, 1, 1, 1], padding="SAME", name="grad")
        updated = b.Assign(v, b.Sub(read, b.Mul(grad, np.float32(1e-7))), name="update")
        with b.control_dependencies([updated]):
            late = b.Neg(read, name="late")
        assert start.node.name == "start" and late.node.name == "late"
        return b.graph

    session, plain = Session(built()), Session(built(), processes=1)
    for each in (session, plain):
        each.run("start")
    rng = np.random.default_rng(0)
    for _ in range(RUNS):
        feeds = {"x": rng.normal(size=(2, 40, 40, 16)).astype(np.float32)}
        for found, wanted in zip(*(each.run(["conv:0", "late:0"], feeds) for each in (session, plain)), strict=True):
            np.testing.assert_array_equal(found, wanted)
    assert {"conv", "grad"} <= proved(teams)
