"""Random programs on matrices with an unknown number of rows, each in a graph and in plain NumPy.

Every value is a pair: the tensor, and a function of the fed arrays that computes it in NumPy alone.
"""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tests.cases.control_flow import counted
from tests.functions import define
from tfg.core.building.builder import GraphBuilder
from tfg.core.graph.graph import Graph, Output

Arrays = Mapping[str, Any]
INPUTS = ("x", "y", "z")
FED = [f"{name}:0" for name in INPUTS]
ROWS = ((1, 2, 1), (2, 1, 2), (2, 2, 2), (3, 1, 1), (1, 1, 1), (1, 3, 3), (0, 1, 0), (1, 0, 1), (0, 0, 0))
"""The rows of the inputs in a run: equal and different, one and none among them."""
_MOST = 4
"""Numbers are cut to this, so that tiles and pads stay small."""


@dataclasses.dataclass(frozen=True)
class Value:
    output: Output
    compute: Callable[[Arrays], Any]


class Program:
    """A graph of `steps` random operations, the operations `more` among them; `results` are the last values."""

    def __init__(self, seed: int, steps: int = 7, more: Sequence[Callable[[Program], Value]] = ()) -> None:
        matrices = (*MATRICES, *more)
        self.draws = random.Random(seed)
        self.b = GraphBuilder()
        self.matrices = [Value(self._placeholder(name), lambda arrays, name=name: arrays[name]) for name in INPUTS]
        self.numbers = [self.rows(value) for value in self.matrices]
        for _ in range(steps):
            if self.draws.random() < 0.3:
                self.numbers.append(self.draws.choice(NUMBERS)(self))
            else:
                self.matrices.append(self.draws.choice(matrices)(self))
        self.results = [*self.matrices[-2:], self.numbers[-1]]

    @property
    def graph(self) -> Graph:
        return self.b.graph

    def _placeholder(self, name: str) -> Output:
        return self.b.Placeholder(dtype="double", shape=(None, 3), name=name)

    def matrix(self) -> Value:
        return self.draws.choice(self.matrices)

    def number(self) -> Value:
        return self.draws.choice(self.numbers)

    def rows(self, value: Value) -> Value:
        shape = self.b.Shape(value.output)
        return Value(self.b.StridedSlice(shape, [0], [1], [1], shrink_axis_mask=1), lambda a: len(value.compute(a)))

    def small(self) -> Value:
        """Return a number from 0 to `_MOST`."""
        number = self.number()
        cut = self.b.Minimum(self.b.Maximum(number.output, 0), _MOST)
        return Value(cut, lambda a: min(max(number.compute(a), 0), _MOST))

    def sizes(self, *sizes: Value | int) -> Output:
        return self.b.Pack([size.output if isinstance(size, Value) else np.int32(size) for size in sizes])


OPS = (("AddV2", np.add), ("Sub", np.subtract), ("Mul", np.multiply), ("Maximum", np.maximum))


def _sum_of_numbers(p: Program) -> Value:
    m, n = p.number(), p.number()
    op, function = p.draws.choice(OPS)
    return Value(p.b.apply(op, m.output, n.output), lambda a: int(function(m.compute(a), n.compute(a))))


def _quotient(p: Program) -> Value:
    """A quotient, or the remainder of a division."""
    m, n = p.number(), p.number()
    op, function = p.draws.choice((("FloorDiv", np.floor_divide), ("FloorMod", np.mod)))
    divisor = p.b.Maximum(n.output, 1)
    return Value(p.b.apply(op, m.output, divisor), lambda a: int(function(m.compute(a), max(n.compute(a), 1))))


def _rows_of_broadcast(p: Program) -> Value:
    value = _binary(p)
    p.matrices.insert(3, value)
    return p.rows(value)


def _binary(p: Program) -> Value:
    v, w = p.matrix(), p.matrix()
    ops = (
        ("AddV2", np.add),
        ("Sub", np.subtract),
        ("Mul", np.multiply),
        ("Maximum", np.maximum),
        ("SquaredDifference", _square),
    )
    op, function = p.draws.choice(ops)
    return Value(p.b.apply(op, v.output, w.output), lambda a: function(v.compute(a), w.compute(a)))


