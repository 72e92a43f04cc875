"""Cases of the ops that an engine does not support, in the engine without the table of unsupported ops.

`python -m tests.core.engines.unsupported_cases ENGINE PLACE ...` prints `BEGIN PLACE` and `PLACE wrong|right|untried` for
lines of the table by their places, from 0. A crash ends the program.
"""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from tests import opcases
from tests.cli.running import ROOT
from tests.comparison import assert_same
from tests.recorded_answers import answers
from tfg.core.building.builder import GraphBuilder
from tfg.core.engines import engine_runtime
from tfg.core.engines.engine_registry import find_engine
from tfg.core.engines.lowerable import UnsupportedOps
from tfg.core.runtime.session.session import Session
from tfg.core.support.errors import TfgError
from tfg.core.types.tensors import Tensor

on_request = pytest.mark.skipif(
    "TFG_EVERY_DENIAL" not in os.environ, reason="takes minutes: what an engine gets wrong depends on the processor"
)


def supported_lines(name: str, *left_out: str) -> dict[str, str]:
    """Return the unneeded lines of an engine's table by op, except lines with a condition in `left_out`."""
    lines = UnsupportedOps.of(name).lines
    left, result = [place for place, line in enumerate(lines) if line.values.keys().isdisjoint(left_out)], {}
    while left:
        command = [sys.executable, "-m", "tests.core.engines.unsupported_cases", name, *map(str, left)]
        done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
        said = [line.split() for line in done.stdout.splitlines()]
        last = max(int(place) for word, place in said if word == "BEGIN")
        result |= {int(place): verdict for place, verdict in said if place != "BEGIN"}
        result.setdefault(last, "wrong" if done.returncode < 0 else done.stderr)
        left = [place for place in left if place > last]
    return {lines[place].op: verdict for place, verdict in result.items() if verdict != "wrong"}


def main(name: str, places: list[int]) -> None:
    """Try the lines at these places of an engine's table."""
    engine = find_engine(name)
    engine.smallest = 1
    table = engine.unsupported
    for place in places:
        line = table.lines[place]
        engine.unsupported = UnsupportedOps(tuple(other for other in table.lines if other is not line))
        print("BEGIN", place, flush=True)
        print(place, verdict(engine, line), flush=True)


def verdict(engine, line) -> str:
    """`wrong` where a case that the line denies gives another answer than TensorFlow's."""
    tried = False
    for family in opcases.families():
        if not any(case.op == line.op for case in opcases.load_cases(family)):
            continue
        for case in opcases.load_cases(family):
            for constant in (False, True):
                if case.op == line.op:
                    outcome = compared(engine, line, family, case, constant)
                    if outcome == "wrong":
                        return outcome
                    tried |= outcome == "right"
    return "right" if tried else "untried"


def compared(engine, line, family, case, constant) -> str:
    """Return the outcome of a case; `constant`: integers except the first input are constants, as in most graphs."""
    builder = GraphBuilder()
    try:
        fetches = case.build(builder)[0]
    except TfgError:
        return "untried"
    graph, feeds = builder.graph, dict(case.feeds)
    if "op" not in graph:
        return "untried"
    for name, value in case.feeds.items():
        if constant and value.dtype.kind in "iub" and not name.startswith("x0"):
            node = graph.output(name).node
            node.change_op("Const")
            node.attrs = {"dtype": Tensor.from_numpy(value).dtype, "value": Tensor.from_numpy(value)}
            del feeds[name]
    if not line.holds(graph.node("op")):
        return "untried"
    session = Session(graph, engine=engine_runtime.EngineRuntime(engine))
    expected = answers(family).steps(case.key)[0]
    try:
        result = session.run(list(fetches), feeds)
    except TfgError:
        return "untried" if expected["error"] else "wrong"
    if not any(group.runs for group in session.engine_report().groups):
        return "untried"
    try:
        assert not expected["error"]
        for got, want in zip(result, expected["results"], strict=True):
            assert_same(got, want, case.tolerance)
    except AssertionError:
        return "wrong"
    return "right"


if __name__ == "__main__":
    np.seterr(all="ignore")
    main(sys.argv[1], [int(place) for place in sys.argv[2:]])
