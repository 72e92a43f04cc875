"""Order and membership: top k, n-th element, unique values, differences of lists, search in sorted rows."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any, Final, Literal

import numpy as np

from ...building.gradbuilder import GradientBuilder, Gradients
from ...graph.graph import Node, Output
from ...numerics.group_reductions import settle_nans
from ...numerics.half_precision import wide
from ...numerics.integers import extremes
from ...numerics.sequences import sorted_top_k, top_k_beside_nan, unsorted_top_k
from ...registry.registry import (
    Cost,
    arrays,
    flops,
    gradient,
    kernel,
    lower,
    not_differentiable,
    onnx,
    shape,
    shaped,
    without_gradient,
    zero_cost,
)
from ...support.errors import InvalidArgumentError, UnimplementedError
from ...types import dtypes
from ...types.arrays import Array, Result
from ...types.dims import Dim, DimLike
from ...types.dtypes import DType
from ...types.shapes import UNKNOWN, Shape, TensorSpec, dims_of, unknown_dims
from ..shared.argument_checks import require, require_known_sizes, require_rank
from ..shared.elementwise_tables import counted
from ..shared.onnx_lowerings import along
from ..shared.shape_arguments import normalize_axis, replaced, scalar_int
from ..shared.sparse_tensors import common_keys


@kernel("TopKV2", facts=("last_axis",))
def top_k(x: Array, k: Array, *, sorted: bool, index_type: DType) -> tuple[Result, Result]:
    """The k greatest along the last dimension in descending order and where they were; of equals the first comes first."""
    if np.ndim(k) != 0:
        raise InvalidArgumentError(f"k must be scalar, got shape {Shape(np.shape(k))}")
    x = np.asarray(x)
    k = _checked_k(x.shape, scalar_int(k, "k"))
    index = _top_index(x, k, sorted)
    # take_along_axis builds an index for each dimension, which a vector does not need.
    values = x[index] if x.ndim == 1 else np.take_along_axis(x, index, -1)
    return values, index.astype(index_type.numpy)


def _checked_k(dims: tuple[int, ...], k: int) -> int:
    if k < 0:
        raise InvalidArgumentError(f"Need k >= 0, got {k}")
    if len(dims) < 1:
        raise InvalidArgumentError(f"input must be >= 1-D, got shape {Shape(dims)}")
    if dims[-1] < k:
        raise InvalidArgumentError(f"input must have at least k columns. Had {dims[-1]}, needed {k}")
    return k


_LONGEST_IMITATED: Final = 1024
"""The longest row whose order beside NaN is that of TensorFlow's algorithm; in a longer row NaN comes last. The comparisons
are Python's then, and the algorithm takes time in the square of a row in which NaN hides that it is not in order.
"""


def _top_index(x: Array, k: int, is_sorted: bool) -> Array:
    keys = _reversed_order(x)
    if x.dtype.kind in "fV" and k > 0 and x.shape[-1] <= _LONGEST_IMITATED and np.isnan(x).any():
        return _top_index_beside_nan(x, keys, k, is_sorted)
    if not is_sorted and 1 < k < x.shape[-1]:  # TensorFlow sorts whole rows whatever `sorted` is
        return unsorted_top_k(keys.reshape(-1, x.shape[-1]), k).reshape(*x.shape[:-1], k)
    return sorted_top_k(keys, k)


def _top_index_beside_nan(x: Array, keys: Array, k: int, is_sorted: bool) -> Array:
    # TensorFlow's comparisons are no order with NaN, so that its places follow from the algorithm: of [3, NaN, 2] it gives 2
    # for k = 1, 3 and NaN for k = 2, and all as they stand for k = 3.
    rows, keys = x.reshape(-1, x.shape[-1]), keys.reshape(-1, x.shape[-1])
    if k == 1:
        groups = np.repeat(np.arange(len(rows)), rows.shape[1])
        largest = settle_nans(np.maximum, groups, rows.reshape(-1), in_packets=True)[1].reshape(rows.shape).max(-1)
        index = np.argmax(rows == largest[:, None], -1)[:, None]  # 0 for a NaN, which equals none
    else:
        index = np.stack([top_k_beside_nan(row, k, is_sorted) for row in keys])
    return index.reshape(*x.shape[:-1], k)


def _reversed_order(x: Array) -> Array:
    """Return numbers whose order is the reverse of the order of `x`; NaN comes last."""
    if x.dtype.kind in "iu":
        return ~x  # the least integer, and unsigned ones, have no negative
    return -wide(x)


@shape("TopKV2")
def top_k_shape(x: TensorSpec, k: TensorSpec) -> list[Shape]:
    require_rank(k, 0, "k")
    counts = dims_of(k)
    return [_top_k_shape(x, counts[0] if counts else Dim.unknown())] * 2


def _top_k_shape(x: TensorSpec, k: DimLike) -> Shape:
    if x.rank is None:
        return UNKNOWN
    if x.rank == 0:
        raise InvalidArgumentError("input must be at least 1-D")
    if isinstance(k, int) and (k < 0 or (isinstance(x.shape[-1], int) and x.shape[-1] < k)):
        raise InvalidArgumentError(f"input must have at least k = {k} columns, not {x.shape}")
    return replaced(x.shape, -1, k)


@kernel("TopK", facts=("last_axis",))
def top_k_v1(x: Array, *, k: int, sorted: bool) -> tuple[Result, Result]:
    """TopKV2 with a fixed k and int32 indices."""
    return top_k(x, np.array(k), sorted=sorted, index_type=dtypes.int32)


@shape("TopK")
def top_k_v1_shape(x: TensorSpec, *, k: int) -> list[Shape]:
    return [_top_k_shape(x, k)] * 2


@gradient("TopK", "TopKV2")
def top_k_gradient(g: GradientBuilder, node: Node, grad: Output, _: Output) -> Gradients:
    """Scatter each value's gradient to the element's place."""
    x = node.inputs[0]
    index = node.output(1)
    index = index if index.base_dtype.name == "int32" else g.Cast(index, DstT="int32")
    source = g.shape_of(x)
    size = g.Reshape(g.StridedSlice(source, [-1], [0], [1], end_mask=1), [])
    flat = g.Reshape(index, g.ConcatV2([g.constant([-1]), g.StridedSlice(g.shape_of(index), [-1], [0], [1], end_mask=1)], 0))
    rows = g.StridedSlice(g.shape_of(flat), [0], [1], [1], shrink_axis_mask=1)
    starts = g.Mul(g.Range(0, rows, 1), size)
    places = g.Reshape(g.AddV2(flat, g.ExpandDims(starts, 1)), [-1, 1])
    total = g.Reshape(g.Prod(source, [0]), [1])
    scattered = g.ScatterNd(places, g.Reshape(grad, [-1]), total)
    return [g.Reshape(scattered, source), *([None] * (len(node.inputs) - 1))]


@flops("TopK", "TopKV2")
def top_k_flops(x: TensorSpec, *rest: TensorSpec) -> Cost:
    """A lower bound, for falling numbers: one comparison less than each row has elements."""
    return Cost(flops=x.shape.num_elements - x.shape[:-1].num_elements)


@kernel("ApproxTopK")
def approx_top_k(
    x: Array, *, k: int, reduction_dimension: int, is_max_k: bool, aggregate_to_topk: bool
) -> tuple[Result, Result]:
    """The k greatest (or least) along a dimension and where they were; exact here."""
    x = np.asarray(x)
    axis = normalize_axis(reduction_dimension, x.ndim, "reduction_dimension")
    moved = np.moveaxis(x, axis, -1)
    _checked_k(moved.shape, k)
    # TensorFlow's CPU kernel is exact as well: recall and layout attributes speak of TPUs.
    index = sorted_top_k(_reversed_order(moved) if is_max_k else wide(moved), k)
    values = np.take_along_axis(moved, index, -1)
    return np.moveaxis(values, -1, axis), np.moveaxis(index.astype(np.int32), -1, axis)


@shape("ApproxTopK")
def approx_top_k_shape(x: TensorSpec, *, k: int, reduction_dimension: int, aggregate_to_topk: bool) -> Sequence[Shape]:
    if x.rank is None:
        return UNKNOWN, UNKNOWN
    axis = normalize_axis(reduction_dimension, x.rank, "reduction_dimension")
    return [replaced(x.shape, axis, k)] * 2


@gradient("ApproxTopK")
def approx_top_k_gradient(g: GradientBuilder, node: Node, grad: Output, index: Output) -> Gradients:
    if node.attr("reduction_dimension") != -1:
        raise UnimplementedError("ApproxTopK has a gradient along the last dimension only", node=node.name, op=node.op)
    return top_k_gradient(g, node, grad, index)


@flops("ApproxTopK")
def approx_top_k_flops(x: TensorSpec, *, reduction_dimension: int) -> Cost:
    """At least, as TopK."""
    return Cost(flops=x.shape.num_elements - replaced(x.shape, reduction_dimension, 1).num_elements)


@kernel("NthElement", shape="... n, () -> ...", facts=("own_gradient",))
def nth_element(x: Array, n: Array, *, reverse: bool) -> Result:
    """The n-th least (or greatest) along the last dimension."""
    x = np.asarray(x)
    if np.ndim(n) != 0:
        raise InvalidArgumentError(f"N must be scalar but has rank {np.ndim(n)}")
    n = scalar_int(n, "n")
    if n < 0:
        raise InvalidArgumentError(f"n must be non-negative but is {n}")
    if x.ndim < 1:
        raise InvalidArgumentError(f"Input must be at least rank 1 but is rank {x.ndim}")
    if x.shape[-1] <= n:
        raise InvalidArgumentError(f"Input must have last dimension > n = {n}")
    # NumPy has no partition in descending order: the n-th greatest is counted from the other end.
    n = x.shape[-1] - 1 - n if reverse else n
    return np.partition(wide(x), n, -1)[..., n].astype(x.dtype)


@gradient("NthElement")
def nth_element_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    """The gradient goes in equal parts to all elements that equal the n-th."""
    x = node.inputs[0]
    chosen = g.Cast(g.Equal(g.ExpandDims(node.output(), -1), x), DstT=grad.base_dtype)
    count = g.Sum(chosen, [-1], keep_dims=True)
    return [g.Mul(g.RealDiv(chosen, count), g.ExpandDims(grad, -1)), None]


@flops("NthElement")
def nth_element_flops(x: TensorSpec, n: TensorSpec) -> Cost:
    """At least, as TopK."""
    return Cost(flops=x.shape.num_elements - x.shape[:-1].num_elements)


def unique_index(x: Array) -> tuple[Array, ...]:
    """Return (first occurrences in order, number of the value of each element, counts) of a vector."""
    if x.dtype == object:
        return _unique_objects(x.tolist())
    if x.dtype.kind in "iu" and x.size:
        least, greatest = extremes(x)
        # A table with a place for each number of the range takes less time than a sort while it is not much larger than the
        # input.
        if greatest - least < 4 * x.size + 1024:
            return _unique_by_table(x, least, greatest)
    # NaN equals nothing, as in TensorFlow's hash map.
    _, first, inverse, counts = np.unique(wide(x), return_index=True, return_inverse=True, return_counts=True, equal_nan=False)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(order.size)
    return first[order], rank[inverse.ravel()], counts[order]


def _unique_objects(items: list[bytes | tuple[bytes | float, ...]]) -> tuple[Array, Array, Array]:
    numbers: dict = {}
    first: list[int] = []
    inverse = np.empty(len(items), np.int64)
    for i, item in enumerate(items):
        number = numbers.setdefault(item, len(numbers))
        inverse[i] = number
        if number == len(first):
            first.append(i)
    return np.array(first, np.int64), inverse, np.bincount(inverse, minlength=len(first))


def _unique_by_table(x: Array, least: int, greatest: int) -> tuple[Array, Array, Array]:
    """For integers of a small range, by a table of where each was seen first."""
    offset = x.astype(np.int64) - least
    table = np.full(greatest - least + 1, -1, np.int64)
    table[offset[::-1]] = np.arange(x.size - 1, -1, -1)  # from the end: of equal places NumPy keeps the last number written
    first = np.sort(table[table >= 0])
    table[offset[first]] = np.arange(first.size)
    inverse = table[offset]
    return first, inverse, np.bincount(inverse)


def _unique_rows(x: Array, axis: int) -> tuple[Array, ...]:
    """As `unique_index`, for the slices along an axis."""
    moved = np.moveaxis(x, axis, 0)
    rows = moved.reshape(moved.shape[0], math.prod(moved.shape[1:]))
    if rows.shape[1] == 1:
        return unique_index(rows[:, 0])
    if rows.dtype.kind in "iu" and rows.dtype != np.uint64:
        return unique_index(common_keys(rows.astype(np.int64))[0])
    # `tolist` makes each NaN an object of its own: Python's dictionaries take an object for equal to itself, NaN too.
    return _unique_objects([tuple(row) for row in rows.tolist()])


def _unique(x: Array, axis: int | None, out_idx: DType) -> tuple[Array, Array, Array]:
    x = np.asarray(x)
    if axis is None:
        if x.ndim != 1:
            raise InvalidArgumentError("unique expects a 1D vector.")
        axis = 0
    first, inverse, counts = _unique_rows(x, axis) if x.ndim > 1 else unique_index(x)
    return np.take(x, first, axis), inverse.astype(out_idx.numpy), counts.astype(out_idx.numpy)


@kernel("Unique", shape="n -> distinct, n", facts=("finds_distinct",))
def unique(x: Array, *, out_idx: DType) -> tuple[Result, Result]:
    """Return the distinct values in order of appearance, and the index of the value of each element."""
    if x.ndim == 1 and x.size <= _SHORT and x.dtype.kind in "iu":
        return _few_unique(x, out_idx)
    return _unique(x, None, out_idx)[:2]


_SHORT: Final = 128
"""The number of integers up to which a dictionary is faster than NumPy's sort."""


