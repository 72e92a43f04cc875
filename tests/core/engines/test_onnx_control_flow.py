"""Functions, conditionals, loops and lists as ONNX blocks, in onnxruntime. Skipped without onnxruntime."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("onnx", reason="the extra tfg[onnx] is not installed")
pytest.importorskip("onnxruntime", reason="the extra tfg[onnx] is not installed")
pytestmark = pytest.mark.engine

from tests.functions import define  # noqa: E402
from tfg.core.building.builder import GraphBuilder  # noqa: E402
from tfg.core.onnx.emitter import DEEPEST  # noqa: E402
from tfg.core.onnx.exporting import export  # noqa: E402
from tfg.core.runtime.session.session import Session  # noqa: E402
from tfg.core.types.shapes import Shape  # noqa: E402
from tfg.core.types.tensors import FuncRef  # noqa: E402
from tfg.formats.onnx_model import run_onnx, save_onnx  # noqa: E402

X = np.float32([[1, -2, 3], [4, 5, -6]])


def call(g, x, n):
    inner = define(g, "inner", ["float32"], lambda b, x: [b.Neg(x), b.Square(x)])
    outer = define(g, "outer", ["float32"], lambda b, x: [b.PartitionedCall([x], f=FuncRef(inner), Tout=["float32"] * 2)[1]])
    return g.PartitionedCall([x], f=FuncRef(outer), Tout=["float32"])[0]


def conditional(g, x, n):
    then = define(g, "then", ["float32"], lambda b, x: [b.Sum(x, b.constant(np.int32([0])), keep_dims=True)])
    other = define(g, "other", ["float32"], lambda b, x: [b.Square(x)])
    refs = {"then_branch": FuncRef(then), "else_branch": FuncRef(other)}
    return g.If(g.Greater(n, g.constant(np.int32(2))), [x], Tout=["float32"], **refs)[0]


def conditional_on_a_number(g, x, n):
    names = [define(g, f"on{i}", ["float32"], lambda b, x, i=i: [b.Mul(x, b.constant(np.float32(i)))]) for i in range(2)]
    return g.If(n, [x], Tout=["float32"], then_branch=FuncRef(names[1]), else_branch=FuncRef(names[0]))[0]


def case(g, x, n):
    names = [define(g, f"branch{i}", ["float32"], lambda b, x, i=i: [b.AddV2(x, b.constant(np.float32(i)))]) for i in range(3)]
    return g.Case(n, [x], Tout=["float32"], branches=[FuncRef(name) for name in names])[0]


def loop(g, x, n):
    """Return a loop with a growing variable, a constant variable and a counter."""
    types = ["int32", "int32", "float32", "float32"]
    define(g, "cond", types, lambda b, i, n, x, y: [b.Less(i, n)])

    def body(b, i, n, x, y):
        return [b.AddV2(i, b.constant(np.int32(1))), n, x, b.ConcatV2([y, x], b.constant(np.int32(0)))]

    define(g, "body", types, body)
    return g.While([g.constant(np.int32(0)), n, x, x], cond="cond", body="body")[3]


def counted_loop(g, x, n):
    """Return a loop over decreasing numbers with each number in the body."""
    define(g, "step", ["int32", "float32"], lambda b, i, x: [b.AddV2(b.AddV2(x, x), b.Cast(i, DstT="float32"))])
    return g.For(n, g.constant(np.int32(-2)), g.constant(np.int32(-2)), [x], body=FuncRef("step"))[0]


def list_in_a_loop(g, x, n):
    types = ["int32", "variant", "float32"]
    define(g, "cond", types, lambda b, i, items, x: [b.Less(i, b.constant(np.int32(3)))])

    def body(b, i, items, x):
        after = b.AddV2(i, b.constant(np.int32(1)))
        return [after, b.TensorListSetItem(items, i, b.Mul(x, b.Cast(after, DstT="float32"))), x]

    define(g, "body", types, body)
    unknown, count = g.constant(np.int32(-1)), g.constant(np.int32(3))
    items = g.TensorListReserve(unknown, count, element_dtype="float32")
    filled = g.While([g.constant(np.int32(0)), items, x], cond="cond", body="body")[1]
    return g.TensorListStack(filled, unknown, element_dtype="float32")


def v1_conditional(g, x, n):
    left, right = g.Switch(x, g.Greater(n, g.constant(np.int32(2))))
    inner = g.Switch(right, g.Greater(n, g.constant(np.int32(4))))
    right = g.Merge([g.Exp(inner[0]), g.Abs(inner[1])])[0]
    merged, index = g.Merge([g.Square(left), right])
    return g.AddV2(merged, g.Cast(index, DstT="float32"))


def v1_loop(g, x, n):
    """x doubled n times, each of the results in a TensorArray."""
    handle, flow = g.TensorArrayV3(g.constant(np.int32(8)), dtype="float32", element_shape=[2, 3])
    inside, limit = (g.Enter(value, frame_name="loop", is_constant=True) for value in (handle, n))
    zero = g.constant(np.int32(0))
    merges = [
        g.graph.add_node(f"merge{i}", "Merge", [g.Enter(value, frame_name="loop")] * 2, (), {"T": value.dtype, "N": 2})
        for i, value in enumerate((zero, x, flow))
    ]
    with g.control_dependencies([merges[0]]):
        one, two = g.constant(np.int32(1)), g.constant(np.float32(2))
    more = g.LoopCond(g.Less(merges[0].output(), limit))
    (i_out, i), (x_out, value), (flow_out, flow) = (g.Switch(merge.output(), more) for merge in merges)
    doubled = g.Mul(value, two)
    after = [g.AddV2(i, one), doubled, g.TensorArrayWriteV3(inside, i, doubled, flow)]
    for merge, result in zip(merges, after):
        g.graph.set_input(merge, 1, g.NextIteration(result))
    g.Exit(i_out)
    rows = g.TensorArrayGatherV3(handle, g.Range(zero, n, g.constant(np.int32(1))), g.Exit(flow_out), dtype="float32")
    return g.AddV2(g.Exit(x_out), g.Sum(rows, g.constant(np.int32([0]))))


def complex_branches(g, x, n):
    then = define(g, "then", ["complex64"], lambda b, x: [b.Exp(x)])
    other = define(g, "other", ["complex64"], lambda b, x: [b.Conj(x)])
    refs = {"then_branch": FuncRef(then), "else_branch": FuncRef(other)}
    taken = g.If(g.Greater(n, g.constant(np.int32(2))), [g.Complex(x, g.Neg(x))], Tout=["complex64"], **refs)[0]
    left, right = g.Switch(taken, g.Greater(n, g.constant(np.int32(4))))
    merged = g.Merge([g.Square(left), right])[0]
    return g.AddV2(g.Real(merged), g.Imag(merged))


def complex_loop(g, x, n):
    """Numbers turned by 45 degrees n times, each of them in a list."""
    types = ["int32", "int32", "complex64", "variant"]
    define(g, "cond", types, lambda b, i, n, z, items: [b.Less(i, n)])

    def body(b, i, n, z, items):
        turned = b.Mul(z, b.constant(np.complex64(0.8 + 0.8j)))
        return [b.AddV2(i, b.constant(np.int32(1))), n, turned, b.TensorListSetItem(items, i, turned)]

    define(g, "body", types, body)
    unknown = g.constant(np.int32(-1))
    items = g.TensorListReserve(unknown, g.constant(np.int32(8)), element_dtype="complex64")
    _, _, z, items = g.While([g.constant(np.int32(0)), n, g.Complex(x, x), items], cond="cond", body="body")
    first = g.TensorListGetItem(items, g.constant(np.int32(0)), g.constant(np.int32([2, 3])), element_dtype="complex64")
    return g.ComplexAbs(g.AddV2(z, first))


def optional_of_a_branch(g, x, n):
    """Return the values that a branch saves for the gradient, read if the branch was taken."""
    keep = define(g, "keep", ["float32"], lambda b, x: [b.OptionalFromValue([b.Square(x), b.Complex(x, x)])])
    drop = define(g, "drop", ["float32"], lambda b, x: [b.OptionalNone()])
    types, shapes = ["float32", "complex64"], [Shape([2, 3])] * 2
    is_more = g.Greater(n, g.constant(np.int32(2)))
    refs = {"then_branch": FuncRef(keep), "else_branch": FuncRef(drop)}
    saved = g.If(is_more, [x], Tout=["variant"], **refs)[0]

    def read(b, saved, x):
        square, whole = b.OptionalGetValue(saved, output_types=types, output_shapes=shapes)
        return [b.AddV2(square, b.Imag(whole))]

    got = define(g, "got", ["variant", "float32"], read)
    other = define(g, "other", ["variant", "float32"], lambda b, saved, x: [b.Neg(x)])
    result = g.If(is_more, [saved, x], Tout=["float32"], then_branch=FuncRef(got), else_branch=FuncRef(other))[0]
    return g.AddV2(result, g.Cast(g.OptionalHasValue(saved), DstT="float32"))


def list_of_several_shapes(g, x, n):
    """Return parts of several lengths with a replaced part, and a list of lists."""
    unknown, number = g.constant(np.int32(-1)), lambda i: g.constant(np.int32(i))
    flat = g.Reshape(x, g.constant(np.int32([6])))
    parts = g.TensorListSplit(flat, unknown, g.constant(np.int64([1, 3, 2])), element_dtype="float32")
    parts = g.TensorListSetItem(parts, number(1), g.ConcatV2([flat, flat], number(0)))
    both = g.EmptyTensorList(unknown, unknown, element_dtype="variant")
    both = g.TensorListPushBack(g.TensorListPushBack(both, parts), g.ZerosLike(parts))
    inner = [g.TensorListGetItem(both, number(i), unknown, element_dtype="variant") for i in (0, 1)]
    joined, lengths = g.TensorListConcatV2(inner[0], unknown, g.constant(np.int64([])), element_dtype="float32")
    zeros = g.TensorListGetItem(inner[1], number(1), unknown, element_dtype="float32")
    return g.AddV2(g.ConcatV2([joined, zeros], number(0)), g.Cast(g.Sum(lengths, number(0)), DstT="float32"))


def growing_array(g, x, n):
    """Return a TensorArray with writes beyond the end, and adjacent strings."""
    handle, flow = g.TensorArrayV3(g.constant(np.int32(0)), dtype="string", dynamic_size=True, element_shape=[2, 3])
    text = g.AsString(g.Cast(x, DstT="int32"))
    flow = g.TensorArrayWriteV3(handle, g.constant(np.int32(1)), text, flow)
    read = g.TensorArrayReadV3(handle, g.constant(np.int32(1)), flow, dtype="string")
    numbers = g.StringToNumber(read, out_type="float32")
    return g.AddV2(numbers, g.Cast(g.TensorArraySizeV3(handle, flow), DstT="float32"))


WAYS = (
    call, conditional, conditional_on_a_number, case, loop, counted_loop, list_in_a_loop, v1_conditional, v1_loop,
    complex_branches, complex_loop, optional_of_a_branch, list_of_several_shapes, growing_array,
)  # fmt: skip


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_control_flow(way, tmp_path):
    g = GraphBuilder()
    x = g.Placeholder(dtype="float32", shape=[2, 3], name="x")
    n = g.Placeholder(dtype="int32", shape=[], name="n")
    g.Identity(way(g, x, n), name="y")
    graph = g.graph
    save_onnx(export(graph, {"x": graph.output("x"), "n": graph.output("n")}, {"y": graph.output("y")}), tmp_path / "m.onnx")
    for count in (0, 1, 3, 5):
        expected = Session(graph).run("y:0", {"x:0": X, "n:0": count})
        (result,) = run_onnx(tmp_path / "m.onnx", {"x": X, "n": np.int32(count)})
        assert result.shape == expected.shape
        np.testing.assert_allclose(result, expected, rtol=0, atol=1e-5 * max(np.abs(expected).max(), 1))


def test_what_only_a_branch_needs_is_in_it():
    g = GraphBuilder()
    x = g.Placeholder(dtype="float32", shape=[2, 3], name="x")
    n = g.Placeholder(dtype="int32", shape=[], name="n")
    g.Identity(v1_conditional(g, x, n), name="y")
    graph = g.graph
    model = export(graph, {"x": graph.output("x"), "n": graph.output("n")}, {"y": graph.output("y")})
    outside = {operation.op for operation in model.block.operations}
    everything = {operation.op for operation in model.block.everything()}
    assert {"Exp", "Abs", "Mul"} <= everything
    assert not {"Exp", "Abs", "Mul"} & outside


def test_conditionals_as_deep_as_files_can_be(tmp_path):
    g = GraphBuilder()
    value = x = g.Placeholder(dtype="float32", shape=[2], name="x")
    is_wanted = [g.Placeholder(dtype="bool", shape=[], name=f"is_{i}") for i in range(DEEPEST)]
    others = []
    for predicate in is_wanted:
        no, value = g.Switch(value, predicate)
        others.append(g.Mul(no, g.constant(np.float32([2, len(others)]))))
    value = g.Mul(value, g.constant(np.float32([-1, -2])))
    for other in reversed(others):
        value = g.Merge([other, value])[0]
    save_onnx(export(g.graph, {v.node.name: v for v in (x, *is_wanted)}, {"y": value}), tmp_path / "deep.onnx")
    for taken, expected in ((DEEPEST, [-1, -2]), (DEEPEST - 1, [2, DEEPEST - 1]), (0, [2, 0])):
        feeds = {f"is_{i}": np.array(i < taken) for i in range(DEEPEST)}
        (result,) = run_onnx(tmp_path / "deep.onnx", {"x": np.float32([1, 1]), **feeds})
        np.testing.assert_array_equal(result, np.float32(expected))


@pytest.mark.parametrize("is_true", [True, False])
def test_what_a_branch_learns_of_a_shape_stays_in_the_branch(is_true, tmp_path):
    g = GraphBuilder()
    x = g.Placeholder(dtype="float32", shape=None, name="x")
    p = g.Placeholder(dtype="bool", shape=(), name="p")
    there = define(g, "there", ["float32"], lambda b, x: [b.Size(b.EnsureShape(x, shape=Shape([2, 3])))])
    elsewhere = define(g, "elsewhere", ["float32"], lambda b, x: [b.Neg(b.Size(x))])
    y = g.If(p, [x], Tout=["int32"], then_branch=FuncRef(there), else_branch=FuncRef(elsewhere))[0]
    save_onnx(export(g.graph, {"x": x, "p": p}, {"y": y}), tmp_path / "m.onnx")
    value = X if is_true else np.ones((4, 5, 6), np.float32)
    (result,) = run_onnx(tmp_path / "m.onnx", {"x": value, "p": np.array(is_true)})
    assert result == (6 if is_true else -120)
