"""Tiers of execution: the moves of programs, forced tiers, and the same results in all tiers."""

import gc
import logging
import pathlib

import numpy as np
import pytest

import tfg
from tests.core.runtime.programs import programs
from tests.functions import define
from tfg import GraphBuilder, Session
from tfg.core.runtime.execute import executor
from tfg.core.runtime.execute.tiers import (
    FIRST_LOOK,
    FUSING_RUN,
    LEAST_GROUPED,
    SETTLING_RUN,
    Action,
    ProgramState,
    Tier,
    Tiers,
    forcing,
    policy,
)
from tfg.core.support.errors import FailedPreconditionError, InvalidArgumentError

SAMPLES = pathlib.Path(tfg.__file__).parent / "sample_graphs"
ALL = [tier for tier in Tier if tier is not Tier.DATAFLOW]


def elementwise():
    """relu(-x) of a matrix of any size."""
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=None, name="x")
    b.Relu(b.Neg(x), name="y")
    return b.graph


def towers():
    """Two branches that a sum brings together, and something that follows from shapes."""
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[None, None], name="x")
    ends = [b.Tanh(b.MatMul(b.Exp(b.MatMul(x, x, name=f"{i}/a")), x, name=f"{i}/b")) for i in range(2)]
    b.Reshape(b.AddN(ends), b.Shape(x), name="y")
    return b.graph


X = np.linspace(-1, 1, 9, dtype=np.float32).reshape(3, 3)


def tiers_of_runs(graph, runs, x=X, **options):
    session, result = Session(graph, **options), []
    for _ in range(runs):
        session.run("y:0", {"x": x})
        result.append(session.tier("y:0", ["x"]))
    return result


def test_a_program_moves_by_its_runs():
    before = FUSING_RUN - 1
    assert tiers_of_runs(elementwise(), 3) == [Tier.INTERPRETED] * before + [Tier.FUSED] * (3 - before)


def test_steps_that_constants_do_not_change_are_assembled_once():
    """The second run makes new instructions for constants, kernels prepared for constants, and cleared constants alone."""
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=None, name="x")
    two = b.Add(b.Const(value=1, dtype="int32"), b.Const(value=1, dtype="int32"), name="two")
    row = b.Neg(b.Const(value=[1.0, 2.0, 3.0], dtype="float32"), name="row")
    last = b.Tanh(b.Exp(x, name="exp"), name="tanh")
    wide = b.ConcatV2([last, b.Mul(x, row, name="mul")], b.Sub(two, b.Const(value=1, dtype="int32"), name="one"), name="wide")
    b.Identity(wide, name="y")
    session = Session(b.graph)
    expected = np.concatenate([np.tanh(np.exp(X)), X * np.float32([-1, -2, -3])], 1)
    assembled = []
    for _ in range(4):
        np.testing.assert_allclose(session.run("y:0", {"x": X}), expected, rtol=1e-6)
        (program,) = programs(session)
        assembled.append({instruction[-1].node.name: instruction for instruction in program.active.instructions})
    assert {"two", "one", "row", "mul", "exp", "tanh", "wide"} <= assembled[0].keys()
    kept = {name for name, instruction in assembled[1].items() if assembled[0].get(name) is instruction}
    assert {"exp", "tanh"} <= kept and not {"two", "one", "row", "mul", "wide"} & kept
    assert not {"two", "one", "row"} & assembled[1].keys()


def test_a_program_is_specialized_for_shapes_that_come_again():
    assert tiers_of_runs(towers(), 3) == [Tier.INTERPRETED, Tier.SPECIALIZED, Tier.SPECIALIZED]


def test_other_shapes_begin_in_the_plan_for_all():
    session = Session(towers())
    for _ in range(3):
        session.run("y:0", {"x": X})
    session.run("y:0", {"x": np.ones((2, 2), np.float32)})
    assert session.tier("y:0", ["x"]) is Tier.FUSED
    session.run("y:0", {"x": X})
    assert session.tier("y:0", ["x"]) is Tier.SPECIALIZED


@pytest.mark.parametrize(("optimize", "tier"), [("none", Tier.INTERPRETED), ("fuse", Tier.FUSED)])
def test_optimize_bounds_the_tier(optimize, tier):
    assert tiers_of_runs(elementwise(), 10, optimize=optimize)[-1] is tier


SMALL, LARGE = np.ones(LEAST_GROUPED - 1, np.float32), np.ones(1 << 18, np.float32)


def groups_after(*feeds):
    """Return the number of fused groups after runs with these feeds, and check each result."""
    session = Session(elementwise())
    for value in feeds:
        assert np.array_equal(session.run("y:0", {"x": -value}), value)
    (program,) = programs(session)
    return len(program.fused_calls)


def test_small_results_get_no_groups():
    assert groups_after(*[SMALL] * FUSING_RUN) == 0
    assert groups_after(*[LARGE] * FUSING_RUN) == 1


