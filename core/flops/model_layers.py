"""Layers of a graph: the scopes that own weights, and the nodes that belong to each layer."""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Hashable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from types import MappingProxyType
from typing import Final

from ..explaining.author_scopes import CALL, AuthorScopes, ScopedNode, base_name, is_seed, name_stem, weight_name
from ..support import dataclasses
from ..support.display import Report
from ..support.errors import InvalidArgumentError
from ..support.grouping import grouped
from ..support.words import counted
from ..types.dims import DimLike
from ..types.shapes import Shape
from .flops_report import FlopsReport, NodeCost, add_up, magnitude, total

NO_LAYER: Final = "(no layer)"
"""The name for nodes outside all scopes with weights."""


_NUMBERS: Final = ("parameters", "trainable", "flops", "macs", "bytes", "nodes")
"""The fields of a layer that add up."""
_MASKS: Final = ("NotEqual", "LogicalOr", "LogicalAnd")
"""The ops of masks that lie in no scope of a layer, and their names."""
_DIGITS: Final = re.compile(r"\d+")
_CALLS: Final = re.compile(rf"^(?:{CALL.pattern}/)+")
"""The scopes that TensorFlow makes of calls when it freezes a model."""


@dataclasses.dataclass(frozen=True, slots=True)
class Layer:
    """A layer of a model: the scope of weights, or a scope or node beside such scopes that computes without weights."""

    name: str
    """The scope, by the name that the author of the model gave."""
    kind: str | None
    """The class of the Keras layer, such as Conv2D; None where the file does not say."""
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
    seconds: float | None = None
    """The time of a run's nodes; null if no run was measured."""


@dataclasses.dataclass(frozen=True, slots=True)
class LayerBlock:
    """A layer, a scope with the layers inside, or a row of equal blocks; its numbers are those of all blocks together."""

    name: str
    """The part of the name below the scope around; of several blocks, of the first."""
    totals: Layer
    """The whole name, and the numbers of all layers inside; the shape is that of the last."""
    count: int
    """How many blocks stand behind each other that are alike but for numbers in their names."""
    last: str
    """The name of the last of several blocks."""
    blocks: tuple[LayerBlock, ...]
    """The blocks inside, of the first of several; empty for a layer."""


@dataclasses.dataclass(frozen=True, slots=True, repr=False)
class LayerTree(Report, main_table="blocks"):
    """The layers of a model in the scopes around them, equal blocks folded, and totals of all nodes, in layers or not."""

    blocks: tuple[LayerBlock, ...]
    """The outermost blocks, in the order of the run."""
    layers: int
    """The number of layers."""
    parameters: DimLike
    """Elements of all weights."""
    trainable: DimLike
    """Elements of all variables that training changes."""
    flops: DimLike
    """Floating-point operations of a run."""
    bytes: DimLike
    """Bytes that a run reads and writes."""
    symbols: Mapping[str, str]
    """The meaning of each symbol in the numbers."""
    notes: tuple[str, ...]
    """Trip counts, branches and other decisions that the numbers rest on."""
    seconds: float | None = None
    """The time of all nodes of a run, in layers or not; null if no run was measured."""

    def headline(self) -> str:
        return f"{counted(self.layers, 'layer')}, {self.parameters} parameters"


@dataclasses.dataclass(frozen=True, slots=True, repr=False)
class LayersReport(Report, main_table="layers"):
    """The layers of a model in the order of the run, and totals of all nodes, in layers or not."""

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
    seconds: float | None = None
    """The time of all nodes of a run, in layers or not; null if no run was measured."""

    def headline(self) -> str:
        return f"{counted(len(self.layers), 'layer')}, {self.parameters} parameters"

    def tree(self) -> LayerTree:
        """Return the layers in the scopes around them; equal blocks behind each other are one.

        Blocks are alike if they have the same ops, shapes, parameters and FLOPs inside, in the same order.
        """
        blocks = tuple(_folded(_stems(list(_blocks(self.layers, "")))))
        totals = self.parameters, self.trainable, self.flops, self.bytes
        return LayerTree(blocks, len(self.layers), *totals, self.symbols, self.notes, self.seconds)

    def largest_first(self, number: str) -> LayersReport:
        """Return the report with the layers ordered by a number: parameters, trainable, flops, macs, bytes, nodes or seconds.

        Symbols count as `tfg.flops` says. InvalidArgumentError for another word, and for seconds that nobody measured.
        """
        numbers = (*_NUMBERS, *(["seconds"] if self.seconds is not None else []))
        if number not in numbers:
            raise InvalidArgumentError(f"layers have no number '{number}'", hint=f"the numbers are {', '.join(numbers)}")
        size = float if number == "seconds" else magnitude
        layers = sorted(self.layers, key=lambda layer: -size(getattr(layer, number)))
        return dataclasses.replace(self, layers=tuple(layers))


