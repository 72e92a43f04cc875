"""Access of a graph's kernels to files: a graph can be a stranger's program."""

from __future__ import annotations

import fnmatch
import os
import pathlib
import re
from collections.abc import Collection, Iterable, Iterator
from typing import Any, BinaryIO

from ...support import dataclasses
from ...support.arguments import checked
from ...support.atomic import file_errors
from ...support.errors import InvalidArgumentError, PermissionDeniedError
from ...support.hints import Hint, step
from ...support.log import DEBUG, tell
from ...support.places import is_address, is_folder, is_there, names_in
from ...support.regular_files import open_regular

_WILDCARD = re.compile(r"[*?\[\\]")
_WAYS_OUT = re.compile(r"\.\.|[%?#\\]")
_GLOB_PARTS = re.compile(r"\\(.)|\[\^", re.DOTALL)
_READ_BY_GRAPH = ("assets", "assets.extra", "variables")
"""The folders of a SavedModel that its graph may read; TensorFlow reads the others before the graph runs."""


@dataclasses.dataclass(frozen=True, slots=True)
class FileAccess:
    """Files and folders open to reading and to writing: none by default, None for all. A folder opens all files below."""

    readable: tuple[pathlib.Path, ...] | None = ()
    writable: tuple[pathlib.Path, ...] | None = ()
    hidden: tuple[pathlib.Path, ...] = ()
    """Folders that stay closed, though they lie in open ones."""
    addresses: tuple[str, ...] | None = ()
    """Addresses open to reading; None for all addresses, to reading and writing. Access to all files includes none."""

    @staticmethod
    def everything() -> FileAccess:
        """Return access to every file of this machine, for graphs that are trusted like programs."""
        return FileAccess(None, None)

    @staticmethod
    @checked
    def only(readable: Iterable[str | pathlib.Path] = (), writable: Iterable[str | pathlib.Path] = ()) -> FileAccess:
        """Return access to the named files and folders and nothing else; writable files are readable too.

        Of addresses, such as `s3://bucket/words`, a graph may only read.
        """
        if isinstance(readable, str | bytes) or isinstance(writable, str | bytes):
            raise TypeError("folders must be a list, not a string")
        read, written = list(readable), list(writable)
        # An address cannot be resolved like a path: a server may follow its own rules.
        addresses = tuple(os.fspath(place) for place in (*read, *written) if is_address(place))
        reads, writes = (tuple(_resolved(one) for one in places if not is_address(one)) for places in (read, written))
        return FileAccess((*reads, *writes), writes, addresses=addresses)

    @property
    def is_closed(self) -> bool:
        """True if no file is open."""
        return self.readable == () == self.writable and self.addresses == ()

    def reading(self, folder: str | pathlib.Path) -> FileAccess:
        """Return this access, with a model's folder readable too, and with the model's blobs in a cache."""
        return self._with(folder, "")

    def reading_model(self, folder: str | pathlib.Path) -> FileAccess:
        """Return this access, with the files that the graph of a SavedModel reads, and not what else lies in the folder:
        a download may share its folder with files of the user.
        """
        return self._with(folder, *_READ_BY_GRAPH)

    def _with(self, folder: str | pathlib.Path, *parts: str) -> FileAccess:
        """Return this access with parts of a folder. The parts are not resolved: where one is a link, it opens nothing."""
        if is_address(folder):
            if self.addresses is None:
                return self
            below = (f"{os.fspath(folder).rstrip('/')}/{part}" for part in parts)
            return dataclasses.replace(self, addresses=(*self.addresses, *below))
        if self.readable is None:
            return self
        resolved = _resolved(folder)
        opened = (*(resolved / part for part in parts), *_contents_in_cache(resolved))
        return dataclasses.replace(self, readable=(*self.readable, *opened))

    def hiding(self, folders: Collection[str | pathlib.Path]) -> FileAccess:
        """Return this access without the files in some folders."""
        closed = [os.fspath(folder) for folder in folders if is_address(folder)]
        left = self.addresses and tuple(one for one in self.addresses if not any(_is_part(one, folder) for folder in closed))
        hidden = [_resolved(folder) for folder in folders if not is_address(folder)]
        return dataclasses.replace(self, hidden=(*self.hidden, *hidden), addresses=left)


def _resolved(path: str | pathlib.Path) -> pathlib.Path:
    with file_errors(path):
        return pathlib.Path(path).resolve()


def _contents_in_cache(folder: pathlib.Path) -> list[pathlib.Path]:
    """Return `MODEL/blobs` for a folder `MODEL/snapshots/REVISION` or below: files in Hugging Face's cache are links into
    blobs.

    The path is not resolved: where blobs itself is a link, the path opens nothing.
    https://huggingface.co/docs/huggingface_hub/guides/manage-cache describes the cache.
    """
    snapshots = [parent for parent in folder.parents if parent.name == "snapshots"]
    return [parent.parent / "blobs" for parent in snapshots[:1]]


NO_FILES = FileAccess()


