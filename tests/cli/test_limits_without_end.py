"""Limits that are no numbers are refused, and limits that no timer takes limit nothing; no value of an option is a bug."""

from __future__ import annotations

import subprocess
import sys
from unittest import mock

import click
import numpy as np
import pytest

import tfg
from tests.cli.running import SAMPLES
from tests.cli.running import tfg as run
from tfg.cli.main import commands, root
from tfg.core.support.errors import InvalidArgumentError
from tfg.formats.dot import LayoutProgram

ENDLESS = ["inf", "1e400", "1e300", "9" * 400]
DIGITS = "9" * 5000
"""More digits than Python reads as an integer, and than a file name has."""
STRANGE = [DIGITS, "1e999999999", "nan", "(" * 3000, f"x={DIGITS}", f"x=1:{DIGITS}", f"x=randint({DIGITS})"]
XOR = str(SAMPLES / "xor.pbtxt")
ARGUMENTS = {"completion": ["bash"], "checkpoint": [str(SAMPLES / "scaler_saved_model")],
             "compare": [XOR, XOR], "diff": [XOR, XOR], "convert": [XOR, "out.pb"], "samples": [],
             "cache": [], "ops": []}  # fmt: skip


@pytest.fixture
def identity(tmp_path):
    g = tfg.GraphBuilder()
    g.Identity(g.Placeholder(dtype="float32", shape=[], name="x"), name="y")
    path = tmp_path / "identity.pb"
    tfg.save(g.graph, str(path))
    return path


@pytest.mark.parametrize("seconds", ENDLESS)
def test_a_time_limit_that_no_timer_takes_limits_nothing(identity, tmp_path, seconds):
    assert run("run", identity, "--fetch", "y", "--feed", "x=1", "--timeout", seconds).code == 0
    assert run("draw", identity, "--output", tmp_path / "out.dot", "--timeout", seconds).code == 0


def test_a_layout_waits_no_longer_than_a_process_can_be_waited_for():
    layout = LayoutProgram("python", sys.executable)
    with mock.patch("subprocess.run", return_value=subprocess.CompletedProcess([], 0, b"<svg/>", b"")) as started:
        layout.render("digraph {}", "svg", 1e9)
    assert started.call_args.kwargs["timeout"] * 1000 < 1 << 31


@pytest.mark.parametrize("limit", [float("inf"), 1e300, 10**400])
def test_a_session_takes_limits_of_any_size(identity, limit):
    session = tfg.Session(tfg.load(identity), timeout=limit, max_memory=limit)
    assert session.run("y:0", {"x": np.float32(3)}) == 3


@pytest.mark.parametrize(
    "words",
    [["run", "--fetch", "y", "--feed", "x=1", "--timeout"], ["draw", "--output", "out.svg", "--timeout"],
     ["compare", "other", "--fetch", "y:0", "--tolerance"]],
    ids=lambda words: words[0],
)  # fmt: skip
def test_a_limit_is_a_number(identity, words):
    command, *rest = (str(identity) if word == "other" else word for word in words)
    done = run(command, identity, *rest, "nan")
    assert done.code == 2 and "'nan' is not a number" in done.err


def test_a_session_refuses_limits_that_are_no_numbers(identity):
    for limits in ({"timeout": float("nan")}, {"max_memory": float("nan")}):
        with pytest.raises(InvalidArgumentError, match="must be a number"):
            tfg.Session(tfg.load(identity), **limits)


@pytest.mark.parametrize(
    "words",
    [["flops", XOR, "--size", f"N={DIGITS}"], ["flops", XOR, "--trips", f"loop={DIGITS}"], ["dump", "--script", DIGITS],
     ["run", XOR, "--op-library", f"{DIGITS}.py"],
     ["run", XOR, "--init", "--fetch", "x", "--sweep", f"x={DIGITS}", "--out-dir", "out"]],
    ids=lambda words: words[-2].strip("-"),
)  # fmt: skip
def test_thousands_of_digits_are_refused(words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = run(*words)
    assert done.code in (1, 2) and "error:" in done.err


def _options(name):
    command = root.get_command(click.Context(root), name)
    return [param.opts[-1] for param in command.params if isinstance(param, click.Option) and not param.is_flag]


COMMANDS = sorted(set(commands()) - {"cluster"})


def _values(name, option):
    """Some of the values: the commands that have an option of the same name share them all out."""
    having = [other for other in COMMANDS if option in _options(other)]
    place = having.index(name)
    return STRANGE[place :: len(having)] or [STRANGE[place % len(STRANGE)]]


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_takes_or_refuses_every_value(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for option in _options(name):
        for value in _values(name, option):
            assert run(name, *ARGUMENTS.get(name, [XOR]), option, value).code in (0, 1, 2, 3), (option, value[:40])
