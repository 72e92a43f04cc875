"""Graphs as ONNX models, without the onnx package: refused, folded, shared and moved nodes."""

from __future__ import annotations

import numpy as np
import pytest

import tfg as package
from tests.cli.running import SAMPLES
from tests.cli.running import tfg as run
from tests.functions import define
from tfg.cli.next_steps import in_commands
from tfg.core.building.builder import GraphBuilder
from tfg.core.onnx.emitter import DEEPEST
from tfg.core.onnx.exporting import export
from tfg.core.onnx.stateless import updates, without_updates
from tfg.core.passes.pipeline import inline_functions
from tfg.core.runtime.session.session import Session
from tfg.core.support.errors import UnimplementedError
from tfg.core.types import dtypes
from tfg.core.types.shapes import Shape
from tfg.core.types.tensors import FuncRef


def exported(b, *outputs):
    graph = b.graph
    inputs = {node.name: node.output() for node in graph if node.is_placeholder}
    return export(graph, inputs, {name: graph.output(name) for name in outputs})


def ops_of(model):
    return [operation.op for operation in model.block.operations]


def test_all_that_is_refused_is_named_with_the_reason():
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[3, 3], name="x")
    b.MatrixSquareRoot(x, name="first")
    b.MatrixSquareRoot(b.Neg(x), name="second")
    b.RandomUniform(b.constant(np.int32([3, 3])), dtype="float32", name="third")
    b.AddN([b.graph.output("first"), b.graph.output("second"), b.graph.output("third")], name="y")
    with pytest.raises(UnimplementedError) as refused:
        exported(b, "y")
    message = str(refused.value)
    assert "3 nodes" in message
    assert "MatrixSquareRoot (first, second): it has no lowering" in message
    assert "RandomUniform (third): it is stateful" in message
    assert "`inputs=['third']`" in refused.value.hint
    assert "passes='default,remove_dropout'" in refused.value.hint


def test_an_argument_outside_of_a_call_becomes_an_input():
    """The body of a function, written as a graph."""
    b = GraphBuilder()
    x = b.graph.add_node("x", "_Arg", (), (), {"T": dtypes.float32, "index": 0}).output()
    b.Mul(x, np.float32(2), name="y")
    with pytest.raises(UnimplementedError, match=r"_Arg \(x\): it is an argument of a function, outside of a call") as refused:
        exported(b, "y")
    assert in_commands(refused.value.hint) == "--from x makes it an input of the model"
    assert refused.value.hint == "`inputs=['x']` makes it an input of the model"


def test_what_only_checks_and_prints_take_is_left_out_with_them():
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[3, 3], name="x")
    root = b.MatrixSquareRoot(x, name="root")
    printed = b.PrintV2(b.StringFormat([root], template="%s", placeholder="%s"))
    with b.control_dependencies([printed, b.Assert(b.constant(True), [root])]):
        y = b.Exp(x, name="y")
    assert ops_of(exported(b, "y")) == ["Exp"]
    b.Add(y, root, name="z")
    with pytest.raises(UnimplementedError, match=r"MatrixSquareRoot \(root\)"):
        exported(b, "z")


def test_what_does_something_is_never_left_out():
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[3], name="x")
    with b.control_dependencies([b.QueueSizeV2(b.FIFOQueueV2(component_types=["float32"]), name="size")]):
        b.Exp(x, name="y")
    with pytest.raises(UnimplementedError, match=r"QueueSizeV2 \(size\)"):
        exported(b, "y")


@pytest.mark.parametrize("op", ["Equal", "NotEqual"])
def test_shapes_that_do_not_fit_are_not_equal(op):
    b = GraphBuilder()
    sides = [b.Placeholder(dtype="float32", shape=[size], name=f"x{size}") for size in (2, 3)]
    b.Identity(b.apply(op, *sides, incompatible_shape_error=False), name="y")
    model = exported(b, "y")
    assert ops_of(model) == ["Identity"]
    assert model.block.operations[0].inputs[0].array == (op == "NotEqual")


def test_what_a_lowering_needs_to_know_is_said():
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[3, 3], name="x")
    perm = b.Placeholder(dtype="int32", shape=[2], name="perm")
    b.Transpose(x, perm, name="y")
    with pytest.raises(UnimplementedError, match=r"Transpose \(y\): its input 1 is not constant"):
        exported(b, "y")


def test_what_onnxruntime_has_no_kernel_for_is_said():
    b = GraphBuilder()
    b.Pad(b.Placeholder(dtype="string", shape=[3], name="x"), b.constant(np.int32([[1, 1]])), name="y")
    with pytest.raises(UnimplementedError, match=r"Pad \(y\): onnxruntime has no Pad for string"):
        exported(b, "y")


