"""Datasets saved in folders, in TensorFlow's format.

A folder holds `snapshot.metadata`, a message that names a run, and a folder of that name with one folder a shard, whose
files hold TensorProtos as TFRecords, one a component. Read off what tf.data.Dataset.save writes.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import BinaryIO, ClassVar, Protocol

from ..dtypes import DType
from ..errors import DataLossError
from ..numerics import wire
from .base import Dataset, Element, Pull, SameElements
from .records import read_records

_RUN, _VERSION, _DTYPES, _SIZE, _FINISHED = 2, 4, 5, 6, 1000


@dataclasses.dataclass(frozen=True, slots=True)
class Metadata:
    """What a saved dataset says of itself: the run that wrote it, the numbers of the dtypes, how many elements there are."""

    FORMAT: ClassVar[int] = 2
    run: str
    dtypes: tuple[int, ...]
    size: int
    finished: bool = True

    def serialized(self) -> bytes:
        """The message."""
        packed = b"".join(map(wire.varint, self.dtypes))
        head = wire.string_field(_RUN, self.run.encode()) + wire.varint_field(_VERSION, self.FORMAT)
        return (
            head
            + wire.bytes_field(_DTYPES, packed)
            + wire.varint_field(_SIZE, self.size)
            + wire.varint_field(_FINISHED, int(self.finished))
        )

    @staticmethod
    def parse(data: bytes) -> Metadata:
        """The metadata in a message; DataLossError where it is damaged or of a format that is not known."""
        found: dict[int, list[wire.Field]] = {}
        for field in wire.fields(data):
            found.setdefault(field.number, []).append(field)
        versions = wire.repeated_integers(found.get(_VERSION, []))
        if versions[-1:] != [Metadata.FORMAT] or _RUN not in found:
            raise DataLossError(f"a saved dataset of version {versions} cannot be read, only of version {Metadata.FORMAT}")
        size = wire.repeated_integers(found.get(_SIZE, [])) or [0]
        dtypes = wire.repeated_integers(found.get(_DTYPES, []))
        is_finished = bool((wire.repeated_integers(found.get(_FINISHED, [])) or [0])[-1])
        return Metadata(found[_RUN][-1].payload.decode("utf-8", "replace"), tuple(dtypes), size[-1], is_finished)


@dataclasses.dataclass(eq=False)
class Shard(Dataset):
    """The elements in the files of one shard."""

    kind: ClassVar[str] = "SnapshotReader"
    paths: Sequence[bytes]
    open: Callable[[bytes], BinaryIO]
    compression: str
    parse: Callable[[bytes], object]
    width: int

    def begin(self) -> Pull:
        elements = self._elements()
        return lambda: next(elements, None)

    def _elements(self) -> Iterator[Element]:
        for path in self.paths:
            found: list[object] = []
            for record in read_records(self.open, path, self.compression):
                found.append(self.parse(record))
                if len(found) == self.width:
                    yield tuple(found)
                    found = []


@dataclasses.dataclass(eq=False)
class Loaded(Dataset):
    """What a function makes of the dataset of the datasets of all shards."""

    kind: ClassVar[str] = "Load"
    size: int

    def begin(self) -> Pull:
        return self.source.begin()

    def cardinality(self) -> int:
        return self.size


class Store(Protocol):
    """A folder for elements."""

    def store(self, shards: Mapping[int, Sequence[Element]], types: Sequence[DType]) -> None:
        """Write the elements of all shards, and what says that they are there."""
        ...

    def has_elements(self) -> bool:
        """True where a dataset was written to its end."""
        ...


@dataclasses.dataclass(eq=False)
class Saving(SameElements):
    """The same elements, written into a folder when a pass comes to its end."""

    kind: ClassVar[str] = "Save"
    shard_of: Callable[[Element], int]
    folder: Store
    types: Sequence[DType]

    def begin(self) -> Pull:
        elements = self.over(self.source)
        return lambda: next(elements, None)

    def over(self, source: Iterable[Element]) -> Iterator[Element]:
        """The elements of the source, written behind the last of them."""
        shards: dict[int, list[Element]] = {0: []}
        for element in source:
            shards.setdefault(self.shard_of(element), []).append(element)
            yield element
        self.folder.store(shards, self.types)


@dataclasses.dataclass(eq=False)
class Snapshot(Saving):
    """The elements of an earlier pass that was written to its end, or those of this one, which is."""

    kind: ClassVar[str] = "Snapshot"
    loaded: Callable[[], Dataset]

    def begin(self) -> Pull:
        return self.loaded().begin() if self.folder.has_elements() else super().begin()
