"""Holding a FLOPs formula against a definition run on counted arrays: what every file of such tests shares.

Such a file has a table `HELD`: for each op a case, a function that draws a node and runs the op's definition on arrays that
count into a tally. tests/core/flops/test_every_formula.py sees to it that every op with a formula is in one of these tables.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from hypothesis import settings
from hypothesis import strategies as st

from tests.core.flops.counting import Tally
from tfg import GraphBuilder
from tfg.core.flops import count_flops
from tfg.core.registry.registry import Cost

EXAMPLES = settings(max_examples=10, deadline=None, derandomize=True)
SMALL = st.integers(1, 4)

Draw = Callable[..., Any]


class Node(NamedTuple):
    """The node to count: `inputs` as `cost` takes them, attributes, and its multiply-adds where these are to be held too."""

    inputs: Sequence[Any]
    attrs: Mapping[str, Any] = types.MappingProxyType({})
    macs: int | None = None


Case = Callable[[Draw, Tally], Node]
Cases = dict[str, Case]


def holds(table: Cases, *ops: str) -> Callable[[Case], Case]:
    """Enter a case for `ops` into a table."""

    def enter(case: Case) -> Case:
        assert not table.keys() & ops, "an op is held once"
        table.update(dict.fromkeys(ops, case))
        return case

    return enter


def hold(op: str, case: Case, draw: Draw) -> None:
    """Assert that the formula of `op` says what its definition did."""
    tally = Tally()
    inputs, attrs, macs = case(draw, tally)
    agree(cost(op, inputs, **attrs), tally, macs)


def cost(op: str, inputs: Sequence[Any], **attrs: Any) -> Cost:
    """What tfg counts for one node: inputs are shapes of float placeholders, constants, or functions of the builder."""
    g = GraphBuilder()
    node = g.add(op, [fed(g, item) for item in inputs], attrs, "node")
    report = count_flops(g.graph, ["node"])
    assert report.unknown() == []
    return next(item.cost for item in report.nodes if item.path == node.name)


def fed(g: GraphBuilder, item: Any) -> Any:
    if isinstance(item, list):
        return [fed(g, part) for part in item]
    if callable(item):
        return item(g)
    return g.Placeholder(dtype="float", shape=item) if isinstance(item, tuple) else g.constant(item)


def agree(result: Cost, tally: Tally, macs: int | None = None) -> None:
    assert (result.flops, result.transcendentals) == (tally.flops, tally.transcendentals)
    assert macs is None or result.macs == macs
