"""Loops with unordered random draws, run by steps: each draw takes its place in the stream from a run by dataflow.

The run by dataflow is a rehearsal: it records the order in which the iterations drew. The order depends on the shapes of the
feeds, on the number of iterations, which are checked before each run, and on which kernels count as cheap.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from ...graph.graph import Node
from ...ordering.scheduling import RUNS_UNTIL_CHEAP
from ...planning.plan import Rehearsal
from ...random.philox import Philox
from ...random.rng_prefetch import DrawsInOrder, PlacedStream, Places
from ...support.keyed_cache import KeyedCache
from ..optimize.shape_programs import Runnable
from ..state.run_context import current

_MOST_ORDERS: Final = 64
_MOST_DRAWS: Final = 1 << 16
"""Of a run whose order is kept: what there is to keep for each takes 8 bytes and more."""


class DrawRecord:
    """In which order the nodes of a run drew, and from where in their streams; `iteration` is the one that is going on."""

    def __init__(self, draws: frozenset[Node]) -> None:
        self.iteration = 0
        self._taken: dict[Node, list[tuple[int, int]]] = {node: [] for node in draws}
        self._streams: dict[Node, Philox] = {}

    def stream(self, node: Node, stream: Philox) -> Philox:
        """The stream, as it is, for a node that is about to draw."""
        if node in self._taken:
            self._taken[node].append((self.iteration, stream.counter))
            self._streams[node] = stream
        return stream

    @property
    def count(self) -> int:
        """How often they drew."""
        return sum(map(len, self._taken.values()))

    def places(self) -> dict[Node, Places] | None:
        """Where in the order of draws that of each iteration stood; None where they were not alike, or others drew too."""
        found = {}
        for node, taken in self._taken.items():
            iterations = [iteration for iteration, _ in taken]
            counters = [counter for _, counter in taken]
            if sorted(iterations) != list(range(len(taken))):
                return None
            ends = [*counters[1:], *([self._streams[node].counter] if taken else [])]
            steps = {(end - start) % (1 << 128) for start, end in zip(counters, ends)}
            if len(steps) > 1:
                return None
            order = sorted(range(len(taken)), key=iterations.__getitem__)
            found[node] = Places(tuple(order), steps.pop() if steps else 0)
        return found


class _Drawing:
    """The draws of a run in the order of its iterations, by the places that they are to have."""

    def __init__(self, places: Mapping[Node, Places]) -> None:
        self._places = places
        self._begun: dict[Node, DrawsInOrder] = {}

    def stream(self, node: Node, stream: Philox) -> Philox | PlacedStream:
        """What a node is about to draw from."""
        places = self._places.get(node)
        if places is None:
            return stream
        begun = self._begun.get(node)
        if begun is None:
            begun = self._begun[node] = DrawsInOrder(stream, places)
        return begun.next()


class RehearsedDraws:
    """The runs of one program. `counts` is (values of what says how many iterations there are) given the feeds."""

    def __init__(self, rehearsal: Rehearsal, steps: Runnable, counts: Runnable) -> None:
        self.rehearsal = rehearsal
        self.runs = 0
        self._steps = steps
        self._counts = counts
        self._orders: KeyedCache[Any, dict[Node, Places]] = KeyedCache(_MOST_ORDERS)
        self._lock = threading.Lock()

    def run(self, feeds: Sequence[Any], rehearse: Callable[[DrawRecord], tuple[list[Any], bool]]) -> list[Any]:
        """The results; `rehearse` is a run by dataflow, which also tells whether the next one like it draws in its order."""
        key = self._key(feeds)
        with self._lock:
            self.runs += 1
            if self.runs == RUNS_UNTIL_CHEAP:  # what runs once in each run may count as cheap from now on
                self._orders.clear()
            places = self._orders.get(key)
        if places is not None:
            with current().drawing(_Drawing(places)):
                return self._steps.run(feeds)
        record = DrawRecord(self.rehearsal.draws)
        with current().drawing(record):
            results, is_settled = rehearse(record)
        if is_settled and record.count <= _MOST_DRAWS:
            self._keep(key, record.places())
        return results

    def _keep(self, key: Any, places: dict[Node, Places] | None) -> None:
        with self._lock:
            if places is not None:
                self._orders[key] = places

    def _key(self, feeds: Sequence[Any]) -> Any:
        counts = [value.tolist() for value in self._counts.run(feeds)]
        return tuple([getattr(value, "shape", None) for value in feeds]), repr(counts)
