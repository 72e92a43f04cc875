"""What `tfg compare` does between its options and its output."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any

import click

from ..core.comparing.execution import GraphComparison, NodeComparison, compare_graphs
from ..core.comparing.verification import generated_feeds
from ..core.errors import InvalidArgumentError
from ..core.graph import Graph
from ..core.passes.pipeline import choose_passes, guessed_fetches, optimize
from ..core.planning.needed import needed_nodes
from ..core.runtime.session import Session
from . import render
from .names import Names
from .sessions import SessionOptions

_MAX_NAMES = 10


@dataclasses.dataclass(frozen=True, slots=True)
class CompareOptions:
    """What `tfg compare` is told beside how to open its sessions."""

    passes: str | None
    fetches: tuple[str, ...]
    feeds: tuple[tuple[str, str], ...]
    tolerance: float
    show_all: bool
    quiet: bool


class CompareJob:
    """One `tfg compare`: two graphs, what to run of them, and what came of it."""

    def __init__(self, before: Graph, after: Graph | None, session: SessionOptions, options: CompareOptions) -> None:
        if (after is None) == (options.passes is None):
            raise click.UsageError("give either a second graph or --passes")
        self.session = dataclasses.replace(session, seed=session.seed or 0)
        self.options = options
        self.before = before
        names = Names(before, session.signature)
        words = names.fetches(options.fetches) or {name: name for name in guessed_fetches(before)}
        self.feeds = names.feeds(options.feeds)
        self.after = after if after is not None else self._optimized(tuple(words.values()))
        others = Names(self.after, session.signature)
        self.fetches = [(name, self._other(others, word, name)) for word, name in words.items()]
        self.result: GraphComparison | None = None

    def _optimized(self, fetches: Sequence[str]) -> Graph:
        return optimize(self.before, fetches, tuple(self.feeds), choose_passes(self.options.passes))[0]

    def _other(self, names: Names, word: str, name: str) -> str:
        """What the second graph calls a fetch: by the word of its signature, or by the same name."""
        if word in names.outputs:
            return names.fetch(word)
        return names.graph.fetch(name).name

    def run(self) -> GraphComparison:
        """Run both graphs and compare."""
        needed = {node.name for node in needed_nodes([self.before.fetch(name) for name, _ in self.fetches])}
        feeds = generated_feeds(self.before, self.feeds, needed)
        self.result = compare_graphs(self.before, self.after, self.fetches, feeds, self._opened, self.options.tolerance)
        if not self.result.nodes:
            raise InvalidArgumentError("no node of the one graph stands for one of the other")
        return self.result

    def _opened(self, graph: Graph) -> Session:
        """A session with the variables as the graph's initializer or --state makes them; of passes, as the first graph's."""
        is_derived = graph is self.after and self.options.passes is not None
        session = self.session.open(self.before if is_derived else graph, quiet=True, implied=True).session
        return session.on_graph(graph) if is_derived else session

    def as_json(self) -> dict[str, Any]:
        assert self.result is not None
        found = {"first": self.result.first, "compared": len(self.result.nodes)}
        names = {"only_before": self.result.only_before, "only_after": self.result.only_after}
        return {**found, **names, **({"nodes": self.result.nodes} if self.options.show_all else {})}

    def sections(self, format_: str) -> Iterator[render.Section]:
        """The first difference, or all nodes; then what could not be compared."""
        assert self.result is not None
        result = self.result
        if self.options.show_all or format_ == "csv":
            yield _table(result.nodes if self.options.show_all else [result.first] if result.first else [])
        if result.first is None:
            yield render.Text(f"all {len(result.nodes)} values that both compute agree")
        else:
            if not self.options.show_all:
                yield _table([result.first], "the first that differs")
            differing = sum(not node.passed for node in result.nodes)
            yield render.Text(f"{differing} of {len(result.nodes)} values that both compute differ; --all shows them")
        for title, names in (("only in the first", result.only_before), ("only in the second", result.only_after)):
            if names and not self.options.quiet:
                more = f" and {len(names) - _MAX_NAMES} more" if len(names) > _MAX_NAMES else ""
                yield render.Text(", ".join(names[:_MAX_NAMES]) + more, title)


def _table(nodes: Sequence[NodeComparison], title: str = "") -> render.Table:
    columns = ("tensor", "op", "in the second", "largest difference", "tolerance that passes", "agrees")
    rows = [
        (n.tensor, n.op, n.other if n.other != n.tensor else "", n.largest_difference, n.tolerance_needed, n.passed)
        for n in nodes
    ]
    return render.Table(columns, rows, title)
