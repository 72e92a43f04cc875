"""Reductions by segment: sorted and unsorted segments, and segments of gathered rows with their gradients."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from ...building.gradbuilder import GradientBuilder, Gradients, IndexedSlices
from ...graph.graph import Node, Output
from ...numerics.group_reductions import group_sizes, highest, lowest, reduce_groups, settle_nans, update_rows
from ...numerics.half_precision import is_narrow, wide
from ...numerics.integers import extremes, truncated_quotient
from ...registry.registry import Cost, arrays, facts, flops, gradient, kernel, shape, shaped, without_gradient
from ...support.errors import InvalidArgumentError
from ...types.arrays import Array
from ...types.dims import DimLike
from ...types.shapes import UNKNOWN, Shape, TensorSpec, dims_of, merge_dims, merge_shapes
from ..shared.argument_checks import require, require_known_sizes, require_rank
from ..shared.decompositions import by_ops
from ..shared.elementwise_tables import counted
from ..shared.shape_arguments import scalar_int

# op, ufunc, value of a segment without rows
_SORTED = (
    ("SegmentSum", np.add, 0),
    ("SegmentMean", np.add, 0),
    ("SegmentProd", np.multiply, 1),
    ("SegmentMin", np.minimum, 0),
    ("SegmentMax", np.maximum, 0),
)
_UNSORTED = (
    ("UnsortedSegmentSum", np.add, lambda dtype: 0),
    ("UnsortedSegmentProd", np.multiply, lambda dtype: 1),
    ("UnsortedSegmentMin", np.minimum, highest),
    ("UnsortedSegmentMax", np.maximum, lowest),
)


def _register_segment(op: str, ufunc: np.ufunc, default: int) -> None:
    @kernel(op)
    def segment(data: Array, segment_ids: Array) -> Array:
        """The rows of `data` reduced by the sorted `segment_ids`, (last id + 1, ...)."""
        data, ids = np.asarray(data), np.asarray(segment_ids)
        _check_sorted_ids(data, ids)
        count = int(ids[-1]) + 1 if ids.size else 0
        _check_room(data, count)
        # NaN is settled before: NumPy's extremes keep every NaN, and TensorFlow's comparisons lose some.
        rows, reduced = reduce_groups(ufunc, *settle_nans(ufunc, ids, data, _columns_in_vectors(data)))
        if op == "SegmentMean":
            reduced = _divided(reduced, group_sizes(ids, 0)[rows])
        return _placed(rows, reduced, count, default)


def _columns_in_vectors(data: Array) -> int:
    """Return the number of columns that TensorFlow's sorted kernels take in vectors of eight numbers, or four in 64 bits."""
    columns = math.prod(data.shape[1:])
    return columns - columns % (4 if data.itemsize == 8 else 8)


def _check_sorted_ids(data: Array, ids: Array) -> None:
    if ids.ndim != 1:
        raise InvalidArgumentError(f"segment_ids should be a vector, not of shape {Shape(ids.shape)}")
    if data.ndim < 1:
        raise InvalidArgumentError("data must be at least rank 1")
    if data.shape[0] != ids.size:
        raise InvalidArgumentError(
            f"segment_ids should be the same size as dimension 0 of input, got {ids.size} for {Shape(data.shape)}"
        )
    _check_increasing(ids)


def _check_increasing(ids: Array) -> None:
    if ids.size and ids.min() < 0:
        raise InvalidArgumentError("segment ids must be >= 0")
    if np.any(ids[1:] < ids[:-1]):
        raise InvalidArgumentError("segment ids are not increasing")


def _check_room(data: Array, count: int) -> None:
    """Raise InvalidArgumentError if `count` segments of rows as in `data` are more than memory can address."""
    # A large id in a damaged file is an error here, where NumPy would fail to allocate.
    if count * math.prod(data.shape[1:]) * data.itemsize >= 2**63:
        raise InvalidArgumentError(f"{count} segments of shape {Shape(data.shape[1:])} have too many elements")


