"""Function libraries: lazy, converted to flat outputs, and written back as they were or as they became."""

import dataclasses

import pytest

import tfg
from tfg.core.graph.graph import Function, Graph
from tfg.core.support.errors import InvalidArgumentError
from tfg.core.types import dtypes
from tfg.core.types.tensors import Placeholder
from tfg.formats import load, to_bytes, to_text
from tfg.formats.function_library import FunctionLibrary, encode_function
from tfg.formats.protos.graph_pb2 import GraphDef

TEXT = """
node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } }
node { name: "y" op: "second" input: "x" }
library {
  function {
    signature {
      name: "second"
      input_arg { name: "a" type: DT_FLOAT }
      input_arg { name: "v" type_attr: "T" }
      output_arg { name: "top" type: DT_FLOAT }
      output_arg { name: "part" type: DT_FLOAT }
      attr { name: "T" type: "type" default_value { type: DT_INT32 } }
      is_stateful: true
      control_output: "done"
    }
    attr { key: "_noinline" value { b: true } }
    arg_attr { key: 0 value { attr { key: "_user_specified_name" value { s: "aa" } } } }
    resource_arg_unique_id { key: 1 value: 7 }
    node_def { name: "use" op: "Neg" input: "split:output:1" input: "^wait" attr { key: "T" value { type: DT_FLOAT } } }
    node_def { name: "axis" op: "Const" attr { key: "dtype" value { type: DT_INT32 } }
               attr { key: "value" value { tensor { dtype: DT_INT32 int_val: 0 } } } }
    node_def { name: "split" op: "Split" input: "axis:output:0" input: "top:values:0"
               attr { key: "T" value { type: DT_FLOAT } } attr { key: "num_split" value { i: 2 } } }
    node_def { name: "top" op: "TopKV2" input: "a" input: "axis:output:0" attr { key: "T" value { type: DT_FLOAT } } }
    node_def { name: "call" op: "helper" input: "top:indices:0" input: "v" attr { key: "T" value { placeholder: "T" } } }
    node_def { name: "odd" op: "Undeclared" input: "call:second:0" input: "call:first:0" }
    node_def { name: "odd2" op: "Undeclared" input: "odd:p:1" input: "odd:q:0" input: "odd:p:1" }
    node_def { name: "wait" op: "NoOp" input: "^a" }
    ret { key: "top" value: "top:values:0" }
    ret { key: "part" value: "use:y:0" }
    control_ret { key: "done" value: "wait" }
  }
  function {
    signature {
      name: "helper"
      input_arg { name: "i" type: DT_INT32 }
      input_arg { name: "v" type_attr: "T" }
      output_arg { name: "first" type: DT_INT32 }
      output_arg { name: "second" type_attr: "T" }
      attr { name: "T" type: "type" }
    }
    ret { key: "first" value: "i" }
    ret { key: "second" value: "v:0" }
  }
  gradient { function_name: "second" gradient_func: "helper" }
  registered_gradients { gradient_func: "g" registered_op_type: "Odd" }
}
"""


@pytest.fixture
def graph():
    return load(TEXT.encode())


def test_functions_are_decoded_at_first_touch(graph):
    library = graph.functions
    assert list(library) == ["second", "helper"] and len(library) == 2 and "helper" in library
    assert library.undecoded("second") is not None
    assert library.signature("helper").outputs[1].type_attr == "T"
    assert library.undecoded("helper") is not None
    function = library["second"]
    assert library.undecoded("second") is None
    assert library["second"] is function
    assert library.signature("nope") is None


def test_interface(graph):
    function = graph.functions["second"]
    assert [arg.name for arg in function.signature.inputs] == ["a", "v"]
    assert function.signature.is_stateful
    assert function.signature.attrs["T"].default is dtypes.int32
    assert function.gradient == "helper"
    assert function.attrs == {"_noinline": True}
    assert function.arg_attrs == {0: {"_user_specified_name": b"aa"}}
    first, second = function.args
    assert first.op == "_Arg"
    assert first.attrs == {"T": dtypes.float32, "index": 0, "_user_specified_name": b"aa"}
    assert second.attrs == {"T": Placeholder("T"), "index": 1, "_resource_arg_unique_id": 7}


def test_inputs_are_flat(graph):
    function = graph.functions["second"]
    body = function.body

    def inputs(name):
        return [str(value) for value in body[name].inputs]

    assert inputs("use") == ["split:1"]
    assert [node.name for node in body["use"].control_inputs] == ["wait"]
    assert inputs("call") == ["top:1", "v:0"]
    assert inputs("odd") == ["call:1", "call:0"]
    assert inputs("odd2") == ["odd:1", "odd:2", "odd:1"]
    assert [str(value) for value in function.results] == ["top:0", "use:0"]
    assert [node.name for node in function.control_results] == ["wait"]


