"""The iterations of loops: V1 loops whose limit is a loop variable that no iteration changes, and Whiles inside functions."""

from __future__ import annotations

import numpy as np
import pytest

import tfg
from tests.functions import define
from tfg.core.flops.trip_counts import frame_trips
from tfg.core.graph.frames import find_frames
from tfg.core.inference.inference import infer


def lowered(limit, is_changed=False):
    """A loop that counts from 0 to the value `limit`, which it hands on through identities, or makes smaller by one."""
    g = tfg.GraphBuilder()
    x = g.Placeholder(dtype="float32", shape=[7, 3], name="x")
    starts = {"count": g.constant(np.int32(0)), "limit": limit(g, x)}
    entered = {name: g.Enter(value, frame_name="loop", name=f"{name}/enter") for name, value in starts.items()}
    merges = {name: g.Merge([value, value], name=f"{name}/merge")[0] for name, value in entered.items()}
    condition = g.LoopCond(g.Less(g.Identity(merges["count"]), g.Identity(g.Identity(merges["limit"]))))
    inside = {name: g.Identity(g.Switch(value, condition)[1]) for name, value in merges.items()}
    with g.control_dependencies([inside["count"].node]):
        one = g.constant(np.int32(1))
    after = {
        "count": g.AddV2(inside["count"], one),
        "limit": g.Sub(inside["limit"], one) if is_changed else g.Identity(inside["limit"]),
    }
    for name, value in after.items():
        g.graph.set_input(merges[name].node, 1, g.NextIteration(value, name=f"{name}/next"))
    return g.graph


def trips(graph):
    frame = next(frame for frame in find_frames(graph).values() if frame.loop_condition is not None)
    return frame_trips(frame, infer(graph))


LIMITS = {
    "a constant": lambda g, x: g.constant(np.int32(7)),
    "a size of an input": lambda g, x: g.StridedSlice(g.Shape(x), [0], [1], [1], shrink_axis_mask=1),
    "a copy": lambda g, x: g.Identity(g.Identity(g.constant(np.int32(7)))),
}


@pytest.mark.parametrize("limit", LIMITS.values(), ids=LIMITS)
def test_a_limit_that_is_handed_on(limit):
    assert trips(lowered(limit)) == 7


def test_a_limit_that_changes_says_nothing():
    assert trips(lowered(LIMITS["a constant"], is_changed=True)) is None


def test_a_fed_limit_says_nothing():
    assert trips(lowered(lambda g, x: g.Placeholder(dtype="int32", shape=[], name="limit"))) is None


def test_arguments_around_a_while_may_have_the_names_of_its_variables():
    """Functions that TensorFlow makes for gradients call their arguments arg0, arg1 ..., and so do those inside of them."""
    g = tfg.GraphBuilder()
    condition = define(g, "condition", ["int32", "float32"], lambda b, i, x: [b.Less(i, b.constant(np.int32(6)))])
    body = define(g, "body", ["int32", "float32"], lambda b, i, x: [b.AddV2(i, b.constant(np.int32(1))), b.Mul(x, x)])

    def around(b, x, i):
        return b.StatelessWhile([i, x], cond=condition, body=body, name="loop")[1:]

    x = g.Placeholder(dtype="float32", shape=[3], name="x")
    define(g, "around", ["float32", "int32"], around)
    g.PartitionedCall([x, g.constant(np.int32(2))], f="around", Tout=["float32"], name="y")
    report = tfg.count_flops(g.graph, ["y:0"])
    assert "loop loop: 4 iterations, derived from its condition" in report.notes
    assert {node.cost.flops for node in report.nodes if node.op == "Mul"} == {12}
