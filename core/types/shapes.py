"""Shapes of known, symbolic or unknown dimensions, and specs of tensors for inference."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from ..support import dataclasses
from ..support.errors import InvalidArgumentError
from .dims import Dim, DimLike, broadcast_dims, substitute
from .dtypes import DType

if TYPE_CHECKING:
    import numpy as np


BatchSize: TypeAlias = int | Literal["?"]
"""A batch: a number of rows, or ? for an unknown number."""


class Shape:
    """A tuple of dimensions (int or Dim), or of unknown rank (`dims` is None). Immutable."""

    __slots__ = ("dims",)
    dims: tuple[DimLike, ...] | None

    def __init__(self, dims: Iterable[DimLike | None] | None = None) -> None:
        self.dims = None if dims is None else tuple([Dim.unknown() if d is None else d for d in dims])

    @property
    def rank(self) -> int | None:
        return None if self.dims is None else len(self.dims)

    @property
    def is_known(self) -> bool:
        """True if every dimension is a number."""
        return self.dims is not None and all(isinstance(d, int) for d in self.dims)

    @property
    def num_elements(self) -> DimLike:
        """The product of the dimensions; an anonymous unknown where the rank is unknown."""
        return Dim.unknown() if self.dims is None else math.prod(self.dims)

    def known(self) -> tuple[int, ...]:
        """Return the dimensions as numbers; InvalidArgumentError if a dimension is unknown."""
        if self.dims is None or not self.is_known:
            raise InvalidArgumentError(f"shape {self} is not fully known")
        return tuple(d for d in self.dims if isinstance(d, int))

    def __len__(self) -> int:
        if self.dims is None:
            raise InvalidArgumentError("the shape has an unknown rank")
        return len(self.dims)

    def __iter__(self) -> Iterator[DimLike]:
        if self.dims is None:
            raise InvalidArgumentError("the shape has an unknown rank")
        return iter(self.dims)

    def __getitem__(self, index: Any) -> Any:
        """Return a dimension, or a Shape for a slice; unknown where the rank is unknown, InvalidArgumentError for an
        invalid index.
        """
        if self.dims is None:
            # A new unknown each time: two dimensions of an unknown shape need not be equal.
            return Shape() if isinstance(index, slice) else Dim.unknown()
        if isinstance(index, slice):
            return Shape(self.dims[index])
        try:
            return self.dims[index]
        except IndexError:
            raise InvalidArgumentError(f"shape {self} has no dimension {index}") from None

    def __add__(self, other: Shape | Iterable[DimLike]) -> Shape:
        """Return the concatenation of two shapes."""
        other = as_shape(other)
        return Shape() if self.dims is None or other.dims is None else Shape(self.dims + other.dims)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Shape) and self.dims == other.dims

    def __hash__(self) -> int:
        return hash(self.dims)

    def __str__(self) -> str:
        return "<unknown>" if self.dims is None else f"({','.join(map(str, self.dims))})"

    def __repr__(self) -> str:
        return f"Shape{self}"


class NumberedShape(Shape):
    """A shape whose unknown dimensions have numbers: below -1, equal numbers mean equal dimensions.

    Grappler writes such numbers (SymbolicShapeRefiner in core/grappler/costs/graph_properties.cc). No op accepts them in an
    attribute of its own.
    """

    __slots__ = ("sizes",)
    sizes: tuple[int, ...]

    def __init__(self, sizes: Iterable[int]) -> None:
        # Kept beside the shape, so that a file is written as it was read.
        self.sizes = tuple(sizes)
        super().__init__(None if size < 0 else size for size in self.sizes)

    def __repr__(self) -> str:
        return f"a shape with a dimension below -1: ({','.join(map(str, self.sizes))})"


class _NoElement(Shape):
    """The shape of the elements of a container that has none yet: equal to no other shape, as the unknown one is."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        # Not equal to the shape of unknown rank, whose `dims` are None too.
        return self is other

    def __hash__(self) -> int:
        return id(self)

    def __str__(self) -> str:
        return "<none>"


POSITION: Final = "position in the list"
"""The symbol for an element's position, in the spec of the elements of a list whose shapes differ."""
UNKNOWN = Shape()
SCALAR = Shape(())
NO_ELEMENT: Final = _NoElement()
"""The shape in the contents of an empty container, which takes any element's shape; a tensor never has this shape."""
UNSTATED: Final = Shape()
"""The empty shape of a placeholder in an old graph: an unknown shape, which the file spells like the shape of a scalar."""


