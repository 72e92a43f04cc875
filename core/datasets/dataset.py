"""Datasets: what the variants of an input pipeline hold.

A dataset says how to begin; what it returns then gives the next element each time it is called, a tuple of arrays, and None at
the end. An element that fails raises its error and is passed: the next call goes on behind it.
"""

from __future__ import annotations

import copy
import dataclasses
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar, Final, TypeAlias

import numpy as np

from ..graph.graph import Graph, Node
from ..runtime.state.edge_values import is_of
from ..runtime.state.run_context import check_time
from ..support.errors import FailedPreconditionError, InvalidArgumentError, OutOfRangeError
from ..types.dtypes import DType
from ..types.shapes import Shape, fits, merge_shapes

Element: TypeAlias = tuple[Any, ...]
CHECKED: Final = 256
"""Elements of an input after which who gathers many looks at the time."""
Pull: TypeAlias = Callable[[], Element | None]

INFINITE: Final = -1
UNKNOWN: Final = -2
"""What stands for a cardinality that is no number, as TensorFlow has it."""


@dataclasses.dataclass(frozen=True, slots=True)
class Spec:
    """The dtypes and shapes of an element's components."""

    dtypes: tuple[DType, ...] = ()
    shapes: tuple[Shape, ...] = ()

    def require(self, other: Spec) -> None:
        """InvalidArgumentError where elements of `other` are not of these dtypes and shapes."""
        if len(self.dtypes) != len(other.dtypes):
            raise InvalidArgumentError(
                f"Number of components does not match: expected {len(self.dtypes)} types but got {len(other.dtypes)}."
            )
        for i, (wanted, found) in enumerate(zip(self.dtypes, other.dtypes)):
            if wanted.base is not found.base:
                raise InvalidArgumentError(f"Data type mismatch at component {i}: expected {wanted} but got {found}.")
        for i, (shape, given) in enumerate(zip(self.shapes, other.shapes)):
            try:
                merge_shapes(shape, given)
            except InvalidArgumentError:
                raise InvalidArgumentError(
                    f"Incompatible shapes at component {i}: expected {shape} but got {given}."
                ) from None


def require_types(wanted: Sequence[DType], element: Sequence[Any]) -> None:
    """InvalidArgumentError where components are not of these dtypes: functions need not give what a dataset declares."""
    if len(element) != len(wanted):
        raise InvalidArgumentError(
            f"Number of components does not match: expected {len(wanted)} types but got {len(element)}."
        )
    for i, (value, dtype) in enumerate(zip(element, wanted)):
        if not is_of(value, dtype):
            raise InvalidArgumentError(f"Data type mismatch at component {i}: expected {dtype} but got {value.dtype}.")


def held_to(element: Element, types: Sequence[DType], shapes: Sequence[Shape]) -> Element:
    """The element; InvalidArgumentError where it is not what a node says that it gives."""
    require_types(types, element)
    for i, (value, shape) in enumerate(zip(element, shapes)):
        if not fits(value.shape, shape):
            raise InvalidArgumentError(f"Incompatible shapes at component {i}: expected {shape} but got {Shape(value.shape)}.")
    return element


@dataclasses.dataclass(frozen=True, slots=True)
class Origin:
    """The node that made a dataset, its flat inputs, and the graph whose library has the functions it names."""

    node: Node
    inputs: tuple[Any, ...]
    library: Graph


@dataclasses.dataclass(eq=False)
class Dataset:
    """Elements on demand, mostly made of those of `inputs`. `kind` is TensorFlow's word for the transformation."""

    kind: ClassVar[str] = ""
    inputs: tuple[Dataset, ...]
    spec: Spec = dataclasses.field(default=Spec(), init=False)
    origin: Origin | None = dataclasses.field(default=None, init=False)
    """What made it, as far as a node of a graph made it as it is."""

    def begin(self) -> Pull:
        """A fresh pass over the elements."""
        raise NotImplementedError

    def begin_at(self, count: int) -> Pull:
        """A fresh pass whose first `count` elements are passed; an error where one of them fails.

        Here they are made and thrown away. A dataset that knows better need not make them.
        """
        pull = self.begin()
        for _ in range(count):
            if pull() is None:
                return ended
            check_time()
        return pull

    @property
    def is_pure(self) -> bool:
        """True where what a pass gives follows from the elements of the inputs, and it leaves nothing behind."""
        return False

    @property
    def has_places(self) -> bool:
        """True where elements are found by their places without a pass, if those of the inputs are."""
        return type(self).element is not Dataset.element

    @property
    def is_plain(self) -> bool:
        """True where each pass gives the same elements, whatever came before."""
        return self.is_pure and all(source.is_plain for source in self.inputs)

    def comes_early(self, is_begun_anew: bool = False) -> bool:
        """True where no run can tell when its elements were made, so that they may be made before they are asked for.

        `is_begun_anew`: not only the elements of a pass are, but passes over it are begun early too.
        """
        return self.is_pure and all(source.comes_early(is_begun_anew) for source in self.inputs)

    def cardinality(self) -> int:
        """How many elements there are, INFINITE or UNKNOWN."""
        return UNKNOWN

    def element(self, index: int) -> Element:
        """One element by its place, of a dataset whose size is known; here it is found behind those before it."""
        require_index(index, known_size(self))
        return next(itertools.islice(self, index, None))

    def with_inputs(self, inputs: tuple[Dataset, ...]) -> Dataset:
        """The same transformation of other inputs; what it keeps from pass to pass is shared."""
        other = copy.copy(self)
        other.inputs = inputs
        return other

    @property
    def source(self) -> Dataset:
        """The only, or the first, input."""
        return self.inputs[0]

    @property
    def title(self) -> str:
        """The transformation as AssertNext knows it."""
        return self.kind

    def __iter__(self) -> Iterator[Element]:
        pull = self.begin()
        while (element := pull()) is not None:
            check_time()
            yield element


