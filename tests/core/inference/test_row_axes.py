"""The axis of rows: where rows are said to stay apart, a block has the results of single rows; other graphs are refused."""

from __future__ import annotations

import numpy as np
import pytest

import tfg
from tests.cli.running import SAMPLES
from tests.functions import define
from tfg.core.inference.row_axes import RowAxis, row_axes
from tfg.core.support.errors import InvalidArgumentError
from tfg.core.types.shapes import Shape
from tfg.core.types.tensors import FuncRef

W = np.sin(np.arange(64, dtype=np.float32)).reshape(8, 8)


def i(*numbers):
    return np.array(numbers, np.int32)


def batch(g, x):
    """The number of rows as a vector."""
    return g.StridedSlice(g.Shape(x), i(0), i(1), i(1))


def loop(g, x):
    """Three products in a While, whose state begins with zeros for each row, and whose results are stacked from a list."""
    zeros = g.Fill(g.ConcatV2([batch(g, x), i(8)], np.int32(0)), np.float32(0))
    held = g.TensorListReserve(i(-1, 8), np.int32(3), element_dtype="float")

    def step(b, n, h, x, held):
        after = b.Tanh(b.AddV2(b.MatMul(h, b.constant(W)), x))
        return [b.AddV2(n, np.int32(1)), after, x, b.TensorListSetItem(held, n, after)]

    kinds = ("int32", "float32", "float32", "variant")
    define(g, "less", kinds, lambda b, n, *_: [b.Less(n, np.int32(3))])
    define(g, "step", kinds, step)
    results = g.StatelessWhile([g.constant(np.int32(0)), zeros, x, held], cond=FuncRef("less"), body=FuncRef("step"))
    stacked = g.TensorListStack(results[3], i(-1, 8), element_dtype="float")
    return g.Transpose(stacked, i(1, 0, 2))


def branch(g, x):
    """A branch that no row chooses."""
    define(g, "then", ["float32"], lambda b, x: [b.Exp(x)])
    define(g, "otherwise", ["float32"], lambda b, x: [b.Neg(x)])
    chosen = g.PlaceholderWithDefault(g.constant(np.bool_(True)), shape=[])
    return g.StatelessIf(chosen, [x], Tout=["float"], then_branch=FuncRef("then"), else_branch=FuncRef("otherwise"))[0]


def branch_of_rows(g, x):
    """A branch that the rows choose."""
    define(g, "then", ["float32"], lambda b, x: [b.Exp(x)])
    define(g, "otherwise", ["float32"], lambda b, x: [b.Neg(x)])
    chosen = g.Greater(x, np.float32(0))
    return g.StatelessIf(chosen, [x], Tout=["float"], then_branch=FuncRef("then"), else_branch=FuncRef("otherwise"))[0]


