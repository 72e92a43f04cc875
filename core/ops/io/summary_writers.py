"""Writing summaries into event files."""

from __future__ import annotations

import os

import numpy as np

from ...codecs import wire
from ...registry.registry import facts, kernel, not_differentiable, shape, zero_flops
from ...runtime.state.kernel_context import KernelContext
from ...types import dtypes
from ...types.arrays import Array, Result
from ...types.dtypes import DType
from ...types.shapes import SCALAR, TensorSpec
from ..shared.argument_checks import scalar
from ..shared.kernel_files import file_name, gate
from ..shared.plain_shapes import no_outputs_shape
from ..shared.resource_access import named, resource
from . import _summary_protos as protos
from ._event_writer import EventWriter, WriterResource
from .summaries import parsed_or_empty

_SUMMARY, _GRAPH = 5, 4


@kernel("SummaryWriter")
def summary_writer(ctx: KernelContext, *, container: str, shared_name: str) -> Result:
    """A handle of a writer that is still to be created."""
    return named(ctx, container, shared_name, WriterResource, lambda: WriterResource(shared_name or ctx.name))


@shape("SummaryWriter")
def summary_writer_shape() -> TensorSpec:
    return TensorSpec(dtypes.resource, SCALAR)


@kernel("CreateSummaryFileWriter")
def create_summary_file_writer(
    ctx: KernelContext, writer: Array, logdir: Array, max_queue: Array, flush_millis: Array, filename_suffix: Array
) -> None:
    """Open an event file in a folder, unless the writer is open."""
    target = resource(writer, WriterResource)
    if target.is_open:
        return
    folder, suffix = file_name(scalar(logdir, "logdir")), os.fsdecode(scalar(filename_suffix, "filename_suffix"))
    target.open(EventWriter(folder, int(scalar(max_queue, "max_queue")), suffix, gate(ctx)))


def _writer(handle: Array) -> EventWriter:
    return resource(handle, WriterResource).writer()


def _add_summary(handle: Array, step: Array, summary: bytes) -> None:
    _writer(handle).add(wire.bytes_field(_SUMMARY, summary), scalar(step, "step"))


@kernel("WriteSummary")
def write_summary(
    ctx: KernelContext, writer: Array, step: Array, tensor: Array, tag: Array, summary_metadata: Array, *, T: DType
) -> None:
    """A tensor with a tag and metadata."""
    metadata = parsed_or_empty(scalar(summary_metadata, "summary_metadata"))
    parts = (protos.tensor_part(np.asarray(tensor), T), protos.metadata_part(metadata))
    _add_summary(writer, step, protos.value(scalar(tag, "tag"), *parts))


@kernel("WriteRawProtoSummary")
def write_raw_proto_summary(ctx: KernelContext, writer: Array, step: Array, tensor: Array) -> None:
    """Serialized Summaries."""
    for text in tensor.ravel().tolist():
        _add_summary(writer, step, text)


@kernel("WriteScalarSummary")
def write_scalar_summary(ctx: KernelContext, writer: Array, step: Array, tag: Array, value: Array) -> None:
    """A number."""
    number = np.float32(scalar(value, "value"))
    _add_summary(writer, step, protos.value(scalar(tag, "tag"), protos.number_part(number)))


@kernel("WriteHistogramSummary")
def write_histogram_summary(ctx: KernelContext, writer: Array, step: Array, tag: Array, values: Array) -> None:
    """The histogram of a tensor."""
    name = scalar(tag, "tag")
    _add_summary(writer, step, protos.value(name, protos.histogram_part(values, name.decode("utf-8", "replace"))))


@kernel("WriteImageSummary")
def write_image_summary(
    ctx: KernelContext, writer: Array, step: Array, tag: Array, tensor: Array, bad_color: Array, *, max_images: int
) -> None:
    """Images as PNG files."""
    _add_summary(writer, step, protos.images(scalar(tag, "tag"), np.asarray(tensor), max_images, np.asarray(bad_color)))


_WRITE = (
    "CreateSummaryFileWriter", "WriteSummary", "WriteRawProtoSummary", "WriteScalarSummary",
    "WriteHistogramSummary", "WriteImageSummary", "WriteAudioSummary", "WriteGraphSummary", "ImportEvent",
    "FlushSummaryWriter", "CloseSummaryWriter",
)  # fmt: skip


shape(*_WRITE)(no_outputs_shape)
facts("side_effect", "summary", of=_WRITE)


@kernel("WriteAudioSummary")
def write_audio_summary(
    ctx: KernelContext, writer: Array, step: Array, tag: Array, tensor: Array, sample_rate: Array, *, max_outputs: int
) -> None:
    """Clips as WAV files."""
    rate = np.float32(scalar(sample_rate, "sample_rate"))
    _add_summary(writer, step, protos.audio(scalar(tag, "tag"), np.asarray(tensor), rate, max_outputs))


@kernel("WriteGraphSummary")
def write_graph_summary(ctx: KernelContext, writer: Array, step: Array, tensor: Array) -> None:
    """A serialized GraphDef."""
    _writer(writer).add(wire.bytes_field(_GRAPH, scalar(tensor, "tensor")), scalar(step, "step"))


@kernel("ImportEvent")
def import_event(ctx: KernelContext, writer: Array, event: Array) -> None:
    """A serialized Event."""
    _writer(writer).add_event(scalar(event, "event"))


@kernel("FlushSummaryWriter")
def flush_summary_writer(ctx: KernelContext, writer: Array) -> None:
    """Write the queued events."""
    _writer(writer).flush()


@kernel("CloseSummaryWriter")
def close_summary_writer(ctx: KernelContext, writer: Array) -> None:
    """Write the queued events and close the file."""
    resource(writer, WriterResource).close()


not_differentiable("SummaryWriter", *_WRITE)
zero_flops("SummaryWriter", *_WRITE)
