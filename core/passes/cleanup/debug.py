"""Removal of ops that only watch values."""

from __future__ import annotations

from typing import ClassVar

from ...graph.graph import Graph, Node
from ...registry.op_facts import has_fact, ops_with
from ...support import dataclasses
from ...support.errors import InvalidArgumentError
from ..base.graph_pass import Pass, PassContext, become


@dataclasses.dataclass(frozen=True)
class StripDebug(Pass):
    """Turn Assert and PrintV2 into NoOps that wait for the same inputs, and bypass CheckNumerics and Print.

    The errors of these ops are no longer raised; therefore only the user may ask for the pass.
    """

    name: ClassVar[str] = "strip_debug"
    summary: ClassVar[str] = "drop Assert, Print and CheckNumerics"
    follows: ClassVar[str] = "inline"
    in_default_pipeline: ClassVar[bool] = False
    ops: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        diagnostic = ops_with("diagnostic")
        unknown = [op for op in self.ops if op not in diagnostic]
        if unknown:
            raise InvalidArgumentError(
                f"strip_debug does not drop {unknown[0]}", hint=f"the droppable ops are {', '.join(diagnostic)}"
            )

    def run(self, graph: Graph, ctx: PassContext) -> None:
        for node in ctx.order():
            if not has_fact(node.op, "diagnostic") or (self.ops and node.op not in self.ops):
                continue
            if not node.output_dtypes:
                self._silence(graph, ctx, node)
            elif not ctx.is_fed(node.output()):
                ctx.replace(node, node.inputs[0], "bypass", f"bypassed: {node.op} only observes values")

    def _silence(self, graph: Graph, ctx: PassContext, node: Node) -> None:
        op, controls = node.op, ctx.anchors(node)
        become(graph, node, "NoOp", (), {}, controls)
        ctx.fire("no-op", node, f"became a NoOp: {op} only observes values")
