"""Dataclasses with methods on demand behave as those of the standard library."""

from __future__ import annotations

import copy
import dataclasses as standard
import inspect
import pathlib
import pickle
import re
from typing import Any, ClassVar

import pytest

import tfg
from tfg.core.support import dataclasses as own

ROOT = pathlib.Path(tfg.__file__).parent

OPTIONS = [
    {},
    {"frozen": True},
    {"slots": True},
    {"frozen": True, "slots": True},
    {"eq": False},
    {"frozen": True, "slots": True, "repr": False},
    {"frozen": True, "slots": True, "kw_only": True},
]


def same_classes(options: dict[str, bool]) -> list[Any]:
    """Return a class with all kinds of fields, made by the standard library and by tfg."""

    def made(dataclass: Any) -> Any:
        @dataclass(**options)
        class Point:
            """A point."""

            kind: ClassVar[str] = "point"
            x: int
            y: float = 2.0
            z: int = standard.field(default=3, compare=False, repr=False)
            last: str = standard.field(default="end", kw_only=True)
            tags: dict[str, int] = standard.field(default_factory=dict, hash=False)
            length: int = standard.field(init=False, default=7)

            def __post_init__(self) -> None:
                object.__setattr__(self, "length", self.x + self.z)

        return Point

    return [made(standard.dataclass), made(own.dataclass)]


def outcome(of: Any) -> object:
    """Return what a call returns, or the class and the text of its error."""
    try:
        return of()
    except Exception as error:
        return type(error), str(error)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_behaviour_is_that_of_the_standard_library(options):
    def behaviour(kind: Any) -> list[object]:
        point, other = kind(x=1), kind(x=1, z=3, tags={})
        return [
            [outcome(lambda name=name: getattr(point, name)) for name in ("x", "y", "z", "last", "tags", "length")],
            outcome(lambda: kind()),
            outcome(lambda: kind(1, 2).y),
            outcome(lambda: kind(x=1, w=2)),
            point == other,
            point == kind(x=2),
            point == (1, 2.0),
            outcome(lambda: hash(point) == hash(other)),
            (kind.__hash__ is None, kind.__match_args__, kind.__doc__, str(inspect.signature(kind))),
            repr(point) == object.__repr__(point) or repr(point),
            outcome(lambda: setattr(point, "x", 5)),
            outcome(lambda: delattr(other, "y")),
            standard.asdict(standard.replace(point, x=4)),
            standard.asdict(copy.copy(point)),
        ]

    theirs, ours = map(behaviour, same_classes(options))
    assert ours == theirs


@own.dataclass(frozen=True, slots=True)
class Base:
    first: int


@own.dataclass(frozen=True, slots=True)
class Derived(Base):
    second: Base | None = None

    def __repr__(self) -> str:
        return "derived"


@own.dataclass(frozen=True)
class Compared:
    number: int

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Compared) and self.number % 10 == other.number % 10


def test_derived_objects_keep_their_fields_in_another_process():
    derived = Derived(1, Base(2))
    assert pickle.loads(pickle.dumps(derived)) == derived == Derived(first=1, second=Base(2))
    assert (repr(derived), repr(derived.second)) == ("derived", "Base(first=2)")
    with pytest.raises(standard.FrozenInstanceError, match="cannot assign to field 'first'"):
        derived.first = 2


def test_methods_of_the_class_itself_stay():
    assert Compared(1) == Compared(11)
    assert hash(Compared(1)) == hash((1,))


def test_a_method_is_compiled_when_it_is_used():
    @own.dataclass
    class Late:
        value: int

    assert not inspect.isfunction(vars(Late)["__init__"])
    assert Late(3).value == 3
    assert inspect.isfunction(vars(Late)["__init__"])


@pytest.mark.parametrize("use", [hash, lambda point: point == point], ids=["hash", "equality"])
def test_an_interruption_while_a_method_is_compiled_stays_one(use, monkeypatch):
    """Python takes some errors of a look-up for a missing method: an interrupted object would be unhashable."""

    @own.dataclass(frozen=True)
    class Point:
        x: int

    def interrupted(*args: Any, **names: Any) -> Any:
        raise KeyboardInterrupt

    point = Point(1)
    with monkeypatch.context() as patch:
        patch.setattr(own, "exec", interrupted, raising=False)
        with pytest.raises(KeyboardInterrupt):
            use(point)
    assert use(point) in (hash((1,)), True)


def test_classes_of_the_product_are_made_here():
    standard_import = re.compile(r"^\s*(import|from) dataclasses\b", re.MULTILINE)
    sources = [path for room in ("cli", "core", "formats") for path in (ROOT / room).rglob("*.py")]
    assert {path.stem for path in sources if standard_import.search(path.read_text())} == {"dataclasses"}
