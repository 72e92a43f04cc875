"""Kernels that cache values from shapes: the second call, and a call with other shapes, answer as the first did."""

from __future__ import annotations

import numpy as np
import pytest

from tfg.core.numerics.channel_sums import column_sums
from tfg.core.ops.array.joining import concat, split
from tfg.core.ops.array.reshaping import reshape
from tfg.core.ops.array.selecting import select
from tfg.core.ops.array.slicing import slice_
from tfg.core.ops.state.run_state import Stack
from tfg.core.support.errors import InvalidArgumentError
from tfg.core.types.dtypes import float32

X = np.arange(12, dtype=np.float32).reshape(3, 4)


def ints(*values: int, dtype: str = "int32") -> np.ndarray:
    return np.array(values, dtype)


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_slices_of_other_windows_and_of_other_shapes(dtype):
    for _ in range(2):
        np.testing.assert_array_equal(slice_(X, ints(1, 0, dtype=dtype), ints(2, -1, dtype=dtype)), X[1:])
        np.testing.assert_array_equal(slice_(X.T, ints(1, 0, dtype=dtype), ints(2, -1, dtype=dtype)), X.T[1:3])
        with pytest.raises(InvalidArgumentError, match=r"begin\[0\]"):
            slice_(X, ints(4, 0, dtype=dtype), ints(0, 1, dtype=dtype))


def test_parts_of_other_axes_and_numbers():
    for _ in range(2):
        np.testing.assert_array_equal(split(np.int32(1), X, num_split=2)[1], X[:, 2:])
        np.testing.assert_array_equal(split(np.int32(-2), X, num_split=3)[2], X[2:])
        with pytest.raises(InvalidArgumentError, match="evenly divide"):
            split(np.int32(0), X, num_split=2)


def test_concatenations_along_other_axes():
    for _ in range(2):
        assert concat([X, X[:1]], np.int32(0)).shape == (4, 4)
        assert concat([X, X[:, :1]], np.int32(-1)).shape == (3, 5)
        with pytest.raises(InvalidArgumentError, match=r"shape\[1\] = \(1,4\)"):
            concat([X, X[:1]], np.int32(1))


def test_reshapes_that_fit_and_that_do_not():
    np.testing.assert_array_equal(reshape(X, ints(4, 3)), np.arange(12).reshape(4, 3))
    np.testing.assert_array_equal(reshape(X, ints(2, -1, dtype="int64")), np.arange(12).reshape(2, 6))
    assert reshape(np.float32(3), ints(1, 1)).shape == (1, 1)
    with pytest.raises(InvalidArgumentError, match="with 12 values, but the requested shape has 10"):
        reshape(X, ints(5, 2))
    with pytest.raises(InvalidArgumentError, match="non-negative"):
        reshape(X, ints(-2, 6))


@pytest.mark.parametrize("rows", [(True, True, True), (False, False, False), (True, False, True)])
def test_rows_that_are_chosen_all_or_in_part(rows):
    chosen = select(np.array(rows), X, -X)
    np.testing.assert_array_equal(chosen, [x if row else -x for row, x in zip(rows, X)])


@pytest.mark.parametrize("shape", [(1, 2000), (16, 70), (17, 70), (3000, 3), (5000, 7), (70000, 1)])
def test_column_sums_of_every_size(shape):
    x = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    np.testing.assert_allclose(column_sums(x), x.astype(np.float64).sum(0), rtol=0, atol=2e-6 * shape[0])


def test_stacks_take_one_dtype_until_they_are_closed():
    stack = Stack("s", float32, 1)
    with pytest.raises(InvalidArgumentError, match="Must have type"):
        stack.push(np.int32(1))
    stack.push(X)
    with pytest.raises(InvalidArgumentError, match="overflowed"):
        stack.push(X)
    assert stack.pop(float32) is X
    stack.close()
    for use in (lambda: stack.pop(float32), lambda: stack.push(X)):
        with pytest.raises(InvalidArgumentError, match="already been closed"):
            use()