def test_round_trip_untouched_and_touched(graph):
    message = GraphDef.FromString(to_bytes(graph)).library
    for function in graph.functions.values():
        assert len(function.body)
    assert GraphDef.FromString(to_bytes(graph)).library == message
    assert message.registered_gradients[0].registered_op_type == "Odd"
    assert to_text(load(to_bytes(graph))) == to_text(graph)


def test_built_anew_it_is_the_same(graph):
    original = graph.functions.undecoded("second")
    function = dataclasses.replace(graph.functions["second"], source=None)
    body = function.body
    # Nobody declares the op Undeclared, so a new message cannot name its outputs.
    body.remove_nodes([body["odd2"]])
    for node in body:
        if node not in function.args:
            node.source = None
    made = encode_function(function, graph.functions)
    del original.node_def[6]
    # Control outputs are called as their node is.
    assert dict(made.control_ret) == {"wait": "wait"} and list(made.signature.control_output) == ["wait"]
    for message in (made, original):
        message.ClearField("control_ret")
        message.signature.ClearField("control_output")
    assert made == original


def test_changes_are_written(graph):
    function = graph.functions["second"]
    body = function.body
    body.set_input(body["use"], 0, body["top"].output(0))
    body.rename_node(body["wait"], "later")
    function.results[1] = body["split"].output(1)
    proto = encode_function(function, graph.functions)
    nodes = {node.name: node for node in proto.node_def}
    assert list(nodes["use"].input) == ["top:values:0", "^later"]
    assert dict(proto.ret) == {"top": "top:values:0", "part": "split:output:1"}
    assert dict(proto.control_ret) == {"later": "later"}
    assert proto.attr["_noinline"].b


def test_library_changes_are_written(graph):
    helper = graph.functions["helper"]
    new = dataclasses.replace(helper, signature=dataclasses.replace(helper.signature, name="new"), gradient="helper")
    graph.functions["new"] = new
    del graph.functions["second"]
    library = GraphDef.FromString(to_bytes(graph)).library
    assert [function.signature.name for function in library.function] == ["helper", "new"]
    assert [(g.function_name, g.gradient_func) for g in library.gradient] == [("new", "helper")]


def test_copies_are_independent(graph):
    copied = graph.copy()
    del copied.functions["second"]
    assert isinstance(copied.functions, FunctionLibrary)
    assert list(graph.functions) == ["second", "helper"]


def test_plain_dict_of_functions(graph):
    body = Graph()
    arg = body.add_node("x", "_Arg", attrs={"T": dtypes.float32, "index": 0})
    relu = body.add_node("r", "Relu", [arg.output()], attrs={"T": dtypes.float32})
    signature = dataclasses.replace(
        graph.functions["helper"].signature,
        name="plain",
        inputs=graph.functions.signature("second").inputs[:1],
        outputs=graph.functions.signature("second").outputs[:1],
        attrs={},
    )
    made = Graph()
    made.functions = {"plain": Function(signature, body, [arg], [relu.output()])}
    loaded = load(to_bytes(made) + b"\x22\x02\x08\x01")
    assert [str(value) for value in loaded.functions["plain"].results] == ["r:0"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"split:output:1"', '"nope:output:1"', "'nope' is not in its body"),
        ('"split:output:1"', '"split:nope:1"', "has no output 'nope'; the outputs are output"),
        ('"^wait"', '"^nope"', "'nope' is not in its body"),
        ('value: "use:y:0"', 'value: "gone:y:0"', "'gone' is not in its body"),
        ('ret { key: "part" value: "use:y:0" }', "", "no tensor for its output 'part'"),
        ('name: "axis"', 'name: "split"', "two nodes have this name"),
        ('op: "Const"', 'op: "_Arg"', "the signature of a function fixes its arguments"),
    ],
)
def test_broken_functions_are_named(old, new, message):
    graph = load(TEXT.replace(old, new).encode())
    with pytest.raises(InvalidArgumentError, match=message) as error:
        graph.functions["second"]
    assert "function 'second'" in str(error.value)


def test_functions_that_are_gone_through_are_not_kept():
    proto = GraphDef()
    for name in ("f", "g"):
        proto.library.function.add().signature.name = name
    library = FunctionLibrary(proto.library)
    touched = library["f"]
    first, second = list(library.one_by_one()), list(library.one_by_one())
    assert [function.name for function in first] == ["f", "g"]
    assert first[0] is second[0] is touched
    assert first[1] is not second[1]
    assert library.undecoded("g") is not None


