"""Shapes that inference follows through lists, loops and shape arithmetic, and sizes that several tensors share."""

from __future__ import annotations

import numpy as np
import pytest

import tfg
from tests.cases.composite import METADATA
from tests.cases.control_flow import counted
from tests.functions import define
from tfg import GraphBuilder
from tfg.core.inference.inference import infer
from tfg.core.passes.pipeline import optimize
from tfg.core.runtime.session.session import Session
from tfg.core.support.errors import InvalidArgumentError
from tfg.core.types.dims import Dim, dim_max, dim_min
from tfg.core.types.dtypes import as_dtype, float32
from tfg.core.types.shapes import Shape, TensorSpec
from tfg.core.types.tensors import FuncRef
from tfg.formats import to_bytes

N, ROWS = Dim.symbol("N"), Dim.symbol("rows")


@pytest.mark.parametrize("dim, text", [
    (dim_min(N + 3, 1), "1"), (dim_max(N + 3, 1), "N + 3"), (dim_max(N, 0), "N"), (dim_max(dim_min(N, 3), 0), "min(N, 3)"),
    (dim_min(N, N + ROWS), "N"), (dim_min(N - 3, 1), "min(N - 3, 1)"), (dim_max(N, ROWS), "max(N, rows)"),
    (dim_max(dim_min(N - 1, 3), 0), "max(min(N - 1, 3), 0)"),
])  # fmt: skip
def test_symbols_stand_for_sizes_which_are_never_negative(dim, text):
    assert str(dim) == text


def placeholder(g, *dims, dtype="float32"):
    return g.Placeholder(dtype=dtype, shape=dims)


def unique(g):
    return g.UniqueWithCounts(placeholder(g, 6))[::2]


def greedy_decoder(g):
    return g.CTCGreedyDecoder(placeholder(g, 5, 2, 7), placeholder(g, 2, dtype="int32"))[:2]


def beam_search_decoder(g):
    logits, lengths = placeholder(g, 5, 2, 7), placeholder(g, 2, dtype="int32")
    return g.CTCBeamSearchDecoder(logits, lengths, beam_width=3, top_paths=2)[1:4:2]


def cropped(g):
    """Return as many crops as boxes; the places of the selected boxes determine the number."""
    places = g.Squeeze(g.Where(placeholder(g, 6, dtype="bool")), squeeze_dims=[1])
    boxes = g.GatherV2(placeholder(g, 6, 4), places, 0)
    return places, g.CropAndResize(placeholder(g, 1, 8, 8, 3), boxes, placeholder(g, None, dtype="int32"), [2, 2])


@pytest.mark.parametrize("build", [unique, greedy_decoder, beam_search_decoder, cropped])
def test_what_must_be_equal_is_one_symbol(build):
    g = GraphBuilder()
    first, second = build(g)
    specs = infer(g.graph)
    assert specs.shape(first)[0] == specs.shape(second)[0]
    assert specs.shape(first)[0].is_unknown


def test_sizes_of_different_nodes_differ():
    g = GraphBuilder()
    x = placeholder(g, 6)
    first, second = g.Unique(x)[0], g.Unique(x)[0]
    specs = infer(g.graph)
    assert specs.shape(first) != specs.shape(second)


def head(g, x):
    masks = dict.fromkeys(("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask"), 0)
    return g.StridedSlice(x, [0], [3], [1], **masks)


def broadcast(g, x):
    return g.BroadcastTo(1.0, g.BroadcastArgs(g.Shape(x, out_type="int32"), [1, 1]))


def broadcast_scalars(g, x):
    empty = g.constant(np.zeros(0, np.int32))
    return g.BroadcastTo(1.0, g.BroadcastArgs(empty, empty))


def stitched(g, x):
    """The shape that the gradient of a sum has with the summed axes kept."""
    return g.Fill(g.DynamicStitch([[0, 1], [1]], [g.Shape(x, out_type="int32"), [1]]), 0.0)


