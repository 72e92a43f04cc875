"""Branches in several threads: the bits and errors of sequential steps, without shared state between steps."""

import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.runtime.programs import programs
from tests.functions import define
from tfg import GraphBuilder, Session
from tfg.core.parallel import blas_threads as threads
from tfg.core.parallel import gemm, worker_threads
from tfg.core.planning.planner import compile_plan
from tfg.core.runtime.execute.execution import execute
from tfg.core.runtime.optimize import fused_calls, parallel_regions, region_calls, tiers
from tfg.core.runtime.optimize.parallel_regions import StepTiming, find_regions
from tfg.core.runtime.optimize.region_calls import RegionCall
from tfg.core.runtime.optimize.tiers import SETTLING_RUN
from tfg.core.runtime.steps.instructions import ON_SLOTS
from tfg.core.support import trials
from tfg.core.support.errors import TfgError

RUNS_UNTIL_CHOSEN = SETTLING_RUN + tiers.TIMED_RUNS + 2 * trials.TIMES
SECONDS = StepTiming(1.0, 0.0)


@pytest.fixture(autouse=True)
def two_threads_and_everything_is_worth_it_and_takes_one_time(monkeypatch):
    monkeypatch.setattr(threads.OneThread, "share", property(lambda self: max(2 // max(self._entered, 1), 1)))
    monkeypatch.setattr(parallel_regions, "HANDING_OUT", 0.0)
    monkeypatch.setattr(parallel_regions, "TAKING_TURNS", 0.0)
    monkeypatch.setattr(region_calls, "LEAST_MEAN", 0.0)
    monkeypatch.setattr(
        region_calls, "find_regions", lambda steps, _, count: find_regions(steps, [SECONDS] * len(steps), count)
    )
    monkeypatch.setattr(trials, "GAIN", np.inf)
    monkeypatch.setattr(fused_calls, "WORTH_TILING", 1)
    monkeypatch.setattr(gemm, "WORTH_DIVIDING", 64)


def regions(session):
    """The regions of a session's only program."""
    (program,) = programs(session)
    return [instruction[1] for instruction in program.instructions if instruction[0] == ON_SLOTS]


def ops(session):
    """The ops of each branch of each region."""
    chosen = [region for region in regions(session) if region.is_parallel]
    return [[[step.node.op for *_, step in branch] for branch in region.branches] for region in chosen]


def two_towers(b, x, kernel="MatMul", towers=2, layers=2):
    """Products and activations side by side that a sum brings together."""
    results = []
    for tower in range(towers):
        y = x
        for layer in range(layers):
            y = b.Tanh(getattr(b, kernel)(y, x, name=f"tower{tower}/{layer}"))
        results.append(y)
    return b.AddN(results, name="sum")


def run_until_chosen(session, fetch, feeds):
    return [session.run(fetch, feeds) for _ in range(RUNS_UNTIL_CHOSEN + 2)]


def square(size=12, seed=0):
    return np.random.default_rng(seed).standard_normal((size, size)).astype(np.float32)


def test_two_towers():
    b = GraphBuilder()
    two_towers(b, b.Placeholder(dtype="float32", shape=[12, 12], name="x"))
    session = Session(b.graph)
    result = run_until_chosen(session, "sum:0", {"x:0": square()})
    assert ops(session) == [[["MatMul", "Tanh", "MatMul", "Tanh"]] * 2]
    assert all(value.tobytes() == result[-1].tobytes() for value in result)
    single = Session(b.graph, optimize="none").run("sum:0", {"x:0": square()})
    np.testing.assert_allclose(result[-1], single, rtol=1e-5, atol=1e-6)


UNARY = ["Tanh", "Relu", "Neg", "Sigmoid", "Softmax"]
BINARY = ["AddV2", "Mul", "MatMul", "Maximum"]


@st.composite
def graphs(draw):
    """Square matrices: values fork and join at random, some by convolutions, some by a variable that is read between."""
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[12, 12], name="x")
    v = b.VarHandleOp(dtype="float32", shape=[12, 12], shared_name="v")
    b.AssignVariableOp(v, b.constant(square(seed=7)), name="init")
    filters = b.constant(square(seed=8).reshape(1, 1, 12, 12))
    values = [x]
    for _ in range(draw(st.integers(2, 24))):
        one = values[draw(st.integers(max(len(values) - 6, 0), len(values) - 1))]
        kind = draw(st.sampled_from(["unary", "binary", "binary", "convolution", "read"]))
        if kind == "unary":
            values.append(getattr(b, draw(st.sampled_from(UNARY)))(one))
        elif kind == "binary":
            other = values[draw(st.integers(0, len(values) - 1))]
            values.append(getattr(b, draw(st.sampled_from(BINARY)))(one, other))
        elif kind == "convolution":
            image = b.Reshape(one, b.constant(np.array([1, 1, 12, 12], np.int32)))
            image = b.Conv2D(image, filters, strides=[1, 1, 1, 1], padding="SAME")
            values.append(b.Reshape(image, b.constant(np.array([12, 12], np.int32))))
        else:
            values.append(b.AddV2(one, b.ReadVariableOp(v, dtype="float32")))
    b.AddN([b.Tanh(value) for value in values], name="y")
    return b.graph


@settings(max_examples=60, deadline=None)
@given(graphs())
def test_the_same_bits_as_one_step_after_the_other(graph):
    session = Session(graph)
    session.run("init")
    feeds = {"x:0": square()}
    result = [session.run("y:0", feeds) for _ in range(RUNS_UNTIL_CHOSEN + 3)][SETTLING_RUN:]
    assert all(value.tobytes() == result[0].tobytes() for value in result)


def test_slots_are_cleared():
    b = GraphBuilder()
    two_towers(b, b.Placeholder(dtype="float32", shape=[12, 12], name="x"), towers=3)
    session = Session(b.graph)
    run_until_chosen(session, "sum:0", {"x:0": square()})
    (program,) = programs(session)
    slots = program.initial.copy()
    slots[program.plan.feeds[0]] = square()
    with threads.one_thread:
        execute(program.instructions, slots)
    left = {i for i, value in enumerate(slots) if value is not None and program.initial[i] is None}
    assert left == set(program.plan.fetches)


def failing_gathers(b, count):
    """Branches that end in the row that `i` says; another op joins them."""
    x = b.Placeholder(dtype="float32", shape=[12, 12], name="x")
    places = b.Placeholder(dtype="int32", shape=[count], name="places")
    rows = []
    for i, place in enumerate(b.Unpack(places, num=count, axis=0)):
        y = x
        for _ in range(count - i):  # the first in order takes longest
            y = b.Softmax(b.MatMul(y, x))
        rows.append(b.GatherV2(y, place, b.constant(np.int32(0)), name=f"row{i}"))
    b.AddN(rows, name="sum")


@pytest.mark.parametrize("wrong", [[0], [2], [0, 2], [1, 2], [0, 1, 2]])
def test_errors_name_the_node_that_fails_first_in_order(wrong):
    b = GraphBuilder()
    failing_gathers(b, 3)
    places = np.array([99 if i in wrong else 1 for i in range(3)], np.int32)
    session, single = Session(b.graph), Session(b.graph, optimize="none")
    run_until_chosen(session, "sum:0", {"x:0": square(), "places:0": np.zeros(3, np.int32)})
    assert any(len(branches) == 3 for branches in ops(session))
    feeds = {"x:0": square(), "places:0": places}
    with pytest.raises(TfgError) as expected:
        single.run("sum:0", feeds)
    for _ in range(20):
        with pytest.raises(TfgError) as result:
            session.run("sum:0", feeds)
        assert (result.value.node, str(result.value)) == (expected.value.node, str(expected.value))
    assert np.isfinite(session.run("sum:0", {**feeds, "places:0": np.zeros(3, np.int32)})).all()


def test_what_has_a_state_stays_in_order():
    """Updates, random numbers and function calls stay in sequence."""
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[12, 12], name="x")
    v = b.VarHandleOp(dtype="float32", shape=[12, 12], shared_name="v")
    b.AssignVariableOp(v, b.constant(square()), name="init")
    define(b, "half", ["float32"], lambda inner, a: [inner.Mul(a, inner.constant(np.float32(0.5)))])
    parts = []
    for _ in range(3):
        read = b.ReadVariableOp(v, dtype="float32")
        update = b.AssignAddVariableOp(v, b.Tanh(b.MatMul(read, x)))
        with b.control_dependencies([update]):
            (called,) = b.PartitionedCall([b.MatMul(b.ReadVariableOp(v, dtype="float32"), x)], f="half", Tout=["float32"])
        draws = b.RandomUniform(b.constant(np.array([12, 12], np.int32)), dtype="float32")
        parts.append(b.AddV2(called, b.MatMul(b.Mul(draws, b.constant(np.float32(0))), x)))
    b.AddN(parts, name="sum")
    session, single = Session(b.graph, seed=1), Session(b.graph, optimize="none", seed=1)
    for each in (session, single):
        each.run("init")
    for _ in range(RUNS_UNTIL_CHOSEN + 3):
        result, expected = session.run("sum:0", {"x:0": square() / 20}), single.run("sum:0", {"x:0": square() / 20})
        np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-5)
    program = programs(session)[-1]
    inside = [step.node for i in program.instructions if i[0] == ON_SLOTS for *_, step in i[1].in_order]
    assert not [node.op for node in inside if node.op_def.is_stateful or node.op_def.takes_functions]


