"""Annotations of the public functions and methods: none is missing, and few results are of any type."""

from __future__ import annotations

import functools
import inspect
import re
import typing

import pytest

import tfg

OF_ANY_TYPE = {
    "ClusterSession.run": "a value or a list of values, as the fetches are",
    "GraphBuilder.apply": "an op that the caller names by text",
    "Node.attr": "an attribute of any kind; attr_of takes the kind",
    "Session.run": "nested fetches; the overloads type the others",
    "check_numerics": "the values of a node, which are a value or a tuple",
    "SessionLike.run": "a value or a list of values, as the fetches are",
}


def functions_of(cls):
    """Public methods and properties of a class, those of its bases in tfg included."""
    for base in cls.__mro__:
        if base.__module__.partition(".")[0] == "tfg":
            for name, entry in vars(base).items():
                function = next((getattr(entry, a) for a in ("fget", "func", "__func__") if hasattr(entry, a)), entry)
                # The __init__ of a protocol is one of the module typing.
                is_own = inspect.isfunction(function) and function.__module__ != "typing"
                if is_own and (not name.startswith("_") or name == "__init__"):
                    yield f"{cls.__name__}.{name}", function


def public_functions():
    for name in tfg.__all__:
        thing = getattr(tfg, name)
        if inspect.isclass(thing):
            yield from functions_of(thing)
        elif callable(thing):
            yield name, thing


FUNCTIONS = dict(public_functions())


def test_parameters_have_types():
    parameters = [(name, p) for name, f in FUNCTIONS.items() for p in inspect.signature(f).parameters.values()]
    assert not [(name, p.name) for name, p in parameters if p.annotation is p.empty and p.name not in ("self", "cls")]


def test_results_have_types():
    signatures = {name: inspect.signature(function) for name, function in FUNCTIONS.items()}
    assert not [name for name, signature in signatures.items() if signature.return_annotation is signature.empty]


def test_no_default_shows_the_address_of_an_object():
    assert not [name for name, function in FUNCTIONS.items() if " at 0x" in str(inspect.signature(function))]


def test_rows_that_a_function_returns_have_tables():
    """Tuples of other things than rows are names, and pictures that show themselves."""
    results = {name: str(inspect.signature(function).return_annotation) for name, function in FUNCTIONS.items()}
    tuples = {name: re.findall(r"tuple\[(\w+), \.\.\.\]", result) for name, result in results.items() if "." not in name}
    assert {one for rows in tuples.values() for one in rows} == {"str", "Drawing"}


def test_what_is_of_any_type_is_said_with_the_reason():
    of_any_type = {name for name, function in FUNCTIONS.items() if inspect.signature(function).return_annotation == "Any"}
    assert of_any_type == set(OF_ANY_TYPE)


@pytest.mark.parametrize("function", [tfg.explain, tfg.ops, tfg.Session.run, tfg.Session.make_callable])
def test_results_that_depend_on_arguments_have_overloads(function):
    overloads = [inspect.signature(one).return_annotation for one in typing.get_overloads(inspect.unwrap(function))]
    assert len(set(overloads)) >= 2
    assert functools.reduce(lambda types, one: types | {one}, overloads, set()) - {"Any", "Callable[..., Any]"}
