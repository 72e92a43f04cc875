"""Elements computed ahead by threads: the same elements in the same order, errors in their places, and no thread left
behind.
"""

from __future__ import annotations

import gc
import itertools
import os
import subprocess
import sys
import threading
import time
import weakref

import numpy as np
import pytest

from tests import opcases
from tests.children import fork_to
from tests.core.ops.test_ops import build, check_step
from tests.pipelines import NUMBER, function, int64, numbers, text
from tests.recorded_answers import answers
from tfg.core.building.builder import GraphBuilder
from tfg.core.datasets import ahead, iterators
from tfg.core.datasets.ahead import MappedAhead, Prefetched
from tfg.core.datasets.filter_take_skip import Repeat
from tfg.core.datasets.mapping import Map, ParallelMap
from tfg.core.datasets.ordering import Shuffle
from tfg.core.datasets.rewriting import finalized
from tfg.core.datasets.run_options import Prefetch
from tfg.core.datasets.seeds import Seeds
from tfg.core.datasets.sources import ListOf
from tfg.core.numerics.blas_threads import OWN_THREADS, one_thread
from tfg.core.runtime.session.session import Session
from tfg.core.runtime.state.file_access import FileAccess
from tfg.core.runtime.state.run_context import Run
from tfg.core.support.errors import DeadlineExceededError, InvalidArgumentError

FAMILIES = [family for family in opcases.families() if family.startswith("dataset_")]


@pytest.fixture
def threads(monkeypatch):
    """Allow four threads and make every element worth a thread; returns a list of the passes that used a thread."""
    started = []
    start = ahead._PassState.start

    def starting(work, run):
        is_started = start(work, run)
        started.extend([work] * is_started)
        return is_started

    monkeypatch.setattr(ahead, "WORTH_THREADS", -1.0)
    monkeypatch.setattr(ahead, "TRIED_ELEMENTS", 1)
    monkeypatch.setattr(type(one_thread), "unlocked_share", 4)
    monkeypatch.setattr(one_thread, "available", 4)
    monkeypatch.setattr(ahead._PassState, "start", starting)
    return started


def _numbers(count):
    return ListOf((), [(np.int64(i),) for i in range(count)])


def _always():
    return True


def _pulled(pull, count):
    """Return the results of `count` pulls: numbers, None at the end, messages of errors."""
    results = []
    for _ in range(count):
        try:
            element = pull()
            results.append(None if element is None else int(element[0]))
        except InvalidArgumentError as error:
            results.append(error.message)
    return results


def _some_fail(element):
    """Ten times the number, after a while that differs; an error for multiples of seven."""
    time.sleep(element[0] % 3 * 1e-3)
    if not element[0] % 7:
        raise InvalidArgumentError(f"seven in {element[0]}")
    return (element[0] * 10,)


@pytest.mark.slow
@pytest.mark.sampled(6)
@pytest.mark.parametrize("family", FAMILIES)
def test_recorded_pipelines_give_the_same_elements(threads, monkeypatch, family):
    """TensorFlow's answers, although each element that may come early does: all passes are prefetched."""
    monkeypatch.setattr(iterators, "finalized", lambda dataset: Prefetch((finalized(dataset),), 3))
    for case in opcases.load_cases(family):
        recorded = answers(family).steps(case.key)
        if not recorded[0]["error"]:
            graph, steps = build(case)
            session = Session(graph, seed=0, files=FileAccess.everything())
            for fetches, step in zip(steps, recorded):
                check_step(session, fetches, case, step)
    assert threads or family not in ("dataset_batching", "dataset_mapping", "dataset_records", "dataset_selection")


@pytest.mark.sampled(3)
@pytest.mark.parametrize("calls, size", [(1, 1), (1, 5), (2, 2), (-1, -1), (-1, 3), (9, 9)])
def test_calls_come_in_the_order_of_elements(threads, calls, size):
    source = _numbers(30)
    expected = _pulled(Map((source,), _some_fail).begin(), 33)
    with Run(1):
        assert _pulled(MappedAhead(source.begin(), _some_fail, calls, size, _always).next, 33) == expected
        assert _pulled(Prefetched(Map((source,), _some_fail).begin(), max(size, 1), _always).next, 33) == expected
    assert threads


