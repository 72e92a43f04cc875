"""`engine="auto"`: the chosen way, the reasons, and correct results of every run in every way."""

from __future__ import annotations

import time

import numpy as np
import pytest

from tests.core.engines.fake_engine import FakeEngine
from tests.core.engines.test_plan_division import chain
from tests.functions import define
from tfg.core.building.builder import GraphBuilder
from tfg.core.engines import automatic, engine_runtime
from tfg.core.engines.automatic import AutoRuntime, Contest, choose_runtime
from tfg.core.engines.engine_runtime import EngineRuntime
from tfg.core.engines.executables import EngineSettings
from tfg.core.runtime.session.session import Session
from tfg.core.support import trials
from tfg.core.support.errors import InvalidArgumentError, NotFoundError
from tfg.core.support.trials import Trial

X = {"x:0": np.float32([1, 2])}
EXPECTED = [8, 27]
RUNS = 40


class Slow(FakeEngine):
    """Computes for two milliseconds more in each run. A wait would not count on an overloaded machine."""

    name = "slow"

    def compile(self, cluster, values):
        run = super().compile(cluster, values)

        def slow(arrays):
            end = time.process_time() + 2e-3
            while time.process_time() < end:
                pass
            return run(arrays)

        return slow


class Quick(FakeEngine):
    """Knows the answer of `chain`."""

    name = "quick"

    def compile(self, cluster, values):
        super().compile(cluster, values)

        def quick(arrays):
            self.runs += 1
            return [(arrays[0] + 1) ** 3]

        return quick


@pytest.fixture(autouse=True)
def short_trials(monkeypatch):
    """Trials that take few runs."""
    monkeypatch.setattr(automatic, "TRIAL_SECONDS", 0.0)
    monkeypatch.setattr(engine_runtime, "PAIRS_SECONDS", 0.0)


@pytest.fixture
def eager(monkeypatch):
    """Choose a later way at any cost."""
    monkeypatch.setattr(trials, "GAIN", np.inf)
    monkeypatch.setattr(engine_runtime, "PAIRED_GAIN", np.inf)


def auto(*engines, **options):
    return AutoRuntime(engines=engines, patience=0.0, **options)


def run(session, count=RUNS):
    for _ in range(count):
        np.testing.assert_array_equal(session.run("y:0", X), EXPECTED)
    return session.engine_report()


def test_nothing_is_compiled_before_runs_took_a_while():
    engine = FakeEngine()
    report = run(Session(chain(), engine=AutoRuntime(engines=[engine], patience=60.0)))
    assert engine.compiled == []
    assert [(choice.kept, choice.seconds) for choice in report.choices] == [("numpy", {})]


def test_nothing_is_compiled_for_one_run():
    engine = FakeEngine()
    run(Session(chain(), engine=auto(engine)), 1)
    assert engine.compiled == []


def test_numpy_is_kept_where_an_engine_takes_more_time():
    engine = Slow()
    report = run(Session(chain(), engine=auto(engine)))
    (group,), (choice,) = report.groups, report.choices
    assert engine.runs == engine_runtime.PAIRS
    assert group.reason.startswith("NumPy takes less time: 0.0")
    assert group.numpy_seconds < 2e-3 <= group.engine_seconds
    assert choice.kept == "numpy"


def test_an_engine_is_kept_where_it_takes_less_time(eager):
    engine = Quick()
    report = run(Session(chain(), engine=auto(engine)))
    (group,), (choice,) = report.groups, report.choices
    assert (choice.kept, choice.fetches, choice.shapes) == ("quick", "y:0", "[2]")
    assert set(choice.seconds) == {"numpy", "quick"}
    assert group.reason is None
    assert engine.runs == group.runs > RUNS / 2


def test_an_engine_whose_first_results_differ_is_left_and_its_results_are_never_seen(eager):
    engine = FakeEngine(wrong=["y:0"])
    report = run(Session(chain(), engine=auto(engine)))
    assert engine.runs == 1
    assert report.groups[0].reason == "it differs from NumPy at y:0: it is off by up to 1, where the largest magnitude is 27"
    assert report.choices[0].kept == "numpy"
    assert report.differences == ()


