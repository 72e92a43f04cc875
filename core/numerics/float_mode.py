"""The float mode of the threads that compute: subnormal numbers count as zero and become zero, as in TensorFlow's threads.

Functions of the C library read and write the mode of a thread: `fegetmode` and `fesetmode`, or `fegetenv` and `fesetenv`
where the library has no others. Where tfg does not know the place of the bits in the mode, or where they do not work, runs
compute with subnormal numbers, and `tfg --version -v` says so. OpenBLAS needs no care: a run keeps it to the calling thread
(`blas_threads`).
"""

from __future__ import annotations

import contextvars
import ctypes
import functools
import platform
import sys
from collections.abc import Callable
from typing import Any, Final, ParamSpec, TypeVar

import numpy as np

_Params = ParamSpec("_Params")
_Result = TypeVar("_Result")

_Mode = ctypes.c_uint32 * 8
"""The registers of a thread as the C library writes them: at most 32 bytes."""


_FLUSH_X86: Final = 0x8000 | 0x0040
"""MXCSR's FTZ, for results, and DAZ, for operands."""
_FLUSH_ARM: Final = 1 << 24
"""FPCR's FZ, for both."""
_PLACES: Final = {
    ("linux", "x86_64", "mode"): (1, _FLUSH_X86),
    ("linux", "x86_64", "env"): (7, _FLUSH_X86),
    ("linux", "aarch64", "mode"): (0, _FLUSH_ARM),
    ("linux", "aarch64", "env"): (0, _FLUSH_ARM),
    ("darwin", "x86_64", "env"): (1, _FLUSH_X86),
    ("darwin", "arm64", "env"): (2, _FLUSH_ARM),
}
"""Where the bits are, by system, machine and structure: femode_t or fenv_t."""
_outside: contextvars.ContextVar[Any] = contextvars.ContextVar("outside")
"""The mode in which the caller's own code runs."""


def flushed(call: Callable[..., _Result], *values: Any) -> _Result:
    """Return the result of a call in which subnormal numbers are zero in this thread.

    An interrupt between any two instructions finds the mode unchanged or inside the `try`: so no context manager does this.
    """
    if not _can_flush:
        return call(*values)
    outside = _Mode()
    _read(outside)
    token = _outside.set(outside)
    try:
        _write(_flushing)
        return call(*values)
    finally:
        _write(outside)
        _outside.reset(token)


def as_outside(call: Callable[..., _Result], *values: Any, **keywords: Any) -> _Result:
    """Return the result of a user's function in the mode that the user's thread had before `flushed`."""
    outside = _outside.get(None)
    if outside is None:
        return call(*values, **keywords)
    inside = _Mode()
    _read(inside)
    try:
        _write(outside)
        return call(*values, **keywords)
    finally:
        _write(inside)


def keeps_subnormals(kernel: Callable[_Params, _Result]) -> Callable[_Params, _Result]:
    """Wrap a kernel that reads numbers in text, which TensorFlow composes of integers, so that no mode changes them."""
    return functools.wraps(kernel)(functools.partial(as_outside, kernel))


def can_flush() -> bool:
    """Return True if subnormal numbers are zero in runs, as in TensorFlow."""
    return _can_flush


def _access() -> tuple[Callable[[Any], Any], Callable[[Any], Any], int, int] | None:
    """Return the functions that read and write a thread's mode, and the bits that flush: (word of the mode, bits)."""
    if sys.platform not in ("linux", "darwin"):
        return None
    library = ctypes.PyDLL(None)  # keeps Python's lock, which takes less time than the call
    for structure in ("mode", "env"):
        place = _PLACES.get((sys.platform, platform.machine(), structure))
        if place is not None and hasattr(library, f"feget{structure}"):
            read, write = (getattr(library, f"fe{verb}{structure}") for verb in ("get", "set"))
            return read, write, *place
    return None


def _flushes() -> bool:
    """Return True if the smallest numbers are zero, as operands and as results."""
    subnormal, least = np.array([1, 1 << 23], np.uint32).view(np.float32)
    # DAZ has the first product zero, FTZ the second.
    return not subnormal * np.float32(1) and not least * np.float32(0.5)


for _dtype in (np.float16, np.float32, np.float64):
    np.finfo(_dtype)  # NumPy keeps the limits, and would take the smallest number for zero in a run

_can_flush = (_found := _access()) is not None
if _found is not None:
    _read, _write, _word, _bits = _found
    _flushing = _Mode()
    _read(_flushing)
    _flushing[_word] |= _bits
    _can_flush = flushed(_flushes)
