"""Freezing: references, resources, handles that go into functions and loops, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from tests.functions import define
from tfg import GraphBuilder, Session
from tfg.cli.next_steps import in_commands
from tfg.core.support.errors import FailedPreconditionError
from tfg.core.transforms.freezing import freeze
from tfg.core.types.tensors import FuncRef, Tensor
from tfg.formats import load, to_bytes

W = np.array([[1.0, 2.0], [3.0, 4.0]], np.float32)
X = np.array([[1.0, 1.0]], np.float32)
VALUES = {"w": Tensor.from_numpy(W), "v": Tensor.from_numpy(-W)}
HANDLE = ["resource"]


def read(b, handle):
    return b.ReadVariableOp(handle, dtype="float32")


def product(b, x, handle):
    return [b.MatMul(x, read(b, handle))]


def call(g, x, w, v):
    f = define(g, "product", ["float32", "resource"], product, stateful=True)
    first = g.StatefulPartitionedCall([x, w], f=FuncRef(f), Tout=["float32"])[0]
    return g.StatefulPartitionedCall([first, v], f=FuncRef(f), Tout=["float32"])[0]


def call_by_name(g, x, w, v):
    define(g, "product", ["float32", "resource"], product, stateful=True)
    return g.graph.add_node("call", "product", [x, w]).output()


def nested_calls(g, x, w, v):
    inner = define(g, "inner", ["resource", "float32"], lambda b, handle, x: product(b, x, handle))
    outer = define(
        g, "outer", ["float32", "resource"],
        lambda b, x, handle: b.PartitionedCall([b.Identity(handle), x], f=FuncRef(inner), Tout=["float32"]),
    )  # fmt: skip
    return g.PartitionedCall([x, w], f=FuncRef(outer), Tout=["float32"])[0]


def handle_returned(g, x, w, v):
    f = define(g, "same", ["resource", "float32"], lambda b, handle, x: [b.Neg(x), handle])
    negative, handle = g.PartitionedCall([w, x], f=FuncRef(f), Tout=["float32", "resource"])
    return g.MatMul(negative, read(g, handle))


def conditional(g, x, w, v):
    names = [define(g, name, ["resource", "resource", "float32"], make, stateful=True) for name, make in (
        ("then", lambda b, w, v, x: product(b, x, w)), ("otherwise", lambda b, w, v, x: product(b, x, v))
    )]  # fmt: skip
    taken = [w, v, x]
    return g.If(
        g.Greater(g.Sum(x, [0, 1]), 0.0), taken, Tout=["float32"], output_shapes=[[1, 2]],
        then_branch=FuncRef(names[0]), else_branch=FuncRef(names[1]), _read_only_resource_inputs=[1, 2],
    )[0]  # fmt: skip


def chosen_handle(g, x, w, v):
    names = [define(g, f"branch{i}", HANDLE * 2, lambda b, *handles, i=i: [handles[i]]) for i in range(2)]
    handle = g.Case(1, [w, v], Tout=HANDLE, branches=[FuncRef(name) for name in names], output_shapes=[[]])[0]
    return g.MatMul(x, read(g, handle))


def loop(g, x, w, v):
    args = ["int32", "resource", "float32"]
    cond = define(g, "cond", args, lambda b, i, handle, x: [b.Less(i, 2)])
    body = define(g, "body", args, lambda b, i, handle, x: [b.AddV2(i, 1), b.Identity(handle), *product(b, x, handle)])
    _, handle, result = g.While([0, w, x], cond=FuncRef(cond), body=FuncRef(body), output_shapes=[[], [], [1, 2]])
    return g.AddV2(result, read(g, handle))


def v1_loop(g, x, w, v):
    handle = g.Enter(w, frame_name="loop", is_constant=True)
    merge = g.graph.add_node("merge", "Merge", [g.Enter(x, frame_name="loop")] * 2, (), {"T": x.dtype, "N": 2})
    with g.control_dependencies([merge]):
        more = g.LoopCond(g.Less(g.Sum(merge.output(), [0, 1]), 20.0))
    leaving, staying = g.Switch(merge.output(), more)
    g.graph.set_input(merge, 1, g.NextIteration(product(g, staying, handle)[0]))
    return g.Exit(leaving)


def v1_choice(g, x, w, v):
    predicate = g.Greater(g.Sum(x, [0, 1]), 5.0)
    handle, _ = g.Merge([g.Switch(w, predicate)[1], g.Switch(v, predicate)[0]])
    return g.MatMul(x, read(g, handle))


WAYS = (
    (call, X @ W @ -W), (call_by_name, X @ W), (nested_calls, X @ W), (handle_returned, -X @ W), (conditional, X @ W),
    (chosen_handle, X @ -W), (loop, X @ W @ W + W), (v1_loop, X @ W @ W), (v1_choice, X @ -W),
)  # fmt: skip


def built(way):
    """The graph with input `x` and output `y` that does something to resource variables `w` and `v`."""
    g = GraphBuilder()
    x = g.Placeholder(dtype="float", shape=[None, 2], name="x")
    w, v = (g.variable(np.zeros((2, 2), np.float32), name=name, resource=True) for name in "wv")
    g.Identity(way(g, x, w.handle, v.handle), name="y")
    return g.graph


def takes_resource(node):
    return any(value.dtype is not None and value.dtype.name == "resource" for value in node.inputs)


@pytest.mark.parametrize(("way", "expected"), WAYS, ids=lambda item: getattr(item, "__name__", ""))
def test_handles_become_values_wherever_they_go(way, expected):
    graph = built(way)
    before = to_bytes(graph)
    frozen = load(to_bytes(freeze(graph, VALUES, ["y:0"])))
    assert to_bytes(graph) == before
    for part in (frozen, *(function.body for function in frozen.functions.values())):
        part.check()
        assert not any(takes_resource(node) or node.op == "VarHandleOp" for node in part)
    np.testing.assert_array_equal(Session(frozen).run("y:0", {"x:0": X}), expected)


def test_calls_with_the_same_types_share_a_copy():
    frozen = freeze(built(call), VALUES, ["y:0"])
    assert list(frozen.functions) == ["product_frozen"]
    assert [arg.dtype.name for arg in frozen.functions["product_frozen"].signature.inputs] == ["float", "float"]


def test_what_described_the_handles_is_corrected():
    node = next(node for node in freeze(built(conditional), VALUES, ["y:0"]) if node.op == "If")
    assert node.attr("_read_only_resource_inputs") == []
    node = next(node for node in freeze(built(loop), VALUES, ["y:0"]) if node.op == "While")
    assert [str(shape) for shape in node.attr("output_shapes")] == ["()", "(2,2)", "(1,2)"]


def written(g, x, w, v):
    def make(b, handle, x):
        with b.control_dependencies([b.AssignAddVariableOp(handle, x, name="add")]):
            return [read(b, handle)]

    f = define(g, "writing", ["resource", "float32"], make, stateful=True)
    return g.StatefulPartitionedCall([w, x], f=FuncRef(f), Tout=["float32"])[0]


def calling_itself(g, x, w, v):
    def make(b, handle):
        return b.StatefulPartitionedCall([handle], f=FuncRef("endless"), Tout=["float32"])

    f = define(g, "endless", HANDLE, make, stateful=True)
    return g.StatefulPartitionedCall([w], f=FuncRef(f), Tout=["float32"])[0]


def by_turns(g, x, w, v):
    made = g.VarHandleOp(dtype="float32", shape=[2, 2], name="u")
    then = define(g, "then", HANDLE * 2, lambda b, w, u: [w])
    other = define(g, "other", HANDLE * 2, lambda b, w, u: [b.StackV2(1, elem_type="float32")])
    handle = g.If(True, [w, made], Tout=HANDLE, then_branch=FuncRef(then), else_branch=FuncRef(other))[0]
    return read(g, handle)


def own_variable(g, x, w, v):
    f = define(g, "owner", [], lambda b: [read(b, b.VarHandleOp(dtype="float32", shape=[2, 2], name="own"))], stateful=True)
    return g.StatefulPartitionedCall([], f=FuncRef(f), Tout=["float32"])[0]


@pytest.mark.parametrize(
    ("way", "message"),
    [
        (written, r"node 'add' \(AssignAddVariableOp\): function 'writing': variable 'w' cannot be frozen"),
        (calling_itself, "function 'endless': .* passes its handle to a recursive function"),
        (by_turns, r"\(If\): .* returns its handle or another value"),
        (own_variable, "node 'own' .* function 'owner' owns a variable"),
    ],
    ids=lambda item: getattr(item, "__name__", ""),
)
def test_what_cannot_be_frozen_is_named(way, message):
    with pytest.raises(FailedPreconditionError, match=message):
        freeze(built(way), {**VALUES, "u": VALUES["w"]}, ["y:0"])


def test_all_that_cannot_be_frozen_is_named_at_once():
    """A model of Keras 3 has a written seed for each layer of random pictures."""
    g = GraphBuilder()
    handles = [g.VarHandleOp(dtype="float32", shape=[2, 2], shared_name=name, name=name) for name in ("w", "v", "u")]
    value = np.ones((2, 2), np.float32)
    adds = [g.AssignAddVariableOp(handle, value, name=f"add{i}") for i, handle in enumerate(handles[:2])]
    with g.control_dependencies(adds):
        g.AddN([read(g, handle) for handle in handles], name="y")
    with pytest.raises(FailedPreconditionError, match=r"variable 'w' cannot be frozen: .*, nor can 'v'\n") as refused:
        freeze(g.graph, dict.fromkeys("wvu", Tensor.from_numpy(value)), ["y:0"])
    assert in_commands(refused.value.hint).endswith("or keep the variables with --except w --except v")


@pytest.mark.parametrize("resource", [False, True])
def test_frozen_variables_are_constants(resource):
    g = GraphBuilder()
    x = g.Placeholder(dtype="float", shape=[None, 2], name="x")
    w = g.variable(np.zeros((2, 2), np.float32), name="w", resource=resource)
    g.MatMul(x, w, name="y")
    g.global_variables_initializer()
    frozen = freeze(g.graph, VALUES, ["y:0"])
    frozen.check()
    assert not any(node.op in ("VariableV2", "VarHandleOp", "Assign", "AssignVariableOp", "NoOp") for node in frozen)
    assert Session(frozen).run("y:0", {"x:0": [[1.0, 1.0]]}).tolist() == [[4.0, 6.0]]
    assert "w" in g.graph
    assert g.graph["w"].op != "Const"


def test_gather_and_shape_of_a_resource():
    g = GraphBuilder()
    w = g.variable(np.zeros((2, 2), np.float32), name="w", resource=True)
    g.ResourceGather(w, [1], dtype="float", name="row")
    g.ResourceGather(w, [[1], [0]], dtype="float", batch_dims=1, name="elements")
    g.ResourceGatherNd(w, [[1, 0]], dtype="float", name="element")
    g.VariableShape(w, name="shape")
    fetches = ["row:0", "elements:0", "element:0", "shape:0"]
    frozen = freeze(g.graph, VALUES, fetches)
    frozen.check()
    row, elements, element, shape = Session(frozen).run(fetches)
    assert row.tolist() == [[3.0, 4.0]]
    assert elements.tolist() == [[2.0], [3.0]]
    assert element.tolist() == [3.0]
    assert shape.tolist() == [2, 2]


def test_a_variable_that_is_written_to_cannot_be_frozen():
    g = GraphBuilder()
    w = g.variable(np.zeros((2, 2), np.float32), name="w")
    g.Identity(g.Assign(w, np.ones((2, 2), np.float32)), name="y")
    with pytest.raises(FailedPreconditionError, match="Assign"):
        freeze(g.graph, VALUES, ["y:0"])


def test_missing_value_is_named():
    g = GraphBuilder()
    g.Identity(g.variable(1.0, name="v"), name="y")
    with pytest.raises(FailedPreconditionError, match="variable 'v' has no value"):
        freeze(g.graph, {}, ["y:0"])


@pytest.mark.parametrize("is_resource", [False, True])
def test_a_test_of_initialization_is_true_for_a_frozen_variable(is_resource):
    """As tf.Variable(other.initialized_value()) makes it: a conditional chooses between the variable and its initial value."""
    b = GraphBuilder()
    variable = b.variable(np.float32(2), "v", resource=is_resource)
    tested = b.VarIsInitializedOp(variable.handle) if is_resource else b.IsVariableInitialized(variable.handle)
    otherwise, _ = b.Switch(variable.initial_value, tested)
    if is_resource:
        with b.control_dependencies([b.Identity(b.Switch(variable.handle, tested)[1])]):
            then = b.ReadVariableOp(b.Switch(variable.handle, tested)[1], dtype="float32")
    else:
        then = b.Identity(b.RefSwitch(variable.handle, tested)[1])
    b.Identity(b.Merge([otherwise, then])[0], name="y")
    frozen = freeze(b.graph, {"v": Tensor.from_numpy(np.float32(5))}, ["y:0"])
    assert Session(frozen).run("y:0") == 5.0


def test_names_of_variables_may_be_any_bytes():
    """TensorFlow's shared names are bytes, and two names that are no UTF-8 stay two."""
    g = GraphBuilder()
    names = {b"\xfe": np.float32(2), b"\xff": np.float32(3)}
    variables = [g.VarHandleOp(dtype="float32", shape=[], shared_name=name) for name in names]
    for variable, value in zip(variables, names.values()):
        g.AssignVariableOp(variable, value, name=f"{variable.node.name}/Assign")
    g.Sub(*(read(g, variable) for variable in variables), name="y")
    values = {name.decode("utf-8", "surrogateescape"): Tensor.from_numpy(value) for name, value in names.items()}
    assert Session(freeze(load(to_bytes(g.graph)), values, ["y:0"])).run("y:0") == -1
