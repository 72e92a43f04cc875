"""Decompositions of matrices: QR, LU, singular values, eigenvalues."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from ...building.gradbuilder import GradientBuilder, Gradients
from ...graph.graph import Node, Output
from ...numerics import linalg as numerics
from ...numerics.half_precision import widened
from ...numerics.linalg import eigh
from ...registry.registry import WITHOUT_GRADIENT, Cost, everywhere, flops, gradient, kernel, lower, onnx, shape
from ...support.errors import InvalidArgumentError
from ...types.arrays import Array, Result
from ...types.dims import dim_min
from ...types.dtypes import DType
from ...types.shapes import SCALAR, UNKNOWN, Shape, TensorSpec
from ..shared.argument_checks import is_empty, require
from ..shared.onnx_lowerings import adjoint_of as adjoint_onnx
from ..shared.onnx_lowerings import along, last_dims
from ..shared.onnx_lowerings import transposed as transposed_onnx
from ._matrices import (
    adjoint,
    adjoint_of,
    cubic,
    halve_diagonal,
    lower_triangle,
    lu_flops,
    matrix_shape,
    product,
    reflected_flops,
    reflections_flops,
    require_matrix,
    require_square,
    square_shape,
    widened_program,
)

_EPSILON = 1e-20
"""The width of the Lorentzian that broadens the poles at equal eigenvalues and singular values."""


def _empty(dtype: Any) -> Any:
    """Return an output that was not asked for, a scalar without a value in TensorFlow."""
    return np.zeros((), dtype)


@kernel("Qr")
@widened
def qr(input: Array, *, full_matrices: bool) -> tuple[Result, ...]:
    """Q with orthonormal columns and the upper triangular R with Q R = A."""
    require_matrix(input)
    rows, columns = input.shape[-2:]
    if not input.size and not full_matrices:
        size = min(rows, columns)
        return np.zeros((*input.shape[:-1], size), input.dtype), np.zeros((*input.shape[:-2], size, columns), input.dtype)
    return tuple(np.linalg.qr(input, mode="complete" if full_matrices else "reduced"))


@shape("Qr")
def qr_shape(input: TensorSpec, *, full_matrices: bool) -> list[Shape]:
    dims = matrix_shape(input)
    if dims.dims is None:
        return [UNKNOWN, UNKNOWN]
    rows, columns = dims[-2], dims[-1]
    inner = rows if full_matrices else dim_min(rows, columns)
    return [dims[:-2] + [rows, inner], dims[:-2] + [inner, columns]]


@gradient("Qr")
def qr_gradient(g: GradientBuilder, node: Node, grad_q: Output, grad_r: Output) -> Gradients:
    """For square, tall (without full matrices) and wide matrices; see arXiv:2009.10071.

    A wide R = [U V] is taken apart as a square U and the rest; for the others V is empty.
    """
    a, q, r = node.inputs[0], node.output(0), node.output(1)
    size = g.StridedSlice(g.shape_of(r), [-2], [-1], [1])
    left = _columns_to(g, r, size)
    grad_left, grad_right = _columns_to(g, grad_r, size), _columns_from(g, grad_r, size)
    right = _columns_from(g, a, size)
    grad_q = g.AddV2(grad_q, product(g, right, grad_right, adj_y=True))
    first = _square_qr_gradient(g, q, left, grad_q, grad_left)
    return [g.ConcatV2([first, product(g, q, grad_right)], -1)]


def _columns_to(g: GradientBuilder, x: Output, size: Output) -> Output:
    zero = g.constant([0, 0], "int32")
    end = g.ConcatV2([g.constant([0], "int32"), size], 0)
    return g.StridedSlice(x, zero, end, g.constant([1, 1], "int32"), ellipsis_mask=1)


def _columns_from(g: GradientBuilder, x: Output, size: Output) -> Output:
    begin = g.ConcatV2([g.constant([0], "int32"), size], 0)
    zero = g.constant([0, 0], "int32")
    return g.StridedSlice(x, begin, zero, g.constant([1, 1], "int32"), ellipsis_mask=1, end_mask=2)


def _square_qr_gradient(g: GradientBuilder, q: Output, r: Output, dq: Output, dr: Output) -> Output:
    q_dq = product(g, q, dq, adj_x=True)
    r_dr = product(g, r, dr, adj_y=True)
    skew = g.AddV2(g.Sub(q_dq, adjoint(g, q_dq)), g.Sub(r_dr, adjoint(g, r_dr)))
    first = product(g, q, g.AddV2(dr, _times_inverse(g, lower_triangle(g, skew), r)))
    second = _times_inverse(g, g.Sub(dq, product(g, q, q_dq)), r)
    result = g.AddV2(first, second)
    if not q.base_dtype.is_complex:
        return result
    diagonal = g.MatrixDiagPart(g.Sub(r_dr, adjoint(g, q_dq)))
    real_dtype = "float" if q.base_dtype.name == "complex64" else "double"
    imaginary = g.Sub(diagonal, g.Cast(g.Real(diagonal, Tout=real_dtype), DstT=q.base_dtype))
    return g.AddV2(result, _times_inverse(g, product(g, q, g.MatrixDiag(imaginary), adj_y=True), r))


def _times_inverse(g: GradientBuilder, x: Output, r: Output) -> Output:
    """x R^-H for an upper triangular R."""
    return adjoint(g, g.MatrixTriangularSolve(r, adjoint(g, x), lower=False, adjoint=False))


@flops("Qr")
def qr_flops(input: TensorSpec, *, full_matrices: bool) -> Cost:
    """Householder's reflections of the columns to their right, and backward of Q's (Golub and Van Loan, 5.2.1 and 5.1.6).

    For m x n, m >= n, without full matrices this is 4 m n^2 - 4/3 n^3 and lower terms.
    """
    rows, columns = input.shape[-2], input.shape[-1]
    count = dim_min(rows, columns)
    triangle = reflections_flops(rows, count) + reflected_flops(rows, columns - 1, count)
    vectors = reflected_flops(rows, rows if full_matrices else count, count)
    return Cost(input.shape[:-2].num_elements * (triangle + vectors))


@flops("Lu")
def lu_decomposition_flops(input: TensorSpec) -> Cost:
    """By outer products with partial pivoting (Golub and Van Loan, 3.4.1): (4 n^3 + 3 n^2 - n) / 6."""
    return Cost(input.shape[:-2].num_elements * lu_flops(input.shape[-1]))


@kernel("Svd", "BatchSvd")
@widened
def svd(input: Array, *, compute_uv: bool, full_matrices: bool) -> tuple[Result, ...]:
    """Singular values from the largest down, and U and V with A = U diag(s) V^H; NaN where A is not finite."""
    require_matrix(input)
    rows, columns = input.shape[-2:]
    if not np.all(np.isfinite(input)):
        return _svd_of_nan(input, compute_uv, full_matrices)
    if not compute_uv:
        values = np.linalg.svd(input, compute_uv=False) if input.size else np.zeros(_values_shape(input))
        return values.astype(input.dtype), _empty(input.dtype), _empty(input.dtype)
    if not input.size:
        return _svd_of_nothing(input, rows, columns, full_matrices)
    u, values, vh = np.linalg.svd(input, full_matrices=full_matrices)
    return values.astype(input.dtype), u, numerics.adjoint(vh)


def _values_shape(input: Array) -> tuple[int, ...]:
    return (*input.shape[:-2], min(input.shape[-2:]))


def _svd_of_nothing(input: Array, rows: int, columns: int, full_matrices: bool) -> tuple[Array, Array, Array]:
    batch, dtype = input.shape[:-2], input.dtype
    sizes = [(size, size if full_matrices else min(rows, columns)) for size in (rows, columns)]
    u, v = (np.broadcast_to(np.eye(*size, dtype=dtype), (*batch, *size)) for size in sizes)
    return np.zeros(_values_shape(input), dtype), u, v


def _svd_of_nan(input: Array, compute_uv: bool, full_matrices: bool) -> tuple[Array, ...]:
    # A decomposition of zeros tells the shapes of the results.
    parts = svd(np.zeros_like(input), compute_uv=compute_uv, full_matrices=full_matrices)
    return tuple(np.full_like(part, np.nan) if part.ndim else part for part in parts)


@shape("Svd", "BatchSvd")
def svd_shape(input: TensorSpec, *, compute_uv: bool, full_matrices: bool) -> list[Shape]:
    dims = matrix_shape(input)
    if dims.dims is None:
        return [UNKNOWN] * 3
    rows, columns = dims[-2], dims[-1]
    inner = dim_min(rows, columns)
    values = dims[:-2] + [inner]
    if not compute_uv:
        return [values, SCALAR, SCALAR]
    return [values, *(dims[:-2] + [size, size if full_matrices else inner] for size in (rows, columns))]


@gradient("Svd", "BatchSvd")
def svd_gradient(g: GradientBuilder, node: Node, grad_s: Output, grad_u: Output, grad_v: Output) -> Gradients:
    """See https://j-towns.github.io/papers/svd-derivative.pdf; with full matrices right for sizes that differ by 1 at most."""
    middle = g.MatrixDiag(grad_s)
    if not node.attr("compute_uv"):
        _, u, v = g.Svd(node.inputs[0], compute_uv=True, full_matrices=False)
        return [product(g, product(g, u, middle), v, adj_y=True)]
    s, u, v = (node.output(i) for i in range(3))
    size = g.StridedSlice(g.shape_of(s), [-1], [0], [1], end_mask=1)
    u1, v1, gu1, gv1 = (_columns_to(g, x, size) for x in (u, v, grad_u, grad_v))
    u_gu, v_gv = product(g, u1, gu1, adj_x=True), product(g, v1, gv1, adj_x=True)
    # dU and dV turn the singular vectors into each other, weighted by the gaps between singular values.
    middle = g.AddV2(middle, _rotations(g, s, u_gu, v_gv))
    inverse = g.MatrixDiag(_safe_reciprocal(g, s))
    # A complex pair of vectors is free up to a phase, of which the gradient has a term of its own.
    if s.base_dtype.is_complex:
        diagonal = g.MatrixDiag(g.MatrixDiagPart(v_gv))
        turned = product(g, inverse, g.Sub(adjoint(g, diagonal), diagonal))
        middle = g.AddV2(middle, g.Mul(g.scalar_like(s, 0.5), turned))
    rest_u = _outside(g, u, u1, grad_u, gu1, u_gu, size, node)
    rest_v = _outside(g, v, v1, grad_v, gv1, v_gv, size, node)
    result = g.AddV2(product(g, u1, middle), product(g, rest_u, inverse))
    tail = product(g, product(g, u1, inverse), rest_v, adj_y=True)
    return [g.AddV2(product(g, result, v1, adj_y=True), tail)]


