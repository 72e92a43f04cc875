"""The report on a session's runs: groups that an engine ran, refused nodes, and reasons."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping


@dataclasses.dataclass(frozen=True, slots=True)
class Refusal:
    """Nodes of the same op that run in NumPy for the same reason; `nodes` names the first, `next_step` is advice to the
    user.
    """

    op: str
    reason: str
    next_step: str
    count: int
    nodes: tuple[str, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class Rounded:
    """A group computed in a type of fewer bits: the seconds of a run there, and of a run in the graph's types.

    `difference` is the largest from the results in the graph's types, as a part of the tensor's largest magnitude.
    """

    precision: str
    seconds: float
    exact_seconds: float
    difference: float


@dataclasses.dataclass(frozen=True, slots=True)
class GroupReport:
    """A group; `last` names the last node. `reason` says why some of the `runs` were NumPy's, where any were.

    `share` is the group's part of the time of all runs, None before the first. `numpy_seconds` and `engine_seconds` are the
    least time of a run in each, None where no run was timed. `rounded` is the fastest type of fewer bits, where any was
    tried; `precision` names the type where the group computes in fewer bits.
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
    """An output of a group that differs from NumPy's result: `by` says how much."""

    tensor: str
    op: str
    by: str


@dataclasses.dataclass(frozen=True, slots=True)
class EngineReport:
    """All groups of an engine's plans, the nodes left to NumPy, differences that verification found, and the choices of
    `auto`.
    """

    engine: str
    note: str
    groups: tuple[GroupReport, ...]
    refused: tuple[Refusal, ...]
    in_small_groups: int
    differences: tuple[Difference, ...] = ()
    choices: tuple[Choice, ...] = ()
