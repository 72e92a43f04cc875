"""The effect of float roundings on the results of a graph, measured by a run in which each op rounds differently.

Each result of an op moves to a neighbouring float, as in Monte Carlo arithmetic (D. S. Parker, Monte Carlo Arithmetic,
UCLA CSD-970002, 1997). A deep network so has as many roundings as layers, and an ill-conditioned op enlarges them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from ..graph.graph import Node

ROUNDINGS: Final = 16.0
"""The largest difference of two right results as a multiple of the effect of one rounding an op.

An op has more roundings than one: the sums of a product of 1,000 terms differ by about 10 units in the last place between
two orders of addition.
"""

LARGEST: Final = 5e-4
"""The largest tolerance for rounding, of the largest element: a wrong rewrite may change as little as 1e-3."""


class RoundingHook:
    """A hook that moves each float that an op returns up or down to the next float; zeros and whole numbers stay.

    Whole numbers may be sizes or counts, which the next float would turn into others.
    """

    def __init__(self, seed: int) -> None:
        self._rng = np.random.default_rng(seed)

    def __call__(self, node: Node, call: Callable[..., Any], inputs: Sequence[Any]) -> Any:
        result = call(*inputs)
        if isinstance(result, (tuple, list)):
            return type(result)(map(self._moved, result)) if type(result) in (tuple, list) else result
        return self._moved(result)

    def _moved(self, value: Any) -> Any:
        if not isinstance(value, (np.ndarray, np.generic)) or value.dtype.kind != "f":
            return value
        with np.errstate(all="ignore"):
            ends = self._rng.choice(np.array([-np.inf, np.inf], value.dtype), np.shape(value))
            moved = np.where(value == np.rint(value), value, np.nextafter(value, ends))
        return moved if isinstance(value, np.ndarray) else value.dtype.type(moved)
