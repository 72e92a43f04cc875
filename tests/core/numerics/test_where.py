"""Selection by bits beside the definition np.where; positive parts beside np.maximum."""

import numpy as np
import pytest

from tfg.core.numerics import where
from tfg.core.numerics.where import chosen, positive_part, where_positive
from tfg.core.parallel import blas_threads, gemm

SHAPES = [
    # condition, x, y
    ((60, 50), (60, 50), (60, 50)),
    ((60, 50), (), (50,)),
    ((3000,), (2, 1), (3000,)),
    ((2000, 1), (2000, 3), ()),
    ((30,), (30,), (30,)),
]


@pytest.mark.parametrize("shapes", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64", "uint8", "float16", "complex64", "object"])
def test_chosen(shapes, dtype):
    rng = np.random.default_rng(0)
    condition = rng.random(shapes[0]) < 0.5
    x, y = (np.asarray(100 * rng.standard_normal(shape)).astype(dtype) for shape in shapes[1:])
    result, want = chosen(condition, x, y), np.where(condition, x, y)
    assert result.dtype == want.dtype and result.shape == want.shape
    np.testing.assert_array_equal(result, want)


def test_nan_and_views():
    condition = np.arange(8000).reshape(4000, 2)[:, 0] % 3 == 0
    x, y = np.full(8000, np.nan, np.float32)[::2], np.arange(4000, dtype=np.float32)[::-1]
    np.testing.assert_array_equal(chosen(condition, x, y), np.where(condition, x, y))


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int32"])
@pytest.mark.parametrize("shape", [(), (0, 7), (5,), (1 << 14,), (3, 5000), (40, 40, 13), (70, 300)], ids=str)
@pytest.mark.parametrize("kind", ["whole", "columns", "reversed"])
def test_positive_part(dtype, shape, kind):
    rng = np.random.default_rng(1)
    x = np.asarray(10 * rng.standard_normal(shape)).astype(dtype)
    if x.dtype.kind == "f" and x.size > 8:
        x.flat[::7], x.flat[1::7], x.flat[2::7] = np.nan, -0.0, -np.inf
    if shape:
        x = {"whole": x, "columns": x[..., :-2], "reversed": x[..., ::-1]}[kind]
    want = np.maximum(x, x.dtype.type(0))
    result, given = positive_part(x), np.full_like(x, 3)
    assert result.dtype == want.dtype and result.shape == want.shape
    np.testing.assert_array_equal(result, want)
    np.testing.assert_array_equal(np.signbit(result), np.signbit(want))
    if shape:
        assert positive_part(x, given) is given
        np.testing.assert_array_equal(given, want)
        own = x.copy()
        np.testing.assert_array_equal(positive_part(own, own), want)


@pytest.mark.parametrize("function", [positive_part, lambda x: where_positive(x, -x)], ids=["part", "gradient"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
def test_many_elements_are_shared_by_threads(function, dtype, monkeypatch):
    x = np.random.default_rng(0).standard_normal((3, 700, 101)).astype(dtype)
    x[0, :3, 0] = np.nan, np.inf, -np.inf
    monkeypatch.setattr(blas_threads.one_thread, "available", 3)
    with np.errstate(invalid="ignore"):
        alone = function(x)
        monkeypatch.setattr(gemm, "WORTH_DIVIDING", 0)
        monkeypatch.setattr(where, "TILE_ELEMENTS", 1000)
        np.testing.assert_array_equal(function(x), alone)
        np.testing.assert_array_equal(function(x[:, ::2]), alone[:, ::2])