def _square(v: Any, w: Any) -> Any:
    return np.square(v - w)


def _selected(p: Program) -> Value:
    u, v, w = p.matrix(), p.matrix(), p.matrix()
    chosen = p.b.SelectV2(p.b.Greater(u.output, 0.0), v.output, w.output)
    return Value(chosen, lambda a: np.where(u.compute(a) > 0, v.compute(a), w.compute(a)))


def _row(p: Program) -> Value:
    """The sum of the rows, a row."""
    v = p.matrix()
    return Value(p.b.Sum(v.output, [0], keep_dims=True), lambda a: v.compute(a).sum(0, keepdims=True))


def _filled(p: Program) -> Value:
    n = p.small()
    return Value(p.b.Fill(p.sizes(n, 3), np.float64(2)), lambda a: np.full((n.compute(a), 3), 2.0))


def _tiled(p: Program) -> Value:
    v, n = p.matrix(), p.small()
    return Value(p.b.Tile(v.output, p.sizes(n, 1)), lambda a: np.tile(v.compute(a), (n.compute(a), 1)))


def _sliced(p: Program) -> Value:
    """The first rows, or the last."""
    v, n = p.matrix(), p.small()
    begin, end = p.sizes(n), p.b.constant(np.zeros(1, np.int32))
    if p.draws.random() < 0.5:
        return Value(p.b.StridedSlice(v.output, begin, end, [1], end_mask=1), lambda a: v.compute(a)[n.compute(a) :])
    return Value(p.b.StridedSlice(v.output, end, begin, [1], begin_mask=1), lambda a: v.compute(a)[: n.compute(a)])


def _slice(p: Program) -> Value:
    """Slice to as many rows as another matrix has, if there are as many."""
    v, w = p.matrix(), p.matrix()
    count = p.b.Minimum(p.rows(v).output, p.rows(w).output)
    size = p.b.Pack([count, np.int32(3)])
    return Value(p.b.Slice(v.output, [0, 0], size), lambda a: v.compute(a)[: len(w.compute(a))])


def _joined(p: Program) -> Value:
    v, w = p.matrix(), p.matrix()
    return Value(p.b.ConcatV2([v.output, w.output], 0), lambda a: np.concatenate([v.compute(a), w.compute(a)]))


def _padded(p: Program) -> Value:
    v, n = p.matrix(), p.small()
    widths = p.b.Pack([p.sizes(n, 0), p.b.constant(np.zeros(2, np.int32))])
    return Value(p.b.Pad(v.output, widths), lambda a: np.pad(v.compute(a), ((n.compute(a), 0), (0, 0))))


def _reshaped(p: Program) -> Value:
    """To a vector of a computed size, or of -1, and back."""
    v = p.matrix()
    rows = p.rows(v)
    flat = p.b.Reshape(v.output, p.draws.choice(([-1], p.b.Pack([p.b.Mul(rows.output, 3)]))))
    sizes = p.draws.choice((p.sizes(-1, 3), p.sizes(rows, 3)))
    return Value(p.b.Neg(p.b.Reshape(flat, sizes)), lambda a: -v.compute(a))


def _reshaped_like(p: Program) -> Value:
    """Reshape a constant of two rows to the shape of a matrix: an error unless it has two rows."""
    v, constant = p.matrix(), np.arange(6.0)
    shape = p.b.Shape(v.output)
    return Value(p.b.Reshape(constant, shape), lambda a: constant.reshape(v.compute(a).shape))


def _one_hot(p: Program) -> Value:
    n = p.small()
    hot = p.b.OneHot(p.b.Range(0, n.output, 1), 3, np.float64(1), np.float64(0))
    return Value(hot, lambda a: np.eye(_MOST, 3)[: n.compute(a)])


