"""From NCHW to NHWC or back, with as few transposes as there can be."""

from __future__ import annotations

import collections
import itertools
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from ...building.builder import GraphBuilder
from ...graph.graph import Graph, Node, Output
from ...graph.traversal import closure, shortest_path
from ...registry.op_facts import has_fact
from ...registry.registry import layout_of
from ...support import dataclasses
from ...support.errors import InvalidArgumentError
from ..base.accuracy import Accuracy
from ..base.graph_pass import Pass, PassContext, become, identity_of
from .rewrite import is_map

# A vector has a number for each dimension: even many of them cost less to reorder than one tensor.
_COSTS = {"T": 1000, "V": 1}
"""The costs of reordering a tensor, and a vector of channel sizes."""
_SOURCE, _SINK = "converted", "as it is"


class Layout(Pass):
    """Convert convolutions, poolings, biases and normalizations to the layout `to`: NHWC (NDHWC) or NCHW (NCDHW).

    A minimum cut chooses the other nodes that follow: no other choice needs fewer transposes, and of the choices with
    equally few, most nodes follow.
    """

    name: ClassVar[str] = "layout"
    summary: ClassVar[str] = "convert NCHW convolutions, poolings and normalizations to NHWC, or back, with few transposes"
    follows: ClassVar[str] = "batchnorm"
    accuracy: ClassVar[Accuracy] = Accuracy.ROUNDING
    in_default_pipeline: ClassVar[bool] = False
    to: str = "NHWC"

    def __post_init__(self) -> None:
        if self.to not in FORMATS:
            raise InvalidArgumentError(f"unknown layout '{self.to}'", hint=f"the layouts are {', '.join(FORMATS)}")

    def run(self, graph: Graph, ctx: PassContext) -> None:
        if any(is_sensitive(node, self.to) for node in graph):
            _LayoutConversion(graph, ctx, self.to).make()


