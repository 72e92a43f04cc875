"""Files that TensorFlow and TensorBoard write while a graph runs: event files and RunMetadata, and the graphs in them."""

from __future__ import annotations

import dataclasses
import io
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar, Final

from ..core.codecs.tfrecord import RecordError, read_records
from ..core.graph.graph import Graph
from ..core.support.arguments import takes
from ..core.support.display import Report
from ..core.support.errors import InvalidArgumentError, TfgError
from ..core.support.words import counted
from . import detect
from .codecs.scan import parse
from .codecs.source import Source, describe, read_source
from .graphdef import graph_from_bytes

if TYPE_CHECKING:
    from .protos.event_pb2 import Event
    from .protos.run_metadata_pb2 import RunMetadata

_KINDS: Final = {
    "simple_value": "scalars",
    "histo": "histograms",
    "image": "images",
    "obsolete_old_style_histogram": "histograms",
}

_WHOLE: Final = ("graph_def", "meta_graph_def")
"""The fields of an event that hold a whole graph."""
_TRACE: Final = "RunMetadata"
_TRACE_PLUGINS: Final = ("graph_run_metadata", "graph_run_metadata_graph")
"""The plugins whose summaries hold a RunMetadata: `tf.summary.trace_export` writes them."""


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


@dataclasses.dataclass(frozen=True, slots=True, repr=False)
class Recording(Report):
    """What an event file or a RunMetadata file holds.

    `events` counts the records of an event file, `executions` those of nodes on `devices` in a RunMetadata. `seconds` is the
    time from the first event to the last. `is_cut` is True where the file ends within a record, as while it is written.
    """

    main_table: ClassVar[str] = "tags"

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

    def headline(self) -> str:
        parts = ((self.events, "event"), (self.executions, "execution"), (len(self.graphs), "graph"))
        return ", ".join([self.kind, *(counted(count, noun) for count, noun in parts if count)])


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
    """Return the last graph that was written into an event file, else the largest graph of a traced run.

    InvalidArgumentError where there is none.
    """
    graphs = [graph for event in _Events(data) for graph in _graphs_of_event(event)]
    if not graphs:
        raise InvalidArgumentError("the event file has no graph", hint="`tfg explain FILE` describes its contents")
    return _loaded(*graphs[_read(graphs)], faults)


def graph_from_run_metadata(data: memoryview, faults: list[TfgError] | None = None) -> Graph:
    """Return the graph with the most nodes in a RunMetadata, as it was before optimization if that was recorded.

    InvalidArgumentError where there is none.
    """
    graphs = _graphs(_run_metadata(data))
    if not graphs:
        raise InvalidArgumentError(
            "the RunMetadata has no graph", hint="`tfg flops GRAPH --run-metadata FILE` shows its times for a graph"
        )  # fmt: skip
    return _loaded(*graphs[_read(graphs)], faults)


class _Events:
    """The events of a file up to its end or the first damaged record, which `is_cut` tells."""

    def __init__(self, data: memoryview) -> None:
        self._data = data
        self.is_cut = False

    def __iter__(self) -> Iterator[Event]:
        from google.protobuf.message import DecodeError

        from .protos.event_pb2 import Event

        try:
            for record in read_records(io.BytesIO(self._data)):
                yield Event.FromString(record)
        except (RecordError, DecodeError):
            self.is_cut = True


def _of_events(data: memoryview) -> Recording:
    events = _Events(data)
    count, writer, times = 0, "", []
    tags: dict[tuple[str, bool], Tag] = {}
    graphs: list[tuple[str, bytes]] = []
    for event in events:
        count += 1
        times.append(event.wall_time)
        writer = event.source_metadata.writer or writer
        graphs += _graphs_of_event(event)
        for tag, kind in _tags(event):
            key = tag, kind == _TRACE
            tags[key] = _counted(tags.get(key, Tag(tag, kind, 0, event.step, event.step)), event.step)
    seconds = max(times) - min(times) if times else 0.0
    return Recording("event file", writer, count, seconds, events.is_cut, tags=tuple(tags.values()), graphs=_shown(graphs))


def _tags(event: Event) -> Iterator[tuple[str, str]]:
    """Yield the tag and the kind of each summary; only the first summary of a tag names the plugin."""
    if event.WhichOneof("what") == "tagged_run_metadata":
        yield event.tagged_run_metadata.tag, _TRACE
    for value in event.summary.value:
        held = value.WhichOneof("value") or ""
        yield value.tag, value.metadata.plugin_data.plugin_name or _KINDS.get(held, held)


def _counted(tag: Tag, step: int) -> Tag:
    """Return a tag with another summary."""
    return Tag(tag.tag, tag.kind, tag.count + 1, min(tag.first_step, step), max(tag.last_step, step))


def _graphs_of_event(event: Event) -> list[tuple[str, bytes]]:
    """Return the kinds and the bytes of the graphs in an event: whole graphs, and graphs of traced runs."""
    what = event.WhichOneof("what")
    if what in _WHOLE:
        return [(what, getattr(event, what))]
    traces = [event.tagged_run_metadata.run_metadata] if what == "tagged_run_metadata" else []
    for value in event.summary.value:
        if value.metadata.plugin_data.plugin_name in _TRACE_PLUGINS:
            traces += value.tensor.string_val
    return [graph for trace in traces for graph in _graphs(_run_metadata(memoryview(trace)))]


def _run_metadata(data: memoryview) -> RunMetadata:
    from .protos.run_metadata_pb2 import RunMetadata  # lazy: `explain` looks at each file

    return parse(RunMetadata, data)


def _loaded(what: str, data: bytes, faults: list[TfgError] | None) -> Graph:
    from .meta_graph import graph_from_meta_graph

    load = graph_from_meta_graph if what == "meta_graph_def" else graph_from_bytes
    return load(memoryview(data), faults=faults)


def _shown(graphs: list[tuple[str, bytes]]) -> tuple[RecordedGraph, ...]:
    """Return the kinds and sizes of graphs; a damaged graph has 0 nodes, and `load` tells its error."""
    chosen = _read(graphs) if graphs else -1
    shown = []
    for number, (what, data) in enumerate(graphs):
        try:
            size = len(_loaded(what, data, []))
        except TfgError:
            size = 0
        shown.append(RecordedGraph(what, size, number == chosen))
    return tuple(shown)


def _of_run_metadata(data: memoryview) -> Recording:
    message = _run_metadata(data)
    devices = message.step_stats.dev_stats
    executions = sum(len(device.node_stats) for device in devices)
    names = tuple(device.device for device in devices)
    return Recording("RunMetadata", executions=executions, devices=names, graphs=_shown(_graphs(message)))


def _graphs(message: RunMetadata) -> list[tuple[str, bytes]]:
    """Return what each graph is, and the graph."""
    graphs = [("partition graph", graph) for graph in message.partition_graphs]
    for function in message.function_graphs:
        graphs.append(("before optimization", function.pre_optimization_graph))
        graphs.append(("after optimization", function.post_optimization_graph))
        graphs += [("function's partition graph", graph) for graph in function.partition_graphs]
    return [(what, graph.SerializeToString()) for what, graph in graphs if graph.node]


def _read(graphs: list[tuple[str, bytes]]) -> int:
    """Return the index of the graph to read: the last whole graph, else the largest of a trace, before optimization first."""

    def preference(number: int) -> tuple[bool, bool, int]:
        what, data = graphs[number]
        is_whole = what in _WHOLE
        return is_whole, what == "before optimization", number if is_whole else len(data)

    return max(range(len(graphs)), key=preference)
