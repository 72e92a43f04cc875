"""Systems of linear equations, inverses, determinants, Cholesky factors, and cross products."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ...building.gradbuilder import GradientBuilder, Gradients
from ...graph.graph import Node, Output
from ...numerics.half_precision import widened
from ...registry.registry import WITHOUT_GRADIENT, Cost, arrays, everywhere, flops, gradient, kernel
from ...support.errors import FailedPreconditionError, InvalidArgumentError
from ...types.arrays import Array, Result
from ...types.dims import dim_min
from ...types.shapes import Shape, TensorSpec, broadcast_shapes
from ..shared.argument_checks import is_empty, may_equal, require
from ..shared.decompositions import by_ops
from ..shared.elementwise_tables import unary_flops
from ._matrices import (
    adjoint,
    adjoint_of,
    cholesky_flops,
    halve_diagonal,
    identity_like,
    lower_triangle,
    lu_flops,
    per_matrix,
    product,
    reduce_batch,
    reflected_flops,
    reflections_flops,
    require_square,
    require_system,
    transposed,
    upper_triangle,
    widened_program,
)
from .linalg_diag import matrix_diag_v3, of_diagonals_arrays


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


@flops("CholeskyGrad", "BatchCholeskyGrad")
def cholesky_grad_flops(factor: TensorSpec) -> Cost:
    """A product of triangles, n (n + 1) (n + 2) / 3, two triangular systems of n^3 each, and n^2 halves."""
    n = factor.shape[-1]
    return Cost(factor.shape[:-2].num_elements * (2 * n * n * n + n * n + n * (n + 1) * (n + 2) // 3))


@kernel("MatrixDeterminant", "BatchMatrixDeterminant", shape="... n n -> ...")
@widened
def matrix_determinant(input: Array) -> Result:
    """The determinants (...) of matrices (..., n, n)."""
    require_square(input)
    return np.asarray(np.linalg.det(input))


@gradient("MatrixDeterminant", "BatchMatrixDeterminant")
def matrix_determinant_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    inverse = g.MatrixInverse(node.inputs[0], adjoint=True)
    # TensorFlow's formula, too, which fails for a singular matrix, although the determinant has a derivative there.
    return [g.Mul(per_matrix(g, g.Mul(grad, node.output())), inverse)]


@flops("MatrixDeterminant", "BatchMatrixDeterminant")
def matrix_determinant_flops(input: TensorSpec) -> Cost:
    """LU factors with partial pivoting, (4 n^3 + 3 n^2 - n) / 6, and the product of the pivots and a sign."""
    n = input.shape[-1]
    return Cost(input.shape[:-2].num_elements * (lu_flops(n) + n))


@kernel("LogMatrixDeterminant", shape="... n n -> ..., ...")
@widened
def log_matrix_determinant(input: Array) -> tuple[Result, Result]:
    """Signs and logarithms of absolute values of determinants."""
    require_square(input)
    sign, logarithm = np.linalg.slogdet(input)
    # NumPy's sign of a matrix with NaN is a number, TensorFlow's is NaN.
    sign = np.where(np.isnan(logarithm), np.nan, sign)
    return np.asarray(sign, input.dtype), np.asarray(logarithm, input.dtype)


@gradient("LogMatrixDeterminant")
def log_matrix_determinant_gradient(g: GradientBuilder, node: Node, grad_sign: Output, grad_log: Output) -> Gradients:
    inverse = g.MatrixInverse(node.inputs[0], adjoint=True)
    # The sign does not change near a regular matrix. That of a complex one does, and TensorFlow leaves its gradient out, too.
    return [g.Mul(per_matrix(g, grad_log), inverse)]


@flops("LogMatrixDeterminant")
def log_matrix_determinant_flops(input: TensorSpec) -> Cost:
    """LU factors as for MatrixDeterminant; the pivots' signs and their product, moduli, logarithms and their sum."""
    n, count = input.shape[-1], input.shape[:-2].num_elements
    return Cost(count * (lu_flops(n) + 4 * n - 1), transcendentals=count * n)


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


def _require_triangular(xp: Any, matrix: Any, rhs: Any) -> None:
    for i, x in enumerate((matrix, rhs)):
        if x.ndim < 2:
            raise InvalidArgumentError(f"In[{i}] ndims must be >= 2: {x.ndim}")
    # For the error alone: in a program the solver broadcasts.
    if xp.is_eager:
        broadcast_shapes(Shape(matrix.shape[:-2]), Shape(rhs.shape[:-2]))
    if not may_equal(matrix.shape[-1:], rhs.shape[-2:-1]):
        raise InvalidArgumentError(f"In[0] mismatch In[1] shape: {matrix.shape} and {rhs.shape}")


