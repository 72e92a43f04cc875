"""Graphs from files, detected by content: GraphDef, MetaGraphDef and SavedModel, and models of TensorFlow.js."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Final

from ..core.graph.graph import Graph
from ..core.support.arguments import expect
from ..core.support.errors import DataLossError, InvalidArgumentError, TfgError
from ..core.support.log import Stopwatch
from ..core.support.places import is_file, is_folder, name_of, plain, size_of
from . import detect
from .codecs.source import Source, describe, is_in_memory, is_standard_input, read_regular, read_source
from .function_library import FunctionLibrary
from .graphdef import NodeStream, graph_from_bytes, graph_from_text

STREAMED_FROM: Final = 1 << 22
"""The size, in bytes, from which a file of nodes takes so long to load that commands stream the nodes."""


def load(source: Source, *, tags: Sequence[str] | None = None, untrusted: bool = False) -> Graph:
    """Return the graph of a path, `-` for standard input, a SavedModel's folder, or bytes.

    `tags` choose the MetaGraphDef of a SavedModel that has several. NotFoundError if the file does not exist,
    InvalidArgumentError, naming the format, if the file is no graph, DataLossError if the file is damaged.

    `untrusted`: sessions on the graph and its copies have at most 60 seconds a run and 4 GiB of tensors unless they set
    other limits, and no op library, and refuse files but the model's own.
    """
    expect(bool, untrusted)
    graph = _timed(source, tags, None)
    if untrusted:
        graph.distrust()
    return graph


def load_leniently(source: Source, *, tags: Sequence[str] | None = None) -> tuple[Graph, list[TfgError]]:
    """Return a graph to be looked at, though maybe not to be run, and the errors of the graph's nodes.

    Nodes of type `core.registry.op_facts.ABSENT` stand for inputs that do not exist; otherwise as `load`.
    """
    faults: list[TfgError] = []
    return _timed(source, tags, faults), faults


def load_nodes_leniently(source: Source, *, tags: Sequence[str] | None, untrusted: bool) -> tuple[Graph, list[TfgError]]:
    """Load a graph as `load_leniently`; functions are refused as by `load`, at first use."""
    graph, faults = load_leniently(source, tags=tags)
    if untrusted:
        graph.distrust()
    if isinstance(graph.functions, FunctionLibrary):
        graph.functions.checks = True
    return graph, faults


def _timed(source: Source, tags: Sequence[str] | None, faults: list[TfgError] | None) -> Graph:
    watch = Stopwatch()
    graph = _load(source, tags, faults)
    graph.file = "" if is_in_memory(source) or is_standard_input(source) else name_of(str(source))
    watch.tell("decoded %s: %d nodes, %d functions", describe(source), len(graph), len(graph.functions))
    return graph


def _load(source: Source, tags: Sequence[str] | None, faults: list[TfgError] | None) -> Graph:
    if not is_in_memory(source) and not is_standard_input(source) and is_folder(str(source)):
        from .meta_graph import model_file

        path = model_file(str(source))
        return _load_sound(read_regular(path), f"'{path}'", tags, faults, str(source))
    data = read_source(source)
    try:
        return _load_sound(data, describe(source), tags, faults, _model_folder(source))
    except TfgError as error:
        # An error of a node says where it is by itself; an error of the bytes must say of which file, as a command may read
        # several.
        if error.node is None and describe(source) not in error.message:
            raise type(error)(f"{describe(source)}: {error.message}", op=error.op, hint=error.hint) from None
        raise


def stream(path: str) -> NodeStream | None:
    """Return a stream of the nodes of a large GraphDef in a file; None for any other file, to be loaded."""
    # A smaller file is loaded whole, because shapes can be inferred only in a loaded graph.
    if not is_file(path) or size_of(path) < STREAMED_FROM:
        return None
    data = read_source(path)
    return NodeStream(data) if detect.graph_kind(data, describe(path)) == ("graph", False) else None


def _model_folder(source: Source) -> str | None:
    """Return the folder of a path to the file of a TensorFlow.js model, or of a SavedModel with more files in its folder."""
    if is_in_memory(source) or is_standard_input(source):
        return None
    folder = os.path.dirname(str(source)) or "."
    if plain(str(source)).endswith(".json"):
        return folder
    if name_of(str(source)) not in detect.MODEL_FILES:
        return None
    # A file `saved_model.pb` that was copied away from its model is a graph without variables, and no SavedModel with lost
    # ones.
    return folder if any(is_folder(os.path.join(folder, part)) for part in ("variables", "assets")) else None


def _load_sound(
    data: memoryview, name: str, tags: Sequence[str] | None, faults: list[TfgError] | None, folder: str | None
) -> Graph:
    """Return the graph in the data; if the data cannot be read because a text conversion damaged it, say so."""
    try:
        return _load_contents(data, name, tags, faults, folder)
    except TfgError as error:
        # Such damage is looked for only after a failure: it takes a search through all bytes.
        if error.node is not None or not detect.is_converted_to_text(data):
            raise
    raise DataLossError(
        f"{name} was damaged by a conversion to text: bytes of it were replaced by EF BF BD, and are lost",
        hint="copy or download the file again as binary data",
    )


def _load_contents(
    data: memoryview, name: str, tags: Sequence[str] | None, faults: list[TfgError] | None, folder: str | None
) -> Graph:
    kind, is_text = detect.graph_kind(data, name)
    if tags is not None and kind != "saved_model":
        raise InvalidArgumentError(f"{name} holds a single graph: tags choose among the graphs of a SavedModel")
    # Readers of other kinds are imported when a file needs them: most files are GraphDefs, and a start should be short.
    if kind == "graph":
        return graph_from_text(data, faults) if is_text else graph_from_bytes(data, faults=faults)
    if kind == "tfjs":
        from .tfjs import graph_from_tfjs

        return graph_from_tfjs(data, folder, faults)
    if kind in ("events", "run_metadata"):
        from .recordings import graph_from_events, graph_from_run_metadata

        return (graph_from_events if kind == "events" else graph_from_run_metadata)(data, faults)
    if kind == "meta_graph":
        from .meta_graph import graph_from_meta_graph, graph_from_meta_graph_text

        return graph_from_meta_graph_text(data, faults) if is_text else graph_from_meta_graph(data, faults=faults)
    from .meta_graph import graph_from_saved_model, graph_from_saved_model_text

    return (graph_from_saved_model_text if is_text else graph_from_saved_model)(data, tags, folder, faults)
