"""Measured runs: what ran, how often, with which shapes; traces; and TensorFlow's own timings joined with counts."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tests.cases import control_flow as loops
from tests.cli.running import tfg
from tests.core.flops.test_networks import graph_of
from tests.functions import define
from tfg import GraphBuilder, Session
from tfg.core.flops import count_flops
from tfg.core.flops.measured import measure
from tfg.core.flops.timings import NodeTime, joined, recorded_shapes
from tfg.core.support.errors import DataLossError
from tfg.formats.api.counting import profile
from tfg.formats.protos.run_metadata_pb2 import RunMetadata
from tfg.formats.run_metadata import read_run_metadata
from tfg.formats.saving import save


def network():
    """A branch, a loop and a call, the batch unknown."""
    g = GraphBuilder()
    x = g.Placeholder(dtype="float32", shape=[None, 4], name="x")
    product = g.MatMul(x, np.ones((4, 3), np.float32), name="product")
    define(g, "square", ["float32"], lambda b, v: [b.Square(v)])
    define(g, "cube", ["float32"], lambda b, v: [b.Mul(b.Square(v), v)])
    called = g.If(g.Less(g.Sum(product, [0, 1]), 0.0), [product], Tout=["float32"], then_branch="square",
                  else_branch="cube", name="choice")[0]  # fmt: skip
    left = loops.counted(g, "f", 4, [called], [], lambda v, c: [g.Neg(v[0])])[1]
    return g.graph, left.name


def test_what_ran_is_counted():
    graph, fetch = network()
    measurement = measure(Session(graph), [fetch], {"x:0": np.ones((5, 4), np.float32)}, runs=2)
    nodes = {node.path: node for node in measurement.nodes}
    assert nodes["product"].flops == 2 * 5 * 4 * 3
    assert nodes["product"].shapes == "(5,4) (4,3)"
    assert (nodes["Neg"].calls, nodes["Neg"].flops) == (4, 4 * 15)
    assert nodes["choice/Mul"].flops == 15
    assert [path for path in nodes if path.startswith("choice/")] == ["choice/Square", "choice/Mul"]
    assert measurement.unknown() == []
    assert 0 < measurement.op_seconds <= measurement.profiled
    assert measurement.peak > 1e8


@pytest.mark.slow
def test_counts_agree_with_those_from_shapes():
    graph = graph_of("mobilenetv2")
    shape = (1, 224, 224, 3)
    measurement = measure(Session(graph), ["Identity:0"], {"x:0": np.zeros(shape, np.float32)}, runs=1)
    assert measurement.flops == count_flops(graph, ["Identity:0"], shapes={"x": shape}).total().flops


def test_trace():
    graph, fetch = network()
    measurement = measure(Session(graph), [fetch], {"x:0": np.ones((5, 4), np.float32)}, runs=1)
    events = [event for event in measurement.trace()["traceEvents"] if event["ph"] == "X"]
    assert len(events) == len(measurement.events) > 10
    inner = next(event for event in events if event["args"]["node"] == "choice/Mul")
    outer = next(event for event in events if event["args"]["node"] == "choice")
    assert outer["ts"] <= inner["ts"] and inner["ts"] + inner["dur"] <= outer["ts"] + outer["dur"]
    assert inner["args"]["flops"] == 15


@pytest.mark.slow
def test_command(tmp_path):
    graph, fetch = network()
    save(graph, str(tmp_path / "g.pb"))
    arguments = ["flops", tmp_path / "g.pb", "--fetch", fetch, "--measured", "--feed", "x=ones(5,4)"]
    done = tfg(*arguments, "--trace", tmp_path / "trace.json")
    assert done.code == 0
    assert "GFLOP/s" in done.out and "wall time" in done.out
    assert json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    assert tfg(*arguments, "--format", "json").json["flops"] > 120
    assert tfg(*arguments[:-1], "x").code == 2
    assert tfg(*arguments, "--compat", "tfprof").code == 2
    assert tfg(*arguments[:4], "--trace", "t.json").code == 2


def recorded():
    """What TensorFlow would record of a matrix product and a transfer."""
    metadata = RunMetadata()
    device = metadata.step_stats.dev_stats.add(device="/device:CPU:0")
    device.node_stats.add(node_name="product", timeline_label="product = MatMul(x, w)", op_end_rel_nanos=3000,
                          op_start_rel_nanos=1000, all_end_rel_nanos=4000)  # fmt: skip
    device.node_stats.add(node_name="_SOURCE", op_end_rel_micros=5)
    metadata.step_stats.dev_stats.add(device="/device:GPU:0/stream:1").node_stats.add(node_name="product:MatMul")
    return metadata


@pytest.mark.parametrize("write", [
    lambda m: m.SerializeToString(), lambda m: m.step_stats.SerializeToString(), lambda m: str(m).encode()
], ids=["RunMetadata", "StepStats", "text"])  # fmt: skip
def test_run_metadata(write, tmp_path):
    (tmp_path / "m").write_bytes(write(recorded()))
    graph, fetch = network()
    timings = joined(count_flops(graph, [fetch], shapes={"x": (5, 4)}), read_run_metadata(str(tmp_path / "m")))
    by_name = {timing.name: timing for timing in timings}
    assert (by_name["product"].flops, by_name["product"].seconds, by_name["product"].calls) == (120, pytest.approx(2e-6), 1)
    assert by_name["product"].rate == pytest.approx(60e6)
    assert by_name["_SOURCE"].flops is None
    save(graph, str(tmp_path / "g.pb"))
    done = tfg("flops", tmp_path / "g.pb", "--fetch", fetch, "--batch", 5, "--run-metadata", tmp_path / "m")
    assert "1 of 2 timed nodes have a count" in done.out


def test_other_files_are_refused(tmp_path):
    (tmp_path / "m").write_bytes(b"no proto at all")
    with pytest.raises(DataLossError, match="no RunMetadata"):
        read_run_metadata(str(tmp_path / "m"))


def test_executions_are_summed():
    graph, fetch = network()
    times = [NodeTime("product", "MatMul", "d", 0.0, 1.0), NodeTime("product", "MatMul", "d", 1.0, 2.0)]
    (timing,) = joined(count_flops(graph, [fetch], shapes={"x": (5, 4)}), times)
    assert (timing.calls, timing.seconds) == (2, 3.0)


def executed(name, *shapes):
    return NodeTime(name, "", "d", 0.0, 1.0, dict(enumerate(shapes)))


def test_recorded_shapes_settle_what_the_graph_leaves_open():
    g = GraphBuilder()
    x = g.Placeholder(dtype="float32", shape=(None, 4), name="x")
    rows = g.Where(g.Placeholder(dtype="bool", shape=None, name="mask"), name="rows")
    values, indices = g.Unique(g.Placeholder(dtype="int32", shape=(None,), name="ids"), name="unique")
    times = [
        executed("_arg_x_0_2", (7, 4)), executed("_arg_mask_0_0", (7,)), executed("rows", (5, 1)),
        executed("unique", (3,), (6,)), executed("unique", (2,), (6,)), executed("elsewhere", (9,)),
    ]  # fmt: skip
    result = recorded_shapes(g.graph, times)
    assert result == {x.name: (7, 4), "mask:0": (7,), rows.name: (5, 1), indices.name: (6,)}
    assert values.name not in result


@pytest.mark.live
def test_live_run_metadata(tmp_path):
    tf = pytest.importorskip("tensorflow")
    from tfg.formats.saving import to_bytes

    graph, fetch = network()
    v1 = tf.compat.v1
    with tf.Graph().as_default() as made:
        tf.import_graph_def(v1.GraphDef.FromString(to_bytes(graph)), name="")
        metadata = v1.RunMetadata()
        options = v1.RunOptions(trace_level=v1.RunOptions.FULL_TRACE)
        with v1.Session(graph=made) as session:
            session.run(fetch, {"x:0": np.ones((5, 4), np.float32)}, options, metadata)
    (tmp_path / "m").write_bytes(metadata.SerializeToString())
    times = read_run_metadata(str(tmp_path / "m"))
    timings = joined(count_flops(graph, [fetch], shapes=recorded_shapes(graph, times)), times)
    product = next(timing for timing in timings if timing.name == "product")
    assert product.flops == 120 and product.seconds > 0


@pytest.mark.slow
def test_placeholders_without_a_value_get_drawn_ones(tmp_path):
    """Also where a constant of the graph fixes the size: the sizes are those of a run without an error."""
    b = GraphBuilder()
    x, y = (b.Placeholder(dtype="float", shape=[None, None], name=name) for name in "xy")
    b.MatMul(b.AddV2(x, y), np.ones((7, 3), np.float32), name="z")
    measured = profile(b.graph, "z:0", {"y": np.ones((5, 7), np.float32)})
    assert measured.drawn == "x (5,7)" and "MatMul" in {node.op for node in measured.nodes}
    assert profile(b.graph, "z:0", dict.fromkeys("xy", np.ones((5, 7), np.float32))).drawn == ""
    save(b.graph, tmp_path / "g.pb")
    done = tfg("flops", tmp_path / "g.pb", "--measured", "--feed", "y=ones(5,7)")
    assert "measured on drawn feeds, x (5,7): --feed sets others" in done.err
