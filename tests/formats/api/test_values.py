"""Results are NumPy arrays that other libraries take without a copy."""

from __future__ import annotations

import numpy as np
import pytest

import tfg


def result():
    b = tfg.GraphBuilder()
    b.Neg(b.Placeholder(dtype="float", shape=[4], name="x"), name="y")
    return tfg.Session(b.graph).run("y:0", {"x:0": np.arange(4, dtype=np.float32)})


def test_results_are_arrays_with_dlpack():
    value = result()
    assert type(value) is np.ndarray
    taken = np.from_dlpack(value)
    assert np.shares_memory(taken, value)
    np.testing.assert_array_equal(np.asarray(value), [0, -1, -2, -3])


def test_jax_takes_results():
    jax = pytest.importorskip("jax", reason="the extra tfg[xla] is not installed")
    np.testing.assert_array_equal(jax.numpy.from_dlpack(result()), [0, -1, -2, -3])


def test_constants_by_name():
    b = tfg.GraphBuilder()
    b.Neg(b.constant([1.0, 2.0], name="c"), name="y")
    constants = b.graph.constants
    assert list(constants) == ["c"] and len(constants) == 1
    np.testing.assert_array_equal(constants["c"], np.float32([1, 2]))
    assert "y" not in constants and "z" not in constants
