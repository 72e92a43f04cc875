"""Numbers of inputs in the dtype of a tensor, without the loss of more than precision."""

from __future__ import annotations

import ml_dtypes
import numpy as np

from ...core.support.errors import InvalidArgumentError
from ...core.types import dtypes
from ...core.types.arrays import Array
from ...core.types.dtypes import DType, string
from ...core.types.tensors import as_bytes_array


def cast_value(array: Array, dtype: DType | None, text: str, hint: str | None = None) -> Array:
    """Convert `array` to `dtype`; InvalidArgumentError if more than precision would be lost. `hint` helps against
    fractions.
    """
    if dtype is None:
        return array
    said = f"'{text[:80]}'"
    if dtype is string:
        if array.dtype.kind not in "SUO":
            raise InvalidArgumentError(f"{said} holds numbers, but the tensor has dtype string")
        return as_bytes_array(array)
    if array.dtype.kind == "O" and all(type(item) is int for item in array.ravel().tolist()):
        array = _wide_integers(array, dtype, said)
    if dtype.is_object or array.dtype.kind in "SUO":
        raise InvalidArgumentError(f"{said} cannot be fed to a tensor of dtype {dtype}")
    # NumPy would drop the imaginary parts with a warning.
    if array.dtype.kind == "c" and not dtype.is_complex:
        raise InvalidArgumentError(f"{said} holds complex numbers, but the tensor has dtype {dtype}")
    try:
        if not dtype.is_floating and not dtype.is_complex:
            _check_whole(array, dtype, said, hint)
        # An overflow is an error with the number in it, in `_check_finite`, and no warning of NumPy.
        with np.errstate(over="ignore"):
            result: Array = array.astype(dtype.numpy)
    except (ValueError, TypeError) as error:
        raise InvalidArgumentError(f"{said} is not a value of {dtype}: {error}") from None
    if array.dtype.kind in "fiu" and (dtype.is_floating or dtype.is_complex):
        _check_finite(array, result, dtype, said)
    return result


def _wide_integers(array: Array, dtype: DType, said: str) -> Array:
    """Return integers of Python, one of which has more than 64 bits, as floats; InvalidArgumentError for other dtypes."""
    if not dtype.is_floating and not dtype.is_complex and not dtype.is_object:
        raise _too_wide(said, dtype)
    try:
        return array.astype(np.float64)
    except OverflowError:
        raise InvalidArgumentError(f"{said} exceeds the largest number of every dtype") from None


def _check_whole(array: Array, dtype: DType, said: str, hint: str | None) -> None:
    """Raise InvalidArgumentError for fractions and for numbers beyond the range of an integer, quantized or boolean dtype."""
    if not array.size or array.dtype.kind == "b":
        return
    numbers = array.astype(np.float64) if array.dtype.kind not in "iuf" else array  # of a type that only ml_dtypes has
    if numbers.dtype.kind == "f" and not (np.isfinite(numbers) & (numbers == np.trunc(numbers))).all():
        problem = "fractions" if np.isfinite(numbers).all() else "NaN or infinities"
        raise InvalidArgumentError(f"{said} holds {problem}, but the tensor has dtype {dtype}", hint=hint)
    low, high = _range_of(dtype)
    # Integers of Python compare exactly: NumPy would compare an int64 with a limit of uint64 as floats.
    if int(numbers.min()) < low or int(numbers.max()) > high:
        raise _too_wide(said, dtype)


def _too_wide(said: str, dtype: DType) -> InvalidArgumentError:
    low, high = _range_of(dtype)
    return InvalidArgumentError(f"{said} does not fit into {dtype} ({low} to {high})")


def _range_of(dtype: DType) -> tuple[int, int]:
    """Return the smallest and the largest number of an integer, quantized or boolean dtype."""
    if dtype.numpy.kind == "b":
        return 0, 1
    info = np.iinfo(dtype.numpy) if dtype.numpy.kind in "iu" else ml_dtypes.iinfo(dtype.numpy)
    return int(info.min), int(info.max)


def _check_finite(array: Array, result: Array, dtype: DType, said: str) -> None:
    """Raise InvalidArgumentError if a finite number exceeds the largest finite number of a dtype."""
    parts = dtypes.float64 if dtype is dtypes.complex128 else dtypes.float32 if dtype.is_complex else dtype
    info = ml_dtypes.finfo(parts.numpy)
    # Up to half a unit in the last place beyond the largest number rounds down to the largest number.
    most = float(info.max) * (1 + 2.0 ** -(info.nmant + 2))
    overflows = np.isfinite(array) & (~np.isfinite(result) | (np.abs(array) > most))
    if overflows.any():
        number = array[overflows].ravel()[0]
        raise InvalidArgumentError(f"{said} does not fit into {dtype}: {number} exceeds its largest number")