ALIKE = """
  function {
    signature {
      name: "NAME"
      input_arg { name: "a" type: DT_FLOAT }
      output_arg { name: "r" type: DT_FLOAT }
    }
    node_def { name: "w" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } } attr { key: "value" value { tensor {
      dtype: DT_FLOAT tensor_shape { dim { size: 2 } } float_val: 3 float_val: 4 } } } }
    node_def { name: "t" op: "Mul" input: "a" input: "w:output:0" attr { key: "T" value { type: DT_FLOAT } } }
    node_def { name: "n" op: "OP" input: "t:z:0" attr { key: "T" value { type: DT_FLOAT } } }
    ret { key: "r" value: "n:y:0" }
  }
"""
CALLER = """
node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } }
  attr { key: "shape" value { shape { dim { size: 2 } } } } }
node { name: "first" op: "f" input: "x" }
node { name: "second" op: "g" input: "first" }
node { name: "third" op: "h" input: "second" }
library {
"""


@pytest.fixture
def alike():
    """A graph with two functions that are equal but for their names, and one of another op."""
    bodies = (ALIKE.replace("NAME", name).replace("OP", op) for name, op in (("f", "Neg"), ("g", "Neg"), ("h", "Abs")))
    return load((CALLER + "".join(bodies) + "}").encode())


def test_equal_functions_share_their_nodes_until_somebody_asks_for_them(alike):
    f, g, h = (alike.functions[name] for name in "fgh")
    assert f.pattern is g.pattern is not h.pattern
    assert [one.name for one in (f, g, h)] == ["f", "g", "h"]
    assert g.body is not f.pattern.body and g.pattern is g  # f still reads the nodes
    taken = f.pattern.body
    assert f.body is taken and f.pattern is f  # nobody else does
    assert [node.name for node in f.body] == [node.name for node in g.body] == ["a", "w", "t", "n"]
    assert g.results == [g.body["n"].output()] and g.args == [g.body["a"]]
    assert not set(f.body) & set(g.body)


@pytest.mark.parametrize("changed", ["f", "g"])
def test_a_change_of_a_function_leaves_its_equals_as_they_are(alike, changed):
    alike.functions[changed].body["n"].change_op("Abs")
    y = tfg.Session(alike).run("third:0", {"x:0": [1.0, -1.0]})
    assert y.tolist() == [27, 64]  # |3 * 3 * 3|, |4 * 4 * -4|
    (untouched,) = {"f", "g"} - {changed}
    written = load(to_bytes(alike)).functions
    assert [written[name].body["n"].op for name in (changed, untouched, "h")] == ["Abs", "Neg", "Abs"]


def test_equal_functions_that_nobody_changed_are_written_as_they_were(alike):
    data = to_bytes(alike)
    for function in load(data).functions.values():
        assert function.body["n"].op in ("Neg", "Abs")
    assert to_bytes(load(data)) == data


def test_each_of_equal_functions_has_parameters_of_its_own(alike):
    report = tfg.count_flops(alike, ["third:0"])
    assert report.total().parameters == 6
    assert {node.path: node.parameters for node in report.nodes if node.parameters} == {
        "first/t": 2, "second/t": 2, "third/t": 2
    }  # fmt: skip


def test_a_hook_sees_the_nodes_of_the_very_function(alike):
    seen = []

    def hook(node, call, inputs):
        seen.append(node)
        return call(*inputs)

    session = tfg.Session(alike)
    session.run("third:0", {"x:0": [1.0, 2.0]})
    session.run("third:0", {"x:0": [1.0, 2.0]}, hook=hook)
    for name in "fgh":
        assert alike.functions[name].body["n"] in seen


DRAWING = """
  function {
    signature {
      name: "NAME"
      input_arg { name: "a" type: DT_FLOAT }
      output_arg { name: "r" type: DT_FLOAT }
      is_stateful: true
    }
    node_def { name: "s" op: "Const" attr { key: "dtype" value { type: DT_INT32 } } attr { key: "value" value { tensor {
      dtype: DT_INT32 tensor_shape { dim { size: 1 } } int_val: 2 } } } }
    node_def { name: "d" op: "RandomUniform" input: "s:output:0" attr { key: "T" value { type: DT_INT32 } }
      attr { key: "dtype" value { type: DT_FLOAT } } attr { key: "seed" value { i: 7 } } }
    ret { key: "r" value: "d:output:0" }
  }
"""


def test_equal_functions_draw_from_streams_of_their_own():
    """Each begins the stream of its seeds, as two functions do in TensorFlow."""
    graph = load((CALLER + "".join(DRAWING.replace("NAME", name) for name in "fgh") + "}").encode())
    first, second, third = tfg.Session(graph).run(["first:0", "second:0", "third:0"], {"x:0": [1.0, 2.0]})
    assert first.tolist() == second.tolist() == third.tolist()
