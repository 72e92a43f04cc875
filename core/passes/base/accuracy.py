"""How close the results of a rewritten graph are to those of the original."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from typing import Any, Final

import numpy as np

_EXACT: Final = 1e-6
_ROUNDING: Final = 1e-4
_UNITS: Final = 16
"""Units in the last place: in half and bfloat16 these are more than `_ROUNDING`."""
_EPSILONS: Final = {"float16": 2.0**-10, "bfloat16": 2.0**-7}


class Accuracy(enum.StrEnum):
    """The class of a rewrite, by the worst that it may do to a floating-point result. Integer results stay the same."""

    EXACT = "exact"
    """The same bits; one NaN is as good as another."""
    ROUNDING = "rounding"
    """A few units in the last place of the operands, or the sign of a zero. Finite, infinite and NaN stay what they are."""
    RELAXED = "relaxed"
    """Digits may cancel, and a finite result may become infinite or NaN, or the reverse. Only fast math allows it."""

    @property
    def rank(self) -> int:
        """0 for exact, and more for classes that promise less."""
        return list(Accuracy).index(self)


def loosest(classes: Iterable[Accuracy]) -> Accuracy:
    """Return the class that promises least; exact where there is none."""
    return max(classes, key=lambda one: one.rank, default=Accuracy.EXACT)


def tolerance_of(accuracy: Accuracy, dtype: np.dtype[Any]) -> float:
    """Return the tolerance, relative to the largest element, for a result of rewrites of a class.

    It is not 0 even where all is exact: in another graph a kernel may add in another order.
    """
    return _EXACT if accuracy is Accuracy.EXACT else max(_ROUNDING, _UNITS * _EPSILONS.get(dtype.name, 0))
