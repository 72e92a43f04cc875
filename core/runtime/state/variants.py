"""Sums and zeros of elements that are no numbers: lists, maps and optionals in variants, and strings; stored variants.

An object in a variant defines `__add__` and `zeros_like`, as TensorFlow's types register theirs.
"""

from __future__ import annotations

import contextlib
import contextvars
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

import numpy as np

from ...codecs import wire
from ...support import dataclasses
from ...support.errors import InvalidArgumentError, UnimplementedError
from ...types.arrays import Array, object_array
from ...types.shapes import Shape
from ...types.tensors import VariantData

_NUMBERS: Final = {"int": "<i4", "long": "<i8", "float": "<f4", "double": "<f8"}
"""The types of plain numbers in a variant constant, which are kept as bytes."""
_MET: contextvars.ContextVar[dict[tuple[int, ...], tuple[Any, Any]] | None] = contextvars.ContextVar("met", default=None)
"""Results of the current sum or zeros, by the ids of the objects; the objects are kept, so that their ids stay taken."""


@contextlib.contextmanager
def _one_walk() -> Iterator[None]:
    """Visit every object only once within the block: nested lists may hold the same list exponentially often."""
    # An inner call belongs to the walk that is under way, whose results it may use.
    if _MET.get() is not None:
        yield
        return
    token = _MET.set({})
    try:
        yield
    finally:
        _MET.reset(token)


def _once(make: Callable[..., Any], *items: Any) -> Any:
    """Return the result of `make` for some objects, computed once in a walk."""
    met = _MET.get()
    assert met is not None
    # Objects are known by identity, because comparing nested lists would itself be exponential.
    key = tuple(map(id, items))
    if key not in met:
        met[key] = items, make(*items)
    return met[key][1]


def added(a: Array, b: Array) -> Array:
    """Return the sum of two tensors of the same shape and dtype, of any kind; InvalidArgumentError if they have no sum."""
    if a.shape != b.shape or a.dtype != b.dtype:
        raise InvalidArgumentError(f"Trying to add elements of shapes {Shape(a.shape)} and {Shape(b.shape)}")
    if a.dtype != object:
        return np.asarray(a + b)
    with _one_walk():
        return object_array([_once(sum_of, x, y) for x, y in zip(a.ravel().tolist(), b.ravel().tolist())], a.shape)


def zeros_like(value: Array) -> Array:
    """Return zeros of the tensor's shape and dtype: empty strings, and the zeros of objects in variants."""
    if value.dtype != object:
        return np.zeros(value.shape, value.dtype)
    with _one_walk():
        return object_array([_once(zero_of, item) for item in value.ravel().tolist()], value.shape)


def sum_of(x: Any, y: Any) -> Any:
    """Return the sum of two elements; None, the value of a FakeParam, adds nothing."""
    if x is None or y is None:
        return y if x is None else x
    if isinstance(x, VariantData) and isinstance(y, VariantData):
        return _sum_of_numbers(x, y)
    if isinstance(x, bytes) == isinstance(y, bytes):
        # The method is looked up on the type, as Python looks up its own operators.
        add = getattr(type(x), "__add__", None)
        total = NotImplemented if add is None else add(x, y)
        if total is not NotImplemented:
            return total
    raise InvalidArgumentError(f"variants with a {type(x).__name__} and a {type(y).__name__} cannot be added")


def _sum_of_numbers(x: VariantData, y: VariantData) -> VariantData:
    number = _NUMBERS.get(x.type_name)
    if number is None or x.type_name != y.type_name:
        raise UnimplementedError(f"variants of type '{x.type_name}' and '{y.type_name}' cannot be added")
    if len(x.metadata) != len(y.metadata) or len(x.metadata) != np.dtype(number).itemsize:
        raise InvalidArgumentError(f"a variant of type '{x.type_name}' has {len(x.metadata)} and {len(y.metadata)} bytes")
    total = np.frombuffer(x.metadata, number) + np.frombuffer(y.metadata, number)
    return dataclasses.replace(x, metadata=total.tobytes())


def zero_of(item: Any) -> Any:
    """Return the zero of an element; None stays None."""
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
    """Return the zero of a number in a variant constant."""
    if item.type_name != "bool" and item.type_name not in _NUMBERS:
        raise UnimplementedError(f"a variant of type '{item.type_name}' has no zero")
    return dataclasses.replace(item, metadata=bytes(len(item.metadata)))


# Variants as checkpoints hold them.

_TYPE_NAME, _METADATA, _TENSORS = 1, 2, 3
"""Numbers of the fields of VariantTensorDataProto."""


@dataclasses.dataclass(frozen=True, slots=True)
class StoredVariant:
    """The stored form of a variant: a VariantTensorDataProto, `message`, which names the type of the variant."""

    message: bytes

    @staticmethod
    def of(kind: str, metadata: bytes, tensors: Iterable[bytes] = ()) -> StoredVariant:
        """Return a variant of the kind; `tensors` are TensorProtos."""
        head = wire.string_field(_TYPE_NAME, kind.encode()) + wire.bytes_field(_METADATA, metadata)
        return StoredVariant(head + b"".join(wire.bytes_field(_TENSORS, tensor) for tensor in tensors))

    @property
    def kind(self) -> str:
        """The type name of the variant; DataLossError if the message is damaged."""
        return b"".join(wire.contents(self.message, _TYPE_NAME)[-1:]).decode("utf-8", "replace")

    @property
    def metadata(self) -> bytes:
        """The data of the variant beside tensors; DataLossError if the message is damaged."""
        return b"".join(wire.contents(self.message, _METADATA)[-1:])

    @property
    def tensors(self) -> list[bytes]:
        """The TensorProtos of the variant; DataLossError if the message is damaged."""
        return wire.contents(self.message, _TENSORS)
