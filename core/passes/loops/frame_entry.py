"""The entry of V1 while loops: a prediction of the first condition, and the removal of a loop that never runs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...control_flow.deadness import LoopVariable
from ...control_flow.frames import ENTER, EXIT, Frame
from ...functions.purity import impurity
from ...graph.graph import Graph, Node, Output
from ...graph.traversal import closure, topological_order
from ...inference.inference import infer
from ...support import dataclasses
from ...types.shapes import TensorSpec
from ..base.graph_pass import PassContext, become
from .frame_hoisting import body_nodes

RULE = "never-runs"


def truth(value: np.ndarray | None) -> bool | None:
    """Return the truth of a condition's value, None for an unknown value or no boolean scalar."""
    return bool(value) if value is not None and value.dtype == bool and value.ndim == 0 else None


def entering_spec(ctx: PassContext, value: Output) -> TensorSpec:
    """Return the spec of a value that enters a loop, without values that a feed may replace."""
    spec = ctx.inference.specs[value]
    return dataclasses.replace(spec, dtype=spec.dtype.base, value=ctx.value(value))


def first_condition(graph: Graph, ctx: PassContext, frame: Frame, variables: Sequence[LoopVariable]) -> bool | None:
    """Return the loop's condition at entry, None where the condition is unknown before a run.

    The condition's ancestors are inferred separately, with the entering values in the place of the loop's variables.
    """
    sources = {variable.merge.output(): variable.enter.inputs[0] for variable in variables}
    sources |= {enter.output(): enter.inputs[0] for enter in frame.invariants}
    starts = {value.node for value in sources}

    def inputs_of(node: Node) -> list[Node]:
        return [] if node in starts else [value.node for value in node.inputs]

    predicate = frame.condition.inputs[0]
    probe = graph.emptied()
    copies: dict[Node, Node] = {}
    specs = {}
    for node in topological_order(closure([predicate.node], inputs_of), inputs_of):
        if node in starts:
            value = node.output()
            copies[node] = probe.add_node(node.name, "Placeholder", attrs={"dtype": value.node.output_dtypes[0].base})
            specs[copies[node].output()] = entering_spec(ctx, sources[value])
        elif not node.is_constant and impurity(graph, node) is not None:
            return None
        else:
            inputs = [copies[value.node].output(value.index) for value in node.inputs]
            copies[node] = probe.add_node(node.name, node.op, inputs, (), node.attrs)
    spec = infer(probe, specs).specs.get(copies[predicate.node].output(predicate.index))
    return truth(spec.value) if spec is not None else None


def skip_loop(graph: Graph, ctx: PassContext, frame: Frame, variables: Sequence[LoopVariable]) -> bool:
    """Replace the loop's results by the entering values; False, with a refusal, where the loop has to stay."""
    doomed = [node for node in frame.nodes_within() if node not in frame.with_op(EXIT)]
    reason = _blocker(graph, ctx, frame, variables, doomed)
    if reason is not None:
        ctx.refuse(RULE, frame.condition, reason)
        return False
    enters = {variable.switch.output(0): variable.enter for variable in variables}
    # As before, no value leaves the loop until all entering values are there.
    waits = [wait for enter in frame.with_op(ENTER) for wait in _waits(ctx, enter)]
    for node in frame.with_op(EXIT):
        source = enters[node.inputs[0]].inputs[0]
        become(graph, node, "Identity", [source], {"T": node.attrs["T"]}, (w for w in waits if w is not source.node))
        ctx.fire(RULE, node, f"an Identity of {source.name}: the condition of loop '{frame.name}' is false from the start")
    graph.remove_nodes(doomed)
    for node in doomed:
        ctx.fire(RULE, node, f"removed: the condition of loop '{frame.name}' is false from the start")
    return True


def _waits(ctx: PassContext, enter: Node) -> list[Node]:
    """Return the nodes an Enter waits for, as far as they are conditional or have effects."""
    source = enter.inputs[0].node
    return ctx.anchors(enter) if ctx.is_inside(source) or ctx.has_effects(source) else list(enter.control_inputs)


def _blocker(
    graph: Graph, ctx: PassContext, frame: Frame, variables: Sequence[LoopVariable], doomed: Sequence[Node]
) -> str | None:
    """Return the reason why a loop whose condition is false from the start has to stay."""
    if any(ctx.is_preserved(node) for node in doomed):
        return "a node of the loop is fetched or kept"
    body = body_nodes(graph, frame)
    acting = next((node for node in doomed if node not in body and ctx.acts(node)), None)
    if acting is not None:
        return f"'{acting.name}' runs before the condition is computed"
    left = {variable.switch.output(0) for variable in variables}
    if any(node.op != "Exit" or node.inputs[0] not in left for node in frame.with_op(EXIT)):
        return "a value that leaves the loop is not a loop variable"
    return None
