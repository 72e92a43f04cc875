"""Files that appear whole or not at all, whatever kills the process or fills the disk."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
from collections.abc import Iterator
from typing import IO

from . import places
from .errors import (
    AlreadyExistsError,
    InvalidArgumentError,
    NotFoundError,
    PermissionDeniedError,
    ResourceExhaustedError,
    TfgError,
    UnknownError,
)
from .hints import Hint, command, step
from .log import tell
from .places import is_address
from .regular_files import open_regular

try:
    import fcntl
except ImportError:  # Windows refuses to rename or remove an open file, and needs no locks
    fcntl = None  # type: ignore[assignment]

_staged: set[str] = set()
"""The staged files and folders of this process, named before they are made."""
# What file systems without locks answer. EBADF is NFS's answer for a descriptor that was opened for reading, as that of a
# folder must be.
_NO_LOCKS = (errno.EBADF, errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@contextlib.contextmanager
def file_errors(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn the operating system's refusals into tfg's errors."""
    try:
        yield
    except OSError as error:
        raise _file_error(error, os.fspath(path)) from None
    except ValueError as error:
        if not _is_no_name(os.fspath(path)):
            raise
        raise InvalidArgumentError(f"{os.fspath(path)!r} is not a file name: {error}") from None


def _is_no_name(path: str) -> bool:
    """Return True for a path that no file can have: with a NUL, or characters that the file system's encoding lacks."""
    try:
        return b"\0" in os.fsencode(path)
    except UnicodeEncodeError:
        return True


def _file_error(error: OSError, path: str) -> TfgError:
    if isinstance(error, FileNotFoundError):
        return _absence(path)
    if isinstance(error, PermissionError):
        return PermissionDeniedError(f"no permission for '{path}'")
    if isinstance(error, IsADirectoryError):
        return InvalidArgumentError(f"'{path}' is a folder")
    kind = ResourceExhaustedError if error.errno in _NO_ROOM else UnknownError
    return kind(f"'{path}': {error.strerror or error}")


def require_folder(path: str | os.PathLike[str]) -> None:
    """Raise NotFoundError if the folder that a file or folder is to be written to is not there."""
    if is_address(path):
        return  # a store has a folder with the folder's first file
    folder = os.path.dirname(os.fspath(path).rstrip(os.sep))
    with file_errors(path):
        # Not by os.path.isdir, which says False for a name that no file can have: the error would speak of a missing folder.
        is_there = not folder or _is_folder(folder)
    if not is_there:
        raise NotFoundError(f"folder '{folder}' does not exist", hint="create the folder first")


