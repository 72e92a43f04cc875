"""Implementation of `tfg layers`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from ...core.flops.measured import Measurement
from ...core.graph.graph import Graph
from ...core.runtime.session.function_signatures import as_called
from ...formats.api.counting import counted_fetches, layers, profile
from ...formats.api.names import Names
from .. import render
from ..commands.layers import LayersOptions
from ..models import note_drawn_feeds, note_unread_values
from ..options import whole_numbers
from ..sections.layers_sections import layers_sections, tree_sections

_RUNS: Final = 3
"""The number of timed runs, as `tfg flops --measured` has by default."""


def run(options: LayersOptions) -> None:
    """Print the layers, and totals below them."""
    graph = options.reader.load(options.graph)
    graph = graph if options.fetches else as_called(graph)
    note_unread_values(graph, options.quiet)
    names = Names(graph, options.session.signature).exposing(options.fetches, render.noting(options.quiet))
    graph = names.graph
    fetches = tuple(names.fetches(options.fetches or names.outputs).values()) or counted_fetches(graph)
    feeds = names.feeds(options.feeds)
    with render.Working("counting", options.quiet):
        report = layers(
            graph, fetches, shapes={names.input(name).name: shape for name, shape in options.shapes}, values=feeds,
            batch=options.batch, trips=whole_numbers("--trips", options.trips), sizes=whole_numbers("--size", options.sizes),
            measured=_measured(graph, fetches, feeds, options),
        )  # fmt: skip
    if options.sort != "model":
        report = report.largest_first(options.sort)
    if options.tree:
        tree = report.tree()
        render.emit("tfg.layers.tree/1", tree, options.format_, lambda: tree_sections(tree, options.format_))
    else:
        render.emit("tfg.layers/1", report, options.format_, lambda: layers_sections(report))


def _measured(graph: Graph, fetches: Sequence[str], feeds: Mapping[str, Any], options: LayersOptions) -> Measurement | None:
    """Return the times of a run, if the options ask for one."""
    if not options.measured:
        return None
    measured = profile(
        graph, fetches, feeds, runs=_RUNS,
        open_session=lambda graph: options.session.open(graph, options.quiet, implied=True).session,
    )  # fmt: skip
    return note_drawn_feeds(measured, options.quiet)