class Pure(Dataset):
    """What follows from the elements of the inputs alone."""

    @property
    def is_pure(self) -> bool:
        return True


@dataclasses.dataclass(eq=False)
class SameElements(Dataset):
    """What changes neither the elements nor their number."""

    def begin(self) -> Pull:
        return self.source.begin()

    def begin_at(self, count: int) -> Pull:
        return self.source.begin_at(count) if self.is_pure else super().begin_at(count)

    @property
    def is_pure(self) -> bool:
        return type(self).begin is SameElements.begin

    @property
    def has_places(self) -> bool:
        return self.is_pure

    def cardinality(self) -> int:
        return self.source.cardinality()

    def element(self, index: int) -> Element:
        return self.source.element(index)


class PerPass:
    """A function that each iterator has for itself, since it draws random numbers: all iterators begin with the same ones."""

    def __init__(self, make: Callable[[], Callable[[Element], Element]]) -> None:
        self.make = make
        self._call: Callable[[Element], Element] | None = None

    def __call__(self, element: Element) -> Element:
        if self._call is None:
            self._call = self.make()
        return self._call(element)

    def anew(self) -> PerPass:
        """The function as it begins."""
        return PerPass(self.make)


def tree(dataset: Dataset) -> Iterator[Dataset]:
    """A dataset and all that it takes elements from."""
    yield dataset
    for source in dataset.inputs:
        yield from tree(source)


def require_places(dataset: Dataset) -> None:
    """FailedPreconditionError where a dataset, or one that it is made of, does not find elements by their places."""
    for item in tree(dataset):
        if not item.has_places:
            raise FailedPreconditionError(
                "`global_shuffle` requires all upstream transformations be compatible with random access. Got: "
                f"{item.kind}Dataset does not support random access."
            )


def require_index(index: int, size: int) -> None:
    """OutOfRangeError where there is no element of that place."""
    if not 0 <= index < size:
        raise OutOfRangeError(f"Index out of range [0, {size}):{index}")


def known_size(dataset: Dataset) -> int:
    """The number of elements of a dataset of which one is asked for by its place."""
    size = dataset.cardinality()
    if size < 0:
        word = "infinite" if size == INFINITE else "unknown"
        raise FailedPreconditionError(f"{dataset.kind}Dataset has {word} cardinality, which does not support random access.")
    return size


def least(cardinalities: Sequence[int]) -> int:
    """The cardinality of what ends with the first of several."""
    if UNKNOWN in cardinalities:
        return UNKNOWN
    return min((count for count in cardinalities if count != INFINITE), default=INFINITE)


def array_of(value: Any) -> Any:
    """A component as an array, scalars included."""
    return value if isinstance(value, np.ndarray) else np.asarray(value)


def row_of(array: Any, index: int) -> Any:
    """A slice along the first dimension: a view. What is no number stays an array."""
    return array[index] if array.ndim > 1 or array.dtype != object else array[index : index + 1].reshape(())


def ended() -> None:
    """A pass that has no elements left."""
    return None


def keeping(source: Dataset, keep: Callable[[list[Element]], None]) -> Pull:
    """A pass over `source` at whose end `keep` is handed all its elements."""
    pull, kept = source.begin(), list[Element]()
    is_over = False

    def next_element() -> Element | None:
        nonlocal is_over
        element = None if is_over else pull()
        if element is not None:
            kept.append(element)
        elif not is_over:
            is_over = True
            keep(kept)
        return element

    return next_element
