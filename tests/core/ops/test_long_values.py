"""Errors of kernels show the beginning of a long value, not the whole."""

from __future__ import annotations

import time

import numpy as np
import pytest

from tfg.core.building.builder import GraphBuilder
from tfg.core.registry.catalog import CATALOG, OpDef
from tfg.core.registry.registry import has_kernel
from tfg.core.runtime.session.session import Session
from tfg.core.support.errors import InvalidArgumentError, TfgError
from tfg.core.support.words import shortened
from tfg.core.types.dtypes import DType, from_name

LONGEST = 1_200
"""The number of characters of an error and its hint: a message of 1,000 at most, and the names of node and op."""
TEXT = b'RIFF\x00 it\'s "quoted" [1, 2, \xff ' * 4000


def value_of(dtype: DType):
    if dtype.name == "string":
        return np.array([TEXT, TEXT], object)
    return np.arange(3000).astype(dtype.numpy)


def dtype_of(definition: OpDef, arg) -> DType | None:
    """Return a dtype that an argument takes, None where the op needs an attribute or a resource."""
    if arg.is_list:
        return None
    if arg.type_attr is None:
        return arg.dtype
    attr = definition.attrs[arg.type_attr]
    allowed = attr.allowed or [from_name("float")]
    return attr.default if attr.has_default and attr.default in allowed else allowed[0]


def error_of(definition: OpDef) -> TfgError | None:
    """Return the error of an op on long values, if the op can be built without further attributes."""
    dtypes = [dtype_of(definition, arg) for arg in definition.inputs]
    if not dtypes or any(dtype is None or dtype.is_ref or dtype.name in ("resource", "variant") for dtype in dtypes):
        return None
    b = GraphBuilder()
    try:
        b.apply(definition.name, *(b.constant(value_of(dtype)) for dtype in dtypes), name="op")
    except (TfgError, TypeError, ValueError):
        return None
    try:
        Session(b.graph, timeout=100).run("op" if not definition.outputs else b.graph.node("op").output().name)
    except TfgError as error:
        return error
    return None


@pytest.mark.slow
def test_errors_of_kernels_are_short():
    ops = [op for op in CATALOG if has_kernel(op) and not CATALOG[op].is_stateful]
    errors = {op: error for op in ops if (error := error_of(CATALOG[op])) is not None}
    assert len(errors) > 100
    lengths = {op: len(f"{error}{error.hint or ''}") for op, error in errors.items()}
    assert not {op: length for op, length in lengths.items() if length > LONGEST}


@pytest.mark.parametrize("value", [repr(TEXT), f"'{'a' * 5000}'", str(list(range(2000))), "x" * 5000, TEXT.decode("latin-1")])
def test_any_value_is_cut(value):
    error = InvalidArgumentError(f"the name is wrong: {value}", details=[f"got {value}"])
    assert error.message.startswith("the name is wrong: ") and "characters)" in error.message
    assert len(error.message) <= 1000 and len(error.details[0]) <= 1000


def test_a_quoted_value_leaves_room_for_the_rest():
    text = shortened(f"'{'a' * 400}' is not a number: write 1 or 2")
    assert len(text) < 400 and text.endswith("' is not a number: write 1 or 2")


def test_short_messages_stay():
    text = ", ".join(f"node_{i}" for i in range(80))
    assert shortened(text) == text


def test_many_brackets_are_searched_once():
    """A search from each bracket to the end of the text would take minutes."""
    started = time.process_time()
    assert len(shortened("[" * 1_000_000)) <= 1000
    assert time.process_time() - started < 20
