"""Graphs in the ops of older releases: older ops of the same meaning, attributes, and what a release cannot say."""

from __future__ import annotations

import numpy as np
import pytest

import tfg
from tests.example_messages import example
from tests.functions import define
from tfg.core.support.errors import InvalidArgumentError, UnimplementedError
from tfg.core.types.tensors import FuncRef

X = np.linspace(-2, 2, 12, dtype=np.float32).reshape(3, 4)


def placed(g, shape=(3, 4), dtype="float", name="x"):
    return g.Placeholder(dtype=dtype, shape=shape, name=name)


def matrix(g):
    return g.MatMul(x := placed(g), x, transpose_b=True)


def batch_norm(g):
    x = placed(g, (1, 1, 3, 4))
    return g.FusedBatchNormV3(x, [1.0, 2, 3, 4], [0.0, 1, 2, 3], np.zeros(4, "f"), np.ones(4, "f"), is_training=False)[0]


def boxes(g):
    corners = g.Concat(np.int32(1), [x := placed(g), g.AddV2(x, 1.0)])
    return g.NonMaxSuppressionV5(g.Reshape(corners, [6, 4]), np.arange(6, dtype="f"), 4, 0.5, -np.inf, 0.0)[0]


def examples(g):
    serialized = placed(g, (2,), "string")
    none = np.zeros(0, object)
    outputs = g.ParseExampleV2(
        serialized, none, none, np.array([b"age"], object), none, [np.float32([-1])],
        num_sparse=0, sparse_types=[], ragged_value_types=[], ragged_split_types=[], dense_shapes=[[1]], Tdense=["float"],
    )  # fmt: skip
    return outputs[0] if isinstance(outputs, tuple) else outputs


AGES = np.array([example(age=[4.0]), b""], object)
OLDER = {
    "AddV2": (lambda g: g.AddV2(x := placed(g), x), ["Add"], X),
    "SelectV2": (lambda g: g.SelectV2(g.Greater(x := placed(g), 0.0), x, g.Neg(x)), ["Select"], X),
    "SelectV2 by a scalar": (lambda g: g.SelectV2(True, x := placed(g), g.Neg(x)), ["Select"], X),
    "BatchMatMulV3": (lambda g: g.BatchMatMulV3(x := placed(g), x, Tout="float", adj_y=True), ["BatchMatMul"], X),
    "GatherV2": (lambda g: g.GatherV2(placed(g), [2, 0], 0), ["Gather"], X),
    "MatrixDiagV3": (lambda g: g.MatrixDiagV3(placed(g), 0, -1, -1, 0.0), ["MatrixDiag"], X),
    "MatrixDiagPartV3": (lambda g: g.MatrixDiagPartV3(matrix(g), [0, 0], 0.0), ["MatrixDiagPart"], X),
    "MatrixSetDiagV3": (lambda g: g.MatrixSetDiagV3(matrix(g), [1.0, 2, 3], 0), ["MatrixSetDiag"], X),
    "ClipByValue": (lambda g: g.ClipByValue(placed(g), -1.0, 1.5), ["Minimum", "Maximum"], X),
    "ClipByValue of bounds that cross": (lambda g: g.ClipByValue(placed(g), 1.5, -1.0), ["Minimum", "Maximum"], X),
    "LeakyRelu": (lambda g: g.LeakyRelu(placed(g), alpha=0.3), ["Mul", "Maximum"], X),
    "EnsureShape": (lambda g: g.EnsureShape(placed(g), shape=[None, 4]), ["Identity"], X),
    "FusedBatchNormV3": (batch_norm, ["FusedBatchNorm"], X.reshape(1, 1, 3, 4)),
    "NonMaxSuppressionV5": (boxes, ["NonMaxSuppression"], X),
    "UniqueV2": (lambda g: g.UniqueV2(placed(g, (4,)), np.zeros(0, np.int64))[0], ["Unique"], np.float32([1, 2, 1, 3])),
    "Conv2D": (
        lambda g: g.Conv2D(
            placed(g, (1, 3, 4, 1)), np.ones((2, 2, 1, 1), "f"), strides=[1, 1, 1, 1], padding="EXPLICIT",
            explicit_paddings=[0, 0, 1, 0, 0, 2, 0, 0],
        ),
        ["Pad", "Conv2D"],
        X.reshape(1, 3, 4, 1),
    ),
    "ParseExampleV2": (examples, ["ParseExample"], AGES),
    "CheckNumericsV2": (lambda g: g.CheckNumericsV2(placed(g), message="no"), ["CheckNumerics"], X),
}  # fmt: skip