def _few_unique(x: Array, out_idx: DType) -> tuple[Array, Array]:
    numbers: dict[int, int] = {}
    inverse = [numbers.setdefault(value, len(numbers)) for value in x.tolist()]
    return np.array(list(numbers), x.dtype), np.array(inverse, out_idx.numpy)


@kernel("UniqueWithCounts", shape="n -> distinct, n, distinct", facts=("finds_distinct",))
def unique_with_counts(x: Array, *, out_idx: DType) -> tuple[Result, Result, Result]:
    """Unique, and how often each value occurs."""
    return _unique(x, None, out_idx)


def _unique_axis(x: Array, axis: Array) -> int | None:
    """Return the axis of UniqueV2; None for a vector without an axis."""
    if np.ndim(axis) != 1 or np.size(axis) > 1:
        raise InvalidArgumentError(f"axis expects a 1D vector of at most one element, not shape {Shape(np.shape(axis))}")
    if np.size(axis) == 0:
        return None
    return normalize_axis(scalar_int(axis, "axis"), np.ndim(x))


@kernel("UniqueV2", facts=("finds_distinct",))
def unique_v2(x: Array, axis: Array, *, out_idx: DType) -> tuple[Result, Result]:
    """Return the distinct slices along an axis, and the index of each slice among them."""
    return _unique(x, _unique_axis(x, axis), out_idx)[:2]


