"""--engine in every command that runs a graph, with an engine that an installed package offers."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

import tfg
from tests.cli.json_schemas import faults
from tests.cli.running import SAMPLES
from tests.cli.running import tfg as run
from tests.core.engines.test_plan_division import chain

MODULE = """
from tests.core.engines.fake_engine import FakeEngine

def right(precision):
    return FakeEngine(["second"] if precision == "split" else ())

def wrong(precision):
    return FakeEngine(wrong=[f"{precision or 'y'}:0"])

def absent(precision):
    import a_module_that_nobody_has

def failing(precision):
    return {}["of engines"]

def incomplete(precision):
    class Incomplete:
        name = "incomplete"
        def refuses(self, nodes, graph):
            return {}
    return Incomplete()
"""
FEED = ("--feed", "x=[1, 2]")
ENTRIES = ("right", "wrong", "absent", "failing", "incomplete", "forgotten")


@pytest.fixture
def package(tmp_path, monkeypatch):
    """An installed package with engines."""
    info = tmp_path / "engine_of_others-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: engine-of-others\nVersion: 1.0\n")
    names = "".join(f"{name} = engine_of_others:{name}\n" for name in ENTRIES)
    (info / "entry_points.txt").write_text(f"[tfg.engines]\n{names}")
    (tmp_path / "engine_of_others.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(tmp_path))


@pytest.fixture
def graph(tmp_path):
    path = tmp_path / "chain.pb"
    tfg.save(chain(), str(path))
    return path


@pytest.fixture
def trained(tmp_path):
    """loss = sum((x w)^2) with a variable w."""
    b = tfg.GraphBuilder()
    x = b.Placeholder(dtype="float32", shape=[2], name="x")
    w = b.variable(np.float32([1, 2]), "w")
    b.Sum(b.Square(b.Mul(x, w.value)), b.constant([0]), name="loss")
    b.global_variables_initializer()
    path = tmp_path / "trained.pb"
    tfg.save(b.graph, str(path))
    return path


def test_run_reports_what_went_where(package, graph):
    done = run("run", graph, "--fetch", "y", *FEED, "--engine", "right", "--engine-report", "--format", "json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["steps"][0]["values"][0]["value"] == [8, 27]
    assert "3 steps in 1 group" in done.err and "y" in done.err


def test_the_report_lists_refusals(package, graph):
    done = run("run", graph, "--fetch", "y", *FEED, "--engine", "right", "--precision", "split", "--engine-report")
    assert "2 steps in 2 groups" in done.err
    assert "it is told to" in done.err and "second" in done.err


def test_verification_fails_with_three(package, graph):
    arguments = ("run", graph, "--fetch", "y", *FEED, "--engine")
    done = run(*arguments, "wrong", "--verify-engine")
    assert done.code == 3
    assert "differs at y:0 (Mul): it is off by up to 1" in done.err
    assert run(*arguments, "right", "--verify-engine").code == 0


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "command, arguments",
    [
        ("run", ("--fetch", "loss", "--init")),
        ("train", ("--loss", "loss", "--steps", "2")),
        ("flops", ("--measured", "--fetch", "loss", "--init")),
        ("grad", ("--y", "loss", "--x", "x", "--jacobian", "--init")),
    ],
)
def test_every_running_command_takes_an_engine(package, trained, command, arguments):
    plain = run(command, trained, *arguments, *FEED, "--format", "json")
    done = run(command, trained, *arguments, *FEED, "--format", "json", "--engine", "right", "--engine-report")
    assert (plain.code, done.code) == (0, 0), done.err
    assert "engine fake" in done.err
    if command != "flops":  # it tells times
        assert done.out == plain.out


@pytest.mark.slow
def test_explain_says_what_an_engine_would_take(package, graph):
    done = run("explain", graph, "--engine", "right", "--fetch", "y", "--format", "json")
    assert done.code == 0, done.err
    assert faults(done.json) == []
    assert [(group["last"], group["steps"], group["runs"]) for group in done.json["groups"]] == [("y", 3, 0)]


def test_a_missing_module_and_a_missing_engine_are_named(package, graph):
    done = run("run", graph, "--fetch", "y", *FEED, "--engine", "absent")
    assert (done.code, "a_module_that_nobody_has" in done.err) == (1, True)
    done = run("run", graph, "--fetch", "y", *FEED, "--engine", "none")
    assert (done.code, "unknown engine 'none'" in done.err, "right" in done.err) == (1, True, True)


@pytest.mark.parametrize(
    "name, problem",
    [
        ("failing", "from 'engine_of_others:failing' failed: KeyError: 'of engines'"),
        (
            "incomplete",
            "it has no compile, faster, largest, needs_elements, note, precision, runs_at_once, smallest",
        ),
        ("forgotten", "from 'engine_of_others:forgotten' failed: AttributeError"),
    ],
)
def test_a_package_whose_engine_fails_is_named(package, graph, name, problem):
    done = run("run", graph, "--fetch", "y", *FEED, "--engine", name)
    assert done.code == 1
    assert f"error: engine '{name}'" in done.err and problem in done.err
    assert "Traceback" not in done.err


def test_options_of_an_engine_want_one(graph):
    for option in ("--engine-report", "--verify-engine", "--precision=bf16"):
        done = run("run", graph, "--fetch", "y", *FEED, option)
        assert (done.code, "needs --engine" in done.err) == (2, True)


def test_a_command_that_runs_nothing_refuses_an_engine(package, graph):
    done = run("flops", graph, "--engine", "right")
    assert done.code == 2
    assert "--engine needs --measured" in done.err


@pytest.mark.slow
@pytest.mark.parametrize(
    "engines, code, first",
    [
        ("numpy,right", 0, None),
        ("right,numpy", 0, None),
        ("numpy,wrong", 3, "y:0"),
        ("right,wrong:second", 3, "second:0"),
        ("wrong:second,wrong:second", 0, None),
        ("numpy,numpy", 0, None),
    ],
)
def test_compare_runs_one_graph_by_two_engines(package, graph, engines, code, first):
    done = run("compare", graph, "--fetch", "y", *FEED, "--engines", engines, "--format", "json")
    assert done.code == code, done.err
    result = done.json
    assert (result["first"] and result["first"]["tensor"]) == first
    assert faults(result) == []
    assert len(result["engines"]) == sum(not name.startswith("numpy") for name in engines.split(","))
    assert all(sum(group["steps"] for group in report["groups"]) == 3 for report in result["engines"])


def test_compare_says_what_the_engines_ran(package, graph):
    done = run("compare", graph, "--fetch", "y", *FEED, "--engines", "numpy,wrong")
    assert (done.code, "1 of " in done.out, "3 steps in 1 group" in done.out) == (3, True, True)


@pytest.mark.parametrize("sample", ["collatz", "xor", "countdown"])
def test_compare_passes_over_what_only_loops_and_branches_have(package, sample):
    feeds = {"collatz": ("--feed", "n=6"), "xor": ("--fetch", "probability"), "countdown": ()}[sample]
    done = run("compare", SAMPLES / f"{sample}.pbtxt", *feeds, "--engines", "numpy,right", "--format", "json")
    assert (done.code, done.json["first"]) == (0, None)


@pytest.mark.parametrize("engines", ["numpy", "numpy,", "numpy,right,wrong", ","])
def test_compare_takes_two_engines(package, graph, engines):
    done = run("compare", graph, "--engines", engines)
    assert (done.code, "FIRST,SECOND" in done.err) == (2, True)


@pytest.fixture
def terminal(monkeypatch):
    monkeypatch.setattr("tests.cli.running.Stream.isatty", lambda self: True)


@pytest.fixture
def long_runs(monkeypatch):
    monkeypatch.setattr("tfg.cli.engines._LONG_SECONDS", 0.0)


STEPS = (SAMPLES / "square.pbtxt", "--init", "--target", "momentum", "--fetch", "loss", "--steps", 2)


def test_a_long_run_at_a_terminal_names_an_engine(terminal, long_runs, monkeypatch):
    monkeypatch.setattr("tfg.core.engines.automatic.installed_engines", list)
    said = [line for line in run("run", *STEPS).err.splitlines() if "--engine" in line]
    assert len(said) == 1
    text = " ".join(run("run", *STEPS).err.split())
    assert re.search(r"NumPy took 0 s: --engine xla would run \d+% of the nodes, once installed by .*tfg\[xla\]", text)


def test_an_installed_engine_is_not_to_be_installed(terminal, long_runs, monkeypatch):
    monkeypatch.setattr("tfg.core.engines.automatic.installed_engines", lambda: ["xla"])
    assert "of the nodes\n" in run("run", *STEPS).err


def test_a_short_run_names_no_engine(terminal):
    assert "--engine" not in run("run", *STEPS).err


def test_a_long_run_names_no_engine_where_nobody_reads_it(long_runs, monkeypatch):
    assert "--engine" not in run("run", *STEPS).err
    monkeypatch.setattr("tests.cli.running.Stream.isatty", lambda self: True)
    assert "--engine" not in run("run", *STEPS, "-q").err


def test_strings_are_for_no_engine(terminal, long_runs, tmp_path):
    b = tfg.GraphBuilder()
    b.StringLower(b.Placeholder(dtype="string", shape=[1], name="x"), name="y")
    path = tmp_path / "strings.pb"
    tfg.save(b.graph, str(path))
    assert "--engine" not in run("run", path, "--fetch", "y", "--feed", 'x=["A"]').err


def test_the_environment_names_the_engine(monkeypatch):
    monkeypatch.setenv("TFG_ENGINE", "abacus")
    assert "unknown engine 'abacus'" in run("run", *STEPS).err
    assert run("run", *STEPS, "--engine", "numpy").code == 0
    monkeypatch.setenv("TFG_ENGINE", "auto")
    assert "engine auto" in run("run", *STEPS, "--engine-report").err
    monkeypatch.delenv("TFG_ENGINE")
    assert "needs --engine" in run("run", *STEPS, "--engine-report").err


@pytest.fixture
def impatient(package, monkeypatch):
    """`auto` with a single engine of a package, which is tried at once and wins."""
    monkeypatch.delenv("TFG_ENGINE")
    monkeypatch.setattr("tfg.core.engines.engine_registry.installed_engines", lambda: ["right"])
    monkeypatch.setattr("tfg.core.engines.automatic.installed_engines", lambda: ["right"])
    monkeypatch.setattr("tfg.core.engines.automatic.PATIENCE", 0.0)
    monkeypatch.setattr("tfg.core.support.trials.GAIN", np.inf)


MANY = {
    "steps": ("--feed", "x=[1, 2]", "--steps", "20", "--fetch-every", "20"),
    "each": ("--each", "{}/inputs.jsonl", "--output", "{}/results.jsonl", "--overwrite"),
    "sweep": ("--sweep", "x=[1,2],[3,4],[5,6],[7,8]", "--out-dir", "{}/results", "--overwrite"),
}


@pytest.mark.parametrize("kind", MANY)
def test_many_runs_try_the_installed_engines(kind, impatient, graph, tmp_path, monkeypatch):
    (tmp_path / "inputs.jsonl").write_text('{"x": [1, 2]}\n' * 5)
    words = ("run", graph, "--fetch", "y", *(word.format(tmp_path) for word in MANY[kind]))
    done = run(*words)
    assert done.code == 0, done.err
    assert re.search(r"engine auto chose \w+ \(.*\): TFG_ENGINE=numpy runs all in NumPy", done.err)
    monkeypatch.setenv("TFG_ENGINE", "numpy")
    assert "engine" not in run(*words).err
    monkeypatch.delenv("TFG_ENGINE")
    assert "engine" not in run(*words, "--engine", "numpy").err
    monkeypatch.setattr("tfg.core.engines.engine_registry.installed_engines", list)
    assert "engine" not in run(*words).err


def test_training_tries_the_installed_engines(impatient):
    def values(b):
        w = b.variable(np.float32([1, 2]), name="w").value
        b.Sum(b.Square(b.Sub(b.Mul(w, w), b.Placeholder(dtype="float32", shape=[2], name="x"))), [0], name="loss")
        b.global_variables_initializer()
        return b.graph

    graph, feeds = values(tfg.GraphBuilder()), {"x": np.float32([3, 4])}
    report = tfg.train(graph, "loss", feeds, steps=20, lr=0.01).session.engine_report()
    assert report.engine == "auto" and any(group.runs for group in report.groups)
    results = tfg.run_each(graph, sweep={"x": [[1, 2]] * 4}, fetches="loss")
    assert [result.error for result in results] == [None] * 4


@pytest.mark.parametrize(
    ("setup", "engine"),
    [
        (tfg.SessionSetup(), "auto"), (tfg.SessionSetup(engine="numpy"), "numpy"), (tfg.SessionSetup(on="local:0"), "auto"),
        (tfg.SessionSetup(max_memory=2**40), None), (tfg.SessionSetup(on="grpc://localhost:1"), None),
    ],
)  # fmt: skip
def test_all_functions_of_many_runs_have_the_same_engine(setup, engine, impatient, graph, tmp_path, monkeypatch):
    settings = []
    monkeypatch.setattr(tfg.SessionSetup, "session", lambda setup, *_: settings.append(setup.engine) or tfg.Session(chain()))
    table = {"x": np.float32([[1, 2]])}
    if setup.on is None:
        tfg.map_batches(graph, "y", session=setup)(table)
        tfg.run_batch(graph, table, "y", session=setup)
    tfg.run_batch(graph, (), "y", sweep={"x": [[1, 2]]}, out_dir=tmp_path / "out", session=setup)
    assert set(settings) == {engine}


@pytest.mark.parametrize(
    "words", [("--steps", "3"), ("--steps", "20", "--check-numerics"), ("--steps", "20", "--cache-stats")]
)
def test_few_or_watched_runs_are_numpys(words, impatient, graph):
    done = run("run", graph, "--fetch", "y", *FEED, *words)
    assert (done.code, "engine" in done.err) == (0, False)


def test_auto_tells_what_it_kept():
    done = run("run", *STEPS, "--engine", "auto", "--engine-report")
    assert done.code == 0
    assert re.search(r"momentum, loss:0 +numpy", done.err) or re.search(r"loss:0, momentum +numpy", done.err)


def test_a_preview_of_auto_is_that_of_the_engine_that_is_tried_first(graph, package, monkeypatch):
    monkeypatch.setattr("tfg.core.engines.automatic.installed_engines", lambda: ["right"])
    assert "engine fake\n3 steps in 1 group" in run("explain", graph, "--engine", "auto", "--fetch", "y").out
    monkeypatch.setattr("tfg.core.engines.automatic.installed_engines", list)
    done = run("explain", graph, "--engine", "auto", "--fetch", "y")
    assert "no engine is installed" in done.err
    assert "tfg[xla]" in done.err
