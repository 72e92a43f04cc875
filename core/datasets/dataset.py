"""Datasets, the values of variants in an input pipeline.

A dataset begins a pass by returning a pull. Each call of the pull returns the next element, a tuple of arrays, and None at
the end. A failing element raises its error and is skipped: the next call returns the element after the failure.
"""

from __future__ import annotations

import copy
import functools
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar, Final, Self, TypeAlias, TypeVar, dataclass_transform

import numpy as np

from ..graph.graph import Graph, Node
from ..runtime.state.edge_values import is_of
from ..runtime.state.run_context import check_time
from ..support import dataclasses
from ..support.errors import FailedPreconditionError, InvalidArgumentError, OutOfRangeError
from ..types.dtypes import DType
from ..types.shapes import Shape, fits, merge_shapes

_Item = TypeVar("_Item")
_Taken = TypeVar("_Taken")
_Made = TypeVar("_Made")
Element: TypeAlias = tuple[Any, ...]
CHECKED: Final = 256
"""Elements of an input between two checks of the run's deadline, in a transformation that gathers many elements."""
# A function and no generator: a generator that has raised an error is finished, and a pass continues after a failing element.
Pull: TypeAlias = Callable[[], Element | None]

INFINITE: Final = -1
UNKNOWN: Final = -2
"""TensorFlow's number for an unknown cardinality."""


@dataclasses.dataclass(frozen=True, slots=True)
class Spec:
    """The dtypes and shapes of an element's components."""

    dtypes: tuple[DType, ...] = ()
    shapes: tuple[Shape, ...] = ()

    def require(self, other: Spec) -> None:
        """Raise InvalidArgumentError if elements of `other` differ from the dtypes and shapes of this spec."""
        if len(self.dtypes) != len(other.dtypes):
            raise InvalidArgumentError(
                f"Number of components does not match: expected {len(self.dtypes)} types but got {len(other.dtypes)}."
            )
        for i, (expected, actual) in enumerate(zip(self.dtypes, other.dtypes)):
            if expected.base is not actual.base:
                raise InvalidArgumentError(f"Data type mismatch at component {i}: expected {expected} but got {actual}.")
        for i, (shape, other_shape) in enumerate(zip(self.shapes, other.shapes)):
            try:
                merge_shapes(shape, other_shape)
            except InvalidArgumentError:
                raise InvalidArgumentError(
                    f"Incompatible shapes at component {i}: expected {shape} but got {other_shape}."
                ) from None


def require_types(dtypes: Sequence[DType], element: Sequence[Any]) -> None:
    """Raise InvalidArgumentError if components differ from the dtypes: functions may break a dataset's declaration."""
    if len(element) != len(dtypes):
        raise InvalidArgumentError(
            f"Number of components does not match: expected {len(dtypes)} types but got {len(element)}."
        )
    for i, (value, dtype) in enumerate(zip(element, dtypes)):
        if not is_of(value, dtype):
            raise InvalidArgumentError(f"Data type mismatch at component {i}: expected {dtype} but got {value.dtype}.")


def held_to(element: Element, types: Sequence[DType], shapes: Sequence[Shape]) -> Element:
    """Return the element; InvalidArgumentError if the element breaks the dtypes and shapes that a node declares."""
    require_types(types, element)
    require_shapes(shapes, element)
    return element


def require_shapes(shapes: Sequence[Shape], element: Element) -> None:
    """Raise InvalidArgumentError if a component has another shape."""
    for i, (value, shape) in enumerate(zip(element, shapes)):
        if not fits(value.shape, shape):
            raise InvalidArgumentError(f"Incompatible shapes at component {i}: expected {shape} but got {Shape(value.shape)}.")


@dataclasses.dataclass(frozen=True, slots=True)
class Origin:
    """The node that made a dataset, its flat inputs, and the graph with its functions in the library."""

    node: Node
    inputs: tuple[Any, ...]
    library: Graph