def test_groups_come_once_the_feeds_have_grown():
    small = [SMALL] * SETTLING_RUN
    assert groups_after(*small, LARGE) == 0
    assert groups_after(*small, LARGE, LARGE) == 1


def test_groups_come_once_the_results_have_grown():
    """The feed always has one element, the result as many as the feed says."""
    b = GraphBuilder()
    count = b.Placeholder(dtype="int32", shape=[1], name="count")
    b.Relu(b.Neg(b.Fill(count, np.float32(-2))), name="y")
    session = Session(b.graph)
    for elements in (*[3] * SETTLING_RUN, *[1 << 18] * (FIRST_LOOK - SETTLING_RUN)):
        session.run("y:0", {"count": np.array([elements], np.int32)})
    assert not programs(session)[-1].fused_calls
    assert session.run("y:0", {"count": np.array([1 << 18], np.int32)}).tolist() == [2.0] * (1 << 18)
    assert programs(session)[-1].fused_calls


def test_a_change_leaves_the_pair_of_before_as_it_was():
    """A concurrent run goes on with the instructions and constants that it began with."""
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=None, name="x")
    b.Mul(b.Relu(b.Neg(x)), b.Neg(b.Const(value=2.0, dtype="float32")), name="y")
    session, pairs = Session(b.graph), []
    for _ in range(SETTLING_RUN + 1):
        assert session.run("y:0", {"x": LARGE}).max() == 0
        pair = programs(session)[0].active
        if not pairs or pairs[-1][0] is not pair:
            pairs.append((pair, list(pair.instructions), list(pair.initial)))
    assert len(pairs) > 1
    for pair, instructions, initial in pairs:
        assert pair.instructions == instructions and pair.initial == initial


def actions(tiers, *runs):
    """Return the action before each run, of (elements of the feeds, elements of the largest result)."""
    result = []
    for fed, largest in runs:
        result.append(tiers.begin_run(fed))
        if result[-1] is Action.MEASURE:
            tiers.note_results(fed, largest)
    return result


def test_the_states_of_a_program():
    large, small = (9, LEAST_GROUPED), (9, LEAST_GROUPED - 1)
    with_groups = [Action.MEASURE, Action.FUSE, None, Action.SETTLE]
    tiers = Tiers(policy("fuse"), "y")
    assert actions(tiers, *[large] * 6) == [*with_groups, None, None]
    assert tiers.state is ProgramState.SETTLED
    tiers = Tiers(policy("fuse"), "y")
    assert actions(tiers, *[small] * 5) == [*with_groups, None]
    assert tiers.state is ProgramState.WATCHED
    assert actions(tiers, (10, LEAST_GROUPED), *[large] * 4) == [*with_groups, None]
    assert tiers.state is ProgramState.SETTLED
    assert actions(Tiers(policy("fuse"), "y", is_special=True), *[large] * 4) == [Action.FUSE, None, Action.SETTLE, None]
    assert actions(Tiers(policy("none"), "y"), *[large] * 3) == [None] * 3


def test_moves_are_told(caplog):
    with caplog.at_level(logging.INFO, logger="tfg"):
        tiers_of_runs(elementwise(), 5)
    assert [text for text in caplog.messages if "fused" in text] == ["y:0: fused, because the plan ran once"]


def test_a_program_for_shapes_is_told(caplog):
    with caplog.at_level(logging.INFO, logger="tfg"):
        tiers_of_runs(towers(), 3)
    told = [text for text in caplog.messages if "specialized" in text]
    assert told == ["y:0: specialized, because its shapes came once before"]


def test_a_hook_an_engine_or_a_cache_keeps_a_program_interpreted():
    session = Session(elementwise(), cache=1 << 20)
    for _ in range(5):
        session.run("y:0", {"x": X})
    assert session.tier("y:0", {"x": X}) is Tier.INTERPRETED
    session = Session(elementwise())
    for _ in range(5):
        session.run("y:0", {"x": X}, hook=lambda node, call, inputs: call(*inputs))
    assert session.tier("y:0", ["x"]) is Tier.INTERPRETED


def test_a_fetch_that_did_not_run_has_no_tier():
    session = Session(elementwise())
    with pytest.raises(FailedPreconditionError, match="y:0 did not run with these feeds"):
        session.tier("y:0")


def test_other_names_of_policies_are_refused():
    with pytest.raises(InvalidArgumentError, match="none, fuse, not"):
        Session(elementwise(), optimize="most")


@pytest.mark.parametrize("tier", ALL)
def test_any_tier_is_forced_from_the_first_run_on(tier):
    with forcing(tier):
        assert tiers_of_runs(towers(), 2) == [tier, tier]


