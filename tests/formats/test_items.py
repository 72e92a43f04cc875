"""The inputs of a job: rows of files are made on demand, and no two inputs share a name."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from tfg.core.building.builder import GraphBuilder
from tfg.core.support.errors import InvalidArgumentError
from tfg.formats.batches.each_tasks import sweep_tasks
from tfg.formats.items import InputArrays, Item, find_items


@pytest.mark.parametrize("ending", [".csv", ".jsonl"])
def test_a_row_takes_few_bytes_until_it_is_asked_for(ending, tmp_path):
    count = 4000
    (tmp_path / f"t{ending}").write_text("a,b\n" * (ending == ".csv") + ("1,2\n" if ending == ".csv" else "[1, 2]\n") * count)
    find_items([str(tmp_path / f"t{ending}")])  # what is imported once is there
    tracemalloc.start()
    tasks = sweep_tasks([str(tmp_path / f"t{ending}")], [])
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(tasks) == count and held < 60 * count
    assert tasks[count - 1].name == f"t-{count:06d}" and [task.name for task in tasks[7:9]] == ["t-000008", "t-000009"]
    assert tasks[count - 1].item.line == count + (ending == ".csv")


def test_two_inputs_of_a_name_are_refused(tmp_path):
    (tmp_path / "t.csv").write_text("a\n1\n2\n")
    (tmp_path / "t.jsonl").write_text("\n1\n")
    with pytest.raises(InvalidArgumentError, match="would share the result 't-000002'"):
        find_items([str(tmp_path / "t.*")])
    (tmp_path / "t.jsonl").unlink()
    (tmp_path / "t-000002.npy").write_bytes(b"")
    with pytest.raises(InvalidArgumentError, match="would share the result 't-000002'"):
        find_items([str(tmp_path)])
    (tmp_path / "t-000002.npy").rename(tmp_path / "t-000003.npy")
    assert [item.name for item in find_items([str(tmp_path)])] == ["t-000003", "t-000001", "t-000002"]


@pytest.mark.parametrize("ending", [".npz", ".jsonl"])
def test_a_tensor_with_two_values_is_refused(ending, tmp_path):
    path = tmp_path / f"t{ending}"
    if ending == ".npz":
        np.savez(path, **{"x": np.float32(1), "x:0": np.float32(2)})
    else:
        path.write_text('{"x": 1.0, "x:0": 2.0}\n')
    g = GraphBuilder()
    x = g.Placeholder(dtype="float", shape=[], name="x")
    (item,) = find_items([str(path)])
    with pytest.raises(InvalidArgumentError, match="key 'x:0': 'x:0' is already fed"):
        InputArrays(g.graph, None, [x.name], {}).of(item)


def test_the_query_of_an_address_says_nothing_of_the_kind():
    assert not Item("a", "https://host/a.tfrecord?key=b/c").is_picture
    assert Item("a", "https://host/a.png?key=.tfrecord").is_picture
