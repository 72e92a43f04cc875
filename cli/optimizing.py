"""What `tfg optimize` does between its options and its output."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from ..core.graph import Graph
from ..core.passes.base import Pass
from ..core.passes.cluster import Cluster
from ..core.passes.pipeline import OptimizeReport, choose_passes, guessed_fetches, optimize
from ..core.passes.verify import Comparison, generated_feeds, verify
from ..core.plan import needed_nodes
from ..core.running import Runner
from ..core.session import Session
from ..core.variable_nodes import find_variables
from ..formats.values import parse_value
from . import render

_STEPS = 3


class Optimization:
    """One `tfg optimize`: the graph, its options, and what came of it."""

    def __init__(self, graph: Graph, options: dict[str, Any]) -> None:
        self.graph = graph
        self.options = options
        self._check()
        for name in options["keep"]:
            graph.node(name)
        self.fetches = tuple(self._fetch(name) for name in options["fetches"]) or guessed_fetches(graph)
        self.feeds = dict(self._feed(name, text) for name, text in options["feeds"])
        self.report: OptimizeReport | None = None
        self.comparisons: list[Comparison] = []

    def _check(self) -> None:
        """Refuse options that would have no effect."""
        for needed, names in (("verify", ("state", "steps", "init_op")), ("output", ("text",))):
            for name in names:
                if self.options[name] and not self.options[needed]:
                    raise click.UsageError(f"--{name.replace('_', '-')} is for --{needed}")

    @property
    def passed(self) -> bool:
        """True where nothing was compared or everything agreed."""
        return all(comparison.passed for comparison in self.comparisons)

    @property
    def steps(self) -> int:
        """The runs that --verify compares: some in a row where variables can change from one to the next."""
        return self.options["steps"] or (_STEPS if find_variables(self.graph) else 1)

    def run(self) -> OptimizeReport:
        """Optimize, write and verify as the options ask."""
        result, report = optimize(
            self.graph,
            self.fetches,
            tuple(self.feeds),
            self._passes(),
            keep=self.options["keep"],
            costs=self.options["costs"],
        )
        self.report = report
        if self.options["verify"]:
            self.comparisons = self._verified(result)
        if self.options["output"] and self.passed:
            from ..formats.graphdef import save

            save(result, self.options["output"], text=self.options["text"])
            render.note(f"wrote {len(result)} nodes to {self.options['output']}", self.options["quiet"])
        return report

    def _passes(self) -> list[Pass]:
        chosen = choose_passes(self.options["passes"], self.options["disable"])
        return [*chosen, Cluster()] if self.options["cluster"] else chosen

    def as_json(self) -> dict[str, Any]:
        return {"report": self.report, "verification": self.comparisons}

    def verdict_sections(self) -> Iterator[render.Section]:
        """What --verify found."""
        if self.comparisons:
            rows = [(c.fetch, c.step, c.largest_difference, c.tolerance_needed, c.passed) for c in self.comparisons]
            columns = ("fetch", "worst step", "largest difference", "tolerance that passes", "passed")
            yield render.Table(columns, rows, f"verification over {self.steps} step{'s' * (self.steps > 1)}")

    def _verified(self, result: Graph) -> list[Comparison]:
        targets = [self.graph.output(n) if ":" in n else self.graph.node(n) for n in self.fetches]
        needed = {node.name for node in needed_nodes(targets)}
        feeds = generated_feeds(self.graph, self.feeds, needed)
        return verify(self.graph, result, self.fetches, feeds, self._prepare, self.options["tolerance"], self.steps)

    def _prepare(self, session: Session) -> None:
        """Give a session its variables: from --state, the SavedModel, or the original graph's initializer."""
        source = Runner(Session(self.graph, seed=0))
        if find_variables(self.graph):
            if self.options["state"]:
                from ..formats.state import read_state

                source.restore(read_state(self.options["state"]))
            elif self.options["init_op"] or not self._is_restored():
                source.initialize(self.options["init_op"])
        session.share(source.session)

    def _is_restored(self) -> bool:
        """True where the graph brings the values of its variables."""
        return self.graph.meta is not None and self.graph.meta.variables_prefix is not None

    def _fetch(self, name: str) -> str:
        """The name of a node that has one output stands for that output."""
        if ":" in name or len(self.graph.node(name).output_dtypes) != 1:
            return name
        return f"{name}:0"

    def _feed(self, name: str, text: str) -> tuple[str, Any]:
        output = self.graph.output(name)
        return output.name, parse_value(text, output.dtype.base if output.dtype else None)
