"""`tfg convert` of a file with many nodes: a streamed file has the same result and the same refusals as a small file."""

from __future__ import annotations

import pytest
from google.protobuf import text_format

from tests.cli.running import SAMPLES, tfg
from tfg.core.types import dtypes
from tfg.formats import load, loading, save, saving
from tfg.formats.codecs.attrs import encode_attr
from tfg.formats.protos.graph_pb2 import GraphDef

GRAPHS = ["xor.pbtxt", "collatz.pbtxt", "linear_regression.pbtxt"]
FLOAT = {"T": dtypes.float32}


@pytest.fixture
def both(monkeypatch, tmp_path):
    """Run `tfg convert` on a loaded graph, and on the streamed graph."""

    def run(path, target, *arguments):
        results = []
        for bound, folder in ((1 << 40, "loaded"), (0, "streamed")):
            monkeypatch.setattr(loading, "STREAMED_FROM", bound)
            (tmp_path / folder).mkdir(exist_ok=True)
            done = tfg("convert", str(path), str(tmp_path / folder / target), *arguments)
            written = [file.read_bytes() for file in (tmp_path / folder).iterdir()]
            results.append((done.code, done.out, done.err.replace(folder, ""), written))
        return results

    return run


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("target", ["graph.pb", "graph.pbtxt", "graph.pb.gz", "graph.pbtxt.gz"])
def test_the_same_is_written(tmp_path, both, name, target):
    path = tmp_path / "graph.pb"
    save(load(SAMPLES / name), path)
    loaded, streamed = both(path, target)
    assert loaded == streamed
    assert loaded[0] == 0
    assert len(loaded[3]) == 1


def test_words_that_text_escapes(tmp_path, both):
    graph = GraphDef()
    for name, op, device in (("a", "Odd.Op", 'a "quoted"\n\\ device'), ("b\\c", "NoOp", "\N{GREEK SMALL LETTER ALPHA}")):
        graph.node.add(name=name, op=op, device=device)
    graph.node.add(name="d", op="Odd.Op", input=["a", "a:12", "^b\\c"])
    path = tmp_path / "graph.pb"
    path.write_bytes(graph.SerializeToString())
    loaded, streamed = both(path, "graph.pbtxt")
    assert loaded == streamed
    assert loaded[0] == 0
    assert loaded[3] == [text_format.MessageToString(graph).encode()]


def test_nothing_is_done_to_what_is_to_be_changed(tmp_path, both):
    path = tmp_path / "graph.pb"
    save(load(SAMPLES / "xor.pbtxt"), path)
    for arguments in (["--clear-devices"], ["--strip-default-attrs"], ["--kind", "meta_graph"], ["--signature", "absent"]):
        loaded, streamed = both(path, "graph.pb", *arguments)
        assert loaded == streamed


def broken_graphs():
    """Graphs that no session could run, each for another reason."""

    def graph(*nodes):
        made = GraphDef()
        for name, op, inputs, attrs in nodes:
            node = made.node.add(name=name, op=op, input=inputs)
            for key, value in attrs.items():
                node.attr[key].CopyFrom(encode_attr(value))
        return made

    x = "x", "Placeholder", (), {"dtype": dtypes.float32}
    yield "twice", graph(x, x)
    yield "absent", graph(x, ("y", "Neg", ("z",), FLOAT))
    yield "malformed", graph(x, ("y", "Neg", ("",), FLOAT))
    yield "dtype", graph(x, ("y", "Neg", ("x",), {"T": dtypes.int32}))
    yield "dtype of a later one", graph(("y", "Neg", ("x",), {"T": dtypes.int32}), x)
    yield "output", graph(x, ("y", "Neg", ("x:1",), FLOAT))
    yield "reference", graph(x, ("y", "Assign", ("x", "x"), FLOAT))
    yield "control first", graph(x, ("y", "AddV2", ("x", "^x", "x"), FLOAT))
    yield "too few", graph(x, ("y", "AddV2", ("x",), FLOAT))
    yield "no attribute", graph(x, ("y", "Neg", ("x",), {}))
    twice = graph(x)
    for name in ("a", "b"):
        function = twice.library.function.add()
        function.signature.name = "f"
        function.signature.description = name
    yield "functions", twice


BROKEN = [pytest.param(graph, id=name) for name, graph in broken_graphs()]


@pytest.mark.sampled(5)
@pytest.mark.parametrize("graph", BROKEN)
@pytest.mark.parametrize("target", ["graph.pb", "graph.pbtxt"])
def test_what_is_broken_is_written_as_it_is(tmp_path, both, graph, target):
    path = tmp_path / "broken.pb"
    path.write_bytes(graph.SerializeToString())
    loaded, streamed = both(path, target)
    assert loaded == streamed
    assert loaded[0] == 0
    assert "the graph is broken: " in loaded[2]
    text = text_format.MessageToString(graph).encode()
    assert loaded[3] == [text if target.endswith("txt") else graph.SerializeToString(deterministic=True)]


@pytest.mark.sampled(5)
@pytest.mark.parametrize("graph", BROKEN)
@pytest.mark.parametrize("text", [False, True])
def test_what_is_broken_becomes_a_meta_graph_and_a_graph_again(tmp_path, graph, text):
    path, between = tmp_path / "broken.pb", tmp_path / ("meta.pbtxt" if text else "meta.pb")
    path.write_bytes(graph.SerializeToString())
    assert tfg("convert", path, between, "--kind", "meta_graph", "-q").code == 0
    assert tfg("convert", between, tmp_path / "graph.pb", "--kind", "graph").code == 0
    assert GraphDef.FromString((tmp_path / "graph.pb").read_bytes()) == graph


@pytest.mark.sampled(5)
@pytest.mark.parametrize("graph", BROKEN)
@pytest.mark.parametrize("option", ["--clear-devices", "--freeze"])
def test_what_is_broken_is_not_changed(tmp_path, graph, option):
    path = tmp_path / "broken.pb"
    path.write_bytes(graph.SerializeToString())
    assert tfg("convert", path, tmp_path / "graph.pb", option).code == 1
    assert not (tmp_path / "graph.pb").exists()


@pytest.mark.parametrize("cut", [1, 7, 100])
def test_what_is_cut_off_is_refused_and_leaves_what_was_there(tmp_path, both, cut):
    path = tmp_path / "cut.pb"
    save(load(SAMPLES / "xor.pbtxt"), path)
    path.write_bytes(path.read_bytes()[:-cut])
    for folder in ("loaded", "streamed"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "graph.pb").write_bytes(b"before")
    loaded, streamed = both(path, "graph.pb")
    assert loaded == streamed
    assert (loaded[0], loaded[3]) == (1, [b"before"])


def test_what_grows_too_large_is_refused(tmp_path, both, monkeypatch):
    path = tmp_path / "graph.pb"
    save(load(SAMPLES / "xor.pbtxt"), path)
    size = path.stat().st_size
    monkeypatch.setattr(saving, "MAX_MESSAGE", size - 1)
    loaded, streamed = both(path, "graph.pb")
    assert loaded == streamed
    assert (loaded[0], loaded[3]) == (1, [])
    assert f"takes {size:,} bytes" in loaded[2]
