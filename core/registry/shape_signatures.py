"""Shape functions by signatures: lines that name the sizes of inputs and outputs.

    ... n n, ... n k -> ... n k
    <...>, 2 -> ...

A term before the arrow stands for an input, one behind for an output: `()` for a scalar, `*` for any shape, otherwise a token
for each dimension. Inputs beyond the terms have any shape.

    n       a size, equal wherever the name stands; `4n` is a multiple of it, `n+1` and `n-1` are its neighbours
    m&n     the smaller of two sizes
    3       this size
    _       any size
    ...     any dimensions, the same in all terms; `x...` are those of another name
    ~...    the dimensions of a batch, to which all terms that have it are broadcast
    {a}     the attribute a, of a list its length; `{a}...` are the dimensions of the shape a, or alone a list of shapes

`<n>` is an input whose value, a scalar, is the size n, and `<...>` a vector that holds the shape. A term stands for each item
of a list; `term +` stands for all inputs that are left, and `term [a]` for as many outputs as the attribute says.
"""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from ..support.errors import InvalidArgumentError
from ..types.dims import Dim, DimLike, dim_min
from ..types.shapes import SCALAR, UNKNOWN, Shape, TensorSpec, as_dims, broadcast_shapes, merge_dims, merge_shapes, shape_from


@functools.cache  # many ops share the simplest lines
def signature(line: str) -> Callable[..., Any]:
    """Return the shape function that a line states, as "rows classes, rows -> rows" of a matrix and a vector.

    Sizes that no input tells are unknown; the function raises InvalidArgumentError for inputs that do not fit.
    """
    inputs, outputs = ([_term(text) for text in side.split(",") if text.strip()] for side in line.split("->"))

    def shapes(*specs: Any, **attrs: Any) -> Any:
        sizes = _Sizes(attrs)
        for place, term in enumerate(inputs):
            for spec in specs[place:] if term.is_rest else specs[place : place + 1]:
                for each in spec if isinstance(spec, list) else [spec]:
                    sizes.match(term, each, place)
        results = [sizes.made(term) for term in outputs]
        return results[0] if len(results) == 1 else results

    parameters = [inspect.Parameter("specs", inspect.Parameter.VAR_POSITIONAL)]
    names = dict.fromkeys(re.findall(r"(?<=[{[])\w+", line))
    parameters += [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY) for name in names]
    # Inference binds the attributes that a function's parameters name.
    shapes.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    # Listings of ops show a function by its name, and this one is told by the line.
    shapes.__qualname__ = line
    return shapes


class _Term(NamedTuple):
    """A shape of a signature: its dimensions, None for any shape.

    `is_value`: the input holds the shape. `is_rest`: it is that of all inputs that are left. `copies`: the attribute with the
    number of outputs, "" for one.
    """

    dims: tuple[str, ...] | None
    is_value: bool
    is_rest: bool
    copies: str


_TERM: Final = re.compile(r"\s*(<)?((?:[^<>[+]|\+1)*)>?\s*(\+)?(?:\[(\w+)\])?\s*")


def _term(text: str) -> _Term:
    match = _TERM.fullmatch(text)
    assert match is not None, text
    opening, dims, rest, count = match.groups()
    tokens = tuple(dims.replace("()", "").split())
    return _Term(None if tokens == ("*",) else tokens, opening is not None, rest is not None, count or "")


_SIZE: Final = re.compile(r"(\d*)([a-z]\w*)?([+-]1)?")
"""A number, a name, a multiple of a named size, or a size next to it."""


class _Sizes:
    """The sizes and shapes that the names of a signature stand for, as far as the inputs so far tell."""

    def __init__(self, attrs: Mapping[str, Any]) -> None:
        self._attrs = attrs
        self._dims: dict[str, DimLike] = {}
        self._shapes: dict[str, Shape] = {}

    def match(self, term: _Term, spec: TensorSpec, place: int) -> None:
        """Take note of an input's shape, or of the shape that its value is; InvalidArgumentError if it does not fit."""
        dims = term.dims
        if dims is None:
            return
        if term.is_value and len(dims) == 1 and not dims[0].endswith("..."):
            merge_shapes(spec.shape, SCALAR)
            self._set_dim(dims[0], Dim.unknown() if spec.value is None else as_dims(spec.value)[0])
            return
        shape = shape_from(spec) if term.is_value else spec.shape
        head = next((i for i, dim in enumerate(dims) if dim.endswith("...")), None)
        least = len(dims) - (head is not None)
        if shape.rank is not None and (shape.rank < least or (head is None and shape.rank > least)):
            rank = f"rank {least}" if head is None else f"at least rank {least}"
            raise InvalidArgumentError(f"input {place} must be of {rank}, not of shape {shape}")
        if head is not None:
            tail = least - head
            self._join(dims[head], UNKNOWN if shape.rank is None else shape[head : shape.rank - tail])
        for i, name in enumerate(dims if shape.rank is not None else ()):
            if i != head:
                self._set_dim(name, shape[i if head is None or i < head else i - len(dims)])

    def _join(self, name: str, shape: Shape) -> None:
        if name.startswith("~"):
            self._shapes[name] = broadcast_shapes(self._shapes.get(name, SCALAR), shape)
        else:
            self._shapes[name] = merge_shapes(self._shape(name), shape)

    def _set_dim(self, name: str, size: DimLike) -> None:
        # The first size of a name is kept as it is: an unknown size of an input is the same in the results.
        is_new = name.isidentifier() and name != "_" and name not in self._dims
        self._dims[name] = size if is_new else merge_dims(self._dim(name), size)

    def _dim(self, name: str) -> DimLike:
        if name == "_":
            return Dim.unknown()
        if name.startswith("{"):
            value = self._attrs[name[1:-1]]
            return len(value) if isinstance(value, list) else Dim.unknown() if value < 0 else value
        if "&" in name:
            return dim_min(*map(self._dim, name.split("&")))
        match = _SIZE.fullmatch(name)
        assert match is not None, name
        number, named, step = match.groups()
        # One unknown for a name: indices and values of a sparse result are equally many.
        return int(number or 1) * (self._dims.setdefault(named, Dim.unknown()) if named else 1) + int(step or 0)

    def _shape(self, name: str) -> Any:
        return self._attrs[name[1:-4]] if name.startswith("{") else self._shapes.get(name, UNKNOWN)

    def made(self, term: _Term) -> Any:
        """Return the shape of an output, or a list of shapes."""
        if term.copies:
            number = self._attrs[term.copies]
            return [self._joined(term.dims) for _ in range(number if isinstance(number, int) else len(number))]
        return self._joined(term.dims)

    def _joined(self, dims: Sequence[str] | None) -> Any:
        if dims is None:
            return UNKNOWN
        parts = [self._shape(dim) if dim.endswith("...") else Shape([self._dim(dim)]) for dim in dims]
        # An attribute alone may be a list of shapes.
        return parts[0] if len(parts) == 1 else sum(parts, SCALAR)