def test_what_trips_over_a_refused_node_is_no_fault():
    b = GraphBuilder()
    first = b.constant(np.int32(0))
    handle, flow = b.TensorArrayV3(b.constant(np.int32(2)), dtype="float32")
    handle, flow = b.TensorArrayGradV3(handle, flow, source="gradients", name="grad")
    flow = b.TensorArrayWriteV3(handle, first, b.Placeholder(dtype="float32", shape=[2], name="x"), flow)
    b.TensorArrayReadV3(handle, first, flow, dtype="float32", name="y")
    with pytest.raises(UnimplementedError, match=r"TensorArrayGradV3 \(grad\): it is stateful"):
        exported(b, "y")


def test_elements_of_several_shapes_in_a_list_of_unknown_length_are_refused():
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[3, 2], name="x")
    unknown, count = b.constant(np.int32(-1)), b.Placeholder(dtype="int32", shape=[], name="count")
    items = b.TensorListReserve(unknown, count, element_dtype="float32")
    items = b.TensorListSetItem(items, b.constant(np.int32(0)), x, name="first")
    wider = b.ConcatV2([x, x], b.constant(np.int32(1)))
    items = b.TensorListSetItem(items, b.constant(np.int32(1)), wider, name="second")
    b.TensorListGetItem(items, b.constant(np.int32(0)), unknown, element_dtype="float32", name="y")
    with pytest.raises(UnimplementedError, match=r"TensorListSetItem \(second\): its elements may have several shapes"):
        exported(b, "y")


def test_inputs_of_different_batches_in_a_loop_are_explained():
    """In a decoder the state of the encoder broadcasts in the first iteration, if its batch is 1."""
    b = GraphBuilder()
    state, x = (b.Placeholder(dtype="float32", shape=[None, 2], name=name) for name in ("state", "x"))
    types = ["int32", "float32", "float32", "variant"]

    def advance(g, i, h, x, items):
        h = g.AddV2(h, x)
        return [g.AddV2(i, g.constant(np.int32(1))), h, x, g.TensorListSetItem(items, i, h)]

    body = define(b, "body", types, advance)
    cond = define(b, "cond", types, lambda g, i, h, x, items: [g.Less(i, g.constant(np.int32(3)))])
    items = b.TensorListReserve(np.int32([-1, 2]), np.int32(3), element_dtype="float32")
    loop = b.StatelessWhile([np.int32(0), state, x, items], body=FuncRef(body), cond=FuncRef(cond), T=types, name="loop")
    b.TensorListStack(loop[3], np.int32([-1, 2]), element_dtype="float32", num_elements=3, name="y")
    with pytest.raises(UnimplementedError, match=r"StatelessWhile \(loop\): the elements of a list may differ") as refused:
        exported(b, "y")
    assert in_commands(refused.value.hint) == "--shape fixes the batches of the inputs, which may differ"


def test_shapes_and_constants_are_folded():
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[2, 3], name="x")
    size = b.Prod(b.Shape(x), b.constant(np.int32([0])))
    b.Mul(x, b.Exp(b.Cast(size, DstT="float32")), name="y")
    model = exported(b, "y")
    assert ops_of(model) == ["Mul"]
    (scale,) = [value.array for value in model.block.operations[0].inputs if value.array is not None]
    np.testing.assert_allclose(scale, np.exp(np.float32(6)), rtol=1e-6)


def test_unknown_dimensions_are_symbols():
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[None, 3], name="x")
    b.ConcatV2([x, x], b.constant(np.int32(0)), name="y")
    model = exported(b, "y")
    assert [str(dim) for dim in model.inputs["x"].shape] == ["x_dim0", "3"]
    assert [str(dim) for dim in model.outputs["y"].shape] == ["2*x_dim0", "3"]


def test_a_reshape_with_one_unknown_dimension_is_to_a_constant():
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[None, 2, 3], name="x")
    rows = b.StridedSlice(b.Shape(x), *(b.constant(np.int32([i])) for i in (0, 1, 1)), shrink_axis_mask=1)
    b.Reshape(x, b.Pack([rows, b.constant(np.int32(6))], axis=0), name="y")
    model = exported(b, "y")
    assert ops_of(model) == ["Reshape"]
    assert model.block.operations[0].inputs[1].array.tolist() == [-1, 6]


def test_float64_without_kernels_is_narrowed_and_told():
    b = GraphBuilder()
    b.Erf(b.Placeholder(dtype="float64", shape=[3], name="x"), name="y")
    model = exported(b, "y")
    assert ops_of(model) == ["Cast", "Erf", "Cast"]
    assert model.narrowed == ("y",)


