"""The user's cache folder: small files that tfg can lose at any time, written by many processes.

Nobody else may write to a folder that is used, since the entries decide how graphs are run.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from .atomic import replacing
from .errors import TfgError
from .log import tell
from .regular_files import open_regular
from .untrusted import is_untrusted

VARIABLE: Final = "TFG_CACHE"
"""The environment variable that names the folder."""
NOTHING: Final = "none"
"""The value of the variable with which nothing is cached."""
CHOICES: Final = "choices"
"""The folder of the choices of `auto`."""
PROGRAMS: Final = "xla"
"""The folder of the programs that XLA compiled."""
MOST_ENTRIES: Final = 1000
"""The largest number of entries of a folder: the oldest go first."""
MOST_BYTES: Final = 1 << 18
"""The largest size of an entry."""
_DAMAGED: Final = "an entry of the cache, %s, is left: %s"


class CachedFile(NamedTuple):
    """A file of the cache."""

    path: str
    size: int
    seconds: float
    """The time of the last change, since the epoch."""


def base_folder() -> str | None:
    """Return the name of the cache folder, whether it exists or not; None if nothing is to be cached.

    A process that works on a stranger's graph caches nothing.
    """
    chosen = os.environ.get(VARIABLE)
    if chosen == NOTHING or is_untrusted():
        return None
    if chosen:
        return os.path.abspath(chosen)
    users = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    # The standard of XDG has programs ignore a path that is not absolute, and a user without a home has none.
    return os.path.join(users, "tfg") if os.path.isabs(users) else None


def own_folder(name: str) -> str | None:
    """Return a folder of the cache that only this user can enter, made if it is missing; None if that is impossible."""
    base = base_folder()
    if base is None:
        return None
    folder = os.path.join(base, name)
    try:
        # Each by a call of its own: `makedirs` gives the mode to the last folder, and leaves those above it to the umask.
        for path in (base, folder):
            with contextlib.suppress(FileExistsError):
                os.makedirs(path, mode=0o700)
        _require_own(os.stat(folder), folder)
        # A folder that existed may be open to others, and `makedirs` obeys the umask.
        os.chmod(folder, 0o700)
    except OSError as error:
        tell("nothing is cached in %s: %s", folder, error)
        return None
    return folder


def _require_own(status: os.stat_result, path: str) -> None:
    """Raise PermissionError for a file or folder of another user, if the system has users."""
    if hasattr(os, "geteuid") and status.st_uid != os.geteuid():
        raise PermissionError(errno.EPERM, "it belongs to another user", path)


def read_entry(folder: str, name: str) -> bytes | None:
    """Return the contents of an entry; None if there is none, or if it is not of this user or not of this size."""
    path = os.path.join(folder, name)
    try:
        with open_regular(path, follow_links=False) as file:
            # Of the open file: the name may lead to another file by now.
            status = os.fstat(file.fileno())
            _require_own(status, path)
            if status.st_size > MOST_BYTES:
                raise OSError(errno.EFBIG, "it is too large", path)
            # At most so many bytes: another process may lengthen the file after the look at its size.
            return file.read(MOST_BYTES)
    except FileNotFoundError:
        return None
    except (OSError, TfgError) as error:
        tell(_DAMAGED, name, error)
        return None


def write_entry(folder: str, name: str, content: bytes) -> None:
    """Write an entry, whole or not at all, and remove the oldest entries beyond the largest number.

    An entry that cannot be written is left out.
    """
    if len(content) > MOST_BYTES:
        tell(_DAMAGED, name, "it is too large")
        return
    try:
        with replacing(os.path.join(folder, name)) as file:
            file.write(content)
        # After each write rather than by a task of its own: the folder is never larger than one entry too many.
        remove(sorted(cached_files(folder), key=lambda file: file.seconds)[:-MOST_ENTRIES])
    except OSError as error:
        tell(_DAMAGED, name, error)


def cached_files(folder: str) -> list[CachedFile]:
    """Return the regular files below a folder, in the order of their paths; none if there is no folder."""
    return sorted(_walk(folder))


def _walk(folder: str) -> Iterator[CachedFile]:
    for place, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(place, name)
            with contextlib.suppress(FileNotFoundError):  # another process removed it
                status = os.stat(path, follow_symlinks=False)
                if stat.S_ISREG(status.st_mode):
                    yield CachedFile(path, status.st_size, status.st_mtime)


def remove(files: Iterable[CachedFile]) -> None:
    """Remove files of the cache; OSError if one cannot be removed."""
    for file in files:
        with contextlib.suppress(FileNotFoundError):  # another process removed it
            os.unlink(file.path)
