"""Iterators: passes over datasets that handles stand for, also dealt to several devices in turn."""

from __future__ import annotations

import collections
import secrets
from typing import ClassVar

from ..codecs import wire
from ..codecs.wire import varint
from ..runtime.state.resources import Shared
from ..runtime.state.run_context import check_time
from ..runtime.state.variants import StoredVariant
from ..support import dataclasses
from ..support.errors import FailedPreconditionError, InvalidArgumentError, OutOfRangeError, TfgError
from .ahead import outcome_of
from .dataset import Dataset, Element, Pull, Spec, ended, require_shapes, tree
from .rewriting import finalized
from .run_options import NOT_OF_ELEMENTS
from .seeds import Seeds

_TAKEN, _SEEDS, _FAILED = 1, 2, 3


@dataclasses.dataclass(frozen=True, slots=True)
class IteratorState:
    """Position of a pass: the number of elements taken, the states of the seeds at its start, whether an element failed."""

    KIND: ClassVar[str] = "tfg::IteratorState"
    taken: int
    seeds: tuple[tuple[int, int, int], ...]
    has_failed: bool = False

    def stored(self) -> StoredVariant:
        """Return the state as a variant for a checkpoint."""
        seeds = (b"".join(map(varint, seed)) for seed in self.seeds)
        parts = (wire.bytes_field(_SEEDS, packed) for packed in seeds)
        numbers = wire.varint_field(_TAKEN, self.taken) + wire.varint_field(_FAILED, int(self.has_failed))
        return StoredVariant.of(self.KIND, numbers + b"".join(parts))

    @staticmethod
    def parse(stored: StoredVariant) -> IteratorState:
        """Parse a state of a checkpoint; InvalidArgumentError for a state of TensorFlow, DataLossError for a damaged state."""
        if stored.kind != IteratorState.KIND:
            raise InvalidArgumentError(
                f"the variant holds '{stored.kind}', not an iterator state of tfg",
                hint="TensorFlow's states fit only its own iterators: restart the iterator with its initializer",
            )
        taken, failed = (wire.integers(stored.metadata, number) for number in (_TAKEN, _FAILED))
        seeds = [wire.read_varints(payload, 3)[0] for payload in wire.contents(stored.metadata, _SEEDS)]
        starts = tuple((a, b, position) for a, b, position in seeds)
        return IteratorState(max(0, *taken, 0), starts, any(failed))


class NamedIterator(Shared):
    """An iterator over elements of a spec; `handle` names the iterator."""

    def __init__(self, name: str, spec: Spec) -> None:
        self.name = name
        self.spec = spec
        self.handle = f"{name}/{secrets.token_hex(8)}"