def _product(p: Program) -> Value:
    v, weights = p.matrix(), np.arange(9.0).reshape(3, 3) - 4
    return Value(p.b.MatMul(v.output, weights), lambda a: v.compute(a) @ weights)


def _gathered(p: Program) -> Value:
    """The first rows in the opposite order."""
    v, n = p.matrix(), p.small()
    count = p.b.Minimum(n.output, p.rows(v).output)
    places = p.b.ReverseV2(p.b.Range(0, count, 1), [0])
    return Value(p.b.GatherV2(v.output, places, 0), lambda a: v.compute(a)[: n.compute(a)][::-1])


def _split(p: Program) -> Value:
    """The first rows, or all others."""
    v, n, place = p.matrix(), p.small(), p.draws.randrange(2)
    sizes = p.b.Pack([p.b.Minimum(n.output, p.rows(v).output), np.int32(-1)])
    part = p.b.SplitV(v.output, sizes, 0, num_split=2)[place]
    return Value(part, lambda a: v.compute(a)[n.compute(a) :] if place else v.compute(a)[: n.compute(a)])


def _scattered(p: Program) -> Value:
    """The rows before rows of zeros."""
    v, n = p.matrix(), p.small()
    rows = p.rows(v).output
    places = p.b.ExpandDims(p.b.Range(0, rows, 1), 1)
    sizes = p.b.Pack([p.b.AddV2(rows, n.output), np.int32(3)])
    return Value(p.b.ScatterNd(places, v.output, sizes), lambda a: np.pad(v.compute(a), ((0, n.compute(a)), (0, 0))))


def _segments(p: Program) -> Value:
    """The sums of the rows at even and at odd places, and of none."""
    v, n = p.matrix(), p.small()
    places = p.b.FloorMod(p.b.Range(0, p.rows(v).output, 1), 2)
    sums = p.b.UnsortedSegmentSum(v.output, places, p.b.AddV2(n.output, 2))
    return Value(sums, lambda a: np.array([v.compute(a)[place : 2 if place > 1 else None : 2].sum(0) for place in
                                           range(n.compute(a) + 2)]))  # fmt: skip


def _masked(p: Program) -> Value:
    """The rows of a positive sum."""
    v = p.matrix()
    places = p.b.Where(p.b.Greater(p.b.Sum(v.output, [1]), np.float64(0)))
    return Value(p.b.GatherNd(v.output, places), lambda a: v.compute(a)[v.compute(a).sum(1) > 0])


def _convolved(p: Program) -> Value:
    """Each row and twice the next, for every row or for every second."""
    v, stride = p.matrix(), p.draws.choice((1, 2))
    images = p.b.Reshape(v.output, p.sizes(1, p.rows(v), 3, 1))
    result = p.b.Conv2D(images, np.array([1.0, 2.0]).reshape(2, 1, 1, 1), strides=[1, stride, 1, 1], padding="SAME")
    return Value(p.b.Reshape(result, [-1, 3]), lambda a: _with_next(v.compute(a), stride, lambda x, y: x + 2 * y, 0.0))


def _pooled(p: Program) -> Value:
    """The larger of each row and the next."""
    v, stride = p.matrix(), p.draws.choice((1, 2))
    images = p.b.Reshape(v.output, p.sizes(1, p.rows(v), 3, 1))
    result = p.b.MaxPool(images, ksize=[1, 2, 1, 1], strides=[1, stride, 1, 1], padding="SAME")
    return Value(p.b.Reshape(result, [-1, 3]), lambda a: _with_next(v.compute(a), stride, np.maximum, -np.inf))


def _with_next(rows: Any, stride: int, combine: Callable[[Any, Any], Any], last: float) -> Any:
    after = np.concatenate([rows[1:], np.full((1, 3), last)])[: len(rows)]
    return combine(rows, after)[::stride]


