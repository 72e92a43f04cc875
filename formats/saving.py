"""Graphs to files: GraphDef and MetaGraphDef, binary or text, plain or gzip."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from ..core.graph.graph import Graph, GraphLike, as_graph
from ..core.support.arguments import checked
from ..core.support.errors import InvalidArgumentError
from ..core.support.escaping import printable_proto
from ..core.support.file_formats import BINARY_GRAPH, GRAPHS, META_GRAPH, TEXT_GRAPH, conflict, extension_of, format_of
from ..core.support.hints import Hint, option, step
from .codecs.scan import parse
from .codecs.source import write_file
from .codecs.textformat import print_text
from .graphdef import GraphSource, Kind, graph_chunks, graph_texts

MAX_MESSAGE: Final = (1 << 31) - 1
"""The bytes of the largest message that protobuf reads."""


class GraphForm(NamedTuple):
    """The form of a written graph: text or binary, compressed or not, and the kind of message; None keeps the loaded kind."""

    text: bool
    gzip: bool
    kind: Kind | None


def graph_form(
    path: str | os.PathLike[str], text: bool | None = None, gzip: bool | None = None, kind: Kind | None = None
) -> GraphForm:
    """Return the form that a file's name asks for; the arguments decide if the name does not, binary and plain by
    default.

    InvalidArgumentError for a name that asks for another format than the arguments, or for a format without graphs.
    """
    extension = "" if path == "-" else extension_of(path)
    # Standard output has no name to ask for a form, and takes the default unless the arguments decide.
    by_name = GRAPHS.default if path == "-" else format_of(path, GRAPHS)
    assert by_name is not None
    is_packed = extension.endswith(".gz")
    if extension.removesuffix(".gz"):
        if text is not None and by_name is not META_GRAPH and text != (by_name is TEXT_GRAPH):
            raise conflict(path, by_name, (TEXT_GRAPH if text else BINARY_GRAPH).name)
        if kind == "graph" and by_name is META_GRAPH:
            raise conflict(path, by_name, BINARY_GRAPH.name)
        text = by_name is TEXT_GRAPH if text is None else text
    if extension and gzip not in (None, is_packed):
        raise InvalidArgumentError(
            f"the name '{os.fspath(path)}' {'asks' if is_packed else 'does not ask'} for gzip",
            hint=f"use the name '{os.fspath(path).removesuffix('.gz') if is_packed else os.fspath(path) + '.gz'}'",
        )
    return GraphForm(bool(text), bool(gzip) or is_packed, "meta_graph" if by_name is META_GRAPH else kind)


@checked
def save(
    graph: GraphLike,
    path: str | os.PathLike[str],
    *,
    text: bool | None = None,
    gzip: bool | None = None,
    kind: Kind | None = None,
) -> None:
    """Write a graph to a path, or to standard output for `-`, whole or not at all.

    The name's extension decides the form: .pb or none is binary, .pbtxt, .prototxt, .textproto and .txt are text, .meta is
    a MetaGraphDef, a following .gz compresses. `text` and `gzip` decide for a name without extension.

    `kind` chooses between a GraphDef and a MetaGraphDef; by default the loaded kind, and a GraphDef for a SavedModel.
    InvalidArgumentError for a name that asks for another form, and for a binary graph of 2 GiB, too large for any reader.
    """
    graph = as_graph(graph)
    write_graph(graph, path, graph_form(path, text, gzip, kind))


def write_graph(graph: Graph, path: str | os.PathLike[str], form: GraphForm) -> None:
    """Write a graph in a known form, as `save`."""
    pieces = encoded_texts(path, _texts(graph, form.kind)) if form.text else _message(path, graph, form.kind)
    write_file(path, pieces, form.gzip)


def encoded_texts(path: str | os.PathLike[str], texts: Iterable[str]) -> Iterator[bytes]:
    """Encode the pieces of a text form; standard output may be a terminal, so control characters are escaped for `-`."""
    for text in texts:
        yield (printable_proto(text) if path == "-" else text).encode()


def _message(path: str | os.PathLike[str], graph: Graph, kind: Kind | None) -> Iterable[bytes | memoryview]:
    """Return the pieces of a message within the size limit; for standard output all are checked before any is written."""
    pieces = within_limit(_chunks(graph, kind))
    # Standard output cannot take back what it was given, as a file under a temporary name can.
    return list(pieces) if path == "-" else pieces


def within_limit(pieces: Iterable[bytes | memoryview]) -> Iterator[bytes | memoryview]:
    """Yield the pieces of a message; InvalidArgumentError after the last piece if the message exceeds protobuf's limit."""
    size = 0
    for piece in pieces:
        size += len(piece)
        # The error comes after the last piece, as it names the whole size. Writers of files keep nothing of an incomplete
        # message.
        if size <= MAX_MESSAGE:
            yield piece
    if size > MAX_MESSAGE:
        raise InvalidArgumentError(
            f"the graph takes {size:,} bytes, but protobuf and TensorFlow cannot read messages of 2 GiB or more",
            hint=Hint(
                "split the graph: convert without ",
                option("freeze"),
                ", and keep the values in a checkpoint (",
                step("save_state"),
                ")",
            ),
        )


def to_bytes(graph: Graph, kind: Kind | None = None) -> bytes:
    """Return the serialized GraphDef or MetaGraphDef; map entries are in the order of their keys."""
    return b"".join(_chunks(graph, kind))


def to_text(graph: Graph, kind: Kind | None = None) -> str:
    """Return the GraphDef or MetaGraphDef in protobuf's text format, as TensorFlow prints the message."""
    return "".join(_texts(graph, kind))


def _texts(graph: Graph, kind: Kind | None) -> Iterator[str]:
    if _output_kind(graph, kind) == "graph":
        yield from graph_texts(graph, lambda: graph)
        return
    from .protos.meta_graph_pb2 import MetaGraphDef

    yield print_text(parse(MetaGraphDef, to_bytes(graph, "meta_graph")))


def _output_kind(graph: Graph, kind: Kind | None) -> Kind:
    # A graph built in Python came from no file, so it has no kind to keep.
    return kind or (graph.source.kind if isinstance(graph.source, GraphSource) else "graph")


def _chunks(graph: Graph, kind: Kind | None) -> Iterator[bytes | memoryview]:
    chunks = graph_chunks(graph, lambda: graph)
    if _output_kind(graph, kind) == "graph":
        return chunks
    from .meta_graph import meta_graph_chunks

    # A message inside of another is written after its length, so all its pieces are made before.
    return meta_graph_chunks(graph, list(chunks))