@dataclasses.dataclass(frozen=True, slots=True)
class TensorSpec:
    """The inferred dtype, shape and value of a tensor.

    `value` is the constant value where known: an array, of dtype object with Dims among the elements where only a part is
    known. `handle` holds the specs of a resource's contents (a variable's value), or of a list's elements in a variant;
    other variants have none.
    """

    dtype: DType
    shape: Shape = UNKNOWN
    value: np.ndarray[Any, Any] | None = None
    handle: tuple[TensorSpec, ...] = ()

    @property
    def rank(self) -> int | None:
        return self.shape.rank


def as_shape(value: Any) -> Shape:
    """Return a Shape from a Shape, None (unknown rank) or an iterable with None or -1 for unknown dimensions."""
    if isinstance(value, Shape):
        return value
    if value is None:
        return UNKNOWN
    # A text is a sequence too, of which each character would become a size.
    if isinstance(value, str | bytes):
        raise TypeError(f"a shape is a sequence of sizes, not {value!r}")
    return Shape(None if isinstance(d, int) and d < 0 else d for d in value)


def merge_dims(a: DimLike, b: DimLike) -> DimLike:
    """Return the more definite of two dimensions that must be equal; InvalidArgumentError if they cannot be."""
    if isinstance(a, int) and isinstance(b, int):
        if a != b:
            raise InvalidArgumentError(f"dimensions {a} and {b} must be equal")
        return a
    if isinstance(a, int):
        return a
    if isinstance(b, int):
        return b
    # A symbol with a name says more than an unknown.
    return b if a.is_anonymous and not b.is_anonymous else a


def merge_shapes(a: Shape, b: Shape) -> Shape:
    """Return the more definite of two shapes that must be equal; InvalidArgumentError if they cannot be."""
    if a.dims is None:
        # A container that may have elements is not empty in every run.
        return a if b is NO_ELEMENT else b
    if b.dims is None:
        return a
    # Not broadcast: both are shapes of one tensor.
    if len(a.dims) != len(b.dims):
        raise InvalidArgumentError(f"shapes {a} and {b} must have the same rank")
    return Shape(merge_dims(x, y) for x, y in zip(a.dims, b.dims))


def relax_shapes(a: Shape, b: Shape, free: Collection[DimLike] = ()) -> Shape:
    """Return the most definite shape that covers both; a `free` dimension of the first covers any."""
    if a.dims is None or b.dims is None or len(a.dims) != len(b.dims):
        return UNKNOWN
    return Shape(x if x == y or x in free else None for x, y in zip(a.dims, b.dims))


def fits(dims: tuple[int, ...], shape: Shape) -> bool:
    """Return True if dimensions, given as numbers, match `shape`; an unknown dimension matches any number."""
    expected = shape.dims
    if expected is None or expected == dims:
        return True
    if len(expected) != len(dims):
        return False
    # By class and not isinstance: this test runs for every value of a checked run.
    for dim, size in zip(expected, dims):  # noqa: SIM110 - a generator takes twice the time
        if dim.__class__ is int and dim != size:
            return False
    return True


def covering_shape(a: Shape, b: Shape, free: Collection[DimLike] = ()) -> Shape:
    """Return the most definite shape that covers the contents of two containers, of which one may have no element yet."""
    if a is NO_ELEMENT or b is NO_ELEMENT:
        return b if a is NO_ELEMENT else a
    return relax_shapes(a, b, free)


def substituted(spec: TensorSpec, values: Mapping[str, DimLike]) -> TensorSpec:
    """Return `spec` with symbols replaced in the shape, the value and the handle specs."""
    dims = spec.shape.dims
    if dims is not None and any(isinstance(dim, Dim) for dim in dims):
        spec = dataclasses.replace(spec, shape=Shape(substitute(dim, values) for dim in dims))
    if spec.value is not None and spec.value.dtype == object:
        spec = dataclasses.replace(spec, value=_with_numbers(spec.value, spec.dtype, values))
    if spec.handle:
        spec = dataclasses.replace(spec, handle=tuple(substituted(part, values) for part in spec.handle))
    return spec


