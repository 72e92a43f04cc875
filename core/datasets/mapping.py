"""Datasets of functions' results for elements of an input, and concatenations of datasets or slices."""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from ..random.philox import unit_float
from ..runtime.state.run_context import check_time
from ..support.errors import InvalidArgumentError, OutOfRangeError
from ..types.dtypes import int64
from .ahead import MappedAhead
from .dataset import (
    INFINITE,
    UNKNOWN,
    Dataset,
    Element,
    FunctionDataset,
    OneForOne,
    PerPass,
    Pull,
    Pure,
    array_of,
    flattened,
    lasting,
    least,
    map_pull,
    picking,
    pull_of,
    require_types,
    row_of,
    total,
)
from .seeds import PhiloxWords, Seeds

Function = Callable[[Element], Element]
_Taken = TypeVar("_Taken")
_Made = TypeVar("_Made")


def ending_with(function: Callable[[_Taken], _Made], keeps_cardinality: bool) -> Callable[[_Taken], _Made | None]:
    """Return the function with None at its OutOfRangeError; an error instead where the cardinality must be kept."""

    def call(taken: _Taken) -> _Made | None:
        try:
            return function(taken)
        # A function ends its dataset by this error; a dataset that has promised its size may not end early.
        except OutOfRangeError as error:
            if keeps_cardinality:
                raise InvalidArgumentError(
                    f"Function invocation produced OutOfRangeError: {error.message}", node=error.node, op=error.op
                ) from error
            return None

    return call


class Map(FunctionDataset, OneForOne):
    """A function's result for each element. An OutOfRangeError of the function ends the dataset."""

    function: Function
    keeps_cardinality: bool = True
    is_stateful: bool = False
    has_captures: bool = False
    is_identity: bool = False
    calls: int = -1

    def over(self, pull: Pull) -> Pull:
        return map_pull(pull, ending_with(self.function, self.keeps_cardinality))

    @property
    def is_pure(self) -> bool:
        """True if no call of the function bears on another, and none says that there are no more elements."""
        return self.keeps_cardinality and not self.is_stateful and not isinstance(self.function, PerPass)

    def cardinality(self) -> int:
        return self.source.cardinality() if self.keeps_cardinality else UNKNOWN

    def at(self, index: int) -> Element:
        return self.function(self.source.element(index))


class ParallelMap(Map):
    """A map that may call its function for several elements at a time, with results in order."""

    def over(self, pull: Pull) -> Pull:
        function = ending_with(self.function, self.keeps_cardinality)
        return MappedAhead(pull, function, self.calls, self.calls, self.comes_early).next


class FlatMap(FunctionDataset):
    """The elements of a function's datasets, in sequence."""

    function: Callable[[Element], Dataset]

    def begin(self) -> Pull:
        return flattened(map_pull(self.source.begin(), lambda element: self.function(element).begin()))

    def counted(self) -> int:
        """Return the sum of the datasets' cardinalities: calls the function for every element."""
        if self.source.cardinality() < 0:
            return self.source.cardinality()
        return total([self.function(element).cardinality() for element in self.source])


class Interleave(FunctionDataset):
    """The elements of several datasets that a function makes of elements: a block of each dataset in turn.

    A dataset that ends leaves an empty place; the next dataset fills the place when the place's turn comes again.
    """

    function: Callable[[Element], Dataset]
    cycle: int
    block: int

    def begin(self) -> Pull:
        return _Turns(self, self.source.begin()).next


class ParallelInterleave(Interleave):
    """An interleave that may prepare several elements at a time; their order stays."""


class LegacyParallelInterleave(Interleave):
    """TensorFlow's first parallel interleave.

    An ended dataset is replaced at once; where no dataset is left, the next dataset in the cycle finishes the block.
    """

    def begin(self) -> Pull:
        return _LegacyTurns(self, self.source.begin()).next