def test_forcing_ends_and_leaves_what_may_not_be_optimized():
    with forcing(Tier.SPECIALIZED):
        assert tiers_of_runs(towers(), 1, optimize="none") == [Tier.INTERPRETED]
        with forcing(None):
            assert tiers_of_runs(elementwise(), 1) == [Tier.INTERPRETED]
    assert tiers_of_runs(elementwise(), 1) == [Tier.INTERPRETED]


@pytest.mark.parametrize("tier", ALL)
def test_a_loop_of_version_1(tier):
    """27 takes 111 steps of 3n + 1 or n / 2 to come to 1, as everybody may count."""
    graph = tfg.load(str(SAMPLES / "collatz.pbtxt"))
    with forcing(tier):
        session = Session(graph)
    for n, steps in [(27, 111), (1, 0), (6, 8), (27, 111)]:
        assert session.run("steps:0", {"n": np.int32(n)}) == steps


@pytest.mark.parametrize("tier", ALL)
def test_a_training_graph(tier):
    """x goes from 1 to 0.8 and 0.46 with a rate of 0.1 and a momentum of 0.9; the loss is the square of x."""
    graph = tfg.load(str(SAMPLES / "square.pbtxt"))
    with forcing(tier):
        session = Session(graph)
    session.run("init")
    losses = [session.run(["loss:0", "momentum"])[0] for _ in range(3)]
    np.testing.assert_allclose(losses, [1, 0.64, 0.46**2], rtol=1e-6)


@pytest.mark.parametrize("tier", ALL)
def test_conditionals_and_loops_of_functions(tier):
    """10! by a While, and the negative value by a conditional."""
    b = GraphBuilder()
    define(b, "goes", ["int32", "float32"], lambda g, i, total: [g.LessEqual(i, np.int32(10))])
    define(b, "times", ["int32", "float32"], lambda g, i, f: [g.AddV2(i, np.int32(1)), g.Mul(f, g.Cast(i, DstT="float32"))])
    define(b, "same", ["float32"], lambda g, x: [g.Identity(x)])
    define(b, "negative", ["float32"], lambda g, x: [g.Neg(x)])
    turns = b.Placeholder(dtype="bool", shape=[], name="turns")
    total = b.While([b.constant(np.int32(1)), b.constant(np.float32(1))], cond="goes", body="times")[1]
    b.If(turns, [total], Tout=["float32"], then_branch="negative", else_branch="same", name="y")
    with forcing(tier):
        session = Session(b.graph)
    for turns, want in [(False, 3628800), (True, -3628800), (False, 3628800)]:
        assert session.run("y:0", {"turns": turns}) == want


@pytest.mark.parametrize("tier", ALL)
def test_a_convolution_with_a_bias_and_an_activation(tier):
    rng = np.random.default_rng(0)
    x, w = rng.standard_normal((2, 6, 6, 3)), rng.standard_normal((3, 3, 3, 4))
    b = GraphBuilder()
    images = b.Placeholder(dtype="float64", shape=[None, 6, 6, 3], name="x")
    filters = b.Placeholder(dtype="float64", shape=[3, 3, 3, 4], name="w")
    made = b.Softplus(b.BiasAdd(b.Conv2D(images, filters, strides=[1, 1, 1, 1], padding="SAME"), b.constant(np.arange(4.0))))
    b.Sum(made, [0, 1, 2, 3], name="loss")
    with forcing(tier):
        session = Session(b.graph)
    want = np.log1p(np.exp(convolved(x, w) + np.arange(4.0))).sum()
    for _ in range(3):
        np.testing.assert_allclose(session.run("loss:0", {"x:0": x, "w:0": w}), want, rtol=1e-12)


def convolved(x, w):
    """The definition: a sum over places of the window."""
    padded = np.pad(x, [(0, 0), (1, 1), (1, 1), (0, 0)])
    return sum(padded[:, i : i + 6, j : j + 6] @ w[i, j] for i, j in np.ndindex(3, 3))


@pytest.mark.slow
def test_a_chain_is_looked_at_once_however_often_it_runs(monkeypatch):
    """Kernels are chosen in the first run, and changes of the program trigger no garbage collection."""
    b = GraphBuilder()
    value = x = b.Placeholder(dtype="float32", shape=[], name="x")
    for _ in range(3000):
        value = b.AddV2(value, x)
    chosen, collected = [], []
    select = executor.select_kernel
    monkeypatch.setattr(executor, "select_kernel", lambda node: chosen.append(node) or select(node))
    session = Session(b.graph)
    gc.callbacks.append(note := lambda phase, info: collected.append(info["generation"]) if phase == "start" else None)
    try:
        for _ in range(SETTLING_RUN + 1):
            assert session.run(value, {x: np.float32(2)}) == 6002
    finally:
        gc.callbacks.remove(note)
    assert len(chosen) == len(set(chosen)) == 3000
    assert len(collected) < 20
