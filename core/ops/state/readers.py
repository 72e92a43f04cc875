"""Readers of files, and the records they give."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ...codecs import wire
from ...codecs.tfrecord import RecordError, decode_record, uncompressed
from ...registry.registry import facts, kernel, shaped
from ...runtime.state.edge_values import scalar_object
from ...runtime.state.kernel_context import KernelContext
from ...runtime.state.resources import Shared
from ...support.errors import DataLossError, InvalidArgumentError, NotFoundError, OutOfRangeError, UnimplementedError
from ...types import dtypes
from ...types.arrays import Array, Result, object_array
from ..shared.kernel_files import file_name, matching_files, read_file
from ..shared.resource_access import ReferenceHandle, named, resource
from ..shared.turns import done
from .queues import Queue, Taking


@kernel("WholeFileReader", "WholeFileReaderV2", arithmetic=False)
def whole_file_reader(ctx: KernelContext) -> Any:
    """A reader of whole files."""
    return named(ctx, Reader, lambda name: WholeFileReader(ctx.name))


@kernel("IdentityReader", "IdentityReaderV2", arithmetic=False)
def identity_reader(ctx: KernelContext) -> Any:
    """A reader that gives the work units themselves."""
    return named(ctx, Reader, lambda name: IdentityReader(ctx.name))


@kernel("TextLineReader", "TextLineReaderV2", arithmetic=False)
def text_line_reader(ctx: KernelContext, *, skip_header_lines: int) -> Any:
    """A reader of lines."""
    return named(ctx, Reader, lambda name: TextLineReader(ctx.name, skip_header_lines))


@kernel("FixedLengthRecordReader", arithmetic=False)
def fixed_length_record_reader(ctx: KernelContext) -> Any:
    # TensorFlow's kernel serves both versions, and reads an attribute that only the second one declares.
    raise NotFoundError("No attr named 'encoding' in NodeDef", hint="TensorFlow too runs only FixedLengthRecordReaderV2")


@kernel("TFRecordReader", "TFRecordReaderV2", arithmetic=False)
def tf_record_reader(ctx: KernelContext, *, compression_type: str) -> Any:
    """A reader of TFRecord files."""
    return named(ctx, Reader, lambda name: RecordReader(ctx.name, compression_type))


_READERS = ("WholeFileReader", "IdentityReader", "TextLineReader", "FixedLengthRecordReader", "TFRecordReader")


shaped("-> ()", *(name + "V2" for name in _READERS))


@kernel("LMDBReader", arithmetic=False)
def lmdb_reader(ctx: KernelContext) -> Any:
    # TensorFlow keeps the op, and refuses it since it was built without LMDB.
    raise UnimplementedError("LMDBReader is removed from TensorFlow", hint="LMDBDataset reads LMDB databases")


shaped("-> 2", *_READERS, "LMDBReader")


def _both(*names: str) -> list[str]:
    return [name + version for name in names for version in ("", "V2")]


@kernel("FixedLengthRecordReaderV2", arithmetic=False)
def fixed_length_record_reader_v2(
    ctx: KernelContext, *, header_bytes: int, record_bytes: int, footer_bytes: int, hop_bytes: int, encoding: str
) -> Result:
    """Return a reader of records of a fixed length, from files that may be compressed."""
    layout = (header_bytes, record_bytes, footer_bytes, hop_bytes)
    return named(ctx, Reader, lambda name: FixedLengthReader(ctx.name, *layout, encoding))


def _sources(
    ctx: KernelContext, reader_handle: Array | ReferenceHandle, queue_handle: Array | ReferenceHandle
) -> tuple[Any, Any, Any]:
    """Return the reader, a function that gives its next work unit, and a function that opens files."""
    queue = resource(queue_handle, Queue)
    if queue.spec.dtypes != (dtypes.string,):
        raise InvalidArgumentError(f"a reader takes strings, queue '{queue.name}' holds {list(map(str, queue.spec.dtypes))}")

    def next_unit() -> bytes:
        # The reader waits as a dequeue does, in the line of the queue.
        turn = done(ctx, queue.taking, (reader_handle, queue_handle), lambda: Taking(queue, 1))
        return np.asarray(turn.elements[0][0]).item()

    return resource(reader_handle, Reader), next_unit, lambda unit: read_file(ctx, file_name(unit))


@kernel("ReaderRead", "ReaderReadV2", facts=("reads_files", "side_effect"), arithmetic=False)
def reader_read(ctx: KernelContext, reader_handle: Any, queue_handle: Any) -> tuple[Result, Result]:
    """The next record: key and value."""
    reader, next_unit, opener = _sources(ctx, reader_handle, queue_handle)
    key, value = reader.read(next_unit, opener)
    return scalar_object(key), scalar_object(value)


shaped("-> (), ()", *_both("ReaderRead"))
facts("blocks", "asynchronous", of=_both("ReaderRead", "ReaderReadUpTo"))


@kernel("ReaderReadUpTo", "ReaderReadUpToV2", shape="*, *, () -> n, n", facts=("reads_files", "side_effect"), arithmetic=False)
def reader_read_up_to(ctx: KernelContext, reader_handle: Any, queue_handle: Any, num_records: Array) -> tuple[Result, ...]:
    """Read up to `num_records` records: keys and values."""
    reader, next_unit, opener = _sources(ctx, reader_handle, queue_handle)
    if num_records < 1:
        raise InvalidArgumentError(f"num_records must be positive, not {num_records}")
    records = reader.read_up_to(int(num_records), next_unit, opener)
    return tuple(object_array(column) for column in zip(*records))


@kernel("ReaderNumRecordsProduced", "ReaderNumRecordsProducedV2", shape="-> ()", arithmetic=False)
def reader_num_records_produced(reader_handle: Any) -> Result:
    """Return the number of records read."""
    return np.int64(resource(reader_handle, Reader).produced)


@kernel("ReaderNumWorkUnitsCompleted", "ReaderNumWorkUnitsCompletedV2", shape="-> ()", arithmetic=False)
def reader_num_work_units_completed(reader_handle: Any) -> Result:
    """Return the number of finished work units."""
    return np.int64(resource(reader_handle, Reader).work_finished)


@kernel("ReaderSerializeState", "ReaderSerializeStateV2", shape="-> ()", arithmetic=False)
def reader_serialize_state(reader_handle: Any) -> Result:
    """The reader's state."""
    return scalar_object(resource(reader_handle, Reader).state())


