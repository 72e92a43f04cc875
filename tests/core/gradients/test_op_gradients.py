"""The gradient of every differentiable op case in double precision against central differences."""

from __future__ import annotations

import numpy as np
import pytest

from tests import opcases
from tests.recorded_answers import answers
from tests.sampling import mostly_slow
from tfg.core.building.builder import GraphBuilder
from tfg.core.gradients.central_differences import check_gradient
from tfg.core.registry import registry
from tfg.core.types.shapes import UNKNOWN


def parameters() -> list:
    """Single-op cases that run, take float64 and have a gradient function."""
    return [
        pytest.param(family, case, id=f"{family}-{case.key}")
        for family in opcases.families()
        for case in opcases.load_cases(family)
        if case.is_single_op and case.differentiable and any(v.dtype == np.float64 for v in case.feeds.values())
    ]


def with_shapes(shapes: str) -> list:
    return [pytest.param(*case.values, shapes, id=f"{case.id}-{shapes}") for case in parameters()]


@pytest.mark.parametrize(("family", "case", "shapes"), [*with_shapes("known"), *mostly_slow(with_shapes("unknown"), every=4)])
def test_gradient(family: str, case: opcases.Case, shapes: str) -> None:
    """With the shapes that the case declares, and (on fewer elements) with none declared."""
    step = answers(family).steps(case.key)[0]
    if step["error"] or not callable(registry.gradient_function(case.op)):
        pytest.skip("TensorFlow refuses the case, or the op is not differentiable")
    builder = GraphBuilder()
    case.build(builder)
    if shapes == "unknown":
        for name in case.feeds:
            builder.graph.output(name).node.set_attr("shape", UNKNOWN)
    elements = 1000 if shapes == "known" else 3
    for i, result in enumerate(step["results"]):
        if np.asarray(result).dtype != np.float64:
            continue
        for place, (name, value) in enumerate(case.feeds.items()):
            if value.dtype == np.float64 and (case.differentiable is True or place in case.differentiable):
                outcome = check_gradient(builder.graph, f"op:{i}", name, case.feeds, tolerance=1e-4, max_elements=elements)
                assert outcome.passed, f"output {i}, input {name}: {outcome}"
