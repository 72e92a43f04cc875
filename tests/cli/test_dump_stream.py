"""`tfg dump` of a file with many nodes: a streamed file has the same output as a small file."""

from __future__ import annotations

import csv
import io

import pytest
from google.protobuf import text_format

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


def library(*names):
    """A GraphDef of functions, each of which squares its argument."""
    graph = GraphDef()
    for name in names:
        function = graph.library.function.add(ret={"y": f"{name}_square:y:0"})
        function.signature.name = name
        function.signature.input_arg.add(name="x", type=1)
        function.signature.output_arg.add(name="y", type=1)
        function.node_def.add(name=f"{name}_square", op="Square", input=["x"]).attr["T"].type = 1
    return graph


@pytest.fixture
def in_pieces(tmp_path):
    """A file whose library comes in two pieces, around a node that calls a function by name."""
    first, second = library("f", "grad"), library("g", "f")
    second.library.gradient.add(function_name="f", gradient_func="grad")
    call = GraphDef()
    call.node.add(name="x", op="Placeholder").attr["dtype"].type = 1
    call.node.add(name="y", op="g", input=["x"])
    path = tmp_path / "pieces.pb"
    path.write_bytes(b"".join(part.SerializeToString() for part in (first, call, GraphDef(versions={"producer": 27}), second)))
    return str(path)


@pytest.mark.parametrize("format_", ["text", "list", "table", "csv"])
def test_functions_are_the_same(in_pieces, streamed, format_):
    whole, stream = streamed(in_pieces, "--format", format_)
    assert (whole.code, stream.code) == (0, 0)
    if format_ != "text":
        assert all(part in stream.out for part in ("f_square", "grad_square", "g_square"))
        return
    assert stream.out == whole.out
    read = text_format.Parse(stream.out, GraphDef())
    assert [function.signature.name for function in read.library.function] == ["f", "grad", "g"]
    assert read.versions.producer == 27 and read.library.gradient[0].gradient_func == "grad"


def test_a_stream_refuses_two_functions_of_a_name(tmp_path, streamed):
    graph = library("f", "f")
    graph.library.function[1].node_def[0].op = "Neg"
    graph.node.add(name="nothing", op="NoOp")
    path = tmp_path / "twice.pb"
    path.write_bytes(graph.SerializeToString())
    for done in streamed(str(path), "--format", "list"):
        assert done.code == 1 and "the library has two functions named 'f'" in done.err


def test_a_damaged_function_is_an_error(tmp_path, streamed):
    data = library("f", "g").SerializeToString()
    path = tmp_path / "damaged.pb"
    path.write_bytes(data.replace(b"g_square", b"g_squar\xff"))
    for done in streamed(str(path), "--format", "list"):
        assert done.code == 1 and "damaged" in done.err and "Traceback" not in done.err
