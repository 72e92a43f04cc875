"""The variables of V1 loops, found by how tf.while_loop builds them."""

from __future__ import annotations

import numpy as np

from tfg.core.building.builder import GraphBuilder
from tfg.core.graph.deadness import loop_variables
from tfg.core.graph.frames import find_frames
from tfg.core.graph.graph import Graph

FRAME = {"frame_name": "loop", "parallel_iterations": 10}


def loop(with_leftover: bool) -> Graph:
    """Return a loop of i to 3 with a conditional on a constant in the condition; a separate Switch leads i onto the branch."""
    b = GraphBuilder()
    start = b.Enter(np.int32(0), **FRAME)
    go_on = b.Enter(b.constant(True), is_constant=True, **FRAME)
    i = b.Merge([start, start], name="i")[0]
    if with_leftover:
        b.Enter(b.constant(np.float32(0)), name="leftover", **FRAME)
    inside = b.Switch(i, go_on, name="branch")
    less = b.Less(inside[1], b.Enter(np.int32(3), is_constant=True, **FRAME))
    condition = b.LoopCond(b.Merge([b.ZerosLike(b.Switch(go_on, go_on)[0]), less])[0])
    leaving, again = b.Switch(i, condition, name="loop")
    back = b.NextIteration(b.AddV2(again, b.Enter(np.int32(1), is_constant=True, **FRAME)))
    b.graph.set_input(b.graph.node("i"), 1, back)
    b.Exit(leaving, name="y")
    return b.graph


def variables(graph: Graph) -> list[tuple[str, str]]:
    (frame,) = set(find_frames(graph).values())
    return [(variable.merge.name, variable.switch.name) for variable in loop_variables(frame)]


def test_a_conditional_in_the_condition_has_switches_of_its_own() -> None:
    assert variables(loop(False)) == [("i", "loop")]


def test_an_enter_that_nothing_reads_is_no_variable() -> None:
    """As TensorFlow's gradients leave them."""
    assert variables(loop(True)) == [("i", "loop")]
