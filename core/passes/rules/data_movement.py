"""Movements of data that cancel, merge or move nothing."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from ...graph.graph import Graph, Node, Output
from ...support import dataclasses
from ...types.dims import Dim, may_stand_for_rest
from ...types.dtypes import DType
from ...types.shapes import Shape
from ..base.accuracy import Accuracy, RuleSet
from ..base.graph_pass import Pass, PassContext
from . import pushing, selection_rules
from .rewrite import Rewriter, attrs_of, holds

RULES = RuleSet()
rule = RULES.rule


@dataclasses.dataclass(frozen=True)
class Structure(Pass):
    """Remove reshapes, transposes, casts, slices and pads without effect, and merge consecutive data movements."""

    name: ClassVar[str] = "structure"
    summary: ClassVar[str] = "cancel and merge redundant reshapes, transposes, casts, slices, pads, concats"
    follows: ClassVar[str] = "shapes"
    rule_sets: ClassVar[tuple[RuleSet, ...]] = (RULES, pushing.RULES, selection_rules.RULES)

    def run(self, graph: Graph, ctx: PassContext) -> None:
        Rewriter(graph, ctx).apply(*self.rule_sets)


@rule("Reshape", algebra="reshape(reshape(x, _), s) -> reshape(x, s)", accuracy=Accuracy.EXACT)
def merge_reshapes(r: Rewriter, node: Node) -> Output | None:
    inner = node.inputs[0].node
    if inner.op not in ("Reshape", "Squeeze", "ExpandDims"):
        return None
    if _zeros_decide(r, inner.inputs[0], node.inputs[1]):
        r.refuse("a size may be 0, and then -1 depends on the shape that is reshaped")
        return None
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
def one_unknown_dimension(r: Rewriter, node: Node) -> Output | None:
    sizes = r.partial_value(node.inputs[1])
    if sizes is None:
        return None
    unknown = [i for i, size in enumerate(sizes) if isinstance(size, Dim)]
    elements = r.shape(node.inputs[0]).num_elements
    if len(unknown) != 1 or any(isinstance(size, int) and size <= 0 for size in sizes.tolist()):
        r.refuse("several dimensions are unknown, or a dimension may be 0")
        return None
    if elements is None or elements != math.prod(sizes.tolist(), start=1):
        r.refuse("the unknown dimension may not follow from the others")
        return None
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


@rule(
    "Slice",
    "StridedSlice",
    "ReverseV2",
    "Roll",
    algebra="a full slice, a reverse of no axes -> x",
    accuracy=Accuracy.EXACT,
)
def whole_slice(r: Rewriter, node: Node) -> Output | None:
    x = node.inputs[0]
    if node.op in ("ReverseV2", "Roll"):
        shape, axes = r.shape(x), r.constant_value(node.inputs[-1])
        if axes is None or shape.dims is None:
            return None
        rank = len(shape.dims)
        return x if all(-rank <= a < rank and shape.dims[a] == 1 for a in map(int, np.ravel(axes))) else None
    if not r.same_shape(x, node.output()):
        return None
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
    return node.inputs[1] if node.op == "Split" else node.inputs[0]


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
