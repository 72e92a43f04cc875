"""Signals at the command line: Ctrl-C and SIGTERM end `tfg` without a traceback at every moment, and leave no staged file.

While the command is imported and after its work is done, a signal ends the process at once. In between a signal raises
KeyboardInterrupt, so that blocks remove their files and processes. A program that imports tfg keeps its own handlers.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import types
from collections.abc import Callable
from typing import Final

from .user_signals import is_importing

_OWN: Final = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated"}
_AGAIN: Final = 0.02
"""The seconds after which a signal comes again that arrived inside an import."""
_GRACE: Final = 5.0
"""The seconds after SIGTERM at which a computation that gives Python no chance ends with its process."""


class _Last:
    """The last signal that ended the work."""

    number = signal.SIGINT


def quit_on_signals() -> None:
    """Let Ctrl-C and SIGTERM end the process at once."""
    _handle_by(_quit)


def raise_on_signals() -> None:
    """Let Ctrl-C and SIGTERM raise KeyboardInterrupt, after the import under way."""
    _handle_by(_raise)
    _watch()


def ended() -> int:
    """Remove the files that an interrupted block left, say what ended the work, and return the exit code."""
    from .atomic import remove_staged

    remove_staged()
    print(_OWN[_Last.number], file=sys.stderr)
    return 128 + _Last.number


def _handle_by(handler: Callable[[int, types.FrameType | None], None]) -> None:
    """Install a handler for signals that the parent of the process does not have ignored, as nohup has."""
    for number in _OWN:
        # `nohup tfg run ... &` must outlive its terminal.
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, handler)


def _quit(number: int, _: types.FrameType | None) -> None:
    # By the system call: a signal may arrive inside `print`, whose lock is not reentrant.
    with contextlib.suppress(OSError):
        os.write(2, f"{_OWN[signal.Signals(number)]}\n".encode())
    os._exit(128 + number)


def _raise(number: int, frame: types.FrameType | None) -> None:
    _Last.number = signal.Signals(number)
    if not is_importing(frame):
        raise KeyboardInterrupt
    import threading

    # The import under way is left alone; it is usually over when the signal comes again.
    again = threading.Timer(_AGAIN, os.kill, (os.getpid(), number))
    again.daemon = True
    again.start()


def _watch() -> None:
    """End the process some seconds after SIGTERM in any case: a handler of Python waits for the kernel that computes."""
    import threading

    # C writes the number of a signal to this pipe at once, even while a kernel computes and Python's own handler has to wait.
    # The interpreter asks for a descriptor that does not block.
    read, write = os.pipe()
    os.set_blocking(write, False)
    signal.set_wakeup_fd(write, warn_on_full_buffer=False)
    threading.Thread(target=_end_stuck, args=(read,), daemon=True).start()


def _end_stuck(pipe: int) -> None:
    import time

    while os.read(pipe, 1)[0] != signal.SIGTERM:
        pass
    time.sleep(_GRACE)
    # By the system call, as `sys.exit` would end this thread alone.
    os._exit(ended())
