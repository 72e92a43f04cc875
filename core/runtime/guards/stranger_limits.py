"""The limits of sessions on a graph of `tfg.load(untrusted=True)`, and of commands with --untrusted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ...registry.catalog import CATALOG
from ...support.errors import InvalidArgumentError
from ..state.file_access import NO_FILES, FileAccess

if TYPE_CHECKING:
    from ...graph.graph import Graph

SECONDS: Final = 60.0
"""The time limit where the user sets none."""
MEMORY: Final = 4 << 30
"""The memory limit in bytes where the user sets none."""


def session_limits(
    graph: Graph, files: FileAccess, timeout: float | None, max_memory: int | None
) -> tuple[float | None, int | None]:
    """Return the limits of a session, for a graph that was loaded as untrusted at most the limits above.

    InvalidArgumentError where the session opens files, or where an op of the graph comes from an op library.
    """
    if not graph.is_untrusted:
        return timeout, max_memory
    if files != NO_FILES:
        raise InvalidArgumentError("the graph was loaded with untrusted=True, so files= cannot open files to it")
    bodies = [graph, *(function.body for function in graph.functions.values())]
    custom = set(CATALOG.custom())
    for node in (node for body in bodies for node in body if node.op in custom):
        raise InvalidArgumentError("the graph was loaded with untrusted=True, so no op library computes it", node=node.name)
    return SECONDS if timeout is None else timeout, MEMORY if max_memory is None else max_memory