def test_values_are_compared_until_they_agree_once(eager, monkeypatch):
    """A comparison of all values takes longer than a step of a large network."""
    asked = []
    monkeypatch.setattr(engine_runtime, "difference", lambda *values: asked.append(values))
    engine = Quick()
    run(Session(chain(), engine=auto(engine)))
    assert len(asked) == 1 and engine.runs > engine_runtime.PAIRS


class Steep(FakeEngine):
    """Computes cos(10,000 x + shift) in double, for a graph that computes cos(10,000 x)."""

    name = "steep"

    def __init__(self, shift):
        super().__init__()
        self.shift = shift

    def compile(self, cluster, values):
        return lambda arrays: [np.cos(arrays[0].astype("d") * 1e4 + self.shift).astype("f")]


@pytest.mark.parametrize("shift, is_kept", [(0.0, True), (0.2, False)])
def test_an_engine_may_differ_by_what_roundings_become(eager, shift, is_kept):
    """A float rounds 10,000 x by up to 5e-4, five times the tolerance."""
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[50], name="x")
    b.Cos(b.Mul(x, b.constant(np.float32(1e4))), name="y")
    session = Session(b.graph, engine=auto(Steep(shift)))
    feeds = {"x:0": np.random.default_rng(0).uniform(0.5, 1, 50)}
    for _ in range(RUNS):
        np.testing.assert_allclose(session.run("y:0", feeds), np.cos(np.float32(feeds["x:0"]) * 1e4), atol=2e-3)
    report = session.engine_report()
    assert (report.choices[0].kept == "steep") == is_kept
    assert (report.groups[0].reason is None) == is_kept


def test_no_error_of_neighbouring_floats_is_seen(eager):
    """An index of -0.99999994 is 0; the next float down is -1, which GatherV2 refuses."""
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[50], name="x")
    b.GatherV2(b.constant(np.float32([3, 4])), b.Cast(x, DstT="int32"), b.constant(np.int32(0)), name="y")
    session = Session(b.graph, engine=auto(FakeEngine(wrong=["y:0"])))
    for _ in range(RUNS):
        np.testing.assert_array_equal(
            session.run("y:0", {"x:0": np.full(50, np.nextafter(np.float32(-1), 0))}), np.full(50, 3)
        )
    assert session.engine_report().groups[0].reason.startswith("it differs from NumPy at y:0")


@pytest.mark.sampled(3)
@pytest.mark.parametrize("fault", [{"fails": ValueError("no")}, {"breaks": RuntimeError("lost")}, {"wrong": ["y"]}])
@pytest.mark.parametrize("resource", [False, True])
def test_variables_have_the_values_that_numpy_gives_them_in_every_phase(eager, fault, resource):
    b = GraphBuilder()
    if resource:
        handle = b.VarHandleOp(dtype="float32", shape=[2], shared_name="v")
        b.AssignVariableOp(handle, b.constant(np.zeros(2, "f")), name="init")
        b.AssignAddVariableOp(handle, b.Placeholder(dtype="float32", shape=[2], name="x"), name="y")
        read = b.ReadVariableOp(handle, dtype="float32").name
    else:
        variable = b.VariableV2(dtype="float32", shape=[2])
        b.Assign(variable, b.constant(np.zeros(2, "f")), name="init")
        b.AssignAdd(variable, b.Placeholder(dtype="float32", shape=[2], name="x"), name="y")
        read = variable.name
    for options in (fault, {}):
        session = Session(b.graph, engine=auto(FakeEngine(takes_variables=True, **options)))
        session.run("init")
        for _ in range(RUNS):
            session.run(b.graph.node("y"), X)
        np.testing.assert_array_equal(session.run(read), [RUNS, 2 * RUNS])
        assert session.engine_report().groups


