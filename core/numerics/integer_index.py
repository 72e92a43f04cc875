"""An index of distinct integers for looking up many places at once."""

from __future__ import annotations

from typing import Final

import numpy as np

from ..types.arrays import Array

_SPREAD: Final = 4
"""How many numbers there may be from the least to the largest, for each that is there, for a place apiece."""


class IntegerIndex:
    """Places of distinct integers: a vector with a place for each number where they lie close together, else bisection."""

    def __init__(self, numbers: Array) -> None:
        order = np.argsort(numbers, kind="stable")
        ascending = numbers[order]
        self._low, self._high = ascending[0], ascending[-1]
        self._order, self._ascending = order, ascending
        self._places: Array | None = None
        span = int(self._high) - int(self._low) + 1
        if span <= _SPREAD * len(numbers):
            self._places = np.full(span, -1, np.intp)
            self._places[ascending - self._low] = order

    def places(self, sought: Array) -> Array:
        """Return the place of each element of a vector of the same dtype, -1 for a missing element."""
        if self._places is None:
            at = np.searchsorted(self._ascending, sought)
            np.minimum(at, len(self._ascending) - 1, out=at)
            return np.where(self._ascending[at] == sought, self._order[at], -1)
        inside = np.clip(sought, self._low, self._high)
        return np.where(inside == sought, self._places[inside - self._low], -1)
