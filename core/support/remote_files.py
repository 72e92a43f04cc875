"""Files at addresses: stores of objects and the web, by fsspec, which comes with the extra `remote`.

A file is read by ranges, as far as somebody reads it. A written file appears when all of it has arrived.
"""

from __future__ import annotations

import contextlib
import datetime
import errno
import io
import os
import threading
import time
from collections.abc import Iterator, Mapping
from typing import Any, Final

from .errors import InvalidArgumentError, PermissionDeniedError, TfgError, UnavailableError, UnimplementedError
from .escaping import note_credentials
from .hints import extra_hint
from .untrusted import refuse_network

_LEAST: Final = 1 << 16
"""The bytes of the first range that is fetched, if fewer are asked for."""
_MOST: Final = 8 << 20
"""The bytes up to which ranges grow that follow each other, and which are kept."""
_KEPT: Final = 4
"""The number of ranges of a file that are kept."""
_WEB: Final = ("http", "https")
_HERE: Final = ("file", "local", "memory")
"""The kinds of addresses that need no network."""
_REFUSALS: Final = (401, 403)
_ABSENT: Final = 404
_CHANGES: Final = ("ETag", "etag", "generation", "LastModified", "updated", "mtime", "created", "size")
"""The properties of an object that another write changes, by the words of the file systems."""
_TIMES: Final = ("LastModified", "updated", "mtime", "created")
"""The properties with the time of the last write."""
SECONDS: Final = 1.0
"""The age up to which known properties stand for the present ones."""
_MOST_KNOWN: Final = 1000
_known: dict[str, tuple[float, Mapping[str, Any]]] = {}
"""The properties of what is there, by address, with the time of the question: readers ask many times for a few files."""
_LOGIN: Final = "tfg finds credentials where the store's own programs do, in the environment or in their files"


