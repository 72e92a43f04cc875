"""`tfg run --each --batch`: inputs in blocks have the results, errors and files of inputs one by one."""

from __future__ import annotations

import json
import threading

import numpy as np
import pytest

import tfg
from tests.cli.running import tfg as run
from tests.cli.test_each import PROCESSES
from tests.core.engines.fake_engine import FakeEngine
from tfg.core.codecs import png
from tfg.core.comparing import row_blocks
from tfg.core.numerics.work_division import is_undivided
from tfg.core.runtime.session.session import Session
from tfg.core.support.errors import ResourceExhaustedError
from tfg.formats import pictures

W = np.sin(np.arange(12, dtype=np.float32)).reshape(3, 4)
COUNT = 40


def write_graph(path, size=None, mixing=False):
    """y = softmax(x W), checked for NaN, with x of (size,3); with the mean of all rows, if mixing."""
    g = tfg.GraphBuilder()
    x = g.Placeholder(dtype="float32", shape=[size, 3], name="x")
    checked = g.CheckNumerics(x, message="not finite")
    product = g.MatMul(checked, W)
    g.Softmax(g.Sub(product, g.Mean(product, np.int32([0]))) if mixing else product, name="y")
    tfg.save(g.graph, path)
    return path


@pytest.fixture
def folder(tmp_path):
    """A graph, and rows in CSV, in JSON lines and in files of an array each, a few with two rows."""
    write_graph(tmp_path / "g.pb")
    rows = np.cos(np.arange(3 * COUNT)).reshape(COUNT, 3).round(4).tolist()
    (tmp_path / "t.csv").write_text("a,b,c\n" + "".join(",".join(map(str, row)) + "\n" for row in rows))
    (tmp_path / "t.jsonl").write_text("".join(json.dumps({"x": [row]}) + "\n" for row in rows))
    (tmp_path / "in").mkdir()
    for k, row in enumerate(rows):
        np.savez(tmp_path / "in" / f"a{k:02}.npz", x=np.float32([row] * (2 if k % 7 == 3 else 1)))
    return tmp_path


@pytest.fixture
def rows_of_runs(monkeypatch):
    """The numbers of rows of the runs, as they are made."""
    made, run_ = [], Session.run

    def counted(session, names, feeds=None, **others):
        made.extend(len(value) for name, value in (feeds or {}).items() if name == "x:0")
        return run_(session, names, feeds, **others)

    monkeypatch.setattr(Session, "run", counted)
    return made


def command(folder, inputs, out, *more):
    return (
        "run",
        folder / "g.pb",
        "--fetch",
        "y",
        "--each",
        folder / inputs,
        "--output",
        folder / out,
        "--shard-size",
        30,
        *more,
    )


def shards(folder, stem):
    return {path.name.removeprefix(stem): path.read_bytes() for path in sorted(folder.glob(f"{stem}-*"))}


def numbers(data):
    return [float(word) for line in data.splitlines()[1:] for word in line.split(b",")[1:]]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("way", [(), pytest.param(PROCESSES, marks=pytest.mark.slow)])
@pytest.mark.parametrize("inputs", ["t.csv", "t.jsonl", "in/*.npz"])
@pytest.mark.parametrize("batch", ["7", "auto"])
def test_results_are_those_of_inputs_one_by_one(way, inputs, batch, folder):
    assert run(*command(folder, inputs, "one.csv", "--batch", "1")).code == 0
    done = run(*command(folder, inputs, "many.csv", "--batch", batch, *way))
    assert done.code == 0 and f"{COUNT} results written to 2 shards" in done.err, done.err
    one, many = shards(folder, "one"), shards(folder, "many")
    assert one.keys() == many.keys()
    for name in one:
        assert [line.split(b",")[0] for line in one[name].splitlines()] == [
            line.split(b",")[0] for line in many[name].splitlines()
        ]
        np.testing.assert_allclose(numbers(many[name]), numbers(one[name]), rtol=1e-5)


@pytest.mark.parametrize("out", ["r.npz", "r.jsonl", "r.tfrecord"])
def test_results_of_blocks_have_the_form_of_single_results(out, folder):
    for stem, batch in (("a", "1"), ("b", "9")):
        assert run(*command(folder, "in/*.npz", f"{stem}{out}", "--batch", batch)).code == 0
    one, many = shards(folder, "ar"), shards(folder, "br")
    assert {name: len(data) for name, data in one.items()} == {
        name: len(data) for name, data in many.items()
    } or "jsonl" in out


def test_inputs_run_together(folder, rows_of_runs):
    assert run(*command(folder, "t.csv", "r.csv", "--batch", "10")).code == 0
    assert rows_of_runs == [1] * 8 + [8] + [10, 10, 2, 10]  # the first are compared; a shard has 30