def framed(g, x):
    """The shape that tf_keras's LayerNormalization computes in: a size that is not known between numbers."""
    return g.Fill(g.Pack([np.int32(1), g.Prod(g.Shape(x, out_type="int32"), 0), np.int32(1)], axis=0), 0.0)


def popped(g, x):
    """Return the common part of different element shapes."""
    both = g.TensorListPushBack(g.TensorListPushBack(empty_list(g), x), np.zeros((5, 4), np.float32))
    return g.TensorListPopBack(both, -1, element_dtype="float32")[1]


def alone(g, x):
    return g.TensorListPopBack(g.TensorListPushBack(empty_list(g), x), -1, element_dtype="float32")[1]


def popped_shape(g, x):
    """Return the value of a list with a single shape tensor."""
    pushed = g.TensorListPushBack(g.EmptyTensorList(-1, -1, element_dtype="int32"), g.Shape(x, out_type="int32"))
    return g.Fill(g.TensorListPopBack(pushed, -1, element_dtype="int32")[1], 0.0)


def empty_list(g):
    return g.EmptyTensorList(-1, -1, element_dtype="float32")


def stacked(g, x):
    return g.TensorListStack(g.TensorListPushBack(empty_list(g), x), -1, element_dtype="float32")


@pytest.mark.parametrize("build, text", [
    (head, "(min(N, 3),4)"), (broadcast, "(N,4)"), (broadcast_scalars, "()"), (stitched, "(N,1)"),
    (framed, "(1,4*N,1)"),    (alone, "(N,4)"), (popped, "(?,4)"), (popped_shape, "(N,4)"), (stacked, "(1,N,4)"),
])  # fmt: skip
def test_shapes_of_symbols(build, text):
    g = GraphBuilder()
    x = placeholder(g, None, 4)
    y = build(g, x)
    assert str(infer(g.graph, {x: TensorSpec(float32, Shape((N, 4)))}).shape(y)) == text


def test_lists_that_a_loop_fills_have_what_it_pushes():
    g = GraphBuilder()
    define(g, "condition", ["int32", "variant", "float32"], lambda b, i, items, x: [b.Less(i, 5)])
    define(g, "body", ["int32", "variant", "float32"],
           lambda b, i, items, x: [b.AddV2(i, 1), b.TensorListPushBack(items, b.Square(x)), x])  # fmt: skip
    items = g.While([g.constant(0), empty_list(g), placeholder(g, 3, 4)], cond="condition", body="body")[1]
    last = g.TensorListPopBack(items, -1, element_dtype="float32")[1]
    stack = g.TensorListStack(items, -1, element_dtype="float32")
    specs = infer(g.graph)
    assert str(specs.shape(last)) == "(3,4)"
    assert str(specs.shape(stack)) == "(?,3,4)"


def test_loops_keep_the_values_of_what_they_pass_on():
    g = GraphBuilder()
    define(g, "condition", ["int32", "int32"], lambda b, i, n: [b.Less(i, n)])
    define(g, "body", ["int32", "int32"], lambda b, i, n: [b.AddV2(i, 1), b.Identity(n)])
    i, n = g.While([g.constant(0), g.constant(7)], cond="condition", body="body")
    specs = infer(g.graph)
    assert specs.spec(n).value == 7
    assert specs.spec(i).value is None


SHIFTED = 9
"""The number of loop variables that take the values of their neighbours; a shape from the end arrives as many trips later."""


def shifted_in_a_while(g):
    types = ["int32", *["float32"] * SHIFTED]
    define(g, "condition", types, lambda b, i, *values: [b.Less(i, 20)])
    define(g, "body", types, lambda b, i, *values: [b.AddV2(i, 1), *values[1:], b.constant(np.zeros(5, "f"))])
    starts = [g.constant(np.zeros(2, "f")) for _ in range(SHIFTED)]
    return g.While([g.constant(0), *starts], cond="condition", body="body")[1]


