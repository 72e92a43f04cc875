"""Every recorded case again with dimensions, ranks and values forgotten at random: inferred facts hold for the results."""

from __future__ import annotations

import random

import pytest

from tests import opcases
from tests.core.inference.forgetting import assert_facts, forget
from tests.recorded_answers import answers
from tests.sampling import mostly_slow
from tfg.core.building.builder import GraphBuilder
from tfg.core.runtime.session.session import Session
from tfg.core.runtime.state.file_access import FileAccess


def parameters() -> list:
    """All cases but the `unshaped` ones: TensorFlow runs them only where no shape function has seen their shapes."""
    cases = [(family, case) for family in opcases.families() for case in opcases.load_cases(family)]
    cases = [(family, case) for family, case in cases if not case.key.startswith("unshaped ")]
    return [pytest.param(family, case, id=f"{family}-{case.key}") for family, case in cases]


@pytest.mark.parametrize(("family", "case"), mostly_slow(parameters(), every=4))
def test_facts_hold_whatever_is_forgotten(family: str, case: opcases.Case) -> None:
    """The run's results are TensorFlow's, as tests/core/ops/test_ops.py holds."""
    if answers(family).steps(case.key)[0]["error"]:
        pytest.skip("TensorFlow refuses the case")
    builder = GraphBuilder()
    steps = case.build(builder)
    graph = builder.graph
    values = dict(zip(steps[0], Session(graph, seed=0, files=FileAccess.everything()).run(list(steps[0]), case.feeds)))
    results = {graph.output(name): value for name, value in values.items() if value is not None}
    draws = random.Random(case.key)
    for _ in range(4):
        specs = {graph.output(name): spec for name, spec in forget(case.feeds, draws).items()}
        assert_facts(graph, specs, results | {graph.output(name): value for name, value in case.feeds.items()})
