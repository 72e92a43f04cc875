"""Datasets that say how others are run, or hold them to something: their elements stay as they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ..runtime.state.run_context import check_time, sleep
from ..support.errors import DeadlineExceededError, InternalError, PermissionDeniedError, TfgError, UnimplementedError
from .ahead import Prefetched
from .dataset import Dataset, Element, Pull, SameElements


class Advice(SameElements):
    """Advice to TensorFlow about threads, statistics and devices, without effect on the elements."""

    word: str

    @property
    def title(self) -> str:
        return self.word


_OPEN_SIZE: Final = 2
"""Elements that are prepared ahead where the graph leaves the number open."""


class Prefetch(SameElements):
    """The same elements, which threads may make ahead of demand."""

    size: int

    def over(self, pull: Pull) -> Pull:
        size = self.size if self.size >= 0 else _OPEN_SIZE
        return Prefetched(pull, size, self.source.comes_early).next if size else pull

    @staticmethod
    def is_noop(size: int) -> bool:
        """Return True if nothing is prepared ahead; TensorFlow keeps a prefetch even then."""
        return size == 0


class Options(SameElements):
    """The same elements, with options for the run of all that they are made of."""

    serialized: bytes


class AssertNext(SameElements):
    """The same elements; the transformations that follow must be called so."""

    transformations: Sequence[str]


class AssertPrev(SameElements):
    """The same elements; checks the names and attributes of the previous transformations."""

    transformations: Sequence[str]


class Sleep(SameElements):
    """The same elements, each after a pause."""

    microseconds: int

    def begin(self) -> Pull:
        pull = self.source.begin()

        def next_element() -> Element | None:
            # As in TensorFlow, the pause comes before the element is made. `sleep` watches the run's deadline.
            sleep(self.microseconds / 1e6)
            return pull()

        return next_element


class IgnoreErrors(Dataset):
    """The elements without the failing elements. Errors of the run or of tfg (`NOT_OF_ELEMENTS`) are raised."""

    def begin(self) -> Pull:
        pull = self.source.begin()

        def next_element() -> Element | None:
            while True:
                try:
                    return pull()
                # The deadline or a lack of support comes again with each element: skipping would never end.
                except NOT_OF_ELEMENTS:
                    raise
                except TfgError:
                    check_time()

        return next_element


NOT_OF_ELEMENTS = (DeadlineExceededError, InternalError, PermissionDeniedError, UnimplementedError)
"""Errors of the run or of tfg, never of an element: the deadline, missing support, denied reading."""
