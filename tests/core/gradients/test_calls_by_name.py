"""Calls whose op is a function's name, as those of TensorFlow 1's Defun: each part of tfg knows what they return."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import tfg
from tests.functions import define
from tfg.core.flops import count_flops
from tfg.core.gradients import gradients
from tfg.core.gradients.jacobian import hessian_vector, jacobian
from tfg.core.graph.graph import Graph, Output
from tfg.core.inference.inference import infer
from tfg.core.types.tensors import FuncRef

X, V = np.array([2.0, 3.0]), np.array([1.0, -0.5])
DERIVATIVES = (X**3, 3 * X**2, 6 * X)
"""Of what each of these programs computes: the cube of x."""

Builder = tfg.GraphBuilder


def by_name(g: Builder, function: str, *args: Output) -> list[Output]:
    return g.graph.add_node(g.graph.unique_name("call"), function, args).outputs()


def by_attribute(g: Builder, function: str, *args: Output) -> list[Output]:
    results = [arg.dtype for arg in g.graph.functions[function].signature.outputs]
    return list(g.PartitionedCall(list(args), f=FuncRef(function), Tout=results))


Call = Callable[..., list[Output]]


def one(g: Builder, call: Call, x: Output) -> Output:
    define(g, "cube", ["double"], lambda b, a: [b.Mul(b.Square(a), a)])
    return call(g, "cube", x)[0]


def nested(g: Builder, call: Call, x: Output) -> Output:
    define(g, "inner", ["double"], lambda b, a: [b.Square(a)])
    define(g, "outer", ["double"], lambda b, a: [b.Mul(call(b, "inner", a)[0], a)])
    return call(g, "outer", x)[0]


def several_results(g: Builder, call: Call, x: Output) -> Output:
    """Integers among them, and one that nobody reads."""
    define(g, "several", ["double"], lambda b, a: [b.Square(a), b.Cast(a, DstT="int32"), b.Exp(a), b.Square(a)])
    square, _, _, same = call(g, "several", x)
    return g.Mul(g.Mul(g.constant(np.float64(0.5)), g.AddV2(square, same)), x)


def integers(g: Builder, call: Call, x: Output) -> Output:
    define(g, "times", ["double", "int32"], lambda b, a, n: [b.Mul(a, b.Cast(n, DstT="double")), n])
    threefold, _ = call(g, "times", x, g.constant(np.int32(3)))
    return g.Mul(g.Mul(threefold, g.Square(x)), g.constant(np.float64(1 / 3)))


def stateful(g: Builder, call: Call, x: Output) -> Output:
    define(g, "cube", ["double"], lambda b, a: [b.Mul(b.Square(a), a)], stateful=True)
    return call(g, "cube", x)[0]


def in_loop(g: Builder, call: Call, x: Output) -> Output:
    """x³ = x · x · x, a call for each iteration."""
    define(g, "product", ["double", "double"], lambda b, a, c: [b.Mul(a, c)])
    define(g, "less", ["int32", "double", "double"], lambda b, i, a, c: [b.Less(i, np.int32(2))])
    define(
        g, "turn", ["int32", "double", "double"],
        lambda b, i, a, c: [b.AddV2(i, np.int32(1)), call(b, "product", a, c)[0], c],
    )  # fmt: skip
    return g.StatelessWhile([np.int32(0), x, x], cond=FuncRef("less"), body=FuncRef("turn"))[1]


def in_branch(g: Builder, call: Call, x: Output) -> Output:
    define(g, "cube", ["double"], lambda b, a: [b.Mul(b.Square(a), a)])
    define(g, "then", ["double"], lambda b, a: call(b, "cube", a))
    define(g, "else", ["double"], lambda b, a: [b.Neg(a)])
    return g.StatelessIf(True, [x], Tout=["double"], then_branch=FuncRef("then"), else_branch=FuncRef("else"))[0]


def returned_list(g: Builder, call: Call, x: Output) -> Output:
    """A list that a function hands on holds what has a gradient."""
    define(g, "pushed", ["variant", "double"], lambda b, items, a: [b.TensorListPushBack(items, a, element_dtype="double")])
    empty = g.EmptyTensorList(np.int32(-1), np.int32(-1), element_dtype="double")
    items = call(g, "pushed", empty, g.Square(x))[0]
    return g.Mul(g.TensorListPopBack(items, np.int32(-1), element_dtype="double")[1], x)


PROGRAMS = (one, nested, several_results, integers, stateful, in_loop, in_branch, returned_list)
CALLS = (by_name, by_attribute)


def build(program: Callable[..., Output], call: Call) -> Graph:
    g = Builder()
    x = g.Placeholder(dtype="double", shape=[2], name="x")
    g.Identity(program(g, call, x), name="y")
    return g.graph


@pytest.fixture(params=PROGRAMS, ids=lambda program: program.__name__)
def program(request: pytest.FixtureRequest) -> Callable[..., Output]:
    return request.param


@pytest.mark.sampled(4)
@pytest.mark.parametrize("call", CALLS)
def test_values_and_derivatives(program: Callable[..., Output], call: Call) -> None:
    graph = build(program, call)
    value, first, second = DERIVATIVES
    np.testing.assert_allclose(tfg.Session(graph).run("y:0", {"x:0": X}), value)
    differentiated, (grad,) = gradients(graph, "y:0", "x:0")
    np.testing.assert_allclose(tfg.Session(differentiated).run(grad, {"x:0": X}), first)
    twice, (grad,) = gradients(differentiated, grad, "x:0", name="twice")
    np.testing.assert_allclose(tfg.Session(twice).run(grad, {"x:0": X}), second)
    np.testing.assert_allclose(hessian_vector(graph, "y:0", "x:0", V, {"x:0": X}), second * V)


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_jacobians(mode: str) -> None:
    matrix = jacobian(build(nested, by_name), "y:0", "x:0", {"x:0": X}, mode=mode)
    np.testing.assert_allclose(matrix, np.diag(DERIVATIVES[1]))


def test_what_follows_without_a_run(program: Callable[..., Output]) -> None:
    """Dtypes, shapes and FLOPs are those of the other kind of call."""
    graphs = [build(program, call) for call in CALLS]
    for graph in graphs:
        assert infer(graph).specs[graph.output("y:0")].shape.known() == (2,)
    assert graphs[0].output("y:0").dtype is graphs[1].output("y:0").dtype
    assert [str(value.dtype) for node in graphs[0] if node.op in graphs[0].functions for value in node.outputs()] == [
        str(value.dtype) for node in graphs[1] if node.op == "PartitionedCall" for value in node.outputs()
    ]
    assert count_flops(graphs[0], ["y:0"]).total().flops == count_flops(graphs[1], ["y:0"]).total().flops > 0


def test_optimized_and_saved(program: Callable[..., Output], tmp_path: object) -> None:
    graph = build(program, by_name)
    optimized, _ = tfg.optimize(graph, ["y"])
    tfg.save(graph, f"{tmp_path}/graph.pb")
    value, first, _ = DERIVATIVES
    for other in (optimized, tfg.load(f"{tmp_path}/graph.pb")):
        np.testing.assert_allclose(tfg.Session(other).run("y:0", {"x:0": X}), value)
        differentiated, (grad,) = gradients(other, "y:0", "x:0")
        np.testing.assert_allclose(tfg.Session(differentiated).run(grad, {"x:0": X}), first)


def symbolic(program: Callable[..., Output], call: Call) -> Graph:
    """SymbolicGradient of a function that the program is in: its input is the gradient that arrives, 1 everywhere."""
    g = Builder()

    def body(b: Builder, x: Output) -> list[Output]:
        b.graph.functions = g.graph.functions
        return [program(b, call, x)]

    define(g, "whole", ["double"], body)
    x = g.Placeholder(dtype="double", shape=[2], name="x")
    g.SymbolicGradient([x, g.constant(np.ones(2))], Tout=["double"], f=FuncRef("whole"), name="grad")
    return g.graph


@pytest.mark.sampled(4)
@pytest.mark.parametrize("call", CALLS)
def test_the_gradient_that_a_run_takes(program: Callable[..., Output], call: Call) -> None:
    graph = symbolic(program, call)
    optimized, _ = tfg.optimize(graph, ["grad"])
    for version in (graph, optimized):
        np.testing.assert_allclose(tfg.Session(version).run("grad:0", {"x:0": X}), DERIVATIVES[1])
    assert count_flops(graph, ["grad:0"]).total().flops > 0


def test_two_gradients_that_runs_take_share_no_functions() -> None:
    """Both make functions for what theirs call, in one session."""
    g = Builder()
    define(g, "inner", ["double"], lambda b, a: [b.Square(a)])
    define(g, "outer", ["double"], lambda b, a: [b.Mul(by_name(b, "inner", a)[0], a)])
    define(g, "other", ["double"], lambda b, a: [b.Mul(by_name(b, "inner", b.Square(a))[0], a)])
    x = g.Placeholder(dtype="double", shape=[2], name="x")
    for name in ("outer", "other"):
        g.SymbolicGradient([x, g.constant(np.ones(2))], Tout=["double"], f=FuncRef(name), name=f"of_{name}")
    before = set(g.graph.functions)
    result = tfg.Session(g.graph).run(["of_outer:0", "of_other:0"], {"x:0": X})
    np.testing.assert_allclose(result, [3 * X**2, 5 * X**4])
    assert set(g.graph.functions) == before


@pytest.mark.parametrize("call", CALLS)
def test_declared_gradients_go_before(call: Call) -> None:
    """The library says that the gradient of the cube is 100 x dy, to calls, calls in functions, runs and after optimize."""
    g = Builder()
    define(g, "declared_grad", ["double", "double"], lambda b, a, dy: [b.Mul(b.Mul(b.constant(np.float64(100)), a), dy)])
    define(g, "cube", ["double"], lambda b, a: [b.Mul(b.Square(a), a)], gradient="declared_grad")
    define(g, "outer", ["double"], lambda b, a: [b.Mul(call(b, "cube", a)[0], b.constant(np.float64(2)))])
    x = g.Placeholder(dtype="double", shape=[2], name="x")
    g.Identity(call(g, "outer", x)[0], name="y")
    g.SymbolicGradient([x, g.constant(np.ones(2))], Tout=["double"], f=FuncRef("outer"), name="taken")
    optimized, _ = tfg.optimize(g.graph, ["y", "taken"])
    for graph in (g.graph, optimized):
        differentiated, (grad,) = gradients(graph, "y:0", "x:0")
        for result in tfg.Session(differentiated).run([grad, "taken:0"], {"x:0": X}):
            np.testing.assert_allclose(result, 200 * X)


def test_a_handle_that_a_call_hands_on_is_that_of_its_variable() -> None:
    g = Builder()
    define(g, "same", ["resource"], lambda b, h: [h])
    define(g, "square", ["resource"], lambda b, h: [b.Square(b.ReadVariableOp(by_name(b, "same", h)[0], dtype="double"))])
    handle = g.VarHandleOp(dtype="double", shape=[2], shared_name="v", name="v")
    g.AssignVariableOp(handle, g.constant(X), name="init")
    g.Identity(by_name(g, "square", handle)[0], name="y")
    graph, (grad,) = gradients(g.graph, "y:0", "v:0")
    session = tfg.Session(graph)
    session.run("init")
    np.testing.assert_allclose(session.run(grad), 2 * X)