@shape("UniqueV2")
def unique_v2_shape(x: TensorSpec, axis: TensorSpec) -> tuple[Shape, ...]:
    return unique_with_counts_v2_shape(x, axis)[:2]


@kernel("UniqueWithCountsV2", facts=("finds_distinct",))
def unique_with_counts_v2(x: Array, axis: Array, *, out_idx: DType) -> tuple[Result, Result, Result]:
    """UniqueV2, and how often each slice occurs."""
    return _unique(x, _unique_axis(x, axis), out_idx)


@shape("UniqueWithCountsV2")
def unique_with_counts_v2_shape(x: TensorSpec, axis: TensorSpec) -> tuple[Shape, Shape, Shape]:
    axes = dims_of(axis)
    count = Shape([None])
    if axes is None or x.rank is None:
        return unknown_dims(x.rank), Shape([None]), count
    require(len(axes) <= 1, f"axis has {len(axes)} elements, and at most one is possible")
    position = normalize_axis(axes[0], x.rank) if axes else 0
    return replaced(x.shape, position, count[0]), Shape([x.shape[position]]), count


flops("Unique", "UniqueV2", "UniqueWithCounts", "UniqueWithCountsV2")(counted(1, 0, "One look-up for each element."))
without_gradient("Unique", "UniqueWithCounts", "UniqueV2", "UniqueWithCountsV2")


