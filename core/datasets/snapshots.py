"""Datasets that are kept: saved in folders, in TensorFlow's formats, or cached.

A folder holds `snapshot.metadata`, a message that names a run, and the run's folder with a folder for each shard. A shard's
files hold TFRecords of TensorProtos, a record for each component. The format was read off files of tf.data.Dataset.save.
"""

from __future__ import annotations

import gzip
import itertools
import os
import re
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np

from ..codecs import snappy, wire
from ..codecs.wire import varint
from ..runtime.state.edge_values import scalar_object
from ..runtime.state.resources import Shared
from ..runtime.state.run_context import sleep
from ..support import dataclasses
from ..support.errors import DataLossError
from ..types.arrays import Array
from ..types.dtypes import DType
from .dataset import Dataset, Element, Pull, SameElements, array_of, deferred, keeping, pull_of, require_index

_GRAPH, _RUN, _CREATED, _VERSION, _DTYPES, _SIZE, _FINISHED = 1, 2, 3, 4, 5, 6, 1000
FORMAT, FIRST_FORMAT = 2, 1
"""Versions of the format: `save`, `load` and SnapshotDatasetV2 have the second version, SnapshotDataset the first."""


@dataclasses.dataclass(frozen=True, slots=True)
class Metadata:
    """Metadata of a saved dataset: the run that wrote the dataset, the numbers of the dtypes, the number of elements.

    `graph` is the hash of the pipeline and `created` the time in microseconds; both belong to the first format.
    """

    run: str
    dtypes: tuple[int, ...]
    size: int = 0
    finished: bool = True
    version: int = FORMAT
    graph: str = ""
    created: int = 0

    def serialized(self) -> bytes:
        """Serialize the message."""
        return b"".join(
            [
                wire.string_field(_GRAPH, self.graph.encode()),
                wire.string_field(_RUN, self.run.encode()),
                wire.varint_field(_CREATED, self.created),
                wire.varint_field(_VERSION, self.version),
                wire.bytes_field(_DTYPES, b"".join(map(varint, self.dtypes))),
                wire.varint_field(_SIZE, self.size),
                wire.varint_field(_FINISHED, int(self.finished)),
            ]
        )

    @staticmethod
    def parse(data: bytes, version: int = FORMAT) -> Metadata:
        """Parse metadata; DataLossError if the message is damaged or of another version."""
        numbers = (_VERSION, _SIZE, _FINISHED, _CREATED)
        versions, sizes, finished, created = (wire.integers(data, number) or [0] for number in numbers)
        names = [wire.contents(data, number)[-1:] for number in (_RUN, _GRAPH)]
        if versions[-1] != version or not names[0]:
            raise DataLossError(f"tfg reads saved datasets of version {version}, not {versions}")
        run, graph = (b"".join(texts).decode("utf-8", "replace") for texts in names)
        dtypes = tuple(wire.integers(data, _DTYPES))
        return Metadata(run, dtypes, sizes[-1], bool(finished[-1]), version, graph, created[-1])


class SavedShard(Dataset, kind="SnapshotReader"):
    """The elements in the files of a shard."""

    paths: Sequence[bytes]
    read: Callable[[bytes], Iterator[Element]]

    def begin(self) -> Pull:
        return pull_of(itertools.chain.from_iterable(map(self.read, self.paths)))


def elements_of(records: Iterable[bytes], parse: Callable[[bytes], object], width: int) -> Iterator[Element]:
    """Yield elements of `width` components from records of a component each."""
    element: list[object] = []
    for record in records:
        element.append(parse(record))
        if len(element) == width:
            yield tuple(element)
            element = []


class Loaded(Dataset, kind="Load"):
    """The result of a function of all shards' datasets."""

    size: int

    def begin(self) -> Pull:
        return self.source.begin()

    def cardinality(self) -> int:
        return self.size


class Saving(SameElements, kind="Save"):
    """The same elements, written into a folder at the end of a pass."""

    shard_of: Callable[[Element], int]
    store: Callable[[Mapping[int, Sequence[Element]], Sequence[DType]], None]
    types: Sequence[DType]

    def begin(self) -> Pull:
        return pull_of(self.stored(self.source))

    def stored(self, source: Iterable[Element]) -> Iterator[Element]:
        """Yield the elements of the source, and write them after the last."""
        # Shard 0 is written even without elements: a loaded dataset has at least one shard.
        shards: dict[int, list[Element]] = {0: []}
        for element in source:
            shards.setdefault(self.shard_of(element), []).append(element)
            yield element
        # Only now, at the end of a complete pass: a folder with a part of the elements would be read as the whole.
        self.store(shards, self.types)


