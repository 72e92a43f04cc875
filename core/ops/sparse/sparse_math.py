"""Arithmetic on sparse tensors: reductions, elementwise ops with dense tensors, softmax, products with matrices, edit
distance.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...building.gradbuilder import GradientBuilder, Gradients
from ...graph.graph import Node, Output
from ...numerics import group_reductions
from ...numerics.group_reductions import lowest, reduce_groups, settle_nans, update_rows
from ...numerics.half_precision import widened
from ...numerics.integers import truncated_quotient
from ...numerics.sequences import edit_distances
from ...registry.registry import (
    NOT_DIFFERENTIABLE,
    Cost,
    arrays,
    everywhere,
    flops,
    gradient,
    kernel,
    multiply_adds,
    shape,
    shaped,
    without_gradient,
)
from ...support.errors import InvalidArgumentError
from ...types.arrays import Array, Result
from ...types.dims import Dim
from ...types.shapes import UNKNOWN, Shape, TensorSpec, dims_of, shape_from, unknown_dims
from ..array.sorting import unique_index
from ..linalg.matmul import matmul_flops, matmul_shape
from ..shared import sparse_tensors as programs
from ..shared.argument_checks import may_equal, require, require_rank
from ..shared.decompositions import by_ops
from ..shared.elementwise_tables import counted
from ..shared.shape_arguments import normalize_axis
from ..shared.sparse_tensors import SparseParts, check_bounds, common_keys, flat_positions, rank_of, sparse_shapes, validate


def _reduction(dense_shape: Array, axes: Array, keep_dims: bool) -> tuple[list[int], list[int]]:
    """(kept dimensions, shape of the result) of a reduction over `axes`."""
    rank = dense_shape.size
    if np.ndim(axes) > 1:
        raise InvalidArgumentError(f"reduction_axes must be a scalar or vector, not of shape {Shape(np.shape(axes))}")
    dropped = {normalize_axis(int(a), rank, "Invalid reduction dimension") for a in np.ravel(axes)}
    remaining = [d for d in range(rank) if d not in dropped]
    dims = dense_shape.tolist()
    return remaining, [1 if d in dropped else dims[d] for d in range(rank)] if keep_dims else [dims[d] for d in remaining]


def _register_reduction(op: str, ufunc: np.ufunc) -> None:
    @kernel(op)
    def sparse_reduce(indices: Array, values: Array, dense_shape: Array, axes: Array, *, keep_dims: bool) -> Array:
        """The elements reduced over axes, as a dense tensor; 0 where there are none."""
        validate(indices, values, dense_shape)
        remaining, dims = _reduction(dense_shape, axes, keep_dims)
        rows = indices[:, remaining]
        if np.any(rows < 0) or np.any(rows >= dense_shape[remaining]):
            raise InvalidArgumentError(f"Obtained a write index which is outside of the bounds of {dense_shape.tolist()}")
        # Only places with elements are reduced: a maximum of negative numbers must not meet the 0 of an empty place.
        positions = flat_positions(rows, dense_shape[remaining])
        places, reduced = reduce_groups(ufunc, *settle_nans(ufunc, positions, values, in_packets=True))
        result = np.zeros(math.prod(dims), values.dtype)
        result[places] = reduced
        return result.reshape(dims)

    @kernel(f"{op}Sparse")
    def sparse_reduce_sparse(
        indices: Array, values: Array, dense_shape: Array, axes: Array, *, keep_dims: bool
    ) -> tuple[Array, Array, Array]:
        """The elements reduced over axes, as a sparse tensor."""
        validate(indices, values, dense_shape)
        remaining, dims = _reduction(dense_shape, axes, keep_dims)
        (groups,) = common_keys(indices[:, remaining])
        _, reduced = reduce_groups(ufunc, *settle_nans(ufunc, groups, values, in_packets=True))
        vectors = indices[np.unique(groups, return_index=True)[1]][:, remaining]
        if keep_dims:
            # Kept dimensions have the index 0.
            full = np.zeros((len(vectors), dense_shape.size), np.int64)
            full[:, remaining] = vectors
            vectors = full
        return vectors, reduced, np.array(dims, np.int64)


_register_reduction("SparseReduceSum", np.add)
_register_reduction("SparseReduceMax", np.maximum)
_REDUCTIONS = ("SparseReduceSum", "SparseReduceMax")
_SPARSE_REDUCTIONS = ("SparseReduceSumSparse", "SparseReduceMaxSparse")


@shape(*_REDUCTIONS)
def sparse_reduce_shape(
    indices: TensorSpec, values: TensorSpec, dense_shape: TensorSpec, axes: TensorSpec, *, keep_dims: bool
) -> Shape:
    dims = shape_from(dense_shape)
    dropped = dims_of(axes)
    if dims.rank is None or dropped is None:
        return unknown_dims(dims.rank) if keep_dims else UNKNOWN
    chosen = {normalize_axis(a, dims.rank) for a in dropped}
    if keep_dims:
        return Shape(1 if i in chosen else d for i, d in enumerate(dims))
    return Shape(d for i, d in enumerate(dims) if i not in chosen)


@shape(*_SPARSE_REDUCTIONS)
def sparse_reduce_sparse_shape(
    indices: TensorSpec, values: TensorSpec, dense_shape: TensorSpec, axes: TensorSpec, *, keep_dims: bool
) -> tuple[Shape, ...]:
    rank, dropped = rank_of(indices, dense_shape), dims_of(axes)
    if not keep_dims and isinstance(rank, int):
        rank = None if dropped is None else rank - len({normalize_axis(a, rank) for a in dropped})
    return sparse_shapes(rank if keep_dims or isinstance(rank, int) else None)


flops(*_REDUCTIONS, *_SPARSE_REDUCTIONS)(counted(1, 1, "An operation for each element."))


@gradient("SparseReduceSum")
def sparse_reduce_sum_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    """Give each element the gradient of its sum."""
    indices, _, dense_shape, axes = node.inputs
    one = g.constant(1, "int64")
    rank = g.Size(dense_shape)
    # Axes may be negative.
    places = g.FloorMod(g.AddV2(g.Reshape(axes, [-1]), rank), rank)
    reduced_dims = g.DynamicStitch([g.Range(0, rank, 1), places], [dense_shape, g.Fill(g.Shape(places), one)])
    # The quotient is the size along a reduced axis, which takes each index to 0, and 1 along the others.
    scale = g.FloorDiv(dense_shape, g.Maximum(reduced_dims, one))
    return [None, g.GatherNd(g.Reshape(grad, reduced_dims), g.FloorDiv(indices, g.Maximum(scale, one))), None, None]


# op, ufunc on the values and the dense elements beside them
_CWISE = (("SparseDenseCwiseAdd", np.add), ("SparseDenseCwiseMul", np.multiply), ("SparseDenseCwiseDiv", np.true_divide))


def _register_cwise(op: str, ufunc: np.ufunc) -> None:
    @kernel(op)
    def sparse_dense_cwise(indices: Array, values: Array, dense_shape: Array, dense: Array) -> Array:
        """The sparse values combined with the dense elements at their places; only the dense side is broadcast."""
        validate(indices, values, dense_shape)
        dense = np.asarray(dense)
        try:
            wide = np.broadcast_to(dense, dense_shape.tolist())
        except ValueError:
            raise InvalidArgumentError(
                f"SparseDenseBinaryOpShared broadcasts dense to sparse only; got incompatible shapes: "
                f"{dense_shape.tolist()} vs. {list(dense.shape)}"
            ) from None
        check_bounds(indices, dense_shape)
        beside = wide[tuple(indices.T)] if indices.shape[1] else np.broadcast_to(wide, values.shape)
        if ufunc is np.true_divide and values.dtype.kind in "iu":
            return _integer_quotient(values, beside)
        return ufunc(values, beside).astype(values.dtype, copy=False)


def _integer_quotient(values: Array, divisors: Array) -> Array:
    """Rounded towards zero; InvalidArgumentError for a division by zero."""
    if np.any(divisors == 0):
        raise InvalidArgumentError("Integer division by zero")
    return truncated_quotient(values, divisors)


for _row in _CWISE:
    _register_cwise(*_row)


shaped("n r, n, r -> n", *(op for op, _ in _CWISE))
flops(*(op for op, _ in _CWISE))(counted(1, 1, "An operation for each element."))


@gradient("SparseDenseCwiseMul")
def sparse_dense_cwise_mul_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    beside, spread = _dense_side(g, node)
    return [None, g.Mul(grad, beside), None, spread(g.Mul(grad, node.inputs[1]))]


@gradient("SparseDenseCwiseDiv")
def sparse_dense_cwise_div_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    beside, spread = _dense_side(g, node)
    towards = g.Mul(grad, g.RealDiv(g.Neg(node.inputs[1]), g.Mul(beside, beside)))
    return [None, g.RealDiv(grad, beside), None, spread(towards)]


@gradient("SparseDenseCwiseAdd")
def sparse_dense_cwise_add_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    _, spread = _dense_side(g, node)
    return [None, grad, None, spread(grad)]


def _dense_side(g: GradientBuilder, node: Node) -> tuple[Any, Any]:
    """Return the dense elements beside the values, and a function that sums values into the dense shape."""
    indices, _, dense_shape, dense = node.inputs
    one = g.constant(1, "int64")
    dims = g.Shape(dense, out_type="int64")
    missing = g.Reshape(g.Sub(g.Size(dense_shape), g.Rank(dense)), [1])
    padded = g.ConcatV2([g.Fill(missing, one), dims], 0)
    # As above: an index along a dimension that is broadcast becomes 0.
    places = g.FloorDiv(indices, g.Maximum(g.FloorDiv(dense_shape, g.Maximum(padded, one)), one))
    beside = g.GatherNd(g.Reshape(dense, padded), places)
    return beside, lambda values: g.Reshape(g.ScatterNd(places, values, padded), dims)


@kernel("SparseSoftmax", shape="n r, n, r -> n")
def sparse_softmax(indices: Array, values: Array, dense_shape: Array) -> Result:
    """The softmax of each row of the last dimension, over the elements that are there, wherever they lie."""
    validate(indices, values, dense_shape)
    if dense_shape.size < 2:
        raise InvalidArgumentError(f"Input should have rank >= 2, but got: {dense_shape.size}")
    if not len(values):
        return values
    # TensorFlow sorts the elements and leaves the results in that order.
    order = np.lexsort(indices.T[::-1])
    indices, values = indices[order], values[order]
    rows = common_keys(indices[:, :-1])[0]
    _, numbers = np.unique(rows, return_inverse=True)
    numbers = numbers.ravel()
    largest = reduce_groups(np.maximum, numbers, values)[1]
    # Less the largest of the row, so that no exponential overflows.
    shifted = np.exp(values - largest[numbers])
    return (shifted / reduce_groups(np.add, numbers, shifted)[1][numbers]).astype(values.dtype)


flops("SparseSoftmax")(
    counted(Cost(4, transcendentals=1), 1, "Maximum, subtraction, sum and division for each element, and one exponential.")
)


@gradient("SparseSoftmax")
def sparse_softmax_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    """(grad - sum of grad y over the row) y"""
    indices, _, dense_shape = node.inputs
    y = node.output()
    total = g.SparseReduceSum(indices, g.Mul(y, grad), dense_shape, [-1], keep_dims=True)
    return [None, g.Mul(g.SparseDenseCwiseAdd(indices, grad, dense_shape, g.Neg(total)), y), None]


@kernel(
    "SparseTensorDenseAdd",
    shape="*, *, <...>, ... -> ...",
    gradient=by_ops("", "GatherNd dy 0", "", "dy"),
    flops=counted(1, 1, "A sum for each element."),
)
def sparse_tensor_dense_add(indices: Array, values: Array, dense_shape: Array, dense: Array) -> Result:
    """Add a sparse tensor to a dense tensor."""
    validate(indices, values, dense_shape)
    dense = np.asarray(dense)
    if list(dense.shape) != dense_shape.tolist():
        raise InvalidArgumentError(f"the operands have the shapes {dense_shape.tolist()} and {list(dense.shape)}")
    check_bounds(indices, dense_shape)
    # A contiguous copy, whose flat view the elements are added into.
    result = np.array(dense, order="C")
    update_rows(np.add, result.reshape(-1), flat_positions(indices, dense_shape), values)
    return result


@kernel("SparseTensorDenseMatMul")
def sparse_tensor_dense_mat_mul(
    indices: Array, values: Array, dense_shape: Array, dense: Array, *, adjoint_a: bool, adjoint_b: bool
) -> Result:
    """The product of a sparse and a dense matrix, (m, k) x (k, n); either may be taken adjoint."""
    validate(indices, values, dense_shape, "a")
    if dense_shape.size != 2 or np.ndim(dense) != 2:
        raise InvalidArgumentError(f"both operands must be matrices: {dense_shape.tolist()}, {Shape(np.shape(dense))}")
    inner = int(dense_shape[0 if adjoint_a else 1])
    b = np.conj(dense).T if adjoint_b else np.asarray(dense)
    if b.shape[0] != inner:
        raise InvalidArgumentError(f"Cannot multiply A and B because inner dimension does not match: {inner} vs. {b.shape[0]}")
    check_bounds(indices, dense_shape)
    weights = np.conj(values) if adjoint_a else values
    return _sparse_product(weights, b, indices, shape=tuple(dense_shape.tolist()), is_turned=adjoint_a)


@widened
def _sparse_product(weights: Array, b: Array, indices: Array, *, shape: tuple[int, int], is_turned: bool) -> Array:
    """A b, or with A turned around, element after element of A."""
    rows, columns = indices.T[::-1] if is_turned else indices.T
    result = np.zeros((shape[is_turned], b.shape[1]), weights.dtype)
    group_reductions.add_coordinates(result, rows, columns, np.ascontiguousarray(weights), np.ascontiguousarray(b))
    return result


@shape("SparseTensorDenseMatMul")
def sparse_tensor_dense_mat_mul_shape(
    indices: TensorSpec, values: TensorSpec, dense_shape: TensorSpec, dense: TensorSpec, *, adjoint_a: bool, adjoint_b: bool
) -> Shape:
    require_rank(dense, 2, "b")
    dims = shape_from(dense_shape)
    rows = dims[1 if adjoint_a else 0] if dims.rank is not None else None
    if dims.rank not in (None, 2):
        raise InvalidArgumentError(f"a must be a matrix, not of shape {dims}")
    return Shape([rows, dense.shape[0 if adjoint_b else 1]])


@flops("SparseTensorDenseMatMul")
def sparse_tensor_dense_mat_mul_flops(indices: TensorSpec, values: TensorSpec, *, outputs: list[TensorSpec]) -> Cost:
    """A row of the dense matrix for each element of the sparse matrix; their number is that of the values, or of the index
    vectors.
    """
    count = indices.shape[0] if indices.rank == 2 and isinstance(indices.shape[0], int) else values.shape.num_elements
    return multiply_adds(count * outputs[0].shape[1])


@gradient("SparseTensorDenseMatMul")
def sparse_tensor_dense_mat_mul_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    """Multiply: for b, the adjoint of a times the gradient; for each value, its row of the gradient times its row of b."""
    indices, values, dense_shape, b = node.inputs
    adjoint_a, adjoint_b = node.attr("adjoint_a"), node.attr("adjoint_b")
    b_grad = g.SparseTensorDenseMatMul(indices, values, dense_shape, grad, adjoint_a=not adjoint_a)
    b_grad = g.ConjugateTranspose(b_grad, [1, 0]) if adjoint_b else b_grad
    first, second = (
        g.StridedSlice(indices, [0, i], [0, i + 1], [1, 1], begin_mask=1, end_mask=1, shrink_axis_mask=2) for i in (0, 1)
    )
    rows, columns = (second, first) if adjoint_a else (first, second)
    towards = g.GatherV2(grad, rows, 0)
    b_rows = g.GatherV2(g.ConjugateTranspose(b, [1, 0]) if adjoint_b else b, columns, 0)
    product = g.Sum(g.Mul(towards, g.conj(b_rows)), [1])
    return [None, g.conj(product) if adjoint_a else product, None, b_grad]


@everywhere("SparseMatMul")
def sparse_mat_mul(
    xp: Any, a: Any, b: Any, *, transpose_a: bool, transpose_b: bool, a_is_sparse: bool, b_is_sparse: bool
) -> Any:
    """Multiply two dense matrices, declared to have many zeros; the result is float32 for any input dtype."""
    require_rank(a, 2, "a")
    require_rank(b, 2, "b")
    a, b = (xp.transpose(x, (1, 0)) if turned else x for x, turned in ((a, transpose_a), (b, transpose_b)))
    require(may_equal(a.shape[1:], b.shape[:1]), f"Matrix size incompatible: a: {a.shape}, b: {b.shape}")
    a, b = xp.asarray(a, np.float32), xp.asarray(b, np.float32)
    # TensorFlow skips the zeros of a matrix that is called sparse: of `a` if both are. XLA's kernel calls none sparse.
    if xp.is_eager and a_is_sparse:
        return _product_without_zeros(a, b)
    if xp.is_eager and b_is_sparse:
        return _product_without_zeros(b.T, a.T).T
    return xp.matmul(a, b)


def _product_without_zeros(sparse: Array, dense: Array) -> Array:
    """Return the product of two matrices in which 0 times infinity or NaN is 0, if the 0 is of the first one."""
    # No search for zeros among finite numbers: a dense product is fast, and 0 times a finite number adds nothing.
    if np.isfinite(dense).all():
        return np.matmul(sparse, dense)
    result = np.empty((len(sparse), dense.shape[1]), np.float32)
    for row, out in zip(sparse, result):
        is_taken = row != 0
        out[...] = row[is_taken] @ dense[is_taken]
    return result


# The zeros that the kernel skips are counted, as nobody knows their number before the run.
shape("SparseMatMul")(matmul_shape)
flops("SparseMatMul")(matmul_flops)


@gradient("SparseMatMul")
def sparse_mat_mul_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    a, b = node.inputs
    flip_a, flip_b = node.attr("transpose_a"), node.attr("transpose_b")
    left = g.SparseMatMul(b, grad, transpose_a=flip_b, transpose_b=True) if flip_a else None
    left = g.SparseMatMul(grad, b, transpose_b=not flip_b) if left is None else left
    right = g.SparseMatMul(grad, a, transpose_a=True, transpose_b=flip_a) if flip_b else None
    right = g.SparseMatMul(a, grad, transpose_a=not flip_a) if right is None else right
    # The products are float32 also for matrices of bfloat16.
    return [g.Cast(d, DstT=x.base_dtype) for d, x in ((left, a), (right, b))]


@kernel("EditDistance", gradient=NOT_DIFFERENTIABLE)
def edit_distance(
    h_indices: Array, h_values: Array, h_shape: Array, t_indices: Array, t_values: Array, t_shape: Array, *, normalize: bool
) -> Result:
    """Levenshtein's distance between the sequences in the last dimension of two sparse tensors; relative to the truth."""
    validate(h_indices, h_values, h_shape, "the hypothesis")
    validate(t_indices, t_values, t_shape, "the truth")
    if h_shape.size != t_shape.size or h_shape.size < 2:
        raise InvalidArgumentError(f"hypothesis and truth need the same rank of at least 2: {h_shape.size}, {t_shape.size}")
    dims = np.maximum(h_shape, t_shape)[:-1]
    for indices in (h_indices, t_indices):
        if np.any(indices[:, :-1] < 0) or np.any(indices[:, :-1] >= dims):
            raise InvalidArgumentError(f"an index would be written outside of the result's shape {dims.tolist()}")
    # Sequences are found by their place, so that one that only the truth or only the hypothesis has is compared with an
    # empty one.
    groups = [flat_positions(indices[:, :-1], dims) for indices in (h_indices, t_indices)]
    present, numbers = np.unique(np.concatenate(groups), return_inverse=True)
    hypotheses, sizes = _sequences(numbers[: h_values.size], h_values, present.size)
    truths, lengths = _sequences(numbers[h_values.size :], t_values, present.size)
    if hypotheses.dtype == object:
        # Texts are compared once here, and as numbers for each pair of elements.
        codes = unique_index(np.concatenate([hypotheses, truths]))[1]
        hypotheses, truths = codes[: hypotheses.size], codes[hypotheses.size :]
    distances = edit_distances(hypotheses, sizes, truths, lengths)
    if normalize:
        relative = distances / np.maximum(lengths, 1)
        # Relative to an empty truth: infinitely far, but for an empty hypothesis.
        distances = np.where(lengths > 0, relative, np.where(distances > 0, np.inf, 0))
    result = np.zeros(math.prod(dims.tolist()), np.float32)
    result[present] = distances
    return result.reshape(dims.tolist())


