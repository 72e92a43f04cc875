"""Result shapes of operators, as far as a quick look tells: inference knows nodes, not the operators between them."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from ..numerics.einsum import expand, output_labels, parse
from ..support.errors import TfgError
from ..types.arrays import Array
from ..types.dims import DimLike
from ..types.shapes import UNKNOWN, Shape, broadcast_shapes, merge_shapes
from .blocks import Value

_BROADCASTING: Final = frozenset((
    "Add", "Sub", "Mul", "Div", "Pow", "Mod", "Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual", "And", "Or",
    "Xor", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "BitShift", "Max", "Min", "Where", "Abs", "Neg", "Sign", "Ceil",
    "Floor", "Round", "Sqrt", "Exp", "Log", "Reciprocal", "Sin", "Cos", "Tan", "Asin", "Acos", "Atan", "Sinh", "Cosh",
    "Tanh", "Asinh", "Acosh", "Atanh", "Erf", "Sigmoid", "Softplus", "Softsign", "Relu", "Elu", "Selu", "LeakyRelu",
    "Gelu", "Identity", "IsNaN", "IsInf", "Not", "BitwiseNot", "Cast", "Softmax", "LogSoftmax", "CumSum",
))  # fmt: skip
"""Operators whose result has the shape that the inputs broadcast to."""
_KEEPING: Final = frozenset(
    ("CumSum", "ScatterND", "ScatterElements", "ReverseSequence", "Trilu", "DequantizeLinear", "LabelEncoder")
)
"""Operators whose result has the shape of the first input."""


def result_shape(name: str, values: Sequence[Value | None], attrs: Mapping[str, Any]) -> Shape:
    """Return the known part of the shape of each output."""
    present = [value for value in values if value is not None]
    if name in _KEEPING:
        return present[0].shape
    if name in _BROADCASTING:
        with contextlib.suppress(TfgError):
            # Shapes that do not fit are an error of the run; here they are unknown.
            return broadcast_shapes(*(value.shape for value in present))
    function = _SHAPES.get(name)
    if function is None or not present or (present[0].shape.dims is None and function is not _reshaped):
        return UNKNOWN
    return function(present, attrs)


def _transposed(inputs: Sequence[Value], attrs: Mapping[str, Any]) -> Shape:
    return Shape(inputs[0].shape[axis] for axis in attrs["perm"])


def _reshaped(inputs: Sequence[Value], attrs: Mapping[str, Any]) -> Shape:
    # If the new sizes are unknown, their number is still the rank.
    dims = inputs[1].array
    if dims is None:
        return _of_rank(inputs[1].shape[0]) if inputs[1].rank == 1 else UNKNOWN
    count, others = inputs[0].shape.num_elements, int(np.prod(dims[dims >= 0]))
    open_size = count // others if isinstance(count, int) and others > 0 else None
    return Shape(int(size) if size > 0 else open_size if size == -1 else None for size in dims)


def _of_rank(rank: Any) -> Shape:
    return Shape([None] * rank) if isinstance(rank, int) else UNKNOWN


def _with_ones(inputs: Sequence[Value], attrs: Mapping[str, Any]) -> Shape:
    if inputs[1].array is None:
        return UNKNOWN
    rank = len(inputs[0].shape) + inputs[1].array.size
    places = {int(axis) % rank for axis in inputs[1].array}
    left = iter(inputs[0].shape)
    return Shape(1 if axis in places else next(left) for axis in range(rank))


def _without(inputs: Sequence[Value], attrs: Mapping[str, Any]) -> Shape:
    places = _places(inputs[0], inputs[1].array if len(inputs) > 1 else None)
    return UNKNOWN if places is None else Shape(d for i, d in enumerate(inputs[0].shape) if i not in places)


def _reduced(inputs: Sequence[Value], attrs: Mapping[str, Any]) -> Shape:
    places = _places(inputs[0], inputs[1].array if len(inputs) > 1 else None)
    if places is None:
        return UNKNOWN
    if attrs.get("keepdims", 1):
        return Shape(1 if i in places else d for i, d in enumerate(inputs[0].shape))
    return Shape(d for i, d in enumerate(inputs[0].shape) if i not in places)


def _places(value: Value, axes: Array | None) -> set[int] | None:
    return None if axes is None else {int(axis) % len(value.shape) for axis in axes.reshape(-1)}


def _gathered(inputs: Sequence[Value], attrs: Mapping[str, Any]) -> Shape:
    dims, axis = inputs[0].shape.dims or (), attrs.get("axis", 0)
    axis %= max(len(dims), 1)
    return Shape(dims[:axis]) + inputs[1].shape + Shape(dims[axis + 1 :])


def _product(inputs: Sequence[Value], attrs: Mapping[str, Any]) -> Shape:
    """Return the shape of products of stacked matrices, whose stacks broadcast."""
    a, b = (value.shape for value in inputs[:2])
    if a.dims is None or b.dims is None or len(a) < 2 or len(b) < 2:
        return UNKNOWN
    with contextlib.suppress(TfgError):
        return broadcast_shapes(a[:-2], b[:-2]) + Shape((a[-2], b[-1]))
    return UNKNOWN


def _convolved(inputs: Sequence[Value], attrs: Mapping[str, Any]) -> Shape:
    """Return the number of images and of filters; sizes of images follow from the node."""
    images, filters = inputs[0].shape, inputs[1].shape
    count = filters[0] if filters.dims else None
    return Shape((images[0], count, *[None] * (len(images) - 2)))


def _summed(inputs: Sequence[Value], attrs: Mapping[str, Any]) -> Shape:
    """Return the sizes of named axes of an einsum; those of `...` broadcast."""
    if any(value.rank is None for value in inputs):
        return UNKNOWN
    equation = parse(attrs["equation"])
    labels = [expand(subscripts, len(value.shape)) for subscripts, value in zip(equation.inputs, inputs)]
    sizes = {label: dim for names, value in zip(labels, inputs) for label, dim in zip(names, value.shape)}
    return Shape(sizes[label] if isinstance(label, str) else None for label in output_labels(equation, labels))


def _same_rank(inputs: Sequence[Value], attrs: Mapping[str, Any]) -> Shape:
    return _of_rank(inputs[0].rank)


def _sliced(inputs: Sequence[Value], attrs: Mapping[str, Any]) -> Shape:
    """Return the sizes between constant bounds; other sliced dimensions are unknown."""
    starts, ends, axes, *steps = (value.array for value in inputs[1:])
    if axes is None:
        return _of_rank(inputs[0].rank)
    dims: list[DimLike | None] = list(inputs[0].shape)
    for i, axis in enumerate(axes):
        size, bounds = dims[axis], [None if array is None else int(array[i]) for array in (starts, ends, *steps)]
        dims[axis] = len(range(size)[slice(*bounds)]) if isinstance(size, int) and None not in bounds else None
    return Shape(dims)


def _padded(inputs: Sequence[Value], attrs: Mapping[str, Any]) -> Shape:
    """Return the sizes with constant paddings, all before and then all after; with other paddings the rank alone."""
    dims, pads = inputs[0].shape.dims or (), inputs[1].array
    if pads is None or len(pads) != 2 * len(dims):
        return _of_rank(len(dims))
    around = [int(before) + int(after) for before, after in zip(pads, pads[len(dims) :])]
    return Shape(size + more if isinstance(size, int) else None for size, more in zip(dims, around))


def _tiled(inputs: Sequence[Value], attrs: Mapping[str, Any]) -> Shape:
    dims, times = inputs[0].shape.dims or (), inputs[1].array
    if times is None:
        return _of_rank(len(dims))
    return Shape(size * int(count) if isinstance(size, int) else None for size, count in zip(dims, times))


def _divided(inputs: Sequence[Value], attrs: Mapping[str, Any]) -> Shape:
    """Return the shape of each of several equal parts."""
    sizes = inputs[1].array if len(inputs) > 1 else None
    if sizes is None or len(set(sizes.tolist())) != 1:
        return _of_rank(inputs[0].rank)
    dims, axis = list(inputs[0].shape), attrs.get("axis", 0)
    dims[axis] = int(sizes[0])
    return Shape(dims)


def _along(inputs: Sequence[Value], attrs: Mapping[str, Any]) -> Shape:
    dims, axis = inputs[0].shape.dims or (), attrs["axis"] % max(len(inputs[0].shape), 1)
    return Shape((*dims[:axis], *[1] * attrs["keepdims"], *dims[axis + 1 :]))


def _concatenated(inputs: Sequence[Value], attrs: Mapping[str, Any]) -> Shape:
    """Return the concatenated shape: the sum along the axis, the most definite dimension along the others."""
    shapes = [value.shape.dims or () for value in inputs]
    axis = attrs["axis"] % max(len(shapes[0]), 1)
    if any(len(dims) != len(shapes[0]) for dims in shapes):
        return UNKNOWN
    total: DimLike = sum(dims[axis] for dims in shapes)
    with contextlib.suppress(TfgError):
        return functools.reduce(merge_shapes, (Shape((*dims[:axis], total, *dims[axis + 1 :])) for dims in shapes))
    return UNKNOWN


def _expanded(inputs: Sequence[Value], attrs: Mapping[str, Any]) -> Shape:
    dims = inputs[1].array
    if dims is None:
        count = inputs[1].shape[0]
        return _of_rank(max(count, len(inputs[0].shape))) if isinstance(count, int) else UNKNOWN
    return broadcast_shapes(inputs[0].shape, Shape(map(int, dims)))


_SHAPES: Final[Mapping[str, Callable[[Sequence[Value], Mapping[str, Any]], Shape]]] = {
    "Transpose": _transposed, "Reshape": _reshaped, "Unsqueeze": _with_ones, "Squeeze": _without, "Gather": _gathered,
    "Expand": _expanded, "Concat": _concatenated, "Slice": _sliced, "Pad": _padded,
    "Split": _divided, "Tile": _tiled, "TopK": _same_rank, "Range": lambda given, attrs: Shape((None,)),
    "NonZero": lambda given, attrs: Shape((given[0].rank, None)),
    "ArgMax": _along, "ArgMin": _along, "MatMul": _product, "Einsum": _summed,
    "MatMulInteger": _product, "ConvInteger": _convolved,
    "GatherElements": lambda given, attrs: given[1].shape,
    **dict.fromkeys(("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL2"), _reduced),
}  # fmt: skip