def test_without_the_packages_an_error_names_the_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "onnx", None)
    done = run("convert", SAMPLES / "xor.pbtxt", tmp_path / "m.onnx", "--to", "probability", "--init")
    assert done.code == 1
    assert "tfg[onnx]" in done.err
    assert not (tmp_path / "m.onnx").exists()


def test_options_of_graphs_are_refused(tmp_path):
    done = run("convert", SAMPLES / "xor.pbtxt", tmp_path / "m.onnx", "--text")
    assert done.code == 2 and "--text has no effect with OUT=*.onnx" in done.err


def test_updates_that_no_output_takes_are_left_out():
    graph = package.load(SAMPLES / "scaler_saved_model")
    outputs = graph.meta.usual_signature.fetched
    assert updates(graph, list(outputs.values()))
    inlined, _ = inline_functions(graph)
    calls, scaled = sorted(outputs.values())
    without, after = without_updates(inlined, [scaled])
    assert not updates(without, [scaled]) and not after
    assert without_updates(inlined, [calls])[1].keys() == {"calls"}


def test_variables_that_outputs_follow_are_inputs_and_outputs():
    """A loop around the graph of values gives the variables' values from run to run."""
    b = GraphBuilder()
    handle = b.VarHandleOp(dtype="float32", shape=[2], shared_name="state", name="state")
    x = b.Placeholder(dtype="float32", shape=[2], name="x")
    init = b.AssignVariableOp(handle, b.constant(np.float32([1, 2])), name="init")
    before = b.ReadVariableOp(handle, dtype="float32", name="before")
    with b.control_dependencies([before.node]):
        added = b.AssignAddVariableOp(handle, x)
    with b.control_dependencies([added]):
        product = b.Mul(b.ReadVariableOp(handle, dtype="float32"), before)
        replaced = b.AssignVariableOp(handle, product)
    with b.control_dependencies([replaced]):
        b.Neg(b.ReadVariableOp(handle, dtype="float32"), name="y")
    graph, after = without_updates(b.graph, ["y:0", "before:0"])
    session, state = Session(b.graph), np.float32([1, 2])
    session.run(init.name)
    for given in ([1, 1], [0, -3], [2, 5]):
        feed = {"x:0": np.float32(given)}
        expected = session.run(["y:0", "before:0"], feed)
        *results, state = Session(graph).run(["y:0", "before:0", after["state"]], {**feed, "state_before:0": state})
        np.testing.assert_array_equal(results, expected)


def test_what_else_is_done_to_a_variable_is_refused():
    b = GraphBuilder()
    handle = b.VarHandleOp(dtype="float32", shape=[2], shared_name="state", name="state")
    b.ResourceScatterAdd(handle, b.constant(np.int32([0])), b.constant(np.float32([1])), name="scatter")
    with b.control_dependencies([b.graph.node("scatter")]):
        b.ReadVariableOp(handle, dtype="float32", name="y")
    with pytest.raises(UnimplementedError, match=r"'scatter' \(ResourceScatterAdd\): .* variable 'state', which it writes"):
        without_updates(b.graph, ["y:0"])


def test_a_shape_given_for_an_input():
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", name="x")
    b.AvgPool(x, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="VALID", name="y")
    with pytest.raises(UnimplementedError, match=r"AvgPool \(y\): the rank of an input is unknown"):
        exported(b, "y")
    b.graph.node("x").set_attr("shape", Shape([None, 4, 4, 1]))
    assert [str(dim) for dim in exported(b, "y").outputs["y"].shape] == ["x_dim0", "2", "2", "1"]


@pytest.mark.slow
def test_what_takes_long_or_needs_a_session_is_not_computed_before():
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[], name="x")
    large = b.constant(np.broadcast_to(np.float32(1), (10_000, 10_000)))
    b.AddV2(x, b.Sum(b.MatMul(large, large), b.constant(np.int32([0, 1]))), name="y")
    assert "MatMul" in ops_of(exported(b, "y"))
    b.ExtractGlimpse(np.ones((1, 4, 4, 1), "f"), np.int32([2, 2]), np.float32([[0, 0]]), name="glimpse")
    with pytest.raises(UnimplementedError, match=r"ExtractGlimpse \(glimpse\): it has no lowering"):
        exported(b, "glimpse")