def _listed(p: Program) -> Value:
    """An element of a list of matrices."""
    v, w, place = p.matrix(), p.matrix(), p.draws.randrange(2)
    shape = p.draws.choice((np.array([-1, 3], np.int32), np.int32(-1)))
    handle = p.b.EmptyTensorList(shape, np.int32(-1), element_dtype="double", shape_type="int32")
    for value in (v, w):
        handle = p.b.TensorListPushBack(handle, value.output)
    element = p.b.TensorListGetItem(handle, place, shape, element_dtype="double")
    return Value(p.b.EnsureShape(element, shape=(None, 3)), lambda a: (v.compute(a), w.compute(a))[place])


def _looped(p: Program) -> Value:
    """A loop that adds rows in each of two iterations."""
    v, w = p.matrix(), p.matrix()
    types = ["int32", "double", "double"]
    if "add_rows" not in p.graph.functions:
        define(p.b, "is_early", types, lambda g, i, rows, more: [g.Less(i, 2)])
        define(p.b, "add_rows", types, lambda g, i, rows, more: [g.AddV2(i, 1), g.ConcatV2([rows, more], 0), more])
    looped = p.b.While([np.int32(0), v.output, w.output], cond="is_early", body="add_rows", T=types)[1]
    return Value(looped, lambda a: np.concatenate([v.compute(a), w.compute(a), w.compute(a)]))


def _multiplied(p: Program) -> Value:
    """v w^T w: the products of all rows of two matrices, contracted by an unknown size."""
    v, w = p.matrix(), p.matrix()
    if p.draws.random() < 0.5:
        products = p.b.Einsum([v.output, w.output], equation="nd,md->nm")
        result = p.b.Einsum([products, w.output], equation="nm,md->nd")
    else:
        result = p.b.MatMul(p.b.MatMul(v.output, w.output, transpose_b=True), w.output)
    return Value(result, lambda a: v.compute(a) @ w.compute(a).T @ w.compute(a))


def _multiplied_row_by_row(p: Program) -> Value:
    """A batch of one row each, by one matrix for all."""
    v, weights = p.matrix(), np.arange(9.0).reshape(3, 3) - 4
    batch = p.b.BatchMatMulV2(p.b.ExpandDims(v.output, 1), weights[None])
    return Value(p.b.Squeeze(batch, squeeze_dims=[1]), lambda a: v.compute(a) @ weights)


def _stacked(p: Program) -> Value:
    """Each row before its negative, or one of the two."""
    v, place = p.matrix(), p.draws.randrange(2)
    both = p.b.Pack([v.output, p.b.Neg(v.output)], axis=1)
    if p.draws.random() < 0.5:
        return Value(p.b.Unpack(both, num=2, axis=1)[place], lambda a: -v.compute(a) if place else v.compute(a))
    return Value(p.b.Reshape(both, [-1, 3]), lambda a: np.stack([v.compute(a), -v.compute(a)], 1).reshape(-1, 3))


REDUCTIONS = (("Max", np.max), ("Min", np.min), ("Prod", np.prod))


def _reduced(p: Program) -> Value:
    v = p.matrix()
    op, function = p.draws.choice(REDUCTIONS)
    return Value(p.b.apply(op, v.output, np.int32([0]), keep_dims=True), lambda a: function(v.compute(a), 0, keepdims=True))


def _selected_rows(p: Program) -> Value:
    """The rows that are positive in all columns or in any, and the negatives of all others, by a vector of conditions."""
    v = p.matrix()
    op, function = p.draws.choice((("All", np.all), ("Any", np.any)))
    chosen = p.b.apply(op, p.b.Greater(v.output, np.float64(0)), np.int32([1]))
    result = p.b.Select(chosen, v.output, p.b.Neg(v.output))
    return Value(result, lambda a: np.where(function(v.compute(a) > 0, 1)[:, None], v.compute(a), -v.compute(a)))


def _broadcast(p: Program) -> Value:
    """A single row again and again, or as many rows as there are."""
    v, n = p.matrix(), p.small()
    return Value(p.b.BroadcastTo(v.output, p.sizes(n, 3)), lambda a: np.broadcast_to(v.compute(a), (n.compute(a), 3)))


