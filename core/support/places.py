"""Places of files that a user names: paths of this machine, and addresses such as `s3://bucket/model`.

The functions do for both kinds what functions of os.path do for paths. A node of a graph gets names from
`runtime/state/file_access`, which lets an address through only if the user opened the address.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from .remote_files import RemotePlace

_ADDRESS: Final = re.compile(r"[a-z][a-z0-9+.-]+://", re.IGNORECASE)

Place = str | os.PathLike[str]


def is_address(place: Place) -> bool:
    """Return True for an address, False for a path of this machine."""
    return _ADDRESS.match(os.fspath(place)) is not None


def plain(place: Place) -> str:
    """Return a place without the query of an address: its end is the extension of the file."""
    text = os.fspath(place)
    return text.partition("?")[0] if is_address(text) else text


def name_of(place: Place) -> str:
    """Return the name of a file or folder without its path."""
    return os.path.basename(absolute(plain(place)).rstrip("/"))


def absolute(place: Place) -> str:
    """Return a place that does not depend on the current folder."""
    return os.fspath(place) if is_address(place) else os.path.abspath(place)


def resolved(place: Place) -> str:
    """Return an absolute place, with the links of a path followed."""
    return os.fspath(place) if is_address(place) else os.path.realpath(place)


def exists(place: Place) -> bool:
    """Return True for a file or a folder."""
    return remote(place).kind() is not None if is_address(place) else os.path.exists(place)


def is_there(place: Place) -> bool:
    """Return True for a file, a folder, and a link that leads nowhere."""
    return exists(place) if is_address(place) else os.path.lexists(place)


def is_file(place: Place) -> bool:
    """Return True for a file."""
    return remote(place).kind() == "file" if is_address(place) else os.path.isfile(place)


def is_folder(place: Place) -> bool:
    """Return True for a folder; an address of the web is a folder if it ends with a slash."""
    return remote(place).kind() == "directory" if is_address(place) else os.path.isdir(place)


def names_in(folder: Place) -> list[str]:
    """Return the names in a folder, in order."""
    return sorted(remote(folder).names_in() if is_address(folder) else os.listdir(folder))


def files_below(folder: Place) -> Iterator[str]:
    """Yield the files of a folder and its folders, each folder's in the order of their names."""
    if is_address(folder):
        yield from sorted(remote(folder).times_below(None))
        return
    for place, folders, names in os.walk(folder):
        folders.sort()
        yield from (os.path.join(place, name) for name in sorted(names))


def matching(pattern: str) -> list[str]:
    """Return the files that a pattern of `*`, `**`, `?` and `[a-z]` matches, in order."""
    if is_address(pattern):
        return sorted(remote(pattern).matching())
    import glob  # lazy: most commands take no patterns

    return sorted(path for path in glob.glob(pattern, recursive=True) if not os.path.isdir(path))


def size_of(place: Place) -> int:
    """Return the number of bytes of a file."""
    return remote(place).size_of() if is_address(place) else os.path.getsize(place)


def modified(place: Place) -> int:
    """Return when a file was last written, in nanoseconds; 0 if a server does not say."""
    return remote(place).modified() if is_address(place) else os.stat(place).st_mtime_ns


def times_below(address: str, depth: int | None = None) -> dict[str, int]:
    """Return when each file below an address was last written, as `modified`; with a `depth` of 1 of the folder itself."""
    return remote(address).times_below(depth)


def stamp(place: Place) -> tuple[object, ...]:
    """Return what changes with each write of a file: times and the number of a file, or the tag of an object."""
    if is_address(place):
        return remote(place).stamp()
    status = os.stat(place)
    return status.st_mtime_ns, status.st_ctime_ns, status.st_ino


def make_folders(folder: Place) -> None:
    """Make a folder and the folders above; a store has folders with their first file."""
    if not is_address(folder):
        os.makedirs(folder, exist_ok=True)


def remove(place: Place) -> None:
    """Remove a file."""
    if is_address(place):
        remote(place).remove()
    else:
        os.unlink(place)


def remote(address: Place) -> RemotePlace:
    """Return the file or folder at an address."""
    from .remote_files import RemotePlace  # lazy: most places are paths

    return RemotePlace(os.fspath(address))
