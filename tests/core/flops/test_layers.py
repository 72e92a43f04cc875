"""Layers: the scopes that own weights, and the rows of `tfg flops --view layer`."""

from __future__ import annotations

import lzma
import pathlib
import re

import numpy as np
import pytest

import tfg
from tests.cli.running import SAMPLES
from tests.cli.running import tfg as run
from tfg import GraphBuilder
from tfg.core.flops import count_flops
from tfg.core.flops.measured import LiveMemory
from tfg.core.flops.model_layers import NO_LAYER, layers_by_path
from tfg.core.flops.training_steps import with_backward
from tfg.core.support.errors import InvalidArgumentError
from tfg.formats.graphdef import graph_from_bytes

GRAPHS = pathlib.Path(__file__).with_name("graphs")


def two_dense_layers():
    """Two layers as TensorFlow 1 names them, a pooling without weights between, and an activation in a layer's scope."""
    g = GraphBuilder()
    x = g.Placeholder(dtype="float32", shape=[2, 4], name="x")
    first = g.MatMul(x, g.variable(np.ones((4, 6), np.float32), name="net/first/kernel"), name="net/first/MatMul")
    active = g.Relu(first, name="net/first/Relu")
    joined = g.Square(active, name="net/join/Square")
    last = g.MatMul(joined, g.variable(np.ones((6, 3), np.float32), name="net/last/kernel"), name="net/last/MatMul")
    g.Sum(last, [0, 1], name="loss")
    return g.graph


def test_nodes_belong_to_the_scope_with_the_weights():
    layers = layers_by_path(count_flops(two_dense_layers(), ["loss:0"]).nodes)
    chosen = ("net/first/MatMul", "net/first/Relu", "net/join/Square", "net/last/MatMul", "loss")
    assert [layers[path] for path in chosen] == ["net/first", "net/first", "net", "net/last", NO_LAYER]


def test_the_backward_pass_belongs_to_the_forward_layer():
    graph, gradients = with_backward(two_dense_layers(), "loss:0", "")
    rows = {row.name: row for row in tfg.flops_rows(tfg.flops(graph, ["loss:0", *gradients.values()]), "layer")}
    # first: (2,4)x(4,6) forward and for the kernel, and two of 12 elements for Relu and its gradient.
    assert rows["net/first"].totals.flops == 2 * (2 * 2 * 4 * 6) + 2 * 12
    # last: (2,6)x(6,3) forward, for the kernel and for the input.
    assert rows["net/last"].totals.flops == 3 * (2 * 2 * 6 * 3)
    assert rows["net/first"].totals.parameters == 24


def test_a_frozen_weight_below_its_reader_is_in_the_readers_layer():
    g = GraphBuilder()
    x = g.Placeholder(dtype="float32", shape=[2, 4], name="x")
    weights = g.constant(np.ones((4, 3), np.float32), name="net/dense/MatMul/ReadVariableOp/resource")
    g.MatMul(x, weights, name="net/dense/MatMul")
    assert layers_by_path(count_flops(g.graph, ["net/dense/MatMul:0"]).nodes)["net/dense/MatMul"] == "net/dense"


def test_a_weight_without_a_scope_is_a_layer():
    g = GraphBuilder()
    x = g.Placeholder(dtype="float32", shape=[2, 4], name="x")
    y = g.MatMul(x, g.variable(np.ones((4, 3), np.float32), name="w"), name="product")
    g.Neg(y, name="neg")
    layers = layers_by_path(count_flops(g.graph, ["neg:0"]).nodes)
    assert (layers["product"], layers["neg"]) == ("w", NO_LAYER)


def test_a_keras_model_has_its_layers():
    rows = run("flops", SAMPLES / "keras_classifier", "--view", "layer", "--batch", 8, "--format", "json").json["rows"]
    flops = {row["name"]: row["flops"] for row in rows}
    layers = {"sequential/hidden", "sequential/normalized", "sequential/classes"}
    assert layers == {name for name, count in flops.items() if count}
    assert flops["sequential/hidden"] == 8 * (2 * 4 * 8 + 8 + 8)  # product, bias and Relu of 8 features


def test_layers_stand_in_the_order_of_the_run():
    """Weights, and what computes between them, by scope; what only hands on is no layer."""
    report = tfg.layers(two_dense_layers(), "loss:0")
    assert [layer.name for layer in report.layers] == ["net/first", "net/join", "net/last", "loss"]
    assert [layer.ops for layer in report.layers] == [("MatMul", "Relu"), ("Square",), ("MatMul",), ("Sum",)]
    assert [str(layer.shape) for layer in report.layers] == ["(2,6)", "(2,6)", "(2,3)", "()"]
    assert [layer.parameters for layer in report.layers] == [24, 0, 18, 0]
    assert report.parameters == 42


