"""The threads of matrix products: OpenBLAS uses a single thread, and large products a pool with sleeping idle threads.

OpenBLAS's own threads spin at barriers: a product of a millisecond takes tens of them when another process uses the cores.
A running session therefore limits the OpenBLAS libraries of NumPy and SciPy to a thread each. `core.numerics.gemm` divides
large products among the threads that runs in other threads leave free.
"""

from __future__ import annotations

import contextlib
import ctypes
import glob
import os
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

import numpy as np

OWN_THREADS: Final = "tfg-"
"""The prefix of names of threads that only do a run's tasks."""

MOST_THREADS: Final = 4
"""The most threads for the work of kernels. More threads wait for Python's lock: on 16 cores, 16 threads take 1.1 to 2.6 times
as long as 4 (benchmarks/__main__.py: MobileNetV2, LeNet momentum step, ResNet-50 train step, BERT).
"""
_SYMBOLS = ("scipy_openblas_%s_num_threads64_", "scipy_openblas_%s_num_threads")


class _ThreadCount(NamedTuple):
    """The functions that get and set the number of threads of an OpenBLAS."""

    get: Callable[[], int]
    set: Callable[[int], Any]


class OneThread:
    """A context that limits OpenBLAS to a single thread; reentrant, and shared by several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._entered = self._limiting = 0
        self._libraries: list[_ThreadCount] = []
        self._knows_scipy: bool | None = None
        self._before: list[int] = []
        self.cores = 1
        """The number of OpenBLAS's threads by default: the cores of this process, or the setting of the environment."""
        self.available = 1
        """The number of threads for the work of kernels."""

    @property
    def share(self) -> int:
        """Return the number of threads for each thread inside the context: the available threads are divided."""
        return self._share(self.available)

    @property
    def unlocked_share(self) -> int:
        """Return the share for work that leaves Python's lock for long, such as decoding images: the cores are divided."""
        return self._share(self.cores)

    def _share(self, count: int) -> int:
        return max(count // max(self._entered, 1), 1)

    def __enter__(self) -> None:
        with self._lock:
            self._entered += 1
            self._acquire()

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._entered -= 1
            self._release()

    @contextlib.contextmanager
    def limited(self) -> Iterator[None]:
        """Keep the limit for a thread that works for a run, perhaps longer than the run: the run's share of threads is
        unchanged.
        """
        with self._lock:
            self._acquire()
        try:
            yield
        finally:
            with self._lock:
                self._release()

    def _acquire(self) -> None:
        self._limiting += 1
        if self._limiting == 1:
            self._limit()

    def _release(self) -> None:
        self._limiting -= 1
        if not self._limiting:
            for library, count in zip(self._libraries, self._before):
                library.set(count)

    def _limit(self) -> None:
        # SciPy's wheel has an OpenBLAS of its own, which may be loaded between two runs.
        has_scipy = "scipy.linalg" in sys.modules
        if has_scipy is not self._knows_scipy:
            self._libraries = [*_libraries("numpy"), *(_libraries("scipy") if has_scipy else ())]
            self._knows_scipy = has_scipy
        # The user may have set the numbers of threads; they come back when no run is left.
        self._before = [library.get() for library in self._libraries]
        self.cores = max(self._before, default=1)
        self.available = min(self.cores, MOST_THREADS)
        # The limit holds for the process and not for a thread, because OpenBLAS has one number of threads for all callers.
        for library in self._libraries:
            library.set(1)


def _libraries(package: str) -> list[_ThreadCount]:
    """Return the functions that get and set the number of threads of the OpenBLAS in the wheel of a package."""
    return [
        _ThreadCount(getattr(library, symbol % "get"), getattr(library, symbol % "set"))
        for library in _loaded(package)
        for symbol in _SYMBOLS
        if hasattr(library, symbol % "set")
    ]


def _loaded(package: str) -> list[ctypes.CDLL]:
    """Return the OpenBLAS in the wheel of a package; none where the package was built with another BLAS or with the
    system's.
    """
    folder = os.path.join(os.path.dirname(os.path.dirname(np.__file__)), f"{package}.libs")
    return [ctypes.CDLL(path) for path in glob.glob(os.path.join(folder, "*openblas*"))]


def numpy_blas() -> list[ctypes.CDLL]:
    """Return the OpenBLAS of NumPy's products, where NumPy's wheel contains an OpenBLAS."""
    return _loaded("numpy")


one_thread = OneThread()
