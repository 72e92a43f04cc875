"""Reading of ops of a type as ops of another type."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ..graph.foreign_ops import FOREIGN, original_function
from ..graph.graph import Function, Graph, Node
from ..graph.reference_ops import read_as
from ..registry.catalog import CATALOG
from ..support.arguments import checked
from ..support.errors import InvalidArgumentError
from ..support.hints import Hint, command
from ..types.tensors import FuncRef


@checked
def map_ops(graph: Graph, mapping: Mapping[str, str]) -> int:
    """Change nodes of type OLD to type NEW, in the graph and its functions; return the number of changed nodes.

    Attributes that NEW does not have are dropped. Raises InvalidArgumentError if NEW is not declared.
    """
    for new in mapping.values():
        # Before any node changes, so that a mistake leaves the graph as it was.
        if new not in CATALOG:
            raise InvalidArgumentError(f"unknown op '{new}'", hint=Hint(command("ops"), " lists all ops"))
    count = sum(_map_node(node, mapping, graph.functions) for node in graph)
    for function in graph.functions.values():
        count += sum(_map_node(node, mapping, graph.functions) for node in function.body)
    return count


def _map_node(node: Node, mapping: Mapping[str, str], functions: Mapping[str, Function]) -> bool:
    new = mapping.get(node.op)
    if new is None:
        return False
    # TensorRT names the dtypes otherwise, and keeps the original nodes in a function beside the compiled engine.
    if node.op == _ENGINE and new == FOREIGN[_ENGINE][1]:
        name = original_function(node, functions)
        node.attrs = {"Tin": node.attr("InT"), "Tout": node.attr("OutT"), **({"f": FuncRef(name)} if name else {})}
    read_as(node, new)
    return True


_ENGINE: Final = "TRTEngineOp"
"""The op that is read as a call of the function with its original nodes."""
