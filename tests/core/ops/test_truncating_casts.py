"""Casts that round towards zero, of scalars and of complex numbers."""

import numpy as np
import pytest

from tfg.core.building.builder import GraphBuilder
from tfg.core.runtime.session.session import Session

BELOW_TWO = 2 - 2**-40
LARGEST_BELOW_TWO = np.float32(2 - 2**-23)
"""The largest float32 below 2, computed by hand: a cast that rounds to the nearest gives 2."""


@pytest.mark.parametrize("shape", [(), (3,), (4, 6)])
@pytest.mark.parametrize(
    ("source", "target"), [("float64", "float32"), ("complex128", "complex64"), ("complex128", "float32")]
)
def test_truncation(source, target, shape):
    b = GraphBuilder()
    x = b.Placeholder(dtype=source, shape=list(shape), name="x")
    b.Cast(x, DstT=target, Truncate=True, name="y")
    value = np.full(shape, BELOW_TWO * (1 - 1j if source == "complex128" else 1), source)
    result = Session(b.graph).run("y:0", {"x:0": value})
    expected = LARGEST_BELOW_TWO * (1 - 1j if target == "complex64" else 1)
    np.testing.assert_array_equal(result, np.full(shape, expected, target), strict=True)