class DatasetSnapshot(Saving, kind="Snapshot"):
    """The elements of an earlier complete pass; without an earlier pass, the elements of this pass, which are written."""

    has_elements: Callable[[], bool]
    loaded: Callable[[], Dataset]

    def begin(self) -> Pull:
        return self.loaded().begin() if self.has_elements() else super().begin()


READ, WRITE, PASS = "read", "write", "passthrough"
"""Modes of a pass over a snapshot: read elements, write elements, or neither."""


class FirstSnapshot(SameElements, kind="Snapshot"):
    """A snapshot in the first format; the first demand for an element decides between reading and writing."""

    mode: Callable[[], str]
    load: Callable[[], Iterator[Element]]
    store: Callable[[Sequence[Element]], None]

    def begin(self) -> Pull:
        return deferred(self._decided)

    def _decided(self) -> Pull:
        """Begin a pass that reads, writes or does neither, by the folder's present state."""
        mode = self.mode()
        if mode == READ:
            return pull_of(self.load())
        return keeping(self.source, self.store) if mode == WRITE else self.source.begin()


# Files of snapshots in TensorFlow's first format, the format of SnapshotDataset.
# A record is its length, eight bytes, and a message with the TensorProtos of an element. Compressed by snappy, an element has
# two records: a message of the components' shapes and sizes, and a block with the components in sequence, numbers as raw
# bytes. The format was read off files that TensorFlow writes.

_PREFIX: Final = struct.Struct("<Q")
_TENSOR = _COMPONENT = 1
_DIM, _DIM_SIZE, _SHAPE, _LENGTH = 2, 1, 2, 3


@dataclasses.dataclass(frozen=True, slots=True)
class FirstFormat:
    """How elements of some dtypes stand in a file; `serialize` and `parse` make TensorProtos of arrays and arrays of them."""

    compression: str
    dtypes: Sequence[DType]
    serialize: Callable[[Array, DType], bytes]
    parse: Callable[[bytes], Array]

    def encoded(self, elements: Iterable[Element]) -> bytes:
        """Return the contents of a file."""
        encode = self._packed if self.compression == "SNAPPY" else self._record
        contents = b"".join(_PREFIX.pack(len(part)) + part for element in elements for part in encode(element))
        return gzip.compress(contents) if self.compression == "GZIP" else contents

    def _record(self, element: Element) -> Iterator[bytes]:
        pairs = zip(element, self.dtypes)
        yield b"".join(wire.bytes_field(_TENSOR, self.serialize(array_of(value), dtype)) for value, dtype in pairs)

    def _packed(self, element: Element) -> Iterator[bytes]:
        arrays = [array_of(value) for value in element]
        parts = [self.serialize(a, dtype) if dtype.is_object else a.tobytes() for a, dtype in zip(arrays, self.dtypes)]
        yield b"".join(wire.bytes_field(_COMPONENT, _described(a.shape, len(part))) for a, part in zip(arrays, parts))
        yield snappy.compress(b"".join(parts))

    def decoded(self, stream: Any) -> Iterator[Element]:
        """Yield the elements in a file; DataLossError if the file is damaged."""
        records = _records(stream)
        for record in records:
            element = self._unpacked(record, next(records, b"")) if self.compression == "SNAPPY" else self._parsed(record)
            if len(element) != len(self.dtypes):
                raise DataLossError(f"an element of a snapshot has {len(element)} components, not {len(self.dtypes)}")
            yield element

    def _parsed(self, record: bytes) -> Element:
        return tuple(map(self.parse, wire.contents(record, _TENSOR)))

    def _unpacked(self, description: bytes, block: bytes) -> Element:
        data, position, components = snappy.decompress(memoryview(block)), 0, []
        for component, dtype in zip(wire.contents(description, _COMPONENT), self.dtypes):
            shape, size = _read_description(component)
            components.append(self._component(data[position : position + size], shape, dtype))
            position += size
        return tuple(components)

    def _component(self, data: bytes, shape: tuple[int, ...], dtype: DType) -> Array:
        if dtype.is_object:
            return self.parse(data)
        try:
            return np.frombuffer(data, dtype.numpy).reshape(shape)
        except ValueError as error:
            raise DataLossError(f"a component of a snapshot is damaged: {error}") from error


