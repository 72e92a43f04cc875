"""Barriers: elements that become ready once all their components have come."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...numerics.binary_heap import MinHeap
from ...runtime.state.edge_values import WouldBlock
from ...runtime.state.resources import Shared
from ...support.errors import CancelledError, InvalidArgumentError, OutOfRangeError
from ..shared.turns import Line
from ._queues import QueueSpec

_FIRST_INDEX = -(1 << 63)
_MISSING: Any = object()


@dataclasses.dataclass
class _Incomplete:
    """An element with missing components; `index` numbers the insertion that first brought its key."""

    index: int
    components: list[Any]


class Barrier(Shared):
    """A barrier: components are inserted by key; complete elements leave in the order of their first insertion."""

    def __init__(self, name: str, spec: QueueSpec) -> None:
        self.name = name
        self.spec = spec
        self.is_closed = False
        self._cancels = False
        self._index = _FIRST_INDEX
        self._incomplete: dict[bytes, _Incomplete] = {}
        self._ready = MinHeap()
        self.line = Line()

    @property
    def incomplete_size(self) -> int:
        return len(self._incomplete)

    @property
    def ready_size(self) -> int:
        return len(self._ready)

    def close(self, cancel_pending: bool) -> None:
        """Take no new keys, with `cancel_pending` no components either; CancelledError where that was said before."""
        if self.is_closed and (self._cancels or not cancel_pending):
            raise CancelledError(f"Barrier '{self.name}' is already closed.")
        self.is_closed = True
        self._cancels = self._cancels or cancel_pending
        if cancel_pending:
            self._incomplete.clear()
        self.line.serve()

    def insert_many(self, keys: Sequence[bytes], values: np.ndarray[Any, Any], component: int) -> None:
        """Insert a component for each key."""
        if self.is_closed and (self._cancels or (keys and not self._incomplete)):
            raise CancelledError(f"Barrier {self.name} is closed.  Pending enqueues cancelled: {self._cancels}.")
        is_new = [self._insert(key, value, component) for key, value in zip(keys, values)]
        if any(is_new):
            self._index += 1
        self.line.serve()

    def _insert(self, key: bytes, value: Any, component: int) -> bool:
        """Add a component; return True where the key is new."""
        element = self._incomplete.get(key)
        is_new = element is None
        if element is None:
            if self.is_closed:
                raise CancelledError(
                    f"Barrier {self.name} is closed, but attempted to insert a brand new key: {key!r}.  "
                    f"Pending inserts are {'' if self._cancels else 'not '}cancelled, so not inserting this key."
                )
            element = self._incomplete[key] = _Incomplete(self._index, [_MISSING] * len(self.spec.dtypes))
        if element.components[component] is not _MISSING:
            raise InvalidArgumentError(f"Key {key!r} already has a value for component {component} in barrier {self.name}")
        element.components[component] = value
        if _MISSING not in [c if c is _MISSING else None for c in element.components]:
            del self._incomplete[key]
            self._ready.push(element.index, (element.index, key, element.components))
        return is_new

    def take_many(self, count: int, allow_small_batch: bool, wait_for_incomplete: bool) -> list[Any]:
        """Complete elements as (index, key, components); fewer than `count` only from a closed barrier where allowed."""
        available = len(self._ready)
        if available >= count:
            return [self._ready.pop() for _ in range(count)]
        waits = bool(self._incomplete) and (wait_for_incomplete or not allow_small_batch or not available)
        if not self.is_closed or (waits and not self._cancels):
            raise WouldBlock(f"barrier '{self.name}' has {available} complete elements of {count} requested")
        if not allow_small_batch or not available:
            raise OutOfRangeError(
                f"Barrier '{self.name}' is closed and has insufficient elements (requested {count}, total size {available})"
            )
        return [self._ready.pop() for _ in range(available)]
