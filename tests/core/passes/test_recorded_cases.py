"""Recorded cases give TensorFlow's results after the graph is optimized; of many cases tests of tiers run the other half."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests import opcases
from tests.core.ops.test_ops import build, check_step, is_refused
from tests.recorded_answers import answers
from tfg.core.passes.pipeline import optimize
from tfg.core.runtime.session.session import Session
from tfg.core.runtime.state.file_access import FileAccess


@pytest.mark.sampled(48)
@pytest.mark.ops(half=1)
def test_results_of_optimized_graphs(cases: Sequence[tuple[str, opcases.Case]]) -> None:
    opcases.for_each(cases, check)


def check(family: str, case: opcases.Case) -> None:
    if is_refused(family, case):
        return
    graph, steps = build(case)
    optimized, _ = optimize(graph, [name for fetches in steps for name in fetches], list(case.feeds))
    session = Session(optimized, seed=0, files=FileAccess.everything())
    for fetches, step in zip(steps, answers(family).steps(case.key)):
        check_step(session, fetches, case, step)
