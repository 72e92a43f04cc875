"""Datasets that select, repeat and concatenate elements of their inputs, shards for workers, and candidate functions."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Sequence

import numpy as np

from ..runtime.state.run_context import check_time
from ..support.errors import FailedPreconditionError, InvalidArgumentError, NotFoundError
from .dataset import (
    INFINITE,
    UNKNOWN,
    Dataset,
    Element,
    FunctionDataset,
    Pull,
    Pure,
    SameElements,
    array_of,
    counted,
    ended,
    flattened,
    known_size,
    lasting,
    map_pull,
    picking,
    pull_of,
    repeated_cardinality,
    require_types,
    total,
)

Predicate = Callable[[Element], bool]


class Take(Pure, kind="FiniteTake"):
    """The first elements; all of them for a negative count."""

    count: int

    @staticmethod
    def is_noop(count: int) -> bool:
        """Return True if all elements are taken."""
        return count < 0

    def begin(self) -> Pull:
        return self.begin_at(0)

    def begin_at(self, count: int) -> Pull:
        # Elements behind the last one are not passed over: making them may fail or draw.
        passed = count if self.count < 0 else min(count, self.count)
        pull, left = self.source.begin_at(passed), self.count - passed
        if self.count < 0:
            return pull

        def next_element() -> Element | None:
            nonlocal left
            # The input is not asked for an element after the last one: making it may fail, block or draw.
            if left <= 0:
                return None
            element = pull()
            left = left - 1 if element is not None else 0
            return element

        return next_element

    def cardinality(self) -> int:
        size = self.source.cardinality()
        if self.count < 0:
            return size
        if size == INFINITE:
            return self.count
        return min(size, self.count)  # UNKNOWN is below all counts

    def at(self, index: int) -> Element:
        return self.source.element(index)

    @property
    def title(self) -> str:
        return self.kind if self.count else "EmptyTake"


class Skip(Pure, kind="FiniteSkip"):
    """The elements after the first `count`; none for a negative count."""

    count: int

    @staticmethod
    def is_noop(count: int) -> bool:
        """Return True if no element is left out."""
        return count == 0

    def begin_at(self, count: int) -> Pull:
        # A pass from the start skips at the first demand, as TensorFlow's does, and not as it begins.
        return self.source.begin_at(self.count + count) if count and self.count >= 0 else self.begin()

    def begin(self) -> Pull:
        if self.count < 0:
            return ended
        pull, left = self.source.begin(), self.count

        def next_element() -> Element | None:
            nonlocal left
            while left:
                check_time()
                if pull() is None:
                    left = 0
                    return None
                left -= 1
            return pull()

        return next_element

    def cardinality(self) -> int:
        return counted(self.source, lambda size: max(0, size - self.count) if self.count >= 0 else 0)

    def at(self, index: int) -> Element:
        return self.source.element(index + self.count)

    @property
    def title(self) -> str:
        return self.kind if self.count >= 0 else "EmptySkip"


class Repeat(Pure, kind="FiniteRepeat"):
    """The elements of `count` passes, without end for a negative count; an empty pass is the last."""

    count: int

    @staticmethod
    def is_noop(count: int) -> bool:
        """Return True for a single pass."""
        return count == 1

    def comes_early(self, is_begun_anew: bool = False) -> bool:
        # Passes after the first begin the input anew, which threads may do before it is asked for.
        return super().comes_early(True)

    def begin(self) -> Pull:
        # A repeat without end begins its first pass at the first demand, like all of its passes, for it has to see whether the
        # pass is empty.
        return self._passes(self.source.begin() if self.count > 0 else None, self.count)

    def begin_at(self, count: int) -> Pull:
        size = self.source.cardinality()
        if not self.source.is_plain or size <= 0:
            return super().begin_at(count)
        passed, within = divmod(count, size)
        if 0 <= self.count <= passed:
            return ended
        return self._passes(self.source.begin_at(within), max(-1, self.count - passed))

    def _passes(self, pull: Pull | None, left: int) -> Pull:
        """Begin with the rest of a pass over the input, if a pass is begun, and go on with the passes after: `left` passes
        in all.
        """

        def next_element() -> Element | None:
            nonlocal pull, left
            while left:
                is_first = pull is None
                if pull is None:
                    pull = self.source.begin()
                element = pull()
                if element is not None:
                    return element
                pull = None
                if left > 0:
                    left -= 1
                # An empty pass is the last: repeated without end, it would never give an element nor an end.
                elif is_first:
                    break
                check_time()
            return None

        return next_element

    def cardinality(self) -> int:
        return repeated_cardinality(self.source, self.count)

    def at(self, index: int) -> Element:
        return self.source.element(index % known_size(self.source))

    @property
    def title(self) -> str:
        return "ForeverRepeat" if self.count < 0 else self.kind if self.count else "EmptyRepeat"


class Shard(Pure):
    """Every `count`-th element, from place `index` on."""

    count: int
    index: int
    require_non_empty: bool

    @staticmethod
    def is_noop(count: int) -> bool:
        """Return True for a single part."""
        return count == 1

    def begin_at(self, count: int) -> Pull:
        # A start at a multiple of the number of shards leaves the remainders of the places as they are.
        return super().begin_at(count) if self.require_non_empty else self._mine(self.source.begin_at(count * self.count))

    def begin(self) -> Pull:
        return self._mine(self.source.begin())

    def _mine(self, pull: Pull) -> Pull:
        place, is_checked = 0, not self.require_non_empty

        def next_element() -> Element | None:
            nonlocal place, is_checked
            while True:
                element = pull()
                if element is None:
                    return None
                is_mine = place % self.count == self.index
                place += 1
                if is_mine:
                    break
                check_time()
            # As in TensorFlow, the first element waits until each shard is known to get one.
            while not is_checked:
                if place >= self.count:
                    is_checked = True
                elif pull() is None:
                    self._refuse(place)
                else:
                    place += 1
            return element

        return next_element

    def _refuse(self, size: int) -> None:
        raise InvalidArgumentError(
            f"There aren't enough elements in this dataset for each shard to have at least one element (# elems = {size}, "
            f"# shards = {self.count})."
        )

    def cardinality(self) -> int:
        return counted(self.source, lambda size: size // self.count + (self.index < size % self.count))

    def at(self, index: int) -> Element:
        return self.source.element(index * self.count + self.index)


class Concatenate(Pure):
    """The elements of two datasets in sequence."""

    def comes_early(self, is_begun_anew: bool = False) -> bool:
        # The second dataset may be begun while the first is still read.
        return super().comes_early(True)

    def begin(self) -> Pull:
        return self.begin_at(0)

    def begin_at(self, count: int) -> Pull:
        left, within = list(self.inputs), count
        # Only a plain dataset of a known size may be passed over without a pass: others may fail, draw or write.
        while len(left) > 1 and left[0].is_plain and 0 <= left[0].cardinality() <= within:
            within -= left.pop(0).cardinality()
        if within and not left[0].is_plain:
            return super().begin_at(count)
        passes = itertools.chain([left[0].begin_at(within)], map(operator.methodcaller("begin"), left[1:]))
        return flattened(pull_of(passes))

    def cardinality(self) -> int:
        return total([source.cardinality() for source in self.inputs])

    def at(self, index: int) -> Element:
        for source in self.inputs:
            size = known_size(source)
            if index < size:
                return source.element(index)
            index -= size
        raise AssertionError("the index is below the sum of the sizes")


class Filter(FunctionDataset):
    """The elements that satisfy a predicate."""

    predicate: Predicate
    is_stateful: bool = False
    has_captures: bool = False

    def begin(self) -> Pull:
        holds = self.predicate
        return picking(self.source.begin(), lambda element: element if holds(element) else None)


class ParallelFilter(Filter):
    """A filter that may test several elements at once and keeps their order."""


class FilterByLast(Dataset, kind="FilterByLastComponent"):
    """The elements whose last component is true, without the last component."""

    def begin(self) -> Pull:
        return picking(self.source.begin(), self._without_answer)

    @staticmethod
    def _without_answer(element: Element) -> Element | None:
        answer = array_of(element[-1]) if element else None
        if answer is None or answer.shape or answer.dtype != np.bool_:
            raise InvalidArgumentError("`predicate` must return a scalar bool.")
        return element[:-1] if answer else None


class TakeWhile(Dataset):
    """The elements before the first element that fails a predicate."""

    predicate: Predicate

    def begin(self) -> Pull:
        return lasting(map_pull(self.source.begin(), lambda element: element if self.predicate(element) else None))


class Unique(Dataset):
    """Each distinct element once, at its first place; an element is a single number or string."""

    def begin(self) -> Pull:
        seen: set[object] = set()

        def unseen(element: Element) -> Element | None:
            require_types(self.source.spec.dtypes, element)
            value = array_of(element[0])
            # The key may have Python's numbers, to which 1 and 1.0 are equal, because a dataset has one dtype.
            key = (value.shape, *value.ravel().tolist())
            if key in seen:
                return None
            seen.add(key)
            return element

        return picking(self.source.begin(), unseen)


class AssertCardinality(SameElements):
    """The same elements; FailedPreconditionError if their number differs from `count`."""

    count: int

    def begin(self) -> Pull:
        pull, seen = self.source.begin(), 0

        def next_element() -> Element | None:
            nonlocal seen
            element = pull()
            if element is not None:
                seen += 1
            if self.count != INFINITE and seen > self.count:
                raise self._refusal(f"at least {seen}")
            if element is None and self.count != UNKNOWN and seen != self.count:
                raise self._refusal(f"only {seen}")
            return element

        return next_element

    @property
    def has_places(self) -> bool:
        return True

    def _refusal(self, actual: str) -> FailedPreconditionError:
        expected = "an infinite number of" if self.count == INFINITE else str(self.count)
        return FailedPreconditionError(
            f"Input dataset was expected to contain {expected} elements but contained {actual} elements."
        )

    def cardinality(self) -> int:
        return self.count


AUTO, BY_FILE, BY_DATA = 0, 1, 2
"""Policies: files where there are some, else elements; files or an error; elements. The others leave the pipeline whole."""


def part_of(dataset: Dataset, count: int, index: int, policy: int, reads: Callable[[Dataset], bool]) -> Dataset:
    """Return the dataset of every `count`-th file or element from `index` on; `reads` tells whether a dataset's function
    reads files.
    """
    if count == 1 or policy not in (AUTO, BY_FILE, BY_DATA):
        return dataset
    sharded = None if policy == BY_DATA else _by_file(dataset, count, index, reads)
    if sharded is None and policy == BY_FILE:
        raise NotFoundError("Found an unshardable source dataset: no dataset of the pipeline reads files")
    # Elements are divided where files cannot be: each worker then reads all files, and keeps its part.
    return Shard((dataset,), count, index, False) if sharded is None else sharded


def _by_file(dataset: Dataset, count: int, index: int, reads: Callable[[Dataset], bool]) -> Dataset | None:
    """Shard the files of the pipeline; None if the files are not elements that a function reads.

    As in TensorFlow, a dataset that reads a list of files by itself cannot be sharded.
    """
    if reads(dataset):
        return dataset.with_inputs((_after_source(dataset.source, count, index),))
    parts = [_by_file(source, count, index, reads) for source in dataset.inputs]
    whole = tuple(part for part in parts if part is not None)
    return dataset.with_inputs(whole) if parts and len(whole) == len(parts) else None


def _after_source(dataset: Dataset, count: int, index: int) -> Dataset:
    """Shard the names of files directly after their source, before any transformation."""
    if not dataset.inputs:
        return Shard((dataset,), count, index, False)
    return dataset.with_inputs((_after_source(dataset.source, count, index), *dataset.inputs[1:]))


class Once(Dataset):
    """The rest of a pass over the input, as a dataset that can be begun a single time."""

    pull: Pull
    is_begun: bool = False

    def begin(self) -> Pull:
        if self.is_begun:
            raise InvalidArgumentError(
                "Cannot create more than one WrapperIterator per WrapperDataset. Make sure the branches to "
                "ChooseFastestDataset do not expect the input to repeat."
            )
        self.is_begun = True
        return self.pull


class ChooseFastestBranch(Dataset):
    """Results of functions over a single pass of the input: `tried` elements of each function in turn, then all of the
    first function.

    The end of a tried function ends the dataset, as in TensorFlow. TensorFlow measures the fastest function; the functions'
    results are supposed to be equal. `ratio` is (output elements, input elements).
    """

    branches: Sequence[Callable[[Dataset], Dataset]]
    tried: int
    ratio: tuple[int, int]

    def begin(self) -> Pull:
        source, branch, trial_elements = self.source.begin(), 0, 0
        current: Pull | None = None

        def next_element() -> Element | None:
            nonlocal branch, trial_elements, current
            # Trials share one pass of the input: an element that a branch has tried does not come again.
            is_trial = branch < len(self.branches)
            current = current or (self._trial(source, branch) if is_trial else self._branch(0, self._rest(source)))
            try:
                return current()
            finally:
                # An element that fails counts too, or a branch that always fails would be tried for ever.
                trial_elements += is_trial
                if trial_elements == self.tried:
                    branch, trial_elements, current = branch + 1, 0, None

        return lasting(next_element)

    def _trial(self, source: Pull, branch: int) -> Pull:
        """Begin a branch over its trial's elements."""
        take = Take((self._rest(source),), self.tried * self.ratio[0] // self.ratio[1])
        take.spec = self.source.spec
        return self._branch(branch, take)

    def _branch(self, branch: int, dataset: Dataset) -> Pull:
        return self.branches[branch](dataset).begin()

    def _rest(self, source: Pull) -> Dataset:
        rest = Once((), source)
        rest.spec = self.source.spec
        return rest

    def cardinality(self) -> int:
        return counted(self.source, lambda size: size * self.ratio[0] // self.ratio[1])
