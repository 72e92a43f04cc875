"""The values of constants and variables in words, and as files that NumPy reads."""

from __future__ import annotations

import base64
import io
import zlib

import ml_dtypes
import numpy as np
import pytest

from tfg.core.drawing.value_pictures import held_in_full, node_value
from tfg.core.numerics.tensor_statistics import tensor_statistics
from tfg.core.types import dtypes
from tfg.core.types.tensors import Tensor


def file_of(value):
    return np.load(io.BytesIO(zlib.decompress(base64.b64decode(value.npy))))


def described(array, in_full, dtype=None):
    """An array in words."""
    return node_value(array, dtype or dtypes.from_numpy(array.dtype), tensor_statistics(array), in_full)


def test_statistics_and_first_elements():
    value = described(np.array([[0, 1, np.nan, np.inf]] * 5, np.float32), in_full=False)
    assert value.holds == "float (5,4)" and value.npy == ""
    assert dict(value.facts) == {
        "min": "0", "max": "1", "mean": "0.5", "standard deviation": "0.5",
        "elements": "20", "zeros": "5", "NaN": "5", "Inf": "5",
    }  # fmt: skip
    assert (value.bins[0], value.bins[-1], sum(value.bins)) == (5, 5, 10) and value.ends == ("0", "1")
    assert value.first == ", ".join(["0", "1", "nan", "inf"] * 4) + ", ..."


def test_integers_are_written_out():
    value = described(np.array([-(2**63), 2**63 - 1]), in_full=True)
    assert dict(value.facts)["min"] == "-9223372036854775808" and dict(value.facts)["max"] == "9223372036854775807"
    assert file_of(value).tolist() == [-(2**63), 2**63 - 1]


@pytest.mark.parametrize("dtype", [dtype for dtype in dtypes.ALL if not dtype.is_object], ids=str)
def test_files_hold_all_elements(dtype):
    array = np.array([[1, 0], [1, 1]]).astype(dtype.numpy)
    value = described(array, in_full=True, dtype=dtype)
    assert file_of(value).astype(complex).tolist() == [[1, 0], [1, 1]]
    assert bool(value.file_dtype) == (array.dtype not in (*map(np.dtype, "?bBhHiIqQefdFD"),))


def test_strings_are_counted_and_shown():
    value = described(np.array([b"a", b""], object), in_full=True)
    assert value.first == '"a", ""' and dict(value.facts)["zeros"] == "1" and value.npy == "" and value.bins == ()


def test_of_nothing_there_is_little_to_say():
    value = described(np.empty((0, 3), ml_dtypes.bfloat16), in_full=True)
    assert (value.first, dict(value.facts)["elements"], file_of(value).shape) == ("", "0", (0, 3))


def test_the_smallest_values_are_held():
    tensors = {name: Tensor.from_numpy(np.zeros(size, np.float32)) for name, size in (("b", 20), ("a", 5), ("c", 10))}
    assert held_in_full(tensors, 60) == {"a", "c"} and held_in_full(tensors, 0) == set()
    assert held_in_full({"s": Tensor.from_numpy(np.array([b"x"], object))}, 100) == set()
