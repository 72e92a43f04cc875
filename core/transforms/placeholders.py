"""Values and shapes for placeholders: a constant in the place of a placeholder, a static shape written into it."""

from __future__ import annotations

from collections.abc import Mapping

from ..graph.graph import Graph, Node
from ..graph.node_making import become_constant
from ..inference.inference import infer
from ..support.errors import InvalidArgumentError
from ..types.arrays import Array
from ..types.shapes import UNKNOWN, Shape, merge_shapes
from ..types.tensors import Tensor


def set_placeholders(graph: Graph, values: Mapping[str, Array]) -> None:
    """Put constants in the place of placeholders, by the names of their tensors; a constant has the placeholder's name.

    InvalidArgumentError for a tensor of another op, and for a value of another shape than the placeholder declares.
    """
    for name, value in values.items():
        node = _placeholder(graph, name)
        tensor = Tensor.from_numpy(value, node.output().dtype)
        _merged(node, Shape(tensor.shape))
        defaults = [source.node for source in node.inputs]
        become_constant(graph, node, tensor)
        graph.remove_nodes([default for default in defaults if default.is_constant and not default.uses])


def set_shapes(graph: Graph, shapes: Mapping[str, Shape]) -> None:
    """Write static shapes into placeholders, by the names of their tensors.

    InvalidArgumentError for a tensor of another op, for a shape that the placeholder's own shape or the graph contradicts.
    """
    known = infer(graph).reasons if shapes else {}
    for name, shape in shapes.items():
        node = _placeholder(graph, name)
        merged = _merged(node, shape)
        node.remove_attr("_output_shapes")
        node.set_attr("shape", merged)
    contradictions = {} if not shapes else {name: why for name, why in infer(graph).reasons.items() if name not in known}
    for name, why in contradictions.items():
        raise InvalidArgumentError(f"with these shapes: {why}", node=name, op=graph[name].op)


def _placeholder(graph: Graph, name: str) -> Node:
    node = graph.output(name).node
    if not node.is_placeholder:
        raise InvalidArgumentError(
            "it is not a placeholder", node=node.name, op=node.op,
            hint=f"`tfg convert --from {name.removesuffix(':0')}` puts a placeholder in its place",
        )  # fmt: skip
    return node


def _merged(node: Node, shape: Shape) -> Shape:
    """Return the more definite of a placeholder's shape and another; InvalidArgumentError where the two differ."""
    try:
        return merge_shapes(declared_shape(node), shape)
    except InvalidArgumentError as error:
        raise InvalidArgumentError(error.message, node=node.name, op=node.op) from None


def declared_shape(node: Node) -> Shape:
    """Return the shape that a placeholder declares."""
    shape = node.attr_of(Shape, "shape")
    return UNKNOWN if shape is None else shape
