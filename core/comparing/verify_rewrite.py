"""Running a graph before and after optimization on the same feeds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..graph.graph import Graph
from ..runtime.session.runner import Runner
from ..runtime.session.session_like import SessionLike
from ..support.errors import InvalidArgumentError
from ..support.tensor_names import parse_tensor_name
from .drawn_feeds import Feeds
from .element_differences import Comparison, compare, is_value, worse

Tolerance = Callable[[Any], float]
"""A function from the dtype of compared values to the relative tolerance."""


def verify(
    before: Graph,
    after: Graph,
    fetches: Sequence[str],
    fixed_feeds: Mapping[str, Any],
    open_session: Callable[[Graph], SessionLike],
    tolerance: Tolerance | float,
    steps: int = 1,
) -> list[Comparison]:
    """Compare the fetches of both graphs in `steps` runs each on several feeds; return the worst comparison of each fetch.

    Feeds beside `fixed_feeds` are drawn. `tolerance` is relative to the largest element, or a function from the dtype of a
    fetch to the tolerance. An operation is compared by the values of the variables after the run. `open_session` returns
    the session of a graph: a seed common to both, the variables initialized, files as allowed. Raises NoFeedsError where
    the first graph runs on no feeds, InvalidArgumentError where there is nothing to compare.
    """
    worst: dict[str, Comparison] = {}

    def run(feeds: Mapping[str, Any]) -> list[dict[str, Any]]:
        return _runs(before, fetches, feeds, open_session, steps)

    for feeds, first in Feeds(before, fixed_feeds, fetches).each_that_runs(run):
        left = {name: value for name, value in feeds.items() if parse_tensor_name(name)[0] in after}
        second = _runs(after, fetches, left, open_session, steps)
        for step, pair in enumerate(zip(first, second), 1):
            for name in pair[0].keys() & pair[1].keys():
                if not (is_value(pair[0][name]) and is_value(pair[1][name])):
                    continue
                allowed = tolerance(np.asarray(pair[0][name]).dtype) if callable(tolerance) else tolerance
                comparison = compare(name, step, pair[0][name], pair[1][name], allowed)
                worst[name] = worse(worst.get(name), comparison)
    if not worst:
        raise InvalidArgumentError(f"nothing to compare: {', '.join(fetches)} have no values and change no variables")
    order = {name: place for place, name in enumerate(fetches)}
    return sorted(worst.values(), key=lambda comparison: (order.get(comparison.fetch, len(order)), comparison.fetch))


def _runs(
    graph: Graph, fetches: Sequence[str], feeds: Mapping[str, Any], open_session: Callable[[Graph], SessionLike], steps: int
) -> list[dict[str, Any]]:
    """Return the values of each step by name: of fetches, and of the variables where a fetch is an operation."""
    session = open_session(graph)
    results = []
    for _ in range(steps):
        values = dict(zip(fetches, session.run(list(fetches), feeds)))
        results_of_step = {name: value for name, value in values.items() if value is not None}
        if len(results_of_step) < len(values):
            results_of_step |= {f"variable {name}": tensor.numpy() for name, tensor in Runner(session).state().items()}
        results.append(results_of_step)
    return results
