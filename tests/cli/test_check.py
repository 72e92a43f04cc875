"""`tfg check`: every kind of fault in a graph is named, and broken graphs can still be inspected."""

from __future__ import annotations

import numpy as np
import pytest
from google.protobuf import text_format

from tests.cli.running import SAMPLES, process, tfg
from tfg import GraphBuilder, check
from tfg.core.explaining.problem_codes import MEANINGS
from tfg.core.explaining.problems import find_problems
from tfg.core.types.shapes import Shape
from tfg.formats.protos.graph_pb2 import GraphDef

GOOD = """
node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } }
  attr { key: "shape" value { shape { dim { size: 2 } dim { size: 3 } } } } }
node { name: "v" op: "VariableV2" attr { key: "dtype" value { type: DT_FLOAT } }
  attr { key: "shape" value { shape { dim { size: 3 } dim { size: 4 } } } } }
node { name: "start" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } }
  attr { key: "value" value { tensor { dtype: DT_FLOAT tensor_shape { dim { size: 3 } dim { size: 4 } } float_val: 1 } } } }
node { name: "v/Assign" op: "Assign" input: "v" input: "start" attr { key: "T" value { type: DT_FLOAT } } }
node { name: "v/read" op: "Identity" input: "v" attr { key: "T" value { type: DT_FLOAT } }
  attr { key: "_class" value { list { s: "loc:@v" } } } }
node { name: "y" op: "MatMul" input: "x" input: "v/read" attr { key: "T" value { type: DT_FLOAT } } }
node { name: "z" op: "Tanh" input: "y" attr { key: "T" value { type: DT_FLOAT } } }
node { name: "call" op: "PartitionedCall" input: "z" attr { key: "f" value { func { name: "twice" } } }
  attr { key: "Tin" value { list { type: DT_FLOAT } } } attr { key: "Tout" value { list { type: DT_FLOAT } } } }
library { function {
  signature { name: "twice" input_arg { name: "a" type: DT_FLOAT } output_arg { name: "b" type: DT_FLOAT } }
  node_def { name: "sum" op: "AddV2" input: "a" input: "a" attr { key: "T" value { type: DT_FLOAT } } }
  ret { key: "b" value: "sum:z:0" } } }
"""
TAKEN = "attr { key: 'T' value { type: DT_FLOAT } }"
MESSAGE = "attr { key: 'message' value { s: 'm' } }"


def node(graph, name):
    return next(result for result in graph.node if result.name == name)


def added(text):
    return lambda graph: text_format.Merge(text, graph)


def set_attr(name, attr, text):
    return lambda graph: text_format.Merge(text, node(graph, name).attr[attr])


def placed(devices):
    return lambda graph: [setattr(node(graph, name), "device", device) for name, device in devices.items()]


def in_function(change):
    return lambda graph: change(graph.library.function[0])


SERIALIZED = """
versions { producer: 2474 }
node { name: 'e' op: 'Placeholder' attr { key: 'dtype' value { type: DT_STRING } }
  attr { key: 'shape' value { shape { } } } }
node { name: 'none' op: 'Const' attr { key: 'dtype' value { type: DT_STRING } }
  attr { key: 'value' value { tensor { dtype: DT_STRING tensor_shape { dim { size: 0 } } } } } }
node { name: 'p' op: 'ParseExample' input: 'e' input: 'none' attr { key: 'Nsparse' value { i: 0 } }
  attr { key: 'Ndense' value { i: 0 } } attr { key: 'Tdense' value { list { } } }
  attr { key: 'sparse_types' value { list { } } } attr { key: 'dense_shapes' value { list { } } } }"""