def shifted_in_a_frame(g):
    starts = [g.constant(np.zeros(2, "f")) for _ in range(SHIFTED)]

    def step(values, fixed):
        with g.control_dependencies([values[0]]):
            return [*values[1:], g.Identity(fixed[0])]

    return counted(g, "frame", 20, starts, [g.constant(np.zeros(5, "f"))], step)[1]


@pytest.mark.parametrize("build", [shifted_in_a_while, shifted_in_a_frame])
def test_a_loop_that_takes_long_to_change_a_shape_leaves_it_unknown(build):
    g = GraphBuilder()
    result = build(g)
    assert infer(g.graph).shape(result).dims is None
    assert Session(g.graph).run(result.name).shape == (5,)


@pytest.mark.parametrize("op", ["RemoteCall", "BatchFunction", "_If", "For"])
def test_ops_that_call_functions(op):
    g = GraphBuilder()
    x = placeholder(g, 6, 7)
    if op == "RemoteCall":
        define(g, "f", ["float32"], lambda b, v: [b.Square(v)])
        y = g.RemoteCall("cpu", [x], Tout=["float32"], f="f")[0]
    elif op == "BatchFunction":
        define(g, "f", ["float32"], lambda b, v: [b.Square(v)])
        y = g.BatchFunction([x], [], Tout=["float32"], f="f", num_batch_threads=1, max_batch_size=8, batch_timeout_micros=1)[0]
    elif op == "_If":
        define(g, "f", ["float32"], lambda b, v: [b.Square(v)])
        y = g.apply("_If", g.constant(True), [x], Tout=["float32"], then_branch="f", else_branch="f")[0]
    else:
        define(g, "f", ["int32", "float32"], lambda b, i, v: [b.Square(v)])
        y = g.For(0, 10, 2, [x], body="f")[0]
    assert str(infer(g.graph).shape(y)) == "(6,7)"


@pytest.mark.parametrize("types", [["float32", "float64"], ["int32"], []])
def test_a_call_that_declares_other_outputs_than_the_function_returns(types):
    """Outputs that the function does not return are unknown; running or changing the call reports the fault."""
    g = GraphBuilder()
    define(g, "f", ["float32"], lambda b, v: [b.Square(v)])
    attrs = {"Tin": [float32], "Tout": [as_dtype(t) for t in types], "branches": [FuncRef("f")]}
    node = g.graph.add_node("call", "StatelessCase", [g.constant(0), g.constant(2.0)], attrs=attrs)
    specs = infer(g.graph)
    assert [specs.specs[output].dtype for output in node.outputs()] == [as_dtype(t) for t in types]
    with pytest.raises(InvalidArgumentError, match="function 'f' returns"):
        optimize(g.graph, [output.name for output in node.outputs()] or ["call"])
    with pytest.raises(InvalidArgumentError, match="call"):
        Session(g.graph).run([output.name for output in node.outputs()] or ["call"])


def test_gradients_of_functions_are_shaped_as_the_arguments():
    g = GraphBuilder()
    define(g, "f", ["float32", "float32"], lambda b, x, w: [b.MatMul(x, w)])
    inputs = [placeholder(g, 5, 3), placeholder(g, 3, 2), placeholder(g, 5, 2)]
    dx, dw = g.SymbolicGradient(inputs, Tout=["float32"] * 2, f="f")
    specs = infer(g.graph)
    assert [str(specs.shape(value)) for value in (dx, dw)] == ["(5,3)", "(3,2)"]


def test_nothing_but_the_dtype_is_known_of_what_nobody_declares():
    neg = 'node { name: "y" op: "Neg" input: "x" attr { key: "T" value { type: DT_FLOAT } } }'
    graph = tfg.load(f'node {{ name: "x" op: "Nobody" }} {neg}'.encode())
    specs = infer(graph)
    assert specs.spec(graph.output("x:0")).shape.dims is None
    assert str(specs.spec(graph.output("y:0")).dtype) == "float"
    assert [cost.path for cost in tfg.count_flops(graph, ["y"]).unknown()] == ["x", "y"]


