"""`tfg layers`: list the layers of a model: shapes, parameters, FLOPs, bytes."""

from __future__ import annotations

from typing import Final

import click

from ...core.types.shapes import BatchSize
from .. import render
from ..main import DONE
from ..options import (
    GraphReader,
    ShapePair,
    batch_option,
    fetch_option,
    format_option,
    graph_options,
    quiet_option,
    signature_option,
)
from ..requests import argument, command_of, option, part, request

_ORDERS: Final = ("model", "parameters", "flops", "bytes")


@request
class LayersOptions:
    """List the layers of GRAPH in the order of a run, each with its output shape, parameters, FLOPs and bytes.

    A layer is a scope that owns weights, such as a Keras layer, or what lies beside such scopes and computes without weights,
    such as a pool. Called functions count as if they were part of the graph. N is the batch.

    \b
    tfg layers saved_model_folder
    tfg layers saved_model_folder --tree
    tfg layers frozen.pb --batch 8 --sort flops
    tfg layers saved_model_folder --signature serving_default --format csv
    """

    graph: str = argument()
    fetches: tuple[str, ...] = fetch_option("Tensor or operation that needs the layers; repeatable. Default: the outputs.")
    shapes: tuple[tuple[str, tuple[int | None, ...]], ...] = option(
        "--shape", type=ShapePair(), help="Shape of a placeholder or tensor; repeatable."
    )
    batch: BatchSize | None = batch_option()
    sort: str = option(type=click.Choice(_ORDERS), default="model", show_default=True, help="Order of the layers.")
    tree: bool = option(
        excludes={"--sort": "the tree has the order of the model"},
        help="Print layers inside the scopes around them, and fold equal blocks.",
    )
    signature: str | None = signature_option()
    format_: str = format_option()
    quiet: bool = quiet_option()
    reader: GraphReader = part(graph_options)


def _run(options: LayersOptions) -> int:
    """Print the layers, and totals below them."""
    from ...formats.api.counting import counted_fetches, layers
    from ...formats.runs.names import Names
    from ..models import note_unread_values
    from ..sections.layers_sections import layers_sections, tree_sections

    graph = options.reader.load(options.graph)
    note_unread_values(graph, options.quiet)
    names = Names(graph, options.signature).exposing(options.fetches, render.noting(options.quiet))
    graph = names.graph
    fetches = tuple(names.fetches(options.fetches or names.outputs).values()) or counted_fetches(graph)
    with render.Working("counting", options.quiet):
        report = layers(
            graph, fetches, shapes={names.input(name).name: shape for name, shape in options.shapes},
            batch=options.batch,
        )  # fmt: skip
    if options.sort != "model":
        report = report.largest_first(options.sort)
    if options.tree:
        tree = report.tree()
        render.emit("tfg.layers.tree/1", tree, options.format_, lambda: tree_sections(tree, options.format_))
        return DONE
    render.emit("tfg.layers/1", report, options.format_, lambda: layers_sections(report))
    return DONE


command = command_of(LayersOptions, _run)