@kernel("ReaderRestoreState", "ReaderRestoreStateV2", facts=("side_effect",), arithmetic=False)
def reader_restore_state(reader_handle: Any, state: Array) -> None:
    """Take over a state."""
    if state.ndim:
        raise InvalidArgumentError(f"Reader state must be scalar, but had shape: {state.shape}")
    resource(reader_handle, Reader).restore(state.item())


@kernel("ReaderReset", "ReaderResetV2", facts=("side_effect",), arithmetic=False)
def reader_reset(reader_handle: Any) -> None:
    """Back to the beginning."""
    resource(reader_handle, Reader).reset()


@kernel("RecordInput", shape="-> {batch_size}", facts=("reads_files", "side_effect", "random"), arithmetic=False)
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
        return object_array([])
    source = ctx.state(lambda: _RecordSource(_all_records(ctx, file_pattern, compression_type), file_random_seed))
    with source:
        batch = [source.draw(file_buffer_size, file_shuffle_shift_ratio) for _ in range(batch_size)]
    return object_array(batch)


class _RecordSource(Shared):
    """A source of records in an order that changes with every epoch. TensorFlow's order depends on its threads and is not
    reproduced.
    """

    def __init__(self, records: list[bytes], seed: int) -> None:
        self._records = records
        # NumPy's generator takes no negative seed.
        self._random = np.random.default_rng(abs(seed))
        self._buffer: list[bytes] = []
        self._pending: list[bytes] = []

    def draw(self, buffer_size: int, shift_ratio: float) -> bytes:
        """Return a record."""
        while len(self._buffer) < buffer_size:
            if not self._pending:
                # TensorFlow turns the list of files by this share at each epoch; here it is the list of records.
                shift = int(shift_ratio * len(self._records))
                self._records = self._records[shift:] + self._records[:shift]
                self._pending = self._records[::-1]
            self._buffer.append(self._pending.pop())
        return self._buffer.pop(int(self._random.integers(len(self._buffer))))


