"""Systems of linear equations, inverses, determinants, Cholesky factors, and cross products."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from ...building.gradbuilder import GradientBuilder, Gradients
from ...graph.graph import Node, Output
from ...numerics import linalg as numerics
from ...numerics.half_precision import widened
from ...registry.registry import Cost, everywhere, facts, flops, gradient, kernel, lower, onnx, shape, without_gradient
from ...support.errors import FailedPreconditionError, InvalidArgumentError
from ...types import dtypes
from ...types.arrays import Array, Result
from ...types.dims import dim_min
from ...types.shapes import UNKNOWN, Shape, TensorSpec, broadcast_shapes, merge_dims, merge_shapes
from ..shared.argument_checks import may_equal, require
from ..shared.onnx_lowerings import adjoint_of, along, gathered, last_dims
from ..shared.onnx_lowerings import transposed as transposed_onnx
from ..shared.plain_shapes import merged_shape
from ._matrices import (
    adjoint,
    adjoint_lowering,
    cholesky_flops,
    halve_diagonal,
    identity_like,
    lower_triangle,
    lu_flops,
    matrix_shape,
    per_matrix,
    product,
    reduce_batch,
    reflected_flops,
    reflections_flops,
    require_square,
    require_system,
    square_shape,
    system_shape,
    transposed,
    upper_triangle,
    widened_lowering,
)
from .linalg_diag import matrix_diag_v3, of_diagonals_arrays


@kernel("Cholesky", "BatchCholesky")
@widened
def cholesky(input: Array) -> Result:
    """The lower triangular L with L L^H = A, reading the lower triangles; NaN where A is not positive definite."""
    require_square(input)
    if not input.size:
        return input.copy()
    try:
        return np.linalg.cholesky(input)
    except np.linalg.LinAlgError:
        # NumPy raises for the whole batch if one matrix is not positive definite; TensorFlow has NaN for that one.
        return numerics.by_matrix(_cholesky_or_nan, input)


def _cholesky_or_nan(matrix: Any) -> Any:
    try:
        return np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        return np.tril(np.full_like(matrix, np.nan))


@gradient("Cholesky", "BatchCholesky")
def cholesky_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    """L^-H P(L^H grad) L^-1, symmetrized, where P takes the lower triangle with half the diagonal."""
    factor = node.output()
    inverse = g.MatrixTriangularSolve(factor, identity_like(g, factor))
    middle = lower_triangle(g, halve_diagonal(g, product(g, factor, grad, adj_x=True)))
    result = product(g, product(g, inverse, middle, adj_x=True), inverse)
    return [g.Mul(g.AddV2(result, adjoint(g, result)), g.scalar_like(result, 0.5))]


@flops("Cholesky", "BatchCholesky")
def cholesky_decomposition_flops(input: TensorSpec) -> Cost:
    """n (n + 1) (2 n + 1) / 6, n of them square roots (LAPACK Working Note 41, appendix C)."""
    return Cost(input.shape[:-2].num_elements * cholesky_flops(input.shape[-1]))


@kernel("MatrixInverse", "BatchMatrixInverse")
@widened
def matrix_inverse(input: Array, *, adjoint: bool) -> Result:
    """The inverses of square matrices, or of their adjoints."""
    require_square(input)
    if not input.size:
        return input.copy()
    try:
        return np.linalg.inv(numerics.adjoint(input) if adjoint else input)
    except np.linalg.LinAlgError:
        raise InvalidArgumentError("Input is not invertible.") from None


shape("Cholesky", "BatchCholesky", "MatrixInverse", "BatchMatrixInverse")(square_shape)


@gradient("MatrixInverse", "BatchMatrixInverse")
def matrix_inverse_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    inverse = node.output()
    if node.attr("adjoint"):
        return [g.Neg(product(g, inverse, product(g, grad, inverse, adj_x=True)))]
    return [g.Neg(product(g, inverse, product(g, grad, inverse, adj_y=True), adj_x=True))]


@flops("MatrixInverse", "BatchMatrixInverse")
def matrix_inverse_flops(input: TensorSpec) -> Cost:
    """LU factors, the inverse of L, and n^3 for U: together 2 n^3, pivoting's comparisons included."""
    n = input.shape[-1]
    return Cost(input.shape[:-2].num_elements * (2 * n * n * n))


@kernel("CholeskyGrad", "BatchCholeskyGrad")
@widened
def cholesky_grad(l: Array, grad: Array) -> Result:  # noqa: E741 - the op's own name
    """The gradient of the Cholesky factor l by the matrix that was factored (Murray, arXiv:1602.07527)."""
    require_square(l)
    require(l.shape == grad.shape, f"l and grad must have the same shape, not {l.shape} and {grad.shape}")
    result = _cholesky_gradient(np, lambda a, b: numerics.solve_triangular(a, b, True, True), l, grad)
    return result.astype(l.dtype)


def _cholesky_gradient(xp: Any, solve: Callable[..., Any], factor: Any, grad: Any) -> Any:
    """Return the gradient by the factored matrix; `solve` solves L^H X = B."""
    triangle = xp.tril(factor)
    middle = xp.tril(triangle.swapaxes(-1, -2) @ xp.tril(grad))
    middle = middle + xp.tril(middle, -1).swapaxes(-1, -2)
    left = solve(triangle, middle)
    return solve(triangle, left.swapaxes(-1, -2)).swapaxes(-1, -2) * 0.5


