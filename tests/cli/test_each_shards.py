"""Results of many inputs in shards: places of results, recomputed shards, and the leftovers of a killed job."""

from __future__ import annotations

import json
import os
import signal
import subprocess

import numpy as np
import pytest

import tfg
from tests.cli.running import command_line
from tests.cli.running import tfg as run
from tests.cli.test_each import WAYS, children, graph, needs_proc, wait_for  # noqa: F401 - a fixture
from tfg.core.codecs.tfrecord import decode_record
from tfg.formats.codecs.numpy_files import read_npz
from tfg.formats.codecs.tensor_proto import decode_tensor
from tfg.formats.protos.example_pb2 import Example
from tfg.formats.protos.graph_pb2 import TensorProto

COUNT = 7


@pytest.fixture
def inputs(tmp_path):
    (tmp_path / "in").mkdir()
    for i in range(COUNT):
        np.savez(tmp_path / "in" / f"a{i}.npz", x=np.float32([i, i + 1]))
    return tmp_path / "in" / "*.npz"


def command(graph, inputs, out, *more):  # noqa: F811
    return "run", graph, "--init", "--fetch", "y", "--each", inputs, "--output", out, "--shard-size", 3, *more


def shards(folder, ending):
    return sorted(path.name for path in folder.glob(f"r-*{ending}"))


def names(ending):
    return [f"r-0000{i}-of-00003{ending}" for i in range(3)]


def manifest(folder):
    return [json.loads(line) for line in (folder / "r.manifest.jsonl").read_text().splitlines()[1:]]


def from_npz(path):
    return {name.rpartition("/")[0]: value.tolist() for name, value in np.load(path).items()}


def from_lines(path):
    lines = map(json.loads, path.read_text().splitlines())
    return {line["name"]: line["steps"][0]["values"][0]["value"] for line in lines}


def from_records(path):
    data, position, result = path.read_bytes(), 0, {}
    while position < len(data):
        record, position = decode_record(data, position)
        features = Example.FromString(record).features.feature
        tensor = TensorProto.FromString(features["y"].bytes_list.value[0])
        result[features["name"].bytes_list.value[0].decode()] = decode_tensor(tensor).numpy().tolist()
    return result


READERS = {".npz": from_npz, ".jsonl": from_lines, ".tfrecord": from_records}
EXPECTED = {f"a{i}": [2 * i + 1, 2 * i + 3] for i in range(COUNT)}


def values(folder, ending):
    results = [READERS[ending](folder / name) for name in shards(folder, ending)]
    return {name: value for shard in results for name, value in shard.items()}


@pytest.mark.parametrize("ending", READERS)
@pytest.mark.parametrize("way", WAYS)
def test_shards_hold_the_results_in_order(way, ending, graph, inputs, tmp_path):  # noqa: F811
    done = run(*command(graph, inputs, tmp_path / f"r{ending}", *way))
    assert done.code == 0 and f"{COUNT} results written to 3 shards" in done.err, done.err
    assert shards(tmp_path, ending) == names(ending)
    each = [list(READERS[ending](tmp_path / name)) for name in names(ending)]
    assert each == [["a0", "a1", "a2"], ["a3", "a4", "a5"], ["a6"]]
    assert values(tmp_path, ending) == EXPECTED
    assert {line["shard"]: line["results"] for line in manifest(tmp_path)} == dict(zip(names(ending), each))
    assert not list(tmp_path.glob(".staging*"))


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_only_missing_and_outdated_shards_are_made_again(way, graph, inputs, tmp_path):  # noqa: F811
    words = command(graph, inputs, tmp_path / "r.npz", *way)
    assert run(*words).code == 0
    assert "0 results written" in run(*words).err
    before = (tmp_path / names(".npz")[0]).stat().st_mtime_ns
    (tmp_path / names(".npz")[1]).unlink()
    np.savez(tmp_path / "in" / "a6.npz", x=np.float32([5, 5]))
    done = run(*words)
    assert "4 results written" in done.err and "3 already there" in done.err, done.err
    assert values(tmp_path, ".npz") == EXPECTED | {"a6": [11, 11]}
    assert (tmp_path / names(".npz")[0]).stat().st_mtime_ns == before


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_a_shard_with_a_failure_is_made_again(way, graph, inputs, tmp_path):  # noqa: F811
    (tmp_path / "in" / "a4.npz").write_bytes(b"PK damaged")
    words = command(graph, inputs, tmp_path / "r.npz", *way)
    done = run(*words, "--keep-going")
    assert done.code == 1 and "1 failed" in done.err and "error: a4:" in done.err
    assert values(tmp_path, ".npz") == {name: value for name, value in EXPECTED.items() if name != "a4"}
    told = {line["shard"]: line for line in manifest(tmp_path)}[names(".npz")[1]]
    assert told["results"] == ["a3", "a5"] and list(told["failed"]) == ["a4"]
    np.savez(tmp_path / "in" / "a4.npz", x=np.float32([4, 5]))
    done = run(*words)
    assert done.code == 0 and "3 results written" in done.err and "4 already there" in done.err
    assert values(tmp_path, ".npz") == EXPECTED


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_a_failure_ends_the_job_and_leaves_whole_shards(way, graph, inputs, tmp_path):  # noqa: F811
    (tmp_path / "in" / "a4.npz").write_bytes(b"PK damaged")
    done = run(*command(graph, inputs, tmp_path / "r.npz", *way))
    assert done.code == 1 and "error: a4:" in done.err
    assert names(".npz")[1] not in shards(tmp_path, ".npz")
    np.savez(tmp_path / "in" / "a4.npz", x=np.float32([4, 5]))
    assert run(*command(graph, inputs, tmp_path / "r.npz", *way)).code == 0
    assert values(tmp_path, ".npz") == EXPECTED


