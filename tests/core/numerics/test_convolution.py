"""Convolutions beside their definition: a sum over the places of a window, for every way of computing them."""

import itertools

import numpy as np
import pytest

from tests.core.numerics.epilogues import doubling
from tfg.core.numerics import blas_threads, convolution, gemm, input_gradient, work_division

CASES = [
    # images, sizes, channels, filters, window, stride, dilation
    (1, (13, 60), 16, 8, (3, 3), 1, 1),
    (2, (14, 80), 8, 5, (3, 3), 1, 2),
    (3, (5, 40), 8, 40, (3, 3), 1, 1),
    (1, (13, 11), 16, 8, (3, 3), 1, 1),
    (2, (14, 15), 8, 5, (3, 3), 1, 2),
    (1, (17, 16), 9, 12, (1, 7), 1, 1),
    (3, (17, 12), 9, 12, (7, 1), 1, 1),
    (3, (5, 5), 8, 40, (3, 3), 1, 1),
    (1, (10, 10), 8, 150, (3, 3), 1, 1),
    (2, (15, 16), 3, 16, (7, 7), 2, 1),
    (5, (6, 7), 16, 8, (1, 1), 2, 1),
    (1, (3, 3), 4, 50, (1, 1), 1, 1),
    (2, (12, 14), 16, 6, (1, 1), 1, 1),
    (2, (5, 9, 9), 8, 3, (2, 3, 3), 1, 1),
    (2, (30,), 8, 3, (5,), 1, 2),
    (0, (6, 6), 8, 3, (3, 3), 1, 1),
    (3, (9, 8), 8, 6, (4, 3), 2, 1),
    (2, (14, 11), 9, 4, (2, 5), 3, 1),
    (2, (11, 10), 2, 6, (3, 2), 2, 2),
    (4, (8, 9), 1, 5, (5, 5), 1, 1),
    (2, (12,), 9, 4, (3,), 2, 2),
    (3, (13, 12), 1, 6, (3, 3), 2, 1),
    (1, (23, 9), 2, 5, (4, 3), 3, 1),
    (2, (31,), 1, 4, (5,), 2, 1),
    (2, (7, 6, 9), 3, 4, (3, 3, 2), 2, 1),
    (2, (6, 7), 1, 3, (2, 2), 4, 1),
]


def padded(x, pads):
    return np.pad(x, [(0, 0), *pads, (0, 0)])


