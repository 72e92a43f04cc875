"""`tfg reduce`: the reduced graph fails as the whole graph does, and is small."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from tests.cli.running import SAMPLES, tfg
from tfg.core.building.builder import GraphBuilder
from tfg.core.transforms.reduction import minimal, reduce_graph
from tfg.core.types.dtypes import float32
from tfg.formats import load, save


def chain(length=8, culprit=4):
    """Return x + 1 + 1 ... with a logarithm of a negative number on the way, and unused variables."""
    g = GraphBuilder()
    h = g.Placeholder(dtype=float32, shape=[2], name="x")
    for i in range(length):
        h = g.Log(g.Neg(g.Square(h)), name="culprit") if i == culprit else g.Add(h, g.constant(np.float32(1)), name=f"add{i}")
    g.Identity(h, name="y")
    return g.graph


def has_logarithm(graph):
    return "culprit" in graph


@pytest.mark.parametrize("bad", [{0}, {13}, {99}, {3, 4}, {0, 50, 99}])
def test_minimal_finds_what_is_needed(bad):
    assert set(minimal(range(100), lambda items: bad <= set(items))) == bad


def test_parts_hold_constants_for_what_is_left_out():
    values = {
        "x": [(np.ones(2, np.float32),)],
        "Square": [(np.full(2, 4, np.float32),)],
        "Neg": [(np.full(2, -4, np.float32),)],
    }
    reduced = reduce_graph(chain(), ["y"], values, has_logarithm)
    assert {node.name: node.op for node in reduced} == {"Neg": "Const", "culprit": "Log", "y": "Identity"}
    reduced.check()


def test_what_has_no_value_stays():
    reduced = reduce_graph(chain(3, 2), ["y"], {}, has_logarithm)
    assert {node.name for node in reduced} >= {"x", "add0", "add1", "culprit"}


@pytest.mark.slow
def test_command(tmp_path):
    save(chain(), tmp_path / "g.pb")
    small = tmp_path / "small.pbtxt"
    run = f"{sys.executable} -c 'from tfg.cli.main import main; main()' run {{}} --fetch y --feed x=[1,2] --check-numerics"
    done = tfg("reduce", tmp_path / "g.pb", "--fetch", "y", "--feed", "x=[1,2]", "--test", run, "-o", small)
    assert done.code == 0
    graph = load(small)
    assert "culprit" in graph
    assert len(graph) <= 5


def test_command_that_succeeds_is_refused(tmp_path):
    done = tfg("reduce", SAMPLES / "xor.pbtxt", "--fetch", "probability", "--test", "true {}", "-o", tmp_path / "small.pbtxt")
    assert done.code == 1
    assert "succeeds on the whole graph" in done.err


def test_command_that_no_shell_takes():
    assert tfg("reduce", SAMPLES / "xor.pbtxt", "--fetch", "probability", "--test", "a\0b").code == 2


@pytest.mark.slow
def test_what_is_preserved_is_said_first(tmp_path):
    save(chain(), tmp_path / "g.pb")
    test = f"{sys.executable} -c 'from tfg.cli.main import main; main()' run {{}} --fetch y --check-numerics"
    words = ("--fetch", "y", "--feed", "x=[1,2]", "-o", tmp_path / "small.pbtxt")
    done = tfg("reduce", tmp_path / "g.pb", *words, "--test", test)
    (said,) = [line for line in done.err.splitlines() if line.startswith("reducing the graph while")]
    error = "error: node 'x' (Placeholder): You must feed a value for this placeholder, of shape (2)"
    assert said == f"reducing the graph while the command fails with exit code 1 and '{error}'"


@pytest.mark.parametrize("command", ["no-such-command {}", "/dev/null {}"])
def test_a_command_that_cannot_run_is_no_failure(command, tmp_path):
    save(chain(), tmp_path / "g.pb")
    words = ("--fetch", "y", "--feed", "x=[1,2]", "-o", tmp_path / "small.pb")
    done = tfg("reduce", tmp_path / "g.pb", *words, "--test", command)
    assert done.code == 1 and "the shell cannot run the command" in done.err
    assert not (tmp_path / "small.pb").exists()


@pytest.mark.slow
def test_the_state_is_in_what_is_left(tmp_path):
    """The values of variables in the run are constants of the reduced graph."""
    np.savez(tmp_path / "state.npz", w=np.float32(3e38), b=np.float32(0))
    words = ("--fetch", "loss", "--feed", "x=[10]", "--feed", "y=[1]")
    test = " ".join([f"{sys.executable} -c 'from tfg.cli.main import main; main()' run {{}}", *words, "--check-numerics",
                     "--state", str(tmp_path / "state.npz")])  # fmt: skip
    small = tmp_path / "small.pbtxt"
    graph = SAMPLES / "linear_regression.pbtxt"
    done = tfg("reduce", graph, *words, "--state", tmp_path / "state.npz", "--test", test, "-o", small)
    assert done.code == 0, done.err
    alone = tfg("run", small, "--fetch", "loss", "--feed", "x=[10]", "--feed", "y=[1]", "--check-numerics")
    assert alone.code == 1 and "Inf" in alone.err