def test_blocks_grow(folder, rows_of_runs):
    assert run(*command(folder, "t.csv", "r.csv")).code == 0
    assert sum(rows_of_runs) == COUNT + 8 and len(rows_of_runs) < 20


def test_blocks_stay_small_in_memory(folder, rows_of_runs, monkeypatch):
    """Eight rows of three floats have 96 bytes."""
    monkeypatch.setattr(row_blocks, "_RUN_SECONDS", 1e9)
    monkeypatch.setattr(row_blocks, "_COMPARED", 2)
    monkeypatch.setattr(row_blocks, "_MOST_BYTES", 96)
    assert run(*command(folder, "t.csv", "r.csv")).code == 0
    assert max(rows_of_runs) == 8 and sum(rows_of_runs) == COUNT + 2


@pytest.mark.parametrize("broken", [None, 13])
def test_pictures_are_read_in_threads_and_stay_in_order(broken, tmp_path, monkeypatch):
    g = tfg.GraphBuilder()
    g.Mean(g.Placeholder(dtype="float32", shape=[None, 2, 2, 3], name="x"), np.int32([1, 2]), name="y")
    tfg.save(g.graph, tmp_path / "g.pb")
    (tmp_path / "in").mkdir()
    for k in range(20):
        (tmp_path / "in" / f"{k:02}.png").write_bytes(png.encode(np.full((2, 2, 3), 10 * k, np.uint8)))
    if broken is not None:
        path = tmp_path / "in" / f"{broken}.png"
        path.write_bytes(path.read_bytes()[:40])
    readers, read = set(), pictures.read_picture
    monkeypatch.setattr(pictures, "read_picture", lambda *given: readers.add(threading.current_thread()) or read(*given))
    results = list(tfg.run_each(tmp_path / "g.pb", str(tmp_path / "in"), "y", keep_going=True))
    assert threading.main_thread() not in readers
    assert [k for k, result in enumerate(results) if result.error is not None] == ([] if broken is None else [broken])
    assert all(np.all(result.values["y"] == 10 * k) for k, result in enumerate(results) if result.error is None)


class SideBySide(FakeEngine):
    """Computes two runs at once: a run side by side with another waits until the other has begun."""

    runs_at_once = 2

    def compile(self, cluster, values):
        run, both = super().compile(cluster, values), threading.Barrier(2, timeout=60)

        def waiting(arrays):
            if is_undivided() and not np.isnan(arrays[0]).any():
                both.wait()
            return run(arrays)

        return waiting


@pytest.mark.parametrize("broken", [None, 17])
def test_the_parts_of_a_block_run_at_once(broken, folder):
    """Also those of long runs, of which a block would gain nothing else."""
    lines = (folder / "t.csv").read_text().splitlines(keepends=True)
    for line in (broken, broken + 1) if broken else ():  # the parts of a block: an input each
        lines[line] = "nan,1,1\n"
    (folder / "t.csv").write_text("".join(lines))
    graph, engine = tfg.load(folder / "g.pb"), SideBySide()
    expected = list(tfg.run_each(graph, str(folder / "t.csv"), "y", batch=1, keep_going=True))

    def opened(graph):
        return Session(graph, engine=engine)

    results = list(tfg.run_each(graph, str(folder / "t.csv"), "y", keep_going=True, batch=2, open_session=opened))
    assert [result.name for result in results if result.error] == [f"t-0000{k}" for k in ((17, 18) if broken else ())]
    assert [result.values.keys() for result in results] == [result.values.keys() for result in expected]
    for result, alone in zip(results, expected):
        for name, value in result.values.items():
            np.testing.assert_allclose(value, alone.values[name], rtol=1e-5)


def test_a_failing_input_is_found_and_reported_alone(folder):
    lines = (folder / "t.csv").read_text().splitlines(keepends=True)
    lines[17], lines[25] = "nan,1,1\n", "1,oops,1\n"
    (folder / "t.csv").write_text("".join(lines))
    done = run(*command(folder, "t.csv", "r.csv", "--batch", "16", "--keep-going"))
    assert done.code == 1 and f"{COUNT - 2} results written" in done.err
    assert "t-000017: node 'CheckNumerics'" in done.err.replace("error: ", "") and "column 'b': the cell 'oops'" in done.err
    told = [json.loads(line) for line in (folder / "r.manifest.jsonl").read_text().splitlines()]
    assert list(told[1]["failed"]) == ["t-000017", "t-000025"]
    assert told[0]["batch"] == "16: results of inputs in blocks are equal to rounding"
    (folder / "t.csv").write_text("".join(lines).replace("nan,1,1", "1,1,1").replace("oops", "2"))
    assert run(*command(folder, "t.csv", "r.csv", "--batch", "16")).code == 0
    assert len(b"".join(shards(folder, "r").values()).splitlines()) == COUNT + 2


