"""NumPy as the namespace of array programs: what it adds to NumPy, with the answers that TensorFlow gives."""

from __future__ import annotations

import numpy as np
import pytest

from tfg.core.numerics.array_namespace import NUMPY
from tfg.core.support.errors import InvalidArgumentError


def test_other_functions_are_those_of_numpy() -> None:
    assert NUMPY.einsum is np.einsum
    with pytest.raises(AttributeError, match="no_such_function"):
        _ = NUMPY.no_such_function


def test_a_condition_that_does_not_hold_is_an_error_of_the_op() -> None:
    NUMPY.require(np.bool_(True), "never seen")
    with pytest.raises(InvalidArgumentError, match="x must be positive"):
        NUMPY.require(np.bool_(False), "x must be positive")


def test_complex_numbers_keep_infinite_parts() -> None:
    made = NUMPY.complex(np.array([1.0, np.inf]), np.array([np.inf, 0.0]))
    assert made.dtype == np.complex128
    assert np.array_equal(made.real, [1, np.inf]) and np.array_equal(made.imag, [np.inf, 0])
    assert NUMPY.complex(np.float32([1]), np.float32([2])).dtype == np.complex64


def test_transforms_keep_single_precision() -> None:
    assert NUMPY.fft.fft(np.ones(4, np.complex64)).dtype == np.complex64


def test_arrays_are_padded_by_zeros_empty_strings_or_a_constant() -> None:
    assert NUMPY.pad(np.array([[1, 2]]), [(1, 0), (0, 1)]).tolist() == [[0, 0, 0], [1, 2, 0]]
    assert NUMPY.pad(np.array([1, 2]), [(1, 1)], np.int64(7)).tolist() == [7, 1, 2, 7]
    assert NUMPY.pad(np.array([b"a"], object), [(0, 1)]).tolist() == [b"a", b""]


def test_places_among_limits() -> None:
    limits = np.array([1.0, 2.0, 2.0, 3.0])
    assert NUMPY.searchsorted(limits, np.array([2.0, 0.5, 9.0]), "right").tolist() == [3, 0, 4]
    left = NUMPY.searchsorted(limits, np.array([2.0]), "left")
    assert left.tolist() == [1] and left.dtype == np.int32


def test_diagonals_are_those_of_the_last_two_dimensions() -> None:
    assert NUMPY.diagonal(np.arange(12).reshape(2, 2, 3)).tolist() == [[0, 4], [6, 10]]


def test_a_singular_system_is_refused_in_the_words_of_the_op() -> None:
    matrix, rhs = np.array([[2.0, 0.0], [0.0, 4.0]]), np.array([[2.0], [2.0]])
    assert NUMPY.solved(matrix, rhs, "singular").tolist() == [[1], [0.5]]
    with pytest.raises(InvalidArgumentError, match="Input matrix is not invertible"):
        NUMPY.solved(np.zeros((2, 2)), rhs, "Input matrix is not invertible.")
    # LAPACK would refuse to solve for no columns, too.
    assert NUMPY.solved(np.zeros((2, 2)), np.zeros((2, 0)), "singular").shape == (2, 0)


def test_substitution_reads_one_triangle_and_broadcasts() -> None:
    matrix = np.array([[2.0, 9.0], [1.0, 4.0]])
    rhs = np.array([[[2.0], [5.0]], [[4.0], [2.0]]])
    assert NUMPY.substituted(matrix, rhs, is_lower=True).tolist() == [[[1], [1]], [[2], [0]]]
    # The transpose of the lower triangle is [[2, 1], [0, 4]].
    assert NUMPY.substituted(matrix, rhs[:1], is_lower=True, adjoint=True).tolist() == [[[0.375], [1.25]]]


def test_one_indefinite_matrix_leaves_the_others_of_the_batch() -> None:
    good, bad = [[4.0, 9.0], [2.0, 5.0]], [[1.0, 2.0], [2.0, 1.0]]
    factors = NUMPY.cholesky(np.array([good, bad]), False)
    assert factors[0].tolist() == [[2, 0], [1, 2]]
    assert np.isnan(factors[1][[0, 1, 1], [0, 0, 1]]).all()


def test_triangles_of_a_matrix_whose_rows_change_places() -> None:
    packed, _, order = NUMPY.lu(np.array([[1.0, 2.0], [4.0, 2.0]]))
    assert order.tolist() == [1, 0]
    assert packed.tolist() == [[4, 2], [0.25, 1.5]]


def test_the_inverse_of_a_matrix_that_is_not_finite_is_nan_and_leaves_the_others() -> None:
    inverses = NUMPY.pinv(np.array([[[2.0, 0.0], [0.0, 0.0]], [[np.nan, 0.0], [0.0, 1.0]]]), 1e-12)
    assert inverses[0].tolist() == [[0.5, 0], [0, 0]]
    assert np.isnan(inverses[1]).all()