@gradient("MatrixTriangularSolve", "BatchMatrixTriangularSolve")
def matrix_triangular_solve_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    matrix, rhs = node.inputs
    is_adjoint, is_lower = node.attr("adjoint"), node.attr("lower")
    grad_rhs = g.MatrixTriangularSolve(matrix, grad, lower=is_lower, adjoint=not is_adjoint)
    whole = _grad_matrix(g, node, grad_rhs, is_adjoint)
    # The other triangle was never read, so no change of it can matter.
    triangle = lower_triangle(g, whole) if is_lower else upper_triangle(g, whole)
    return [reduce_batch(g, triangle, matrix, rhs), reduce_batch(g, grad_rhs, rhs, matrix)]


@flops("MatrixTriangularSolve", "BatchMatrixTriangularSolve")
def matrix_triangular_solve_flops(matrix: TensorSpec, *, outputs: list[TensorSpec]) -> Cost:
    """One substitution for each column, n^2."""
    return Cost(outputs[0].shape.num_elements * matrix.shape[-1])


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
def matrix_solve_ls_flops(matrix: TensorSpec, rhs: TensorSpec, *, fast: bool) -> Cost:
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


# Two products and a difference an element.
@everywhere("Cross", shape="..., ... -> ...", flops=unary_flops(3), gradient=by_ops("Cross 1 dy", "Cross dy 0"))
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


@everywhere("Cholesky", "BatchCholesky", shape="... n n -> ... n n", facts=("own_gradient",))
@widened_program
def cholesky(xp: Any, x: Any) -> Any:
    """The lower triangular L with L L^H = A, reading the lower triangles; NaN where A is not positive definite."""
    require_square(x)
    # Only the lower triangle is read, as in TensorFlow; JAX would average both.
    return x if is_empty(xp, x) else xp.cholesky(x, symmetrize_input=False)


@everywhere(
    "CholeskyGrad", "BatchCholeskyGrad", shape="... n n, ... n n -> ... n n", gradient=WITHOUT_GRADIENT, facts=("backward",)
)
@widened_program
def cholesky_grad(xp: Any, factor: Any, grad: Any) -> Any:
    """The gradient of the Cholesky factor by the matrix that was factored (Murray, arXiv:1602.07527)."""
    require_square(factor)
    require(may_equal(factor.shape, grad.shape), f"l and grad must have the same shape, not {factor.shape} and {grad.shape}")
    if xp.is_eager and not factor.size:
        return factor.copy()  # NumPy multiplies a batch of 2^36 matrices without elements one by one
    triangle = xp.tril(factor)
    middle = xp.tril(triangle.swapaxes(-1, -2) @ xp.tril(grad))
    middle = middle + xp.tril(middle, -1).swapaxes(-1, -2)
    left = xp.substituted(triangle, middle, is_lower=True, adjoint=True)
    return xp.substituted(triangle, left.swapaxes(-1, -2), is_lower=True, adjoint=True).swapaxes(-1, -2) * 0.5


@everywhere("MatrixTriangularSolve", "BatchMatrixTriangularSolve", shape="~... n n, ~... n k -> ~... n k")
@widened_program
def matrix_triangular_solve(xp: Any, matrix: Any, rhs: Any, *, lower: bool, adjoint: bool) -> Any:
    """Return X with A X = rhs, or A^H X = rhs, reading a single triangle of A; the batch dimensions broadcast."""
    _require_triangular(xp, matrix, rhs)
    if not may_equal(matrix.shape[-1:], matrix.shape[-2:-1]):
        raise InvalidArgumentError(f"In[0] must be square matrices, not of shape {matrix.shape}")
    return xp.substituted(matrix, rhs, is_lower=lower, adjoint=adjoint)


@everywhere("BandedTriangularSolve", shape="~... _ n, ~... n k -> ~... n k", facts=("own_gradient",))
@widened_program
def banded_triangular_solve(xp: Any, matrix: Any, rhs: Any, *, lower: bool, adjoint: bool) -> Any:
    """Solve as MatrixTriangularSolve does, with diagonals (..., bands, n) for a matrix: the main diagonal first for lower,
    else last.
    """
    _require_triangular(xp, matrix, rhs)
    bands, size = matrix.shape[-2:]
    is_nothing = is_empty(xp, matrix) or is_empty(xp, rhs)
    require(not is_nothing, f"BandedTriangularSolve does not support empty tensors: {matrix.shape} and {rhs.shape}")
    count = min(bands, size)
    diagonals = matrix[..., :count, :] if lower else matrix[..., bands - count :, :]
    xp.require((diagonals[..., 0 if lower else -1, :] != 0).all(), "Input matrix is not invertible.")
    k = np.array([1 - count, 0] if lower else [0, count - 1], np.int32)
    # One diagonal is given to MatrixDiagV3 without a dimension for diagonals.
    packed, edge = diagonals if count > 1 else diagonals[..., 0, :], np.array(size)
    # In NumPy the kernel, which moves elements, and not the program, which moves their numbers first.
    of_diagonals = matrix_diag_v3 if xp.is_eager else functools.partial(of_diagonals_arrays, xp)
    dense: Any = of_diagonals(packed, k, edge, edge, np.zeros((), matrix.dtype), align="LEFT_RIGHT")
    return xp.substituted(dense, rhs, is_lower=lower, adjoint=adjoint)


