"""Drop what only watches values."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from ..catalog import CATALOG
from ..errors import InvalidArgumentError
from ..graph import Graph, Node
from ..op_facts import ops_with
from .base import Pass, PassContext, become

_DIAGNOSTIC = ops_with("diagnostic")
_WATCHED = frozenset(op for op in _DIAGNOSTIC if CATALOG[op].outputs)
_CHECKS = frozenset(_DIAGNOSTIC) - _WATCHED


@dataclasses.dataclass(frozen=True)
class StripDebug(Pass):
    """Turn Assert and PrintV2 into NoOps that wait for the same, and bypass CheckNumerics and Print.

    Errors that these ops would have raised are not raised any more: that is for the user to ask for.
    """

    name: ClassVar[str] = "strip_debug"
    summary: ClassVar[str] = "drop Assert, Print and CheckNumerics"
    follows: ClassVar[str] = "inline"
    in_default_pipeline: ClassVar[bool] = False
    ops: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        unknown = [op for op in self.ops if op not in _WATCHED | _CHECKS]
        if unknown:
            known = ", ".join(sorted(_WATCHED | _CHECKS))
            raise InvalidArgumentError(f"strip_debug drops no {unknown[0]}", hint=f"it drops {known}")

    def run(self, graph: Graph, ctx: PassContext) -> None:
        for node in ctx.order():
            if self.ops and node.op not in self.ops:
                continue
            if node.op in _WATCHED and not ctx.is_fed(node.output()):
                ctx.replace(node, node.inputs[0], "bypass", f"bypassed: {node.op} only watches")
            elif node.op in _CHECKS:
                self._silence(graph, ctx, node)

    def _silence(self, graph: Graph, ctx: PassContext, node: Node) -> None:
        op, controls = node.op, ctx.anchors(node)
        become(graph, node, "NoOp", (), {}, controls)
        ctx.fire("no-op", node, f"became a NoOp: {op} only watches")
