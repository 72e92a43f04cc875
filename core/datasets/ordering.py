"""Datasets that shuffle the elements of an input."""

from __future__ import annotations

import collections
from typing import Final

import numpy as np

from ..random.index_draws import shuffle_indices
from ..runtime.state.run_context import check_time
from ..support import dataclasses
from ..support.errors import InvalidArgumentError
from .dataset import CHECKED, Dataset, Element, Pull, known_size, pull_of, repeated_cardinality
from .seeds import PhiloxWords, Seeds

_MAX_EPOCHS: Final = 3
"""The largest number of passes over the input in a buffer at a time."""
_ROUNDS: Final = 8
"""Rounds of the cipher that permutes places."""
_MANY: Final = 1000
"""The number of empty places at the head of a list that is worth moving the other elements."""


class Shuffle(Dataset):
    """The elements of `count` passes in random order, each drawn from a buffer of the next `size` elements (all if
    negative).

    Elements of a pass come before the elements of the next pass, which has its own seeds.
    """

    size: int
    seeds: Seeds
    count: int = 1
    places: _Permutation | None = dataclasses.field(default=None, init=False)
    """The order for random access: the source's index at each place, by the seeds' own permutation, whatever the buffer
    size.
    """

    def begin(self) -> Pull:
        return _Buffer(self).next

    def comes_early(self, is_begun_anew: bool = False) -> bool:
        """Tell whether passes may be made early. Each pass draws its seeds at its beginning; renewed seeds are drawn in the
        order of passes.
        """
        draws_early = is_begun_anew or self.count != 1
        return not (draws_early and self.seeds.renewed) and self.source.comes_early(draws_early)

    def cardinality(self) -> int:
        return repeated_cardinality(self.source, self.count)

    @property
    def has_places(self) -> bool:
        return False

    def element(self, index: int) -> Element:
        if self.places is None:
            self.places = _Permutation(known_size(self.source), PhiloxWords(*self.seeds.pair))
        return self.source.element(self.places[index])


class ShuffleAndRepeat(Shuffle):
    """A shuffle of several passes: as a pass ends, the buffer fills up from the next pass."""


class _Buffer:
    """A pass over a shuffle: the waiting elements, grouped by pass over the input."""

    def __init__(self, dataset: Shuffle) -> None:
        self._dataset = dataset
        self._words = PhiloxWords(*dataset.seeds.next())
        self._epochs: collections.deque[list[Element]] = collections.deque()
        self._starts: collections.deque[int] = collections.deque()
        self._waiting = 0
        self._passes = 0
        self._has_given = False
        self._pull: Pull | None = None

    def next(self) -> Element | None:
        """Return the next element."""
        self._fill()
        if not self._waiting:
            return None
        while self._starts[0] == len(self._epochs[0]):
            self._epochs.popleft()
            self._starts.popleft()
            self._words = PhiloxWords(*self._dataset.seeds.next())
        elements, start = self._epochs[0], self._starts[0]
        chosen = start + self._words.next() % (len(elements) - start)
        element = elements[chosen]
        # As in TensorFlow, the first element moves to the place of the chosen one: the places decide what later draws choose.
        elements[chosen] = elements[start]
        elements[start] = ()
        self._starts[0] = start + 1
        self._waiting -= 1
        self._has_given = True
        # The list is cut only once half of it is empty, so that an element is moved at most twice on average.
        if start > _MANY and 2 * start > len(elements):
            del elements[: start + 1]
            self._starts[0] = 0
        return element

    def _fill(self) -> None:
        dataset, epochs = self._dataset, self._epochs
        while self._has_room():
            if self._pull is None:
                if self._passes == dataset.count:
                    return
                self._pull = dataset.source.begin()
                self._passes += 1
                epochs.append([])
                self._starts.append(0)
            element = self._pull()
            if element is not None:
                epochs[-1].append(element)
                self._waiting += 1
                if self._waiting % CHECKED == 0:
                    check_time()
                continue
            self._pull = None
            if self._has_nothing() and dataset.count < 0:
                return
            check_time()

    def _has_room(self) -> bool:
        # A short input with a large buffer would otherwise be begun as often as it takes to fill the buffer.
        if self._waiting and len(self._epochs) > _MAX_EPOCHS:
            return False
        return self._waiting < self._dataset.size or self._dataset.size < 0

    def _has_nothing(self) -> bool:
        """Return True if no pass over the input gave an element."""
        return not any(self._epochs) and not self._has_given


class _Permutation:
    """A random permutation, computed up to the largest index asked for."""

    def __init__(self, size: int, words: PhiloxWords) -> None:
        self._size = size
        self._words = words
        self._made: list[int] = []
        self._moved: dict[int, int] = {}
        """Numbers at places not yet computed, if the number differs from the place."""

    def __getitem__(self, index: int) -> int:
        while len(self._made) <= index:
            i = len(self._made)
            # This is a Fisher-Yates shuffle, made as far as places are asked for: `_moved` stands for the rest of the list.
            other = i + self._words.next() % (self._size - i)
            here = self._moved.pop(i, i)
            self._made.append(here if other == i else self._moved.get(other, other))
            if other != i:
                self._moved[other] = here
            if i % CHECKED == 0:
                check_time()
        return self._made[index]


class GlobalShuffle(Dataset):
    """All elements of a dataset that gives them by their places, in the order of a random permutation."""

    seeds: Seeds

    def begin(self) -> Pull:
        if not known_size(self.source):
            raise InvalidArgumentError("`global_shuffle` requires the input dataset to have elements.")
        # TensorFlow's permutation of indices takes three seeds.
        (seed, seed2), (seed3, _) = self.seeds.next(), self.seeds.next()
        size = known_size(self.source)
        seeds, last = np.array([[seed, seed2, seed3]]), np.array([size - 1])
        places = (int(shuffle_indices(np.array([index]), last, seeds, _ROUNDS)[0]) for index in range(size))
        return pull_of(map(self.source.element, places))

    def cardinality(self) -> int:
        return self.source.cardinality()
