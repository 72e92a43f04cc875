"""`tfg dump` of a file with many nodes: a streamed file has the same output as a small file."""

from __future__ import annotations

import csv
import io

import pytest

from tests.cli.running import SAMPLES, tfg
from tfg.formats import load, loading, save
from tfg.formats.protos.graph_pb2 import GraphDef

GRAPHS = ["xor.pbtxt", "collatz.pbtxt", "linear_regression.pbtxt"]


@pytest.fixture(params=GRAPHS)
def path(request, tmp_path):
    path = tmp_path / "graph.pb"
    save(load(SAMPLES / request.param), path)
    return str(path)


@pytest.fixture
def streamed(monkeypatch):
    """Runs `tfg dump` and then the same as of a large file."""

    def run(*arguments):
        monkeypatch.setattr(loading, "STREAMED_FROM", 1 << 40)
        whole = tfg("dump", *arguments)
        monkeypatch.setattr(loading, "STREAMED_FROM", 0)
        return whole, tfg("dump", *arguments)

    return run


@pytest.mark.sampled(9)
@pytest.mark.parametrize("format_", ["list", "text"])
@pytest.mark.parametrize("chosen", [(), ("--op", "Const"), ("--name", "nothing like it")])
def test_lines_are_the_same(path, streamed, format_, chosen):
    whole, stream = streamed(path, "--format", format_, *chosen)
    assert (stream.code, stream.out, stream.err) == (whole.code, whole.out, whole.err)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("format_", ["csv", "table"])
def test_tables_have_all_columns(path, streamed, format_):
    whole, stream = streamed(path, "--format", format_)
    if format_ == "table":
        assert [line.split()[:2] for line in stream.out.splitlines()] == [line.split()[:2] for line in whole.out.splitlines()]
        return
    rows, more = (list(csv.DictReader(io.StringIO(done.out))) for done in (whole, stream))
    assert [{name: row[name] for name in rows[0]} for row in more] == rows


def test_what_is_broken_is_noted(tmp_path, streamed):
    graph = GraphDef()
    for name, source in (("a", ()), ("a", ()), ("b", ("late",)), ("late", ()), ("c", ("absent:1",))):
        graph.node.add(name=name, op="NoOp" if not source else "Identity", input=source).attr["T"].type = 1
    path = tmp_path / "broken.pb"
    path.write_bytes(graph.SerializeToString())
    whole, stream = streamed(str(path), "--format", "list")
    assert "the graph is broken" in whole.err and "the graph is broken" in stream.err
    assert [line.partition(" ")[0] for line in stream.out.splitlines()] == ["a", "a", "b", "late", "c"]
    path.write_bytes(graph.SerializeToString()[:-3])
    done = tfg("dump", str(path), "--format", "list")
    assert done.code == 1 and "truncated" in done.err and done.out.startswith("a = NoOp()")