def _records(stream: Any) -> Iterator[bytes]:
    while head := stream.read(_PREFIX.size):
        size = _PREFIX.unpack(head)[0] if len(head) == _PREFIX.size else -1
        # The size is the file's word: larger numbers overflow in `read`.
        data = stream.read(min(size, 1 << 62)) if size >= 0 else b""
        if len(data) != size:
            raise DataLossError("a snapshot is truncated or damaged")
        yield data


def _described(shape: Sequence[int], size: int) -> bytes:
    dims = b"".join(wire.bytes_field(_DIM, wire.varint_field(_DIM_SIZE, length)) for length in shape)
    return wire.bytes_field(_SHAPE, dims) + wire.varint_field(_LENGTH, size)


def _read_description(component: bytes) -> tuple[tuple[int, ...], int]:
    """Return (shape, number of bytes) of a component."""
    dims = wire.contents(b"".join(wire.contents(component, _SHAPE)), _DIM)
    return tuple(_last_number(dim, _DIM_SIZE) for dim in dims), _last_number(component, _LENGTH)


def _last_number(message: bytes, number: int) -> int:
    return (wire.integers(message, number) or [0])[-1]


# The chunks of a snapshot that a service writes, as they come.

_NAME: Final = re.compile(rb"chunk_(\d+)_(\d+)")
_MOMENT: Final = 0.1
"""Seconds between two listings of a folder."""


class Chunks(Dataset, kind="ListSnapshotChunks"):
    """The paths of chunks by their numbers, then by their streams; waits for more until the snapshot is done."""

    list_chunks: Callable[[], list[bytes]]
    is_done: Callable[[], bool]

    def begin(self) -> Pull:
        seen: set[bytes] = set()
        waiting: list[bytes] = []

        def next_element() -> Element | None:
            is_done = False
            while not waiting and not is_done:
                # `is_done` is asked before the chunks are listed: the list finds a chunk written in between, and none is
                # missed.
                is_done = self.is_done()
                waiting.extend(sorted(set(self.list_chunks()) - seen, key=_place))
                seen.update(waiting)
                if not waiting and not is_done:
                    sleep(_MOMENT)
            return (scalar_object(waiting.pop(0)),) if waiting else None

        return next_element


def _place(path: bytes) -> tuple[int, int, bytes]:
    """Return (number of the chunk, number of its stream, path) of a path."""
    match = _NAME.match(os.path.basename(path))
    stream, number = map(int, match.groups()) if match else (0, 0)
    return number, stream, path


# Elements that a complete pass leaves in memory or in a file.


class MemoryCache(Shared):
    """Elements of a complete pass in memory; `by_place` holds the elements up to the largest index asked for."""

    def __init__(self) -> None:
        self.elements: list[Element] | None = None
        self.by_place: list[Element] = []
        self.pull: Pull | None = None

    def keep(self, elements: list[Element]) -> None:
        """Cache the elements of a complete pass, unless another pass was first."""
        # Two passes may end; later ones already read the elements of the first.
        if self.elements is None:
            self.elements = elements


class Cache(SameElements, kind="MemoryCacheImpl"):
    """The same elements. A pass that begins after the end of a complete pass reads the cached elements."""

    cache: MemoryCache

    def begin(self) -> Pull:
        # Decided as the pass begins: a pass under way goes on with its own elements when another pass fills the cache.
        if self.cache.elements is not None:
            return pull_of(iter(self.cache.elements))
        return keeping(self.source, self.cache.keep)

    @property
    def has_places(self) -> bool:
        return True

    def element(self, index: int) -> Element:
        elements = self.cache.by_place
        if self.cache.pull is None:
            self.cache.pull = self.source.begin()
        # The pass goes on where the largest index so far left it, so that each element is made once.
        while 0 <= len(elements) <= index:
            element = self.cache.pull()
            if element is None:
                break
            elements.append(element)
        require_index(index, len(elements))
        return elements[index]


class FileCache(SameElements, kind="FileCacheImpl"):
    """The same elements, read from a file where a complete pass has written the file."""

    is_there: Callable[[], bool]
    read: Callable[[], Iterator[Element]]
    write: Callable[[Sequence[Element]], None]

    def begin(self) -> Pull:
        return pull_of(self.read()) if self.is_there() else keeping(self.source, self.write)
