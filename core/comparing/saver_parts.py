"""The part of a graph that only saves and restores its variables."""

from __future__ import annotations

import dataclasses
from typing import Final

from ..functions.callers import called_functions
from ..graph.graph import Graph, Node
from ..graph.traversal import reachable, topological_order
from ..registry.op_facts import has_fact
from ..support.tensor_names import parse_tensor_name


@dataclasses.dataclass(frozen=True, slots=True)
class SaverPart:
    """Nodes and functions that serve no other purpose than saving and restoring variables."""

    nodes: frozenset[Node] = frozenset()
    functions: frozenset[str] = frozenset()


NO_SAVER: Final = SaverPart()


def saver_part(graph: Graph) -> SaverPart:
    """Return the nodes and functions that only the graph's saver needs, variables excepted."""
    saver = graph.meta.saver if graph.meta is not None else None
    if saver is None:
        return NO_SAVER
    names = (parse_tensor_name(text)[0] for text in (saver.save_tensor, saver.restore_op, saver.filename_tensor) if text)
    roots = [node for name in names if (node := graph.get(name)) is not None]
    nodes: set[Node] = set()
    for node in reversed(topological_order(reachable(roots))):
        is_end = node in roots or bool(node.uses)
        if is_end and nodes.issuperset(node.uses) and not has_fact(node.op, "variable"):
            nodes.add(node)
    others = called_functions(graph, (node for node in graph if node not in nodes))
    return SaverPart(frozenset(nodes), frozenset(called_functions(graph, nodes) - others))