def _all_records(ctx: KernelContext, pattern: str, compression: str) -> list[bytes]:
    paths = matching_files(ctx, pattern)
    if not paths:
        raise NotFoundError(f"No files matched {pattern}")
    files = [(path, path.encode("utf-8", "surrogateescape")) for path in paths]
    contents = ((name, _uncompressed(read_file(ctx, path), compression, name)) for path, name in files)
    records = [data for name, read in contents for _, data in KeyedRecords(read, name)]
    if not records:
        raise OutOfRangeError(f"the files of {pattern} hold no records")
    return records


# Readers: they take file names (work units) from a queue and give records with keys.

Record = tuple[bytes, bytes]
NextUnit = Callable[[], bytes]
ReadFile = Callable[[bytes], bytes]


class Reader(Shared):
    """A reader of records from a sequence of work units. Subclasses turn a unit into records."""

    has_state = False
    ends_with_record = False  # True if a unit has a single record

    def __init__(self, name: str) -> None:
        self.name = name
        self.work_started = 0
        self.work_finished = 0
        self.produced = 0
        self.unit: bytes | None = None
        self._records: Iterator[Record] = iter(())

    def records(self, unit: bytes, read_file: ReadFile) -> Iterator[Record]:
        """Return the records of a work unit."""
        raise NotImplementedError

    def read(self, next_unit: NextUnit, read_file: ReadFile) -> Record:
        """Return the next record."""
        while True:
            if self.unit is None:
                unit = next_unit()
                # Before `unit` is set: a file that cannot be read is passed over, and the next read takes another.
                self._records = self.records(unit, read_file)
                self.unit = unit
                self.work_started += 1
            record = self._next_of_unit()
            if record is not None:
                return record

    def read_up_to(self, count: int, next_unit: NextUnit, read_file: ReadFile) -> list[Record]:
        """Return up to `count` records of a work unit, at least one."""
        records = [self.read(next_unit, read_file)]
        while len(records) < count and self.unit is not None:
            record = self._next_of_unit()
            if record is not None:
                records.append(record)
        return records

    def _next_of_unit(self) -> Record | None:
        """Return a record of the current unit; at the end finish the unit and return None."""
        record = next(self._records, None)
        # A unit of a single record is finished with it: the next read must not ask for another first.
        if record is None or self.ends_with_record:
            self.unit = None
            self.work_finished += 1
        if record is not None:
            self.produced += 1
        return record

    def reset(self) -> None:
        """Back to the beginning."""
        self.work_started = self.work_finished = self.produced = 0
        self.unit = None

    def state(self) -> bytes:
        """Return the state for `restore`, a ReaderBaseState message; only some readers have a state."""
        self._require_state()
        counts = enumerate((self.work_started, self.work_finished, self.produced), 1)
        return b"".join(wire.varint_field(i, n) for i, n in counts) + wire.string_field(4, self.unit or b"")

    def restore(self, state: bytes) -> None:
        """Go on from a state; InvalidArgumentError if the bytes are none."""
        self._require_state()
        try:
            counts = [field for field in wire.fields(state) if field.wire_type == wire.VARINT]
        except DataLossError:
            raise InvalidArgumentError(f"Could not parse state for {self.name}: {state!r}") from None
        self.reset()
        numbers = dict(zip((field.number for field in counts), wire.repeated_integers(counts)))
        self.work_started, self.work_finished, self.produced = (numbers.get(i, 0) for i in (1, 2, 3))

    def _require_state(self) -> None:
        if not self.has_state:
            raise UnimplementedError(f"Reader {self.name} does not support state")