@kernel("ListDiff", shape="n, m -> left, left", flops=zero_cost)
def list_diff(x: Array, y: Array, *, out_idx: DType) -> tuple[Result, Result]:
    """The elements of `x` that are not in `y`, and where they are."""
    x, y = np.asarray(x), np.asarray(y)
    for name, value in (("x", x), ("y", y)):
        if value.ndim != 1:
            raise InvalidArgumentError(f"{name} should be a 1D vector.")
    if x.dtype == object:
        excluded = set(y.tolist())
        is_new = np.array([item not in excluded for item in x.tolist()], bool)
    else:
        # NaN is never in y: np.isin compares for equality, as TensorFlow's hash set does.
        is_new = ~np.isin(x, y)
    return x[is_new], np.flatnonzero(is_new).astype(out_idx.numpy)


@kernel("InTopKV2", shape="rows classes, rows, () -> rows")
def in_top_k(predictions: Array, targets: Array, k: Array) -> Result:
    """Return True if fewer than k classes are predicted above the target; False if a prediction is not finite."""
    if np.ndim(k) != 0:
        raise InvalidArgumentError(f"k must be 0-D, got shape {Shape(np.shape(k))}")
    return in_top_k_v1(predictions, targets, k=scalar_int(k, "k"))


@kernel("InTopK", shape="rows classes, rows -> rows")
def in_top_k_v1(predictions: Array, targets: Array, *, k: int) -> Result:
    """InTopKV2 with a fixed k."""
    predictions, targets = np.asarray(predictions), np.asarray(targets)
    if predictions.ndim != 2:
        raise InvalidArgumentError("predictions must be 2-dimensional")
    if targets.ndim != 1:
        raise InvalidArgumentError("targets must be 1-dimensional")
    if predictions.shape[0] != targets.size:
        raise InvalidArgumentError(f"First dimension of predictions {predictions.shape[0]} must match {targets.size} targets")
    classes = predictions.shape[1]
    # TensorFlow says False for a row with a prediction that is not finite, not only for the target's.
    valid = (targets >= 0) & (targets < classes) & np.all(np.isfinite(predictions), axis=1)
    if not np.any(valid):  # without classes there is none that `chosen` could be
        return np.zeros(targets.size, bool)
    chosen = np.take_along_axis(predictions, np.where(valid, targets, 0)[:, None], 1)
    # Equal predictions are not above the target: of a tie at the border all are in, as TensorFlow documents.
    return valid & (np.count_nonzero(predictions > chosen, axis=1) < k)