def _rotations(g: GradientBuilder, s: Any, u_gu: Any, v_gv: Any) -> Any:
    """(F * U^H dU)' S + S (F * V^H dV)', where F holds 1 / (s_j^2 - s_i^2) and ' adds the adjoint."""
    factors = _differences(g, g.Square(s))
    turned_u, turned_v = g.Mul(factors, u_gu), g.Mul(factors, v_gv)
    values = g.MatrixDiag(s)
    left = product(g, g.AddV2(turned_u, adjoint(g, turned_u)), values)
    return g.AddV2(left, product(g, values, g.AddV2(turned_v, adjoint(g, turned_v))))


def _outside(g: GradientBuilder, u: Any, u1: Any, grad_u: Any, gu1: Any, u_gu: Any, size: Any, node: Node) -> Any:
    """Return the part of dU outside the space of U's first columns, less the part in the space of U's other columns, if
    any.
    """
    rest = g.Sub(gu1, product(g, u1, u_gu))
    if not node.attr("full_matrices"):
        return rest
    other, grad_other = (_columns_from(g, x, size) for x in (u, grad_u))
    return g.Sub(rest, product(g, other, product(g, grad_other, u1, adj_x=True)))


def _differences(g: GradientBuilder, e: Output) -> Output:
    """1 / (e_j - e_i), zero on the diagonal."""
    gaps = g.Sub(g.ExpandDims(e, -2), g.ExpandDims(e, -1))
    return g.MatrixSetDiag(_safe_reciprocal(g, gaps), g.ZerosLike(e))


