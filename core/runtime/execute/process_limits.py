"""Bounds on the whole process, for a command that runs a stranger's graph: the time, and the growth of memory."""

from __future__ import annotations

import contextlib
import faulthandler
import importlib
import os
import signal
import threading
import time
import types
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from ...support.errors import DeadlineExceededError, ResourceExhaustedError, TfgError, UnimplementedError
from ...support.user_signals import is_importing

if TYPE_CHECKING:
    from subprocess import Popen

NEEDED_MEMORY: Final = 24 << 20
"""The bytes that tfg itself takes for a small graph, with all its libraries loaded."""
_GRACE: Final = 0.4
"""The seconds after the deadline at which a computation that ignores interruptions is ended with its process."""
_STUCK: Final = 0.48
"""The seconds after the deadline at which the process is ended from outside Python.

The outside reads Python's frames, which had better stand still by then.
"""
_AGAIN: Final = 0.2
"""The seconds after which an interruption is repeated, since some handler may have caught the last."""
LONGEST_SECONDS: Final = 1e9
"""The largest time limit in seconds; timers take no larger number, and thirty years limit nothing."""
_PAGES: Final = "/proc/self/statm"
"""Linux counts the pages of a process here; macOS counts none, and does not keep to a limit of address space either."""
_BY_SESSIONS: Final = "in Python, Session(max_memory=) and tfg.load(path, untrusted=True) limit results on every system"
_LIBRARIES: Final = ("ml_dtypes", "scipy.fft", "scipy.linalg", "scipy.sparse", "scipy.special")
_NO_MEMORY: Final = ("annot allocate memory", "failed to map segment", "can't start new thread")
"""Parts of the messages by which libraries and threads report a lack of memory."""


class TimeLimit:
    """A block that raises DeadlineExceededError once `seconds` have passed.

    Python raises the error between two instructions, after an import under way has ended. A computation that gives Python
    no chance is ended a little later together with the process, with an `error:` line and exit code 1.
    """

    def __init__(self, seconds: float | None) -> None:
        self.seconds = None if seconds is None else min(seconds, LONGEST_SECONDS)
        self._end = 0.0
        self._watchdog: Popen[bytes] | None = None
        self._handler: Any = signal.SIG_DFL
        self._is_over = False

    def __enter__(self) -> TimeLimit:
        if self.seconds is not None:
            # Python runs handlers of signals in the main thread alone.
            if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
                raise UnimplementedError("a time limit needs the timer signals of a Unix system")
            self._end = time.monotonic() + self.seconds
            self._watch(self.seconds + _STUCK)
            self._handler = signal.signal(signal.SIGALRM, self._expire)
            signal.setitimer(signal.ITIMER_REAL, self.seconds, _AGAIN)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        if self.seconds is not None:
            lift_time_limit()
            signal.signal(signal.SIGALRM, self._handler)
        if self._watchdog is not None and self._watchdog.stdin is not None:
            self._watchdog.stdin.close()
            self._watchdog.wait()
        if self._is_over and isinstance(error, Exception) and not isinstance(error, TfgError):
            raise DeadlineExceededError(self._message) from error  # the interruption, raised as another error

    def _watch(self, seconds: float) -> None:
        """End this process after `seconds`, by a thread outside Python.

        A shell at the other end of a pipe prints the reason.
        """
        import subprocess  # lazy: most commands have no limit

        script = 'read -r line && printf "error: %s\\n" "$1" >&2'
        command = ["/bin/sh", "-c", script, "tfg", self._message]
        self._watchdog = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
        assert self._watchdog.stdin is not None
        faulthandler.dump_traceback_later(seconds, exit=True, file=self._watchdog.stdin)

    @property
    def _message(self) -> str:
        return f"the run exceeded its time limit of {self.seconds:g} seconds"

    def _expire(self, number: int, frame: types.FrameType | None) -> None:
        self._is_over = True
        if time.monotonic() >= self._end + _GRACE and self._watchdog is not None and self._watchdog.stdin is not None:
            os.write(self._watchdog.stdin.fileno(), b"\n")  # the shell prints the reason once
            # The process ends without cleanup: a computation that ignored the interruption would ignore SystemExit, too.
            os._exit(1)
        if not is_importing(frame):
            raise DeadlineExceededError(self._message)


@contextlib.contextmanager
def limited_process(seconds: float | None, memory: int | None) -> Iterator[None]:
    """Limit the time of a block, and the growth of the process in the block; None is no limit."""
    with TimeLimit(seconds), contextlib.nullcontext() if memory is None else limit_memory(memory):
        yield


def lift_time_limit() -> None:
    """Lift all time limits: results that were computed in time are written whole."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, 0)
    faulthandler.cancel_dump_traceback_later()


@contextlib.contextmanager
def limit_memory(count: int) -> Iterator[None]:
    """Limit the growth of this process in the block to `count` bytes; more raises ResourceExhaustedError.

    The libraries that graphs may need are loaded first, so that they do not count.
    """
    try:
        import resource
    except ImportError:
        raise UnimplementedError("a memory limit of a process needs Linux", hint=_BY_SESSIONS) from None
    before = resource.getrlimit(resource.RLIMIT_AS)
    load_libraries()
    limit = _taken(resource.getpagesize()) + count
    bounds = [bound for bound in before if bound != resource.RLIM_INFINITY]
    # `limit` comes twice, so that min has two numbers if there are no other bounds.
    resource.setrlimit(resource.RLIMIT_AS, (min(limit, *bounds, limit), before[1]))
    try:
        yield
    except (MemoryError, ImportError, OSError, RuntimeError) as error:
        resource.setrlimit(resource.RLIMIT_AS, before)
        if not isinstance(error, MemoryError) and not any(text in str(error) for text in _NO_MEMORY):
            raise
        raise ResourceExhaustedError(f"out of memory: the limit is {count:,} bytes") from error
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def load_libraries() -> None:
    """Import the libraries that kernels use, and let the linear algebra libraries allocate their lasting buffers."""
    for name in _LIBRARIES:
        importlib.import_module(name)
    import numpy as np
    import scipy.linalg

    from ...numerics.blas_threads import one_thread
    from ...numerics.gemm import matmul

    # The product is large enough that OpenBLAS allocates its lasting buffers.
    square: Any = np.eye(512, dtype=np.float32)
    with one_thread:
        matmul(square, square)
        scipy.linalg.svd(square[:8, :8])


def _taken(page: int) -> int:
    """Return the bytes of this process's address space; UnimplementedError on systems other than Linux."""
    try:
        with open(_PAGES) as file:
            return int(file.read().split()[0]) * page
    except FileNotFoundError:
        raise UnimplementedError("a memory limit of a process needs Linux", hint=_BY_SESSIONS) from None
