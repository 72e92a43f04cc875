"""Old graphs, read as TensorFlow imports them: shapes that the writer could not state, attributes newer than the graph."""

from __future__ import annotations

import json

import numpy as np
import pytest

import tfg
from tests.cli.running import tfg as command
from tfg.core.inference.inference import infer
from tfg.core.support.errors import InvalidArgumentError
from tfg.formats.graphdef import NodeStream
from tfg.formats.loading import load
from tfg.formats.saving import save

LAST = 21
"""The last version in which TensorFlow takes the empty shape of a Placeholder for an unknown shape (array_ops.cc)."""
TEXT = """
node{name:"x" op:"%s" attr{key:"dtype" value{type:DT_FLOAT}} attr{key:"shape" value{shape{}}}}
node{name:"w" op:"Const" attr{key:"dtype" value{type:DT_FLOAT}}
  attr{key:"value" value{tensor{dtype:DT_FLOAT tensor_shape{dim{size:3} dim{size:1}} float_val:1 float_val:2 float_val:3}}}}
node{name:"y" op:"MatMul" input:"x" input:"w" attr{key:"T" value{type:DT_FLOAT}}}
versions{producer:%d}
"""


@pytest.fixture
def old(tmp_path):
    path = tmp_path / "old.pbtxt"
    path.write_text(TEXT % ("Placeholder", LAST))
    return path


def shape_of_x(op: str, producer: int) -> str:
    graph = load((TEXT % (op, producer)).encode())
    return str(infer(graph).shape(graph.output("x")))


@pytest.mark.parametrize(
    "op, producer, shape",
    [
        ("Placeholder", 0, "<unknown>"),
        ("Placeholder", LAST, "<unknown>"),
        ("Placeholder", LAST + 1, "()"),
        ("Placeholder", 2474, "()"),
        ("PlaceholderV2", LAST, "()"),
    ],
)
def test_an_empty_shape_says_nothing_up_to_version_21(op, producer, shape):
    assert shape_of_x(op, producer) == shape


@pytest.mark.parametrize(("producer", "shape"), [(LAST, "<unknown>"), (LAST + 1, "()")])
def test_a_stream_of_nodes_says_what_the_loaded_graph_says(tmp_path, producer, shape):
    """Large files are read node by node, and the version stands behind the nodes."""
    save(load((TEXT % ("Placeholder", producer)).encode()), tmp_path / "g.pb")
    stream = NodeStream(memoryview((tmp_path / "g.pb").read_bytes()))
    assert str(next(stream.nodes()).attr("shape")) == shape
    assert str(stream.node_at(stream.place).attr("shape")) == shape


def test_every_command_takes_a_matrix(old, tmp_path):
    assert command("check", old).code == 0
    assert json.loads(command("dump", old, "--shapes", "--format", "json").out)["nodes"][0]["outputs"][0]["shape"] is None
    assert "passed" in command("optimize", old, "--fetch", "y", "--verify", "-o", tmp_path / "o.pb").out
    assert command("flops", old).code == 0
    made = command("convert", old, tmp_path / "shaped.pb", "--shape", "x=?,3")
    assert made.code == 0, made.err
    assert [dim if isinstance(dim, int) else None for dim in load(tmp_path / "shaped.pb")["x"].attr("shape")] == [None, 3]
    y = tfg.Session(load(old)).run("y:0", {"x:0": np.ones((2, 3), np.float32)})
    np.testing.assert_array_equal(y, [[6], [6]])


def test_the_file_keeps_the_empty_shape(old, tmp_path):
    save(load(old), tmp_path / "again.pb")
    again = tfg.load(tmp_path / "again.pb")
    assert again.source.rest.versions.producer == LAST
    assert "unknown_rank" not in command("dump", tmp_path / "again.pb", "--format", "text").out
    assert infer(again).shape(again.output("x")).dims is None


@pytest.mark.engine
def test_onnx_takes_the_input_of_unknown_rank(old, tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime", reason="the extra tfg[onnx] is not installed")
    assert command("convert", old, tmp_path / "o.onnx", "--to", "y").code == 0
    (y,) = onnxruntime.InferenceSession(tmp_path / "o.onnx").run(None, {"x": np.ones((2, 3), np.float32)})
    np.testing.assert_array_equal(y, [[6], [6]])


FUSED = """
node{name:"x" op:"Placeholder" attr{key:"dtype" value{type:DT_FLOAT}}
  attr{key:"shape" value{shape{dim{size:-1} dim{size:2} dim{size:2} dim{size:1}}}}}
node{name:"w" op:"Const" attr{key:"dtype" value{type:DT_FLOAT}}
  attr{key:"value" value{tensor{
    dtype:DT_FLOAT tensor_shape{dim{size:1} dim{size:1} dim{size:1} dim{size:1}} float_val:2}}}}
node{name:"b" op:"Const" attr{key:"dtype" value{type:DT_FLOAT}}
  attr{key:"value" value{tensor{dtype:DT_FLOAT tensor_shape{dim{size:1}} float_val:-3}}}}
node{name:"y" op:"_FusedConv2D" input:"x" input:"w" input:"b" attr{key:"T" value{type:DT_FLOAT}}
  attr{key:"num_args" value{i:%d}} attr{key:"strides" value{list{i:1 i:1 i:1 i:1}}} attr{key:"padding" value{s:"SAME"}}
  attr{key:"fused_ops" value{list{s:"BiasAdd" s:"Relu"}}}}
versions{producer:27}
"""


def test_a_fused_convolution_of_an_old_optimizer_runs():
    y = tfg.Session(load((FUSED % 1).encode())).run("y:0", {"x:0": np.float32([[[[1], [2]], [[3], [4]]]])})
    np.testing.assert_array_equal(y.ravel(), [0, 1, 3, 5])  # relu(2 x - 3)


def test_what_tfg_writes_has_the_dtypes_of_the_arguments(tmp_path):
    save(load((FUSED % 1).encode()), tmp_path / "fused.pb")
    stream = NodeStream(memoryview((tmp_path / "fused.pb").read_bytes()))
    (fused,) = [node for node in stream.nodes() if node.name == "y"]
    assert [str(dtype) for dtype in fused.attrs["TArgs"]] == ["float"]
    assert not stream.faults


@pytest.mark.parametrize("count", [-1, 7, 1 << 60])
def test_an_impossible_number_of_arguments_is_refused(count):
    with pytest.raises(InvalidArgumentError, match=r"TArgs|num_args"):
        tfg.Session(load((FUSED % count).encode())).run("y:0", {"x:0": np.ones((1, 2, 2, 1), np.float32)})
