"""Gradients at functions of the Python program that built a graph."""

from __future__ import annotations

import pytest

from tfg.core.building.builder import GraphBuilder
from tfg.core.gradients import gradients
from tfg.core.graph.graph import Graph
from tfg.core.support.errors import UnimplementedError


def calling(op: str) -> Graph:
    b = GraphBuilder()
    x = b.Placeholder(dtype="float", shape=[], name="x")
    b.add(op, [[x]], {"token": b"t", "Tin": [x.dtype], "Tout": [x.dtype]}, "called")
    b.Identity(b.graph.output("called:0"), name="y")
    return b.graph


def test_tensorflow_asks_the_program_for_a_gradient() -> None:
    """The one of EagerPyFunc is gone with the program."""
    with pytest.raises(UnimplementedError, match="called") as error:
        gradients(calling("EagerPyFunc"), "y:0", "x:0")
    assert error.value.node == "called"


@pytest.mark.parametrize("op", ["PyFunc", "PyFuncStateless"])
def test_tensorflow_has_none_of_these(op: str) -> None:
    assert gradients(calling(op), "y:0", "x:0")[1] == [None]
