"""Errors that the program's own signal handlers raise while tfg works, a time-out for instance."""

from __future__ import annotations

import signal
import types
from collections.abc import Iterator
from typing import Any


def pass_on(error: BaseException) -> None:
    """Raise the error again, unchanged, if a signal handler of the program raised the error; return otherwise.

    Python runs a handler between two instructions of the main thread, so that the handler's error appears inside an
    unrelated kernel or pass. Every handler of `Exception` calls this function first.
    """
    # Most programs have no handler of their own, and pay for no walk through the traceback.
    if handlers := set(_handlers()):
        trace = error.__traceback__
        while trace is not None:
            if trace.tb_frame.f_code in handlers:
                raise error
            trace = trace.tb_next


def _handlers() -> Iterator[types.CodeType]:
    """Yield the code of each signal handler that is written in Python, but for Python's own of Ctrl-C."""
    for number in signal.valid_signals():
        code = _code_of(signal.getsignal(number))
        if code is not None:
            yield code


def _code_of(handler: Any) -> types.CodeType | None:
    while hasattr(handler, "func"):  # a functools.partial wraps the handler
        handler = handler.func
    # Python's own KeyboardInterrupt is no `Exception`, and passes by itself.
    if not callable(handler) or handler is signal.default_int_handler:
        return None
    function = handler if hasattr(handler, "__code__") else type(handler).__call__
    return getattr(function, "__code__", None)


def is_importing(frame: types.FrameType | None) -> bool:
    """True inside an import. A library that is left half imported prints its error, and stays half imported in the process."""
    while frame is not None and not frame.f_code.co_filename.startswith("<frozen importlib"):
        frame = frame.f_back
    return frame is not None
