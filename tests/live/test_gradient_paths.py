"""Gradients along every way into bodies of loops, conditionals and functions, beside TensorFlow's; None where it has None."""

from __future__ import annotations

import numpy as np
import pytest

import tfg
from tfg.core.building.builder import GraphBuilder
from tfg.core.gradients import gradients

pytest.importorskip("tensorflow")
pytestmark = pytest.mark.live

from tests.core.gradients import programs  # noqa: E402 - needs TensorFlow


@pytest.mark.parametrize("part", [0, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("outer", programs.CONTEXTS)
def test_every_way_in(outer: str, version: int, part: int) -> None:
    """Half of the contexts inside: the other half in the next context outside, and in the slow part."""
    first = (list(programs.CONTEXTS).index(outer) + part) % 2
    for inner in programs.INNER[version][first::2]:
        graph, (definition, theirs) = programs.program(outer, inner, version)
        given = programs.feeds()
        want = programs.values(graph, theirs, given)
        extended, names = gradients(tfg.load(definition), "y:0", programs.SOURCES, name="gradients_tfg")
        assert_equal(extended, names, want, given, f"{outer} {inner}")


@pytest.mark.parametrize(("outer", "inner"), programs.RECORDED)
def test_second_gradients(outer: str, inner: str) -> None:
    """TensorFlow takes none of V1 loops."""
    graph, (definition, theirs) = programs.program(outer, inner, 2)
    given = programs.feeds()
    want = programs.values(graph, programs.second_gradients(graph, theirs, programs.SOURCES), given)
    extended, names = gradients(tfg.load(definition), "y:0", programs.SOURCES, name="first")
    g = GraphBuilder(extended)
    halves = [g.L2Loss(extended.output(name)).name for name in names if name is not None]
    extended, names = gradients(extended, halves, programs.SOURCES, name="second")
    assert_equal(extended, names, want, given, f"{outer} {inner}")


def assert_equal(graph, names, want, given, what):
    """None where TensorFlow has None, the same numbers elsewhere."""
    session = tfg.Session(graph)
    session.run("init")
    elements = iter(session.run([name for name in names if name is not None], given))
    got = [None if name is None else next(elements) for name in names]
    for name, mine, expected in zip(programs.SOURCES, got, want):
        assert (mine is None) == (expected is None), f"{what}: {name}"
        if mine is not None:
            np.testing.assert_allclose(mine, expected, rtol=1e-5, atol=1e-5, err_msg=f"{what}: {name}")
