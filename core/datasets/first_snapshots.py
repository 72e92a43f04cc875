"""Files of snapshots in TensorFlow's first format, the format of SnapshotDataset.

A record is its length, eight bytes, and a message with the TensorProtos of an element. Compressed by snappy, an element has
two records: a message of the components' shapes and sizes, and a block with the components in sequence, numbers as raw
bytes. The format was read off files that TensorFlow writes.
"""

from __future__ import annotations

import gzip
import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final

import numpy as np

from ..codecs import snappy, wire
from ..support import dataclasses
from ..support.errors import DataLossError
from ..types.arrays import Array
from ..types.dtypes import DType
from .dataset import Element, array_of

_LENGTH: Final = struct.Struct("<Q")
_TENSOR = _COMPONENT = 1
_DIM, _DIM_SIZE, _SHAPE, _SIZE = 2, 1, 2, 3


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
        contents = b"".join(_LENGTH.pack(len(part)) + part for element in elements for part in encode(element))
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
        """Yield the elements in a file; DataLossError where the file is damaged."""
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
    while head := stream.read(_LENGTH.size):
        size = _LENGTH.unpack(head)[0] if len(head) == _LENGTH.size else -1
        data = stream.read(min(size, 1 << 62)) if size >= 0 else b""
        if len(data) != size:
            raise DataLossError("a snapshot is truncated or damaged")
        yield data


def _described(shape: Sequence[int], size: int) -> bytes:
    dims = b"".join(wire.bytes_field(_DIM, wire.varint_field(_DIM_SIZE, length)) for length in shape)
    return wire.bytes_field(_SHAPE, dims) + wire.varint_field(_SIZE, size)


def _read_description(component: bytes) -> tuple[tuple[int, ...], int]:
    """Return (shape, number of bytes) of a component."""
    dims = wire.contents(b"".join(wire.contents(component, _SHAPE)), _DIM)
    return tuple(_last_number(dim, _DIM_SIZE) for dim in dims), _last_number(component, _SIZE)


def _last_number(message: bytes, number: int) -> int:
    return (wire.integers(message, number) or [0])[-1]
