"""Loops: loop-invariant nodes run once before the loop, loops without iterations are removed, effects run as often as
before.
"""

from __future__ import annotations

import numpy as np
import pytest

import tfg
from tests.cases import control_flow
from tests.core.passes.rewriting import nodes, placeholder, rewritten
from tests.functions import define
from tfg.core.graph.frames import find_frames
from tfg.core.passes.pipeline import optimize
from tfg.core.types.tensors import FuncRef

PASSES = "loops,prune"
FLOAT = "float32"


def v1(step, initial=("x",), constants=("w",), end=3, shape=(2, 2)):
    """A loop that counts to `end`, fed where that is None; `step(b, count, values, constants)` gives the other variables."""

    def build(b):
        given = {name: placeholder(b, name, shape) for name in dict.fromkeys((*initial, *constants))}
        last = placeholder(b, "end", (), "int32") if end is None else b.constant(end)

        def body(values, fixed):
            return [b.AddV2(values[0], in_loop(b, values[0], 1)), *step(b, values[0], values[1:], fixed[1:])]

        first = [b.constant(0), *(given[name] for name in initial)]
        fixed = [last, *(given[name] for name in constants)]
        exits = control_flow.loop(b, "f", first, fixed, lambda v, c: b.Less(v[0], c[0]), body)
        return [b.Identity(result) for result in exits[1:]]

    return build


def in_loop(b, count, value):
    """A constant of an iteration."""
    with b.control_dependencies([count]):
        return b.constant(value)


def halved(b, count, value):
    return b.RealDiv(value, in_loop(b, count, 2.0))


def quotients(b, count, value):
    """Return integer quotients, with an error for division by zero."""
    whole = b.Cast(value, DstT="int32")
    return b.Cast(b.FloorDiv(whole, b.AddV2(b.Mul(whole, whole), in_loop(b, count, 1))), DstT="float32")


def on_a_branch(b, count, value):
    left, right = b.Switch(count, b.Less(count, in_loop(b, count, 2)))
    with b.control_dependencies([b.Identity(right)]):
        taken = b.Neg(value)
    return b.Cast(b.Merge([left, b.Cast(b.Sum(taken, in_loop(b, count, [0, 1])), DstT="int32")])[0], DstT="float32")


STEPS = {
    "a product": lambda b, i, v, c: [b.AddV2(v[0], b.MatMul(c[0], c[0]))],
    "with a constant": lambda b, i, v, c: [b.AddV2(v[0], halved(b, i, b.Exp(c[0])))],
    "what the body returns": lambda b, i, v, c: [halved(b, i, c[0])],
    "past a reshape": lambda b, i, v, c: [b.AddV2(v[0], b.Exp(b.Reshape(c[0], b.Shape(c[0]))))],
    "a division": lambda b, i, v, c: [b.AddV2(v[0], quotients(b, i, c[0]))],
    "random": lambda b, i, v, c: [b.AddV2(v[0], b.RandomUniform(b.Shape(c[0]), dtype="float32", seed=1))],
    "idle": lambda b, i, v, c: [b.AddV2(v[0], b.Reshape(c[0], b.Shape(c[0])))],
    "a branch": lambda b, i, v, c: [b.AddV2(v[0], on_a_branch(b, i, c[0]))],
}


@pytest.mark.parametrize(
    ("step", "end", "gone"),
    [
        ("a product", 3, {"MatMul"}),
        ("a product", 0, {"MatMul", "AddV2", "Less"}),
        ("a product", None, {"MatMul"}),
        ("with a constant", 3, {"RealDiv", "Exp"}),
        ("what the body returns", 3, {"RealDiv"}),
        ("past a reshape", 3, {"Exp", "Reshape", "Shape"}),
        ("a division", 3, {"FloorDiv", "Mul", "Cast"}),
    ],
)
def test_invariant_nodes_leave_a_frame(step, end, gone):
    result = rewritten(v1(STEPS[step], end=end), PASSES)
    inside = {node.op for node in find_frames(result.after)}
    before = {node.op for node in find_frames(result.before)}
    assert gone <= before and not gone & inside
    assert len(result.after) <= len(result.before) + 2


@pytest.mark.parametrize(
    ("step", "end", "stays", "reason"),
    [
        ("a division", None, "FloorDiv", "it may fail, and the loop may never run"),
        ("random", 3, "RandomUniform", "it is stateful"),
        ("a branch", 3, "Neg", "it lies on a branch within the loop"),
        ("idle", 3, "Reshape", ""),
    ],
)
def test_what_has_to_stay_in_a_frame(step, end, stays, reason):
    result = rewritten(v1(STEPS[step], end=end), PASSES)
    assert stays in {node.op for node in find_frames(result.after)}
    assert reason in result.reasons


