"""Merge nodes that compute the same."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, ClassVar

from ...graph.graph import Graph, Node, Output
from ...support import dataclasses
from ...types.tensors import attribute_key
from ..base.graph_pass import Pass, PassContext


@dataclasses.dataclass(frozen=True)
class CommonSubexpressions(Pass):
    """Replace all nodes with equal op, inputs, control inputs and attributes by a single node.

    Stateful and random ops, ops on references, fed values and nodes of unknown ops are left alone; equal constants are
    merged too, unless `constants` is false.
    """

    name: ClassVar[str] = "cse"
    summary: ClassVar[str] = "merge nodes that compute the same value, including equal constants"
    follows: ClassVar[str] = "loops"
    constants: bool = True

    def run(self, graph: Graph, ctx: PassContext) -> None:
        first: dict[Hashable, Node] = {}
        keys = _Keys()
        for node in ctx.order():
            if ctx.impurity(node) is not None or (node.is_constant and not self.constants):
                continue
            if any(map(ctx.is_fed, node.outputs())):
                continue
            key = keys.of(node)
            original = first.setdefault(key, node)
            if original is node:
                continue
            if ctx.is_preserved(node):
                if ctx.is_preserved(original):
                    ctx.refuse("merge", node, f"it equals {original.name}, but both names must stay")
                    continue
                original, node = node, original
                first[key] = original
            self._merge(graph, ctx, node, original)

    def _merge(self, graph: Graph, ctx: PassContext, node: Node, original: Node) -> None:
        for i in range(len(node.output_dtypes)):
            graph.replace_all_uses(node.output(i), original.output(i))
        graph.replace_control_uses(node, original)
        graph.remove_node(node)
        ctx.fire("merge", node, f"merged with {original.name}")


class _Keys:
    """Keys that are equal for nodes that compute the same."""

    def __init__(self) -> None:
        self._attrs: dict[int, tuple[Mapping[str, Any], int]] = {}
        self._numbers: dict[Hashable, int] = {}

    def of(self, node: Node) -> Hashable:
        """Return a key that is equal for nodes of the same op, inputs, control inputs, attributes and device."""
        inputs: Sequence[Output] = node.inputs
        if len(inputs) > 1 and node.op_def is not None and node.op_def.is_commutative:
            inputs = sorted(inputs, key=lambda value: (id(value.node), value.index))
        controls = frozenset(node.control_inputs) if node.control_inputs else None
        return (node.op, self._number(node.attrs), node.device, controls, *inputs)

    def _number(self, attrs: Mapping[str, Any]) -> int:
        """Return a number that is equal for equal attributes; many nodes share their attributes."""
        entry = self._attrs.get(id(attrs))
        if entry is None:
            key = tuple(sorted((name, attribute_key(v)) for name, v in attrs.items() if name != "_output_shapes"))
            entry = self._attrs[id(attrs)] = attrs, self._numbers.setdefault(key, len(self._numbers))
        return entry[1]
