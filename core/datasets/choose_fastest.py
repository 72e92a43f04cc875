"""A dataset that several functions make of another one, of which the fastest is to be taken."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import ClassVar

from ..support.errors import InvalidArgumentError
from .dataset import INFINITE, UNKNOWN, Dataset, Element, Pull
from .filter_take_skip import Take


@dataclasses.dataclass(eq=False)
class Once(Dataset):
    """What is left of a pass over the input: it can be begun once."""

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


@dataclasses.dataclass(eq=False)
class ChooseFastestBranch(Dataset):
    """What functions make of one pass over a dataset: `tried` elements of each in turn, all others of the first one.

    The end of one that is tried is the end of all, as in TensorFlow.
    TensorFlow measures which is the fastest; their elements are supposed to be alike. `ratio` is (elements that come out,
    elements that go in).
    """

    kind: ClassVar[str] = "ChooseFastestBranch"
    branches: Sequence[Callable[[Dataset], Dataset]]
    tried: int
    ratio: tuple[int, int]

    def begin(self) -> Pull:
        source, branch, given, is_over = self.source.begin(), 0, 0, False
        current: Pull | None = None

        def next_element() -> Element | None:
            nonlocal branch, given, current, is_over
            if is_over:
                return None
            is_trial = branch < len(self.branches)
            current = current or (self._trial(source, branch) if is_trial else self._branch(0, self._rest(source)))
            try:
                element = current()
                is_over = element is None
                return element
            finally:
                given += is_trial
                if given == self.tried:
                    branch, given, current = branch + 1, 0, None

        return next_element

    def _trial(self, source: Pull, branch: int) -> Pull:
        """A branch over the elements that it is tried with."""
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
        size = self.source.cardinality()
        return size if size in (INFINITE, UNKNOWN) else size * self.ratio[0] // self.ratio[1]
