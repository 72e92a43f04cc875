"""Files that TensorFlow and TensorBoard write while a graph runs: event files and RunMetadata, and the graphs in them."""

from __future__ import annotations

import dataclasses
import io
import os
from collections.abc import Iterator

from google.protobuf.message import DecodeError

from ..core.codecs.tfrecord import RecordError, read_records
from ..core.graph.graph import Graph
from ..core.support.arguments import takes
from ..core.support.errors import InvalidArgumentError, TfgError
from . import detect
from .codecs.scan import parse
from .codecs.source import Source, describe, read_source
from .graphdef import graph_from_bytes
from .meta_graph import graph_from_meta_graph
from .protos.event_pb2 import Event, Summary
from .protos.run_metadata_pb2 import RunMetadata

_KINDS = {"simple_value": "scalars", "histo": "histograms", "image": "images", "obsolete_old_style_histogram": "histograms"}


@dataclasses.dataclass(frozen=True, slots=True)
class Tag:
    """A tag of an event file: the kind of its summaries (the plugin of TensorBoard), their number and steps."""

    tag: str
    """The name of the tag."""
    kind: str
    """The kind of the summaries, such as scalars or histograms."""
    count: int
    """The number of summaries."""
    first_step: int
    """The smallest step of a summary."""
    last_step: int
    """The largest step of a summary."""


@dataclasses.dataclass(frozen=True, slots=True)
class RecordedGraph:
    """A graph in a recording: the kind, and the number of nodes. `is_read` marks the graph that `load` returns."""

    what: str
    """The place of the graph in the recording."""
    nodes: int
    """The number of its nodes."""
    is_read: bool
    """True for the graph that commands load."""


@dataclasses.dataclass(frozen=True, slots=True)
class Recording:
    """What an event file or a RunMetadata file holds.

    `events` counts the records of an event file, `executions` those of nodes on `devices` in a RunMetadata. `seconds` is the
    time from the first event to the last. `is_cut` is True where the file ends within a record, as while it is written.
    """

    kind: str
    """The kind of the file."""
    writer: str = ""
    """The program that wrote an event file."""
    events: int = 0
    """The number of records of an event file."""
    seconds: float = 0.0
    """Seconds from the first event to the last."""
    is_cut: bool = False
    """True where the file ends within a record."""
    executions: int = 0
    """The number of recorded executions of nodes."""
    devices: tuple[str, ...] = ()
    """The devices that ran nodes."""
    tags: tuple[Tag, ...] = ()
    """The tags of an event file."""
    graphs: tuple[RecordedGraph, ...] = ()
    """The graphs in the recording."""


@takes(source=str | os.PathLike | bytes | bytearray | memoryview)
def describe_recording(source: Source) -> Recording | None:
    """Return what an event file or a RunMetadata file holds; None for any other file."""
    data = read_source(source)
    try:
        kind, _ = detect.graph_kind(data, describe(source))
    except TfgError:
        return None
    if kind == "events":
        return _of_events(data)
    return _of_run_metadata(data) if kind == "run_metadata" else None


def graph_from_events(data: memoryview, faults: list[TfgError] | None = None) -> Graph:
    """Return the last graph that was written into an event file; InvalidArgumentError where there is none."""
    graph_event = None
    for event in _Events(data):
        if event.WhichOneof("what") in ("graph_def", "meta_graph_def"):
            graph_event = event
    if graph_event is None:
        raise InvalidArgumentError("the event file has no graph", hint="`tfg explain FILE` describes its contents")
    if graph_event.WhichOneof("what") == "graph_def":
        return graph_from_bytes(memoryview(graph_event.graph_def), faults=faults)
    return graph_from_meta_graph(memoryview(graph_event.meta_graph_def), faults=faults)


def graph_from_run_metadata(data: memoryview, faults: list[TfgError] | None = None) -> Graph:
    """Return the graph with the most nodes in a RunMetadata, as it was before optimization if that was recorded.

    InvalidArgumentError where there is none.
    """
    graphs = _graphs(parse(RunMetadata, data))
    if not graphs:
        raise InvalidArgumentError(
            "the RunMetadata has no graph", hint="`tfg flops GRAPH --run-metadata FILE` shows its times for a graph"
        )  # fmt: skip
    return graph_from_bytes(memoryview(graphs[_read(graphs)][1]), faults=faults)


class _Events:
    """The events of a file up to its end or the first damaged record, which `is_cut` tells."""

    def __init__(self, data: memoryview) -> None:
        self._data = data
        self.is_cut = False

    def __iter__(self) -> Iterator[Event]:
        try:
            for record in read_records(io.BytesIO(self._data)):
                yield Event.FromString(record)
        except (RecordError, DecodeError):
            self.is_cut = True


def _of_events(data: memoryview) -> Recording:
    events = _Events(data)
    count, writer, times, graphs = 0, "", [], []
    tags: dict[str, Tag] = {}
    for event in events:
        count += 1
        times.append(event.wall_time)
        what = event.WhichOneof("what")
        writer = event.source_metadata.writer or writer
        if what in ("graph_def", "meta_graph_def"):
            graphs.append((what, getattr(event, what)))
        for value in event.summary.value if what == "summary" else ():
            tags[value.tag] = _counted(tags.get(value.tag), value, event.step)
    last = len(graphs) - 1
    shown = [RecordedGraph(what, _size(what, graph), number == last) for number, (what, graph) in enumerate(graphs)]
    seconds = max(times) - min(times) if times else 0.0
    return Recording("event file", writer, count, seconds, events.is_cut, tags=tuple(tags.values()), graphs=tuple(shown))


def _counted(before: Tag | None, value: Summary.Value, step: int) -> Tag:
    """Return a tag with one more summary; the first summary of a tag names the plugin."""
    if before is not None:
        return Tag(before.tag, before.kind, before.count + 1, min(before.first_step, step), max(before.last_step, step))
    held = value.WhichOneof("value") or ""
    return Tag(value.tag, value.metadata.plugin_data.plugin_name or _KINDS.get(held, held), 1, step, step)


def _size(what: str, data: bytes) -> int:
    """Return the number of nodes; 0 for a damaged graph, whose error `load` tells."""
    try:
        load = graph_from_bytes if what == "graph_def" else graph_from_meta_graph
        return len(load(memoryview(data), faults=[]))
    except TfgError:
        return 0


def _of_run_metadata(data: memoryview) -> Recording:
    message = parse(RunMetadata, data)
    devices = message.step_stats.dev_stats
    graphs = _graphs(message)
    chosen = _read(graphs) if graphs else -1
    shown = [RecordedGraph(what, _size("graph_def", graph), number == chosen) for number, (what, graph) in enumerate(graphs)]
    executions = sum(len(device.node_stats) for device in devices)
    names = tuple(device.device for device in devices)
    return Recording("RunMetadata", executions=executions, devices=names, graphs=tuple(shown))


def _graphs(message: RunMetadata) -> list[tuple[str, bytes]]:
    """Return what each graph is, and the graph."""
    graphs = [("partition graph", graph) for graph in message.partition_graphs]
    for function in message.function_graphs:
        graphs.append(("before optimization", function.pre_optimization_graph))
        graphs.append(("after optimization", function.post_optimization_graph))
        graphs += [("function's partition graph", graph) for graph in function.partition_graphs]
    return [(what, graph.SerializeToString()) for what, graph in graphs if graph.node]


def _read(graphs: list[tuple[str, bytes]]) -> int:
    """Return the index of the graph to read: the largest, one before optimization first."""
    return max(range(len(graphs)), key=lambda number: (graphs[number][0] == "before optimization", len(graphs[number][1])))
