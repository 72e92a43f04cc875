"""`tfg.run_batch`: results in files, wherever the runs are."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

import tfg
from tests.cli.running import SAMPLES
from tests.cli.running import tfg as command
from tests.functions import define
from tfg.core.op_libraries.library_loading import load_op_library
from tfg.core.registry.catalog import CATALOG
from tfg.core.types.shapes import Shape
from tfg.core.types.tensors import FuncRef
from tfg.formats.batches import each_pool


@pytest.fixture
def graph():
    """y = 2 x + offset with offset = 1, a count of the runs, and an error for NaN."""
    g = tfg.GraphBuilder()
    x = g.Placeholder(dtype="float32", shape=[None], name="x")
    offset = g.variable(np.float32(1), name="offset")
    count = g.variable(np.float32(0), name="count")
    g.AddV2(g.AddV2(x, x), offset, name="y")
    g.AssignAdd(count, np.float32(1), name="counted")
    g.CheckNumerics(x, message="not finite", name="checked")
    g.global_variables_initializer()
    return g.graph


@pytest.fixture
def inputs(tmp_path):
    (tmp_path / "in").mkdir()
    for i in range(4):
        np.savez(tmp_path / "in" / f"a{i}.npz", x=np.float32([i]))
    return str(tmp_path / "in" / "*.npz")


def values(folder, name="y:0"):
    return {path.stem: np.load(path)[name].tolist() for path in folder.glob("*.npz")}


@pytest.mark.slow
def test_results_are_those_of_each_input(graph, inputs, tmp_path):
    report = tfg.run_batch(graph, inputs, ["y:0", "counted:0"], out_dir=tmp_path / "out", on="local:2")
    assert (report.done, report.skipped, report.failed) == (4, 0, ()) and report.seconds > 0 and report.cpu > 0
    assert values(tmp_path / "out") == {f"a{i}": [2 * i + 1] for i in range(4)}
    assert set(values(tmp_path / "out", "counted:0").values()) == {1}
    (tmp_path / "out" / "a2.npz").unlink()
    again = tfg.run_batch(graph, inputs, ["y:0", "counted:0"], out_dir=tmp_path / "out")
    assert (again.done, again.skipped) == (1, 3)
    assert values(tmp_path / "out")["a2"] == [5]


@pytest.mark.slow
@pytest.mark.parametrize("on", [None, "local:2"])
def test_failures_are_in_the_report(on, graph, inputs, tmp_path):
    np.savez(tmp_path / "in" / "a1.npz", x=np.float32([np.nan]))
    report = tfg.run_batch(graph, inputs, "checked:0", output=tmp_path / "r.jsonl", shard_size=3, keep_going=True, on=on)
    assert (report.done, report.shards) == (3, 2)
    assert [row["name"] for row in report.to_records()] == ["a1"] and "not finite" in report.failed[0].error
    assert repr(report).startswith("<BatchReport: 3 results, 1 failed, 0 already there")
    assert sorted(path.name for path in tmp_path.glob("r-*")) == ["r-00000-of-00002.jsonl", "r-00001-of-00002.jsonl"]


def test_settings_are_those_of_the_command(graph, inputs, tmp_path):
    """Files of the same bytes, by the function and by the command."""
    tfg.save(graph, tmp_path / "g.pb")
    words = ("--init", "--fetch", "y", "--assign", "offset=5", "--sweep", "count=1,2", "--steps", "2", "--format", "csv")
    assert command("run", tmp_path / "g.pb", "--each", inputs, *words, "--out-dir", tmp_path / "one").code == 0
    report = tfg.run_batch(
        tmp_path / "g.pb", inputs, "y", assign={"offset": 5.0}, sweep={"count": [1, 2]}, steps=2, format="csv",
        out_dir=tmp_path / "two",
    )  # fmt: skip
    names = {path.name for path in (tmp_path / "one").glob("*.csv")}
    assert report.done == len(names) == 8
    assert {name: (tmp_path / "two" / name).read_bytes() for name in names} == {
        name: (tmp_path / "one" / name).read_bytes() for name in names
    }


def test_state_and_feeds_are_values_that_count(graph, inputs, tmp_path):
    run = {"fetches": "y:0", "out_dir": tmp_path / "out", "inputs": inputs}
    assert tfg.run_batch(graph, state={"offset": np.float32(3)}, **run).done == 4
    assert values(tmp_path / "out")["a1"] == [5]
    assert tfg.run_batch(graph, state={"offset": np.float32(3)}, **run).skipped == 4
    with pytest.raises(tfg.errors.InvalidArgumentError, match="variable_values differs"):
        tfg.run_batch(graph, state={"offset": np.float32(4)}, **run)
    with pytest.raises(tfg.errors.InvalidArgumentError, match="graph differs"):
        other = graph.copy()
        other.rename_node(other["checked"], "other")
        tfg.run_batch(other, state={"offset": np.float32(3)}, **run)


@pytest.mark.slow
def test_a_saved_model_in_memory_reaches_other_processes(tmp_path):
    """With its signatures and variables; the values are those of a session in this process."""
    model, rows = tfg.load(SAMPLES / "scaler_saved_model"), [[[1.0, 2.0]], [[3.0, 4.0]]]
    assert tfg.run_batch(model, sweep={"x": rows}, out_dir=tmp_path / "out", on="local:2").done == 2
    session = tfg.Session(model)
    session.start()
    signature = model.meta.usual_signature
    expected = [session.run(signature.fetched["scaled"], {signature.fed["x"]: np.float32(row)}).tolist() for row in rows]
    assert sorted(values(tmp_path / "out", "scaled").values()) == sorted(expected)


@pytest.mark.slow
def test_op_libraries_reach_other_processes(tmp_path):
    library = tmp_path / "doubling.py"
    library.write_text(
        "from tfg.core.registry.catalog import CATALOG\nfrom tfg.core.registry.registry import kernel\n"
        "CATALOG.register('BatchDouble(x: float) -> (y: float)')\n\n@kernel('BatchDouble')\ndef double(x):\n    return x + x\n"
    )
    load_op_library(str(library))
    g = tfg.GraphBuilder()
    g.apply("BatchDouble", g.Placeholder(dtype="float32", shape=[], name="x"), name="y")
    report = tfg.run_batch(
        g.graph, (), "y:0", sweep={"x:0": [1.0, 2.0]}, out_dir=tmp_path / "out", on="local:1", op_libraries=str(library)
    )
    CATALOG.unregister("BatchDouble")
    assert report.failed == () and sorted(values(tmp_path / "out").values()) == [2, 4]


SCRIPT = """
import tfg
print("main")
report = tfg.run_batch("g.pb", "in/*.npz", "y:0", out_dir="out", on="local:2")
print(report.done)
"""


@pytest.mark.slow
def test_a_script_without_a_guard_runs_once(graph, inputs, tmp_path):
    tfg.save(graph, tmp_path / "g.pb")
    (tmp_path / "script.py").write_text(SCRIPT)
    done = subprocess.run([sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True, timeout=600)
    assert done.stdout == "main\n4\n", done.stderr


def test_progress_is_told(graph, inputs, tmp_path):
    told = []
    tfg.run_batch(graph, inputs, "y:0", out_dir=tmp_path / "out", progress=told.append)
    assert {progress.total for progress in told} == {4} and told[-1].computed == 4 and told[-1].rate > 0
    assert [progress.computed for progress in told] == sorted(progress.computed for progress in told)


def test_processes_that_end_at_once_end_the_batch(graph, inputs, tmp_path, monkeypatch):
    monkeypatch.setattr(each_pool, "_CODE", "raise SystemExit(3) # {} {} {}")
    with pytest.raises(
        tfg.errors.UnavailableError, match="3 processes ended before their first task, the last with exit code 3"
    ):
        tfg.run_batch(graph, inputs, "y:0", out_dir=tmp_path / "out", on="local:1")
    assert os.listdir(tmp_path / "out") == []


@pytest.mark.parametrize(
    "wrong",
    [
        {"out_dir": None},
        {"output": "r.npz"},
        {"format": "table"},
        {"out_dir": None, "output": "r.pb"},
        {"shard_size": 0},
        {"on": "local:many"},
        {"sweep": {"offset": [1, 1]}},
        {"parts": {"none": "x"}},
        {"fetches": "none"},
    ],
    ids=str,
)
def test_wrong_settings_are_refused_first(wrong, graph, inputs, tmp_path):
    with pytest.raises(tfg.errors.TfgError):
        tfg.run_batch(graph, inputs, **{"fetches": "y:0", "out_dir": tmp_path / "out", **wrong})
    assert not (tmp_path / "out").exists() or os.listdir(tmp_path / "out") == []


def queued(b, x):
    queue = b.FIFOQueueV2(component_types=["float32"], shapes=[Shape(())], name="q")
    with b.control_dependencies([b.QueueEnqueueV2(queue, [x])]):
        return b.QueueSizeV2(queue)


def next_element(b, x):
    types = {"output_types": ["int64"], "output_shapes": [Shape(())]}
    body = define(b, "elements", [], lambda body: [body.RangeDataset(np.int64(1), np.int64(9), np.int64(1), **types)])
    iterator = b.OneShotIterator(dataset_factory=FuncRef(body), container="", shared_name="i", **types)
    with b.control_dependencies([x]):
        return b.IteratorGetNext(iterator, **types)[0]


@pytest.mark.parametrize("made", (queued, next_element))
def test_no_run_sees_the_queues_and_iterators_of_another(made):
    b = tfg.GraphBuilder()
    b.Identity(made(b, b.Placeholder(dtype="float32", shape=[], name="x")), name="y")
    results = tfg.run_each(b.graph, fetches="y:0", sweep={"x:0": [5, 6, 7]})
    assert [result.values["y:0"] for result in results] == [1, 1, 1]


def test_results_of_each_input_have_a_short_repr(graph, inputs):
    results = tfg.run_each(graph, inputs, "y:0")
    assert repr(results) == "<InputResults: 0 of 4 inputs>"
    next(results)
    assert repr(results) == "<InputResults: 1 of 4 inputs>" and len(list(results)) == 3
