"""Movements of data: those that cancel, merge or move nothing, work that passes them, and elements chosen among others."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from typing import Any, ClassVar

import numpy as np

from ...graph.graph import Graph, Node, Output
from ...registry.catalog import CATALOG
from ...registry.op_facts import ops_with
from ...types import dtypes
from ...types.dims import Dim, may_stand_for_rest
from ...types.dtypes import DType
from ...types.shapes import Shape
from ..base.accuracy import Accuracy, RuleSet
from ..base.graph_pass import Pass, PassContext
from .rewrite import Rewriter, attrs_of, holds, is_unary_map

RULES = RuleSet()
rule = RULES.rule


class Structure(Pass):
    """Remove reshapes, transposes, casts, slices and pads without effect, and merge consecutive data movements."""

    name: ClassVar[str] = "structure"
    summary: ClassVar[str] = "cancel and merge redundant reshapes, transposes, casts, slices, pads, concats"
    follows: ClassVar[str] = "shapes"
    rule_sets: ClassVar[tuple[RuleSet, ...]] = (RULES,)

    def run(self, graph: Graph, ctx: PassContext) -> None:
        Rewriter(graph, ctx).apply(*self.rule_sets)


@rule("Reshape", algebra="reshape(reshape(x, _), s) -> reshape(x, s)", accuracy=Accuracy.EXACT)
def merge_reshapes(r: Rewriter, node: Node) -> Output | str | None:
    inner = node.inputs[0].node
    if inner.op not in ("Reshape", "Squeeze", "ExpandDims"):
        return None
    if _zeros_decide(r, inner.inputs[0], node.inputs[1]):
        return "a size may be 0, and then -1 depends on the shape that is reshaped"
    return r.Reshape(inner.inputs[0], node.inputs[1], **attrs_of(node))


def _zeros_decide(r: Rewriter, x: Output, sizes: Output) -> bool:
    """Return True if a -1 may stand beside a 0: the rest is then the product of the sizes of `x` that are not 0."""
    count = r.shape(x).num_elements
    if isinstance(count, int) and count:
        return False
    value = r.constant_value(sizes) if sizes.node.is_constant else r.partial_value(sizes)
    listed = [-1, 0] if value is None else value.ravel().tolist()
    return any(map(may_stand_for_rest, listed)) and any(isinstance(d, Dim) or d == 0 for d in listed)


@rule("Reshape", algebra="reshape(x, [n, 4, 8]) -> reshape(x, [-1, 4, 8]) where n follows", accuracy=Accuracy.EXACT)
def one_unknown_dimension(r: Rewriter, node: Node) -> Output | str | None:
    sizes = r.partial_value(node.inputs[1])
    if sizes is None:
        return None
    unknown = [i for i, size in enumerate(sizes) if isinstance(size, Dim)]
    elements = r.shape(node.inputs[0]).num_elements
    # Beside a 0 the number of elements does not determine a -1: TensorFlow then infers it from the sizes other than 0.
    if len(unknown) != 1 or any(isinstance(size, int) and size <= 0 for size in sizes.tolist()):
        return "several dimensions are unknown, or a dimension may be 0"
    if elements is None or elements != math.prod(sizes.tolist(), start=1):
        return "the unknown dimension may not follow from the others"
    # With -1 the computed vector of sizes becomes a constant, and what computed it goes.
    sizes = [-1 if i in unknown else int(size) for i, size in enumerate(sizes.tolist())]
    if not holds(node.inputs[1].base_dtype, np.asarray(sizes, np.int64)):
        return None
    return r.Reshape(node.inputs[0], r.constant(sizes, node.inputs[1]), **attrs_of(node))


@rule(
    "Reshape",
    "Squeeze",
    "ExpandDims",
    "BroadcastTo",
    "EnsureShape",
    algebra="a reshape to the same shape -> x",
    accuracy=Accuracy.EXACT,
)
def same_shape(r: Rewriter, node: Node) -> Output | None:
    x = node.inputs[0]
    if node.op == "Reshape" and _differ_in_one_unknown(r.shape(x), r.shape(node.output())):
        return x
    return x if r.same_shape(x, node.output()) else None


def _differ_in_one_unknown(a: Shape, b: Shape) -> bool:
    """Return True if all dimensions except a single dimension are known, not 0 and equal in both shapes.

    With equal numbers of elements, the unknown dimensions are then equal too.
    """
    if a.dims is None or b.dims is None or len(a) != len(b):
        return False
    rest = [(p, q) for p, q in zip(a, b) if isinstance(p, int) and isinstance(q, int)]
    return len(rest) == len(a) - 1 and all(p == q != 0 for p, q in rest)


@rule("Transpose", algebra="transpose(transpose(x, p), q) -> transpose(x, p[q]) or x", accuracy=Accuracy.EXACT)
def merge_transposes(r: Rewriter, node: Node) -> Output | None:
    outer = r.permutation(node.inputs[1])
    if outer is None:
        return None
    if np.array_equal(outer, np.arange(len(outer))):
        return node.inputs[0]
    inner = node.inputs[0].node
    permutation = r.permutation(inner.inputs[1]) if inner.op == "Transpose" else None
    if permutation is None or len(permutation) != len(outer):
        return None
    return r.Transpose(inner.inputs[0], r.constant(permutation[outer], node.inputs[1]))


@rule("Transpose", algebra="a transpose that moves only axes of size 1 -> reshape", accuracy=Accuracy.EXACT)
def transpose_as_reshape(r: Rewriter, node: Node) -> Output | None:
    permutation, shape = r.permutation(node.inputs[1]), r.shape(node.inputs[0])
    if permutation is None or not shape.is_known:
        return None
    # Axes of size 1 have no extent in memory: if the others keep their order, so do the elements.
    moved = [int(axis) for axis in permutation if shape.known()[int(axis)] != 1]
    if moved != sorted(moved):
        return None
    return r.Reshape(node.inputs[0], r.constant_sizes(r.shape(node.output()).known()))


@rule("Cast", algebra="cast to the same type -> x; cast(cast(x, wider), t) -> cast(x, t)", accuracy=Accuracy.EXACT)
def merge_casts(r: Rewriter, node: Node) -> Output | None:
    source, target = node.attrs["SrcT"], node.attrs["DstT"]
    if source is target:
        return node.inputs[0]
    inner = node.inputs[0].node
    if inner.op != "Cast" or not _loses_nothing(inner.attrs["SrcT"], inner.attrs["DstT"], target):
        return None
    return r.Cast(inner.inputs[0], SrcT=inner.attrs["SrcT"], DstT=target, Truncate=node.attr("Truncate"))


def _loses_nothing(source: DType, middle: DType, target: DType) -> bool:
    """Return True if the casts `source` to `middle` to `target` equal a direct cast.

    An integer outside `target`'s range wraps around; a fraction of the same size does not.
    """
    if not np.can_cast(source.numpy, middle.numpy, "safe"):
        return False
    if not source.is_integer or middle.is_integer:
        return True
    # NumPy calls int64 to double safe, though it rounds.
    return source.size < 8 and (not target.is_integer or np.can_cast(source.numpy, target.numpy, "safe"))


@rule("Bitcast", algebra="bitcast(bitcast(x, _), t) -> bitcast(x, t)", accuracy=Accuracy.EXACT)
def merge_bitcasts(r: Rewriter, node: Node) -> Output | None:
    if node.attrs["T"] is node.attrs["type"]:
        return node.inputs[0]
    inner = node.inputs[0].node
    if inner.op != "Bitcast":
        return None
    first, middle, last = (dtype.size for dtype in (inner.attrs["T"], node.attrs["T"], node.attrs["type"]))
    if middle not in (first, last) and first != last:
        return None  # the two steps together change the rank twice, a single step only once
    return r.Bitcast(inner.inputs[0], type=node.attrs["type"])


@rule("Tile", algebra="tile(x, 1s) -> x", accuracy=Accuracy.EXACT)
def tile_once(r: Rewriter, node: Node) -> Output | None:
    return node.inputs[0] if r.is_all(node.inputs[1], 1) else None


@rule("Pad", "PadV2", "MirrorPad", algebra="pad(x, 0s) -> x", accuracy=Accuracy.EXACT)
def pad_nothing(r: Rewriter, node: Node) -> Output | None:
    return node.inputs[0] if r.is_all(node.inputs[1], 0) else None


@rule("Slice", "StridedSlice", "ReverseV2", "Roll", algebra="a full slice, a reverse of no axes -> x", accuracy=Accuracy.EXACT)
def whole_slice(r: Rewriter, node: Node) -> Output | None:
    x = node.inputs[0]
    if node.op in ("ReverseV2", "Roll"):
        shape, axes = r.shape(x), r.constant_value(node.inputs[-1])
        if axes is None or shape.dims is None:
            return None
        rank = len(shape.dims)
        # Along an axis of size 1 there is nothing to turn or to shift.
        return x if all(-rank <= a < rank and shape.dims[a] == 1 for a in map(int, np.ravel(axes))) else None
    if not r.same_shape(x, node.output()):
        return None
    # A stride of -1 keeps the shape and turns the order.
    if node.op == "StridedSlice" and (not r.is_all(node.inputs[3], 1) or node.attr("shrink_axis_mask")):
        return None
    return x


@rule("ConcatV2", algebra="concat of one -> x; concat(concat(x, y), z) -> concat(x, y, z)", accuracy=Accuracy.EXACT)
def merge_concats(r: Rewriter, node: Node) -> Output | None:
    values, axis = node.inputs[:-1], r.constant_value(node.inputs[-1])
    if len(values) == 1:
        return values[0]
    flat: list[Output] = []
    for value in values:
        inner = value.node
        same_axis = inner.op == "ConcatV2" and axis is not None and np.array_equal(r.constant_value(inner.inputs[-1]), axis)
        flat += inner.inputs[:-1] if same_axis and r.is_free(inner) else [value]
    return r.ConcatV2(flat, node.inputs[-1]) if len(flat) > len(values) else None


@rule("Split", "SplitV", algebra="split into one -> x", accuracy=Accuracy.EXACT)
def split_into_one(r: Rewriter, node: Node) -> Output | None:
    if node.attrs["num_split"] != 1:
        return None
    return node.inputs[_data_input(node)]


@rule("Pack", algebra="pack of one -> expand_dims", accuracy=Accuracy.EXACT)
def pack_one(r: Rewriter, node: Node) -> Output | None:
    if node.attrs["N"] != 1:
        return None
    return r.ExpandDims(node.inputs[0], r.constant_sizes(node.attr("axis")))


@rule("Select", "SelectV2", algebra="select(true, x, y) -> x", accuracy=Accuracy.EXACT)
def constant_select(r: Rewriter, node: Node) -> Output | None:
    condition, x, y = node.inputs
    for number, chosen in ((1, x), (0, y)):
        if r.is_all(condition, number) and r.same_shape(chosen, node.output()):
            return chosen
    return None


@rule("ConjugateTranspose", "Transpose", algebra="conj and transpose -> conjugate transpose", accuracy=Accuracy.EXACT)
def conjugate_transpose(r: Rewriter, node: Node) -> Output | None:
    inner = node.inputs[0].node
    if inner.op != "Conj" or not r.is_free(inner):
        return None
    opposite = "ConjugateTranspose" if node.op == "Transpose" else "Transpose"
    return r.add(opposite, inner.inputs[0], node.inputs[1])


# Work moves past splits, concatenations, transposes and casts, so that it is done once, or on fewer bytes.


@rule("Split", "SplitV", algebra="f(split(x)[i]) for all i -> split(f(x))[i]", accuracy=Accuracy.EXACT)
def unary_before_split(r: Rewriter, node: Node) -> Output | None:
    users = _alike_users(r, node)
    if users is None or not is_unary_map(users[0]):
        return None
    position = _data_input(node)
    first = users[0]
    moved = r.add(first.op, node.inputs[position], **attrs_of(first))
    # The split now has the dtype of the map's results, which a Cast changes.
    node.set_attr("T", first.output_dtypes[0])
    return _over_split(r, node, users, position, moved)


@rule(
    "Split",
    "SplitV",
    algebra="transpose(split(x, a)[i], p) for all i -> split(transpose(x, p), p.index(a))[i]",
    accuracy=Accuracy.EXACT,
)
def transpose_before_split(r: Rewriter, node: Node) -> Output | None:
    users = _alike_users(r, node)
    if users is None or users[0].op != "Transpose":
        return None
    order = _common_order(r, users)
    axis_at = 0 if node.op == "Split" else 2
    axis = None if order is None else r.axis(node.inputs[axis_at], len(order))
    if axis is None:
        return None
    position = _data_input(node)
    moved = r.Transpose(node.inputs[position], users[0].inputs[1])
    place = int(np.flatnonzero(order == axis)[0])
    r.graph.set_input(node, axis_at, r.constant(place, node.inputs[axis_at]))
    return _over_split(r, node, users, position, moved)


def _data_input(node: Node) -> int:
    # Split takes the axis before the data, and SplitV after.
    return 1 if node.op == "Split" else 0


def _alike_users(r: Rewriter, node: Node) -> list[Node] | None:
    """Return the readers of a node's outputs if each output has one, all with equal op and attributes; else None."""
    readers = [r.graph.consumers(output) for output in node.outputs()]
    if len(readers) < 2 or any(len(consumers) != 1 for consumers in readers) or r.ctx.is_preserved(node):
        return None
    users = [consumers[0] for consumers in readers]
    first = users[0]
    for output, user in zip(node.outputs(), users):
        is_alike = user.op == first.op and attrs_of(user) == attrs_of(first) and user.inputs[0] == output
        if not is_alike or user.control_inputs or r.ctx.is_preserved(user) or not r.is_open(user):
            return None
    return users if len(set(users)) == len(users) else None