def by_definition(x, w, stride, pads, dilation):
    """The sum over places of the window of a strided slice times a matrix, in double precision."""
    x, (*window, _, filters) = padded(x.astype(np.float64), pads), w.shape
    strides, dilations = (np.broadcast_to(n, len(window)) for n in (stride, dilation))
    outputs = [(n - (k - 1) * d - 1) // s + 1 for n, k, s, d in zip(x.shape[1:-1], window, strides, dilations)]
    result = np.zeros((x.shape[0], *outputs, filters))
    for place in itertools.product(*map(range, window)):
        result += seen_at(place, x, outputs, stride, dilation) @ w[place]
    return result


def seen_at(place, x, outputs, stride, dilation):
    """Return the elements at a place of each window of a padded array."""
    strides, dilations = (np.broadcast_to(n, len(place)) for n in (stride, dilation))
    cut = [slice(i * d, i * d + (n - 1) * s + 1, s) for i, n, s, d in zip(place, outputs, strides, dilations)]
    return x[(slice(None), *cut)]


def drawn(case, dtype=np.float32):
    images, sizes, channels, filters, window, stride, dilation = case
    rng = np.random.default_rng(0)
    x = rng.standard_normal((images, *sizes, channels)).astype(dtype)
    w = rng.standard_normal((*window, channels, filters)).astype(dtype)
    pads = [((k - 1) * dilation // 2, (k - 1) * dilation - (k - 1) * dilation // 2) for k in window]
    return x, w, stride, pads, dilation


@pytest.fixture(params=[1, 3])
def workers(request, monkeypatch):
    """Use small blocks, with a thread and with several."""
    monkeypatch.setattr(blas_threads.one_thread, "available", request.param)
    monkeypatch.setattr(work_division, "WORTH_DIVIDING", 0)
    for module in (convolution, input_gradient):
        monkeypatch.setattr(module, "BLOCK_ELEMENTS", 700)
    convolution.output_blocks.cache_clear()
    yield
    convolution.output_blocks.cache_clear()


@pytest.mark.sampled(10)
@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_convolutions(case, dtype, workers):
    x, w, stride, pads, dilation = drawn(case, dtype)
    n = len(pads)
    result = convolution.convolve(x, w, [stride] * n, pads, [dilation] * n)
    want = by_definition(x, w, stride, pads, dilation)
    assert result.dtype == dtype
    np.testing.assert_allclose(result, want, atol=1e-5 * np.abs(want).max(initial=1) if dtype == np.float32 else 1e-11)


def test_each_way_suits_a_case():
    """The first way that suits is taken: each is the first for some convolution, and is told of in the module's docstring."""
    taken = set()
    for images, sizes, channels, filters, window, stride, _ in [*CASES, *FOR_OTHER_WAYS]:
        x, w = np.ones((images, *sizes, channels), np.float32), np.ones((*window, channels, filters), np.float32)
        taken.add(first_way(x, w, stride, [(0, 0)] * len(window)))
    taken.add(first_way(np.ones((2, 5, 5, 8)), np.ones((3, 3, 4, 6)), 1, [(0, 0)] * 2))
    names = [way.name for way in convolution.WAYS]
    assert taken >= {*names}
    assert all(f"- {name}: " in convolution.__doc__ for name in names)


FOR_OTHER_WAYS = [(1, (32, 32), 64, 64, (3, 3), 1, 1), (4, (18, 18), 16, 32, (5, 5), 1, 1)]


def first_way(x, w, stride, pads):
    """The name of the way that `convolve` takes first."""
    n = len(pads)
    shape = convolution.result_shape(x.shape, w.shape, (stride,) * n, tuple(pads), (1,) * n)
    asked = convolution.Convolution(x, w, [stride] * n, pads, [1] * n, None, None, shape, x.dtype)
    return next(way.name for way in convolution.WAYS if way.suits(asked))


def test_convolutions_without_blas(monkeypatch):
    monkeypatch.setattr(gemm, "_gemm", lambda char: None)
    monkeypatch.setattr(gemm, "product_form", gemm.product_form.__wrapped__)
    x, w, stride, pads, dilation = drawn(CASES[0])
    result = convolution.convolve(x, w, [1, 1], pads, [1, 1])
    want = by_definition(x, w, stride, pads, dilation)
    np.testing.assert_allclose(result, want, atol=1e-5 * np.abs(want).max())


@pytest.mark.parametrize("case", CASES, ids=str)
def test_narrow_products_by_some_rows_at_once(case, monkeypatch):
    monkeypatch.setattr(gemm, "rows_at_once", lambda inner, columns: 3)
    monkeypatch.setattr(gemm, "MANY_ROWS", 5)
    x, w, stride, pads, dilation = drawn(case)
    n, bias = len(pads), np.arange(w.shape[-1], dtype=w.dtype)
    result = convolution.convolve(x, w, [stride] * n, pads, [dilation] * n, doubling, bias)
    want = 2 * (by_definition(x, w, stride, pads, dilation) + bias)
    np.testing.assert_allclose(result, want, atol=1e-5 * np.abs(want).max(initial=1))
    turned = np.ascontiguousarray(w.swapaxes(-1, -2)).swapaxes(-1, -2)
    again = convolution.convolve(x, turned, [stride] * n, pads, [dilation] * n, doubling, bias)
    np.testing.assert_allclose(again, want, atol=1e-5 * np.abs(want).max(initial=1))


@pytest.mark.sampled(6)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_large_filters_that_are_turned_around_by_their_places(case, workers, monkeypatch):
    monkeypatch.setattr(convolution, "LARGE_FILTER", 0)
    monkeypatch.setattr(convolution, "FEW_POSITIONS", 10**6)
    x, w, stride, pads, dilation = drawn(case)
    n, bias = len(pads), np.arange(w.shape[-1], dtype=w.dtype)
    turned = w[(slice(None, None, -1),) * n].swapaxes(-1, -2).copy().swapaxes(-1, -2)[(slice(None, None, -1),) * n]
    result = convolution.convolve(x, turned, [stride] * n, pads, [dilation] * n, doubling, bias)
    want = 2 * (by_definition(x, w, stride, pads, dilation) + bias)
    np.testing.assert_allclose(result, want, atol=1e-5 * np.abs(want).max(initial=1))


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
def test_numbers_that_are_not_finite_stay_in_their_rows(number):
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((1000, 64), np.float32), rng.standard_normal((64, 16), np.float32)
    a[500, 7] = number
    result = np.empty((1000, 16), np.float32)
    gemm.multiply(a, b, result)
    assert np.flatnonzero(~np.isfinite(result).all(1)).tolist() == [500]
    np.testing.assert_array_equal(result[500], number * b[7])


@pytest.mark.parametrize(
    ("inner", "columns", "rows"), [(288, 32, 108), (25, 16, 2500), (976, 64, 16), (977, 64, 0), (16, 65, 0)]
)
def test_rows_that_blas_takes_as_they_lie(inner, columns, rows, monkeypatch):
    monkeypatch.setattr(gemm, "takes_as_it_lies", lambda: True)
    assert gemm.rows_at_once.__wrapped__(inner, columns) == rows
    monkeypatch.setattr(gemm, "takes_as_it_lies", lambda: False)
    assert gemm.rows_at_once.__wrapped__(inner, columns) == 0


def test_integers_and_views():
    x, w, _, pads, _ = drawn(CASES[0])
    x, w = (4 * x).astype(np.int32), (4 * w).astype(np.int32)
    result = convolution.convolve(x[:, ::2, ::-1], w, [1, 1], pads, [1, 1])
    np.testing.assert_array_equal(result, by_definition(x[:, ::2, ::-1], w, 1, pads, 1))


@pytest.mark.sampled(6)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_number_is_finished_once_after_it_is_there(case, workers):
    """`finish` doubles each block in place: a missing, repeated or early call changes the result."""
    x, w, stride, pads, dilation = drawn(case)
    n = len(pads)
    result = convolution.convolve(x, w, [stride] * n, pads, [dilation] * n, doubling)
    np.testing.assert_allclose(result, 2 * by_definition(x, w, stride, pads, dilation), rtol=1e-4, atol=1e-4)


def test_groups_are_finished_too():
    rng = np.random.default_rng(1)
    x, w = rng.standard_normal((2, 5, 5, 8)), rng.standard_normal((3, 3, 4, 6))
    plain = convolution.convolve(x, w, [1, 1], [(1, 1), (1, 1)], [1, 1])
    parts = [by_definition(x[..., 4 * g : 4 * g + 4], w[..., 3 * g : 3 * g + 3], 1, [(1, 1), (1, 1)], 1) for g in (0, 1)]
    np.testing.assert_allclose(plain, np.concatenate(parts, -1))

    def epilogue(result):
        return lambda positions, channels: np.negative(result, out=result)

    np.testing.assert_array_equal(convolution.convolve(x, w, [1, 1], [(1, 1), (1, 1)], [1, 1], epilogue), -plain)


def test_the_first_error_of_divided_work_is_raised(monkeypatch):
    monkeypatch.setattr(blas_threads.one_thread, "available", 3)
    done = []

    def work(part):
        if part == 5:
            raise ValueError("five")
        done.append(part)

    with pytest.raises(ValueError, match="five"):
        work_division.divide(work, range(9))
    assert 5 not in done


@pytest.mark.sampled(5)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_gradients(case, workers):
    """The sum of the result times `grad` is linear in x and in w: the derivatives are the values at each unit vector."""
    x, w, stride, pads, dilation = drawn(case, np.float64)
    n = len(pads)
    ways = [stride] * n, pads, [dilation] * n
    grad = np.random.default_rng(2).standard_normal(by_definition(x, w, stride, pads, dilation).shape)
    dw = convolution.convolve_filter_gradient(x, grad, w.shape, *ways)
    dx = input_gradient.convolve_input_gradient(grad, w, x.shape, *ways)
    assert dw.shape == w.shape and dx.shape == x.shape
    for other in (np.roll(w, 1), w**2):
        change = np.sum(by_definition(x, other, stride, pads, dilation) * grad)
        np.testing.assert_allclose(np.sum(dw * other), change, atol=1e-6)
    for other in (np.roll(x, 1), x**2):
        change = np.sum(by_definition(other, w, stride, pads, dilation) * grad)
        np.testing.assert_allclose(np.sum(dx * other), change, atol=1e-6)


def filter_gradient_by_definition(x, grad, filter_shape, stride, pads, dilation):
    """Return for each place of the window the sum over positions of the element times the gradient, in double precision."""
    x, result = padded(x.astype(np.float64), pads), np.zeros(filter_shape)
    channels, filters = filter_shape[-2:]
    for place in itertools.product(*map(range, filter_shape[:-2])):
        seen = seen_at(place, x, grad.shape[1:-1], stride, dilation).reshape(-1, channels)
        result[place] = np.matmul(seen.T, grad.reshape(-1, filters).astype(np.float64))
    return result


@pytest.mark.sampled(10)
@pytest.mark.parametrize("case", [case for case in CASES if case[0]], ids=str)
@pytest.mark.parametrize("at_once", [0, 3])
def test_gradients_for_filters_by_some_positions_at_once(case, at_once, workers, monkeypatch):
    for module in (convolution, gemm):
        monkeypatch.setattr(module, "columns_at_once", lambda rows, columns: at_once)
    x, w, stride, pads, dilation = drawn(case)
    n = len(pads)
    shape = by_definition(x, w, stride, pads, dilation).shape
    grad = np.random.default_rng(1).standard_normal(shape, np.float32)
    result = convolution.convolve_filter_gradient(x, grad, w.shape, [stride] * n, pads, [dilation] * n)
    want = filter_gradient_by_definition(x, grad, w.shape, stride, pads, dilation)
    assert result.flags.c_contiguous and result.dtype == np.float32
    np.testing.assert_allclose(result, want, atol=1e-6 * max(np.abs(want).max(), 10))


@pytest.mark.parametrize("number", [np.nan, np.inf])
@pytest.mark.parametrize("window", [1, 3])
@pytest.mark.parametrize("channels", [1, 16])
def test_numbers_that_are_not_finite_reach_the_filters_of_their_channels(number, window, channels):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((2, 40, 40, channels), np.float32)
    grad = np.abs(rng.standard_normal((2, 40, 40, 4), np.float32)) + 1
    x[1, 20, 20, 0] = number
    pads = [(window // 2, window // 2)] * 2
    result = convolution.convolve_filter_gradient(x, grad, (window, window, channels, 4), [1, 1], pads, [1, 1])
    np.testing.assert_array_equal(result[:, :, 0], np.full((window, window, 4), number))
    assert np.isfinite(result[:, :, 1:]).all()


@pytest.mark.parametrize(("rows", "columns", "count"), [(16, 288, 217), (25, 16, 2500), (144, 144, 48), (145, 144, 0)])
def test_columns_that_blas_takes_as_they_lie(rows, columns, count, monkeypatch):
    monkeypatch.setattr(gemm, "takes_as_it_lies", lambda: True)
    assert gemm.columns_at_once.__wrapped__(rows, columns) == count
    monkeypatch.setattr(gemm, "takes_as_it_lies", lambda: False)
    assert gemm.columns_at_once.__wrapped__(rows, columns) == 0
