"""Which files the kernels of a graph may touch: a graph can be a stranger's program."""

from __future__ import annotations

import dataclasses
import pathlib
from collections.abc import Iterable
from typing import Any

from .errors import PermissionDeniedError


@dataclasses.dataclass(frozen=True, slots=True)
class FileAccess:
    """Files and folders open to reading and to writing: none by default, None for all. A folder opens all below it."""

    readable: tuple[pathlib.Path, ...] | None = ()
    writable: tuple[pathlib.Path, ...] | None = ()

    @staticmethod
    def everything() -> FileAccess:
        """Access to every file, for graphs that are trusted as programs are."""
        return FileAccess(None, None)

    @staticmethod
    def only(readable: Iterable[str | pathlib.Path] = (), writable: Iterable[str | pathlib.Path] = ()) -> FileAccess:
        """Access to what is named and nothing else; what may be written may be read."""
        writes = tuple(pathlib.Path(path).resolve() for path in writable)
        return FileAccess((*(pathlib.Path(path).resolve() for path in readable), *writes), writes)

    def reading(self, folder: str | pathlib.Path) -> FileAccess:
        """This access, with a folder that may be read besides."""
        if self.readable is None:
            return self
        return dataclasses.replace(self, readable=(*self.readable, pathlib.Path(folder).resolve()))

    def check_read(self, path: str, node: Any) -> None:
        """PermissionDeniedError where `node` may not read `path`."""
        _check(path, self.readable, node, "read")

    def check_write(self, path: str, node: Any) -> None:
        """PermissionDeniedError where `node` may not write `path`."""
        _check(path, self.writable, node, "write")


def _check(path: str, allowed: tuple[pathlib.Path, ...] | None, node: Any, verb: str) -> None:
    if allowed is None:
        return
    resolved = pathlib.Path(path).resolve()
    if not any(resolved.is_relative_to(folder) for folder in allowed):
        raise PermissionDeniedError(
            f"the graph wants to {verb} '{path}', which was not named",
            node=node.name,
            op=node.op,
            hint=f"`--allow-files {resolved.parent}` opens that folder, in Python `files=FileAccess.only(...)`",
        )


NO_FILES = FileAccess()
