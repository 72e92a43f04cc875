"""Datasets that read files: lines, TFRecords, records of fixed length, CSV records, names that match patterns, databases."""

from __future__ import annotations

import os
from collections.abc import Callable
from itertools import pairwise, repeat
from typing import Any, BinaryIO

import numpy as np

from ...datasets.databases import Pairs, Query
from ...datasets.dataset import Dataset, Element
from ...datasets.file_records import (
    CsvFormat,
    CsvRecords,
    FixedLengthRecords,
    MatchingFiles,
    OpenFile,
    Records,
    TextLines,
    require_compression,
)
from ...runtime.state.edge_values import scalar_object
from ...runtime.state.kernel_context import KernelContext
from ...support.errors import InvalidArgumentError
from ...types import dtypes
from ...types.arrays import Array
from ...types.dtypes import DType
from ...types.shapes import Shape
from ..io.parsing import csv_default, csv_value
from ..shared.kernel_files import file_name, gate, matching_files, system_errors
from ._datasets import Bytes, Flag, Number, Text, Texts, dataset_kernel


def opener(ctx: KernelContext) -> OpenFile:
    """Opens files for a node, as far as the session allows."""

    def open_file(path: bytes) -> BinaryIO:
        name = file_name(path)
        with system_errors(name):
            return gate(ctx).open(name)

    return open_file


def _require_buffer(size: int) -> None:
    # Checked and not used: how much is read at a time does not show in the records.
    if size < 0:
        raise InvalidArgumentError("`buffer_size` must be >= 0 (0 == default)")


@dataset_kernel("TextLineDataset", facts=("reads_files",))
def text_line_dataset(ctx: KernelContext, filenames: Texts, compression_type: Text, buffer_size: Number) -> Dataset:
    """The lines of files."""
    _require_buffer(buffer_size)
    compression = require_compression(compression_type)
    return TextLines((), filenames, opener(ctx), compression)


@dataset_kernel("TFRecordDataset", "TFRecordDatasetV2", facts=("reads_files",))
def tf_record_dataset(
    ctx: KernelContext, filenames: Texts, compression_type: Text, buffer_size: Number, byte_offsets: Any = None
) -> Dataset:
    """The records of TFRecord files."""
    # Unlike the other datasets of files, this one takes -1 in TensorFlow, for a size of its choice.
    if buffer_size < -1:
        raise InvalidArgumentError("`buffer_size` must be >= 0 (0 == no buffering)")
    offsets = [] if byte_offsets is None else np.ravel(byte_offsets).tolist()
    if offsets and len(offsets) != len(filenames):
        raise InvalidArgumentError(f"filenames and byte_offsets must have the same size: {len(filenames)} and {len(offsets)}")
    if offsets and min(offsets) < 0:
        raise InvalidArgumentError(f"`byte_offsets` must be >= 0, not {min(offsets)}")
    # As in TensorFlow, an unknown compression counts as none.
    return Records((), filenames, opener(ctx), compression_type, offsets)


@dataset_kernel("FixedLengthRecordDataset", "FixedLengthRecordDatasetV2", facts=("reads_files",))
def fixed_length_record_dataset(
    ctx: KernelContext,
    filenames: Texts,
    header_bytes: Number,
    record_bytes: Number,
    footer_bytes: Number,
    buffer_size: Number,
    compression_type: Text = "",
) -> Dataset:
    """Read records of a fixed length."""
    _require_buffer(buffer_size)
    if record_bytes <= 0:
        raise InvalidArgumentError("`record_bytes` must be > 0")
    if header_bytes < 0 or footer_bytes < 0:
        raise InvalidArgumentError("`header_bytes` and `footer_bytes` must be >= 0")
    compression = require_compression(compression_type)
    return FixedLengthRecords((), filenames, opener(ctx), header_bytes, record_bytes, footer_bytes, compression)


@dataset_kernel("MatchingFilesDataset", facts=("reads_files",))
def matching_files_dataset(ctx: KernelContext, patterns: Texts) -> Dataset:
    """The names of files that patterns match."""
    return MatchingFiles((), patterns, lambda pattern: matching_files(ctx, pattern))


