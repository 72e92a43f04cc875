"""Datasets of windows over elements, and of groups that functions form."""

from __future__ import annotations

import collections
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from ..runtime.state.edge_values import scalar_object
from ..runtime.state.run_context import check_time
from ..support import dataclasses
from ..support.errors import InvalidArgumentError
from .batches import stacked
from .dataset import INFINITE, UNKNOWN, Dataset, Element, Pull, Spec, flattened, map_pull
from .sources import ListOf


class WindowElements(ListOf):
    """The elements of a window or a group."""

    kind: ClassVar[str] = "Window"


@dataclasses.dataclass(eq=False)
class Window(Dataset):
    """Windows of `size` elements at a distance of `stride`, each window begun `shift` elements after the previous window.

    An element holds a dataset for each component.
    """

    kind: ClassVar[str] = "Window"
    size: int
    shift: int
    stride: int
    drops_remainder: bool

    def begin(self) -> Pull:
        return map_pull(windows(self), self._datasets)

    def _datasets(self, elements: Sequence[Element]) -> Element:
        columns = []
        for i, column in enumerate(zip(*elements)):
            dataset = WindowElements((), [(value,) for value in column])
            dataset.spec = Spec(self.source.spec.dtypes[i : i + 1], self.source.spec.shapes[i : i + 1])
            columns.append(scalar_object(dataset))
        return tuple(columns)

    def cardinality(self) -> int:
        size = self.source.cardinality()
        if size in (INFINITE, UNKNOWN):
            return size
        # A window begins at every shift and may be short, however few elements are left.
        if not self.drops_remainder:
            return -(-size // self.shift)
        span = (self.size - 1) * self.stride + 1
        return 0 if size < span else (size - span) // self.shift + 1


@dataclasses.dataclass(eq=False)
class SlidingWindow(Window):
    """Windows whose elements are stacked as in a batch."""

    kind: ClassVar[str] = "SlidingWindow"

    def begin(self) -> Pull:
        return map_pull(windows(self), stacked)


def windows(dataset: Window) -> Callable[[], Sequence[Element] | None]:
    """Return a pull of windows, each a sequence of elements."""
    pull, is_over = dataset.source.begin(), False
    span = (dataset.size - 1) * dataset.stride + 1
    held: collections.deque[Element] = collections.deque()
    to_skip = 0

    def next_window() -> Sequence[Element] | None:
        nonlocal is_over, to_skip
        while not is_over and (to_skip or len(held) < span):
            element = pull()
            if element is None:
                is_over = True
            elif to_skip:
                to_skip -= 1
            else:
                held.append(element)
            check_time()
        if not held or (dataset.drops_remainder and len(held) < span):
            return None
        window = list(held)[: span : dataset.stride]
        dropped = min(dataset.shift, len(held))
        # A shift beyond the window skips elements that are in no window.
        to_skip = dataset.shift - dropped
        for _ in range(dropped):
            held.popleft()
        return window

    return next_window


@dataclasses.dataclass(eq=False)
class GroupByWindow(Dataset):
    """Elements grouped by a key; a function maps each full group to a dataset, whose elements are given."""

    kind: ClassVar[str] = "GroupByWindow"
    key_of: Callable[[Element], int]
    size_of: Callable[[int], int]
    reduce: Callable[[int, Dataset], Dataset]

    def begin(self) -> Pull:
        return flattened(_Groups(self).next)

    def cardinality(self) -> int:
        # The function may map a group to any number of elements; TensorFlow says infinite here too.
        return INFINITE if self.source.cardinality() == INFINITE else UNKNOWN


class _Groups:
    """A pass over the groups: the groups that are not full."""

    def __init__(self, dataset: GroupByWindow) -> None:
        self._dataset = dataset
        self._pull: Pull | None = dataset.source.begin()
        self._groups: dict[int, list[Element]] = {}
        self._sizes: dict[int, int] = {}

    def next(self) -> Pull | None:
        """Begin a pass over the function's dataset for the next group."""
        key = self._full_group()
        if key is None:
            return None
        group = WindowElements((), self._groups.pop(key))
        group.spec = self._dataset.source.spec
        return self._dataset.reduce(key, group).begin()

    def _full_group(self) -> int | None:
        """Return the key of the next group to give: a full group, and at the end of the input the smallest key."""
        while self._pull is not None:
            element = self._pull()
            if element is None:
                self._pull = None
                break
            key = self._dataset.key_of(element)
            # The function is asked once for each key, as in TensorFlow, also for the later groups of the key.
            if key not in self._sizes:
                self._sizes[key] = self._size(key)
            group = self._groups.setdefault(key, [])
            group.append(element)
            if len(group) == self._sizes[key]:
                return key
            check_time()
        # TensorFlow keeps the groups in a sorted map.
        return min(self._groups, default=None)

    def _size(self, key: int) -> int:
        size = self._dataset.size_of(key)
        if size <= 0:
            raise InvalidArgumentError(f"Window size must be greater than zero, but got {size}.")
        return size


@dataclasses.dataclass(eq=False)
class GroupByReducer(Dataset):
    """A reduction for each key: functions begin a key's state, update the state by the key's elements and finish the
    result.
    """

    kind: ClassVar[str] = "GroupByReducer"
    key_of: Callable[[Element], int]
    start: Callable[[int], Sequence[Any]]
    reduce: Callable[[Sequence[Any]], Sequence[Any]]
    finish: Callable[[Sequence[Any]], Sequence[Any]]

    def begin(self) -> Pull:
        states: dict[int, Sequence[Any]] = {}
        pull: Pull | None = self.source.begin()

        def next_element() -> Element | None:
            nonlocal pull
            while pull is not None:
                element = pull()
                if element is None:
                    pull = None
                    break
                key = self.key_of(element)
                if key not in states:
                    states[key] = self.start(key)
                states[key] = self.reduce([*states[key], *element])
                check_time()
            if not states:
                return None
            # TensorFlow keeps the states in a sorted map.
            return tuple(self.finish(list(states.pop(min(states)))))

        return next_element
