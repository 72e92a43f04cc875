"""Kernels that hold the interpreter end at their deadline, and nothing else does."""

import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import tfg
from tfg.core.graph.graph import Graph
from tfg.core.runtime.execute import limits
from tfg.core.runtime.execute.limits import DeadlineInterruption, call_until, can_be_interrupted
from tfg.core.support.errors import DeadlineExceededError

FAR = 1e6


def soon():
    return time.monotonic() + 0.05


def endless(_):
    while True:
        pass


def test_a_call_in_time_gives_its_result():
    assert call_until(time.monotonic() + FAR, sum, [(1, 2, 3)]) == 6


def test_an_error_of_a_call_is_its_own():
    with pytest.raises(ZeroDivisionError):
        call_until(time.monotonic() + FAR, lambda x: 1 / x, [0])


@pytest.mark.parametrize("deadline", [0, 0.05])
def test_an_endless_call_ends(deadline):
    with pytest.raises(DeadlineInterruption):
        call_until(time.monotonic() + deadline, endless, [0])


def test_what_swallows_an_interruption_meets_the_next():
    met = []

    def stubborn(_):
        try:
            endless(0)
        except DeadlineInterruption:
            met.append(1)
            endless(0)

    with pytest.raises(DeadlineInterruption):
        call_until(soon(), stubborn, [0])
    assert met


def test_the_deadline_of_a_call_in_a_call_is_the_earlier_one():
    def outer(_):
        with pytest.raises(DeadlineInterruption):
            call_until(soon(), endless, [0])
        return call_until(time.monotonic() + FAR, len, ["abc"])

    assert call_until(time.monotonic() + FAR, outer, [0]) == 3


def test_nothing_comes_after_a_call():
    """If the deadline passes at the end of the call, either the deadline ends the call or no interruption follows."""
    for _ in range(200):
        try:
            call_until(time.monotonic() + 2e-5, sum, [range(300)])
        except DeadlineInterruption:
            continue
    for _ in range(1000):
        sum(range(100))


@pytest.mark.slow
def test_other_threads_go_on():
    ends = []

    def interrupted():
        try:
            call_until(soon(), endless, [0])
        except DeadlineInterruption:
            ends.append("interrupted")

    def at_ease():
        ends.append(call_until(time.monotonic() + FAR, lambda n: sum(range(n)), [3_000_000]))

    threads = [threading.Thread(target=work) for work in (interrupted, at_ease)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert set(ends) == {"interrupted", sum(range(3_000_000))}


def test_a_session_ends_a_kernel_and_stays_of_use(monkeypatch):
    """The deadline comes when the kernel has begun, however long the nodes before it took."""
    in_time = limits.interrupted_in_time

    def late_for_many(run, node, call, inputs):
        if node.name == "kept" and len(inputs[0]) > 5:
            run.deadline = soon()
        return in_time(run, node, call, inputs)

    monkeypatch.setattr(limits, "interrupted_in_time", late_for_many)
    g = tfg.GraphBuilder()
    n = g.Placeholder(dtype="int32", shape=[], name="n")
    boxes = g.StatelessRandomUniform(g.Pack([n, np.int32(4)]), np.int32([1, 2]), dtype="float32")
    kept = g.NonMaxSuppressionV3(boxes, g.Fill(g.Pack([n]), np.float32(1)), n, np.float32(1), np.float32(0), name="kept")
    session = tfg.Session(g.graph, timeout=FAR)
    with pytest.raises(DeadlineExceededError, match="'kept'"):
        session.run(kept.name, {"n": 1_000_000})
    assert len(session.run(kept.name, {"n": 5})) == 5


def test_the_thread_that_interrupts_is_no_one_to_wait_for():
    """Nobody is left to fill the queue; whoever could would be waited for without end."""
    assert call_until(time.monotonic() + FAR, len, ["ab"]) == 2
    g = tfg.GraphBuilder()
    queue = g.FIFOQueueV2(component_types=["int32"])
    g.QueueDequeueV2(queue, component_types=["int32"], name="taken")
    with pytest.raises(DeadlineExceededError, match="no other node can change that"):
        tfg.Session(g.graph).run("taken:0")


@pytest.mark.parametrize("op", ["Assign", "AssignAddVariableOp", "QueueEnqueue", "IteratorGetNext", "OfALibrary", "While"])
def test_what_changes_a_state_is_not_interrupted(op):
    node = Graph().add_node("op", op)
    assert not can_be_interrupted(node)


@pytest.mark.parametrize("op", ["MatMul", "StringNGrams", "NonMaxSuppressionV3", "StatelessWhile"])
def test_what_only_computes_is_interrupted(op):
    assert can_be_interrupted(Graph().add_node("op", op))


@pytest.mark.slow
def test_no_table_of_a_library_is_left_half_read():
    """SciPy loads the directions of Sobol sequences at the first draw and keeps a partly loaded table."""
    lines = (
        "import numpy as np",
        "from tfg.core.random import sobol",
        "np.load = None",
        "print(sobol.engine(3).random(2).tolist())",
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", "\n".join(lines)], capture_output=True, text=True, timeout=600
    )
    assert (done.stdout, done.stderr) == ("[[0.0, 0.0, 0.0], [0.5, 0.5, 0.5]]\n", "")


def test_a_call_that_is_interrupted_as_it_ends_is_forgotten(monkeypatch):
    """The thread that watches calls ends, though the call could not say that it had ended."""

    def interrupted(call):
        raise DeadlineInterruption

    monkeypatch.setattr("tfg.core.runtime.execute.limits.IDLE_SECONDS", 0.02)
    with monkeypatch.context() as patch:
        patch.setattr("tfg.core.runtime.execute.limits._watchdog.end", interrupted)
        with pytest.raises(DeadlineInterruption):
            call_until(soon(), sum, [(1, 2, 3)])
    watching = [thread for thread in threading.enumerate() if thread.name.endswith("deadlines")]
    for thread in watching:
        thread.join(60)
    assert watching and not any(thread.is_alive() for thread in watching)
