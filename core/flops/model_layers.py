"""Layers of a graph: the scopes that own weights, and the nodes that belong to each layer."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from .flops_report import NodeCost
from .sections import is_gradient_scope

NO_LAYER: Final = "(no layer)"
"""The name for nodes outside all scopes with weights."""
_FROZEN_READ: Final = re.compile(r"/ReadVariableOp(_\d+)?/resource$")
_UNIQUE_NUMBER: Final = re.compile(r"_\d+$")


def layers_by_path(nodes: Sequence[NodeCost]) -> dict[str, str]:
    """Return the layer of each node of a count by the node's path.

    A layer is the scope of a weight's name. A node that reads weights belongs to the layer of the first weight; a node of
    the backward pass that reads none, to the layer of the forward node. Other nodes belong to the layer in whose scope they
    lie. A scope around several layers is a row of its own, for the nodes that lie in no layer below.
    """
    layers = _layers_of_weights(nodes)
    owners: dict[str, set[str]] = {}
    around: dict[str, set[str]] = {}
    for node in nodes:
        for weight in node.weights:
            for scope in (_scope(_forward_path(node.path)), _scope(weight)):
                owners.setdefault(scope, set()).add(layers[weight])
                for outer in _scopes(scope):
                    around.setdefault(outer, set()).add(layers[weight])
    return {node.path: layers[node.weights[0]] if node.weights else _around(node.path, owners, around) for node in nodes}


def _layers_of_weights(nodes: Sequence[NodeCost]) -> dict[str, str]:
    """Return the layer of each weight by the weight's name, from the first node of the forward pass that reads the weight.

    A constant that TensorFlow froze lies below the op or the cast that reads it (`dense/Cast/ReadVariableOp/resource`): its
    layer is the scope around both. A weight without a scope is in the scope of its reader, or else a layer by itself.
    """
    layers: dict[str, str] = {}
    for node in sorted(nodes, key=lambda node: node.section != "forward"):
        scope = _scope(_forward_path(node.path))
        for weight in node.weights:
            layers.setdefault(weight, layer_of(weight, node.path, scope))
    return layers


def layer_of(weight: str, reader: str, scope: str | None = None) -> str:
    """Return the layer of a weight by its name and its reader's; `scope` is the reader's scope in the forward pass."""
    of_reader = _scope(reader) if scope is None else scope
    own = "" if weight.startswith(f"{reader}/") else _scope(weight)
    if read := _FROZEN_READ.search(weight):
        around = set(_scopes(of_reader))
        own = next((outer for outer in _scopes(weight[: read.start()]) if outer in around), own)
    return own or of_reader or weight


def _around(path: str, owners: Mapping[str, set[str]], around: Mapping[str, set[str]]) -> str:
    """Return the layer around a node without weights, or the innermost scope that has layers.

    `owners` has the layers of the scopes where weights lie or are read, `around` those of all scopes around.
    """
    for scope in _scopes(_scope(_forward_path(path))):
        layers = owners.get(scope, set())
        if len(layers) == 1:
            return next(iter(layers))
        if scope in around:
            layer = next(iter(around[scope]))
            return layer if len(around[scope]) == 1 and _base_name(scope) == _base_name(layer) else scope
    return NO_LAYER


def _base_name(scope: str) -> str:
    """Return the last part of a scope without the number that makes names unique: `dense` of `model/dense_1`."""
    return _UNIQUE_NUMBER.sub("", scope.rpartition("/")[2])


def _forward_path(path: str) -> str:
    """Return the path without the scopes that hold gradients: `gradients/dense/MatMul_grad/mul` lies in `dense`."""
    *scopes, name = path.split("/")
    return "/".join([*(scope for scope in scopes if not is_gradient_scope(scope)), name])


def _scope(path: str) -> str:
    return path.rpartition("/")[0]


def _scopes(scope: str) -> Iterator[str]:
    """Yield a scope and the scopes around it, the innermost first, without the root."""
    while scope:
        yield scope
        scope = _scope(scope)