@everywhere("MatrixSolve", "BatchMatrixSolve", shape="... n n, ... n k -> ... n k", facts=("own_gradient",))
@widened_program
def matrix_solve(xp: Any, matrix: Any, rhs: Any, *, adjoint: bool) -> Any:
    """X with A X = rhs, or A^H X = rhs, for square A."""
    require_system(matrix, rhs)
    require_square(matrix)
    return xp.solved(adjoint_of(xp, matrix) if adjoint else matrix, rhs, "Input matrix is not invertible.")


@everywhere("MatrixInverse", "BatchMatrixInverse", shape="... n n -> ... n n")
@widened_program
def matrix_inverse(xp: Any, x: Any, *, adjoint: bool) -> Any:
    """The inverses of square matrices, or of their adjoints."""
    require_square(x)
    return xp.inverted(adjoint_of(xp, x) if adjoint else x, "Input is not invertible.")


def _identity_arrays(xp: Any, x: Any) -> Any:
    """Return the identity of the size and dtype of square matrices."""
    numbers = xp.arange(x.shape[-1])
    return (numbers[:, None] == numbers).astype(x.dtype)


@arrays("LogMatrixDeterminant")
@widened_program
def _log_determinant_arrays(xp: Any, x: Any) -> tuple[Any, Any]:
    """Return the signs and the logarithms of the absolute values of determinants."""
    diagonal, turns = _pivots(xp, x)
    sizes = abs(diagonal)
    logarithm = xp.sum(xp.log(sizes), -1)
    sign = xp.prod(xp.where(sizes == 0, 0, diagonal / xp.where(sizes == 0, 1, sizes)), -1)
    return xp.where(xp.isnan(logarithm), np.nan, sign * turns), logarithm.astype(x.dtype)


@arrays("MatrixDeterminant", "BatchMatrixDeterminant")
@widened_program
def _determinant_arrays(xp: Any, x: Any) -> Any:
    """Return the determinants of matrices by LU factors."""
    diagonal, turns = _pivots(xp, x)
    return xp.prod(diagonal, -1) * turns


def _pivots(xp: Any, x: Any) -> tuple[Any, Any]:
    """Return the diagonals of the upper factors, and 1 or -1 for an even or odd number of exchanged rows."""
    require_square(x)
    if is_empty(xp, x):
        return xp.diagonal(x), xp.ones_like(xp.sum(x, (-2, -1)))
    factors, swaps, _ = xp.lu(x)
    # LAPACK's pivots say with which row each row was exchanged: itself, or another, which turns the sign.
    turns = xp.sum((swaps != xp.arange(x.shape[-1])).astype(np.int32), -1)
    return xp.diagonal(factors), (1 - 2 * (turns % 2)).astype(x.dtype)


@everywhere("MatrixSolveLs", "BatchMatrixSolveLs", shape="... m n, ... m k, () -> ... n k", facts=("own_gradient",))
@widened_program
def matrix_solve_ls(xp: Any, matrix: Any, rhs: Any, l2_regularizer: Any, *, fast: bool) -> Any:
    """The X of least |A X - rhs|^2 + l2 |X|^2; without `fast` of least norm, and not regularized."""
    require(l2_regularizer.ndim == 0, f"l2_regularizer must be scalar, got shape {l2_regularizer.shape}")
    xp.require(l2_regularizer >= 0, f"l2_regularizer must be >= 0, not {l2_regularizer}")
    require_system(matrix, rhs)
    rows, columns = matrix.shape[-2:]
    if is_empty(xp, matrix) or is_empty(xp, rhs):
        return xp.full((*rhs.shape[:-2], columns, rhs.shape[-1]), 0, rhs.dtype)
    if not fast:
        # NumPy's default; JAX would cut off more singular values.
        return xp.pinv(matrix, rtol=1e-15) @ rhs
    adjoint = adjoint_of(xp, matrix)
    # The smaller of the two Gram matrices, A^H A of a tall matrix and A A^H of a wide one: only that one is regular for full
    # rank.
    gram = adjoint @ matrix if rows >= columns else matrix @ adjoint
    factor = xp.cholesky(gram + _identity_arrays(xp, gram) * l2_regularizer.astype(matrix.dtype), symmetrize_input=False)
    # NaN marks a matrix that is not positive definite, and TensorFlow refuses the system.
    xp.require(
        xp.isfinite(factor).all(),
        "Input matrix was rank deficient or ill-conditioned. Try fast=False or a larger l2_regularizer > 0.",
    )
    middle = xp.substituted(factor, adjoint @ rhs if rows >= columns else rhs, is_lower=True)
    result = xp.substituted(factor, middle, is_lower=True, adjoint=True)
    return result if rows >= columns else adjoint @ result