def _over_split(r: Rewriter, node: Node, users: list[Node], position: int, moved: Output) -> Output:
    """Split `moved` instead; the outputs replace the results of their readers."""
    r.graph.set_input(node, position, moved)
    for output, user in zip(node.outputs(), users):
        r.ctx.replace(user, output, "split", f"moved before {node.name}")
    return node.output()


@rule(
    "ConcatV2",
    algebra="concat(transpose(x, p), transpose(y, p), a) -> transpose(concat(x, y, p[a]), p)",
    accuracy=Accuracy.EXACT,
)
def transpose_after_concat(r: Rewriter, node: Node) -> Output | str | None:
    nodes = [value.node for value in node.inputs[:-1]]
    if len(nodes) < 2 or any(n.op != "Transpose" or not r.is_free(n) for n in nodes):
        return None
    order = _common_order(r, nodes)
    if order is None:
        return "the transposes differ"
    axis = r.axis(node.inputs[-1], len(order))
    if axis is None:
        return None
    place = r.constant(order[axis], node.inputs[-1])
    joined = r.ConcatV2([n.inputs[0] for n in nodes], place)
    return r.Transpose(joined, nodes[0].inputs[1])


def _common_order(r: Rewriter, transposes: Iterable[Node]) -> Any:
    """Return the constant permutation of all transposes, None if the permutations differ or are unknown."""
    orders = [r.permutation(node.inputs[1]) for node in transposes]
    return orders[0] if all(o is not None and np.array_equal(o, orders[0]) for o in orders) else None