def test_what_waits_for_the_same_run_waits_still():
    """A queue's element comes from a later step of the run; the branches before and after still run."""
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[12, 12], name="x")
    queue = b.FIFOQueueV2(component_types=["float32"], name="queue")
    (taken,) = b.QueueDequeueV2(queue, component_types=["float32"], name="taken")
    first = two_towers(b, b.AddV2(x, taken))
    b.QueueEnqueueV2(queue, [b.Mul(x, b.constant(np.float32(2)))], name="given")
    session = Session(b.graph)
    results = [session.run([first.name, "given"], {"x:0": square()})[0] for _ in range(RUNS_UNTIL_CHOSEN + 2)]
    assert all(value.tobytes() == results[-1].tobytes() for value in results)


def test_hooks_see_every_kernel():
    b = GraphBuilder()
    two_towers(b, b.Placeholder(dtype="float32", shape=[12, 12], name="x"))
    session = Session(b.graph)
    result = run_until_chosen(session, "sum:0", {"x:0": square()})[-1]
    seen = []

    def hook(node, call, inputs):
        seen.append(node.op)
        return call(*inputs)

    hooked = session.run("sum:0", {"x:0": square()}, hook=hook)
    assert seen.count("MatMul") == 4 and seen.count("Tanh") == 4
    np.testing.assert_array_equal(hooked, result)
    assert ops(session) and session.run("sum:0", {"x:0": square()}).tobytes() == result.tobytes()


