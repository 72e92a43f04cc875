"""Differences between two graphs or models with all that their files have: variables' values and assets."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Final

from ..core.comparing.element_differences import diff_variables
from ..core.comparing.graph_diff import GraphDiff, diff_graphs
from ..core.comparing.matching import GraphMatch
from ..core.comparing.node_changes import STRICT, AssetChange, Renaming
from ..core.explaining.model_view import ModelView, model_view
from ..core.graph.callers import function_references
from ..core.graph.graph import Graph
from ..core.graph.metagraph import Asset
from ..core.graph.variable_nodes import find_variables
from ..core.runtime.session.restored_variables import read_instead, restored_variables
from ..core.support import dataclasses
from ..core.support.errors import NotFoundError
from ..core.support.places import size_of
from ..core.support.regular_files import open_regular
from ..core.types.tensors import Tensor
from .state import read_variables, reason_of, saved_values

_PIECE: Final = 1 << 20
"""The bytes of assets that are compared at once."""


def diff_models(before: Graph, after: Graph, *, strict_names: bool = False, raw: bool = False) -> GraphDiff:
    """Return the differences of nodes, functions, signatures, variables, assets and versions; see `diff_graphs`.

    Values of variables and contents of assets are compared if the graphs come from SavedModels. `variables_unread` of the
    result says which file of values is missing. The nodes that the usual signatures of both graphs run, also in functions, are
    those of the models' views, unless `raw`.
    """
    # The files are compared first: if they are equal, no view is made.
    result = diff_matched(before, after, None if strict_names else GraphMatch(before, after))
    if raw or result.is_same_graph:
        return result
    views = model_view(before), model_view(after)
    are_models = all(view.signature is not None for view in views)
    return _as_seen(result, *views, strict_names=strict_names) if are_models else result


def _as_seen(files: GraphDiff, before: ModelView, after: ModelView, *, strict_names: bool) -> GraphDiff:
    """Return the difference of two files with the nodes of views, and with what no view shows of the files."""
    pair = before.graph, after.graph
    views = diff_graphs(*pair, None if strict_names else GraphMatch(*pair))
    shown = {*_shown(before), *_shown(after)}
    functions = before.functions | after.functions
    changed = tuple(change for change in files.functions_changed if change.name not in functions)
    # The others are in the views: dissolved, or as bodies of loops and branches.
    added, removed = (
        tuple(name for name in names if name not in functions) for names in (files.functions_added, files.functions_removed)
    )
    return dataclasses.replace(
        files, nodes_before=views.nodes_before, nodes_after=views.nodes_after,
        added=(*views.added, *(node for node in files.added if node.name not in shown)),
        removed=(*views.removed, *(node for node in files.removed if node.name not in shown)),
        changed=(*views.changed, *(node for node in files.changed if node.name not in shown)),
        functions_added=(*views.functions_added, *added), functions_removed=(*views.functions_removed, *removed),
        functions_changed=(*views.functions_changed, *changed),
    )  # fmt: skip


def _shown(view: ModelView) -> Iterator[str]:
    """Yield the names of the nodes of the file for which a view has others: those it is made of, the calls that it dissolved,
    and those that hold variables, copy and read them, as the variables are compared.
    """
    yield from (origin.node for origin in view.origins.values() if not origin.function)
    yield from (node.name for node in view.source if any(ref.name in view.functions for ref in function_references(node)))
    for variable in find_variables(view.source).values():
        yield from (node.name for node in (variable.node, *variable.reads))
        if variable.initial_value is not None and variable.initial_value.node.is_variable_read:
            yield from (node.name for node in (variable.initial_value.node, variable.initializer) if node is not None)


def diff_matched(before: Graph, after: Graph, match: GraphMatch | None) -> GraphDiff:
    """Return the differences as `diff_models` does, for nodes that are matched already; without a match by name."""
    renaming = STRICT if match is None else Renaming.of(match)
    diff = dataclasses.replace(diff_graphs(before, after, match), assets=_diff_assets(before, after))
    try:
        mine, theirs = _variables(before), _variables(after)
        changes = diff_variables(mine, theirs, renaming)
    # A repository may lack the file of values; the graphs can be compared all the same.
    except NotFoundError as error:
        return dataclasses.replace(diff, variables_unread=reason_of(error))
    compared = len({*map(renaming.tensor, mine), *theirs})
    return dataclasses.replace(diff, variables=changes, variables_compared=compared)


def _variables(graph: Graph) -> dict[str, Tensor]:
    """Return the saved values of a SavedModel's variables, without second copies that Keras writes of the same weights."""
    prefix = saved_values(graph)
    if prefix is None:
        return {}
    tensors = read_variables(prefix, restored_variables(graph))
    # The copies are equal when Keras writes them; one that differs is a difference to show.
    copies = [
        copy
        for copy, name in read_instead(graph).items()
        if copy in tensors and name in tensors and tensors[copy] == tensors[name]
    ]
    return {name: tensor for name, tensor in tensors.items() if name not in copies}


def _diff_assets(before: Graph, after: Graph) -> tuple[AssetChange, ...]:
    mine, theirs = _assets(before), _assets(after)
    changes = [AssetChange(name, "removed") for name in mine if name not in theirs]
    changes += [AssetChange(name, "added") for name in theirs if name not in mine]
    both = [name for name in mine if name in theirs and mine[name].path and theirs[name].path]
    return (
        *changes,
        *(AssetChange(name, "changed") for name in both if not _same_contents(mine[name].path, theirs[name].path)),
    )


def _assets(graph: Graph) -> Mapping[str, Asset]:
    return {asset.filename: asset for asset in (graph.meta.assets if graph.meta is not None else ())}


def _same_contents(a: str, b: str) -> bool:
    # Assets may have gigabytes; the size tells most differences without a read.
    if size_of(a) != size_of(b):
        return False
    with open_regular(a) as first, open_regular(b) as second:
        # The sizes are equal, so `zip` leaves no rest of the longer file unread.
        pieces = zip(iter(lambda: first.read(_PIECE), b""), iter(lambda: second.read(_PIECE), b""))
        return all(itertools.starmap(bytes.__eq__, pieces))
