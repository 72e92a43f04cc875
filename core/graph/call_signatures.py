"""Signatures of calls: two calls are alike where their arguments have the same dtypes, shapes and known values.

Unnamed dimensions are told apart only by their places among the arguments. Inference therefore visits a function only once
for all calls whose arguments differ only in the names of unnamed dimensions.
"""

from __future__ import annotations

import collections
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Any, Final

import numpy as np

from ..types.dims import Dim, DimLike, of_same_kind
from ..types.shapes import TensorSpec, substituted

MAX_SIGNATURES: Final = 200
"""The largest number of signatures for which functions are inferred; results of further signatures are unknown."""
_MAX_MORE: Final = 200
"""How many ways to call functions are looked into besides `_EACH` of each, for calls in calls can be of ever more shapes."""
_EACH: Final = 5


class Signatures:
    """In how many ways the calls of functions that were looked into differ."""

    def __init__(self) -> None:
        self._looked_into: collections.Counter[Hashable] = collections.Counter()
        self._total = 0

    def is_full(self, function: Hashable) -> bool:
        """True if a further signature of a function is too many."""
        count = self._looked_into[function]
        # The first signature of a function always counts: a large library must not leave functions unseen.
        return count >= MAX_SIGNATURES or (count > 0 and self._total >= _MAX_MORE + _EACH * len(self._looked_into))

    def add(self, function: Hashable) -> None:
        """Count a further signature of a function."""
        self._looked_into[function] += 1
        self._total += 1


def signature_of(specs: Sequence[TensorSpec]) -> tuple[Hashable, list[str]]:
    """Return a key that is the same for alike arguments, and the unnamed dimensions of the arguments in order."""
    unnamed = list(dict.fromkeys(symbol for spec in specs for symbol in _unnamed(spec)))
    places: dict[str, DimLike] = {symbol: of_same_kind(symbol, -1 - place) for place, symbol in enumerate(unnamed)}
    return tuple(_key(substituted(spec, places) if places else spec) for spec in specs), unnamed


def renamed(specs: Iterable[TensorSpec], before: Sequence[str], now: Sequence[str]) -> list[TensorSpec]:
    """Return the result specs of an alike call: `before` dimensions become `now`, and all other unnamed dimensions become
    new.
    """
    listed = list(specs)
    names: dict[str, DimLike] = {old: Dim.symbol(new) for old, new in zip(before, now)}
    # What the function itself made unknown, such as a number of matches, may be another in each call.
    for spec in listed:
        for symbol in _unnamed(spec):
            names.setdefault(symbol, of_same_kind(symbol))
    return [substituted(spec, names) for spec in listed]


def unnamed_in(specs: Iterable[TensorSpec]) -> set[str]:
    """Return the unnamed dimensions in specs."""
    return {symbol for spec in specs for symbol in _unnamed(spec)}


def _unnamed(spec: TensorSpec) -> Iterator[str]:
    """Yield the unnamed dimensions in a spec's shape, value and handle data."""
    shown: list[Any] = list(spec.shape.dims or ())
    if spec.value is not None and spec.value.dtype == object:
        shown += spec.value.ravel().tolist()
    for item in shown:
        if isinstance(item, Dim):
            yield from item.unnamed
    for part in spec.handle:
        yield from _unnamed(part)


def _key(spec: TensorSpec) -> Hashable:
    return spec.dtype.name, spec.shape, value_key(spec.value), tuple(map(_key, spec.handle))


def value_key(value: np.ndarray[Any, Any] | None) -> Hashable:
    """Return a key that equal values share."""
    if value is None:
        return None
    # Symbolic sizes are objects, whose bytes are addresses.
    items = tuple(value.ravel().tolist()) if value.dtype == object else value.tobytes()
    return value.dtype.str, value.shape, items
