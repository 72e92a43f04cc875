"""Reachability: the nodes that run for fetches and feeds, and the outputs that are read."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Final

from ..graph.graph import Node, Output

_ARGUMENTS: Final = ("_Arg", "_DeviceArg")


def needed_nodes(fetches: Sequence[Output | Node], feeds: Sequence[Output] = ()) -> set[Node]:
    """Return the nodes that run for `fetches`: cut at feeds, back along data and control edges."""
    fed = frozenset(feeds)
    needed: set[Node] = set()
    pending: list[Node | None] = [f if isinstance(f, Node) else f.node for f in fetches if f not in fed]
    while pending:
        node = pending.pop()
        if node is None or node in needed:
            continue
        needed.add(node)
        values = node._inputs
        # Most nodes take values that are not fed, and wait for nothing else: a call for each would take half of the time.
        if values is not None and node._control_inputs == () and (not fed or fed.isdisjoint(values)):
            pending += [value.node for value in values]
        else:
            pending += needed_sources(node, fed)
    return needed


def unused_outputs(node: Node, needed: Container[Node], fetches: Sequence[Output | Node]) -> tuple[int, ...]:
    """Return the outputs of a node that neither running nodes nor fetches read; none for a node that is itself a target."""
    if node in fetches:
        return ()
    read = {value.index for user in node.uses if user in needed for value in user.inputs if value.node is node}
    read |= {f.index for f in fetches if isinstance(f, Output) and f.node is node}
    return tuple(i for i in range(len(node.output_dtypes)) if i not in read)


def needed_sources(node: Node, fed: frozenset[Output]) -> list[Node | None]:
    """Return the nodes that must run before `node`, None for a fed input. A fed placeholder has no sources."""
    sources: list[Node | None] = [None if value in fed else value.node for value in node.inputs]
    for control in node.control_inputs:
        # TensorFlow moves the control edges of a fed Placeholder to the node of the feed (FeedInputs in subgraph.cc). Any
        # other fed node keeps them: its output is replaced, but it still runs.
        if not ((control.must_be_fed or control.op in _ARGUMENTS) and control.output() in fed):
            sources.append(control)
    return sources
