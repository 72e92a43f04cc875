"""The formulas that tf.profiler registers, for comparison: they need static shapes, know few ops and visit every node once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..graph.graph import Graph, Node
from ..inference.estimates import estimate
from ..inference.profiler_formulas import Dropped
from ..registry.registry import profiler_formula
from ..support import dataclasses
from ..support.grouping import grouped
from ..types.dims import DimLike, substitute
from ..types.shapes import Shape
from .flops_report import FlopsReport, NodeCost, add_up, magnitude
from .input_shapes import Symbols, symbolic_placeholders


@dataclasses.dataclass(frozen=True, slots=True)
class ProfilerDifference:
    """An op with the costs counted here, the FLOPs of tf.profiler, and the reason for the difference."""

    op: str
    """The op."""
    nodes: int
    """How many nodes have the op."""
    flops: DimLike
    """The FLOPs counted here."""
    profiler: int
    """The FLOPs by the formulas of tf.profiler."""
    reason: str
    """Why both differ."""


def compare(
    graph: Graph, report: FlopsReport, shapes: Mapping[str, Any] | None = None, batch: int | None = None
) -> list[ProfilerDifference]:
    """Return the counts by op, the largest of either first; ops that neither counts are left out."""
    theirs, dropped = _profiler_counts(graph, shapes or {}, batch)
    ours = grouped((cost.op, cost) for cost in report.nodes)
    listed = grouped((node.op, node) for node in graph)
    differences = []
    for op in {*ours, *theirs}:
        flops, profiler = add_up(cost.cost.flops for cost in ours.get(op, ())), theirs.get(op, 0)
        if flops != 0 or profiler:
            reason = "" if flops == profiler else _reason(op, ours.get(op, []), listed.get(op, []), dropped.get(op, []))
            differences.append(ProfilerDifference(op, len(ours.get(op, ())), flops, profiler, reason))
    return sorted(differences, key=lambda d: (-max(magnitude(d.flops), d.profiler), d.op))


def _profiler_counts(
    graph: Graph, shapes: Mapping[str, Any], batch: int | None
) -> tuple[dict[str, int], dict[str, list[str]]]:
    """Return (FLOPs by op, reasons for dropped nodes by op): every node of the graph, once."""
    placeholder_specs = symbolic_placeholders(graph, shapes, Symbols())
    if batch is not None:
        placeholder_specs = {
            value: dataclasses.replace(spec, shape=_with_batch(spec.shape, batch)) for value, spec in placeholder_specs.items()
        }
    inference = estimate(graph, placeholder_specs)
    counts: dict[str, int] = {}
    dropped: dict[str, list[str]] = {}
    for node in graph:
        formula = profiler_formula(node.op)
        if formula is None:
            continue
        inputs, outputs = ([inference.specs[v] for v in values] for values in (node.inputs, node.outputs()))
        try:
            counts[node.op] = counts.get(node.op, 0) + int(formula.count(node, inputs, outputs))
        # tf.profiler says nothing of such nodes, and its total is too small by them.
        except Dropped as reason:
            dropped.setdefault(node.op, []).append(str(reason))
    return counts, dropped


def _with_batch(shape: Shape, batch: int) -> Shape:
    return Shape(substitute(dim, {"N": batch}) for dim in shape) if shape.dims is not None else shape


def _reason(op: str, ours: Sequence[NodeCost], nodes: Sequence[Node], dropped: Sequence[str]) -> str:
    formula = profiler_formula(op)
    if formula is None:
        return "tf.profiler has no formula"
    reasons = [
        f"{dropped.count(reason)} of {len(nodes)} not counted by tf.profiler: {reason}" for reason in dict.fromkeys(dropped)
    ]
    names = {node.name for node in nodes}
    run = sum(cost.path in names for cost in ours)
    # tf.profiler visits every node of the graph; a count visits what the fetches need.
    if run < len(nodes):
        reasons.append(f"{len(nodes) - run} do not run for these fetches")
    if len(ours) > run:
        reasons.append(f"{len(ours) - run} in functions are not visited by tf.profiler")
    if any(cost.times != 1 for cost in ours):
        reasons.append("tf.profiler counts loops once")
    if formula.differs:
        reasons.append(formula.differs)
    return "; ".join(reasons)