class _LayoutConversion:
    """A conversion of the layout: the choice of nodes, then the edges where two orders meet."""

    def __init__(self, graph: Graph, ctx: PassContext, to: str) -> None:
        self._graph, self._ctx, self._to = graph, ctx, to
        self._builder = GraphBuilder(graph)
        self._reasons: dict[Node, str] = {}
        self._able: dict[Node, NodeLayout] = {}
        self._converted: dict[Node, NodeLayout] = {}
        self._reordered: dict[tuple[Output, str, int], Output] = {}

    def make(self) -> None:
        for node in self._graph:
            layout = self._place(node)
            if isinstance(layout, NodeLayout):
                self._able[node] = layout
            elif layout is not None:
                self._reasons[node] = layout
        for node in self._reasons:
            if is_sensitive(node, self._to):
                self._ctx.refuse("convert", node, self._reasons[node])
        side = self._network().source_side(_SOURCE, _SINK)
        parts = {node: self._part(node, layout, side) for node, layout in self._able.items()}
        self._converted = {node: layout for node, layout in parts.items() if layout.inputs.strip(".")}
        # A copy of the items, as a node that steps aside leaves the dict to its successor.
        for node in [n for n in self._converted if self._ctx.is_preserved(n)]:
            self._step_aside(node)
        # All inputs are computed before the first node changes, since the letters of the old attributes decide about them.
        inputs = {node: [self._input(node, i, v) for i, v in enumerate(node.inputs)] for node in list(self._graph)}
        for node, values in inputs.items():
            self._convert(node, values)

    def _place(self, node: Node) -> NodeLayout | str | None:
        """Return `node_layout`, or the reason why the node's place in the graph forbids a conversion."""
        if self._ctx.has_fed_output(node):
            return "a feed may replace it"
        layout = node_layout(self._ctx, node, self._to)
        if isinstance(layout, NodeLayout) and node.name in self._ctx.inference.reasons:
            return f"its shapes are unknown: {self._ctx.inference.reasons[node.name]}"
        if isinstance(layout, NodeLayout) and self._ctx.is_preserved(node) and not is_sensitive(node, self._to):
            return "it is fetched or kept unchanged" if "T" in layout.outputs else layout
        return layout

    def _network(self) -> Network:
        """Return the network of convertible nodes; an edge's capacity is the cost of converting only one end of a value."""
        network = Network()
        for node in self._graph:
            for value in node.outputs():
                slots = [(user, i, self._input_letter(self._able, user, i)) for user, i in self._uses(value)]
                # The user gets a fetched value in its old order, so that the fetch counts as one more reader that is not
                # converted.
                if self._ctx.is_preserved(node):
                    slots.append((node, 0, "."))
                output_letter = self._output_letter(self._able, value)
                producer = self._vertex(node, value.index) if output_letter in _COSTS else _SINK
                consumers = {self._vertex(user, i) if letter in _COSTS else _SINK for user, i, letter in slots}
                letters = {output_letter, *(letter for _, _, letter in slots)}
                # A constant costs nothing, whatever the cut: its array is reordered here, and not in a run.
                if self._ctx.constant_value(value) is None and consumers - {producer}:
                    self._add(network, value, _COSTS["V" if "V" in letters else "T"], producer, consumers)
        return network

    def _add(self, network: Network, value: Output, cost: int, producer: Hashable, consumers: set[Hashable]) -> None:
        """Add a value's edges; a single reordering serves all consumers, so they hang on a vertex per direction."""
        # Two directions, as a value may be converted before its readers or after its producer. Edges that are never cut tie
        # all readers to the vertex, so the price is paid once.
        away, back = (value, "away"), (value, "back")
        network.add(producer, away, cost)
        network.add(back, producer, cost)
        for consumer in consumers:
            network.add(away, consumer, UNCUT)
            network.add(consumer, back, UNCUT)

    def _uses(self, value: Output) -> Iterator[tuple[Node, int]]:
        for user in value.node.uses:
            yield from ((user, i) for i, taken in enumerate(user.inputs) if taken == value)

    def _vertex(self, node: Node, index: int) -> Hashable:
        """Return the vertex that decides the order of an input or output."""
        if node not in self._able:
            return _SINK
        if is_sensitive(node, self._to):
            return _SOURCE
        return (node, index) if self._able[node].is_separate else node

    def _part(self, node: Node, layout: NodeLayout, side: set[Hashable]) -> NodeLayout:
        """Return the part of a node's inputs and outputs on the converted side."""
        inputs, outputs = (
            "".join(letter if self._vertex(node, i) in side else "." for i, letter in enumerate(letters))
            for letters in (layout.inputs, layout.outputs)
        )
        return dataclasses.replace(layout, inputs=inputs, outputs=outputs)

    def _output_letter(self, nodes: Mapping[Node, NodeLayout], value: Output) -> str:
        """Return the letter of an output if the output's node is among `nodes`."""
        return nodes[value.node].outputs[value.index] if value.node in nodes else "."

    def _input_letter(self, nodes: Mapping[Node, NodeLayout], node: Node, index: int) -> str:
        """Return the letter of an input if the node is among `nodes`."""
        return nodes[node].inputs[index] if node in nodes else "."

    def _step_aside(self, node: Node) -> None:
        """Turn a fetched node into an identity, with the old name and order, of a new node that is converted instead."""
        layout = self._converted[node]
        if not any(letter in _COSTS for letter in layout.outputs):
            return
        name = self._graph.unique_name(f"{node.name}/{self._to}")
        inner = self._graph.add_node(name, node.op, node.inputs, node.control_inputs, node.attrs, node.device)
        self._converted[inner] = self._converted.pop(node)
        for output in node.outputs():
            self._graph.replace_all_uses(output, inner.output(output.index))
        op, attrs = identity_of([dtype.base for dtype in node.output_dtypes])
        become(self._graph, node, op, inner.outputs(), attrs, ())

    def _input(self, node: Node, index: int, value: Output) -> Output:
        present, needed = self._output_letter(self._converted, value), self._input_letter(self._converted, node, index)
        if needed == "A":
            order = permutation(self._to, self._converted[node].rank)
            return self._constant(value, renumbered(self._ctx.constant_value(value), order))
        if (present in _COSTS) == (needed in _COSTS):
            return value
        if needed in _COSTS:
            return self._reorder(value, needed, self._converted[node].rank, self._to)
        if node in self._reasons:
            self._ctx.refuse("follow", node, self._reasons[node])
        return self._reorder(value, present, self._converted[value.node].rank, next(to for to in FORMATS if to != self._to))

    def _reorder(self, value: Output, letter: str, rank: int, to: str) -> Output:
        """Return a value with dimensions, or rows, in the order of layout `to`; cached per value."""
        # One Transpose serves all readers of a value in the same order.
        key = (value, letter, rank)
        order = permutation(to, rank)
        if key not in self._reordered:
            constant = self._ctx.constant_value(value)
            self._reordered[key] = (
                self._constant(value, _ordered(constant, letter, order))
                if constant is not None
                else self._moved(value, letter, order, f"{value.node.name}/to_{to}")
            )
        return self._reordered[key]

    def _moved(self, value: Output, letter: str, order: tuple[int, ...], name: str) -> Output:
        """Add a Transpose, or a GatherV2 of rows, beside the value; the constants lie in the value's loop or branch."""
        with self._builder.device(value.node.device):
            places = self._builder.constant(np.array(order, np.int32), name=f"{name}/order")
            inputs: list[Any] = [value, places]
            if letter == "V":
                inputs.append(self._builder.constant(np.int32(0), name=f"{name}/axis"))
            node = self._builder.add("Transpose" if letter == "T" else "GatherV2", inputs, {}, name)
        if self._ctx.is_inside(value.node):
            self._ctx.inside.add(node)
            anchors = self._ctx.anchors(node)
            for constant in inputs[1:]:
                self._graph.set_inputs(constant.node, (), anchors)
        self._ctx.fire("transpose" if letter == "T" else "gather", node)
        return node.output()

    def _constant(self, old: Output, array: Any) -> Output:
        """Add a constant with the control inputs of an old constant."""
        with self._builder.device(old.node.device):
            new = self._builder.constant(array, old.node.attrs["dtype"], f"{old.node.name}/{self._to}")
        self._graph.set_inputs(new.node, (), old.node.control_inputs)
        return new

    def _convert(self, node: Node, inputs: list[Output]) -> None:
        """Set a node's inputs, and the attributes of a converted node."""
        if inputs != list(node.inputs):
            self._graph.set_inputs(node, inputs)
        if node in self._converted:
            node.attrs = changed_attrs(node, self._to, permutation(self._to, self._converted[node].rank))
            self._ctx.fire("convert" if node.attr("data_format") is not None else "follow", node)


