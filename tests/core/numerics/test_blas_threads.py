"""BLAS uses one thread while a graph runs; large products are divided and keep their values."""

from __future__ import annotations

import multiprocessing
import threading

import numpy as np
import pytest
import scipy.linalg  # noqa: F401  # SciPy's BLAS is loaded in any order of tests, and known to be
from threadpoolctl import ThreadpoolController, threadpool_limits

from tfg.core.building.builder import GraphBuilder
from tfg.core.numerics import blas_threads as threads
from tfg.core.numerics import gemm, work_division
from tfg.core.runtime.session.session import Session


def blas_threads():
    return max(library.get_num_threads() for library in ThreadpoolController().select(user_api="blas").lib_controllers)


BLAS = np.show_config(mode="dicts")["Build Dependencies"]["blas"]["name"]


@pytest.mark.skipif(BLAS != "scipy-openblas", reason=f"other systems: NumPy was built with {BLAS}")
def test_the_library_of_numpy_is_found():
    assert threads._libraries("numpy")


@pytest.fixture
def one_thread():
    """Return a separate context on a BLAS of two threads."""
    with threadpool_limits(2, user_api="blas"):
        yield threads.OneThread()


def test_threads_come_back_when_the_last_one_leaves(one_thread):
    with one_thread:
        assert (blas_threads(), one_thread.available) == (1, 2)
        with one_thread:
            pass
        assert blas_threads() == 1
    assert blas_threads() == 2


def test_threads_may_leave_in_another_order_than_they_came(one_thread):
    entered, leave = threading.Event(), threading.Event()

    def hold():
        with one_thread:
            entered.set()
            leave.wait()

    other = threading.Thread(target=hold, daemon=True)
    with one_thread:
        other.start()
        entered.wait()
    assert blas_threads() == 1
    leave.set()
    other.join()
    assert blas_threads() == 2


def test_a_run_restores_the_threads_even_where_it_fails():
    b = GraphBuilder()
    b.CheckNumerics(b.Placeholder(dtype="float32", shape=[], name="x"), message="", name="y")
    with threadpool_limits(2, user_api="blas"):
        with pytest.raises(Exception, match="NaN"):
            Session(b.graph).run("y:0", {"x:0": np.nan})
        assert blas_threads() == 2


SHAPES = [
    ((64, 3), (3, 5)),
    ((3, 64), (64, 65)),
    ((2, 1, 33, 4), (3, 4, 8)),
    ((1, 7), (7, 1)),
    ((5, 0), (0, 6)),
    ((0, 4), (4, 3)),
]


@pytest.mark.parametrize(("a", "b"), SHAPES)
@pytest.mark.parametrize("dtype", [np.float32, np.complex128, np.int32])
def test_divided_products(a, b, dtype, monkeypatch):
    monkeypatch.setattr(work_division, "WORTH_DIVIDING", 0)
    monkeypatch.setattr(threads.one_thread, "available", 3)
    rng = np.random.default_rng(0)
    x, y = (rng.integers(-4, 5, shape).astype(dtype) for shape in (a, b))
    want = np.einsum("...ij,...jk->...ik", x, y)
    np.testing.assert_array_equal(gemm.matmul(x, y), want)
    out = np.empty_like(want)
    assert gemm.matmul(x, y, out) is out
    np.testing.assert_array_equal(out, want)


def test_the_error_state_holds_in_all_parts(monkeypatch):
    monkeypatch.setattr(work_division, "WORTH_DIVIDING", 0)
    monkeypatch.setattr(threads.one_thread, "available", 2)
    x = np.full((4, 4), np.finfo(np.float32).max)
    with np.errstate(all="ignore"):
        assert np.isinf(gemm.matmul(x, x)).all()


def product_in_a_child(connection):
    connection.send(gemm.matmul(np.ones((8, 8)), np.ones((8, 8))).sum())


def test_a_forked_process_divides_too(monkeypatch):
    monkeypatch.setattr(work_division, "WORTH_DIVIDING", 0)
    monkeypatch.setattr(threads.one_thread, "available", 2)
    gemm.matmul(np.ones((8, 8)), np.ones((8, 8)))
    receiver, sender = multiprocessing.Pipe(duplex=False)
    child = multiprocessing.get_context("fork").Process(target=product_in_a_child, args=(sender,))
    child.start()
    assert receiver.poll(300) and receiver.recv() == 512
    child.join()


@pytest.mark.parametrize("fails", [False, True])
def test_the_thread_that_worked_last_works_next(fails, monkeypatch):
    """Sleeping threads are not woken, also after a failed task."""
    monkeypatch.setattr(threads.one_thread, "available", 3)
    work_division.renew()
    own, workers = threading.get_ident(), set()

    def work(part):
        meeting.wait(300)
        if threading.get_ident() != own:
            workers.add(threading.get_ident())
            if fails:
                raise ValueError(part)

    for _ in range(20):
        meeting = threading.Barrier(2)
        if fails:
            with pytest.raises(ValueError):
                work_division.divide(work, range(2), most=2)
        else:
            work_division.divide(work, range(2), most=2)
    assert len(workers) == 1


def test_those_inside_share_what_is_available(one_thread):
    assert one_thread.share == 1
    with one_thread:
        assert one_thread.share == 2
        with one_thread:
            assert one_thread.share == 1
        assert one_thread.share == 2


def test_kernels_take_few_of_many_cores():
    """Python's lock serves few threads, and images are decoded outside the lock."""
    one_thread = threads.OneThread()
    with threadpool_limits(16, user_api="blas"), one_thread:
        assert (one_thread.share, one_thread.unlocked_share) == (4, 16)
        with one_thread:
            assert (one_thread.share, one_thread.unlocked_share) == (2, 8)