@pytest.mark.parametrize("name", OLDER)
def test_older_ops_compute_the_same(name):
    build, ops, x = OLDER[name]
    g = tfg.GraphBuilder()
    y = g.Identity(build(g), name="y")
    result = tfg.for_tensorflow(g.graph, "1.0")
    now = {node.op for node in result.graph}
    assert set(ops) <= now and name.split()[0] not in now - set(ops)
    assert ops[-1] in {each.after for each in result.rewritten} or name == "Conv2D"
    before, after = (tfg.Session(graph).run(y.name, {"x:0": x}) for graph in (g.graph, result.graph))
    np.testing.assert_array_equal(before, after)
    assert result.graph.versions.producer == 21 and g.graph.versions.producer == 2474
    again = tfg.for_tensorflow(result.graph, "1.0")
    assert again.rewritten == () and again.dropped == 0


@pytest.mark.parametrize(
    ("build", "reason", "needed"),
    [
        (lambda g: g.SelectV2(g.Greater(x := placed(g, (None, 4)), 0.0), x, 0.0), "equal shapes", "1.14"),
        (lambda g: g.GatherV2(placed(g), [1], 1), "its axis is not 0", "1.3"),
        (lambda g: g.GatherV2(placed(g), np.int16([1]), 0), "Gather does not fit", "2.9"),
        (lambda g: g.AddV2(x := placed(g, dtype="uint32"), x), "Add does not support T = uint32", "2.4"),
        (lambda g: g.BatchMatMulV2(placed(g, (2, 3, 4)), placed(g, (4, 3), name="z")), "batches of the factors", "1.14"),
        (lambda g: g.LeakyRelu(placed(g), alpha=2.0), "alpha", "1.13"),
        (lambda g: g.MatrixDiagPartV3(matrix(g), 1, 0.0), "main diagonal", "2.2"),
        (lambda g: g.MatrixDiagPartV3(matrix(g), placed(g, (), "int32", "k"), 0.0), "not constant", "2.2"),
        (lambda g: g.ResizeBilinear(placed(g, (1, 3, 4, 1)), [6, 8], half_pixel_centers=True), "half_pixel_centers", "1.14"),
        (lambda g: g.Cast(placed(g), DstT="uint32"), "DstT = uint32", "1.5"),
        (lambda g: g.Einsum([x := placed(g), x], equation="ij,kj->ik"), "the op is of", "1.15"),
    ],
)  # fmt: skip
def test_what_a_release_cannot_say_is_named(build, reason, needed):
    g = tfg.GraphBuilder()
    node = build(g).node
    with pytest.raises(UnimplementedError, match=reason) as caught:
        tfg.for_tensorflow(g.graph, "1.0")
    assert node.name in str(caught.value) and node.op in str(caught.value)
    assert f"'{needed}'" in str(caught.value.hint)
    assert node.name in tfg.for_tensorflow(g.graph, needed).graph


def test_defaults_are_dropped_and_stated_as_the_release_has_them():
    g = tfg.GraphBuilder()
    g.Placeholder(dtype="float", name="any")
    g.Add(g.ArgMax(x := placed(g), 0), g.ArgMin(x, 0), name="y")
    old = tfg.for_tensorflow(g.graph, "1.1").graph
    assert "shape" in old["any"].attrs  # the default was another one
    assert "output_type" not in old["ArgMax"].attrs and "output_type" in g.graph["ArgMax"].attrs
    new = tfg.for_tensorflow(g.graph, "1.13")
    assert "shape" not in new.graph["any"].attrs and new.dropped > 3
    g.ArgMax(x, 0, output_type="int32", name="small")
    with pytest.raises(UnimplementedError, match="output_type = int32"):
        tfg.for_tensorflow(g.graph, "1.1")


def test_an_old_producer_stays():
    g = tfg.GraphBuilder()
    g.AddV2(x := placed(g), x)
    g.graph.versions = type(g.graph.versions)(24, 12)
    assert tuple(tfg.for_tensorflow(g.graph, "1.15").graph.versions) == (24, 12, ())


def called(**attrs):
    g = tfg.GraphBuilder()
    define(g, "twice", ["float"], lambda b, a: [b.AddV2(a, a)])
    define(g, "unused", ["float"], lambda b, a: [b.SelectV2(b.Greater(a, 0.0), a, 1.0)])
    g.Identity(g.StatefulPartitionedCall([placed(g)], Tout=["float"], f=FuncRef("twice"), **attrs)[0], name="y")
    return g.graph


def test_functions_change_and_calls_are_dissolved_where_the_release_lacks_them():
    graph = called(config_proto="x")
    kept, dissolved = (tfg.for_tensorflow(graph, release).graph for release in ("1.12", "1.4"))
    assert list(kept.functions) == ["twice"] and "config_proto" not in kept["StatefulPartitionedCall"].attrs
    assert not dissolved.functions and "Add" in {node.op for node in dissolved}
    with pytest.raises(UnimplementedError, match="unused"):  # TensorFlow 2 may call it by an object
        changed = called()
        changed.functions["unused"].body.add_node("new", "AnonymousHashTable", (), (), {})
        tfg.for_tensorflow(changed, "2.0")
    assert "AddV2" in {node.op for node in graph.functions["twice"].body}
    with pytest.raises(InvalidArgumentError, match="not a known release"):
        tfg.for_tensorflow(graph, "3.0")