@shape("CholeskyGrad", "BatchCholeskyGrad")
def cholesky_grad_shape(l: TensorSpec, grad: TensorSpec) -> Shape:  # noqa: E741
    return merge_shapes(square_shape(l), square_shape(grad))


@flops("CholeskyGrad", "BatchCholeskyGrad")
def cholesky_grad_flops(factor: TensorSpec, grad: TensorSpec) -> Cost:
    """A product of triangles, n (n + 1) (n + 2) / 3, two triangular systems of n^3 each, and n^2 halves."""
    n = factor.shape[-1]
    return Cost(factor.shape[:-2].num_elements * (2 * n * n * n + n * n + n * (n + 1) * (n + 2) // 3))


facts("backward", of=("BatchCholeskyGrad", "CholeskyGrad"))
without_gradient("CholeskyGrad", "BatchCholeskyGrad")


@kernel("MatrixDeterminant", "BatchMatrixDeterminant")
@widened
def matrix_determinant(input: Array) -> Result:
    """The determinants (...) of matrices (..., n, n)."""
    require_square(input)
    return np.asarray(np.linalg.det(input))


@shape("MatrixDeterminant", "BatchMatrixDeterminant")
def matrix_determinant_shape(input: TensorSpec) -> Shape:
    return square_shape(input)[:-2]


@gradient("MatrixDeterminant", "BatchMatrixDeterminant")
def matrix_determinant_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    inverse = g.MatrixInverse(node.inputs[0], adjoint=True)
    return [g.Mul(per_matrix(g, g.Mul(grad, node.output())), inverse)]


@flops("MatrixDeterminant", "BatchMatrixDeterminant")
def matrix_determinant_flops(input: TensorSpec) -> Cost:
    """LU factors with partial pivoting, (4 n^3 + 3 n^2 - n) / 6, and the product of the pivots and a sign."""
    n = input.shape[-1]
    return Cost(input.shape[:-2].num_elements * (lu_flops(n) + n))


@kernel("LogMatrixDeterminant")
@widened
def log_matrix_determinant(input: Array) -> tuple[Result, Result]:
    """Signs and logarithms of absolute values of determinants."""
    require_square(input)
    sign, logarithm = np.linalg.slogdet(input)
    # NumPy's sign of a matrix with NaN is a number, TensorFlow's is NaN.
    sign = np.where(np.isnan(logarithm), np.nan, sign)
    return np.asarray(sign, input.dtype), np.asarray(logarithm, input.dtype)


@shape("LogMatrixDeterminant")
def log_matrix_determinant_shape(input: TensorSpec) -> list[Shape]:
    return [square_shape(input)[:-2]] * 2


@gradient("LogMatrixDeterminant")
def log_matrix_determinant_gradient(g: GradientBuilder, node: Node, grad_sign: Output, grad_log: Output) -> Gradients:
    inverse = g.MatrixInverse(node.inputs[0], adjoint=True)
    return [g.Mul(per_matrix(g, grad_log), inverse)]


@flops("LogMatrixDeterminant")
def log_matrix_determinant_flops(input: TensorSpec) -> Cost:
    """LU factors as for MatrixDeterminant; the pivots' signs and their product, moduli, logarithms and their sum."""
    n, count = input.shape[-1], input.shape[:-2].num_elements
    return Cost(count * (lu_flops(n) + 4 * n - 1), transcendentals=count * n)


@kernel("MatrixSolve", "BatchMatrixSolve")
@widened
def matrix_solve(matrix: Array, rhs: Array, *, adjoint: bool) -> Result:
    """X with A X = rhs, or A^H X = rhs, for square A."""
    require_system(matrix, rhs)
    require_square(matrix)
    if not rhs.size:
        return np.zeros(rhs.shape, rhs.dtype)
    try:
        return np.linalg.solve(numerics.adjoint(matrix) if adjoint else matrix, rhs)
    except np.linalg.LinAlgError:
        raise InvalidArgumentError("Input matrix is not invertible.") from None


@shape("MatrixSolve", "BatchMatrixSolve")
def matrix_solve_shape(matrix: TensorSpec, rhs: TensorSpec) -> Shape:
    # The solution has the shape of the right-hand sides, and the matrix knows as many rows.
    square = square_shape(matrix)
    rows = square if square.dims is None else square[:-1] + [None]
    return merge_shapes(system_shape(matrix, rhs), merge_shapes(rows, rhs.shape))


@gradient("MatrixSolve", "BatchMatrixSolve")
def matrix_solve_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    is_adjoint = node.attr("adjoint")
    grad_rhs = g.MatrixSolve(node.inputs[0], grad, adjoint=not is_adjoint)
    return [_grad_matrix(g, node, grad_rhs, is_adjoint), grad_rhs]


def _grad_matrix(g: GradientBuilder, node: Node, grad_rhs: Output, is_adjoint: bool) -> Output:
    """Return the gradient of the matrix of a system from the gradient of its right-hand side."""
    x = node.output()
    return g.Neg(product(g, x, grad_rhs, adj_y=True) if is_adjoint else product(g, grad_rhs, x, adj_y=True))


@flops("MatrixSolve", "BatchMatrixSolve")
def matrix_solve_flops(matrix: TensorSpec, rhs: TensorSpec) -> Cost:
    """LU factors as for MatrixDeterminant and two substitutions for each column: n^2, and n^2 - n for the unit diagonal."""
    n = matrix.shape[-1]
    return Cost(matrix.shape[:-2].num_elements * (lu_flops(n) + (2 * n * n - n) * rhs.shape[-1]))


@kernel("MatrixTriangularSolve", "BatchMatrixTriangularSolve")
@widened
def matrix_triangular_solve(matrix: Array, rhs: Array, *, lower: bool, adjoint: bool) -> Result:
    """Return X with A X = rhs, or A^H X = rhs, reading a single triangle of A; the batch dimensions broadcast."""
    _require_triangular(matrix, rhs)
    if matrix.shape[-1] != matrix.shape[-2]:
        raise InvalidArgumentError(f"In[0] must be square matrices, not of shape {matrix.shape}")
    return numerics.solve_triangular(matrix, rhs, lower, adjoint)


def _require_triangular(matrix: Array, rhs: Array) -> None:
    for i, x in enumerate((matrix, rhs)):
        if x.ndim < 2:
            raise InvalidArgumentError(f"In[{i}] ndims must be >= 2: {x.ndim}")
    if matrix.shape[:-2] != rhs.shape[:-2]:
        broadcast_shapes(Shape(matrix.shape[:-2]), Shape(rhs.shape[:-2]))
    if matrix.shape[-1] != rhs.shape[-2]:
        raise InvalidArgumentError(f"In[0] mismatch In[1] shape: {matrix.shape} and {rhs.shape}")


@shape("MatrixTriangularSolve", "BatchMatrixTriangularSolve")
def matrix_triangular_solve_shape(matrix: TensorSpec, rhs: TensorSpec) -> Shape:
    a, b = square_shape(matrix), matrix_shape(rhs)
    if a.dims is None or b.dims is None:
        return UNKNOWN
    return broadcast_shapes(a[:-2], b[:-2]) + [merge_dims(a[-1], b[-2]), b[-1]]


@gradient("MatrixTriangularSolve", "BatchMatrixTriangularSolve")
def matrix_triangular_solve_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    matrix, rhs = node.inputs
    is_adjoint, is_lower = node.attr("adjoint"), node.attr("lower")
    grad_rhs = g.MatrixTriangularSolve(matrix, grad, lower=is_lower, adjoint=not is_adjoint)
    whole = _grad_matrix(g, node, grad_rhs, is_adjoint)
    triangle = lower_triangle(g, whole) if is_lower else upper_triangle(g, whole)
    return [reduce_batch(g, triangle, matrix, rhs), reduce_batch(g, grad_rhs, rhs, matrix)]


@flops("MatrixTriangularSolve", "BatchMatrixTriangularSolve")
def matrix_triangular_solve_flops(matrix: TensorSpec, rhs: TensorSpec, *, outputs: list[TensorSpec]) -> Cost:
    """One substitution for each column, n^2."""
    return Cost(outputs[0].shape.num_elements * matrix.shape[-1])


@kernel("BandedTriangularSolve")
@widened
def banded_triangular_solve(matrix: Array, rhs: Array, *, lower: bool, adjoint: bool) -> Result:
    """Solve as MatrixTriangularSolve does, with diagonals (..., bands, n) for a matrix: the main diagonal first for lower,
    else last.
    """
    _require_triangular(matrix, rhs)
    bands, size = matrix.shape[-2:]
    require(matrix.size and rhs.size, f"BandedTriangularSolve does not support empty tensors: {matrix.shape} and {rhs.shape}")
    count = min(bands, size)
    diagonals = matrix[..., :count, :] if lower else matrix[..., bands - count :, :]
    require(np.all(diagonals[..., 0 if lower else -1, :]), "Input matrix is not invertible.")
    k = np.array([1 - count, 0] if lower else [0, count - 1], np.int32)
    # One diagonal is given to MatrixDiagV3 without a dimension for diagonals.
    packed = diagonals if count > 1 else diagonals[..., 0, :]
    dense: Any = matrix_diag_v3(packed, k, size, size, np.zeros((), matrix.dtype), align="LEFT_RIGHT")
    return numerics.solve_triangular(dense, rhs, lower, adjoint)


@shape("BandedTriangularSolve")
def banded_triangular_solve_shape(matrix: TensorSpec, rhs: TensorSpec) -> Shape:
    a, b = matrix_shape(matrix), matrix_shape(rhs)
    if a.dims is None or b.dims is None:
        return UNKNOWN
    return broadcast_shapes(a[:-2], b[:-2]) + [merge_dims(a[-1], b[-2]), b[-1]]


@gradient("BandedTriangularSolve")
def banded_triangular_solve_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    matrix, rhs = node.inputs
    is_adjoint, is_lower = node.attr("adjoint"), node.attr("lower")
    grad_rhs = g.BandedTriangularSolve(matrix, grad, lower=is_lower, adjoint=not is_adjoint)
    whole = _grad_matrix(g, node, grad_rhs, is_adjoint)
    last = g.Sub(g.StridedSlice(g.shape_of(matrix), [-2], [-1], [1]), g.constant(1, "int32"))
    zero = g.constant([0], "int32")
    k = g.ConcatV2([g.Neg(last), zero] if is_lower else [zero, last], 0)
    packed = g.MatrixDiagPartV3(whole, k, g.scalar_like(whole, 0), align="LEFT_RIGHT")
    packed = g.Reshape(packed, g.ConcatV2([g.StridedSlice(g.shape_of(whole), [0], [-2], [1], begin_mask=1),
                                           g.StridedSlice(g.shape_of(matrix), [-2], [0], [1], end_mask=1)], 0))  # fmt: skip
    return [reduce_batch(g, packed, matrix, rhs), reduce_batch(g, grad_rhs, rhs, matrix)]


@flops("BandedTriangularSolve")
def banded_triangular_solve_flops(matrix: TensorSpec, rhs: TensorSpec, *, outputs: list[TensorSpec]) -> Cost:
    """For each column a division a row and a multiply-add for each element beside the diagonal."""
    n, bands = matrix.shape[-1], dim_min(matrix.shape[-2], matrix.shape[-1])
    return Cost(outputs[0].shape[:-2].num_elements * rhs.shape[-1] * (n + (bands - 1) * (2 * n - bands)))


@kernel("MatrixSolveLs", "BatchMatrixSolveLs")
@widened
def matrix_solve_ls(matrix: Array, rhs: Array, l2_regularizer: Array, *, fast: bool) -> Result:
    """The X of least |A X - rhs|^2 + l2 |X|^2; without `fast` of least norm, and not regularized."""
    require(np.ndim(l2_regularizer) == 0, f"l2_regularizer must be scalar, got shape {np.shape(l2_regularizer)}")
    require(l2_regularizer >= 0, f"l2_regularizer must be >= 0, not {l2_regularizer}")
    require_system(matrix, rhs)
    rows, columns = matrix.shape[-2:]
    if not rows * columns * rhs.size:
        return np.zeros((*rhs.shape[:-2], columns, rhs.shape[-1]), rhs.dtype)
    if not fast:
        return _pseudo_inverse(matrix) @ rhs
    wide = numerics.adjoint(matrix)
    # The smaller of the two Gram matrices, A^H A of a tall matrix and A A^H of a wide one: only that one is regular for full
    # rank.
    gram = (wide @ matrix if rows >= columns else matrix @ wide) + _scaled_identity(min(rows, columns), l2_regularizer, matrix)
    try:
        factor = np.linalg.cholesky(gram)
    except np.linalg.LinAlgError:
        raise InvalidArgumentError(
            "Input matrix was rank deficient or ill-conditioned. Try fast=False or a larger l2_regularizer > 0."
        ) from None
    if rows >= columns:
        return _cholesky_solve(factor, wide @ rhs)
    return wide @ _cholesky_solve(factor, rhs)


def _pseudo_inverse(matrix: Array) -> Array:
    """Return the Moore-Penrose inverses; NaN for matrices that are not finite."""
    # LAPACK's singular values do not converge for NaN, and NumPy raises for the batch.
    finite = np.all(np.isfinite(matrix), (-2, -1), keepdims=True)
    return np.where(finite, np.linalg.pinv(np.where(finite, matrix, 0)), matrix.dtype.type(np.nan))


def _cholesky_solve(factor: Array, rhs: Array) -> Array:
    return numerics.solve_triangular(factor, numerics.solve_triangular(factor, rhs, True, False), True, True)


def _scaled_identity(size: int, scale: Array, like: Array) -> Array:
    return np.eye(size, dtype=like.dtype) * like.dtype.type(scale)


@shape("MatrixSolveLs", "BatchMatrixSolveLs")
def matrix_solve_ls_shape(matrix: TensorSpec, rhs: TensorSpec, l2_regularizer: TensorSpec) -> Shape:
    return system_shape(matrix, rhs)


@gradient("MatrixSolveLs", "BatchMatrixSolveLs")
def matrix_solve_ls_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    """Differentiate by the normal equations of the first kind for tall matrices, of the second for wide matrices.

    The kind is known only when the graph runs: both kinds are built, and the unused Gram matrix is kept regular.
    """
    a = node.inputs[0]
    require(node.attr("fast"), "the gradient of MatrixSolveLs is not defined for fast=False")
    sizes = g.StridedSlice(g.shape_of(a), [-2], [0], [1], end_mask=1)
    rows, columns = g.Split(g.constant(0, "int32"), sizes, num_split=2)
    is_tall = g.Reshape(g.GreaterEqual(rows, columns), g.constant([], "int32"))
    tall = _overdetermined(g, node, grad, g.LogicalNot(is_tall))
    wide = _underdetermined(g, node, grad, is_tall)
    return [*(g.SelectV2(is_tall, x, y) for x, y in zip(tall, wide)), None]


def _gram_inverse(g: GradientBuilder, node: Node, adj_x: bool, is_unused: Output) -> Output:
    """Return the inverse of A^H A or A A^H, regularized; where unused, the inverse of some regular matrix."""
    a, _, l2 = node.inputs
    gram = product(g, a, a, adj_x=adj_x, adj_y=not adj_x)
    # The Gram matrix of the other kind is singular; 1 on its diagonal keeps the inverse from failing, and SelectV2 drops the
    # result.
    bump = g.AddV2(g.Cast(l2, DstT=a.base_dtype), g.Cast(is_unused, DstT=a.base_dtype))
    return g.MatrixInverse(g.AddV2(gram, g.Mul(bump, identity_like(g, gram))))


def _underdetermined(g: GradientBuilder, node: Node, grad: Output, is_unused: Output) -> tuple[Output, Output]:
    a, b, _ = node.inputs
    inverse = _gram_inverse(g, node, False, is_unused)
    grad_b = product(g, inverse, product(g, a, grad))
    solved = product(g, inverse, b)
    first = product(g, grad_b, product(g, solved, a, adj_x=True))
    rest = g.Sub(grad, product(g, a, grad_b, adj_x=True))
    return g.Sub(product(g, solved, rest, adj_y=True), first), grad_b


def _overdetermined(g: GradientBuilder, node: Node, grad: Output, is_unused: Output) -> tuple[Output, Output]:
    a, b, _ = node.inputs
    x = node.output()
    z = product(g, _gram_inverse(g, node, True, is_unused), grad)
    xz = product(g, x, z, adj_y=True)
    grad_a = g.Sub(product(g, b, z, adj_y=True), product(g, a, g.AddV2(xz, transposed(g, xz))))
    return grad_a, product(g, a, z)


@flops("MatrixSolveLs", "BatchMatrixSolveLs")
def matrix_solve_ls_flops(matrix: TensorSpec, rhs: TensorSpec, l2_regularizer: TensorSpec, *, fast: bool) -> Cost:
    """A triangle of the Gram matrix, its Cholesky factor, and a product and two substitutions for each column.

    Without `fast` Householder's QR, for each column its reflections and a substitution (full rank, columns not pivoted).
    """
    rows, columns, sides = matrix.shape[-2], matrix.shape[-1], rhs.shape[-1]
    small = dim_min(rows, columns)
    large = rows + columns - small
    if fast:
        factor = large * small * (small + 1) + small + cholesky_flops(small)
        each = 2 * rows * columns + 2 * small * small
    else:
        factor = reflections_flops(large, small) + reflected_flops(large, small - 1, small)
        each = 4 * rows * columns - small * small
    return Cost(matrix.shape[:-2].num_elements * (factor + each * sides))


@everywhere("Cross")
def cross(xp: Any, a: Any, b: Any) -> Any:
    """The cross products of vectors (..., 3)."""
    require(may_equal(a.shape, b.shape), f"Both inputs must be of same shape: {a.shape} vs. {b.shape}")
    require(a.ndim >= 1, "Input must be at least 1D")
    if isinstance(a.shape[-1], int) and a.shape[-1] != 3:
        raise FailedPreconditionError("Cross-products are only defined for 3-element vectors.")
    (next_a, last_a), (next_b, last_b) = (
        (xp.take(x, np.array([1, 2, 0]), -1), xp.take(x, np.array([2, 0, 1]), -1)) for x in (a, b)
    )
    return next_a * last_b - last_a * next_b


shape("Cross")(merged_shape)


@gradient("Cross")
def cross_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    u, v = node.inputs
    return [g.Cross(v, grad), g.Cross(grad, u)]


@flops("Cross")
def cross_flops(a: TensorSpec, b: TensorSpec) -> Cost:
    """Two products and a difference an element."""
    return Cost(3 * a.shape.num_elements)


facts("own_gradient", of=["Cholesky", "BatchCholesky", "BandedTriangularSolve", "MatrixSolve", "BatchMatrixSolve"])
facts("own_gradient", of=["MatrixSolveLs", "BatchMatrixSolveLs"])


def _substituted_lowering(
    xla: Any, matrix: Any, rhs: Any, *, is_lower: bool, adjoint: bool = False, has_ones: bool = False
) -> Any:
    """Solve triangular systems; the batch dimensions broadcast."""
    batch = np.broadcast_shapes(matrix.shape[:-2], rhs.shape[:-2])
    if not math.prod((*batch, *rhs.shape[-2:])):
        return xla.zeros((*batch, *rhs.shape[-2:]), rhs.dtype)
    # XLA's solver wants equal batches, and TensorFlow broadcasts them.
    matrix = xla.broadcast_to(matrix, (*batch, *matrix.shape[-2:]))
    rhs = xla.broadcast_to(rhs, (*batch, *rhs.shape[-2:]))
    attrs = {"lower": is_lower, "transpose_a": adjoint, "conjugate_a": adjoint, "unit_diagonal": has_ones}
    return xla.lax.linalg.triangular_solve(matrix, rhs, left_side=True, **attrs)


@lower("Cholesky", "BatchCholesky")
@widened_lowering
def _cholesky_lowering(xla: Any, x: Any) -> Any:
    """Return the lower triangular factors; NaN where a matrix is not positive definite."""
    require_square(x)
    # Only the lower triangle is read, as in TensorFlow; JAX would average both.
    return xla.lax.linalg.cholesky(x, symmetrize_input=False) if x.size else x


@lower("CholeskyGrad", "BatchCholeskyGrad")
@widened_lowering
def _cholesky_gradient_lowering(xla: Any, factor: Any, grad: Any) -> Any:
    """Return the gradient by the factored matrix, as the kernel has it (Murray, arXiv:1602.07527)."""
    require_square(factor)
    require(factor.shape == grad.shape, f"l and grad must have the same shape, not {factor.shape} and {grad.shape}")
    solve = functools.partial(_substituted_lowering, xla, is_lower=True, adjoint=True)
    return _cholesky_gradient(xla, solve, factor, grad)


@lower("MatrixTriangularSolve", "BatchMatrixTriangularSolve")
@widened_lowering
def _triangular_solve_lowering(xla: Any, matrix: Any, rhs: Any, *, lower: bool, adjoint: bool) -> Any:
    """Return X with A X = rhs, or A^H X = rhs, reading a single triangle of A."""
    require_square(matrix)
    require(rhs.ndim > 1 and matrix.shape[-1] == rhs.shape[-2], f"{matrix.shape} does not fit {rhs.shape}")
    return _substituted_lowering(xla, matrix, rhs, is_lower=lower, adjoint=adjoint)


@lower("BandedTriangularSolve")
@widened_lowering
def _banded_triangular_solve_lowering(xla: Any, matrix: Any, rhs: Any, *, lower: bool, adjoint: bool) -> Any:
    """Solve triangular systems that are given by their diagonals."""
    bands, size = matrix.shape[-2:]
    require(matrix.size and rhs.size and size == rhs.shape[-2], f"{matrix.shape} does not fit {rhs.shape}")
    count = min(bands, size)
    diagonals = matrix[..., :count, :] if lower else matrix[..., bands - count :, :]
    xla.require((diagonals[..., 0 if lower else -1, :] != 0).all())
    k = np.array([1 - count, 0] if lower else [0, count - 1], np.int32)
    packed = diagonals if count > 1 else diagonals[..., 0, :]
    edge = np.array(size)
    dense = of_diagonals_arrays(xla, packed, k, edge, edge, np.zeros((), matrix.dtype), align="LEFT_RIGHT")
    return _substituted_lowering(xla, dense, rhs, is_lower=lower, adjoint=adjoint)


def _solved_lowering(xla: Any, matrix: Any, rhs: Any) -> Any:
    """Return the solutions of regular systems by LU factors."""
    factors, _, order = xla.lax.linalg.lu(matrix)
    xla.require((xla.diagonal(factors, 0, -2, -1) != 0).all())
    permuted = xla.take_along_axis(rhs, order[..., None], -2)
    # The factors share one matrix: L's diagonal of ones is not stored.
    middle = _substituted_lowering(xla, factors, permuted, is_lower=True, has_ones=True)
    return _substituted_lowering(xla, factors, middle, is_lower=False)


@lower("MatrixSolve", "BatchMatrixSolve")
@widened_lowering
def _solve_lowering(xla: Any, matrix: Any, rhs: Any, *, adjoint: bool) -> Any:
    """Return X with A X = rhs, or A^H X = rhs, for square A."""
    require_system(matrix, rhs)
    require_square(matrix)
    if not rhs.size:
        return xla.zeros(rhs.shape, rhs.dtype)
    return _solved_lowering(xla, adjoint_lowering(xla, matrix) if adjoint else matrix, rhs)


@lower("MatrixInverse", "BatchMatrixInverse")
@widened_lowering
def _inverse_lowering(xla: Any, x: Any, *, adjoint: bool) -> Any:
    """Return the inverses of square matrices, or of their adjoints."""
    require_square(x)
    if not x.size:
        return x
    return _solved_lowering(
        xla, adjoint_lowering(xla, x) if adjoint else x, xla.broadcast_to(xla.eye(x.shape[-1], dtype=x.dtype), x.shape)
    )


@lower("LogMatrixDeterminant")
@widened_lowering
def _log_determinant_lowering(xla: Any, x: Any) -> tuple[Any, Any]:
    """Return the signs and the logarithms of the absolute values of determinants."""
    require_square(x)
    sign, logarithm = xla.linalg.slogdet(x)
    return xla.where(xla.isnan(logarithm), np.nan, sign), logarithm.astype(x.dtype)


@lower("MatrixDeterminant", "BatchMatrixDeterminant")
@widened_lowering
def _determinant_lowering(xla: Any, x: Any) -> Any:
    """Return the determinants of matrices by LU factors."""
    require_square(x)
    if not x.size:
        return xla.ones(x.shape[:-2], x.dtype)
    factors, swaps, _ = xla.lax.linalg.lu(x)
    # LAPACK's pivots say with which row each row was exchanged: itself, or another, which turns the sign.
    is_odd = xla.count_nonzero(swaps != np.arange(x.shape[-1]), axis=-1) % 2 == 1
    product = xla.prod(xla.diagonal(factors, 0, -2, -1), -1)
    return xla.where(is_odd, -product, product)


@lower("MatrixSolveLs", "BatchMatrixSolveLs")
@widened_lowering
def _least_squares_lowering(xla: Any, matrix: Any, rhs: Any, l2_regularizer: Any, *, fast: bool) -> Any:
    """Return the X of least |A X - rhs|^2 + l2 |X|^2; without `fast` of least norm, and not regularized."""
    require(np.ndim(l2_regularizer) == 0, f"l2_regularizer must be scalar, got shape {np.shape(l2_regularizer)}")
    xla.require(l2_regularizer >= 0)
    require_system(matrix, rhs)
    rows, columns = matrix.shape[-2:]
    if not rows * columns * rhs.size:
        return xla.zeros((*rhs.shape[:-2], columns, rhs.shape[-1]), rhs.dtype)
    if not fast:
        # NumPy's default, which the kernel takes; JAX would cut off more singular values.
        return xla.linalg.pinv(matrix, rtol=1e-15) @ rhs
    adjoint = adjoint_lowering(xla, matrix)
    gram = adjoint @ matrix if rows >= columns else matrix @ adjoint
    scale = xla.eye(min(rows, columns), dtype=matrix.dtype) * l2_regularizer.astype(matrix.dtype)
    factor = xla.lax.linalg.cholesky(gram + scale, symmetrize_input=False)
    # NaN marks a matrix that is not positive definite, and TensorFlow refuses the system.
    xla.require(xla.isfinite(factor).all())
    middle = _substituted_lowering(xla, factor, adjoint @ rhs if rows >= columns else rhs, is_lower=True)
    result = _substituted_lowering(xla, factor, middle, is_lower=True, adjoint=True)
    return result if rows >= columns else adjoint @ result


_END: Final = np.iinfo(np.int64).max


# ONNX has no operators for systems of equations and factors: loops over the columns of the matrix compute them.


def matrices_onnx(g: Any, x: Any) -> Any:
    """Flatten the batch dimensions of matrices."""
    outer = g.slice(g.dims(x), 0, g.rank(x) - 2)
    count = g.ReduceProd(outer, [0]) if outer.array is None else math.prod(outer.array.tolist())
    return g.of_dims(x, count, g.dim(x, -2), g.dim(x, -1))


def _identity_onnx(g: Any, matrix: Any) -> Any:
    """Return the identity of a matrix's size and dtype."""
    numbers = along(g, matrix, -1)
    return g.cast(g.Equal(g.unsqueeze(numbers, -1), numbers), matrix.dtype)


@onnx("MatrixSolve", "BatchMatrixSolve")
def solved_onnx(g: Any, matrix: Any, rhs: Any, *, adjoint: bool = False) -> Any:
    """Solve the system by elimination with the largest pivot of each column."""
    # Gauss-Jordan elimination: the matrix beside the right side becomes the identity beside the solution.
    size, rank = g.dim(matrix, -1), g.rank(matrix)
    both = g.Concat(adjoint_of(g, matrix) if adjoint else matrix, rhs, axis=rank - 1)
    width = g.Add(size, g.dim(rhs, -1))
    rows = matrices_onnx(g, both)
    numbers = g.unsqueeze(along(g, matrix, -1), 0, -1)
    (rows,) = g.repeat(g.reshape(size, []), [rows], lambda k, carried: [_step_onnx(g, carried[0], g.unsqueeze(k, 0), numbers)])
    return g.of_dims(g.slice(rows, size, width, 2), g.dims(rhs))


def _step_onnx(g: Any, rows: Any, k: Any, numbers: Any) -> Any:
    """Eliminate column k: a 1 in row k, after the largest element from there on was moved to row k, and zeros elsewhere."""
    rows = _pivoted_onnx(g, rows, k, numbers)
    row = g.Gather(rows, k, axis=1)
    pivot = g.Div(row, g.Gather(row, k, axis=2))
    rest = g.Sub(rows, g.Mul(g.Gather(rows, k, axis=2), pivot))
    return g.Where(g.Equal(numbers, k), pivot, rest)


def _pivoted_onnx(g: Any, rows: Any, k: Any, numbers: Any) -> Any:
    """Exchange row k with the row from k on that has the largest element in column k."""
    order = pivot_order_onnx(g, rows, k, numbers)
    return g.GatherElements(rows, g.Expand(order, g.dims(rows)), axis=1)


def pivot_order_onnx(g: Any, rows: Any, k: Any, numbers: Any) -> Any:
    """Return the row order of that exchange, (matrices, rows, 1)."""
    sizes = g.Abs(g.Gather(rows, k, axis=2))
    # Rows above k are done: -1 is below every absolute value.
    best = g.ArgMax(g.Where(g.Less(numbers, k), g.like(-1, sizes), sizes), axis=1, keepdims=1)
    return g.Where(g.Equal(numbers, k), best, g.Where(g.Equal(numbers, best), k, numbers))


@onnx("LogMatrixDeterminant")
def _log_determinant_onnx(g: Any, matrix: Any) -> tuple[Any, Any]:
    """Return the sign of the determinant (the direction, for complex matrices) and the logarithm of its absolute value."""
    size = g.dim(matrix, -1)
    rows = matrices_onnx(g, matrix)
    numbers = g.unsqueeze(along(g, matrix, -1), 0, -1)
    log = g.zeros_like(g.Abs(g.ReduceSum(rows, [1, 2], keepdims=0)))
    sign = g.Add(g.cast(log, matrix.dtype), 1)

    def advance(i: Any, carried: Any) -> Any:
        rows, sign, log = carried
        k = g.unsqueeze(i, 0)
        order = pivot_order_onnx(g, rows, k, numbers)
        turned = g.squeeze(g.Not(g.Equal(g.Gather(order, k, axis=1), k)), 1, 2)
        rows = g.GatherElements(rows, g.Expand(order, g.dims(rows)), axis=1)
        row = g.Gather(rows, k, axis=1)
        pivot = g.Gather(row, k, axis=2)
        factors = g.Where(g.Greater(numbers, k), g.Div(g.Gather(rows, k, axis=2), pivot), 0)
        one = g.squeeze(pivot, 1, 2)
        # An exchange of rows turns the sign of a determinant.
        sign = g.Mul(sign, g.Where(turned, g.Neg(g.Sign(one)), g.Sign(one)))
        return [g.Sub(rows, g.Mul(factors, row)), sign, g.Add(log, g.Log(g.Abs(one)))]

    _, sign, log = g.repeat(g.reshape(size, []), [rows, sign, log], advance)
    outer = g.slice(g.dims(matrix), 0, g.rank(matrix) - 2)
    return g.of_dims(sign, outer), g.of_dims(g.cast(log, matrix.dtype), outer)


@onnx("MatrixDeterminant", "BatchMatrixDeterminant")
def _determinant_onnx(g: Any, x: Any) -> Any:
    sign, log = _log_determinant_onnx(g, x)
    return g.Mul(sign, g.cast(g.Exp(log), x.dtype))


@onnx("MatrixInverse", "BatchMatrixInverse")
def _inverse_onnx(g: Any, matrix: Any, *, adjoint: bool) -> Any:
    return solved_onnx(g, matrix, g.Expand(_identity_onnx(g, matrix), g.dims(matrix)), adjoint=adjoint)


def triangle_onnx(g: Any, matrix: Any, *, lower: bool) -> Any:
    """Return the elements on the diagonal and below or above it, zeros elsewhere."""
    rows, columns = (along(g, matrix, axis) for axis in (-2, -1))
    inner, outer = (g.unsqueeze(rows, -1), columns) if lower else (columns, g.unsqueeze(rows, -1))
    return g.Where(g.GreaterOrEqual(inner, outer), matrix, g.like(0, matrix))


@onnx("MatrixTriangularSolve", "BatchMatrixTriangularSolve")
def _triangular_onnx(g: Any, matrix: Any, rhs: Any, *, lower: bool, adjoint: bool) -> Any:
    """Solve the system of the lower or upper triangle of the matrix, column by column; a zero on the diagonal divides."""
    left = adjoint_of(g, matrix) if adjoint else matrix
    outer = g.dims(g.Add(g.ReduceSum(left, [-1]), rhs))  # the batches broadcast
    batch = g.slice(outer, 0, -2)
    left, right = (matrices_onnx(g, g.Expand(x, g.joined(batch, g.slice(g.dims(x), -2, _END)))) for x in (left, rhs))
    size, numbers = g.reshape(g.dim(matrix, -1), []), g.unsqueeze(along(g, matrix, -1), 0, -1)
    is_down = lower != adjoint

    def advance(i: Any, carried: Any) -> Any:
        k = g.unsqueeze(i if is_down else g.Sub(g.Sub(size, 1), i), 0)
        column, row = g.Gather(left, k, axis=2), g.Gather(carried[0], k, axis=1)
        row = g.Div(row, g.Gather(column, k, axis=1))
        # All rows at once: those that are solved already are kept by the mask below.
        rest = g.Sub(carried[0], g.Mul(column, row))
        is_open = g.Greater(numbers, k) if is_down else g.Less(numbers, k)
        return [g.Where(g.Equal(numbers, k), row, g.Where(is_open, rest, carried[0]))]

    return g.of_dims(g.repeat(size, [right], advance)[0], outer)


@onnx("BandedTriangularSolve")
def _banded_onnx(g: Any, bands: Any, rhs: Any, *, lower: bool, adjoint: bool) -> Any:
    """Solve the system of a triangle given by its diagonals."""
    count, size = last_dims(g, bands, 2)
    rows, columns = np.mgrid[:size, :size]
    below = rows - columns if lower else columns - rows
    places = np.where((below >= 0) & (below < count), (below if lower else count - 1 - below) * size + rows, -1)
    return _triangular_onnx(g, gathered(g, bands, places, 2, g.like(0, bands)), rhs, lower=lower, adjoint=adjoint)


@onnx("Cholesky", "BatchCholesky")
def _cholesky_onnx(g: Any, matrix: Any) -> Any:
    """Return the lower triangle L with L L^H equal to the matrix, column by column."""
    size = g.dim(matrix, -1)
    left = matrices_onnx(g, matrix)
    columns = g.unsqueeze(along(g, matrix, -1), 0, 1)
    rows = transposed_onnx(g, columns)

    def advance(i: Any, carried: Any) -> Any:
        left, factor = carried
        k = g.unsqueeze(i, 0)
        column = g.Gather(left, k, axis=2)
        scaled = g.Div(column, g.Sqrt(g.Gather(column, k, axis=1)))
        # The outer product form: the product of column k with itself is subtracted before column k + 1 is taken.
        scaled = g.Where(g.Less(rows, k), g.like(0, scaled), scaled)
        left = g.Sub(left, g.MatMul(scaled, adjoint_of(g, scaled)))
        return [left, g.Where(g.Equal(columns, k), scaled, factor)]

    factor = g.repeat(g.reshape(size, []), [left, g.zeros_like(left)], advance)[1]
    return g.of_dims(factor, g.dims(matrix))


@onnx("CholeskyGrad", "BatchCholeskyGrad")
def _cholesky_gradient_onnx(g: Any, factor: Any, grad: Any) -> Any:
    def program(xp: Any, factor: Any, grad: Any) -> Any:
        solve = lambda a, b: xp.array_of(solved_onnx(g, a.value, b.value, adjoint=True))  # noqa: E731
        return _cholesky_gradient(xp, solve, factor, grad)

    return g.evaluate(program, (), (), (factor, grad), {})


@onnx("MatrixSolveLs", "BatchMatrixSolveLs")
def _least_squares_onnx(g: Any, matrix: Any, rhs: Any, l2_regularizer: Any, *, fast: bool) -> Any:
    """Solve by the normal equations of the first kind for tall matrices, of the second for wide matrices; in 64 bits where
    possible.
    """
    rows, columns = last_dims(g, matrix, 2)
    dtype, is_tall = matrix.dtype, rows >= columns
    # The Gram matrix squares the condition number, so that single precision loses half of its digits.
    wide = dtypes.complex128 if dtype.is_complex else dtypes.float64
    matrix, rhs, scale = (g.cast(value, wide) for value in (matrix, rhs, l2_regularizer))
    other = adjoint_of(g, matrix)
    gram = g.MatMul(other, matrix) if is_tall else g.MatMul(matrix, other)
    if fast:
        gram = g.Add(gram, g.Mul(_identity_onnx(g, gram), scale))
    return g.cast(solved_onnx(g, gram, g.MatMul(other, rhs)) if is_tall else g.MatMul(other, solved_onnx(g, gram, rhs)), dtype)
