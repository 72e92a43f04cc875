"""Measurement of a run: the shapes that occurred, the executions of each node, and their time."""

from __future__ import annotations

import copy
import functools
import time
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..graph.graph import Node
from ..inference.node_calls import call_flops_function
from ..numerics.blas_threads import one_thread
from ..registry import registry
from ..registry.registry import Cost
from ..runtime.state.resources import Variable
from ..support import dataclasses
from ..support.arguments import checked
from ..support.display import Report
from ..support.errors import InvalidArgumentError, TfgError
from ..support.grouping import grouped
from ..support.words import counted
from ..types.dims import Dim
from ..types.dtypes import from_numpy, resource, string
from ..types.shapes import Shape, TensorSpec
from .count import moved_bytes
from .flops_report import FlopsReport
from .model_layers import NO_LAYER, layers_by_path
from .views import scopes_of

if TYPE_CHECKING:
    from ..runtime.session.session import Session

_MAX_VALUE: Final = 64
"""The largest number of elements of an integer input that is recorded with values: window sizes, axes."""
_PEAK_SIZE: Final = 1024


@dataclasses.dataclass(frozen=True, slots=True)
class MeasuredNode:
    """A node in the average run: executions, own seconds (without called functions), arithmetic."""

    path: str
    op: str
    calls: float
    seconds: float
    flops: int
    transcendentals: int
    bytes: int
    shapes: str
    reason: str = ""

    @property
    def rate(self) -> float:
        """Return FLOPs a second."""
        return self.flops / self.seconds if self.seconds else 0.0

    @property
    def intensity(self) -> float:
        """Return FLOPs a byte."""
        return self.flops / self.bytes if self.bytes else 0.0


@dataclasses.dataclass(frozen=True, slots=True)
class Event:
    """A call of a node: start and duration in nanoseconds from the start of the run."""

    path: str
    op: str
    start: int
    duration: int


@dataclasses.dataclass(frozen=True, slots=True, repr=False)
class Measurement(Report, main_table="nodes"):
    """A measurement. Seconds are of a single run: `wall` is the mean without the profile hook, `profiled` with the hook."""

    nodes: tuple[MeasuredNode, ...]
    wall: float
    profiled: float
    runs: int
    peak: float
    """FLOPs a second of a large float32 matrix product on this machine."""
    events: tuple[Event, ...]
    """The calls of the last run."""
    memory: int = 0
    """The largest number of bytes that values held at a time: values that nodes returned and that were not freed yet."""
    memory_path: str = ""
    """The node at which the memory of values peaked."""
    drawn: str = ""
    """The feeds that were drawn, in words: those of the placeholders without a value."""

    def headline(self) -> str:
        return f"{self.wall * 1e3:.3g} ms, {counted(len(self.nodes), 'node')}, {self.flops:,} FLOPs"

    @property
    def flops(self) -> int:
        return sum(node.flops for node in self.nodes)

    @property
    def op_seconds(self) -> float:
        """Return the sum of the nodes' own times."""
        return sum(node.seconds for node in self.nodes)

    def unknown(self) -> list[MeasuredNode]:
        """Return the nodes that ran but whose arithmetic is not known."""
        return [node for node in self.nodes if node.reason]

    def by_op(self) -> list[MeasuredNode]:
        """Return a row for each op type, the slowest first."""
        return self.by_key(lambda node: [node.op])

    def by_node(self) -> list[MeasuredNode]:
        """Return the nodes, the slowest first."""
        return sorted(self.nodes, key=lambda node: -node.seconds)

    def by_key(self, keys_of: Callable[[MeasuredNode], Iterable[str]]) -> list[MeasuredNode]:
        """Return the sums over the nodes of each key, the slowest first; `keys_of` returns the keys of a node."""
        groups = grouped((key, node) for node in self.nodes for key in keys_of(node))
        return sorted((_joined(key, nodes) for key, nodes in groups.items()), key=lambda row: -row.seconds)

    def by_scope(self, depth: int = 3) -> list[MeasuredNode]:
        """Return a row for each name scope down to `depth` with everything below, the slowest first."""
        return self.by_key(lambda node: scopes_of(node.path, depth))

    def by_layer(self, report: FlopsReport) -> list[MeasuredNode]:
        """Return a row for each layer, the slowest first; `report` is the count of the same graph, which finds the layers."""
        layers = layers_by_path(report.nodes)
        return self.by_key(lambda node: [layers.get(node.path, NO_LAYER)])

    def trace(self) -> dict[str, Any]:
        """Return the last run's calls in the Trace Event Format, for Perfetto and chrome://tracing."""
        nodes = {node.path: node for node in self.nodes}
        events = [
            {
                # Times are microseconds in this format.
                "name": event.op, "cat": "op", "ph": "X", "pid": 1, "tid": 1, "ts": event.start / 1e3,
                "dur": event.duration / 1e3, "args": _trace_args(event, nodes.get(event.path)),
            }
            for event in sorted(self.events, key=lambda event: (event.start, -event.duration))
        ]  # fmt: skip
        named = {"name": "process_name", "ph": "M", "pid": 1, "args": {"name": "tfg"}}
        return {"traceEvents": [named, *events], "displayTimeUnit": "ns"}


