"""Levenberg-Marquardt: the NIST StRD problems through graphs, Rosenbrock, a small net, and refusals."""

from __future__ import annotations

import json
import pathlib

import numpy as np
import pytest

from tests.core.training import expressions
from tfg.core.building.builder import GraphBuilder
from tfg.core.runtime.session.runner import Runner
from tfg.core.runtime.session.session import Session
from tfg.core.support.errors import InvalidArgumentError, ResourceExhaustedError
from tfg.core.training.trainer import LeastSquares, Tolerances, minimize

PROBLEMS = json.loads(pathlib.Path(__file__).with_name("nist.json").read_text())
# From its first start BoxBOD leads to a stationary point at infinity; scipy's MINPACK ends there too. The first starts of the
# others are the far ones, from which the way is harder; that of MGH17 takes 20 times as long as from the near one, and that
# of Bennett5 3 times, half as long as all others together.
CASES = [(p["name"], int(p["name"] in ("BoxBOD", "MGH17", "Bennett5"))) for p in PROBLEMS]


def residual_graph(problem, start):
    """A graph of the model's residuals with the parameters as variables, and the feeds of the data."""
    g = GraphBuilder()
    names = {f"b{i + 1}": g.variable(np.float64(v), name=f"b{i + 1}").value for i, v in enumerate(problem["starts"][start])}
    columns = [np.array(column) for column in problem["data"]]
    if problem["name"] == "Nelson":
        columns[0] = np.log(columns[0])
    inputs = ["x"] if len(columns) == 2 else [f"x{i}" for i in range(1, len(columns))]
    for name in ("y", *inputs):
        names[name] = g.Placeholder(dtype="double", shape=[None], name=name)
    g.Sub(expressions.build(g, problem["model"], names), names["y"], name="residuals")
    g.global_variables_initializer()
    return g.graph, {f"{name}:0": column for name, column in zip(("y", *inputs), columns)}


@pytest.mark.parametrize(("name", "start"), CASES, ids=[f"{n}-{s + 1}" for n, s in CASES])
@pytest.mark.slow
def test_nist(name: str, start: int) -> None:
    """At least six certified digits of every parameter."""
    problem = next(p for p in PROBLEMS if p["name"] == name)
    graph, feeds = residual_graph(problem, start)
    runner = Runner(Session(graph))
    runner.initialize()
    solution = LeastSquares(graph, "residuals:0", feeds, "", runner).fit(Tolerances(max_iterations=2000))
    assert solution.converged
    certified = np.array(problem["certified"])
    assert np.max(np.abs(solution.parameters - certified) / np.abs(certified)) < 1e-6
    held = [float(runner.state()[f"b{i + 1}"].numpy()) for i in range(len(certified))]
    np.testing.assert_array_equal(held, solution.parameters)


def rosenbrock(x):
    return np.array([10 * (x[1] - x[0] ** 2), 1 - x[0]])


def rosenbrock_jacobian(x):
    return np.array([[-20 * x[0], 10.0], [-1.0, 0.0]])


def test_rosenbrock() -> None:
    solution = minimize(rosenbrock, rosenbrock_jacobian, np.array([-1.2, 1.0]))
    assert solution.converged
    np.testing.assert_allclose(solution.parameters, [1.0, 1.0], rtol=1e-12)


def test_a_small_net_learns_xor() -> None:
    g = GraphBuilder()
    rng = np.random.default_rng(3)
    x = g.constant(np.array([[0, 0], [0, 1], [1, 0], [1, 1]], float))
    y = g.constant(np.array([[0], [1], [1], [0]], float))
    w1, b1 = g.variable(rng.standard_normal((2, 1)), name="w1"), g.variable(rng.standard_normal(1), name="b1")
    w2, b2 = g.variable(rng.standard_normal((1, 1)), name="w2"), g.variable(np.zeros(1), name="b2")
    hidden = g.Square(g.BiasAdd(g.MatMul(x, w1.value), b1.value))
    g.Sub(g.BiasAdd(g.MatMul(hidden, w2.value), b2.value), y, name="residuals")
    g.global_variables_initializer()
    runner = Runner(Session(g.graph))
    runner.initialize()
    with pytest.raises(InvalidArgumentError, match="cannot determine"):
        LeastSquares(g.graph, "residuals:0", {}, "", runner).fit(Tolerances())
    solution = LeastSquares(g.graph, "residuals:0", {}, "w|b1", runner).fit(Tolerances(max_iterations=200))
    assert solution.cost < 1e-20


def test_refusals_keep_the_state() -> None:
    with pytest.raises(InvalidArgumentError, match="not finite"):
        minimize(lambda x: np.array([np.nan, 1.0]), lambda x: np.ones((2, 1)), np.array([1.0]))
    with pytest.raises(ResourceExhaustedError, match="GiB"):
        minimize(lambda x: np.zeros(10), lambda x: np.zeros((10, 10)), np.zeros(10), max_bytes=100)
    g = GraphBuilder()
    w = g.variable(np.array([4.0]), name="w")
    g.Log(g.Neg(w.value), name="residuals")
    g.global_variables_initializer()
    runner = Runner(Session(g.graph))
    runner.initialize()
    with pytest.raises(InvalidArgumentError, match="not finite"):
        LeastSquares(g.graph, "residuals:0", {}, "", runner).fit(Tolerances())
    assert runner.state()["w"].numpy().tolist() == [4.0]


def test_too_few_iterations_are_said() -> None:
    solution = minimize(rosenbrock, rosenbrock_jacobian, np.array([-1.2, 1.0]), Tolerances(max_iterations=2))
    assert not solution.converged
    assert "no convergence in 2 iterations" in solution.reason
