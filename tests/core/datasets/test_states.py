"""States of iterators: random numbers of functions begin anew, serialized positions continue."""

import contextlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.pipelines import NUMBER, elements, function, int64, numbers
from tfg import FileAccess
from tfg.core.building.builder import GraphBuilder
from tfg.core.datasets.iterators import IteratorState
from tfg.core.runtime.session.session import Session
from tfg.core.runtime.state.stored_variants import StoredVariant
from tfg.core.support.errors import DataLossError, FailedPreconditionError, InvalidArgumentError, OutOfRangeError
from tfg.core.types.dtypes import variant
from tfg.core.types.tensors import Tensor
from tfg.formats.checkpoint.store import open_checkpoint, write_checkpoint

REAL = elements(("float32", ()))


def test_each_iterator_draws_the_same_numbers():
    g = GraphBuilder()

    def drawn(b, x):
        return [b.RandomUniform(np.int32([]), dtype="float32", seed=3, seed2=4)]

    made = function(g, "drawn", ["int64"], drawn, stateful=True)
    mapped = g.MapDataset(numbers(g, 3), [], f=made, Targuments=[], **REAL)
    iterator = g.IteratorV2(shared_name="", container="", **REAL)
    g.MakeIterator(g.RepeatDataset(mapped, int64(2), **REAL), iterator, name="start")
    g.IteratorGetNext(iterator, name="next", **REAL)
    session = Session(g.graph)
    session.run("start")
    results = [float(session.run("next:0")) for _ in range(6)]
    assert len(set(results)) == 6
    session.run("start")
    assert [float(session.run("next:0")) for _ in range(6)] == results


@pytest.mark.parametrize("renewed", [False, True])
def test_an_iterator_goes_on_where_its_state_was_kept(renewed):
    g = GraphBuilder()
    options = {"reshuffle_each_iteration": renewed}
    made = g.ShuffleDataset(numbers(g, 8), int64(8), int64(1), int64(2), **options, **NUMBER)
    made = g.RepeatDataset(made, int64(2), **NUMBER)
    iterator = g.IteratorV2(shared_name="", container="", **NUMBER)
    g.MakeIterator(made, iterator, name="start")
    g.IteratorGetNext(iterator, name="next", **NUMBER)
    g.SerializeIterator(iterator, name="keep")
    g.DeserializeIterator(iterator, g.Placeholder(dtype="variant", shape=(1,), name="kept"), name="back")
    session = Session(g.graph)
    session.run("start")
    before = [int(session.run("next:0")) for _ in range(5)]
    state = session.run("keep:0")
    after = [int(session.run("next:0")) for _ in range(11)]
    assert sorted(before + after) == sorted([*range(8)] * 2)
    session.run("start")
    session.run("back", {"kept:0": state})
    assert [int(session.run("next:0")) for _ in range(11)] == after


def test_what_is_no_state_is_refused():
    g = GraphBuilder()
    iterator = g.IteratorV2(shared_name="", container="", **NUMBER)
    g.MakeIterator(numbers(g, 8), iterator, name="start")
    g.DeserializeIterator(iterator, numbers(g, 3), name="back")
    session = Session(g.graph)
    session.run("start")
    with pytest.raises(InvalidArgumentError, match="state of an iterator"):
        session.run("back")


def saved_beside_a_variable(renewed=True):
    """A graph with nodes as a Saver makes them for an iterator and a variable; the shuffle's seeds are left to chance."""
    g = GraphBuilder()
    made = g.ShuffleDataset(numbers(g, 8), int64(8), int64(0), int64(0), reshuffle_each_iteration=renewed, **NUMBER)
    made = g.SamplingDataset(g.RepeatDataset(made, int64(3), **NUMBER), np.float32(0.8), int64(0), int64(0), **NUMBER)
    iterator = g.IteratorV2(shared_name="", container="", **NUMBER)
    g.MakeIterator(made, iterator, name="start")
    g.IteratorGetNext(iterator, name="next", **NUMBER)
    names, specs = np.array([b"STATE", b"v"], object), np.array([b"", b""], object)
    prefix = g.Placeholder(dtype="string", shape=(), name="prefix")
    types = ["variant", "float32"]
    g.SaveV2(prefix, names, specs, [g.SerializeIterator(iterator), g.constant(np.float32(1.5))], dtypes=types, name="save")
    g.DeserializeIterator(iterator, g.RestoreV2(prefix, names, specs, dtypes=types)[0], name="back")
    return g.graph


def all_left(session):
    results = []
    try:
        while True:
            results.append(int(session.run("next:0")))
    except OutOfRangeError:
        return results


@pytest.mark.parametrize("taken", [0, 3, 11])
def test_a_checkpoint_keeps_where_an_iterator_stands(tmp_path, taken):
    graph, feeds = saved_beside_a_variable(), {"prefix:0": np.array(bytes(tmp_path / "model"), object)}
    session = Session(graph, files=FileAccess.everything())
    session.run("start")
    for _ in range(taken):
        session.run("next:0")
    session.run("save", feeds)
    later = Session(graph, files=FileAccess.everything())
    later.run("start")
    later.run("back", feeds)
    assert all_left(later) == all_left(session)


def test_a_state_goes_to_initialized_iterators_of_like_datasets(tmp_path):
    graph, feeds = saved_beside_a_variable(), {"prefix:0": np.array(bytes(tmp_path / "model"), object)}
    session = Session(graph, files=FileAccess.everything())
    session.run("start")
    session.run("save", feeds)
    with pytest.raises(FailedPreconditionError, match="not initialized"):
        Session(graph, files=FileAccess.everything()).run("back", feeds)


@pytest.mark.parametrize("kind", ["tensorflow::Iterator", ""])
def test_a_state_of_another_kind_is_refused(kind):
    with pytest.raises(InvalidArgumentError, match="not an iterator state of tfg"):
        IteratorState.parse(StoredVariant.of(kind, b""))


@given(st.binary(max_size=40))
def test_whatever_a_state_holds_is_a_state_or_an_error(metadata):
    with contextlib.suppress(DataLossError, InvalidArgumentError):
        assert IteratorState.parse(StoredVariant.of(IteratorState.KIND, metadata)).taken >= 0
    with contextlib.suppress(DataLossError, InvalidArgumentError):
        IteratorState.parse(StoredVariant(metadata))


def test_variants_in_checkpoints_are_checked_byte_by_byte(tmp_path):
    stored = np.array([StoredVariant.of("one", b"12"), StoredVariant.of("two", b"")], object)
    prefix = str(tmp_path / "model")
    write_checkpoint(prefix, {"x": Tensor.from_numpy(stored, variant)})
    assert open_checkpoint(prefix).read("x").tolist() == stored.tolist()
    path = tmp_path / "model.data-00000-of-00001"
    content = path.read_bytes()
    for i in range(len(content)):
        path.write_bytes(content[:i] + bytes([content[i] ^ 1]) + content[i + 1 :])
        with pytest.raises(DataLossError):
            open_checkpoint(prefix).read("x")
