"""Reading ops of one type as another."""

from __future__ import annotations

from collections.abc import Mapping

from ..catalog import CATALOG
from ..errors import InvalidArgumentError
from ..graph import Graph, Node
from ..reference_ops import read_as


def map_ops(graph: Graph, mapping: Mapping[str, str]) -> int:
    """Change nodes of type OLD to type NEW, in the graph and its functions, and return how many there were.

    Attributes that NEW does not have are dropped. InvalidArgumentError where NEW is not declared.
    """
    for new in mapping.values():
        if new not in CATALOG:
            raise InvalidArgumentError(f"--map-op: '{new}' is no declared op", hint="`tfg ops` lists them")
    count = sum(_map_node(node, mapping) for node in graph)
    for function in graph.functions.values():
        count += sum(_map_node(node, mapping) for node in function.body)
    return count


def _map_node(node: Node, mapping: Mapping[str, str]) -> bool:
    new = mapping.get(node.op)
    if new is None:
        return False
    read_as(node, new)
    return True
