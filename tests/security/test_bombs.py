"""What asks for too much ends in time, with a result or an error that names its node, in a session and in every command.

A part of the table is tried; with TFG_EVERY_BOMB in the environment all of it.
"""

from __future__ import annotations

import resource
import sys
import time

import pytest

import tfg
from tests.cli.running import process
from tests.cli.running import tfg as command
from tests.security.bombs.table import EVERY, tried
from tfg.cli.main import COMPARISON_FAILED, DONE, REFUSED, USAGE
from tfg.core.support.errors import TfgError

pytestmark = pytest.mark.slow

BOMBS = tried()
SLACK = 100
"""Seconds of computing that a slow machine may take for what takes less than twenty; waiting for other work does not count."""


def built(name):
    g = tfg.GraphBuilder()
    value = BOMBS[name](g)
    return g.graph, str(value)


@pytest.mark.parametrize("name", BOMBS)
def test_a_session_keeps_to_its_limits(name, monkeypatch):
    # An interruption may come in a destructor, which Python reports and ignores. The hook of pytest for such reports is code
    # in Python, and could be interrupted itself.
    monkeypatch.setattr(sys, "unraisablehook", sys.__unraisablehook__)
    graph, fetch = built(name)
    session = tfg.Session(graph, timeout=0.5, max_memory=50 << 20)
    start = time.process_time()
    try:
        session.run(fetch)
    except TfgError as error:
        assert error.node
        assert error.hint is None or "bug in tfg" not in error.hint
    assert time.process_time() - start < 0.5 + SLACK


def _children() -> float:
    """The seconds that processes which this one has started have computed."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


MEMORY = ("0", "1M", "20M", "50M", "100M", "300M")
TIMEOUT = 2
LIMITED = {
    "run": ["run", "{path}", "--fetch", "{fetch}", "--quiet", "--output", "{out}.npz"],
    "flops": ["flops", "{path}", "--fetch", "{fetch}"],
    "measured": ["flops", "{path}", "--fetch", "{fetch}", "--measured"],
    "optimize": ["optimize", "{path}", "-o", "{out}.pb", "--fetch", "{fetch}", "--verify"],
    "grad": ["grad", "{path}", "--y", "{fetch}", "--x", "{x}"],
}


def _limited():
    """Each bomb in a run under one of the limits, and every third in another command; under all limits where all are tried."""
    others = list(LIMITED)[1:]
    for i, name in enumerate(BOMBS):
        for kind in LIMITED if EVERY else ["run", others[i // 3 % len(others)]][: 1 + (i % 3 == 0)]:
            for memory in MEMORY if EVERY else [MEMORY[i % len(MEMORY)]]:
                yield name, kind, memory


@pytest.mark.parametrize(("name", "kind", "memory"), list(_limited()))
@pytest.mark.slow
def test_a_process_keeps_to_its_limits(tmp_path, name, kind, memory):
    """It says in one line what was too much, and takes no more than it may: whatever hides in which library."""
    graph, fetch = built(name)
    path = tmp_path / "bomb.pb"
    tfg.save(graph, path)
    words = [w.format(path=path, out=tmp_path / "out", fetch=fetch, x=next(iter(graph)).name) for w in LIMITED[kind]]
    start = _children()
    outcome = process(*words, "--timeout", TIMEOUT, "--max-memory", memory)
    assert _children() - start < TIMEOUT + SLACK
    assert outcome.code in (DONE, REFUSED, USAGE, COMPARISON_FAILED)
    lines = [line for line in outcome.err.splitlines() if not line.startswith(("hint: ", "note: "))]
    assert sum(line.startswith("error: ") for line in lines) == (outcome.code in (REFUSED, USAGE)), outcome.err
    assert "Traceback" not in outcome.err


COMMANDS = {
    "dump": ["dump", "{path}", "--format", "csv"],
    "shapes": ["dump", "--shapes", "{path}", "--format", "csv"],
    "explain": ["explain", "{path}"],
    "flops": ["flops", "{path}", "--fetch", "{fetch}"],
    "convert": ["convert", "{path}", "{out}"],
    "inline": ["convert", "--inline-functions", "{path}", "{out}"],
    "optimize": ["optimize", "{path}", "-o", "{out}", "--fetch", "{fetch}"],
    "check": ["check", "{path}"],
    "grad": ["grad", "{path}", "--y", "{fetch}", "--x", "{x}"],
}


@pytest.mark.parametrize(("place", "name"), list(enumerate(BOMBS)), ids=list(BOMBS))
@pytest.mark.slow
def test_what_runs_nothing_takes_little(tmp_path, place, name):
    """Every second command, and for the next bomb, which is often its relative, the others; all where all are tried."""
    graph, fetch = built(name)
    path, out = tmp_path / "bomb.pb", tmp_path / "out.pb"
    tfg.save(graph, path)
    x = next(iter(graph)).name
    for words in list(COMMANDS.values())[None if EVERY else place % 2 :: 1 if EVERY else 2]:
        start = time.process_time()
        outcome = command(*(word.format(path=path, out=out, fetch=fetch, x=x) for word in words))
        assert time.process_time() - start < SLACK
        assert outcome.code in (DONE, REFUSED, COMPARISON_FAILED)
        assert "Traceback" not in outcome.err
        assert sum(line.startswith("error: ") for line in outcome.err.splitlines()) == (outcome.code == REFUSED)
