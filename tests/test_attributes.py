"""Kernels ignore no attribute: every attribute is bound and read, or has a reason for being without effect."""

from __future__ import annotations

import dis
import functools
import inspect
import itertools
import re

import pytest

from tests.attribute_reasons import ATTRIBUTES
from tfg.core.inference.binding import attr_bundles, keyword_names
from tfg.core.registry import registry
from tfg.core.registry.catalog import CATALOG


@functools.cache
def without_effect() -> list[tuple[str, str]]:
    """(op, attribute) of each attribute that neither a kernel nor a shape function nor the choice of a kernel reads."""
    registry.load_all_families()
    ops = [op for op in sorted(registry.registered_ops()) if CATALOG.get(op) is not None and registry.kernels(op)]
    return [(op, name) for op in ops for name in sorted(CATALOG[op].attrs.keys() - read_attributes(op))]


def read_attributes(op: str) -> set[str]:
    definition = CATALOG[op]
    args = (*definition.inputs, *definition.outputs)
    names = {name for arg in args for name in (arg.type_attr, arg.number_attr, arg.type_list_attr) if name}
    for kernel in registry.kernels(op):
        names |= {*kernel.dtypes, *read_by(kernel.function, definition)}
    shape = registry.shape_function(op)
    return names | (read_by(shape, definition) if shape is not None else set())


def read_by(function, definition) -> set[str]:
    """Return the attributes that a function binds and reads, or requests from the node."""
    inner = inspect.unwrap(function)
    code = getattr(inner, "__code__", None)
    bound = {name for name in keyword_names(function, frozenset(definition.attrs)) if code is None or reads(code, name)}
    for name, bundle in attr_bundles(function).items():
        bound |= {field for field in bundle._fields if code is None or reads_field(code, name, field, bundle)}
    # A dataset op has a function by the attribute of the parameter's name.
    functions = {name for name, kind in getattr(inner, "__annotations__", {}).items() if kind == "GraphFunction"}
    return bound | ((functions | texts_of(inner)) & set(definition.attrs))


def texts_of(function) -> set[str]:
    """Return the texts in a function's code, and in the functions to which it hands its context, the node among it."""
    code = getattr(function, "__code__", None)
    if code is None:
        return set()
    called = (function.__globals__.get(name) for name in code.co_names)
    handed = [f for f in called if inspect.isfunction(f) and "ctx" in f.__code__.co_varnames[:1] and f is not function]
    return {const for const in code.co_consts if isinstance(const, str)}.union(*map(texts_of, handed))


def reads(code, name: str) -> bool:
    """Return True if a function's code reads a parameter, or accesses the parameter in a way other than by name."""
    parameters = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    if name not in parameters or name in code.co_cellvars:
        return True
    return any(name == i.argval or (isinstance(i.argval, tuple) and name in i.argval) for i in dis.get_instructions(code))


def reads_field(code, name: str, field: str, bundle: type) -> bool:
    """True where the code of a function reads a field of a parameter that is a bundle, or hands the bundle on."""
    steps = [step for step in dis.get_instructions(code) if step.opname != "CACHE"]
    taken = {after.argval for step, after in itertools.pairwise(steps) if step.argval == name}
    return name in code.co_cellvars or field in taken or not taken <= set(bundle._fields)


@pytest.mark.slow
def test_what_has_no_effect_has_a_reason():
    assert not [f"{op}: {name}" for op, name in without_effect() if not any(holds(row, op, name) for row in ATTRIBUTES)]


def test_reasons_are_needed():
    needless = [row for row in ATTRIBUTES if not row[2] or not any(holds(row, op, name) for op, name in without_effect())]
    assert not needless


def holds(row: tuple[str, str, str], op: str, name: str) -> bool:
    return bool(re.search(row[0], op)) and bool(re.fullmatch(row[1], name))
