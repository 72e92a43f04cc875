"""GraphBuilder: names, scopes, controls, devices, colocation and variables as TensorFlow makes them."""

from __future__ import annotations

import numpy as np
import pytest

from tfg import GraphBuilder
from tfg.core.explaining.node_listing import node_record
from tfg.core.support.errors import AlreadyExistsError, InvalidArgumentError

# What tf.compat.v1 gives for the same construction (TensorFlow 2.21): name, op, inputs and controls, device, locations.
EXPECTED = """
z Const () -
a Const () -
r Identity (z, ^a) -
s/Identity Identity (z) -
s/Identity_1 Identity (z) -
s_1/Identity Identity (z) -
s_2 Identity (z) -
S_3 Identity (z) -
r_1/Identity Identity (z) -
v/Initializer/initial_value Const () - loc:@v
v VarHandleOp () - loc:@v
v/IsInitialized/VarIsInitializedOp VarIsInitializedOp (v) -
v/Assign AssignVariableOp (v, v/Initializer/initial_value) -
v/Read/ReadVariableOp ReadVariableOp (v) -
MatMul/ReadVariableOp ReadVariableOp (v) -
MatMul/ReadVariableOp_1 ReadVariableOp (v) -
MatMul MatMul (MatMul/ReadVariableOp, MatMul/ReadVariableOp_1) -
v_1/initial_value Const () -
v_1 VariableV2 () -
v_1/Assign Assign (v_1, v_1/initial_value) - loc:@v_1
v_1/read Identity (v_1) - loc:@v_1
MatMul_1 MatMul (v_1/read, v_1/read) -
MatMul_2/b Const (^z) -
MatMul_2 MatMul (v_1/read, MatMul_2/b) -
Identity Identity (z, ^a) -
Identity_1 Identity (z) /job:w/device:CPU:0
colo Identity (z) - loc:@v_1
k/Variable/Initializer/initial_value Const () - loc:@k/Variable
k/Variable VarHandleOp () - loc:@k/Variable
k/Variable/IsInitialized/VarIsInitializedOp VarIsInitializedOp (k/Variable) -
k/Variable/Assign AssignVariableOp (k/Variable, k/Variable/Initializer/initial_value) -
k/Variable/Read/ReadVariableOp ReadVariableOp (k/Variable) -
"""


def described(graph):
    for node in graph:
        record = node_record(node)
        words = [record.name, record.op, f"({', '.join(record.arguments)})", record.device or "-"]
        yield " ".join(words + [f"loc:@{name}" for name in record.colocation])


def test_construction_equals_tensorflows():
    g = GraphBuilder()
    z, a = g.constant(1.0, name="z"), g.constant(2.0, name="a")
    with g.control_dependencies([z, a]):
        g.Identity(z, name="r")
    with g.name_scope("s"):
        g.Identity(z)
        g.Identity(z)
    with g.name_scope("s"):
        g.Identity(z)
    g.Identity(z, name="s")
    g.Identity(z, name="S")
    with g.name_scope("r"):
        g.Identity(z)
    v = g.variable([[1.0]], name="v", resource=True)
    g.MatMul(v, v)
    v2 = g.variable([[1.0]], name="v")
    g.MatMul(v2, v2)
    with g.control_dependencies([z]):
        g.MatMul(v2, [[2.0]])
        with g.control_dependencies([a]):
            g.Identity(z)
    with g.device("/job:w"), g.device("/cpu:0"):
        g.Identity(z)
        with g.colocate_with(v2):
            g.Identity(z, name="colo")
    with g.name_scope("k"), g.control_dependencies([z]):
        g.variable([1.0], resource=True)
    assert list(described(g.graph)) == EXPECTED.strip().splitlines()


def test_initializers_on_several_devices_are_grouped_by_device():
    g = GraphBuilder()
    with g.name_scope("a"):
        g.variable(2.0, name="v", resource=True)
        g.variable(2.0, validate_shape=False)
    with g.device("/cpu:0"):
        g.variable(2.0)
    init = g.global_variables_initializer()
    assert [control.name for control in init.control_inputs] == ["init/NoOp", "init/NoOp_1"]
    assert [c.name for c in g.graph["init/NoOp"].control_inputs] == ["a/Variable/Assign", "a/v/Assign"]
    assert g.graph["init/NoOp_1"].device == "/device:CPU:0"
    assert g.graph["a/Variable"].attr("shape").rank is None
    assert g.graph["a/Variable/Assign"].attr("validate_shape") is False