def _divided(rows: Array, counts: Array) -> Array:
    """Rows divided by their counts, integers rounded towards zero."""
    column = counts.reshape([-1] + [1] * (rows.ndim - 1))
    if rows.dtype.kind in "iu":
        # As in C++, the quotient of integers is rounded towards zero.
        return truncated_quotient(rows, column).astype(rows.dtype)
    return (rows / column.astype(rows.real.dtype)).astype(rows.dtype)


def _placed(rows: Array, reduced: Array, count: int, default: int) -> Array:
    """(count, ...) with `reduced` at the rows `rows` and `default` at all others."""
    # No segment is empty, so that the reduced rows are the result.
    if len(rows) == count:
        return reduced
    result = np.full((count, *reduced.shape[1:]), default, reduced.dtype)
    result[rows] = reduced
    return result


for _row in _SORTED:
    _register_segment(*_row)


@shape(*(op for op, *_ in _SORTED))
def segment_shape(data: TensorSpec, segment_ids: TensorSpec) -> Shape:
    require_rank(segment_ids, 1, "segment_ids")
    if data.rank == 0:
        raise InvalidArgumentError("data must be at least rank 1")
    if data.rank is not None and segment_ids.rank is not None:
        merge_dims(data.shape[0], segment_ids.shape[0])
    ids = None if segment_ids.value is None else dims_of(segment_ids)
    # The ids are sorted, so that the last is the largest.
    rows = None if ids is None else (ids[-1] + 1 if ids else 0)
    return Shape([rows]) + data.shape[1:]


flops(*(op for op, *_ in _SORTED))(
    counted(1, 0, "One operation for each element; the first row of a mean is not added, but each result is divided.")
)


gradient("SegmentSum")(by_ops("GatherV2 dy 1 =0"))


@gradient("SegmentMean")
def segment_mean_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    data, ids = node.inputs
    shape_ = g.ConcatV2([g.shape_of(ids), g.Fill(g.Reshape(g.Sub(g.Rank(data), 1), [1]), 1)], 0)
    counts = g.SegmentSum(g.Fill(shape_, g.scalar_like(grad, 1)), ids)
    return [g.GatherV2(g.RealDiv(grad, counts), ids, 0), None]


@gradient("SegmentMin", "SegmentMax")
def segment_extreme_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    """The gradient goes in equal parts to the elements that are the extreme."""
    data, ids = node.inputs
    is_chosen = g.Equal(data, g.GatherV2(node.output(), ids, 0))
    counts = g.SegmentSum(g.Cast(is_chosen, DstT=grad.base_dtype), ids)
    share = g.GatherV2(g.RealDiv(grad, counts), ids, 0)
    return [g.SelectV2(is_chosen, share, g.scalar_like(grad, 0)), None]


@gradient("SegmentProd")
def segment_prod_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    """The product of the others: result / element, and around zeros the product without them."""
    data, ids = node.inputs
    take = _Taking(lambda x: g.GatherV2(x, ids, 0), lambda x: g.SegmentSum(x, ids), lambda x: g.SegmentProd(x, ids))
    return [_prod_gradient(g, data, node.output(), grad, take), None]


facts("row_numbers", of=("SegmentSum", "SegmentMean", "SegmentMax", "SegmentMin", "SegmentProd"))


class _Taking:
    """How a segment op spreads and reduces, for the gradient that both products share."""

    def __init__(self, spread: Callable[..., Any], total: Callable[..., Any], product: Callable[..., Any]) -> None:
        self.spread = spread
        self.total = total
        self.product = product


def _prod_gradient(g: GradientBuilder, data: Output, result: Output, grad: Output, take: _Taking) -> Output:
    zero, one = g.scalar_like(data, 0), g.scalar_like(data, 1)
    is_zero = g.Equal(data, zero)
    # With one zero in a segment only that element has a gradient, the product of the others; with two no element has.
    zeros = take.total(g.Cast(is_zero, DstT="int32"))
    grad = g.SelectV2(g.Greater(zeros, 1), g.zeros_like(grad), grad)
    without_zeros = g.SelectV2(is_zero, one, data)
    gathered = take.spread(take.product(without_zeros))
    divided = g.RealDiv(take.spread(result), without_zeros)
    return g.Mul(take.spread(grad), g.SelectV2(is_zero, gathered, divided))


