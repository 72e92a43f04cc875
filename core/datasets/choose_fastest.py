"""The dataset of several candidate functions of an input; TensorFlow keeps the fastest function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from ..support import dataclasses
from ..support.errors import InvalidArgumentError
from .dataset import INFINITE, UNKNOWN, Dataset, Element, Pull
from .filter_take_skip import Take


@dataclasses.dataclass(eq=False)
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


@dataclasses.dataclass(eq=False)
class ChooseFastestBranch(Dataset):
    """Results of functions over a single pass of the input: `tried` elements of each function in turn, then all of the
    first function.

    The end of a tried function ends the dataset, as in TensorFlow. TensorFlow measures the fastest function; the functions'
    results are supposed to be equal. `ratio` is (output elements, input elements).
    """

    kind: ClassVar[str] = "ChooseFastestBranch"
    branches: Sequence[Callable[[Dataset], Dataset]]
    tried: int
    ratio: tuple[int, int]

    def begin(self) -> Pull:
        source, branch, trial_elements, is_over = self.source.begin(), 0, 0, False
        current: Pull | None = None

        def next_element() -> Element | None:
            nonlocal branch, trial_elements, current, is_over
            if is_over:
                return None
            is_trial = branch < len(self.branches)
            current = current or (self._trial(source, branch) if is_trial else self._branch(0, self._rest(source)))
            try:
                element = current()
                is_over = element is None
                return element
            finally:
                trial_elements += is_trial
                if trial_elements == self.tried:
                    branch, trial_elements, current = branch + 1, 0, None

        return next_element

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
        size = self.source.cardinality()
        return size if size in (INFINITE, UNKNOWN) else size * self.ratio[0] // self.ratio[1]
