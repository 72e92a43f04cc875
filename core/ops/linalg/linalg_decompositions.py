"""Decompositions of matrices: QR, LU, singular values, eigenvalues."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...building.gradbuilder import GradientBuilder, Gradients
from ...graph.graph import Node, Output
from ...numerics import linalg as numerics
from ...numerics.linalg import eigh
from ...numerics.half_precision import widened
from ...registry.registry import Cost, flops, gradient, kernel, onnx, shape, without_gradient
from ...support.errors import InvalidArgumentError
from ...types.arrays import Array, Result
from ...types.dims import dim_min
from ...types.dtypes import DType
from ...types.shapes import SCALAR, UNKNOWN, Shape, TensorSpec
from . import _onnx_jacobi as jacobi_in_onnx
from . import _onnx_linalg as in_onnx
from . import _xla_linalg  # noqa: F401 - registers lowerings
from ._matrices import (
    adjoint,
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


@kernel("Lu")
@widened
def lu(input: Array, *, output_idx_type: DType) -> tuple[Result, Result]:
    """Return the packed factors of the matrix with its rows permuted, and the permutation."""
    require_square(input)
    packed, order = numerics.lu(input)
    if not np.all(np.abs(np.diagonal(packed, axis1=-2, axis2=-1)) > 0):
        raise InvalidArgumentError("Input is not invertible.")
    return packed, order.astype(output_idx_type.numpy)


@shape("Lu")
def lu_shape(input: TensorSpec) -> list[Shape]:
    dims = square_shape(input)
    return [dims, dims[:-1]]


@flops("Lu")
def lu_decomposition_flops(input: TensorSpec) -> Cost:
    """By outer products with partial pivoting (Golub and Van Loan, 3.4.1): (4 n^3 + 3 n^2 - n) / 6."""
    return Cost(input.shape[:-2].num_elements * lu_flops(input.shape[-1]))


without_gradient("Lu")


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
    middle = g.AddV2(middle, _rotations(g, s, u_gu, v_gv))
    inverse = g.MatrixDiag(_safe_reciprocal(g, s))
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
    if not np.all(np.isfinite(np.tril(input))):
        raise InvalidArgumentError("Self-adjoint eigen decomposition was not successful. The input might not be valid.")
    if not compute_v:
        values = np.linalg.eigvalsh(input) if input.size else np.zeros(input.shape[:-1])
        return values.astype(input.dtype), _empty(input.dtype)
    values, vectors = eigh(input)
    return values.astype(input.dtype), vectors.astype(input.dtype)


@kernel("SelfAdjointEig", "BatchSelfAdjointEig")
@widened
def self_adjoint_eig(input: Array) -> Result:
    """(..., n + 1, n): the eigenvalues in the first row, the eigenvectors as columns below."""
    values, vectors = self_adjoint_eig_v2(input, compute_v=True)
    return np.concatenate([values[..., None, :], vectors], -2)


@shape("SelfAdjointEigV2", "BatchSelfAdjointEigV2", "Eig")
def eig_shape(input: TensorSpec, *, compute_v: bool) -> list[Shape]:
    dims = square_shape(input)
    return [dims[:-1], dims if compute_v else SCALAR]


@shape("SelfAdjointEig", "BatchSelfAdjointEig")
def self_adjoint_eig_shape(input: TensorSpec) -> Shape:
    dims = square_shape(input)
    return dims if dims.dims is None else dims[:-2] + [dims[-1] + 1, dims[-1]]


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
    return [halve_diagonal(g, lower_triangle(g, g.AddV2(whole, adjoint(g, whole))))]


@kernel("Eig")
def eig(input: Array, *, compute_v: bool, Tout: DType) -> tuple[Result, Result]:
    """Return eigenvalues and eigenvectors (in columns, of norm 1) of square matrices; for complex matrices by ascending
    modulus.
    """
    require_square(input)
    if np.result_type(input.dtype, np.complex64) != Tout.numpy:
        raise InvalidArgumentError(f"the eigenvalues of {input.dtype.name} are not {Tout}")
    if not np.all(np.isfinite(input)):
        raise InvalidArgumentError("Eigen decomposition was not successful. The input might not be valid.")
    if not input.size:
        return np.zeros(input.shape[:-1], Tout.numpy), np.zeros(input.shape, Tout.numpy) if compute_v else _empty(Tout.numpy)
    values, vectors = np.linalg.eig(input) if compute_v else (np.linalg.eigvals(input), None)
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


without_gradient("SelfAdjointEig", "BatchSelfAdjointEig")

onnx("Qr")(in_onnx.orthogonal)
onnx("Lu")(in_onnx.factored)
onnx("Svd", "BatchSvd")(jacobi_in_onnx.singular_values)
onnx("SelfAdjointEigV2", "BatchSelfAdjointEigV2")(jacobi_in_onnx.self_adjoint)
