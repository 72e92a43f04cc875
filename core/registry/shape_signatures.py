"""Shape functions by signatures, as NumPy's generalized universal functions have them."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from ..support.errors import InvalidArgumentError
from ..types.dims import Dim, DimLike
from ..types.shapes import SCALAR, UNKNOWN, Shape, TensorSpec, broadcast_shapes, merge_dims, merge_shapes


def signature(text: str) -> Callable[..., Any]:
    """Return the shape function that a signature describes, as those of NumPy's generalized universal functions do.

        signature("(..., n, n), (..., n, k) -> (..., n, k)")

    An input or output is a shape, an attribute or `_`, a shape that is not looked at. A shape is a name, as in "x, x -> x", or
    a list of dimensions:

        n       a size, equal wherever the name stands
        3       this size
        ?       any size
        x...    the dimensions of the shape x; without a name those of a batch, equal in all shapes that have it
        ~...    the dimensions of a batch, to which all shapes that have it are broadcast
        {a}     the attribute a: a size, a shape or a list of shapes; of a list in the place of a size the length counts

    `<n>` is an input whose value, a scalar, is the size n, and `<x...>` a vector that holds the shape x. `x*` is a list of
    inputs of this shape, or at the end all inputs that are left, and `x * a` stands for as many outputs as the attribute
    says. Sizes that no input tells are unknown; InvalidArgumentError for inputs that do not fit.
    """
    inputs, outputs = (tuple(map(_term, _TERM.findall(side))) for side in text.split("->"))

    def shapes(*specs: Any, **attrs: Any) -> Any:
        sizes = _Sizes(attrs)
        for place, term in enumerate(inputs):
            is_rest = term.count is not None and place == len(inputs) - 1
            for spec in specs[place:] if is_rest else specs[place : place + 1]:
                for each in spec if isinstance(spec, list) else [spec]:
                    sizes.match(term, each)
        results = [sizes.made(term) for term in outputs]
        return results[0] if len(results) == 1 else results

    parameters = [inspect.Parameter("specs", inspect.Parameter.VAR_POSITIONAL)]
    names = dict.fromkeys(name for term in (*inputs, *outputs) for name in term.attributes)
    parameters += [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY) for name in names]
    # Listings of ops show a function by its name, and this one is told by the signature.
    shapes.__qualname__ = text
    # Inference binds the attributes that a function's parameters name.
    shapes.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return shapes


_TERM: Final = re.compile(r"(\([^)]*\)|<[^>]*>|[\w{}]+)\s*(\*\s*\w*)?")
"""A shape of a signature, and for several a star with the attribute that says how many there are."""


class _Term(NamedTuple):
    """A shape of a signature: its dimensions, None for one that is not looked at; `is_value`: an input holds them.

    `count` is the attribute with the number of shapes, "" for all that there are, None for a single one.
    """

    dims: tuple[str, ...] | None
    is_value: bool
    count: str | None

    @property
    def attributes(self) -> list[str]:
        return [*(name for dim in self.dims or () for name in re.findall(r"{(\w+)}", dim)), *filter(None, [self.count])]


def _term(found: tuple[str, str]) -> _Term:
    text, star = found
    count = star[1:].strip() if star else None
    if text[0] in "(<":
        return _Term(tuple(filter(None, map(str.strip, text[1:-1].split(",")))), text[0] == "<", count)
    return _Term(None if text == "_" else (f"{text}...",), False, count)


class _Sizes:
    """The sizes and shapes that the names of a signature stand for, as far as the inputs so far tell."""

    def __init__(self, attrs: Mapping[str, Any]) -> None:
        self._attrs = attrs
        self._dims: dict[str, DimLike] = {}
        self._shapes: dict[str, Shape] = {}

    def match(self, term: _Term, spec: TensorSpec) -> None:
        """Take note of an input's shape, or of the shape that its value is; InvalidArgumentError if it does not fit."""
        dims = term.dims
        if dims is None:
            return
        if term.is_value and not dims[0].endswith("..."):
            merge_shapes(spec.shape, SCALAR)
            self._set_dim(dims[0], Dim.unknown() if spec.value is None else spec.value.item())
            return
        shape = _shape_in(spec) if term.is_value else spec.shape
        place = next((i for i, dim in enumerate(dims) if dim.endswith("...")), None)
        if place is None:
            sizes: Sequence[DimLike] = tuple(merge_shapes(shape, Shape([None] * len(dims))))
        else:
            least = len(dims) - 1
            if shape.rank is not None and shape.rank < least:
                raise InvalidArgumentError(f"an input must have at least rank {least}, not shape {shape}")
            end = least if shape.rank is None else shape.rank - (least - place)
            self._join(dims[place], shape[place:end])
            dims, sizes = (*dims[:place], *dims[place + 1 :]), [] if shape.rank is None else [*shape[:place], *shape[end:]]
        for name, size in zip(dims, sizes):
            self._set_dim(name, size)

    def _join(self, name: str, shape: Shape) -> None:
        if name.startswith("~"):
            self._shapes[name] = broadcast_shapes(self._shapes.get(name, SCALAR), shape)
        else:
            self._shapes[name] = merge_shapes(self._shape(name), shape)

    def _set_dim(self, name: str, size: DimLike) -> None:
        self._dims[name] = merge_dims(self._dim(name), size)

    def _dim(self, name: str) -> DimLike:
        if name == "?":
            return Dim.unknown()
        if name.isdecimal():
            return int(name)
        if name.startswith("{"):
            value = self._attrs[name[1:-1]]
            return len(value) if isinstance(value, list) else Dim.unknown() if value < 0 else value
        return self._dims.setdefault(name, Dim.unknown())

    def _shape(self, name: str) -> Any:
        return self._attrs[name[1:-4]] if name.startswith("{") else self._shapes.get(name, UNKNOWN)

    def made(self, term: _Term) -> Any:
        """Return the shape of an output, or a list of shapes."""
        if term.count:
            number = self._attrs[term.count]
            return [self._joined(term.dims) for _ in range(number if isinstance(number, int) else len(number))]
        return self._joined(term.dims)

    def _joined(self, dims: Sequence[str] | None) -> Any:
        if dims is None:
            return UNKNOWN
        parts = [self._shape(dim) if dim.endswith("...") else Shape([self._dim(dim)]) for dim in dims]
        # An attribute alone may be a list of shapes.
        return parts[0] if len(parts) == 1 else sum(parts, SCALAR)


_MOST_DIMS: Final = 254
"""TensorFlow's largest rank."""


def _shape_in(spec: TensorSpec) -> Shape:
    """Return the shape in a vector of dimensions, of which -1 is unknown."""
    (length,) = merge_shapes(spec.shape, Shape([None]))
    if spec.value is None:
        # A damaged file may state a length of 2^60.
        if isinstance(length, int) and length > _MOST_DIMS:
            raise InvalidArgumentError(f"a tensor has at most {_MOST_DIMS} dimensions, not {length}")
        return Shape([None] * length) if isinstance(length, int) else UNKNOWN
    sizes = spec.value.tolist()
    # TensorFlow's shape functions refuse all numbers below -1.
    if any(isinstance(d, int) and d < -1 for d in sizes):
        raise InvalidArgumentError(f"the dimensions {sizes} must not be negative")
    return Shape(None if isinstance(d, int) and d < 0 else d for d in sizes)