def test_a_variable_that_stays_is_invariant():
    def step(b, i, v, c):
        return [b.AddV2(v[0], b.Exp(v[1])), b.Identity(v[1])]

    result = rewritten(v1(step, ("x", "y"), ()), PASSES)
    assert "Exp" not in {node.op for node in find_frames(result.after)}
    assert result.after.output(result.fetches[1]).node.inputs[0].node.name == "y", "it is read past the loop"


def nested(b):
    """Return an inner loop with a product that depends only on inputs of the outer loop."""
    x, w = placeholder(b, "x", (2, 2)), placeholder(b, "w", (2, 2))

    def outer(values, fixed):
        count = values[0]
        enters = [b.Enter(value, frame_name="inner") for value in (in_loop(b, count, 0), values[1])]
        end, scale = (b.Enter(value, frame_name="inner", is_constant=True) for value in (in_loop(b, count, 2), fixed[1]))
        merges = [b.Merge([enter, enter])[0] for enter in enters]
        predicate = b.LoopCond(b.Less(merges[0], end))
        i, value = (b.Switch(merge, predicate) for merge in merges)
        step = b.Identity(i[1])
        results = [b.AddV2(step, in_loop(b, step, 1)), b.AddV2(value[1], halved(b, step, b.MatMul(scale, scale)))]
        for merge, enter, result in zip(merges, enters, results):
            b.graph.set_inputs(merge.node, [enter, b.NextIteration(result)])
        return [b.AddV2(count, in_loop(b, count, 1)), b.Exit(value[0])]

    exits = control_flow.loop(b, "outer", [b.constant(0), x], [b.constant(3), w], lambda v, c: b.Less(v[0], c[0]), outer)
    return b.Identity(exits[1])


def test_out_of_two_loops():
    result = rewritten(nested)
    assert not {"MatMul", "RealDiv"} & {node.op for node in find_frames(result.after)}
    assert {"MatMul", "Mul"} <= set(result.ops())


def counting_effects(b, build_step, end):
    """Return a loop that adds to a variable in each iteration, with the initializer and the target."""
    handle = b.VarHandleOp(dtype="float32", shape=[2, 2], shared_name="v")
    ready = b.AssignVariableOp(handle, b.constant(np.zeros((2, 2), "f")), name="init")
    w = placeholder(b, "w", (2, 2))

    def body(values, fixed):
        added = b.AssignAddVariableOp(fixed[1], build_step(values[0], fixed[2]), dtype="float32")
        with b.control_dependencies([added]):
            return [b.AddV2(values[0], in_loop(b, values[0], 1))]

    fixed = [b.constant(end), handle, w]
    exits = control_flow.loop(b, "f", [b.constant(0)], fixed, lambda v, c: b.Less(v[0], c[0]), body)
    return ready, b.Identity(exits[0], name="count"), b.ReadVariableOp(handle, dtype="float32", name="read")


@pytest.mark.parametrize("end", [0, 1, 4])
def test_effects_run_as_often_as_before(end):
    """The effect reads only an invariant value: without its control input the effect would run once too often."""
    b = tfg.GraphBuilder()
    counting_effects(b, lambda count, w: halved(b, count, w), end)
    after, _ = optimize(b.graph, ["init", "count:0", "read:0"], ["w:0"], PASSES)
    assert "RealDiv" not in {node.op for node in find_frames(after)}
    session = tfg.Session(after)
    session.run("init")
    assert session.run("count:0", {"w:0": np.ones((2, 2))}) == end
    np.testing.assert_array_equal(session.run("read:0"), np.full((2, 2), end / 2))


def printed(b, fixed, value):
    return b.Print(fixed, [value], message="")


def reshaped(b, fixed, value):
    return b.Reshape(fixed, b.Shape(value))


def dropped_out(b, fixed, value):
    with b.control_dependencies([value]):
        noise = b.RandomUniform(b.Shape(fixed), dtype="float32")
    kept = b.GreaterEqual(noise, in_loop(b, value, np.float32(0.5)))
    return b.Mul(b.RealDiv(fixed, in_loop(b, value, np.float32(0.5))), b.Cast(kept, DstT="float32"))


