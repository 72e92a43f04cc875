"""Costs in the report, and differences in a comparison over several runs."""

from __future__ import annotations

import numpy as np
import pytest

from tests.cli.running import SAMPLES, tfg
from tfg.core.building.builder import GraphBuilder
from tfg.core.comparing.verify_rewrite import GraphRuns, verify
from tfg.core.graph.graph import Graph
from tfg.core.passes.pipeline import inline_functions, optimize
from tfg.core.runtime.session.drawn_feeds import Feeds
from tfg.core.runtime.session.session import Session
from tfg.formats import load, save
from tfg.formats.api.callable_model import Model


def product():
    """Return x (N, 3) times the sum of two constants (3, 4); the 12 additions are folded."""
    g = GraphBuilder()
    x = g.Placeholder(dtype="float32", shape=(None, 3), name="x")
    weights = g.AddV2(g.constant(np.ones((3, 4), np.float32)), g.constant(np.full((3, 4), 2, np.float32)))
    return g, g.MatMul(x, weights, name="y")


def test_costs_before_and_after_each_pass():
    g, y = product()
    report = optimize(g.graph, y.name, ["x:0"], costs=True)[1]
    assert str(report.passes[0].cost_before.flops) == "24*N + 12"
    assert str(report.passes[-1].cost_after.flops) == "24*N"
    for one, following in zip(report.passes, report.passes[1:]):
        assert one.cost_after == following.cost_before
    assert [r.name for r in report.passes if r.cost_before != r.cost_after] == ["fold"]


def test_costs_are_counted_only_where_they_are_asked_for():
    g, y = product()
    report = optimize(g.graph, y.name, ["x:0"])[1]
    assert {(r.cost_before, r.cost_after) for r in report.passes} == {(None, None)}


def test_costs_follow_a_fetch_that_is_renamed():
    g, y = product()
    report = optimize(g.graph, y.name, ["x:0"], "rename{node=y:z}", costs=True)[1]
    assert report.passes[-1].cost_before == report.passes[-1].cost_after


def counter(op):
    """Return a variable that starts at 2; `step` doubles the variable or adds 2, equal only in the first step."""
    g = GraphBuilder()
    v = g.VariableV2(shape=[], dtype="float32", name="v")
    g.Assign(v, 2.0, name="init")
    g.Assign(v, g.apply(op, v, 2.0), name="step")
    return g.graph


def initialized(graph):
    session = Session(graph)
    session.run("init")
    return session


def compared(graphs, name, opened, steps):
    first, second = (GraphRuns(graph, {name: name}, opened, steps) for graph in graphs)
    return verify(first, second, Feeds(graphs[0], {}, [name]), 1e-6).comparisons


@pytest.mark.parametrize(("steps", "passed"), [(1, True), (3, False)])
def test_every_step_is_compared(steps, passed):
    graphs = counter("Mul"), counter("AddV2")
    result, variable = compared(graphs, "step:0", initialized, steps)
    assert result.passed is passed and variable.passed is passed
    assert (result.step, result.largest_difference) == ((1, 0.0) if passed else (3, 8.0))


def test_report_of_the_command(tmp_path):
    g = product()[0]
    save(g.graph, tmp_path / "g.pb")
    done = tfg("optimize", tmp_path / "g.pb", "--fetch", "y", "--verify", "--format", "json")
    report = done.json
    fold = next(record for record in report["report"]["passes"] if record["name"] == "fold")
    assert (fold["cost_before"]["flops_formula"], fold["cost_after"]["flops_formula"]) == ("24*N + 12", "24*N")
    assert [(c["fetch"], c["step"], c["passed"]) for c in report["verification"]] == [("y:0", 1, True)]
    shown = tfg("optimize", tmp_path / "g.pb", "--fetch", "y").out
    assert "24 x N + 12" in shown and "at the start" in shown
    uncounted = tfg("optimize", tmp_path / "g.pb", "--fetch", "y", "--no-costs").out
    assert "24 x N" not in uncounted and "at the start" in uncounted


def test_a_saved_model_can_still_be_started():
    graph = load(str(SAMPLES / "scaler_saved_model"))
    fetches = ["StatefulPartitionedCall:0", "StatefulPartitionedCall_1:0", "StatefulPartitionedCall_1:1"]
    feeds = {"serving_default_x:0": np.ones((3, 2), np.float32), "index_names:0": np.array([b"a", b"?"], object)}
    results = [Session(one).run(fetches, feeds) for one in (graph, optimize(graph, fetches, list(feeds))[0])]
    for want, got in zip(*results):
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize(("other", "passed"), [("a", True), ("b", False)])
def test_single_strings_are_compared(other, passed):
    graphs = []
    for text in ("a", other):
        g = GraphBuilder()
        g.StringUpper(g.constant(text), name="upper")
        graphs.append(g.graph)
    (result,) = compared(graphs, "upper:0", Session, 1)
    assert result.passed is passed


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--steps", 2], "--steps needs --verify"),
        (["--init-op", "init"], "--init-op needs --verify or --save-model"),
        (["--text"], "--text needs --output"),
        (["--passes", "strip_debug{ops=MatMul}"], "strip_debug does not drop MatMul"),
    ],
)
def test_options_without_effect_are_refused(tmp_path, options, message):
    save(product()[0].graph, tmp_path / "g.pb")
    done = tfg("optimize", tmp_path / "g.pb", *options)
    assert done.code in (1, 2) and message in done.err


def test_the_outputs_stay_where_no_fetch_is_named():
    """A double negation goes."""
    g = GraphBuilder()
    g.Neg(g.Neg(g.Cos(g.Placeholder(dtype="float", shape=[], name="x"))), name="y")
    after, _ = optimize(g.graph)
    assert "Neg" not in [node.op for node in after]
    assert Session(after).run("y:0", {"x:0": 0.0}) == 1


def test_the_outputs_of_all_signatures_stay_where_no_fetch_is_named():
    """Both signatures of the file compute the same."""
    after, _ = optimize(load(SAMPLES / "keras_classifier"))
    fed = {"measurements": [[1, 2, 3, 4]]}
    serve, usual = (Model(after, name)(fed)["output_0"] for name in ("serve", "serving_default"))
    assert serve == pytest.approx(usual) and serve.sum() == pytest.approx(1)


def test_a_graph_without_nodes_has_no_calls():
    assert inline_functions(Graph())[1] == 0
