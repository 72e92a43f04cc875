"""Sessions that are gone leave nothing: no process, thread, file descriptor or shared memory."""

import contextlib
import gc
import os
import pathlib
import sys
import threading
import time

import numpy as np
import pytest

from tfg import GraphBuilder, Session
from tfg.core.numerics import blas_threads, work_division
from tfg.core.runtime.execute import limits

RUNS = 40
on_linux = pytest.mark.skipif(sys.platform != "linux", reason="other systems: only Linux lists them")


@pytest.fixture(autouse=True)
def work_is_divided_and_threads_end_soon(monkeypatch):
    monkeypatch.setattr(blas_threads.OneThread, "share", 2)
    monkeypatch.setattr(blas_threads.one_thread, "available", 2)
    monkeypatch.setattr(work_division, "WORTH_DIVIDING", 64)
    monkeypatch.setattr(work_division, "IDLE_SECONDS", 0.02)
    monkeypatch.setattr(limits, "IDLE_SECONDS", 0.02)
    work_division.renew()


def towers():
    """Return a graph of two branches of convolutions, some milliseconds long, and the feed."""
    b = GraphBuilder()
    x = b.Placeholder(dtype="float", shape=[1, 32, 32, 16], name="x")
    ends = []
    for seed in range(2):
        y = x
        for _ in range(3):
            filters = np.random.default_rng(seed).normal(size=(3, 3, 16, 16)).astype("f")
            y = b.Relu(b.Conv2D(y, filters, strides=[1, 1, 1, 1], padding="SAME"))
        ends.append(y)
    b.AddN(ends, name="sum")
    return b.graph, {"x": np.ones((1, 32, 32, 16), "f")}


def run_often(**options):
    graph, feeds = towers()
    session = Session(graph, **options)
    for _ in range(RUNS):
        session.run("sum", feeds)


def children():
    """Return the child processes of all threads of this process, by Linux's lists; a thread may end meanwhile."""
    pids = set()
    for task in pathlib.Path("/proc/self/task").iterdir():
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            pids.update((task / "children").read_text().split())
    return pids


def shared_mappings():
    """Return the mappings that other processes could share: the lines of the memory map with permissions ending in s."""
    with open("/proc/self/maps") as lines:
        return [line.split()[-1] for line in lines if line.split()[1].endswith("s")]


def own_threads():
    """Return the threads of tfg in this process; listeners of meshes of other tests wait for processes that are gone."""
    names = ((thread, thread.name) for thread in threading.enumerate())
    return [thread for thread, name in names if name.startswith(blas_threads.OWN_THREADS) and "mesh" not in name]


def assert_threads_end():
    until = time.monotonic() + 300
    while own_threads() and time.monotonic() < until:
        time.sleep(0.01)
    assert own_threads() == []


@pytest.mark.slow
@on_linux
@pytest.mark.parametrize("options", [{}, {"timeout": 60}], ids=["plain", "with a time limit"])
def test_processes_files_and_shared_memory(options):
    gc.collect()  # files of earlier tests, which would else close meanwhile
    before = children(), {*os.listdir("/proc/self/fd")}, {*shared_mappings()}
    graph, feeds = towers()
    session = Session(graph, **options)
    for _ in range(RUNS):
        session.run("sum", feeds)
        assert children() == before[0]
    del session
    gc.collect()
    after = children(), {*os.listdir("/proc/self/fd")}, {*shared_mappings()}
    assert [now - then for now, then in zip(after, before, strict=True)] == [set()] * 3


@pytest.mark.parametrize("options", [{}, {"timeout": 60}], ids=["plain", "with a time limit"])
def test_threads(options):
    others = {thread for thread in threading.enumerate() if thread not in own_threads()}
    run_often(**options)
    assert_threads_end()
    assert {*threading.enumerate()} <= others


def test_threads_that_ended_are_started_anew():
    for _ in range(2):
        workers = set()
        meeting = threading.Barrier(2)

        def work(_):
            meeting.wait(300)  # noqa: B023 - called in this iteration
            workers.add(threading.get_ident())  # noqa: B023

        work_division.divide(work, range(2))
        assert len(workers) == 2
        assert_threads_end()
