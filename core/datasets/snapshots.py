"""Datasets saved in folders, in TensorFlow's format.

A folder holds `snapshot.metadata`, a message that names a run, and a folder of that name with one folder a shard, whose
files hold TensorProtos as TFRecords, one a component. Read off what tf.data.Dataset.save writes.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import BinaryIO, ClassVar

from ..errors import DataLossError
from ..numerics import wire
from .base import Dataset, Element, Pull
from .records import read_records

_RUN, _VERSION, _DTYPES, _SIZE, _FINISHED = 2, 4, 5, 6, 1000
_FORMAT: int = 2


@dataclasses.dataclass(frozen=True, slots=True)
class Metadata:
    """What a saved dataset says of itself: the run that wrote it, the numbers of the dtypes, how many elements there are."""

    run: str
    dtypes: tuple[int, ...]
    size: int

    def serialized(self) -> bytes:
        """The message."""
        packed = b"".join(map(wire.varint, self.dtypes))
        head = wire.string_field(_RUN, self.run.encode()) + wire.varint_field(_VERSION, _FORMAT)
        return head + wire.bytes_field(_DTYPES, packed) + wire.varint_field(_SIZE, self.size) + wire.varint_field(_FINISHED, 1)

    @staticmethod
    def parse(data: bytes) -> Metadata:
        """The metadata in a message; DataLossError where it is damaged or of a format that is not known."""
        found: dict[int, list[wire.Field]] = {}
        for field in wire.fields(data):
            found.setdefault(field.number, []).append(field)
        versions = wire.repeated_integers(found.get(_VERSION, []))
        if versions[-1:] != [_FORMAT] or _RUN not in found:
            raise DataLossError(f"a saved dataset of version {versions} cannot be read, only of version {_FORMAT}")
        size = wire.repeated_integers(found.get(_SIZE, [])) or [0]
        dtypes = wire.repeated_integers(found.get(_DTYPES, []))
        return Metadata(found[_RUN][-1].payload.decode("utf-8", "replace"), tuple(dtypes), size[-1])


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
