"""Readers: they take file names (work units) from a queue and give records with keys."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ...codecs import wire
from ...codecs.tfrecord import RecordError, decode_record, uncompressed
from ...runtime.state.resources import Shared
from ...support.errors import DataLossError, InvalidArgumentError, UnimplementedError

Record = tuple[bytes, bytes]
NextUnit = Callable[[], bytes]
ReadFile = Callable[[bytes], bytes]


class Reader(Shared):
    """A reader of records from a sequence of work units. Subclasses turn a unit into records."""

    has_state = False
    ends_with_record = False  # True where a unit has a single record

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
        """Go on from a state; InvalidArgumentError where the bytes are none."""
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
        lines = read_file(unit).replace(b"\r", b"").split(b"\n")
        if lines[-1] == b"":
            lines.pop()
        return iter([(b"%s:%d" % (unit, i), line) for i, line in enumerate(lines, 1)][self._skipped :])


class FixedLengthReader(Reader):
    """A reader of records of `record` bytes, between a header and a footer."""

    def __init__(self, name: str, header: int, record: int, footer: int, hop: int, encoding: str) -> None:
        super().__init__(name)
        if record <= 0 or header < 0 or footer < 0 or hop < 0:
            raise InvalidArgumentError(
                f"record_bytes must be positive, header, footer and hop not negative: {record}, {header}, {footer}, {hop}"
            )
        self._layout = (header, record, footer, hop or record)
        self._encoding = encoding

    def records(self, unit: bytes, read_file: ReadFile) -> Iterator[Record]:
        header, record, footer, hop = self._layout
        contents = _uncompressed(read_file(unit), self._encoding, unit)
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
