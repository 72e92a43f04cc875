"""The JSON of `tfg flops`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypedDict

from ...core.flops import FlopsReport, NodeCost, Section
from ...core.flops.flops_report import PipelineCost, magnitude
from ...core.flops.views import FlopsRow
from ...core.support import dataclasses
from ...core.support.json_documents import plain
from ...core.types.dims import DimLike

if TYPE_CHECKING:
    from ...core.flops.measured import MeasuredNode, Measurement
    from ...core.flops.tfprof import ProfilerDifference
    from ...core.flops.timings import Timing

SCHEMAS = {"op": "tfg.flops/1", "layer": "tfg.flops.layers/1", "scope": "tfg.flops.scopes/1", "node": "tfg.flops.nodes/1"}
"""The schema of each view."""


@dataclasses.dataclass(frozen=True, slots=True)
class ViewRow:
    """A row of a view."""

    name: str
    """The op, the layer, the name scope or the node."""
    share: float
    """The share of all FLOPs, from 0 to 1."""
    flops: DimLike
    """Floating-point operations; a multiply-add is 2."""
    macs: DimLike
    """Multiply-adds."""
    transcendentals: DimLike
    """Calls of exp, log, tanh and the like, which `flops` leaves out."""
    bytes: DimLike
    """Bytes read and written."""
    parameters: DimLike
    """Elements of variables and constants."""
    intensity: float
    """FLOPs a byte; symbols count as the sizes that the table names."""


@dataclasses.dataclass(frozen=True, slots=True)
class OpRow(ViewRow):
    """All nodes of an op, or of a layer."""

    nodes: int
    """How many nodes the row stands for."""


@dataclasses.dataclass(frozen=True, slots=True)
class ScopeRow(ViewRow):
    """All nodes of a name scope."""

    nodes: int
    """How many nodes lie in the scope, at any depth."""
    depth: int
    """How many scopes are around this one."""
    own_flops: DimLike
    """FLOPs of nodes that lie in no deeper scope."""


@dataclasses.dataclass(frozen=True, slots=True)
class NodeRow(ViewRow):
    """A node."""

    op: str
    """The op of the node."""
    section: str
    """`forward`, `backward`, `update` or `initializer`."""
    times: DimLike
    """How often the node runs."""


class Uncounted(TypedDict):
    """A node without a count."""

    node: str
    """The name, behind the names of calls that lead to the node."""
    op: str
    """The op of the node."""
    reason: str
    """Why the node has no count."""


class Count(TypedDict):
    """The count of a graph, in a view."""

    fetches: Sequence[str]
    """What the count runs."""
    sections: Mapping[str, Section]
    """The totals of `forward`, `backward`, `update` and `initializer`; sections without nodes are left out."""
    total: Section
    """The totals of all sections."""
    coverage: float
    """The share of nodes that are counted or do no work, from 0 to 1."""
    unknown: Sequence[Uncounted]
    """The nodes without a count."""
    symbols: Mapping[str, str]
    """The meaning of each symbol in the formulas."""
    notes: Sequence[str]
    """Trip counts, branches and other decisions that the numbers rest on."""
    pipeline: Sequence[PipelineCost]
    """The costs of input pipelines for each element; part of no total."""
    rows: Sequence[ViewRow]
    """The rows of the view."""


class CountByOp(Count):
    """The count of a graph by op, or by layer."""

    rows: Sequence[OpRow]  # type: ignore[misc]
    """The ops or layers, the most FLOPs first."""


class CountByScope(Count):
    """The count of a graph by name scope."""

    rows: Sequence[ScopeRow]  # type: ignore[misc]
    """The scopes, each behind the scope around it."""


class CountByNode(Count):
    """The count of a graph by node."""

    rows: Sequence[NodeRow]  # type: ignore[misc]
    """The nodes, the most FLOPs first."""


def count_data(report: FlopsReport, rows: Sequence[ViewRow]) -> Count:
    """Return the totals of a count and the rows of a view."""
    return {
        "fetches": report.fetches,
        "sections": report.sections(),
        "total": report.total(),
        "coverage": report.coverage,
        "unknown": [{"node": n.path, "op": n.op, "reason": n.reason} for n in report.unknown()],
        "symbols": report.symbols,
        "notes": report.notes,
        "pipeline": report.pipeline,
        "rows": rows,
    }


def view_rows(view: str, nodes: Sequence[NodeCost], rows: Sequence[FlopsRow]) -> list[ViewRow]:
    """Return the rows of a view with the keys of its schema."""
    by_path = {node.path: node for node in nodes} if view == "node" else {}
    return [_view_row(view, row, by_path.get(row.name)) for row in rows]


def _view_row(view: str, row: FlopsRow, node: NodeCost | None) -> ViewRow:
    sums = row.totals
    values = (row.name, row.share, sums.flops, sums.macs, sums.transcendentals, sums.bytes, sums.parameters, sums.intensity)
    if node is not None:
        return NodeRow(*values, node.op, node.section, node.times)
    return OpRow(*values, row.nodes) if view in ("op", "layer") else ScopeRow(*values, row.nodes, row.depth, row.own)


class VariableCost(TypedDict):
    """The backward pass of a variable."""

    variable: str
    """The name of the variable."""
    own: Section
    """The nodes that only this variable's gradient needs."""
    all: Section
    """All nodes that the variable's gradient needs."""