def test_a_model_has_the_same_layers_before_and_after_freezing():
    """Its calls are dissolved, and its names are the author's; what was trainable is known before only."""
    graph = tfg.load(str(SAMPLES / "keras_classifier"))
    outputs = list(graph.meta.signatures["serving_default"].fetched.values())
    frozen = tfg.freeze(graph, outputs=outputs)
    before, after = tfg.layers(graph), tfg.layers(frozen, outputs)
    assert [layer.name.rpartition("/")[2] for layer in before.layers] == ["hidden", "normalized", "classes"]
    for name in ("shape", "parameters", "flops", "ops"):
        assert [getattr(layer, name) for layer in before.layers] == [getattr(layer, name) for layer in after.layers]
    assert [layer.trainable for layer in before.layers] == [40, 16, 27]  # moving mean and variance are not
    assert after.trainable == 0


def test_a_batch_is_put_into_the_shapes():
    graph = tfg.load(str(SAMPLES / "keras_classifier"))
    assert [str(layer.shape) for layer in tfg.layers(graph, sizes={"N": 32}).layers] == ["(32,8)", "(32,8)", "(32,3)"]


def test_a_recurrent_layer_is_one_layer():
    """Its loop runs the cell with the weights, and what lies around the loop belongs to it."""
    graph = graph_from_bytes(lzma.decompress((GRAPHS / "lstm.pb.xz").read_bytes()))
    layers = tfg.layers(graph, "Identity:0").layers
    assert [layer.parameters for layer in layers if layer.parameters] == [4 * 512 * 1025] * 4
    assert len(layers) == 4 and all(layer.ops[0] == "MatMul" for layer in layers)


def blocks(*names, weights="layer"):
    """A graph of products: a layer for each scope, with a weight of 2 x 2 in the scope of that name."""
    g = GraphBuilder()
    value = g.Placeholder(dtype="float32", shape=[None, 2], name="x")
    for number, name in enumerate(names):
        weight = name if weights == "layer" else weights
        handle = g.VarHandleOp(dtype="float32", shape=[2, 2], shared_name=f"{weight}/kernel_{number}", name=f"{weight}/kernel")
        with g.name_scope(name):
            value = g.MatMul(value, g.ReadVariableOp(handle, dtype="float32"), name="MatMul")
    return g.graph, value.name


def lines(blocks, depth=0):
    for block in blocks:
        yield depth, block.count, block.name, block.last, block.totals.parameters
        yield from lines(block.blocks, depth + 1)


def test_equal_blocks_are_folded():
    names = [f"net/block_{number}/{layer}" for number in range(5) for layer in ("query", "value")]
    tree = tfg.layers(*blocks(*names, "net/head")).tree()
    assert list(lines(tree.blocks)) == [
        (0, 1, "net", "net", 44),
        (1, 5, "block_0", "block_4", 40), (2, 1, "query", "query", 4), (2, 1, "value", "value", 4),
        (1, 1, "head", "head", 4),
    ]  # fmt: skip
    assert (tree.layers, tree.parameters, str(tree.flops)) == (11, 44, str(tfg.layers(*blocks(*names, "net/head")).flops))


def test_what_differs_is_not_folded():
    names = [f"block_{number}/{layer}" for number in range(3) for layer in ("a", "b")[: 1 + number % 2]]
    assert [line[:3] for line in lines(tfg.layers(*blocks(*names)).tree().blocks)] == [
        (0, 1, "block_0/a"), (0, 1, "block_1"), (1, 1, "a"), (1, 1, "b"), (0, 1, "block_2/a"),
    ]  # fmt: skip


def test_flat_names_that_begin_alike_are_blocks():
    names = [f"conv2_block{number}_{part}" for number in range(1, 4) for part in ("1_conv", "2_conv", "out")]
    assert [line[:4] for line in lines(tfg.layers(*blocks("stem", *names, "block_1_a")).tree().blocks)] == [
        (0, 1, "stem", "stem"), (0, 3, "conv2_block1", "conv2_block3"), (1, 1, "conv2_block1_1_conv", "conv2_block1_1_conv"),
        (1, 1, "conv2_block1_2_conv", "conv2_block1_2_conv"), (1, 1, "conv2_block1_out", "conv2_block1_out"),
        (0, 1, "block_1_a", "block_1_a"),
    ]  # fmt: skip


def test_two_layers_alike_are_two_rows_and_three_are_one():
    assert [line[:4] for line in lines(tfg.layers(*blocks("dense_a", "dense_b")).tree().blocks)] == [
        (0, 1, "dense_a", "dense_a"), (0, 1, "dense_b", "dense_b"),
    ]  # fmt: skip
    assert [line[:4] for line in lines(tfg.layers(*blocks("dense", "dense_1", "dense_2", "dense_3")).tree().blocks)] == [
        (0, 1, "dense", "dense"), (0, 3, "dense_1", "dense_3"),
    ]  # fmt: skip


def test_the_tree_has_the_numbers_of_the_table():
    report = tfg.layers(tfg.load(str(SAMPLES / "keras_classifier")))
    tree = report.tree()
    assert sum(block.totals.parameters for block in tree.blocks) == tree.parameters == report.parameters
    done = run("layers", SAMPLES / "keras_classifier", "--tree")
    assert re.search(r"^  hidden +MatMul, BiasAdd, Relu +\(N,8\) +40 ", done.out, re.M), done.out
    assert "3 layers, 99 parameters" in done.out