@pytest.mark.slow
def test_functions_that_call_others_twice_are_not_written_out():
    """Twenty functions are a million calls: the size of the model is counted during the export."""
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[2], name="x")

    def twice(inner, a, name):
        once = inner.PartitionedCall([a], f=FuncRef(name), Tout=["float32"])[0]
        return [inner.PartitionedCall([once], f=FuncRef(name), Tout=["float32"])[0]]

    name = define(b, "f0", ["float32"], lambda inner, a: [inner.Tanh(a)])
    for i in range(1, 21):
        name = define(b, f"f{i}", ["float32"], lambda inner, a, name=name: twice(inner, a, name))
    for called, outcome in (("f5", None), ("f20", "far larger")):
        y = b.PartitionedCall([x], f=FuncRef(called), Tout=["float32"], name=f"call_{called}")[0].name
        if outcome is None:
            assert ops_of(exported(b, y)) == ["Tanh"] * 32
        else:
            with pytest.raises(UnimplementedError, match=outcome):
                exported(b, y)


def conditionals_of_functions(depth):
    """Return `depth` Ifs, each in a branch of the previous If, and their value."""
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[2], name="x")
    is_wanted = b.Placeholder(dtype="bool", shape=[], name="is_wanted")
    other = define(b, "other", ["bool", "float32"], lambda inner, p, a: [inner.Neg(a)])
    name = define(b, "f0", ["bool", "float32"], lambda inner, p, a: [inner.Tanh(a)])

    def conditional(inner, p, a, name):
        return inner.If(p, [p, a], Tout=["float32"], then_branch=FuncRef(name), else_branch=FuncRef(other))

    for i in range(1, depth):
        name = define(b, f"f{i}", ["bool", "float32"], lambda inner, p, a, name=name: conditional(inner, p, a, name))
    return b, conditional(b, is_wanted, x, name)[0].name


def conditionals_of_switches(depth):
    b = GraphBuilder()
    value = b.Placeholder(dtype="float32", shape=[2], name="x")
    others = []
    for i in range(depth):
        no, value = b.Switch(value, b.Placeholder(dtype="bool", shape=[], name=f"is_{i}"))
        others.append(b.Neg(no))
    value = b.Tanh(value)
    for other in reversed(others):
        value = b.Merge([other, value])[0]
    return b, value.name


@pytest.mark.parametrize("nested", [conditionals_of_functions, conditionals_of_switches])
def test_conditionals_that_are_deeper_than_files_can_be_are_refused(nested):
    assert exported(*nested(DEEPEST)).block.depth == DEEPEST
    with pytest.raises(UnimplementedError, match="deep"):
        exported(*nested(DEEPEST + 1))
    with pytest.raises(UnimplementedError, match="deep"):
        exported(*nested(2 * DEEPEST))


def test_the_error_names_layers(tmp_path):
    """A single node has the author's name, and several nodes are told by their layers."""
    pytest.importorskip("onnxruntime", reason="the extra tfg[onnx] is not installed")
    b = GraphBuilder()
    value = b.Placeholder(dtype="float32", shape=[None, 8], name="x")
    for block in range(10):
        with b.name_scope(f"block{block}"):
            value = b.MatMul(value, b.constant(np.full((8, 8), 0.5, np.float32), name="kernel"), name="MatMul")
            words = b.AsString(value, name="AsString")
            for part in range(2):
                words = b.StaticRegexReplace(words, pattern="a", rewrite="b", name=f"part{part}")
            value = b.StringToNumber(words, name="StringToNumber")
    b.StringToHashBucketFast(words, num_buckets=3, name="head/bucket")
    with pytest.raises(UnimplementedError) as error:
        package.convert(b.graph, tmp_path / "m.onnx", outputs=["head/bucket:0"])
    blocks = ", ".join(f"block{block}" for block in range(8))
    assert f"StaticRegexReplace (20 nodes in {blocks} and 2 more): it has no lowering" in error.value.details
    assert "StringToHashBucketFast (head/bucket): it has no lowering" in error.value.details


def test_the_error_names_layers_of_functions(tmp_path):
    """A node of a called function has the name of the layer, without the functions."""
    pytest.importorskip("onnxruntime", reason="the extra tfg[onnx] is not installed")
    b = GraphBuilder()
    x = b.Placeholder(dtype="string", shape=[None], name="words")
    define(
        b, "forward", ["string"],
        lambda inner, words: [inner.StaticRegexReplace(words, pattern="a", rewrite="b", name="text/StaticRegexReplace")],
    )  # fmt: skip
    b.PartitionedCall([x], f="forward", Tout=["string"], name="call")
    with pytest.raises(UnimplementedError) as error:
        package.convert(b.graph, tmp_path / "m.onnx", outputs=["call:0"])
    assert list(error.value.details) == ["StaticRegexReplace (text/StaticRegexReplace): it has no lowering"]