def test_a_session_in_many_threads():
    b = GraphBuilder()
    two_towers(b, b.Placeholder(dtype="float32", shape=[12, 12], name="x"), towers=3)
    session = Session(b.graph)
    inputs = [square(seed=seed) for seed in range(4)]
    expected = [run_until_chosen(session, "sum:0", {"x:0": value})[-1] for value in inputs]
    results = [[] for _ in inputs]

    def run(i):
        for _ in range(30):
            results[i].append(session.run("sum:0", {"x:0": inputs[i]}))

    workers = [threading.Thread(target=run, args=(i,)) for i in range(len(inputs))]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    for values, value in zip(results, expected):
        assert len(values) == 30
        np.testing.assert_allclose(values, [value] * 30, rtol=1e-5, atol=1e-6)


def settled_towers():
    """Return a session that ran two towers until the choice of a way."""
    b = GraphBuilder()
    two_towers(b, b.Placeholder(dtype="float32", shape=[12, 12], name="x"))
    session = Session(b.graph)
    run_until_chosen(session, "sum:0", {"x:0": square()})
    return session


def test_a_session_of_one_thread_measures_nothing(monkeypatch):
    monkeypatch.setattr(threads.OneThread, "share", 1)
    assert not regions(settled_towers())


def test_branches_that_take_longer_than_their_steps_are_left(monkeypatch):
    monkeypatch.setattr(trials, "GAIN", 0.0)
    assert [region.is_parallel for region in regions(settled_towers())] == [False]