def variable_data(costs: Mapping[str, tuple[Section, Section]]) -> VariableCosts:
    """Return the costs of the backward pass by variable, the largest first."""
    ranked = sorted(costs.items(), key=lambda item: -magnitude(item[1][0].flops))
    return {"variables": [{"variable": name, "own": own, "all": everything} for name, (own, everything) in ranked]}


class VariableCosts(TypedDict):
    """The backward pass by variable."""

    variables: Sequence[VariableCost]
    """The variables, the most FLOPs of their own first."""


class Timings(TypedDict):
    """Times that TensorFlow measured, beside the counts."""

    timings: Sequence[Timing]
    """The nodes, the slowest first."""


class Differences(TypedDict):
    """The counts of tf.profiler beside these."""

    ops: Sequence[ProfilerDifference]
    """The ops."""


class MeasuredRow(TypedDict):
    """An op, a layer, a scope or a node in the average run."""

    path: str
    """The name of the op, the layer, the scope or the node."""
    op: str
    """The op; "" where the row stands for several."""
    calls: float
    """How often it ran."""
    seconds: float
    """The time in kernels, without functions that were called."""
    flops: int
    """Floating-point operations; a multiply-add is 2."""
    transcendentals: int
    """Calls of exp, log, tanh and the like."""
    bytes: int
    """Bytes read and written."""
    shapes: str
    """The shapes of inputs and outputs."""
    reason: str
    """Why the node has no count; "" where it has."""
    rate: float
    """FLOPs a second."""
    intensity: float
    """FLOPs a byte."""


class MeasuredData(TypedDict):
    """A measurement."""

    wall: float
    """Seconds of a run."""
    profiled: float
    """Seconds of a run with the profile."""
    op_seconds: float
    """Seconds in all kernels of a run."""
    flops: int
    """FLOPs of a run."""
    runs: int
    """How many runs were timed."""
    peak: float
    """FLOPs a second of a large float32 matrix product on this machine."""
    memory: int
    """The largest number of bytes that values held at a time."""
    memory_path: str
    """The node at which the memory of values peaked."""
    drawn: str
    """The feeds that were drawn, in words: those of the placeholders without a value."""
    rows: Sequence[MeasuredRow]
    """The rows of the view, the slowest first."""


def measured_data(measurement: Measurement, rows: Sequence[MeasuredNode]) -> MeasuredData:
    """Return a measurement with the rows of a view; the events are the trace's."""
    return {
        "wall": measurement.wall,
        "profiled": measurement.profiled,
        "op_seconds": measurement.op_seconds,
        "flops": measurement.flops,
        "runs": measurement.runs,
        "peak": measurement.peak,
        "memory": measurement.memory,
        "memory_path": measurement.memory_path,
        "drawn": measurement.drawn,
        "rows": [plain(row) | {"rate": row.rate, "intensity": row.intensity} for row in rows],
    }