@rule("Transpose", algebra="transpose(f(transpose(x, p)), q) -> transpose(f(x), p[q]) or f(x)", accuracy=Accuracy.EXACT)
def transposes_around_unary(r: Rewriter, node: Node) -> Output | str | None:
    outer, chain = r.permutation(node.inputs[1]), []
    inner = node.inputs[0].node
    while is_unary_map(inner) and r.is_free(inner):
        chain.append(inner)
        inner = inner.inputs[0].node
    order = r.permutation(inner.inputs[1]) if inner.op == "Transpose" else None
    if not chain or outer is None or order is None or len(order) != len(outer):
        return None
    value = inner.inputs[0]
    merged = order[outer]
    # With other readers the inner transpose stays, and the rule would add a transpose to it unless the two cancel.
    if not r.is_free(inner) and not np.array_equal(merged, np.arange(len(merged))):
        return "other nodes also read the inner transpose"
    for one in reversed(chain):
        value = r.add(one.op, value, **attrs_of(one))
    return r.Transpose(value, r.constant(merged, node.inputs[1]))


@rule("Cast", algebra="cast(transpose(x)) -> transpose(cast(x)) where the cast narrows", accuracy=Accuracy.EXACT)
def narrow_before_moving(r: Rewriter, node: Node) -> Output | None:
    moved = node.inputs[0].node
    # The transpose then moves fewer bytes.
    if moved.op != "Transpose" or not r.is_free(moved) or node.attrs["DstT"].size >= node.attrs["SrcT"].size:
        return None
    return r.Transpose(r.Cast(moved.inputs[0], **attrs_of(node)), moved.inputs[1])