def _ordered(array: Any, letter: str, order: tuple[int, ...]) -> Any:
    """Reorder the rows or dimensions of a constant's array; broadcasting's dimensions of size 1 are added."""
    if letter == "V":
        return array[list(order)]
    return array.reshape((1,) * (len(order) - array.ndim) + array.shape).transpose(order)


# Minimum cuts: the cheapest way to part a network in two.

UNCUT = 10**12
"""A capacity that no minimum cut pays."""


class Network:
    """A flow network: vertices with directed edges, each with a capacity, the cost of cutting the edge."""

    def __init__(self) -> None:
        self._residual: dict[Hashable, dict[Hashable, int]] = collections.defaultdict(dict)

    def add(self, tail: Hashable, head: Hashable, capacity: int) -> None:
        """Add an edge; the capacity adds to the existing capacity between the two vertices."""
        if tail != head:
            self._residual[tail][head] = self._residual[tail].get(head, 0) + capacity
            self._residual[head].setdefault(tail, 0)

    def source_side(self, source: Hashable, sink: Hashable) -> set[Hashable]:
        """Return the vertices on the side of `source` in the minimum cut with the most vertices there.

        Edmonds and Karp 1972: flow goes along shortest paths until none is left. Consumes the network.
        """
        while path := self._path(source, sink):
            flow = min(self._residual[tail][head] for tail, head in path)
            for tail, head in path:
                self._residual[tail][head] -= flow
                self._residual[head][tail] += flow
        left = self._residual
        # The vertices from which more flow could get to the sink. Of all minimum cuts the one next to the sink: ties go to
        # converting more nodes.
        reaching = closure([sink], lambda head: (tail for tail in left[head] if left[tail][head]))
        return set(left) - reaching | {source}

    def _path(self, source: Hashable, sink: Hashable) -> list[tuple[Hashable, Hashable]]:
        """Return the edges of a shortest path that can take more flow, empty if there is none."""
        path = shortest_path(source, {sink}, lambda tail: (head for head, left in self._residual[tail].items() if left))
        return list(itertools.pairwise(path))


