"""Results of a run: arrays that belong to the caller."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from ...support.errors import ResourceExhaustedError
from ..state.edge_values import Batched

_MOST_HELD: Final = 2
"""The largest ratio of the bytes of a view's base array to the bytes of the view."""


def own_values(names: Sequence[str], values: list[Any]) -> list[Any]:
    """Return fetched values, None for operations, as arrays of the caller.

    Arrays of variables, constants and feeds are copied. Nobody else may hold the list. As in TensorFlow, arrays are in C
    order, and a single string is bytes. Batches stay. Raises ResourceExhaustedError where a copy does not fit into memory.
    """
    return [_own(name, values, place) for place, name in enumerate(names)]


def _own(name: str, values: list[Any], place: int) -> Any:
    """Return a value for the caller. No name is bound to the value here: its references are counted."""
    if type(values[place]) is not np.ndarray:
        return _other(values[place])
    if values[place].dtype == object and values[place].ndim == 0 and isinstance(values[place].item(), bytes):
        return values[place].item()
    if is_alone(values, place) and (values[place].base is None or _is_all(values[place])):
        return values[place]
    try:
        return values[place].copy()
    except MemoryError as error:
        raise ResourceExhaustedError(f"out of memory for the value of '{name}': {error}") from error


def _other(value: Any) -> Any:
    return value if value is None or isinstance(value, Batched) else np.asarray(value)


def is_alone(values: list[Any], place: int) -> bool:
    """True for an array in C order that the list alone refers to, and that may be written to."""
    return _references(values, place) <= _ALONE and bool(values[place].flags.carray)


def _is_all(view: Any) -> bool:
    """True for a view that shows most of an array to which nothing else refers."""
    held = [view.base]
    if type(held[0]) is not np.ndarray or not held[0].flags.owndata or not held[0].flags.writeable:
        return False
    return _references(held, 0) <= _ALONE + 1 and held[0].nbytes <= _MOST_HELD * view.nbytes  # + 1: the view


def _references(values: list[Any], place: int) -> int:
    return sys.getrefcount(values[place])


_ALONE: Final = _references([np.empty(0)], 0)
"""The count that `_references` returns for an array that only the list refers to."""
