"""Checks of arguments: the types are those of the annotations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

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
