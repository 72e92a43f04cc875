"""Type checks for arguments of public functions: a wrong type raises TypeError at the call."""

from __future__ import annotations

import builtins
import contextlib
import functools
import os
import re
import types
import typing
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, ParamSpec, TypeVar

from .errors import ArgumentTypeError, InvalidArgumentError, ResourceExhaustedError

_P = ParamSpec("_P")
_R = TypeVar("_R")


@typing.overload
def checked(function: Callable[_P, _R], /) -> Callable[_P, _R]: ...
@typing.overload
def checked(**kinds: type | types.UnionType) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]: ...
def checked(function: Callable[..., Any] | None = None, /, **kinds: type | types.UnionType) -> Any:
    """Decorate a function to raise ArgumentTypeError for arguments that are not instances of the annotated types.

    `kinds` are the types of parameters whose annotation says too much or too little. A parameter is not checked if its
    annotation has a name that exists for type checkers only.
    """
    if function is None:
        return functools.partial(_checked, kinds=kinds)
    return _checked(function, kinds)


def _checked(function: Callable[_P, _R], kinds: Mapping[str, type | types.UnionType]) -> Callable[_P, _R]:
    names = function.__code__.co_varnames[: function.__code__.co_argcount]

    # At the first call: an import reads no annotation, and a module may define its types below the function.
    @functools.cache
    def classes() -> dict[str, tuple[type, ...]]:
        return {**_annotated(function), **{name: _classes(kind) for name, kind in kinds.items()}}

    @functools.wraps(function)
    def call(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        for name, value in (*zip(names, args), *kwargs.items()):
            expected = classes().get(name)
            if expected is not None and not isinstance(value, expected) and not _are_names(value, expected):
                problem = f"{function.__qualname__}: {name} must be {_named(expected)}, not {type(value).__name__}"
                raise ArgumentTypeError(problem, hint=_next_step(_named(expected), value))
        with bounded_depth():
            return function(*args, **kwargs)

    return call


def expect(kind: type | types.UnionType, *values: object) -> None:
    """Raise ArgumentTypeError for the first of `values` that is no `kind`; for functions called too often for `checked`."""
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


def _annotated(function: Callable[..., Any]) -> dict[str, tuple[type, ...]]:
    """Return the classes of the annotated parameters, without the parameters whose annotation names an unknown class."""
    annotations = {name: text for name, text in function.__annotations__.items() if name != "return"}
    members = {name: [_member(part, function.__globals__) for part in _union(text)] for name, text in annotations.items()}
    return {name: tuple(dict.fromkeys(sum(parts, ()))) for name, parts in members.items() if all(parts)}


def _union(annotation: str) -> Iterator[str]:
    """Yield the members of an annotation, which the modules keep as text: `Mapping[str, int | str]` and `None`."""
    start = depth = 0
    for position, sign in enumerate(annotation):
        depth += (sign == "[") - (sign == "]")
        if sign == "|" and not depth:
            yield annotation[start:position].strip()
            start = position + 1
    yield annotation[start:].strip()


def _member(text: str, names: Mapping[str, Any]) -> tuple[type, ...]:
    """Return the classes of a member of an annotation; () for a name that is unknown at run time."""
    first, *attributes = text.partition("[")[0].split(".")
    if first == "Literal":
        return (str,)  # all choices of public functions are texts
    kind = None if first == "None" else names.get(first, getattr(builtins, first, ...))
    for attribute in attributes:
        kind = getattr(kind, attribute, ...)
    return _classes(kind)


def _classes(kind: Any) -> tuple[type, ...]:
    """Return the classes of a type, without their parameters: PathLike for `os.PathLike[str]`; () for what is no class."""
    origin = typing.get_origin(kind) or kind
    if origin is typing.Union or origin is types.UnionType:
        members = [_classes(member) for member in typing.get_args(kind)]
        return tuple(dict.fromkeys(sum(members, ()))) if all(members) else ()
    if origin is typing.Literal:
        return tuple(dict.fromkeys(map(type, typing.get_args(kind))))
    if origin is None or origin is Any:
        return (types.NoneType if origin is None else object,)
    if origin is float:
        return (float, int)  # as type checkers take an int for a float
    is_protocol = getattr(origin, "_is_protocol", False) and not getattr(origin, "_is_runtime_protocol", False)
    return (origin,) if isinstance(origin, type) and not is_protocol else ()


def _are_names(value: object, classes: tuple[type, ...]) -> bool:
    """Return True for a set or a view of a dictionary in place of texts, which it holds as well as a sequence.

    An iterator is none: its texts are gone after the first look, and a second look would see an empty one.
    """
    return str in classes and Sequence in classes and isinstance(value, Collection)


def _named(classes: tuple[type, ...]) -> str:
    return " or ".join("None" if one is types.NoneType else one.__name__ for one in classes)


def _next_step(expected: str, value: object) -> str | None:
    """Return how the path of a graph becomes the graph, for a function that changes a graph."""
    is_path = isinstance(value, str | os.PathLike)
    return "tfg.load(path) returns the graph of a file" if is_path and expected == "Graph" else None