class _Turns:
    """A pass over an interleave: the datasets in the cycle, the place whose turn has come, and the elements yielded in this
    turn.
    """

    def __init__(self, dataset: Interleave, pull: Pull) -> None:
        self._dataset = dataset
        self._pull: Pull | None = pull
        self._cycle = dataset.cycle
        self._places: list[Pull | None] = []
        self._turn = 0
        self._yielded = 0

    def next(self) -> Element | None:
        """Return the next element."""
        empty = 0  # places passed since there last was a dataset
        # The pass ends once a whole round has met empty places alone and the input has ended.
        while empty < self._cycle or self._pull is not None:
            inner = (self._places[self._turn] if self._turn < len(self._places) else None) or self._open()
            if inner is None:
                empty += self._turn < self._cycle  # at the end of the input the cycle shrinks below the place
                self._pass_on()
                continue
            empty = 0
            element = inner()
            if element is not None:
                self._yielded += 1
                if self._yielded == self._dataset.block:
                    self._pass_on()
                    self._yielded = 0
                return element
            self._places[self._turn] = None
            self._end_turn()
            check_time()
        return None

    def _end_turn(self) -> None:
        """Go on to the next place after the end of a dataset."""
        self._pass_on()
        self._yielded = 0

    def _open(self) -> Pull | None:
        """Open another dataset at the current place; None at the end of the input."""
        element = None if self._pull is None else self._pull()
        if element is None:
            self._pull, self._cycle = None, max(len(self._places), 1)  # places behind these stay empty
            return None
        inner = self._dataset.function(element).begin()
        # An assignment to a slice appends if the place is new.
        self._places[self._turn : self._turn + 1] = [inner]
        return inner

    def _pass_on(self) -> None:
        self._turn = self._turn + 1 if self._turn + 1 < self._cycle else 0


class _LegacyTurns(_Turns):
    _is_filled = False

    def next(self) -> Element | None:
        # TensorFlow's first interleave opens all datasets of the cycle before it gives an element.
        while not self._is_filled:
            if self._open() is None or self._turn == self._cycle - 1:
                self._is_filled, self._turn = True, 0
            else:
                self._pass_on()
        return super().next()

    def _end_turn(self) -> None:
        if self._open() is not None:
            self._yielded = 0
        self._pass_on()


class Scan(Dataset):
    """A scan: a function maps a state and an element to the next state and an output element."""

    function: Callable[[Sequence[Any]], Sequence[Any]]
    initial: Element
    keeps_cardinality: bool

    def begin(self) -> Pull:
        pull, function = self.source.begin(), ending_with(self.function, self.keeps_cardinality)
        state, width = self.initial, len(self.initial)

        def next_element() -> Element | None:
            nonlocal state
            element = pull()
            if element is None:
                return None
            # A call that fails leaves the state as it was, and the next element meets this state.
            results = function([*state, *element])
            if results is None:
                return None
            state = tuple(results[:width])
            return tuple(results[width:])

        return next_element

    def cardinality(self) -> int:
        return self.source.cardinality() if self.keeps_cardinality else UNKNOWN


class Zip(Pure):
    """The elements of several datasets side by side, up to the end of the first that ends."""

    def begin(self) -> Pull:
        return self._joined([source.begin() for source in self.inputs])

    def begin_at(self, count: int) -> Pull:
        return self._joined([source.begin_at(count) for source in self.inputs])

    def _joined(self, pulls: Sequence[Pull]) -> Pull:
        def next_element() -> Element | None:
            joined: list[Any] = []
            failure: Exception | None = None
            # The inputs behind the first that ends are not asked: nobody would get their elements.
            for pull in pulls:
                try:
                    element = pull()
                except Exception as error:  # skip the elements of the other inputs too: the next elements stay paired
                    failure = failure or error
                    continue
                if element is None:
                    return None
                joined += element
            if failure is not None:
                raise failure
            return tuple(joined)

        return lasting(next_element)

    def cardinality(self) -> int:
        return least([source.cardinality() for source in self.inputs])

    def at(self, index: int) -> Element:
        return tuple(component for source in self.inputs for component in source.element(index))


