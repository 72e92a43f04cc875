"""Times that TensorFlow measured, joined with the counts by node name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from ..graph.graph import Graph
from ..inference.inference import infer
from ..support import dataclasses
from ..support.grouping import grouped
from ..support.json_documents import PYTHON_ONLY
from ..types.dims import DimLike
from .flops_report import FlopsReport, magnitude

_FED: Final = re.compile(r"_arg_(.+)_(\d+)_\d+")


@dataclasses.dataclass(frozen=True, slots=True)
class NodeTime:
    """An execution of a node in a RunMetadata: seconds of the kernel, and the shapes of outputs by number."""

    name: str
    op: str
    device: str
    start: float
    seconds: float
    output_shapes: Mapping[int, tuple[int, ...]] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True, slots=True)
class Timing:
    """All executions of a node on a device, or the mean of several runs, with the counted FLOPs.

    `flops` is None where the count lacks the node.
    """

    name: str
    """The name of the node."""
    op: str
    """The op of the node."""
    device: str
    """The device that ran the node."""
    calls: float
    """How often the node ran."""
    seconds: float
    """The seconds of all calls."""
    flops: DimLike | None
    """The counted FLOPs; None where the count lacks the node."""

    @property
    def rate(self) -> float:
        """Return FLOPs a second, 0 where symbols remain."""
        return magnitude(self.flops) / self.seconds if isinstance(self.flops, int) and self.seconds else 0.0


@dataclasses.dataclass(frozen=True, slots=True)
class ClusterMeasurement:
    """Times that the servers of a cluster measured."""

    timings: tuple[Timing, ...]
    """The nodes, the slowest first."""
    wall: float
    """Seconds of a run, as the client sees it."""
    runs: int
    """How many runs were timed."""
    times: tuple[NodeTime, ...] = dataclasses.field(metadata=PYTHON_ONLY)
    """The executions of the last run."""

    def trace(self) -> dict[str, Any]:
        """Return the executions of the last run in the Trace Event Format, a process a device."""
        devices = {device: number for number, device in enumerate(dict.fromkeys(time.device for time in self.times), 1)}
        named = [
            # Viewers show this name in the place of the number.
            {"name": "process_name", "ph": "M", "pid": number, "args": {"name": device}}
            for device, number in devices.items()
        ]
        events = [
            {
                "name": time.op, "cat": "op", "ph": "X", "pid": devices[time.device], "tid": 1, "ts": time.start * 1e6,
                "dur": time.seconds * 1e6, "args": {"node": time.name},
            }
            for time in self.times
        ]  # fmt: skip
        return {"traceEvents": named + events, "displayTimeUnit": "ns"}


def recorded_shapes(graph: Graph, times: Iterable[NodeTime]) -> dict[str, tuple[int, ...]]:
    """Return the shapes of tensors that the graph leaves open, where they were the same in all executions.

    TensorFlow records a feed of `x:0` as a node `_arg_x_0_` with a number.
    """
    recorded: dict[str, set[tuple[int, ...]]] = {}
    for time in times:
        fed = _FED.fullmatch(time.name)
        for index, shape in time.output_shapes.items():
            name = f"{fed[1]}:{fed[2]}" if fed else f"{time.name}:{index}"
            recorded.setdefault(name, set()).add(shape)
    specs = infer(graph).specs
    unknown = {output.name for output, spec in specs.items() if not spec.shape.is_known}
    # A tensor that had several shapes, as in a loop, stays open.
    return {name: shape for name, (shape, *others) in recorded.items() if name in unknown and not others}


def joined(report: FlopsReport, times: Iterable[NodeTime]) -> list[Timing]:
    """Return times summed by node and device, the slowest first; a run's FLOPs are divided among the recorded executions."""
    costs = {node.path: node for node in report.nodes}
    timings = []
    for (name, device), members in grouped(((time.name, time.device), time) for time in times).items():
        cost = costs.get(name)
        op = cost.op if cost is not None else members[0].op
        # A node without a count has None, which is not 0.
        flops = None if cost is None or cost.reason else cost.cost.flops
        timings.append(Timing(name, op, device, len(members), sum(t.seconds for t in members), flops))
    return sorted(timings, key=lambda timing: -timing.seconds)


def mean_of(timings: Iterable[Timing], runs: int) -> tuple[Timing, ...]:
    """Return the mean of timings summed over several runs."""
    return tuple(dataclasses.replace(t, calls=t.calls / runs, seconds=t.seconds / runs) for t in timings)
