"""Files that TensorFlow and TensorBoard write while a graph runs: event files and RunMetadata, their values and graphs."""

from __future__ import annotations

import collections
import contextlib
import io
import itertools
import operator
import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from google.protobuf.message import DecodeError

from ..core.codecs.image_files import image_kind
from ..core.codecs.tfrecord import RecordError, read_records
from ..core.graph.graph import Graph
from ..core.support import dataclasses
from ..core.support.arguments import checked, regular_expression
from ..core.support.atomic import file_errors
from ..core.support.display import Report
from ..core.support.errors import DataLossError, InvalidArgumentError, NotFoundError, TfgError
from ..core.support.file_formats import CSV, EVENT_VALUES, format_of
from ..core.support.hints import Blank, Hint, command, step
from ..core.support.places import files_below, is_file, is_folder, make_folders
from ..core.support.regular_files import open_regular
from ..core.support.words import counted
from ..core.types.arrays import Array
from ..core.types.dtypes import string
from . import detect
from .codecs.csv_table import csv_bytes
from .codecs.scan import parse
from .codecs.source import GZIP_MAGIC, ReadOnce, Source, describe, is_standard_input, read_source, write_file
from .codecs.tensor_proto import decode_tensor
from .graphdef import graph_from_bytes
from .meta_graph import graph_from_meta_graph
from .protos.event_pb2 import Event, HistogramProto, Summary

if TYPE_CHECKING:
    from .protos.run_metadata_pb2 import RunMetadata

