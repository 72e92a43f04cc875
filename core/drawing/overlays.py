"""Overlays: numbers or texts of nodes, by which the boxes of a page are coloured and labelled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from ..explaining.problems import find_problems
from ..functions.call_paths import nodes_by_path
from ..graph.graph import Graph, Node
from ..support import dataclasses
from ..support.errors import TfgError

Values: TypeAlias = Mapping[Node, float] | Mapping[Node, str]


@dataclasses.dataclass(frozen=True, slots=True)
class NodeOverlay:
    """The values of some nodes under a title. `unit` is bytes, seconds or empty.

    The number of a scope is the sum of its nodes' numbers where `adds_up`, otherwise the largest.
    """

    title: str
    values: Values
    unit: str = ""
    adds_up: bool = False
    is_of_both: bool = False
    """True for values that two compared graphs have in common."""


def problem_overlay(graph: Graph, faults: Sequence[TfgError] = ()) -> NodeOverlay | None:
    """Return the kind of each node's first problem, errors before warnings; None where no node has one."""
    nodes = nodes_by_path(graph)
    kinds: dict[Node, str] = {}
    for problem in find_problems(graph, faults):
        path = f"{problem.function}/{problem.node}" if problem.function else problem.node
        node = nodes.get(path or "")
        if node is not None:
            kinds.setdefault(node, f"{problem.severity}: {problem.kind}")
    return NodeOverlay("Problems", kinds) if kinds else None