def _safe_reciprocal(g: GradientBuilder, x: Output) -> Output:
    # x / (x^2 + e) is 1 / x but for the smallest x, where it is 0 instead of infinite: equal eigenvalues do not break the
    # gradient.
    return g.Mul(x, g.Reciprocal(g.AddV2(g.Mul(x, x), g.scalar_like(x, _EPSILON))))


@flops("Svd", "BatchSvd")
def svd_flops(input: TensorSpec, *, compute_uv: bool, full_matrices: bool) -> Cost:
    """About 4 l k^2 - 4/3 k^3 for the values alone, 14 l k^2 + 8 k^3 with vectors, k <= l (Golub and Van Loan, 8.6)."""
    rows, columns = input.shape[-2], input.shape[-1]
    small = dim_min(rows, columns)
    large = rows + columns - small
    values = 4 * large * small * small - 4 * small * small * small // 3
    vectors = 14 * large * small * small + 8 * small * small * small
    return Cost(input.shape[:-2].num_elements * (vectors if compute_uv else values))


@kernel("SelfAdjointEigV2", "BatchSelfAdjointEigV2")
@widened
def self_adjoint_eig_v2(input: Array, *, compute_v: bool) -> tuple[Result, Result]:
    """Return ascending eigenvalues and eigenvectors (in columns) of self-adjoint matrices; only the lower triangle is read."""
    require_square(input)
    require(
        np.all(np.isfinite(np.tril(input))),
        "Self-adjoint eigen decomposition was not successful. The input might not be valid.",
    )
    if not compute_v:
        values = np.linalg.eigvalsh(input) if input.size else np.zeros(input.shape[:-1])
        return values.astype(input.dtype), _empty(input.dtype)
    values, vectors = eigh(input)
    return values.astype(input.dtype), vectors.astype(input.dtype)


