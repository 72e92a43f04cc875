"""Datasets that take their elements from tensors, ranges and random numbers."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..support.errors import InvalidArgumentError, OutOfRangeError
from ..types.dtypes import DType, int64
from .dataset import INFINITE, Dataset, Element, Pull, Pure, array_of, pull_of, row_of
from .seeds import PhiloxWords, Seeds


class ByPlace(Pure):
    """Elements that are found by their places as fast as in turn, and number `cardinality()`."""

    def begin(self) -> Pull:
        return self.begin_at(0)

    def begin_at(self, count: int) -> Pull:
        # `map` stays in C: a generator would add a frame to each element.
        return pull_of(map(self.at, range(count, self.cardinality())))


class Tensors(ByPlace, kind="Tensor"):
    """A dataset of a single element."""

    components: Element

    def cardinality(self) -> int:
        return 1

    def at(self, index: int) -> Element:
        return self.components


class Slices(ByPlace, kind="TensorSlice"):
    """The slices of tensors along their first dimension: views, not copies."""

    components: Element

    @staticmethod
    def of(components: Sequence[Any]) -> Slices:
        """Return slices of tensors; InvalidArgumentError if the tensors differ in length."""
        arrays = tuple(map(array_of, components))
        if any(not component.ndim for component in arrays):
            raise InvalidArgumentError("All components must be at least 1-dimensional")
        sizes = [len(component) for component in arrays]
        if len(set(sizes)) > 1:
            raise InvalidArgumentError(f"All components must have the same size in the 0th dimension, not {sizes}")
        return Slices((), arrays)

    def begin_at(self, count: int) -> Pull:
        # Iterating over an object array gives bare objects, and an element must be arrays.
        if any(component.dtype == object for component in self.components):
            return super().begin_at(count)
        return pull_of(zip(*[component[count:] for component in self.components]))

    def cardinality(self) -> int:
        return len(self.components[0])

    def at(self, index: int) -> Element:
        return tuple([row_of(component, index) for component in self.components])


class ListOf(ByPlace, kind="List"):
    """A dataset of a list of elements."""

    elements: Sequence[Element]

    def begin_at(self, count: int) -> Pull:
        return pull_of(iter(self.elements[count:]))

    def cardinality(self) -> int:
        return len(self.elements)

    def at(self, index: int) -> Element:
        return self.elements[index]


class Range(ByPlace):
    """Numbers at equal distances."""

    numbers: range
    dtype: DType

    def begin_at(self, count: int) -> Pull:
        return pull_of(zip(map(np.int64 if self.dtype is int64 else self._cast, self.numbers[count:])))

    def cardinality(self) -> int:
        """Return the number of elements; as in TensorFlow, infinite where the number needs more than 64 bits."""
        size = self.numbers.stop - self.numbers.start
        return len(self.numbers) if abs(size) <= sys.maxsize else INFINITE

    def at(self, index: int) -> Element:
        return (self._cast(self.numbers[index]),)

    def _cast(self, number: int) -> Any:
        """Return the number in the dtype, cut to the dtype's bits."""
        # NumPy makes no number of a smaller dtype from one beyond its range, but casts an int64 by cutting.
        return np.int64(number).astype(self.dtype.numpy)


class RandomNumbers(Dataset, kind="Random"):
    """Words of a Philox stream, without end; another stream each pass where the seeds are renewed."""

    seeds: Seeds
    dtype: DType

    def begin(self) -> Pull:
        words, make = PhiloxWords(*self.seeds.next()), self.dtype.numpy.type
        return lambda: (make(words.next()),)

    def cardinality(self) -> int:
        return INFINITE


class SparseSlices(Dataset, kind="SparseTensorSlice"):
    """The rows of a sparse tensor, each as indices, values and dense shape."""

    indices: Any
    values: Any
    dense_shape: Any

    def begin(self) -> Pull:
        return pull_of(map(self._row, range(self.cardinality())))

    def _row(self, index: int) -> Element:
        # The op has refused rows out of order, so that each row's entries stand together.
        start, stop = np.searchsorted(self.indices[:, 0], index), np.searchsorted(self.indices[:, 0], index, "right")
        return self.indices[start:stop, 1:], self.values[start:stop], self.dense_shape[1:]

    def cardinality(self) -> int:
        return int(self.dense_shape[0])


class Generated(Dataset, kind="Generator"):
    """Unfold: `start` makes a state, `following` maps a state to the next element until an OutOfRangeError, `end` releases
    the state.
    """

    start: Callable[[Sequence[Any]], Sequence[Any]]
    following: Callable[[Sequence[Any]], Sequence[Any]]
    end: Callable[[Sequence[Any]], Sequence[Any]]

    def begin(self) -> Pull:
        state: Sequence[Any] | None = None
        is_over = False

        def next_element() -> Element | None:
            nonlocal state, is_over
            if is_over:
                return None
            if state is None:
                # At the first demand and not when the pass begins, as in TensorFlow: a pass that nobody reads runs no code of
                # the user.
                state = self.start(())
            try:
                return tuple(self.following(state))
            except OutOfRangeError:
                is_over = True
            self.end(state)
            return None

        return next_element