@dataset_kernel("CSVDataset", "CSVDatasetV2", facts=("reads_files",))
def csv_dataset(
    ctx: KernelContext,
    filenames: Texts,
    compression_type: Text,
    buffer_size: Number,
    header: Flag,
    field_delim: Bytes,
    use_quote_delim: Flag,
    na_value: Bytes,
    select_cols: Array,
    record_defaults: list[Any],
    exclude_cols: Any = (),
    *,
    output_types: list[DType],
) -> Dataset:
    """Read CSV records, a component for each column."""
    # Checked alone, as above; 0 is no default here.
    if buffer_size <= 0:
        raise InvalidArgumentError("buffer_size should be positive")
    if len(field_delim) != 1:
        raise InvalidArgumentError("field_delim should be only 1 char")
    defaults = [csv_default(i, value) for i, value in enumerate(record_defaults)]
    select = _columns(select_cols, exclude_cols, len(output_types))

    def convert(fields: list[bytes]) -> Element:
        chosen = select(fields)
        if len(chosen) != len(output_types):
            raise InvalidArgumentError(f"Expect {len(output_types)} fields but have {len(chosen)} in record")
        values = (
            csv_value(*cells, "of a file", i) for i, cells in enumerate(zip(chosen, repeat(na_value), output_types, defaults))
        )
        return tuple([scalar_object(v) if t is dtypes.string else t.numpy.type(v) for v, t in zip(values, output_types)])

    compression = require_compression(compression_type)
    form = CsvFormat(field_delim, use_quote_delim, header)
    return CsvRecords((), filenames, opener(ctx), compression, form, convert)


def _columns(select_cols: Array, exclude_cols: Any, count: int) -> Callable[[list[bytes]], list[bytes]]:
    """Return a function that selects a record's fields: the selected columns, or all but the excluded columns."""
    included, excluded = (_increasing(value, name) for value, name in ((select_cols, "select"), (exclude_cols, "exclude")))
    if included and excluded:
        raise InvalidArgumentError("Either select_cols or exclude_cols should be empty")
    if included and len(included) != count:
        raise InvalidArgumentError("select_cols should match output size")
    if included:
        # A record may be too short: the caller compares the numbers of fields, and its error says both.
        return lambda fields: [fields[i] for i in included if i < len(fields)]
    return lambda fields: [field for i, field in enumerate(fields) if i not in excluded] if excluded else fields


def _increasing(value: Any, name: str) -> list[int]:
    if np.ndim(value) != 1:
        raise InvalidArgumentError(f"`{name}_cols` must be a vector.")
    places: list[int] = np.asarray(value, np.int64).tolist()
    if any(b <= a for a, b in pairwise([-1, *places])):
        raise InvalidArgumentError(f"{name}_cols should be strictly increasing, non-negative indices")
    return places


_SQL_TYPES = ("string", "int8", "int16", "int32", "int64", "uint8", "uint16", "bool", "double")


@dataset_kernel("SqlDataset", facts=("reads_files",))
def sql_dataset(
    ctx: KernelContext,
    driver_name: Text,
    data_source_name: Text,
    query: Text,
    *,
    output_types: list[DType],
    output_shapes: list[Shape],
) -> Dataset:
    """The rows that a query gives."""
    # The message lists a single database since TensorFlow registers a single driver as well.
    if driver_name != "sqlite":
        raise InvalidArgumentError(
            f"The database type, {driver_name}, is not supported by SqlDataset. The set of supported databases is: "
            "{'sqlite'}."
        )
    if any(dtype.name not in _SQL_TYPES for dtype in output_types):
        raise InvalidArgumentError(f"Each element of `output_types_` must be one of: {', '.join(_SQL_TYPES)}")
    if any(shape.rank != 0 for shape in output_shapes):
        raise InvalidArgumentError("Each element of `output_shapes_` must be a scalar.")
    # The gate is asked here and not at the first row: SQLite would open a file by itself, past all that the run may read.
    path = gate(ctx).to_read(file_name(data_source_name))
    return Query((), path, query, output_types)


@dataset_kernel("LMDBDataset", facts=("reads_files",))
def lmdb_dataset(ctx: KernelContext, filenames: Texts) -> Dataset:
    """The keys and values of databases: files, or folders that hold `data.mdb`."""

    def open_file(path: bytes) -> BinaryIO:
        name = file_name(path)
        with system_errors(name):
            is_folder = os.path.isdir(gate(ctx).to_read(name))
            # LMDB keeps its data in a folder beside a file of locks, which a reader of a file at rest does not need.
            return gate(ctx).open(os.path.join(name, "data.mdb") if is_folder else name)

    return Pairs((), filenames, open_file)