def _is_folder(path: str) -> bool:
    """Test for a folder as os.path.isdir, with errors for names that no file can have."""
    try:
        return stat.S_ISDIR(os.stat(path).st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False


def require_new_folder(path: str | os.PathLike[str]) -> None:
    """Raise AlreadyExistsError if there is anything at the path but an empty folder."""
    with file_errors(path):
        if places.exists(path) and (not places.is_folder(path) or places.names_in(path)):
            raise AlreadyExistsError(f"'{os.fspath(path)}' already exists and is not empty: a SavedModel needs a new folder")


def _absence(path: str) -> NotFoundError:
    """Return the error for a file that does not exist: an address, the prefix of a checkpoint, or a name near another."""
    if is_address(path):
        return NotFoundError(f"'{path}' does not exist")
    if os.path.isfile(f"{path}.index"):
        use = "list its tensors with ", command("checkpoint", path), ", or use it with a graph as ", step("state", path=path)
        hint = Hint(*use, f"; its graph is '{path}.meta'" if os.path.isfile(f"{path}.meta") else "")
        return NotFoundError(f"'{path}' is the prefix of a checkpoint, not a file", hint=hint)
    return NotFoundError(f"file '{path}' does not exist", hint=_similar_files(path))


def _similar_files(path: str) -> str | None:
    folder, name = os.path.split(path)
    stem = os.path.splitext(name)[0].lower()
    if not os.path.isdir(folder or "."):
        return f"folder '{folder}' does not exist either"
    try:
        entries = os.listdir(folder or ".")
    except PermissionError:
        return None
    # The empty stem, of a path that ends with a slash, is a part of every name.
    close = sorted(entry for entry in entries if stem and stem in entry.lower())[:3]
    return f"did you mean {', '.join(close)}?" if close else None


@contextlib.contextmanager
def atomic_file(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a file that takes the name `path` when the block ends, and vanishes if the block raises.

    A link is followed; a device or a pipe is written in place. The contents reach the disk before the name does. Errors of
    the operating system become TfgErrors, inside the block too.
    """
    with file_errors(path):
        require_folder(path)
        target = places.resolved(path)
        if not is_address(path) and os.path.exists(path) and not os.path.isfile(path):  # a rename would replace the device
            with open(path, "wb") as device:
                yield device
            return
        with replacing(target) as file:
            yield file


@contextlib.contextmanager
def atomic_folder(path: str | os.PathLike[str]) -> Iterator[str]:
    """Yield an empty folder that takes the name `path` when the block ends, and vanishes if the block raises.

    The name is unused, or an empty folder's. Errors as of `atomic_file`.
    """
    target = places.absolute(path)
    with file_errors(path):
        with staged_folder(target) as staged:
            yield staged
            rename_folder(staged, target)
        # A rename is sure to be on the disk only after the folder above is flushed.
        flush_folder(target)


def copy_new(source: IO[bytes], path: str) -> None:
    """Copy an open file to a new file whose contents then are on the disk; FileExistsError if there is a file."""
    import shutil

    with open(path, "xb") as written:
        shutil.copyfileobj(source, written)
        flush(written)


@contextlib.contextmanager
def replacing(target: str) -> Iterator[IO[bytes]]:
    """Open a file as `atomic_file`, with the operating system's own errors, and in place of a link."""
    # The contents reach the disk before the name does, and the name before the end: after a loss of power, the name leads to
    # the old contents or to all of the new ones.
    with staged_file(target) as file:
        yield file
        finish(file)
        move_file(file.name, target)
    flush_folder(target)
    tell("wrote %s", target)


@contextlib.contextmanager
def staged_file(target: str, replaced: str | None = None) -> Iterator[IO[bytes]]:
    """Open a file beside `target` that is removed at the end unless renamed. Files of killed writers are removed first.

    The file has the permissions of the file to replace (`replaced`, or `target` itself) from the start. The writer holds a
    lock on the file, so that a file without a writer can be detected. For an address the file is in a folder of its own.
    """
    if is_address(target):
        with _private_folder(target) as folder, staged_file(os.path.join(folder, "staged")) as file:
            yield file
        return
    remove_abandoned(target)
    file = _locked_file(target, mode_of(replaced or target))
    try:
        with file:
            yield file
    finally:
        # In the usual case the file was renamed.
        with contextlib.suppress(FileNotFoundError):
            os.unlink(file.name)
        # Only when the file is gone: an interruption in between leaves it to `remove_staged`.
        _staged.discard(file.name)


@contextlib.contextmanager
def staged_folder(target: str) -> Iterator[str]:
    """Yield the name of an empty folder beside `target`, removed at the end unless renamed; otherwise as `staged_file`."""
    if is_address(target):
        with _private_folder(target) as folder:
            yield folder
        return
    remove_abandoned(target)
    name, descriptor = _locked_folder(target)
    try:
        yield name
    finally:
        _remove_tree(name)
        _staged.discard(name)
        # The lock is released last, so that no other writer takes the folder for abandoned meanwhile.
        if descriptor is not None:
            os.close(descriptor)


@contextlib.contextmanager
def _private_folder(address: str) -> Iterator[str]:
    """Yield an empty folder of this machine for files on their way to an address."""
    import tempfile

    places.remote(address).require_writable()  # before the work, not behind it
    with tempfile.TemporaryDirectory(prefix="tfg-", ignore_cleanup_errors=True) as folder:
        yield folder


def move_file(source: str, target: str) -> None:
    """Give a staged file its name, in place of a file of this name, or write it to an address."""
    if is_address(target):
        places.remote(target).upload(source)
    else:
        os.replace(source, target)


def staged_name(target: str) -> str:
    """Return an unused name beside `target`; the next writer of `target` removes a file left over under the name.

    The part at random tells writers apart that have one process number: containers that share a folder.
    """
    return f"{target}.{os.getpid()}-{os.urandom(8).hex()}.tmp"


def _own_name(target: str) -> str:
    """Return a staged name that `remove_staged` knows, whatever interrupts the writer."""
    name = staged_name(target)
    _staged.add(name)
    return name


def remove_staged() -> None:
    """Remove what an interruption left: it may arrive when a file is made and no block holds the file yet."""
    for name in list(_staged):
        if os.path.isdir(name):
            _remove_tree(name)
        else:
            with contextlib.suppress(OSError):
                os.unlink(name)


def mode_of(path: str) -> int | None:
    """Return the permissions of a file, or None if there is no file."""
    if is_address(path):
        return None
    try:
        return stat.S_IMODE(os.stat(path).st_mode)
    except FileNotFoundError:
        return None


def new_file(path: str, mode: int | None) -> IO[bytes]:
    """Create a file with these permissions (None: the default permissions) and open the file for writing."""
    if mode is None:
        return open(path, "xb")
    # For the owner alone at first: nobody else may open the file before it has its final permissions.
    file = open(path, "xb", opener=lambda name, flags: os.open(name, flags, mode & 0o600))  # noqa: SIM115 - handed to the caller
    # After open, since the umask must not change the permissions of the replaced file; by the descriptor where the system can,
    # since another writer may remove the name as abandoned before the file is locked.
    os.chmod(file.fileno() if os.chmod in os.supports_fd else path, mode)
    return file


def _locked_file(target: str, mode: int | None) -> IO[bytes]:
    while True:
        file = new_file(_own_name(target), mode)
        _lock(file.fileno())
        if os.fstat(file.fileno()).st_nlink:  # not removed as abandoned between open and lock
            return file
        file.close()


def _locked_folder(target: str) -> tuple[str, int | None]:
    while True:
        name = _own_name(target)
        os.mkdir(name)
        if fcntl is None:
            return name, None
        with contextlib.suppress(FileNotFoundError):  # another writer removed the folder as abandoned
            descriptor = os.open(name, os.O_RDONLY | os.O_DIRECTORY)
            _lock(descriptor)
            if os.fstat(descriptor).st_nlink:
                return name, descriptor
            os.close(descriptor)


def remove_abandoned(target: str) -> None:
    """Remove the staged files and folders of `target` whose writers were killed."""
    folder, name = os.path.split(target)
    # Names as `staged_name` makes them and no others, since what matches is removed.
    is_staged = re.compile(re.escape(name) + r"\.\d+-[0-9a-f]+\.tmp").fullmatch
    for entry in filter(is_staged, os.listdir(folder or ".")):
        with contextlib.suppress(OSError):  # gone by now, being written, or another user's
            _remove_unlocked(os.path.join(folder, entry))


def _remove_unlocked(path: str) -> None:
    if fcntl is None:
        os.unlink(path)  # fails for an open file, and for a folder, which may be in use
        return
    # Another user may have put a link or a pipe under such a name: a link is not followed, and a pipe does not block.
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        # A writer that lives holds the lock, and this raises.
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.path.isdir(path):
            _remove_tree(path)
        else:
            os.unlink(path)
    finally:
        os.close(descriptor)


def _remove_tree(folder: str) -> None:
    import shutil

    shutil.rmtree(folder, ignore_errors=True)


def _lock(descriptor: int) -> None:
    """Wait for the lock of a file or folder, if the system and the file system have locks."""
    if fcntl is None:
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise


@contextlib.contextmanager
def locked_folder(folder: str) -> Iterator[None]:
    """Hold a folder's lock against other processes and threads; the operating system releases the lock of a dead process.

    Windows has no locks of folders, and neither has a store of objects: there the lock excludes nobody.
    """
    if fcntl is None or is_address(folder):
        yield
        return
    # The folder itself rather than a file in it, which would be left behind, and appear among the files of the user.
    descriptor = os.open(folder or ".", os.O_RDONLY | os.O_DIRECTORY)
    try:
        _lock(descriptor)
        yield
    finally:
        os.close(descriptor)


def place_copy(source: str, target: str, temporary: str) -> None:
    """Give the file `source` the second name `target`, in place of a file of this name: by a link, or else by a copy."""
    if is_address(target) or is_address(source):
        import shutil

        with open_regular(source) as read, replacing(target) as written:
            shutil.copyfileobj(read, written)
        return
    # By way of a third name: a link cannot take the place of a file, and a rename can.
    try:
        _link_or_copy(source, temporary)
        os.replace(temporary, target)
    finally:
        with contextlib.suppress(FileNotFoundError):  # os.replace between two links of the same file does nothing
            os.unlink(temporary)


def _link_or_copy(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError as error:
        # File systems without links, places on two file systems, and a file with as many links as it can have.
        if error.errno not in (errno.EPERM, errno.EXDEV, errno.EMLINK, errno.EOPNOTSUPP, errno.ENOSYS):
            raise
        import shutil

        with open(source, "rb") as read, new_file(target, mode_of(source)) as written:
            shutil.copyfileobj(read, written)
            flush(written)


def flush(file: IO[bytes]) -> None:
    """Wait until the contents of a file are on the disk."""
    file.flush()
    os.fsync(file.fileno())


def finish(file: IO[bytes]) -> None:
    """Wait until the contents of a file are on the disk; from then on the file may get another name."""
    flush(file)
    # Windows renames no open file.
    if fcntl is None:
        file.close()


def rename_folder(source: str, target: str) -> None:
    """Rename a folder to a name that is unused or names an empty folder, or write its files below an address."""
    if is_address(target):
        from .remote_files import upload_folder  # lazy: most files are of this machine

        upload_folder(source, target)
        return
    # os.rename replaces an empty folder, but not on Windows.
    if fcntl is None and os.path.isdir(target):
        os.rmdir(target)
    os.rename(source, target)


def flush_folder(path: str) -> None:
    """Wait until the names in the folder of `path` are on the disk, if the system and the file system can say so."""
    # Windows opens no folders.
    if not hasattr(os, "O_DIRECTORY") or is_address(path):
        return
    descriptor = os.open(os.path.dirname(path) or ".", os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        # The file systems that flush no folders say so by these; the rename itself has succeeded.
        if error.errno not in (errno.EINVAL, errno.EBADF, errno.EOPNOTSUPP):
            raise
    finally:
        os.close(descriptor)
