"""Objects that graphs create, name and delete around input pipelines."""

import gc
import os
import pathlib
import weakref

import numpy as np
import pytest

from tests.pipelines import NUMBER, function, int64, numbers, text
from tfg.core.building.builder import GraphBuilder
from tfg.core.runtime.session.session import Session
from tfg.core.runtime.state.file_access import FileAccess
from tfg.core.support.errors import OutOfRangeError


@pytest.mark.sampled(2)
@pytest.mark.parametrize("is_prefetched", [False, True])
def test_a_session_takes_its_datasets_and_their_files_with_it(tmp_path, is_prefetched):
    path = tmp_path / "lines.txt"
    path.write_text("line\n" * 1000)
    g = GraphBuilder()
    spec = {"output_types": ["string"], "output_shapes": [()]}
    lines = g.TextLineDataset(text(str(path)), text(""), int64(0))
    name = function(g, "body", ["string"], lambda b, x: [b.StringJoin([x, x])])
    dataset = g.MapDataset(lines, [], f=name, Targuments=[], **spec)
    if is_prefetched:
        dataset = g.PrefetchDataset(dataset, int64(3), **spec)
    iterator = g.IteratorV2(shared_name="", container="", **spec)
    g.MakeIterator(dataset, iterator, name="start")
    g.IteratorGetNext(iterator, name="next", **spec)
    session = Session(g.graph, files=FileAccess.everything())
    session.run("start")
    assert session.run("next:0") == b"lineline"
    kept = weakref.ref(session)
    del session
    gc.collect()
    assert kept() is None
    folder = pathlib.Path("/proc/self/fd")
    if folder.is_dir():
        assert str(path) not in [os.readlink(file) for file in folder.iterdir() if os.path.lexists(file)]


def test_a_random_seed_generator_gives_each_pass_another_order():
    g = GraphBuilder()
    handle, deleter = g.AnonymousRandomSeedGenerator(int64(3), int64(4))
    shuffled = g.ShuffleDatasetV2(numbers(g, 20), int64(20), handle, **NUMBER)
    iterator = g.IteratorV2(shared_name="", container="", **NUMBER)
    g.MakeIterator(g.RepeatDataset(shuffled, int64(2), **NUMBER), iterator, name="start")
    g.IteratorGetNext(iterator, name="next", **NUMBER)
    g.DeleteRandomSeedGenerator(handle, deleter, name="end")
    session = Session(g.graph)
    session.run("start")
    first, second = ([int(session.run("next:0")) for _ in range(20)] for _ in range(2))
    assert sorted(first) == sorted(second) == list(range(20))
    assert first != second
    session.run("end")


@pytest.mark.parametrize("reshuffle", [False, True])
def test_a_seed_generator_is_let_go(reshuffle):
    g = GraphBuilder()
    handle, deleter = g.AnonymousSeedGenerator(int64(3), int64(4), np.array(reshuffle))
    g.DeleteSeedGenerator(handle, deleter, name="end")
    assert Session(g.graph).run("end") is None


def test_a_cache_is_let_go():
    g = GraphBuilder()
    handle, deleter = g.AnonymousMemoryCache()
    kept = g.CacheDatasetV2(numbers(g, 3), text(""), handle, **NUMBER)
    g.DatasetToSingleElement(g.TakeDataset(kept, int64(1), **NUMBER), name="first", **NUMBER)
    g.DeleteMemoryCache(handle, deleter, name="end")
    session = Session(g.graph)
    assert session.run("first:0") == 0
    session.run("end")


def test_an_iterator_is_let_go():
    g = GraphBuilder()
    handle, deleter = g.AnonymousIteratorV2(**NUMBER)
    start = g.MakeIterator(numbers(g, 0), handle, name="start")
    with g.control_dependencies([start]):
        g.IteratorGetNext(handle, name="next", **NUMBER)
    g.DeleteIterator(handle, deleter, name="end")
    session = Session(g.graph)
    with pytest.raises(OutOfRangeError, match="End of sequence"):
        session.run("next:0")
    session.run("end")
