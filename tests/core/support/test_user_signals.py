"""An error from the program's signal handler comes out of every call of tfg unchanged."""

from __future__ import annotations

import functools
import signal

import numpy as np
import pytest

import tfg
from tfg.core.building.builder import run_script
from tfg.core.inference.node_calls import apply_kernel
from tfg.core.support.errors import InternalError

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGUSR1"), reason="Windows has no such signals")


class TimeOut(Exception):
    """The program's own error."""


class _Handler:
    def __call__(self, number, frame):
        raise TimeOut("mine")

    def method(self, number, frame):
        raise TimeOut("mine")


def _function(number, frame):
    raise TimeOut("mine")


HANDLERS = {
    "a function": _function,
    "a method": _Handler().method,
    "an object": _Handler(),
    "a partial function": functools.partial(_function),
    "a lambda": lambda number, frame: _function(number, frame),
}


@pytest.fixture(params=HANDLERS, autouse=True)
def _handler(request):
    old = signal.signal(signal.SIGUSR1, HANDLERS[request.param])
    yield
    signal.signal(signal.SIGUSR1, old)


def _interrupted(name):
    """Return a stand-in for a NumPy function during which the signal arrives."""

    def function(*_, **__):
        signal.raise_signal(signal.SIGUSR1)

    return function


def _graph():
    g = tfg.GraphBuilder()
    x = g.Placeholder(dtype="float32", shape=[2, 2], name="x")
    g.Cholesky(x, name="y")
    g.Cholesky(g.constant(np.eye(2, dtype=np.float32)), name="constant")
    return g.graph


def test_from_a_kernel_in_a_run(monkeypatch):
    session = tfg.Session(_graph())
    monkeypatch.setattr(np.linalg, "cholesky", _interrupted("cholesky"))
    for fetch, feeds in (("y", {"x": np.eye(2)}), ("constant", {})):
        with pytest.raises(TimeOut, match=r"^mine$"):
            session.run(fetch, feeds)


def test_from_a_single_kernel(monkeypatch):
    monkeypatch.setattr(np.linalg, "cholesky", _interrupted("cholesky"))
    with pytest.raises(TimeOut, match=r"^mine$"):
        apply_kernel(_graph()["y"], [np.eye(2, dtype=np.float32)])


def test_from_a_pass(monkeypatch):
    monkeypatch.setattr("tfg.core.passes.removals.Prune.run", _interrupted("run"))
    with pytest.raises(TimeOut, match=r"^mine$"):
        tfg.optimize(_graph(), ["y"])


def test_from_a_script(tmp_path):
    path = tmp_path / "build.py"
    path.write_text("import signal\nsignal.raise_signal(signal.SIGUSR1)\n")
    with pytest.raises(TimeOut, match=r"^mine$"):
        run_script(str(path))


def test_a_kernels_own_error_is_tfgs(monkeypatch):
    def broken(*_, **__):
        raise TimeOut("of the kernel")

    monkeypatch.setattr(np.linalg, "cholesky", broken)
    with pytest.raises(InternalError, match="of the kernel"):
        tfg.Session(_graph()).run("y", {"x": np.eye(2)})
