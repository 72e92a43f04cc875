"""Errors of pipelines that cannot run name the tensors to feed instead."""

import numpy as np
import pytest

from tests.pipelines import NUMBER, elements, function, numbers
from tfg.core.building.builder import GraphBuilder
from tfg.core.runtime.session.session import Session
from tfg.core.support.errors import TfgError

PAIR = elements(("int64", ()), ("int64", ()))


def served(g):
    """Return a dataset without a kernel."""
    name = np.array(b"", object)
    return g.DataServiceDataset(
        np.int64(0), name, name, name, name, np.int64(1), g.DummyIterationCounter(), task_refresh_interval_hint_ms=-1, **NUMBER
    )


def with_python(g):
    def call(b, x):
        return list(b.PyFunc([x], token="token_7", Tin=["int64"], Tout=["int64"]))

    name = function(g, "python", ["int64"], call, stateful=True)
    return g.MapDataset(numbers(g, 3), [], f=name, Targuments=[], **NUMBER)


@pytest.mark.parametrize("make", [served, with_python])
def test_the_outputs_of_what_asks_for_elements_are_named(make):
    g = GraphBuilder()
    both = g.ZipDataset([make(g), numbers(g, 4)], **PAIR)
    iterator = g.IteratorV2(shared_name="", container="", **PAIR)
    g.MakeIterator(both, iterator, name="start")
    g.IteratorGetNext(iterator, name="images_and_labels", **PAIR)
    session = Session(g.graph)
    with pytest.raises(TfgError) as raised:
        session.run("start")
        session.run("images_and_labels:0")
    assert raised.value.hint is not None
    assert "`feeds={'images_and_labels:0': VALUE, 'images_and_labels:1': VALUE}`" in raised.value.hint
    assert ("data service" in raised.value.message) == (make is served)


def test_a_one_shot_iterator_too():
    g = GraphBuilder()
    factory = function(g, "factory", [], lambda b: [served(b)])
    iterator = g.OneShotIterator(dataset_factory=factory, shared_name="", container="", **NUMBER)
    g.IteratorGetNext(iterator, name="batch", **NUMBER)
    with pytest.raises(TfgError) as raised:
        Session(g.graph).run("batch:0")
    assert raised.value.hint is not None and "`feeds={'batch:0': VALUE}`" in raised.value.hint


def test_what_is_in_no_pipeline_has_another_hint():
    g = GraphBuilder()
    g.PyFunc([], token="token_7", Tin=[], Tout=["int64"], name="python")
    with pytest.raises(TfgError) as raised:
        Session(g.graph).run("python:0")
    assert raised.value.hint is not None and "feeds" not in raised.value.hint
