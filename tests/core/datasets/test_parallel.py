"""Functions of batches called in threads: the same elements in the same order, and no more calls at a time than asked for."""

from __future__ import annotations

import itertools
import threading
import time

import numpy as np
import pytest

from tests.pipelines import NUMBER, function, int64, numbers
from tfg.core.building.builder import GraphBuilder
from tfg.core.datasets import ahead, batches
from tfg.core.datasets.batches import MapAndBatch
from tfg.core.datasets.mapping import Map
from tfg.core.datasets.sources import ListOf
from tfg.core.numerics.blas_threads import one_thread
from tfg.core.numerics.work_division import divide, undivided
from tfg.core.runtime.session.session import Session
from tfg.core.runtime.state.run_context import Run, check_time
from tfg.core.support.errors import DeadlineExceededError, InvalidArgumentError, OutOfRangeError

VECTOR = {"output_types": ["int64"], "output_shapes": [(None,)]}


@pytest.fixture
def cores(monkeypatch):
    """Allow four threads, and make all calls worth a thread."""
    monkeypatch.setattr(ahead, "WORTH_THREADS", -1.0)
    monkeypatch.setattr(type(one_thread), "share", 4)


def _some_fail(element):
    """Ten times the number; an error for multiples of seven."""
    if not element[0] % 7:
        raise InvalidArgumentError("seven")
    return (element[0] * 10,)


def _ends(element):
    """The number, and the end behind eight."""
    if element[0] > 8:
        raise OutOfRangeError("eight")
    return element


def _outcomes(function, source, calls, keeps, drops):
    """Return the results of two passes, until after the end."""
    dataset, result = MapAndBatch((source,), 4, drops, function, keeps, calls), []
    with Run(1):
        for pull in (dataset.begin(), dataset.begin()):
            for _ in range(9):
                try:
                    element = pull()
                    result.append(None if element is None else element[0].tolist())
                except InvalidArgumentError as error:
                    result.append(error.message)
    return result


@pytest.mark.parametrize("function", [_some_fail, _ends])
@pytest.mark.parametrize("keeps", [False, True])
@pytest.mark.parametrize("drops", [False, True])
@pytest.mark.parametrize("calls", [-1, 2, 9])
def test_the_elements_are_those_of_one_call_after_the_other(cores, function, calls, keeps, drops):
    plain = ListOf((), [(np.int64(i),) for i in range(1, 20)])
    for source in (plain, Map((plain,), lambda element: _some_fail((element[0] + 2,)))):
        assert _outcomes(function, source, calls, keeps, drops) == _outcomes(function, source, 1, keeps, drops)


@pytest.mark.parametrize("is_random, wanted", [(False, 3), (True, 1)])
def test_functions_with_a_state_are_called_one_by_one(monkeypatch, is_random, wanted):
    """The elements of a batch go together if the source draws seeds per pass and must not be read early."""
    asked = []
    monkeypatch.setattr(batches, "outcomes", lambda function, given, most: asked.append(most) or [function(e) for e in given])
    g = GraphBuilder()

    def body(b, x):
        return [
            b.AddV2(x, b.RandomUniformInt(np.int32([]), int64(0), int64(9), seed=1, seed2=2)) if is_random else b.Mul(x, x)
        ]

    name = function(g, "body", ["int64"], body, stateful=is_random)
    shuffled = g.ShuffleDataset(numbers(g, 8), int64(8), int64(1), int64(2), **NUMBER)
    source = g.RepeatDataset(shuffled, int64(2), **NUMBER)
    mapped = g.ParallelMapDatasetV2(source, [], int64(3), f=name, Targuments=[], **NUMBER)
    iterator = g.IteratorV2(shared_name="", container="", **VECTOR)
    g.MakeIterator(g.BatchDatasetV2(mapped, int64(4), np.array(False), **VECTOR), iterator, name="start")
    g.IteratorGetNext(iterator, name="next", **VECTOR)
    session = Session(g.graph)
    session.run("start")
    assert len(session.run("next:0")) == 4
    assert asked == ([] if wanted == 1 else [wanted])


class Counting:
    """A function that counts the concurrent calls."""

    def __init__(self):
        self.now = self.most = 0
        self.lock = threading.Lock()

    def __call__(self, element):
        with self.lock:
            self.now += 1
            self.most = max(self.most, self.now)
        time.sleep(0.01)
        with self.lock:
            self.now -= 1
        return element


@pytest.mark.parametrize("most, wanted", [(1, 1), (2, 2), (3, 3), (-1, 4), (64, 4)])
def test_no_more_calls_are_made_at_a_time_than_asked_for(cores, most, wanted):
    counting, items = Counting(), [(i,) for i in range(20)]
    with Run(1):
        assert ahead.outcomes(counting, items, most) == items
    assert counting.most <= wanted
    assert counting.most > 1 or wanted == 1


def test_a_run_with_a_hook_makes_one_call_at_a_time(cores):
    counting = Counting()
    with Run(1, hook=lambda node, call, inputs: call(*inputs)):
        ahead.outcomes(counting, [(i,) for i in range(5)], -1)
    assert counting.most == 1


def test_short_calls_are_made_where_they_are(monkeypatch):
    monkeypatch.setattr(ahead, "divide", None)
    with Run(1):
        assert ahead.outcomes(lambda element: element, [(1,), (2,)], -1) == [(1,), (2,)]


def test_the_time_of_a_run_is_that_of_its_threads(cores):
    """Each thread checks the time limit of the run, and all threads end."""

    def wait(element):
        for _ in range(1000):
            time.sleep(0.01)
            check_time()
        return element

    run = Run(1)
    run.start_clock(0.05)
    begun = time.monotonic()
    with run:
        result = ahead.outcomes(wait, [(i,) for i in range(8)], -1)
    assert all(isinstance(outcome, DeadlineExceededError) for outcome in result)
    assert time.monotonic() - begun < 5


def test_work_that_divides_work_comes_to_an_end(cores):
    done = []

    def outer(place):
        divide(lambda part: done.append((place, part)), range(3))

    divide(outer, range(8))
    assert sorted(done) == sorted(itertools.product(range(8), range(3)))


def test_others_stop_where_one_fails(cores):
    done = []

    def work(part):
        if part == 1:
            raise KeyboardInterrupt
        time.sleep(0.02)
        done.append(part)

    with pytest.raises(KeyboardInterrupt):
        divide(work, range(100))
    assert len(done) < 50


def test_a_thread_among_busy_ones_divides_nothing(cores):
    seen = set()
    with undivided():
        divide(lambda part: seen.add(threading.get_ident()), range(50))
    assert seen == {threading.get_ident()}
