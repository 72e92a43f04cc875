"""`tfg draw`: draw a graph with Graphviz, as dot, SVG or PNG."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import click

from ..core.errors import NotFoundError, UnknownError
from ..core.explaining.listing import Filter
from ..core.graph import Graph, Node, Output
from ..core.traversal import reachable
from .options import GraphReader, graph_options

_MAX_NODES = 2000
_KINDS = ("dot", "svg", "png", "pdf")


@click.command()
@click.argument("graph")
@click.option("-o", "--out", default="-", metavar="FILE", help="Where to write; .svg, .png, .pdf or .dot says what.")
@click.option("--format", "format_", type=click.Choice(_KINDS), help="What to write, however FILE ends.")
@click.option("--name", default="", metavar="REGEX", help="Only nodes in whose name this is found.")
@click.option("--scope", default="", metavar="SCOPE", help="Only nodes in this name scope.")
@click.option("--fetch", "fetches", multiple=True, metavar="TENSOR", help="Only what this needs; repeatable.")
@click.option("--around", metavar="NODE", help="Only this node and those up to --hops edges away.")
@click.option("--hops", type=click.IntRange(0), default=2, show_default=True, help="How far --around goes.")
@click.option("--highlight", multiple=True, metavar="NODE", help="Draw this node with a red border; repeatable.")
@click.option("--clusters", is_flag=True, help="Draw each name scope as a box.")
@click.option("--shapes", is_flag=True, help="Write inferred shapes at the edges.")
@graph_options
def command(
    graph: str, out: str, format_: str | None, name: str, scope: str, fetches: tuple[str, ...], around: str | None, hops: int,
    highlight: tuple[str, ...], clusters: bool, shapes: bool, reader: GraphReader,
) -> None:  # fmt: skip
    """Draw GRAPH: data edges solid, control edges dashed. dot needs no program, svg, png and pdf need Graphviz.

    \b
    tfg draw graph.pb -o graph.svg --clusters
    tfg draw graph.pb --around loss --hops 3 -o loss.svg
    """
    from ..formats.dot import to_dot
    from ..formats.source import write_file

    loaded = reader.look(graph)
    nodes = _chosen(loaded, Filter(name, "", scope), fetches, around, hops)
    if len(nodes) > _MAX_NODES and format_ != "dot" and not out.endswith((".dot", "-")):
        raise click.UsageError(f"{len(nodes)} nodes are too many for a picture: use --scope, --name, --fetch or --around")
    kind = format_ or os.path.splitext(out)[1].lstrip(".") or "dot"
    if kind not in _KINDS:
        raise click.UsageError(f"'{out}' does not say what to write: end it in .dot, .svg, .png or .pdf, or give --format")
    for node in highlight:
        loaded.node(node)
    labels = _shape_labels(loaded) if shapes else None
    drawing = to_dot(loaded, nodes, clusters=clusters, highlight=highlight, edge_label=labels)
    write_file(out, [_render(drawing, kind)])


def _chosen(graph: Graph, chosen: Filter, fetches: tuple[str, ...], around: str | None, hops: int) -> list[Node]:
    nodes = set(chosen.apply(graph))
    if fetches:
        nodes &= reachable([graph.node_of(fetch) for fetch in fetches])
    if around is not None:
        near = {graph.node_of(around)}
        for _ in range(hops):
            near |= {n for node in near for n in (*node.uses, *(v.node for v in node.inputs), *node.control_inputs)}
        nodes &= near
    if not nodes:
        raise NotFoundError("no node is chosen", hint="`tfg dump GRAPH --format list` lists all nodes")
    return [node for node in graph if node in nodes]


def _shape_labels(graph: Graph) -> Callable[[Output], str]:
    from ..core.inference import infer

    inference = infer(graph)

    def label(value: Output) -> str:
        spec = inference.specs.get(value)
        return str(spec.shape) if spec is not None and spec.shape.dims is not None else ""

    return label


def _render(drawing: Any, kind: str) -> bytes:
    import graphviz

    if kind == "dot":
        return str(drawing.source).encode()
    try:
        found: bytes = drawing.pipe(format=kind)
        return found
    except graphviz.ExecutableNotFound:
        hint = "install Graphviz (`apt install graphviz`, `brew install graphviz`), or write Graphviz source: --format dot"
        raise NotFoundError("the program 'dot' of Graphviz is not installed", hint=hint) from None
    except graphviz.CalledProcessError as error:
        raise UnknownError(f"Graphviz failed: {error}") from None