def measure(
    session: Session, fetches: Sequence[str], feeds: Mapping[str, Any], *, warmup: int = 1, runs: int = 3
) -> Measurement:
    """Run the fetches `warmup` times to count, `runs` times to time each node, and as often without the profile."""
    counting = KernelRecorder(with_shapes=True)
    for _ in range(max(warmup, 1)):
        counting.clear()
        session.run(fetches, feeds, hook=counting)
    from statistics import mean  # lazy: most counts measure nothing

    timing = KernelRecorder()
    times: list[tuple[str, int]] = []
    profiled, wall = [], []
    for _ in range(runs):
        # Plain and recorded runs take turns, so that a machine that becomes slower meanwhile slows both.
        wall.append(_seconds(lambda: session.run(fetches, feeds)))
        timing.clear()
        profiled.append(_seconds(lambda: session.run(fetches, feeds, hook=timing)))
        times += timing.own_times()
    return _measurement(counting, timing, times, mean(wall), mean(profiled), runs)


def _measurement(
    counting: KernelRecorder, timing: KernelRecorder, times: Iterable[tuple[str, int]], wall: float, profiled: float, runs: int
) -> Measurement:
    """Return the measurement of `runs` runs: `times` has the own nanoseconds of each call, `timing` the last run's calls."""
    totals: dict[str, list[int]] = {}
    for path, own in times:
        entry = totals.setdefault(path, [0, 0])
        entry[0] += 1
        entry[1] += own
    nodes = tuple(_measured(path, total, runs, counting.work.get(path)) for path, total in totals.items())
    events = tuple(Event(*call) for call in timing.calls())
    memory = counting.memory
    return Measurement(nodes, wall, profiled, runs, matmul_peak(), events, memory.peak, memory.path)


class KernelRecorder:
    """A hook of `Session.run` that records start and end of every kernel.

    With `with_shapes`, the hook also records shapes, FLOPs, bytes and the memory of values, for `measurement`.
    """

    @checked
    def __init__(self, with_shapes: bool = False) -> None:
        self.with_shapes = with_shapes
        self.clear()

    def take(self) -> KernelRecorder:
        """Return a recorder with the records so far, and discard them here."""
        taken = copy.copy(self)
        self.clear()
        return taken

    def clear(self) -> None:
        """Discard all records."""
        self.memory = LiveMemory()
        self.work: dict[str, _NodeWork] = {}
        self._records: list[tuple[str, str, int, int, int]] = []
        self._prefixes = [""]
        self._inside = [0]
        self._started = time.perf_counter_ns()

    def __call__(self, node: Node, call: Callable[..., Any], inputs: Sequence[Any]) -> Any:
        path = self._prefixes[-1] + node.name
        self._prefixes.append(f"{path}/")
        self._inside.append(0)
        start = time.perf_counter_ns()
        try:
            result = call(*inputs)
        finally:
            duration = time.perf_counter_ns() - start
            # After an error too: a kernel that has to wait raises, and is called again in the same run.
            self._prefixes.pop()
            children = self._inside.pop()
            self._inside[-1] += duration
        self._records.append((path, node.op, start - self._started, duration, duration - children))
        if self.with_shapes:
            self.work.setdefault(path, _NodeWork(node)).add(inputs, result)
            self.memory.add(path, result)
            self._inside[-1] += time.perf_counter_ns() - start - duration  # the caller's own time is without these records
        return result

    def measurement(self, seconds: float | None = None) -> Measurement:
        """Return the measurement of the recorded run, for a recorder with shapes.

        `seconds` is the wall time of the run, by default the time from the first kernel to the end of the last kernel.
        InvalidArgumentError for a recorder without shapes.
        """
        if not self.with_shapes:
            raise InvalidArgumentError("the recorder has no shapes", hint="pass with_shapes=True to KernelRecorder")
        if seconds is None:
            ends = [start + duration for _, _, start, duration, _ in self._records]
            seconds = (max(ends) - min(start for _, _, start, _, _ in self._records)) / 1e9 if ends else 0.0
        return _measurement(self, self, self.own_times(), seconds, seconds, 1)

    def own_times(self) -> Iterable[tuple[str, int]]:
        """Return (path, nanoseconds without called nodes) of each call."""
        return ((path, own) for path, _, _, _, own in self._records)

    def calls(self) -> Iterable[tuple[str, str, int, int]]:
        """Return (path, op, start, duration) of each call, in the order they ended."""
        return ((path, op, start, duration) for path, op, start, duration, _ in self._records)


