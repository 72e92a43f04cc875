"""Types of fewer bits than the graph's, for groups that are faster in them and whose results are near enough."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from typing import Final

import numpy as np

from ..support.log import tell
from ..support.trials import Trial
from ..support.user_signals import pass_on
from .engine_report import Rounded
from .protocol import Cluster, Compiled, Engine, EngineValue
from .verify_engine import relative_difference

ROUNDED: Final = 1e-2
"""The largest error of a result in a type of fewer bits, as a part of the tensor's largest magnitude."""


@dataclasses.dataclass(frozen=True, slots=True)
class RoundedFunction:
    """A group compiled for a type of fewer bits. `is_better`: faster than in the graph's types, and near enough."""

    function: Compiled
    report: Rounded
    is_better: bool


def fastest_rounded(
    engines: Sequence[Engine], cluster: Cluster, values: Sequence[EngineValue], exact: Compiled
) -> RoundedFunction | None:
    """Return the group in the engine's fastest type of fewer bits for these inputs; None where none compiles.

    `exact` computes the group in the graph's types. Types whose results are off by more than ROUNDED come last.
    """
    expected = exact(values)
    functions = {engine.precision or "": _compiled(engine, cluster, values) for engine in engines}
    rounded = {name: function for name, function in functions.items() if function is not None}
    if not rounded:
        return None
    differences = {name: _largest_difference(function(values), expected) for name, function in rounded.items()}
    trial = Trial(1 + len(rounded))
    ways = [functools.partial(function, values) for function in (exact, *rounded.values())]
    while trial.choice is None:
        trial.run(*ways)
    exact_seconds, *others = [seconds or 0.0 for seconds in trial.least]
    seconds = dict(zip(rounded, others))
    name = min(rounded, key=lambda name: (differences[name] > ROUNDED, seconds[name]))
    is_better = differences[name] <= ROUNDED and trial.choice != 0
    return RoundedFunction(rounded[name], Rounded(name, seconds[name], exact_seconds, differences[name]), is_better)


def _compiled(engine: Engine, cluster: Cluster, values: Sequence[EngineValue]) -> Compiled | None:
    try:
        return engine.compile(cluster, [np.asarray(value) for value in values])
    except Exception as error:
        pass_on(error)
        tell("engine %s does not compile a group in %s: %s", engine.name, engine.precision, error)
        return None


def _largest_difference(results: Sequence[EngineValue], expected: Sequence[EngineValue]) -> float:
    return max(relative_difference(np.asarray(a), np.asarray(b)) for a, b in zip(results, expected, strict=True))