def test_no_more_is_made_than_the_buffer_holds(threads):
    made = itertools.count()
    pull = Prefetched(lambda: (next(made),), 3, _always).next
    with Run(1):
        for taken in range(1, 6):
            pull()
            time.sleep(0.02)
            assert made.__reduce__()[1][0] <= taken + 3
    assert threads


def test_elements_come_early_between_runs(threads):
    made = []
    pull = Prefetched(lambda: made.append(1) or (len(made),), 2, _always).next
    with Run(1):
        pull(), pull()
    deadline = time.monotonic() + 300
    while len(made) < 4 and time.monotonic() < deadline:
        time.sleep(0.01)
    assert len(made) == 4


@pytest.mark.parametrize(
    "run", [Run(1, hook=lambda node, call, inputs: call(*inputs)), pytest.param("clock", id="limit of time")]
)
def test_a_run_with_a_hook_or_limits_makes_its_elements_itself(threads, run):
    if run == "clock":
        run = Run(1)
        run.start_clock(60)
    with run:
        assert _pulled(Prefetch((ParallelMap((_numbers(9),), lambda e: e, runs_early=True),), 2).begin(), 9) == list(range(9))
    assert not threads


def test_waiting_for_a_thread_ends_with_the_time_of_the_run(threads):
    is_let_go = threading.Event()
    count = itertools.count()

    def slow():
        if (number := next(count)) > 0:
            is_let_go.wait(300)
        return (number,)

    pass_ = Prefetched(slow, 1, _always)
    with Run(1) as run:
        pass_.next()
        pass_._work.start(run)
    timed = Run(2)
    timed.start_clock(0.05)
    with timed, pytest.raises(DeadlineExceededError):
        pass_.next()
    is_let_go.set()
    with Run(3):
        assert pass_.next() == (1,)


def test_a_call_that_was_interrupted_is_made_again(threads):
    """Ctrl-C loses no element, and no later run waits for a lost element."""
    interruptions = [KeyboardInterrupt()]

    def call(element):
        if element[0] == 3 and interruptions:
            raise interruptions.pop()
        return element

    results = []
    pull = MappedAhead(_numbers(8).begin(), call, 1, 4, _always).next
    threads_of_helpers = ahead.idle_workers
    ahead.idle_workers = lambda count: []
    try:
        with Run(1):
            while len(results) < 8:
                try:
                    results.append(int(pull()[0]))
                except KeyboardInterrupt:
                    results.append(-1)
    finally:
        ahead.idle_workers = threads_of_helpers
    assert results == [0, 1, 2, -1, 3, 4, 5, 6]


def _own_threads():
    return [thread for thread in threading.enumerate() if thread.name.startswith(OWN_THREADS)]


@pytest.mark.slow
def test_a_pass_that_is_dropped_leaves_no_thread(threads):
    made = itertools.count()

    def endless():
        time.sleep(1e-3)
        return (next(made),)

    with Run(1):
        pull = Prefetched(endless, 500, _always).next
        mapped = MappedAhead(endless, lambda element: element, 2, 500, _always).next
        for _ in range(3):
            pull(), mapped()
    threads.clear()
    del pull, mapped
    _wait_for_the_end_of_threads()


def _wait_for_the_end_of_threads():
    gc.collect()
    deadline = time.monotonic() + 300
    while _own_threads() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not _own_threads()
    gc.collect()


@pytest.mark.slow
def test_a_session_that_is_dropped_leaves_no_thread(threads, tmp_path):
    path = tmp_path / "lines.txt"
    path.write_text("line\n" * 1000)
    g = GraphBuilder()
    lines = g.TextLineDataset(text(str(path)), text(""), int64(0))
    spec = {"output_types": ["string"], "output_shapes": [()]}
    name = function(g, "body", ["string"], lambda b, x: [b.StringJoin([x, x])])
    mapped = g.ParallelMapDatasetV2(lines, [], int64(4), f=name, Targuments=[], **spec)
    iterator = g.IteratorV2(shared_name="", container="", **spec)
    g.MakeIterator(g.PrefetchDataset(mapped, int64(3), **spec), iterator, name="start")
    g.IteratorGetNext(iterator, name="next", **spec)
    session = Session(g.graph, files=FileAccess.everything())
    session.run("start")
    assert [session.run("next:0") for _ in range(4)] == [b"lineline"] * 4
    assert threads
    threads.clear()
    del session
    _wait_for_the_end_of_threads()


