"""Arguments of public functions: checks of their types at the call, and parameters that several functions share.

    class LookKeywords(TypedDict, total=False):
        depth: Annotated[int | None, None, "Open the scopes down to a depth."]

    @checked
    def draw(graph: GraphLike, **options: Unpack[LookKeywords]) -> Drawing: ...

Each key of the dictionary is a parameter with a type, a default and a sentence. `checked` checks the type, fills in the
default, and has the signature and the help of the function show the parameter.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import functools
import inspect
import os
import re
import sys
import textwrap
import types
import typing
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, ParamSpec, TypeVar

from .errors import ArgumentTypeError, InvalidArgumentError, ResourceExhaustedError, nearest_names

_P = ParamSpec("_P")
_R = TypeVar("_R")
_WIDTH: Final = 120
"""The length of a line in a help."""


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
    code = function.__code__
    names = code.co_varnames[: code.co_argcount]
    shared = _shared(function)
    defaults = {name: one.default for name, one in shared.items()}
    known = {*code.co_varnames[: code.co_argcount + code.co_kwonlyargcount], *shared}
    is_open = bool(code.co_flags & inspect.CO_VARKEYWORDS) and not shared

    # At the first call: an import reads no annotation, and a module may define its types below the function.
    @functools.cache
    def classes() -> dict[str, tuple[type, ...]]:
        stated = {name: _classes(kind) for name, kind in kinds.items()}
        texts = {name: text for name, text in function.__annotations__.items() if name != "return"}
        # A parameter whose annotation names an unknown class is not checked.
        annotated = _known({name: _Annotation(text, function.__globals__) for name, text in texts.items()})
        return {**annotated, **_known({name: one.kind for name, one in shared.items()}), **stated}

    @functools.wraps(function)
    def call(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        for name, value in (*zip(names, args), *kwargs.items()):
            expected = classes().get(name)
            if expected is not None and not isinstance(value, expected) and not _are_names(value, expected):
                problem = f"{function.__qualname__}: {name} must be {_named(expected)}, not {type(value).__name__}"
                raise ArgumentTypeError(problem, hint=_next_step(_named(expected), value))
            # Before the call: with `**options` Python would take any name, and its own error proposes none.
            if name not in known and not is_open:
                problem = f"{function.__qualname__} has no parameter '{name}'"
                raise ArgumentTypeError(problem, hint=nearest_names(name, known))
        # The function itself has `**options`, so the defaults of the dictionary are filled in here.
        if defaults:
            kwargs.update(defaults | kwargs)
        # All public functions pass here, so this is the one place where a graph that is nested too deeply becomes an error.
        with bounded_depth():
            return function(*args, **kwargs)

    if shared:
        _show(call, shared)
    return call


class _SharedParameter(NamedTuple):
    """A parameter from a dictionary of types."""

    kind: _Annotation
    default: Any
    sentence: str


class _Annotation(NamedTuple):
    """The text of a type, and the names of the module that has the text."""

    text: str
    names: Mapping[str, Any]


def _shared(function: Callable[..., Any]) -> dict[str, _SharedParameter]:
    """Return the parameters for which `**options: Unpack[DICTIONARY]` stands; none without such a parameter."""
    unpacked = [text for text in function.__annotations__.values() if text.startswith("Unpack[")]
    if not unpacked:
        return {}
    dictionary = function.__globals__[unpacked[0].removeprefix("Unpack[").removesuffix("]")]
    return {name: _declared(kind) for name, kind in dictionary.__annotations__.items()}


def _declared(reference: typing.ForwardRef) -> _SharedParameter:
    """Return the parameter of `Annotated[TYPE, DEFAULT, SENTENCE]`, whose type may be known to type checkers only."""
    annotated = ast.parse(reference.__forward_arg__, mode="eval").body
    assert isinstance(annotated, ast.Subscript) and isinstance(annotated.slice, ast.Tuple)
    kind, default, sentence = annotated.slice.elts
    # The default is an expression of the module that has the dictionary, not of the module that has the function.
    names = vars(sys.modules[str(reference.__forward_module__)])
    value = eval(compile(ast.Expression(default), "<default>", "eval"), names)
    return _SharedParameter(_Annotation(ast.unparse(kind), names), value, ast.literal_eval(sentence))


def _show(call: Callable[..., Any], shared: Mapping[str, _SharedParameter]) -> None:
    """Have the signature and the help of a function list its shared parameters."""
    signature = inspect.signature(call)
    own = [one for one in signature.parameters.values() if one.kind is not one.VAR_KEYWORD]
    more = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=one.default, annotation=one.kind.text)
        for name, one in shared.items()
    ]
    call.__signature__ = signature.replace(parameters=[*own, *more])  # type: ignore[attr-defined]
    if call.__doc__:
        items = (f"- `{name}`: {one.sentence}" for name, one in shared.items())
        lines = "\n".join(textwrap.fill(item, _WIDTH, subsequent_indent="  ") for item in items)
        call.__doc__ = f"{inspect.cleandoc(call.__doc__)}\n\n{lines}"


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
        # `from None`, as the traceback of the cause has a line for each of a thousand frames.
        raise ResourceExhaustedError("the graph's functions are nested too deeply") from None


def _known(annotations: Mapping[str, _Annotation]) -> dict[str, tuple[type, ...]]:
    members = {name: [_member(part, one.names) for part in _union(one.text)] for name, one in annotations.items()}
    return {name: tuple(dict.fromkeys(sum(parts, ()))) for name, parts in members.items() if all(parts)}


def _union(annotation: str) -> Iterator[str]:
    """Yield the members of an annotation, which the modules keep as text: `Mapping[str, int | str]` and `None`."""
    # By hand, as evaluating the text fails if one of its names is imported for type checkers only.
    start = depth = 0
    for position, sign in enumerate(annotation):
        depth += (sign == "[") - (sign == "]")
        if sign == "|" and not depth:
            yield annotation[start:position].strip()
            start = position + 1
    yield annotation[start:].strip()


def _member(text: str, names: Mapping[str, Any]) -> tuple[type, ...]:
    """Return the classes of a member of an annotation; () for a name that is unknown at run time."""
    # Without the part in brackets: `isinstance` takes Sequence, and refuses Sequence[str].
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
    # `isinstance` raises for a protocol that is not made for run time.
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


def names_of(names: Sequence[str]) -> tuple[str, ...]:
    """Return names given as a single text or as several texts."""
    words = (names,) if isinstance(names, str) else tuple(names)
    expect(str, *words)
    return words


def named(feeds: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return feeds by the names of tensors; ArgumentTypeError for other keys."""
    expect(str, *(feeds or {}))
    return dict(feeds or {})