@pytest.mark.parametrize("passes", ["default", "default,strip_debug", "default,remove_dropout"])
@pytest.mark.parametrize("build_step", [reshaped, printed, dropped_out])
def test_a_loop_ends_where_a_fixed_value_takes_the_place_of_one_of_the_body(build_step, passes):
    """The fixed value is there in the last test of the condition, too, where the values of the body are dead."""
    b = tfg.GraphBuilder()
    handle = b.VarHandleOp(dtype=FLOAT, shape=[2, 2], shared_name="v")
    b.AssignVariableOp(handle, b.constant(np.zeros((2, 2), "f")), name="init")

    def body(values, fixed):
        following = build_step(b, fixed[1], values[1])
        added = b.AssignAddVariableOp(fixed[2], build_step(b, fixed[1], values[1]), dtype=FLOAT)
        with b.control_dependencies([added]):
            return [b.AddV2(values[0], in_loop(b, values[0], 1)), following]

    fixed = [b.constant(3), placeholder(b, "w", (2, 2)), handle]
    starts = [b.constant(0), placeholder(b, "x", (2, 2))]
    exits = control_flow.loop(b, "f", starts, fixed, lambda v, c: b.Less(v[0], c[0]), body)
    count, result = (b.Identity(value, name=name) for value, name in zip(exits, ("count", "result"), strict=True))
    b.ReadVariableOp(handle, dtype=FLOAT, name="read")
    after, _ = optimize(b.graph, ["init", count.name, result.name, "read:0"], passes=passes)
    session = tfg.Session(after, timeout=20)
    session.run("init")
    ones = np.ones((2, 2), np.float32)
    steps, last = session.run([count.name, result.name], {"w:0": ones, "x:0": 5 * ones})
    assert steps == 3
    if build_step is not dropped_out or "dropout" in passes:
        np.testing.assert_array_equal(last, ones)
        np.testing.assert_array_equal(session.run("read:0"), 3 * ones)


def test_an_inner_loop_that_never_runs_leaves_effects_behind_it_as_they_are():
    """The inner loop's values exist before the outer condition is computed; the effect must wait for the condition."""
    b = tfg.GraphBuilder()
    handle = b.VarHandleOp(dtype=FLOAT, shape=[2, 2], shared_name="v")
    b.AssignVariableOp(handle, b.constant(np.zeros((2, 2), "f")), name="init")

    def body(values, fixed):
        enters = [b.Enter(value, frame_name="inner") for value in (in_loop(b, values[0], 5), fixed[2])]
        end = b.Enter(in_loop(b, values[0], 2), frame_name="inner", is_constant=True)
        merges = [b.Merge([enter, enter])[0] for enter in enters]
        predicate = b.LoopCond(b.Less(merges[0], end))
        i, value = (b.Switch(merge, predicate) for merge in merges)
        step = b.Identity(i[1])
        for merge, enter, result in zip(merges, enters, (b.AddV2(step, in_loop(b, step, 1)), b.Neg(value[1]))):
            b.graph.set_inputs(merge.node, [enter, b.NextIteration(result)])
        with b.control_dependencies([b.AssignAddVariableOp(fixed[1], b.Exit(value[0]), dtype=FLOAT)]):
            return [b.AddV2(values[0], in_loop(b, values[0], 1))]

    fixed = [b.constant(3), handle, placeholder(b, "w", (2, 2))]
    exits = control_flow.loop(b, "outer", [b.constant(0)], fixed, lambda v, c: b.Less(v[0], c[0]), body)
    b.Identity(exits[0], name="count")
    b.ReadVariableOp(handle, dtype=FLOAT, name="read")
    after, _ = optimize(b.graph, ["init", "count:0", "read:0"], ["w:0"], PASSES)
    assert len(nodes(after, "LoopCond")) == 1
    session = tfg.Session(after)
    session.run("init")
    session.run("count:0", {"w:0": np.ones((2, 2))})
    np.testing.assert_array_equal(session.run("read:0"), np.full((2, 2), 3))


def test_a_frame_with_fed_or_kept_nodes():
    b = tfg.GraphBuilder()
    y = v1(STEPS["a product"])(b)[0].name
    product = nodes(b.graph, "MatMul")[0].name
    for options, reason in (({"keep": [product]}, "its name is needed"), ({"overridable": [f"{product}:0"]}, "may be fed")):
        after, report = optimize(b.graph, [y], ["x:0", "w:0"], PASSES, **options)
        assert after.node(product) in find_frames(after)
        assert any(reason in refusal.reason for record in report.passes for refusal in record.refused)


