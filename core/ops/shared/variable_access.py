"""Helpers of kernels on variables: the look-up of a handle, and checks before a write."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ...runtime.state.resources import Variable, no_value_hint
from ...support.errors import InvalidArgumentError, NotFoundError
from ...types.shapes import Shape

_FEW: Final = 128
"""The number of indices up to which a set is faster than a sorted array."""


def variable_behind(handle: Any) -> Variable:
    """Return the variable of a handle, initialized or not; InvalidArgumentError for another object."""
    # np.size is slow for arrays, and every access to a variable passes here.
    size = handle.size if isinstance(handle, np.ndarray) else np.size(handle)
    content = handle.item() if size == 1 else None
    if not isinstance(content, Variable):
        raise InvalidArgumentError(f"the handle leads to a {type(content).__name__}, not to a variable")
    return content


def resource_variable(handle: Any) -> Variable:
    """Return the initialized variable behind a handle; NotFoundError if nothing was assigned yet."""
    variable = variable_behind(handle)
    if not variable.is_initialized:
        raise NotFoundError(
            f"resource variable {variable.name} does not exist: it is uninitialized or was destroyed",
            hint=no_value_hint(variable.name),
        )
    return variable


def same_shape(variable: Variable, value: Any, op: str) -> None:
    """Raise InvalidArgumentError if the variable's value and `value` differ in dtype or shape."""
    if variable.dtype.numpy != value.dtype:
        message = f"{op} cannot update '{variable.name}' of dtype {variable.dtype} with a value of dtype {value.dtype}"
        raise InvalidArgumentError(message)
    current = variable.read().shape
    if current != value.shape:
        raise InvalidArgumentError(
            f"{op} cannot update variable '{variable.name}' of shape {Shape(current)} with a value of {Shape(value.shape)}"
        )


def rounds_without_repeats(indices: Any) -> list[Any]:
    """Group positions in `indices` so that no row occurs twice in a group: all first occurrences, then all second
    occurrences ...
    """
    # Nothing repeats in most gradients of embeddings: then one round updates all rows without a copy.
    if len(indices) <= _FEW and len(set(indices.tolist())) == len(indices):
        return [slice(None)] if len(indices) else []
    order = np.argsort(indices, kind="stable")
    ordered = indices[order]
    is_first = np.ones(len(indices), bool)
    is_first[1:] = ordered[1:] != ordered[:-1]
    if is_first.all():
        return [slice(None)] if len(indices) else []
    starts = np.flatnonzero(is_first)
    # How many earlier positions name the same row.
    occurrence = np.arange(len(indices)) - np.repeat(starts, np.diff(np.append(starts, len(indices))))
    ends = np.cumsum(np.bincount(occurrence))
    return np.split(order[np.argsort(occurrence, kind="stable")], ends[:-1])
