"""Type checks for arguments of public functions: a wrong type raises TypeError at the call."""

from __future__ import annotations

import contextlib
import functools
import os
import re
import types
import typing
from collections.abc import Callable, Iterator
from typing import ParamSpec, TypeVar

from .errors import ArgumentTypeError, InvalidArgumentError, ResourceExhaustedError

_P = ParamSpec("_P")
_R = TypeVar("_R")


def takes(**kinds: type | types.UnionType) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]:
    """Decorate a function to raise ArgumentTypeError for arguments that are no instances of the named types."""
    classes = {name: _classes(kind) for name, kind in kinds.items()}

    def decorate(function: Callable[_P, _R]) -> Callable[_P, _R]:
        names = function.__code__.co_varnames[: function.__code__.co_argcount]

        @functools.wraps(function)
        def checked(*args: _P.args, **kwargs: _P.kwargs) -> _R:
            for name, value in (*zip(names, args), *kwargs.items()):
                if name in classes and not isinstance(value, classes[name]):
                    expected, actual = _named(classes[name]), type(value).__name__
                    problem = f"{function.__qualname__}: {name} must be {expected}, not {actual}"
                    raise ArgumentTypeError(problem, hint=_next_step(expected, value))
            with bounded_depth():
                return function(*args, **kwargs)

        return checked

    return decorate


def expect(kind: type | types.UnionType, *values: object) -> None:
    """Raise ArgumentTypeError for the first of `values` that is no `kind`; for functions called too often for `takes`."""
    for value in values:
        if not isinstance(value, kind):
            raise ArgumentTypeError(f"expected {_named(_classes(kind))}, not {type(value).__name__}")


def regular_expression(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """Return a compiled pattern; InvalidArgumentError for a malformed pattern."""
    try:
        return re.compile(pattern, flags)
    except re.error as error:
        raise InvalidArgumentError(f"'{pattern}' is not a regular expression: {error}") from None


@contextlib.contextmanager
def bounded_depth() -> Iterator[None]:
    """Turn exhaustion of the interpreter's stack, by a graph with deeply nested functions, into ResourceExhaustedError."""
    try:
        yield
    except RecursionError:
        raise ResourceExhaustedError("the graph's functions are nested too deeply") from None


def _classes(kind: type | types.UnionType) -> tuple[type, ...]:
    """Return the classes of a union, without their parameters: PathLike for `os.PathLike[str]`."""
    members = kind.__args__ if isinstance(kind, types.UnionType) else (kind,)
    return tuple(typing.get_origin(member) or member for member in members)


def _named(classes: tuple[type, ...]) -> str:
    return " or ".join("None" if one is types.NoneType else one.__name__ for one in classes)


def _next_step(expected: str, value: object) -> str | None:
    """Return how the path of a graph becomes the graph, for a function that changes a graph."""
    is_path = isinstance(value, str | os.PathLike)
    return "tfg.load(path) returns the graph of a file" if is_path and expected == "Graph" else None
