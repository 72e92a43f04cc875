"""Datasets that concatenate datasets, or slices of elements, with random access."""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from ..support import dataclasses
from ..support.errors import InvalidArgumentError
from .dataset import Dataset, Element, Pull, array_of, known_size, pull_of, require_index, row_of


def weighted_sizes(sizes: Sequence[int], weights: Sequence[float]) -> list[int]:
    """Return the number of elements to take of each dataset by weight, where the least dataset is taken to its end.

    InvalidArgumentError where a dataset has fewer elements: as in TensorFlow, the least dataset is chosen by weights
    relative to the largest weight.
    """
    largest = max(weights)
    least, place = min((size * weight / largest, i) for i, (size, weight) in enumerate(zip(sizes, weights)))
    taken = [least * weight / weights[place] for weight in weights]
    for i, (count, size) in enumerate(zip(taken, sizes)):
        if not count < size + 1:
            raise InvalidArgumentError(f"Input {i} needs to have at least {count:g} elements. It only has {size} elements.")
    return list(map(int, taken))


@dataclasses.dataclass(eq=False)
class WeightedFlatMap(Dataset):
    """The first elements of each input in sequence; `sizes` counts the elements of each input."""

    kind: ClassVar[str] = "WeightedFlatMap"
    sizes: Sequence[int]

    def begin(self) -> Pull:
        return pull_of(itertools.chain.from_iterable(map(itertools.islice, self.inputs, self.sizes)))

    def cardinality(self) -> int:
        return sum(self.sizes)

    def element(self, index: int) -> Element:
        require_index(index, self.cardinality())
        ends = list(itertools.accumulate(self.sizes))
        place = bisect.bisect_right(ends, index)
        return self.inputs[place].element(index - (ends[place] - self.sizes[place]))


@dataclasses.dataclass(eq=False)
class IndexFlatMap(Dataset):
    """The slices of a function's results. A second function maps a place to (number of the element, offset in the element).

    As in TensorFlow, a pass calls the second function only to decide when to go on to the next element, and ends with the
    elements.
    """

    kind: ClassVar[str] = "IndexFlatMap"
    function: Callable[[Element], Element]
    place_of: Callable[[Element], Sequence[Any]]
    size: int

    def begin(self) -> Pull:
        pull, current, held, place = self.source.begin(), 0, Element(), 0

        def next_element() -> Element | None:
            nonlocal current, held, place
            index, offset = self._place(place)
            if index > current or not held:
                element, held = pull(), ()
                if element is None:
                    return None
                held, current = self.function(element), index
            place += 1
            return _slice(held, offset)

        return next_element

    def _place(self, place: int) -> tuple[int, int]:
        """Return (number of the element, offset in the element) of a place."""
        results = self.place_of((np.int64(place),))
        if len(results) != 2 or any(array_of(part).dtype.kind not in "iu" or np.ndim(part) for part in results):
            raise InvalidArgumentError(
                "The `index_map_func` for `index_flat_map` is expected to return two int32/int64 values representing the "
                f"element index and an offset within the element. Got: {[array_of(part).tolist() for part in results]}"
            )
        return int(results[0]), int(results[1])

    def cardinality(self) -> int:
        return self.size

    def element(self, index: int) -> Element:
        require_index(index, known_size(self))
        place, offset = self._place(index)
        return _slice(self.function(self.source.element(place)), offset)


def _slice(element: Element, offset: int) -> Element:
    """Return a slice of each component; a component of rank 0 is returned whole."""
    arrays = [array_of(component) for component in element]
    if any(array.ndim and not 0 <= offset < len(array) for array in arrays):
        raise InvalidArgumentError(f"`index_map_func` gives offset {offset}, which an element does not reach")
    return tuple([row_of(array, offset) if array.ndim else array for array in arrays])
