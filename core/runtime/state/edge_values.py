"""Values on edges at run time.

A tensor is a NumPy array or NumPy scalar of the dtype's NumPy equivalent. Strings are object arrays of bytes; resources and
variants are object arrays of Python objects, mostly of rank 0. A reference edge carries the `resources.Variable` itself.
"""

from __future__ import annotations

from typing import Any, Final, Self

import numpy as np

from ...support.errors import InvalidArgumentError
from ...types.dtypes import DType, string


class _Dead:
    """The value on edges of a branch that was not taken."""

    def __repr__(self) -> str:
        return "DEAD"


DEAD: Final = _Dead()


class WouldBlock(Exception):
    """A kernel would wait for another node: dequeue from an empty queue, insert into a full queue.

    The executor runs the node again after others of the same run; where nothing else can run, the executor raises
    DeadlineExceededError with `reason`, which names the resource. The kernel has changed nothing that a second call would
    change twice.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Batched:
    """Many values of the same tensor, along the first axis of `values`; only a hook can take them through a plan."""

    __slots__ = ("values",)

    def __init__(self, values: np.ndarray[Any, Any]) -> None:
        self.values = values

    @property
    def rank(self) -> int:
        """The rank of a member."""
        return self.values.ndim - 1


class RunState:
    """A state behind a handle that a run changes; a run for a batch has a copy, of another name, for each member."""

    name: str

    def copied(self, name: str) -> Self:
        """Return a copy with the same contents and the new name, which changes independently."""
        raise NotImplementedError


def scalar_object(value: Any) -> np.ndarray[Any, Any]:
    """Return a Python object (resource, variant, bytes) as the array of rank 0 that flows along edges."""
    # np.array would look into the object: a sequence would become its elements.
    array = np.empty((), object)
    array[()] = value
    return array


def is_of(value: Any, dtype: DType) -> bool:
    """True if a tensor's elements are of a dtype.

    The first element tells the kind of an object array: strings or handles.
    """
    if not dtype.is_object:
        return bool(value.dtype == dtype.numpy)
    return value.dtype == object and (not value.size or isinstance(value.item(0), bytes) is (dtype.base is string))


def is_true(value: Any) -> bool:
    """Return a tensor's truth by TensorFlow's rule.

    A scalar is true unless zero or an empty string, any other tensor unless empty.
    """
    # This is the usual predicate of a loop, asked in each iteration.
    if value.__class__ is np.bool_:
        return bool(value)
    if np.ndim(value):
        return np.size(value) > 0
    if value.dtype != object:
        return bool(value)
    if not isinstance(value.item(), bytes):
        raise InvalidArgumentError(f"a {type(value.item()).__name__} is neither true nor false")
    return len(value.item()) > 0
