"""`tfg dump --elements`: the first elements of datasets and iterators."""

import numpy as np
import pytest

from tests.cli.json_schemas import faults
from tests.cli.running import tfg
from tests.pipelines import NUMBER, int64, numbers, text
from tfg.core.building.builder import GraphBuilder
from tfg.formats import to_bytes


def written(tmp_path, build):
    g = GraphBuilder()
    build(g)
    path = tmp_path / "graph.pb"
    path.write_bytes(to_bytes(g.graph))
    return path


def begun_once(g):
    iterator = g.IteratorV2(shared_name="", container="", **NUMBER)
    g.MakeIterator(g.SkipDataset(numbers(g, 9), int64(5), name="skipped", **NUMBER), iterator, name="start")
    g.IteratorGetNext(iterator, name="next", **NUMBER)


def begun_twice(g):
    begun_once(g)
    g.MakeIterator(numbers(g, 5), g.graph.node("IteratorV2").output(), name="other")


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", ["next", "IteratorV2", "skipped"])
@pytest.mark.parametrize("take, wanted", [(None, [5, 6, 7]), (2, [5, 6]), (9, [5, 6, 7, 8])])
def test_first_elements(tmp_path, name, take, wanted):
    path = written(tmp_path, begun_once)
    done = tfg("dump", path, "--elements", name, *([] if take is None else ["--take", take]), "--format", "json")
    assert faults(done.json) == []
    assert [step["values"][0]["value"] for step in done.json["steps"]] == wanted


def test_an_iterator_that_two_nodes_begin_is_asked_by_a_dataset(tmp_path):
    path = written(tmp_path, begun_twice)
    failed = tfg("dump", path, "--elements", "next")
    assert failed.code == 1
    assert "name a dataset: skipped, RangeDataset" in failed.err
    assert tfg("dump", path, "--elements", "RangeDataset_1", "--take", 1).code == 0


def test_a_node_of_another_kind_is_refused(tmp_path):
    path = written(tmp_path, lambda g: g.constant(1.0, name="x"))
    failed = tfg("dump", path, "--elements", "x")
    assert failed.code == 1
    assert "neither a dataset nor an iterator" in failed.err


def test_files_are_those_allowed(tmp_path):
    (tmp_path / "lines.txt").write_text("one\ntwo\n")
    names = np.array([bytes(tmp_path / "lines.txt")], object)
    path = written(tmp_path, lambda g: g.TextLineDataset(names, text(""), int64(0), name="lines"))
    closed = tfg("dump", path, "--elements", "lines")
    assert closed.code == 1
    assert "--allow-files" in closed.err
    shown = tfg("dump", path, "--elements", "lines", "--allow-files", tmp_path)
    assert "two" in shown.out


def with_variable(g):
    """Return a dataset of the length of a variable with the initial value 2; `longer` sets the variable to 4."""
    size = g.VarHandleOp(dtype="int64", shape=(), name="size")
    g.AssignVariableOp(size, int64(2), name="size/Assign")
    g.AssignVariableOp(size, int64(4), name="longer")
    read = g.ReadVariableOp(size, dtype="int64", name="size/Read")
    g.RangeDataset(int64(0), read, int64(1), name="made", **NUMBER)


@pytest.mark.parametrize("options, count", [([], 2), (["--init-op", "longer"], 4), (["--state", "state.npz"], 3)])
def test_variables_have_values(tmp_path, options, count):
    path = written(tmp_path, with_variable)
    np.savez(tmp_path / "state.npz", size=int64(3))
    given = [str(tmp_path / option) if option.endswith(".npz") else option for option in options]
    done = tfg("dump", path, "--elements", "made", "--take", 9, *given, "--format", "json")
    assert [step["values"][0]["value"] for step in done.json["steps"]] == list(range(count))


def test_variables_need_elements(tmp_path):
    assert tfg("dump", written(tmp_path, with_variable), "--state", "state.npz").code == 2
