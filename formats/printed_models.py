"""MetaGraphDefs and SavedModels in printed text, taken apart: a graph inside is read like a graph in a text of its own."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from .codecs.printed_text import OtherLayout, PrintedReader
from .protos.graph_pb2 import GraphDef
from .protos.meta_graph_pb2 import MetaGraphDef, SavedModel

_GRAPH: Final = "graph_def"
_META_GRAPHS: Final = "meta_graphs"


class PrintedMetaGraph(NamedTuple):
    """A MetaGraphDef as two parts: serialized without the graph, and the printed text of the graph."""

    around: bytes
    graph: bytes


def cut_meta_graph(text: bytes) -> PrintedMetaGraph:
    """Cut a MetaGraphDef in printed text into parts; OtherLayout where the text has another layout or may be wrong."""
    around, graphs = _cut(text, _GRAPH)
    if len(graphs) > 1:
        raise OtherLayout
    return PrintedMetaGraph(_serialized(MetaGraphDef.DESCRIPTOR, around, without=(_GRAPH,)), b"".join(graphs))


def cut_saved_model(text: bytes) -> list[PrintedMetaGraph]:
    """Cut out the MetaGraphDefs of a SavedModel in printed text; OtherLayout where the text has another layout or may be
    wrong.
    """
    around, meta_graphs = _cut(text, _META_GRAPHS)
    _serialized(SavedModel.DESCRIPTOR, around, without=(_META_GRAPHS,))
    return list(map(cut_meta_graph, meta_graphs))


def check_graph(meta_graph: PrintedMetaGraph) -> None:
    """Check the text of a graph that is not to be read; OtherLayout where the text has another layout or may be wrong."""
    _serialized(GraphDef.DESCRIPTOR, meta_graph.graph)


def _cut(text: bytes, field: str) -> tuple[bytes, list[bytes]]:
    """Return a text without the messages of a field, and each of the messages as a text."""
    message = re.compile(rf"^{field} \{{\n((?:  [^\n]*+\n)*+)\}}\n".encode(), re.MULTILINE)
    around, inner, position = [], [], 0
    for match in message.finditer(text):
        around.append(text[position : match.start()])
        inner.append((b"\n" + match[1]).replace(b"\n  ", b"\n")[1:])
        position = match.end()
    return b"".join((*around, text[position:])), inner


def _serialized(descriptor: object, text: bytes, without: Sequence[str] = ()) -> bytes:
    try:
        decoded = text.decode()
    except UnicodeDecodeError:
        raise OtherLayout from None
    return PrintedReader(descriptor, without).message(decoded, 0, len(decoded), 0)