def test_layers_whose_weights_have_one_name_are_told_apart_by_their_readers():
    """Keras 3 numbers the weights of several blocks as if they were one layer's."""
    names = [f"model_1/block_{number}_1/att_1/query_1" for number in range(3)]
    report = tfg.layers(*blocks(*names, weights="att/query"))
    assert [layer.name for layer in report.layers] == [f"model/block_{number}/att/query" for number in range(3)]


def test_the_command_has_the_layers_of_python():
    done = run("layers", SAMPLES / "keras_classifier", "--format", "json")
    report = tfg.layers(tfg.load(str(SAMPLES / "keras_classifier")))
    assert [layer["name"] for layer in done.json["layers"]] == [layer.name for layer in report.layers]
    assert done.json["parameters"] == report.parameters == 99
    by_flops = run("layers", SAMPLES / "keras_classifier", "--sort", "flops", "--format", "json").json["layers"]
    assert [layer["name"].rpartition("/")[2] for layer in by_flops] == ["hidden", "normalized", "classes"]


def test_intensity_is_flops_a_byte():
    g = GraphBuilder()
    x = g.Placeholder(dtype="float32", shape=[2, 4], name="x")
    g.MatMul(x, g.Placeholder(dtype="float32", shape=[4, 3], name="w"), name="y")
    (row,) = [row for row in tfg.flops_rows(tfg.flops(g.graph, ["y:0"]), "node") if row.name == "y"]
    assert row.totals.intensity == 2 * 2 * 4 * 3 / (4 * (2 * 4 + 4 * 3 + 2 * 3))


def test_another_view_is_refused():
    with pytest.raises(InvalidArgumentError, match="unknown view 'depth'"):
        tfg.flops_rows(tfg.flops(two_dense_layers(), ["loss:0"]), "depth")


@pytest.mark.slow
@pytest.mark.parametrize(("view", "name"), [("layer", "sequential/hidden"), ("scope", "StatefulPartitionedCall_1")])
def test_measured_rows_are_those_of_the_view(view, name):
    done = run("flops", SAMPLES / "keras_classifier", "--measured", "--view", view, "--feed", "measurements=ones(8,4)",
               "--format", "json", "--runs", 1)  # fmt: skip
    rows = {row["path"]: row for row in done.json["rows"]}
    assert rows[name]["flops"] == (640 if view == "layer" else done.json["flops"])


def test_live_memory_is_the_largest_sum():
    """Arrays of 80, 160 and 240 bytes: the first is freed before the third comes."""
    memory = LiveMemory()
    first, second = np.zeros(10), np.zeros(20)
    memory.add("first", first)
    memory.add("both", [second, first[2:]])
    assert (memory.peak, memory.path) == (240, "both")
    del first
    third = np.zeros(30)
    memory.add("third", third)
    assert (memory.peak, memory.path) == (400, "third")
    del second, third
    memory.add("last", np.zeros(1))
    assert (memory.peak, memory.path) == (400, "third")


def test_memory_of_a_run():
    """x of 4,000 bytes is fed; two values of that size are alive when the second is computed, then a sum."""
    g = GraphBuilder()
    x = g.Placeholder(dtype="float32", shape=[1000], name="x")
    g.Sum(g.Exp(g.Neg(x, name="neg"), name="exp"), [0], name="y")
    measurement = tfg.profile(g.graph, ["y:0"], {"x:0": np.zeros(1000, np.float32)})
    assert measurement.memory_path == "exp"
    assert 8000 <= measurement.memory < 8200


def test_weights_that_tensorflow_froze_below_casts_are_in_the_layer_of_their_reader():
    """The names are those of convert_variables_to_constants_v2 for a Dense and a BatchNormalization of Keras 3."""
    g = GraphBuilder()
    x = g.Placeholder(dtype="float32", shape=[2, 4], name="x")
    kernel = g.constant(np.ones((4, 3), np.float32), name="net/dense/Cast/ReadVariableOp/resource")
    bias = g.constant(np.ones(3, np.float32), name="net/dense/BiasAdd/ReadVariableOp/resource")
    scale = g.constant(np.ones(3, np.float32), name="net/norm/Cast_1/ReadVariableOp/resource")
    product = g.MatMul(x, g.Identity(kernel, name="net/dense/Cast/ReadVariableOp"), name="net/dense/MatMul")
    dense = g.BiasAdd(product, g.Identity(bias, name="net/dense/BiasAdd/ReadVariableOp"), name="net/dense/BiasAdd")
    read = g.Identity(scale, name="net/norm/Cast_1/ReadVariableOp")
    g.Identity(g.Mul(dense, read, name="net/norm/batchnorm/mul"), name="y")
    layers = layers_by_path(count_flops(g.graph, ["y:0"]).nodes)
    chosen = ("net/dense/MatMul", "net/dense/BiasAdd", "net/norm/batchnorm/mul")
    assert [layers[path] for path in chosen] == ["net/dense", "net/dense", "net/norm"]