def nodes_in_layers(
    report: FlopsReport, python_names: Mapping[str, str] = MappingProxyType({})
) -> Sequence[tuple[str, NodeCost]]:
    """Return the nodes of the forward pass of a count, each behind the name of its layer.

    `python_names` has the author's names of variables by node.
    """
    nodes = [node for node in report.nodes if node.section == "forward"]
    places = _places(nodes, python_names)
    return [(part.layer, node) for part, node in zip(AuthorScopes(places).named(places), nodes)]


def model_layers(
    report: FlopsReport,
    nodes: Sequence[tuple[str, NodeCost]],
    trainable: Mapping[str, DimLike],
    classes: Mapping[str, str],
    seconds: Mapping[str, float] | None = None,
) -> LayersReport:
    """Return the layers of the forward pass of a count, whose `nodes_in_layers` are `nodes`.

    `trainable` has the elements of trainable variables by name, `classes` the classes of Keras layers by the last part of the
    name, `seconds` the times of a run's nodes by path.
    """
    groups = grouped(nodes)
    # Variables stand first in a graph, in any order, and so may what follows from constants alone, as the zeros of a state:
    # a layer has the place of its first computation with an input. A mask goes past many layers.
    fed: dict[str, int] = {}
    computing: dict[str, int] = {}
    for place, (name, node) in enumerate(nodes):
        if node.computes:
            computing.setdefault(name, place)
            if node.is_fed and not node.is_logical:
                fed.setdefault(name, place)
    order = _without_masks(sorted(computing, key=lambda name: fed.get(name, computing[name])), groups)
    unread = dict(trainable)
    layers = [_layer(name, groups[name], unread, classes, seconds) for name in order]
    whole = total(node for _, node in nodes)
    return LayersReport(
        tuple(layers), whole.parameters, add_up(layer.trainable for layer in layers), whole.flops, whole.macs, whole.bytes,
        report.symbols, report.notes, None if seconds is None else sum(seconds.values()),
    )  # fmt: skip


def _without_masks(order: Sequence[str], groups: MutableMapping[str, list[NodeCost]]) -> list[str]:
    """Return the names of the layers; the masks of Keras 3 become a part of the first layer that has weights."""
    # Each layer behind an embedding computes the mask anew, in the scope of the model: `NotEqual_2`.
    masks = [name for name in order if base_name(name) in _MASKS and all(node.is_logical for node in groups[name])]
    first = next((name for name in order if any(node.weights for node in groups[name])), None)
    if first is None:
        return list(order)
    groups[first] = [*(node for name in masks for node in groups[name]), *groups[first]]
    return [name for name in order if name not in masks]


def _layer(
    name: str,
    members: Sequence[NodeCost],
    unread: MutableMapping[str, DimLike],
    classes: Mapping[str, str],
    seconds: Mapping[str, float] | None,
) -> Layer:
    """Return a layer with a node that computes; the weights that it reads leave `unread`."""
    totals = total(members)
    computing = [node for node in members if node.computes]
    # A node for each op and cost: nodes that are alike share their cost.
    kinds = {(node.op, id(node.cost)): node for node in computing if not node.is_free}
    paid = sorted(kinds.values(), key=lambda node: -magnitude(node.cost.flops))
    # The last result of a loop is outside of it: a node of the body runs several times.
    # The mask of an embedding and the update of a state may come later, and are not the result.
    results = (node for node in reversed(computing) if node.times == 1 and node.shape is not None and not node.is_logical)
    last = next(results, computing[-1])
    # Weights that several layers share count for the first that reads them.
    own = add_up(unread.pop(weight, 0) for weights in dict.fromkeys(node.weights for node in members) for weight in weights)
    ops = tuple(dict.fromkeys(node.op for node in paid or computing[-1:]))
    time = None if seconds is None else sum(seconds.get(node.path, 0.0) for node in members)
    return Layer(
        name, classes.get(name.rpartition("/")[2]), ops, last.shape, totals.parameters, own, totals.flops, totals.macs,
        totals.bytes, len(members), time,
    )  # fmt: skip