@pytest.mark.parametrize("ending", READERS)
@pytest.mark.parametrize("options", [(), ("--keep-going",)])
def test_the_failures_of_all_inputs_are_the_message(options, ending, graph, inputs, tmp_path):  # noqa: F811
    for path in (tmp_path / "in").iterdir():
        path.write_bytes(b"PK damaged")
    done = run(*command(graph, inputs, tmp_path / f"r{ending}"), *options)
    assert done.code == 1 and done.err.count("is damaged or truncated") == (COUNT if options else 1), done.err
    assert "no result written" in done.err and "worker" not in done.err


def test_another_job_is_refused(graph, inputs, tmp_path):  # noqa: F811
    out = tmp_path / "r.npz"
    assert run(*command(graph, inputs, out)).code == 0
    assert "shard_size differs" in run(*command(graph, inputs, out, "--shard-size", 4)).err
    np.savez(tmp_path / "in" / "a7.npz", x=np.float32([0]))
    done = run(*command(graph, inputs, out))
    assert done.code == 1 and "has the results of another job: inputs differs" in done.err
    assert run(*command(graph, inputs, out, "--overwrite")).code == 0
    (tmp_path / "r.manifest.jsonl").write_text("{}\n3\n")
    assert "is damaged" in run(*command(graph, inputs, out)).err
    (tmp_path / "r.manifest.jsonl").unlink()
    assert "no record of their job" in run(*command(graph, inputs, out)).err


def test_a_line_that_was_cut_off_does_not_count(graph, inputs, tmp_path):  # noqa: F811
    words = command(graph, inputs, tmp_path / "r.npz")
    assert run(*words).code == 0
    path = tmp_path / "r.manifest.jsonl"
    path.write_bytes(path.read_bytes()[:-5])
    assert "1 result written" in run(*words).err
    assert len(manifest(tmp_path)) == 3 and "0 results written" in run(*words).err


def test_what_has_no_shards_is_refused(graph, inputs, tmp_path):  # noqa: F811
    words = ("run", graph, "--fetch", "y", "--each", inputs)
    for name in ("r.npy", "r.json", "r.txt", "r"):
        done = run(*words, "--output", tmp_path / name)
        assert done.code == 1 and "the formats are .npz (NumPy archive), .tfrecord" in done.err, done.err
    assert run(*words, "--output", "-").code == 2
    assert run(*words, "--output", tmp_path / "r.npz", "--out-dir", tmp_path / "out").code == 2
    assert run(*words, "--out-dir", tmp_path / "out", "--shard-size", 2).code == 2
    assert run("run", graph, "--fetch", "y", "--shard-size", 2).code == 2


def test_strings_and_names_of_tensors_in_shards(tmp_path):
    g = tfg.GraphBuilder()
    s = g.Placeholder(dtype="string", shape=[None], name="s")
    g.Identity(s, name="texts")
    g.Cast(g.Size(s, name="count"), DstT="bfloat16", name="size")
    tfg.save(g.graph, tmp_path / "g.pb")
    (tmp_path / "in.jsonl").write_text('{"s": ["one", "two"]}\n{"s": []}\n')
    words = ("run", tmp_path / "g.pb", "--fetch", "texts", "--fetch", "size", "--each", tmp_path / "in.jsonl")
    assert run(*words, "--output", tmp_path / "r.npz").code == 0
    by_name = {name: tensor.numpy().tolist() for name, tensor in read_npz(tmp_path / "r-00000-of-00001.npz").items()}
    assert by_name == {"in-000001/texts": [b"one", b"two"], "in-000001/size": 2, "in-000002/texts": [], "in-000002/size": 0}


@needs_proc
@pytest.mark.parametrize("victims", ["worker", "all"])
@pytest.mark.slow
def test_killed_processes_leave_whole_shards(victims, tmp_path):
    """Each shard that is there is whole, each that the manifest tells of is there, and the job goes on."""
    g = tfg.GraphBuilder()
    x = g.Placeholder(dtype="float32", shape=[], name="x")
    y = g.Fill(np.int32([300, 300]), x)
    for _ in range(6):
        y = g.MatMul(y, g.Mul(y, np.float32(1e-3)))
    g.AddV2(x, g.Mul(g.Slice(y, np.int32([0, 0]), np.int32([1, 1])), np.float32(0)), name="y")
    tfg.save(g.graph, tmp_path / "slow.pb")
    (tmp_path / "in.jsonl").write_text("".join(f'{{"x": {i / 1000}}}\n' for i in range(60)))
    words = ("run", tmp_path / "slow.pb", "--fetch", "y", "--each", tmp_path / "in.jsonl", "--output", tmp_path / "r.npz")
    words = (*words, "--shard-size", 4, "--on", "local:2")
    with subprocess.Popen(command_line(*words), stderr=subprocess.PIPE, text=True) as client:
        wait_for(lambda: len(shards(tmp_path, ".npz")) >= 2)
        workers = children(client)
        for pid in workers[:1] if victims == "worker" else (client.pid, *workers):
            os.kill(pid, signal.SIGKILL)
        _, said = client.communicate(timeout=600)
    if victims == "all":
        there = shards(tmp_path, ".npz")
        assert {line["shard"] for line in manifest(tmp_path)} <= set(there) and len(there) < 15
        assert all(len(np.load(tmp_path / name).files) == 4 for name in there)
        done = run(*words)
        assert done.code == 0, done.err
    else:
        assert client.returncode == 0 and "60 results written" in said, said
    result = values(tmp_path, ".npz")
    assert result == {f"in-{i + 1:06d}": [[np.float32(i / 1000)]] for i in range(60)}
