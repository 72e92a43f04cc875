"""Accesses of calls: states that functions touch, also where functions call each other in a ring."""

from __future__ import annotations

import sys

import pytest

from tests.functions import define
from tfg import GraphBuilder
from tfg.core.planning import effects


def ring(size, writer):
    """Functions f_0 to f_(size - 1) with a handle; each calls the next, the last calls the first, and one writes."""
    g = GraphBuilder()
    handle = g.VarHandleOp(dtype="float32", shape=[], shared_name="v", name="v")

    def body(number):
        def make(f, v):
            if number == writer:
                f.AssignVariableOp(v, f.constant(1.0), name="write")
            f.PartitionedCall([v], f=f"f_{(number + 1) % size}", Tout=[], name="next")
            return []

        return make

    for number in range(size):
        define(g, f"f_{number}", ["resource"], body(number), stateful=True)
    calls = [g.StatefulPartitionedCall([handle], f=f"f_{number}", Tout=[], name=f"call_{number}") for number in range(size)]
    return g.graph, calls


@pytest.mark.parametrize("writer", range(3))
def test_each_function_of_a_ring_writes_what_one_function_writes(writer):
    graph, calls = ring(3, writer)
    written = {(access.node.name, access.kind, access.state.name) for access in effects.accesses(graph, list(graph))}
    assert written == {(f"call_{number}", "writes", "v") for number in range(len(calls))}


def test_a_function_of_a_ring_is_inspected_at_most_twice():
    assert 40 <= inspections(ring(40, 7)[0]) <= 80


def inspections(graph):
    """Return the number of inspected functions while the accesses are collected."""
    count = 0

    def note(frame, event, argument):
        nonlocal count
        count += event == "call" and frame.f_code.co_name == "looked_into"

    sys.setprofile(note)
    try:
        effects.accesses(graph, list(graph))
    finally:
        sys.setprofile(None)
    return count
