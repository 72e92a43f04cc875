"""The contents of the user's cache folder: choices of `auto`, and programs that XLA compiled."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import ClassVar

from ..support import cache_folder, dataclasses
from ..support.arguments import checked
from ..support.atomic import file_errors
from ..support.cache_folder import CHOICES, PROGRAMS, CachedFile
from ..support.display import Report
from ..support.words import counted
from .remembered_choices import read_choice


@dataclasses.dataclass(frozen=True, slots=True)
class CachedChoice:
    """A choice of `auto` for a graph and shapes of feeds."""

    fetches: str
    """The fetches of the run."""
    shapes: str
    """The shapes of the feeds."""
    kept: str
    """The fastest way to run."""
    seconds: Mapping[str, float]
    """The least time of each way that was tried."""
    untried: tuple[str, ...]
    """The engines that are still to be tried."""


@dataclasses.dataclass(frozen=True, slots=True, repr=False)
class CacheReport(Report):
    """The contents of the cache folder, or what was removed from the folder."""

    main_table: ClassVar[str] = "choices"

    folder: str | None
    """The cache folder; None where nothing is cached."""
    choices: tuple[CachedChoice, ...]
    """The choices of `auto`, the newest first."""
    damaged: int
    """How many files of choices no process takes over."""
    programs: int
    """How many files XLA keeps."""
    program_bytes: int
    """The size of these files."""
    is_cleared: bool
    """Whether all this was removed."""

    def headline(self) -> str:
        removed = "removed " if self.is_cleared else ""
        return f"{removed}{counted(len(self.choices), 'choice')}, {counted(self.programs, 'file')} of XLA"


@checked
def describe_cache(*, clear: bool = False) -> CacheReport:
    """Return the contents of the user's cache folder, which `TFG_CACHE` names; with `clear`, remove them.

    The folder has the choices of `engine="auto"` and the programs that XLA compiled. PermissionDeniedError where a file
    cannot be removed.
    """
    folder = cache_folder.base_folder()
    if folder is None:
        return CacheReport(None, (), 0, 0, 0, clear)
    choices, programs = (cache_folder.cached_files(os.path.join(folder, name)) for name in (CHOICES, PROGRAMS))
    read = tuple(_choices(sorted(choices, key=lambda file: -file.seconds)))
    if clear:
        with file_errors(folder):
            cache_folder.remove(choices + programs)
    size = sum(file.size for file in programs)
    return CacheReport(folder, read, len(choices) - len(read), len(programs), size, clear)


def _choices(files: list[CachedFile]) -> Iterator[CachedChoice]:
    """Yield the choices in files that a process would take over."""
    for file in files:
        folder, name = os.path.split(file.path)
        content = cache_folder.read_entry(folder, name)
        choice = None if content is None else read_choice(content, name)
        if choice is not None:
            yield CachedChoice(choice.fetches, choice.shapes, choice.best, choice.seconds, choice.pending)
