"""FLOPs formulas of eigenvalues, singular values and functions of matrices against counted definitions.

How often QR iterations run follows from the values: where they do, formulas are held to within a factor on larger matrices.
"""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
from hypothesis import given
from hypothesis import strategies as st

from tests.core.flops import definitions_eigen as definitions
from tests.core.flops.counting import Tally, counted, normal, positive
from tests.core.flops.held import EXAMPLES, Cases, Node, cost, hold, holds

HELD: Cases = {}
SIZE = st.integers(1, 5)


def same(result, expected):
    assert np.allclose(np.asarray(result), expected, rtol=1e-5, atol=1e-6)


@holds(HELD, "MatrixExponential")
def matrix_exponential(draw, tally):
    a = normal(tally, *[draw(SIZE)] * 2)
    same(definitions.exponential(a, 3), scipy.linalg.expm(np.asarray(a)))
    return Node([a.shape])


def _schur(draw, tally):
    """Q and an upper triangular T of positive diagonal, with what a Schur form costs."""
    n = draw(SIZE)
    tally.flops += cost("Eig", [(n, n)], compute_v=True, Tout="complex64").flops
    t = np.triu(np.asarray(positive(tally, n, n)), 1) + np.diag(1 + np.arange(n) / 4)
    return counted(np.linalg.qr(np.asarray(normal(tally, n, n)))[0], tally), counted(t, tally)


@holds(HELD, "MatrixSquareRoot")
def matrix_square_root(draw, tally):
    q, t = _schur(draw, tally)
    array = np.asarray(definitions.similar(q, definitions.root(t)))
    same(array @ array, np.asarray(q) @ np.asarray(t) @ np.asarray(q).T)
    return Node([t.shape])


@holds(HELD, "MatrixLogarithm")
def matrix_logarithm(draw, tally):
    q, t = _schur(draw, tally)
    array = np.asarray(definitions.similar(q, definitions.logarithm(t, roots=5, degree=7)))
    same(scipy.linalg.expm(array), np.asarray(q) @ np.asarray(t) @ np.asarray(q).T)
    return Node([lambda g: g.Placeholder(dtype="complex64", shape=t.shape)])


@pytest.mark.parametrize("op", HELD)
@EXAMPLES
@given(data=st.data())
def test_formula(op, data):
    hold(op, HELD[op], data.draw)


def singular_values(a, vectors):
    tally = Tally()
    result = definitions.singular_values(counted(a, tally), vectors)[0]
    same(np.sort(abs(np.asarray(result)))[::-1], np.linalg.svd(a, compute_uv=False))
    return tally


def self_adjoint_eigenvalues(a, vectors):
    tally = Tally()
    result = definitions.self_adjoint_eigenvalues(counted(a + a.T, tally), vectors)[0]
    same(np.sort(np.asarray(result)), np.linalg.eigvalsh(a + a.T))
    return tally


def eigenvalues(a, vectors):
    tally = Tally()
    array = np.asarray(definitions.schur(counted(a, tally), vectors)[0])
    same(np.sort_complex(np.linalg.eigvals(array)), np.sort_complex(np.linalg.eigvals(a)))
    return tally


WITHIN_A_FACTOR = {
    "SelfAdjointEig": (self_adjoint_eigenvalues, None),
    "BatchSelfAdjointEig": (self_adjoint_eigenvalues, None),
    "SelfAdjointEigV2": (self_adjoint_eigenvalues, "compute_v"),
    "BatchSelfAdjointEigV2": (self_adjoint_eigenvalues, "compute_v"),
    "Svd": (singular_values, "compute_uv"),
    "BatchSvd": (singular_values, "compute_uv"),
    "Eig": (eigenvalues, "compute_v"),
}
"""What each op is held to, and the attribute that asks for vectors; without one they are always found."""


@pytest.mark.slow
@pytest.mark.sampled(7)
@pytest.mark.parametrize("vectors", [False, True])
@pytest.mark.parametrize("op", WITHIN_A_FACTOR)
def test_iterations_within_a_factor(op, vectors):
    """Lower terms weigh most on small matrices, and on values alone."""
    definition, attribute = WITHIN_A_FACTOR[op]
    n = 20 if vectors else 36
    a = np.random.default_rng(0).normal(size=(n, n))
    attrs = {attribute: vectors} if attribute else {}
    attrs |= {"Tout": "complex64"} if op == "Eig" else {}
    done = definition(a, vectors or not attribute).flops
    assert 0.75 < done / cost(op, [a.shape], **attrs).flops < 2
