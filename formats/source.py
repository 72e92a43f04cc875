"""Bytes from a path, standard input or memory, without copying large files; and files written whole or not at all."""

from __future__ import annotations

import mmap
import os
import sys
import zlib
from collections.abc import Iterable
from typing import IO, BinaryIO

from ..core.atomic import atomic_file, file_errors
from ..core.errors import DataLossError

Source = str | os.PathLike[str] | bytes | bytearray | memoryview

_GZIP_MAGIC = b"\x1f\x8b"
_GZIP_BITS = 31  # zlib reads and writes the gzip header itself
_MMAP_FROM = 1 << 20


def is_in_memory(source: Source) -> bool:
    """True for bytes, as opposed to a path."""
    return isinstance(source, (bytes, bytearray, memoryview))


def describe(source: Source) -> str:
    """How an error message calls the source."""
    if isinstance(source, (bytes, bytearray, memoryview)):
        return f"the {len(source)} bytes given"
    return "standard input" if source == "-" else f"'{os.fspath(source)}'"


def read_source(source: Source) -> memoryview:
    """The bytes of a file (mapped into memory where it is large), of standard input for `-`, or those given; gzip unpacked.

    NotFoundError, PermissionDeniedError, and DataLossError for damaged gzip.
    """
    data = _read(source)
    return _gunzip(data, source) if data[:2] == _GZIP_MAGIC else data


def _read(source: Source) -> memoryview:
    if isinstance(source, (bytes, bytearray, memoryview)):
        return memoryview(source).cast("B")
    if source == "-":
        return memoryview(sys.stdin.buffer.read())
    with file_errors(source), open(source, "rb") as file:
        return read_file(file)


def read_file(file: BinaryIO) -> memoryview:
    """The contents of an open file, mapped into memory where it is large."""
    status = os.fstat(file.fileno())
    if status.st_size < _MMAP_FROM:
        return memoryview(file.read())
    return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))


def _gunzip(data: memoryview, source: Source) -> memoryview:
    """The contents of all members of a gzip file."""
    parts = []
    rest: bytes | memoryview = data
    while rest[:2] == _GZIP_MAGIC:
        member = zlib.decompressobj(wbits=_GZIP_BITS)
        try:
            parts.append(member.decompress(rest))
        except zlib.error as error:
            raise DataLossError(f"{describe(source)} is damaged gzip: {error}") from None
        if not member.eof:
            raise DataLossError(f"{describe(source)} is truncated gzip")
        rest = member.unused_data
    return memoryview(parts[0] if len(parts) == 1 else b"".join(parts))


def write_file(path: str | os.PathLike[str], chunks: Iterable[bytes | memoryview], compress: bool = False) -> None:
    """Write a file whole or not at all: under a temporary name that is renamed at the end; `-` is standard output."""
    if path == "-":
        _write_chunks(sys.stdout.buffer, chunks, compress)
        sys.stdout.buffer.flush()
        return
    with atomic_file(path) as file:
        _write_chunks(file, chunks, compress)


def _write_chunks(file: IO[bytes], chunks: Iterable[bytes | memoryview], compress: bool) -> None:
    if not compress:
        for chunk in chunks:
            file.write(chunk)
        return
    packer = zlib.compressobj(wbits=_GZIP_BITS)
    for chunk in chunks:
        file.write(packer.compress(chunk))
    file.write(packer.flush())