def _highest(p: Program) -> Value:
    """The highest numbers of each column."""
    v, n = p.matrix(), p.small()
    count = p.b.Minimum(n.output, p.rows(v).output)
    highest = p.b.TopKV2(p.b.Transpose(v.output, [1, 0]), count)[0]
    return Value(p.b.Transpose(highest, [1, 0]), lambda a: -np.sort(-v.compute(a), 0)[: n.compute(a)])


def _cumulated(p: Program) -> Value:
    v = p.matrix()
    if p.draws.random() < 0.5:
        return Value(p.b.Cumsum(v.output, 0), lambda a: np.cumsum(v.compute(a), 0))
    return Value(p.b.Cumsum(v.output, 0, reverse=True), lambda a: np.cumsum(v.compute(a)[::-1], 0)[::-1])


STRIDES = (
    ({"begin_mask": 1, "end_mask": 1}, [2], lambda v: v[::2]),
    ({"begin_mask": 1, "end_mask": 1}, [-1], lambda v: v[::-1]),
    ({"begin_mask": 1}, [1], lambda v: v[:-1]),
    ({"end_mask": 1}, [1], lambda v: v[-1:]),
)


def _strided(p: Program) -> Value:
    v, (masks, strides, take) = p.matrix(), p.draws.choice(STRIDES)
    last = p.b.constant(np.int32([-1]))
    return Value(p.b.StridedSlice(v.output, last, last, strides, **masks), lambda a: take(v.compute(a)))


def _updated(p: Program) -> Value:
    """The first rows are twice what they were."""
    v, n = p.matrix(), p.small()
    count = p.b.Minimum(n.output, p.rows(v).output)
    places = p.b.ExpandDims(p.b.Range(0, count, 1), 1)
    result = p.b.TensorScatterAdd(v.output, places, p.b.GatherNd(v.output, places))
    return Value(result, lambda a: np.concatenate([2 * v.compute(a)[: n.compute(a)], v.compute(a)[n.compute(a) :]]))


def _called(p: Program) -> Value:
    """A function whose calls have other sizes each."""
    v, w = p.matrix(), p.matrix()
    if "apart" not in p.graph.functions:
        define(p.b, "apart", ["double", "double"], lambda g, x, y: [g.Sub(g.Mul(x, y), y)])
    result = p.b.PartitionedCall([v.output, w.output], Tout=["double"], f="apart")[0]
    return Value(result, lambda a: v.compute(a) * w.compute(a) - w.compute(a))


def _product_of_sizes(p: Program) -> Value:
    v = p.matrix()
    product = p.b.Size(v.output) if p.draws.random() < 0.5 else p.b.Prod(p.b.Shape(v.output), np.int32([0]))
    return Value(product, lambda a: 3 * len(v.compute(a)))


def _smaller(p: Program) -> Value:
    m, n = p.number(), p.number()
    smaller = p.b.SelectV2(p.b.Less(m.output, n.output), m.output, n.output)
    return Value(smaller, lambda a: min(m.compute(a), n.compute(a)))


def _from_comparison(p: Program) -> Value:
    """1 for equal numbers of rows."""
    v, w = p.matrix(), p.matrix()
    equal = p.b.Cast(p.b.Equal(p.rows(v).output, p.rows(w).output), DstT="int32")
    return Value(equal, lambda a: int(len(v.compute(a)) == len(w.compute(a))))


def _different(p: Program) -> Value:
    """The rows at the different remainders of places: the first two at most."""
    v = p.matrix()
    places = p.b.UniqueV2(p.b.FloorMod(p.b.Range(0, p.rows(v).output, 1), 2), np.int32([0]))[0]
    return Value(p.b.GatherV2(v.output, places, 0), lambda a: v.compute(a)[:2])


def _sums_of_pairs(p: Program) -> Value:
    v = p.matrix()
    sums = p.b.SegmentSum(v.output, p.b.FloorDiv(p.b.Range(0, p.rows(v).output, 1), 2))
    return Value(sums, lambda a: v.compute(a)[::2] + np.pad(v.compute(a)[1::2], ((0, len(v.compute(a)) % 2), (0, 0))))


