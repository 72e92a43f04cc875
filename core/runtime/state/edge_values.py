"""What flows along edges at run time.

A tensor is a NumPy array or NumPy scalar of the dtype's NumPy equivalent. Strings are object arrays of bytes; resources and
variants are object arrays of Python objects, mostly of rank 0. A reference edge carries the `resources.Variable` itself.
"""

from __future__ import annotations

from typing import Any, Final, Self

import numpy as np

from ...support.errors import InvalidArgumentError
from ...types.dtypes import DType, string


class _Dead:
    """The one value on edges of the branch that was not taken."""

    def __repr__(self) -> str:
        return "DEAD"


DEAD: Final = _Dead()


class WouldBlock(Exception):
    """A kernel would wait for another node: dequeue from an empty queue, insert into a full one.

    The executor runs the node again after others of the same run; where nothing else can run it raises
    DeadlineExceededError with `reason`, which names the resource. The kernel has changed nothing that it would do twice.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Batched:
    """Many values of one tensor, along the first axis of `values`; only a hook can take them through a plan."""

    __slots__ = ("values",)

    def __init__(self, values: np.ndarray[Any, Any]) -> None:
        self.values = values

    @property
    def rank(self) -> int:
        """The rank of one member."""
        return self.values.ndim - 1


class RunState:
    """What a handle leads to and one run changes; a run for a batch has one for each member, of another name."""

    name: str

    def copied(self, name: str) -> Self:
        """One of the same contents that changes apart from this one."""
        raise NotImplementedError


def scalar_object(value: Any) -> np.ndarray[Any, Any]:
    """A Python object (resource, variant, bytes) as the array of rank 0 that flows along edges."""
    array = np.empty((), object)
    array[()] = value
    return array


def object_array(values: list[Any], shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """Python objects as an object array; lists among them stay elements."""
    array = np.empty(len(values), object)
    for i, value in enumerate(values):
        array[i] = value
    return array.reshape(shape)


def is_of(value: Any, dtype: DType) -> bool:
    """True where a tensor's elements are of a dtype. Objects are told by the first of them: texts, or what handles hold."""
    if not dtype.is_object:
        return bool(value.dtype == dtype.numpy)
    return value.dtype == object and (not value.size or isinstance(value.item(0), bytes) is (dtype.base is string))


def is_true(value: Any) -> bool:
    """What TensorFlow takes for true: a scalar other than zero or an empty string, any other tensor that is not empty."""
    if value.__class__ is np.bool_:
        return bool(value)
    if np.ndim(value):
        return np.size(value) > 0
    if value.dtype != object:
        return bool(value)
    if not isinstance(value.item(), bytes):
        raise InvalidArgumentError(f"a {type(value.item()).__name__} is neither true nor false")
    return len(value.item()) > 0
