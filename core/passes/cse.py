"""Merge nodes that compute the same."""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable
from typing import ClassVar

from ..graph import Graph, Node
from ..tensors import attribute_key
from .base import Pass, PassContext


@dataclasses.dataclass(frozen=True)
class CommonSubexpressions(Pass):
    """Let one node stand for all that have the same op, inputs, control inputs and attributes.

    Stateful and random ops, ops on references, fed values and nodes of unknown ops are left alone; equal constants are
    merged too, unless `constants` is false.
    """

    name: ClassVar[str] = "cse"
    summary: ClassVar[str] = "merge nodes that compute the same, equal constants among them"
    follows: ClassVar[str] = "loops"
    constants: bool = True

    def run(self, graph: Graph, ctx: PassContext) -> None:
        first: dict[Hashable, Node] = {}
        for node in ctx.order():
            if ctx.impurity(node) is not None or (node.is_constant and not self.constants):
                continue
            if any(map(ctx.is_fed, node.outputs())):
                continue
            original = first.setdefault(_key(node), node)
            if original is node:
                continue
            if ctx.is_preserved(node):
                if ctx.is_preserved(original):
                    ctx.refuse("merge", node, f"it equals {original.name}, but both names must stay")
                    continue
                original, node = node, original
                first[_key(original)] = original
            self._merge(graph, ctx, node, original)

    def _merge(self, graph: Graph, ctx: PassContext, node: Node, original: Node) -> None:
        for i in range(len(node.output_dtypes)):
            graph.replace_all_uses(node.output(i), original.output(i))
        graph.replace_control_uses(node, original)
        graph.remove_node(node)
        ctx.fire("merge", node, f"merged with {original.name}")


def _key(node: Node) -> Hashable:
    inputs = [(id(value.node), value.index) for value in node.inputs]
    if node.op_def is not None and node.op_def.is_commutative:
        inputs.sort()
    attrs = tuple(sorted((name, attribute_key(v)) for name, v in node.attrs.items() if name != "_output_shapes"))
    controls = frozenset(id(control) for control in node.control_inputs)
    return (node.op, tuple(inputs), controls, attrs, node.device)
