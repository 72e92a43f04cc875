"""tf.profiler's formulas: against its known answers, and against the profiler itself where TensorFlow is installed."""

from __future__ import annotations

import contextlib
import io

import numpy as np
import pytest

from tests.cases import control_flow as loops
from tests.core.flops.test_networks import GRAPHS, graph_of
from tfg import GraphBuilder
from tfg.core.flops import count_flops
from tfg.core.flops.tfprof import compare
from tfg.formats.saving import to_bytes


def differences(graph, fetches, **options):
    return {d.op: d for d in compare(graph, count_flops(graph, fetches), **options)}


@pytest.mark.parametrize("image, kernel, result, strides, padding, there, here", [
    ((1, 5, 5, 1), (3, 3, 1, 1), (1, 3, 3, 1), 1, "VALID", 450, 162),
    ((1, 28, 28, 1), (5, 5, 1, 6), (1, 24, 24, 6), 1, "VALID", 235_200, 172_800),
    ((1, 7, 7, 1), (3, 3, 1, 1), (1, 4, 4, 1), 2, "SAME", 220, 288),
    ((1, 224, 224, 3), (7, 7, 3, 64), (1, 112, 112, 64), 2, "SAME", 236_027_904, 236_027_904),
])  # fmt: skip
def test_known_answers_for_backprops(image, kernel, result, strides, padding, there, here):
    g = GraphBuilder()
    x, w, dy = (g.Placeholder(dtype="float32", shape=shape) for shape in (image, kernel, result))
    attrs = {"strides": [1, strides, strides, 1], "padding": padding}
    dx = g.Conv2DBackpropInput(np.int32(image), w, dy, **attrs)
    dw = g.Conv2DBackpropFilter(x, np.int32(kernel), dy, **attrs)
    for op, outcome in differences(g.graph, [dx.name, dw.name]).items():
        assert (outcome.profiler, outcome.flops) == (there, here), op
        assert ("tfg output positions" in outcome.reason) == (there != here)


def test_known_answer_for_adj_x():
    g = GraphBuilder()
    a, b = g.Placeholder(dtype="float32", shape=(1, 128, 64)), g.Placeholder(dtype="float32", shape=(1, 128, 128))
    result = differences(g.graph, [g.BatchMatMulV2(a, b, adj_x=True).name])["BatchMatMulV2"]
    assert (result.profiler, result.flops) == (1_048_576, 2_097_152)


@pytest.mark.slow
def test_unknown_batch_drops_layers():
    graph = graph_of("resnet50")
    report = count_flops(graph, ["Identity:0"])
    comparison = compare(graph, report)
    assert sum(d.profiler for d in comparison) == 159_360
    conv = next(d for d in comparison if d.op == "Conv2D")
    assert conv.profiler == 0 and "53 of 53 not counted by tf.profiler: shapes are unknown" in conv.reason
    one = {d.op: d for d in compare(graph, report.substituted({"N": 1}), batch=1)}
    assert one["Conv2D"].profiler == one["Conv2D"].flops
    assert one["Relu"].reason == "tf.profiler has no formula"


def test_loops_and_dead_nodes_are_told():
    g = GraphBuilder()
    (fetches,) = loops.doubling(g)
    g.AddV2(np.ones(5, np.float32), np.ones(5, np.float32))
    reason = differences(g.graph, fetches)["AddV2"].reason
    assert "1 do not run" in reason and "counts loops once" in reason


@pytest.mark.live
@pytest.mark.parametrize("name", [path.name.split(".")[0] for path in sorted(GRAPHS.glob("*.pb.xz"))])
@pytest.mark.parametrize("batch", [None, 2])
def test_live(name, batch):
    tf = pytest.importorskip("tensorflow")
    graph = graph_of(name)
    definition = tf.compat.v1.GraphDef.FromString(to_bytes(graph))
    if batch is not None:
        definition.node[0].attr["shape"].shape.dim[0].size = batch
    with tf.Graph().as_default() as made, contextlib.redirect_stdout(io.StringIO()):
        tf.import_graph_def(definition, name="")
        options = tf.compat.v1.profiler.ProfileOptionBuilder.float_operation()
        options["output"] = "none"
        expected = tf.compat.v1.profiler.profile(made, cmd="op", options=options).total_float_ops
    comparison = compare(graph, count_flops(graph, ["Identity:0"]), batch=batch)
    assert sum(d.profiler for d in comparison) == expected
