"""Running a graph before and after optimization on the same feeds."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..dtypes import DType
from ..errors import InvalidArgumentError
from ..graph import Graph
from ..runtime.runner import Runner
from ..runtime.session import Session
from ..shapes import as_shape

_UNKNOWN_SIZE = 2
_MAX_SIZE = 1 << 28


@dataclasses.dataclass(frozen=True, slots=True)
class Comparison:
    """How far one fetch differs: the largest absolute difference, and the relative tolerance that would pass.

    `step` is the run in which it differed most, counted from 1.
    """

    fetch: str
    step: int
    largest_difference: float
    tolerance_needed: float
    passed: bool


def verify(
    before: Graph,
    after: Graph,
    fetches: Sequence[str],
    feeds: Mapping[str, Any],
    open_session: Callable[[Graph], Session],
    tolerance: float,
    steps: int = 1,
) -> list[Comparison]:
    """Compare the fetches of both graphs in each of `steps` runs, the worst of each fetch.

    An operation is compared by what it leaves in the variables. `open_session` gives a graph the session that it runs in: one
    seed for both, the variables initialized, files as allowed. InvalidArgumentError where there is nothing to compare.
    """
    sessions = [open_session(graph) for graph in (before, after)]
    worst: dict[str, Comparison] = {}
    for step in range(1, steps + 1):
        results = [session.run(list(fetches), feeds) for session in sessions]
        pairs = [(name, a, b) for name, a, b in zip(fetches, *results) if a is not None]
        if len(pairs) < len(fetches):
            pairs += _variables(*sessions)
        for found in (compare(name, step, a, b, tolerance) for name, a, b in pairs):
            if found.fetch not in worst or found.tolerance_needed > worst[found.fetch].tolerance_needed:
                worst[found.fetch] = found
    if not worst:
        raise InvalidArgumentError(f"nothing to compare: {', '.join(fetches)} have no values and leave no variables behind")
    return list(worst.values())


def _variables(before: Session, after: Session) -> list[tuple[str, Any, Any]]:
    """The variables that both sessions hold, by name, with the values in each."""
    first, second = (Runner(session).state() for session in (before, after))
    return [(f"variable {name}", first[name].numpy(), second[name].numpy()) for name in sorted(first.keys() & second.keys())]


def compare(name: str, step: int, a: Any, b: Any, tolerance: float) -> Comparison:
    """Two values of a fetch; what is not a number must be equal."""
    a, b = (np.asarray(value, object) if isinstance(value, bytes) else value for value in (a, b))
    if a.shape != b.shape or a.dtype != b.dtype:
        return Comparison(name, step, np.inf, np.inf, False)
    if a.dtype.kind not in "fciuV" or not a.size:
        same = bool(np.array_equal(a, b))
        return Comparison(name, step, 0.0 if same else np.inf, 0.0 if same else np.inf, same)
    wide = np.complex128 if a.dtype.kind == "c" else np.float64
    x, y = a.astype(wide), b.astype(wide)
    both = ~(np.isnan(x) & np.isnan(y)) & (x != y)
    difference = np.abs(x - y)[both]
    if not difference.size:
        return Comparison(name, step, 0.0, 0.0, True)
    scale = np.maximum(np.max(np.abs(x[np.isfinite(x)]), initial=0.0), 1e-30)
    needed = float(np.max(np.where(np.isfinite(difference), difference, np.inf)) / scale)
    return Comparison(name, step, float(np.max(difference)), needed, needed <= tolerance)


def generated_feeds(graph: Graph, feeds: Mapping[str, Any], needed: set[str]) -> dict[str, Any]:
    """The feeds, and for every other placeholder that is needed random values; unknown sizes become 2."""
    rng = np.random.default_rng(0)
    result = dict(feeds)
    for node in graph:
        if node.op == "Placeholder" and node.name in needed and f"{node.name}:0" not in result:
            shape = as_shape(node.attr("shape"))
            sizes = [d if isinstance(d, int) else _UNKNOWN_SIZE for d in shape.dims or ()]
            if math.prod(sizes) > _MAX_SIZE:
                message = f"{shape} is too large for random values"
                raise InvalidArgumentError(message, node=node.name, op=node.op, hint="feed it")
            result[f"{node.name}:0"] = _random(rng, sizes, node.attrs["dtype"])
    return result


def _random(rng: np.random.Generator, sizes: Sequence[int], dtype: DType) -> Any:
    if dtype.is_floating or dtype.is_complex:
        return rng.standard_normal(sizes).astype(dtype.numpy)
    if dtype.is_object:
        return np.full(sizes, b"a", object)
    return rng.integers(0, 2, sizes).astype(dtype.numpy)
