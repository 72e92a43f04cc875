"""Checks of arguments: the types are those of the annotations."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias, TypedDict, Unpack

import pytest

from tfg.core.support.arguments import checked

if TYPE_CHECKING:
    from nowhere import Unknown

Feeds: TypeAlias = Mapping[str, int | str]


@checked
def run(
    names: Sequence[str] | str = (),
    feeds: Feeds | None = None,
    rate: float = 0.0,
    *,
    kind: Literal["a", "b"] = "a",
    of: Unknown | None = None,
    value: Any = None,
    later: Later | None = None,
) -> str:
    return f"{names} {feeds} {rate} {kind} {of} {value}"


@checked(names=list | tuple)
def listed(names: Sequence[str] = (), count: int = 1) -> int:
    return len(names) * count


class LookKeywords(TypedDict, total=False):
    depth: Annotated[int | None, None, "Open the scopes down to a depth."]
    kind: Annotated[Literal["a", "b"], "a", "The kind."]
    of: Annotated[Unknown | None, None, "A type that type checkers alone know."]


class DrawKeywords(LookKeywords, total=False):
    sizes: Annotated[Sequence[int], (1, 2), "The sizes of `width, height`."]


@checked
def drawn(graph: str, *, scale: float = 1.0, **options: Unpack[DrawKeywords]) -> dict[str, Any]:
    """Draw.

    Once.
    """
    return {"graph": graph, "scale": scale, **options}


@checked
def looked(graph: str, **options: Unpack[LookKeywords]) -> dict[str, Any]:
    return dict(options)


class Later:
    """A class below the functions that take it."""


@pytest.mark.parametrize(
    "arguments",
    [
        {}, {"names": "x"}, {"names": ["x"]}, {"names": {"x": 1}.keys()}, {"names": {"x"}}, {"feeds": {}}, {"rate": 1},
        {"kind": "b"}, {"of": 3}, {"value": object()}, {"later": Later()},
    ],
)  # fmt: skip
def test_arguments_of_the_annotated_types_pass(arguments):
    assert run(**arguments)


@pytest.mark.parametrize(
    "arguments, problem",
    [
        ({"names": 3}, "run: names must be Sequence or str, not int"),
        ({"names": iter(["x"])}, "run: names must be Sequence or str, not list_iterator"),
        ({"feeds": []}, "run: feeds must be Mapping or None, not list"),
        ({"rate": "1"}, "run: rate must be float or int, not str"),
        ({"kind": 1}, "run: kind must be str, not int"),
        ({"later": 1}, "run: later must be Later or None, not int"),
    ],
)
def test_other_arguments_are_refused_by_name(arguments, problem):
    with pytest.raises(TypeError) as caught:
        run(**arguments)
    assert str(caught.value) == problem


def test_stated_types_replace_the_annotation():
    assert listed(["x"]) == 1
    with pytest.raises(TypeError, match="listed: names must be list or tuple, not str"):
        listed("x")
    with pytest.raises(TypeError, match="listed: count must be int, not str"):
        listed((), "1")


def test_functions_keep_their_name_and_signature():
    assert run.__name__ == "run" and run.__annotations__["kind"] == "Literal['a', 'b']"


def test_shared_parameters_have_their_defaults_and_types():
    others = {"depth": None, "kind": "a", "of": None, "sizes": (1, 2)}
    assert drawn("g") == {"graph": "g", "scale": 1.0, **others}
    assert drawn("g", scale=2, depth=3, of=4, sizes=[5]) == {
        "graph": "g", "scale": 2, **others, "depth": 3, "of": 4, "sizes": [5],
    }  # fmt: skip
    with pytest.raises(TypeError, match="drawn: depth must be int or None, not str"):
        drawn("g", depth="3")
    with pytest.raises(TypeError, match="looked: kind must be str, not int"):
        looked("g", kind=1)


def test_signatures_and_helps_show_shared_parameters():
    parameters = inspect.signature(drawn).parameters
    assert list(parameters) == ["graph", "scale", "depth", "kind", "of", "sizes"]
    assert {parameters[name].kind for name in ("scale", "depth", "sizes")} == {inspect.Parameter.KEYWORD_ONLY}
    assert (parameters["kind"].annotation, parameters["sizes"].default) == ("Literal['a', 'b']", (1, 2))
    assert inspect.getdoc(drawn).startswith(
        "Draw.\n\nOnce.\n\n- `depth`: Open the scopes down to a depth.\n- `kind`: The kind."
    )
    assert list(inspect.signature(looked).parameters) == ["graph", "depth", "kind", "of"]


@pytest.mark.parametrize(
    ("function", "name", "hint"), [(drawn, "dept", "depth"), (drawn, "scal", "scale"), (run, "fed", "feeds"), (run, "q", None)]
)
def test_unknown_parameters_are_refused_with_the_nearest(function, name, hint):
    with pytest.raises(TypeError, match=f"{function.__name__} has no parameter '{name}'") as caught:
        function("g", **{name: 1})
    assert caught.value.hint == (None if hint is None else f"nearest names: {hint}")


def test_functions_with_other_keywords_take_any():
    @checked
    def marked(graph: str, **marks: int) -> int:
        return sum(marks.values())

    assert marked("g", any=2, one=3) == 5
