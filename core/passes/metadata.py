"""Changes of names, devices and order, without effect on results."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from ..graph.graph import Graph, Node
from ..graph.instantiation import nodes_to_change
from ..graph.traversal import topological_order
from ..support.errors import InvalidArgumentError
from .base.graph_pass import Pass, PassContext


class Rename(Pass):
    """Rename nodes, op types and attributes: `node=old:new+old:new`, `op=Old:New`, `attribute=Op.old:new` (or `*.old:new`).

    Fetches and feeds that are renamed must be asked for by their new names.
    """

    name: ClassVar[str] = "rename"
    summary: ClassVar[str] = "rename nodes, op types and attributes"
    follows: ClassVar[str] = "sort"
    in_default_pipeline: ClassVar[bool] = False
    is_final: ClassVar[bool] = True
    node: tuple[str, ...] = ()
    op: tuple[str, ...] = ()
    attribute: tuple[str, ...] = ()

    def run(self, graph: Graph, ctx: PassContext) -> None:
        for old, new in _pairs(self.node):
            graph.rename_node(graph.node(old), new)
            ctx.fire("node", old, f"renamed to {new}")
        for old, new in _pairs(self.op):
            self._rename_op(graph, ctx, old, new)
        for old, new in _pairs(self.attribute):
            self._rename_attribute(graph, ctx, old, new)

    def _rename_op(self, graph: Graph, ctx: PassContext, old: str, new: str) -> None:
        for node in nodes_to_change(graph, lambda node: node.op == old):
            node.change_op(new)
            ctx.fire("op", node)

    def _rename_attribute(self, graph: Graph, ctx: PassContext, old: str, new: str) -> None:
        op, _, attribute = old.partition(".")
        for node in nodes_to_change(graph, lambda node: attribute in node.attrs and op in ("*", node.op)):
            node.attrs = {new if key == attribute else key: value for key, value in node.attrs.items()}
            # The dtypes of outputs follow from attributes, and a node keeps them once they were asked for.
            node.forget_dtypes()
            ctx.fire("attribute", node)


def _pairs(items: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    for item in items:
        old, colon, new = item.partition(":")
        if not (old and colon and new):
            raise InvalidArgumentError(f"'{item}' in an option of pass rename is not of the form OLD:NEW")
        yield old, new


class SetDevice(Pass):
    """Put all nodes, or with `if_default` only nodes without a device, on a device; an empty device clears the field."""

    name: ClassVar[str] = "set_device"
    summary: ClassVar[str] = "set the device of all nodes, or of nodes without a device; by default clear it"
    follows: ClassVar[str] = "remove_attribute"
    in_default_pipeline: ClassVar[bool] = False
    is_final: ClassVar[bool] = True
    device: str = ""
    if_default: bool = False

    def run(self, graph: Graph, ctx: PassContext) -> None:
        def moves(node: Node) -> bool:
            return node.device != self.device and not (self.if_default and node.device)

        for node in nodes_to_change(graph, moves):
            node.device = self.device
            ctx.fire("device", node)


class RemoveAttribute(Pass):
    """Drop an attribute from all nodes, or from all nodes of type `op`."""

    name: ClassVar[str] = "remove_attribute"
    summary: ClassVar[str] = "drop an attribute (by default _class) from all nodes, or from nodes of an op type"
    follows: ClassVar[str] = "cluster"
    in_default_pipeline: ClassVar[bool] = False
    is_final: ClassVar[bool] = True
    attribute: str = "_class"
    op: str = ""

    def run(self, graph: Graph, ctx: PassContext) -> None:
        for node in nodes_to_change(graph, lambda node: self.attribute in node.attrs and self.op in ("", node.op)):
            node.remove_attr(self.attribute)
            ctx.fire("attribute", node)


class Sort(Pass):
    """Sort the nodes topologically: every node after all inputs."""

    name: ClassVar[str] = "sort"
    summary: ClassVar[str] = "sort the nodes topologically"
    follows: ClassVar[str] = "set_device"
    in_default_pipeline: ClassVar[bool] = False
    is_final: ClassVar[bool] = True

    def run(self, graph: Graph, ctx: PassContext) -> None:
        before = list(graph)
        graph.reorder(topological_order(graph))
        for old, new in zip(before, graph):
            if old is not new:
                ctx.fire("moved", new)