@kernel("SelfAdjointEig", "BatchSelfAdjointEig", gradient=WITHOUT_GRADIENT, shape="... n n -> ... n+1 n")
@widened
def self_adjoint_eig(input: Array) -> Result:
    """(..., n + 1, n): the eigenvalues in the first row, the eigenvectors as columns below."""
    values, vectors = self_adjoint_eig_v2(input, compute_v=True)
    return np.concatenate([values[..., None, :], vectors], -2)


@shape("SelfAdjointEigV2", "BatchSelfAdjointEigV2", "Eig")
def eig_shape(input: TensorSpec, *, compute_v: bool) -> list[Shape]:
    dims = square_shape(input)
    return [dims[:-1], dims if compute_v else SCALAR]


@gradient("SelfAdjointEigV2", "BatchSelfAdjointEigV2")
def self_adjoint_eig_v2_gradient(g: GradientBuilder, node: Node, grad_e: Output, grad_v: Output) -> Gradients:
    """V (diag(de) + F * V^H dV) V^H as the gradient of the lower triangle."""
    middle = g.MatrixDiag(grad_e)
    if node.attr("compute_v"):
        e, v = node.output(0), node.output(1)
        middle = g.AddV2(middle, g.Mul(_differences(g, e), product(g, v, grad_v, adj_x=True)))
    else:
        _, v = g.SelfAdjointEigV2(node.inputs[0], compute_v=True)
    whole = product(g, v, product(g, middle, v, adj_y=True))
    # The op reads the lower triangle, which stands for the upper one, too: both gradients belong to it.
    return [halve_diagonal(g, lower_triangle(g, g.AddV2(whole, adjoint(g, whole))))]


@kernel("Eig")
def eig(input: Array, *, compute_v: bool, Tout: DType) -> tuple[Result, Result]:
    """Return eigenvalues and eigenvectors (in columns, of norm 1) of square matrices; for complex matrices by ascending
    modulus.
    """
    require_square(input)
    if np.result_type(input.dtype, np.complex64) != Tout.numpy:
        raise InvalidArgumentError(f"the eigenvalues of {input.dtype.name} are not {Tout}")
    require(np.all(np.isfinite(input)), "Eigen decomposition was not successful. The input might not be valid.")
    if not input.size:
        return np.zeros(input.shape[:-1], Tout.numpy), np.zeros(input.shape, Tout.numpy) if compute_v else _empty(Tout.numpy)
    values, vectors = np.linalg.eig(input) if compute_v else (np.linalg.eigvals(input), None)
    # Eigen's solver of complex matrices sorts by modulus, and its solver of real ones not at all.
    if input.dtype.kind == "c":
        order = np.argsort(np.abs(values), -1, kind="stable")
        values = np.take_along_axis(values, order, -1)
        vectors = None if vectors is None else np.take_along_axis(vectors, order[..., None, :], -1)
    return values.astype(Tout.numpy), _empty(Tout.numpy) if vectors is None else vectors.astype(Tout.numpy)


