"""Threads that share an iterator."""

from __future__ import annotations

import itertools
import threading

import numpy as np
import pytest

from tests.pipelines import NUMBER, function, int64, numbers, text
from tfg import GraphBuilder, Session
from tfg.core.support.errors import OutOfRangeError
from tfg.core.types.tensors import FuncRef

_COUNT, _THREADS = 200, 4


def _mapped(g):
    function(g, "square", ["int64"], lambda b, x: [b.Mul(x, x)])
    return g.ParallelMapDatasetV2(numbers(g, _COUNT), [], int64(2), f=FuncRef("square"), **NUMBER)


def _interleaved(g):
    function(g, "two", ["int64"], lambda b, x: [b.RangeDataset(x, b.Add(x, int64(2)), int64(1), **NUMBER)])
    return g.InterleaveDataset(numbers(g, _COUNT), [], int64(4), int64(3), f=FuncRef("two"), **NUMBER)


def _shuffled(g):
    return g.ShuffleDataset(numbers(g, _COUNT), int64(50), int64(1), int64(2), **NUMBER)


def _cached(g):
    return g.RepeatDataset(g.CacheDataset(numbers(g, _COUNT), text(""), **NUMBER), int64(2), **NUMBER)


def _prefetched(g):
    return g.PrefetchDataset(numbers(g, _COUNT), int64(4), **NUMBER)


def _rebatched(g):
    batches = g.BatchDatasetV2(numbers(g, _COUNT), int64(7), np.bool_(False), output_types=["int64"], output_shapes=[[None]])
    return g.UnbatchDataset(batches, **NUMBER)


def _begun(make):
    g = GraphBuilder()
    iterator = g.IteratorV2(shared_name="", container="", **NUMBER)
    g.MakeIterator(make(g), iterator, name="start")
    g.IteratorGetNext(iterator, name="next", **NUMBER)
    session = Session(g.graph)
    session.run(["start"])
    return session


def _pull(session, result):
    try:
        while True:
            result.append(int(session.run(["next:0"])[0]))
    except OutOfRangeError:
        result.append("end")


@pytest.mark.sampled(3)
@pytest.mark.parametrize("make", [_prefetched, _mapped, _interleaved, _shuffled, _cached, _rebatched])
def test_each_element_goes_to_one_thread(make):
    alone: list = []
    _pull(_begun(make), alone)
    together = [[] for _ in range(_THREADS)]
    session = _begun(make)
    threads = [threading.Thread(target=_pull, args=(session, result)) for result in together]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [result.pop() for result in (alone, *together)] == ["end"] * (_THREADS + 1)
    assert sorted(itertools.chain(*together)) == sorted(alone)
