"""Graphs from files and back: GraphDef and MetaGraphDef, binary or text, plain or gzip, told apart by content."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Literal

from google.protobuf.message import Message

from ..core.errors import TfgError
from ..core.graph import Graph, Node
from ..core.versions import Versions
from . import detect, wire
from .attrs import NodeAttrs
from .function_library import FunctionLibrary, encode_library
from .node_def import add_nodes, complete_proto, encode_node, input_texts, node_chunks
from .protos.graph_pb2 import GraphDef, NodeDef
from .scan import parse, scan_graph_def
from .source import Source, describe, is_in_memory, read_source, write_file
from .textformat import parse_text, print_text

Kind = Literal["graph", "meta_graph"]


class GraphSource:
    """What a loaded graph keeps to be written back: the messages around its nodes.

    `rest` is the GraphDef without its nodes, `meta_graph` the serialized MetaGraphDef without its GraphDef.
    """

    __slots__ = ("kind", "meta_graph", "rest")

    def __init__(self, rest: GraphDef, kind: Kind, meta_graph: bytes) -> None:
        self.rest = rest
        self.kind = kind
        self.meta_graph = meta_graph


def load(source: Source, *, tags: Sequence[str] | None = None) -> Graph:
    """A graph from a path, `-` for standard input, a SavedModel's folder, or bytes.

    `tags` choose the MetaGraphDef of a SavedModel that has several. NotFoundError where there is no such file,
    InvalidArgumentError where it is something else than a graph (and says what), DataLossError where it is damaged.
    """
    if not is_in_memory(source) and source != "-" and os.path.isdir(str(source)):
        from .saved_model import load_saved_model

        return load_saved_model(str(source), tags)
    data = read_source(source)
    try:
        return _load_contents(data, describe(source), tags)
    except TfgError as error:
        if error.node is None and describe(source) not in error.message:
            raise type(error)(f"{describe(source)}: {error.message}", op=error.op, hint=error.hint) from None
        raise


def _load_contents(data: memoryview, name: str, tags: Sequence[str] | None) -> Graph:
    kind, is_text = detect.graph_kind(data, name)
    if kind == "graph":
        return graph_from_bytes(_binary(GraphDef, data) if is_text else data)
    from .protos.meta_graph_pb2 import MetaGraphDef, SavedModel

    if kind == "meta_graph":
        from .meta_graph import graph_from_meta_graph

        return graph_from_meta_graph(_binary(MetaGraphDef, data) if is_text else data)
    from .saved_model import graph_from_saved_model

    return graph_from_saved_model(_binary(SavedModel, data) if is_text else data, tags)


def _binary(message_type: type[Message], text: memoryview) -> memoryview:
    """A text message serialized, so that one reader does for both."""
    return memoryview(parse_text(message_type, text).SerializeToString(deterministic=True))


def graph_from_bytes(data: memoryview, kind: Kind = "graph", meta_graph: bytes = b"") -> Graph:
    """The graph of a serialized GraphDef."""
    sources, rest = scan_graph_def(data)
    graph = Graph()
    add_nodes(graph, sources)
    graph.functions = FunctionLibrary(rest.library)
    graph.versions = _decode_versions(rest)
    graph.source = GraphSource(rest, kind, meta_graph)
    return graph


def _decode_versions(proto: GraphDef) -> Versions:
    versions = proto.versions
    # Before `versions` there was a single number.
    return Versions(versions.producer or proto.version, versions.min_consumer, tuple(versions.bad_consumers))


def save(
    graph: Graph, path: str | os.PathLike[str], *, text: bool = False, gzip: bool = False, kind: Kind | None = None
) -> None:
    """Write a graph to a path, or to standard output for `-`, whole or not at all.

    `kind` says whether a GraphDef or a MetaGraphDef is written; without it, what the graph was loaded from, and a GraphDef
    for a SavedModel.
    """
    chunks = [to_text(graph, kind).encode()] if text else list(_chunks(graph, kind))
    write_file(path, chunks, gzip)


def to_bytes(graph: Graph, kind: Kind | None = None) -> bytes:
    """The serialized GraphDef or MetaGraphDef; map entries are in the order of their keys."""
    return b"".join(_chunks(graph, kind))


def to_text(graph: Graph, kind: Kind | None = None) -> str:
    """The GraphDef or MetaGraphDef in protobuf's text format, as TensorFlow prints it."""
    if _output_kind(graph, kind) == "graph":
        nodes = (print_text(GraphDef(node=[complete_proto(source)])) for source in _encoded_nodes(graph))
        return "".join(nodes) + print_text(_encode_rest(graph))
    from .protos.meta_graph_pb2 import MetaGraphDef

    return print_text(parse(MetaGraphDef, to_bytes(graph, "meta_graph")))


def to_node_def(node: Node) -> NodeDef:
    """The NodeDef of one node as a message."""
    return complete_proto(encode_node(node, input_texts(node)))


def node_text(node: Node) -> str:
    """One node in protobuf's text format, as in a GraphDef: `node { ... }`."""
    return print_text(GraphDef(node=[to_node_def(node)]))


def _output_kind(graph: Graph, kind: Kind | None) -> Kind:
    return kind or (graph.source.kind if isinstance(graph.source, GraphSource) else "graph")


def _chunks(graph: Graph, kind: Kind | None) -> Iterator[bytes | memoryview]:
    if _output_kind(graph, kind) == "graph":
        return _graph_chunks(graph)
    from .meta_graph import meta_graph_chunks

    return meta_graph_chunks(graph, list(_graph_chunks(graph)))


def _graph_chunks(graph: Graph) -> Iterator[bytes | memoryview]:
    for source in _encoded_nodes(graph):
        pieces = list(node_chunks(source))
        yield wire.length_prefix(GraphDef.NODE_FIELD_NUMBER, sum(map(len, pieces)))
        yield from pieces
    yield _encode_rest(graph).SerializeToString(deterministic=True)


def _encoded_nodes(graph: Graph) -> Iterator[NodeAttrs]:
    for node in graph:
        yield encode_node(node, input_texts(node))


def _encode_rest(graph: Graph) -> GraphDef:
    """All of the GraphDef but its nodes."""
    rest = GraphDef()
    if isinstance(graph.source, GraphSource):
        rest.CopyFrom(graph.source.rest)
    if graph.functions or rest.HasField("library"):
        encode_library(graph.functions, rest.library)
    versions = graph.versions
    if versions is not None and versions != _decode_versions(rest):
        rest.ClearField("version")
        rest.versions.producer, rest.versions.min_consumer = versions.producer, versions.min_consumer
        rest.versions.bad_consumers[:] = versions.bad_consumers
    return rest
