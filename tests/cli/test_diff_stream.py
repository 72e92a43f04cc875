"""`tfg diff` of files with many nodes: streamed files have the same result and the same refusals as small files."""

from __future__ import annotations

import numpy as np
import pytest

from tests.cli.running import SAMPLES, tfg
from tests.cli.test_convert_stream import broken_graphs
from tfg.core.types import dtypes
from tfg.core.types.tensors import Tensor
from tfg.formats import load, loading, save
from tfg.formats.codecs.attrs import encode_attr
from tfg.formats.protos.graph_pb2 import FunctionDef, GraphDef


@pytest.fixture
def both(monkeypatch, tmp_path):
    """Runs `tfg diff` of two messages, of graphs that are loaded and of the same as they are read."""

    def run(before, after, *arguments):
        paths = [tmp_path / "before.pb", tmp_path / "after.pb"]
        for path, message in zip(paths, (before, after)):
            path.write_bytes(message if isinstance(message, bytes) else message.SerializeToString())
        results = []
        for bound in (1 << 40, 0):
            monkeypatch.setattr(loading, "STREAMED_FROM", bound)
            done = tfg("diff", *map(str, paths), *arguments)
            results.append((done.code, done.out, done.err))
        return results

    return run


def sample(name, tmp_path):
    save(load(SAMPLES / name), tmp_path / "sample.pb")
    return GraphDef.FromString((tmp_path / "sample.pb").read_bytes())


def changed(graph, change):
    made = GraphDef()
    made.CopyFrom(graph)
    change(made)
    return made


def add_function(graph, op="Neg"):
    function = FunctionDef(ret={"r": "n:y:0"})
    function.signature.name = "f"
    function.signature.input_arg.add(name="a", type=1)
    function.signature.output_arg.add(name="r", type=1)
    function.node_def.add(name="n", op=op, input=["a"]).attr["T"].type = 1
    graph.library.function.append(function)


def reverse(graph):
    nodes = list(graph.node)[::-1]
    del graph.node[:]
    graph.node.extend(nodes)


def spell_otherwise(graph):
    for node in graph.node:
        node.input[:] = [text if ":" in text or text.startswith("^") else f"{text}:0" for text in node.input]


def renumber(graph):
    """Give each name the number that TensorFlow adds where a graph has the name already."""
    for node in graph.node:
        node.name += "_7"
        node.input[:] = [":".join((f"{name}_7", *index)) for name, *index in (text.split(":") for text in node.input)]
        for number, text in enumerate(node.attr["_class"].list.s if "_class" in node.attr else ()):
            node.attr["_class"].list.s[number] = text + b"_7"


CHANGES = {
    "the numbers": renumber,
    "nothing": lambda graph: None,
    "the order": reverse,
    "the spelling": spell_otherwise,
    "a device": lambda graph: setattr(graph.node[2], "device", "/cpu:0"),
    "a name": lambda graph: setattr(graph.node.add(), "name", "z") or setattr(graph.node[-1], "op", "NoOp"),
    "a node less": lambda graph: graph.node.pop(),
    "an edge": lambda graph: graph.node.add(name="z", op="NoOp", input=["^" + graph.node[0].name]),
    "versions": lambda graph: setattr(graph.versions, "producer", 5),
    "a function": add_function,
    "recorded shapes": lambda graph: graph.node[0].attr["_output_shapes"].list.SetInParent(),
    "an attribute": lambda graph: setattr(graph.node[1].attr["_mark"], "i", 3),
}


@pytest.mark.slow
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize(
    ("name", "format_"),
    [*(("xor.pbtxt", format_) for format_ in ("table", "json", "csv")), ("linear_regression.pbtxt", "json")],
)
def test_the_same_is_found(tmp_path, both, name, change, format_):
    before = sample(name, tmp_path)
    after = changed(before, CHANGES[change])
    for pair in ((before, after), (after, before)):
        loaded, streamed = both(*pair, "--format", format_)
        assert loaded == streamed
        assert loaded[0] == (0 if change in ("nothing", "the numbers", "the order", "the spelling", "recorded shapes") else 3)


def test_inputs_go_by_their_names(both):
    def graph(*inputs):
        made = GraphDef()
        made.node.add(name="x", op="Placeholder").attr["dtype"].type = 1
        made.node.add(name="s", op="Split", input=["n", "x"]).attr["T"].type = 1
        made.node[-1].attr["num_split"].i = 2
        made.node.add(name="n", op="Const").attr["dtype"].type = 3
        made.node[-1].attr["value"].CopyFrom(encode_attr(Tensor.from_numpy(np.array(0, np.int32), dtypes.int32)))
        made.node.add(name="y", op="AddV2", input=inputs).attr["T"].type = 1
        return made

    loaded, streamed = both(graph("x", "s:1", "^n"), graph("s", "x", "^n"))
    assert loaded == streamed
    assert "inputs: x:0, s:1 -> s:0, x:0" in loaded[1]


def test_functions_that_differ(both):
    before, after = GraphDef(), GraphDef()
    for graph, op in ((before, "Neg"), (after, "Abs")):
        graph.node.add(name="x", op="Placeholder").attr["dtype"].type = 1
        add_function(graph, op)
    loaded, streamed = both(before, after)
    assert loaded == streamed
    assert "~ f: 0 added, 0 removed, 1 changed" in loaded[1]


@pytest.mark.sampled(5)
@pytest.mark.parametrize("graph", [pytest.param(graph, id=name) for name, graph in broken_graphs()])
def test_what_is_broken_is_refused(both, graph, tmp_path):
    sound = sample("xor.pbtxt", tmp_path)
    for pair in ((sound, graph), (graph, sound), (sound.SerializeToString()[:-3], sound)):
        loaded, streamed = both(*pair)
        assert loaded == streamed
        assert loaded[0] == 1


def test_not_a_number_is_the_same_as_another(both):
    graph = GraphDef()
    graph.node.add(name="x", op="NoOp").attr["_mark"].f = float("nan")
    loaded, streamed = both(graph, changed(graph, spell_otherwise))
    assert loaded == streamed
    assert loaded[0] == 0
