"""Summaries: serialized Summary messages, and the event files that hold them, TFRecords of Event messages for TensorBoard.

https://github.com/tensorflow/tensorflow/blob/master/tensorflow/core/framework/summary.proto and, in the same repository,
tensorflow/core/util/event.proto name the fields. Messages are TensorFlow's, byte for byte.
"""

from __future__ import annotations

import itertools
import os
import socket
import time
from typing import Any

import numpy as np

from ...codecs import png, wav, wire
from ...codecs.tfrecord import encode_record
from ...numerics.tensor_statistics import bucket_histogram
from ...registry.registry import kernel
from ...runtime.state import tensor_proto_bytes
from ...runtime.state.edge_values import scalar_object
from ...runtime.state.file_access import FileGate
from ...runtime.state.kernel_context import KernelContext
from ...runtime.state.resources import Shared
from ...support.errors import DataLossError, InvalidArgumentError, NotFoundError, UnimplementedError
from ...types.arrays import Array, Result
from ...types.dtypes import DType
from ...types.tensors import Tensor
from ..shared.argument_checks import require, scalar
from ..shared.kernel_files import file_name, gate, system_errors
from ..shared.resource_access import creates_handle, resource


@kernel("ScalarSummary", shape="-> ()", facts=("summary",), arithmetic=False)
def scalar_summary(tags: Array, values: Array) -> Result:
    """Summarize a number for each tag."""
    numbers = np.asarray(values)
    if tags.shape != numbers.shape:
        raise InvalidArgumentError(f"tags and values are not the same shape: {tags.shape} != {numbers.shape}")
    # The message holds float32, whatever the dtype of the values.
    floats = numbers.astype(np.float32).ravel()
    return scalar_object(b"".join(_summary_value(t, _number_part(v)) for t, v in zip(tags.ravel().tolist(), floats)))


@kernel("HistogramSummary", shape="() -> ()", facts=("summary",), arithmetic=False)
def histogram_summary(tag: Array, values: Array) -> Result:
    """The histogram of all values."""
    name = scalar(tag, "tag")
    return scalar_object(_summary_value(name, _histogram_part(values, name.decode("utf-8", "replace"))))


@kernel("ImageSummary", shape="() -> ()", facts=("summary",), arithmetic=False)
def image_summary(tag: Array, tensor: Array, *, max_images: int, bad_color: Tensor) -> Result:
    """Images as PNG files."""
    return scalar_object(_images_summary(scalar(tag, "tag"), np.asarray(tensor), max_images, bad_color.numpy()))


@kernel("AudioSummary", shape="() -> ()", facts=("summary",), arithmetic=False)
def audio_summary(tag: Array, tensor: Array, *, sample_rate: float, max_outputs: int) -> Result:
    """Clips as WAV files."""
    return scalar_object(_audio_summary(scalar(tag, "tag"), np.asarray(tensor), np.float32(sample_rate), max_outputs))


@kernel("AudioSummaryV2", shape="() -> ()", facts=("summary",), arithmetic=False)
def audio_summary_v2(tag: Array, tensor: Array, sample_rate: Array, *, max_outputs: int) -> Result:
    """Clips as WAV files."""
    rate = np.float32(scalar(sample_rate, "sample_rate"))
    return scalar_object(_audio_summary(scalar(tag, "tag"), np.asarray(tensor), rate, max_outputs))


@kernel("TensorSummary", shape="-> ()", facts=("summary",), arithmetic=False)
def tensor_summary(ctx: KernelContext, tensor: Array, *, T: DType) -> Result:
    """Summarize a tensor under the node's name alone."""
    _check_type(T)
    return scalar_object(_summary_value(b"", wire.string_field(_NODE_NAME, ctx.name.encode()), _tensor_part(tensor, T)))


@kernel("TensorSummaryV2", shape="() -> ()", facts=("summary",), arithmetic=False)
def tensor_summary_v2(tag: Array, tensor: Array, serialized_summary_metadata: Array, *, T: DType) -> Result:
    """A tensor with a tag and metadata."""
    _check_type(T)
    metadata = parsed_or_empty(scalar(serialized_summary_metadata, "serialized_summary_metadata"))
    return scalar_object(_summary_value(scalar(tag, "tag"), _tensor_part(tensor, T), _metadata_part(metadata)))


def _check_type(dtype: DType) -> None:
    if dtype.name in ("resource", "variant"):
        raise UnimplementedError(f"tfg does not summarize tensors of {dtype}")


def parsed_or_empty(message: bytes) -> bytes:
    """Return the message, or an empty message where parsing fails, as TensorFlow does."""
    try:
        for _ in wire.fields(message):
            pass
    except DataLossError:
        return b""
    return message


