"""What asks for too much ends in time, with a result or an error that names its node, in a session and in every command.

A part of the table is tried; with TFG_EVERY_BOMB in the environment all of it.
"""

from __future__ import annotations

import itertools
import os
import time

import pytest

import tfg
from tests.cli.running import tfg as command
from tests.security import bombs
from tfg.core.errors import TfgError

STEP = 1 if "TFG_EVERY_BOMB" in os.environ else 12
BOMBS = dict(itertools.chain(*(itertools.islice(t.items(), 0, None, STEP) for t in (bombs.SIZES, bombs.WORK, bombs.STRINGS))))
BOMBS |= bombs.LOOPS
SLACK = 30
"""Seconds that a loaded machine may take for what takes less than one."""


def built(name):
    g = tfg.GraphBuilder()
    value = BOMBS[name](g)
    return g.graph, str(value)


@pytest.mark.parametrize("name", BOMBS)
def test_a_session_keeps_to_its_limits(name):
    graph, fetch = built(name)
    session = tfg.Session(graph, timeout=0.5, max_memory=50 << 20)
    start = time.monotonic()
    try:
        session.run(fetch)
    except TfgError as error:
        assert error.node
        assert error.hint is None or "fault of tfg" not in error.hint
    assert time.monotonic() - start < 0.5 + SLACK


COMMANDS = {
    "dump": ["dump", "{path}", "--format", "csv"],
    "shapes": ["dump", "--shapes", "{path}", "--format", "csv"],
    "explain": ["explain", "{path}"],
    "flops": ["flops", "{path}", "--fetch", "{fetch}"],
    "convert": ["convert", "{path}", "{out}"],
    "inline": ["convert", "--inline-functions", "{path}", "{out}"],
    "optimize": ["optimize", "{path}", "-o", "{out}", "--fetch", "{fetch}"],
}


@pytest.mark.parametrize("name", BOMBS)
def test_what_runs_nothing_takes_little(tmp_path, name):
    graph, fetch = built(name)
    path, out = tmp_path / "bomb.pb", tmp_path / "out.pb"
    tfg.save(graph, path)
    for words in COMMANDS.values():
        start = time.monotonic()
        outcome = command(*(word.format(path=path, out=out, fetch=fetch) for word in words))
        assert time.monotonic() - start < SLACK
        assert outcome.code in (0, 1)
        assert "Traceback" not in outcome.err
        assert sum(line.startswith("error: ") for line in outcome.err.splitlines()) == outcome.code