def test_a_graph_that_mixes_rows_runs_one_by_one(folder, rows_of_runs):
    write_graph(folder / "g.pb", mixing=True)
    done = run(*command(folder, "t.csv", "r.csv"))
    assert done.code == 0 and "inputs run one by one: node 'Mean' (Mean): it mixes rows along axis 0" in done.err
    assert rows_of_runs == [1] * COUNT
    done = run(*command(folder, "t.csv", "q.csv", "--batch", "4"))
    assert done.code == 1 and "the inputs cannot run in blocks: it mixes rows along axis 0" in done.err


def test_results_that_differ_in_a_block_are_refused(folder, rows_of_runs, monkeypatch):
    monkeypatch.setattr(row_blocks, "is_same", lambda part, alone: False)
    done = run(*command(folder, "t.csv", "r.csv"))
    assert done.code == 0 and "'y' has other values in a block of inputs than one by one" in done.err
    assert rows_of_runs == [1] * 8 + [8] + [1] * (COUNT - 8)


@pytest.mark.parametrize(("most", "told"), [(9, ""), (4, "inputs run one by one: a block of inputs fails: no memory")])
def test_a_block_that_takes_too_much_memory_is_halved(most, told, folder, rows_of_runs, monkeypatch):
    run_ = Session.run

    def limited(session, names, feeds=None, **others):
        if len((feeds or {}).get("x:0", ())) > most:
            raise ResourceExhaustedError("no memory")
        return run_(session, names, feeds, **others)

    monkeypatch.setattr(Session, "run", limited)
    done = run(*command(folder, "t.csv", "r.csv"))
    assert done.code == 0 and f"{COUNT} results written" in done.err and told in done.err, done.err
    assert max(rows_of_runs) <= most


def test_a_fixed_batch_is_filled(folder, rows_of_runs):
    expected = run(*command(folder, "t.csv", "one.csv", "--batch", "1"))
    assert expected.code == 0
    write_graph(folder / "g.pb", 16)
    rows_of_runs.clear()
    assert run(*command(folder, "t.csv", "many.csv")).code == 0
    assert set(rows_of_runs) == {16} and len(rows_of_runs) < 8
    one, many = shards(folder, "one"), shards(folder, "many")
    for name in one:
        np.testing.assert_allclose(numbers(many[name]), numbers(one[name]), rtol=1e-5)
    rows_of_runs.clear()
    done = run(*command(folder, "t.csv", "other.csv", "--batch", "20"))
    assert done.code == 0 and "x: (16,3) -> (20,3)" in done.err and set(rows_of_runs) == {20}


def test_each_needs_a_batch_of_numbers(folder):
    assert "--batch auto needs --each" in run("run", folder / "g.pb", "--fetch", "y", "--batch", "auto").err
    assert "is not a number of rows" in run(*command(folder, "t.csv", "r.csv", "--batch", "many")).err


def test_python_runs_inputs_in_blocks(folder, rows_of_runs):
    graph = folder / "g.pb"
    one = {
        result.name: result.values["y:0"] for result in tfg.run_each(tfg.load(graph), str(folder / "in/*.npz"), "y:0", batch=1)
    }
    rows_of_runs.clear()
    results = list(tfg.run_each(tfg.load(graph), str(folder / "in/*.npz"), "y:0", batch=16))
    assert max(rows_of_runs) > 8
    assert [result.name for result in results] == list(one)
    for result in results:
        np.testing.assert_allclose(result.values["y:0"], one[result.name], rtol=1e-5)
    report = tfg.run_batch(graph, str(folder / "t.csv"), "y", output=folder / "p.csv", batch=16)
    assert report.done == COUNT and 16 in rows_of_runs
    with pytest.raises(tfg.errors.InvalidArgumentError, match="a batch of 0"):
        tfg.run_each(tfg.load(graph), str(folder / "t.csv"), "y:0", batch=0)


@pytest.mark.parametrize("batch", ["auto", 4])
def test_inputs_that_feed_another_tensor_are_not_in_blocks_of_others(batch, tmp_path):
    """The graph mixes the rows of a tensor that the first inputs leave out."""
    g = tfg.GraphBuilder()
    x = g.Placeholder(dtype="float32", shape=[None], name="x")
    rest = g.PlaceholderWithDefault(np.zeros(1, np.float32), shape=[None], name="rest")
    g.AddV2(x, g.Sum(rest, np.int32([0])), name="y")
    lines = [{"x": [k]} for k in range(COUNT)] + [{"x": [k], "rest": [1]} for k in range(7)]
    (tmp_path / "t.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    results = [result.values["y"].tolist() for result in tfg.run_each(g.graph, [str(tmp_path / "t.jsonl")], "y", batch=batch)]
    assert results == [[k] for k in range(COUNT)] + [[k + 1] for k in range(7)]
