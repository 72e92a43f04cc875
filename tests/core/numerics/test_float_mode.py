"""Subnormal numbers are zero where a run computes, and nowhere else. tests/cases/subnormals.py has the ops."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import warnings

import numpy as np
import pytest

from tfg import optimize
from tfg.core.building.builder import GraphBuilder
from tfg.core.inference.inference import infer
from tfg.core.numerics import float_mode, work_division
from tfg.core.numerics.float_mode import as_outside, flushed
from tfg.core.registry.catalog import CATALOG
from tfg.core.registry.registry import kernel, shape
from tfg.core.runtime.execute.constant_steps import folded_values
from tfg.core.runtime.execute.limits import run_apart
from tfg.core.runtime.session.session import Session

pytestmark = pytest.mark.skipif(not float_mode.can_flush(), reason="other systems: tfg knows no way to set the float mode")

SUBNORMAL = np.float32(1e-40)


@pytest.fixture
def once():
    """An op of a library: its kernel multiplies by one."""
    CATALOG.register("OnceForTest(x: float) -> (y: float)")
    kernel("OnceForTest")(lambda x: x * np.float32(1))
    shape("OnceForTest")(lambda x: x.shape)
    yield "OnceForTest"
    CATALOG.unregister("OnceForTest")


def product():
    """Return the smallest numbers times one, computed here and now."""
    return SUBNORMAL * np.float32(1)


def is_zero():
    return product() == 0 and np.float32(2e-38) * np.float32(0.5) == 0


@pytest.fixture(autouse=True)
def is_restored():
    assert not is_zero()
    yield
    assert not is_zero()


def graph(op="Mul"):
    """`y`: the placeholder `x`, or `c`, a constant, times one, by an op."""
    g = GraphBuilder()
    x = g.Placeholder(dtype="float32", shape=[None], name="x")
    one = [g.constant(np.float32(1))] if op == "Mul" else []
    g.add(op, [x, *one], {}, "y")
    g.add(op, [g.constant(np.full(3, SUBNORMAL)), *one], {}, "c")
    return g.graph


FEEDS = {"x:0": np.full(3, SUBNORMAL)}


def test_numbers_are_zero_within_a_call_and_come_back():
    assert flushed(is_zero)
    assert not flushed(as_outside, is_zero)
    assert flushed(lambda: (flushed(is_zero), as_outside(is_zero), is_zero())) == (True, False, True)


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_errors_restore_the_mode(error):
    def fail():
        raise error

    with pytest.raises(error):
        flushed(fail)
    with pytest.raises(error):
        flushed(as_outside, fail)


def test_an_interrupt_restores_the_mode():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a process of pytest-xdist has another
    try:
        with pytest.raises(KeyboardInterrupt):
            flushed(signal.raise_signal, signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, before)


def test_the_callers_rounding_mode_comes_back():
    library = float_mode.ctypes.PyDLL(None)
    upwards = {"x86_64": 0x800, "aarch64": 0x400000}[float_mode.platform.machine()]
    try:
        library.fesetround(upwards)
        flushed(product)
        assert library.fegetround() == upwards
        assert flushed(as_outside, library.fegetround) == upwards
    finally:
        library.fesetround(0)


def test_runs_compute_with_zeros():
    session = Session(graph())
    for _ in range(3):  # in all tiers
        assert not session.run("y:0", FEEDS).any()
        assert not session.run("c:0").any()
    assert session.run("x:0", FEEDS).all()


def test_folds_give_what_a_run_gives():
    node = graph().node("c")
    (value,) = folded_values(node, [np.full(3, SUBNORMAL), np.float32(1)])
    assert not value.any()
    optimized = optimize(graph(), ["c:0"], passes="fold").graph
    assert not Session(optimized).run("c:0").any()


def test_inferred_values_are_those_of_a_run():
    g = GraphBuilder()
    g.Mul(g.constant(SUBNORMAL), g.constant(np.float32(1)), name="y")
    value = infer(g.graph).spec(g.graph.output("y:0")).value
    assert value is None or value == 0


def test_the_users_hook_has_the_users_mode():
    seen = []

    def hook(node, call, inputs):
        seen.append(is_zero())
        return call(*inputs)

    assert not Session(graph()).run("y:0", FEEDS, hook=hook).any()
    assert seen
    assert not any(seen)


def test_a_run_inside_a_hook_leaves_the_mode_of_the_hook():
    seen = []

    def hook(node, call, inputs):
        seen.append(Session(graph()).run("y:0", FEEDS).any() or is_zero())
        return call(*inputs)

    Session(graph()).run("y:0", FEEDS, hook=hook)
    assert not any(seen)


def test_kernels_of_op_libraries_have_the_users_mode(once):
    session = Session(graph(once))
    for _ in range(3):
        np.testing.assert_array_equal(session.run("y:0", FEEDS), FEEDS["x:0"])
        assert session.run("c:0").all()


def test_threads_of_the_pool_compute_with_zeros():
    """Also threads that began outside of a run."""
    seen, has_seen = [], threading.Event()

    def look():
        seen.append((threading.current_thread().name, is_zero()))
        has_seen.set()

    (worker,) = work_division.idle_workers(1)
    worker.give(work_division.Task(look))
    assert has_seen.wait(60)
    assert seen == [("tfg-numerics", True)]


@pytest.mark.slow
def test_a_kernel_in_a_process_of_its_own_computes_with_zeros():
    assert not run_apart(graph().node("y"), [np.full(3, SUBNORMAL), np.float32(1)], 60, 60).any()


def test_numpy_knows_the_limits_in_a_run():
    """NumPy keeps the limits that it computes first, and warns of a smallest number that is zero."""
    script = (
        "import warnings; warnings.simplefilter('error')\n"
        "import numpy as np\nfrom tfg.core.numerics.float_mode import flushed\n"
        "print([bool(flushed(np.finfo, t).smallest_subnormal > 0) for t in (np.float16, 'float32', np.float64, np.complex64)])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[True, True, True, True]"


def test_where_the_mode_cannot_be_set_runs_compute_as_before(monkeypatch):
    monkeypatch.setattr(float_mode, "_can_flush", False)
    assert Session(graph()).run("y:0", FEEDS).all()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not flushed(is_zero)
