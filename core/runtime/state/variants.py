"""Sums and zeros of what tensors hold that are no numbers: lists, maps and optionals in variants, and text.

An object in a variant says by `__add__` and `zeros_like` that it has them, as TensorFlow's types register theirs.
"""

from __future__ import annotations

import contextlib
import contextvars
import dataclasses
from collections.abc import Callable, Iterator
from typing import Any, Final

import numpy as np

from ...support.errors import InvalidArgumentError, UnimplementedError
from ...types.arrays import Array
from ...types.resource_handles import VariantData
from ...types.shapes import Shape
from .edge_values import object_array

_NUMBERS: Final = {"int": "<i4", "long": "<i8", "float": "<f4", "double": "<f8"}
"""The types of plain numbers in a variant constant, which are kept as their bytes."""
_MET: contextvars.ContextVar[dict[tuple[int, ...], tuple[Any, Any]] | None] = contextvars.ContextVar("met", default=None)
"""While a sum or zeros are made: what came of the objects met so far, with these, so that no other takes their identity."""


@contextlib.contextmanager
def _one_walk() -> Iterator[None]:
    """What is done within meets every object once: a list may hold a list many times over, which holds one so, and so on."""
    if _MET.get() is not None:
        yield
        return
    token = _MET.set({})
    try:
        yield
    finally:
        _MET.reset(token)


def _once(make: Callable[..., Any], *items: Any) -> Any:
    """What `make` makes of objects, made once in a walk."""
    met = _MET.get()
    assert met is not None
    key = tuple(map(id, items))
    if key not in met:
        met[key] = items, make(*items)
    return met[key][1]


def added(a: Array, b: Array) -> Array:
    """The sum of two tensors of one shape and dtype, whatever they hold; InvalidArgumentError where these have none."""
    if a.shape != b.shape or a.dtype != b.dtype:
        raise InvalidArgumentError(f"Trying to add elements of shapes {Shape(a.shape)} and {Shape(b.shape)}")
    if a.dtype != object:
        return np.asarray(a + b)
    with _one_walk():
        return object_array([_once(sum_of, x, y) for x, y in zip(a.ravel().tolist(), b.ravel().tolist())], a.shape)


def zeros_like(value: Array) -> Array:
    """Zeros of the tensor's shape and dtype: empty text, the zeros of what variants hold."""
    if value.dtype != object:
        return np.zeros(value.shape, value.dtype)
    with _one_walk():
        return object_array([_once(zero_of, item) for item in value.ravel().tolist()], value.shape)


def sum_of(x: Any, y: Any) -> Any:
    """The sum of two elements; nothing, as a FakeParam has it, adds nothing."""
    if x is None or y is None:
        return y if x is None else x
    if isinstance(x, VariantData) and isinstance(y, VariantData):
        return _sum_of_numbers(x, y)
    if isinstance(x, bytes) == isinstance(y, bytes):
        add = getattr(type(x), "__add__", None)
        total = NotImplemented if add is None else add(x, y)
        if total is not NotImplemented:
            return total
    raise InvalidArgumentError(f"a {type(x).__name__} and a {type(y).__name__} in a variant have no sum")


def _sum_of_numbers(x: VariantData, y: VariantData) -> VariantData:
    number = _NUMBERS.get(x.type_name)
    if number is None or x.type_name != y.type_name:
        raise UnimplementedError(f"variants of type '{x.type_name}' and '{y.type_name}' cannot be added")
    if len(x.metadata) != len(y.metadata) or len(x.metadata) != np.dtype(number).itemsize:
        raise InvalidArgumentError(f"a variant of type '{x.type_name}' has {len(x.metadata)} and {len(y.metadata)} bytes")
    total = np.frombuffer(x.metadata, number) + np.frombuffer(y.metadata, number)
    return dataclasses.replace(x, metadata=total.tobytes())


def zero_of(item: Any) -> Any:
    """The zero of one element; nothing stays nothing."""
    if item is None:
        return None
    if isinstance(item, bytes):
        return b""
    if isinstance(item, VariantData):
        return _zero_number(item)
    if not hasattr(item, "zeros_like"):
        raise InvalidArgumentError(f"a {type(item).__name__} in a variant has no zero")
    return item.zeros_like()


def _zero_number(item: VariantData) -> VariantData:
    """The zero of a number in a variant constant."""
    if item.type_name != "bool" and item.type_name not in _NUMBERS:
        raise UnimplementedError(f"no zero is known of a variant of type '{item.type_name}'")
    return dataclasses.replace(item, metadata=bytes(len(item.metadata)))