@gradient("Eig")
def eig_gradient(g: GradientBuilder, node: Node, grad_e: Output, grad_v: Output) -> Gradients:
    """See eq. 4.77 of arXiv:1701.00392, for distinct eigenvalues."""
    x = node.inputs[0]
    middle = g.MatrixDiag(grad_e)
    if node.attr("compute_v"):
        e, v = node.output(0), node.output(1)
        v_gv = product(g, v, grad_v, adj_x=True)
        real_dtype = "float" if v.base_dtype.name == "complex64" else "double"
        scale = g.MatrixDiag(g.Cast(g.Real(g.MatrixDiagPart(v_gv), Tout=real_dtype), DstT=v.base_dtype))
        turned = g.Sub(v_gv, product(g, product(g, v, v, adj_x=True), scale))
        middle = g.AddV2(middle, g.Mul(g.Conj(_differences(g, e)), turned))
    else:
        _, v = g.Eig(x, compute_v=True, Tout=node.attr("Tout"))
    result = g.MatrixSolve(adjoint(g, v), product(g, middle, v, adj_y=True))
    return [g.Cast(result, DstT=x.base_dtype)]


@flops("SelfAdjointEigV2", "BatchSelfAdjointEigV2")
def self_adjoint_eig_v2_flops(input: TensorSpec, *, compute_v: bool) -> Cost:
    """About 9 n^3 with and 4/3 n^3 without vectors, as the QR iterations go (Golub and Van Loan, 8.3)."""
    return cubic(9)(input) if compute_v else cubic(4, 3)(input)


@flops("Eig")
def eig_flops(input: TensorSpec, *, compute_v: bool) -> Cost:
    """About 25 n^3 for the Schur form with its vectors, 10 n^3 for the values alone (Golub and Van Loan, 7.5)."""
    return cubic(25 if compute_v else 10)(input)


@flops("SelfAdjointEig", "BatchSelfAdjointEig")
def self_adjoint_eig_flops(input: TensorSpec) -> Cost:
    """About 9 n^3, as SelfAdjointEigV2 with vectors."""
    return cubic(9)(input)


@lower("Qr")
@widened_program
def _orthogonal_lowering(xla: Any, x: Any, *, full_matrices: bool) -> tuple[Any, Any]:
    """Return Q with orthonormal columns and the upper triangular R with Q R = A."""
    require_matrix(x)
    rows, columns = x.shape[-2:]
    if x.size:
        q, r = xla.lax.linalg.qr(x, full_matrices=full_matrices)
        return q, r
    size = rows if full_matrices else min(rows, columns)
    q = xla.broadcast_to(xla.eye(rows, size, dtype=x.dtype), (*x.shape[:-1], size))
    return q, xla.zeros((*x.shape[:-2], size, columns), x.dtype)


@lower("Svd", "BatchSvd")
@widened_program
def _singular_values_lowering(xla: Any, x: Any, *, compute_uv: bool, full_matrices: bool) -> tuple[Any, Any, Any]:
    """Return the singular values from the largest down, U and V; NaN where an input is not finite."""
    require_matrix(x)
    require(x.size, "no singular values of empty matrices")
    # LAPACK may not return for numbers that are not finite.
    is_finite, nan = xla.isfinite(x).all(), xla.asarray(np.nan, x.dtype)
    safe = xla.where(is_finite, x, 0)
    if not compute_uv:
        values = xla.lax.linalg.svd(safe, full_matrices=False, compute_uv=False)
        nothing = xla.zeros((), x.dtype)
        return xla.where(is_finite, values.astype(x.dtype), nan), nothing, nothing
    u, values, vh = xla.lax.linalg.svd(safe, full_matrices=full_matrices)
    parts = values.astype(x.dtype), u, adjoint_of(xla, vh)
    first, second, third = (xla.where(is_finite, part, nan) for part in parts)
    return first, second, third


@everywhere("Lu", shape="... n n -> ... n n, ... n", gradient=WITHOUT_GRADIENT)
@widened_program
def lu(xp: Any, x: Any, *, output_idx_type: DType) -> tuple[Any, Any]:
    """Return the packed factors of the matrix with its rows permuted, and the permutation."""
    require_square(x)
    if is_empty(xp, x):
        return x, xp.zeros_like(xp.sum(x, -1)).real.astype(output_idx_type.numpy)
    packed, _, order = xp.lu(x)
    # NaN fails the comparison, too: TensorFlow refuses both.
    xp.require((abs(xp.diagonal(packed)) > 0).all(), "Input is not invertible.")
    return packed, order.astype(output_idx_type.numpy)


