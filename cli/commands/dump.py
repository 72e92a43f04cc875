"""`tfg dump`: print the nodes of a graph, or the changes of each construction stage."""

from __future__ import annotations

from typing import Final

import click

from ...core.explaining.node_listing import ORDERS
from ..options import GraphReader, ListingSelection, Seconds, fetch_option, format_option, map_option, signature_option
from ..requests import Positive, argument, command_of, excluding, option, part, request

_CHOICE: Final = "--name --exclude --op --scope --device --to --around"
"""The options that choose nodes."""


@request
class DumpOptions:
    """Print the nodes of GRAPH: name, op, outputs, inputs, device, colocation and attributes.

    Several GRAPHs are snapshots of a graph under construction: the command compares each snapshot with the previous one.

    \b
    tfg dump graph.pb
    tfg dump graph.pb --op "Variable.*" --format list
    tfg dump saved_model_folder --model --format list
    tfg dump graph.pb --around loss --hops 1 --sort topological
    tfg dump sample_graphs/variable_2/*.pbtxt
    tfg dump --script build.py --format text
    tfg dump --stages train_graph.pb
    tfg dump graph.pb --after fold --fetch y
    tfg dump train_graph.pb --elements IteratorGetNext --take 3
    """

    graphs: tuple[str, ...] = argument("[GRAPH]...", nargs=-1)
    script: str | None = option(
        metavar="FILE", help="Run a script that uses tfg.GraphBuilder and dump each stage that the script marks."
    )
    stages: bool = option(
        excludes="--script --after", help="Recover the stages of a finished graph: variables, model, loss ..."
    )
    # The model is a view of a whole graph; snapshots, passes and elements are of the file's.
    model: bool = option(
        excludes="--script --stages --after --elements",
        help="Print the nodes of the model: calls dissolved, layers by the names that the author gave.",
    )
    signature: str | None = signature_option(needs="--model")
    stage: str | None = option(
        metavar="NAME",
        excludes="--stages --after",
        help="With several graphs or a script: show only the graph after this stage.",
    )
    after: str | None = option(
        metavar="PASS", excludes="--script", help="Show the changes of an optimization pass: load, prune, fold ... or all."
    )
    fetches: tuple[str, ...] = fetch_option("With --after: a tensor to optimize for; repeatable.", needs="--after")
    # Elements are computed, and have neither the columns nor the order of nodes.
    elements: str | None = option(
        metavar="NAME",
        excludes="--script --stages --after --stage --sort --shapes",
        help="Show the first elements of this dataset or iterator.",
    )
    take: Positive | None = option(needs="--elements", help="With --elements: the number of elements.  [default: 3]")
    # These few in place of all options of a session: nothing else of a run applies to a pipeline.
    allow_files: tuple[str, ...] = option(
        metavar="DIR", needs="--elements", help="With --elements: let the graph use the files in DIR."
    )
    timeout: float | None = option(type=Seconds(), metavar="SECONDS", needs="--elements", help="With --elements: time limit.")
    init_op: str | None = option(
        metavar="NAME", needs="--elements", help="With --elements: first run this operation, not the graph's initializer."
    )
    state: str | None = option(
        metavar="FILE",
        needs="--elements",
        help="With --elements: restore the variables from an .npz or .safetensors file or a checkpoint.",
    )
    state_map: str | None = map_option()
    seed: int | None = option(needs="--elements", help="With --elements: seed of random ops without a seed.")
    selection: ListingSelection = part(
        ListingSelection,
        excluding(_CHOICE, "--elements", "--elements shows elements, not nodes"),
        excluding(_CHOICE, "--after", "--after shows all changes of a pass"),
    )
    sort: str = option(
        type=click.Choice(ORDERS), default="graph", excludes="--script --stages --after", help="Order of the nodes."
    )
    # Not by default: inference looks at the whole graph, and a large file is printed as it is read.
    shapes: bool = option(
        excludes="--script --stages --after", help="Infer the shapes of all outputs. Default: show only declared shapes."
    )
    format_: str = format_option("table", "list", "text", "json", "csv")
    reader: GraphReader = part(GraphReader)


command = command_of(DumpOptions, "dump_job.run")