def test_a_result_of_a_loop_that_never_runs_needs_what_it_needed_before():
    """What enters as another variable runs only if that variable, or what follows from it, is read."""
    b = tfg.GraphBuilder()
    handle = b.VarHandleOp(dtype=FLOAT, shape=[], shared_name="v")
    b.AssignVariableOp(handle, b.constant(np.float32(0)), name="init")
    x, w = placeholder(b, "x", ()), placeholder(b, "w", ())
    with b.control_dependencies([b.AssignAddVariableOp(handle, b.constant(np.float32(1)), dtype=FLOAT)]):
        entering = b.Identity(x)

    def body(values, fixed):
        return [b.AddV2(values[0], in_loop(b, values[0], 1)), b.Neg(values[1]), b.Mul(values[2], values[1])]

    starts = [b.constant(3), entering, w]
    exits = control_flow.loop(b, "f", starts, [b.constant(3)], lambda v, c: b.Less(v[0], c[0]), body)
    names = [b.Identity(value).name for value in exits]
    b.ReadVariableOp(handle, dtype=FLOAT, name="read")
    after, _ = optimize(b.graph, ["init", *names, "read:0"])
    assert not nodes(after, "LoopCond")
    for graph in (b.graph, after):
        session = tfg.Session(graph)
        session.run("init")
        counts = [session.run(name, {"x:0": np.float32(5), "w:0": np.float32(7)}) for name in names]
        assert counts == [3, 5, 7]
        assert session.run("read:0") == 2


def test_a_frame_that_never_runs_and_acts_before_its_condition_stays():
    def build(b):
        def condition(values, fixed):
            with b.control_dependencies([b.Print(values[0], [values[0]])]):
                return b.Less(values[0], fixed[0])

        return b.Identity(control_flow.loop(b, "f", [b.constant(0)], [b.constant(0)], condition, lambda v, c: [v[0]])[0])

    result = rewritten(build, PASSES)
    assert "LoopCond" in result.ops() and "runs before the condition is computed" in result.reasons


# ---- While


def functional(step, start=0, read=(1,), condition=lambda g, i, x, w: g.Less(i, 3), op="StatelessWhile"):
    """A While over (i, x, w); `step(g, x, w)` gives x and w."""

    def build(b):
        x, w = placeholder(b, "x", (2, 2)), placeholder(b, "w", (2, 2))
        first = placeholder(b, "start", (), "int32") if start is None else b.constant(start)
        cond = define(b, "cond", ["int32", FLOAT, FLOAT], lambda g, *args: [condition(g, *args)], op == "While")
        body = define(b, "body", ["int32", FLOAT, FLOAT], lambda g, i, x, w: [g.AddV2(i, 1), *step(g, x, w)], op == "While")
        node = b.apply(op, [first, x, w], cond=FuncRef(cond), body=FuncRef(body))
        return [b.Neg(node[i]) for i in read]

    return build


def whole(g, value):
    return g.Cast(g.FloorDiv(g.Cast(value, DstT="int32"), 1), DstT="float32")


BODIES = {
    "a product": lambda g, x, w: [g.AddV2(x, g.MatMul(w, w)), w],
    "a chain": lambda g, x, w: [g.AddV2(x, g.Exp(g.MatMul(w, g.Transpose(w, [1, 0])))), g.Identity(w)],
    "a division": lambda g, x, w: [g.AddV2(x, whole(g, w)), w],
    "random": lambda g, x, w: [g.AddV2(x, g.RandomUniform(g.Shape(w), dtype="float32", seed=3)), w],
    "changing": lambda g, x, w: [g.AddV2(x, g.MatMul(w, w)), g.Neg(w)],
    "a result": lambda g, x, w: [g.Exp(w), w],
}


def in_functions(graph):
    return {node.op for function in graph.functions.values() for node in function.body}


@pytest.mark.parametrize(
    ("step", "start", "gone"),
    [
        ("a product", 0, {"MatMul"}),
        ("a product", None, {"MatMul"}),
        ("a chain", 0, {"MatMul", "Exp", "Transpose"}),
        ("a division", 0, {"FloorDiv"}),
        ("a result", 2, {"Exp"}),
        ("a product", 5, {"MatMul", "AddV2", "Less"}),
    ],
)
def test_invariant_nodes_leave_a_while(step, start, gone):
    result = rewritten(functional(BODIES[step], start), PASSES)
    assert gone <= in_functions(result.before) and not gone & in_functions(result.after)
    assert {"body", "cond"} <= set(result.before.functions) and "MatMul" not in result.after.functions


