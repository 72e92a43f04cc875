"""Layers of a graph: the scopes that own weights, and the nodes that belong to each layer."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from typing import ClassVar, Final

from ..support.display import Report
from ..support.errors import InvalidArgumentError
from ..support.grouping import grouped
from ..support.words import counted
from ..types.dims import DimLike
from ..types.shapes import Shape
from .flops_report import FlopsReport, NodeCost, add_up, magnitude, total
from .sections import is_gradient_scope

NO_LAYER: Final = "(no layer)"
"""The name for nodes outside all scopes with weights."""
_FROZEN_READ: Final = re.compile(r"/ReadVariableOp(_\d+)?/resource$")
_UNIQUE_NUMBER: Final = re.compile(r"_\d+$")


@dataclasses.dataclass(frozen=True, slots=True)
class Layer:
    """A layer of a model: the scope of weights, or a scope or node beside such scopes that computes without weights."""

    name: str
    """The scope, by the name that the author of the model gave."""
    ops: tuple[str, ...]
    """The ops that compute, those with the most FLOPs first."""
    shape: Shape | None
    """The shape of the last result, with symbols for sizes that depend on the run; None if the layer has no result."""
    parameters: DimLike
    """Elements of weights that no earlier layer reads."""
    trainable: DimLike
    """Elements of variables that training changes and no earlier layer reads."""
    flops: DimLike
    """Floating-point operations of a run; a multiply-add is 2."""
    macs: DimLike
    """Multiply-adds of a run."""
    bytes: DimLike
    """Bytes that a run reads and writes."""
    nodes: int
    """The number of nodes."""


@dataclasses.dataclass(frozen=True, slots=True, repr=False)
class LayersReport(Report):
    """The layers of a model in the order of the run, and totals of all nodes, in layers or not."""

    main_table: ClassVar[str] = "layers"

    layers: tuple[Layer, ...]
    """The layers."""
    parameters: DimLike
    """Elements of all weights."""
    trainable: DimLike
    """Elements of all variables that training changes."""
    flops: DimLike
    """Floating-point operations of a run."""
    macs: DimLike
    """Multiply-adds of a run."""
    bytes: DimLike
    """Bytes that a run reads and writes."""
    symbols: Mapping[str, str]
    """The meaning of each symbol in the numbers."""
    notes: tuple[str, ...]
    """Trip counts, branches and other decisions that the numbers rest on."""

    def headline(self) -> str:
        return f"{counted(len(self.layers), 'layer')}, {self.parameters} parameters"

    def largest_first(self, number: str) -> LayersReport:
        """Return the report with the layers ordered by a number: parameters, trainable, flops, macs, bytes or nodes.

        Symbols count as `tfg.flops` says. InvalidArgumentError for another word.
        """
        numbers = ("parameters", "trainable", "flops", "macs", "bytes", "nodes")
        if number not in numbers:
            raise InvalidArgumentError(f"layers have no number '{number}'", hint=f"the numbers are {', '.join(numbers)}")
        layers = sorted(self.layers, key=lambda layer: -magnitude(getattr(layer, number)))
        return dataclasses.replace(self, layers=tuple(layers))


def model_layers(report: FlopsReport, trainable: Mapping[str, DimLike]) -> LayersReport:
    """Return the layers of the forward pass of a count; `trainable` has the elements of trainable variables by name."""
    nodes = [node for node in report.nodes if node.section == "forward"]
    named = list(zip(_Scopes(nodes).names(nodes), nodes))
    groups = grouped(named)
    # Variables stand first in a graph, in any order: a layer has the place of its first computation.
    order = dict.fromkeys(name for name, node in named if node.computes)
    unread = dict(trainable)
    layers = [_layer(name, groups[name], unread) for name in order]
    whole = total(nodes)
    return LayersReport(
        tuple(layers), whole.parameters, add_up(layer.trainable for layer in layers), whole.flops, whole.macs, whole.bytes,
        report.symbols, report.notes,
    )  # fmt: skip


def _layer(name: str, members: Sequence[NodeCost], unread: MutableMapping[str, DimLike]) -> Layer:
    """Return a layer with a node that computes; the weights that it reads leave `unread`."""
    totals = total(members)
    computing = [node for node in members if node.computes]
    paid = sorted((node for node in computing if not node.is_free), key=lambda node: -magnitude(node.cost.flops))
    # The last result of a loop is outside of it: a node of the body runs several times.
    last = next((node for node in reversed(computing) if node.times == 1), computing[-1])
    own = add_up(unread.pop(weight, 0) for node in members for weight in node.weights)
    ops = tuple(dict.fromkeys(node.op for node in paid or computing[-1:]))
    return Layer(
        name, ops, last.shape, totals.parameters, own, totals.flops, totals.macs, totals.bytes, len(members),
    )  # fmt: skip


def layers_by_path(nodes: Sequence[NodeCost]) -> dict[str, str]:
    """Return the layer of each node of a count by the node's path.

    A layer is the scope of a weight's name. A node that reads weights belongs to the layer of the first weight; a node of
    the backward pass that reads none, to the layer of the forward node. Other nodes belong to the layer in whose scope they
    lie. A scope around several layers is a row of its own, for the nodes that lie in no layer below.
    """
    scopes = _Scopes(nodes)
    return {node.path: layer or scope or NO_LAYER for node in nodes for layer, scope in [scopes.place(node)]}


class _Scopes:
    """The scopes of a count in which weights lie or are read, with their layers."""

    def __init__(self, nodes: Sequence[NodeCost]) -> None:
        self._of_weights = _layers_of_weights(nodes)
        self._owners: dict[str, set[str]] = {}
        """The layers of the scopes where weights lie or are read."""
        self._around: dict[str, set[str]] = {}
        """The layers of those scopes and of all scopes around them."""
        self._authors: dict[str, tuple[str, bool]] = {}
        """By scopes around the readers of weights, the author's name, and whether all names below got another number."""
        for node in nodes:
            for weight in node.weights:
                self._add(_scope(_forward_path(node.path)), weight)
        self._recurrent = dict(self._recurrent_scopes(nodes))
        """The scopes around a loop, and around a layer that only the loop runs, by the name of the layer around both."""
        for scope, name in self._recurrent.items():
            self._add_author(scope, name)

    def _add(self, reader: str, weight: str) -> None:
        layer = self._of_weights[weight]
        for scope in (reader, _scope(weight)):
            self._owners.setdefault(scope, set()).add(layer)
            for outer in _scopes(scope):
                self._around.setdefault(outer, set()).add(layer)
        if _base_name(reader) == _base_name(layer):
            self._add_author(reader, layer)

    def _add_author(self, scope: str, name: str) -> None:
        """Note the name that the author gave to a scope."""
        is_renamed = scope.rpartition("/")[2] != name.rpartition("/")[2]
        _, were_renamed = self._authors.get(_scope(scope), ("", True))
        self._authors[_scope(scope)] = _scope(name), is_renamed and were_renamed

    def _recurrent_scopes(self, nodes: Sequence[NodeCost]) -> Iterator[tuple[str, str]]:
        """Yield the scopes of recurrent layers: an LSTM has its weights in a cell, which its loop runs."""
        in_loops = {scope for node in nodes if node.times != 1 for scope in _scopes(_scope(_forward_path(node.path)))}
        for scope in in_loops & self._around.keys():
            cell = next(iter(self._around[scope]))
            names = [name for name in (cell, _scope(cell)) if name and _base_name(name) == _base_name(scope)]
            if len(self._around[scope]) == 1 and names:
                yield scope, names[0]

    def place(self, node: NodeCost) -> tuple[str | None, str]:
        """Return the layer of a node that reads weights or lies in the scope of a layer, None for other nodes; and the
        innermost scope around the node that has layers: the root, without a name, if no scope has.
        """
        own = self._of_weights[node.weights[0]] if node.weights else None
        for scope in _scopes(_scope(_forward_path(node.path))):
            layers = self._owners.get(scope, set())
            if len(layers) == 1:
                return own or next(iter(layers)), scope
            if scope in self._around:
                layer = next(iter(self._around[scope]))
                is_alone = len(self._around[scope]) == 1 and _base_name(scope) == _base_name(layer)
                return own or (layer if is_alone else None), scope
        return own, ""

    def names(self, nodes: Sequence[NodeCost]) -> Iterator[str]:
        """Yield the name of each node's layer. What lies beside layers, a node or a scope, is a layer by itself."""
        taken: dict[str, str] = {layer: layer for layer in self._of_weights.values()}
        for node in nodes:
            path = _forward_path(node.path)
            layer, scope = self.place(node)
            if recurrent := [outer for outer in _scopes(_scope(path)) if outer in self._recurrent]:
                layer = self._recurrent[recurrent[-1]]
            if layer is not None:
                yield layer
                continue
            own = path[len(scope) :].lstrip("/").partition("/")[0]
            key = f"{scope}/{own}" if scope else own
            outer, are_renamed = self._authors.get(scope, (scope, False))
            last = (_UNIQUE_NUMBER.sub("", own), own) if are_renamed else (own,)
            names = (f"{outer}/{each}" if outer else each for each in last)
            yield next((name for name in names if taken.setdefault(name, key) == key), key)


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
