"""Iterators: passes over datasets that handles stand for."""

from __future__ import annotations

import dataclasses
import secrets

from ..errors import FailedPreconditionError, InvalidArgumentError, OutOfRangeError
from ..runtime.resources import Shared
from ..shapes import Shape
from .base import Dataset, Element, Pull, Spec, tree
from .rewriting import finalized
from .seeds import Seeds


@dataclasses.dataclass(frozen=True, slots=True)
class IteratorState:
    """Where a pass stands: the elements asked for, and where the streams of its seeds stood at its start."""

    taken: int
    seeds: tuple[int, ...]


class DatasetIterator(Shared):
    """A pass over a dataset; `taken` counts the elements asked for, from which it can be resumed; `handle` names it."""

    def __init__(self, name: str, spec: Spec) -> None:
        self.name = name
        self.spec = spec
        self.handle = f"{name}/{secrets.token_hex(8)}"
        self.dataset: Dataset | None = None
        self.taken = 0
        self._pull: Pull | None = None
        self._sizes = [
            (i, [d if isinstance(d, int) else None for d in shape])
            for i, shape in enumerate(spec.shapes)
            if shape.dims is not None
        ]
        self._starts: tuple[int, ...] = ()

    def start(self, dataset: Dataset) -> None:
        """Begin a pass; InvalidArgumentError where the elements are not what the iterator gives."""
        if self.spec.dtypes and dataset.spec.dtypes:
            self.spec.require(dataset.spec)
        self.dataset = None
        final = finalized(dataset)
        self._starts = tuple(seeds.position for seeds in _seeds(final))
        self._pull = final.begin()
        self.dataset = final
        self.taken = 0

    def pull(self) -> Element | None:
        """The next element, None at the end; FailedPreconditionError before the start."""
        if self._pull is None:
            raise FailedPreconditionError(
                "GetNext() failed because the iterator has not been initialized. Ensure that you have run the initializer "
                "operation for this iterator before getting the next element."
            )
        self.taken += 1
        element = self._pull()
        if element is not None and self._sizes:
            self._check(element)
        return element

    def _check(self, element: Element) -> None:
        """InvalidArgumentError where a component has not the shape that the iterator declares."""
        if len(element) != len(self.spec.shapes):
            raise InvalidArgumentError(
                f"Number of components does not match: expected {len(self.spec.shapes)} shapes but got {len(element)}."
            )
        for i, dims in self._sizes:
            shape = element[i].shape
            if len(shape) != len(dims) or any(d is not None and d != n for d, n in zip(dims, shape)):
                wanted = self.spec.shapes[i]
                raise InvalidArgumentError(f"Incompatible shapes at component {i}: expected {wanted} but got {Shape(shape)}.")

    def next(self) -> Element:
        """The next element; OutOfRangeError at the end."""
        element = self.pull()
        if element is None:
            raise OutOfRangeError("End of sequence")
        return element

    def state(self) -> IteratorState:
        """What `resume` takes."""
        if self.dataset is None:
            raise FailedPreconditionError("the iterator has not been initialized, so it has no state")
        return IteratorState(self.taken, self._starts)

    def resume(self, state: IteratorState) -> None:
        """Go on where an iterator of a like dataset stood: what came before is made once more."""
        if self.dataset is None:
            raise FailedPreconditionError(
                "Failed to restore iterator as its dataset is not initialized: run its initializer first"
            )
        found = _seeds(self.dataset)
        if len(found) != len(state.seeds):
            raise InvalidArgumentError("the state of another dataset's iterator cannot be restored into this one")
        for seeds, position in zip(found, state.seeds):
            seeds.position = position
        self._starts, self._pull, self.taken = state.seeds, self.dataset.begin(), 0
        while self.taken < state.taken:
            self.pull()


def _seeds(dataset: Dataset) -> list[Seeds]:
    """The seeds that the datasets of a tree draw from, each once."""
    return list(dict.fromkeys(seeds for item in tree(dataset) if isinstance(seeds := getattr(item, "seeds", None), Seeds)))