def _register_unsorted(op: str, ufunc: np.ufunc, default: Callable[..., Any]) -> None:
    @kernel(op)
    def unsorted_segment(data: Array, segment_ids: Array, num_segments: Array) -> Array:
        """Slices of `data` reduced by id into (num_segments, ...); negative ids are dropped."""
        data, ids = np.asarray(data), np.asarray(segment_ids)
        count = _segment_count(num_segments)
        if data.shape[: ids.ndim] != ids.shape:
            raise InvalidArgumentError(f"data.shape {Shape(data.shape)} does not start with ids.shape {Shape(ids.shape)}")
        inner = data.shape[ids.ndim :]
        result = np.full((count, *inner), default(data.dtype), data.dtype)
        rows, ids = data.reshape(ids.size, *inner), ids.ravel()
        # TensorFlow looks at no id of data without elements.
        if not data.size:
            return result
        least, greatest = extremes(ids)
        # TensorFlow's CPU kernel refuses ids beyond the last segment, and drops negative ones.
        if greatest >= count:
            raise InvalidArgumentError(f"segment_ids = {greatest} is out of range [0, {count})")
        if least < 0:
            rows, ids = rows[ids >= 0], ids[ids >= 0]
        update_rows(ufunc, result, *settle_nans(ufunc, ids, rows))
        return result


def _segment_count(num_segments: Array) -> int:
    if np.ndim(num_segments) != 0:
        raise InvalidArgumentError(f"num_segments should be a scalar, not of shape {Shape(np.shape(num_segments))}")
    count = scalar_int(num_segments, "num_segments")
    if count < 0:
        raise InvalidArgumentError(f"Input num_segments == {count} must not be negative.")
    return count


for _unsorted_row in _UNSORTED:
    _register_unsorted(*_unsorted_row)


@shape(*(op for op, *_ in _UNSORTED))
def unsorted_segment_shape(data: TensorSpec, segment_ids: TensorSpec, num_segments: TensorSpec) -> Shape:
    require_rank(num_segments, 0, "num_segments")
    rows = _static_count(num_segments)
    if segment_ids.rank is None or data.rank is None:
        return UNKNOWN
    merge_shapes(data.shape[: segment_ids.rank], segment_ids.shape)
    return Shape([rows]) + data.shape[segment_ids.rank :]


def _static_count(num_segments: TensorSpec) -> DimLike | None:
    sizes = dims_of(num_segments)
    if sizes and isinstance(sizes[0], int) and sizes[0] < 0:
        raise InvalidArgumentError(f"num_segments == {sizes[0]} must not be negative")
    return sizes[0] if sizes else None


flops(*(op for op, *_ in _UNSORTED))(counted(1, 0, "One operation for each element."))


def _gather_valid(g: GradientBuilder, x: Output, ids: Output, fill: Output) -> Output:
    """x[ids] with `fill` where the id is negative."""
    zero = g.constant(0, ids.base_dtype)
    # Negative ids gather row 0, which SelectV2 below replaces by `fill`.
    taken = g.GatherV2(x, g.Maximum(ids, zero), 0)
    return g.SelectV2(_is_valid_id(g, ids, taken), taken, fill)


def _is_valid_id(g: GradientBuilder, ids: Output, like: Output) -> Output:
    """Return True for each non-negative id, in a shape that broadcasts against `like`."""
    ones = g.Fill(g.Reshape(g.Sub(g.Rank(like), g.Rank(ids)), [1]), 1)
    is_valid = g.GreaterEqual(ids, g.constant(0, ids.base_dtype))
    return g.Reshape(is_valid, g.ConcatV2([g.shape_of(ids), ones], 0))


@gradient("UnsortedSegmentSum")
def unsorted_segment_sum_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    return [_gather_valid(g, grad, node.inputs[1], g.scalar_like(grad, 0)), None, None]


@gradient("UnsortedSegmentMin", "UnsortedSegmentMax")
def unsorted_segment_extreme_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    """The gradient goes in equal parts to the elements that are the extreme."""
    data, ids, count = node.inputs
    zero = g.scalar_like(grad, 0)
    result = _gather_valid(g, node.output(), ids, g.scalar_like(data, 0))
    is_chosen = g.LogicalAnd(g.Equal(data, result), _is_valid_id(g, ids, result))
    counts = g.UnsortedSegmentSum(g.Cast(is_chosen, DstT=grad.base_dtype), ids, count)
    share = _gather_valid(g, g.RealDiv(grad, counts), ids, zero)
    return [g.SelectV2(is_chosen, share, zero), None, None]


