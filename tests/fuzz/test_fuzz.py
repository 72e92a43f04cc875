"""Two thousand cases of the fuzzers, and that the fuzzers find what is there to be found.

`TFG_FUZZ_CASES=60000 pytest tests/fuzz` tries as many; `python -m scripts.fuzz --minutes N` goes on for that long in two
processes.
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fuzz import bounds, drawing, parts
from tests.fuzz.findings import attempt
from tests.fuzz.shrinking import shrunk, snippet_of
from tests.fuzz.trials import PARTS, Trial, run
from tfg import GraphBuilder
from tfg.core.graph.graph import Graph
from tfg.core.inference import error_context
from tfg.core.registry.catalog import CATALOG
from tfg.core.support.errors import InternalError, InvalidArgumentError

pytestmark = pytest.mark.slow

CASES = int(os.environ.get("TFG_FUZZ_CASES", "2000"))
CHUNKS = 10


@pytest.fixture(autouse=True)
def _little_memory():
    with bounds.memory_limit():
        yield


@pytest.mark.parametrize("chunk", range(CHUNKS))
@pytest.mark.parametrize("name", parts.FUZZERS)
def test_a_result_or_a_refusal(name, chunk, monkeypatch, tmp_path, capfd):
    """Whatever is drawn, what comes out is a result or a TfgError that is no fault."""
    monkeypatch.chdir(tmp_path)
    count = round(CASES * parts.SHARES[name] / sum(parts.SHARES.values()) / CHUNKS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in range(chunk * count, (chunk + 1) * count):
            result = parts.try_seed(name, seed)
            assert not result, f"{name} {seed}: {result[0]}\n{result[0].details}\n{parts.snippet(name, seed, result[0])}"


@settings(max_examples=50, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(st.sampled_from(drawing.ops()), st.randoms(use_true_random=False))
def test_any_node(op, generator):
    """The same draws, made by hypothesis, which makes what it finds small."""
    trial = drawing.op_trial(generator, op)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for part in PARTS:
            assert attempt(lambda part=part: part(trial), part.__name__) is None


def test_every_op_with_a_kernel_is_drawn():
    assert len(drawing.ops()) > 1000
    assert {"MatMul", "VarHandleOp", "While", "DecodeJpeg"} <= set(drawing.ops()) <= set(CATALOG)


def test_most_nodes_fit_their_interface():
    """A fuzzer that draws only what is refused at the door looks at nothing behind it."""
    fitting = 0
    for seed in range(200):
        trial = drawing.draw_trial(random.Random(seed))
        try:
            trial.graph.check()
        except InvalidArgumentError:
            continue
        fitting += 1
    assert fitting > 120


def failing(error):
    def action():
        raise error

    return action


def test_what_is_a_finding():
    assert attempt(failing(InvalidArgumentError("no")), "run") is None
    assert attempt(failing(InternalError("a fault")), "run").kind == "InternalError"
    assert attempt(lambda: 1, "run") is None
    assert attempt(failing(KeyError("x")), "run").kind == "KeyError"
    assert attempt(failing(bounds.TooSlow()), "run").kind == "TooSlow"


def test_a_fault_behind_which_tfg_goes_on_is_a_finding():
    def action():
        with contextlib.suppress(InternalError), error_context.faults_of(Graph().add_node("n", "Neg"), "shape function"):
            raise IndexError("x")

    assert attempt(action, "infer").kind == "IndexError"


def test_time_is_bounded():
    def forever():
        with bounds.time_limit(0.05):
            while True:
                pass

    assert attempt(forever, "run").kind == "TooSlow"


def test_a_timer_that_runs_out_after_its_block_is_harmless():
    with bounds.time_limit(60):
        pass
    signal.raise_signal(signal.SIGPROF)  # the default action would end the process
    signal.raise_signal(signal.SIGALRM)


def test_a_case_is_made_small():
    g = GraphBuilder()
    x = g.Placeholder(dtype="float", name="x")
    y = g.Neg(g.Abs(x, name="a"), name="y")
    g.Square(y, name="unneeded")
    trial = Trial(g.graph, (("y:0", "unneeded:0"), ("a:0",)), {"x:0": np.ones((4, 6), np.float32)})

    def fails(candidate):
        run(candidate)
        return "y:0" in candidate.fetches and candidate.feeds["x:0"].ndim == 2

    small = shrunk(trial, fails)
    assert [node.name for node in small.graph] == ["x", "a", "y"]
    assert (small.fetches, small.feeds["x:0"].tolist()) == (("y:0",), [[0.0]])
    assert 'op: "Neg"' in snippet_of(small, "run")
