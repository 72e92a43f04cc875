"""Readers of files, and the records they give."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...codecs.tfrecord import uncompressed
from ...registry.registry import facts, kernel, not_differentiable, shape, zero_flops
from ...runtime.state.edge_values import scalar_object
from ...runtime.state.kernel_context import KernelContext
from ...runtime.state.resources import Shared
from ...support.errors import InvalidArgumentError, NotFoundError, OutOfRangeError, UnimplementedError
from ...types import dtypes
from ...types.arrays import Array, Result
from ...types.shapes import SCALAR, Shape, TensorSpec, merge_shapes
from ..shared.kernel_files import file_name, matching_files, read_file
from ..shared.plain_shapes import no_outputs_shape, scalar_shape, two_scalars_shape
from ..shared.resource_access import ReferenceHandle, named, resource
from ..shared.string_functions import as_objects
from ._queues import Queue, Taking, done
from ._readers import (
    FixedLengthReader,
    IdentityReader,
    KeyedRecords,
    Reader,
    RecordReader,
    TextLineReader,
    WholeFileReader,
)


@kernel("WholeFileReader", "WholeFileReaderV2")
def whole_file_reader(ctx: KernelContext, *, container: str, shared_name: str) -> Any:
    """A reader of whole files."""
    return named(ctx, container, shared_name, Reader, lambda: WholeFileReader(ctx.name))


@kernel("IdentityReader", "IdentityReaderV2")
def identity_reader(ctx: KernelContext, *, container: str, shared_name: str) -> Any:
    """A reader that gives the work units themselves."""
    return named(ctx, container, shared_name, Reader, lambda: IdentityReader(ctx.name))


@kernel("TextLineReader", "TextLineReaderV2")
def text_line_reader(ctx: KernelContext, *, skip_header_lines: int, container: str, shared_name: str) -> Any:
    """A reader of lines."""
    return named(ctx, container, shared_name, Reader, lambda: TextLineReader(ctx.name, skip_header_lines))


@kernel("FixedLengthRecordReader")
def fixed_length_record_reader(ctx: KernelContext) -> Any:
    raise NotFoundError("No attr named 'encoding' in NodeDef", hint="TensorFlow too runs only FixedLengthRecordReaderV2")


@kernel("TFRecordReader", "TFRecordReaderV2")
def tf_record_reader(ctx: KernelContext, *, compression_type: str, container: str, shared_name: str) -> Any:
    """A reader of TFRecord files."""
    return named(ctx, container, shared_name, Reader, lambda: RecordReader(ctx.name, compression_type))


_READERS = ("WholeFileReader", "IdentityReader", "TextLineReader", "FixedLengthRecordReader", "TFRecordReader")


@shape(*(name + "V2" for name in _READERS))
def reader_v2_shape() -> TensorSpec:
    return TensorSpec(dtypes.resource, SCALAR)


@kernel("LMDBReader")
def lmdb_reader(ctx: KernelContext) -> Any:
    raise UnimplementedError("LMDB databases need a library that tfg does not have")


@shape(*_READERS, "LMDBReader")
def reader_shape() -> TensorSpec:
    return TensorSpec(dtypes.string, Shape((2,)))


def _both(*names: str) -> list[str]:
    return [name + version for name in names for version in ("", "V2")]


_USE = ("ReaderRead", "ReaderReadUpTo", "ReaderRestoreState", "ReaderReset")
_ASK = ("ReaderNumRecordsProduced", "ReaderNumWorkUnitsCompleted", "ReaderSerializeState")
_ALL = [*_both(*_READERS, *_USE, *_ASK), "LMDBReader", "RecordInput"]

not_differentiable(*_ALL)

zero_flops(*_ALL)


@kernel("FixedLengthRecordReaderV2")
def fixed_length_record_reader_v2(
    ctx: KernelContext,
    *,
    header_bytes: int,
    record_bytes: int,
    footer_bytes: int,
    hop_bytes: int,
    encoding: str,
    container: str,
    shared_name: str,
) -> Result:
    """Return a reader of records of a fixed length, from files that may be compressed."""
    layout = (header_bytes, record_bytes, footer_bytes, hop_bytes)
    return named(ctx, container, shared_name, Reader, lambda: FixedLengthReader(ctx.name, *layout, encoding))


def _sources(
    ctx: KernelContext, reader_handle: Array | ReferenceHandle, queue_handle: Array | ReferenceHandle
) -> tuple[Any, Any, Any]:
    """Return the reader, a function that gives its next work unit, and a function that opens files."""
    queue = resource(queue_handle, Queue)
    if queue.spec.dtypes != (dtypes.string,):
        raise InvalidArgumentError(f"a reader takes strings, queue '{queue.name}' holds {list(map(str, queue.spec.dtypes))}")

    def next_unit() -> bytes:
        attempt = done(ctx, queue.taking, (reader_handle, queue_handle), lambda: Taking(queue, 1))
        return np.asarray(attempt.elements[0][0]).item()

    return resource(reader_handle, Reader), next_unit, lambda unit: read_file(ctx, file_name(unit))


@kernel("ReaderRead", "ReaderReadV2")
def reader_read(ctx: KernelContext, reader_handle: Any, queue_handle: Any) -> tuple[Result, Result]:
    """The next record: key and value."""
    reader, next_unit, opener = _sources(ctx, reader_handle, queue_handle)
    key, value = reader.read(next_unit, opener)
    return scalar_object(key), scalar_object(value)


shape(*_both("ReaderRead"))(two_scalars_shape)
facts("blocks", "asynchronous", of=_both("ReaderRead", "ReaderReadUpTo"))


@kernel("ReaderReadUpTo", "ReaderReadUpToV2")
def reader_read_up_to(ctx: KernelContext, reader_handle: Any, queue_handle: Any, num_records: Array) -> tuple[Result, ...]:
    """Read up to `num_records` records: keys and values."""
    reader, next_unit, opener = _sources(ctx, reader_handle, queue_handle)
    if num_records < 1:
        raise InvalidArgumentError(f"num_records must be positive, not {num_records}")
    records = reader.read_up_to(int(num_records), next_unit, opener)
    return tuple(as_objects(column, (len(records),)) for column in zip(*records))


@shape(*_both("ReaderReadUpTo"))
def reader_read_up_to_shape(reader_handle: Any, queue_handle: Any, num_records: Any) -> tuple[Shape, ...]:
    merge_shapes(num_records.shape, SCALAR)
    count = Shape([None])
    return count, count


facts("reads_files", of=[*_both("ReaderRead", "ReaderReadUpTo"), "RecordInput"])


@kernel("ReaderNumRecordsProduced", "ReaderNumRecordsProducedV2")
def reader_num_records_produced(reader_handle: Any) -> Result:
    """Return the number of records read."""
    return np.int64(resource(reader_handle, Reader).produced)


@kernel("ReaderNumWorkUnitsCompleted", "ReaderNumWorkUnitsCompletedV2")
def reader_num_work_units_completed(reader_handle: Any) -> Result:
    """Return the number of finished work units."""
    return np.int64(resource(reader_handle, Reader).work_finished)


@kernel("ReaderSerializeState", "ReaderSerializeStateV2")
def reader_serialize_state(reader_handle: Any) -> Result:
    """The reader's state."""
    return scalar_object(resource(reader_handle, Reader).state())


