"""Which inputs, outputs and attributes of an op follow the order of dimensions, NCHW or NHWC.

A line such as `TA -> R` has a letter for each input and output:

    T   a tensor whose dimensions are in the layout
    V   a vector or matrix with a row for each dimension: sizes, paddings
    A   numbers of dimensions
    B   as T, or something that broadcasts to it
    R   as T where `keep_dims` is set; otherwise what is left when the dimensions in A are gone
    .   independent of the layout

and `*` after the letter of a list.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...graph import Node, Output
from ..base import PassContext
from ..rules.rewrite import is_map

FORMATS: Mapping[str, Mapping[str, str]] = {
    "NHWC": {"NCHW": "NHWC", "NCDHW": "NDHWC"},
    "NCHW": {"NHWC": "NCHW", "NDHWC": "NCDHW"},
}
"""Target -> the data formats that change, and what they become."""

_SENSITIVE = {
    "AvgPool": "T -> T",
    "AvgPool3D": "T -> T",
    "AvgPool3DGrad": "VT -> T",
    "AvgPoolGrad": "VT -> T",
    "BiasAdd": "T. -> T",
    "BiasAddGrad": "T -> .",
    "Conv2D": "T. -> T",
    "Conv2DBackpropFilter": "T.T -> .",
    "Conv2DBackpropFilterV2": "T.T -> .",
    "Conv2DBackpropInput": "V.T -> T",
    "Conv2DBackpropInputV2": "T.T -> T",
    "Conv3D": "T. -> T",
    "Conv3DBackpropFilterV2": "T.T -> .",
    "Conv3DBackpropInputV2": "V.T -> T",
    "DepthToSpace": "T -> T",
    "DepthwiseConv2dNative": "T. -> T",
    "DepthwiseConv2dNativeBackpropFilter": "T.T -> .",
    "DepthwiseConv2dNativeBackpropInput": "V.T -> T",
    "FusedBatchNorm": "T.... -> T.*",
    "FusedBatchNormGrad": "TT.* -> T.*",
    "FusedBatchNormGradV2": "TT.* -> T.*",
    "FusedBatchNormGradV3": "TT.* -> T.*",
    "FusedBatchNormV2": "T.... -> T.*",
    "FusedBatchNormV3": "T.... -> T.*",
    "MaxPool": "T -> T",
    "MaxPool3D": "T -> T",
    "MaxPool3DGrad": "TTT -> T",
    "MaxPool3DGradGrad": "TTT -> T",
    "MaxPoolGrad": "TTT -> T",
    "MaxPoolGradGrad": "TTT -> T",
    "MaxPoolGradGradV2": "TTTVV -> T",
    "MaxPoolGradV2": "TTTVV -> T",
    "MaxPoolV2": "TVV -> T",
    "SpaceToDepth": "T -> T",
    "_FusedBatchNormEx": "T....T* -> T.*",
    "_FusedConv2D": "T.* -> T",
    "_FusedDepthwiseConv2dNative": "T.* -> T",
}
"""Ops with a `data_format`."""

_AGNOSTIC = {
    "AddN": "T* -> T",
    "All": "TA -> R",
    "Any": "TA -> R",
    "ArgMax": "TA -> R",
    "ArgMin": "TA -> R",
    "BroadcastTo": "TV -> T",
    "Concat": "AT* -> T",
    "ConcatV2": "T*A -> T",
    "Cumprod": "TA -> T",
    "Cumsum": "TA -> T",
    "Fill": "V. -> T",
    "L2Loss": "T -> .",
    "Max": "TA -> R",
    "Mean": "TA -> R",
    "Min": "TA -> R",
    "MirrorPad": "TV -> T",
    "Pad": "TV -> T",
    "PadV2": "TV. -> T",
    "Prod": "TA -> R",
    "Rank": "T -> .",
    "ReverseV2": "TA -> T",
    "Roll": "T.A -> T",
    "Select": "TTT -> T",
    "Shape": "T -> V",
    "ShapeN": "T* -> V*",
    "Size": "T -> .",
    "Slice": "TVV -> T",
    "Split": "AT -> T*",
    "SplitV": "T.A -> T*",
    "Squeeze": "T -> R",
    "StridedSlice": "TVVV -> T",
    "Sum": "TA -> R",
    "Tile": "TV -> T",
}
"""Ops that take any layout, besides the elementwise ones."""

_SEPARATE = ("ShapeN",)
"""Ops that take each input by itself."""

_ELEMENTWISE = "B* -> T"
_LAST_ONLY = ("_FusedConv2D", "_FusedDepthwiseConv2dNative")
"""Ops whose kernels take NHWC only."""

_PER_DIMENSION = ("strides", "ksize", "dilations")
_MASKS = ("begin_mask", "end_mask")
_RESHAPING_MASKS = ("ellipsis_mask", "new_axis_mask", "shrink_axis_mask")


@dataclasses.dataclass(frozen=True, slots=True)
class Carrying:
    """How one node carries the layout of `rank` dimensions: a letter of T, V, A and `.` for each input and output.

    In one that `is_separate`, only the input and the output of the same number go together.
    """

    rank: int
    inputs: str
    outputs: str
    is_separate: bool = False


def is_sensitive(node: Node, to: str) -> bool:
    """True for a node that another data format must be made of."""
    return node.op in _SENSITIVE and node.attr("data_format").decode() not in FORMATS[to].values()


def carrying(ctx: PassContext, node: Node, to: str) -> Carrying | str | None:
    """How a node carries the layout; why it cannot be changed; None for one that has none, or has the right one."""
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
    if node.op in _SEPARATE:
        able = "".join("T" if len(slot) == 1 else "." for slot in slots)
        return Carrying(rank, able, able.replace("T", letters[1][0]), is_separate=True)
    reason = _obstacle(ctx, node, to, rank) or next((slot for slot in slots if len(slot) > 1), None)
    if reason is not None:
        return reason
    return Carrying(rank, "".join(slots), letters[1].replace("R", "T" if node.attr("keep_dims") else "."))


def _line(node: Node, to: str) -> str | None:
    if node.op in _SENSITIVE:
        return _SENSITIVE[node.op] if is_sensitive(node, to) else None
    return _ELEMENTWISE if is_map(node) else _AGNOSTIC.get(node.op)


def _expanded(letters: str, count: int) -> str:
    """`T*A` for four inputs is `TTTA`."""
    head, star, tail = letters.partition("*")
    return head[:-1] + head[-1] * (count - len(head) + 1 - len(tail)) + tail if star else letters


def _rank(ctx: PassContext, node: Node, inputs: str, outputs: str) -> int | str:
    """The rank of what the node takes or gives, or that it is not known."""
    tensors = [value for value, letter in (*zip(node.outputs(), outputs), *zip(node.inputs, inputs)) if letter in "TB"]
    ranks = [rank for value in tensors if (rank := ctx.shape(value).rank) is not None]
    return ranks[0] if ranks else f"the rank of {tensors[-1]} is not known"


def _slot(ctx: PassContext, value: Output, letter: str, rank: int) -> str:
    """The letter of an input, B decided; a longer text says why the input cannot be changed."""
    shape = ctx.shape(value)
    if letter == ".":
        return letter
    if letter == "A":
        return letter if ctx.constant_value(value) is not None else f"{value}, which numbers its dimensions, is not constant"
    if shape.dims is None:
        return f"the rank of {value} is not known"
    if letter == "V":
        return letter if shape.dims[:1] == (rank,) else f"{value} has no row for each of {rank} dimensions"
    if len(shape) == rank or (letter == "B" and ctx.constant_value(value) is not None):
        return "T" if len(shape) else "."
    return "." if letter == "B" and not shape.dims else f"{value} has rank {len(shape)}, not {rank}"


def _obstacle(ctx: PassContext, node: Node, to: str, rank: int) -> str | None:
    """Why a node whose inputs can be changed must stay as it is nevertheless."""
    if node.op in _SENSITIVE:
        data_format = node.attr("data_format").decode()
        if data_format not in FORMATS[to]:
            return f"its data format is {data_format}"
        if node.op in _LAST_ONLY and (to != "NHWC" or b"Add" in node.attr("fused_ops")):
            return "its kernel takes NHWC only" if to != "NHWC" else "it adds a tensor too"
    if any(node.attr(mask) for mask in _RESHAPING_MASKS):
        return "it adds or drops dimensions"
    if _reduces(node):
        gone = _axes(ctx, node, rank)
        if gone is None:
            return "the dimensions that it drops are not known"
        order = [axis for axis in permutation(to, rank) if axis not in gone]
        if order != sorted(order):
            return "the dimensions that it leaves would change their order"
    return None


def _reduces(node: Node) -> bool:
    return _AGNOSTIC.get(node.op, "").endswith("R") and not node.attr("keep_dims")


def _axes(ctx: PassContext, node: Node, rank: int) -> set[int] | None:
    """The dimensions that a reduction or Squeeze drops, counted from 0; None where that is not known."""
    if node.op != "Squeeze":
        axes = ctx.constant_value(node.inputs[1])
        return None if axes is None else {int(axis) % rank for axis in np.ravel(axes)}
    listed = node.attr("squeeze_dims")
    shape = ctx.shape(node.inputs[0])
    if listed or shape.is_known:
        return {axis % rank for axis in listed} or {i for i, size in enumerate(shape) if size == 1}
    return None


def permutation(to: str, rank: int) -> tuple[int, ...]:
    """For each dimension of the layout `to` the one that it was before."""
    return (0, *range(2, rank), 1) if to == "NHWC" else (0, rank - 1, *range(1, rank - 1))


def renumbered(axes: Any, order: Sequence[int]) -> Any:
    """The numbers that dimensions have after all were put into `order`, for those that they had before."""
    places = np.argsort(order)
    return places[np.asarray(axes) % len(order)]


def changed_attrs(node: Node, to: str, order: Sequence[int]) -> dict[str, Any]:
    """The attributes of a node for dimensions in another order."""
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
    if node.op in _SENSITIVE:
        attrs["data_format"] = FORMATS[to][node.attr("data_format").decode()].encode()
    return attrs
