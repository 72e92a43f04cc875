"""The shards and files of a saved dataset, read singly."""

import pytest

from tests.pipelines import NUMBER, function, int64, numbers, text
from tfg import FileAccess
from tfg.core.building.builder import GraphBuilder
from tfg.core.runtime.session.session import Session
from tfg.core.support.errors import NotFoundError


def total(b, state, element):
    return [b.AddV2(b.Mul(state, int64(10)), element)]


def read(make):
    """Return the digits of a dataset as a number."""
    g = GraphBuilder()
    add = function(g, "total", ["int64", "int64"], total)
    types = {"Tstate": ["int64"], "Targuments": [], "output_types": ["int64"], "output_shapes": [()]}
    g.ReduceDataset(make(g), [g.constant(int64(0))], [], f=add, name="digits", **types)
    return int(Session(g.graph, files=FileAccess.everything()).run("digits:0"))


@pytest.fixture
def shards(tmp_path):
    """The folders of a dataset saved in two shards: even numbers and odd numbers."""
    g = GraphBuilder()
    parity = function(g, "parity", ["int64"], lambda b, x: [b.FloorMod(x, int64(2))])
    options = {"compression": "", "use_shard_func": True, "Tshard_func_args": []}
    g.SaveDataset(numbers(g, 1, 7), text(bytes(tmp_path)), [], shard_func=parity, name="save", **options)
    Session(g.graph, files=FileAccess.everything()).run("save")
    return sorted(tmp_path.glob("*/*.shard"))


def test_a_shard_is_read_from_an_index_on(shards):
    def shard(start):
        return lambda g: g.SnapshotDatasetReader(text(bytes(shards[1])), int64(start), version=2, compression="", **NUMBER)

    assert read(shard(0)) == 135
    assert read(shard(2)) == 5


def test_a_file_is_read(shards):
    files = sorted(shards[0].glob("*.snapshot"))
    assert read(lambda g: g.SnapshotChunkDataset(text(bytes(files[0])), compression="", **NUMBER)) == 246


def test_shards_are_elements(shards):
    def nested(g):
        parts = [g.SnapshotDatasetReader(text(bytes(s)), int64(0), version=2, compression="", **NUMBER) for s in shards]
        same = function(g, "same", ["variant"], lambda b, x: [b.Identity(x)])
        both = g.SnapshotNestedDatasetReader(parts, output_types=["variant"], output_shapes=[()])
        return g.FlatMapDataset(both, [], f=same, Targuments=[], **NUMBER)

    assert read(nested) == 246135


def test_a_shard_that_is_not_there(tmp_path):
    with pytest.raises(NotFoundError):
        read(lambda g: g.SnapshotChunkDataset(text(bytes(tmp_path / "nothing")), compression="", **NUMBER))
