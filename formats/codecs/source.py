"""Bytes from a path, standard input or memory, without copying large files; and files written whole or not at all."""

from __future__ import annotations

import mmap
import os
import sys
import zlib
from collections.abc import Iterable
from typing import IO, BinaryIO

from ...core.codecs.snappy import unpacked_limit
from ...core.support.atomic import atomic_file, file_errors
from ...core.support.errors import DataLossError, ResourceExhaustedError
from ...core.support.log import tell
from ...core.support.regular_files import is_mappable, open_input, open_regular, open_size, read_stream

Source = str | os.PathLike[str] | bytes | bytearray | memoryview

GZIP_MAGIC = b"\x1f\x8b"
_GZIP_BITS = 31  # zlib reads and writes the gzip header itself
_MMAP_FROM = 1 << 20
_FIRST_PIECE, _LARGEST_PIECE = 1 << 8, 1 << 20


class ReadOnce(os.PathLike[str]):
    """A path whose contents `read_source` keeps, so that a second reader does not read or unpack the file again."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.contents: memoryview | None = None

    def __fspath__(self) -> str:
        return self.path

    def __str__(self) -> str:
        return self.path


def is_in_memory(source: Source) -> bool:
    """Return True for bytes, False for a path; TypeError for anything else."""
    if isinstance(source, (bytes, bytearray, memoryview)):
        return True
    if isinstance(source, (str, os.PathLike)):
        return False
    raise TypeError(f"a graph source must be a path or bytes, not {source!r}")


def is_standard_input(source: Source) -> bool:
    """Return True for the path `-`."""
    return isinstance(source, (str, os.PathLike)) and os.fspath(source) == "-"


def describe(source: Source) -> str:
    """Return the name of the source for error messages."""
    if isinstance(source, (bytes, bytearray, memoryview)):
        return f"the data of {len(source)} bytes"
    return "standard input" if is_standard_input(source) else f"'{os.fspath(source)}'"


def read_source(source: Source) -> memoryview:
    """Read an input that the user named: a file, a pipe, standard input for `-`, or bytes. Gzip is unpacked.

    A large file is mapped into memory. NotFoundError, PermissionDeniedError, InvalidArgumentError for a device, DataLossError
    for damaged gzip, ResourceExhaustedError for a bomb or an endless stream.
    """
    if not isinstance(source, ReadOnce):
        return _unpacked(_read(source), source)
    if source.contents is None:
        source.contents = _unpacked(_read(source.path), source.path)
    return source.contents


def read_regular(path: str) -> memoryview:
    """Read a file of a model's folder, as `read_source`: nobody typed the file's name, so only a regular file is accepted."""
    with file_errors(path), open_regular(path) as file:
        return _unpacked(_contents(file, path), path)


def read_text(source: Source) -> str:
    """Read an input that the user named as text; DataLossError for bytes that are no UTF-8."""
    try:
        return bytes(read_source(source)).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataLossError(f"{describe(source)} is not a text file: {error}") from None


def _unpacked(data: memoryview, source: Source) -> memoryview:
    return _gunzip(data, source) if data[:2] == GZIP_MAGIC else data


def _read(source: Source) -> memoryview:
    if isinstance(source, (bytes, bytearray, memoryview)):
        # A view of another item size would count items, and not bytes.
        return memoryview(source).cast("B")
    if is_standard_input(source):
        with file_errors("standard input"):
            return memoryview(read_stream(sys.stdin.buffer, "standard input"))
    with file_errors(source), open_input(source) as file:
        return _contents(file, source)


def _contents(file: BinaryIO, source: str | os.PathLike[str]) -> memoryview:
    data = read_file(file)
    tell("read %s: %d bytes", os.fspath(source), len(data))
    return data


def read_file(file: BinaryIO) -> memoryview:
    """Read an open file or pipe to the end. A large file is mapped into memory."""
    if not is_mappable(file):
        return memoryview(file.read())
    if open_size(file) < _MMAP_FROM:
        return memoryview(read_stream(file, f"'{file.name}'"))
    # Pages of a mapping are read when they are touched, so constants that nobody asks for stay on the disk.
    return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))


def _gunzip(data: memoryview, source: Source) -> memoryview:
    """Return the contents of all members of a gzip file; ResourceExhaustedError for a suspicious compression ratio."""
    contents = bytearray()
    limit = unpacked_limit(len(data))
    position = 0
    while data[position : position + 2] == GZIP_MAGIC:
        position = _unpack_member(data, position, contents, limit, source)
    return memoryview(contents)


def _unpack_member(data: memoryview, position: int, contents: bytearray, limit: int, source: Source) -> int:
    """Add a member to the contents; return the position after the member. Pieces grow, so that a small member costs little."""
    member = zlib.decompressobj(wbits=_GZIP_BITS)
    size = _FIRST_PIECE
    while not member.eof:
        piece = data[position : position + size]
        if not piece:
            raise DataLossError(f"{describe(source)} is truncated gzip")
        try:
            # One byte beyond the limit is enough to tell a bomb, and is all that is unpacked of it.
            contents += member.decompress(piece, limit - len(contents) + 1)
        except zlib.error as error:
            raise DataLossError(f"{describe(source)} is damaged gzip: {error}") from None
        if len(contents) > limit:
            raise ResourceExhaustedError(
                f"{describe(source)} of {len(data):,} bytes would unpack to more than {limit:,}",
                hint="if you trust the file, unpack it with gunzip first",
            )
        position += len(piece)
        size = min(2 * size, _LARGEST_PIECE)
    # A gzip file may have several members, one after the other, as `cat a.gz b.gz` makes them.
    return position - len(member.unused_data)


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
    # Unlike the module gzip, zlib writes no time into the header, so equal graphs are equal files.
    packer = zlib.compressobj(wbits=_GZIP_BITS)
    for chunk in chunks:
        file.write(packer.compress(chunk))
    file.write(packer.flush())
