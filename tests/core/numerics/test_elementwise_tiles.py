"""Chains of operations on tiles beside the same operations on whole arrays."""

import numpy as np
import pytest

from tfg.core.numerics import blas_threads, elementwise_tiles, work_division
from tfg.core.numerics.elementwise_tiles import OperandForm, OperationChain, TileOperation, form_of


def halved(x):
    """Return half of x without writing to the argument."""
    return x / 2


OPERATIONS = [
    TileOperation(np.multiply, True, (1, 2)),
    TileOperation(halved, False, (4,)),
    TileOperation(np.add, True, (5, 3)),
    TileOperation(np.subtract, True, (6, 4)),
    TileOperation(np.maximum, True, (7, 6)),
]


def whole(x, a, b):
    product = x * a
    added = product / 2 + b
    return np.maximum(added - product, added)


@pytest.fixture(params=[(1, 1 << 17), (1, 64), (3, 200)], ids=str)
def tiling(request, monkeypatch):
    workers, elements = request.param
    monkeypatch.setattr(blas_threads.one_thread, "available", workers)
    monkeypatch.setattr(elementwise_tiles, "TILE_ELEMENTS", elements)
    monkeypatch.setattr(work_division, "WORTH_DIVIDING", 1)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("shape", [(2, 7, 5, 3), (4, 33, 8), (300,), (1, 1, 6000)])
@pytest.mark.parametrize(
    ("first", "second"),
    [("full", "vector"), ("vector", "scalar"), ("scalar", "full"), ("images", "vector"), ("full", "full")],
)
def test_chains(shape, first, second, tiling):
    rng = np.random.default_rng(0)
    of = {
        "full": shape,
        "vector": shape[-1:],
        "scalar": (1,) * len(shape),
        "images": (shape[0], *[1] * (len(shape) - 2), shape[-1]),
    }
    if first == "images" and len(shape) < 3:
        return
    x, a, b = (rng.standard_normal(of[form]) for form in ("full", first, second))
    chain = OperationChain(OPERATIONS, [form_of(v.shape, shape) for v in (x, a, b)], begins_filled=False)
    result = np.full(shape, np.nan)
    assert chain.evaluate(result, [x, a, b])
    np.testing.assert_array_equal(result, whole(x, a, b))


def test_a_value_in_the_result_is_read_until_nobody_needs_it(tiling):
    """The result begins with x; the first operation must not overwrite x, because the last operation reads x."""
    x, v = np.arange(120.0).reshape(4, 30), np.arange(30.0)
    chain = OperationChain(
        [TileOperation(np.add, True, (0, 1)), TileOperation(np.multiply, True, (2, 0))],
        [OperandForm.VECTOR],
        begins_filled=True,
    )
    result = x.copy()
    assert chain.evaluate(result, [v])
    np.testing.assert_array_equal(result, (x + v) * x)


def test_ranges_of_channels(tiling):
    x, v = np.arange(120.0).reshape(4, 30), np.arange(30.0)
    chain = OperationChain([TileOperation(np.add, True, (1, 2))], [OperandForm.FULL, OperandForm.VECTOR], begins_filled=False)
    result = np.zeros((4, 30))
    chain.on(result, [x, v])(slice(1, 3), slice(10, 20))
    expected = np.zeros((4, 30))
    expected[1:3, 10:20] = (x + v)[1:3, 10:20]
    np.testing.assert_array_equal(result, expected)


def test_what_cannot_be_cut_into_tiles():
    chain = OperationChain([TileOperation(np.negative, True, (1,))], [OperandForm.FULL], begins_filled=False)
    assert not chain.evaluate(np.zeros((6, 5)), [np.zeros((5, 6)).T])
    assert form_of((3, 1), (3, 4)) is None and form_of((2, 1, 4), (2, 3, 4)) is OperandForm.IMAGES
    assert form_of((5,), (3, 4)) is None and form_of((1, 1, 1), (3, 4)) is None and form_of((), (3, 4)) is OperandForm.SCALAR
