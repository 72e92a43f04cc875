"""Kernels specialized for inputs that are constant in every run: work that depends on constants alone is done once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

from ..support import dataclasses
from . import registry

_Function = TypeVar("_Function", bound=Callable[..., Any])


@dataclasses.dataclass(frozen=True, slots=True)
class Prepared:
    """A maker of kernels of an op for constant inputs at the places `constants`."""

    function: Callable[..., Any]
    constants: tuple[int, ...]


_PREPARED: Final[dict[str, Prepared]] = {}


def prepared(*ops: str, constants: tuple[int, ...]) -> Callable[[_Function], _Function]:
    """Register (*constants, **attributes) -> a function of all inputs, equal to the kernel for these constants.

    If the kernel takes a context, the registered function takes the context as its first argument. `constants` are the
    places of the constant inputs. The function may refuse constants; the kernel then gets them in every run.
    """

    def register(function: _Function) -> _Function:
        # Without the checks of `registry`: only tfg's own families prepare kernels.
        for op in ops:
            _PREPARED[op] = Prepared(function, constants)
        return function

    return register


def prepared_kernel(op: str) -> Prepared | None:
    """Return the maker of an op's kernels for constant inputs; None without a maker, and where an op library replaced the
    kernel.
    """
    # The first kernel is the one that runs: a library's kernel does not do as the maker of tfg's does.
    kernels = registry.kernels(op)
    return _PREPARED.get(op) if kernels and kernels[0].is_own else None