# `eq=False`: two datasets with equal fields stay two, because each has passes and states of its own.
@dataclass_transform(eq_default=False, field_specifiers=(dataclasses.field,))
@dataclasses.dataclass(eq=False)
class Dataset:
    """Elements on demand, mostly made from elements of `inputs`. All classes of datasets are dataclasses."""

    kind: ClassVar[str]
    """TensorFlow's word for the transformation: the name of the class, unless the class says another."""
    inputs: tuple[Dataset, ...]
    spec: Spec = dataclasses.field(default=Spec(), init=False)
    origin: Origin | None = dataclasses.field(default=None, init=False)
    """The node that made the dataset, or None if a rewrite made the dataset."""

    def __init_subclass__(cls, kind: str = "") -> None:
        cls.kind = kind or cls.__name__
        dataclasses.dataclass(eq=False)(cls)

    def begin(self) -> Pull:
        """Begin a pass over the elements."""
        raise NotImplementedError

    def begin_at(self, count: int) -> Pull:
        """Begin a pass that skips the first `count` elements; raise the error of a skipped element.

        Here the elements are made and thrown away. A dataset with random access need not make them.
        """
        pull = self.begin()
        for _ in range(count):
            if pull() is None:
                return ended
            check_time()
        return pull

    # `is_pure` and `comes_early` answer two questions. A shuffle draws and is not pure, and may still come early; a map that
    # captured a V1 variable is pure within a pass, and must not come early, because a run may assign the variable meanwhile.
    @property
    def is_pure(self) -> bool:
        """True if the elements of a pass depend on the elements of the inputs alone, and a pass leaves no state behind."""
        return False

    @property
    def has_places(self) -> bool:
        """True if the dataset has random access without a pass, provided that the inputs have."""
        return type(self).at is not Dataset.at

    @property
    def is_plain(self) -> bool:
        """True if each pass gives the same elements, whatever came before."""
        return self.is_pure and all(source.is_plain for source in self.inputs)

    def comes_early(self, is_begun_anew: bool = False) -> bool:
        """Return True if no run can tell when the elements were made, so that threads may make them ahead of demand.

        `is_begun_anew`: passes over the dataset, and not only a pass's elements, are begun early.
        """
        return self.is_pure and all(source.comes_early(is_begun_anew) for source in self.inputs)

    def cardinality(self) -> int:
        """Return the number of elements, INFINITE or UNKNOWN."""
        return UNKNOWN

    def element(self, index: int) -> Element:
        """Return the element at an index, of a dataset with a known size; OutOfRangeError if there is none."""
        require_index(index, known_size(self))
        return self.at(index)

    def at(self, index: int) -> Element:
        """Return the element at an index below the size. The default makes the elements before `index` too."""
        return next(itertools.islice(self, index, None))

    def with_inputs(self, inputs: tuple[Dataset, ...]) -> Self:
        """Return the same transformation of other inputs; state that outlives a pass is shared."""
        # The copy is shallow: functions, seeds and caches are those of this dataset.
        other = copy.copy(self)
        # `dataclasses.replace` would leave out the spec and the origin, which are no arguments.
        other.inputs = inputs
        return other

    @property
    def source(self) -> Dataset:
        """The only, or the first, input."""
        return self.inputs[0]

    @property
    def title(self) -> str:
        """The transformation's name for AssertNext."""
        return self.kind

    def __iter__(self) -> Iterator[Element]:
        # For callers that end with the first error; others take a pull, which goes on behind an element that fails.
        pull = self.begin()
        while (element := pull()) is not None:
            check_time()
            yield element


class Pure(Dataset):
    """A dataset whose elements depend on the elements of the inputs alone."""

    @property
    def is_pure(self) -> bool:
        return True


class FunctionDataset(Dataset):
    """A dataset that calls a function of the graph on the elements of its input.

    `runs_early`: a result depends on the element alone, whenever the call is made.
    """

    runs_early: bool = dataclasses.field(default=False, kw_only=True)

    def comes_early(self, is_begun_anew: bool = False) -> bool:
        return self.runs_early and self.source.comes_early(is_begun_anew)


class OneForOne(Dataset):
    """A dataset with an element for each element of its input."""

    def begin(self) -> Pull:
        return self.over(self.source.begin())

    def begin_at(self, count: int) -> Pull:
        # What is passed over in a pure dataset has no effect that a later element could see.
        return self.over(self.source.begin_at(count)) if self.is_pure else super().begin_at(count)

    def over(self, pull: Pull) -> Pull:
        """Return the rest of a pass over the source."""
        return pull


class SameElements(OneForOne):
    """A dataset with the elements of its input, unchanged."""

    @property
    def is_pure(self) -> bool:
        # A subclass with a `begin` of its own does more than hand elements on: it counts, sleeps, writes.
        return type(self).begin is OneForOne.begin

    @property
    def has_places(self) -> bool:
        return self.is_pure

    def cardinality(self) -> int:
        return self.source.cardinality()

    def element(self, index: int) -> Element:
        return self.source.element(index)


class PerPass:
    """A function with a copy for each iterator, since the function draws random numbers: all iterators draw the same
    numbers.
    """

    def __init__(self, make: Callable[[], Callable[[Element], Element]]) -> None:
        self.make = make
        self._call: Callable[[Element], Element] | None = None

    def __call__(self, element: Element) -> Element:
        if self._call is None:
            self._call = self.make()
        return self._call(element)

    def anew(self) -> PerPass:
        """Return the function in its first state."""
        return PerPass(self.make)


def tree(dataset: Dataset) -> Iterator[Dataset]:
    """Yield a dataset and the datasets below, inputs of inputs included."""
    yield dataset
    for source in dataset.inputs:
        yield from tree(source)


