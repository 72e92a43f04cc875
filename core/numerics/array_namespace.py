"""NumPy as the namespace of array programs: the functions that jax.numpy and ONNX's arrays have besides NumPy's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from ..support.errors import InvalidArgumentError
from ..types.arrays import Array
from . import integers


class NumpyNamespace:
    """The functions of NumPy, and those that it lacks or calls otherwise by the names of the namespaces of XLA and ONNX.

    `is_eager`: arrays have their values, and a program may look at them.
    """

    is_eager = True
    has_64_bits = True
    has_views = True

    def __getattr__(self, name: str) -> Any:
        value = getattr(np, name)
        # Kept in the instance: the next look-up takes as long as that of a function of a module.
        setattr(self, name, value)
        return value

    @property
    def fft(self) -> Any:
        """The transforms of SciPy, which keep single precision, as NumPy's before version 2 do not."""
        import scipy.fft

        return scipy.fft

    @staticmethod
    def require(condition: Any, message: str) -> None:
        """InvalidArgumentError(message) unless the condition holds."""
        if not condition:
            raise InvalidArgumentError(message)

    truncated_quotient = staticmethod(integers.truncated_quotient)

    @staticmethod
    def complex(real: Array, imag: Array) -> Array:
        # real + 1j * imag would make NaN of infinite parts.
        result = np.empty(real.shape, np.result_type(real, np.complex64))
        result.real, result.imag = real, imag
        return result

    @staticmethod
    def conj(x: Array) -> Array:
        """Return the conjugates; NumPy's function copies real numbers."""
        return np.conj(x) if x.dtype.kind == "c" else x

    @staticmethod
    def same_shape(x: Array, y: Array) -> bool:
        return x.shape == y.shape

    @staticmethod
    def pad(x: Array, pairs: Sequence[tuple[int, ...]], constant: Any = None) -> Array:
        """Return x with zeros, empty strings or a constant before and after each dimension."""
        result = np.empty([before + d + after for d, (before, after) in zip(x.shape, pairs)], x.dtype)
        # Not np.pad, which fills the border axis by axis and takes several times as long for small arrays.
        result[...] = constant if constant is not None else b"" if x.dtype == object else 0
        result[tuple(slice(before, before + d) for d, (before, _) in zip(x.shape, pairs))] = x
        return result

    @staticmethod
    def searchsorted(limits: Array, x: Array, side: Any) -> Array:
        """Return how many ascending limits are not above each number, or below it for the left side, int32."""
        return np.searchsorted(limits, x, side).astype(np.int32)

    # Matrices, in the last two dimensions. SciPy is imported where it is used: most programs do without.

    @staticmethod
    def diagonal(x: Array) -> Array:
        return np.diagonal(x, 0, -2, -1)

    @staticmethod
    def solved(matrix: Array, rhs: Array, message: str) -> Array:
        """Return X with A X = rhs; InvalidArgumentError(message) for a singular A."""
        # NumPy goes through a batch of 2^60 matrices even if they have no elements.
        if not rhs.size:
            return np.zeros(rhs.shape, rhs.dtype)
        return _regular(np.linalg.solve, message, matrix, rhs)

    @staticmethod
    def inverted(matrix: Array, message: str) -> Array:
        """Return the inverses; InvalidArgumentError(message) for a singular matrix."""
        return _regular(np.linalg.inv, message, matrix) if matrix.size else matrix.copy()

    @staticmethod
    def substituted(matrix: Array, rhs: Array, *, is_lower: bool, adjoint: bool = False) -> Array:
        """Return X with A X = rhs, or A^H X = rhs, for triangles A; the batch dimensions broadcast."""
        return _linalg().solve_triangular(matrix, rhs, is_lower, adjoint)

    @staticmethod
    def cholesky(matrix: Array, symmetrize_input: bool) -> Array:
        """Return the lower triangular factors, reading the lower triangles; NaN where a matrix is not positive definite."""
        if not matrix.size:
            return matrix.copy()
        try:
            return np.linalg.cholesky(matrix)
        except np.linalg.LinAlgError:
            # NumPy raises for the whole batch if one matrix is not positive definite; TensorFlow has NaN for that one.
            return _linalg().by_matrix(_cholesky_or_nan, matrix)

    @staticmethod
    def lu(matrix: Array) -> tuple[Array, None, Array]:
        """Return both triangular factors in one matrix, and the order of the rows."""
        packed, order = _linalg().lu(matrix)
        return packed, None, order

    @staticmethod
    def pinv(matrix: Array, rtol: float) -> Array:
        """Return the Moore-Penrose inverses; NaN for matrices that are not finite."""
        # LAPACK's singular values do not converge for NaN, and NumPy raises for the batch.
        finite = np.all(np.isfinite(matrix), (-2, -1), keepdims=True)
        return np.where(finite, np.linalg.pinv(np.where(finite, matrix, 0), rtol), matrix.dtype.type(np.nan))


def _regular(function: Callable[..., Any], message: str, *arrays: Array) -> Any:
    try:
        return function(*arrays)
    except np.linalg.LinAlgError:
        raise InvalidArgumentError(message) from None


def _linalg() -> Any:
    from . import linalg

    return linalg


def _cholesky_or_nan(matrix: Array) -> Array:
    try:
        return np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        return np.tril(np.full_like(matrix, np.nan))


NUMPY: Final[Any] = NumpyNamespace()
"""The namespace with which array programs compute in NumPy."""