shape(*_both("ReaderNumRecordsProduced", "ReaderNumWorkUnitsCompleted", "ReaderSerializeState"))(scalar_shape)


@kernel("ReaderRestoreState", "ReaderRestoreStateV2")
def reader_restore_state(reader_handle: Any, state: Array) -> None:
    """Take over a state."""
    if state.ndim:
        raise InvalidArgumentError(f"Reader state must be scalar, but had shape: {state.shape}")
    resource(reader_handle, Reader).restore(state.item())


facts("side_effect", of=[*_both(*_USE), "RecordInput"])


@kernel("ReaderReset", "ReaderResetV2")
def reader_reset(reader_handle: Any) -> None:
    """Back to the beginning."""
    resource(reader_handle, Reader).reset()


shape(*_both("ReaderRestoreState", "ReaderReset"))(no_outputs_shape)


@kernel("RecordInput")
def record_input(
    ctx: KernelContext,
    *,
    file_pattern: str,
    file_random_seed: int,
    file_shuffle_shift_ratio: float,
    file_buffer_size: int,
    file_parallelism: int,
    batch_size: int,
    compression_type: str,
) -> Result:
    """A batch of records, drawn at random from a buffer over all files of a pattern, again and again."""
    if min(file_parallelism, batch_size) < 0:
        raise InvalidArgumentError(f"file_parallelism {file_parallelism} and batch_size {batch_size} must not be negative")
    if batch_size == 0:
        return as_objects([], (0,))
    source = ctx.state(lambda: _RecordSource(_all_records(ctx, file_pattern, compression_type), file_random_seed))
    with source:
        batch = [source.draw(file_buffer_size, file_shuffle_shift_ratio) for _ in range(batch_size)]
    return as_objects(batch, (batch_size,))


class _RecordSource(Shared):
    """A source of records in an order that changes with every epoch. TensorFlow's order depends on its threads and is not
    reproduced.
    """

    def __init__(self, records: list[bytes], seed: int) -> None:
        self._records = records
        self._random = np.random.default_rng(abs(seed))
        self._buffer: list[bytes] = []
        self._pending: list[bytes] = []

    def draw(self, buffer_size: int, shift_ratio: float) -> bytes:
        """Return a record."""
        while len(self._buffer) < buffer_size:
            if not self._pending:
                shift = int(shift_ratio * len(self._records))
                self._records = self._records[shift:] + self._records[:shift]
                self._pending = self._records[::-1]
            self._buffer.append(self._pending.pop())
        return self._buffer.pop(int(self._random.integers(len(self._buffer))))


def _all_records(ctx: KernelContext, pattern: str, compression: str) -> list[bytes]:
    paths = matching_files(ctx, pattern)
    if not paths:
        raise NotFoundError(f"No files matched {pattern}")
    files = ((path, uncompressed(read_file(ctx, path), compression)) for path in paths)
    records = [data for path, contents in files for _, data in KeyedRecords(contents, path.encode("utf-8", "surrogateescape"))]
    if not records:
        raise OutOfRangeError(f"the files of {pattern} hold no records")
    return records


@shape("RecordInput")
def record_input_shape(*, batch_size: int) -> Shape:
    return Shape((batch_size,))


facts("random", of=("RecordInput",))
