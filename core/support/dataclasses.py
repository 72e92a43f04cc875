"""Dataclasses as the standard library makes them, except that a method is compiled when it is first used.

The standard library compiles six functions for each class, which take a fifth of the time of a short command. A command
imports a hundred classes, and makes objects of a few.
"""

from __future__ import annotations

import reprlib
import sys
from collections.abc import Callable, Sequence
from dataclasses import MISSING as MISSING
from dataclasses import Field as Field
from dataclasses import FrozenInstanceError as FrozenInstanceError
from dataclasses import asdict as asdict
from dataclasses import dataclass as _standard
from dataclasses import field as field
from dataclasses import fields as fields
from dataclasses import is_dataclass as is_dataclass
from dataclasses import replace as replace
from types import MemberDescriptorType
from typing import TYPE_CHECKING, Any

_PARAMS = "__dataclass_params__"
_FACTORY = type("Factory", (), {"__repr__": lambda _: "<factory>"})()
"""The default of a parameter whose value a function makes."""


class _OnDemand:
    """A method of a class that takes its own place, compiled, when it is first looked up."""

    def __init__(self, owner: type, name: str, compiled: Callable[[type], Any]) -> None:
        self.owner, self.name, self.compiled = owner, name, compiled

    def __get__(self, instance: object, kind: type | None = None) -> Any:
        method = self.compiled(self.owner)
        # Two threads may both compile the method: either result is right, and one stays.
        setattr(self.owner, self.name, method)
        return method.__get__(instance, kind)


def _on_first_call(owner: type, name: str, compiled: Callable[[type], Any]) -> Any:
    """Return a method that takes its own place, compiled, when it is first called.

    Python calls `__hash__` and `__eq__` in C, and there takes any error of a descriptor for a missing method: a signal that
    arrives while `_OnDemand` compiles would make the object unhashable, or unequal to its like. Errors of a call are kept.
    """

    def method(self: Any, *others: Any) -> Any:
        function = compiled(owner)
        setattr(owner, name, function)
        return function(self, *others)

    return method


def _lazy(frozen: bool = False, slots: bool = False, eq: bool = True, repr: bool = True, kw_only: bool = False) -> Any:
    """Return the decorator `dataclasses.dataclass` with these options."""

    def decorate(plain: type) -> Any:
        # A class of frozen objects inherits from such classes only, also where a user's class is made by the standard library.
        inherits_frozen = any(vars(base)[_PARAMS].frozen for base in plain.__mro__[1:] if _PARAMS in vars(base))
        # The standard decorator still finds the fields and makes the slots; it only compiles no methods. In each annotation
        # that is a text it looks for three names, which takes half of its time: here texts are kept from it.
        annotations = vars(plain).get("__annotations__", {})
        plain.__annotations__ = {name: None if _is_plain(kind) else kind for name, kind in annotations.items()}
        made: Any = _standard(
            init=False, repr=False, eq=False, frozen=frozen and inherits_frozen, slots=slots, kw_only=kw_only
        )(plain)
        made.__annotations__ = annotations
        for name, kind in annotations.items():
            made.__dataclass_fields__[name].type = kind
        # The standard library looks here for a class that inherits from this one.
        made.__dataclass_params__.frozen = frozen
        methods: dict[str, Any] = {"__init__": _OnDemand(made, "__init__", _frozen_constructor if frozen else _constructor)}
        if repr:
            methods["__repr__"] = _text
        if eq:
            methods["__eq__"] = _on_first_call(made, "__eq__", _equality)
            # As in the standard library: objects that are equal and can change have no hash.
            methods["__hash__"] = _on_first_call(made, "__hash__", _hashing) if frozen else None
        if frozen:
            methods |= _refusals(made) | ({"__getstate__": _state, "__setstate__": _set_state} if slots else {})
        for name, method in methods.items():
            if vars(plain).get(name) is None:  # a class with an __eq__ has the __hash__ None
                setattr(made, name, method)
        return made

    return decorate


def _is_plain(annotation: object) -> bool:
    """Return True for the text of a type that makes no difference to a dataclass."""
    return isinstance(annotation, str) and not annotation.startswith(
        ("ClassVar", "InitVar", "KW_ONLY", "typing.", "dataclasses.")
    )


if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(plain: type | None = None, /, **options: bool) -> Any:
        """Make a class a dataclass: the decorator, with or without options."""
        return _lazy(**options) if plain is None else _lazy()(plain)


def _compiled(owner: type, name: str, parameters: str, lines: Sequence[str], **names: Any) -> Any:
    """Return a function in the module of the class; `names` are the values that its text refers to."""
    body = "\n".join(f"  {line}" for line in lines)
    text = f"def make({', '.join(names)}):\n def {name}({parameters}):\n{body}\n return {name}"
    space: dict[str, Any] = {}
    exec(text, vars(sys.modules[owner.__module__]), space)
    function = space["make"](**names)
    function.__qualname__ = f"{owner.__qualname__}.{name}"
    return function


