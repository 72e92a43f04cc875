"""The accuracy of a rewritten graph's results, relative to the original's."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from typing import Any, Final

import numpy as np

_EXACT: Final = 1e-6
_ROUNDING: Final = 1e-4
_UNITS: Final = 16
"""The tolerated units in the last place: in half and bfloat16 more than `_ROUNDING`."""
_EPSILONS: Final = {"float16": 2.0**-10, "bfloat16": 2.0**-7}


class Accuracy(enum.StrEnum):
    """The class of a rewrite, by the worst possible change of a floating-point result. Integer results stay the same."""

    EXACT = "exact"
    """The same bits; all NaNs count as equal."""
    ROUNDING = "rounding"
    """A few units in the last place of the operands, or the sign of a zero. Finite, infinite and NaN keep their kinds."""
    RELAXED = "relaxed"
    """Digits may cancel, and a finite result may become infinite or NaN, or the reverse. Only fast math allows the change."""

    @property
    def rank(self) -> int:
        """The rank of the class: 0 for exact, and more for looser classes."""
        return list(Accuracy).index(self)


def loosest(classes: Iterable[Accuracy]) -> Accuracy:
    """Return the class that promises least; exact where there is none."""
    return max(classes, key=lambda one: one.rank, default=Accuracy.EXACT)


def tolerance_of(accuracy: Accuracy, dtype: np.dtype[Any]) -> float:
    """Return the tolerance, relative to the largest element, for a result of rewrites of a class.

    The tolerance of exact rewrites is not 0: in another graph a kernel may add in another order.
    """
    return _EXACT if accuracy is Accuracy.EXACT else max(_ROUNDING, _UNITS * _EPSILONS.get(dtype.name, 0))
