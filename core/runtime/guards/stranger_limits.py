"""The limits of sessions on a graph of `tfg.load(untrusted=True)`, and of commands with --untrusted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ...support.errors import InvalidArgumentError
from ..state.file_access import FileAccess
from .limits import Limits

if TYPE_CHECKING:
    from ...graph.graph import Graph

SECONDS: Final = 60.0
"""The time limit where the user sets none."""
MEMORY: Final = 4 << 30
"""The memory limit in bytes where the user sets none."""
_TRUST: Final = "load the graph without untrusted=True once you trust its author"


def session_limits(graph: Graph, timeout: float | None, max_memory: int | None) -> Limits | None:
    """Return the limits of a session; an untrusted graph has the limits above where the user sets none."""
    if graph.is_untrusted:
        timeout, max_memory = SECONDS if timeout is None else timeout, MEMORY if max_memory is None else max_memory
    return None if timeout is None and max_memory is None else Limits(timeout, max_memory)


def refuse_files(graph: Graph, files: FileAccess) -> None:
    """Raise InvalidArgumentError where the user opens files to an untrusted graph."""
    if graph.is_untrusted and not files.is_closed:
        refuse_untrusted(graph, "files= cannot open files to it")


def refuse_cluster(graph: Graph) -> None:
    """Raise InvalidArgumentError for an untrusted graph on a cluster."""
    refuse_untrusted(graph, "no cluster runs it, since servers have no limits")


def refuse_untrusted(graph: Graph, consequence: str, hint: str = _TRUST) -> None:
    """Raise InvalidArgumentError for an untrusted graph, with what follows from that."""
    if graph.is_untrusted:
        raise InvalidArgumentError(f"the graph was loaded with untrusted=True, so {consequence}", hint=hint)