class RemotePlace:
    """A file or folder at an address."""

    def __init__(self, address: str) -> None:
        """UnimplementedError if the file system of the address is not installed."""
        self.address = address.replace(os.sep, "/")
        note_credentials(self.address)
        self.system, self._path = _file_system(self.address)

    @property
    def _is_web(self) -> bool:
        return self.address.lower().startswith(tuple(f"{name}://" for name in _WEB))

    def kind(self) -> str | None:
        """Return `file` or `directory`; None if there is nothing."""
        if self._is_web and self.address.endswith("/"):
            return "directory"  # a server answers alike for a page and for a listing
        try:
            return str(self.info()["type"])
        except FileNotFoundError:
            return None

    def size_of(self) -> int:
        """Return the number of bytes of a file."""
        return self._size_in(self.info())

    def _size_in(self, info: Mapping[str, Any]) -> int:
        size = info["size"]  # None from a server that does not say
        return len(self.fetch(None, None)) if size is None else int(size)

    def opened(self) -> tuple[int, tuple[object, ...]]:
        """Return the size and the stamp of a file; IsADirectoryError for a folder."""
        info = self.info()
        if info["type"] == "directory":
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), self.address)
        return self._size_in(info), _stamp_in(info)

    def stamp(self) -> tuple[object, ...]:
        """Return properties that change with each write of the file."""
        return _stamp_in(self.info())

    def modified(self) -> int:
        """Return when the file was last written, in nanoseconds; 0 if the server does not say."""
        return _time_in(self.info())

    def times_below(self, depth: int | None) -> dict[str, int]:
        """Return when each file in a folder and `depth` of its folders was last written, as `modified`, by address."""
        with self._errors():
            entries = self.system.find(self._path, maxdepth=depth, detail=True)
        return {self._address_of(path): _time_in(info) for path, info in entries.items()}

    def names_in(self) -> list[str]:
        """Return the names in a folder."""
        with self._errors():
            entries = self.system.ls(self._path, detail=False)
        # Some programs write an entry of a folder into the folder itself.
        others = (entry.strip("/") for entry in entries if entry.strip("/") != self._path.strip("/"))
        return [name for entry in others if (name := entry.rpartition("/")[2])]

    def matching(self) -> list[str]:
        """Return the addresses of the files that match the address as a pattern."""
        if not any(sign in self.address.partition("?")[0] for sign in "*["):  # a question mark begins a query
            return [self.address] if self.kind() == "file" else []
        with self._errors():
            entries = self.system.glob(self._path, detail=True)
        return [self._address_of(path) for path, info in entries.items() if info["type"] == "file"]

    def _address_of(self, path: str) -> str:
        """Return the address of a path in the same file system."""
        address = self.address.rstrip("/")
        return address[: len(address) - len(self._path.strip("/"))] + path.lstrip("/")

    def remove(self) -> None:
        """Remove the file."""
        with self._errors():
            self.system.rm_file(self._path)
        # What was known before the write is wrong now, also of the folders above.
        _known.clear()

    def fetch(self, start: int | None, end: int | None) -> bytes:
        """Return the bytes from a position up to another, or all; more if the server knows no ranges."""
        with self._errors():
            return bytes(self.system.cat_file(self._path, start=start, end=end))

    def upload(self, source: str) -> None:
        """Write the contents of a file of this machine to the address."""
        self.require_writable()
        with self._errors():
            self.system.put_file(source, self._path)
        _known.clear()

    def require_writable(self) -> None:
        """UnimplementedError for addresses of the web."""
        if self._is_web:
            raise UnimplementedError(f"tfg does not write to '{self.address}'", hint="write to a file or to an object store")

    def info(self) -> Mapping[str, Any]:
        """Return the properties of the file or folder, at most a second old; FileNotFoundError if there is nothing."""
        # A second is short enough for a person who overwrites a file, and long enough for the dozen questions that reading
        # one model asks.
        now = time.monotonic()
        asked, info = _known.get(self.address, (0.0, None))
        if info is None or now - asked > SECONDS:
            with self._errors():
                info = self.system.info(self._path)
            if len(_known) > _MOST_KNOWN:
                _known.clear()
            _known[self.address] = now, info
        return info

    @contextlib.contextmanager
    def _errors(self) -> Iterator[None]:
        """Have the many errors of the libraries be a FileNotFoundError or a TfgError."""
        try:
            yield
        except TfgError:
            raise
        # Each library below has errors of its own.
        except Exception as error:
            raise self._error(error) from None

    def _error(self, error: Exception) -> Exception:
        # fsspec makes a FileNotFoundError of every answer but a file; its cause tells a refusal from an absence.
        cause = error.__cause__ if isinstance(error, FileNotFoundError) else error
        status = getattr(cause, "status", None)
        if cause is None or isinstance(cause, FileNotFoundError) or status == _ABSENT:
            return FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), self.address)
        if isinstance(cause, PermissionError) or status in _REFUSALS:
            return PermissionDeniedError(f"no permission for '{self.address}'", hint=_LOGIN)
        words = str(cause) or type(cause).__name__
        return UnavailableError(f"'{self.address}' cannot be reached: {words}", hint=_LOGIN)


def _time_in(info: Mapping[str, Any]) -> int:
    written = next((info[key] for key in _TIMES if key in info), None)
    if isinstance(written, str):
        written = datetime.datetime.fromisoformat(written)
    seconds = written.timestamp() if isinstance(written, datetime.datetime) else written
    return int(seconds * 1e9) if isinstance(seconds, int | float) else 0


def _stamp_in(info: Mapping[str, Any]) -> tuple[object, ...]:
    return tuple(str(info[key]) for key in _CHANGES if key in info)