def layers_by_path(nodes: Sequence[NodeCost]) -> dict[str, str]:
    """Return the layer of each node of a count by the node's path.

    A layer is the scope of a weight's name. A node that reads weights belongs to the layer of the first weight; a node of
    the backward pass that reads none, to the layer of the forward node. Other nodes belong to the layer in whose scope they
    lie. A scope around several layers is a row of its own, for the nodes that lie in no layer below.
    """
    places = _places(nodes)
    scopes = AuthorScopes(places)
    at = map(scopes.layer_at, places)
    return {node.path: layer or scope or NO_LAYER for node, (layer, scope) in zip(nodes, at)}


def _places(nodes: Iterable[NodeCost], python_names: Mapping[str, str] = MappingProxyType({})) -> list[ScopedNode]:
    def read(weights: tuple[str, ...]) -> tuple[str, ...]:
        return tuple([weight_name(_uncalled(weight), python_names) for weight in weights if not is_seed(weight)])

    named = functools.cache(read)  # many nodes read the same weights, or none
    return [
        ScopedNode(_uncalled(node.path[node.outside :]), named(node.weights), node.section == "forward", node.times != 1)
        for node in nodes
    ]


def _uncalled(path: str) -> str:
    """Return a path without the calls at its start."""
    # Asked first for the letters, as most paths have no calls.
    return _CALLS.sub("", path) if "PartitionedCall" in path else path


def _blocks(layers: Sequence[Layer], scope: str) -> Iterator[LayerBlock]:
    """Yield the blocks right inside a scope, in the order of their first layers."""
    for path, members in grouped((_next(layer.name, scope), layer) for layer in layers).items():
        inner = {_next(layer.name, path) for layer in members}
        # A scope with a single scope inside says nothing: both are one row.
        while len(members) > 1 and len(inner) == 1 and path not in inner:
            (path,) = inner
            inner = {_next(layer.name, path) for layer in members}
        name = path[len(scope) :].lstrip("/")
        if len(members) == 1:
            yield _block(members[0].name[len(scope) :].lstrip("/"), members[0])
        else:
            yield _block(name, _together(path, members), _folded(_stems(list(_blocks(members, path)))))


def _block(name: str, totals: Layer, blocks: Iterable[LayerBlock] = ()) -> LayerBlock:
    return LayerBlock(name, totals, 1, name, tuple(blocks))


def _stems(blocks: Sequence[LayerBlock]) -> Iterator[LayerBlock]:
    """Yield the blocks, and one for layers behind each other whose names begin alike: `conv2_block1_1_conv` ..."""
    for stem, group in itertools.groupby(blocks, lambda block: None if block.blocks else name_stem(block.name)):
        members = list(group)
        if stem is None or len(members) == 1:
            yield from members
        else:
            around = members[0].totals.name.removesuffix(members[0].name)
            yield _block(stem, _together(f"{around}{stem}", [block.totals for block in members]), members)


def _next(name: str, scope: str) -> str:
    """Return the scope or layer right inside a scope around a layer; the scope itself, where that is the layer."""
    if name == scope:
        return scope
    start = len(scope) + 1 if scope else 0
    end = name.find("/", start)
    return name if end < 0 else name[:end]


def _together(name: str, members: Sequence[Layer]) -> Layer:
    numbers = {field: add_up(getattr(layer, field) for layer in members) for field in _NUMBERS}
    ops = tuple(dict.fromkeys(op for layer in members for op in layer.ops))
    kinds, times = {layer.kind for layer in members}, [layer.seconds for layer in members if layer.seconds is not None]
    kind, time = kinds.pop() if len(kinds) == 1 else None, sum(times) if times else None
    return Layer(name=name, kind=kind, ops=ops, shape=members[-1].shape, seconds=time, **numbers)  # type: ignore[arg-type]


def _folded(blocks: Iterable[LayerBlock]) -> Iterator[LayerBlock]:
    """Yield the blocks, equal ones behind each other as one; two layers alike are two rows."""
    for _, group in itertools.groupby(blocks, _key):
        members = list(group)
        first, last = members[0], members[-1]
        if len(members) == 1 or (len(members) == 2 and not first.blocks):
            yield from members
        else:
            totals = _together(first.totals.name, [block.totals for block in members])
            yield LayerBlock(first.name, totals, len(members), last.name, first.blocks)


def _key(block: LayerBlock) -> Hashable:
    """Return what blocks that are alike have in common."""
    totals = block.totals
    counts = str(totals.parameters), str(totals.flops), str(totals.bytes), str(totals.shape)
    name = _DIGITS.sub("#", block.name)
    return name, totals.ops, counts, block.count, tuple(map(_key, block.blocks))
