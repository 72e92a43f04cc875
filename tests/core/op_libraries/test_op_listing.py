"""Reports on ops: lists, details, coverage, missing ops of a graph, and wrappers that build graphs."""

from __future__ import annotations

import importlib.util
import inspect

import pytest

from tests.cli.running import SAMPLES
from tfg.core.building.builder import GraphBuilder
from tfg.core.op_libraries import op_listing
from tfg.core.op_libraries.wrappers import function_name, write_wrappers
from tfg.core.registry import registry
from tfg.core.registry.catalog import CATALOG
from tfg.core.support.errors import InvalidArgumentError, NotFoundError
from tfg.formats import load, to_text


@pytest.fixture(scope="module")
def wrappers(tmp_path_factory):
    path = tmp_path_factory.mktemp("wrap") / "wrappers.py"
    path.write_text(write_wrappers())
    spec = importlib.util.spec_from_file_location("wrappers_for_test", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
def test_every_op_has_a_wrapper_of_its_own(wrappers):
    functions = {name for name, value in vars(wrappers).items() if inspect.isfunction(value)}
    assert functions == {function_name(op) for op in CATALOG}
    assert len(functions) == len(list(CATALOG))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("op", "inputs", "attrs"),
    [
        ("MatMul", ([[1.0]], [[2.0]]), {"transpose_b": True}),
        ("AddN", ([1.0, 2.0, 3.0],), {}),
        ("Placeholder", (), {"dtype": "float", "shape": [2, None]}),
        ("Conv2D", ([[[[1.0]]]], [[[[1.0]]]]), {"strides": [1, 1, 1, 1], "padding": "SAME"}),
        ("SplitV", ([1, 2], [1, 1], 0), {"num_split": 2}),
        ("NoOp", (), {}),
        ("AllToAll", ([1.0], [[0]]), {"concat_dimension": 0, "split_dimension": 0, "split_count": 1}),  # no kernel
    ],
)
def test_wrapper_builds_what_the_builder_does(wrappers, op, inputs, attrs):
    wrapped, direct = GraphBuilder(), GraphBuilder()
    getattr(wrappers, function_name(op))(wrapped, *inputs, **attrs, name="n")
    getattr(direct, op)(*inputs, **attrs, name="n")
    assert to_text(wrapped.graph) == to_text(direct.graph)


def test_names_are_those_of_python():
    names = {op: function_name(op) for op in ("MatMul", "Conv2DBackpropInput", "LSTMBlockCell", "If", "BatchMatMulV2")}
    assert list(names.values()) == ["mat_mul", "conv2d_backprop_input", "lstm_block_cell", "if_", "batch_mat_mul_v2"]


def test_detail_of_matmul():
    result = op_listing.describe_op("MatMul")
    assert [arg.name for arg in result.inputs] == ["a", "b"]
    assert result.kernels[0].location.function == "matmul"
    assert result.kernels[0].location.file == "core/ops/linalg/matmul.py"
    assert result.shape.function == "matmul_shape"
    assert result.gradient.function == "matmul_gradient"
    assert result.flops.function == "matmul_flops"
    assert result.doc.startswith("Multiply the matrix") and "Product of two matrices" in result.doc


def test_decisions_in_words():
    assert op_listing.describe_op("Shape").flops.startswith("none")
    assert op_listing.describe_op("ArgMax").gradient == "not differentiable"
    assert op_listing.describe_op("AllToAll").kernels == ()


@pytest.mark.slow
def test_every_op_can_be_described():
    for op in CATALOG:
        assert op_listing.describe_op(op).name == op


def test_selection():
    assert [op.name for op in op_listing.select_ops(["^MatMul$"])] == ["MatMul"]
    assert {op.family for op in op_listing.select_ops(family="matmul")} == {"matmul"}
    assert not any(op.kernel for op in op_listing.select_ops(missing_kernel=True))
    with pytest.raises(NotFoundError, match="Matmull"):
        op_listing.select_ops(["Matmull"])
    with pytest.raises(InvalidArgumentError, match="not a regular expression"):
        op_listing.select_ops(["("])
    with pytest.raises(NotFoundError, match="unknown family"):
        op_listing.select_ops(family="none")


def test_coverage_adds_up():
    coverage = op_listing.op_coverage()
    total = coverage.total
    assert total.ops == sum(row.ops for row in coverage.families)
    assert total.ops == len(list(CATALOG))
    assert total.kernels == len([op for op in registry.registered_ops() if op in CATALOG and registry.kernels(op)])
    assert total.kernels >= 850
    assert total.gradients + total.not_differentiable == total.shapes == total.flops


def test_missing_for_a_graph(tmp_path):
    assert op_listing.missing_parts(load(SAMPLES / "xor.pbtxt")) == ()
    path = tmp_path / "g.pbtxt"
    path.write_text('node { name: "a" op: "Nowhere" } node { name: "b" op: "AllToAll" }')
    by_name = {row.op: row.missing for row in op_listing.missing_parts(load(path))}
    assert by_name["Nowhere"] == ("interface",)
    assert "kernel" in by_name["AllToAll"]


def test_details_name_the_lowerings():
    """An array program is the lowering to XLA and to ONNX; Unique has sizes that XLA does not know."""
    floor, relu, unique = (op_listing.ops(name)[0] for name in ("Floor", "ReluGrad", "Unique"))
    assert (floor.xla.function, floor.xla.file) == ("floor", "core/ops/math/math.py") and floor.onnx == floor.xla
    assert relu.xla == relu.onnx and relu.xla.file == "core/ops/nn/activations.py"
    assert unique.xla is None and unique.onnx.file == "core/ops/array/sorting.py"
