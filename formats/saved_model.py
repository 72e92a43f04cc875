"""SavedModels: a folder with the graphs, their variables' checkpoint and their assets."""

from __future__ import annotations

import os
from collections.abc import Sequence

from ..core.codecs import wire
from ..core.graph.graph import Graph
from ..core.support.errors import InvalidArgumentError, NotFoundError, TfgError
from ..core.support.hints import Hint, command, option
from ..core.support.places import exists, names_in
from . import detect
from .codecs.scan import parse
from .codecs.textformat import read_printed, serialize_text
from .meta_graph import graph_from_meta_graph, graph_from_printed_meta_graph
from .printed_models import check_graph, cut_saved_model
from .protos.meta_graph_pb2 import MetaGraphDef, SavedModel


def model_file(folder: str) -> str:
    """Find the file with the graphs of a SavedModel's folder, or of a TensorFlow.js model's; NotFoundError for others."""
    for name in (*detect.MODEL_FILES, detect.TFJS_FILE):
        path = os.path.join(folder, name)
        if exists(path):
            return path
    files = " or ".join(detect.MODEL_FILES)
    raise NotFoundError(f"folder '{folder}' is not a SavedModel: it has no {files}", hint=_folder_hint(folder))


def graph_from_saved_model(
    data: memoryview,
    tags: Sequence[str] | None = None,
    folder: str | None = None,
    faults: list[TfgError] | None = None,
) -> Graph:
    """Return the graph of a serialized SavedModel; `meta` tells where variables and assets lie: in `folder`.

    InvalidArgumentError lists the tag sets where `tags` match none, or where tags are needed and missing.
    """
    meta_graphs = [
        data[field.start : field.end]
        for field in wire.fields(data)
        if field.number == SavedModel.META_GRAPHS_FIELD_NUMBER and field.wire_type == wire.LENGTH_DELIMITED
    ]
    return graph_from_meta_graph(meta_graphs[choose(meta_graphs, tags)], folder, faults)


def graph_from_saved_model_text(
    data: memoryview,
    tags: Sequence[str] | None = None,
    folder: str | None = None,
    faults: list[TfgError] | None = None,
) -> Graph:
    """Return the graph of a SavedModel in text, as `graph_from_saved_model`."""
    graph = read_printed(data, faults, lambda text, errors: _graph_from_printed(bytes(text), tags, folder, errors))
    return (
        graph_from_saved_model(memoryview(serialize_text(SavedModel, data)), tags, folder, faults) if graph is None else graph
    )


def _graph_from_printed(text: bytes, tags: Sequence[str] | None, folder: str | None, faults: list[TfgError] | None) -> Graph:
    meta_graphs = cut_saved_model(text)
    chosen = choose([memoryview(meta_graph.around) for meta_graph in meta_graphs], tags)
    for meta_graph in meta_graphs[:chosen] + meta_graphs[chosen + 1 :]:
        check_graph(meta_graph)
    return graph_from_printed_meta_graph(meta_graphs[chosen], folder, faults)


def choose(meta_graphs: Sequence[memoryview], tags: Sequence[str] | None) -> int:
    """Return the index of the meta graph with exactly the tags; without tags the only meta graph, or the "serve" meta
    graph.
    """
    if not meta_graphs:
        raise InvalidArgumentError("the SavedModel has no graph")
    tag_sets = [_tags(meta_graph) for meta_graph in meta_graphs]
    if tags is None and len(meta_graphs) == 1:
        return 0
    requested = {"serve"} if tags is None else set(tags)
    for number, tag_set in enumerate(tag_sets):
        if set(tag_set) == requested:
            return number
    listed = "; ".join(",".join(tag_set) or "(no tags)" for tag_set in tag_sets)
    asked = "several graphs" if tags is None else f"no graph with tags {','.join(tags)}"
    hint = Hint("choose a graph with ", option("tags"))
    raise InvalidArgumentError(f"the SavedModel has {asked}; its tag sets: {listed}", hint=hint)


def _tags(meta_graph: memoryview) -> tuple[str, ...]:
    """Return the tags of a serialized MetaGraphDef, without parsing the graph."""
    info = bytearray()
    for field in wire.fields(meta_graph):
        if field.number == MetaGraphDef.META_INFO_DEF_FIELD_NUMBER:
            info += meta_graph[field.start : field.end]
    return tuple(parse(MetaGraphDef.MetaInfoDef, info).tags)


def _folder_hint(folder: str) -> str:
    entries = names_in(folder)
    nested = [name for name in entries if detect.is_saved_model(os.path.join(folder, name))]
    if len(nested) > 1:
        versions = sorted(nested, key=lambda name: (len(name), name) if name.isdecimal() else (0, name))
        example = command("explain", os.path.join(folder, versions[-1]))
        return Hint(f"the folder holds the SavedModels {', '.join(versions)}; name one SavedModel, as in ", example)
    if nested:
        return f"the folder holds a SavedModel, '{os.path.join(folder, nested[-1])}'"
    indexes = [name for name in entries if name.endswith(".index")]
    if indexes:
        return f"the folder holds a checkpoint, '{os.path.join(folder, indexes[0].removesuffix('.index'))}'"
    graphs = [name for name in entries if name.endswith((".pb", ".pbtxt", ".meta")) or ".tfevents." in name]
    return (
        f"the folder holds the graph '{os.path.join(folder, graphs[0])}'"
        if graphs
        else "give the graph's file, or a SavedModel's folder"
    )
