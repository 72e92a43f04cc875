"""`tfg convert`: a graph in another form."""

from __future__ import annotations

from typing import Any

import click

from ..core.errors import InvalidArgumentError
from ..core.graph import Graph
from . import render
from .options import GraphReader, graph_options, quiet_option

_TEXT_ENDS = (".pbtxt", ".prototxt", ".txt", ".textproto")


@click.command()
@click.argument("source", metavar="IN")
@click.argument("target", metavar="OUT")
@click.option("--text/--binary", "text", default=None, help="Write text or binary; by default as OUT ends (.pbtxt is text).")
@click.option("--gzip/--no-gzip", "compress", default=None, help="Compress; by default where OUT ends in .gz.")
@click.option("--kind", type=click.Choice(("graph", "meta_graph")), help="Write a GraphDef or a MetaGraphDef.")
@click.option("--to", "outputs", multiple=True, metavar="TENSOR", help="Keep only what this needs; repeatable.")
@click.option("--from", "inputs", multiple=True, metavar="TENSOR", help="Cut here: this becomes a placeholder; repeatable.")
@click.option("--subgraph", is_flag=True, help="Keep only what --to needs, cut at --from (they imply it).")
@click.option("--freeze", is_flag=True, help="Turn variables into constants.")
@click.option("--state", metavar="FILE", help="Freeze the values of this .npz file or checkpoint.")
@click.option("--init", is_flag=True, help="Freeze the values that the initializer gives.")
@click.option("--inline-functions", is_flag=True, help="Put the bodies of called functions in the place of the calls.")
@click.option("--strip-default-attrs", is_flag=True, help="Drop attributes that have their default value.")
@click.option("--clear-devices", is_flag=True, help="Drop the devices of all nodes.")
@quiet_option
@graph_options
def command(source: str, target: str, reader: GraphReader, quiet: bool, **options: Any) -> None:
    """Read the graph IN and write it to OUT, whole or not at all; - is standard input or output.

    \b
    tfg convert graph.pb graph.pbtxt
    tfg convert saved_model_folder graph.pb
    tfg convert train.pb frozen.pb --freeze --state model.ckpt-1000 --to logits --strip-default-attrs
    """
    from ..formats.graphdef import save

    graph = _changed(reader.load(source), options, quiet)
    ends = target.removesuffix(".gz")
    text = ends.endswith(_TEXT_ENDS) if options["text"] is None else options["text"]
    compress = target.endswith(".gz") if options["compress"] is None else options["compress"]
    save(graph, target, text=text, gzip=compress, kind=options["kind"])
    if target != "-":
        render.note(f"wrote {len(graph)} nodes to {target}", quiet)


def _changed(graph: Graph, options: dict[str, Any], quiet: bool) -> Graph:
    """The graph with all changes that were asked for."""
    from ..core import transform
    from ..core.freezing import freeze

    outputs = options["outputs"] or _default_outputs(graph, options)
    values = _values(graph, options) if options["freeze"] else {}
    if options["inline_functions"]:
        from ..core.passes.pipeline import inline_functions

        graph, count = inline_functions(graph)
        render.note(f"inlined {count} calls", quiet)
    if options["freeze"]:
        graph = freeze(graph, values, outputs, options["inputs"])
    elif options["subgraph"] or options["outputs"] or options["inputs"]:
        if not outputs:
            raise InvalidArgumentError("what to keep? name at least one tensor with --to")
        graph = transform.subgraph(graph, outputs, options["inputs"])
    if options["strip_default_attrs"]:
        render.note(f"dropped {transform.strip_default_attrs(graph)} attributes that had their default", quiet)
    if options["clear_devices"]:
        render.note(f"cleared {transform.clear_devices(graph)} devices", quiet)
    return graph


def _default_outputs(graph: Graph, options: dict[str, Any]) -> tuple[str, ...]:
    """The outputs of the graph's signatures, or those that `tfg explain` finds."""
    if not (options["freeze"] or options["subgraph"] or options["inputs"]):
        return ()
    if graph.meta is not None and graph.meta.signatures:
        tensors = (info.tensor for found in graph.meta.signatures.values() for info in found.outputs.values())
        return tuple(dict.fromkeys(tensors))
    from ..core.explain import explain_graph

    return tuple(tensor.name for tensor in explain_graph(graph).outputs)


def _values(graph: Graph, options: dict[str, Any]) -> Any:
    """The values to freeze: those of a state, of the initializer, or of the SavedModel itself."""
    from ..core.running import Runner
    from ..core.session import Session
    from ..formats.state import read_variables

    runner = Runner(Session(graph))
    if options["init"]:
        runner.initialize()
    else:
        runner.session.run([])
    if options["state"]:
        runner.restore(read_variables(options["state"]))
    return runner.state()
