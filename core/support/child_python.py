"""Command lines of Python processes with the modules of this process."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

from .errors import UnimplementedError


def python_process(code: str) -> tuple[list[str], Mapping[str, str]]:
    """Return the command line and the environment of a new Python process that runs `code`.

    The process finds modules where this process does, except in the current folder, which may hold downloaded files.
    UnimplementedError in a program without an interpreter of its own.
    """
    if not sys.executable:
        raise UnimplementedError("this program has no Python interpreter to start a process with")
    return [sys.executable, "-P", "-c", code], {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
