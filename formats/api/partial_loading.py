"""Graphs of which only a part is sound, loaded for extraction and for passes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from ...core.explaining.broken import leave_out_broken
from ...core.graph.graph import Graph
from ...core.passes.base.graph_pass import Pass
from ...core.passes.pipeline import choose_passes
from ...core.support.arguments import checked, expect, names_of
from ...core.support.errors import AbsentInputError
from ..codecs.source import Source
from ..loading import load, load_nodes_leniently

Preparation = Callable[[Graph], Graph]
"""A change of a graph between reading and checks, such as other names of ops."""


def _prepared(graph: Graph, prepare: Preparation | None) -> Graph:
    result = graph if prepare is None else prepare(graph)
    expect(Graph, result)
    return result


@checked
def load_part(
    source: Source,
    *,
    inputs: Sequence[str] | str = (),
    tags: Sequence[str] | None = None,
    prepare: Preparation | None = None,
    untrusted: bool = False,
) -> Graph:
    """Load a graph without broken nodes and the nodes that need them; a later access to such a node raises the error.

    `inputs` are tensors that `extract` will make placeholders: their nodes may be broken, or missing in the file. `tags`
    choose the MetaGraphDef of a SavedModel that has several; `prepare` changes the graph before the checks; `untrusted` is
    as for `tfg.load`. Raises the errors of `tfg.load` for a file that holds no graph.
    """
    graph, faults = load_nodes_leniently(source, tags=tags, untrusted=untrusted)
    # Other names come first: an op that is known by its new name is not broken.
    graph = _prepared(graph, prepare)
    leave_out_broken(graph, faults, names_of(inputs))
    return graph


@checked
def load_for_passes(
    source: Source,
    passes: str | Sequence[Pass] | None = None,
    disable: Iterable[str] = (),
    *,
    has_fetches: bool = True,
    tags: Sequence[str] | None = None,
    prepare: Preparation | None = None,
    untrusted: bool = False,
) -> Graph:
    """Load a graph for `optimize` with these passes, and check the parts that the passes keep.

    Passes that mend, such as `repair`, take all nodes as they are, also with inputs that the file lacks. With `has_fetches`,
    `prune` removes the nodes that no fetch needs, so broken nodes are left out as by `load_part`. Any other graph must be
    sound. InvalidArgumentError names the first broken node of such a graph, or an unknown pass. `untrusted` is as for
    `tfg.load`.
    """
    chosen = choose_passes(passes, disable)
    mends = any(one.mends for one in chosen)
    # Without a fetch `prune` removes nothing, so a broken node would stay in the written graph.
    if not mends and has_fetches and any(one.name == "prune" for one in chosen):
        return load_part(source, tags=tags, prepare=prepare, untrusted=untrusted)
    if not mends:
        graph = _prepared(load(source, tags=tags, untrusted=untrusted), prepare)
        # Checked after the preparation, which may give an op the name that makes it known.
        graph.check()
        return graph
    graph, faults = load_nodes_leniently(source, tags=tags, untrusted=untrusted)
    for fault in faults:
        # Missing inputs are what such passes mend; no pass mends another fault.
        if not isinstance(fault, AbsentInputError):
            raise fault
    return _prepared(graph, prepare)
