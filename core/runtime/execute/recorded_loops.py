"""Planned runs of V1 loops whose random ops draw in the order that a run in dataflow has told.

TensorFlow begins iterations ahead of time, so the draws of a node wait for a turn, and take their turns in another order
than the iterations, often the reverse one. The order follows from the graph, from the numbers of iterations, and from the
kernels that count as cheap, but from no value. So after a run in dataflow the loops of later runs, with feeds of the same
shapes, are planned: the first draw of a node draws for all iterations, in the order of the streams.

A loop with another number of iterations, or a draw of another shape, shows before the run has had an effect: the streams are
put back, and the run begins again in dataflow. So do runs in which a kernel begins to count as cheap, runs with a hook, and
runs beside another run.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from ...graph.graph import Node
from ...ordering.scheduling import RUNS_UNTIL_CHEAP
from ...random.philox import Philox
from ...support import dataclasses
from ..optimize.shape_programs import Runnable
from ..optimize.tiers import Tier
from ..state.run_context import current
from ..steps.instructions import Call
from .dataflow import Actor, DataflowProgram, LoopDraw

_MOST_MISJUDGED: Final = 3
"""The planned runs in a row that end before their end, after which a program no longer tries: its loops depend on values."""
_MOST_RECORDS: Final = 64
"""The largest number of combinations of shapes whose order is kept."""


class _Misjudged(BaseException):
    """A planned run that is not as the record was. No error of a kernel, which would be told with the kernel's node."""


@dataclasses.dataclass(frozen=True, slots=True)
class _LoopRecord:
    """What a run in dataflow tells: the draws of each node, in the order of its stream, and the runs of kernels."""

    draws: Mapping[Node, Sequence[LoopDraw]]
    runs: Mapping[Actor, int]

    def is_near_change(self) -> bool:
        """True where a kernel may begin to count as cheap in the next run, which changes the order."""
        return any(item.runs < RUNS_UNTIL_CHEAP <= item.runs + count for item, count in self.runs.items())


class _DrawsAhead:
    """The draws of a node in a planned run: all at once at the first."""

    def __init__(self, call: Call, draws: Sequence[LoopDraw]) -> None:
        self.call = call
        self.draws = draws
        self.inputs = {draw.iteration: draw.inputs for draw in draws}
        self.results: dict[int, Any] = {}
        self.taken = 0

    def next(self, inputs: Sequence[Any]) -> Any:
        """Return the draw of the next iteration."""
        if self.taken == len(self.draws):
            raise _Misjudged
        place = self.taken
        self.taken += 1
        if not all(map(np.array_equal, self.inputs[place], inputs)):
            raise _Misjudged
        if place == 0:
            self.results = {draw.iteration: self.call(*draw.inputs) for draw in self.draws}
        return self.results.pop(place)


class RecordedLoops:
    """The runs of a plan whose loops draw random numbers.

    `nodes` are the random ops of the loops, by the condition of their loop, and `calls` their kernels. `streams` returns the
    states of all random ops. `program` is that of the plan in order, with the calls of `draw` and `checked`.
    """

    def __init__(
        self,
        dataflow: DataflowProgram,
        nodes: Mapping[Node, Sequence[Node]],
        calls: Mapping[Node, Call],
        streams: Callable[[], Sequence[Any]],
    ) -> None:
        self._dataflow = dataflow
        self._nodes = nodes
        self._calls = calls
        self._streams = streams
        self._records: dict[Any, _LoopRecord] = {}
        self._draws: dict[Node, _DrawsAhead] = {}
        self._is_taken = threading.Lock()
        self._misjudged = 0
        self.tier = Tier.DATAFLOW
        self.program: Runnable | None = None

    def draw(self, node: Node) -> Call:
        """Return a node's call in planned runs."""
        return lambda *inputs: self._draws[node].next(inputs)

    def checked(self, condition: Node, call: Call) -> Call:
        """Return the call of a loop, which then compares the numbers of draws and iterations."""
        nodes = self._nodes.get(condition, ())

        def run(*inputs: Any) -> Any:
            results = call(*inputs)
            if any(self._draws[node].taken != len(self._draws[node].draws) for node in nodes):
                raise _Misjudged
            return results

        return run if nodes else call

    def run(self, feeds: Sequence[Any]) -> list[Any]:
        """Return the values of the fetches, by the plan where the order of the draws is known."""
        if not self._is_taken.acquire(blocking=False):
            return self._dataflow.run(feeds)
        try:
            key = tuple([np.shape(value) for value in feeds])
            record = self._records.get(key)
            streams = self._streams()
            # Other streams cannot be put back where a run turns out otherwise.
            are_known = all(isinstance(state, Philox) for state in streams) and self._misjudged < _MOST_MISJUDGED
            if record is None or record.is_near_change() or not are_known:
                return self._recorded(feeds, key)
            return self._performed(record, feeds, key, streams)
        finally:
            self._draws = {}
            self._is_taken.release()

    def _recorded(self, feeds: Sequence[Any], key: Any) -> list[Any]:
        """Run in dataflow; a run in which no kernel began to count as cheap tells the order of the next."""
        items = [item for item in self._dataflow.items.values() if not item.is_cheap]
        before = {item: item.runs for item in items}
        draws: dict[Node, list[LoopDraw]] = {node: [] for nodes in self._nodes.values() for node in nodes}
        results = self._dataflow.run(feeds, draws=draws)
        self.tier = Tier.DATAFLOW
        if any(item.is_cheap for item in items) or len(self._records) >= _MOST_RECORDS:
            self._records.clear()
        else:
            self._records[key] = _LoopRecord(draws, {item: item.runs - before[item] for item in items})
        return results

    def _performed(self, record: _LoopRecord, feeds: Sequence[Any], key: Any, streams: Sequence[Philox]) -> list[Any]:
        assert self.program is not None
        self._draws = {node: _DrawsAhead(self._calls[node], draws) for node, draws in record.draws.items()}
        counters = [(state, state.counter) for state in streams]
        try:
            results = self.program.run(feeds)
        except _Misjudged:
            self._misjudged += 1
            for state, counter in counters:
                state.counter = counter
            current().forget_resources()
            return self._recorded(feeds, key)
        self._misjudged = 0
        self.tier = self.program.tier
        for item, count in record.runs.items():
            item.runs += count
        return results
