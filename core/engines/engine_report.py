"""The report on a session's runs: groups that an engine ran, refused nodes by op and reason."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ..graph.graph import Node
from ..support import dataclasses
from ..support.display import Report
from ..support.grouping import grouped
from ..support.words import counted
from .reasons import Reason

_NAMED: Final = 3
"""The largest number of nodes that a report names for a reason."""


@dataclasses.dataclass(frozen=True, slots=True)
class RefusedNodes:
    """Nodes of the same op that run in NumPy for the same reason; `nodes` names the first, `next_step` is advice to the
    user.
    """

    op: str
    """The op of the nodes."""
    reason: str
    """Why the engine does not take them."""
    next_step: str
    """Advice to the user."""
    count: int
    """How many nodes there are."""
    nodes: tuple[str, ...]
    """The first nodes."""


def refused_nodes(refusals: Mapping[Node, Reason]) -> tuple[RefusedNodes, ...]:
    """Return refused nodes by op and reason, the most frequent first."""
    names = grouped(((node.op, reason), node.name) for node, reason in refusals.items())
    refused = (
        RefusedNodes(op, reason, reason.step, len(nodes), tuple(nodes[:_NAMED])) for (op, reason), nodes in names.items()
    )
    return tuple(sorted(refused, key=lambda item: (-item.count, item.op, item.reason)))


@dataclasses.dataclass(frozen=True, slots=True)
class Rounded:
    """A group computed in a type of fewer bits: the seconds of a run there, and of a run in the graph's types.

    `difference` is the largest from the results in the graph's types, as a part of the tensor's largest magnitude.
    """

    precision: str
    """The type with fewer bits."""
    seconds: float
    """The seconds of a run in this type."""
    exact_seconds: float
    """The seconds of a run in the graph's types."""
    difference: float
    """The largest difference between both, as a part of the tensor's largest value."""


@dataclasses.dataclass(frozen=True, slots=True)
class GroupReport:
    """A group; `last` names the last node. `reason` says why some of the `runs` were NumPy's, where any were.

    `share` is the group's part of the time of all runs, None before the first. `numpy_seconds` and `engine_seconds` are the
    least time of a run in each, None where no run was timed. `rounded` is the fastest type of fewer bits, where any was
    tried; `precision` names the type where the group computes in fewer bits.
    """

    engine: str
    """The engine of the group."""
    last: str
    """The last node of the group."""
    steps: int
    """How many steps the group has."""
    inputs: int
    """How many tensors enter the group."""
    outputs: int
    """How many tensors leave the group."""
    compiled: int
    """How often the group was compiled, once for each combination of shapes."""
    compile_seconds: float
    """The seconds of all compilations."""
    runs: int
    """How often the group ran."""
    seconds: float
    """The seconds of all runs."""
    share: float | None
    """The part of the time of all runs, from 0 to 1; None before the first run."""
    reason: str | None
    """Why NumPy made some of the runs, if it did."""
    next_step: str | None
    """Advice for that reason."""
    numpy_seconds: float | None = None
    """The seconds of a run in NumPy, where measured."""
    engine_seconds: float | None = None
    """The seconds of a run in the engine, where measured."""
    precision: str | None = None
    """The type with fewer bits in which the group is computed, if any."""
    rounded: Rounded | None = None
    """The trial of a type with fewer bits, if any."""


@dataclasses.dataclass(frozen=True, slots=True)
class Choice:
    """The fastest way to run `fetches` with feeds of certain shapes; `seconds` has the least time of each way."""

    fetches: str
    """The fetches of the run."""
    shapes: str
    """The shapes of the feeds."""
    seconds: Mapping[str, float]
    """The least time of each way to run."""
    kept: str
    """The fastest way."""
    is_remembered: bool = False
    """Whether an earlier process made the choice."""


@dataclasses.dataclass(frozen=True, slots=True)
class GroupDifference:
    """An output of a group that differs from NumPy's result: `by` says how much."""

    tensor: str
    """The tensor."""
    op: str
    """The op that makes the tensor."""
    by: str
    """The difference in words."""


@dataclasses.dataclass(frozen=True, slots=True, repr=False)
class EngineReport(Report, main_table="groups"):
    """All groups of an engine's plans, the nodes left to NumPy, differences that verification found, and the choices of
    `auto`.
    """

    engine: str
    """The name of the engine."""
    note: str
    """A remark on the whole run, or ""."""
    groups: tuple[GroupReport, ...]
    """The groups of nodes that the engine computes."""
    refused: tuple[RefusedNodes, ...]
    """The nodes left to NumPy, by op and reason."""
    in_small_groups: int
    """How many steps NumPy keeps because their groups are too small."""
    differences: tuple[GroupDifference, ...] = ()
    """Results that differ from NumPy's, with --verify-engine."""
    choices: tuple[Choice, ...] = ()
    """The choices of `auto`."""

    def headline(self) -> str:
        return f"{self.engine}, {counted(len(self.groups), 'group')}, {counted(len(self.refused), 'reason')} for NumPy"
