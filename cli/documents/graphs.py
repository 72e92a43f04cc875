"""The JSON of the commands that look at graphs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypedDict

from ...core.explaining.problems import ERROR, Problem
from ...core.support import dataclasses

if TYPE_CHECKING:
    from ...core.comparing.graph_diff import Snapshot
    from ...core.explaining.graph_facts import MissingOp
    from ...core.explaining.node_facts import NodeFacts
    from ...core.explaining.node_listing import NodeRecord
    from ...core.explaining.race_report import RunRaces
    from ...core.explaining.stages import RecoveredStage
    from ...core.flops.formulas import Formula
    from ...core.op_libraries.op_listing import FamilyCoverage, MissingFor, OpDetail, OpSummary
    from ...core.passes.pipeline import NodeFate
    from ...core.support.versions import Versions


@dataclasses.dataclass(frozen=True, slots=True)
class CheckedGraph:
    """A graph that was checked."""

    graph: str
    """The path as given."""
    problems: tuple[Problem, ...]
    """All problems, errors first."""
    unreadable: str | None = None
    """Why the file holds no graph that can be checked; null where it does."""

    @property
    def has_errors(self) -> bool:
        """True if a problem keeps the graph from running."""
        return any(problem.severity == ERROR for problem in self.problems)


@dataclasses.dataclass(frozen=True, slots=True)
class Check:
    """The problems of graphs."""

    graphs: tuple[CheckedGraph, ...]
    """The graphs in the order of the command line."""
    errors: int
    """How many errors all graphs have together."""
    warnings: int
    """How many warnings all graphs have together."""


class Dump(TypedDict):
    """The nodes of a graph."""

    graph: str
    """The path as given, or the name of the stage."""
    versions: Versions
    """The versions of GraphDef that the graph was written for."""
    nodes: Sequence[NodeRecord]
    """The chosen nodes."""
    functions: Mapping[str, Sequence[NodeRecord]]
    """The chosen nodes of each function, by the name of the function."""


class Snapshots(TypedDict):
    """What each stage of a construction, or each pass, changed."""

    snapshots: Sequence[Snapshot]
    """The stages in their order."""


class Stages(TypedDict):
    """The stages of construction, recovered from a finished graph."""

    stages: Sequence[RecoveredStage]
    """The stages in their order."""


class MissingOps(TypedDict):
    """The ops of a graph that tfg cannot run."""

    missing: Sequence[MissingOp]
    """An entry for each op; empty where every op has a kernel."""


class Nodes(TypedDict):
    """The meaning of nodes."""

    nodes: Sequence[NodeFacts]
    """The nodes in the order of the command line."""


class Outcomes(TypedDict):
    """What becomes of nodes when the graph is optimized."""

    nodes: Sequence[NodeFate]
    """The nodes in the order of the command line."""


class Races(TypedDict):
    """Accesses to state whose order no path settles."""

    runs: Sequence[RunRaces]
    """An entry for each run."""


class OpDetails(TypedDict):
    """What tfg has for ops."""

    ops: Sequence[OpDetail]
    """The ops in the order of the command line."""


class Ops(TypedDict):
    """A list of ops."""

    ops: Sequence[OpSummary]
    """The ops by name."""


class Coverage(TypedDict):
    """How many ops have what."""

    families: Sequence[FamilyCoverage]
    """The counts of each family."""
    total: FamilyCoverage
    """The counts of all families together."""


class Formulas(TypedDict):
    """How the FLOPs of ops are counted."""

    formulas: Sequence[Formula]
    """The formulas by family."""


class MissingParts(TypedDict):
    """What tfg lacks for the ops of a graph."""

    missing: Sequence[MissingFor]
    """An entry for each op that lacks a part."""


class Sample(TypedDict):
    """A sample graph."""

    name: str
    """The name, which `tfg samples NAME` takes."""
    path: str
    """Where the file or the folder is."""


class Samples(TypedDict):
    """The sample graphs that come with tfg."""

    samples: Sequence[Sample]
    """The samples by name."""