flops("InTopK", "InTopKV2")(counted(2, 0, "Two comparisons for each prediction: finite, and above the target's prediction."))
without_gradient("ListDiff", "InTopKV2", "InTopK")


def _bounds(rows: Array, values: Array, *, side: Literal["left", "right"], out_type: DType) -> Array:
    """Return for each value the first or last place in its sorted row where an insertion keeps the order."""
    rows, values = np.asarray(rows), np.asarray(values)
    if rows.ndim != 2 or values.ndim != 2:
        raise InvalidArgumentError(f"sorted input and values must be 2-D: {Shape(rows.shape)}, {Shape(values.shape)}")
    if rows.shape[0] != values.shape[0]:
        raise InvalidArgumentError(f"Leading dim_size of both tensors must match: {rows.shape[0]} and {values.shape[0]}")
    if not _are_searched_row_by_row(rows, values):
        return _places(rows, values, side == "left").astype(out_type.numpy)
    bounds = np.empty(values.shape, out_type.numpy)
    for result, row, queries in zip(bounds, rows, values):
        result[:] = row.searchsorted(queries, side)
    return bounds


def _are_searched_row_by_row(rows: Array, values: Array) -> bool:
    """Return True if NumPy's search of each row is faster: rows in order and no NaN, as NumPy sorts NaN last."""
    if rows.dtype.kind not in "iuf" or values.shape[1] < _FEW_VALUES or not 1 < rows.shape[1] <= _MOST * values.shape[1]:
        return False
    return bool((rows[:, 1:] >= rows[:, :-1]).all()) and not bool((values != values).any())


_FEW_VALUES: Final = 8
_MOST: Final = 64
"""The ratio of row length to values above which checking the row's order takes longer than a plain search."""


