"""Datasets that put elements together into batches, windows and groups, and take batches apart."""

from __future__ import annotations

import collections
import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from ..runtime.state.edge_values import scalar_object
from ..runtime.state.run_context import check_time, reserve
from ..support.errors import DataLossError, FailedPreconditionError, InvalidArgumentError
from ..types.arrays import object_array
from ..types.shapes import Shape
from .ahead import Function, MappedAhead, Outcome, outcome_of, outcomes
from .dataset import (
    CHECKED,
    INFINITE,
    UNKNOWN,
    Dataset,
    Element,
    FunctionDataset,
    Pull,
    Pure,
    Spec,
    array_of,
    counted,
    flattened,
    known_size,
    map_pull,
    pull_of,
    row_of,
)
from .mapping import Map, ending_with
from .sources import ListOf, Slices


def stacked(elements: Sequence[Element]) -> Element:
    """Stack elements into an element with a leading dimension; InvalidArgumentError if shapes differ."""
    return tuple([_stack(i, column) for i, column in enumerate(zip(*elements))])


def _stack(place: int, column: Sequence[Any]) -> Any:
    first = array_of(column[0])
    shape = first.shape
    require_one_type(place, column)
    for i, value in enumerate(column):
        if value.shape != shape:
            raise InvalidArgumentError(
                f"Cannot batch tensors with different shapes in component {place}. First element had shape {Shape(shape)} "
                f"and element {i} had shape {Shape(value.shape)}."
            )
    # This check comes before the memory is taken, because small elements may make a large batch.
    reserve(len(column) * first.nbytes)
    # One call is faster than an assignment for each number.
    if not shape and first.dtype != object:
        return np.array(column, first.dtype)
    result = np.empty((len(column), *shape), first.dtype)
    for i, value in enumerate(column):
        # Without the ellipsis an array of one object would be stored itself, and not its object.
        result[i, ...] = value
    return result


def require_one_type(place: int, column: Sequence[Any]) -> None:
    """Raise InvalidArgumentError if the values of a component differ in dtype."""
    dtype = column[0].dtype
    # Strings and variants are all objects to NumPy: only the elements tell them apart.
    kinds = {isinstance(value.item(0), bytes) for value in column if value.size} if dtype.hasobject else ()
    if len(kinds) > 1 or any(value.dtype is not dtype and value.dtype != dtype for value in column):
        raise InvalidArgumentError(f"Cannot batch tensors with different types in component {place}.")


