"""First and second gradients of V1 conditionals, one after another, nested, in and around loops, beside TensorFlow's."""

from __future__ import annotations

import numpy as np
import pytest

import tfg
from tfg.core.building.builder import GraphBuilder
from tfg.core.gradients import gradients

pytest.importorskip("tensorflow")
pytestmark = pytest.mark.live

from tests.core.gradients import conditional_programs  # noqa: E402 - needs TensorFlow


@pytest.mark.parametrize("name", conditional_programs.PROGRAMS)
def test_as_tensorflow(name: str) -> None:
    definition, cases = conditional_programs.program(name)
    graph, first = gradients(tfg.load(definition), "y:0", conditional_programs.SOURCES, name="first")
    g = GraphBuilder(graph)
    squares = [g.L2Loss(graph.output(grad)).name for grad in first if grad is not None]
    graph, second = gradients(graph, squares, conditional_programs.SOURCES, name="second")
    session = tfg.Session(graph)
    session.run("init")
    for feeds, want, want_second in cases:
        assert_equal(session, first, want, feeds)
        if want_second is not None:
            assert_equal(session, second, want_second, feeds)


def assert_equal(session, names, want, feeds):
    """None where TensorFlow has None, the same numbers elsewhere."""
    assert [name is None for name in names] == [value is None for value in want]
    for name, value in zip(names, want):
        if name is not None:
            np.testing.assert_allclose(session.run(name, feeds), value, rtol=1e-4, atol=1e-5, err_msg=f"{name} {feeds}")