@pytest.mark.slow
def test_a_pass_that_is_dropped_is_let_go(threads):
    """Only working threads keep the objects of a pass alive."""

    class Source:
        def next(self):
            return (1,)

    source = Source()
    kept = weakref.ref(source)
    with Run(1):
        pull = Prefetched(MappedAhead(source.next, lambda element: element, 2, 4, _always).next, 2, _always).next
        for _ in range(5):
            pull()
    assert threads
    threads.clear()
    del pull, source
    _wait_for_the_end_of_threads()
    assert kept() is None


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_process_goes_on_without_the_threads(threads):
    """A call that was under way in a thread is made once more."""
    is_let_go = threading.Event()
    in_parent = os.getpid()

    def call(element):
        if os.getpid() == in_parent and threading.current_thread() is not threading.main_thread():
            is_let_go.wait(300)
        return element

    pull = MappedAhead(_numbers(20).begin(), call, 2, 4, _always).next
    with Run(1):
        result = _pulled(pull, 3)
        child = fork_to(lambda: result + _pulled(pull, 18) == [*range(20), None])
        status = os.waitpid(child, 0)[1]
        is_let_go.set()
        assert os.waitstatus_to_exitcode(status) == 0
        assert result + _pulled(pull, 18) == [*range(20), None]


@pytest.mark.parametrize("renewed, count, again, wanted", [
    (True, 1, False, True),
    (True, 1, True, False),
    (False, 1, True, True),
    (True, 2, False, False),
    (False, 2, False, True),
])  # fmt: skip
def test_seeds_are_drawn_in_the_order_of_passes(renewed, count, again, wanted):
    dataset = Shuffle((_numbers(4),), 4, Seeds(1, 2, renewed), count)
    assert (Repeat((dataset,), 2) if again else dataset).comes_early() is wanted


def _early(make, types=("int64",), captured=()):
    """Whether elements of a graph's map may come early."""
    g = GraphBuilder()
    name = function(g, "body", list(types), make, stateful=True)
    values = [value(g) for value in captured]
    mapped = g.ParallelMapDatasetV2(numbers(g, 8), values, int64(3), f=name, Targuments=[v.dtype for v in values], **NUMBER)
    return Session(g.graph, seed=0).run(mapped.name).item().comes_early()


def _table(op):
    return lambda g: getattr(g, op)(key_dtype="int64", value_dtype="int64")


def test_what_has_a_state_comes_when_it_is_asked_for():
    def find(b, x, table):
        return [b.LookupTableFindV2(table, x, int64(0), Tin="int64", Tout="int64")]

    def drawn(b, x):
        return [b.AddV2(x, b.RandomUniformInt(np.int32([]), int64(0), int64(9), seed=1, seed2=2))]

    assert _early(lambda b, x: [b.Mul(x, x)])
    assert not _early(drawn)
    assert _early(find, ("int64", "resource"), [_table("HashTableV2")])
    assert not _early(find, ("int64", "resource"), [_table("MutableHashTableV2")])


ENDS_EARLY = """
import sys, time
from tfg.core.datasets import ahead
from tfg.core.numerics.blas_threads import one_thread
from tfg.core.runtime.state.run_context import Run
ahead.WORTH_THREADS, ahead.TRIED_ELEMENTS, type(one_thread).unlocked_share, one_thread.cores = -1, 1, 2, 2
done = []
def slow():
    time.sleep(0.05)
    done.append(1)
    return (len(done),)
with Run(1):
    pass_ = ahead.Prefetched(slow, 1000, lambda: True)
    pass_.next(), pass_.next()
print("end")
"""


@pytest.mark.slow
def test_a_process_ends_while_elements_are_made():
    result = subprocess.run([sys.executable, "-c", ENDS_EARLY], capture_output=True, text=True, timeout=600)
    assert (result.returncode, result.stdout, result.stderr) == (0, "end\n", "")