def test_random_numbers_are_those_of_numpy(eager):
    b = GraphBuilder()
    draws = b.RandomUniform(b.constant([2]), dtype="float32", seed=3, seed2=4)
    b.AddV2(b.Mul(draws, draws), b.Placeholder(dtype="float32", shape=[2], name="x"), name="y")
    session, plain = Session(b.graph, engine=auto(FakeEngine())), Session(b.graph)
    for _ in range(RUNS):
        np.testing.assert_array_equal(session.run("y:0", X), plain.run("y:0", X))
    assert session.engine_report().groups[0].runs


def test_functions_run_in_the_engine_of_the_run(eager):
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[2], name="x")
    define(b, "cube", ["float"], lambda f, a: [f.Mul(f.Mul(a, a), a)])
    define(b, "next", ["float"], lambda f, a: [f.AddV2(a, f.constant(np.float32(1)))])
    (y,) = b.StatefulPartitionedCall([x], Tin=["float32"], Tout=["float32"], f="next")
    b.StatefulPartitionedCall([y], Tin=["float32"], Tout=["float32"], f="cube", name="y")
    engine = FakeEngine(refused=("StatefulPartitionedCall", "y"))
    run(Session(b.graph, engine=auto(engine)))
    assert len(engine.compiled) == 2
    assert engine.runs > RUNS / 2


def test_feeds_of_each_shape_are_tried_by_themselves():
    b = GraphBuilder()
    b.Neg(b.Placeholder(dtype="float32", shape=[None], name="x"), name="y")
    session = Session(b.graph, engine=auto(FakeEngine()))
    for size in [*range(1, 21), 3, 20]:
        np.testing.assert_array_equal(session.run("y:0", {"x:0": np.arange(size)}), -np.arange(size))
    assert [choice.shapes for choice in session.engine_report().choices] == [f"[{size}]" for size in range(1, 17)]


def test_feeds_of_another_batch_begin_with_the_best_way(eager, monkeypatch):
    monkeypatch.setattr(automatic, "CLOSE", 0.0)
    monkeypatch.setattr(automatic, "CALL_SECONDS", 0.0)
    b = GraphBuilder()
    b.Pow(b.AddV2(b.Placeholder(dtype="float32", shape=[None, 2], name="x"), np.float32(1)), np.float32(3), name="y")
    engine, ways = Quick(), []
    session = Session(b.graph, engine=auto(engine))
    for rows in (1, 5):
        feeds = {"x:0": np.ones([rows, 2], np.float32)}
        for _ in range(RUNS):
            before = engine.runs
            np.testing.assert_array_equal(session.run("y:0", feeds), np.full([rows, 2], 8))
            ways.append(engine.runs > before)
    assert not ways[0] and all(ways[RUNS:])


@pytest.mark.parametrize(
    "seconds, best, untried",
    [
        ({"numpy": 1.0, "fast": 0.1}, "fast", ()),
        ({"numpy": 1.0, "fast": 0.1, "near": 0.12}, "fast", ("near",)),
        ({"numpy": 0.12, "fast": 0.1}, "numpy", ("fast",)),
        ({"numpy": 1e-4, "fast": 1e-5, "far": 5e-4}, "numpy", ("fast", "far")),
    ],
)
def test_a_contest_of_another_batch_tries_what_was_close(seconds, best, untried):
    """Below a millisecond the call of an engine may be most of the time."""
    contest = Contest((), 1.0, "fast", seconds=seconds).of_other_batch()
    assert (contest.best, contest.untried) == (best, untried)


@pytest.mark.parametrize("seconds, compared", [(0.1, 1), (0.01, engine_runtime.PAIRS)])
def test_a_group_clearly_ahead_of_numpy_is_compared_once_for_another_batch(seconds, compared, eager, monkeypatch):
    b = GraphBuilder()
    b.Neg(b.Placeholder(dtype="float32", shape=[None, 2], name="x"), name="y")
    runtime = EngineRuntime(FakeEngine(), EngineSettings(chooses=True))
    session = Session(b.graph, engine=runtime)
    session.run("y:0", {"x:0": np.ones([1, 2])})
    (group,) = runtime.groups
    (known,) = group.executables.values()
    known.trial.decide(1, (seconds, 0.01))
    in_numpy = []
    monkeypatch.setattr(group, "in_numpy", lambda *values: in_numpy.append(values) or [-values[0]])
    for _ in range(RUNS):
        np.testing.assert_array_equal(session.run("y:0", {"x:0": np.ones([3, 2])}), -np.ones([3, 2]))
    assert len(in_numpy) == compared