class IdentityReader(Reader):
    """The work units themselves."""

    has_state = ends_with_record = True

    def records(self, unit: bytes, read_file: ReadFile) -> Iterator[Record]:
        return iter([(unit, unit)])


class WholeFileReader(Reader):
    """A file a record."""

    has_state = ends_with_record = True

    def records(self, unit: bytes, read_file: ReadFile) -> Iterator[Record]:
        return iter([(unit, read_file(unit))])


class TextLineReader(Reader):
    """A line a record."""

    def __init__(self, name: str, skipped: int) -> None:
        super().__init__(name)
        if skipped < 0:
            raise InvalidArgumentError(f"skip_header_lines must be >= 0 not {skipped}")
        self._skipped = skipped

    def records(self, unit: bytes, read_file: ReadFile) -> Iterator[Record]:
        # One carriage return a line, unlike TextLineDataset, which drops all.
        lines = [line.removesuffix(b"\r") for line in read_file(unit).split(b"\n")]
        # The end of the last line begins no further line. A carriage return alone at the end of the file is no line either.
        if lines[-1] == b"":
            lines.pop()
        # Numbered before the header is left out: keys name the lines of the file.
        return iter([(b"%s:%d" % (unit, i), line) for i, line in enumerate(lines, 1)][self._skipped :])


class FixedLengthReader(Reader):
    """A reader of records of `record` bytes, between a header and a footer."""

    def __init__(self, name: str, header: int, record: int, footer: int, hop: int, encoding: str) -> None:
        super().__init__(name)
        if record <= 0 or header < 0 or footer < 0 or hop < 0:
            raise InvalidArgumentError(
                f"record_bytes must be positive, header, footer and hop not negative: {record}, {header}, {footer}, {hop}"
            )
        # A hop of 0, the default, leaves no gap between records.
        self._layout = (header, record, footer, hop or record)
        self._encoding = encoding

    def records(self, unit: bytes, read_file: ReadFile) -> Iterator[Record]:
        header, record, footer, hop = self._layout
        contents = _uncompressed(read_file(unit), self._encoding, unit)
        # A rest shorter than a record is left out, as in TensorFlow.
        starts = range(header, len(contents) - footer - record + 1, hop)
        return ((b"%s:%d" % (unit, i), contents[start : start + record]) for i, start in enumerate(starts))


class RecordReader(Reader):
    """The records of a TFRecord file."""

    def __init__(self, name: str, compression: str) -> None:
        super().__init__(name)
        self._compression = compression

    def records(self, unit: bytes, read_file: ReadFile) -> Iterator[Record]:
        contents = _uncompressed(read_file(unit), self._compression, unit)
        return KeyedRecords(contents, unit)


class KeyedRecords:
    """The records of a file after their keys, path and position; each read of a damaged file raises DataLossError again."""

    def __init__(self, contents: bytes, path: bytes) -> None:
        self._contents = contents
        self._path = path
        self._position = 0

    def __iter__(self) -> KeyedRecords:
        return self

    def __next__(self) -> Record:
        start = self._position
        if start >= len(self._contents):
            raise StopIteration
        try:
            data, self._position = decode_record(self._contents, start)
        except RecordError as error:
            raise DataLossError(f"{self._path.decode('utf-8', 'replace')}: {error}") from error
        return b"%s:%d" % (self._path, start), data


def _uncompressed(contents: bytes, compression: str, path: bytes) -> bytes:
    try:
        return uncompressed(contents, compression)
    except RecordError as error:
        raise DataLossError(f"{path.decode('utf-8', 'replace')}: {error}") from error