@gradient("UnsortedSegmentProd")
def unsorted_segment_prod_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    """As the gradient of SegmentProd; negative ids have no gradient."""
    data, ids, count = node.inputs
    take = _Taking(
        lambda x: _gather_valid(g, x, ids, g.scalar_like(x, 0)),
        lambda x: g.UnsortedSegmentSum(x, ids, count),
        lambda x: g.UnsortedSegmentProd(x, ids, count),
    )
    return [_prod_gradient(g, data, node.output(), grad, take), None, None]


_SPARSE = ("SparseSegmentSum", "SparseSegmentMean", "SparseSegmentSqrtN")


facts("row_numbers", of=("UnsortedSegmentSum", "UnsortedSegmentMax", "UnsortedSegmentMin", "UnsortedSegmentProd"))
facts("own_gradient", of=["SegmentProd", "UnsortedSegmentProd"])


def _register_sparse_segment(op: str) -> None:
    # The divisor of the sum over a segment of n rows.
    weigh = {"SparseSegmentSum": None, "SparseSegmentMean": lambda n: n, "SparseSegmentSqrtN": np.sqrt}[op]

    @kernel(op)
    def sparse_segment(data: Array, indices: Array, segment_ids: Array) -> Array:
        """The rows `data[indices]` reduced by the sorted `segment_ids`."""
        ids = np.asarray(segment_ids)
        return _sparse_reduced(data, indices, ids, int(ids.ravel()[-1]) + 1 if ids.size else 0, weigh)

    @kernel(f"{op}WithNumSegments")
    def sparse_segment_with_num_segments(data: Array, indices: Array, segment_ids: Array, num_segments: Array) -> Array:
        """The rows `data[indices]` reduced by the sorted `segment_ids` into `num_segments` rows."""
        return _sparse_reduced(data, indices, np.asarray(segment_ids), _segment_count(num_segments), weigh)

    @kernel(f"{op}Grad")
    def sparse_segment_grad(grad: Array, indices: Array, segment_ids: Array, output_dim0: Array) -> Array:
        """The gradient for the `output_dim0` rows of the data."""
        count = _row_count(output_dim0, "output_dim0")
        grad, indices, ids = _checked_grad(grad, indices, segment_ids, count)
        result = np.zeros((count, *grad.shape[1:]), grad.dtype)
        update_rows(np.add, result, indices, _weighted_rows(grad, ids, weigh))
        return result

    @kernel(f"{op}GradV2")
    def sparse_segment_grad_v2(
        grad: Array, indices: Array, segment_ids: Array, dense_output_dim0: Array
    ) -> tuple[Array, Array]:
        """The rows of the gradient that are not zero, and their numbers in ascending order."""
        count = _row_count(dense_output_dim0, "dense_output_dim0")
        grad, indices, ids = _checked_grad(grad, indices, segment_ids, count)
        rows, reduced = reduce_groups(np.add, indices, _weighted_rows(grad, ids, weigh))
        return reduced, rows


def _row_count(rows: Array, name: str) -> int:
    if np.ndim(rows) != 0:
        raise InvalidArgumentError(f"{name} should be a scalar.")
    return scalar_int(rows, name)


