"""Settings of an engine in a session, and compiled groups."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, TypeAlias

import numpy as np

from ..support import dataclasses
from ..support.trials import Trial
from .protocol import Compiled

_COMPILE_SECONDS: Final = 120.0
"""The seconds of compiling in a session before later groups stay in NumPy."""
PAIRS: Final = 3
"""The number of paired runs of a group, in the engine and in NumPy, before a choice; the first pair warms up."""
PAIRED_GAIN: Final = 1.3
"""The ratio of times below which a group stays with its engine, before whole runs are compared. In a pair each way finds the
caches and the variables as the other way left them: XLA takes 1.06 times NumPy's time for an Adam step of a perceptron in
pairs, and 0.8 times alone (`benchmarks`, the row of the perceptron).
"""
PAIRS_SECONDS: Final = 0.05
"""The least seconds of all paired runs; a short group needs more pairs, since short times scatter."""
Form: TypeAlias = tuple[np.dtype[Any], tuple[int, ...] | None]
"""The dtype of a result, and the shape where known."""


@dataclasses.dataclass(frozen=True, slots=True)
class EngineSettings:
    """Settings of an engine.

    `verify`: run every group in NumPy too, and compare. `chooses`: keep NumPy if NumPy is faster, or if the first results
    of the engine differ. `is_fast`: compute in the fastest type with results close enough. `reports`: measure the figures
    of a report in the first run. `times_numpy`: run each group once in NumPy for the time. `compile_seconds`: the seconds
    of compiling before later groups stay in NumPy.
    """

    verify: bool = False
    chooses: bool = False
    is_fast: bool = False
    reports: bool = False
    times_numpy: bool = True
    compile_seconds: float = _COMPILE_SECONDS


DEFAULT: Final = EngineSettings()


@dataclasses.dataclass(slots=True, eq=False)
class Executable:
    """A group compiled for inputs like the inputs of `key`; `trial` has the times of NumPy, 0, and the engine, 1."""

    key: Any
    function: Compiled
    forms: Sequence[Form]
    trial: Trial
    precision: str | None = None
    runs: int = 0

    @property
    def is_kept(self) -> bool:
        """Return whether a comparison with NumPy has kept the engine."""
        return self.trial.choice == 1
