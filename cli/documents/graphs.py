"""The JSON of the commands that look at graphs."""

from __future__ import annotations

import dataclasses

from ...core.explaining.problems import ERROR, Problem


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
        """True where a problem keeps the graph from running."""
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
