"""Test graphs again with dimensions, ranks and values forgotten at random: inferred facts hold for every value of a run."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from tests import opcases
from tests.core.inference.forgetting import Facts, constants, forget, hold
from tests.recorded_answers import answers
from tfg.core.building.builder import GraphBuilder
from tfg.core.runtime.session.session import Session
from tfg.core.runtime.state.file_access import FileAccess
from tfg.core.support.errors import TfgError


def is_unknown_to_shape_functions(case: opcases.Case) -> bool:
    """True for a case that TensorFlow runs only if no shape function has seen the shapes."""
    return case.key.startswith("unshaped ")


@pytest.mark.ops(every=8, where=lambda case: not is_unknown_to_shape_functions(case))
def test_facts_hold_whatever_is_forgotten(cases: Sequence[tuple[str, opcases.Case]]) -> None:
    opcases.for_each(cases, check_facts)


def check_facts(family: str, case: opcases.Case) -> None:
    """The run's results are TensorFlow's, as tests/core/ops/test_ops.py holds; of constants most stay known."""
    recorded = answers(family).steps(case.key)
    if recorded[0]["error"]:
        return
    builder = GraphBuilder()
    steps = case.build(builder)
    graph = builder.graph
    fed = {graph.output(name): value for name, value in case.feeds.items()}
    draws = random.Random(case.key)
    facts = []
    for _ in range(4):
        unsure = {output: value for output, value in constants(graph).items() if draws.random() < 0.3}
        facts.append(Facts(graph, forget(fed | unsure, draws)))
    session = Session(graph, seed=0, files=FileAccess.everything())
    for fetches, step in zip(steps, recorded, strict=True):
        if step["error"]:
            with pytest.raises(TfgError):
                hold(facts, session, fetches, case.feeds)
        else:
            hold(facts, session, fetches, case.feeds)
