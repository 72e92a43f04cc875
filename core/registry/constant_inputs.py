"""Kernels for inputs that are the same in every run: what follows from these is found out once."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, Final, TypeVar

from . import registry

_Function = TypeVar("_Function", bound=Callable[..., Any])


@dataclasses.dataclass(frozen=True, slots=True)
class Prepared:
    """What makes a kernel of an op for the inputs at the places `constants`."""

    function: Callable[..., Any]
    constants: tuple[int, ...]


_PREPARED: Final[dict[str, Prepared]] = {}


def prepared(*ops: str, constants: tuple[int, ...]) -> Callable[[_Function], _Function]:
    """Register (*constants, **attributes) -> a function of all inputs that does what the kernel does with such constants.

    Where the kernel takes a context, so does what is registered, before all else. `constants` are their places.
    It may refuse constants, which then go through the kernel in every run.
    """

    def register(function: _Function) -> _Function:
        for op in ops:
            _PREPARED[op] = Prepared(function, constants)
        return function

    return register


def prepared_kernel(op: str) -> Prepared | None:
    """What makes a kernel of an op for constant inputs; None without one, and where another kernel than tfg's is taken."""
    kernels = registry.kernels(op)
    return _PREPARED.get(op) if kernels and kernels[0].is_own else None
