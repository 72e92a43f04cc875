"""Routines of NumPy's BLAS, called with the addresses of arrays."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any, Final

from ..types.arrays import Array
from .blas_threads import numpy_blas

_REALS: Final[dict[str, tuple[str, Any]]] = {"f": ("s", ctypes.c_float), "d": ("d", ctypes.c_double)}
"""The prefix of routines' names, and the type of a number, by the dtype's character."""


def routine(name: str, char: str, arguments: Callable[[Any, Any], Sequence[Any]]) -> Callable[..., None] | None:
    """Return CBLAS's routine of a name for a dtype; None where NumPy's library lacks the routine.

    `arguments` returns the types of the routine's arguments, from the types of a number and of an integer.
    """
    if char not in _REALS:
        return None
    letter, real = _REALS[char]
    for library in numpy_blas():
        for suffix, integer in (("64_", ctypes.c_int64), ("", ctypes.c_int)):
            call = getattr(library, f"scipy_cblas_{letter}{name}{suffix}", None)
            if call is not None:
                call.argtypes = tuple(arguments(real, integer))
                call.restype = None
                routine: Callable[..., None] = call
                return routine
    return None


def address(array: Array) -> int:
    """Return the address of an array's first element."""
    start: int = array.__array_interface__["data"][0]
    return start
