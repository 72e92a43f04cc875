"""Datasets saved in folders, in TensorFlow's format.

A folder holds `snapshot.metadata`, a message that names a run, and the run's folder with a folder for each shard. A shard's
files hold TFRecords of TensorProtos, a record for each component. The format was read off files of tf.data.Dataset.save.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import ClassVar, Protocol

from ..codecs import wire
from ..codecs.wire import varint
from ..support import dataclasses
from ..support.errors import DataLossError
from ..types.dtypes import DType
from .dataset import Dataset, Element, Pull, SameElements, deferred, keeping, pull_of

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
        """Parse metadata; DataLossError where the message is damaged or of another version."""
        numbers = (_VERSION, _SIZE, _FINISHED, _CREATED)
        versions, sizes, finished, created = (wire.integers(data, number) or [0] for number in numbers)
        names = [wire.contents(data, number)[-1:] for number in (_RUN, _GRAPH)]
        if versions[-1] != version or not names[0]:
            raise DataLossError(f"tfg reads saved datasets of version {version}, not {versions}")
        run, graph = (b"".join(texts).decode("utf-8", "replace") for texts in names)
        dtypes = tuple(wire.integers(data, _DTYPES))
        return Metadata(run, dtypes, sizes[-1], bool(finished[-1]), version, graph, created[-1])


@dataclasses.dataclass(eq=False)
class SavedShard(Dataset):
    """The elements in the files of a shard."""

    kind: ClassVar[str] = "SnapshotReader"
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


@dataclasses.dataclass(eq=False)
class Loaded(Dataset):
    """The result of a function of all shards' datasets."""

    kind: ClassVar[str] = "Load"
    size: int

    def begin(self) -> Pull:
        return self.source.begin()

    def cardinality(self) -> int:
        return self.size


class Store(Protocol):
    """A folder for elements."""

    def store(self, shards: Mapping[int, Sequence[Element]], types: Sequence[DType]) -> None:
        """Write the elements of all shards, and the metadata that marks the dataset as complete."""
        ...

    def has_elements(self) -> bool:
        """Return True where a complete dataset was written."""
        ...


@dataclasses.dataclass(eq=False)
class Saving(SameElements):
    """The same elements, written into a folder at the end of a pass."""

    kind: ClassVar[str] = "Save"
    shard_of: Callable[[Element], int]
    folder: Store
    types: Sequence[DType]

    def begin(self) -> Pull:
        return pull_of(self.stored(self.source))

    def stored(self, source: Iterable[Element]) -> Iterator[Element]:
        """Yield the elements of the source, and write them after the last."""
        shards: dict[int, list[Element]] = {0: []}
        for element in source:
            shards.setdefault(self.shard_of(element), []).append(element)
            yield element
        self.folder.store(shards, self.types)


@dataclasses.dataclass(eq=False)
class DatasetSnapshot(Saving):
    """The elements of an earlier complete pass; without an earlier pass, the elements of this pass, which are written."""

    kind: ClassVar[str] = "Snapshot"
    loaded: Callable[[], Dataset]

    def begin(self) -> Pull:
        return self.loaded().begin() if self.folder.has_elements() else super().begin()


READ, WRITE, PASS = "read", "write", "passthrough"
"""Modes of a pass over a snapshot: read elements, write elements, or neither."""


class FirstStore(Protocol):
    """A folder for elements in the first format."""

    def state(self) -> str:
        """Return the mode of a pass that begins now."""
        ...

    def load(self) -> Iterator[Element]:
        """Return the elements in the folder."""
        ...

    def store(self, elements: Sequence[Element]) -> None:
        """Write the elements, and the metadata that marks the dataset as complete."""
        ...


@dataclasses.dataclass(eq=False)
class FirstSnapshot(SameElements):
    """A snapshot in the first format; the first demand for an element decides between reading and writing."""

    kind: ClassVar[str] = "Snapshot"
    folder: FirstStore

    def begin(self) -> Pull:
        return deferred(self._decided)

    def _decided(self) -> Pull:
        """Begin a pass that reads, writes or does neither, by the folder's present state."""
        state = self.folder.state()
        if state == READ:
            return pull_of(self.folder.load())
        return keeping(self.source, self.folder.store) if state == WRITE else self.source.begin()