@pytest.mark.parametrize(
    ("step", "start", "stays", "reason"),
    [
        ("a division", None, "FloorDiv", "it may fail, and the loop may never run"),
        ("random", 0, "RandomUniform", ""),
        ("changing", 0, "MatMul", ""),
    ],
)
def test_what_has_to_stay_in_a_while(step, start, stays, reason):
    result = rewritten(functional(BODIES[step], start), PASSES)
    assert stays in in_functions(result.after)
    assert reason in result.reasons


def test_the_condition_runs_at_least_once():
    def condition(g, i, x, w):
        return g.Less(g.Cast(i, DstT="float32"), g.Sum(whole(g, w), [0, 1]))

    result = rewritten(functional(BODIES["changing"], None, condition=condition), PASSES)
    assert "FloorDiv" in in_functions(result.after), "w changes"
    result = rewritten(functional(lambda g, x, w: [g.Neg(x), w], None, condition=condition), PASSES)
    assert "FloorDiv" not in in_functions(result.after)


def test_what_took_a_moved_value_waits_for_what_that_waited_for():
    b = tfg.GraphBuilder()
    types = ["int32", "resource", FLOAT]

    def body(g, i, h, w):
        added = g.AssignAddVariableOp(h, 1.0, dtype=FLOAT)
        with g.control_dependencies([added]):
            value = g.Exp(w)
        set_after = g.AssignVariableOp(h, value, dtype=FLOAT, name="last")
        with g.control_dependencies([set_after]):
            return [g.AddV2(g.Identity(i), 1), h, w]

    define(b, "cond", types, lambda g, i, h, w: [g.Less(i, 3)])
    define(b, "body", types, body, stateful=True)
    handle = b.VarHandleOp(dtype=FLOAT, shape=[], shared_name="v")
    loop = b.While([b.constant(0), handle, placeholder(b, "w", ())], cond=FuncRef("cond"), body=FuncRef("body"), name="while")
    after, _ = optimize(b.graph, [b.Identity(loop[0]).name], ["w:0"], PASSES)
    left = after.functions[after.node("while").attrs["body"].name].body
    assert "Exp" not in {node.op for node in left}
    assert [control.op for control in left.node("last").control_inputs] == ["AssignAddVariableOp"]


def test_what_a_while_leaves_alone_is_read_past_it():
    result = rewritten(functional(BODIES["a product"], read=(2,)), PASSES)
    assert result.text == "Neg(w)"


def test_functions_of_other_callers_stay_as_they_are():
    def build(b):
        first = functional(BODIES["a product"])(b)
        again = b.StatelessWhile([b.constant(1), first[0], first[0]], cond=FuncRef("cond"), body=FuncRef("body"))
        return [*first, *again]

    result = rewritten(build, PASSES)
    assert result.fired >= {"invariant"}
    assert len(result.after.functions) == 4


def test_a_while_that_never_runs():
    result = rewritten(functional(BODIES["a product"], 3, (1, 2)), PASSES)
    assert result.text == "Neg(x); Neg(w)"

    def printing(g, i, x, w):
        with g.control_dependencies([g.Print(i, [i])]):
            return g.Less(i, 3)

    result = rewritten(functional(BODIES["a product"], 3, condition=printing, op="While"), PASSES)
    assert "While" in result.ops() and "in its condition has effects" in result.reasons


def test_reading_past_a_loop_with_effects_still_waits_for_it():
    b = tfg.GraphBuilder()
    handle = b.VarHandleOp(dtype="float32", shape=[], shared_name="v")
    b.AssignVariableOp(handle, b.constant(np.float32(1)), name="init")
    types = ["int32", "resource"]
    define(b, "cond", types, lambda g, i, h: [g.Less(i, 3)])

    def body(g, i, h):
        with g.control_dependencies([g.AssignAddVariableOp(h, g.constant(2.0), dtype="float32")]):
            return [g.AddV2(g.Identity(i), 1), h]

    define(b, "body", types, body, stateful=True)
    loop = b.While([b.constant(0), handle], cond=FuncRef("cond"), body=FuncRef("body"))
    b.ReadVariableOp(loop[1], dtype="float32", name="read")
    after, _ = optimize(b.graph, ["init", "read:0"])
    assert after.node("read").inputs[0].node.op == "VarHandleOp"
    session = tfg.Session(after)
    session.run("init")
    assert session.run("read:0") == 7