def _frozen_constructor(owner: type) -> Any:
    slots: dict[str, Any] = {part.name: getattr(owner, part.name, None) for part in fields(owner)}
    if not all(isinstance(slot, MemberDescriptorType) for slot in slots.values()):
        return _constructor(owner, "set_field(self, {0!r}, {1})", set_field=object.__setattr__)
    # A slot's own setter takes a third of the time of object.__setattr__, which looks the slot up by its name.
    return _constructor(owner, "set_{0}(self, {1})", **{f"set_{name}": slot.__set__ for name, slot in slots.items()})


def _constructor(owner: type, assignment: str = "self.{0} = {1}", **names: Any) -> Any:
    """Return `__init__`, which assigns each field by the text `assignment` of a name and a value; `names` are what it uses."""
    parts = fields(owner)
    # The names are arguments of the function around the constructor: their values cannot clash with names of the module.
    names["factory"] = _FACTORY
    for part in parts:
        default = part.default if part.default_factory is MISSING else part.default_factory
        names |= {} if default is MISSING else {f"default_{part.name}": default}
    lines = [assignment.format(part.name, value) for part in parts if (value := _initial(part)) is not None]
    lines += ["self.__post_init__()"] if hasattr(owner, "__post_init__") else []
    by_place = [_parameter(part) for part in parts if part.init and not part.kw_only]
    by_name = [_parameter(part) for part in parts if part.init and part.kw_only]
    parameters = ["self", *by_place, *(["*", *by_name] if by_name else [])]
    function = _compiled(owner, "__init__", ", ".join(parameters), lines or ["pass"], **names)
    function.__annotations__ = {part.name: part.type for part in parts if part.init} | {"return": None}
    return function


def _parameter(part: Field[Any]) -> str:
    if part.default_factory is not MISSING:
        return f"{part.name}=factory"
    return part.name if part.default is MISSING else f"{part.name}=default_{part.name}"


def _initial(part: Field[Any]) -> str | None:
    """Return the text of the value that the constructor gives a field, or None for a field without a value."""
    default = f"default_{part.name}"
    if part.default_factory is not MISSING:
        return f"{default}() if {part.name} is factory else {part.name}" if part.init else f"{default}()"
    if part.init:
        return part.name
    return None if part.default is MISSING else default


def _values(owner: type, of: str, taken: Callable[[Field[Any]], Any]) -> str:
    """Return the text of a tuple of the values of an object's fields."""
    return f"({''.join(f'{of}.{part.name},' for part in fields(owner) if taken(part))})"


def _equality(owner: type) -> Any:
    sides = [_values(owner, of, lambda part: part.compare) for of in ("self", "other")]
    # As in the standard library: an object of a subclass is never equal to one of its class.
    same_class = "if other.__class__ is self.__class__:"
    return _compiled(
        owner, "__eq__", "self, other", [f"{same_class} return {sides[0]} == {sides[1]}", "return NotImplemented"]
    )


def _hashing(owner: type) -> Any:
    values = _values(owner, "self", lambda part: part.compare if part.hash is None else part.hash)
    return _compiled(owner, "__hash__", "self", [f"return hash({values})"])


@reprlib.recursive_repr()
def _text(self: Any) -> str:
    values = (f"{part.name}={getattr(self, part.name)!r}" for part in fields(self) if part.repr)
    return f"{type(self).__qualname__}({', '.join(values)})"


def _refusals(owner: type) -> dict[str, Any]:
    """Return the methods by which the fields of a frozen object keep their values."""
    names = {part.name for part in fields(owner)}

    def __setattr__(self: Any, name: str, value: Any) -> None:
        # As in the standard library: a subclass that is no dataclass may have attributes of its own.
        if type(self) is owner or name in names:
            raise FrozenInstanceError(f"cannot assign to field {name!r}")
        object.__setattr__(self, name, value)

    def __delattr__(self: Any, name: str) -> None:
        if type(self) is owner or name in names:
            raise FrozenInstanceError(f"cannot delete field {name!r}")
        object.__delattr__(self, name)

    return {"__setattr__": __setattr__, "__delattr__": __delattr__}


def _state(self: Any) -> list[Any]:
    """Return the values of a frozen object with slots, for a copy or another process."""
    return [getattr(self, part.name) for part in fields(self)]


def _set_state(self: Any, state: Sequence[Any]) -> None:
    for part, value in zip(fields(self), state):
        object.__setattr__(self, part.name, value)
