"""Arrays of Python objects."""

from __future__ import annotations

import numpy as np
import pytest

from tfg.core.types.arrays import object_array


@pytest.mark.parametrize("values", [[[1, 2], [3, 4]], [(1,), (2,)], [np.zeros(2), np.ones(2)], [b"a\0", b""], []])
def test_sequences_stay_elements(values):
    array = object_array(values)
    assert array.shape == (len(values),)
    assert all(element is value for element, value in zip(array.tolist(), values))


def test_objects_take_a_shape():
    assert object_array(iter([b"a", b"b", b"c", b"d"]), (2, 2)).tolist() == [[b"a", b"b"], [b"c", b"d"]]