def _branched(p: Program) -> Value:
    """Both, or the negative of the second."""
    v, w = p.matrix(), p.matrix()
    types = ["double", "double"]
    if "both" not in p.graph.functions:
        define(p.b, "both", types, lambda g, x, y: [g.ConcatV2([x, y], 0)])
        define(p.b, "negative", types, lambda g, x, y: [g.Neg(y)])
    condition = p.b.Greater(p.rows(v).output, p.rows(w).output)
    branches = {"then_branch": "both", "else_branch": "negative"}
    result = p.b.If(condition, [v.output, w.output], Tin=types, Tout=["double"], **branches)[0]
    return Value(result, lambda a: _if_longer(v.compute(a), w.compute(a)))


def _switched(p: Program) -> Value:
    """The same in version 1."""
    v, w = p.matrix(), p.matrix()
    condition = p.b.Greater(p.rows(v).output, p.rows(w).output)
    (_, first), (other, second) = (p.b.Switch(value.output, condition) for value in (v, w))
    result = p.b.Merge([p.b.Neg(other), p.b.ConcatV2([first, second], 0)])[0]
    return Value(result, lambda a: _if_longer(v.compute(a), w.compute(a)))


def _if_longer(v: Any, w: Any) -> Any:
    return np.concatenate([v, w]) if len(v) > len(w) else -w


def _looped_in_frames(p: Program) -> Value:
    """A loop of version 1 that adds a matrix as often as a number says."""
    v, w, n = p.matrix(), p.matrix(), p.small()

    def add(values: Any, fixed: Any) -> Any:
        return [p.b.ConcatV2([values[0], fixed[0]], fixed[1])]

    frame = f"frame_{len(p.graph)}"
    looped = counted(p.b, frame, n.output, [v.output], [w.output, np.int32(0)], add)[1]
    return Value(looped, lambda a: np.concatenate([v.compute(a), *[w.compute(a)] * n.compute(a)]))


def _written(p: Program) -> Value:
    """The rows through a TensorArray, in the opposite order."""
    v = p.matrix()
    count = p.rows(v).output
    places = p.b.Range(0, count, 1)
    handle, flow = p.b.TensorArrayV3(count, dtype="double", element_shape=(3,))
    flow = p.b.TensorArrayScatterV3(handle, places, v.output, flow)
    result = p.b.TensorArrayGatherV3(handle, p.b.ReverseV2(places, [0]), flow, dtype="double", element_shape=(3,))
    return Value(result, lambda a: v.compute(a)[::-1])


NUMBERS: tuple[Callable[[Program], Value], ...] = (
    _sum_of_numbers, _quotient, _rows_of_broadcast, _product_of_sizes, _smaller, _from_comparison,
)  # fmt: skip
MATRICES: tuple[Callable[[Program], Value], ...] = (
    _binary, _binary, _binary, _selected, _row, _filled, _tiled, _sliced, _slice, _joined, _padded, _reshaped, _reshaped_like,
    _one_hot, _product, _gathered, _split, _scattered, _segments, _multiplied, _multiplied_row_by_row, _stacked, _reduced,
    _selected_rows, _broadcast, _highest, _cumulated, _strided, _updated, _called,
)  # fmt: skip
MORE: tuple[Callable[[Program], Value], ...] = (
    _masked, _convolved, _pooled, _listed, _looped, _different, _sums_of_pairs, _branched, _switched, _looped_in_frames,
    _written,
)  # fmt: skip
"""Operations that other engines refuse, or compute in fewer digits."""


def arrays(rows: tuple[int, ...], seed: int) -> dict[str, np.ndarray]:
    draws = np.random.default_rng(seed)
    return {name: draws.normal(size=(count, 3)) for name, count in zip(INPUTS, rows)}


def expected(values: list[Value], fed: Arrays) -> list[Any] | None:
    """Return the results in NumPy, None where sizes do not fit."""
    try:
        return [np.asarray(value.compute(fed)) for value in values]
    except ValueError:
        return None
