"""Results are NumPy arrays that other libraries take without a copy."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import tfg
from tests.cli.running import tfg as command


def result():
    b = tfg.GraphBuilder()
    b.Neg(b.Placeholder(dtype="float", shape=[4], name="x"), name="y")
    return tfg.Session(b.graph).run("y:0", {"x:0": np.arange(4, dtype=np.float32)})


def test_results_are_arrays_with_dlpack():
    value = result()
    assert type(value) is np.ndarray
    taken = np.from_dlpack(value)
    assert np.shares_memory(taken, value)
    np.testing.assert_array_equal(np.asarray(value), [0, -1, -2, -3])


def test_jax_takes_results_without_a_copy():
    jax = pytest.importorskip("jax", reason="the extra tfg[xla] is not installed")
    for value in (result(), trainable().variables["w"], trainable().graph.constants["c"]):
        taken = jax.numpy.from_dlpack(value)
        np.testing.assert_array_equal(taken, value)
        assert taken.unsafe_buffer_pointer() == value.__array_interface__["data"][0] or value.ctypes.data % 64


def trainable(resource=True):
    """w = [1, 2], uninitialized v, a constant c and the op that doubles w."""
    b = tfg.GraphBuilder()
    w = b.variable(np.float32([1, 2]), name="w", resource=resource)
    b.constant([1.0, 2.0], name="c")
    session = tfg.Session(b.graph)
    b.variable(np.int32(5), name="v", resource=resource)
    b.Identity(b.ReadVariableOp(w, dtype="float") if resource else w, name="read_w")
    session.run(b.graph.node_of("w/Assign").name)
    return session


@pytest.mark.parametrize("resource", [False, True])
def test_variables_are_a_mapping(resource):
    session = trainable(resource)
    values = session.variables
    assert list(values) == ["w"] and len(values) == 1 and "v" not in values and values.get("v") is None
    np.testing.assert_array_equal(values["w"], np.float32([1, 2]))
    values["w"] = np.float32([3, 4])
    np.testing.assert_array_equal(session.run("read_w:0"), [3, 4])
    values.set("v", 7)
    assert dict(values.items())["v"] == 7 and values["v"].dtype == np.int32
    values.update({"w": [5, 6]})
    np.testing.assert_array_equal(session.run("read_w:0"), [5, 6])
    assert repr(values) == "<2 initialized variables: w, v>"


@pytest.mark.slow
def test_the_repr_of_many_variables_and_of_none_is_short():
    g = tfg.GraphBuilder()
    assert repr(tfg.Session(g.graph).variables) == "<0 initialized variables>"
    init = g.group([g.variable(1.0, f"v{number}").initializer for number in range(1000)], "init")
    session = tfg.Session(g.graph)
    session.run(init.name)
    assert repr(session.variables) == "<1,000 initialized variables: v0, v1, v2, v3 and 996 more>"
    assert repr(g) == f"<GraphBuilder of {g.graph!r}>"


@pytest.mark.parametrize("resource", [False, True])
def test_variables_check_names_dtypes_and_shapes(resource):
    values = trainable(resource).variables
    with pytest.raises(tfg.errors.NotFoundError) as caught:
        values["ww"] = 1
    assert caught.value.hint == "nearest names: w" and isinstance(caught.value, KeyError)
    with pytest.raises(tfg.errors.InvalidArgumentError, match="dtype float64"):
        values["w"] = np.float64([1, 2])
    with pytest.raises(tfg.errors.InvalidArgumentError, match="shape"):
        values["w"] = np.float32([1, 2, 3])
    np.testing.assert_array_equal(values["w"], [1, 2])


@pytest.mark.parametrize("resource", [False, True])
def test_values_of_variables_belong_to_the_caller(resource):
    session = trainable(resource)
    value, same = session.variables["w"], session.graph.constants["c"]
    value[0] = same[0] = 9
    np.testing.assert_array_equal(session.variables["w"], [1, 2])
    np.testing.assert_array_equal(session.graph.constants["c"], [1, 2])
    assert np.shares_memory(np.from_dlpack(value), value) and np.shares_memory(np.from_dlpack(same), same)


@pytest.mark.parametrize("dtype", ["bfloat16", "float8_e5m2", "half", "bool", "string"])
def test_variables_of_every_kind_of_dtype(dtype):
    b = tfg.GraphBuilder()
    numpy = {"half": np.float16, "bool": np.bool_, "string": np.object_}.get(dtype) or getattr(ml_dtypes, dtype)
    first = np.array([b"a", b"b"], object) if dtype == "string" else np.array([0, 1]).astype(numpy)
    b.variable(first, name="w", resource=True)
    b.global_variables_initializer()
    session = tfg.Session(b.graph)
    session.run("init")
    value = session.variables["w"]
    assert value.dtype == numpy and value.tolist() == first.tolist()
    session.variables["w"] = value[::-1]
    assert session.variables["w"].tolist() == first[::-1].tolist()


def test_variables_of_a_saved_model_are_restored_first(tmp_path):
    b = tfg.GraphBuilder()
    b.Identity(b.variable(np.float32(4), name="w"), name="y")
    b.global_variables_initializer()
    tfg.save(b.graph, tmp_path / "g.pb")
    assert command("convert", tmp_path / "g.pb", f"{tmp_path}/model/", "--to", "y:0", "--init").code == 0
    assert dict(tfg.Session(tfg.load(str(tmp_path / "model"))).variables) == {"w": 4}


def test_constants_by_name():
    b = tfg.GraphBuilder()
    b.Neg(b.constant([1.0, 2.0], name="c"), name="y")
    constants = b.graph.constants
    assert list(constants) == ["c"] and len(constants) == 1
    np.testing.assert_array_equal(constants["c"], np.float32([1, 2]))
    assert "y" not in constants and "z" not in constants
    with pytest.raises(tfg.errors.NotFoundError, match="unknown constant 'cc'"):
        constants["cc"]