BREAKS = {
    "name that begins with an underscore": ("_n", added("node { name: '_n' op: 'NoOp' }")),
    "name with a backslash": ("a\\b", added("node { name: 'a\\\\b' op: 'NoOp' }")),
    "name of a control edge": ("^n", added("node { name: '^n' op: 'NoOp' } node { name: 'm' op: 'NoOp' input: '^n' }")),
    "producer below all": (None, lambda g: setattr(g.versions, "producer", -1)),
    "recorded shape that is another": ("z", set_attr("z", "_output_shapes", "list { shape { dim { size: 7 } } }")),
    "recorded shape with a number": ("z", set_attr("z", "_output_shapes", "list { shape { dim { size: -3 } } }")),
    "recorded shapes that are too few": ("z", set_attr("z", "_output_shapes", "list { }")),
    "shapes behind an unknown attribute": ("y", lambda g: (
        set_attr("x", "shape", "shape { dim { size: 7 } }")(g), set_attr("x", "extra", "b: true")(g),
    )),
    "readers that are newer": (None, lambda g: setattr(g.versions, "min_consumer", 2475)),
    "readers that are refused": (None, lambda g: g.versions.bad_consumers.append(2474)),
    "scalar for a vector of examples": ("p", added(SERIALIZED)),
    "dangling input": ("y", lambda g: node(g, "y").input.__setitem__(1, "gone")),
    "dangling control input": ("z", lambda g: node(g, "z").input.append("^gone")),
    "output that does not exist": ("z", lambda g: node(g, "z").input.__setitem__(0, "y:3")),
    "cycle": ("y", lambda g: node(g, "y").input.__setitem__(0, "z")),
    "duplicate name": ("z", added(f"node {{ name: 'z' op: 'Neg' input: 'y' {TAKEN} }}")),
    "unknown op": ("n", added("node { name: 'n' op: 'NoSuchOp' input: 'y' }")),
    "unknown attribute": ("y", set_attr("y", "transpose_c", "b: true")),
    "attribute of another kind": ("y", set_attr("y", "transpose_a", "i: 1")),
    "shared name that is a number": ("v", set_attr("v", "shared_name", "f: 1")),
    "attribute that is no dtype": ("z", set_attr("z", "T", "f: -inf")),
    "list of dtypes that is none": ("call", set_attr("call", "Tin", "type: DT_FLOAT")),
    "number that is none": ("s", added("node { name: 's' op: 'AddN' attr { key: 'N' value { s: 'x' } } }")),
    "attribute that is missing": ("z", lambda g: node(g, "z").attr.pop("T")),
    "attribute out of range": ("s", added("node { name: 's' op: 'AddN' attr { key: 'N' value { i: 0 } } }")),
    "wrong arity": ("y", lambda g: node(g, "y").input.pop()),
    "wrong dtype": ("z", set_attr("z", "T", "type: DT_DOUBLE")),
    "shapes that contradict": ("y", set_attr("x", "shape", "shape { dim { size: 7 } }")),
    "colocation conflict": ("v", placed({"v": "/gpu:0", "v/read": "/cpu:0"})),
    "device that is none": ("z", placed({"z": "/gpu-one"})),
    "exit without a loop": ("out", added(f"node {{ name: 'out' op: 'Exit' input: 'z' {TAKEN} }}")),
    "colocation with nobody": ("z", set_attr("z", "_class", "list { s: 'loc:@gone' }")),
    "function that is missing": ("call", lambda g: g.library.ClearField("function")),
    "function that cannot be read": ("sum", in_function(lambda f: f.node_def[0].input.append("gone:z:0"))),
    "broken body": ("sum", in_function(lambda f: f.node_def[0].attr["T"].__setattr__("type", 2))),
    "copy of nothing in a body": ("sum", in_function(lambda f: (
        f.node_def[0].input.__delitem__(slice(None)), setattr(f.node_def[0], "op", "Identity"),
        f.ret.__setitem__("b", "sum:output:0"),
    ))),
    "constant without a value in a body": ("sum", in_function(lambda f: (
        f.node_def[0].input.__delitem__(slice(None)), setattr(f.node_def[0], "op", "Const"),
        f.ret.__setitem__("b", "sum:output:0"),
    ))),
    "assignment of nothing": ("v/Assign", lambda g: node(g, "v/Assign").input.__delitem__(1)),
    "constant without a value": ("start", lambda g: node(g, "start").attr.__delitem__("value")),
    "unreached effect": ("told", added(f"node {{ name: 'told' op: 'CheckNumerics' input: 'y' {TAKEN} {MESSAGE} }}")),
    "missing kernel": ("k", added("node { name: 'k' op: 'IsotonicRegressionNoKernel' }")),
    "variable that nobody initializes": ("v", lambda g: g.node.remove(node(g, "v/Assign"))),
    "bad name": ("no good", added("node { name: 'no good' op: 'NoOp' }")),
}  # fmt: skip