def _sequences(groups: Array, values: Array, count: int) -> tuple[Array, Array]:
    """Return (values grouped in their given order, number of values in each of `count` groups)."""
    return values[np.argsort(groups, kind="stable")], np.bincount(groups, minlength=count)


@shape("EditDistance")
def edit_distance_shape(hypothesis: SparseParts[TensorSpec], truth: SparseParts[TensorSpec]) -> Shape:
    first: Any = dims_of(hypothesis.dense_shape)
    second: Any = dims_of(truth.dense_shape)
    if (
        first is not None
        and second is not None
        and len(first) == len(second)
        and not any(isinstance(dim, Dim) for dim in first + second)
    ):
        return Shape(max(a, b) for a, b in zip(first[:-1], second[:-1]))
    rank = rank_of(hypothesis.indices, hypothesis.dense_shape)
    return unknown_dims(rank - 1) if isinstance(rank, int) and rank else UNKNOWN


@flops("EditDistance")
def edit_distance_flops(
    h_indices: TensorSpec, h_values: TensorSpec, h_shape: TensorSpec, t_indices: TensorSpec, t_values: TensorSpec
) -> Cost:
    """An upper bound, for one pair of sequences: a comparison, three sums and two minima for each pair of elements."""
    return Cost(flops=6 * h_values.shape.num_elements * t_values.shape.num_elements)


