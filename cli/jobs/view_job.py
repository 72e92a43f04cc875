"""Implementation of `tfg view`."""

from __future__ import annotations

import functools
import pathlib
import sys
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import click

from ...core.drawing.view_model import NodeOverlay, Report, Sheet
from ...core.explaining.default_fetches import counted_fetches
from ...core.explaining.model_view import ModelView
from ...core.graph.graph import Graph, Node
from ...core.support import dataclasses
from ...core.support.gc_control import rare_collection
from ...core.support.places import is_address, name_of
from ...formats.api.names import Names
from ...formats.api.page_values import ReadsState, inputs_to_show, run_to_show
from ...formats.api.step_results import read_labels
from ...formats.api.viewing import make_page, page_look
from ...formats.codecs.source import write_file
from ...formats.page.writing import to_html
from .. import render
from ..commands.view import ViewOptions
from ..models import measure, note_unread_values
from ..next_steps import in_commands
from .explain_job import graph_sections

if TYPE_CHECKING:
    from ...core.explaining.graph_facts import GraphFacts
    from ...core.explaining.node_activations import NodeRun


def run(options: ViewOptions) -> None:
    """Write the page of a graph, or of two graphs."""
    if options.open and options.out == "-":
        raise click.UsageError("--open needs a file: name the file with -o")
    graph, is_sound = options.reader.look_closely(options.graph)
    note_unread_values(graph, options.quiet)
    graph = options.sizes.applied(graph, options.session.signature, options.fetches, options.quiet)
    other = options.reader.load(options.other) if options.other is not None else None
    ViewJob(graph, is_sound, options, other).write()


class ViewJob:
    """A run of `tfg view`: the graph, its file, and the contents of the page."""

    def __init__(self, graph: Graph, is_sound: bool, options: ViewOptions, other: Graph | None = None) -> None:
        self.graph = graph
        # A broken graph has no model to show.
        is_raw = options.raw or not is_sound
        self.look = page_look(graph, options.session.signature, is_raw, other)
        self.is_sound = is_sound
        self.path = options.graph
        self.session = options.session
        self.options = options

    def _state(self) -> ReadsState | None:
        """Return the function that reads the values of --state for a graph."""
        path = self.session.state
        return None if path is None else functools.partial(self.session.common_state, path)

    def write(self) -> None:
        """Write the page to a file, to standard output for `-`, by default to a file called as the graph is."""
        # Of an address, too, the page is written into the current folder.
        name = name_of(self.path) if self.path != "-" else "graph"
        out = self.options.out or f"{name.partition('.')[0] or name}.html"
        options = self.options
        # A page of a large graph makes millions of small objects, and throws none away.
        with render.Working("reading the graph", options.quiet) as working, rare_collection():
            labels = None if options.labels is None else read_labels(options.labels)
            look = (
                self.look.with_values([self._run(view) for view in self.look.models], labels) if options.values else self.look
            )
            book = make_page(
                look.view, name, self.path, options.fetches,
                flops=not options.no_flops, is_sound=self.is_sound, sheets=_sheets,
                report=_progress(working, "describing nodes"), state=self._state(), max_values=options.max_values,
                overlays=tuple(self._overlays()), compared=look.compared, shown=look.shown, words=in_commands,
            )  # fmt: skip
            data = to_html(book, report=_progress(working, "writing nodes")).encode()
        write_file(out, [data])
        if out != "-":
            # A browser cannot open a page in a store.
            is_shown = options.open and not is_address(out) and _opened(out)
            render.note(f"wrote {out}{'' if is_shown else ': open it in a browser'}", options.quiet)

    def _overlays(self) -> Iterator[NodeOverlay]:
        from ...formats.overlay_files import measured_overlay, read_overlay, time_overlay

        if self.options.measured:
            names, fetches = self._asked(self.graph)
            feeds = names.feeds(self.options.feeds)
            yield measured_overlay(self.look.view, measure(self.graph, fetches, feeds, self.session, self.options.quiet))
        if self.options.run_metadata is not None:
            yield time_overlay(self.options.run_metadata, self.look.view)
        for path in self.options.overlays:
            yield read_overlay(path, self.look.view)

    def _run(self, view: ModelView) -> dict[str, Mapping[Node, NodeRun]]:
        """Run a model, once or for each input, and return the values of its nodes."""
        from ...formats.batches.each_worker import parts_of_inputs  # lazy: most pages show no run

        options, graph = self.options, view.source
        names, fetches = self._asked(graph)
        parts, fixed = parts_of_inputs(options.feeds)
        inputs = inputs_to_show(
            view, names.signature, fetches, names.feeds(fixed), options.each, parts, names.input
        )  # fmt: skip
        session = self.session.open(graph, options.quiet, implied=True).session
        return run_to_show(view, session, fetches, inputs, options.steps)

    def _asked(self, graph: Graph) -> tuple[Names, tuple[str, ...]]:
        """Return the names of a graph, and those to fetch: layers and nodes of the view run where the outputs do."""
        names = Names(graph, self.session.signature)
        # --fetch may name a layer of the view, which a session does not know.
        words = [word for word in self.options.fetches if names.knows(word)]
        return names, tuple(names.fetches(words or names.outputs).values()) or counted_fetches(graph)


def _progress(working: render.Working, stage: str) -> Report:
    """Return a listener that says how many nodes a stage has done."""
    return lambda done, total: working.update(f"{stage}, {done:,} of {total:,}")


def _opened(path: str) -> bool:
    """Open a page in the browser; return False if there is none."""
    import webbrowser  # lazy: most pages are only written

    # An address of a file and no path, which some browsers take for a search.
    return webbrowser.open(pathlib.Path(path).absolute().as_uri())


def _sheets(facts: GraphFacts) -> Iterator[Sheet]:
    """Yield the sections of `tfg explain` for the graph, without the ops that lack a kernel: the page has a table of them."""
    for section in graph_sections(dataclasses.replace(facts, missing=()), sys.maxsize):
        # The page lays tables out itself, so cells go without widths.
        if isinstance(section, render.Table):
            rows = (tuple(map(render.cell, row)) for row in section.rows)
            yield Sheet(section.title, section.columns, tuple(rows))
        else:
            yield Sheet(section.title, (), tuple((line,) for line in section.lines()))
