"""Summaries: serialized Summary messages."""

from __future__ import annotations

import numpy as np

from ...codecs import wire
from ...registry.registry import facts, kernel, not_differentiable, shape, zero_flops
from ...runtime.state.edge_values import scalar_object
from ...runtime.state.kernel_context import KernelContext
from ...support.errors import DataLossError, InvalidArgumentError, UnimplementedError
from ...types.arrays import Array, Result
from ...types.dtypes import DType
from ...types.shapes import SCALAR, Shape, TensorSpec, merge_shapes
from ...types.tensors import Tensor
from ..shared.plain_shapes import scalar_shape
from . import _summary_protos as protos


def _tag(tag: Array) -> bytes:
    if tag.ndim:
        raise InvalidArgumentError(f"tags must be scalar, not of shape {tag.shape}")
    return tag.item()


@kernel("ScalarSummary")
def scalar_summary(tags: Array, values: Array) -> Result:
    """Summarize a number for each tag."""
    numbers = np.asarray(values)
    if tags.shape != numbers.shape:
        raise InvalidArgumentError(f"tags and values are not the same shape: {tags.shape} != {numbers.shape}")
    floats = numbers.astype(np.float32).ravel()
    return scalar_object(b"".join(protos.value(t, protos.number_part(v)) for t, v in zip(tags.ravel().tolist(), floats)))


@kernel("HistogramSummary")
def histogram_summary(tag: Array, values: Array) -> Result:
    """The histogram of all values."""
    name = _tag(tag)
    return scalar_object(protos.value(name, protos.histogram_part(values, name.decode("utf-8", "replace"))))


@kernel("ImageSummary")
def image_summary(tag: Array, tensor: Array, *, max_images: int, bad_color: Tensor) -> Result:
    """Images as PNG files."""
    return scalar_object(protos.images(_tag(tag), np.asarray(tensor), max_images, bad_color.numpy()))


@kernel("AudioSummary")
def audio_summary(tag: Array, tensor: Array, *, sample_rate: float, max_outputs: int) -> Result:
    """Clips as WAV files."""
    return scalar_object(protos.audio(_tag(tag), np.asarray(tensor), np.float32(sample_rate), max_outputs))


@kernel("AudioSummaryV2")
def audio_summary_v2(tag: Array, tensor: Array, sample_rate: Array, *, max_outputs: int) -> Result:
    """Clips as WAV files."""
    if np.ndim(sample_rate):
        raise InvalidArgumentError(f"sample_rate must be scalar, not of shape {np.shape(sample_rate)}")
    return scalar_object(protos.audio(_tag(tag), np.asarray(tensor), np.float32(sample_rate), max_outputs))


@kernel("TensorSummary")
def tensor_summary(ctx: KernelContext, tensor: Array, *, T: DType) -> Result:
    """Summarize a tensor under the node's name alone."""
    _check_type(T)
    return scalar_object(protos.value(b"", protos.node_name_part(ctx.name.encode()), protos.tensor_part(tensor, T)))


@kernel("TensorSummaryV2")
def tensor_summary_v2(tag: Array, tensor: Array, serialized_summary_metadata: Array, *, T: DType) -> Result:
    """A tensor with a tag and metadata."""
    _check_type(T)
    if serialized_summary_metadata.ndim:
        raise InvalidArgumentError("serialized_summary_metadata must be scalar")
    metadata = parsed_or_empty(serialized_summary_metadata.item())
    return scalar_object(protos.value(_tag(tag), protos.tensor_part(tensor, T), protos.metadata_part(metadata)))


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


@kernel("MergeSummary")
def merge_summary(inputs: list[Array]) -> Result:
    """All values of several Summaries."""
    tags: set[bytes] = set()
    result = b""
    for text in (text for value in inputs for text in value.ravel().tolist()):
        try:
            values = wire.contents(text, 1)
            names = [next(iter(wire.contents(value, 1)), b"") for value in values]
        except DataLossError:
            raise InvalidArgumentError("Could not parse one of the summary inputs") from None
        for name, value in zip(names, values):
            if name in tags:
                raise InvalidArgumentError(f"Duplicate tag {name.decode('utf-8', 'replace')} found in summary inputs ")
            tags.add(name)
            result += wire.bytes_field(1, value)
    return scalar_object(result)


@shape("HistogramSummary", "ImageSummary", "AudioSummary", "AudioSummaryV2", "TensorSummaryV2")
def tagged_summary_shape(tag: TensorSpec, *inputs: TensorSpec) -> Shape:
    merge_shapes(tag.shape, SCALAR)
    return SCALAR


shape("ScalarSummary", "TensorSummary", "MergeSummary")(scalar_shape)


_ALL = (
    "ScalarSummary", "HistogramSummary", "ImageSummary", "AudioSummary", "AudioSummaryV2", "TensorSummary", "TensorSummaryV2",
    "MergeSummary",
)  # fmt: skip
not_differentiable(*_ALL)
zero_flops(*_ALL)
facts("summary", of=_ALL)