def test_initializer_without_variables_waits_for_nothing():
    g = GraphBuilder()
    assert g.global_variables_initializer().control_inputs == ()


def test_variable_from_an_output_takes_its_shape():
    g = GraphBuilder()
    variable = g.variable(g.ZerosLike(g.constant([[1.0, 2.0]])), name="w")
    assert variable.shape.known() == (1, 2)
    assert "w/initial_value" not in g.graph


@pytest.mark.parametrize(
    "axis, dtype",
    [(0, "int32"), ([0], "int32"), (np.int64(0), "int64"), (np.int64([0]), "int64"), (np.int32(0), "int32")],
)
def test_numbers_of_numpy_keep_their_dtype(axis, dtype):
    """NumPy numbers keep their dtype, as in TensorFlow; the op determines the dtype of Python numbers."""
    g = GraphBuilder()
    total = g.Sum(g.Placeholder(dtype="float", shape=[2, 3]), axis)
    assert str(total.node.inputs[1].dtype) == dtype
    assert str(total.node.attr("Tidx")) == dtype


@pytest.mark.parametrize(
    "number, dtype", [(2**31 - 1, "int32"), (2**31, "int64"), (-(2**31), "int32"), (-(2**31) - 1, "int64")]
)
def test_integers_are_int32_as_far_as_it_reaches(number, dtype):
    """The dtypes that tf.constant of TensorFlow 2.21 gives."""
    assert str(GraphBuilder().constant([number]).dtype) == dtype


def test_stages_are_copies():
    g = GraphBuilder()
    g.constant(1.0, name="a")
    g.stage("one")
    g.constant(2.0, name="b")
    g.stage("two")
    assert [(name, len(graph)) for name, graph in g.stages] == [("one", 1), ("two", 2)]
    with pytest.raises(InvalidArgumentError, match="stage 'two'"):
        g.stage("two")


def test_attributes_and_lists():
    g = GraphBuilder()
    y = g.MatMul([[1.0]], [[2.0]], transpose_b=True, name="y")
    assert y.node.attrs["transpose_b"] is True
    joined = g.ConcatV2([[1.0], [2.0]], 0)
    assert joined.node.attrs["N"] == 2
    assert g.NoOp().name == "NoOp"
    assert len(g.Split(0, [1.0, 2.0], num_split=2)) == 2


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda g: g.MatMul([[1.0]]), "takes 2 inputs"),
        (lambda g: g.MatMul([[1.0]], [[1]], T="float"), ""),
        (lambda g: g.MatMul([[1.0]], [[1.0]], transpose="yes"), "no attribute 'transpose'"),
        (lambda g: g.Cast(1.0), "missing attribute 'DstT'"),
        (lambda g: g.AddV2(g.constant(1.0), g.constant(1)), "int32"),
        (lambda g: g.device("/what ever").__enter__(), "is not a device"),
        (lambda g: g.Identity("nothing"), "no node 'nothing'"),
    ],
)
def test_refusals(build, message):
    g = GraphBuilder()
    try:
        build(g)
    except Exception as error:
        assert message in str(error)
    else:
        assert not message


def test_unknown_op_is_an_attribute_error():
    with pytest.raises(AttributeError, match="NoSuchOp"):
        GraphBuilder().NoSuchOp()


def test_adding_to_a_graph_that_has_nodes():
    first = GraphBuilder()
    first.Identity(first.constant(1.0), name="scope/x")
    second = GraphBuilder(first.graph)
    assert second.constant(2.0).name == "Const_1:0"
    with second.name_scope("scope") as scope:
        assert scope == "scope_1/"
    with second.name_scope("scope/"):
        assert second.constant(2.0, name="x").name == "scope/x_1:0"
    with pytest.raises(AlreadyExistsError):
        first.graph.add_node("Const", "NoOp")


def test_names_of_colocated_nodes_that_are_no_text_stay_apart():
    g = GraphBuilder()
    first = g.NoOp()
    first.set_attr("_class", [b"loc:@a\xff", b"loc:@a\xfe"])
    with g.colocate_with(first):
        second = g.NoOp()
    assert first.colocation == ("a\udcff", "a\udcfe")
    assert second.attrs["_class"] == [b"loc:@a\xfe", b"loc:@a\xff"]