@rule("Transpose", algebra="transpose(cast(x)) -> cast(transpose(x)) where the cast widens", accuracy=Accuracy.EXACT)
def widen_after_moving(r: Rewriter, node: Node) -> Output | None:
    cast = node.inputs[0].node
    if cast.op != "Cast" or not r.is_free(cast) or cast.attrs["DstT"].size <= cast.attrs["SrcT"].size:
        return None
    # Before the cast, the elements that move are smaller.
    return r.Cast(r.Transpose(cast.inputs[0], node.inputs[1]), **attrs_of(cast))


@rule("ConcatV2", algebra="concat(x, c1, c2) -> concat(x, c)", accuracy=Accuracy.EXACT)
def join_neighbouring_constants(r: Rewriter, node: Node) -> Output | None:
    values = [(value, r.constant_value(value)) for value in node.inputs[:-1]]
    are_constant = [array is not None for _, array in values]
    axis = next((r.axis(node.inputs[-1], array.ndim) for _, array in values if array is not None), None)
    # Constants alone are folded as a whole.
    if axis is None or all(are_constant) or not any(a and b for a, b in itertools.pairwise(are_constant)):
        return None
    runs: list[Output | list[Any]] = []
    for value, array in values:
        last = runs[-1] if runs else None
        if array is not None and isinstance(last, list):
            last.append(array)
        else:
            runs.append(value if array is None else [array])
    like = node.inputs[0]
    joined = [run if isinstance(run, Output) else r.constant(np.concatenate(run, axis), like) for run in runs]
    return r.ConcatV2(joined, node.inputs[-1])


