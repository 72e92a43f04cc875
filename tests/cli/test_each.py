"""A graph on many inputs: every result once, equal to the result of a separate run."""

from __future__ import annotations

import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import tfg
from tests.cli.running import SAMPLES, command_line
from tests.cli.running import tfg as run
from tfg.cli.jobs import run_job
from tfg.core.codecs.tfrecord import encode_record
from tfg.formats.batches.batch_runs import BatchProgress

PROCESSES = ("--on", "local:2")
WAYS = ((), pytest.param(PROCESSES, marks=pytest.mark.slow))


@pytest.fixture
def graph(tmp_path):
    """y = 2 x + offset, a count of the runs, and draws."""
    g = tfg.GraphBuilder()
    x = g.Placeholder(dtype="float32", shape=[None], name="x")
    offset = g.VariableV2(dtype="float32", shape=[], name="offset")
    g.Assign(offset, np.float32(1), name="offset/Assign")
    count = g.VariableV2(dtype="float32", shape=[], name="count")
    g.Assign(count, np.float32(0), name="count/Assign")
    g.AddV2(g.AddV2(x, x), offset, name="y")
    g.AssignAdd(count, np.float32(1), name="counted")
    s = g.Placeholder(dtype="string", shape=[None], name="s")
    g.Identity(s, name="texts")
    g.RandomUniform(np.int32([2]), dtype="float32", name="drawn")
    g.Exp(g.CheckNumerics(x, message="not finite"), name="checked")
    tfg.save(g.graph, tmp_path / "g.pb")
    return tmp_path / "g.pb"


@pytest.fixture
def inputs(tmp_path):
    (tmp_path / "in").mkdir()
    for i in range(7):
        np.savez(tmp_path / "in" / f"a{i}.npz", x=np.float32([i, i + 1]))
    return tmp_path / "in" / "*.npz"


def results(folder):
    return {path.relative_to(folder).with_suffix("").as_posix(): dict(np.load(path)) for path in folder.rglob("*.npz")}


@pytest.mark.slow
@pytest.mark.parametrize("way", [(), PROCESSES])
def test_each_input_gives_what_a_run_of_its_own_gives(way, graph, inputs, tmp_path):
    out = tmp_path / "out"
    done = run("run", graph, "--init", "--fetch", "y", "--each", inputs, "--out-dir", out, *way)
    assert done.code == 0 and "7 results written" in done.err, done.err
    result = results(out)
    assert {name: result[name]["y"].tolist() for name in result} == {f"a{i}": [2 * i + 1, 2 * i + 3] for i in range(7)}
    own = tmp_path / "own.npz"
    run("run", graph, "--init", "--fetch", "y", "--feed", f"x=@{tmp_path / 'in' / 'a3.npz'}:x", "--output", own)
    assert own.read_bytes() == (out / "a3.npz").read_bytes()


@pytest.mark.parametrize("way", WAYS)
def test_what_is_there_is_not_made_again(way, graph, inputs, tmp_path):
    out = tmp_path / "out"
    command = ("run", graph, "--init", "--fetch", "y", "--each", inputs, "--out-dir", out, *way)
    assert run(*command).code == 0
    (out / "a2.npz").unlink()
    before = {path.name: path.stat().st_mtime_ns for path in out.iterdir()}
    done = run(*command)
    assert "1 result written" in done.err and "6 already there" in done.err
    after = {path.name: path.stat().st_mtime_ns for path in out.iterdir()}
    assert after.keys() - before.keys() == {"a2.npz"} and before.items() <= after.items()
    assert "0 results written" in run(*command).err


