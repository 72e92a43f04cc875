"""What callers hand to public functions is of the types that they take, or a TypeError says so at the door."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import ParamSpec, TypeVar

_P = ParamSpec("_P")
_R = TypeVar("_R")


def takes(**kinds: type | types.UnionType) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]:
    """Let a function refuse arguments that are no instances of what is said of their parameters, by TypeError."""

    def decorate(function: Callable[_P, _R]) -> Callable[_P, _R]:
        names = function.__code__.co_varnames[: function.__code__.co_argcount]

        @functools.wraps(function)
        def checked(*args: _P.args, **kwargs: _P.kwargs) -> _R:
            for name, value in (*zip(names, args), *kwargs.items()):
                if name in kinds and not isinstance(value, kinds[name]):
                    wanted, given = _named(kinds[name]), type(value).__name__
                    raise TypeError(f"{function.__qualname__}: {name} must be {wanted}, not {given}")
            return function(*args, **kwargs)

        return checked

    return decorate


def _named(kind: type | types.UnionType) -> str:
    members = kind.__args__ if isinstance(kind, types.UnionType) else (kind,)
    return " or ".join("None" if member is types.NoneType else member.__name__ for member in members)
