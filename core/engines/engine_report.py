"""What became of a session's runs: which groups an engine ran, what it refused, and why."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping


@dataclasses.dataclass(frozen=True, slots=True)
class Refusal:
    """Nodes of one op that run in NumPy for one reason; `nodes` names the first of them, `next_step` is for the user."""

    op: str
    reason: str
    next_step: str
    count: int
    nodes: tuple[str, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class Rounded:
    """A group computed in a type of fewer bits: the seconds of a run, and of one in the graph's types.

    `difference` is the largest from the results in these, as a part of the largest magnitude of the tensor that is off.
    """

    precision: str
    seconds: float
    exact_seconds: float
    difference: float


@dataclasses.dataclass(frozen=True, slots=True)
class GroupReport:
    """One group: `last` names the node it ends with. `reason` says why some of its `runs` were NumPy's, where there is one.

    `share` is its part of the time that all runs took, None where nothing has run. `numpy_seconds` and `engine_seconds`
    are the least that a run took in each, None where none was timed. `rounded` is the fastest type of fewer
    bits, where one was tried; `precision` names it where the group computes in it.
    """

    engine: str
    last: str
    steps: int
    inputs: int
    outputs: int
    compiled: int
    compile_seconds: float
    runs: int
    seconds: float
    share: float | None
    reason: str | None
    next_step: str | None
    numpy_seconds: float | None = None
    engine_seconds: float | None = None
    precision: str | None = None
    rounded: Rounded | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Choice:
    """The fastest way to run `fetches` with feeds of certain shapes; `seconds` has the least time of each way."""

    fetches: str
    shapes: str
    seconds: Mapping[str, float]
    kept: str


@dataclasses.dataclass(frozen=True, slots=True)
class Difference:
    """That an output of a group was not what NumPy computes: `by` says how much."""

    tensor: str
    op: str
    by: str


@dataclasses.dataclass(frozen=True, slots=True)
class EngineReport:
    """All groups of an engine's plans, what stayed in NumPy, differences that verification found, and what `auto` chose."""

    engine: str
    note: str
    groups: tuple[GroupReport, ...]
    refused: tuple[Refusal, ...]
    in_small_groups: int
    differences: tuple[Difference, ...] = ()
    choices: tuple[Choice, ...] = ()