def _sparse_reduced(data: Array, indices: Array, ids: Array, count: int, weigh: Callable[..., Any] | None) -> Array:
    data, indices = np.asarray(data), np.asarray(indices)
    if indices.ndim != 1 or ids.ndim != 1 or indices.size != ids.size:
        raise InvalidArgumentError(f"segment_ids and indices should be vectors of the same size: {ids.shape}, {indices.shape}")
    if data.ndim < 1:
        raise InvalidArgumentError("data must be at least rank 1")
    _check_increasing(ids)
    if ids.size and ids[-1] >= count:
        raise InvalidArgumentError(f"segment ids must be < num_segments, got {int(ids[-1])} for {count}")
    _check_room(data, count)
    if indices.size and (indices.min() < 0 or indices.max() >= data.shape[0]):
        raise InvalidArgumentError(f"an index of {indices.tolist()[:10]} is out of range [0, {data.shape[0]})")
    # Narrow floats stay in float32 up to the quotient: the sum alone may be beyond their range.
    groups, reduced = reduce_groups(np.add, ids, wide(data[indices]))
    if weigh is not None:
        # TensorFlow computes the divisor in double and rounds it to the dtype of the sums before it divides.
        counts = weigh(group_sizes(ids, 0)[groups].astype(np.float64)) if ids.size else np.ones(0)
        reduced = reduced / counts.reshape([-1] + [1] * (data.ndim - 1)).astype(reduced.dtype)
    return _placed(groups, reduced.astype(data.dtype, copy=False), count, 0)


def _checked_grad(grad: Array, indices: Array, segment_ids: Array, count: int) -> tuple[Array, Array, Array]:
    grad, indices, ids = np.asarray(grad), np.asarray(indices), np.asarray(segment_ids)
    if indices.ndim != 1 or ids.ndim != 1 or indices.size != ids.size:
        raise InvalidArgumentError("segment_ids and indices should be vectors of the same size.")
    if grad.ndim < 1 or count < 0:
        raise InvalidArgumentError(f"grad must be at least of rank 1 and output_dim0 not negative: {grad.shape}, {count}")
    # TensorFlow checks no index if the result has no rows.
    if not count:
        return grad, indices[:0], ids[:0]
    if indices.size and (indices.min() < 0 or indices.max() >= count):
        raise InvalidArgumentError(f"an index of {indices.tolist()[:10]} is out of range [0, {count})")
    if ids.size and (ids.min() < 0 or ids.max() >= grad.shape[0]):
        raise InvalidArgumentError(f"a segment id of {ids.tolist()[:10]} is out of range [0, {grad.shape[0]})")
    return grad, indices, ids


def _weighted_rows(grad: Array, ids: Array, weigh: Callable[..., Any] | None) -> Array:
    """Return the gradient's row for each gathered row."""
    rows = grad[ids]
    if weigh is None or not ids.size:
        return rows
    # The gradient's kernel multiplies by the rounded reciprocal, where the op itself divides.
    scale = 1 / weigh(group_sizes(ids, 0)[ids].astype(np.float64))
    return (rows * scale.reshape([-1] + [1] * (grad.ndim - 1)).astype(grad.dtype)).astype(grad.dtype)


for _op in _SPARSE:
    _register_sparse_segment(_op)


@shape(*_SPARSE)
def sparse_segment_shape(data: TensorSpec, indices: TensorSpec, segment_ids: TensorSpec) -> Shape:
    require_rank(indices, 1, "indices")
    return segment_shape(_any_rows(data), segment_ids)


def _any_rows(data: TensorSpec) -> TensorSpec:
    """Return the spec with an unknown number of rows, independent of the number of ids."""
    if data.rank is None or data.rank == 0:
        return data
    return type(data)(data.dtype, Shape([None]) + data.shape[1:])


shaped("_ ..., *, *, <rows> -> rows ...", *(f"{op}{suffix}" for op in _SPARSE for suffix in ("WithNumSegments", "Grad")))
shaped("_ ... -> rows ..., rows", *(f"{op}GradV2" for op in _SPARSE))


@flops(*_SPARSE, *(f"{op}WithNumSegments" for op in _SPARSE), "SparseSegmentSumGrad", "SparseSegmentSumGradV2")
def sparse_segment_flops(data: TensorSpec, indices: TensorSpec, segment_ids: TensorSpec, *rest: TensorSpec) -> Cost:
    """One addition for each element of a gathered row; the first row of a mean is not added, but each result is divided."""
    return Cost(flops=indices.shape.num_elements * data.shape[1:].num_elements)


@flops(*(f"{op}{suffix}" for op in _SPARSE if op != "SparseSegmentSum" for suffix in ("Grad", "GradV2")))
def sparse_segment_mean_grad_flops(grad: TensorSpec, indices: TensorSpec, segment_ids: TensorSpec, *rest: TensorSpec) -> Cost:
    """Count a division and an addition for each element of a gathered row."""
    return Cost(flops=2 * indices.shape.num_elements * grad.shape[1:].num_elements)


