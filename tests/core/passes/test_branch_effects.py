"""Optimization beside V1 conditionals and loops: every update happens as before, whichever branch is taken."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest

from tests.cases.control_flow import counted
from tests.core.passes.branch_programs import INIT, STEP, VALUE, Program
from tfg import Session, optimize
from tfg.core.building.builder import GraphBuilder
from tfg.core.explaining.race_report import explain_races
from tfg.core.runtime.session.runner import Runner

FED = ("p:0", "q:0", "x:0")
STATE = ("v0/read", "v1/Read/ReadVariableOp", "v2/read")


def outcome(graph, target, p, q):
    """Return the results of three runs of a target, and the variables afterwards."""
    session = Session(graph)
    session.run(INIT)
    results = [session.run(target, {"p:0": p, "q:0": q, "x:0": np.float32(0.3 + i)}) for i in range(3)]
    return [*(result for result in results if result is not None), *(session.run(f"{name}:0") for name in STATE)]


def assert_alike(before, after, target):
    for p, q in itertools.product((False, True), repeat=2):
        want, got = outcome(before, target, p, q), outcome(after, target, p, q)
        np.testing.assert_allclose(got, want, rtol=1e-5, err_msg=f"{target} p={p} q={q}")


@pytest.mark.sampled(8)
@pytest.mark.parametrize("target", (STEP, VALUE))
@pytest.mark.parametrize("seed", range(16))
def test_programs_with_updates_beside_conditionals_keep_their_updates(seed, target):
    graph = Program(seed).g.graph
    options = {"overridable": FED} if seed % 2 else {"feeds": FED}
    optimized, _ = optimize(graph, [target], keep=[INIT, *STATE], **options)
    assert_alike(graph, optimized, target)
    before, after = ({race.state for run in explain_races(one, [target]) for race in run.races} for one in (graph, optimized))
    assert after <= before


@pytest.mark.parametrize("seed", (3, *range(103, 106)))
def test_each_target_keeps_the_order_of_its_own_run(seed):
    """In a run of all targets, nodes may come in another order than in the run of one."""
    graph = Program(seed).g.graph
    optimized, _ = optimize(graph, [INIT, VALUE, *(f"{name}:0" for name in STATE)], FED)
    assert_alike(graph, optimized, VALUE)


def test_the_programs_race():
    """Without races, the programs test nothing."""
    racing = [seed for seed in range(16) if explain_races(Program(seed).g.graph, [STEP])[0].races]
    assert len(racing) > 4


def averaged(g, made):
    """A moving average as TF1 adds it: the variable's value if there is one, else the initial value."""
    predicate = g.VarIsInitializedOp(made.handle)
    read = g.ReadVariableOp(g.Switch(made.handle, predicate)[1], dtype="float32")
    start = g.Merge([g.Switch(made.initial_value, predicate)[0], g.Identity(read)])[0]
    return g.variable(start, name=f"{made.name}/Average", resource=True, dtype="float32")


@pytest.mark.parametrize("passes", (None, "prune"))
def test_an_optimized_initializer_initializes_all_from_an_empty_state(passes):
    g = GraphBuilder()
    weights = [g.variable(np.float32([1, 2]) * i, name=f"w{i}", resource=True) for i in (1, 2)]
    averages = [averaged(g, made) for made in weights]
    g.global_variables_initializer()
    g.Sum(g.Mul(weights[0].value, weights[1].value), [0], name="loss")
    optimized, _ = optimize(g.graph, ["loss:0", "init"], passes=passes)
    states = []
    for graph in (g.graph, optimized):
        runner = Runner(Session(graph))
        runner.initialize("init")
        states.append({name: tensor.numpy().tolist() for name, tensor in runner.state().items()})
    assert len(states[0]) == len(weights) + len(averages)
    assert states[0] == states[1]


def chained(g, rng, value):
    """The value behind some nodes that optimization takes away."""
    for _ in range(rng.randrange(5)):
        value = rng.choice([lambda v: g.Neg(g.Neg(v)), g.Identity, lambda v: g.Mul(v, 1.0), g.Tanh])(value)
    return value


def beside_a_loop(seed):
    """A loop that reads, and for odd seeds updates, a variable; an update and a read of the variable beside the loop."""
    rng, g = random.Random(seed), GraphBuilder()
    v = g.variable(np.float32(1), name="v", resource=True)
    g.global_variables_initializer()
    x = g.Placeholder(dtype="float32", shape=[], name="x")

    def body(values, fixed):
        with g.control_dependencies([values[0]]):
            read = g.ReadVariableOp(fixed[0], dtype="float32")
        with g.control_dependencies([g.AssignAddVariableOp(fixed[0], g.Tanh(read))] if seed % 2 else []):
            return [g.AddV2(g.Identity(read), values[0])]

    after = counted(g, "f", 3, [chained(g, rng, x)], [v.handle], body)[1]
    update = g.AssignAddVariableOp(v.handle, chained(g, rng, x))
    read = g.ReadVariableOp(v.handle, dtype="float32")
    with g.control_dependencies([update]):
        g.Identity(g.AddV2(chained(g, rng, after), chained(g, rng, read)), name="y")
    g.ReadVariableOp(v.handle, dtype="float32", name="value")
    return g.graph


@pytest.mark.sampled(3)
@pytest.mark.parametrize("seed", range(10))
def test_updates_beside_a_loop_keep_their_order(seed):
    graph = beside_a_loop(seed)
    assert explain_races(graph, ["y"])[0].races
    optimized, _ = optimize(graph, ["y:0"], ["x:0"], keep=["init", "value"])
    results = []
    for one in (graph, optimized):
        session = Session(one)
        session.run("init")
        results.append((session.run("y:0", {"x:0": np.float32(0.7)}), session.run("value:0")))
    np.testing.assert_allclose(results[1], results[0], rtol=1e-5)
