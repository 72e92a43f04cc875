"""Helpers of ops on batches of matrices: checks, shapes, costs, adjoints in gradients and lowerings, narrow floats in XLA."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ...numerics.half_precision import is_narrow, widened
from ...registry.registry import Cost
from ...support.errors import InvalidArgumentError
from ...types.dims import DimLike
from ...types.shapes import UNKNOWN, Shape, merge_dims
from ..shared.argument_checks import may_equal, require


def require_matrix(x: Any, place: int = 0) -> None:
    require(x.ndim >= 2, f"Input tensor {place} must have rank >= 2, got {x.ndim}")


def require_square(x: Any) -> None:
    require_matrix(x)
    if not may_equal(x.shape[-1:], x.shape[-2:-1]):
        raise InvalidArgumentError(f"Input matrix must be square, not of shape {Shape(x.shape)}")


def require_system(matrix: Any, rhs: Any) -> None:
    """Require a batch of matrices and a batch of right-hand sides with the same batch dimensions and number of rows."""
    require_matrix(matrix)
    require(matrix.ndim == rhs.ndim, f"All input tensors must have the same rank: {matrix.shape} and {rhs.shape}")
    require(
        may_equal(matrix.shape[:-2], rhs.shape[:-2]),
        f"All input tensors must have the same outer dimensions: {matrix.shape} and {rhs.shape}",
    )
    require(
        may_equal(matrix.shape[-2:-1], rhs.shape[-2:-1]),
        f"Input matrix and rhs are incompatible: {matrix.shape} and {rhs.shape}",
    )


def matrix_shape(spec: Any) -> Shape:
    """Return the shape of a batch of matrices, checked."""
    require(spec.rank is None or spec.rank >= 2, f"the input must have at least rank 2, not shape {spec.shape}")
    return spec.shape


def square_shape(spec: Any) -> Shape:
    """Return the shape of a batch of square matrices, checked; a single known size gives both."""
    dims = matrix_shape(spec)
    if dims.dims is None:
        return UNKNOWN
    size = merge_dims(dims[-2], dims[-1])
    return dims[:-2] + [size, size]


def lu_flops(n: DimLike) -> DimLike:
    """LU factors of n x n by outer products: n (n - 1) (4 n + 1) / 6, and n^2 moduli and comparisons for partial pivoting.

    Golub and Van Loan, algorithm 3.4.1.
    """
    return n * (4 * n * n + 3 * n - 1) // 6


def cholesky_flops(n: DimLike) -> DimLike:
    """Return the FLOPs of the Cholesky factor of n x n, n of them square roots: LAPACK Working Note 41, appendix C."""
    return n * (n + 1) * (2 * n + 1) // 6


def reflections_flops(rows: DimLike, count: DimLike) -> DimLike:
    """Return the FLOPs of `count` Householder vectors of rows, rows - 1, ... elements: 3 per element and 4 per vector."""
    return count * (3 * rows + 4) - 3 * count * (count - 1) // 2


def reflected_flops(rows: DimLike, columns: DimLike, count: DimLike) -> DimLike:
    """Return the FLOPs of `count` reflections, each of a row and a column less than the one before.

    A reflection takes 4 operations per element minus 2 per column.
    """
    below = count * (count - 1)
    return count * columns * (4 * rows - 2) - (2 * columns + 2 * rows - 1) * below + 2 * below * (2 * count - 1) // 3


def cubic(numerator: int, denominator: int = 1) -> Callable[..., Cost]:
    """Return a FLOPs function: numerator/denominator n^3 for each n x n matrix of the first input."""

    def cost(x: Any, *rest: Any) -> Cost:
        size = x.shape[-1]
        return Cost(x.shape[:-2].num_elements * (numerator * size * size * size // denominator))

    return cost


def product(g: Any, x: Any, y: Any, adj_x: bool = False, adj_y: bool = False) -> Any:
    """Return the matrix products in a gradient."""
    return g.BatchMatMulV2(x, y, adj_x=adj_x, adj_y=adj_y)


def transposed(g: Any, x: Any) -> Any:
    """Return the transposes in a gradient."""
    # Not Transpose, whose permutation would have to be computed for an unknown rank.
    return g.Einsum([x], equation="...ij->...ji")


def adjoint(g: Any, x: Any) -> Any:
    """Return the conjugate transposes in a gradient."""
    return g.conj(transposed(g, x))


def identity_like(g: Any, x: Any) -> Any:
    """Identity matrices of the shape of the square matrices x."""
    # From the matrix itself: the graph may not know its size.
    return g.MatrixDiag(g.OnesLike(g.MatrixDiagPart(x)))


def lower_triangle(g: Any, x: Any) -> Any:
    return g.MatrixBandPart(x, g.constant(-1, "int64"), g.constant(0, "int64"))


def upper_triangle(g: Any, x: Any) -> Any:
    return g.MatrixBandPart(x, g.constant(0, "int64"), g.constant(-1, "int64"))


def halve_diagonal(g: Any, x: Any) -> Any:
    return g.MatrixSetDiag(x, g.Mul(g.scalar_like(x, 0.5), g.MatrixDiagPart(x)))


def reduce_batch(g: Any, grad: Any, x: Any, other: Any) -> Any:
    """Sum the gradient of x over the batch dimensions in which x was broadcast against `other`."""
    shape = g.shape_of(x)
    batches = [g.StridedSlice(s, [0], [-2], [1], begin_mask=1) for s in (shape, g.shape_of(other))]
    # The shape of the matrix itself is left out: its last two dimensions never broadcast.
    axes, _ = g.BroadcastGradientArgs(*batches)
    return g.Reshape(g.Sum(grad, axes), shape)


def per_matrix(g: Any, factors: Any) -> Any:
    """Numbers (...) as factors (..., 1, 1) of matrices."""
    return g.ExpandDims(g.ExpandDims(factors, -1), -1)


def widened_program(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return an array program that computes narrow floats in 32 bits, and rounds results of 32 bits at the end."""

    @functools.wraps(function)
    def program(xp: Any, *values: Any, **attrs: Any) -> Any:
        call = functools.partial(function, xp)
        return (widened(call) if is_narrow(values[0].dtype) else call)(*values, **attrs)

    return program


def adjoint_of(xp: Any, x: Any) -> Any:
    """Return the conjugate transposes in an array program."""
    return xp.conj(x.swapaxes(-1, -2))