@pytest.fixture
def broken(tmp_path, request):
    graph = text_format.Parse(GOOD, GraphDef())
    BREAKS[request.param][1](graph)
    path = tmp_path / "broken.pb"
    path.write_bytes(graph.SerializeToString())
    return path


def test_nothing_is_wrong_with_a_good_graph(tmp_path):
    path = tmp_path / "good.pbtxt"
    path.write_text(GOOD)
    done = tfg("check", path, "--strict")
    assert (done.code, done.out) == (0, "no problems\n")


@pytest.mark.sampled(5)
@pytest.mark.parametrize(("broken", "named"), [(name, result) for name, (result, _) in BREAKS.items()], indirect=["broken"])
def test_names_every_break(broken, named):
    problems = tfg("check", broken, "--format", "json").json["graphs"][0]["problems"]
    assert named in [problem["node"] for problem in problems]


@pytest.mark.sampled(22)
@pytest.mark.parametrize("broken", BREAKS, indirect=True)
@pytest.mark.parametrize("command", ["dump", "explain", "draw", "draw --raw"])
def test_what_is_broken_can_be_looked_at(broken, command):
    done = tfg(*command.split(), broken)
    assert done.code == 0 and "Traceback" not in done.err
    assert command == "draw" or "PartitionedCall" in done.out