def test_light_steps_are_not_looked_through(monkeypatch):
    monkeypatch.setattr(region_calls, "LEAST_MEAN", 1.0)
    assert not regions(settled_towers())


def found_regions(b, timings=None, threads=2, fetch="sum"):
    steps = compile_plan(b.graph, [b.graph.fetch(f"{fetch}:0")], [b.graph.fetch("x:0")]).steps
    steps = [step for step in steps if not step.node.is_constant]
    timings = timings or [SECONDS] * len(steps)
    return [
        [[steps[i].node.op for i in branch] for branch in region.branches] for region in find_regions(steps, timings, threads)
    ]


def test_a_chain_has_no_region():
    b = GraphBuilder()
    y = b.Placeholder(dtype="float32", shape=[12, 12], name="x")
    for _ in range(100):
        y = b.Tanh(y)
    b.Identity(y, name="sum")
    assert found_regions(b) == []


def test_what_is_divided_gains_nothing():
    b = GraphBuilder()
    two_towers(b, b.Placeholder(dtype="float32", shape=[12, 12], name="x"), layers=1)
    assert found_regions(b, [StepTiming(0.0, 1.0)] * 5) == []
    assert found_regions(b, [StepTiming(1.0, 0.0)] * 5) == [[["MatMul", "Tanh"]] * 2]


def test_the_longest_branch_comes_first():
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[12, 12], name="x")
    b.AddN([b.Tanh(x), b.Exp(b.Tanh(b.Neg(b.Abs(x)))), b.Exp(b.Neg(x))], name="sum")
    (branches,) = found_regions(b)
    assert [len(branch) for branch in branches] == [4, 2, 1]


def test_what_is_computed_of_lists_and_strings_stays_in_order():
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[12, 12], name="x")
    lists = [b.TensorListFromTensor(x, b.constant(np.array([12], np.int32))) for _ in range(2)]
    tensors = [b.TensorListStack(item, b.constant(np.array([12], np.int32)), element_dtype="float32") for item in lists]
    b.AddN(tensors, name="sum")
    assert found_regions(b) == []


@pytest.mark.parametrize("count", [1, 2, 5])
def test_branches_divide_their_work_when_a_thread_has_none(count):
    """While all threads have branches, each thread does the parts of its branch; the last branch shares its parts."""
    product = square(64), square(64, 1)
    expected = product[0] @ product[1]
    results = []

    def branch():
        results.append(gemm.matmul(*product))

    with threads.one_thread:
        gemm.run_branches([branch] * count)
    assert len(results) == count
    assert all(value.tobytes() == results[0].tobytes() for value in results)
    np.testing.assert_allclose(results[0], expected, rtol=1e-5, atol=1e-5)


def test_parts_of_two_branches_stay_with_their_threads():
    meeting = threading.Barrier(2, timeout=30)
    takers = {}

    def branch(name):
        meeting.wait()
        takers[name] = set()
        gemm.divide(lambda _: takers[name].add(threading.get_ident()), range(8))
        meeting.wait()

    worker_threads.renew()  # a thread that another test still keeps would not come
    with threads.one_thread:
        gemm.run_branches([lambda: branch("a"), lambda: branch("b")])
    assert [len(idents) for idents in takers.values()] == [1, 1] and takers["a"] != takers["b"]


def test_an_error_that_ends_the_process_ends_all_branches():
    def interrupted(instructions, slots):
        raise KeyboardInterrupt

    b = GraphBuilder()
    two_towers(b, b.Placeholder(dtype="float32", shape=[12, 12], name="x"))
    session = Session(b.graph)
    run_until_chosen(session, "sum:0", {"x:0": square()})
    (region,) = regions(session)
    assert isinstance(region, RegionCall)
    region.execute = interrupted
    with pytest.raises(KeyboardInterrupt):
        session.run("sum:0", {"x:0": square()})