class Batch(Pure):
    """Batches of `size` elements, stacked. A smaller last batch is kept or dropped."""

    size: int
    drops_remainder: bool

    def begin(self) -> Pull:
        return self.begin_at(0)

    def begin_at(self, count: int) -> Pull:
        return self._slices(self.source, count) if isinstance(self.source, Slices) else self.joining(stacked, count)

    def joining(self, join: Callable[[list[Element]], Element], count: int) -> Pull:
        """Begin a pass at batch `count`; the pass returns `join` of each batch's elements."""
        pull, size = self.source.begin_at(count * self.size), self.size

        def next_element() -> Element | None:
            elements: list[Element] = []
            while len(elements) < size and (element := pull()) is not None:
                elements.append(element)
                if len(elements) % CHECKED == 0:
                    check_time()
            if not elements or (self.drops_remainder and len(elements) < size):
                return None
            return join(elements)

        return next_element

    def _slices(self, source: Slices, count: int) -> Pull:
        """Begin a pass of slices: a batch of a tensor's slices is a slice too."""
        # `cardinality` counts batches, and has one less if a smaller last batch is dropped.
        starts = range(count * self.size, self.cardinality() * self.size, self.size)
        return pull_of(tuple([c[start : start + self.size] for c in source.components]) for start in starts)

    def cardinality(self) -> int:
        return counted(self.source, lambda size: size // self.size if self.drops_remainder else -(-size // self.size))

    @property
    def has_places(self) -> bool:
        # TensorFlow, too, gives access by place only if all batches have the same size.
        return type(self) is Batch and self.drops_remainder

    def at(self, index: int) -> Element:
        first, size = index * self.size, known_size(self.source)
        return stacked([self.source.element(i) for i in range(first, min(first + self.size, size))])


class ParallelBatch(Batch):
    """A batch whose elements may be copied in parallel."""


class MapAndBatch(FunctionDataset, Batch):
    """Batches of a function's results. A failing call drops the whole batch.

    At most `calls` calls run at a time (-1: the number of threads); a stateful function needs 1.
    """

    function: Callable[[Element], Element]
    keeps_cardinality: bool
    calls: int = 1

    @property
    def is_pure(self) -> bool:
        """True if calls are independent. A stateful function runs a single call at a time, so `calls` of 1 counts as
        stateful.
        """
        return self.keeps_cardinality and self.calls != 1

    def begin_at(self, count: int) -> Pull:
        return self._batches(self.source.begin_at(count * self.size)) if self.is_pure else Dataset.begin_at(self, count)

    def begin(self) -> Pull:
        return self._batches(self.source.begin())

    def _batches(self, pull: Pull) -> Pull:
        mapped, is_over = self._mapped(pull), False

        def next_element() -> Element | None:
            nonlocal is_over
            elements: list[Element] = []
            failure: Exception | None = None
            # All elements of a batch are taken, even after a failure, because the next batch begins after them.
            for outcome in () if is_over else mapped():
                if outcome is None:
                    is_over = True
                    break
                if isinstance(outcome, Exception):
                    failure = failure or outcome
                else:
                    elements.append(outcome)
            # The batch is lost with the element that failed; the next demand gives the batch behind.
            if failure is not None:
                raise failure
            if not elements or (self.drops_remainder and len(elements) < self.size):
                return None
            return stacked(elements)

        return next_element

    def _mapped(self, pull: Pull) -> Callable[[], Iterable[Outcome]]:
        """Return a function for the outcomes of a batch: made early for the next batch, all at once for a batch, or in
        sequence.
        """
        function = ending_with(self.function, self.keeps_cardinality)
        if self.comes_early():
            mapped = MappedAhead(pull, function, self.calls, self.size, self.comes_early).next
        # Elements that may not come before they are asked for can still be made at once within their batch.
        elif self.calls != 1:
            return self._together(pull, function)
        else:
            mapped = Map(self.inputs, self.function, self.keeps_cardinality).over(pull)
        return lambda: (outcome_of(mapped) for _ in range(self.size))

    def _together(self, pull: Pull, function: Function) -> Callable[[], Iterable[Outcome]]:

        def next_outcomes() -> Iterable[Outcome]:
            asked = (outcome_of(pull) for _ in range(self.size))
            taken = [
                outcome for outcome in itertools.takewhile(lambda outcome: outcome is not None, asked) if outcome is not None
            ]
            return [*outcomes(function, taken, self.calls), *([None] if len(taken) < self.size else [])]

        return next_outcomes

    def cardinality(self) -> int:
        return super().cardinality() if self.keeps_cardinality else UNKNOWN

    at = Dataset.at


class PaddedBatch(Batch):
    """Batches of elements that differ in some dimensions, filled up with a value of each component."""

    shapes: Sequence[Sequence[int]]
    padding: Element

    def begin_at(self, count: int) -> Pull:
        return self.joining(
            lambda elements: tuple([self._padded(i, column) for i, column in enumerate(zip(*elements))]), count
        )

    def _padded(self, place: int, column: Sequence[Any]) -> Any:
        limits = self.shapes[place]
        shapes = [value.shape for value in column]
        require_one_type(place, (self.padding[place], *column))
        for shape in shapes:
            if len(shape) != len(limits):
                raise InvalidArgumentError(
                    f"All elements in a batch must have the same rank as the padded shape for component{place}: expected rank "
                    f"{len(limits)} but got element with rank {len(shape)}"
                )
            if any(size > limit >= 0 for size, limit in zip(shape, limits)):
                raise DataLossError(
                    f"Attempted to pad to a smaller size than the input element: {list(shape)} in component {place}, which is "
                    f"padded to {list(limits)}."
                )
        sizes = [max(sizes) if limit < 0 else limit for limit, *sizes in zip(limits, *shapes)]
        first = array_of(column[0])
        # One long element makes all of its batch as long, so the memory is asked for before it is taken.
        reserve(len(column) * math.prod(sizes) * first.dtype.itemsize)
        result = np.empty((len(column), *sizes), first.dtype)
        result[...] = self.padding[place]
        for i, value in enumerate(column):
            corner: tuple[Any, ...] = (i, *map(slice, value.shape), ...)
            result[corner] = value
        return result

    # Batch's own would stack the elements as they are.
    at = Dataset.at


class Unbatch(Dataset):
    """The slices of elements along their first dimension."""

    def begin(self) -> Pull:
        return flattened(map_pull(self.source.begin(), self._rows))

    @staticmethod
    def _rows(element: Element) -> Pull:
        return pull_of(tuple([row_of(part, place) for part in element]) for place in range(_common_size(element)))

    def cardinality(self) -> int:
        # The declared shapes give the size; no elements are made for it.
        first = [shape[0] if shape.rank else None for shape in self.source.spec.shapes]
        rows = next((count for count in first if isinstance(count, int)), None)
        return counted(self.source, lambda size: size and (UNKNOWN if rows is None else size * rows))


def _common_size(element: Element) -> int:
    if any(not component.ndim for component in element):
        raise InvalidArgumentError("Cannot unbatch an element of rank 0.")
    if not element:
        raise InvalidArgumentError("Cannot unbatch an element without components.")
    sizes = [len(component) for component in element]
    if len(set(sizes)) > 1:
        raise InvalidArgumentError(
            f"Input element must have the same batch size in each component. Component 0 had size {sizes[0]} but "
            f"component 1 had size {next(size for size in sizes if size != sizes[0])}."
        )
    return sizes[0]


class Rebatch(Dataset):
    """The rows of elements in batches of other sizes; the sizes are used in turn."""

    sizes: Sequence[int]
    drops_remainder: bool

    def begin(self) -> Pull:
        pull, turn, rows, is_over = self.source.begin(), 0, 0, False
        held: list[Element] = []

        def next_element() -> Element | None:
            nonlocal turn, rows, is_over
            size = self.sizes[turn]
            while rows < size and not is_over:
                element = pull()
                if element is None:
                    is_over = True
                    break
                held.append(element)
                rows += _common_size(element)
                check_time()
            if is_over and (not rows or (self.drops_remainder and rows < size)):
                rows = 0  # a further demand finds the end again
                return None
            turn = (turn + 1) % len(self.sizes)
            if not size:
                return self._nothing()
            batch, held[:] = _cut(held, size)
            # The last batch may have fewer rows than its size.
            rows = max(0, rows - size)
            return batch

        return next_element

    def _nothing(self) -> Element:
        """Return a batch of no rows."""
        specs = zip(self.source.spec.dtypes, self.source.spec.shapes)
        # No element is at hand that tells the sizes which the spec leaves open.
        sizes = ((dtype, [d if isinstance(d, int) else 0 for d in shape[1:]]) for dtype, shape in specs)
        return tuple([np.empty((0, *dims), dtype.numpy) for dtype, dims in sizes])


def _cut(elements: Sequence[Element], rows: int) -> tuple[Element, list[Element]]:
    """Split consecutive elements after the first `rows` rows; return the rows as an element, and the remaining elements."""
    columns = [_joined(place, column) for place, column in enumerate(zip(*elements))]
    # The remaining rows are a view, which is copied only when the next cut joins them with other elements.
    rest = tuple([column[rows:] for column in columns])
    return tuple([column[:rows] for column in columns]), [rest] if len(rest[0]) else []


def _joined(place: int, parts: Sequence[Any]) -> Any:
    """Concatenate arrays along the first dimension; FailedPreconditionError if the row shapes differ."""
    require_one_type(place, parts)
    first = parts[0].shape[1:]
    for part in parts:
        if part.shape[1:] != first:
            raise FailedPreconditionError(
                f"Cannot batch rows with different shapes in component {place}: {Shape(first)} and {Shape(part.shape[1:])}."
            )
    return np.concatenate(parts) if len(parts) > 1 else parts[0]


class DenseToSparseBatch(Dataset):
    """Batches of tensors of different sizes as sparse tensors: variants of indices, values and dense shape."""

    size: int
    row_shape: Sequence[int]

    def begin(self) -> Pull:
        pull = self.source.begin()

        def next_element() -> Element | None:
            rows: list[Any] = []
            while len(rows) < self.size and (element := pull()) is not None:
                rows.append(array_of(element[0]))
            return self._sparse(rows) if rows else None

        return next_element

    def _sparse(self, rows: Sequence[Any]) -> Element:
        # A function may break its declaration, and NumPy would convert in silence.
        require_one_type(0, rows)
        for row in rows:
            if row.ndim != len(self.row_shape):
                raise InvalidArgumentError(
                    f"Input element had shape ({Shape(row.shape)}) that is incompatible with the row shape "
                    f"({list(self.row_shape)})."
                )
            if any(size > limit >= 0 for size, limit in zip(row.shape, self.row_shape)):
                raise DataLossError(f"Input element had shape ({Shape(row.shape)}) that is larger than the row shape.")
        largest = [max(sizes) if limit < 0 else limit for limit, *sizes in zip(self.row_shape, *(r.shape for r in rows))]
        indices = [np.insert(np.argwhere(np.ones(row.shape, bool)), 0, i, axis=1) for i, row in enumerate(rows)]
        values = np.concatenate([row.ravel() for row in rows])
        dense_shape = np.array([len(rows), *largest], np.int64)
        return (object_array([np.concatenate(indices).astype(np.int64), values, dense_shape], (3,)),)

    def cardinality(self) -> int:
        return counted(self.source, lambda size: -(-size // self.size))


class LegacyRebatch(Dataset, kind="Rebatch"):
    """Each batch split into `replicas` slices; the last slices may be smaller or empty."""

    replicas: int

    def begin(self) -> Pull:
        return flattened(map_pull(self.source.begin(), self._slices))

    def _slices(self, element: Element) -> Pull:
        """Return a pull of the slices, each made on demand: all slices at once may exceed the memory."""
        size = -(-_common_size(element) // self.replicas)
        places = range(self.replicas)
        return pull_of(tuple([part[place * size : (place + 1) * size] for part in element]) for place in places)

    def cardinality(self) -> int:
        return counted(self.source, lambda size: size * self.replicas)


# Windows over elements, and groups that functions form.


class WindowElements(ListOf, kind="Window"):
    """The elements of a window or a group."""


class Window(Dataset):
    """Windows of `size` elements at a distance of `stride`, each window begun `shift` elements after the previous window.

    An element holds a dataset for each component.
    """

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
        # A window begins at every shift and may be short, however few elements are left.
        if not self.drops_remainder:
            return counted(self.source, lambda size: -(-size // self.shift))
        span = (self.size - 1) * self.stride + 1
        return counted(self.source, lambda size: 0 if size < span else (size - span) // self.shift + 1)


class SlidingWindow(Window):
    """Windows whose elements are stacked as in a batch."""

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


class GroupByWindow(Dataset):
    """Elements grouped by a key; a function maps each full group to a dataset, whose elements are given."""

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


class GroupByReducer(Dataset):
    """A reduction for each key: functions begin a key's state, update the state by the key's elements and finish the
    result.
    """

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
