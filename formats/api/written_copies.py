"""Private copies of written graphs and models, to read a file as somebody does who has nothing else."""

from __future__ import annotations

import contextlib
import glob
import itertools
import os
import shutil
import tempfile
from collections.abc import Iterator

from ...core.support.atomic import atomic_file, file_errors, flush, flush_folder, rename_folder, staged_folder
from ...core.support.places import absolute, files_below, is_address, is_folder, matching, name_of
from ...core.support.regular_files import open_regular
from ..codecs.source import write_file


@contextlib.contextmanager
def private_folder() -> Iterator[str]:
    """Yield an empty folder that only this user can read; the folder is removed at the end."""
    with tempfile.TemporaryDirectory(prefix="tfg-", ignore_cleanup_errors=True) as folder:
        yield folder


@contextlib.contextmanager
def private_copy(path: str | os.PathLike[str]) -> Iterator[str]:
    """Yield the path of a copy of a written file or SavedModel in a private folder, with the weights beside a model."""
    source = absolute(path)
    with private_folder() as folder, file_errors(path):
        copied = os.path.join(folder, name_of(source))
        if is_address(source):
            _download(source, copied)
        elif os.path.isdir(source):
            shutil.copytree(source, copied, symlinks=True)  # a link out of a model stays closed to the model's graph
        else:
            stem = source.removesuffix(".json")
            for file in (source, *glob.glob(f"{glob.escape(source)}*.data"), *glob.glob(f"{glob.escape(stem)}-shard*.bin")):
                shutil.copyfile(file, os.path.join(folder, os.path.basename(file)))
        yield copied


def _download(address: str, copied: str) -> None:
    """Copy the files of a SavedModel, or a file with the weights beside it."""
    stem = glob.escape(address)
    beside = (f"{stem}*.data", f"{stem.removesuffix('.json')}-shard*.bin")
    folder = address.rstrip("/")
    files = files_below(folder) if is_folder(folder) else [address, *itertools.chain.from_iterable(map(matching, beside))]
    for file in files:
        own = (
            os.path.join(copied, *file[len(folder) + 1 :].split("/"))
            if is_folder(folder)
            else os.path.join(os.path.dirname(copied), name_of(file))
        )
        os.makedirs(os.path.dirname(own), exist_ok=True)
        with open_regular(file) as read, open(own, "xb") as written:
            shutil.copyfileobj(read, written)


def publish(source: str, target: str) -> None:
    """Write the file or SavedModel `source` to `target`, the same bytes, whole or not at all; `-` is standard output."""
    if os.path.isdir(source):
        _publish_folder(source, absolute(target))
    elif target == "-":
        with open(source, "rb") as read:
            write_file(target, iter(lambda: read.read(1 << 20), b""))
    else:
        with open(source, "rb") as read, atomic_file(target) as written:
            shutil.copyfileobj(read, written)


def _publish_folder(source: str, target: str) -> None:
    with file_errors(target):
        with staged_folder(target) as staged:
            for folder, _, names in os.walk(source):
                own = os.path.normpath(os.path.join(staged, os.path.relpath(folder, source)))
                os.makedirs(own, exist_ok=True)
                for name in names:
                    with open(os.path.join(folder, name), "rb") as read, open(os.path.join(own, name), "xb") as written:
                        shutil.copyfileobj(read, written)
                        flush(written)
            rename_folder(staged, target)
        flush_folder(target)