@kernel("MergeSummary", shape="-> ()", facts=("summary",), arithmetic=False)
def merge_summary(inputs: list[Array]) -> Result:
    """All values of several Summaries."""
    tags: set[bytes] = set()
    result = b""
    for text in (text for value in inputs for text in value.ravel().tolist()):
        try:
            values = wire.contents(text, 1)
            # All values of a summary are read before any is joined, so that damage is found first.
            names = [next(iter(wire.contents(value, 1)), b"") for value in values]
        except DataLossError:
            raise InvalidArgumentError("Could not parse one of the summary inputs") from None
        for name, value in zip(names, values):
            if name in tags:
                raise InvalidArgumentError(f"Duplicate tag {name.decode('utf-8', 'replace')} found in summary inputs ")
            tags.add(name)
            result += wire.bytes_field(1, value)
    return scalar_object(result)


_TAG, _SIMPLE_VALUE, _IMAGE, _HISTOGRAM, _AUDIO, _NODE_NAME, _TENSOR, _METADATA = 1, 2, 4, 5, 6, 7, 8, 9


def _summary_value(tag: bytes, *parts: bytes) -> bytes:
    """Return a value of a Summary."""
    return wire.bytes_field(1, wire.string_field(_TAG, tag) + b"".join(parts))


def _number_part(number: Any) -> bytes:
    """Return the part of a value that holds a number."""
    # The field belongs to a oneof, in which a 0 is written.
    return wire.float_field(_SIMPLE_VALUE, number, always=True)


def _histogram_part(values: Array, name: str) -> bytes:
    """Return the part of a value that holds a histogram; InvalidArgumentError for NaN and infinity."""
    numbers = np.asarray(values)
    bad = numbers[~np.isfinite(numbers)]
    if bad.size:
        # TensorFlow has two messages, of which it gives that of the first such element.
        if np.isnan(bad[0]):
            raise InvalidArgumentError(f"Nan in summary histogram for: {name}")
        raise InvalidArgumentError(f"Infinity in Histogram for: {name}")
    summary = bucket_histogram(numbers)
    message = b"".join(
        wire.double_field(number, item)
        for number, item in enumerate((summary.minimum, summary.maximum, summary.count, summary.total, summary.sum_squares), 1)
    )
    message += wire.packed_doubles(6, summary.limits) + wire.packed_doubles(7, summary.counts)
    return wire.bytes_field(_HISTOGRAM, message)


def _tensor_part(array: Array, dtype: DType) -> bytes:
    """Return the part of a value that holds a tensor."""
    return wire.bytes_field(_TENSOR, tensor_proto_bytes.serialize(np.asarray(array), dtype))


def _metadata_part(metadata: bytes) -> bytes:
    """Return the part of a value that holds the metadata."""
    return wire.bytes_field(_METADATA, metadata)


def _numbered_tags(tag: bytes, kind: bytes, count: int, limit: int) -> list[bytes]:
    """Return tags of up to `limit` items, numbered unless the limit is 1."""
    # A single image has no number, even if the batch has more.
    if limit == 1:
        return [tag + b"/" + kind]
    return [b"%s/%s/%d" % (tag, kind, i) for i in range(min(count, limit))]


def _images_summary(tag: bytes, tensor: Array, limit: int, bad_color: Array) -> bytes:
    """Return a Summary with up to `limit` images of a batch (n, height, width, channels)."""
    if tensor.ndim != 4 or tensor.shape[3] not in (1, 3, 4):
        raise InvalidArgumentError(f"Tensor must be 4-D with last dim 1, 3, or 4, not {tensor.shape}")
    if len(tensor) and not tensor.size:
        raise InvalidArgumentError(f"Tensor must not be empty, its shape is {tensor.shape}")
    _, height, width, channels = tensor.shape
    if bad_color.dtype != np.uint8 or bad_color.ndim != 1 or bad_color.size < channels:
        raise InvalidArgumentError(f"bad_color must be a uint8 vector of {channels} or more, not {bad_color}")
    result = b""
    for name, image in zip(_numbered_tags(tag, b"image", len(tensor), limit), tensor):
        # Bytes are taken as they are; floats are scaled by the largest of the image.
        pixels = image if image.dtype == np.uint8 else _normalized(image, bad_color[:channels])
        fields = [wire.varint_field(i, n) for i, n in enumerate((height, width, channels), 1)]
        fields.append(wire.bytes_field(4, png.encode(pixels)))
        result += _summary_value(name, wire.bytes_field(_IMAGE, b"".join(fields)))
    return result