_KINDS: Final = {
    "simple_value": "scalars",
    "histo": "histograms",
    "image": "images",
    "audio": "audio",
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
    run: str = ""
    """In a folder, the folder of the event files: TensorBoard's name of the run."""


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
class Recording(Report, main_table="tags"):
    """What an event file or a RunMetadata file holds.

    `events` counts the records of event files, `executions` those of nodes on `devices` in a RunMetadata. `seconds` is the
    time from the first event to the last, in a folder of the longest file. `is_cut` is True if a file ends within a
    record, as while it is written.
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
    """True if the file ends within a record."""
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


@dataclasses.dataclass(frozen=True, slots=True)
class _Value:
    """A value that a training wrote: where, at which step and when."""

    run: str
    """The folder of the event file, relative to the folder that was read; `.` for that folder."""
    tag: str
    """The name of the value."""
    step: int
    """The step of the training."""
    wall_time: float
    """The time of the writing: seconds since 1970."""


@dataclasses.dataclass(frozen=True, slots=True)
class ScalarValue(_Value):
    """A scalar that a training wrote."""

    value: float
    """The value."""


@dataclasses.dataclass(frozen=True, slots=True)
class HistogramValue(_Value):
    """A histogram that a training wrote: `buckets` is (buckets, 3), the left and right limits and the count of each."""

    buckets: Array
    """The left limit, the right limit and the count of each bucket, as doubles."""


@dataclasses.dataclass(frozen=True, slots=True)
class ImageValue(_Value):
    """A picture that a training wrote, as the bytes of a file."""

    index: int
    """The place among the pictures of the tag and step, from 0."""
    data: bytes
    """The file: PNG, JPEG, GIF or another format."""


@dataclasses.dataclass(frozen=True, slots=True)
class AudioValue(_Value):
    """A sound that a training wrote, as the bytes of a file."""

    index: int
    """The place among the sounds of the tag and step, from 0."""
    data: bytes
    """The file: WAV or another format."""


@dataclasses.dataclass(frozen=True, slots=True)
class TextValue(_Value):
    """A text that a training wrote."""

    index: int
    """The place among the texts of the tag and step, from 0, row by row."""
    text: str
    """The text, often Markdown; bytes that are no UTF-8 are escaped."""


@dataclasses.dataclass(frozen=True, slots=True)
class UnreadTail:
    """An event file that is damaged, or still being written, behind the events that were read."""

    path: str
    """The file."""
    events: int
    """How many events were read."""


@dataclasses.dataclass(frozen=True, slots=True, repr=False)
class EventLog(Report, main_table="scalars"):
    """The values in event files, in the order of the files: scalars, histograms, pictures, sounds and texts."""

    scalars: tuple[ScalarValue, ...]
    """The scalars."""
    histograms: tuple[HistogramValue, ...] = ()
    """The histograms."""
    images: tuple[ImageValue, ...] = ()
    """The pictures."""
    audio: tuple[AudioValue, ...] = ()
    """The sounds."""
    text: tuple[TextValue, ...] = ()
    """The texts."""
    unread: tuple[UnreadTail, ...] = ()
    """The files that end within a record, or are damaged: the events before are read."""

    def headline(self) -> str:
        parts: tuple[tuple[Sequence[_Value], str], ...] = (
            (self.scalars, "scalar"), (self.histograms, "histogram"), (self.images, "picture"), (self.audio, "sound"),
            (self.text, "text"),
        )  # fmt: skip
        runs = {value.run for values, _ in parts for value in values}
        return ", ".join([counted(len(runs), "run"), *(counted(len(values), noun) for values, noun in parts if values)])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the scalars to a .csv file, or all values to a folder.

        A folder has `scalars.csv`, `text.csv` if there are texts, a table `histograms/RUN/TAG.csv` for each tag, with a row
        for each bucket, and the files `images/RUN/TAG/step_STEP_INDEX.png` and `audio/RUN/TAG/step_STEP_INDEX.wav`.
        InvalidArgumentError for another extension.
        """
        scalars = csv_bytes([SCALAR_COLUMNS, *map(scalar_row, self.scalars)])
        if format_of(path, EVENT_VALUES) is CSV:
            write_file(os.fspath(path), [scalars])
            return
        texts = {"text.csv": csv_bytes([_TEXT_COLUMNS, *map(_text_row, self.text)])} if self.text else {}
        pictures, sounds = _files("images", self.images, image_kind), _files("audio", self.audio, _audio_kind)
        for name, data in {"scalars.csv": scalars, **texts, **_tables(self.histograms), **pictures, **sounds}.items():
            file = os.path.join(path, name)
            with file_errors(file):
                make_folders(os.path.dirname(file))
            write_file(file, [data])


def _tables(histograms: Sequence[HistogramValue]) -> dict[str, bytes]:
    """Return the tables of histograms by the names of files."""
    places = _TagPlaces()
    rows: dict[str, list[Sequence[Any]]] = collections.defaultdict(lambda: [_BUCKET_COLUMNS])
    for histogram in histograms:
        name = f"histograms/{places.of(histogram)}.csv"
        rows[name] += [(histogram.step, histogram.wall_time, *bucket) for bucket in histogram.buckets.tolist()]
    return {name: csv_bytes(table) for name, table in rows.items()}


def _files(folder: str, values: Sequence[ImageValue | AudioValue], kind_of: Callable[[bytes], str | None]) -> dict[str, bytes]:
    """Return pictures or sounds by the names of files; of several at a step, as after a restart, the last."""
    places = _TagPlaces()
    return {
        f"{folder}/{places.of(value)}/step_{value.step}_{value.index}.{kind_of(value.data) or 'bin'}": value.data
        for value in values
    }


def _audio_kind(data: bytes) -> str | None:
    return "wav" if data[:4] == b"RIFF" and data[8:12] == b"WAVE" else None


class _TagPlaces:
    """Paths below a folder for tags, which have any characters; each tag of a run has a path of its own."""

    def __init__(self) -> None:
        self._places: dict[tuple[str, str], str] = {}

    def of(self, value: _Value) -> str:
        """Return the path of a tag."""
        key = value.run, value.tag
        if key not in self._places:
            # Without dots at the beginning no part is `..`, and no file is hidden.
            parts = [_UNFIT.sub("_", part).lstrip(".")[:_LONGEST_PART] for part in f"{value.run}/{value.tag}".split("/")]
            # Two tags may differ only in characters that a file name cannot have: the second gets a number.
            place, taken = "/".join(filter(None, parts)) or "_", set(self._places.values())
            free = (f"{place}_{number}" for number in itertools.count(2))
            self._places[key] = place if place not in taken else next(name for name in free if name not in taken)
        return self._places[key]


SCALAR_COLUMNS: Final = ("step", "wall_time", "run", "tag", "value")
"""The columns of a table of scalars."""
scalar_row: Final[Callable[[ScalarValue], tuple[Any, ...]]] = operator.attrgetter(*SCALAR_COLUMNS)
"""Return a scalar as a row of the table."""
_TEXT_COLUMNS: Final = ("step", "wall_time", "run", "tag", "index", "text")
_text_row: Final[Callable[[TextValue], tuple[Any, ...]]] = operator.attrgetter(*_TEXT_COLUMNS)
_BUCKET_COLUMNS: Final = ("step", "wall_time", "left", "right", "count")
_UNFIT: Final = re.compile(r"[^\w.\-]+")
"""What a tag may have and the name of a file may not."""
_LONGEST_PART: Final = 60
"""The largest length of a part of a tag in a path: 60 characters are 240 bytes at most, and file systems take 255."""
KINDS: Final = ("scalars", "histograms", "images", "audio", "text")
"""The kinds of values that `read_events` reads."""


@checked(kinds=list | tuple)
def read_events(path: Source, *, tag: str = "", kinds: Collection[str] = KINDS) -> EventLog:
    """Return the scalars, histograms, pictures, sounds and texts in an event file, or in all event files of a folder and its
    folders.

    Values of both versions are read: simple values, and tensors with the data of a plugin. `tag` is a regular expression
    that matches a part of the tag, and `kinds` names the kinds that are wanted. A file that is damaged or still written is
    read up to the damage; `unread` of the result names it.

    NotFoundError for a folder without event files, InvalidArgumentError for another file, for an unknown kind and for a
    bad expression, DataLossError for a value that is not of its plugin's form.
    """
    expression = regular_expression(tag)
    if unknown := [kind for kind in kinds if kind not in KINDS]:
        raise InvalidArgumentError(f"unknown kind {unknown[0]!r}", hint=f"the kinds are {', '.join(KINDS)}")
    values: dict[str, list[Any]] = {kind: [] for kind in KINDS}
    unread = []
    for run, file in _event_files(path):
        events = _Events(file)
        for event, value, kind in _summaries(events):
            if kind in kinds and expression.search(value.tag):
                values[kind] += _READERS[kind](run, event, value)
        # A training that still runs writes its last record in pieces; the values before are good.
        if events.is_cut:
            unread.append(UnreadTail(_path_of(file) or describe(file), events.count))
    return EventLog(**{kind: tuple(rows) for kind, rows in values.items()}, unread=tuple(unread))


def _event_files(source: Source) -> list[tuple[str, Source]]:
    """Return event files with the names of their runs; a single file, or bytes, is the run `.`."""
    folder = _path_of(source)
    if folder is None or not is_folder(folder):
        # The kind is told from the contents, and a pipe gives them once.
        if isinstance(source, (str, os.PathLike)):
            source = ReadOnce(os.fspath(source))
        kind, _ = detect.graph_kind(read_source(source), describe(source))
        if kind != "events":
            raise InvalidArgumentError(
                f"{describe(source)} is not an event file", hint=Hint(command("explain", Blank("FILE")), " describes the file")
            )
        return [(_THIS_RUN, source)]
    files = _event_files_below(folder)
    if not files:
        hint = f"event files have {_MARK} in their names"
        raise NotFoundError(f"folder '{folder}' has no event files", hint=hint)
    return files


def _path_of(source: Source) -> str | None:
    """Return the path of a file or folder; None for bytes and standard input."""
    if isinstance(source, (bytes, bytearray, memoryview)) or is_standard_input(source):
        return None
    return os.fspath(source)


def _event_files_below(folder: str) -> list[tuple[str, Source]]:
    """Return the event files of a folder and its folders with the names of their runs, in the order of the names."""
    files = (file for file in files_below(folder) if _MARK in os.path.basename(file))
    return [(os.path.relpath(os.path.dirname(file), folder).replace(os.sep, "/"), file) for file in files]


_MARK: Final = "tfevents"
"""The part of a name by which TensorBoard finds event files."""
_THIS_RUN: Final = "."


def _summaries(events: _Events) -> Iterator[tuple[Event, Summary.Value, str]]:
    """Yield the values of events with their kinds; only the first value of a tag names the plugin."""
    # `plugins` is kept across all events of a file, because TensorFlow writes the metadata of a tag only once.
    plugins: dict[str, str] = {}
    for event in events:
        for value in event.summary.value:
            plugin = value.metadata.plugin_data.plugin_name
            if plugin:
                plugins.setdefault(value.tag, plugin)
            held = value.WhichOneof("value") or ""
            # TensorFlow 2 writes all values as tensors; TensorFlow 1 has a field for each kind, and often no plugin.
            yield event, value, plugins.get(value.tag, "") if held == "tensor" else _KINDS.get(held, held)


def _scalars(run: str, event: Event, value: Summary.Value) -> list[ScalarValue]:
    number = value.simple_value if value.WhichOneof("value") == "simple_value" else _numbers(value, ()).item()
    return [ScalarValue(run, value.tag, event.step, event.wall_time, number)]


def _histograms(run: str, event: Event, value: Summary.Value) -> list[HistogramValue]:
    held = value.WhichOneof("value")
    # Of 2015: no reader of it is left.
    if held == "obsolete_old_style_histogram":
        return []
    buckets = _buckets(value.histo) if held == "histo" else _numbers(value, (None, 3))
    return [HistogramValue(run, value.tag, event.step, event.wall_time, buckets)]


def _images(run: str, event: Event, value: Summary.Value) -> list[ImageValue]:
    """Return the pictures; a tensor has the width and the height before the pictures."""
    if value.WhichOneof("value") == "image":
        files = [value.image.encoded_image_string]
    else:
        # TensorFlow 2 writes a vector of strings: the width, the height, then each picture as a PNG.
        files = _elements(value).ravel().tolist()[2:]
    return [ImageValue(run, value.tag, event.step, event.wall_time, index, data) for index, data in enumerate(files)]


def _audio(run: str, event: Event, value: Summary.Value) -> list[AudioValue]:
    """Return the sounds; a tensor has a row for each: the file and a label."""
    if value.WhichOneof("value") == "audio":
        files = [value.audio.encoded_audio_string]
    else:
        rows = _elements(value)
        if rows.ndim != 2 or rows.shape[1] < 1:
            raise DataLossError(f"a summary of '{value.tag}' has shape {list(rows.shape)}")
        files = rows[:, 0].tolist()
    return [AudioValue(run, value.tag, event.step, event.wall_time, index, data) for index, data in enumerate(files)]


def _text(run: str, event: Event, value: Summary.Value) -> list[TextValue]:
    texts = [text.decode("utf-8", "backslashreplace") for text in _elements(value).ravel().tolist()]
    return [TextValue(run, value.tag, event.step, event.wall_time, index, text) for index, text in enumerate(texts)]


_READERS: Final[Mapping[str, Callable[[str, Event, Summary.Value], Sequence[Any]]]] = {
    "scalars": _scalars,
    "histograms": _histograms,
    "images": _images,
    "audio": _audio,
    "text": _text,
}


def _elements(value: Summary.Value, dtype_is_text: bool = True) -> Array:
    """Return the elements of a tensor, text or numbers; DataLossError for the other."""
    tensor = decode_tensor(value.tensor)
    if (tensor.dtype is string) is not dtype_is_text or (tensor.dtype.is_object and tensor.dtype is not string):
        raise DataLossError(f"a summary of '{value.tag}' is of dtype {tensor.dtype}")
    return tensor.numpy()


def _numbers(value: Summary.Value, shape: tuple[int | None, ...]) -> Array:
    """Return the numbers of a tensor as doubles; DataLossError for another shape, or for text."""
    array = _elements(value, dtype_is_text=False)
    if array.ndim != len(shape) or any(size not in (None, actual) for size, actual in zip(shape, array.shape)):
        raise DataLossError(f"a summary of '{value.tag}' has shape {list(array.shape)}")
    return array.astype(np.float64)


def _buckets(histogram: HistogramProto) -> Array:
    """Return the buckets of a histogram of TensorFlow 1 as those of TensorFlow 2: (buckets, 3).

    Empty buckets at both ends go, and the outer limits are the smallest and the largest number, as TensorBoard's
    `data_compat` has it.
    """
    counts, limits = np.array(histogram.bucket), list(histogram.bucket_limit)
    if len(counts) != len(limits):
        raise DataLossError(f"a histogram has {len(counts)} buckets, but {len(limits)} limits")
    (filled,) = np.nonzero(counts > 0)
    if not len(filled):
        return np.zeros((0, 3))
    start, end = filled[0], filled[-1]
    # A bucket has its right limit, so the limits between the filled buckets are those of all but the last.
    inner = limits[start:end]
    return np.array([[histogram.min, *inner], [*inner, histogram.max], counts[start : end + 1]]).T


@checked
def describe_recording(source: Source) -> Recording | None:
    """Return what an event file, a folder of event files or a RunMetadata file holds; None for any other file or folder."""
    folder = _path_of(source)
    if folder is not None and is_folder(folder):
        return _of_folder(folder)
    data = read_source(source)
    kind = detect.recording_kind(data, describe(source))
    if kind == "events":
        return _of_events(data)
    if kind != "run_metadata":
        return None
    message = _run_metadata(data)
    devices = message.step_stats.dev_stats
    executions = sum(len(device.node_stats) for device in devices)
    names = tuple(device.device for device in devices)
    return Recording("RunMetadata", executions=executions, devices=names, graphs=_shown(_graphs(message)))


def graph_from_events(data: memoryview, faults: list[TfgError] | None = None) -> Graph:
    """Return the last graph that was written into an event file, else the largest graph of a traced run.

    InvalidArgumentError if there is none.
    """
    graphs = [graph for event in _Events(data) for graph in _graphs_of_event(event)]
    if not graphs:
        raise InvalidArgumentError(
            "the event file has no graph", hint=Hint(command("explain", Blank("FILE")), " describes its contents")
        )
    return _loaded(*graphs[_read(graphs)], faults)


def graph_from_run_metadata(data: memoryview, faults: list[TfgError] | None = None) -> Graph:
    """Return the graph with the most nodes in a RunMetadata, as it was before optimization if that was recorded.

    InvalidArgumentError if there is none.
    """
    graphs = _graphs(_run_metadata(data))
    if not graphs:
        hint = Hint(step("timings"), " shows its times for a graph")
        raise InvalidArgumentError("the RunMetadata has no graph", hint=hint)
    return _loaded(*graphs[_read(graphs)], faults)


class _Events:
    """The events of a file up to its end or the first damaged record, which `is_cut` tells; `count` of them."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self.is_cut = False
        self.count = 0

    def __iter__(self) -> Iterator[Event]:
        with self._opened() as file:
            try:
                for record in read_records(file):
                    yield Event.FromString(record)
                    self.count += 1
            except (RecordError, DecodeError):
                self.is_cut = True

    @contextlib.contextmanager
    def _opened(self) -> Iterator[Any]:
        """Open a file, to be read in pieces, or what else `read_source` reads, gzip among it."""
        path = _path_of(self._source)
        if path is None or not is_file(path):
            yield io.BytesIO(read_source(self._source))
            return
        with file_errors(path), open_regular(path) as file:
            is_packed = file.peek(len(GZIP_MAGIC)).startswith(GZIP_MAGIC)
            # A file is read in pieces: event files of long trainings have gigabytes.
            yield io.BytesIO(read_source(self._source)) if is_packed else file


def _of_folder(folder: str) -> Recording | None:
    """Return what the event files of a folder hold together; graphs are those of its files alone."""
    parts = [(run, _of_events(file)) for run, file in _event_files_below(folder)]
    if not parts:
        return None
    tags: dict[tuple[str, str, str], Tag] = {}
    for run, part in parts:
        for tag in part.tags:
            key = run, tag.tag, tag.kind
            tags[key] = _joined(tags[key], tag) if key in tags else dataclasses.replace(tag, run=run)
    return Recording(
        "folder of event files", ", ".join(dict.fromkeys(part.writer for _, part in parts if part.writer)),
        sum(part.events for _, part in parts), max(part.seconds for _, part in parts),
        any(part.is_cut for _, part in parts), tags=tuple(tags.values()),
    )  # fmt: skip


def _joined(tag: Tag, other: Tag) -> Tag:
    """Return the tag of two event files of a run."""
    # A restart goes back to a checkpoint, so a later file may begin before the end of the earlier one.
    first, last = min(tag.first_step, other.first_step), max(tag.last_step, other.last_step)
    return dataclasses.replace(tag, count=tag.count + other.count, first_step=first, last_step=last)


def _of_events(source: Source) -> Recording:
    events = _Events(source)
    writer, times = "", []
    tags: dict[tuple[str, bool], Tag] = {}
    graphs: list[tuple[str, bytes]] = []
    for event in events:
        times.append(event.wall_time)
        writer = event.source_metadata.writer or writer
        graphs += _graphs_of_event(event)
        for tag, kind in _tags(event):
            # Only the first summary of a tag names the plugin, so the kind of others is not a part of the key.
            key = tag, kind == _TRACE
            tags[key] = _counted(tags.get(key, Tag(tag, kind, 0, event.step, event.step)), event.step)
    seconds = max(times) - min(times) if times else 0.0
    return Recording(
        "event file", writer, events.count, seconds, events.is_cut, tags=tuple(tags.values()), graphs=_shown(graphs)
    )


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


def _graphs(message: RunMetadata) -> list[tuple[str, bytes]]:
    """Return (title, bytes) of each recorded graph that has nodes."""
    graphs = [("partition graph", graph) for graph in message.partition_graphs]
    for function in message.function_graphs:
        graphs.append(("before optimization", function.pre_optimization_graph))
        graphs.append(("after optimization", function.post_optimization_graph))
        graphs += [("function's partition graph", graph) for graph in function.partition_graphs]
    # The messages are serialized again, because graphs are read from bytes.
    return [(what, graph.SerializeToString()) for what, graph in graphs if graph.node]


def _read(graphs: list[tuple[str, bytes]]) -> int:
    """Return the index of the graph to read: the last whole graph, else the largest of a trace, before optimization first."""

    def preference(number: int) -> tuple[bool, bool, int]:
        what, data = graphs[number]
        is_whole = what in _WHOLE
        # The last whole graph is the latest; graphs of a trace are parts, of which the largest tells most.
        return is_whole, what == "before optimization", number if is_whole else len(data)

    return max(range(len(graphs)), key=preference)