APART = {
    "product": lambda g, x: g.BiasAdd(g.MatMul(x, W), W[0]),
    "last axis": lambda g, x: g.Softmax(x),
    "reduced": lambda g, x: g.Sub(x, g.Mean(x, i(1), keep_dims=True)),
    "flat": lambda g, x: g.Reshape(g.Reshape(x, i(-1, 2, 4)), i(-1, 8)),
    "sizes": lambda g, x: g.Reshape(x, g.ConcatV2([batch(g, x), i(4, 2)], np.int32(0))),
    "parts": lambda g, x: g.Reshape(g.MatMul(g.Reshape(x, i(-1, 4)), W[:4, :4]), i(-1, 8)),
    "turned": lambda g, x: g.Transpose(g.AddV2(g.Transpose(x, i(1, 0)), W[:, :1]), i(1, 0)),
    "zeros": lambda g, x: g.ConcatV2([x, g.Fill(g.ConcatV2([batch(g, x), i(2)], np.int32(0)), np.float32(3))], np.int32(1)),
    "slices": lambda g, x: g.StridedSlice(x, i(0, 1), i(0, 5), i(1, 2), begin_mask=1, end_mask=1),
    "words": lambda g, x: g.GatherV2(W, g.Cast(g.Abs(x), DstT="int32"), np.int32(0)),
    "pack": lambda g, x: g.Unpack(g.Pack([x, g.Exp(x)], axis=1), num=2, axis=1)[1],
    "best": lambda g, x: g.ArgMax(x, np.int32(1)),
    "einsum": lambda g, x: g.Einsum([x, W], equation="bi,ij->bj"),
    "heads": lambda g, x: g.BatchMatMulV2(g.Reshape(x, i(-1, 2, 4)), g.Reshape(x, i(-1, 4, 2))),
    "parts of rows": lambda g, x: g.Reshape(x, i(-1, 2)),
    "loop": loop,
    "branch": branch,
    "image": lambda g, x: g.Conv2D(
        g.Reshape(x, i(-1, 2, 4, 1)), W[:1, :4].reshape(2, 2, 1, 1), strides=[1, 1, 1, 1], padding="SAME"
    ),
}
MIXED = {
    "branch": (branch_of_rows, "StatelessIf"),
    "sum": (lambda g, x: g.Sum(x, i(0, 1)), "Sum"),
    "average": (lambda g, x: g.Sub(x, g.Mean(x, i(0))), "Mean"),
    "share": (lambda g, x: g.RealDiv(x, g.Cast(batch(g, x), DstT="float")), "RealDiv"),
    "count": (lambda g, x: batch(g, x), "Identity"),
    "running": (lambda g, x: g.Cumsum(x, np.int32(0)), "Cumsum"),
    "backwards": (lambda g, x: g.ReverseV2(x, i(0)), "ReverseV2"),
    "pairs": (lambda g, x: g.MatMul(x, x, transpose_b=True), "MatMul"),
    "columns": (lambda g, x: g.Reshape(g.Transpose(x, i(1, 0)), i(-1, 8)), "Reshape"),
    "numbers": (lambda g, x: g.AddV2(x, g.Cast(g.ExpandDims(g.Range(np.int32(0), g.Squeeze(batch(g, x)), np.int32(1)),
                                                            np.int32(1)), DstT="float")), "AddV2"),
    "joined": (lambda g, x: g.ConcatV2([x, x], np.int32(0)), "ConcatV2"),
    "first": (lambda g, x: g.StridedSlice(x, i(0), i(1), i(1)), "StridedSlice"),
    "scores over rows": (lambda g, x: g.Transpose(g.Softmax(g.Transpose(x, i(1, 0))), i(1, 0)), "Softmax"),
    "sorted": (lambda g, x: g.UniqueV2(g.Reshape(x, i(-1)), i(0))[0], "UniqueV2"),
    "training": (
        lambda g, x: g.FusedBatchNormV3(
            g.Reshape(x, i(-1, 1, 1, 8)), W[0], W[1], np.zeros(0, np.float32), np.zeros(0, np.float32), is_training=True
        )[0],
        "FusedBatchNormV3",
    ),
}  # fmt: skip


def graph_of(build, size=None):
    g = tfg.GraphBuilder()
    x = g.Placeholder(dtype="float", shape=[size, 8], name="x")
    g.Identity(build(g, x), name="y")
    return g.graph


def rows_of(graph, size=None):
    y, x = graph.output("y:0"), graph.output("x:0")
    return row_axes(graph, [y], {x: Shape([size, 8])})[y]


NUMBERS = ("zeros", "loop")
"""With a fixed number of rows, rows of zeros are numbers that are the same for all rows."""


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("name", "size"), [(name, size) for name in APART for size in (None, 4) if not size or name not in NUMBERS]
)
def test_a_block_has_the_results_of_its_rows(name, size):
    graph = graph_of(APART[name], size)
    rows = rows_of(graph, size)
    assert isinstance(rows, RowAxis) and rows.axis == 0
    fed = np.cos(np.arange(32, dtype=np.float32)).reshape(4, 8)
    together = tfg.Session(graph).run("y:0", {"x:0": fed})
    for k in range(4):
        alone = tfg.Session(graph_of(APART[name])).run("y:0", {"x:0": fed[k : k + 1]})
        np.testing.assert_allclose(together[k * rows.times : (k + 1) * rows.times], alone, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", MIXED)
def test_a_node_that_mixes_rows_is_named(name):
    build, op = MIXED[name]
    with pytest.raises(InvalidArgumentError) as caught:
        rows_of(graph_of(build))
    assert caught.value.op == op


def test_values_without_rows_are_shared():
    graph = graph_of(lambda g, x: g.Exp(W))
    assert rows_of(graph) is None


def test_rows_of_a_saved_model_with_calls():
    model = tfg.load(SAMPLES / "keras_classifier")
    signature = model.meta.usual_signature
    x, y = (model.output(next(iter(names.values()))) for names in (signature.fed, signature.fetched))
    assert row_axes(model, [y], {x: Shape([None, *x.node.attrs["shape"][1:]])}) == {y: RowAxis(0)}
