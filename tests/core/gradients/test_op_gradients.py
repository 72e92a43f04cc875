"""The gradient of every differentiable op case in double precision against central differences."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np
import pytest

from tests import opcases
from tests.recorded_answers import answers
from tfg.core.building.builder import GraphBuilder
from tfg.core.gradients.jacobian import check_gradient
from tfg.core.registry import registry
from tfg.core.types.shapes import UNKNOWN


def takes_doubles(case: opcases.Case) -> bool:
    """Return True for a case with a numeric check: an input of 64 bits, and an op that TensorFlow differentiates."""
    return bool(case.differentiable) and any(value.dtype == np.float64 for value in case.feeds.values())


@pytest.mark.sampled(6)
@pytest.mark.ops(single=True, where=takes_doubles)
def test_gradient(cases: Sequence[tuple[str, opcases.Case]]) -> None:
    """With the shapes that the case declares."""
    opcases.for_each(cases, functools.partial(check, are_known=True))


@pytest.mark.sampled(24)
@pytest.mark.ops(single=True, where=takes_doubles)
def test_gradient_of_unknown_shapes(cases: Sequence[tuple[str, opcases.Case]]) -> None:
    """With no shape declared; on fewer elements."""
    opcases.for_each(cases, functools.partial(check, are_known=False))


def check(family: str, case: opcases.Case, are_known: bool) -> None:
    step = answers(family).steps(case.key)[0]
    if step["error"] or not callable(registry.gradient_function(case.op)):
        return
    builder = GraphBuilder()
    case.build(builder)
    if not are_known:
        for name in case.feeds:
            builder.graph.output(name).node.set_attr("shape", UNKNOWN)
    for i, result in enumerate(step["results"]):
        if np.asarray(result).dtype != np.float64:
            continue
        for place, (name, value) in enumerate(case.feeds.items()):
            if value.dtype == np.float64 and (case.differentiable is True or place in case.differentiable):
                elements = 1000 if are_known else 3
                outcome = check_gradient(builder.graph, f"op:{i}", name, case.feeds, tolerance=1e-4, max_elements=elements)
                assert outcome.passed, f"output {i}, input {name}: {outcome}"
