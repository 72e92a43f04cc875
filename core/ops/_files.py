"""Files as kernels touch them: within what the session allows, with TensorFlow's errors."""

from __future__ import annotations

import contextlib
import errno
import glob
import os
import re
from collections.abc import Iterator
from typing import Any

from ..errors import (
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
        raise kind(f"{path}; {error.strerror or error}") from error


def file_name(value: Any) -> str:
    """A file name from a string element, which may be a `file` URI."""
    return _FILE_URI.sub("", os.fsdecode(value))


def read_file(ctx: Any, path: str) -> bytes:
    """All of a file."""
    ctx.session.files.check_read(path, ctx.node)
    with system_errors(path), open(path, "rb") as file:
        return file.read()


def write_file(ctx: Any, path: str, contents: bytes) -> None:
    """A file of its own, its folder made where it is missing."""
    ctx.session.files.check_write(path, ctx.node)
    with system_errors(path):
        folder = os.path.dirname(path) or "."
        if not os.path.exists(folder):
            os.makedirs(folder, exist_ok=True)
        with open(path, "wb") as file:
            file.write(contents)


def append_file(ctx: Any, path: str, contents: bytes) -> None:
    """Add to a file, or begin one in a folder that is there."""
    ctx.session.files.check_write(path, ctx.node)
    with system_errors(path), open(path, "ab") as file:
        file.write(contents)


def matching_files(ctx: Any, pattern: str) -> list[str]:
    """The files that a glob pattern matches; the session must allow the folder that it starts from."""
    path = file_name(pattern)
    fixed = re.split(r"[*?\[]", path, maxsplit=1)[0]
    ctx.session.files.check_read(os.path.dirname(fixed) or ".", ctx.node)
    scheme = pattern[: len(pattern) - len(path)]
    return [scheme + found for found in sorted(glob.glob(path))]
