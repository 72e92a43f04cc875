"""How an engine is used in a session, and what it has compiled of a group."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, Final, TypeAlias

import numpy as np

from ..support.trials import Trial
from .protocol import Compiled

_COMPILE_SECONDS: Final = 120.0
"""Seconds of compiling after which an engagement begins to compile no other group: what comes later runs in NumPy."""
PAIRS: Final = 3
PAIRS_SECONDS: Final = 0.05
"""Runs in which a group runs both in the engine and in NumPy before the faster is kept, the first of which warms both up, and
how long they take at least: groups of few steps run more often.
"""
Form: TypeAlias = tuple[np.dtype[Any], tuple[int, ...] | None]
"""The dtype of a result, and its shape where that is known."""


@dataclasses.dataclass(frozen=True, slots=True)
class EngineSettings:
    """How an engine is used.

    `verify`: run every group in NumPy too, and compare. `chooses`: keep NumPy where it takes less time, or the engine's first
    results differ. `is_fast`: compute in the fastest type whose results are near enough. `reports`: time in the first run
    what a report tells. `times_numpy`: run each group once in NumPy, to tell the time. `compile_seconds`: compile no other
    group after so long.
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
    """What was compiled of a group for inputs like those of `key`; `trial` has the times of NumPy, 0, and the engine, 1."""

    key: Any
    function: Compiled
    forms: Sequence[Form]
    trial: Trial
    precision: str | None = None
    runs: int = 0
