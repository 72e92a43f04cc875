"""Rare garbage collection: while any thread is inside, and no longer."""

from __future__ import annotations

import gc
import threading

import pytest

from tfg.core.graph.graph import Graph
from tfg.core.passes.pipeline import optimize
from tfg.core.support.gc_control import RARELY, rare_collection


@pytest.fixture(autouse=True)
def threshold():
    before = gc.get_threshold()
    gc.set_threshold(700, 11, 12)
    yield
    gc.set_threshold(*before)


def test_it_lasts_as_long_as_the_outermost_is_inside():
    with rare_collection():
        with rare_collection():
            pass
        assert gc.get_threshold() == (RARELY, 11, 12)
    assert gc.get_threshold() == (700, 11, 12)


def test_it_ends_with_an_error():
    with pytest.raises(ZeroDivisionError), rare_collection():
        raise ZeroDivisionError
    assert gc.get_threshold() == (700, 11, 12)


def test_the_last_of_several_threads_ends_it():
    entered, leave = threading.Event(), threading.Event()

    @rare_collection()
    def other():
        entered.set()
        leave.wait(300)

    thread = threading.Thread(target=other)
    with rare_collection():
        thread.start()
        assert entered.wait(300)
    assert gc.get_threshold() == (RARELY, 11, 12)
    leave.set()
    thread.join()
    assert gc.get_threshold() == (700, 11, 12)


@pytest.mark.parametrize("young", [0, RARELY + 1])
def test_what_is_rarer_anyhow_stays(young):
    gc.set_threshold(young, 11, 12)
    with rare_collection():
        assert gc.get_threshold() == (young, 11, 12)
    assert gc.get_threshold() == (young, 11, 12)


def test_a_threshold_set_meanwhile_stays():
    with rare_collection():
        gc.set_threshold(5, 6, 7)
    assert gc.get_threshold() == (5, 6, 7)


def test_passes_over_graphs_run_inside():
    graph = Graph()
    graph.add_node("n", "NoOp")
    seen = []
    optimize(graph, ["n"], observe=lambda stage, now: seen.append(gc.get_threshold()[0]))
    assert seen
    assert set(seen) == {RARELY}