@pytest.mark.parametrize("make", ["CompositeTensorVariantFromComponents", "OptionalFromValue", "EmptyTensorMap", "TensorList"])
@pytest.mark.parametrize("op", ["TensorListLength", "TensorListPopBack", "TensorListConcatLists", "TensorListGather"])
def test_of_a_variant_that_is_no_list_nothing_is_read(make, op):
    """Two components, text in the second place, are not the elements and the length of a list."""
    g = GraphBuilder()
    parts = [g.constant(np.ones(3, np.float32)), g.constant(np.array([b"x", b"y"], object))]
    if make == "TensorList":
        handle = g.TensorListFromTensor(parts[0], g.constant(np.zeros(0, np.int32)), element_dtype="float32")
    else:
        attrs = {"metadata": METADATA} if make.startswith("Composite") else {}
        handle = g.apply(make, *([parts] if make != "EmptyTensorMap" else []), **attrs)
    given = {
        "TensorListPopBack": [g.constant(np.zeros(0, np.int32))], "TensorListConcatLists": [handle],
        "TensorListGather": [g.constant(np.int32([0])), g.constant(np.zeros(0, np.int32))],
    }.get(op, [])  # fmt: skip
    attrs = {} if op == "TensorListLength" else {"element_dtype": "float32"}
    spec = infer(g.graph).specs[g.add(op, [handle, *given], attrs).output()]
    assert spec.value is None or make == "TensorList"


def test_unknown_sizes_of_nodes_that_share_their_attributes_in_a_file_are_not_one_size():
    """Two inputs of shape (?) may have different sizes, whatever they share: Shape(a) must not stand for Shape(b)."""
    g = GraphBuilder()
    for name in ("a", "b"):
        g.Shape(g.Placeholder(dtype="float", shape=[None], name=name), name=f"shape_of_{name}")
        g.VarHandleOp(dtype="float", shape=[None], shared_name=name, name=f"variable_{name}")
    graph = tfg.load(to_bytes(g.graph))
    specs = infer(graph).specs
    assert specs[graph.output("a")].shape[0] != specs[graph.output("b")].shape[0]
    held = [specs[graph.output(f"variable_{name}")].handle[0].shape[0] for name in ("a", "b")]
    assert held[0] != held[1]
    optimized, _ = optimize(graph, ["shape_of_a:0", "shape_of_b:0"])
    values = tfg.Session(optimized).run(["shape_of_a:0", "shape_of_b:0"], {"a:0": [1.0], "b:0": [1.0, 2.0]})
    assert [value.tolist() for value in values] == [[1], [2]]


@pytest.mark.parametrize("op", ["Size", "Shape"])
def test_sizes_that_their_dtype_does_not_hold_are_refused(op):
    g = GraphBuilder()
    x = g.Placeholder(dtype="float", shape=[2**31, 2**31], name="x")
    g.apply(op, x, name="size")
    assert "do not fit in int32" in infer(g.graph).reasons["size"]


def test_a_place_that_is_known_by_name_only_is_no_fault():
    """The loops of Keras' TimeDistributed take rows at places that they compute of the batch."""
    g = GraphBuilder()
    x = g.Placeholder(dtype="float32", shape=[None, 3], name="x")
    rows = g.StridedSlice(g.Shape(x), [0], [1], [1], shrink_axis_mask=1)
    last = g.StridedSlice(np.int32([4, 5, 6]), g.Pack([g.Sub(rows, np.int32(1))]), g.Pack([rows]), [1], shrink_axis_mask=1)
    inference = infer(g.graph, {x: TensorSpec(float32, Shape((N, 3)))})
    assert not inference.reasons and inference.specs[last].value is None
