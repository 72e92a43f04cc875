"""What became of a session's runs: which groups an engine ran, what it refused, and why."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True, slots=True)
class Refusal:
    """Nodes of one op that run in NumPy for one reason; `nodes` names the first of them, `next_step` is for the user."""

    op: str
    reason: str
    next_step: str
    count: int
    nodes: tuple[str, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class GroupReport:
    """One group: `last` names the node it ends with. `reason` says why some of its `runs` were NumPy's, where there is one.

    `share` is its part of the time that all runs took, None where nothing has run.
    """

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


@dataclasses.dataclass(frozen=True, slots=True)
class Difference:
    """That an output of a group was not what NumPy computes: `by` says how much."""

    tensor: str
    op: str
    by: str


@dataclasses.dataclass(frozen=True, slots=True)
class EngineReport:
    """All groups of an engine's plans, all that stayed in NumPy, and where verification found a difference."""

    engine: str
    note: str
    groups: tuple[GroupReport, ...]
    refused: tuple[Refusal, ...]
    in_small_groups: int
    differences: tuple[Difference, ...] = ()
