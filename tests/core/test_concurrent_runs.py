"""One session in many threads: what is shared is made once, what belongs to a run stays with it."""

from __future__ import annotations

import sys
import threading
import time

import numpy as np
import pytest

from tfg.core.builder import GraphBuilder
from tfg.core.errors import DeadlineExceededError, InvalidArgumentError
from tfg.core.metagraph import MetaGraph
from tfg.core.session import Session
from tfg.tests.cases.functional import define


@pytest.fixture(autouse=True)
def _many_switches():
    """Threads take turns as often as the interpreter can let them."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def in_threads(*bodies, timeout=60):
    """Run functions in threads of their own that begin together; what they return, or the first error of any."""
    barrier = threading.Barrier(len(bodies))
    results, errors = [None] * len(bodies), []

    def call(i, body):
        barrier.wait()
        try:
            results[i] = body()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=call, args=item, daemon=True) for item in enumerate(bodies)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout)
        assert not thread.is_alive(), "a thread still waits"
    if errors:
        raise errors[0]
    return results


def test_the_first_run_starts_a_saved_model_once():
    b = GraphBuilder()
    queue = b.FIFOQueueV2(component_types=["int32"], name="queue")
    b.QueueEnqueueV2(queue, [np.int32(1)], name="start")
    b.QueueSizeV2(queue, name="starts")
    b.graph.meta = MetaGraph(init_op="start", folder="")
    for _ in range(10):
        session = Session(b.graph)
        assert in_threads(*[lambda session=session: session.run("starts:0")] * 6) == [1] * 6


def test_a_start_that_failed_is_tried_again():
    b = GraphBuilder()
    value = b.Placeholder(dtype="float32", shape=[], name="x")
    b.CheckNumerics(b.Sqrt(b.constant(np.float32(-1))), message="", name="start")
    b.graph.meta = MetaGraph(init_op="start", folder="")
    session = Session(b.graph)
    for _ in range(2):
        with pytest.raises(InvalidArgumentError, match="NaN"):
            session.run(value.name, {"x:0": 1})


def chain(length=50):
    b = GraphBuilder()
    value = b.Placeholder(dtype="float32", shape=[], name="x")
    for i in range(length):
        value = b.Neg(value, name=f"n{i}")
    return b.graph, value.name


def test_a_hook_sees_its_own_run_only():
    graph, last = chain()
    session = Session(graph)

    def seen_by_a_hook(number):
        seen = []

        def hook(node, call, inputs):
            seen.append(abs(float(inputs[0])))
            return call(*inputs)

        for _ in range(20):
            session.run(last, {"x:0": number}, hook=hook)
        return seen

    bodies = [lambda n=n: seen_by_a_hook(n) for n in range(1, 5)]
    unhooked = [lambda: [float(session.run(last, {"x:0": 9})) for _ in range(20)]] * 2
    *seen, first, second = in_threads(*bodies, *unhooked)
    assert seen == [[n] * 1000 for n in range(1, 5)]
    assert first == second == [9.0] * 20


def test_each_run_has_its_own_timeout():
    graph, last = chain()
    session = Session(graph, timeout=0.5)

    def slow():
        with pytest.raises(DeadlineExceededError, match=r"0\.5 seconds"):
            session.run(last, {"x:0": 1}, hook=lambda node, call, inputs: (time.sleep(0.1), call(*inputs))[1])

    def quick():
        end = time.monotonic() + 1
        while time.monotonic() < end:
            session.run(last, {"x:0": 1})

    in_threads(slow, quick)


def test_temporary_variables_belong_to_their_run():
    b = GraphBuilder()
    start = b.TemporaryVariable(shape=[], dtype="int32", var_name="sum")
    value = b.Assign(start, b.Placeholder(dtype="int32", shape=[], name="x"))
    for _ in range(20):
        value = b.AssignAdd(value, b.constant(np.int32(1)))
    last = b.DestroyTemporaryVariable(value, var_name="sum", name="last")
    session = Session(b.graph)

    def runs(start):
        return {int(session.run(last.name, {"x:0": start})) for _ in range(30)}

    assert in_threads(*[lambda n=n: runs(n) for n in range(4)]) == [{20 + n} for n in range(4)]


def _less(b, x):
    rest = b.Sub(x, b.constant(np.int32(1)))
    return [b.If(b.Greater(x, b.constant(np.int32(0))), [rest], Tout=["int32"], then_branch="down", else_branch="stop")[0]]


def test_functions_may_be_deep_in_several_threads():
    b = GraphBuilder()
    define(b, "stop", ["int32"], lambda b, x: [b.Identity(x)])
    define(b, "down", ["int32"], _less)
    b.PartitionedCall([b.Placeholder(dtype="int32", shape=[], name="x")], Tout=["int32"], f="down", name="call")
    session = Session(b.graph)
    limit = sys.getrecursionlimit()
    assert in_threads(*[lambda n=n: int(session.run("call:0", {"x:0": n})) for n in (60, 90, 120, 150)]) == [-1] * 4
    assert sys.getrecursionlimit() == limit


def test_a_value_cache_is_shared():
    b = GraphBuilder()
    variable = b.VarHandleOp(dtype="float32", shape=[], shared_name="v", name="v")
    b.AssignVariableOp(variable, b.Placeholder(dtype="float32", shape=[], name="x"), name="assign")
    read = b.ReadVariableOp(variable, dtype="float32")
    b.Neg(b.Add(read, read), name="y")
    session = Session(b.graph, cache=1 << 20)
    session.run("assign", {"x:0": 1})

    def reads():
        return {float(session.run("y:0")) for _ in range(200)}

    def writes():
        for n in range(200):
            session.run("assign", {"x:0": n % 3 + 1})

    first, second, _ = in_threads(reads, reads, writes)
    assert first | second <= {-2.0, -4.0, -6.0}
    stats = session.cache_stats
    assert stats.hits + stats.misses == 400
    assert stats.bytes <= 4