@onnx("Qr")
def _orthogonal_onnx(g: Any, matrix: Any, *, full_matrices: bool) -> tuple[Any, Any]:
    """Return Q and R by reflections; the diagonal of R has LAPACK's signs."""
    height, width = last_dims(g, matrix, 2)
    least = min(height, width)
    right = _flat(g, matrix)
    nothing = g.zeros_like(right)
    # The product with zeros gives the identity the number of matrices, which only the run may know.
    left = g.Add(g.constant(np.eye(height), matrix.dtype), g.MatMul(nothing, transposed_onnx(g, nothing)))
    numbers = g.constant(np.arange(height).reshape(1, height, 1))

    def advance(i: Any, carried: Any) -> Any:
        left, right = carried
        vector, scale = _reflection_onnx(g, g.Gather(right, g.unsqueeze(i, 0), axis=2), i, numbers)
        row = adjoint_onnx(g, vector)
        right = g.Sub(right, g.Mul(g.conjugate(scale), g.MatMul(vector, g.MatMul(row, right))))
        return [g.Sub(left, g.Mul(scale, g.MatMul(g.MatMul(left, vector), row))), right]

    left, right = g.repeat(least, [left, right], advance)
    inner = height if full_matrices else least
    q, r = g.slice(left, 0, inner, 2), g.slice(_triangle(g, right, lower=False), 0, inner, 1)
    outer = g.slice(g.dims(matrix), 0, g.rank(matrix) - 2)
    return g.of_dims(q, outer, height, inner), g.of_dims(r, outer, inner, width)


def _reflection_onnx(g: Any, column: Any, i: Any, numbers: Any) -> tuple[Any, Any]:
    """Return the vector, 1 at place i, and the factor of the reflection that clears a column below that place.

    A column that is already clear stays the same.
    """
    zero = g.like(0, column)
    head = g.Gather(column, g.unsqueeze(i, 0), axis=1)
    tail = g.Where(g.Greater(numbers, i), column, zero)
    rest = g.ReduceSum(g.Mul(g.Abs(tail), g.Abs(tail)), [1])
    first, other = g.parts(head) if head.dtype.is_complex else (head, g.zeros_like(head))
    size = g.Sqrt(g.Add(g.Add(g.Mul(first, first), g.Mul(other, other)), rest))
    end = g.cast(g.Where(g.Less(first, 0), size, g.Neg(size)), head.dtype)
    stays = g.And(g.Equal(rest, 0), g.Equal(other, 0))
    vector = g.Where(stays, zero, g.Div(tail, g.Sub(head, end)))
    vector = g.Where(g.Equal(numbers, i), g.like(1, column), vector)
    return vector, g.Where(stays, zero, g.Div(g.Sub(end, head), end))


def _flat(g: Any, x: Any) -> Any:
    """Flatten the batch dimensions of matrices."""
    outer = g.slice(g.dims(x), 0, g.rank(x) - 2)
    count = g.ReduceProd(outer, [0]) if outer.array is None else math.prod(outer.array.tolist())
    return g.of_dims(x, count, g.dim(x, -2), g.dim(x, -1))


def _triangle(g: Any, matrix: Any, *, lower: bool) -> Any:
    """Return the elements on the diagonal and below or above it, zeros elsewhere."""
    rows, columns = (along(g, matrix, axis) for axis in (-2, -1))
    inner, outer = (g.unsqueeze(rows, -1), columns) if lower else (columns, g.unsqueeze(rows, -1))
    return g.Where(g.GreaterOrEqual(inner, outer), matrix, g.like(0, matrix))


# Singular values and eigenvalues in ONNX, which has no such operators, are those of one-sided Jacobi rotations (Golub and Van
# Loan, Matrix Computations, 8.6.3): the columns of a matrix are turned in pairs until all are orthogonal. The pairs of a round
# share no column, so that a round is one step of a loop, and a tournament of rounds has each pair once.

_SWEEPS: Final = 14
"""The number of tournaments; the sum of the products of columns shrinks quadratically after a few."""


