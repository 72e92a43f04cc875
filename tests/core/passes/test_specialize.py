"""Functions made to fit their call, and the other passes at work in the functions that stay."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest

import tfg
from tests.core.passes.rewriting import assert_same, nodes, placeholder, rewritten
from tests.functions import define
from tfg import GraphBuilder
from tfg.core.flops import count_flops
from tfg.core.graph.call_kinds import CALL_KINDS, INLINED
from tfg.core.inference.inference import infer
from tfg.core.passes.pipeline import optimize
from tfg.core.support.errors import InvalidArgumentError
from tfg.core.types.dtypes import as_dtype
from tfg.core.types.shapes import Shape
from tfg.core.types.tensors import FuncRef

PASSES = "specialize,prune"
FLOAT = "float32"


def bodies(graph):
    """Return the op types of each function by name, without arguments."""
    return {name: sorted(n.op for n in function.body if n.op != "_Arg") for name, function in graph.functions.items()}


def chosen(then, other, values, results=2, read=(0,), op="StatelessIf"):
    """An If or Case on a value that is fed, of functions of `values`; the results in `read` are used."""

    def build(b):
        given = [placeholder(b, v, (2, 3)) if isinstance(v, str) else b.constant(v) for v in values]
        types = [value.dtype for value in given]
        names = [define(b, name, types, make) for name, make in (("then", then), ("else", other))]
        total = b.Sum(placeholder(b, "p"), [0, 1])
        if op.endswith("If"):
            attrs = {"then_branch": FuncRef(names[0]), "else_branch": FuncRef(names[1])}
            which = b.Less(total, 0.0)
        else:
            attrs, which = {"branches": [FuncRef(name) for name in names]}, b.Cast(total, DstT="int32")
        node = b.apply(op, which, given, Tout=[FLOAT] * results, **attrs)
        return [b.Identity(node[i]) for i in read]

    return build


@pytest.mark.parametrize("op", ["StatelessIf", "StatelessCase"])
@pytest.mark.parametrize(
    ("values", "then", "other", "read", "inputs", "functions"),
    [
        (("x", 2.0), lambda g, x, c: [g.Mul(x, c), x], lambda g, x, c: [g.Sub(c, x), x], (0, 1), ["x"],
         [["Const", "Mul"], ["Const", "Sub"]]),
        (("x", "y"), lambda g, x, y: [g.Neg(x), x], lambda g, x, y: [g.Abs(x), x], (0, 1), ["x"], [["Neg"], ["Abs"]]),
        (("x", "y"), lambda g, x, y: [g.Neg(x), g.Exp(y)], lambda g, x, y: [g.Abs(x), y], (0,), ["x"], [["Neg"], ["Abs"]]),
        (("x", "y"), lambda g, x, y: [g.Neg(x), g.Exp(y)], lambda g, x, y: [g.Abs(x), y], (1,), ["y"], [["Exp"], []]),
        (("x", "y"), lambda g, x, y: [g.Neg(x), x], lambda g, x, y: [g.Abs(y), x], (0,), ["x", "y"], [["Neg"], ["Abs"]]),
    ],
    ids=["constant", "unused argument", "unread result", "unread first result", "used by one"],
)  # fmt: skip
def test_branches_fit_their_call(op, values, then, other, read, inputs, functions):
    result = rewritten(chosen(then, other, values, read=read, op=op), PASSES)
    node = nodes(result.after, op)[0]
    assert [value.node.name for value in node.inputs[1:]] == inputs
    assert len(node.attrs["Tin"]) == len(inputs) and len(node.attrs["Tout"]) == len(read)
    assert list(bodies(result.after).values()) == functions


def looping(step, values, read, shapes=None):
    """A While over a counter and `values`; outputs in `read` are used."""

    def build(b):
        given = [placeholder(b, v, (2, 3)) if isinstance(v, str) else b.constant(v) for v in values]
        types = ["int32", *(value.dtype for value in given)]
        define(b, "cond", types, lambda g, i, *rest: [g.Less(i, 3)])
        define(b, "body", types, lambda g, i, *rest: [g.AddV2(i, 1), *step(g, *rest)])
        options = {"output_shapes": [value.node.attrs.get("shape", ()) for value in (b.constant(0), *given)]} if shapes else {}
        node = b.StatelessWhile([b.constant(0), *given], cond=FuncRef("cond"), body=FuncRef("body"), **options)
        return [b.Identity(node[i]) for i in read]

    return build


@pytest.mark.parametrize(
    ("step", "values", "read", "left", "ops"),
    [
        (lambda g, x, c: [g.Mul(x, c), c], ("x", 0.5), (1,), 2, {"AddV2", "Const", "Mul"}),
        (lambda g, x, y: [g.Neg(x), g.Exp(y)], ("x", "y"), (1,), 2, {"AddV2", "Const", "Neg"}),
        (lambda g, x, y: [g.Neg(x), g.Exp(y)], ("x", "y"), (2,), 2, {"AddV2", "Const", "Exp"}),
        (lambda g, x, y: [g.AddV2(x, y), g.Exp(y)], ("x", "y"), (1,), 3, {"AddV2", "Const", "Exp"}),
        (lambda g, x, y: [g.Neg(x), g.Exp(x)], ("x", "y"), (0,), 1, {"AddV2", "Const"}),
    ],
    ids=["constant", "unread", "unread before", "needed by another", "all but the counter"],
)
@pytest.mark.parametrize("shapes", [False, True])
def test_loops_lose_variables(step, values, read, left, ops, shapes):
    result = rewritten(looping(step, values, read, shapes), PASSES)
    node = nodes(result.after, "StatelessWhile")[0]
    assert len(node.inputs) == len(node.attrs["T"]) == left
    assert not shapes or len(node.attrs["output_shapes"]) == left
    assert set(bodies(result.after)[node.attrs["body"].name]) == ops


def test_a_call_that_inlining_leaves():
    def build(b):
        define(b, "f", [FLOAT] * 3, lambda g, x, y, c: [g.Mul(x, g.Neg(c)), g.Exp(y)])
        given = [placeholder(b, "x"), placeholder(b, "y"), 2.0]
        return b.Identity(b.PartitionedCall(given, Tout=[FLOAT] * 2, f=FuncRef("f"))[0])

    result = rewritten(build, "specialize,bodies,prune")
    assert bodies(result.after) == {"f_specialized": ["Const", "Mul"]}
    assert result.report.fates["PartitionedCall"].startswith("calls a copy of its function with constants")


def test_a_call_by_name():
    b = tfg.GraphBuilder()
    name = define(b, "f", ["resource", FLOAT, FLOAT], lambda g, h, x, y: [g.AddV2(g.ReadVariableOp(h, dtype=FLOAT), x)])
    handle = b.VarHandleOp(dtype=FLOAT, shape=[], shared_name="v")
    b.AssignVariableOp(handle, b.constant(3.0), name="init")
    call = b.graph.add_node("call", name, [handle, placeholder(b, "x", ()), placeholder(b, "y", ())])
    y = b.graph.add_node("out", "Neg", [call.output()], (), {"T": tfg.core.types.dtypes.float32}).output()
    after, _ = optimize(b.graph, ["init", y.name], ["x:0", "y:0"], PASSES)
    assert len(nodes(after, "f_specialized")[0].inputs) == 2
    session = tfg.Session(after)
    session.run("init")
    assert session.run(y.name, {"x:0": 2.0}) == -5


def shared(first, second, make):
    """Two Ifs with the same functions."""

    def build(b):
        x, p = placeholder(b, "x"), b.Less(b.Sum(placeholder(b, "p"), [0, 1]), 0.0)
        name = define(b, "f", [FLOAT] * 2, make)
        attrs = {"then_branch": FuncRef(name), "else_branch": FuncRef(name)}
        return [b.Identity(b.StatelessIf(p, [x, value], Tout=[FLOAT], **attrs)[0]) for value in (first, second)]

    return build


def test_a_function_of_several_callers_is_copied_where_that_saves_work():
    result = rewritten(shared(2.0, 3.0, lambda g, x, c: [g.Mul(x, g.Exp(c))]), PASSES)
    assert sorted(bodies(result.after)) == ["f_specialized", "f_specialized_1"]
    result = rewritten(shared(2.0, 2.0, lambda g, x, c: [g.Mul(x, g.Exp(c))]), PASSES)
    assert sorted(bodies(result.after)) == ["f_specialized"], "calls alike share the copy"
    result = rewritten(shared(2.0, 3.0, lambda g, x, c: [g.Mul(x, c)]), PASSES)
    assert sorted(bodies(result.after)) == ["f"] and "would not save work" in result.reasons
    random = rewritten(
        shared(2.0, 3.0, lambda g, x, c: [g.AddV2(g.Exp(c), g.RandomUniform([2, 3], dtype=FLOAT, seed=1))]), PASSES
    )
    assert sorted(bodies(random.after)) == ["f"] and "draws random numbers" in random.reasons


def test_shapes_are_those_of_the_results_that_are_left():
    def build(b):
        result = chosen(lambda g, x: [x, g.Sum(x, [0])], lambda g, x: [x, g.Max(x, [0])], ("x",), read=(1,))(b)
        return b.BroadcastTo(result[0].node.inputs[0], [2, 3])

    assert "BroadcastTo" in rewritten(build, "shapes,specialize,structure,prune").ops()


def test_shapes_noted_by_position_go():
    def build(b):
        result = chosen(lambda g, x, y: [g.Neg(x), y], lambda g, x, y: [g.Abs(x), y], ("x", "y"))(b)
        nodes(b.graph, "StatelessIf")[0].set_attr("_output_shapes", [Shape((2, 3)), Shape((2, 3))])
        return result

    assert "_output_shapes" not in nodes(rewritten(build, PASSES).after, "StatelessIf")[0].attrs


def test_a_fetched_call_keeps_its_outputs():
    def build(b):
        define(b, "f", [FLOAT] * 2, lambda g, x, y: [g.Exp(x), g.Neg(y)])
        call = b.PartitionedCall([placeholder(b, "x"), placeholder(b, "y")], Tout=[FLOAT] * 2, f=FuncRef("f"))
        return call[1]

    result = rewritten(build, PASSES)
    assert len(nodes(result.after, "PartitionedCall")[0].output_dtypes) == 2


def test_a_call_keeps_a_result_where_it_would_run_more_without():
    """A node without a path to a result or control output does not run, except in functions without both."""
    b = tfg.GraphBuilder()
    handle = b.VarHandleOp(dtype=FLOAT, shape=[], shared_name="v")
    b.AssignVariableOp(handle, b.constant(1.0), name="init")

    def make(g, h, x):
        g.AssignAddVariableOp(h, x, dtype=FLOAT)
        return [g.Neg(x)]

    define(b, "f", ["resource", FLOAT], make, stateful=True)
    call = b.StatefulPartitionedCall([handle, placeholder(b, "x", ())], Tout=[FLOAT], f=FuncRef("f"), name="call")
    with b.control_dependencies([call[0]]):
        read = b.ReadVariableOp(handle, dtype=FLOAT)
    after, _ = optimize(b.graph, ["init", read.name], ["x:0"], PASSES)
    assert len(after.node("call").output_dtypes) == 1
    session = tfg.Session(after)
    session.run("init")
    assert session.run(read.name, {"x:0": 2.0}) == 1


def test_a_loop_keeps_a_variable_that_effects_lead_to():
    """In a loop that TensorFlow lowers nothing else makes them run."""
    b = tfg.GraphBuilder()
    types = ["int32", "resource", FLOAT]

    def body(g, i, h, x):
        more = g.AddV2(i, 1)
        with g.control_dependencies([g.AssignAddVariableOp(h, x, dtype=FLOAT)]):
            return [more, h, g.Identity(x)]

    define(b, "cond", types, lambda g, i, h, x: [g.Less(i, 3)])
    define(b, "body", types, body, stateful=True)
    handle = b.VarHandleOp(dtype=FLOAT, shape=[], shared_name="v")
    b.AssignVariableOp(handle, b.constant(0.0), name="init")
    attrs = {"cond": FuncRef("cond"), "body": FuncRef("body")}
    loop = b.While([b.constant(0), handle, b.constant(2.0)], name="while", **attrs)
    loop[0].node.set_attr("_lower_using_switch_merge", True)
    with b.control_dependencies([loop[0]]):
        read = b.ReadVariableOp(handle, dtype=FLOAT)
    for passes in (None, PASSES):
        after, _ = optimize(b.graph, ["init", read.name], passes=passes)
        session = tfg.Session(after)
        session.run("init")
        assert session.run(read.name) == 6


def test_constants_over_the_limit_stay_outside():
    build = chosen(lambda g, x, c: [g.Mul(x, c), x], lambda g, x, c: [g.Sub(c, x), x], ("x", np.ones((2, 3), "f")))
    assert "constant-argument" not in rewritten(build, "specialize{limit=20},prune").fired
    assert "constant-argument" in rewritten(build, "specialize{limit=24},prune").fired


def test_a_call_still_waits_for_effects_behind_an_argument_that_goes():
    b = tfg.GraphBuilder()
    handle = b.VarHandleOp(dtype=FLOAT, shape=[], shared_name="v")
    b.AssignVariableOp(handle, b.constant(1.0), name="init")
    x = placeholder(b, "x", ())
    with b.control_dependencies([b.AssignAddVariableOp(handle, b.constant(4.0), dtype=FLOAT)]):
        late = b.Identity(x)
    names = [
        define(b, name, ["resource", FLOAT], lambda g, h, x: [g.ReadVariableOp(h, dtype=FLOAT)], stateful=True)
        for name in ("then", "else")
    ]
    attrs = {"then_branch": FuncRef(names[0]), "else_branch": FuncRef(names[1])}
    node = b.apply("If", placeholder(b, "p", (), "bool"), [handle, late], Tout=[FLOAT], name="if", **attrs)
    y = b.Neg(node[0])
    after, _ = optimize(b.graph, ["init", y.name], ["p:0", "x:0"], PASSES)
    assert len(after.node("if").inputs) == 2
    session = tfg.Session(after)
    session.run("init")
    assert session.run(y.name, {"p:0": True, "x:0": 0.0}) == -5


# ---- bodies


def test_passes_work_in_branches_that_stay():
    def then(g, x, y):
        return [g.AddV2(g.Mul(x, g.Exp(g.Neg(1.0))), g.Neg(g.Neg(y)))]

    def other(g, x, y):
        return [g.AddV2(g.Exp(x), g.Exp(x))]

    result = rewritten(chosen(then, other, ("x", "y"), results=1))
    assert sorted(bodies(result.after).values()) == [["AddV2", "Const", "Mul"], ["AddV2", "Exp"]]


def test_shapes_come_in_from_the_call():
    def make(g, x):
        return [g.Neg(g.Mul(x, g.Fill(g.Shape(x), 1.0)))]

    result = rewritten(chosen(make, make, ("x",), results=1))
    assert list(bodies(result.after).values()) == [["Neg"], ["Neg"]]


def test_results_that_others_in_the_body_read():
    def then(g, x):
        negative = g.Neg(x)
        return [negative, g.Exp(g.Identity(negative)), g.Identity(negative)]

    result = rewritten(chosen(then, lambda g, x: [x, g.Abs(x), x], ("x",), results=3, read=(0, 1, 2)))
    assert sorted(bodies(result.after).values()) == [["Abs"], ["Exp", "Neg"]]


def test_functions_in_functions():
    def build(b):
        inner = define(b, "inner", [FLOAT, FLOAT], lambda g, x, c: [g.Mul(x, g.Exp(c))])
        attrs = {"then_branch": FuncRef(inner), "else_branch": FuncRef(define(b, "id", [FLOAT] * 2, lambda g, x, c: [x]))}

        def outer(g, x):
            return [g.StatelessIf(g.Less(g.Sum(x, [0, 1]), 1.0), [x, 2.0], Tout=[FLOAT], **attrs)[0]]

        return chosen(outer, lambda g, x: [g.Neg(x)], ("x",), results=1)(b)

    graphs = bodies(rewritten(build).after)
    assert ["Const", "Mul"] in graphs.values() and "inner" not in graphs


def test_effects_in_a_body_stay_in_their_order():
    b = tfg.GraphBuilder()
    handle = b.VarHandleOp(dtype=FLOAT, shape=[], shared_name="v")
    b.AssignVariableOp(handle, b.constant(1.0), name="init")

    def then(g, h, x):
        first = g.AssignVariableOp(h, g.Mul(g.Neg(g.Neg(x)), 1.0), dtype=FLOAT)
        with g.control_dependencies([first]):
            second = g.AssignAddVariableOp(h, g.Neg(g.constant(-2.0)), dtype=FLOAT, name="second")
        with g.control_dependencies([second]):
            return [g.Identity(g.ReadVariableOp(h, dtype=FLOAT))]

    names = [
        define(b, name, ["resource", FLOAT], make, stateful=True)
        for name, make in (("then", then), ("else", lambda g, h, x: [g.Identity(x)]))
    ]
    b.graph.functions["then"].control_results.append(b.graph.functions["then"].body.node("second"))
    attrs = {"then_branch": FuncRef(names[0]), "else_branch": FuncRef(names[1])}
    y = b.Neg(b.apply("If", placeholder(b, "p", (), "bool"), [handle, placeholder(b, "x", ())], Tout=[FLOAT], **attrs)[0])
    after, _ = optimize(b.graph, ["init", y.name], ["p:0", "x:0"])
    graphs = bodies(after)
    assert graphs[nodes(after, "If")[0].attrs["then_branch"].name].count("Neg") == 0
    for graph in (b.graph, after):
        session = tfg.Session(graph)
        session.run("init")
        assert session.run(y.name, {"p:0": True, "x:0": 5.0}) == -7
        assert session.run(y.name, {"p:0": False, "x:0": 5.0}) == -5


def test_functions_whose_gradient_is_taken_in_a_run_stay():
    def build(b):
        name = define(b, "f", [FLOAT], lambda g, x: [g.Mul(x, g.Neg(g.Neg(x)))])
        x = placeholder(b, "x")
        return b.Identity(b.SymbolicGradient([x, b.constant(np.ones((2, 3), "f"))], Tout=[FLOAT], f=FuncRef(name))[0])

    result = rewritten(build)
    assert bodies(result.after) == {"f": ["Mul", "Neg", "Neg"]}
    assert "its gradient is computed at run time" in result.reasons


def test_optimized_functions_survive_saving(tmp_path):
    build = chosen(lambda g, x, c: [g.Mul(x, g.Exp(c)), x], lambda g, x, c: [g.Sub(c, x), x], ("x", 2.0), read=(0, 1))
    result = rewritten(build)
    path = tmp_path / "graph.pb"
    tfg.save(result.after, str(path))
    feeds = {"x:0": np.ones((2, 3), "f"), "p:0": np.ones((2, 3), "f")}
    assert_same(result.before, tfg.load(str(path)), result.fetches, feeds)


def mismatched(op, takes, returns):
    """A call of functions that take and return other things than the node gives and wants."""

    def build(b):
        types = {"more": ["float32", "float32"], "less": [], "other": ["int32"], "same": ["float32"]}[takes]

        def make(inner, *args):
            value = inner.constant(np.float32(1))
            return {"more": [value, value], "less": [], "other": [inner.constant(1)], "same": [value]}[returns]

        f = FuncRef(define(b, "f", types, make))
        attrs = {name: [f, f] if name == "branches" else f for name in CALL_KINDS[op].functions}
        before = [placeholder(b, "c", (), "int32" if op.endswith("Case") else "bool")] * CALL_KINDS[op].before
        x = b.Neg(placeholder(b, "x", (2, 3)))
        attrs |= {name: [as_dtype(FLOAT)] for name in (*CALL_KINDS[op].args, CALL_KINDS[op].results)}
        if op not in INLINED:
            attrs["output_shapes"] = [Shape(), Shape()]
        if op == "StatelessIf":
            attrs["Tcond"] = as_dtype("bool")
        return b.graph.add_node("call", op, [*before, x], (), attrs).output()

    return build


@pytest.mark.sampled(6)
@pytest.mark.parametrize("takes", ["more", "less", "other", "same"])
@pytest.mark.parametrize("returns", ["more", "less", "other", "same"])
@pytest.mark.parametrize("op", ["PartitionedCall", "StatelessIf", "StatelessCase", "StatelessWhile"])
def test_a_function_that_does_not_fit_its_call_is_left_to_the_run(op, takes, returns):
    """Nothing that takes calls apart meets a function of other arguments or results; shapes declared for more do no harm."""
    b = GraphBuilder()
    output = mismatched(op, takes, returns)(b)
    infer(b.graph)
    actions = (
        lambda: tfg.optimize(b.graph, [output.name], ["x:0", "c:0"]), lambda: count_flops(b.graph, [output.name]),
        lambda: tfg.gradients(b.graph, [output.name], ["x:0"]),
    )  # fmt: skip
    for action in actions:
        with contextlib.nullcontext() if takes == returns == "same" else pytest.raises(InvalidArgumentError, match="'f'"):
            action()


def test_refusals_of_unchanged_bodies_are_reported_in_each_round():
    def settled(g, x):
        too_large = g.Range(g.constant(0), g.constant(10_000_000), g.constant(1))
        return [g.Mul(x, g.Cast(g.Max(too_large, [0]), DstT=FLOAT))]

    build = chosen(settled, lambda g, x: [g.Neg(g.Neg(x))], ("x",), results=1)
    result = rewritten(lambda b: b.Neg(b.Identity(b.Neg(build(b)[0]))))
    rounds = [record for record in result.report.passes if record.name == "bodies"]
    assert len(rounds) > 1
    said = [{refusal for refusal in record.refused if refusal.node.startswith("then: ")} for record in rounds]
    assert said[0]
    assert all(outcome == said[0] for outcome in said)


def test_a_call_keeps_the_arguments_that_its_op_needs_at_least():
    """RemoteCall takes one argument or more: a constant stays an argument, though the function could hold the constant."""

    def build(b):
        name = define(b, "scaled", [FLOAT, FLOAT], lambda g, x, y: [g.Mul(g.Neg(x), y)])
        target = b.constant(np.array("/job:localhost/replica:0/task:0/device:CPU:0", object))
        values = [b.constant(np.float32([1, 2])), b.constant(np.float32([3, 4]))]
        return b.RemoteCall(target, values, Tout=[FLOAT], f=FuncRef(name))[0]

    result = rewritten(build, PASSES)
    (call,) = nodes(result.after, "RemoteCall")
    assert len(call.inputs) == 2