# Elements that are put together and taken apart again, looked up twice, or chosen among equals.


@rule("StridedSlice", algebra="pack(x, y, z)[1] -> y", accuracy=Accuracy.EXACT)
def slice_of_pack(r: Rewriter, node: Node) -> Output | str | None:
    pack = node.inputs[0].node
    begin = r.constant_value(node.inputs[1])
    if pack.op != "Pack" or begin is None or len(begin) != 1:
        return None
    if pack.attr("axis") != 0:
        return "the pack is along another dimension"
    count: int = pack.attrs["N"]
    index = int(begin[0]) + count * int(begin[0] < 0)
    if {name: node.attr(name) for name in _ONE_ELEMENT} != _ONE_ELEMENT or index not in range(count):
        return "the slice takes more than one element"
    return pack.inputs[index]


# A set bit of `begin_mask` would make the slice ignore the index.
_ONE_ELEMENT = {"shrink_axis_mask": 1, "ellipsis_mask": 0, "new_axis_mask": 0, "begin_mask": 0}


@rule("Unpack", algebra="unpack(pack(x, y)) -> x, y", accuracy=Accuracy.EXACT)
def unpack_of_pack(r: Rewriter, node: Node) -> Output | str | None:
    pack = node.inputs[0].node
    if pack.op != "Pack" or pack.attr("axis") != node.attr("axis") or pack.attr("N") != node.attr("num"):
        return None
    # The outputs get different replacements, so no single node could carry the edges on.
    if r.ctx.is_preserved(node) or node.control_inputs or pack.control_inputs or r.ctx.has_effects(pack):
        return "other nodes refer to it, or it waits for other nodes or effects"
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
    # Only if the merged gather has no more rows to fetch than the inner one; rows out of range are errors, or zeros on a GPU.
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
def gather_of_unique(r: Rewriter, node: Node) -> Output | str | None:
    inner = node.inputs[0].node
    places = node.inputs[1]
    if places.node.op not in ("Unique", "UniqueWithCounts") or places.index != 1 or not _is_along_first(r, node):
        return None
    # A write may come between the two, and the variable would be read at another time.
    if inner.op == "ResourceGather":
        return "it reads a variable"
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
        # Widening changes no number, and the op takes row numbers of both dtypes.
        if cast.attrs["SrcT"] is dtypes.int32 and cast.attrs["DstT"] is dtypes.int64:
            r.graph.set_input(node, position, cast.inputs[0])
            node.set_attr(attr, dtypes.int32)
            return node.output()
        r.refuse("the cast may change the numbers")
    return None


@rule("Select", "SelectV2", algebra="select(c, x, x) -> x", accuracy=Accuracy.EXACT)
def select_of_equals(r: Rewriter, node: Node) -> Output | str | None:
    _, x, y = node.inputs
    if x != y:
        return None
    # Select takes a condition of the values' shape or a vector of rows; SelectV2 broadcasts all three.
    if node.op == "SelectV2" and not r.same_shape(x, node.output()):
        return "the condition may broadcast the values"
    return x
