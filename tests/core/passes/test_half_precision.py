"""float16 and bfloat16: nodes in 16 bits, nodes in 32 bits, and the errors of weights.

The expected choices follow Grappler's auto_mixed_precision.
"""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import tfg
from tests.cli.running import tfg as run
from tfg import GraphBuilder, Session
from tfg.formats.saving import save

W = np.linspace(-1, 1, 12, dtype=np.float32).reshape(4, 3)
X = np.linspace(-2, 2, 8, dtype=np.float32).reshape(2, 4)


def network(last="Relu"):
    """x W + b, an activation, and a second product."""
    g = GraphBuilder()
    x = g.Placeholder(dtype="float32", shape=[None, 4], name="x")
    first = g.BiasAdd(g.MatMul(x, W, name="first"), np.ones(3, np.float32), name="bias")
    g.Identity(g.MatMul(g.apply(last, first, name="middle"), W.T.copy(), name="second"), name="y")
    return g.graph


def half(graph, fetches, passes="float16"):
    return tfg.optimize(graph, fetches, ["x:0"], passes)


def dtype_of(graph, name):
    return str(graph.output(f"{name}:0").dtype)


def result(graph, fetch, x=X):
    return Session(graph).run(fetch, {"x:0": x})


def test_products_and_the_ops_between_them_are_converted():
    changed, report = half(network(), ["y:0"])
    assert {name: dtype_of(changed, name) for name in ("first", "bias", "middle", "second")} == dict.fromkeys(
        ("first", "bias", "middle", "second"), "half"
    )
    assert dtype_of(changed, "y") == "float"
    assert [node.op for node in changed].count("Cast") == 2
    assert {str(node.attrs["dtype"]) for node in changed if node.is_constant and node.uses} == {"half"}
    np.testing.assert_allclose(result(changed, "y:0"), result(network(), "y:0"), atol=0.01)
    assert report.tolerance == 0.01


def test_the_numbers_are_those_of_float16():
    """The product equals NumPy's product of rounded operands, rounded once, because kernels add in 32 bits."""
    g = GraphBuilder()
    g.Identity(g.MatMul(g.Placeholder(dtype="float32", shape=[None, 4], name="x"), W, name="m"), name="y")
    for passes, dtype in (("float16", np.float16), ("bfloat16", ml_dtypes.bfloat16)):
        changed, _ = half(g.graph, ["y:0"], passes)
        rounded = [value.astype(dtype).astype(np.float32) for value in (X, W)]
        assert result(changed, "y:0").tolist() == (rounded[0] @ rounded[1]).astype(dtype).astype(np.float32).tolist()


def test_nothing_behind_a_denied_op_is_converted_up_to_the_next_product():
    changed, _ = half(network("Exp"), ["y:0"])
    assert {name: dtype_of(changed, name) for name in ("first", "bias", "middle", "second")} == {
        "first": "half", "bias": "float", "middle": "float", "second": "half",
    }  # fmt: skip


def test_inferred_ops_behind_a_denied_op_stay():
    """Exp -> Mul -> MatMul: Mul would be of 16 bits between two products, and stays behind Exp."""
    g = GraphBuilder()
    x = g.Placeholder(dtype="float32", shape=[None, 4], name="x")
    product = g.MatMul(x, W, name="first")
    scaled = g.Mul(g.Exp(product, name="exp"), product, name="scaled")
    g.Identity(g.MatMul(scaled, W.T.copy(), name="second"), name="y")
    changed, _ = half(g.graph, ["y:0"])
    assert [dtype_of(changed, name) for name in ("first", "exp", "scaled", "second")] == ["half", "float", "float", "half"]


def test_an_inferred_op_at_the_end_stays_and_a_clear_op_follows():
    g = GraphBuilder()
    x = g.Placeholder(dtype="float32", shape=[None, 4], name="x")
    product = g.MatMul(x, W, name="first")
    g.Identity(g.Tanh(product, name="tanh"), name="y")
    g.Identity(g.Identity(g.Transpose(product, [1, 0], name="turned"), name="clear"), name="z")
    changed, _ = half(g.graph, ["y:0", "z:0"])
    assert [dtype_of(changed, name) for name in ("first", "tanh", "turned")] == ["half", "float", "half"]


def test_a_fetched_product_keeps_its_dtype_and_name():
    changed, _ = half(network(), ["second:0"])
    assert dtype_of(changed, "second") == "float" and dtype_of(changed, "second/half") == "half"
    np.testing.assert_allclose(result(changed, "second:0"), result(network(), "second:0"), atol=0.01)


@pytest.mark.parametrize("stay", ["first", "MatMul"])
def test_ops_and_nodes_can_stay(stay):
    changed, report = half(network(), ["y:0"], f"float16{{stay={stay}}}")
    assert dtype_of(changed, "first") == "float"
    assert dtype_of(changed, "second") == ("half" if stay == "first" else "float")
    assert any("stay" in refusal.reason for record in report.passes for refusal in record.refused)


def test_numbers_beyond_the_range_stay():
    g = GraphBuilder()
    x = g.Placeholder(dtype="float32", shape=[None, 4], name="x")
    g.Identity(g.MatMul(x, W * np.float32(1e5), name="m"), name="y")
    assert dtype_of(half(g.graph, ["y:0"])[0], "m") == "float"
    assert dtype_of(half(g.graph, ["y:0"], "bfloat16")[0], "m") == "bfloat16"