def require_places(dataset: Dataset) -> None:
    """Raise FailedPreconditionError if a dataset, or a dataset below, has no random access."""
    for item in tree(dataset):
        if not item.has_places:
            raise FailedPreconditionError(
                "`global_shuffle` requires all upstream transformations be compatible with random access. Got: "
                f"{item.kind}Dataset does not support random access."
            )


def require_index(index: int, size: int) -> None:
    """OutOfRangeError if there is no element of that place."""
    if not 0 <= index < size:
        raise OutOfRangeError(f"Index out of range [0, {size}):{index}")


def known_size(dataset: Dataset) -> int:
    """Return the number of elements of a dataset for random access; FailedPreconditionError if unknown or infinite."""
    size = dataset.cardinality()
    if size < 0:
        word = "infinite" if size == INFINITE else "unknown"
        raise FailedPreconditionError(f"{dataset.kind}Dataset has {word} cardinality, which does not support random access.")
    return size


def counted(dataset: Dataset, count: Callable[[int], int]) -> int:
    """Return `count` of the number of elements of a dataset; INFINITE and UNKNOWN stay."""
    size = dataset.cardinality()
    return size if size in (INFINITE, UNKNOWN) else count(size)


def repeated_cardinality(dataset: Dataset, passes: int) -> int:
    """Return the cardinality of a number of passes over a dataset, without end if negative."""
    if passes < 0:
        # A dataset without elements stays without, however often it is repeated.
        return dataset.cardinality() and INFINITE
    return counted(dataset, lambda size: size * passes) if passes else 0


def total(cardinalities: Sequence[int]) -> int:
    """Return the cardinality of several datasets in sequence."""
    return INFINITE if INFINITE in cardinalities else UNKNOWN if UNKNOWN in cardinalities else sum(cardinalities)


def least(cardinalities: Sequence[int]) -> int:
    """Return the cardinality of a dataset that ends with the first of several datasets."""
    # As in TensorFlow, although a finite size beside the unknown one bounds the number.
    if UNKNOWN in cardinalities:
        return UNKNOWN
    return min((count for count in cardinalities if count != INFINITE), default=INFINITE)


def array_of(value: Any) -> Any:
    """Return a component as an array, scalars included."""
    return value if isinstance(value, np.ndarray) else np.asarray(value)


def row_of(array: Any, index: int) -> Any:
    """Return a slice along the first dimension: a view. A scalar that is no number stays an array."""
    # Indexing a vector of objects gives the object itself, and a component has to be an array or a NumPy scalar.
    return array[index] if array.ndim > 1 or array.dtype != object else array[index : index + 1].reshape(())


def ended() -> None:
    """Return None, the end of a pass."""
    return None


def pull_of(items: Iterator[_Item]) -> Callable[[], _Item | None]:
    """Return a pull of the items of an iterator."""
    return functools.partial(next, items, None)


def map_pull(pull: Callable[[], _Taken | None], make: Callable[[_Taken], _Made | None]) -> Callable[[], _Made | None]:
    """Return a pull of the results of `make`, which ends where the pull or `make` returns None."""

    def next_result() -> _Made | None:
        taken = pull()
        return None if taken is None else make(taken)

    return next_result


def picking(pull: Pull, pick: Callable[[Element], Element | None]) -> Pull:
    """Apply `pick` to elements, and skip elements for which `pick` returns None."""

    def next_element() -> Element | None:
        while (element := pull()) is not None:
            if (picked := pick(element)) is not None:
                return picked
            check_time()
        return None

    return next_element


def lasting(pull: Pull) -> Pull:
    """Return a pull that, once at its end, stays there, whatever a further demand would find."""
    is_over = False

    def next_element() -> Element | None:
        nonlocal is_over
        element = None if is_over else pull()
        is_over = element is None
        return element

    return next_element


def deferred(begin: Callable[[], Pull]) -> Pull:
    """Return the pull of a pass that begins with the first demand for an element."""
    pull: Pull | None = None

    def next_element() -> Element | None:
        nonlocal pull
        if pull is None:
            pull = begin()
        return pull()

    return next_element


def flattened(following: Callable[[], Pull | None]) -> Pull:
    """Return a pull of the elements of several passes in sequence; `following` begins the next pass, None after the last."""
    inner: Pull = ended

    def next_element() -> Element | None:
        nonlocal inner
        while (element := inner()) is None:
            inner = ended  # also where `following` fails: the next demand goes on behind the failure
            begun = following()
            if begun is None:
                return None
            inner = begun
            check_time()
        return element

    return next_element


def keeping(source: Dataset, keep: Callable[[list[Element]], None]) -> Pull:
    """Begin a pass over `source`; at the pass's end `keep` receives all elements."""
    pull, elements = source.begin(), list[Element]()
    is_over = False

    def next_element() -> Element | None:
        nonlocal is_over
        element = None if is_over else pull()
        if element is not None:
            elements.append(element)
        elif not is_over:
            # This is set before `keep`: if `keep` fails, a further demand must not begin to gather again.
            is_over = True
            keep(elements)
        return element

    return next_element
