"""Protocols of a session, in this process or on a cluster, for callers that run a graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from ...graph.graph import Graph
from ...types.dtypes import DType
from ...types.tensors import Tensor
from ..execute.value_cache import CacheStats
from ..state.run_context import Hook


class HeldVariable(Protocol):
    """A variable of a session."""

    @property
    def name(self) -> str: ...

    @property
    def dtype(self) -> DType: ...

    @property
    def is_initialized(self) -> bool: ...

    def constant(self) -> Tensor:
        """Return the current value."""
        ...


@runtime_checkable
class SessionLike(Protocol):
    """A graph with the state of its variables, run by fetches and feeds."""

    @property
    def graph(self) -> Graph: ...

    @property
    def takes_hooks(self) -> bool:
        """Whether kernels run where a hook can be called around them, and values can come in batches."""
        ...

    @property
    def runs_at_once(self) -> int:
        """How many runs are computed at once, a core each; 1 if each run takes all cores."""
        ...

    @property
    def cache_stats(self) -> CacheStats: ...

    def run(self, fetches: str | Sequence[str], feeds: Mapping[str, Any] | None = None, *, hook: Hook | None = None) -> Any:
        """Return the values of tensors by name as NumPy arrays, None for operations; a single name gives a single value."""
        ...

    def on_graph(self, graph: Graph) -> SessionLike:
        """Return a session on another graph with the variables of this session."""
        ...

    def streams(self) -> Mapping[str, tuple[int, int]]:
        """Return key and counter of the random streams of nodes by name, as far as they are known."""
        ...

    def draw_on(self, streams: Mapping[str, tuple[int, int]]) -> None:
        """Let nodes draw from where `streams` says that they were."""
        ...

    def start(self) -> None:
        """Restore and initialize a SavedModel, unless done before."""
        ...

    def held_variables(self) -> Sequence[HeldVariable]:
        """Return the variables of the graph."""
        ...
