"""Shape functions of many ops: results whose shapes are constant, are those of inputs, or are stated by a line of sizes."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Sequence
from typing import Any, Final

from ...types.dims import Dim, DimLike
from ...types.shapes import SCALAR, UNKNOWN, Shape, TensorSpec, merge_dims, merge_shapes
from .argument_checks import require, with_rank
from .shape_arguments import shape_from


def no_outputs_shape(*inputs: Any) -> tuple[()]:
    return ()


def scalar_shape(*inputs: Any) -> Shape:
    return SCALAR


def two_scalars_shape(*inputs: Any) -> tuple[Shape, Shape]:
    return SCALAR, SCALAR


def vector_shape(*inputs: Any) -> Shape:
    """Return the shape of a vector of unknown length."""
    return Shape([None])


def unknown_shape(*inputs: Any) -> Shape:
    return UNKNOWN


def first_shape(x: TensorSpec, *rest: Any) -> Shape:
    return x.shape


def second_shape(first: Any, x: TensorSpec, *rest: Any) -> Shape:
    return x.shape


def ranked(rank: int, place: int = 0) -> Callable[..., Shape]:
    """Return a shape function: the shape of the input at a place, which must have this rank."""
    return lambda *inputs: Shape(with_rank(inputs[place].shape, rank))


def resize_shape(images: TensorSpec, size: TensorSpec, *rest: TensorSpec) -> Shape:
    """Return the shape of a batch of images of the height and width in `size`."""
    batch, _, _, channels = with_rank(images.shape, 4)
    return Shape((batch, *shape_from(size, 2), channels))


def besides_scalars(inputs: Sequence[TensorSpec]) -> Shape:
    """Return the shape that all inputs have except scalars, which count as such a tensor."""
    tensors = [x.shape for x in inputs if x.rank != 0]
    return functools.reduce(merge_shapes, tensors) if tensors else SCALAR


def merged_shape(x: TensorSpec, y: TensorSpec) -> Shape:
    """Return the shape of two inputs that must have the same shape."""
    return merge_shapes(x.shape, y.shape)


_SIZE: Final = re.compile(r"(\d*)([a-z]\w*)?")
"""A size in a line: a number, a name, or a multiple of a named size."""


def signature(line: str) -> Callable[..., Any]:
    """Return the shape function that a line states: "rows classes, rows -> rows" takes a matrix and a vector.

    A term stands for a tensor: `()` for a scalar, `*` for any shape, otherwise a number or a name for each dimension. Sizes of
    a name are equal, `_` is any size, and `...` stands for any dimensions, the same in all terms. In a result `4cells` is a
    multiple of a size, and a name that no input has an unknown size. Inputs beyond the terms have any shape.
    """
    terms, results = ([term.split() for term in side.split(",")] for side in line.split("->"))

    def shapes(*inputs: TensorSpec) -> Any:
        sizes: dict[str, DimLike] = {}
        rest = UNKNOWN
        for place, (term, spec) in enumerate(zip(terms, inputs)):
            if term not in ([], ["*"]):
                rest = merge_shapes(rest, _matched(sizes, [] if term == ["()"] else term, spec.shape, place))
        made = [_stated(sizes, term, rest) for term in results]
        return made if len(made) > 1 else made[0]

    return shapes


def _matched(sizes: dict[str, DimLike], names: Sequence[str], shape: Shape, place: int) -> Shape:
    """Note the sizes of an input under their names, and return the dimensions that `...` stands for."""
    head = names.index("...") if "..." in names else len(names)
    tail = len(names) - head - 1  # -1 without an ellipsis
    if shape.dims is not None:
        fits = len(shape.dims) == len(names) if tail < 0 else len(shape.dims) >= head + tail
        least = "rank" if tail < 0 else "at least rank"
        require(fits, f"input {place} must be of {least} {len(names) if tail < 0 else head + tail}, not of shape {shape}")
    for i, name in enumerate(names):
        if name not in ("_", "..."):
            dim = shape[i if i < head else i - len(names)]
            sizes[name] = merge_dims(int(name) if name.isdigit() else sizes.get(name, dim), dim)
    return UNKNOWN if tail < 0 else shape[head : -tail or None]


def _stated(sizes: dict[str, DimLike], term: Sequence[str], rest: Shape) -> Shape:
    """Return the shape of a result."""
    if term == ["*"]:
        return UNKNOWN
    parts = (rest if name == "..." else Shape([_size(sizes, name)]) for name in term if name != "()")
    return functools.reduce(Shape.__add__, parts, SCALAR)


def _size(sizes: dict[str, DimLike], size: str) -> DimLike:
    match = _SIZE.fullmatch(size)
    assert match is not None, size
    number, name = match.groups()
    # One unknown for a name: indices and values of a sparse result are equally many.
    return int(number or 1) * (sizes.setdefault(name, Dim.unknown()) if name else 1)
