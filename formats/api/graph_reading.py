"""Reading of graphs with op libraries, renamed ops, and a function in the place of the graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ...core.graph.graph import Graph
    from ..codecs.source import Source


class GraphReading(NamedTuple):
    """Settings for reading a graph; a named tuple, which Python makes faster than a dataclass: each command starts with it."""

    map_op: tuple[tuple[str, str], ...] = ()
    """Types of ops to read as other types."""
    op_library: tuple[str, ...] = ()
    """Files and modules with ops, loaded before the graph."""
    tags: tuple[str, ...] | None = None
    """The tags of a SavedModel's graph."""
    function: str | None = None
    """The function to use as the graph."""

    # Imports are in the methods: a command makes its settings at the start, and may end before it reads a graph.
    def load(self, source: Source) -> Graph:
        """Load a graph; InvalidArgumentError names the first node that does not fit its op."""
        from ..loading import load

        self.load_libraries()
        # Ops get their names before the check, which would refuse the unknown ones.
        graph = self.mapped(load(source, tags=self.tags))
        graph.check()
        return graph

    def mapped(self, graph: Graph) -> Graph:
        """Rename ops of `graph`, and put the function in the place of the graph."""
        if self.map_op:
            from ...core.op_libraries.op_map import map_ops

            map_ops(graph, dict(self.map_op))
        if self.function is not None:
            from ...core.runtime.session.function_signatures import call_function

            call_function(graph, self.function)
        return graph

    def load_libraries(self) -> None:
        """Register the ops and kernels of the named and the installed op libraries."""
        from ...core.op_libraries.entry_points import installed_libraries
        from ...core.support.untrusted import is_untrusted

        names = [*(() if is_untrusted() else installed_libraries()), *self.op_library]
        if names:
            from ...core.op_libraries.library_loading import load_op_library

            for name in names:
                load_op_library(name)
