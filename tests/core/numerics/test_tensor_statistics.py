"""Statistics of tensors: values by hand, at the limits of dtypes, of infinite, NaN, empty and repeated elements."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tfg.core.numerics.interruption_points import PIECE
from tfg.core.numerics.tensor_statistics import TensorStatistics, histogram, tensor_statistics
from tfg.core.types import dtypes

INF, NAN = math.inf, math.nan
FEW_BITS = ("int4", "uint4", "int2", "uint2")
# TensorFlow 2.21's DebugNumericSummary of the array below: elements, NaN, zeros, Inf, minimum, maximum, mean, variance.
RECORDED = (7, 1, 1, 2, -3.0, 4.5, 0.625, 7.171875)


def test_what_is_not_finite_is_counted_and_left_out():
    got = tensor_statistics(np.array([1, NAN, -3, INF, 0, -INF, 4.5], np.float32))
    assert (got.count, got.nans, got.zeros, got.infs, got.min, got.max, got.mean, got.std**2) == pytest.approx(RECORDED)


@pytest.mark.parametrize("dtype", [d for d in dtypes.ALL if d.kind == "f" and d.name != "float4_e2m1fn"], ids=str)
def test_floats(dtype):
    got = tensor_statistics(np.array([0.5, 1, 1.5, 0]).astype(dtype.numpy))
    assert got == TensorStatistics(4, 1, 0, 0, 0.0, 1.5, 0.75, math.sqrt(0.3125))
    assert all(type(figure) is float for figure in (got.min, got.max, got.mean, got.std))
    assert tensor_statistics(np.array([NAN, 1]).astype(dtype.numpy)).nans == 1


@pytest.mark.parametrize("dtype", [d for d in dtypes.ALL if d.kind in "iuq" and d.name not in FEW_BITS], ids=str)
def test_the_ends_of_integers(dtype):
    low, high = np.iinfo(dtype.numpy).min, np.iinfo(dtype.numpy).max
    got = tensor_statistics(np.array([low, high, high], dtype.numpy))
    assert (got.min, got.max, got.zeros) == (low, high, int(low == 0))
    assert got.mean == (int(low) + 2 * int(high)) / 3
    assert got.std == pytest.approx((int(high) - int(low)) * math.sqrt(2) / 3, rel=1e-15)


def test_neighbours_far_from_zero_differ():
    got = tensor_statistics(np.array([2**62, 2**62 + 2], np.int64))
    assert (got.min, got.max, got.mean, got.std) == (2**62, 2**62 + 2, 2.0**62, 1.0)
    got = tensor_statistics(np.array([-(2**63), 2**63 - 1], np.int64))
    assert got.mean == -0.5


@pytest.mark.parametrize("name", FEW_BITS)
def test_integers_of_few_bits(name):
    got = tensor_statistics(np.array([0, 1, 1, 0], np.int8).astype(dtypes.from_name(name).numpy))
    assert got == TensorStatistics(4, 2, 0, 0, 0, 1, 0.5, 0.5)


def test_truth_values_are_numbers():
    assert tensor_statistics(np.array([True, False, True, True])) == TensorStatistics(4, 1, 0, 0, 0, 1, 0.75, math.sqrt(3) / 4)


@pytest.mark.parametrize("scale", [2.0**1023, 2.0**-1060])
def test_the_ends_of_doubles(scale):
    got = tensor_statistics(np.array([scale, -scale, scale, scale]))
    assert (got.mean, got.std) == (pytest.approx(scale / 2), pytest.approx(math.sqrt(0.75) * scale))
    assert tensor_statistics(np.array([1e308, 1e308])).mean == 1e308


def test_equal_elements_have_no_spread():
    assert tensor_statistics(np.full(3, 0.1)) == TensorStatistics(3, 0, 0, 0, 0.1, 0.1, 0.1, 0.0)


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_complex_numbers(dtype):
    array = np.array([1 + 2j, 3 - 2j, 0, complex(NAN, INF), complex(INF, 0)], dtype)
    got = tensor_statistics(array)
    assert (got.count, got.zeros, got.nans, got.infs, got.min, got.max) == (5, 1, 1, 1, None, None)
    assert got.mean == pytest.approx(4 / 3) and got.std == pytest.approx(math.sqrt((14 / 9) + (8 / 3)))
    assert histogram(array, got, 4) == ()


def test_strings_are_counted():
    array = np.array([b"", b"a", b"bc", b""], object)
    assert tensor_statistics(array) == TensorStatistics(4, zeros=2)
    assert histogram(array, tensor_statistics(array), 4) == ()


@pytest.mark.sampled(6)
@pytest.mark.parametrize("dtype", dtypes.ALL, ids=str)
def test_nothing_has_no_mean(dtype):
    array = np.empty((0, 3), dtype.numpy)
    assert tensor_statistics(array) == TensorStatistics(0)
    assert histogram(array, TensorStatistics(0), 4) == ()


def test_of_nothing_but_nan_there_is_no_mean():
    assert tensor_statistics(np.array([NAN, NAN])) == TensorStatistics(2, nans=2)


def test_repeated_elements_take_no_memory():
    huge = np.broadcast_to(np.array([[1.0], [0.0]], np.float32), (2, 10**12))
    got = tensor_statistics(huge)
    assert got == TensorStatistics(2 * 10**12, 10**12, 0, 0, 0.0, 1.0, 0.5, 0.5)
    assert histogram(huge, got, 2) == (10**12, 10**12)


@pytest.mark.parametrize("dtype", [np.int32, np.float32])
def test_pieces_join(dtype):
    array = np.arange(2 * (PIECE + 5), dtype=dtype).reshape(2, -1)
    for given in (array, array.T, array[:, ::-1]):
        got = tensor_statistics(given)
        n = array.size
        assert (got.min, got.max, got.mean) == (0, n - 1, (n - 1) / 2)
        assert got.std == pytest.approx(math.sqrt((n * n - 1) / 12), rel=1e-12)
        assert histogram(given, got, 2) == (n // 2, n // 2)


def test_histograms():
    array = np.array([0, 1, 2, 3, 4, NAN, INF, 4])
    assert histogram(array, tensor_statistics(array), 4) == (1, 1, 1, 3)
    assert histogram(np.full(7, 2), tensor_statistics(np.full(7, 2)), 4) == (7,)
    ends = np.array([-(2**63), 2**63 - 1, 0, 1], np.int64)
    assert histogram(ends, tensor_statistics(ends), 4) == (1, 0, 2, 1)
    large = np.array([-1.7e308, 1.7e308, 0.1e308])
    assert histogram(large, tensor_statistics(large), 2) == (1, 2)


def test_a_string_alone_is_counted():
    assert tensor_statistics(np.array(b"", object)) == TensorStatistics(1, zeros=1)
