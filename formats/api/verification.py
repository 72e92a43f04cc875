"""The function behind `tfg optimize --verify`."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

from ...core.comparing.element_differences import Comparison
from ...core.comparing.verify_rewrite import verify as verify_run
from ...core.graph.graph import Graph
from ...core.graph.variable_nodes import find_variables
from ...core.passes.base.accuracy import Accuracy, tolerance_of
from ...core.runtime.session.session_like import SessionLike
from ...core.support.arguments import takes
from ...core.support.display import Report
from ...core.support.words import counted
from ..state import State
from .outputs import default_runs
from .prepared_sessions import Opener, named, names_of, session_on

_STEPS: Final = 3


@dataclasses.dataclass(frozen=True, slots=True, repr=False)
class Verification(Report):
    """A comparison of the fetches of two graphs over several feeds, and over `steps` runs in a row on each."""

    main_table: ClassVar[str] = "comparisons"

    comparisons: tuple[Comparison, ...]
    steps: int

    @property
    def passed(self) -> bool:
        """True where all fetches agree."""
        return all(comparison.passed for comparison in self.comparisons)

    def headline(self) -> str:
        differing = sum(not comparison.passed for comparison in self.comparisons)
        return f"{differing} of {len(self.comparisons)} values differ over {counted(self.steps, 'step')}"


@takes(
    before=Graph, after=Graph, feeds=Mapping | None, tolerance=float | int | Accuracy, steps=int | None, state=Mapping | None
)
def verify(
    before: Graph,
    after: Graph,
    fetches: Sequence[str] | str = (),
    feeds: Mapping[str, Any] | None = None,
    *,
    tolerance: float | Accuracy = Accuracy.ROUNDING,
    steps: int | None = None,
    state: State | None = None,
    open_session: Opener | None = None,
) -> Verification:
    """Run a graph and its rewritten copy on the same feeds, and return how far their fetches differ.

    `fetches` are by default the outputs of each signature, or the outputs that stand out. Placeholders without a value in
    `feeds` get drawn values of several shapes. `tolerance` is relative to a tensor's largest magnitude, or an accuracy
    class, such as the `accuracy` of an OptimizeReport. `steps` runs follow each other, by default 3 where the graph has
    variables. The variables of both graphs begin with the initial values of `before`, or those of `state`; `open_session`
    opens the session of `before`. NoFeedsError where `before` runs on no drawn feeds.
    """
    names = names_of(fetches)
    count = steps or (_STEPS if find_variables(before) else 1)
    allowed = (lambda dtype: tolerance_of(tolerance, dtype)) if isinstance(tolerance, Accuracy) else tolerance

    def opened(graph: Graph) -> SessionLike:
        return session_on(before, open_session, state).on_graph(graph)

    runs = [names] if names else default_runs(before)
    rows = [row for run in runs for row in verify_run(before, after, run, named(feeds), opened, allowed, count)]
    return Verification(tuple(rows), count)
