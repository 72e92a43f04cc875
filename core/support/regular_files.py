"""Files opened for reading. Every reader of tfg opens files here, at paths and at addresses (`places`).

A name may lead to a pipe without a writer, which blocks, or to a device without an end (/dev/zero). Only regular files are
therefore opened; a pipe or a terminal is opened if the user named the pipe or terminal as the input itself.
"""

from __future__ import annotations

import errno
import os
import stat
import threading
from io import BufferedReader
from typing import TYPE_CHECKING, Any, BinaryIO, Final

from . import places
from .errors import InvalidArgumentError, NotFoundError, ResourceExhaustedError
from .hints import Hint, command
from .places import is_address

if TYPE_CHECKING:
    from .remote_files import RemoteFile

STREAM_LIMIT: Final = 2 << 30
"""Bytes read at most from an input without a size, a pipe for instance. Protobuf has the same limit for a binary message."""
POINTER: Final = b"version https://git-lfs"
"""The beginning of a file that Git LFS keeps elsewhere."""
POINTER_WORDS: Final = ("a Git LFS pointer, not the file itself", "fetch it with `git lfs pull`")
"""A description of such a file, and a hint."""
LEFT_OUT: Final = "copy the file beside the others of the checkpoint: repositories often leave it out"
"""A hint for a file of values that is missing."""
_LAYERS_AND_DRAW: Final = (command("layers"), ", ", command("draw"))
WITHOUT_WEIGHTS: Final = (Hint(*_LAYERS_AND_DRAW, " and ", command("check"), " need no values"),)
WITHOUT_VALUES: Final = (Hint(*_LAYERS_AND_DRAW, ", ", command("check"), " and ", command("diff"), " need no values"),)
"""What can be done with a model whose constants, or the values of whose variables, are missing: details of an error."""
_PIECE: Final = 1 << 16
IN_MEMORY: Final = 1 << 20
"""Bytes up to which a file is read at once, so that no descriptor stays open."""

