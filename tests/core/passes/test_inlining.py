"""Function calls replaced by the bodies of the functions."""

from __future__ import annotations

import numpy as np
import pytest

from tests.cli.running import SAMPLES, tfg
from tfg.core.passes.pipeline import inline_functions
from tfg.core.runtime.session.session import Session
from tfg.formats import load

SIGNATURE = """
node {{ name: "x" op: "Placeholder" attr {{ key: "dtype" value {{ type: DT_FLOAT }} }} }}
node {{ name: "y" op: "{op}" input: "x" {attrs} }}
node {{ name: "z" op: "Neg" input: "y" attr {{ key: "T" value {{ type: DT_FLOAT }} }} }}
library {{
  function {{
    signature {{
      name: "twice" input_arg {{ name: "a" type: DT_FLOAT }} output_arg {{ name: "r" type: DT_FLOAT }}
    }}
    node_def {{
      name: "sum" op: "AddV2" input: "a" input: "{inner}" attr {{ key: "T" value {{ type: DT_FLOAT }} }}
    }}
    {call}
    ret {{ key: "r" value: "sum:z:0" }}
  }}
}}
"""
RECURSIVE = 'node_def { name: "again" op: "twice" input: "a" }'


def graph_of(tmp_path, op, attrs="", inner="a", call=""):
    path = tmp_path / "g.pbtxt"
    path.write_text(SIGNATURE.format(op=op, attrs=attrs, inner=inner, call=call))
    return load(path)


CALL = """attr { key: "f" value { func { name: "twice" } } }
  attr { key: "Tin" value { list { type: DT_FLOAT } } } attr { key: "Tout" value { list { type: DT_FLOAT } } }"""


@pytest.mark.parametrize(("op", "attrs"), [("twice", ""), ("PartitionedCall", CALL), ("StatefulPartitionedCall", CALL)])
def test_body_takes_the_place_of_the_call(tmp_path, op, attrs):
    graph = graph_of(tmp_path, op, attrs)
    graph, count = inline_functions(graph)
    assert count == 1
    graph.check()
    assert {"x", "y", "z", "y/sum"} <= {node.name for node in graph}
    assert (graph["y"].op, graph["y/sum"].op) == ("Identity", "AddV2")
    assert not graph.functions
    assert Session(graph).run("z:0", {"x:0": np.float32(3)}) == -6


def test_recursion_ends(tmp_path):
    graph = graph_of(tmp_path, "twice", inner="again:r:0", call=RECURSIVE)
    graph, count = inline_functions(graph)
    assert count == 0
    assert [node.name for node in graph if node.op == "twice"] == ["y"]
    assert "twice" in graph.functions


def test_saved_model_answers_as_before():
    graph = load(SAMPLES / "scaler_saved_model")
    outputs = [info.tensor for info in graph.meta.signatures["serving_default"].outputs.values()]
    feeds = {"serving_default_x:0": np.array([[1, 2]], np.float32)}
    session = Session(graph)
    before = [session.run(outputs, feeds) for _ in range(2)]
    graph, count = inline_functions(graph)
    assert count == 7
    session = Session(graph)
    for want in before:
        for got, value in zip(session.run(outputs, feeds), want):
            np.testing.assert_array_equal(got, value)


def test_convert_freezes_what_goes_into_functions_and_keeps_tables(tmp_path):
    frozen = tmp_path / "frozen.pb"
    output = "StatefulPartitionedCall:0"
    done = tfg("convert", SAMPLES / "scaler_saved_model", frozen, "--inline-functions", "--freeze", "--to", output)
    assert "inlined 7 calls" in done.err
    done = tfg("run", frozen, "--init-op", "init_all_tables", "--fetch", output, "--feed", 'index_names=["height","x"]', "-q")
    assert "[ 1, -1]" in done.out
