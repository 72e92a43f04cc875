"""Bounds of the iterations of loops: how far they are followed, and where they end early."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from tfg.core.building.builder import GraphBuilder
from tfg.core.engines.step_bodies import UNKNOWN, known_may_follow, known_results, trip_bound
from tfg.core.graph.graph import Graph
from tfg.core.planning.planner import compile_plan


def below_limit(values: Sequence[Any]) -> Any:
    return UNKNOWN if UNKNOWN in values[:2] else np.bool_(values[0] < values[1])


def both_are_known(values: Sequence[Any]) -> bool:
    return UNKNOWN not in values[:2]


def test_a_limit_that_stays_unknown_ends_the_search():
    seen: list[int] = []

    def advance(values: Sequence[Any]) -> Sequence[Any]:
        seen.append(values[0])
        return [values[0] + 1, UNKNOWN]

    assert trip_bound(below_limit, both_are_known, advance, [0, UNKNOWN]) is None
    assert seen == [0]


def test_a_limit_that_becomes_known_is_waited_for():
    """The limit is what the third value was, and that what the fourth was."""
    starts = [0, UNKNOWN, UNKNOWN, 5]
    assert trip_bound(below_limit, both_are_known, lambda values: [values[0] + 1, *values[2:], 5], starts) == 5


def test_a_known_limit_bounds_the_loop():
    assert trip_bound(below_limit, both_are_known, lambda values: [values[0] + 1, values[1]], [0, 7]) == 7


def conditions() -> Graph:
    b = GraphBuilder()
    i, n = (b.Placeholder(dtype="int32", shape=[], name=name) for name in "in")
    more = b.Less(i, n, name="more")
    b.LogicalAnd(b.Less(i, np.int32(4)), more, name="both")
    b.LogicalAnd(more, b.Greater(n, np.int32(0)), name="neither")
    return b.graph


@pytest.mark.parametrize(("fetch", "follows"), [("more", False), ("both", True), ("neither", False)])
def test_a_condition_may_follow_where_one_truth_value_alone_is_unknown(fetch, follows):
    graph = conditions()
    plan = compile_plan(graph, [graph.output(f"{fetch}:0")], [graph.output("i:0"), graph.output("n:0")])
    fetched = [slot for slot in plan.fetches if slot is not None]

    def slots(i: int) -> list[Any]:
        values: list[Any] = [None] * plan.slots
        values[plan.feeds[0]] = np.int32(i)
        return values

    assert known_may_follow(plan.steps, slots(0), fetched) is follows
    results = [known_results(plan.steps, slots(i), fetched)[0] for i in (0, 9)]
    assert results[0] is UNKNOWN and (results[1] is not UNKNOWN) is follows
