"""Runs of a graph with a fixed batch on feeds of another number of rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from ..graph.graph import Graph
from ..runtime.session.session import Session
from ..runtime.state.run_context import Hook
from ..types.shapes import Shape
from .element_differences import compare, is_value
from .verify_rewrite import GraphRuns, Values

_ROUNDING: Final = 1e-4
"""The relative difference up to which two runs of a row are alike."""


class BatchRuns(GraphRuns):
    """Runs of a graph in batches of `rows`, whose results are joined; the last batch repeats rows from the first on.

    Variables are not looked at: the number of runs differs.
    """

    def __init__(
        self, graph: Graph, fetches: Mapping[str, str], open_session: Callable[[Graph], Session], batched: Sequence[str],
        rows: int,
    ) -> None:  # fmt: skip
        super().__init__(graph, fetches, open_session)
        self.batched = batched
        """The tensors whose first size is the batch."""
        self.rows = rows

    def __call__(self, feeds: Mapping[str, Any], hook: Hook | None = None) -> list[Values]:
        count = len(next(feeds[name] for name in self.batched))
        batches = np.arange(-(-count // self.rows) * self.rows).reshape(-1, self.rows) % count
        runs = [super(BatchRuns, self).__call__(self._taken(feeds, places), hook)[0] for places in batches]
        return [{name: np.concatenate([run[name] for run in runs])[:count] for name in self.fetches}]

    def unlike(self, feeds: Mapping[str, Any]) -> dict[str, str]:
        """Return the fetches whose rows are no results of single rows, each with the reason.

        In a batch of equal rows each result has to be that of the row among others.
        """
        straight = self._values(feeds, np.arange(self.rows))
        alone = {place: self._values(feeds, np.full(self.rows, place)) for place in {0, self.rows // 2, self.rows - 1}}
        reasons = {name: self._unlike(name, straight, alone) for name in self.fetches}
        return {name: reason for name, reason in reasons.items() if reason}

    def _unlike(self, name: str, straight: Values, alone: Mapping[int, Values]) -> str:
        if not is_value(straight.get(name)):
            return "has no value"
        value = np.asarray(straight[name])
        if not value.ndim or len(value) != self.rows:
            return f"has no batch, its shape is {Shape(value.shape)}"
        pairs = ((values[name], np.broadcast_to(value[place], value.shape)) for place, values in alone.items())
        alike = all(compare(name, 1, one, other, _ROUNDING).passed for one, other in pairs)
        return "" if alike else "depends on the place of a row, or on other rows"

    def _values(self, feeds: Mapping[str, Any], places: Any) -> Values:
        return super().__call__(self._taken(feeds, places))[0]

    def _taken(self, feeds: Mapping[str, Any], places: Any) -> dict[str, Any]:
        """Return the feeds with the rows at these places."""
        return {name: np.asarray(value)[places] if name in self.batched else value for name, value in feeds.items()}