@onnx("Svd", "BatchSvd")
def _singular_values_onnx(g: Any, matrix: Any, *, compute_uv: bool, full_matrices: bool) -> Any:
    """Return the singular values, and the singular vectors, each pair of them up to a common factor of size 1."""
    height, width = _sizes(g, matrix)
    outer = g.slice(g.dims(matrix), 0, g.rank(matrix) - 2)
    least = min(height, width)
    rows = _flat(g, matrix)
    tall = rows if height >= width else adjoint_onnx(g, rows)
    turned, right, sizes = _orthogonal_columns(g, tall, max(height, width), least)
    values = g.of_dims(sizes, outer, least)
    if not compute_uv:
        return values, g.constant(np.zeros(0), matrix.dtype), g.constant(np.zeros(0), matrix.dtype)
    # Columns below the rounding of the largest have no direction of their own: zeros get any that is orthogonal to the
    # others.
    noise = g.Mul(g.slice(sizes, 0, 1, 2), g.like(np.finfo(sizes.dtype.numpy).eps, sizes))
    turned = g.Where(g.Less(sizes, noise), g.constant(np.zeros((1, 1, 1)), matrix.dtype), turned)
    long = max(height, width) if full_matrices else least
    left = g.of_dims(_directions(g, turned, max(height, width), least, full_matrices), outer, max(height, width), long)
    right = g.of_dims(right, outer, least, least)
    return (values, left, right) if height >= width else (values, right, left)


# XLA has LAPACK's eigenvectors, whose signs LAPACK leaves open; the kernel takes the steps of Eigen for TensorFlow's.
@onnx("SelfAdjointEigV2", "BatchSelfAdjointEigV2")
def _self_adjoint_onnx(g: Any, matrix: Any, *, compute_v: bool) -> Any:
    """Return the eigenvalues of the lower triangle in ascending order, and the eigenvectors up to a factor of size 1.

    The norm is added to the diagonal, so that no two eigenvalues have the same size and different signs.
    """
    size = _sizes(g, matrix)[0]
    outer = g.slice(g.dims(matrix), 0, g.rank(matrix) - 2)
    lower = _triangle(g, _flat(g, matrix), lower=True)
    on_diagonal = g.cast(g.constant(np.eye(size)), matrix.dtype)
    strict = g.Mul(lower, g.Sub(1, on_diagonal))
    diagonal = g.Mul(g.Mul(g.Add(lower, g.conjugate(lower)), 0.5), on_diagonal)  # LAPACK ignores imaginary parts there
    whole = g.Add(g.Add(strict, adjoint_onnx(g, strict)), diagonal)
    norm = g.cast(g.Sqrt(g.ReduceSum(_squared(g, whole), [1, 2], keepdims=1)), matrix.dtype)
    _, right, _ = _orthogonal_columns(g, g.Add(whole, g.Mul(on_diagonal, norm)), size, size)
    products = g.ReduceSum(g.Mul(g.conjugate(right), g.MatMul(whole, right)), [1], keepdims=1)
    values = g.parts(products)[0] if products.dtype.is_complex else products
    values, order = g.TopK(values, g.constant(np.array([size])), outputs=2, axis=2, largest=0)
    values = g.cast(g.of_dims(values, outer, size), matrix.dtype)
    if not compute_v:
        return values, g.constant(np.zeros(0), matrix.dtype)
    return values, g.of_dims(_columns(g, right, order, size, size), outer, size, size)


def _divided(g: Any, x: Any, size: Any) -> Any:
    """Return x / size for real sizes; a complex quotient would square the sizes, which may be tiny."""
    return g.complex(*(g.Div(part, size) for part in g.parts(x))) if x.dtype.is_complex else g.Div(x, size)


def _sizes(g: Any, matrix: Any) -> tuple[int, int]:
    height, width = last_dims(g, matrix, 2)
    if not height or not width:
        g.refuse("its matrices have no elements")
    return height, width


def _squared(g: Any, x: Any) -> Any:
    """Return the squares of absolute values."""
    return g.Mul(g.Abs(x), g.Abs(x))


def _columns(g: Any, x: Any, order: Any, height: int, width: int) -> Any:
    """Return the columns of matrices (n, height, ...) in an order (n, 1, width)."""
    result = g.GatherElements(x, g.Expand(order, g.joined(g.dim(x, 0), height, width)), axis=2)
    for value in (result, *(result.parts or ())):
        value.spec = TensorSpec(value.dtype, Shape((None, height, width)))
    return result


