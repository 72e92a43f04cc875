"""FLOPs formulas of linear algebra against the textbooks' algorithms, counted on random small matrices."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
from hypothesis import given
from hypothesis import strategies as st

from tests.core.flops import definitions_linalg as definitions
from tests.core.flops.counting import counted, normal
from tests.core.flops.held import EXAMPLES, Cases, Node, hold, holds
from tfg.core.numerics.array_namespace import NUMPY
from tfg.core.ops.linalg import linalg

HELD: Cases = {}
SIZE = st.integers(1, 6)


def same(result, expected):
    assert np.allclose(np.asarray(result), expected, rtol=1e-6, atol=1e-8)


def square(draw, tally, seed=0):
    """A batch of well-conditioned matrices that differ from row to row."""
    batch, n = draw(st.integers(1, 2)), draw(SIZE)
    return normal(tally, batch, n, n, seed=seed)


def symmetric(draw, tally):
    a = np.asarray(square(draw, tally))
    return counted(a @ np.swapaxes(a, 1, 2) + np.eye(a.shape[-1]), tally)


def by_matrix(ops, definition, expected, make=square):
    """A case for ops of square matrices alone."""

    @holds(HELD, *ops)
    def case(draw, tally):
        matrices = make(draw, tally)
        for a in matrices:
            result = definition(a)
            same(result[0] if isinstance(result, tuple) else result, expected(np.asarray(a)))
        return Node([matrices.shape])


def _batched(op):
    return op, f"Batch{op}"


by_matrix(_batched("Cholesky"), definitions.cholesky, np.linalg.cholesky, symmetric)
by_matrix(_batched("MatrixInverse"), definitions.inverse, np.linalg.inv)
by_matrix(_batched("MatrixDeterminant"), definitions.determinant, np.linalg.det)
by_matrix(["LogMatrixDeterminant"], lambda a: definitions.log_determinant(a)[1], lambda a: np.linalg.slogdet(a)[1])
by_matrix(["Lu"], definitions.lu, lambda a: np.tril(scipy.linalg.lu(a)[1], -1) + scipy.linalg.lu(a)[2])


@holds(HELD, "CholeskyGrad", "BatchCholeskyGrad")
def cholesky_grad(draw, tally):
    matrices = symmetric(draw, tally)
    for a in matrices:
        factor = np.linalg.cholesky(np.asarray(a))
        result = definitions.cholesky_gradient(counted(factor, tally), a)
        same(result, linalg.cholesky_grad(NUMPY, factor, np.asarray(a)))
    return Node([matrices.shape, matrices.shape])


@holds(HELD, "MatrixSolve", "BatchMatrixSolve")
def matrix_solve(draw, tally):
    matrices, sides = square(draw, tally), draw(SIZE)
    rhs = normal(tally, *matrices.shape[:-1], sides, seed=1)
    for a, b in zip(matrices, rhs):
        same(definitions.solved(a, b), np.linalg.solve(np.asarray(a), np.asarray(b)))
    return Node([matrices.shape, rhs.shape])


@holds(HELD, "MatrixTriangularSolve", "BatchMatrixTriangularSolve")
def matrix_triangular_solve(draw, tally):
    matrices, sides, lower = square(draw, tally), draw(SIZE), draw(st.booleans())
    rhs = normal(tally, *matrices.shape[:-1], sides, seed=1)
    for a, b in zip(matrices, rhs):
        same(definitions.substituted(a, b, lower), scipy.linalg.solve_triangular(np.asarray(a), np.asarray(b), lower=lower))
    return Node([matrices.shape, rhs.shape], {"lower": lower})


@holds(HELD, "BandedTriangularSolve")
def banded_triangular_solve(draw, tally):
    n, bands, sides, lower = draw(SIZE), draw(SIZE), draw(SIZE), draw(st.booleans())
    matrix, rhs = normal(tally, bands, n), normal(tally, n, sides, seed=1)
    result = definitions.banded_substituted(matrix, rhs, lower)
    same(result, linalg.banded_triangular_solve(np.asarray(matrix), np.asarray(rhs), lower=lower, adjoint=False))
    return Node([(bands, n), (n, sides)], {"lower": lower})


@holds(HELD, "MatrixSolveLs", "BatchMatrixSolveLs")
def matrix_solve_ls(draw, tally):
    rows, columns, sides, fast = draw(SIZE), draw(SIZE), draw(SIZE), draw(st.booleans())
    a, b = normal(tally, rows, columns), normal(tally, rows, sides, seed=1)
    result = definitions.least_squares(a, b, 0.0) if fast else definitions.least_squares_orthogonal(a, b)
    same(result, np.linalg.pinv(np.asarray(a)) @ np.asarray(b))
    return Node([a.shape, b.shape, np.float64(0)], {"fast": fast})


@holds(HELD, "Qr")
def qr(draw, tally):
    rows, columns, full = draw(SIZE), draw(SIZE), draw(st.booleans())
    a = normal(tally, rows, columns)
    q, r = (np.asarray(x) for x in definitions.qr(a, full))
    same(q @ r, np.asarray(a))
    same(q.T @ q, np.eye(q.shape[1]))
    return Node([a.shape], {"full_matrices": full})


@holds(HELD, "TridiagonalSolve")
def tridiagonal_solve(draw, tally):
    batch, n, sides, pivoting = draw(st.integers(1, 2)), draw(SIZE), draw(SIZE), draw(st.booleans())
    diagonals, rhs = normal(tally, batch, 3, n), normal(tally, batch, n, sides, seed=1)
    solve = definitions.solved_tridiagonal if pivoting else definitions.thomas
    for (upper, main, lower), a, b in zip(np.asarray(diagonals), diagonals, rhs):
        dense = np.diag(main) + np.diag(upper[:-1], 1) + np.diag(lower[1:], -1)
        same(solve(a, b), np.linalg.solve(dense, np.asarray(b)))
    return Node([diagonals.shape, rhs.shape], {"partial_pivoting": pivoting})


@pytest.mark.sampled(4)
@pytest.mark.parametrize("op", HELD)
@EXAMPLES
@given(data=st.data())
def test_formula(op, data):
    hold(op, HELD[op], data.draw)
