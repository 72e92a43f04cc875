"""The op libraries that installed packages offer: entry points in the group `tfg.op_libraries`, each a module's name."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Iterator

GROUP = "tfg.op_libraries"


def installed_libraries() -> list[str]:
    """Return the names of the modules, in the order of the packages on the path."""
    if not any(_offers_libraries(folder or ".") for folder in sys.path):
        return []  # reading the files is faster than importing importlib.metadata
    from importlib.metadata import entry_points

    return [entry.value.partition(":")[0] for entry in entry_points(group=GROUP)]


def _offers_libraries(folder: str) -> bool:
    try:
        return _has_entry_points(os.path.realpath(folder), os.stat(folder).st_mtime_ns)
    except OSError:
        return False


# A process asks again for each graph that it loads. To install or remove a package changes the time of the folder.
@functools.lru_cache(maxsize=64)
def _has_entry_points(folder: str, changed: int) -> bool:
    return any(GROUP in text for text in _entry_points_files(folder))


def _entry_points_files(folder: str) -> Iterator[str]:
    if not os.path.isdir(folder):
        return
    for name in os.listdir(folder):
        if name.endswith((".dist-info", ".egg-info")):
            path = os.path.join(folder, name, "entry_points.txt")
            if os.path.isfile(path):
                # A file of any package on the path: a broken one must not end every command.
                with open(path, encoding="utf-8", errors="replace") as file:
                    yield file.read()
