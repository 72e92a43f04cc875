"""Multi-device iterators: elements of a single pass dealt to several devices in turn."""

from __future__ import annotations

import collections
import secrets

from ..runtime.state.resources import Shared
from ..support.errors import FailedPreconditionError, InvalidArgumentError, OutOfRangeError
from .dataset import Dataset, Element, Pull, Spec
from .parallel import outcome_of
from .rewriting import finalized


class MultiDeviceIterator(Shared):
    """A pass with elements dealt to the shards 0, 1, ... and again 0; `incarnation` counts the passes begun.

    Elements of other shards that come before a shard's next element are queued without limit: shards may ask in any order.
    """

    def __init__(self, name: str, spec: Spec, shards: int) -> None:
        self.spec = spec
        self.handle = f"{name}/{secrets.token_hex(8)}"
        self.incarnation = 0
        self._pull: Pull | None = None
        self._waiting: list[collections.deque[Element | Exception]] = [collections.deque() for _ in range(shards)]
        self._turn = 0

    def start(self, dataset: Dataset) -> int:
        """Begin a pass and return its number; InvalidArgumentError where the dataset's elements break the iterator's spec."""
        if dataset.spec.dtypes:
            self.spec.require(dataset.spec)
        self._pull, self._turn = finalized(dataset).begin(), 0
        for queue in self._waiting:
            queue.clear()
        self.incarnation += 1
        return self.incarnation

    def next(self, shard: int, incarnation: int) -> Element:
        """Return the next element of a shard; OutOfRangeError after the last element."""
        if self._pull is None:
            raise FailedPreconditionError(
                "GetNextFromShard() failed because the MultiDeviceIterator has not been initialized."
            )
        if incarnation != self.incarnation:
            raise InvalidArgumentError(f"Invalid incarnation id. Provided: {incarnation}; Expected: {self.incarnation}")
        if not 0 <= shard < len(self._waiting):
            raise InvalidArgumentError(f"shard {shard} does not exist: the iterator has {len(self._waiting)} shards")
        while not self._waiting[shard]:
            self._deal(self._pull)
        outcome = self._waiting[shard].popleft()
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    def _deal(self, pull: Pull) -> None:
        """Queue the next element, or its error, for the shard whose turn has come; OutOfRangeError at the end."""
        dealt = outcome_of(pull)
        if dealt is None:
            raise OutOfRangeError("End of sequence")
        self._waiting[self._turn].append(dealt)
        self._turn = (self._turn + 1) % len(self._waiting)
