"""The functions behind `tfg dump`: records of nodes one by one, and the first elements of input pipelines."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from ...core.explaining.node_listing import (
    ALL_NODES,
    Alike,
    NodeFilter,
    NodeRecord,
    function_records,
    node_record,
    require_nodes,
)
from ...core.graph.graph import Function, Graph, GraphLike, as_graph
from ...core.support.arguments import checked
from ...core.support.display import Rows
from ...core.support.errors import InvalidArgumentError
from ..codecs.source import Source
from ..graphdef import NodeStream
from ..loading import load, stream

if TYPE_CHECKING:
    from ...core.runtime.session.runner import StepResult
    from ..state import State
    from .prepared_sessions import Opener


class RecordStream:
    """The records of the nodes of a file in the order of the file, read while they are iterated, and only once."""

    def __init__(self, source: NodeStream | Graph, chosen: NodeFilter) -> None:
        self._source = source
        self._chosen = chosen
        self._is_empty = True

    def __iter__(self) -> Iterator[NodeRecord]:
        """Yield the nodes of the graph, then the nodes of all functions; NotFoundError at the end if no node passes."""
        yield from self.nodes()
        for _, body in self.functions():
            yield from body

    def nodes(self) -> Iterator[NodeRecord]:
        """Yield the records of the nodes of the graph; their shapes are the declared shapes."""
        # Most nodes of a large graph have the same attributes as others; `alike` keeps one text for all nodes with equal
        # attributes.
        alike = Alike()
        source = self._source.nodes() if isinstance(self._source, NodeStream) else self._source
        for node in self._chosen.apply(source):
            self._is_empty = False
            yield node_record(node, alike=alike)

    def functions(self) -> Iterator[tuple[Function, tuple[NodeRecord, ...]]]:
        """Yield each function with the records of the body, after all `nodes`; NotFoundError at the end if no node passes."""
        source = self._source.functions() if isinstance(self._source, NodeStream) else self._source.functions.values()
        for function, body in function_records(source, self._chosen):
            self._is_empty = False
            yield function, body
        # Nodes are streamed, so only at the end is it known that none passed.
        require_nodes([] if self._is_empty else [self], self._chosen)


@checked
def stream_nodes(source: Source | NodeStream, chosen: NodeFilter = ALL_NODES) -> RecordStream:
    """Return a stream of the records of a file's nodes: all nodes, or the nodes that the filter `chosen` lets pass.

    A binary GraphDef from 4 MiB on is read node by node: no graph is built, and a broken node is listed too. Any other file
    is loaded. Raises the errors of `tfg.load`.
    """
    if isinstance(source, NodeStream):
        return RecordStream(source, chosen)
    nodes = stream(os.fspath(source)) if isinstance(source, (str, os.PathLike)) else None
    return RecordStream(load(source) if nodes is None else nodes, chosen)


@checked(state=Mapping | None)
def first_elements(
    graph: GraphLike,
    name: str,
    count: int = 3,
    *,
    state: State | None = None,
    seed: int | None = None,
    open_session: Opener | None = None,
) -> Rows[StepResult]:
    """Return the first elements of an input pipeline, each as a step whose values are the element's components.

    `name` is a dataset, an iterator, or a node that takes elements from an iterator. Variables and tables are initialized,
    then variables take the values of `state`; iterators begin anew. `open_session` opens another session.
    InvalidArgumentError for a node outside of pipelines, OutOfRangeError for an empty pipeline.
    """
    from ...core.runtime.session.runner import Runner, elements_of  # lazy: lists of nodes need neither a session nor NumPy
    from .prepared_sessions import opened, session_on

    graph = as_graph(graph)
    if count < 1:
        raise InvalidArgumentError(f"{count} elements are too few")
    if open_session is None:
        # The pipeline that is asked for begins by itself; others may need files or feeds.
        open_session = functools.partial(opened, state=state, seed=seed, begins_iterators=False)
    session = session_on(graph, open_session)
    return Rows(elements_of(Runner(session), name, count))
