"""Layers of a graph: the scopes that own weights, and the nodes that belong to each layer."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, MutableMapping, Sequence
from typing import ClassVar, Final

from ..model.author_scopes import AuthorScopes, Place
from ..support.display import Report
from ..support.errors import InvalidArgumentError
from ..support.grouping import grouped
from ..support.words import counted
from ..types.dims import DimLike
from ..types.shapes import Shape
from .flops_report import FlopsReport, NodeCost, add_up, magnitude, total

NO_LAYER: Final = "(no layer)"
"""The name for nodes outside all scopes with weights."""


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
    places = [_place(node) for node in nodes]
    named = [(part.layer, node) for part, node in zip(AuthorScopes(places).named(places), nodes)]
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
    places = [_place(node) for node in nodes]
    scopes = AuthorScopes(places)
    return {place.path: layer or scope or NO_LAYER for place in places for layer, scope in [scopes.layer_at(place)]}


def _place(node: NodeCost) -> Place:
    return Place(node.path, node.weights, node.section == "forward", node.times != 1)
