"""Files that are written in sequence and appear together, after a single wait for the disk."""

from __future__ import annotations

import concurrent.futures
import ctypes
import errno
import functools
import os
import platform
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import IO, Final, NamedTuple

from .atomic import file_errors, flush_folder, mode_of, move_file, new_file, remove_abandoned, staged_folder
from .places import is_address, make_folders

_UPLOADS: Final = 8
"""The number of files that are sent to a store at a time."""
_UNSUPPORTED: Final = (errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP)


class StagedFile(NamedTuple):
    """A file in a staging folder, and its final path."""

    staged: str
    path: str


class FileGroup:
    """Files in a staging folder until `publish` gives them their names.

    A process killed before `publish` leaves no file under its name. Errors of the operating system become TfgErrors.
    """

    def __init__(self, staging: str) -> None:
        self._staging = staging
        self._count = 0
        self._folders: set[str] = set()

    def create(self, path: str) -> tuple[IO[bytes], StagedFile]:
        """Open a file to be published as `path`; missing folders are made.

        The file has the permissions of the file at `path`, if present.
        """
        with file_errors(path):
            folder = os.path.dirname(path)
            if folder not in self._folders:
                make_folders(folder or ".")
                self._folders.add(folder)
            self._count += 1
            staged = os.path.join(self._staging, str(self._count))
            return new_file(staged, mode_of(path)), StagedFile(staged, path)

    def publish(self, files: Sequence[StagedFile]) -> None:
        """Wait until the contents of closed files are on the disk, then give the files their names."""
        if not files:
            return
        with file_errors(self._staging):
            sync_files([file.staged for file in files])
        if is_address(files[0].path):
            # An upload spends most of its time waiting for its server.
            with concurrent.futures.ThreadPoolExecutor(_UPLOADS) as pool:
                list(pool.map(_publish, files))
        else:
            for file in files:
                _publish(file)

    def finish(self) -> None:
        """Wait until the names that were given are on the disk."""
        for folder in self._folders:
            with file_errors(folder):
                # `flush_folder` takes the name of a file in the folder; any will do.
                flush_folder(os.path.join(folder, "name"))


def _publish(file: StagedFile) -> None:
    with file_errors(file.path):
        move_file(file.staged, file.path)


@contextmanager
def file_group(folder: str) -> Iterator[FileGroup]:
    """Yield a group of files in an existing folder.

    The group's staging folder is removed at the end. The next group removes the staging folder of a killed process of this
    machine.
    """
    with file_errors(folder), staged_folder(_staging(folder)) as staging:
        yield FileGroup(staging)


def remove_staging(folder: str) -> None:
    """Remove the staging folders of processes that were killed."""
    if is_address(folder):
        return  # what is written to an address is staged on this machine
    with file_errors(folder):
        remove_abandoned(_staging(folder))


def _staging(folder: str) -> str:
    """Return the staging folder before its number, with the machine's name: machines may share files without locks."""
    return os.path.join(folder, f".staging-{platform.node()}")


def sync_files(paths: Sequence[str]) -> None:
    """Wait until the contents of files, all on the same file system, are on the disk.

    Linux has a single call for all files (https://man7.org/linux/man-pages/man2/syncfs.2.html). Elsewhere there is a call
    for each file.
    """
    # A thousand small results would otherwise wait for the disk a thousand times.
    syncfs = find_syncfs()
    if syncfs is not None:
        # Any file of the file system stands for the whole.
        descriptor = os.open(paths[0], os.O_RDONLY)
        try:
            if not syncfs(descriptor):
                return
            code = ctypes.get_errno()
        finally:
            os.close(descriptor)
        if code not in _UNSUPPORTED:
            raise OSError(code, os.strerror(code), paths[0])
    for path in paths:
        # For writing, too: Windows flushes no file that is open for reading alone.
        with open(path, "r+b") as file:
            os.fsync(file.fileno())


@functools.cache
def find_syncfs() -> Callable[[int], int] | None:
    """Return the C library's function; None outside Linux."""
    return getattr(ctypes.CDLL(None, use_errno=True), "syncfs", None) if sys.platform == "linux" else None