facts("row_numbers", of=("SparseSegmentMean", "SparseSegmentSqrtN", "SparseSegmentSum"))


@gradient(*_SPARSE, *(f"{op}WithNumSegments" for op in _SPARSE))
def sparse_segment_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    data, indices, ids = node.inputs[:3]
    rows = g.StridedSlice(g.shape_of(data), [0], [1], [1], shrink_axis_mask=1)
    op = f"{node.op.removesuffix('WithNumSegments')}Grad"
    if not node.attr("sparse_gradient"):
        return [g.apply(op, grad, indices, ids, rows), *([None] * (len(node.inputs) - 1))]
    values, rows_with_gradient = g.apply(f"{op}V2", grad, indices, ids, rows)
    return [IndexedSlices(values, rows_with_gradient, g.shape_of(data)), *([None] * (len(node.inputs) - 1))]


_BACKWARD = tuple(f"{op}{suffix}" for op in _SPARSE for suffix in ("Grad", "GradV2"))
without_gradient(*_BACKWARD)
facts("backward", of=_BACKWARD)


def _sorted_program(how: str, start: Callable[[Any], Any], empty: int | None = None) -> Callable[..., Any]:
    """Return the program of a reduction by sorted ids, which XLA knows; segments without rows are `start`, or `empty`."""

    def program(xp: Any, data: Any, ids: Any) -> Any:
        count = _segments_of_sorted(xp, data, ids)
        # JAX has no derivative of products of rows, and the ops have their own.
        rows = xp.stop_gradient(data) if how == "mul" else data
        result = xp.grouped(rows, ids, count, how, start(data.dtype), _columns_in_vectors)
        if empty is None:
            return result
        # A segment without rows holds the value that the reduction starts from, where TensorFlow gives `empty`.
        return xp.where(_column(_rows_of_each(xp, ids, count), data) > 0, result, np.array(empty, data.dtype))

    return program


def _segments_of_sorted(xp: Any, data: Any, ids: Any) -> Any:
    """Return the number of segments, which is the last id plus 1; that of ids which are known is checked and a number."""
    if not isinstance(ids, np.ndarray):
        # If there are no ids, the -1 is the last one, so that the count is 0.
        return xp.as_size(xp.concatenate([np.array([-1]), ids.astype(np.int64)])[-1:] + 1)
    _check_sorted_ids(data, ids)
    count = int(ids[-1]) + 1 if ids.size else 0
    _check_room(data, count)  # XLA ends the process
    return count


def _rows_of_each(xp: Any, ids: Any, count: Any) -> Any:
    """Return the number of rows in each segment."""
    if isinstance(ids, np.ndarray):
        return np.bincount(ids, minlength=count)
    return xp.grouped(xp.ones_like(ids.astype(np.int64)), ids, count, "add")


def _column(values: Any, like: Any) -> Any:
    """Return a number for each row of `like`, in a shape that broadcasts against it."""
    return values[(slice(None), *[None] * (like.ndim - 1))]


def _segment_mean(xp: Any, data: Any, ids: Any) -> Any:
    count = _segments_of_sorted(xp, data, ids)
    totals = xp.grouped(data, ids, count, "add")
    counts = _column(xp.maximum(_rows_of_each(xp, ids, count), 1), data).astype(totals.dtype)
    return xp.truncated_quotient(totals, counts) if totals.dtype.kind in "iu" else totals / counts


_SORTED_PROGRAMS: Final = {
    "SegmentSum": _sorted_program("add", lambda dtype: 0),
    "SegmentMean": _segment_mean,
    "SegmentProd": _sorted_program("mul", lambda dtype: 1),
    # Infinity for floats: of a segment of infinities the largest finite number would make a finite one, as it does in the
    # unsorted ops of TensorFlow, too.
    "SegmentMin": _sorted_program("min", lambda dtype: np.inf if dtype.kind in "fV" else highest(dtype), empty=0),
    "SegmentMax": _sorted_program("max", lambda dtype: -np.inf if dtype.kind in "fV" else lowest(dtype), empty=0),
}
# XLA needs these ids when it compiles: the last one says how many segments there are. In ONNX a size may be of the run.
for _op, _program in _SORTED_PROGRAMS.items():
    arrays(_op, xla_static=(1,))(_program)


