"""What `tfg view` does between its options and its page."""

from __future__ import annotations

import dataclasses
import os
import sys
from collections.abc import Iterator, Sequence

from ...core.drawing.view_model import Book, Figures, Sheet, make_book
from ...core.explaining.graph_facts import GraphFacts, explain_graph
from ...core.flops import Kept
from ...core.graph.graph import Graph, Node
from ...core.inference.inference import Answers, Inference, infer
from ...core.support.errors import TfgError
from ...core.support.gc_control import rare_collection
from ...core.support.words import counted
from ...core.types.dims import DimLike
from .. import render
from ..sections.explain_sections import graph_sections

_MAX_NAMES = 3


@dataclasses.dataclass(frozen=True, slots=True)
class ViewOptions:
    """What `tfg view` is told."""

    fetches: tuple[str, ...]
    no_flops: bool
    quiet: bool


class ViewJob:
    """One `tfg view`: a graph, where it came from, and what is to be said of it."""

    def __init__(self, graph: Graph, is_sound: bool, path: str, options: ViewOptions) -> None:
        self.graph = graph
        self.is_sound = is_sound
        self.path = path
        self.options = options
        self._notes: list[str] = []
        self._kept = Kept()

    def write(self, out: str | None) -> None:
        """Write the page to a file, to standard output for `-`, by default to a file called as the graph is."""
        from ...formats.codecs.source import write_file
        from ...formats.page.writing import to_html

        name = os.path.basename(os.path.abspath(self.path)) if self.path != "-" else "graph"
        out = out or f"{name.partition('.')[0] or name}.html"
        with render.Working("looking through the graph", self.options.quiet), rare_collection():
            data = to_html(self._book(name)).encode()
        write_file(out, [data])
        if out != "-":
            render.note(f"wrote {out}: open it in a browser", self.options.quiet)

    def _book(self, title: str) -> Book:
        from ...core.flops.by_node import flops_shares

        unshaped: list[str] = []
        inferences = dict(self._inferences(unshaped))
        facts = explain_graph(self.graph, self.path, inferences.get("") if self.is_sound else None)
        flops = {} if self.options.no_flops else self._flops(facts)
        self._notes += unshaped
        figures = Figures(
            inferences=inferences,
            flops=_texts(flops),
            shares=flops_shares(self.graph, flops),
            sheets=tuple(_sheets(facts)),
            notes=tuple(self._notes),
        )
        return make_book(title, self.graph, figures)

    def _inferences(self, notes: list[str]) -> Iterator[tuple[str, Inference]]:
        """The shapes in the graph and in the bodies of its functions; where they cannot be told, `notes` says why."""
        graphs = {"": self.graph, **{name: function.body for name, function in self.graph.functions.items()}}
        answers = Answers(derived=self._kept)
        for name, graph in graphs.items():
            try:
                yield name, infer(graph, functions=self.graph.functions, answers=answers)
            except TfgError as error:
                notes.append(f"shapes{f' in {name}' if name else ''} are those that nodes declare: {error}")

    def _flops(self, facts: GraphFacts) -> dict[Node, DimLike]:
        """The FLOPs of each node; where they cannot be counted, the page says why."""
        from ...core.flops import count_flops
        from ...core.flops.by_node import flops_by_node
        from ...core.flops.views import readable
        from ...core.passes.pipeline import guessed_fetches

        try:
            report = count_flops(self.graph, self.options.fetches or guessed_fetches(self.graph, facts), derived=self._kept)
        except TfgError as error:
            if self.options.fetches:
                raise
            self._notes.append(f"FLOPs are not counted: {error}")
            return {}
        self._notes.append(f"FLOPs of {_some(report.fetches)}: {readable(report.total().flops)}")
        self._notes += report.notes
        if report.unknown():
            names = [node.path for node in report.unknown()]
            self._notes.append(f"the FLOPs of {counted(len(names), 'node')} could not be counted: {_some(names)}")
        return flops_by_node(self.graph, report)


def _sheets(facts: GraphFacts) -> Iterator[Sheet]:
    """What `tfg explain` says of the graph."""
    for section in graph_sections(facts, sys.maxsize):
        if isinstance(section, render.Table):
            rows = (tuple(map(render.cell, row)) for row in section.rows)
            yield Sheet(section.title, section.columns, tuple(rows))
        else:
            yield Sheet(section.title, (), tuple((line,) for line in section.lines()))


def _some(names: Sequence[str]) -> str:
    """The first of the names, each in quotes, and how many more there are."""
    more = f" and {len(names) - _MAX_NAMES} more" if len(names) > _MAX_NAMES else ""
    return ", ".join(f"'{name}'" for name in names[:_MAX_NAMES]) + more


def _texts(flops: dict[Node, DimLike]) -> dict[Node, str]:
    from ...core.flops.views import readable

    return {node: readable(count) for node, count in flops.items()}