@dataclasses.dataclass(frozen=True, slots=True)
class FileGate:
    """The only way of a node to files: a path is resolved, checked, and then opened by the checked name.

    Each method raises PermissionDeniedError before telling whether the file exists, and InvalidArgumentError for a name
    that no file can have.
    """

    access: FileAccess = NO_FILES
    node: Any = None

    def to_read(self, path: str) -> str:
        """Return the name to read `path` by, with links resolved where the node may not read all files."""
        if is_address(path):
            return self._opened_address(path, "read")
        return self._checked(path, self.access.readable, "read")

    def to_write(self, path: str) -> str:
        """Return the name to write `path` by."""
        if is_address(path):
            if self.access.addresses is None:
                return path
            raise self._denied(path, "write", path)
        return self._checked(path, self.access.writable, "write")

    def to_replace(self, path: str) -> str:
        """Return the name to write a new file by: a link of the name is replaced, and may not point to a forbidden file."""
        self.to_write(path)
        if is_address(path):
            return path
        # The folder is resolved and the name is not: renaming replaces a link instead of following it.
        folder, name = os.path.split(path)
        return os.path.join(self.to_write(folder or "."), name)

    def open(self, path: str) -> BinaryIO:
        """Open a file for reading."""
        tell("open %s", path, level=DEBUG)
        checked = self.to_read(path)
        if self.access.readable is None or is_address(checked):
            return open_regular(checked)
        # The checked name has no links in it: a link that is there now was put there after the check.
        return self._still_there(path, checked, open_regular(checked, follow_links=False))

    def open_to_append(self, path: str) -> BinaryIO:
        """Open a file at the end."""
        checked = self.to_write(path)
        if self.access.writable is None:
            return open(checked, "ab")
        return self._still_there(path, checked, open(checked, "ab", opener=_follow_no_link))

    def matching(self, pattern: str) -> list[str]:
        """Return the files that a pattern matches: `*`, `?`, `[a-z]`, `[!a]`, `[^a]`, and a backslash before any of them.

        As in TensorFlow, a pattern without wildcards names a single file, names with a leading dot match, and after the
        first wildcard no component is `.` or `..`.
        """
        if _WILDCARD.search(pattern) is None:
            return [pattern] if pattern and is_there(self.to_read(pattern)) else []
        start = _WILDCARD.split(pattern, maxsplit=1)[0].rpartition("/")
        if start[0].endswith("/"):
            return []  # names have single slashes, so two match nothing
        folder = start[0] or start[1] or "."
        rest = pattern[len(start[0]) + len(start[1]) :].removesuffix("/")
        return sorted(self._walk(folder, rest.split("/")))

    def names_in(self, folder: str) -> list[str]:
        """Return the names in a folder, in order."""
        return names_in(self.to_read(folder))

    def _walk(self, folder: str, patterns: list[str]) -> Iterator[str]:
        real = self.to_read(folder)
        if not is_folder(real):
            return
        matches = re.compile(fnmatch.translate(_GLOB_PARTS.sub(_python_glob, patterns[0]))).match
        # Each folder is listed through the gate: glob would walk wherever links lead.
        for name in filter(matches, self.names_in(folder)):
            path = f"{folder.removesuffix('/')}/{name}"
            if len(patterns) == 1:
                yield path
            elif is_folder(os.path.join(real, name)):
                yield from self._walk(path, patterns[1:])

    def _checked(self, path: str, allowed: tuple[pathlib.Path, ...] | None, verb: str) -> str:
        # Python's own error for such a name is a ValueError, which would end the run as a fault of tfg.
        if "\0" in path:
            raise InvalidArgumentError(f"a file name cannot hold a NUL: {path!r}")
        # A graph that may open all files opens them by the names that it gives, links included.
        if allowed is None and not self.access.hidden:
            return path
        resolved = os.path.realpath(path)
        if _is_below(resolved, self.access.hidden):
            raise self._denied(path, verb, resolved)
        if allowed is None:
            return path
        if not _is_below(resolved, allowed):
            raise self._denied(path, verb, resolved)
        return resolved

    def _opened_address(self, address: str, verb: str) -> str:
        """Return an address that is open to the node: no name in a graph leads into a network by itself."""
        allowed = self.access.addresses
        if allowed is None or any(_is_part(address, folder) for folder in allowed):
            return address
        raise self._denied(address, verb, address)

    def _denied(self, path: str, verb: str, resolved: str) -> PermissionDeniedError:
        return PermissionDeniedError(
            f"the graph may not {verb} '{path}'",
            node=getattr(self.node, "name", None),
            op=getattr(self.node, "op", None),
            hint=Hint("allow the folder with ", step("allow_files", folder=os.path.dirname(resolved))),
        )

    def _still_there(self, path: str, checked: str, file: BinaryIO) -> BinaryIO:
        """Return the open file, unless a folder of the path became a link after the check of the name."""
        # Between the check and the opening another process may have put a link in the place of a folder.
        if os.path.realpath(checked) != checked:
            file.close()
            raise self._denied(path, "open", os.path.realpath(checked))
        return file


def _is_below(path: str, folders: Iterable[pathlib.Path]) -> bool:
    return any(pathlib.PurePath(path).is_relative_to(folder) for folder in folders)


def _is_part(address: str, folder: str) -> bool:
    """Return True for an address and for what lies below; a server may take other spellings for a way out."""
    below = address.removeprefix(f"{folder.rstrip('/')}/")
    return address == folder or (below != address and _WAYS_OUT.search(below) is None)


def _follow_no_link(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0), 0o666)  # absent on Windows, where links need rights


def _python_glob(match: re.Match[str]) -> str:
    """`\\*` and `[^` as fnmatch has them."""
    return "[!" if match[1] is None else f"[{match[1]}]"


def escape_pattern(path: str) -> str:
    """Return the pattern that matches just this path."""
    return _WILDCARD.sub(r"\\\g<0>", path)


OPEN = FileGate(FileAccess(None, None, addresses=None))
"""The gate of tfg's own readers, for places that the user named."""