@pytest.mark.sampled(28)
@pytest.mark.parametrize("broken", BREAKS, indirect=True)
@pytest.mark.parametrize(
    "command", ["view --output page.html", "draw", "explain", "flops", "layers", "optimize", "convert x.pb"]
)
def test_sizes_of_what_is_broken_are_refused(broken, command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    name, *options = command.split()
    for sizes in (["--batch", "1"], ["--shape", "x=2"]):
        done = tfg(name, broken, *options, *sizes)
        assert done.code in (0, 1, 2) and "Traceback" not in done.err and "internal" not in done.err, done.err


@pytest.mark.sampled(5)
@pytest.mark.parametrize("broken", BREAKS, indirect=True)
def test_each_node_of_what_is_broken_is_explained(broken):
    done = tfg("explain", broken, *["x", "v", "start", "v/Assign", "v/read", "y", "z", "call"])
    assert done.code in (0, 1) and "Traceback" not in done.err


KINDS = [
    "i: 3", "f: 2.5", "b: true", "s: 'x'", "type: DT_STRING", "shape {}", "list {}", "list { i: 1 i: 2 }", "list { shape {} }",
    "func { name: 'f' }", "tensor { dtype: DT_FLOAT float_val: 1 tensor_shape {} }", "placeholder: 'T'",
]  # fmt: skip


@pytest.mark.sampled(22)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("attr", ["value", "dtype", "shape", "T", "f", "shared_name", "_class", "_output_shapes"])
def test_attributes_of_any_kind_can_be_looked_at(tmp_path, attr, kind):
    graph = text_format.Parse(GOOD, GraphDef())
    for result in (*graph.node, *graph.library.function[0].node_def):
        if attr in result.attr or attr.startswith("_"):
            result.attr[attr].Clear()
            text_format.Merge(kind, result.attr[attr])
    path = tmp_path / "graph.pb"
    path.write_bytes(graph.SerializeToString())
    for command in ("dump", "explain", "draw"):
        assert tfg(command, path).code == 0
    assert tfg("view", path, "-o", tmp_path / "graph.html").code == 0
    assert tfg("check", path).code in (0, 3)


UNFIT = ["broken body", "copy of nothing in a body", "constant without a value in a body"]
ON_A_CALL = [
    ["run", "--fetch", "call", "--feed", "x=zeros(2,3)", "--init"], ["flops", "--fetch", "call"],
    ["optimize", "--fetch", "call"], ["grad", "--y", "call", "--x", "x"], ["explain", "--races", "--fetch", "call"],
]  # fmt: skip


@pytest.mark.sampled(5)
@pytest.mark.parametrize("broken", UNFIT, indirect=True)
@pytest.mark.parametrize("command", ON_A_CALL, ids=lambda command: command[0])
def test_a_body_that_does_not_fit_is_refused_where_it_is_called(broken, command):
    done = tfg(command[0], broken, *command[1:])
    assert done.code == 1
    assert "function 'twice'" in done.err and "'sum'" in done.err


def test_tells_all_breaks_at_once(tmp_path):
    graph = text_format.Parse(GOOD, GraphDef())
    names = ["duplicate name", "unknown op", "unknown attribute", "colocation with nobody", "bad name", "broken body"]
    for name in names:
        BREAKS[name][1](graph)
    path = tmp_path / "broken.pb"
    path.write_bytes(graph.SerializeToString())
    nodes = {problem["node"] for problem in tfg("check", path, "--format", "json").json["graphs"][0]["problems"]}
    assert nodes >= {BREAKS[name][0] for name in names}


@pytest.mark.parametrize(
    ("broken", "code", "strict_code"), [("cycle", 3, 3), ("unknown attribute", 0, 3)], indirect=["broken"]
)
def test_exit_code(broken, code, strict_code):
    assert (tfg("check", broken).code, tfg("check", broken, "--strict").code) == (code, strict_code)


@pytest.mark.slow
def test_ops_that_nobody_declares():
    # A process of its own: here a test may have loaded the library that declares them.
    problems = process("check", SAMPLES / "skipgram.pbtxt", "--format", "json").json["graphs"][0]["problems"]
    assert {problem["kind"] for problem in problems} == {"unknown op"}
    assert [problem["op"] for problem in problems] == ["SkipPairs", "PairScores"]


ENDLESS = f"""
node {{ name: 'enter' op: 'Enter' input: 'z' attr {{ key: 'frame_name' value {{ s: 'loop' }} }} {TAKEN} }}
node {{ name: 'merge' op: 'Merge' input: 'enter' input: 'next' attr {{ key: 'N' value {{ i: 2 }} }} {TAKEN} }}
node {{ name: 'next' op: 'NextIteration' input: 'merge' {TAKEN} }}
node {{ name: 'm' op: 'Merge' input: 'next' input: 'next' attr {{ key: 'N' value {{ i: 2 }} }} {TAKEN} }}
"""


@pytest.mark.parametrize("command", ["view", "flops", "explain", "dump"])
def test_a_loop_variable_that_nothing_enters(tmp_path, command):
    path = tmp_path / "endless.pbtxt"
    path.write_text(GOOD + ENDLESS)
    output = ["-o", tmp_path / "page.html"] if command == "view" else []
    assert tfg(command, path, *output).code == 0


@pytest.mark.parametrize("command", ["explain", "view", "draw"])
def test_a_loop_whose_body_passes_on_nothing(tmp_path, command):
    body = """
function { signature { name: "%s" input_arg { name: "a" type: DT_FLOAT } output_arg { name: "b" type: %s } }
  node_def { name: "n" op: "%s" %s attr { key: "T" value { type: DT_FLOAT } } } ret { key: "b" value: "n:%s:0" } }
"""
    loop = """
node { name: "loop" op: "While" input: "z" attr { key: "T" value { list { type: DT_FLOAT } } }
  attr { key: "cond" value { func { name: "go_on" } } } attr { key: "body" value { func { name: "step" } } } }
"""
    test = body % ("go_on", "DT_BOOL", "IsFinite", 'input: "a"', "y")
    functions = test + body % ("step", "DT_FLOAT", "Identity", "", "output")
    path = tmp_path / "loop.pbtxt"
    path.write_text(GOOD.replace("library {", f"{loop} library {{ {functions}"))
    done = tfg(command, path, *(["-o", tmp_path / "page.html"] if command == "view" else []))
    assert (done.code, "the graph is broken" in done.err) == (0, True)


def test_an_op_that_is_only_called_like_a_placeholder(tmp_path):
    path = tmp_path / "graph.pbtxt"
    path.write_text(GOOD.replace('op: "Placeholder"', 'op: "PlaceholderOfMine"'))
    done = tfg("optimize", path, "--fetch", "y", "--verify")
    assert (done.code, "'PlaceholderOfMine' is not declared" in done.err) == (1, True)
    done = tfg("flops", path, "--fetch", "y")
    assert (done.code, "its op is unknown" in done.out) == (0, True)


def shapes(*lists):
    return [Shape(dims) for dims in lists]


def stating():
    """A graph whose nodes record the shapes that TensorFlow's shape functions state, not those that its kernels give."""
    b = GraphBuilder()
    x, ones = b.Placeholder(dtype="float32", shape=[2, 4, 4, 3]), np.ones(3, np.float32)
    array = b.TensorArrayV3(np.int32(3), dtype="float32")
    stack = b.StackV2(np.int32(-1), elem_type="float32")
    entered = b.Enter(stack, frame_name="loop")
    grad = b.FusedBatchNormGradV3(x, x, ones, ones, ones, ones)
    accumulator = b.ResourceConditionalAccumulator(dtype="float32", shape=[2])
    rest = b.ZerosLike(grad[3])
    pooled = b.FractionalMaxPool(x, pooling_ratio=[1.0, 1.4, 1.4, 1.0])
    image = [2, 4, 4, 3]
    stated = {
        array[0]: shapes([2], []), stack: shapes([2]), entered: shapes([2]), accumulator: shapes([2]), rest: shapes([0]),
        grad[0]: shapes(image, [3], [3], [0], [0]), pooled[0]: shapes([2, 2, 2, 3], [2], [2]),
    }  # fmt: skip
    for value, recorded in stated.items():
        value.node.set_attr("_output_shapes", recorded)
    return b.graph


def test_recorded_shapes_are_those_of_tensorflows_shape_functions():
    assert [problem.message for problem in find_problems(stating()) if problem.severity == "error"] == []


@pytest.mark.parametrize(("op", "recorded"), [("TensorArrayV3", [[3], []]), ("StackV2", [[2, 2]]), ("ZerosLike", [[5]])])
def test_other_recorded_shapes_are_wrong(op, recorded):
    graph = stating()
    (node,) = [node for node in graph if node.op == op]
    node.set_attr("_output_shapes", shapes(*recorded))
    assert [problem.node for problem in find_problems(graph) if problem.severity == "error"] == [node.name]


def test_a_scalar_of_minus_one_is_a_list_of_any_elements():
    b = GraphBuilder()
    made = b.TensorListReserve(np.int32(-1), np.int32(3), element_dtype="float32")
    b.TensorListStack(made, np.int32(-1), element_dtype="float32")
    assert find_problems(b.graph) == ()


def test_a_dangling_colocation_names_the_node_that_has_it(tmp_path):
    path = tmp_path / "graph.pbtxt"
    path.write_text("""
    node { name: "x" op: "NoOp" }
    node { name: "y" op: "NoOp" attr { key: "_class" value { list { s: "loc:@gone" s: "loc:@x" } } } }
    node { name: "z" op: "NoOp" attr { key: "_class" value { list { s: "loc:@y" } } } }
    """)
    problems = tfg("check", path, "--format", "json").json["graphs"][0]["problems"]
    assert [(problem["node"], problem["kind"]) for problem in problems] == [("y", "colocation")]


@pytest.mark.parametrize(("name", "count"), [("embedding_lookup/2893", 0), ("embedding_lookup/2894", 1), ("table", 0)])
def test_a_colocation_with_a_captured_tensor_is_no_fault(tmp_path, name, count):
    graph = text_format.Parse(GOOD, GraphDef())
    function = graph.library.function[0]
    for argument in ("embedding_lookup_2893", "table"):
        function.signature.input_arg.add(name=argument, type=1)
        node(graph, "call").input.append("z")
        node(graph, "call").attr["Tin"].list.type.append(1)
    function.node_def[0].attr["_class"].list.s.append(f"loc:@{name}".encode())
    path = tmp_path / "graph.pb"
    path.write_bytes(graph.SerializeToString())
    problems = tfg("check", path, "--strict", "--format", "json").json["graphs"][0]["problems"]
    assert [problem["kind"] for problem in problems] == ["colocation"] * count


@pytest.mark.parametrize(("name", "count"), [("outside", 0), ("elsewhere", 1)])
def test_a_colocation_that_an_argument_has_from_outside_is_no_fault(tmp_path, name, count):
    graph = text_format.Parse(GOOD, GraphDef())
    function = graph.library.function[0]
    function.arg_attr[0].attr["_class"].list.s.append(b"loc:@outside")
    function.node_def[0].attr["_class"].list.s.append(f"loc:@{name}".encode())
    path = tmp_path / "graph.pb"
    path.write_bytes(graph.SerializeToString())
    problems = tfg("check", path, "--strict", "--format", "json").json["graphs"][0]["problems"]
    assert [problem["kind"] for problem in problems] == ["colocation"] * count


def test_problems_are_ignored_by_code(tmp_path):
    graph = text_format.Parse(GOOD, GraphDef())
    set_attr("z", "_class", "list { s: 'loc:@gone' }")(graph)
    added("node { name: 'n' op: 'NoSuchOp' input: 'y' }")(graph)
    path = tmp_path / "graph.pb"
    path.write_bytes(graph.SerializeToString())

    def codes(*options):
        return [problem["code"] for problem in tfg("check", path, "--format", "json", *options).json["graphs"][0]["problems"]]

    assert codes() == ["colocation", "unknown-op"]
    assert codes("--ignore", "colocation") == ["unknown-op"]
    assert codes("--ignore", "colocation,unknown op") == codes("--ignore", "colocation", "--ignore", "unknown-op") == []
    assert tfg("check", path, "--ignore", "colocation,unknown-op").code == 0
    assert [problem.code for problem in check(str(path), ignore="colocation")] == ["unknown-op"]
    assert " unknown-op::" in tfg("check", path, "--format", "github").out
    refused = tfg("check", path, "--ignore", "collocation")
    assert refused.code == 1
    assert "colocation" in refused.err


def test_codes_are_explained():
    assert tfg("check", "--explain", "unknown-op").out.startswith("unknown-op: ")
    assert tfg("check", "--explain", "cycle", "--format", "json").json["code"] == "cycle"
    assert tfg("check", "--explain", "nothing").code == 1
    assert tfg("check", "--explain", "cycle", SAMPLES / "skipgram.pbtxt").code == 2
    assert tfg("check").code == 2


@pytest.mark.sampled(5)
@pytest.mark.parametrize("broken", sorted(BREAKS), indirect=True)
def test_every_problem_has_a_code_with_a_meaning(broken):
    problems = tfg("check", broken, "--format", "json").json["graphs"][0]["problems"]
    assert {problem["code"] for problem in problems} <= set(MEANINGS)
