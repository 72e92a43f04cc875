"""Merging of values computed from shapes that inference knows to be equal."""

from __future__ import annotations

from collections.abc import Hashable
from typing import ClassVar

from ...graph.graph import Graph, Node, Output
from ...support import dataclasses
from ...types.dims import Dim
from ..base.graph_pass import Pass, PassContext


@dataclasses.dataclass(frozen=True)
class Shapes(Pass):
    """Replace all nodes whose values are the same dimensions by a single node, whatever tensors the dimensions come from.

    Shape(x) and Shape(x + 1) are equal for every shape of x, and so are slices and packs of the two. Nodes in loops and on
    branches stay, and so do nodes with inputs that have effects.
    """

    name: ClassVar[str] = "shapes"
    summary: ClassVar[str] = "merge equal shapes, and equal slices and packs of shapes"
    follows: ClassVar[str] = "cse"

    def run(self, graph: Graph, ctx: PassContext) -> None:
        first: dict[Hashable, Node] = {}
        inference = ctx.inference
        for node in ctx.order():
            if len(node.output_dtypes) != 1 or ctx.is_inside(node) or ctx.is_preserved(node) or node.is_constant:
                continue
            value = inference.specs[node.output()].value
            if value is None or value.dtype != object or ctx.impurity(node) is not None or ctx.has_effects(node):
                continue
            if not all(isinstance(size, (int, Dim)) for size in value.ravel().tolist()):
                continue
            key = (node.output_dtypes[0].name, value.shape, tuple(value.ravel().tolist()), node.device)
            original = first.setdefault(key, node)
            if original is not node:
                self._merge(ctx, node, original.output())

    def _merge(self, ctx: PassContext, node: Node, value: Output) -> None:
        ctx.replace(node, value, "same-dimensions", f"merged with {value.node.name}: it holds the same dimensions")
