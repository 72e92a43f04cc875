"""Graphs without the branches that constants switch off."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ...core.control_flow.frames import SWITCH
from ...core.functions.call_kinds import Form, call_kind
from ...core.functions.table_fills import table_fills
from ...core.graph.graph import Graph, Node
from ...core.graph.model_objects import asset_assignments
from ...core.graph.traversal import topological_order
from ...core.passes.pipeline import optimize
from ...core.types.dtypes import bool_

_PASSES: Final = "fold,branches,specialize,bodies,prune"
"""The passes that take a constant predicate to its branches, also in called functions, and nothing more than they need."""


def with_live_branches(graph: Graph, fetches: Sequence[str], inputs: Sequence[str] = ()) -> Graph:
    """Return a copy in which constant predicates have chosen their branches, cut at the tensors `inputs`.

    Nodes on other branches never run, so nothing about them matters to a frozen graph or a model. The graph itself where no
    constant decides.
    """
    constants = _following_from_constants(graph)
    if not any(_is_decided(graph, node, constants) for node in graph):
        return graph
    keep = [node.name for node in (*table_fills(graph), *asset_assignments(graph))]
    return optimize(graph, fetches, inputs, _PASSES, keep=keep)[0]


def _following_from_constants(graph: Graph) -> set[Node]:
    """Return the constants, and the nodes that take only them."""
    nodes: set[Node] = set()
    for node in topological_order(graph):
        if node.is_constant or (node.inputs and all(value.node in nodes for value in node.inputs)):
            nodes.add(node)
    return nodes


def _is_decided(graph: Graph, node: Node, constants: set[Node]) -> bool:
    """Return True where a constant predicate chooses a branch, or goes into a function."""
    if node.op in SWITCH:
        return node.inputs[1].node in constants
    kind = call_kind(graph.functions, node)
    if kind is None:
        return False
    values = node.inputs[:1] if kind.form is Form.BRANCH else [value for value in node.inputs if value.dtype is bool_]
    return any(value.node in constants for value in values)