def _file_system(address: str) -> tuple[Any, str]:
    """Return the file system of an address, and the path there."""
    protocol = address.partition("://")[0].lower()
    if protocol not in _HERE:
        refuse_network(address)
    try:
        from fsspec import get_filesystem_class

        # Not by fsspec's own reader of addresses, in which `::` would lead from one file system to another.
        kind = get_filesystem_class(protocol)
        # A listing kept from before would hide what others wrote since.
        return kind(**kind._get_kwargs_from_urls(address), use_listings_cache=False), kind._strip_protocol(address)
    except ImportError as error:
        problem = f"addresses of {protocol}:// need a package that is not installed: {error}"
        raise UnimplementedError(problem, hint=extra_hint("remote")) from None
    except ValueError:
        raise InvalidArgumentError(f"'{address}' is of no kind of address that fsspec knows") from None


class RemoteFile(io.RawIOBase):
    """A file at an address, read by ranges; many threads may read one at positions of their own."""

    def __init__(self, address: str) -> None:
        """FileNotFoundError if there is nothing, IsADirectoryError for a folder."""
        self._place = RemotePlace(address)
        self.name = address
        self.size, self.stamp = self._place.opened()
        self._position = 0
        self._lock = threading.Lock()
        self._ranges: dict[int, bytes] = {}
        self._end, self._ahead = -1, _LEAST

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        start = {os.SEEK_SET: 0, os.SEEK_CUR: self._position, os.SEEK_END: self.size}[whence]
        if start + offset < 0:
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        self._position = start + offset
        return self._position

    def readinto(self, buffer: Any) -> int:
        piece = self.read_at(self._position, len(buffer))
        buffer[: len(piece)] = piece
        self._position += len(piece)
        return len(piece)

    def readall(self) -> bytes:
        """Return the bytes from the position to the end."""
        piece = self.read_at(self._position, self.size - self._position)
        self._position += len(piece)
        return piece

    def read_at(self, position: int, size: int) -> bytes:
        """Return the bytes from a position on; fewer than `size` if the file ends before."""
        end = min(position + size, self.size)
        if position >= end:
            return b""
        # Held during the fetch, so that threads that read neighbouring tensors wait for one range in place of fetching it
        # twice.
        with self._lock:
            for start, data in self._ranges.items():
                if start <= position and end <= start + len(data):
                    return data[position - start : end - start]
            start, data = self._fetched(position, end)
        return data[position - start : end - start]

    def _fetched(self, position: int, end: int) -> tuple[int, bytes]:
        """Fetch a range and some bytes around: behind, more with each range that follows the last; at the end, before."""
        # Reading on in sequence is likely to go on. An archive is read from its end, where its directory is, in small steps
        # backwards: hence the bytes before.
        self._ahead = min(2 * self._ahead, _MOST) if position == self._end else _LEAST
        stop = min(max(end, position + self._ahead), self.size)
        start = max(min(position, stop - self._ahead), 0)
        data = self._place.fetch(start, stop)
        if len(data) > stop - start:  # the server sent the whole file
            start = 0
        self._end = start + len(data)
        # A large range is a tensor, which is read once, and would push out the others.
        if len(data) <= _MOST or start == 0:
            self._ranges[start] = data
            while len(self._ranges) > _KEPT:
                del self._ranges[next(iter(self._ranges))]
        return start, data


def open_remote(address: str) -> io.BufferedReader:
    """Open a file at an address for reading."""
    return io.BufferedReader(RemoteFile(address), _LEAST)


def upload_folder(source: str, address: str) -> None:
    """Write the files of a folder of this machine below an address, those of the folder itself last."""
    files = [(os.path.relpath(folder, source), name) for folder, _, names in os.walk(source) for name in sorted(names)]
    # A reader that sees `saved_model.pb` must find the variables beside it.
    for below, name in sorted(files, key=lambda file: (-file[0].count(os.sep), file[0] == os.curdir, file)):
        parts = [address.rstrip("/"), *([] if below == os.curdir else below.split(os.sep)), name]
        RemotePlace("/".join(parts)).upload(os.path.join(source, below, name))