_KINDS: Final = {stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket", stat.S_IFCHR: "a device", stat.S_IFBLK: "a device"}
# Windows has only O_BINARY of these flags. Without O_NONBLOCK, opening a pipe without a writer blocks.
_FLAGS: Final = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_BINARY", 0)
_NO_FOLLOW: Final = getattr(os, "O_NOFOLLOW", 0)


def require_no_pointer(head: bytes, path: str, details: tuple[str, ...] = WITHOUT_VALUES) -> None:
    """Raise NotFoundError for the beginning of a Git LFS pointer in place of values: the file itself was not fetched."""
    if head.startswith(POINTER):
        raise NotFoundError(f"'{path}' is {POINTER_WORDS[0]}", hint=POINTER_WORDS[1], details=details)


def open_regular(path: str | os.PathLike[str], *, follow_links: bool = True) -> BufferedReader:
    """Open a regular file for reading; InvalidArgumentError for a pipe, a socket or a device, OSError as `open` raises.

    Without `follow_links` a symbolic link as the last part of the name is an OSError.
    """
    if is_address(path):
        return _opened_remotely(path)
    return _opened(path, _FLAGS | (0 if follow_links else _NO_FOLLOW), streams=False)


def open_input(path: str | os.PathLike[str]) -> BufferedReader:
    """Open as `open_regular`, for a name that the user typed: also a pipe (of a process substitution) and a terminal."""
    return _opened_remotely(path) if is_address(path) else _opened(path, _FLAGS, streams=True)


def _opened_remotely(address: str | os.PathLike[str]) -> BufferedReader:
    from .remote_files import open_remote  # lazy: most files are of this machine

    return open_remote(os.fspath(address))


def _remote(file: BinaryIO) -> RemoteFile | None:
    """Return an open file as a file at an address; None for a file of this machine."""
    raw: Any = getattr(file, "raw", None)
    return raw if hasattr(raw, "read_at") else None


def open_size(file: BinaryIO) -> int:
    """Return the number of bytes of an open file."""
    remote = _remote(file)
    return os.fstat(file.fileno()).st_size if remote is None else remote.size


def is_mappable(file: BinaryIO) -> bool:
    """Return True for an open file that can be mapped into memory."""
    return _remote(file) is None


def is_current(file: BinaryIO, place: str) -> bool:
    """Return True if a name still leads to an open file."""
    remote = _remote(file)
    if remote is not None:
        return places.exists(place) and places.stamp(place) == remote.stamp
    # By the number of the file and not its time: a file that was replaced has another number, whatever its time says.
    return os.path.exists(place) and os.path.samestat(os.fstat(file.fileno()), os.stat(place))


class PositionedFile:
    """A file's contents at the time of opening, read at any position, by many threads and by forked processes.

    A small file is read at once. For a large file the descriptor of `file` is duplicated, and closed with the last
    reference to this object. A file at an address is read by ranges.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._size = open_size(file)
        self._remote = _remote(file)
        is_small = self._size <= IN_MEMORY and self._remote is None
        self._content = file.read(self._size) if is_small else None
        self._lock = threading.Lock()
        # A descriptor of its own, so that the caller may close `file`. A small file needs none: a model has thousands of
        # them.
        self._descriptor = os.dup(file.fileno()) if self._content is None and self._remote is None else None

    def __len__(self) -> int:
        return self._size if self._content is None else len(self._content)

    def __del__(self) -> None:
        # An error in `__init__` leaves an object without the attribute.
        descriptor = getattr(self, "_descriptor", None)
        if descriptor is not None:
            os.close(descriptor)

    @property
    def is_in_memory(self) -> bool:
        """True if the contents cannot change any more."""
        return self._content is not None

    def read_at(self, position: int, size: int) -> bytes:
        """Return the bytes from a position on; fewer than `size` if the file ends before."""
        if self._content is not None:
            return self._content[position : position + size]
        if self._remote is not None:
            return self._remote.read_at(position, size)
        pieces = []
        # A call returns at most 2 GiB on Linux, and may return less anywhere.
        while size > 0 and (piece := self._read_some(position, size)):
            pieces.append(piece)
            position, size = position + len(piece), size - len(piece)
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def read_into(self, target: memoryview, position: int) -> int:
        """Fill `target` with the bytes from a position on; how many there are."""
        # By `preadv` the bytes of a large tensor arrive where they stay; `read_at` makes a copy first.
        if self._descriptor is None or not hasattr(os, "preadv"):
            content = self.read_at(position, len(target))
            target[: len(content)] = content
            return len(content)
        done = 0
        while done < len(target) and (count := os.preadv(self._descriptor, [target[done:]], position + done)):
            done += count
        return done

    def _read_some(self, position: int, size: int) -> bytes:
        assert self._descriptor is not None
        if hasattr(os, "pread"):
            return os.pread(self._descriptor, size, position)
        with self._lock:  # Windows has no pread: seek and read under a lock
            os.lseek(self._descriptor, position, os.SEEK_SET)
            return os.read(self._descriptor, size)


def read_stream(stream: BinaryIO, name: str) -> bytes:
    """Read a stream to its end; ResourceExhaustedError beyond STREAM_LIMIT bytes. `name` is the stream's name in the error."""
    pieces, size = [], 0
    while piece := stream.read(_PIECE):  # in pieces, since `read` allocates the size of the request
        pieces.append(piece)
        size += len(piece)
        if size > STREAM_LIMIT:
            raise ResourceExhaustedError(
                f"{name} has more than {STREAM_LIMIT:,} bytes",
                hint="save the data to a file first, and give the name of the file",
            )
    return b"".join(pieces)


def _opened(path: str | os.PathLike[str], flags: int, streams: bool) -> BufferedReader:
    # Opened first and looked at then: between a look at the name and its opening, the name could lead elsewhere.
    descriptor = os.open(path, flags)
    try:
        _check_kind(path, descriptor, streams)
        if hasattr(os, "O_NONBLOCK"):
            # O_NONBLOCK was for the opening alone; reads of a pipe are to wait for its writer.
            os.set_blocking(descriptor, True)
        return open(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def _check_kind(path: str | os.PathLike[str], descriptor: int, streams: bool) -> None:
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode) or (streams and (stat.S_ISFIFO(mode) or os.isatty(descriptor))):
        return
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    kind = _KINDS.get(stat.S_IFMT(mode), "of an unknown kind")
    raise InvalidArgumentError(f"'{os.fspath(path)}' is {kind}, not a regular file")