def test_kinds_of_inputs(graph, tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    np.save(folder / "plain.npy", np.float32([5]))
    (folder / "lines.jsonl").write_text('{"x": [1, 2]}\n\n{"x": [3]}\n')
    out = tmp_path / "out"
    patterns = ("--each", folder / "*.npy", "--each", folder / "*.jsonl")
    done = run("run", graph, "--init", "--fetch", "y", *patterns, "--out-dir", out)
    assert done.code == 0, done.err
    by_name = {name: value["y"].tolist() for name, value in results(out).items()}
    assert by_name == {"plain": [11], "lines-000001": [3, 5], "lines-000003": [7]}


def test_records_are_fed_as_a_vector(graph, tmp_path):
    (tmp_path / "r.tfrecord-00000-of-00002").write_bytes(encode_record(b"one") + encode_record(b"\xff"))
    (tmp_path / "r.tfrecord-00001-of-00002").write_bytes(b"")
    out = tmp_path / "out"
    words = ("--fetch", "texts", "--each", tmp_path / "r.tfrecord*", "--out-dir", out, "--format", "json")
    assert run("run", graph, *words).code == 0
    by_name = {path.name: json.loads(path.read_text())["steps"][0]["values"][0]["shape"] for path in out.glob("*.json")}
    assert by_name == {"r-00000-of-00002.json": [2], "r-00001-of-00002.json": [0]}


def test_feeds_say_what_takes_an_array(graph, tmp_path):
    np.savez(tmp_path / "i.npz", other=np.float32([4]), unused=np.float32([5]))
    words = ("--init", "--fetch", "y", "--each", tmp_path / "i.npz", "--out-dir", tmp_path / "out")
    assert "no node 'unused'" in run("run", graph, *words, "--feed", "x=@each:other").err
    np.savez(tmp_path / "i.npz", other=np.float32([4]))
    assert run("run", graph, *words, "--feed", "x=@each:other").code == 0
    assert results(tmp_path / "out")["i"]["y"].tolist() == [9]


@pytest.mark.parametrize("way", WAYS)
def test_a_sweep_sets_tensors_and_variables(way, graph, tmp_path):
    out = tmp_path / "out"
    sweeps = ("--sweep", "x=[1],[2,3]", "--sweep", "offset=10,20")
    assert run("run", graph, "--init", "--fetch", "y", *sweeps, "--out-dir", out, *way).code == 0
    by_name = {name: value["y"].tolist() for name, value in results(out).items()}
    assert by_name == {
        "x=[1],offset=10": [12],
        "x=[1],offset=20": [22],
        "x=[2,3],offset=10": [14, 16],
        "x=[2,3],offset=20": [24, 26],
    }


@pytest.mark.parametrize("way", WAYS)
def test_no_run_sees_what_another_left(way, graph, inputs, tmp_path):
    out = tmp_path / "out"
    words = ("--init", "--fetch", "counted", "--fetch", "drawn", "--fetch", "y", "--seed", 3)
    assert run("run", graph, *words, "--each", inputs, "--out-dir", out, *way).code == 0
    result = results(out)
    assert {float(value["counted"]) for value in result.values()} == {1}
    assert len({tuple(value["drawn"]) for value in result.values()}) == 1


@pytest.mark.parametrize("way", WAYS)
def test_failures_are_told(way, graph, inputs, tmp_path):
    np.savez(tmp_path / "in" / "a0.npz", x=np.float32([np.nan]))
    (tmp_path / "in" / "a1.npz").write_bytes(b"PK damaged")
    out = tmp_path / "out"
    words = ("run", graph, "--fetch", "checked", "--each", inputs, "--out-dir", out, *way)
    done = run(*words, "--keep-going")
    assert done.code == 1 and "2 failed" in done.err and "5 results written" in done.err
    assert "error: a0: node 'CheckNumerics'" in done.err and "error: a1: " in done.err
    assert set(results(out)) == {f"a{i}" for i in range(2, 7)}
    again = run(*words).err
    assert "1 failed" in again or (way and "2 failed" in again)  # two workers may each be at an input that fails


def test_what_cannot_go_well_is_refused_first(graph, inputs, tmp_path):
    words = ("run", graph, "--each", inputs)
    assert run(*words, "--fetch", "y").code == 2
    assert "no file matches" in run("run", graph, "--fetch", "y", "--each", tmp_path / "*.npy", "--out-dir", tmp_path).err
    fed = run("run", graph, "--fetch", "y", "--each", "x=@a b/*.npy", "--out-dir", tmp_path)
    assert "hint: `--each 'a b/*.npy' --feed x=@each` feeds each file to x" in fed.err
    assert run(*words, "--fetch", "y", "--out-dir", tmp_path / "out", "--on", "local:many").code == 2
    (tmp_path / "in" / "deep").mkdir()
    np.save(tmp_path / "in" / "a1.npy", np.float32([1]))
    both = ("--each", tmp_path / "in" / "a1.np*", "--fetch", "y", "--out-dir", tmp_path / "out")
    assert "would share the result" in run("run", graph, *both).err


@pytest.mark.slow
def test_files_stay_closed_to_the_graph(tmp_path, inputs):
    g = tfg.GraphBuilder()
    g.Placeholder(dtype="float32", shape=[None], name="x")
    g.ReadFile(np.array(str(tmp_path / "secret").encode(), object), name="read")
    (tmp_path / "secret").write_text("secret")
    tfg.save(g.graph, tmp_path / "g.pb")
    words = ("run", tmp_path / "g.pb", "--fetch", "read", "--each", inputs, "--out-dir", tmp_path / "out")
    for way in ((), PROCESSES):
        done = run(*words, *way)
        assert done.code == 1 and "node 'read' (ReadFile)" in done.err
    assert run(*words, "--allow-files", tmp_path, "--on", "local:2").code == 0


SLOW = 24


@pytest.fixture
def slow(tmp_path):
    """A graph that takes some tenths of a second an input."""
    g = tfg.GraphBuilder()
    x = g.Placeholder(dtype="float32", shape=[], name="x")
    y = g.Fill(np.int32([500, 500]), x)
    for _ in range(12):
        y = g.MatMul(y, g.Mul(y, np.float32(1e-3)))
    g.Reshape(g.Slice(y, np.int32([0, 0]), np.int32([1, 1])), np.zeros(0, np.int32), name="y")
    tfg.save(g.graph, tmp_path / "slow.pb")
    (tmp_path / "lines.jsonl").write_text("".join(f'{{"x": {i / 1000}}}\n' for i in range(SLOW)))
    return ["run", tmp_path / "slow.pb", "--fetch", "y", "--each", tmp_path / "lines.jsonl", "--out-dir", tmp_path / "out"]


def children(process):
    path = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children")
    return [int(pid) for pid in path.read_text().split()]


def wait_for(condition):
    end = time.monotonic() + 240
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


needs_proc = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other systems: finds the processes by /proc")


@pytest.mark.slow
@needs_proc
def test_a_killed_process_loses_nothing(slow, tmp_path):
    out = tmp_path / "out"
    with subprocess.Popen(command_line(*slow, "--on", "local:2"), stderr=subprocess.PIPE, text=True) as client:
        wait_for(lambda: out.is_dir() and len(list(out.glob("*.npz"))) >= 2)
        for pid in children(client)[:1]:
            os.kill(pid, signal.SIGKILL)
        _, said = client.communicate(timeout=600)
    assert client.returncode == 0 and f"{SLOW} results written" in said, said
    assert len(results(out)) == SLOW


@pytest.mark.slow
@needs_proc
def test_a_job_whose_processes_are_all_killed_goes_on_where_it_was(slow, tmp_path):
    out = tmp_path / "out"
    with subprocess.Popen(command_line(*slow, "--on", "local:2"), stderr=subprocess.DEVNULL) as client:
        wait_for(lambda: out.is_dir() and len(list(out.glob("*.npz"))) >= 2)
        workers = children(client)
        for pid in (client.pid, *workers):
            os.kill(pid, signal.SIGKILL)
    before = {path.name: path.stat().st_mtime_ns for path in out.glob("*.npz")}
    assert 2 <= len(before) < SLOW
    done = run(*slow, "--on", "local:2")
    assert f"{SLOW - len(before)} results written" in done.err and f"{len(before)} already there" in done.err
    after = {path.name: path.stat().st_mtime_ns for path in out.glob("*.npz")}
    assert before.items() <= after.items() and len(results(out)) == SLOW


@pytest.mark.slow
@needs_proc
def test_processes_end_with_the_one_that_began_the_job(slow, tmp_path):
    out = tmp_path / "out"
    with subprocess.Popen(command_line(*slow, "--on", "local:2"), stderr=subprocess.DEVNULL) as client:
        wait_for(lambda: out.is_dir() and len(list(out.glob("*.npz"))) >= 2)
        workers = children(client)
        client.kill()
    assert workers
    wait_for(lambda: not any(_runs(pid) for pid in workers))


def _runs(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_folder_that_no_system_has(tmp_path):
    done = run("run", SAMPLES / "square.pbtxt", "--sweep", "x=1,2", "--out-dir", f"{tmp_path}/a\0b")
    assert done.code == 1 and "is not a file name" in done.err


def test_progress_tells_rate_and_time_left(capsys):
    early = BatchProgress(50, 1000, 10.0)
    assert run_job.pace(early) == "5/s, 3 min left"
    with run_job.ProgressDisplay(quiet=False) as display:
        display.show(early)
        assert capsys.readouterr().err == "", "once a minute"
        display.show(BatchProgress(950, 1000, 70.0))
    assert capsys.readouterr().err == "950 of 1,000 inputs, 13.6/s, 4 s left\n"


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name, content, told", [
    ("t.csv", "a,b\n1,2\n3,oops\n", "'t.csv', row 2 (line 3), column 'b': the cell 'oops' is not a number"),
    ("t.csv", "a,b\n1,2\n\n3\n", "'t.csv', row 2 (line 4): the row has 1 cells"),
    ("t.jsonl", '{"x": [1, 2]}\n\n{"x": [1, "q"]}\n', "line 3 of 't.jsonl', key 'x'"),
    ("t.jsonl", '{"x": [1, 2]}\n{"x": [1\n', "line 2 of 't.jsonl' is not JSON at character 10: the text ends too early"),
    ("t.npz", {"x": np.array(["a", "b"])}, "'t.npz', key 'x': 'x' cannot be fed to a tensor of dtype float"),
    ("t.npz", {"x": np.ones(2, np.complex64)}, "'t.npz', key 'x': 'x' holds complex numbers"),
    ("t.tfrecord", encode_record(b"1") + encode_record(b"2")[:-1], "record 2 of 't.tfrecord' is damaged"),
    ("t.tfrecord", encode_record(b"1"), "'t.tfrecord': 'the input' cannot be fed to a tensor of dtype float"),
])  # fmt: skip
def test_an_input_of_no_numbers_is_an_error_with_the_place(name, content, told, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    g = tfg.GraphBuilder()
    g.Square(g.Placeholder(dtype="float", shape=[2], name="x"), name="y")
    tfg.save(g.graph, "g.pb")
    if isinstance(content, dict):
        np.savez(name, **content)
    else:
        pathlib.Path(name).write_bytes(content.encode() if isinstance(content, str) else content)
    part = "x=@each:a,b" if name == "t.csv" else "x=@each" if name == "t.tfrecord" else "x=@each:x"
    done = run("run", "g.pb", "--each", name, "--feed", part, "--out-dir", "o", "--keep-going")
    assert done.code == 1 and told in done.err


@pytest.fixture
def rows(tmp_path, monkeypatch):
    """A graph with a vector of three as its only input, and a table of three columns."""
    monkeypatch.chdir(tmp_path)
    g = tfg.GraphBuilder()
    g.Square(g.Placeholder(dtype="float", shape=[None, 3], name="x"), name="y")
    tfg.save(g.graph, "g.pb")
    pathlib.Path("t.csv").write_text("a,b,c\n" + "1,2,3\n4,5,6\n" * 50)


@pytest.mark.parametrize("feed", [(), ("--feed", "x=@each:*"), ("--feed", "x=@each"), ("--feed", "x=@each:a,b,c")])
def test_all_columns_feed_the_only_input(feed, rows, tmp_path):
    done = run("run", "g.pb", "--fetch", "y", "--each", "t.csv", *feed, "--out-dir", "o")
    assert done.code == 0, done.err
    made = results(tmp_path / "o")
    assert len(made) == 100
    assert made["t-000001"]["y"].tolist() == [[1, 4, 9]] and made["t-000100"]["y"].tolist() == [[16, 25, 36]]


def test_columns_that_do_not_fit_are_an_error_without_shards(rows):
    pathlib.Path("t.csv").write_text("a,b\n1,2\n")
    done = run("run", "g.pb", "--each", "t.csv", "--output", "o.npz")
    assert done.code == 1 and "no result written; 1 failed" in done.err and "@each:*" in done.err, done.err
    assert not list(pathlib.Path().glob("o*.npz"))


@pytest.mark.parametrize("options", [("--feed", "b=-"), ("--feed", "-"), ("--assign", "w=-")], ids=" ".join)
@pytest.mark.parametrize("way", [(), pytest.param(("--on", "local:2"), marks=pytest.mark.slow)])
def test_all_inputs_take_the_value_of_standard_input(options, way, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    g = tfg.GraphBuilder()
    a, b = (g.Placeholder(dtype="float", shape=[], name=name) for name in "ab")
    w = g.variable(np.float32(0), "w")
    g.AddN([a, b, w] if "w=-" in options else [a, b], name="y")
    tfg.save(g.graph, "g.pb")
    pathlib.Path("t.jsonl").write_text('{"a": 1}\n{"a": 2}\n')
    more = ("--feed", "b=0") if "w=-" in options else ()
    words = ("g.pb", "--fetch", "y", "--each", "t.jsonl", "--out-dir", "o", *more, *options, *way)
    done = run("run", *words, stdin='{"b": 10}' if options[1] == "-" else "10")
    assert done.code == 0, done.err
    assert sorted(float(result["y"]) for result in results(tmp_path / "o").values()) == [11, 12]


@pytest.mark.parametrize("name, line", [("t.csv", "1,2,3\n"), ("t.jsonl", "[[1, 2, 3]]\n")])
def test_a_file_is_opened_once_for_all_its_rows(name, line, rows, monkeypatch):
    pathlib.Path(name).write_text(("a,b,c\n" if name == "t.csv" else "") + line * 100)
    opened = []
    real_open = os.open

    def noted(path, *arguments, **named):
        opened.append(os.fspath(path))
        return real_open(path, *arguments, **named)

    monkeypatch.setattr(os, "open", noted)
    assert len(list(tfg.run_each(tfg.load("g.pb"), name, parts={"x": ""}))) == 100
    assert 0 < opened.count(name) <= 2, "to find the rows, and to read them"


def test_each_input_may_have_a_sparse_tensor_by_its_name(tmp_path, monkeypatch):
    """As dense arrays, nested lists, and the components by their own names."""
    monkeypatch.chdir(tmp_path)
    g = tfg.GraphBuilder()
    indices = g.Placeholder(dtype="int64", shape=[None, 2], name="x/indices")
    values = g.Placeholder(dtype="float32", shape=[None], name="x/values")
    shape = g.Placeholder(dtype="int64", shape=[2], name="x/shape")
    g.SparseTensorDenseMatMul(indices, values, shape, np.float32([[1], [10]]), name="y")
    np.savez("a.npz", x=np.float32([[0, 3], [1, 2]]))
    np.savez("b.npz", **{"x/indices": np.int64([[1, 1]]), "x/values": np.float32([2]), "x/shape": np.int64([2, 2])})
    pathlib.Path("c.jsonl").write_text('{"x": [[1, 0]]}\n{"x": [[0, 0], [0, 4], [5, 0]]}\n{"x": [[], [null, 1]]}\n')
    pathlib.Path("d.jsonl").write_text('{"x": [1, 2]}\n')
    products = [result.values["y:0"].ravel().tolist() for result in tfg.run_each(g.graph, ["?.npz", "c.jsonl"], "y:0")]
    assert products == [[30, 21], [0, 20], [1], [0, 40, 5], [0, 10]]
    with pytest.raises(tfg.errors.InvalidArgumentError, match=r"'d\.jsonl', key 'x': a sparse input takes lists of one depth"):
        list(tfg.run_each(g.graph, "d.jsonl", "y:0"))