def test_a_hook_sees_every_kernel():
    session = Session(chain(), engine=auto(FakeEngine()))
    seen = []

    def hook(node, call, inputs):
        seen.append(node.name)
        return call(*inputs)

    for _ in range(3):
        session.run("y:0", X, hook=hook)
    assert seen == 3 * ["first", "second", "y"]


def test_sessions_share_what_was_found_out():
    graph = chain()
    engine = FakeEngine()
    session = Session(graph, engine=auto(engine))
    other = session.on_graph(graph)
    run(session)
    assert other.engine_report() == session.engine_report()


@pytest.mark.parametrize("trains, order", [(False, ["openvino", "xla", "fake"]), (True, ["xla", "openvino", "fake"])])
def test_training_prefers_xla_and_inference_openvino(trains, order):
    b = GraphBuilder()
    if trains:
        b.AssignSub(b.VariableV2(dtype="float32", shape=[]), b.constant(np.float32(1)))
    engines = []
    for name in ("fake", "xla", "openvino"):
        engines.append(FakeEngine())
        engines[-1].name = name
    assert auto(*engines).names(b.graph, list(b.graph)) == order


def test_a_contest_spends_at_most_half_of_the_time_on_trials():
    contest = Contest(["a", "b"], patience=1.0)
    ways = []
    for _ in range(200):
        ways.append(contest.next())
        contest.note(ways[-1], {"numpy": 0.3, "a": 0.5, "b": 0.1}[ways[-1]])
    assert ways[:4] == ["numpy"] * 4
    assert ways[-1] == contest.best == "b"
    first, second = ways.index("a"), ways.index("b")
    assert sum(way == "numpy" for way in ways[first:second]) * 0.3 >= ways.count("a") * 0.5
    assert contest.seconds == {"numpy": 0.3, "a": 0.5, "b": 0.1}


def test_an_engine_wins_though_each_change_of_ways_costs_time():
    """The first run of a turn converts the variables that the other way wrote."""
    contest, previous = Contest(["a"], patience=1.0), "numpy"
    for _ in range(200):
        way = contest.next()
        contest.note(way, {"numpy": 1.0, "a": 0.8}[way] + 0.5 * (way != previous))
        previous = way
    assert (contest.best, contest.seconds) == ("a", {"numpy": 1.0, "a": 0.8})


def contest_of(ways, drift=lambda run: 1.0, runs=400, **options):
    """Return a finished contest of ways with these seconds, and the ways of all runs; `drift` slows each run."""
    contest, taken = Contest([way for way in ways if way != "numpy"], patience=1.0, **options), []
    for i in range(runs):
        taken.append(contest.next())
        contest.note(taken[-1], ways[taken[-1]] * drift(i))
    assert contest.is_settled
    return contest, taken


