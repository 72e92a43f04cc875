"""`tfg layers`: list the layers of a model: shapes, parameters, FLOPs, bytes, time."""

from __future__ import annotations

from typing import Literal

from ...core.types.shapes import BatchSize
from ..options import (
    GraphReader,
    batch_option,
    feed_option,
    fetch_option,
    format_option,
    quiet_option,
    shape_pair,
    size_option,
    trips_option,
)
from ..requests import argument, command_of, needing, option, part, request
from ..sessions import SessionOptions, session_options_for


@request
class LayersOptions:
    """List the layers of GRAPH in the order of a run, each with its output shape, parameters, FLOPs and bytes.

    A layer is a scope that owns weights, such as a Keras layer, or what lies beside such scopes and computes without weights,
    such as a pool. Called functions count as if they were part of the graph. N is the batch.

    \b
    tfg layers saved_model_folder
    tfg layers saved_model_folder --tree
    tfg layers frozen.pb --batch 8 --sort flops
    tfg layers saved_model_folder --measured --feed image='normal(8,224,224,3)' --sort seconds
    tfg layers saved_model_folder --signature serving_default --format csv
    """

    graph: str = argument()
    fetches: tuple[str, ...] = fetch_option("Tensor or operation that needs the layers; repeatable. Default: the outputs.")
    shapes: tuple[tuple[str, tuple[int | None, ...]], ...] = option(
        "--shape", type=shape_pair, excludes="--measured", help="Shape of a placeholder or tensor; repeatable."
    )
    batch: BatchSize | None = batch_option(excludes="--measured")
    sizes: tuple[tuple[str, str], ...] = size_option()
    trips: tuple[tuple[str, str], ...] = trips_option()
    sort: Literal["model", "parameters", "flops", "bytes", "seconds"] = option(default="model", help="Order of the layers.")
    tree: bool = option(
        excludes={"--sort": "the tree has the order of the model"},
        help="Print layers inside the scopes around them, and fold equal blocks.",
    )
    measured: bool = option(help="Run the graph, and show the time of each layer.")
    feeds: tuple[tuple[str, str], ...] = feed_option(needs="--measured")
    # Times are the only column that takes a run.
    session: SessionOptions = part(session_options_for("--measured"), needing("--sort=seconds", "--measured"))
    format_: str = format_option()
    quiet: bool = quiet_option()
    reader: GraphReader = part(GraphReader)


command = command_of(LayersOptions, "layers_job.run")
