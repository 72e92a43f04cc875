"""The objects of a SavedModel that nodes of the graph stand for: files of the model's folder, and tables without a name.

Runs, freezing and writing ask here, so that a file is found wherever the model lies.
"""

from __future__ import annotations

import os
from typing import Final

from ..registry.catalog import CATALOG
from ..support.tensor_names import parse_tensor_name
from ..types import dtypes
from ..types.tensors import Tensor
from .graph import Graph, Node
from .metagraph import Asset
from .node_making import become_constant
from .table_nodes import TABLES
from .traversal import copied_from, trail_end
from .variable_nodes import VariableNodes, find_variables

_ANONYMOUS: Final = "Anonymous"
"""The beginning of ops that make a new table in every run. The loader makes each table of a model's objects once."""


def asset_nodes(graph: Graph) -> dict[Node, Asset]:
    """Return the nodes in whose place TensorFlow's loader feeds the path of a file of the model's folder."""
    assets = graph.meta.assets if graph.meta is not None else ()
    named = ((graph.get(parse_tensor_name(asset.tensor)[0]), asset) for asset in assets if asset.path)
    return {node: asset for node, asset in named if node is not None}


def asset_variables(graph: Graph) -> frozenset[str]:
    """Return the names of the variables that hold the path of an asset.

    An initializer sets these variables when a model is loaded; the path is true only where the model lies.
    """
    return frozenset(variable.name for variable in _path_variables(graph))


def asset_assignments(graph: Graph) -> list[Node]:
    """Return the initializers of `asset_variables`."""
    return [variable.initializer for variable in _path_variables(graph) if variable.initializer is not None]


def _path_variables(graph: Graph) -> list[VariableNodes]:
    nodes = asset_nodes(graph)
    variables = find_variables(graph).values() if nodes else ()
    return [
        variable
        for variable in variables
        if variable.initial_value is not None and trail_end(variable.initial_value, copied_from).node in nodes
    ]


def with_model_objects(graph: Graph) -> Graph:
    """Return a copy in which constants hold the paths of assets, and tables of a model's objects have names.

    The graph itself if it has neither.
    """
    tables = _anonymous_tables(graph)
    if not tables and not asset_nodes(graph):
        return graph
    result = graph.copy()
    name_tables(result)
    for node, asset in asset_nodes(result).items():
        become_constant(result, node, Tensor.from_numpy(os.fsencode(asset.path), dtypes.string))
    return result


def name_tables(graph: Graph) -> None:
    """Give the tables of a model's objects names, by which all runs of the graph find the same table."""
    for node in _anonymous_tables(graph):
        node.change_op(f"{node.op[len(_ANONYMOUS) :]}V2", {**node.attrs, "shared_name": os.fsencode(node.name)})


def _anonymous_tables(graph: Graph) -> list[Node]:
    has_objects = graph.meta is not None and graph.meta.objects is not None
    # The ops of anonymous tables are those without an attribute for a name.
    return [node for node in graph if node.op in TABLES and "shared_name" not in CATALOG[node.op].attrs] if has_objects else []
