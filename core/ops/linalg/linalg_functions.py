"""Functions of matrices (exponential, logarithm, square root) and tridiagonal systems."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg

from ...building.gradbuilder import GradientBuilder, Gradients
from ...graph.graph import Node, Output
from ...numerics import linalg as numerics
from ...numerics.half_precision import widened
from ...registry.registry import Cost, arrays, flops, gradient, kernel
from ...support.errors import UnimplementedError
from ...types.arrays import Array, Result
from ...types.shapes import TensorSpec
from ..shared.argument_checks import may_equal, require, require_known_sizes
from ._matrices import (
    lu_flops,
    require_matrix,
    require_square,
    transposed,
    widened_program,
)

_WELL_CONDITIONED = 1e3
"""Eigenvectors with a condition number up to this give the logarithm fast and to twelve digits."""


@kernel("MatrixExponential", shape="... n n -> ... n n")
@widened
def matrix_exponential(input: Array) -> Result:
    require_square(input)
    return scipy.linalg.expm(input).astype(input.dtype) if input.size else input


@kernel("MatrixLogarithm", shape="... n n -> ... n n")
def matrix_logarithm(input: Array) -> Result:
    """Return the principal logarithms of complex matrices; NaN for singular matrices."""
    require_square(input)
    # NumPy's eigenvalues of a batch fail for all when one matrix is not finite.
    if not input.size or not np.all(np.isfinite(input)):
        return numerics.by_matrix(_logarithm, input)
    wide = input.astype(np.complex128)
    values, vectors = np.linalg.eig(wide)
    # The error grows with the condition number of the eigenvectors: beyond a bound SciPy's slower algorithm takes over.
    well_conditioned = np.linalg.cond(vectors) < _WELL_CONDITIONED
    if not np.all(well_conditioned) or np.any(np.abs(values) < np.finfo(input.dtype).eps * np.abs(values).max()):
        return numerics.by_matrix(_logarithm, input)
    scaled = vectors * np.log(values)[..., None, :]
    # V log(D) V^-1 by a solution with V^T, which is more exact than a product with an inverse.
    return _transposed(np.linalg.solve(_transposed(vectors), _transposed(scaled))).astype(input.dtype)


def _transposed(x: Array) -> Array:
    return np.swapaxes(x, -1, -2)


def _logarithm(matrix: Any) -> Any:
    if not np.all(np.isfinite(matrix)) or np.linalg.matrix_rank(matrix) < len(matrix):
        return np.full_like(matrix, np.nan)
    return scipy.linalg.logm(matrix.astype(np.complex128))


@kernel("MatrixSquareRoot", shape="... n n -> ... n n")
@widened
def matrix_square_root(input: Array) -> Result:
    """The principal square roots; NaN where a real matrix has none that is real."""
    require_square(input)
    return numerics.by_matrix(_square_root, input)


def _square_root(matrix: Array) -> Array:
    if not np.all(np.isfinite(matrix)):
        return np.full_like(matrix, np.nan)
    root = scipy.linalg.sqrtm(matrix.astype(np.result_type(matrix.dtype, np.float64)))
    # SciPy returns a complex root where a real one does not exist.
    return np.full_like(matrix, np.nan) if root.dtype.kind == "c" != matrix.dtype.kind else root


@gradient("MatrixSquareRoot")
def matrix_square_root_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    """The solution dA of the Sylvester equation dA R^T + R^T dA = dR (R^T without conjugation), by Kronecker products."""
    root = node.output()
    identity = g.MatrixDiag(g.OnesLike(g.MatrixDiagPart(root)))
    shape = g.shape_of(root)
    batch = g.StridedSlice(shape, [0], [-2], [1], begin_mask=1)
    size = g.StridedSlice(shape, [-1], [0], [1], end_mask=1)
    area = g.Mul(size, size)
    sums = g.AddV2(
        g.Einsum([identity, transposed(g, root)], equation="...ij,...kl->...ikjl"),
        g.Einsum([root, identity], equation="...ij,...kl->...ikjl"),
    )
    # n^2 unknowns: dense, but the only form that the ops at hand can solve in a batch.
    system = g.Reshape(sums, g.ConcatV2([batch, area, area], 0))
    column = g.Reshape(transposed(g, grad), g.ConcatV2([batch, area, g.constant([1], "int32")], 0))
    return [transposed(g, g.Reshape(g.MatrixSolve(system, column), shape))]


@gradient("MatrixExponential", "MatrixLogarithm")
def matrix_function_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    """The upper right block of the function of [[A^H, dF], [0, A^H]] (Higham, Functions of Matrices, equation 3.16)."""
    (a,) = node.inputs
    adjoint = g.conj(transposed(g, a))
    rows = [g.ConcatV2([adjoint, grad], -1), g.ConcatV2([g.zeros_like(a), adjoint], -1)]
    blocks = g.apply(node.op, g.ConcatV2(rows, -2))
    return [g.Split(-1, g.Split(-2, blocks, num_split=2)[0], num_split=2)[1]]


@flops("MatrixSquareRoot")
def matrix_square_root_flops(input: TensorSpec) -> Cost:
    """The Schur form, 25 n^3 as for Eig, its root, (n^3 + 2 n) / 3, and two products of 3 n^3 + n^2 together.

    Higham, Functions of Matrices, algorithm 6.3: 28 1/3 n^3.
    """
    n = input.shape[-1]
    return Cost(input.shape[:-2].num_elements * (28 * n * n * n + n * n + _root_flops(n)))


def _root_flops(n: int) -> int:
    return n * (n * n + 2) // 3


@flops("MatrixLogarithm")
def matrix_logarithm_flops(input: TensorSpec) -> Cost:
    """As MatrixSquareRoot, with five roots and Pade's approximant of degree 7 by seven triangular systems.

    Higham, Functions of Matrices, algorithm 11.9; the actual number of roots depends on the matrix.
    """
    n = input.shape[-1]
    triangle, system = n * (n + 1) // 2, n * (n + 1) * (2 * n + 1) // 6
    triangular = 5 * _root_flops(n) + 7 * (system + 3 * triangle + n) + triangle + n
    return Cost(input.shape[:-2].num_elements * (28 * n * n * n + n * n + triangular))


@flops("MatrixExponential")
def matrix_exponential_flops(input: TensorSpec) -> Cost:
    """Six products for Pade's approximant of degree 13, a linear system, and three squarings (Higham 2005, algorithm 2.3).

    The actual number of squarings depends on the norm.
    """
    n = input.shape[-1]
    sums, system = 25 * n * n + 2 * n, lu_flops(n) + (2 * n * n - n) * n
    return Cost(input.shape[:-2].num_elements * ((6 + 3) * 2 * n * n * n + sums + system))


@kernel("TridiagonalSolve", shape="... 3 n, ... n k -> ... n k", facts=("own_gradient",))
def tridiagonal_solve(diagonals: Array, rhs: Array, *, partial_pivoting: bool, perturb_singular: bool) -> Result:
    """X (..., n, k) of tridiagonal systems given as (..., 3, n): super-, main and subdiagonals; NaN where singular."""
    _require_tridiagonal(diagonals, rhs, partial_pivoting, perturb_singular)
    if not rhs.size:
        return rhs
    if perturb_singular:
        return numerics.solve_perturbed_tridiagonal(diagonals, rhs)
    return numerics.solve_tridiagonal(diagonals, rhs) if partial_pivoting else numerics.thomas(diagonals, rhs)


def _require_tridiagonal(diagonals: Any, rhs: Any, partial_pivoting: bool, perturb_singular: bool) -> None:
    require_matrix(diagonals)
    require(diagonals.ndim == rhs.ndim, f"All input tensors must have the same rank: {diagonals.shape}, {rhs.shape}")
    is_one_batch = may_equal(diagonals.shape[:-2], rhs.shape[:-2])
    require(is_one_batch, f"All input tensors must have the same outer dimensions: {diagonals.shape} and {rhs.shape}")
    require(
        may_equal(diagonals.shape[-2:-1], (3,)),
        f"Expected diagonals to be provided as a matrix with 3 rows, got {diagonals.shape}",
    )
    require(
        may_equal(diagonals.shape[-1:], rhs.shape[-2:-1]),
        f"Expected the same number of left-hand sides and right-hand sides, got {diagonals.shape} and {rhs.shape}",
    )
    require(partial_pivoting or not perturb_singular, "Setting perturb_singular requires also setting partial_pivoting.")


@gradient("TridiagonalSolve")
def tridiagonal_solve_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    """With the transposed matrix; the gradient of the diagonals is that part of -grad_rhs x^H."""
    diagonals, x = node.inputs[0], node.output()
    conjugated = g.conj(diagonals)
    upper, main, lower = (_row(g, conjugated, i) for i in range(3))
    # The transposed matrix: sub- and superdiagonal change places, and their unused ends, too.
    turned = g.ConcatV2([_shift(g, lower, left=True), main, _shift(g, upper, left=False)], -2)
    pivoting = {name: node.attr(name) for name in ("partial_pivoting", "perturb_singular")}
    grad_rhs = g.TridiagonalSolve(turned, grad, **pivoting)
    x = g.conj(x)
    parts = [
        g.Einsum([grad_rhs, value], equation="...ij,...ij->...i")
        for value in (_shift_rows(g, x, up=True), x, _shift_rows(g, x, up=False))
    ]
    return [g.Neg(g.ConcatV2([g.ExpandDims(part, -2) for part in parts], -2)), grad_rhs]


def _row(g: GradientBuilder, x: Output, i: int) -> Output:
    return g.StridedSlice(x, [0, i, 0], [0, i + 1, 0], [1, 1, 1], ellipsis_mask=1, begin_mask=4, end_mask=4)


def _shift(g: GradientBuilder, x: Output, left: bool) -> Output:
    """Shift the last dimension by a place; a zero fills the free end."""
    zero = g.ZerosLike(g.StridedSlice(x, [0, 0], [0, 1], [1, 1], ellipsis_mask=1))
    if left:
        return g.ConcatV2([g.StridedSlice(x, [0, 1], [0, 0], [1, 1], ellipsis_mask=1, end_mask=2), zero], -1)
    return g.ConcatV2([zero, g.StridedSlice(x, [0, 0], [0, -1], [1, 1], ellipsis_mask=1, begin_mask=2)], -1)


def _shift_rows(g: GradientBuilder, x: Output, up: bool) -> Output:
    return transposed(g, _shift(g, transposed(g, x), left=up))


@flops("TridiagonalSolve")
def tridiagonal_solve_flops(diagonals: TensorSpec, rhs: TensorSpec, *, partial_pivoting: bool) -> Cost:
    """Eight operations for each row but the last for the factors with partial pivoting, seven for each right-hand side.

    Without pivoting three, and five. Moving pivots away from zero is not counted.
    """
    steps, sides = diagonals.shape[-1] - 1, rhs.shape[-1]
    each = 8 * steps + (7 * steps + 5) * sides if partial_pivoting else 3 * steps + (5 * steps + 1) * sides
    return Cost(diagonals.shape[:-2].num_elements * each)


@kernel("TridiagonalMatMul", shape="... 1 n, ... 1 n, ... 1 n, ... n k -> ... n k")
def tridiagonal_matmul(superdiag: Array, maindiag: Array, subdiag: Array, rhs: Array) -> Result:
    """Multiply a tridiagonal matrix, with diagonals of shape (..., 1, n), by (..., n, k)."""
    names = ("superdiagonal", "maindiagonal", "subdiagonal")
    require_matrix(superdiag)
    diagonals = (superdiag, maindiag, subdiag)
    require(
        all(d.shape[:-2] == rhs.shape[:-2] for d in diagonals),
        f"All input tensors must have the same outer dimensions: {[d.shape for d in diagonals]} and {rhs.shape}",
    )
    require_matrix(rhs, 3)
    size = rhs.shape[-2]
    for name, diagonal in zip(names, diagonals):
        require(diagonal.shape[-2:] == (1, size), f"Invalid {name} shape: {diagonal.shape} for {size} rows")
    upper, main, lower = (d[..., 0, :, None] for d in diagonals)
    result = main * rhs
    result[..., :-1, :] += upper[..., :-1, :] * rhs[..., 1:, :]
    result[..., 1:, :] += lower[..., 1:, :] * rhs[..., :-1, :]
    return result


@gradient("TridiagonalMatMul")
def tridiagonal_matmul_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    upper, main, lower, rhs = (g.conj(value) for value in node.inputs)
    sources = (_shift_rows(g, rhs, up=True), rhs, _shift_rows(g, rhs, up=False))
    grads = [g.ExpandDims(g.Einsum([s, grad], equation="...ij,...ij->...i"), -2) for s in sources]
    upper, main, lower = (transposed(g, d) for d in (upper, main, lower))
    above = _shift_rows(g, g.Mul(upper, grad), up=False)
    below = _shift_rows(g, g.Mul(lower, grad), up=True)
    return [*grads, g.AddV2(g.AddV2(above, g.Mul(main, grad)), below)]


@flops("TridiagonalMatMul")
def tridiagonal_matmul_flops(superdiag: TensorSpec, maindiag: TensorSpec, subdiag: TensorSpec, rhs: TensorSpec) -> Cost:
    """A product for each element, and a multiply-add above and below the diagonal except at the ends."""
    return Cost(rhs.shape[:-2].num_elements * rhs.shape[-1] * (5 * rhs.shape[-2] - 4))


@arrays("TridiagonalSolve")
@widened_program
def _tridiagonal_solve_arrays(xp: Any, diagonals: Any, rhs: Any, *, partial_pivoting: bool, perturb_singular: bool) -> Any:
    """Solve with partial pivoting, which changes roundings alone."""
    _require_tridiagonal(diagonals, rhs, partial_pivoting, perturb_singular)
    if perturb_singular:
        raise UnimplementedError("its pivots of 0 are replaced by small numbers")
    above, main, below = (diagonals[..., row, :] for row in range(3))
    return xp.tridiagonal_solve(below, main, above, rhs)


@arrays("TridiagonalMatMul")
def _tridiagonal_product_arrays(xp: Any, superdiag: Any, maindiag: Any, subdiag: Any, rhs: Any) -> Any:
    """Multiply a tridiagonal matrix, with diagonals of shape (..., 1, n), by (..., n, k)."""
    for diagonal in (superdiag, maindiag, subdiag):
        require_known_sizes((*rhs.shape[:-2], 1, rhs.shape[-2]), diagonal.shape)
    require_matrix(rhs)
    upper, main, below = (diagonal[..., 0, :, None] for diagonal in (superdiag, maindiag, subdiag))
    edge = [(0, 0)] * (rhs.ndim - 2)
    above = xp.pad(upper[..., :-1, :] * rhs[..., 1:, :], [*edge, (0, 1), (0, 0)])
    return main * rhs + above + xp.pad(below[..., 1:, :] * rhs[..., :-1, :], [*edge, (1, 0), (0, 0)])
