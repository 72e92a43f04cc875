"""The JSON of `tfg flops`."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypedDict

from ...core.flops import FlopsReport, NodeCost, Section
from ...core.flops.flops_report import magnitude
from ...core.flops.views import Row
from ...core.types.dims import DimLike
from .. import render

if TYPE_CHECKING:
    from ...core.flops.measured import MeasuredNode, Measurement
    from ...core.flops.timings import ClusterMeasurement, Timing

SCHEMAS = {"op": "tfg.flops/1", "layer": "tfg.flops.layers/1", "scope": "tfg.flops.scopes/1", "node": "tfg.flops.nodes/1"}
"""The schema of each view."""


@dataclasses.dataclass(frozen=True, slots=True)
class ViewRow:
    """A row of a view."""

    name: str
    share: float
    flops: DimLike
    macs: DimLike
    transcendentals: DimLike
    bytes: DimLike
    parameters: DimLike
    intensity: float
    """FLOPs a byte; symbols count as the sizes that the table names."""


@dataclasses.dataclass(frozen=True, slots=True)
class OpRow(ViewRow):
    """All nodes of an op, or of a layer."""

    nodes: int


@dataclasses.dataclass(frozen=True, slots=True)
class ScopeRow(ViewRow):
    """All nodes of a name scope."""

    nodes: int
    depth: int
    own_flops: DimLike


@dataclasses.dataclass(frozen=True, slots=True)
class NodeRow(ViewRow):
    """A node."""

    op: str
    section: str
    times: DimLike


class Uncounted(TypedDict):
    """A node without a count."""

    node: str
    op: str
    reason: str


class Count(TypedDict):
    """The count of a graph, in a view."""

    fetches: Sequence[str]
    sections: Mapping[str, Section]
    total: Section
    coverage: float
    unknown: Sequence[Uncounted]
    symbols: Mapping[str, str]
    notes: Sequence[str]
    pipeline: Sequence[Any]
    rows: Sequence[ViewRow]


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


def view_rows(view: str, nodes: Sequence[NodeCost], rows: Sequence[Row]) -> list[ViewRow]:
    """Return the rows of a view with the keys of its schema."""
    by_path = {node.path: node for node in nodes} if view == "node" else {}
    return [_view_row(view, row, by_path.get(row.name)) for row in rows]


def _view_row(view: str, row: Row, node: NodeCost | None) -> ViewRow:
    sums = row.totals
    values = (row.name, row.share, sums.flops, sums.macs, sums.transcendentals, sums.bytes, sums.parameters, sums.intensity)
    if node is not None:
        return NodeRow(*values, node.op, node.section, node.times)
    return OpRow(*values, row.nodes) if view in ("op", "layer") else ScopeRow(*values, row.nodes, row.depth, row.own)


class VariableCost(TypedDict):
    """The backward pass of a variable."""

    variable: str
    own: Section
    all: Section


def variable_data(costs: Mapping[str, tuple[Section, Section]]) -> dict[str, list[VariableCost]]:
    """Return the costs of the backward pass by variable, the largest first."""
    ranked = sorted(costs.items(), key=lambda item: -magnitude(item[1][0].flops))
    return {"variables": [{"variable": name, "own": own, "all": everything} for name, (own, everything) in ranked]}


class MeasuredData(TypedDict):
    """A measurement."""

    wall: float
    profiled: float
    op_seconds: float
    flops: int
    runs: int
    peak: float
    memory: int
    memory_path: str
    rows: Sequence[Mapping[str, Any]]


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
        "rows": [render.plain(row) | {"rate": row.rate, "intensity": row.intensity} for row in rows],
    }


class ClusterData(TypedDict):
    """Times that the servers of a cluster measured."""

    timings: Sequence[Timing]
    wall: float
    runs: int


def cluster_data(measurement: ClusterMeasurement, top: int | None) -> ClusterData:
    """Return the slowest nodes of a measurement on a cluster."""
    return {"timings": measurement.timings[:top], "wall": measurement.wall, "runs": measurement.runs}
