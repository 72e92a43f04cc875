"""Test graphs again with dimensions, ranks and values forgotten at random: inferred facts hold for every value of a run."""

from __future__ import annotations

import pathlib
import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import tfg
from tests import opcases
from tests.cases.control_flow import counted
from tests.cli.running import SAMPLES
from tests.core.inference.forgetting import forgotten, hold
from tests.functions import define
from tests.recorded_answers import answers
from tfg.core.building.builder import GraphBuilder
from tfg.core.explaining.default_fetches import default_runs
from tfg.core.gradients import gradients
from tfg.core.graph.graph import Output
from tfg.core.passes.pipeline import optimize
from tfg.core.runtime.session.drawn_feeds import Feeds
from tfg.core.runtime.session.session import Session
from tfg.core.runtime.state.file_access import FileAccess
from tfg.core.support.errors import TfgError
from tfg.formats.api.prepared_sessions import local_session


def has_shapes(case: opcases.Case) -> bool:
    """Return False for an `unshaped` case: TensorFlow runs it only if no shape function has seen the shapes."""
    return not case.key.startswith("unshaped ")


@pytest.mark.sampled(120)
@pytest.mark.ops(where=has_shapes)
def test_facts_hold_whatever_is_forgotten(cases: Sequence[tuple[str, opcases.Case]]) -> None:
    opcases.for_each(cases, check_facts)


def check_facts(family: str, case: opcases.Case) -> None:
    """The run's results are TensorFlow's, as tests/core/ops/test_ops.py holds."""
    recorded = answers(family).steps(case.key)
    if recorded[0]["error"]:
        return
    builder = GraphBuilder()
    steps = case.build(builder)
    graph = builder.graph
    facts = forgotten(graph, case.feeds, random.Random(case.key))
    session = Session(graph, seed=0, files=FileAccess.everything())
    for fetches, step in zip(steps, recorded, strict=True):
        if step["error"]:
            with pytest.raises(TfgError):
                hold(facts, session, fetches, case.feeds)
        else:
            hold(facts, session, fetches, case.feeds)


GRAPHS = [path for path in sorted(SAMPLES.iterdir()) if path.suffix == ".pbtxt" or (path / "saved_model.pb").exists()]


@pytest.mark.slow
@pytest.mark.parametrize("path", [path for path in GRAPHS if path.stem != "skipgram"], ids=lambda path: path.stem)
def test_facts_hold_in_samples(path: pathlib.Path) -> None:
    graph = tfg.load(path)
    for fetches in default_runs(graph):
        feeds = Feeds(graph, {}, fetches).first()
        hold(forgotten(graph, feeds, random.Random(path.stem)), local_session(graph, None), fetches, feeds)


Values = Sequence[Output]
Step = Callable[[GraphBuilder, Output, Callable[..., Output]], Output]


def v1_loop(g: GraphBuilder, x: Output, step: Step) -> Output:
    def body(values: Values, fixed: Values) -> list[Output]:
        def constant(value: Any) -> Output:
            with g.control_dependencies([values[0]]):
                return g.constant(value)

        return [step(g, values[0], constant)]

    return counted(g, "loop", 3, [x], [], body)[1]


def functional_loop(g: GraphBuilder, x: Output, step: Step) -> Output:
    types = ["int32", "double"]
    define(g, "before_3", types, lambda b, i, a: [b.Less(i, 3)])
    define(g, "body", types, lambda b, i, a: [b.AddV2(i, 1), step(b, a, b.constant)])
    return g.While([g.constant(0), x], cond="before_3", body="body", T=types)[1]


def first_row(g: GraphBuilder, a: Output, constant: Callable[..., Output]) -> Output:
    return g.StridedSlice(a, constant([0]), constant([1]), constant([1]))


def behind_first_row(g: GraphBuilder, a: Output, constant: Callable[..., Output]) -> Output:
    return g.StridedSlice(a, constant([1]), constant([0]), constant([1]), end_mask=1)


STEPS: dict[str, Step] = {
    "doubled": lambda g, a, constant: g.ConcatV2([a, g.Mul(g.Sin(a), a)], constant(0)),
    "with a row more": lambda g, a, constant: g.ConcatV2([g.Sin(a), first_row(g, g.Mul(a, a), constant)], constant(0)),
    "with a row less": lambda g, a, constant: behind_first_row(g, g.Mul(a, a), constant),
    "with columns more": lambda g, a, constant: g.Tile(g.Sin(g.Mul(a, a)), constant([1, 2])),
    "padded": lambda g, a, constant: g.Pad(g.Mul(a, g.Sum(a, constant(0), keep_dims=True)), constant([[1, 0], [0, 1]])),
    "of another rank": lambda g, a, constant: g.ExpandDims(g.Mul(a, g.Sin(a)), constant(0)),
    "summed": lambda g, a, constant: g.Mul(a, g.Sum(a, constant(0), keep_dims=True)),
}  # fmt: skip
"""What an iteration makes of a matrix: products, so that a gradient reads sizes and values of each iteration."""


@pytest.mark.slow
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("loop", [v1_loop, functional_loop])
def test_facts_hold_in_loops_and_their_gradients(loop: Callable[..., Output], step: str) -> None:
    """A size that changes from iteration to iteration is no size behind the loop, nor of another iteration of a gradient."""
    # Each step with a size and without one, each loop with both.
    is_known = (list(STEPS).index(step) + (loop is v1_loop)) % 2
    declared = (4, 2) if is_known else (None, 2)
    g = GraphBuilder()
    x = g.Placeholder(dtype="double", shape=declared, name="x")
    looped = loop(g, x, STEPS[step])
    y = g.Sum(g.Square(g.Reshape(looped, [-1])), 0)
    graph, (first,) = gradients(g.graph, [y.name], ["x:0"])
    b = GraphBuilder(graph)
    inner = b.Sum(b.Mul(b.graph.output(first), b.graph.output("x:0")), [0, 1])
    graph, (second,) = gradients(graph, [inner.name], ["x:0"], name="second")
    fetches, fed = [y.name, first, second], {"x:0": np.sin(np.arange(8.0)).reshape(4, 2)}
    values = hold(forgotten(graph, fed, random.Random(step)), Session(graph), fetches, fed)
    optimized, _ = optimize(graph, fetches, ["x:0"])
    for got, want in zip(Session(optimized).run(fetches, fed), values, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-12)
