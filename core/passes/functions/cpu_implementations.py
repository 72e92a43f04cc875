"""Let calls name the functions that TensorFlow runs on a CPU."""

from __future__ import annotations

from typing import ClassVar

from ...functions.implementations import name_implementations
from ...graph.graph import Graph
from ...support import dataclasses
from ..base.graph_pass import Pass, PassContext


@dataclasses.dataclass(frozen=True)
class Implementations(Pass):
    """Call the CPU's function by name where functions implement an interface for several devices, as a run does.

    Passes that change functions work on copies, and a copy implements no interface any more.
    """

    name: ClassVar[str] = "implementations"
    summary: ClassVar[str] = "call the CPU implementations of functions"
    follows: ClassVar[str] = "prune"

    def run(self, graph: Graph, ctx: PassContext) -> None:
        for node, function in name_implementations(graph):
            ctx.fire("call", node, f"calls {function}, the implementation for CPUs")