def _with_numbers(value: np.ndarray[Any, Any], dtype: DType, values: Mapping[str, DimLike]) -> np.ndarray[Any, Any]:
    """Return an array of objects with symbols replaced, of the dtype itself if none is left."""
    # Specs are shared by all nodes with equal signatures.
    result = value.copy()
    for index, item in enumerate(value.flat):
        if isinstance(item, Dim):
            result.flat[index] = substitute(item, values)
    # Kernels take numbers in arrays of their dtype.
    return result if any(isinstance(item, Dim) for item in result.flat) else result.astype(dtype.numpy)


def common_value(a: TensorSpec, b: TensorSpec) -> np.ndarray[Any, Any] | None:
    """Return the constant value of both specs, or None if the values differ or are unknown."""
    # Shapes first: NumPy's comparison of unequal shapes broadcasts.
    if a.value is None or b.value is None or a.value.shape != b.value.shape:
        return None
    return a.value if a.value.dtype == b.value.dtype and (a.value == b.value).all() else None


def broadcast_shapes(*shapes: Shape) -> Shape:
    """NumPy broadcasting; InvalidArgumentError if the shapes do not fit."""
    result: tuple[DimLike, ...] = ()
    for shape in shapes:
        if shape.dims is None:
            return UNKNOWN
        longer, shorter = (result, shape.dims) if len(result) >= len(shape.dims) else (shape.dims, result)
        # Dimensions are aligned from the last one, as in NumPy.
        head = len(longer) - len(shorter)
        result = longer[:head] + tuple(broadcast_dims(x, y) for x, y in zip(longer[head:], shorter))
    return Shape(result)


def broadcasts_to(shape: Shape, target: Shape) -> bool:
    """Return True if every array of `shape` can be broadcast to `target`, for any values of symbolic dimensions."""
    if shape.dims is None or target.dims is None or len(shape.dims) > len(target.dims):
        return False
    # Equal symbols broadcast in every run; different ones may be unequal.
    last = target.dims[len(target.dims) - len(shape.dims) :]
    return all(dim == 1 or dim == other for dim, other in zip(shape.dims, last))


# Constant inputs that hold shapes, of known or symbolic dimensions.


def dims_of(spec: TensorSpec) -> list[DimLike] | None:
    """Return the elements of a constant integer input, flattened; None if unknown."""
    return None if spec.value is None else as_dims(spec.value)


def as_dims(value: np.ndarray[Any, Any]) -> list[DimLike]:
    """Return the elements of an integer array, plain or symbolic, as a flat list of int and Dim; InvalidArgumentError for
    others.
    """
    dims = value.ravel().tolist()
    wrong = next((d for d in dims if not isinstance(d, (int, Dim))), None)
    if wrong is not None:
        raise InvalidArgumentError(f"{wrong!r} is not a size")
    return [d if isinstance(d, Dim) else int(d) for d in dims]


def shape_from(spec: TensorSpec, rank: int | None = None) -> Shape:
    """Return the shape in a vector of dimensions, of length `rank` if given; a negative dimension is unknown."""
    if spec.rank not in (None, 1):
        raise InvalidArgumentError(f"a shape must be of rank 1, not of shape {spec.shape}")
    length = None if spec.rank is None or isinstance(spec.shape[0], Dim) else spec.shape[0]
    if rank is not None and length not in (None, rank):
        raise InvalidArgumentError(f"a shape must be a vector of {rank} elements, not of shape {spec.shape}")
    sizes = dims_of(spec)
    if sizes is None:
        return unknown_dims(rank if length is None else length)
    # TensorFlow's shape functions take -1 for unknown, and refuse all numbers below.
    if any(isinstance(d, int) and d < -1 for d in sizes):
        raise InvalidArgumentError(f"the dimensions {sizes} must not be negative")
    return Shape(None if isinstance(d, int) and d < 0 else d for d in sizes)


_MOST_DIMS: Final = 254
"""TensorFlow's largest rank; a longer vector of dimensions is refused before a list is made."""


def unknown_dims(rank: DimLike | None) -> Shape:
    """Return a shape of known rank without known dimensions, or of unknown rank."""
    if not isinstance(rank, int):
        return UNKNOWN
    # A damaged file may state a length of 2^60.
    if rank > _MOST_DIMS:
        raise InvalidArgumentError(f"a tensor has at most {_MOST_DIMS} dimensions, not {rank}")
    return Shape([None] * rank)