class DatasetIterator(NamedIterator):
    """A pass over a dataset. `taken` counts the elements taken, from which the pass can be resumed."""

    def __init__(self, name: str, spec: Spec) -> None:
        super().__init__(name, spec)
        self.dataset: Dataset | None = None
        self.taken = 0
        self._pull: Pull | None = None
        self._declares_shapes = any(shape.dims is not None for shape in spec.shapes)
        self._starts: tuple[tuple[int, int, int], ...] = ()
        self._has_failed = False

    def start(self, dataset: Dataset) -> None:
        """Begin a pass; InvalidArgumentError if the dataset's elements break the iterator's spec."""
        if self.spec.dtypes and dataset.spec.dtypes:
            self.spec.require(dataset.spec)
        # The dataset is None until the pass has begun: after a failure here the iterator is not initialized, as before its
        # first start.
        self.dataset = None
        final = finalized(dataset)
        self._starts = tuple(seeds.state for seeds in _seeds(final))
        self._pull = final.begin()
        self.dataset = final
        self.taken, self._has_failed = 0, False

    def pull(self) -> Element | None:
        """Return the next element, None at the end; FailedPreconditionError before the start."""
        if self._pull is None:
            raise FailedPreconditionError(
                "GetNext() failed because the iterator has not been initialized. Ensure that you have run the initializer "
                "operation for this iterator before getting the next element."
            )
        # Counted before the pull: an element that fails counts as taken, too.
        self.taken += 1
        try:
            element = self._pull()
        except TfgError:
            self._has_failed = True
            raise
        if element is not None and self._declares_shapes:
            # Checked after the count: an element of a wrong shape counts as taken, too.
            self._check(element)
        return element

    def _check(self, element: Element) -> None:
        """Raise InvalidArgumentError if a component breaks the iterator's declared shape."""
        if len(element) != len(self.spec.shapes):
            raise InvalidArgumentError(
                f"Number of components does not match: expected {len(self.spec.shapes)} shapes but got {len(element)}."
            )
        require_shapes(self.spec.shapes, element)

    def next(self) -> Element:
        """Return the next element; OutOfRangeError at the end."""
        element = self.pull()
        if element is None:
            raise OutOfRangeError("End of sequence")
        return element

    def state(self) -> IteratorState:
        """Return the iterator's state for `resume`."""
        if self.dataset is None:
            raise FailedPreconditionError("the iterator has no state: it has not been initialized")
        return IteratorState(self.taken, self._starts, self._has_failed)

    def resume(self, state: IteratorState) -> None:
        """Continue from the state of an iterator over an equal dataset.

        Datasets with random access skip the taken elements without making them. Where an element failed, the elements are
        made once more.
        """
        if self.dataset is None:
            raise FailedPreconditionError(
                "Failed to restore iterator as its dataset is not initialized: run its initializer first"
            )
        own_seeds = _seeds(self.dataset)
        # Neither state nor dataset says which pipeline it belongs to; another number of seeds is a sure sign.
        if len(own_seeds) != len(state.seeds):
            raise InvalidArgumentError("the state of another dataset's iterator cannot be restored into this one")
        for seeds, saved in zip(own_seeds, state.seeds):
            seeds.restore(saved)
        # The pass begins with the saved seeds, from its start: datasets draw the next seeds when they begin.
        self._starts, self.taken, self._has_failed = state.seeds, state.taken, state.has_failed
        self._pull = self._after_failures(state.taken) if state.has_failed else self.dataset.begin_at(state.taken)

    def _after_failures(self, count: int) -> Pull:
        """Begin a pass and skip `count` elements, failing elements included."""
        assert self.dataset is not None
        pull = self.dataset.begin()
        for _ in range(count):
            try:
                if pull() is None:
                    return ended
            # The deadline and missing support are no failures of an element: they would end each of the elements alike.
            except NOT_OF_ELEMENTS:
                raise
            except TfgError:
                check_time()
        return pull


def _seeds(dataset: Dataset) -> list[Seeds]:
    """Return the seeds that the datasets of a tree draw from, each once."""
    return list(dict.fromkeys(seeds for item in tree(dataset) if isinstance(seeds := getattr(item, "seeds", None), Seeds)))


class MultiDeviceIterator(NamedIterator):
    """A pass with elements dealt to the shards 0, 1, ... and again 0; `incarnation` counts the passes begun.

    Elements of other shards that come before a shard's next element are queued without limit: shards may ask in any order.
    """

    def __init__(self, name: str, spec: Spec, shards: int) -> None:
        super().__init__(name, spec)
        self.incarnation = 0
        self._pull: Pull | None = None
        self._waiting: list[collections.deque[Element | Exception]] = [collections.deque() for _ in range(shards)]
        self._turn = 0

    def start(self, dataset: Dataset) -> int:
        """Begin a pass and return its number; InvalidArgumentError if the dataset's elements break the iterator's spec."""
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
        # A consumer of an earlier pass must not take elements of this one.
        if incarnation != self.incarnation:
            raise InvalidArgumentError(f"Invalid incarnation id. Provided: {incarnation}; Expected: {self.incarnation}")
        if not 0 <= shard < len(self._waiting):
            raise InvalidArgumentError(f"shard {shard} does not exist: the iterator has {len(self._waiting)} shards")
        while not self._waiting[shard]:
            self._deal(self._pull)
        # An error was dealt like an element, and is raised for the shard whose element failed.
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
