"""Nodes that fill lookup tables and begin passes of iterators; no output depends on them."""

from __future__ import annotations

import os

from ..registry.op_facts import has_fact
from ..support.grouping import grouped
from ..types.tensors import Tensor
from .callers import called_functions
from .graph import Graph, Node
from .model_objects import asset_nodes
from .traversal import copied_from, reachable, trail_end


def table_fills(graph: Graph) -> list[Node]:
    """Return the nodes that fill lookup tables, or restore other resources, without a feed: operations, and calls of functions
    with operations that fill tables.

    Paths of a SavedModel's files are no feeds. Nodes that restore a checkpoint are left out: they need the checkpoint.
    """
    filling = _functions_with(graph, "fills_table")
    restoring = _functions_with(graph, "restores")
    assets = asset_nodes(graph)
    fills = [node for node in graph if _fills(node) or _calls(graph, node, filling)]

    def needs_more(node: Node) -> bool:
        is_fed = node.must_be_fed and node not in assets
        return is_fed or has_fact(node.op, "restores") or _calls(graph, node, restoring)

    return [node for node in fills if not any(map(needs_more, reachable([node])))]


def _fills(node: Node) -> bool:
    return has_fact(node.op, "fills_table") or has_fact(node.op, "restores_resource")


def iterator_starts(graph: Graph) -> dict[Node, Node]:
    """Return the nodes that begin passes of iterators, by the iterators' nodes, except for nodes that need a feed.

    An iterator that several nodes begin is left out as well.
    """
    makers = grouped((node.inputs[1].node, node) for node in graph if node.op == "MakeIterator")
    # Which of several datasets to begin with is the program's choice.
    alone = {iterator: nodes[0] for iterator, nodes in makers.items() if len(nodes) == 1}
    return {iterator: node for iterator, node in alone.items() if not any(each.must_be_fed for each in reachable([node]))}


def _functions_with(graph: Graph, fact: str) -> set[str]:
    return {name for name, function in graph.functions.items() if any(has_fact(node.op, fact) for node in function.body)}


def _calls(graph: Graph, node: Node, functions: set[str]) -> bool:
    return bool(functions) and not functions.isdisjoint(called_functions(graph, [node]))


def filled_tables(fill: Node) -> set[Node]:
    """Return the nodes of the tables and other resources that a node fills: the first input of an operation, and any handle of
    a table that a call takes.
    """
    if has_fact(fill.op, "restores_resource"):
        return {fill.inputs[0].node}
    handles = fill.inputs[:1] if has_fact(fill.op, "fills_table") else fill.inputs
    # By data alone: a call may wait for other nodes that fill tables, and these tables are not its own.
    return {node for node in reachable([value.node for value in handles], by_control=False) if has_fact(node.op, "table")}


def takes_files(graph: Graph, fill: Node) -> bool:
    """Return True if the contents that a node fills into tables come from a file."""
    reading = _functions_with(graph, "reads_files")
    return any(has_fact(node.op, "reads_files") or _calls(graph, node, reading) for node in reachable([fill]))


def named_files(fill: Node) -> list[Node]:
    """Return the constants with the paths of the files that an operation of the graph itself fills a table from."""
    if not (has_fact(fill.op, "fills_table") and has_fact(fill.op, "reads_files")):
        return []
    named = trail_end(fill.inputs[1], copied_from).node
    return [named] if named.is_constant else []


def path_of(constant: Node) -> str:
    """Return the path that a constant holds."""
    value: Tensor = constant.attr("value")
    return os.fsdecode(value.numpy().item())
