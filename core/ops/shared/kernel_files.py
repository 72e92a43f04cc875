"""File access of kernels: within the session's permissions, with TensorFlow's errors."""

from __future__ import annotations

import contextlib
import errno
import os
import re
from collections.abc import Iterator
from typing import Any

from ...runtime.state.file_access import FileGate
from ...support.atomic import atomic_file
from ...support.errors import (
    AlreadyExistsError,
    FailedPreconditionError,
    NotFoundError,
    PermissionDeniedError,
    ResourceExhaustedError,
    TfgError,
    UnknownError,
)

_ERRORS: dict[int, type[TfgError]] = {
    errno.ENOENT: NotFoundError,
    errno.EEXIST: AlreadyExistsError,
    errno.EISDIR: FailedPreconditionError,
    errno.ENOTDIR: FailedPreconditionError,
    errno.ENOTEMPTY: FailedPreconditionError,
    errno.EACCES: PermissionDeniedError,
    errno.EPERM: PermissionDeniedError,
    errno.ENOSPC: ResourceExhaustedError,
}
_FILE_URI = re.compile(r"^file://[^/]*")


@contextlib.contextmanager
def system_errors(path: str) -> Iterator[None]:
    """OSErrors as the TfgErrors that TensorFlow has for them."""
    try:
        yield
    except OSError as error:
        kind = _ERRORS.get(error.errno or 0, UnknownError)
        # TensorFlow's form of the message.
        raise kind(f"{path}; {error.strerror or error}") from error


def file_name(value: Any) -> str:
    """Return the file name in a string element, perhaps a `file` URI."""
    return _FILE_URI.sub("", os.fsdecode(value))


def gate(ctx: Any) -> FileGate:
    """Return the way of a kernel's node to files."""
    return FileGate(ctx.session.files, ctx.node)


def read_file(ctx: Any, path: str) -> bytes:
    """Return all of a file."""
    with system_errors(path), gate(ctx).open(path) as file:
        return file.read()


def write_file(ctx: Any, path: str, contents: bytes) -> None:
    """Write a file, and create its folder. An existing file stays whole until the new file replaces it."""
    with system_errors(path):
        target = gate(ctx).to_write(path)
        folder = os.path.dirname(target) or "."
        if not os.path.exists(folder):
            os.makedirs(folder, exist_ok=True)
        if not os.path.isdir(folder):
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
        if os.path.isdir(target):
            # Before the atomic write, whose rename onto a folder has another error on each system.
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    with atomic_file(target) as file:
        file.write(contents)


def append_file(ctx: Any, path: str, contents: bytes) -> None:
    """Append to a file, or create the file in an existing folder."""
    with system_errors(path), gate(ctx).open_to_append(path) as file:
        file.write(contents)


def matching_files(ctx: Any, pattern: str) -> list[str]:
    """Return the files that a glob pattern matches, in folders that the session opens."""
    path = file_name(pattern)
    scheme = pattern[: len(pattern) - len(path)]
    with system_errors(path):
        # Names keep the scheme of the pattern, as readers may compare them with other names of that form.
        return [scheme + name for name in gate(ctx).matching(path)]