def _places(rows: Array, values: Array, is_lower: bool) -> Array:
    """Search all values at once, halving as the C++ library does, so that unsorted rows give the same results."""
    first = np.zeros(values.shape, np.int64)
    length = np.full(values.shape, rows.shape[1], np.int64)
    while np.any(length > 0):
        half = length >> 1
        middle = np.minimum(first + half, rows.shape[1] - 1)  # a search that ended may be behind the row
        at_middle = np.take_along_axis(rows, middle, 1)
        goes_right = (length > 0) & (at_middle < values if is_lower else ~(values < at_middle))
        first = np.where(goes_right, middle + 1, first)
        # std::lower_bound halves so; another way of halving would end elsewhere in rows that are not sorted.
        length = np.where(goes_right, length - half - 1, half)
    return first


kernel("LowerBound")(functools.partial(_bounds, side="left"))
kernel("UpperBound")(functools.partial(_bounds, side="right"))
shaped("_ _, rows values -> rows values", "LowerBound", "UpperBound")


@flops("LowerBound", "UpperBound")
def bounds_flops(sorted_inputs: TensorSpec, values: TensorSpec) -> Cost:
    """An upper bound: one comparison for each bit of the row's length."""
    size = sorted_inputs.shape[-1]
    steps = max(size, 1).bit_length() if isinstance(size, int) else 1
    return Cost(flops=values.shape.num_elements * steps)


not_differentiable("LowerBound", "UpperBound")


@lower("TopKV2", static=(1,))
def _top_k_lowering(xla: Any, x: Any, k: Array) -> tuple[Any, Any]:
    """Return the k greatest along the last dimension and their places; of equals the first comes first, NaN last."""
    count = int(k)
    if not x.ndim or not 0 <= count <= x.shape[-1]:
        raise ValueError(f"no top {count} of shape {x.shape}")
    # Not jax.lax.top_k, which takes NaN for the largest number; the kernel puts it last.
    places = xla.argsort(~x if x.dtype.kind in "iu" else -wide(x), -1, stable=True)[..., :count]
    return xla.take_along_axis(x, places, -1), places


@lower("TopK")
def _top_k_v1_lowering(xla: Any, x: Any, *, k: int) -> tuple[Any, Any]:
    return _top_k_lowering(xla, x, np.array(k))


@lower("NthElement", static=(1,))
def _nth_element_lowering(xla: Any, x: Any, n: Array, *, reverse: bool) -> Any:
    """Return the n-th least, or greatest, along the last dimension."""
    place = int(n)
    if not x.ndim or not 0 <= place < x.shape[-1]:
        raise ValueError(f"no element {place} of shape {x.shape}")
    return xla.sort(wide(x), -1)[..., x.shape[-1] - 1 - place if reverse else place].astype(x.dtype)


@arrays("InTopKV2")
def _in_top_k_arrays(xp: Any, predictions: Any, targets: Any, k: Any) -> Any:
    """Return True if fewer than k classes are predicted above the target; False if a prediction is not finite."""
    require(predictions.ndim == 2 and np.ndim(k) == 0, "predictions must be a matrix, and k a scalar")
    require_known_sizes(predictions.shape[:1], targets.shape)
    is_target = targets[:, None] == xp.arange(predictions.shape[1])
    # The only element of the sum that is not 0: a gather by computed targets would need their range checked first.
    chosen = xp.sum(xp.where(is_target, predictions, 0), 1, keepdims=True)
    larger = xp.sum((predictions > chosen).astype(np.int32), 1)
    return xp.any(is_target, 1) & xp.all(xp.isfinite(predictions), 1) & (larger < k)


@arrays("InTopK")
def _in_top_k_v1_arrays(xp: Any, predictions: Any, targets: Any, *, k: int) -> Any:
    # The attribute has 64 bits, and the counts that it is compared with have 32.
    return _in_top_k_arrays(xp, predictions, targets, np.int32(min(k, np.iinfo(np.int32).max)))


@arrays("LowerBound")
def lower_bound_arrays(xp: Any, rows: Any, values: Any) -> Any:
    """Return for each value the first place in its row where an insertion keeps the order."""
    return _searched(xp, rows, values, lambda middle: middle < values)


@arrays("UpperBound")
def upper_bound_arrays(xp: Any, rows: Any, values: Any) -> Any:
    """Return for each value the last place in its row where an insertion keeps the order."""
    return _searched(xp, rows, values, lambda middle: ~(values < middle))


