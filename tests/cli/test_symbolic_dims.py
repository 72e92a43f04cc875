"""Dimensions below -1, which Grappler writes into `_input_shapes` and `_output_shapes`, are unknown in every command."""

from __future__ import annotations

import pytest
from google.protobuf import text_format

from tests.cli.running import tfg
from tfg.formats.protos.graph_pb2 import GraphDef

SYMBOLIC = "value { list { shape { dim { size: -3 } dim { size: 3 } } } }"
FLOAT = "attr { key: 'T' value { type: DT_FLOAT } }"
FLOATS = "value { list { type: DT_FLOAT } }"
INFERRED = f"attr {{ key: '_input_shapes' {SYMBOLIC} }} attr {{ key: '_output_shapes' {SYMBOLIC} }}"
GRAPH = f"""
node {{ name: 'x' op: 'Placeholder' attr {{ key: 'dtype' value {{ type: DT_FLOAT }} }}
  attr {{ key: 'shape' value {{ shape {{ dim {{ size: -1 }} dim {{ size: 3 }} }} }} }}
  attr {{ key: '_output_shapes' {SYMBOLIC} }} }}
node {{ name: 'r' op: 'Relu' input: 'x' {FLOAT} {INFERRED} }}
node {{ name: 'y' op: 'PartitionedCall' input: 'r' attr {{ key: 'f' value {{ func {{ name: 'twice' }} }} }}
  attr {{ key: 'Tin' {FLOATS} }} attr {{ key: 'Tout' {FLOATS} }} {INFERRED} }}
library {{ function {{
  signature {{ name: 'twice' input_arg {{ name: 'a' type: DT_FLOAT }} output_arg {{ name: 'b' type: DT_FLOAT }} }}
  node_def {{ name: 'sum' op: 'AddV2' input: 'a' input: 'a' {FLOAT} {INFERRED} }}
  attr {{ key: '_input_shapes' {SYMBOLIC} }}
  arg_attr {{ key: 0 value {{ attr {{ key: '_output_shapes' {SYMBOLIC} }} }} }}
  ret {{ key: 'b' value: 'sum:z:0' }} }} }}
versions {{ producer: 2474 }}
"""
FED = ("--feed", "x=ones(2,3)")
WAYS = [
    ("compare", "{g}", "{g}", "--fetch", "y", *FED),
    ("convert", "{g}", "{out}.pbtxt"),
    ("convert", "{g}", "{out}.pb", "--to", "y"),
    ("convert", "{g}", "{out}.pb", "--from", "r", "--to", "y"),
    ("convert", "{g}", "{out}.pb", "--freeze", "--to", "y"),
    ("convert", "{g}", "{out}.pb", "--inline-functions", "--strip-default-attrs"),
    ("convert", "{g}", "{out}", "--kind", "saved_model", "--to", "y"),
    ("diff", "{g}", "{g}"),
    ("draw", "{g}", "--format", "text"),
    ("draw", "{g}", "--format", "dot"),
    ("dump", "{g}"),
    ("dump", "{g}", "--shapes"),
    ("dump", "{g}", "--format", "json"),
    ("dump", "{g}", "--stages"),
    ("explain", "{g}"),
    ("explain", "{g}", "r"),
    ("flops", "{g}", "--fetch", "y"),
    ("flops", "{g}", "--fetch", "y", "--measured", *FED),
    ("grad", "{g}", "--y", "y", "--x", "x", *FED),
    ("ops", "--missing", "{g}"),
    ("optimize", "{g}", "--fetch", "y", "-o", "{out}.pb"),
    ("reduce", "{g}", "--fetch", "y", "--test", "false", "-o", "{out}.pb"),
    ("run", "{g}", "--fetch", "y", *FED),
    ("view", "{g}", "-o", "{out}.html"),
]  # fmt: skip


@pytest.mark.sampled(5)
@pytest.mark.parametrize("way", WAYS, ids=lambda way: "-".join(word for word in way if "{" not in word and "=" not in word))
def test_no_command_stops_at_one(way, tmp_path):
    (tmp_path / "g.pbtxt").write_text(GRAPH)
    done = tfg(*(word.format(g=tmp_path / "g.pbtxt", out=tmp_path / "out") for word in way))
    assert done.code == 0, done.err


@pytest.mark.parametrize("source", ["g.pbtxt", "g.pb"])
@pytest.mark.parametrize("changed", [(), ("--clear-devices",), ("--to", "y")])
def test_they_are_written_as_they_were_read(source, changed, tmp_path):
    graph = text_format.Parse(GRAPH, GraphDef())
    graph.node[1].device = "/device:CPU:0"
    (tmp_path / "g.pbtxt").write_text(text_format.MessageToString(graph))
    (tmp_path / "g.pb").write_bytes(graph.SerializeToString())
    assert tfg("convert", tmp_path / source, tmp_path / "out.pb", *changed).code == 0
    written = GraphDef.FromString((tmp_path / "out.pb").read_bytes())
    assert [node.attr for node in written.node] == [node.attr for node in graph.node]
    assert written.library.function[:] == graph.library.function[:]


def test_check_tells_of_recorded_outputs_which_tensorflow_refuses(tmp_path):
    (tmp_path / "g.pbtxt").write_text(GRAPH)
    assert "is recorded as a shape with a dimension below -1: (-3,3)" in tfg("check", tmp_path / "g.pbtxt").out
    (tmp_path / "g.pbtxt").write_text(GRAPH.replace("_output_shapes", "_input_shapes_of_another"))
    assert tfg("check", tmp_path / "g.pbtxt").code == 0


def test_an_attribute_that_an_op_declares_has_none(tmp_path):
    (tmp_path / "g.pbtxt").write_text(GRAPH.replace("size: -1", "size: -2"))
    done = tfg("check", tmp_path / "g.pbtxt")
    assert done.code == 3
    assert "attribute 'shape' must be shape, not a shape with a dimension below -1: (-2,3)" in done.out