# The inputs, outputs and attributes of an op that follow the order of dimensions, NCHW or NHWC.
#
# The ops declare their layout, see `registry.layout`.

FORMATS: Mapping[str, Mapping[str, str]] = {
    "NHWC": {"NCHW": "NHWC", "NCDHW": "NDHWC"},
    "NCHW": {"NHWC": "NCHW", "NDHWC": "NCDHW"},
}
"""The data formats that change, by target layout, each with the new format."""

_ELEMENTWISE = "B* -> T"
_PER_DIMENSION = ("strides", "ksize", "dilations")
_MASKS = ("begin_mask", "end_mask")
_RESHAPING_MASKS = ("ellipsis_mask", "new_axis_mask", "shrink_axis_mask")


@dataclasses.dataclass(frozen=True, slots=True)
class NodeLayout:
    """A node's layout of `rank` dimensions: a letter of T, V, A and `.` for each input and output.

    With `is_separate`, only the input and the output of the same index go together.
    """

    rank: int
    inputs: str
    outputs: str
    is_separate: bool = False


def is_sensitive(node: Node, to: str) -> bool:
    """Return True for a node whose data format must change."""
    return _has_data_format(node) and node.attr("data_format").decode("latin-1") not in FORMATS[to].values()


def _has_data_format(node: Node) -> bool:
    return node.op_def is not None and "data_format" in node.op_def.attrs and layout_of(node.op) is not None


def node_layout(ctx: PassContext, node: Node, to: str) -> NodeLayout | str | None:
    """Return a node's layout; the reason why it cannot change; None for a node without layout, or with the right one."""
    line = _line(node, to)
    if line is None:
        return None
    inputs, _, outputs = line.partition(" -> ")
    letters = [_expanded(inputs, len(node.inputs)), _expanded(outputs, len(node.output_dtypes))]
    rank = _rank(ctx, node, *letters)
    if isinstance(rank, str):
        return rank
    # A matrix has no dimensions between the batch and the channels: both layouts are one.
    if rank < 3:
        return None
    slots = [_slot(ctx, value, letter, rank) for value, letter in zip(node.inputs, letters[0])]
    if inputs == "T*" and outputs == "V*":
        able = "".join("T" if len(slot) == 1 else "." for slot in slots)
        return NodeLayout(rank, able, able.replace("T", letters[1][0]), is_separate=True)
    reason = _blocker(ctx, node, to, rank) or next((slot for slot in slots if len(slot) > 1), None)
    if reason is not None:
        return reason
    return NodeLayout(rank, "".join(slots), letters[1].replace("R", "T" if node.attr("keep_dims") else "."))


def _line(node: Node, to: str) -> str | None:
    if _has_data_format(node):
        return layout_of(node.op) if is_sensitive(node, to) else None
    return _ELEMENTWISE if is_map(node) else layout_of(node.op)


def _expanded(letters: str, count: int) -> str:
    """Expand a repetition: `T*A` for four inputs is `TTTA`."""
    head, star, tail = letters.partition("*")
    return head[:-1] + head[-1] * (count - len(head) + 1 - len(tail)) + tail if star else letters


def _rank(ctx: PassContext, node: Node, inputs: str, outputs: str) -> int | str:
    """Return the rank of the node's tensors, or the reason why the rank is unknown."""
    tensors = [value for value, letter in (*zip(node.outputs(), outputs), *zip(node.inputs, inputs)) if letter in "TB"]
    ranks = [rank for value in tensors if (rank := ctx.shape(value).rank) is not None]
    return ranks[0] if ranks else f"the rank of {tensors[-1]} is unknown"