def _normalized(image: Array, bad_color: Array) -> Array:
    """Return a float image as uint8: scaled to 255, with negative values around 128; pixels that are not finite are
    bad_color.
    """
    finite = np.isfinite(image.astype(np.float64)).all(axis=2)
    inside = image[finite]
    low, high = (np.float32(inside.min()), np.float32(inside.max())) if inside.size else (np.float32(0), np.float32(0))
    largest = max(abs(low), high) if low < 0 else high
    span, offset = (np.float32(127), np.float32(128)) if low < 0 else (np.float32(255), np.float32(0))
    # The scale is a float, the arithmetic that of the image's own dtype.
    # An almost black image would be divided by almost nothing.
    scale = (np.float32(0) if largest < 1e-6 else span / largest).astype(image.dtype)
    pixels = np.empty(image.shape, np.uint8)
    pixels[finite] = (inside * scale + offset.astype(image.dtype)).astype(np.uint8)
    pixels[~finite] = bad_color
    return pixels


def _audio_summary(tag: bytes, tensor: Array, rate: Any, limit: int) -> bytes:
    """Return a Summary with up to `limit` clips of a batch (n, frames) or (n, frames, channels)."""
    if tensor.ndim not in (2, 3):
        raise InvalidArgumentError(f"Tensor must be 3-D or 2-D, got: {tensor.shape}")
    require(rate > 0, "sample_rate must be > 0")
    require(not np.isinf(rate), "sample_rate must be in (0, 2^32)")
    # The header of a WAV file has whole numbers, the message a float.
    frames_per_second = max(round(float(rate)), 1)
    frames, channels = tensor.shape[1], tensor.shape[2] if tensor.ndim == 3 else 1
    result = b""
    for name, clip in zip(_numbered_tags(tag, b"audio", len(tensor), limit), tensor):
        fields = wire.float_field(1, rate) + wire.varint_field(2, channels) + wire.varint_field(3, frames)
        contents = wav.encode(clip.reshape(frames, channels), frames_per_second)
        fields += wire.bytes_field(4, contents) + wire.bytes_field(5, b"audio/wav")
        result += _summary_value(name, wire.bytes_field(_AUDIO, fields))
    return result


_VERSION = b"brain.Event:2"
_uids = itertools.count()
"""The numbers, as TensorFlow calls them, in the names of the event files of a process."""


class EventWriter:
    """A writer of events to a file of its own in a folder; the queue is written on `flush` or when full."""

    def __init__(self, folder: str, max_queue: int, suffix: str, files: FileGate) -> None:
        self._max_queue = max_queue
        self._files = files
        self._waiting: list[bytes] = []
        # TensorBoard finds the files by this name and reads them in the order of the time in it.
        name = f"events.out.tfevents.{int(time.time()):010d}.{socket.gethostname()}.{os.getpid()}.{next(_uids)}{suffix}"
        self.path = os.path.join(folder, name)
        with system_errors(folder):
            self._files.to_write(self.path)
            os.makedirs(self._files.to_write(folder), exist_ok=True)
        # The version comes first, as readers expect. Written at once, so that the file is there to be found.
        self.add(wire.bytes_field(3, _VERSION), 0)
        self.flush()

    def add(self, content: bytes, step: int) -> None:
        """Add an event with `content` after the time and the step."""
        self.add_event(wire.double_field(1, time.time()) + wire.varint_field(2, step) + content)

    def add_event(self, event: bytes) -> None:
        """Add a whole Event message."""
        # Encoded now: the caller's arrays may change before the queue is written.
        self._waiting.append(encode_record(event))
        if len(self._waiting) > self._max_queue:
            self.flush()

    def flush(self) -> None:
        """Write the queued events."""
        with system_errors(self.path), self._files.open_to_append(self.path) as file:
            file.write(b"".join(self._waiting))
        self._waiting.clear()