def _orthogonal_columns(g: Any, x: Any, height: int, width: int) -> tuple[Any, Any, Any]:
    """Return x V, V and the sizes of the columns of x V, which are orthogonal and in descending order; V is unitary."""
    # A tournament needs an even number: a column of zeros is orthogonal to every partner.
    even = width + width % 2
    frame = np.zeros((height, even - width)), np.eye(width, even)
    start = g.Concat(x, g.Expand(g.constant(frame[0], x.dtype), g.joined(g.dim(x, 0), height, even - width)), axis=2)
    units = g.Expand(g.constant(frame[1], x.dtype), g.joined(g.dim(x, 0), width, even))
    both = g.Concat(start if even > width else x, units, axis=1)
    if even > 2:
        seats = _seats(even)
        (both,) = g.repeat(_SWEEPS * (even - 1), [both], lambda i, carried: [_round(g, carried[0], height, even, seats)])
    elif even == 2:
        both = _round(g, both, height, even, np.arange(2))
    turned, right = g.slice(both, 0, height, 1), g.slice(both, height, height + width, 1)
    sizes = g.Sqrt(g.ReduceSum(_squared(g, turned), [1], keepdims=1))
    # The additional column has no row in V, and its size of -1 puts it after all others.
    is_real = g.Greater(g.ReduceSum(_squared(g, right), [1], keepdims=1), 0.5)
    _, order = g.TopK(g.Where(is_real, sizes, g.like(-1, sizes)), g.constant(np.array([width])), outputs=2, axis=2)
    return (
        _columns(g, turned, order, height, width),
        _columns(g, right, order, width, width),
        _columns(g, sizes, order, 1, width),
    )


def _seats(count: int) -> Any:
    """Return the order of the columns for the next round of a tournament: all but the first move on by one seat."""
    half = count // 2
    circle = [*range(half), *reversed(range(half, count))]
    moved = [circle[0], circle[-1], *circle[1:-1]]
    order = np.empty(count, np.int64)
    order[circle] = moved
    return order


def _round(g: Any, both: Any, height: int, count: int, seats: Any) -> Any:
    """Turn each column of the first half and its partner of the second half until both are orthogonal; change seats."""
    half = count // 2
    a, b = g.slice(both, 0, half, 2), g.slice(both, half, count, 2)
    above, other = g.slice(a, 0, height, 1), g.slice(b, 0, height, 1)
    product = g.ReduceSum(g.Mul(g.conjugate(above), other), [1], keepdims=1)
    size = g.Abs(product)
    is_done = g.Equal(size, 0)
    divisor = g.Where(is_done, g.like(1, size), size)
    sums = [g.ReduceSum(_squared(g, half), [1], keepdims=1) for half in (above, other)]
    slope = g.Div(g.Mul(g.Sub(sums[1], sums[0]), 0.5), divisor)
    # The smaller of both angles that make the columns orthogonal, in the form without cancellation; the larger one would not
    # converge.
    tangent = g.Reciprocal(g.Add(g.Abs(slope), g.Sqrt(g.Add(g.Mul(slope, slope), 1))))
    tangent = g.Where(is_done, g.like(0, size), g.Where(g.Less(slope, 0), g.Neg(tangent), tangent))
    cosine = g.Reciprocal(g.Sqrt(g.Add(g.Mul(tangent, tangent), 1)))
    cosine, sine = (g.cast(value, both.dtype) for value in (cosine, g.Mul(cosine, tangent)))
    # For complex columns a phase makes their product real first, and a real rotation does the rest.
    b = g.Mul(b, g.Where(is_done, g.constant(np.ones((1, 1, 1)), both.dtype), _divided(g, g.conjugate(product), divisor)))
    pair = [g.Sub(g.Mul(a, cosine), g.Mul(b, sine)), g.Add(g.Mul(a, sine), g.Mul(b, cosine))]
    return g.Gather(g.Concat(*pair, axis=2), g.constant(seats), axis=2)


def _directions(g: Any, x: Any, height: int, width: int, full: bool) -> Any:
    """Return orthogonal columns of size 1 in the directions of the columns of x; any directions for columns of zeros."""
    q, r = _orthogonal_onnx(g, x, full_matrices=full)
    columns = height if full else width
    diagonal = g.ReduceSum(g.Mul(r, g.constant(np.eye(columns, width), r.dtype)), [1], keepdims=1)
    size = g.Abs(diagonal)
    factor = _divided(g, diagonal, g.Where(g.Equal(size, 0), g.like(1, size), size))
    factor = g.Where(g.Equal(size, 0), g.constant(np.ones((1, 1, 1)), r.dtype), factor)
    if columns > width:
        ones = g.Expand(g.constant(np.ones((1, 1, columns - width)), r.dtype), g.joined(g.dim(x, 0), 1, columns - width))
        factor = g.Concat(factor, ones, axis=2)
    # Q's columns have the directions of x up to the signs, or phases, of R's diagonal.
    return g.Mul(q, factor)