def _slot(ctx: PassContext, value: Output, letter: str, rank: int) -> str:
    """Return the letter of an input, B decided; a longer text is the reason why the input cannot be changed."""
    shape = ctx.shape(value)
    if letter == ".":
        return letter
    if letter == "A":
        return letter if ctx.constant_value(value) is not None else f"{value}, the list of its dimensions, is not constant"
    if shape.dims is None:
        return f"the rank of {value} is unknown"
    if letter == "V":
        return letter if shape.dims[:1] == (rank,) else f"{value} has no row for each of {rank} dimensions"
    if len(shape) == rank or (letter == "B" and ctx.constant_value(value) is not None):
        return "T" if len(shape) else "."
    return "." if letter == "B" and not shape.dims else f"{value} has rank {len(shape)}, not {rank}"


def _blocker(ctx: PassContext, node: Node, to: str, rank: int) -> str | None:
    """Return the reason why a node with convertible inputs must stay nevertheless."""
    if _has_data_format(node):
        data_format = node.attr("data_format").decode("utf-8", "backslashreplace")
        if data_format not in FORMATS[to]:
            return f"its data format is {data_format}"
        if has_fact(node.op, "channels_last") and (to != "NHWC" or b"Add" in node.attr("fused_ops")):
            return "its kernel supports only NHWC" if to != "NHWC" else "it also adds a tensor"
    if any(node.attr(mask) for mask in _RESHAPING_MASKS):
        return "it adds or drops dimensions"
    if (layout_of(node.op) or "").endswith("R") and not node.attr("keep_dims"):
        gone = _axes(ctx, node, rank)
        if gone is None:
            return "the dropped dimensions are unknown"
        order = [axis for axis in permutation(to, rank) if axis not in gone]
        # After a mean over height and width, batch and channels stand in the same order in both layouts.
        if order != sorted(order):
            return "the remaining dimensions would change their order"
    return None


def _axes(ctx: PassContext, node: Node, rank: int) -> set[int] | None:
    """Return the dimensions that a reduction or Squeeze drops, counted from 0; None if they are unknown."""
    if node.op != "Squeeze":
        axes = ctx.constant_value(node.inputs[1])
        return None if axes is None else {int(axis) % rank for axis in np.ravel(axes)}
    listed = node.attr("squeeze_dims")
    shape = ctx.shape(node.inputs[0])
    if listed or shape.is_known:
        return {axis % rank for axis in listed} or {i for i, size in enumerate(shape) if size == 1}
    return None


def permutation(to: str, rank: int) -> tuple[int, ...]:
    """Return the old index of each dimension of the layout `to`."""
    return (0, *range(2, rank), 1) if to == "NHWC" else (0, rank - 1, *range(1, rank - 1))


def renumbered(axes: Any, order: Sequence[int]) -> Any:
    """Return the new indices of the dimensions `axes` after all dimensions were put into `order`."""
    places = np.argsort(order)
    return places[np.asarray(axes) % len(order)]


def changed_attrs(node: Node, to: str, order: Sequence[int]) -> dict[str, Any]:
    """Return the attributes of a node for dimensions in another order."""
    attrs = {name: value for name, value in node.attrs.items() if name != "_output_shapes"}
    for name, value in attrs.items():
        if name in _PER_DIMENSION:
            attrs[name] = [value[i] for i in order]
        elif name == "explicit_paddings" and value:
            attrs[name] = [side for i in order for side in value[2 * i : 2 * i + 2]]
        elif name == "squeeze_dims":
            attrs[name] = [int(axis) for axis in renumbered(value, order)] if value else value
        elif name in _MASKS:
            # A mask has a bit for each dimension.
            attrs[name] = sum((value >> old & 1) << new for new, old in enumerate(order))
    if _has_data_format(node):
        attrs["data_format"] = FORMATS[to][node.attr("data_format").decode()].encode()
    return attrs