class DirectedInterleave(Dataset):
    """Elements of the datasets selected by the numbers of the first input."""

    stop_on_empty: bool

    def begin(self) -> Pull:
        select = self.source.begin()
        pulls: list[Pull | None] = [source.begin() for source in self.inputs[1:]]

        def next_element() -> Element | None:
            while any(pull is not None for pull in pulls):
                chosen = select()
                if chosen is None:
                    break
                require_types((int64,), chosen)
                if np.ndim(chosen[0]):
                    raise InvalidArgumentError(f"a selector must be a scalar, not of shape {np.shape(chosen[0])}")
                number = int(chosen[0])
                if not 0 <= number < len(pulls):
                    raise InvalidArgumentError(f"Selector index out of range: {number} >= {len(pulls)}")
                pull = pulls[number]
                element = None if pull is None else pull()
                if element is not None:
                    return element
                pulls[number] = None
                if self.stop_on_empty:
                    break
                check_time()
            # With no pull left, a demand after the end finds the end again and asks no dataset.
            pulls[:] = [None] * len(pulls)
            return None

        return next_element

    def cardinality(self) -> int:
        # The selector may stop before the datasets end, so that finite ones bound nothing.
        return INFINITE if INFINITE in [source.cardinality() for source in self.inputs[1:]] else UNKNOWN


class Sampling(Dataset):
    """Each element with the same probability."""

    rate: float
    seeds: Seeds

    def begin(self) -> Pull:
        pull, words = self.source.begin(), PhiloxWords(*self.seeds.next())
        return picking(pull, lambda element: element if unit_float(words.next()) < self.rate else None)


def weighted_sizes(sizes: Sequence[int], weights: Sequence[float]) -> list[int]:
    """Return the number of elements to take of each dataset by weight, where the least dataset is taken to its end.

    InvalidArgumentError if a dataset has fewer elements: as in TensorFlow, the least dataset is chosen by weights
    relative to the largest weight.
    """
    largest = max(weights)
    least, place = min((size * weight / largest, i) for i, (size, weight) in enumerate(zip(sizes, weights)))
    taken = [least * weight / weights[place] for weight in weights]
    for i, (count, size) in enumerate(zip(taken, sizes)):
        if not count < size + 1:
            raise InvalidArgumentError(f"Input {i} needs to have at least {count:g} elements. It only has {size} elements.")
    return list(map(int, taken))


class WeightedFlatMap(Dataset):
    """The first elements of each input in sequence; `sizes` counts the elements of each input."""

    sizes: Sequence[int]

    def begin(self) -> Pull:
        return pull_of(itertools.chain.from_iterable(map(itertools.islice, self.inputs, self.sizes)))

    def cardinality(self) -> int:
        return sum(self.sizes)

    def at(self, index: int) -> Element:
        ends = list(itertools.accumulate(self.sizes))
        # An index at the end of an input is that of the first element of the next; inputs without elements are passed over.
        place = bisect.bisect_right(ends, index)
        return self.inputs[place].element(index - (ends[place] - self.sizes[place]))


class IndexFlatMap(Dataset):
    """The slices of a function's results. A second function maps a place to (number of the element, offset in the element).

    As in TensorFlow, a pass calls the second function only to decide when to go on to the next element, and ends with the
    elements.
    """

    function: Callable[[Element], Element]
    place_of: Callable[[Element], Sequence[Any]]
    size: int

    def begin(self) -> Pull:
        pull, current, held, place = self.source.begin(), 0, Element(), 0

        def next_element() -> Element | None:
            nonlocal current, held, place
            index, offset = self._place(place)
            # The numbers of the second function only tell when to go on; which element comes next is the pass's order.
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

    def at(self, index: int) -> Element:
        place, offset = self._place(index)
        return _slice(self.function(self.source.element(place)), offset)


def _slice(element: Element, offset: int) -> Element:
    """Return a slice of each component; a component of rank 0 is returned whole."""
    arrays = [array_of(component) for component in element]
    if any(array.ndim and not 0 <= offset < len(array) for array in arrays):
        raise InvalidArgumentError(f"`index_map_func` gives offset {offset}, which an element does not reach")
    return tuple([row_of(array, offset) if array.ndim else array for array in arrays])
