"""`tfg convert`: write a graph in another form: text, binary, frozen, cut out."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Literal

import click

from ..core.errors import InvalidArgumentError
from ..core.graph import Graph
from ..core.words import counted
from . import render
from .options import GraphReader, gathered, graph_options, quiet_option
from .sessions import SessionOptions, session_options

if TYPE_CHECKING:
    from .names import Names

_TEXT_ENDS = (".pbtxt", ".prototxt", ".txt", ".textproto")


@dataclasses.dataclass(frozen=True, slots=True)
class ConvertOptions:
    """What `tfg convert` is told beside how to open a session for the values to freeze."""

    text: bool | None
    compress: bool | None
    kind: Literal["graph", "meta_graph"] | None
    outputs: tuple[str, ...]
    inputs: tuple[str, ...]
    subgraph: bool
    freeze: bool
    inline_functions: bool
    strip_default_attrs: bool
    clear_devices: bool
    quiet: bool

    @property
    def cuts(self) -> bool:
        """True where only a part of the graph is to be kept."""
        return self.subgraph or bool(self.outputs or self.inputs)


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
@session_options
@click.option("--inline-functions", is_flag=True, help="Put the bodies of called functions in the place of the calls.")
@click.option("--strip-default-attrs", is_flag=True, help="Drop attributes that have their default value.")
@click.option("--clear-devices", is_flag=True, help="Drop the devices of all nodes.")
@quiet_option
@graph_options
@gathered(ConvertOptions)
def command(source: str, target: str, reader: GraphReader, session: SessionOptions, options: ConvertOptions) -> None:
    """Read the graph IN and write it to OUT, whole or not at all; - is standard input or output.

    \b
    tfg convert graph.pb graph.pbtxt
    tfg convert saved_model_folder graph.pb
    tfg convert train.pb frozen.pb --freeze --state model.ckpt-1000 --to logits --strip-default-attrs
    """
    from ..formats.saving import save

    session.refuse_without("--freeze", options.freeze)
    graph = _changed(reader.load(source), session, options)
    ends = target.removesuffix(".gz")
    text = ends.endswith(_TEXT_ENDS) if options.text is None else options.text
    compress = target.endswith(".gz") if options.compress is None else options.compress
    save(graph, target, text=text, gzip=compress, kind=options.kind)
    if target != "-":
        render.note(f"wrote {counted(len(graph), 'node')} to {target}", options.quiet)


def _changed(graph: Graph, session: SessionOptions, options: ConvertOptions) -> Graph:
    """The graph with all changes that were asked for."""
    from ..core.transforms import subgraphs
    from ..core.transforms.freezing import freeze
    from .names import Names

    names = Names(graph, session.signature)
    outputs = [names.output(word).name for word in options.outputs] or _default_outputs(graph, names, options)
    inputs = [names.input(word).name for word in options.inputs]
    values = session.open(graph, options.quiet).state() if options.freeze else {}
    if options.inline_functions:
        from ..core.passes.pipeline import inline_functions

        graph, count = inline_functions(graph)
        render.note(f"inlined {count} calls", options.quiet)
    if options.freeze:
        graph = freeze(graph, values, outputs, inputs)
    elif options.cuts or session.signature is not None:
        if not outputs:
            raise InvalidArgumentError("what to keep? name at least one tensor with --to")
        graph = subgraphs.subgraph(graph, outputs, inputs)
    if options.strip_default_attrs:
        render.note(f"dropped {subgraphs.strip_default_attrs(graph)} attributes that had their default", options.quiet)
    if options.clear_devices:
        render.note(f"cleared {subgraphs.clear_devices(graph)} devices", options.quiet)
    return graph


def _default_outputs(graph: Graph, names: Names, options: ConvertOptions) -> list[str]:
    """The outputs of the signature chosen, of all signatures, or those that `tfg explain` finds."""
    if names.outputs:
        return list(names.outputs.values())
    if not (options.freeze or options.subgraph or options.inputs):
        return []
    if graph.meta is not None and graph.meta.signatures:
        tensors = (info.tensor for found in graph.meta.signatures.values() for info in found.outputs.values())
        return list(dict.fromkeys(tensors))
    from ..core.explaining.graphs import explain_graph

    return [tensor.name for tensor in explain_graph(graph).outputs]