def test_weights_alone():
    changed, report = half(network(), ["y:0"], "float16{compute=false,minimum_size=12}")
    assert dtype_of(changed, "first") == "float"
    (weight,) = {tuple(value.shape): value for node in changed if node.is_constant
                 if (value := node.constant_value()).dtype == np.float16 and value.shape == (4, 3)}.values()  # fmt: skip
    assert weight.tolist() == W.astype(np.float16).tolist()
    exact, rounded = W.astype(np.float64), W.astype(np.float16).astype(np.float64)
    assert [error.bytes_before for error in report.weight_errors] == [48, 48], "the bias of 3 elements is not converted"
    error = next(error for error in report.weight_errors)
    assert (error.bytes_before, error.bytes_after) == (48, 24)
    assert error.largest == np.abs(rounded - exact).max()
    assert error.relative == pytest.approx(np.sqrt(((rounded - exact) ** 2).mean() / (exact**2).mean()))


def test_errors_of_quantized_weights_are_those_of_the_run():
    changed, report = half(network(), ["y:0"], "quantize_weights{minimum_size=12}")
    names = [error.weight for error in report.weight_errors]
    for error, stored in zip(report.weight_errors, Session(changed).run([f"{name}:0" for name in names], {"x:0": X})):
        exact = W if stored.shape == W.shape else W.T
        assert error.largest == pytest.approx(np.abs(stored - exact).max(), rel=1e-4)
        assert error.bytes_after * 4 == error.bytes_before


def test_the_command_verifies_with_the_stated_tolerance(tmp_path):
    save(network(), str(tmp_path / "g.pb"))
    words = ("optimize", tmp_path / "g.pb", "--passes", "default,float16", "--fetch", "y", "--verify")
    done = run(*words)
    assert done.code == 0 and "errors of weights" in done.out and "yes" in done.out
    assert run(*words, "--tolerance", "1e-7").code == 3


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_products_are_converted_before_fusing_and_fused_where_a_kernel_of_the_dtype_exists(name):
    """TensorFlow's `_FusedConv2D` allows no bfloat16, and its float16 kernel on CPUs needs oneDNN."""
    g = GraphBuilder()
    x = g.Placeholder(dtype="float32", shape=[None, 6, 6, 2], name="x")
    kernel = np.linspace(-1, 1, 54, dtype=np.float32).reshape(3, 3, 2, 3)
    conv = g.Conv2D(x, kernel, strides=[1, 1, 1, 1], padding="SAME", name="conv")
    flat = g.Reshape(g.Relu(g.BiasAdd(conv, np.ones(3, np.float32))), [-1, 108])
    weights = np.linspace(-1, 1, 216, dtype=np.float32).reshape(108, 2)
    hidden = g.Relu(g.BiasAdd(g.MatMul(flat, weights), np.ones(2, np.float32)))
    last = np.array([[1, -2], [0.5, 1]], np.float32)
    g.Identity(g.BiasAdd(g.MatMul(hidden, last), np.ones(2, np.float32)), name="y")
    value = np.linspace(0, 1, 72, dtype=np.float32).reshape(1, 6, 6, 2)
    expected = result(g.graph, "y:0", value)
    scale = np.abs(expected).max()
    fused, report = half(g.graph, ["y:0"], f"default,{name}")
    dtype = {"float16": "half"}.get(name, name)
    types = {
        node.op: str(node.attrs["T"]) for node in fused if node.op in ("Conv2D", "MatMul") or node.op.startswith("_Fused")
    }
    assert types == {"Conv2D": dtype, "_FusedMatMul": dtype, "MatMul": dtype}, "the last bias is added in float32"
    last = [record.name for record in report.passes if record.fired][-2:]
    assert last == ["fuse", "prune"] and all(node.uses or node.name == "y" for node in fused)
    plain, _ = tfg.optimize(g.graph, ["y:0"], ["x:0"], f"default,{name}", disable=["fuse"])
    assert {str(node.attrs["T"]) for node in plain if node.op == "Conv2D"} == {{"float16": "half"}.get(name, name)}
    for changed in (fused, plain):
        np.testing.assert_allclose(result(changed, "y:0", value), expected, atol=report.tolerance * scale)


@pytest.mark.parametrize("passes, tolerance", [
    ("round_weights{minimum_size=4}", "5 %"), ("quantize_weights{minimum_size=4}", "5 %"), ("float16", "1 %"),
    ("bfloat16", "5 %"), ("prune", None),
])  # fmt: skip
def test_the_command_tells_the_tolerance_of_a_pass_that_changes_numbers(passes, tolerance, tmp_path):
    save(network(), str(tmp_path / "g.pb"))
    words = ("optimize", tmp_path / "g.pb", "--passes", passes, "--fetch", "y", "--verify")
    done = run(*words)
    assert done.code == 0
    told = f"tolerance: {tolerance} of the largest element"
    assert "tolerance:" not in done.out if tolerance is None else told in done.out
    assert "tolerance:" not in run(*words, "--tolerance", "0.5").out
