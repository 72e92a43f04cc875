"""Elements that are put together and taken apart again, looked up twice, or chosen among equals."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...graph.graph import Node, Output
from ...registry.catalog import CATALOG
from ...registry.op_facts import ops_with
from ...types import dtypes
from ..base.accuracy import Accuracy, RuleSet
from .rewrite import Rewriter

RULES = RuleSet()
rule = RULES.rule


@rule("StridedSlice", algebra="pack(x, y, z)[1] -> y", accuracy=Accuracy.EXACT)
def slice_of_pack(r: Rewriter, node: Node) -> Output | None:
    pack = node.inputs[0].node
    begin = r.constant_value(node.inputs[1])
    if pack.op != "Pack" or begin is None or len(begin) != 1:
        return None
    if pack.attr("axis") != 0:
        r.refuse("the pack is along another dimension")
        return None
    count: int = pack.attrs["N"]
    index = int(begin[0]) + count * int(begin[0] < 0)
    if {name: node.attr(name) for name in _ONE_ELEMENT} != _ONE_ELEMENT or index not in range(count):
        r.refuse("the slice takes more than one element")
        return None
    return pack.inputs[index]


_ONE_ELEMENT = {"shrink_axis_mask": 1, "ellipsis_mask": 0, "new_axis_mask": 0, "begin_mask": 0}


@rule("Unpack", algebra="unpack(pack(x, y)) -> x, y", accuracy=Accuracy.EXACT)
def unpack_of_pack(r: Rewriter, node: Node) -> Output | None:
    pack = node.inputs[0].node
    if pack.op != "Pack" or pack.attr("axis") != node.attr("axis") or pack.attr("N") != node.attr("num"):
        return None
    if r.ctx.is_preserved(node) or node.control_inputs or pack.control_inputs or r.ctx.has_effects(pack):
        r.refuse("other nodes refer to it, or it waits for other nodes or effects")
        return None
    for output, value in zip(node.outputs()[1:], pack.inputs[1:]):
        r.graph.replace_all_uses(output, value)
    return pack.inputs[0]


@rule(
    "GatherV2", algebra="gather(gather(x, p), q) -> gather(x, p[q]); gather(x, [0, 1 ... n - 1]) -> x", accuracy=Accuracy.EXACT
)
def merge_gathers(r: Rewriter, node: Node) -> Output | None:
    outer, x = _constant_rows(r, node), node.inputs[0]
    if outer is None:
        return None
    if r.shape(x).dims and r.shape(x)[0] == outer.size and np.array_equal(outer, np.arange(outer.size)):
        return x
    inner = _constant_rows(r, x.node)
    if inner is None or outer.size > inner.size or not np.all((outer >= 0) & (outer < inner.size)):
        return None
    return r.GatherV2(x.node.inputs[0], r.constant(inner[outer], x.node.inputs[1]), node.inputs[2])


def _constant_rows(r: Rewriter, node: Node) -> Any:
    """Return the vector of rows that a GatherV2 takes of the first dimension, None for a non-constant vector."""
    if not _is_along_first(r, node):
        return None
    rows = r.constant_value(node.inputs[1])
    return rows if rows is not None and rows.ndim == 1 else None


def _is_along_first(r: Rewriter, node: Node) -> bool:
    return node.op == "GatherV2" and r.is_all(node.inputs[2], 0) and not node.attr("batch_dims")


@rule("GatherV2", algebra="gather(gather(x, unique(i)), places of i) -> gather(x, i)", accuracy=Accuracy.EXACT)
def gather_of_unique(r: Rewriter, node: Node) -> Output | None:
    inner = node.inputs[0].node
    places = node.inputs[1]
    if places.node.op not in ("Unique", "UniqueWithCounts") or places.index != 1 or not _is_along_first(r, node):
        return None
    if inner.op == "ResourceGather":
        r.refuse("it reads a variable")
        return None
    if not _is_along_first(r, inner) or inner.inputs[1] != places.node.output():
        return None
    return r.GatherV2(inner.inputs[0], places.node.inputs[0], node.inputs[2])


_NUMBERS = ("indices", "segment_ids")
_INDICES = {
    op: {i: arg.type_attr for i, arg in enumerate(CATALOG[op].inputs) if arg.name in _NUMBERS and arg.type_attr}
    for op in ops_with("row_numbers")
}
"""The inputs that are int32 or int64 row numbers, and the attributes with their dtypes."""


@rule(*_INDICES, algebra="segment_sum(x, cast(i, int64)) -> segment_sum(x, i)", accuracy=Accuracy.EXACT)
def uncast_indices(r: Rewriter, node: Node) -> Output | None:
    for position, attr in _INDICES[node.op].items():
        cast = node.inputs[position].node
        if cast.op != "Cast" or cast.control_inputs or r.ctx.is_fed(cast.output()):
            continue
        if cast.attrs["SrcT"] is dtypes.int32 and cast.attrs["DstT"] is dtypes.int64:
            r.graph.set_input(node, position, cast.inputs[0])
            node.set_attr(attr, dtypes.int32)
            return node.output()
        r.refuse("the cast may change the numbers")
    return None


@rule("Select", "SelectV2", algebra="select(c, x, x) -> x", accuracy=Accuracy.EXACT)
def select_of_equals(r: Rewriter, node: Node) -> Output | None:
    _, x, y = node.inputs
    if x != y:
        return None
    if node.op == "SelectV2" and not r.same_shape(x, node.output()):
        r.refuse("the condition may broadcast the values")
        return None
    return x
