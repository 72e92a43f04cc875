"""Graphs to files: GraphDef and MetaGraphDef, binary or text, plain or gzip."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Final

from ..core.arguments import takes
from ..core.errors import InvalidArgumentError
from ..core.escaping import printable_proto
from ..core.graph import Graph
from .graphdef import GraphSource, Kind, graph_chunks, graph_texts
from .scan import parse
from .source import write_file
from .textformat import print_text

MAX_MESSAGE: Final = (1 << 31) - 1
"""The bytes of the largest message that protobuf reads."""


@takes(graph=Graph, path=str | os.PathLike, text=bool, gzip=bool, kind=str | None)
def save(
    graph: Graph, path: str | os.PathLike[str], *, text: bool = False, gzip: bool = False, kind: Kind | None = None
) -> None:
    """Write a graph to a path, or to standard output for `-`, whole or not at all.

    `kind` says whether a GraphDef or a MetaGraphDef is written; without it, what the graph was loaded from, and a GraphDef
    for a SavedModel. InvalidArgumentError for a binary graph of 2 GiB, which nothing could read.
    """
    write_file(path, _encoded_texts(path, graph, kind) if text else _message(path, graph, kind), gzip)


def _encoded_texts(path: str | os.PathLike[str], graph: Graph, kind: Kind | None) -> Iterator[bytes]:
    """The text form in pieces; standard output may be a terminal, to which no control character goes."""
    for text in _texts(graph, kind):
        yield (printable_proto(text) if path == "-" else text).encode()


def _message(path: str | os.PathLike[str], graph: Graph, kind: Kind | None) -> Iterable[bytes | memoryview]:
    """The pieces of a message that is not too large to be one; all were looked at before the first goes to standard output."""
    pieces = within_limit(_chunks(graph, kind))
    return list(pieces) if path == "-" else pieces


def within_limit(pieces: Iterable[bytes | memoryview]) -> Iterator[bytes | memoryview]:
    """The pieces of a message; InvalidArgumentError behind the last of them where they are too large to be one."""
    size = 0
    for piece in pieces:
        size += len(piece)
        if size <= MAX_MESSAGE:
            yield piece
    if size > MAX_MESSAGE:
        raise InvalidArgumentError(
            f"the graph takes {size:,} bytes, and protobuf, with it TensorFlow, reads no message of 2 GiB or more",
            hint="split it: convert without --freeze, and keep the values in a checkpoint (`tfg run --save-state PREFIX`)",
        )


def to_bytes(graph: Graph, kind: Kind | None = None) -> bytes:
    """The serialized GraphDef or MetaGraphDef; map entries are in the order of their keys."""
    return b"".join(_chunks(graph, kind))


def to_text(graph: Graph, kind: Kind | None = None) -> str:
    """The GraphDef or MetaGraphDef in protobuf's text format, as TensorFlow prints it."""
    return "".join(_texts(graph, kind))


def _texts(graph: Graph, kind: Kind | None) -> Iterator[str]:
    if _output_kind(graph, kind) == "graph":
        yield from graph_texts(graph, lambda: graph)
        return
    from .protos.meta_graph_pb2 import MetaGraphDef

    yield print_text(parse(MetaGraphDef, to_bytes(graph, "meta_graph")))


def _output_kind(graph: Graph, kind: Kind | None) -> Kind:
    return kind or (graph.source.kind if isinstance(graph.source, GraphSource) else "graph")


def _chunks(graph: Graph, kind: Kind | None) -> Iterator[bytes | memoryview]:
    chunks = graph_chunks(graph, lambda: graph)
    if _output_kind(graph, kind) == "graph":
        return chunks
    from .meta_graph import meta_graph_chunks

    return meta_graph_chunks(graph, list(chunks))
