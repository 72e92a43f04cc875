"""The inputs, outputs and attributes of an op that follow the order of dimensions, NCHW or NHWC.

The ops declare their layout, see `registry.layout`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...graph.graph import Node, Output
from ...registry.op_facts import has_fact
from ...registry.registry import layout_of
from ..base.graph_pass import PassContext
from ..rules.rewrite import is_map

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
    """Return a node's layout; the reason why the node cannot change; None for a node without layout, or with the right
    layout.
    """
    line = _line(node, to)
    if line is None:
        return None
    inputs, _, outputs = line.partition(" -> ")
    letters = [_expanded(inputs, len(node.inputs)), _expanded(outputs, len(node.output_dtypes))]
    rank = _rank(ctx, node, *letters)
    if isinstance(rank, str):
        return rank
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
    if _reduces(node):
        gone = _axes(ctx, node, rank)
        if gone is None:
            return "the dropped dimensions are unknown"
        order = [axis for axis in permutation(to, rank) if axis not in gone]
        if order != sorted(order):
            return "the remaining dimensions would change their order"
    return None


def _reduces(node: Node) -> bool:
    return (layout_of(node.op) or "").endswith("R") and not node.attr("keep_dims")


def _axes(ctx: PassContext, node: Node, rank: int) -> set[int] | None:
    """Return the dimensions that a reduction or Squeeze drops, counted from 0; None where they are unknown."""
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
            attrs[name] = sum((value >> old & 1) << new for new, old in enumerate(order))
    if _has_data_format(node):
        attrs["data_format"] = FORMATS[to][node.attr("data_format").decode()].encode()
    return attrs