def _unsorted_program(how: str, start: Callable[[Any], Any]) -> Callable[..., Any]:
    """Return the program of a reduction by ids into a number of segments that XLA knows; negative ids are dropped."""

    def program(xp: Any, data: Any, ids: Any, num_segments: Any) -> Any:
        count = _number(num_segments)
        require_known_sizes(data.shape[: ids.ndim], ids.shape)
        xp.require((ids < count).all())
        rows = xp.stop_gradient(data) if how == "mul" else data
        size = math.prod(ids.shape)
        rows = xp.reshape(rows, (size, *data.shape[ids.ndim :]))
        return xp.grouped(rows, xp.reshape(ids, (size,)), count, how, start(data.dtype))

    return program


def _number(value: Any) -> Any:
    """Return a number of segments: checked, where it is known before the run."""
    return _segment_count(value) if isinstance(value, np.ndarray) else value.prod()


for (_op, _, _start), _how in zip(_UNSORTED, ("add", "mul", "min", "max")):
    arrays(_op, static=(2,), sizes=(2,))(_unsorted_program(_how, _start))


def _divisors(xp: Any, op: str, counts: Any, dtype: Any) -> Any:
    """Return the divisors of sums over so many rows, in a float dtype of 32 bits or more."""
    numbers = xp.maximum(counts, 1).astype(np.float32 if is_narrow(dtype) else dtype)
    return xp.sqrt(numbers) if op == "SparseSegmentSqrtN" else numbers


def _gathered_program(op: str) -> Callable[..., Any]:
    """Return the program of a sum over gathered rows by sorted ids, divided as the op says."""

    def program(xp: Any, data: Any, indices: Any, ids: Any, num_segments: Any = None) -> Any:
        require(indices.ndim == 1 and ids.ndim == 1 and data.ndim > 0, "the ids do not fit the indices")
        require_known_sizes(indices.shape, ids.shape)
        count = _segments_of_sorted(xp, indices, ids) if num_segments is None else _number(num_segments)
        xp.require((ids[1:] >= ids[:-1]).all() & (ids >= 0).all() & (ids < count).all())
        xp.require(((indices >= 0) & (indices < data.shape[0])).all())
        totals = xp.grouped(wide(xp.take(data, indices, 0, mode="clip")), ids, count, "add")
        if op != "SparseSegmentSum":
            totals = totals / _column(_divisors(xp, op, _rows_of_each(xp, ids, count), data.dtype), data)
        return totals.astype(data.dtype)

    return program


def _gathered_gradient_program(op: str) -> Callable[..., Any]:
    """Return the program of the gradient of such a sum by the gathered data, of a number of rows that XLA knows."""

    def program(xp: Any, grad: Any, indices: Any, ids: Any, output_dim0: Any) -> Any:
        require(indices.ndim == 1 and ids.ndim == 1 and grad.ndim > 0, "the ids do not fit the indices")
        require_known_sizes(indices.shape, ids.shape)
        count = _number(output_dim0)
        if isinstance(count, int) and not count:  # TensorFlow looks at no index then
            return xp.full((0, *grad.shape[1:]), 0, grad.dtype)
        xp.require(((indices >= 0) & (indices < count)).all() & ((ids >= 0) & (ids < grad.shape[0])).all())
        rows = xp.take(grad, ids, 0, mode="clip")
        if op != "SparseSegmentSum":
            divisors = xp.take(_divisors(xp, op, _rows_of_each(xp, ids, grad.shape[0]), grad.dtype), ids, 0, mode="clip")
            rows = (wide(rows) / _column(divisors, grad)).astype(grad.dtype)
        return xp.grouped(rows, indices, count, "add")

    return program


for _op in _SPARSE:
    arrays(_op, xla_static=(2,))(_gathered_program(_op))
    arrays(f"{_op}WithNumSegments", static=(3,), sizes=(3,))(_gathered_program(_op))
    arrays(f"{_op}Grad", static=(3,), sizes=(3,))(_gathered_gradient_program(_op))