class _NodeWork:
    """The work of all calls of a node together."""

    def __init__(self, node: Node) -> None:
        self.node = node
        self.cost = Cost()
        self.bytes = 0
        self.shapes = ""
        self.reason = ""

    def add(self, inputs: Sequence[Any], result: Any) -> None:
        """Count a call; library calls count by the nodes of the bodies."""
        node = self.node
        results = result if isinstance(result, (tuple, list)) else (result,)
        before = [_spec(value) for value in inputs]
        after = [_spec(value) for value in results if value is not None]
        self.shapes = " ".join(str(spec.shape) for spec in before)
        # A call or functional control flow.
        if node.op_def is None or any("func" in attr.type for attr in node.op_def.attrs.values()):
            return
        function = registry.flops_function(node.op)
        if function is None:
            self.reason = f"op {node.op} has no FLOPs formula"
            return
        try:
            cost = call_flops_function(node, function, before, after)
        except TfgError as error:
            self.reason = error.message
            return
        if any(isinstance(value, Dim) for value in (cost.flops, cost.transcendentals)):
            self.reason = "its cost depends on more than its shapes"
            return
        self.cost += cost
        moved = moved_bytes(node, before, after)
        self.bytes += moved if isinstance(moved, int) else 0


def _spec(value: Any) -> TensorSpec:
    """Return the exact spec of a value; small integers with their values, handles with the specs behind them."""
    if isinstance(value, Variable):
        return TensorSpec(value.dtype, value.shape if value.value_shape is None else Shape(value.value_shape))
    array = np.asarray(value)
    if array.dtype == object:
        held = array.item() if array.ndim == 0 else None
        inner = (_spec(held),) if isinstance(held, Variable) else ()
        dtype = string if held is None or isinstance(held, (bytes, str)) else resource
        return TensorSpec(dtype, Shape(array.shape), handle=inner)
    is_small = array.dtype.kind in "iub" and array.size <= _MAX_VALUE
    return TensorSpec(from_numpy(array.dtype), Shape(array.shape), array if is_small else None)


def _measured(path: str, times: list[int], runs: int, work: _NodeWork | None) -> MeasuredNode:
    calls, nanoseconds = times
    if work is None:
        return MeasuredNode(path, "?", calls / runs, nanoseconds / runs / 1e9, 0, 0, 0, "", "it did not run")
    flops, transcendentals = (int(v) if isinstance(v, int) else 0 for v in (work.cost.flops, work.cost.transcendentals))
    seconds = nanoseconds / runs / 1e9
    return MeasuredNode(
        path, work.node.op, calls / runs, seconds, flops, transcendentals, work.bytes, work.shapes, work.reason
    )


def _joined(name: str, nodes: Sequence[MeasuredNode]) -> MeasuredNode:
    """Return the sums over nodes as a row with a name; the op is the nodes' op where all have the same, else empty."""
    ops = {node.op for node in nodes}
    return MeasuredNode(
        name,
        ops.pop() if len(ops) == 1 else "",
        sum(n.calls for n in nodes),
        sum(n.seconds for n in nodes),
        sum(n.flops for n in nodes),
        sum(n.transcendentals for n in nodes),
        sum(n.bytes for n in nodes),
        "",
        next((n.reason for n in nodes if n.reason), ""),
    )


def _seconds(run: Callable[[], Any]) -> float:
    started = time.perf_counter()
    run()
    return time.perf_counter() - started


def matmul_peak() -> float:
    """Return FLOPs a second of this machine's best of several float32 matrix products."""
    from ..numerics.gemm import matmul  # lazy: counts need no products

    # Large enough for the arithmetic to outweigh the memory traffic, and done within milliseconds.
    a = np.ones((_PEAK_SIZE, _PEAK_SIZE), np.float32)
    out = np.empty_like(a)
    with one_thread:
        # The best time counts, because other programs only take time away.
        best = min(_seconds(lambda: matmul(a, a, out=out)) for _ in range(5))
    return float(2 * _PEAK_SIZE**3 / best)


def _trace_args(event: Event, node: MeasuredNode | None) -> dict[str, Any]:
    if node is None:
        return {"node": event.path}
    return {"node": event.path, "inputs": node.shapes, "flops": node.flops, "bytes": node.bytes}


# The memory that values of a run hold, by the arrays that are alive.


class LiveMemory:
    """The bytes of arrays that nodes returned and that are alive, and the largest sum so far.

    Views count once, with the array that owns the memory. Scratch memory inside a kernel does not count, nor do numbers and
    strings outside of arrays.
    """

    def __init__(self) -> None:
        self.peak = 0
        self.path = ""
        self._bytes = 0
        self._alive: dict[int, weakref.ref[Any]] = {}

    def add(self, path: str, result: Any) -> None:
        """Note the result of a node: an array, or several in a list or tuple."""
        for value in result if isinstance(result, (tuple, list)) else (result,):
            if isinstance(value, np.ndarray):
                self._add_owner(_owner(value))
        # The peak is taken after the whole result, because a node's outputs are alive together.
        if self._bytes > self.peak:
            self.peak, self.path = self._bytes, path

    def _add_owner(self, owner: np.ndarray[Any, Any]) -> None:
        key = id(owner)  # unique while the array is alive; its end removes the key
        if key not in self._alive:
            self._alive[key] = weakref.ref(owner, functools.partial(self._forget, key, owner.nbytes))
            self._bytes += owner.nbytes

    def _forget(self, key: int, size: int, _: weakref.ref[Any]) -> None:
        del self._alive[key]
        self._bytes -= size


def _owner(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return the array whose memory a view shows."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array