without_gradient("SparseReduceMax", *_SPARSE_REDUCTIONS)
arrays("SparseTensorDenseMatMul", static=(2,), sizes=(2,))(programs.product)
arrays("SparseTensorDenseAdd", static=(2,), sizes=(2,))(programs.added)
arrays("SparseSoftmax")(programs.softmax)


@arrays("SparseReduceSum", static=(2, 3), sizes=(2,))
def _reduce_sum_of_arrays(xp: Any, indices: Any, values: Any, dims: Any, axes: Array, *, keep_dims: bool) -> Any:
    return programs.reduced(xp, indices, values, dims, axes, keep_dims, "add", 0)


@arrays("SparseReduceMax", static=(2, 3), sizes=(2,))
def _reduce_max_of_arrays(xp: Any, indices: Any, values: Any, dims: Any, axes: Array, *, keep_dims: bool) -> Any:
    return programs.reduced(xp, indices, values, dims, axes, keep_dims, "max", lowest(values.dtype))


def _cwise_of_arrays(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the program that combines the values with the dense elements at their places."""

    def program(xp: Any, indices: Any, values: Any, dims: Any, dense: Any) -> Any:
        return function(xp, values, programs.beside(xp, indices, values, dims, dense))

    return program


def _quotient(xp: Any, x: Any, y: Any) -> Any:
    if x.dtype.kind not in "iu":
        return x / y
    xp.require((y != 0).all())
    return xp.truncated_quotient(x, y)


for _op, _combined in (
    ("SparseDenseCwiseAdd", lambda xp, x, y: x + y), ("SparseDenseCwiseMul", lambda xp, x, y: x * y),
    ("SparseDenseCwiseDiv", _quotient),
):  # fmt: skip
    arrays(_op, static=(2,), sizes=(2,))(_cwise_of_arrays(_combined))
