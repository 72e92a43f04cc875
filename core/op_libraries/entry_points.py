"""The op libraries that installed packages offer: entry points in the group `tfg.op_libraries`, each a module's name."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

GROUP = "tfg.op_libraries"


def installed_libraries() -> list[str]:
    """Return the names of the modules, in the order of the packages on the path."""
    if not any(GROUP in text for folder in sys.path for text in _entry_points_files(folder or ".")):
        return []  # reading the files is faster than importing importlib.metadata
    from importlib.metadata import entry_points

    return [entry.value.partition(":")[0] for entry in entry_points(group=GROUP)]


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