@pytest.mark.parametrize("period", [3, 7, 23])
@pytest.mark.parametrize("seconds, best", [(0.7, "a"), (1.4, "numpy")])
def test_other_work_on_the_machine_decides_nothing(seconds, best, period):
    """A load that comes and goes slows both ways; the least time of a way may be of a quiet moment."""
    contest, _ = contest_of({"numpy": 1.0, "a": seconds}, lambda run: 1.0 + 2.0 * (run // period % 2))
    assert contest.best == best


def test_growing_load_decides_nothing():
    assert contest_of({"numpy": 1.0, "a": 0.8}, lambda run: 1.02**run)[0].best == "a"


def test_an_engine_far_behind_is_dropped_after_two_runs():
    contest, taken = contest_of({"numpy": 1.0, "a": 5.0})
    assert taken.count("a") == 3, "one that compiles, and two"
    assert (contest.best, contest.seconds) == ("numpy", {"a": 5.0})


def test_runs_that_compare_groups_do_not_count_as_far_behind():
    """A group that decides also runs in NumPy, and its values are compared, which takes longer than most steps."""
    contest = Contest(["a"], patience=1.0)
    for _ in range(100):
        way = contest.next()
        compares = way == "a" and contest._warm_runs < 10
        contest.note(way, 9.0 if compares else {"numpy": 1.0, "a": 0.5}[way], compares, compares)
    assert contest.best == "a"


@pytest.mark.parametrize("times, choice, runs", [((1.0, 0.3), 1, 3), ((1.0, 2.7), 0, 3), ((1.0, 0.9), 1, 24)])
def test_a_trial_of_short_runs_ends_where_one_is_far_ahead(times, choice, runs):
    trial = Trial(2, 3, seconds=100.0, gain=1.3)
    while trial.choice is None:
        trial.note(trial.next, times[trial.next])
    assert (trial.choice, trial.counts) == (choice, [runs, runs])


def test_a_trial_of_an_engine_behind_ends_early():
    _, taken = contest_of({"numpy": 1.0, "a": 2.5})
    assert taken.count("a") == 3 + 4, "to warm up, and two turns"


def test_a_trial_of_an_engine_ahead_ends_early():
    contest, taken = contest_of({"numpy": 1.0, "a": 0.4})
    first, last = taken.index("a"), len(taken) - taken[::-1].index("numpy")
    assert (contest.best, taken[first:last].count("numpy")) == ("a", 4), "two turns"


@pytest.mark.parametrize("seconds, turns", [(0.8, 3), (1.3, 3), (0.9, 5), (1.0, 5)])
def test_a_trial_ends_after_three_pairs_that_agree(seconds, turns):
    contest, taken = contest_of({"numpy": 1.0, "a": seconds})
    first, last = taken.index("a"), len(taken) - taken[::-1].index("numpy" if contest.best == "a" else "a")
    tried = taken[first:last]
    assert min(tried.count("numpy"), tried.count("a")) in (2 * turns, 2 * turns + 3), "a turn is two runs; three warm up"
    assert contest.best == ("a" if seconds < 0.95 else "numpy")


@pytest.mark.parametrize("final, lead, tried", [("a", 1.0, 0), ("a", 1.5, 0), ("a", 2.5, 1), (None, 1.0, 1)])
def test_after_the_final_engine_no_other_is_tried(final, lead, tried):
    """It must be as far ahead as is asked for."""
    contest, taken = contest_of({"numpy": 1.0, "a": 0.5, "b": 0.4}, final=final, lead=lead)
    assert ("b" in taken, contest.best) == (bool(tried), "b" if tried else "a")


def test_what_was_tried_and_lost_is_dropped():
    contest = Contest(["a"], patience=0.0)
    contest.note(contest.next(), 1.0)
    assert contest.next() == "a"
    contest.drop("a")
    assert (contest.next(), contest.is_settled) == ("numpy", True)


def test_a_tie_goes_to_the_first_way():
    trial = Trial(3)
    while trial.choice is None:
        trial.note(trial.next, (1.0, 0.97, 0.9)[trial.next])
    assert trial.choice == 2
    trial = Trial(2)
    while trial.choice is None:
        trial.note(trial.next, (1.0, 0.97)[trial.next])
    assert trial.choice == 0
    trial = Trial(2, gain=1.3)
    while trial.choice is None:
        trial.note(trial.next, (1.0, 1.2)[trial.next])
    assert trial.choice == 1


def test_the_environment_names_the_engine_where_nothing_else_does(monkeypatch):
    monkeypatch.setenv("TFG_ENGINE", "abacus")
    with pytest.raises(NotFoundError, match="unknown engine 'abacus'"):
        Session(chain())
    assert Session(chain(), engine="numpy").run("y:0", X).tolist() == EXPECTED
    assert isinstance(choose_runtime("auto"), AutoRuntime)
    monkeypatch.setenv("TFG_ENGINE", "auto")
    assert run(Session(chain()), 2).engine == "auto"
    monkeypatch.setenv("TFG_ENGINE", "")
    assert Session(chain()).run("y:0", X).tolist() == EXPECTED


def test_auto_without_an_engine_says_how_to_get_one(monkeypatch):
    monkeypatch.setattr(automatic, "installed_engines", list)
    report = run(Session(chain(), engine="auto"), 2)
    assert "tfg[openvino]" in report.note
    assert "tfg[xla]" in report.note


def test_a_precision_needs_an_engine():
    with pytest.raises(InvalidArgumentError, match="bf16"):
        Session(chain(), precision="bf16")


def test_a_fixed_engine_is_timed_beside_numpy_in_the_second_run():
    engine = FakeEngine()
    session = Session(chain(), engine=engine)
    assert run(session, 1).groups[0].numpy_seconds is None
    group = run(session, 3).groups[0]
    assert group.numpy_seconds > 0
    assert group.engine_seconds > 0
    assert (group.runs, engine.runs, group.reason) == (4, 4, None)


def test_a_report_that_is_asked_for_times_the_first_run():
    session = Session(chain(), engine=EngineRuntime(FakeEngine(), EngineSettings(reports=True)))
    assert run(session, 1).groups[0].numpy_seconds > 0


def test_numpy_is_not_timed_where_it_refuses_what_an_engine_takes():
    class Willing(FakeEngine):
        def compile(self, cluster, values):
            return lambda arrays: [np.ones(2, "f")]

    b = GraphBuilder()
    indices = b.Placeholder(dtype="int32", shape=[2], name="x")
    b.GatherV2(b.constant(np.zeros(3, "f")), indices, b.constant(np.int32(0)), name="y")
    session = Session(b.graph, engine=Willing())
    for _ in range(3):
        np.testing.assert_array_equal(session.run("y:0", {"x:0": [0, 3]}), [1, 1])
    assert session.engine_report().groups[0].numpy_seconds is None


def test_compiling_ends_when_its_time_is_over():
    b = GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[2], name="x")
    for name in ("y", "z"):
        b.Neg(x, name=name)
    engine = FakeEngine()
    session = Session(b.graph, engine=EngineRuntime(engine, EngineSettings(compile_seconds=1e-9)))
    for name in ("y:0", "z:0"):
        np.testing.assert_array_equal(session.run(name, X), [-1, -2])
    assert engine.compiled == [["y"]]
    reasons = [group.reason for group in session.engine_report().groups]
    assert reasons == [None, "compiling exceeded its limit of 1e-09 s"]


def compute_for(seconds):
    """Take CPU time: a wait is no part of a run on an overloaded machine."""
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


class Rounding(FakeEngine):
    """An engine that is off by a part of the largest magnitude in another type, and computes less before each run."""

    def __init__(self, precision=None, off=0.0, wait=40e-3, faster=(), **options):
        super().__init__(**options)
        self.precision, self.off, self.wait, self.faster = precision, off, wait, faster

    def compile(self, cluster, values):
        run = super().compile(cluster, values)

        def rounded(arrays):
            compute_for(self.wait)
            return [array + np.float32(self.off) * np.abs(array).max() for array in run(arrays)]

        return rounded


@pytest.mark.slow
def test_fast_is_the_fastest_type_that_is_near_enough():
    types = [Rounding("f16", 9e-3, 20e-3), Rounding("bf16", 8e-3, 0.0), Rounding("i8", 2e-2, 0.0)]
    session = Session(chain(), engine=EngineRuntime(Rounding(faster=types), EngineSettings(is_fast=True)))
    np.testing.assert_allclose(session.run("y:0", X), EXPECTED, atol=9e-3 * 27)
    (group,) = session.engine_report().groups
    assert (group.precision, group.rounded.precision) == ("bf16", "bf16")
    assert group.rounded.difference == pytest.approx(8e-3, rel=1e-3)
    assert group.rounded.seconds < 40e-3 <= group.rounded.exact_seconds


@pytest.mark.slow
def test_fast_is_the_graphs_type_where_no_other_is_near_enough():
    engine = Rounding(faster=[Rounding("bf16", 2e-2, 0.0)])
    session = Session(chain(), engine=EngineRuntime(engine, EngineSettings(is_fast=True)))
    np.testing.assert_array_equal(session.run("y:0", X), EXPECTED)
    (group,) = session.engine_report().groups
    assert group.precision is None
    assert group.rounded.difference == pytest.approx(2e-2, rel=1e-3)


@pytest.mark.slow
def test_fast_is_the_graphs_type_where_no_other_is_faster():
    engine = Rounding(wait=0.0, faster=[Rounding("bf16", 0.0, 40e-3)])
    session = Session(chain(), engine=EngineRuntime(engine, EngineSettings(is_fast=True)))
    session.run("y:0", X)
    assert session.engine_report().groups[0].precision is None


def test_fast_is_the_graphs_type_where_no_other_compiles():
    engine = Rounding(faster=[Rounding("bf16", fails=ValueError("no such type"))])
    session = Session(chain(), engine=EngineRuntime(engine, EngineSettings(is_fast=True)))
    np.testing.assert_array_equal(session.run("y:0", X), EXPECTED)
    assert session.engine_report().groups[0].rounded is None


def test_a_report_says_what_fast_would_be_worth():
    engine = Rounding(faster=[Rounding("bf16", 8e-3, 0.0)])
    session = Session(chain(), engine=EngineRuntime(engine, EngineSettings(reports=True)))
    np.testing.assert_array_equal(session.run("y:0", X), EXPECTED)
    (group,) = session.engine_report().groups
    assert group.precision is None
    assert group.rounded.precision == "bf16"


def test_integers_must_be_equal_in_any_type():
    class Counting(Rounding):
        def compile(self, cluster, values):
            FakeEngine.compile(self, cluster, values)
            return lambda arrays: [np.int64([1, int(self.off > 0)])]

    b = GraphBuilder()
    b.ArgMax(b.Placeholder(dtype="float32", shape=[2, 2], name="x"), b.constant(np.int32(1)), name="y")
    session = Session(
        b.graph, engine=EngineRuntime(Counting(faster=[Counting("bf16", 1e-3, 0.0)]), EngineSettings(is_fast=True))
    )
    session.run("y:0", {"x:0": np.eye(2)})
    assert session.engine_report().groups[0].rounded.difference == np.inf


@pytest.mark.parametrize(("slower", "choice"), [(0, 1), (1, 0)])
def test_a_trial_keeps_the_faster_way(slower, choice, monkeypatch):
    clock, calls = [0.0], []
    for name in ("perf_counter", "process_time"):
        monkeypatch.setattr(trials.time, name, lambda: clock[0])

    def way(number):
        def run():
            calls.append(number)
            clock[0] += 2.0 if number == slower else 1.0

        return run

    trial = Trial()
    while trial.choice is None:
        trial.run(way(0), way(1))
    assert trial.choice == choice
    assert calls.count(0) == calls.count(1)


@pytest.mark.parametrize(
    ("load", "has_gpu", "wall", "cpu", "seconds"),
    [
        (0.5, False, 3.0, 0.2, 3.0),  # a wait for something else than a core
        (50.0, False, 3.0, 0.2, 0.2),
        (50.0, False, 0.1, 0.2, 0.1),  # two threads side by side
        (50.0, True, 3.0, 0.2, 3.0),
    ],
)
def test_waits_for_cores_count_only_where_they_may_be_waits_for_a_device(load, has_gpu, wall, cpu, seconds, monkeypatch):
    clocks = {"perf_counter": 5.0, "process_time": 5.0}
    for name in clocks:
        monkeypatch.setattr(trials.time, name, lambda name=name: clocks[name])
    monkeypatch.setattr(trials, "cores", lambda: 2)
    monkeypatch.setattr(trials.os, "getloadavg", lambda: (load, 0.0, 0.0), raising=False)
    monkeypatch.setattr(trials, "gpus", lambda: ["/dev/nvidia0"] if has_gpu else [])
    timer = trials.RunTimer()
    clocks.update(perf_counter=5.0 + wall, process_time=5.0 + cpu)
    assert (timer.seconds, timer.quiet_seconds) == pytest.approx((wall, seconds))
