"""Change the form of a graph's message, text or binary, also of a graph that no session could run."""

from __future__ import annotations

import os
from collections.abc import Sequence

from google.protobuf.message import Message

from ..core.support.errors import InvalidArgumentError
from ..core.support.places import is_folder
from . import detect
from .codecs.scan import parse
from .codecs.source import Source, describe, is_in_memory, read_regular, read_source, write_file
from .codecs.textformat import print_text, serialize_text
from .graphdef import Kind
from .meta_graph import choose, model_file
from .protos.graph_pb2 import GraphDef
from .protos.meta_graph_pb2 import MetaGraphDef, SavedModel
from .saving import GraphForm, encoded_texts, within_limit
from .tfjs import meta_graph_of_tfjs

_MESSAGES: dict[detect.Kind, type[Message]] = {"graph": GraphDef, "meta_graph": MetaGraphDef, "saved_model": SavedModel}


def write_message(source: Source, target: str, form: GraphForm, tags: Sequence[str] | None = None) -> int:
    """Write the message of a graph to another file, and return the number of nodes; otherwise as `load` and `save`."""
    message = _as_kind(_read(source), form.kind, tags)
    if form.text:
        write_file(target, encoded_texts(target, [print_text(message)]), form.gzip)
    else:
        # Equal graphs give equal files: maps have no order in protobuf's messages.
        write_file(target, within_limit([message.SerializeToString(deterministic=True)]), form.gzip)
    return len((message.graph_def if isinstance(message, MetaGraphDef) else message).node)


def _read(source: Source) -> GraphDef | MetaGraphDef | SavedModel:
    path: Source = source if is_in_memory(source) or not is_folder(str(source)) else model_file(str(source))
    # The folder of a SavedModel is read by the file of its graph; what lies in memory has no folder.
    name, data = describe(path), read_source(source) if path is source else read_regular(str(path))
    kind, is_text = detect.graph_kind(data, name)
    if kind in ("events", "run_metadata"):
        raise InvalidArgumentError(f"{name} is a recording with a damaged graph")
    if kind == "tfjs":
        return meta_graph_of_tfjs(data, None if is_in_memory(path) else os.path.dirname(str(path)) or ".").graph_def
    # The message is converted without making a Graph, so that a file with broken nodes can be converted, too.
    message = parse(_MESSAGES[kind], serialize_text(_MESSAGES[kind], data) if is_text else data)
    assert isinstance(message, GraphDef | MetaGraphDef | SavedModel)
    return message


def _as_kind(
    message: GraphDef | MetaGraphDef | SavedModel, kind: Kind | None, tags: Sequence[str] | None
) -> GraphDef | MetaGraphDef:
    """Convert the message to the kind asked for; None keeps the message's kind, and takes the GraphDef of a SavedModel."""
    if isinstance(message, SavedModel):
        meta_graph = message.meta_graphs[
            choose([memoryview(graph.SerializeToString()) for graph in message.meta_graphs], tags)
        ]
        return meta_graph if kind == "meta_graph" else meta_graph.graph_def
    if tags is not None:
        raise InvalidArgumentError("the file holds a single graph: tags choose among the graphs of a SavedModel")
    if isinstance(message, MetaGraphDef):
        return message.graph_def if kind == "graph" else message
    return MetaGraphDef(graph_def=message) if kind == "meta_graph" else message
