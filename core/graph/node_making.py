"""Adding the nodes that every rewriting of a graph needs: constants, identities, arguments of functions."""

from __future__ import annotations

from collections.abc import Sequence

from ..types.dtypes import DType
from ..types.shapes import UNKNOWN, Shape
from ..types.tensors import Tensor
from .graph import Graph, Node, Output


def add_constant(graph: Graph, name: str, value: Tensor, controls: Sequence[Node] = (), device: str = "") -> Node:
    """Add a Const of the tensor, under the name or the name with a suffix."""
    return graph.add_node(graph.unique_name(name), "Const", (), controls, {"value": value, "dtype": value.dtype}, device)


def add_constant_beside(graph: Graph, name: str, value: Tensor, node: Node, source: Node) -> Node:
    """Add a Const that `node` is to take beside a value of `source`, in the frame of the source and on the node's device.

    Without a control input a constant is outside of all loops.
    """
    return add_constant(graph, name, value, (source,) if _may_be_in_a_frame(source) else (), node.device)


def _may_be_in_a_frame(node: Node) -> bool:
    """Return False for a constant that waits for nothing: such a node is outside of all loops."""
    return not node.is_constant or bool(node.control_inputs)


def become_constant(graph: Graph, node: Node, value: Tensor) -> None:
    """Turn a node into a constant of the same name, which waits for the same nodes."""
    # The control inputs stay: they say in which branch or loop the node runs, and after which effects.
    graph.set_inputs(node, (), node.control_inputs)
    node.change_op("Const", {"dtype": value.dtype, "value": value})
    # The device was stated for the old op, and a constant runs anywhere.
    node.device = ""


def add_identity(
    graph: Graph, name: str, value: Output, dtype: DType, controls: Sequence[Node] = (), device: str = ""
) -> Node:
    """Add an Identity of the value, under the name or the name with a suffix."""
    return graph.add_node(graph.unique_name(name), "Identity", [value], controls, {"T": dtype}, device)


def add_placeholder(graph: Graph, name: str, dtype: DType | None, shape: Shape = UNKNOWN) -> Node:
    """Add a Placeholder, under the name or the name with a suffix."""
    return graph.add_node(graph.unique_name(name), "Placeholder", (), (), {"dtype": dtype, "shape": shape})


def add_argument(body: Graph, name: str, dtype: DType, index: int) -> Node:
    """Add the argument `index` of the function with this body."""
    return body.add_node(name, "_Arg", (), (), {"T": dtype, "index": index})
