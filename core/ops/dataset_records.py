"""Datasets that read files: lines, TFRecords, records of one length, names that patterns match."""

from __future__ import annotations

from typing import Any, BinaryIO

import numpy as np

from .. import dtypes
from ..arrays import Array
from ..datasets.base import Dataset, Spec
from ..datasets.records import (
    FixedLengthRecords,
    MatchingFiles,
    OpenFile,
    Records,
    TextLines,
    require_compression,
)
from ..errors import InvalidArgumentError
from ..registry import facts
from ..runtime.kernel_context import KernelContext
from ..shapes import SCALAR
from ._datasets import dataset_kernel, number_in, text_in, texts_in, with_twins
from ._files import file_name, gate, matching_files, system_errors

TEXT = Spec((dtypes.string,), (SCALAR,))
"""Elements of one string."""


def opener(ctx: KernelContext) -> OpenFile:
    """Opens files for a node, as far as the session allows."""

    def open_file(path: bytes) -> BinaryIO:
        name = file_name(path)
        with system_errors(name):
            return gate(ctx).open(name)

    return open_file


def _buffer(value: Array) -> None:
    if number_in(value, "buffer_size") < 0:
        raise InvalidArgumentError("`buffer_size` must be >= 0 (0 == default)")


@dataset_kernel("TextLineDataset")
def text_line_dataset(ctx: KernelContext, filenames: Array, compression_type: Array, buffer_size: Array) -> Dataset:
    """The lines of files."""
    _buffer(buffer_size)
    compression = require_compression(text_in(compression_type, "compression_type"))
    return TextLines((), texts_in(filenames, "filenames"), opener(ctx), compression)


@dataset_kernel("TFRecordDataset", "TFRecordDatasetV2")
def tf_record_dataset(
    ctx: KernelContext, filenames: Array, compression_type: Array, buffer_size: Array, byte_offsets: Any = None
) -> Dataset:
    """The records of TFRecord files."""
    if number_in(buffer_size, "buffer_size") < -1:
        raise InvalidArgumentError("`buffer_size` must be >= 0 (0 == no buffering)")
    paths = texts_in(filenames, "filenames")
    offsets = [] if byte_offsets is None else np.ravel(byte_offsets).tolist()
    if offsets and len(offsets) != len(paths):
        raise InvalidArgumentError(f"filenames and byte_offsets must have the same size: {len(paths)} and {len(offsets)}")
    # As in TensorFlow, a compression that there is none of is none.
    return Records((), paths, opener(ctx), text_in(compression_type, "compression_type"), offsets)


@dataset_kernel("FixedLengthRecordDataset", "FixedLengthRecordDatasetV2")
def fixed_length_record_dataset(
    ctx: KernelContext,
    filenames: Array,
    header_bytes: Array,
    record_bytes: Array,
    footer_bytes: Array,
    buffer_size: Array,
    compression_type: Any = None,
) -> Dataset:
    """Records of one length."""
    _buffer(buffer_size)
    header, size, footer = (number_in(value, "bytes") for value in (header_bytes, record_bytes, footer_bytes))
    if size <= 0:
        raise InvalidArgumentError("`record_bytes` must be > 0")
    if header < 0 or footer < 0:
        raise InvalidArgumentError("`header_bytes` and `footer_bytes` must be >= 0")
    compression = "" if compression_type is None else require_compression(text_in(compression_type, "compression_type"))
    return FixedLengthRecords((), texts_in(filenames, "filenames"), opener(ctx), header, size, footer, compression)


@dataset_kernel("MatchingFilesDataset")
def matching_files_dataset(ctx: KernelContext, patterns: Array) -> Dataset:
    """The names of files that patterns match."""
    return MatchingFiles((), texts_in(patterns, "patterns"), lambda pattern: matching_files(ctx, pattern))


facts(
    "reads_files",
    of=with_twins(
        "TextLineDataset", "TFRecordDataset", "TFRecordDatasetV2", "FixedLengthRecordDataset", "FixedLengthRecordDatasetV2",
        "MatchingFilesDataset",
    ),
)  # fmt: skip
