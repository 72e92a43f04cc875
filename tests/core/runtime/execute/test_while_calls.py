"""While loops without unread values, and lists as Python lists: the bits and errors of the plain loop."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.functions import define
from tfg import GraphBuilder, Session, gradients
from tfg.core.graph.call_kinds import CallSite
from tfg.core.planning.while_plans import while_plans
from tfg.core.support.errors import TfgError
from tfg.core.types.dtypes import float32
from tfg.core.types.tensors import FuncRef

ANY_SHAPE = np.int32(-1)
RUNS = 3
LOWERED = CallSite(is_lowered=True)


def repeat(b, times, variables, body, lowered=True, **attrs):
    """Return the outputs of a While that counts to `times` with `body(builder, *variables)`, without the counter."""
    dtypes = ["int32", *(value.dtype for value in variables)]
    define(b, "wanted", dtypes, lambda g, count, *rest: [g.Less(count, g.constant(times))])
    define(b, "step", dtypes, lambda g, count, *rest: [g.AddV2(count, g.constant(1)), *body(g, *rest)])
    attrs |= {"_lower_using_switch_merge": True} if lowered else {}
    loop = b.While([b.constant(0), *variables], T=dtypes, cond=FuncRef("wanted"), body=FuncRef("step"), name="loop", **attrs)
    return loop[1:]


def empty(b, limit=-1, shape=ANY_SHAPE):
    return b.EmptyTensorList(b.constant(shape), b.constant(limit), element_dtype="float32")


def filled(b, values):
    return b.TensorListFromTensor(values, b.constant(ANY_SHAPE), element_dtype="float32")


def stacked(b, handle):
    return b.TensorListStack(handle, b.constant(ANY_SHAPE), element_dtype="float32")


def push(g, handle, value):
    return g.TensorListPushBack(handle, value)


def pop(g, handle):
    return g.TensorListPopBack(handle, g.constant(ANY_SHAPE), element_dtype="float32")


def plans(b, unused):
    functions = b.graph.functions
    return while_plans(functions["wanted"], functions["step"], LOWERED, unused)


def ops_of(plan):
    return sorted(step.node.op for step in plan.steps if not step.node.is_constant)


def outcome(session, names, feeds):
    """Return the bits of values, or the message of the error and the node."""
    try:
        return [(value.dtype, value.shape, value.tobytes()) for value in session.run(names, feeds)]
    except TfgError as error:
        return error.message, error.node


def beside_plain(graph, names, feeds):
    """Return the result of a session, after a check that the plain loop gives the same result."""
    session, plain = Session(graph), Session(graph, optimize="none")
    for _ in range(RUNS):
        result = outcome(session, names, feeds)
        assert result == outcome(plain, names, feeds)
    return result


KINDS = ("carried", "kept", "grown", "shrunk", "grown by what shrank", "both ways", "counted", "swapped")


@st.composite
def loops(draw):
    """Draw a loop of variables of several kinds, the names of the fetches, and the names of gradients."""
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[5, 2], name="x")
    kinds = draw(st.lists(st.sampled_from(KINDS), min_size=1, max_size=6))
    times = draw(st.integers(0, 5))
    initial = [
        x if kind in ("carried", "kept", "swapped") else empty(b) if kind == "grown" else filled(b, x) for kind in kinds
    ]
    spare = draw(st.lists(st.integers(0, len(kinds) - 1), min_size=len(kinds), max_size=len(kinds)))

    def body(g, *values):
        tensors = [value for value, kind in zip(values, kinds) if kind in ("carried", "kept", "swapped")]
        last = g.Tanh(tensors[0]) if tensors else g.constant(np.full((5, 2), 0.5, np.float32))
        row = g.Sum(last, g.constant([0]))
        results = []
        for value, kind, other in zip(values, kinds, spare):
            if kind == "carried":
                results.append(g.Mul(value, last))
            elif kind == "swapped":
                results.append(tensors[other % len(tensors)])
            elif kind == "kept":
                results.append(value)
            elif kind == "grown":
                results.append(push(g, value, row))
            elif kind == "counted":
                size = g.Cast(g.TensorListLength(value), DstT="float32")
                results.append(push(g, value, g.Mul(row, size)))
            elif kind == "both ways":
                left, element = pop(g, value)
                results.append(push(g, left, g.Tanh(element)))
            else:
                left, element = pop(g, value)
                row = g.AddV2(row, element) if kind == "grown by what shrank" else row
                results.append(left)
        return results

    loop = repeat(b, times, initial, body, draw(st.booleans()))
    read = draw(st.sets(st.integers(0, len(kinds) - 1), min_size=1))
    values = [loop[i] if loop[i].dtype is float32 else b.TensorListLength(loop[i]) for i in sorted(read)]
    lists = [stacked(b, loop[i]) for i in sorted(read) if kinds[i] in ("grown", "counted", "both ways") and times]
    names = [value.name for value in (*values, *lists)]
    return b.graph, names, [value.name for value in (*values, *lists) if value.dtype is float32]


ROWS = {"x:0": np.linspace(-1, 1, 10, dtype=np.float32).reshape(5, 2)}


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(loops())
def test_loops_give_the_bits_of_the_plain_loop(drawn):
    graph, names, _ = drawn
    assert type(beside_plain(graph, names, ROWS)) is list


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(loops())
def test_gradients_of_loops_give_the_bits_of_the_plain_loop(drawn):
    graph, _, names = drawn
    for name in names[:1]:
        graph, result = gradients(graph, name, ["x:0"])
        beside_plain(graph, [name, *(gradient for gradient in result if gradient is not None)], ROWS)


def test_what_nobody_reads_is_left_out():
    b = GraphBuilder()
    x = b.constant(np.ones(3, np.float32))
    repeat(b, 4, [x, x, empty(b), x], lambda g, a, c, grown, dead: [g.Tanh(a), c, push(g, grown, a), g.Mul(dead, g.Exp(c))])
    assert ops_of(plans(b, [2, 3, 4]).body) == ["AddV2", "Tanh"]
    assert ops_of(plans(b, [3]).body) == ["AddV2", "Exp", "Mul", "Tanh"]
    assert plans(b, [4]).pushed.keys() == {3}
    assert plans(b, []).updated == (0, 1, 4)


def test_what_another_variable_follows_from_stays():
    b = GraphBuilder()
    x = b.constant(np.ones(3, np.float32))
    repeat(b, 4, [x, x, filled(b, x)], lambda g, a, c, rows: [g.AddV2(a, c), g.AddV2(c, pop(g, rows)[1]), pop(g, rows)[0]])
    assert plans(b, [2, 3]).updated == (0, 1, 2, 3)  # of a list that is used twice, no element can come alone


def test_what_the_condition_reads_stays():
    b = GraphBuilder()
    define(b, "wanted", ["int32", "variant"], lambda g, n, rows: [g.Less(g.TensorListLength(rows), g.constant(3))])
    define(b, "step", ["int32", "variant"], lambda g, n, rows: [n, push(g, rows, g.Cast(n, DstT="float32"))])
    result = plans(b, [0, 1])
    assert (result.asked, result.updated, result.taken, dict(result.pushed)) == ((1,), (1,), (0, 1), {})


def test_what_acts_is_not_left_out():
    b = GraphBuilder()
    handle = b.VarHandleOp(dtype="float32", shape=[], shared_name="v", name="v")
    b.AssignVariableOp(handle, b.constant(np.float32(0)), name="init")

    def body(g, variable, value):
        g.AssignAddVariableOp(variable, g.constant(np.float32(1)), name="add")
        with g.control_dependencies([g.graph.node("add")]):
            return [variable, g.AddV2(value, g.constant(np.float32(1)))]

    loop = repeat(b, 3, [handle, b.constant(np.float32(0))], body)
    with b.control_dependencies([loop[0].node]):
        read = b.ReadVariableOp(handle, dtype="float32")
    session = Session(b.graph)
    for _ in range(RUNS):
        session.run("init")
        assert session.run(read.name) == 3
    assert plans(b, [2]) is None


def refused(kind):
    """Loops that end in an error of a list."""
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[5, 2], name="x")
    element = b.constant(np.zeros(2, np.float32))

    def popping(g, rows, _):
        return list(pop(g, rows))

    def pushing(g, rows, value):
        return [push(g, rows, value), g.ConcatV2([value, value], g.constant(0))]

    lists = {
        "nothing left": lambda: filled(b, x),
        "full": lambda: empty(b, 4),
        "other shape": lambda: empty(b, shape=np.int32([2])),
        "never set": lambda: b.TensorListReserve(b.constant(ANY_SHAPE), b.constant(3), element_dtype="float32"),
    }
    loop = repeat(b, 7, [lists[kind](), element], popping if kind in ("nothing left", "never set") else pushing)
    return b.graph, [b.TensorListLength(loop[0]).name, loop[1].name]


REFUSALS = {
    "nothing left": "Trying to pop from an empty list.",
    "full": "Tried to push item into a full list",
    "other shape": "Tried to append a tensor with incompatible shape",
    "never set": "Trying to read an uninitialized tensor",
}


@pytest.mark.parametrize("kind", REFUSALS)
def test_errors_are_those_of_the_plain_loop(kind):
    graph, names = refused(kind)
    message, node = beside_plain(graph, names, ROWS)
    assert REFUSALS[kind] in message
    assert node.startswith("TensorListP")


def test_unset_elements_are_zeros():
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[5, 2], name="x")
    reserved = b.TensorListReserve(b.constant(np.int32([5, 2])), b.constant(3), element_dtype="float32")
    left, last = repeat(b, 2, [push(b, reserved, x), x], lambda g, rows, _: list(pop(g, rows)))
    assert beside_plain(b.graph, [last.name, b.TensorListLength(left).name], ROWS)[0][2] == bytes(40)


def test_lists_of_before_stay_as_they_are():
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[5, 2], name="x")
    before = filled(b, x)
    grown, shrunk = repeat(
        b, 2, [before, before], lambda g, grown, shrunk: [push(g, grown, (result := pop(g, shrunk))[1]), result[0]]
    )
    session = Session(b.graph)
    names = [stacked(b, handle).name for handle in (before, grown, shrunk)]
    for _ in range(RUNS):
        first, second, third = session.run(names, ROWS)
        rows = ROWS["x:0"]
        assert np.array_equal(first, rows)
        assert np.array_equal(second, [*rows, rows[4], rows[3]])
        assert np.array_equal(third, rows[:3])


def test_hooks_see_every_kernel():
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[5, 2], name="x")
    loop = repeat(b, 2, [x, empty(b)], lambda g, value, grown: [g.Tanh(value), push(g, grown, value)])
    session, seen = Session(b.graph), []
    for _ in range(RUNS):
        session.run(loop[0].name, ROWS)
    session.run(loop[0].name, ROWS, hook=lambda node, call, inputs: seen.append(node.op) or call(*inputs))
    assert (seen.count("Tanh"), seen.count("TensorListPushBack"), seen.count("Less")) == (2, 2, 3)