class WriterResource(Shared):
    """The resource of a SummaryWriter handle: a writer, once created."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._writer: EventWriter | None = None

    @property
    def is_open(self) -> bool:
        return self._writer is not None

    def open(self, writer: EventWriter) -> None:
        self._writer = writer

    def writer(self) -> EventWriter:
        """Return the writer; NotFoundError if not yet created, or closed."""
        if self._writer is None:
            raise NotFoundError(
                f"Resource '{self.name}' (SummaryWriter) does not exist", hint="run its CreateSummaryFileWriter first"
            )
        return self._writer

    def close(self) -> None:
        if self._writer is not None:
            self._writer.flush()
        self._writer = None


_EVENT_SUMMARY, _EVENT_GRAPH = 5, 4


creates_handle("SummaryWriter", kind=WriterResource)  # a writer that is still to be opened


@kernel("CreateSummaryFileWriter", facts=("side_effect", "summary"), arithmetic=False)
def create_summary_file_writer(
    ctx: KernelContext, writer: Array, logdir: Array, max_queue: Array, flush_millis: Array, filename_suffix: Array
) -> None:
    """Open an event file in a folder, unless the writer is open."""
    target = resource(writer, WriterResource)
    # TensorFlow opens a writer once; later calls, in a loop for instance, leave it as it is.
    if target.is_open:
        return
    # `flush_millis` goes unused: there is no thread beside the runs that could write after a time.
    folder, suffix = file_name(scalar(logdir, "logdir")), os.fsdecode(scalar(filename_suffix, "filename_suffix"))
    target.open(EventWriter(folder, int(scalar(max_queue, "max_queue")), suffix, gate(ctx)))


def _writer(handle: Array) -> EventWriter:
    return resource(handle, WriterResource).writer()


def _add_summary(handle: Array, step: Array, summary: bytes) -> None:
    _writer(handle).add(wire.bytes_field(_EVENT_SUMMARY, summary), scalar(step, "step"))


@kernel("WriteSummary", facts=("side_effect", "summary"), arithmetic=False)
def write_summary(
    ctx: KernelContext, writer: Array, step: Array, tensor: Array, tag: Array, summary_metadata: Array, *, T: DType
) -> None:
    """A tensor with a tag and metadata."""
    metadata = parsed_or_empty(scalar(summary_metadata, "summary_metadata"))
    parts = (_tensor_part(np.asarray(tensor), T), _metadata_part(metadata))
    _add_summary(writer, step, _summary_value(scalar(tag, "tag"), *parts))


@kernel("WriteRawProtoSummary", facts=("side_effect", "summary"), arithmetic=False)
def write_raw_proto_summary(ctx: KernelContext, writer: Array, step: Array, tensor: Array) -> None:
    """Serialized Summaries, all in one event."""
    texts = tensor.ravel().tolist()
    for i, text in enumerate(texts):
        try:
            wire.contents(text, 1)
        except DataLossError:
            raise DataLossError(f"Bad tf.compat.v1.Summary binary proto tensor string at index {i}") from None
    # Messages merge where their bytes are joined. No Summaries leave an event of a step alone.
    content = wire.bytes_field(_EVENT_SUMMARY, b"".join(texts)) if texts else b""
    _writer(writer).add(content, scalar(step, "step"))


@kernel("WriteScalarSummary", facts=("side_effect", "summary"), arithmetic=False)
def write_scalar_summary(ctx: KernelContext, writer: Array, step: Array, tag: Array, value: Array) -> None:
    """A number."""
    number = np.float32(scalar(value, "value"))
    _add_summary(writer, step, _summary_value(scalar(tag, "tag"), _number_part(number)))


@kernel("WriteHistogramSummary", facts=("side_effect", "summary"), arithmetic=False)
def write_histogram_summary(ctx: KernelContext, writer: Array, step: Array, tag: Array, values: Array) -> None:
    """The histogram of a tensor."""
    name = scalar(tag, "tag")
    _add_summary(writer, step, _summary_value(name, _histogram_part(values, name.decode("utf-8", "replace"))))


@kernel("WriteImageSummary", facts=("side_effect", "summary"), arithmetic=False)
def write_image_summary(
    ctx: KernelContext, writer: Array, step: Array, tag: Array, tensor: Array, bad_color: Array, *, max_images: int
) -> None:
    """Images as PNG files."""
    _add_summary(writer, step, _images_summary(scalar(tag, "tag"), np.asarray(tensor), max_images, np.asarray(bad_color)))


@kernel("WriteAudioSummary", facts=("side_effect", "summary"), arithmetic=False)
def write_audio_summary(
    ctx: KernelContext, writer: Array, step: Array, tag: Array, tensor: Array, sample_rate: Array, *, max_outputs: int
) -> None:
    """Clips as WAV files."""
    rate = np.float32(scalar(sample_rate, "sample_rate"))
    _add_summary(writer, step, _audio_summary(scalar(tag, "tag"), np.asarray(tensor), rate, max_outputs))


@kernel("WriteGraphSummary", facts=("side_effect", "summary"), arithmetic=False)
def write_graph_summary(ctx: KernelContext, writer: Array, step: Array, tensor: Array) -> None:
    """A serialized GraphDef."""
    _writer(writer).add(wire.bytes_field(_EVENT_GRAPH, scalar(tensor, "tensor")), scalar(step, "step"))


@kernel("ImportEvent", facts=("side_effect", "summary"), arithmetic=False)
def import_event(ctx: KernelContext, writer: Array, event: Array) -> None:
    """A serialized Event."""
    _writer(writer).add_event(scalar(event, "event"))


@kernel("FlushSummaryWriter", facts=("side_effect", "summary"), arithmetic=False)
def flush_summary_writer(ctx: KernelContext, writer: Array) -> None:
    """Write the queued events."""
    _writer(writer).flush()


@kernel("CloseSummaryWriter", facts=("side_effect", "summary"), arithmetic=False)
def close_summary_writer(ctx: KernelContext, writer: Array) -> None:
    """Write the queued events and close the file."""
    resource(writer, WriterResource).close()
