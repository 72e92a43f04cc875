"""Values that follow from constants are computed once, and runs keep their results."""

import numpy as np
import pytest

from tests.core.runtime.programs import programs
from tfg import GraphBuilder, Session
from tfg.core.runtime.execute.tiers import SETTLING_RUN
from tfg.core.support.errors import InvalidArgumentError

RUNS = SETTLING_RUN + 2


def instructions(session):
    """Return the ops that finally run, from the program of the last shapes if there is any."""
    (program,) = programs(session)
    return [instruction[-1].node.op for instruction in settled(program).instructions]


def settled(program):
    special = program.shape_programs.latest
    return (program if special is None else special.program).active


def counting_graph(steps):
    """Return a V1 loop whose body adds a product of constants `steps` times."""
    b = GraphBuilder()
    frame = {"frame_name": "loop"}
    x = b.Placeholder(dtype="float32", shape=[], name="x")
    count, total = b.Enter(b.constant(np.int32(0)), **frame), b.Enter(x, **frame)
    merged = [b.Merge([value, value])[0] for value in (count, total)]
    limit = b.Enter(b.constant(np.int32(steps)), is_constant=True, **frame)
    condition = b.LoopCond(b.Less(merged[0], limit))
    switched = [b.Switch(value, condition) for value in merged]
    following = [b.Identity(switch[1]) for switch in switched]
    with b.control_dependencies([following[0].node]):
        two, three, one = (b.constant(np.float32(2)), b.constant(np.float32(3)), b.constant(np.int32(1)))
    product = b.Mul(b.Mul(two, three), two)
    for value, merge in ((b.Add(following[0], one), merged[0]), (b.Add(following[1], product), merged[1])):
        b.graph.set_input(merge.node, 1, b.NextIteration(value))
    b.Exit(switched[1][0], name="sum")
    return b.graph


def test_loops_find_constants_in_every_iteration():
    session = Session(counting_graph(5))
    for i in range(RUNS):
        assert session.run("sum:0", {"x:0": np.float32(i)}) == i + 60


def test_only_what_depends_on_the_feed_runs():
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[None], name="x")
    sizes = b.ConcatV2(
        [b.constant(np.array([2], np.int32)), b.Mul(b.constant(np.array([3], np.int32)), b.constant(np.int32(2)))], 0
    )
    b.Reshape(x, sizes, name="y")
    session = Session(b.graph)
    for _ in range(RUNS):
        assert session.run("y:0", {"x:0": np.zeros(12, np.float32)}).shape == (2, 6)
    assert instructions(session) == ["Reshape"]


def test_what_was_handed_out_is_the_callers():
    b = GraphBuilder()
    b.Add(b.constant(drawn := np.arange(4, dtype=np.float32)), b.constant(np.float32(1)), name="y")
    session = Session(b.graph)
    for _ in range(RUNS):
        result = session.run("y:0")
        np.testing.assert_array_equal(result, drawn + 1)
        result[...] = -1


def test_state_and_chance_stay():
    b = GraphBuilder()
    b.RandomUniform(b.constant(np.array([3], np.int32)), dtype="float32", name="draws")
    session = Session(b.graph, seed=1)
    assert len({session.run("draws:0").tobytes() for _ in range(RUNS)}) == RUNS


def test_every_run_names_the_node_that_fails():
    b = GraphBuilder()
    b.Reshape(b.constant(np.arange(4, dtype=np.float32)), b.constant(np.array([3], np.int32)), name="bad")
    session = Session(b.graph)
    for _ in range(RUNS):
        with pytest.raises(InvalidArgumentError, match="requested shape has 3") as caught:
            session.run("bad:0")
        assert caught.value.node == "bad"


def test_handles_of_variables_are_taken_once_and_their_values_each_time():
    b = GraphBuilder()
    handle = b.VarHandleOp(dtype="float32", shape=[], shared_name="v", name="v")
    b.AssignVariableOp(handle, b.Placeholder(dtype="float32", shape=[], name="x"), name="set")
    b.Add(b.ReadVariableOp(handle, dtype="float32"), b.constant(np.float32(1)), name="y")
    session = Session(b.graph)
    for value in range(RUNS):
        session.run("set", {"x:0": np.float32(value)})
        assert session.run("y:0") == value + 1
    assert not any("VarHandleOp" in [i[-1].node.op for i in settled(program).instructions] for program in programs(session))


def test_variables_without_a_name_are_new_in_every_run():
    b = GraphBuilder()
    handle = b.VarHandleOp(dtype="float32", shape=[], shared_name="cd2c89b7-88b7-44c8-ad83-06c2a9158347")
    is_there = b.VarIsInitializedOp(handle, name="is_there")
    with b.control_dependencies([is_there]):
        b.AssignVariableOp(handle, b.constant(np.float32(1)), name="set")
    session = Session(b.graph)
    assert not any(session.run(["is_there:0", "set"])[0] for _ in range(RUNS))


def test_steps_that_others_wait_for_and_that_do_nothing_are_left_out_but_for_hooks():
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[], name="x")
    waited_for = b.NoOp(name="first")
    with b.control_dependencies([waited_for]):
        b.Neg(x, name="y")
    session, seen = Session(b.graph), []

    def hook(node, call, inputs):
        seen.append(node.name)
        return call(*inputs)

    assert session.run(["y:0", "first"], {"x:0": np.float32(2)}) == [-2, None]
    assert instructions(session) == ["Neg"]
    session.run(["y:0", "first"], {"x:0": np.float32(2)}, hook=hook)
    assert "first" in seen


def test_steps_with_constant_inputs_name_the_node_that_fails():
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=None, name="x")
    b.Transpose(x, b.constant([1, 0]), name="y")
    b.StridedSlice(x, b.constant([1]), b.constant([3]), b.constant([1]), shrink_axis_mask=1, name="row")
    session = Session(b.graph)
    for rows in range(2, SETTLING_RUN + 4):
        given = np.arange(rows * 3, dtype=np.float32).reshape(rows, 3)
        y, row = session.run(["y:0", "row:0"], {"x:0": given})
        np.testing.assert_array_equal(y, given.T)
        np.testing.assert_array_equal(row, given[1])
        with pytest.raises(InvalidArgumentError) as caught:
            session.run(["y:0", "row:0"], {"x:0": given[0]})
        assert caught.value.node == "y"
        with pytest.raises(InvalidArgumentError) as caught:
            session.run(["row:0"], {"x:0": given[:1]})
        assert caught.value.node == "row"
