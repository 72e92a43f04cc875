"""What `tfg optimize` does between its options and its output."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import click

from ..core.comparing.verification import Comparison, generated_feeds, verify
from ..core.graph import Graph
from ..core.passes.base import Pass
from ..core.passes.functions.cluster import Cluster
from ..core.passes.pipeline import OptimizeReport, choose_passes, guessed_fetches, optimize
from ..core.planning.needed import needed_nodes
from ..core.runtime.session import Session
from ..core.variable_nodes import find_variables
from ..core.words import counted
from . import render
from .names import Names
from .sessions import SessionOptions

_STEPS = 3


@dataclasses.dataclass(frozen=True, slots=True)
class OptimizeOptions:
    """What `tfg optimize` is told beside how to open the sessions of --verify."""

    output: str | None
    fetches: tuple[str, ...]
    feeds: tuple[tuple[str, str], ...]
    passes: str | None
    disable: tuple[str, ...]
    cluster: bool
    keep: tuple[str, ...]
    fed: tuple[str, ...]
    overridable: tuple[str, ...]
    verify: bool
    tolerance: float
    steps: int | None
    costs: bool
    text: bool
    format_: str
    quiet: bool

    def check(self) -> None:
        """Refuse options that would have no effect."""
        if self.steps and not self.verify:
            raise click.UsageError("--steps is for --verify")
        if self.text and not self.output:
            raise click.UsageError("--text is for --output")


class OptimizeJob:
    """One `tfg optimize`: the graph, its options, and what came of it."""

    def __init__(self, graph: Graph, session: SessionOptions, options: OptimizeOptions) -> None:
        self.graph = graph
        self.session = dataclasses.replace(session, seed=session.seed or 0)
        self.options = options
        for name in options.keep:
            graph.node(name)
        names = Names(graph, session.signature)
        self.fetches = tuple(names.fetches(options.fetches).values()) or guessed_fetches(graph)
        self.feeds = names.feeds(options.feeds)
        self.report: OptimizeReport | None = None
        self.comparisons: list[Comparison] = []

    @property
    def passed(self) -> bool:
        """True where nothing was compared or everything agreed."""
        return all(comparison.passed for comparison in self.comparisons)

    @property
    def steps(self) -> int:
        """The runs that --verify compares: some in a row where variables can change from one to the next."""
        return self.options.steps or (_STEPS if find_variables(self.graph) else 1)

    def run(self) -> OptimizeReport:
        """Optimize, write and verify as the options ask."""
        with render.Working("optimizing", self.options.quiet) as working:
            result, report = optimize(
                self.graph,
                self.fetches,
                tuple(dict.fromkeys([*self.feeds, *self.options.fed])),
                self._passes(),
                keep=self.options.keep,
                overridable=self.options.overridable,
                costs=self.options.costs,
                observe=lambda stage, graph: working.update(f"{stage} left {len(graph)} nodes"),
            )
        self.report = report
        if self.options.verify:
            self.comparisons = self._verified(result)
        if self.options.output and self.passed:
            from ..formats.saving import save

            save(result, self.options.output, text=self.options.text)
            render.note(f"wrote {counted(len(result), 'node')} to {self.options.output}", self.options.quiet)
        return report

    def _passes(self) -> list[Pass]:
        chosen = choose_passes(self.options.passes, self.options.disable)
        return [*chosen, Cluster()] if self.options.cluster else chosen

    def as_json(self) -> dict[str, Any]:
        return {"report": self.report, "verification": self.comparisons}

    def verdict_sections(self) -> Iterator[render.Section]:
        """What --verify found."""
        if self.comparisons:
            rows = [(c.fetch, c.step, c.largest_difference, c.tolerance_needed, c.passed) for c in self.comparisons]
            columns = ("fetch", "worst step", "largest difference", "tolerance that passes", "passed")
            yield render.Table(columns, rows, f"verification over {counted(self.steps, 'step')}")

    def _verified(self, result: Graph) -> list[Comparison]:
        needed = {node.name for node in needed_nodes([self.graph.fetch(name) for name in self.fetches])}
        feeds = generated_feeds(self.graph, self.feeds, needed)
        return verify(self.graph, result, self.fetches, feeds, self._opened, self.options.tolerance, self.steps)

    def _opened(self, graph: Graph) -> Session:
        """A session on either graph, with its variables as the original graph's initializer or --state makes them."""
        session = self.session.session(graph)
        session.share(self.session.open(self.graph, quiet=True, implied=True).session)
        return session