def _searched(xp: Any, rows: Any, values: Any, goes_on: Callable[[Any], Any]) -> Any:
    """Search by halves as the C++ library does, so that unsorted rows and NaN give the same places."""
    require(rows.ndim == 2 and values.ndim == 2, "rows and values must be matrices")
    require_known_sizes(rows.shape[:1], values.shape[:1])
    size = rows.shape[1]
    is_known = isinstance(size, int)
    steps, last = (size.bit_length(), max(size - 1, 0)) if is_known else (np.iinfo(np.int32).bits, xp.maximum(size - 1, 0))
    padded = rows if is_known and size else xp.pad(rows, [(0, 0), (0, 1)])  # there is an element to look at

    def halve(_: Any, state: tuple[Any, Any]) -> tuple[Any, Any]:
        first, length = state
        half = xp.truncated_quotient(length, np.int32(2))  # a shift of signed numbers is many of ONNX's operators
        middle = first + half
        goes_right = (length > 0) & goes_on(xp.take_along_axis(padded, xp.minimum(middle, last), 1))
        return xp.where(goes_right, middle + 1, first), xp.where(goes_right, length - half - 1, half)

    start = xp.full(values.shape, 0, np.int32), xp.full(values.shape, size, np.int32)
    return xp.fori_loop(0, steps, halve, start)[0]


# ONNX's operator takes a k that only the run knows, for which XLA would have no shape.
@onnx("TopKV2")
def _top_k_onnx(g: Any, x: Any, k: Any, largest: int = 1) -> Any:
    """Return the k largest or smallest of each row and where they are."""
    # In falling order even if the op's `sorted` is false: TensorFlow then returns the order of its heap and documents none.
    return g.TopK(x, g.vector(k), outputs=2, axis=-1, largest=largest)


onnx("TopK")(lambda g, x, *, k: _top_k_onnx(g, x, g.constant(np.int64(k))))


@onnx("NthElement")
def _nth_element_onnx(g: Any, x: Any, n: Any, *, reverse: bool) -> Any:
    return g.Gather(_top_k_onnx(g, x, g.Add(n, 1), int(reverse))[0], g.constant(np.int64(-1)), axis=-1)


@onnx("UniqueWithCounts", "UniqueWithCountsV2")
def _unique_onnx(g: Any, x: Any, axis: Any = None) -> Any:
    """Return the elements, or rows along an axis, as they first come, the number of each in `x`, and how often they come."""
    if x.dtype.is_object and x.rank == 1:
        return _unique_strings(g, x)
    is_whole = axis is None or axis.shape.dims == (0,) or x.rank == 1
    along = {} if is_whole else {"axis": g.axis(axis, x.rank)}
    results = g.Unique(x, outputs=4, sorted=0, **along)
    return results[0], results[2], results[3]


onnx("Unique")(lambda g, x: _unique_onnx(g, x)[:2])
onnx("UniqueV2")(lambda g, x, axis: _unique_onnx(g, x, axis)[:2])


def _unique_strings(g: Any, x: Any) -> tuple[Any, Any, Any]:
    """As `_unique_onnx`, by comparing all pairs: onnxruntime's Unique takes numbers only."""
    same = g.cast(g.Equal(g.unsqueeze(x, 1), g.unsqueeze(x, 0)), dtypes.int32)
    first = g.ArgMax(same, axis=1, keepdims=0)
    is_first = g.Equal(first, along(g, x, 0))
    places = g.reshape(g.NonZero(is_first), -1)
    numbers = g.Sub(g.CumSum(g.cast(is_first, dtypes.int64), g.constant(np.int64(0))), 1)
    return g.Gather(x, places), g.Gather(numbers, first), g.Gather(g.ReduceSum(same, [1], keepdims=0), places)


@onnx("ListDiff")
def _list_diff_onnx(g: Any, x: Any, y: Any) -> Any:
    """Return the elements of x that are not in y, and their places."""
    same = g.cast(g.Equal(g.unsqueeze(x, 1), g.unsqueeze(y, 0)), dtypes.int64)
    places = g.reshape(g.NonZero(g.Equal(g.ReduceSum(same, [1], keepdims=0), 0)), [-1])
    return g.Gather(x, places), places
