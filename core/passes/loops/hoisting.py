"""Loop passes: loop-invariant code motion, and the removal of loops that never run."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from ...control_flow.frames import ENTER, Frame, find_frames
from ...control_flow.loop_variables import loop_variables
from ...functions.call_kinds import call_kind
from ...functions.inline_blockers import inline_blocker
from ...graph.graph import Graph, Node
from ...support.errors import TfgError
from ..base.graph_pass import Pass, PassContext
from .frame_entry import first_condition, skip_loop
from .frame_hoisting import FrameMotion, nodes_within
from .while_hoisting import improve_while


@dataclasses.dataclass(frozen=True)
class LoopHoisting(Pass):
    """Compute loop-invariant nodes before a loop, by V1 control flow or While.

    Only pure nodes move, and nodes that may fail only where the loop is known to run. A loop whose condition is false from
    the start is replaced by the entering values, and a While's variable that no iteration changes is read past the loop.
    """

    name: ClassVar[str] = "loops"
    summary: ClassVar[str] = "move loop-invariant nodes out of loops, drop loops that never run"
    follows: ClassVar[str] = "specialize"

    def run(self, graph: Graph, ctx: PassContext) -> None:
        if any(node.op in ENTER for node in graph):
            self._run_frames(graph, ctx)
        for node in ctx.order():
            kind = call_kind(graph.functions, node)
            if kind is None or not kind.is_loop:
                continue
            reason = inline_blocker(graph, node, kind)
            if reason is None:
                improve_while(graph, ctx, node)
            else:
                ctx.refuse("loop", node, reason)

    def _run_frames(self, graph: Graph, ctx: PassContext) -> None:
        """Process outer loops first: nested loops go together with an outer loop that never runs."""
        try:
            frames = list(dict.fromkeys(find_frames(graph).values()))
        except TfgError as error:
            ctx.refuse("loop", error.node or "", error.message)
            return
        for frame in sorted(frames, key=lambda frame: frame.depth):
            first = frame.nodes[0]
            if graph.get(first.name) is first:
                self._improve(graph, ctx, frame, first)

    def _improve(self, graph: Graph, ctx: PassContext, frame: Frame, first: Node) -> None:
        if any(map(ctx.is_fed, (output for node in nodes_within(frame) for output in node.outputs()))):
            ctx.refuse("loop", first, f"a value in loop '{frame.name}' may be fed")
            return
        try:
            variables = loop_variables(frame)
            entered = first_condition(graph, ctx, frame, variables)
        except TfgError as error:
            ctx.refuse("loop", first, error.message)
            return
        if entered is not False or not skip_loop(graph, ctx, frame, variables):
            FrameMotion(graph, ctx, frame, variables, entered).run()
