"""Result shapes of operators, as far as a quick look tells: inference knows nodes, not the operators between them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, cast

import numpy as np

from ..registry.registry import shape_function
from ..support.errors import TfgError
from ..types import dtypes
from ..types.dims import DimLike
from ..types.shapes import UNKNOWN, Shape, TensorSpec, broadcast_shapes
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


def _shape_of_op(op: str, *inputs: Any, **attrs: Any) -> Shape:
    """Return the shape of an op that computes what the operator does, for values and constants."""
    specs = [[_spec(each) for each in value] if isinstance(value, list) else _spec(value) for value in inputs]
    with contextlib.suppress(TfgError):
        return cast(Shape, cast(Any, shape_function(op))(*specs, **attrs))
    return UNKNOWN


def _spec(value: Any) -> TensorSpec:
    if isinstance(value, Value):
        return TensorSpec(value.dtype, value.shape, value.array)
    return TensorSpec(dtypes.int64, Shape(np.shape(value)), np.array(value))


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


def _reduced(inputs: Sequence[Value], attrs: Mapping[str, Any]) -> Shape:
    return _shape_of_op("Sum", *inputs, keep_dims=attrs.get("keepdims", 1)) if len(inputs) > 1 else UNKNOWN


def _convolved(inputs: Sequence[Value], attrs: Mapping[str, Any]) -> Shape:
    """Return the number of images and of filters; sizes of images follow from the node."""
    images, filters = inputs[0].shape, inputs[1].shape
    count = filters[0] if filters.dims else None
    return Shape((images[0], count, *[None] * (len(images) - 2)))


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


def _divided(inputs: Sequence[Value], attrs: Mapping[str, Any]) -> Shape:
    """Return the shape of each of several equal parts."""
    sizes = inputs[1].array if len(inputs) > 1 else None
    if sizes is None or len(set(sizes.tolist())) != 1:
        return _of_rank(inputs[0].rank)
    dims, axis = list(inputs[0].shape), attrs.get("axis", 0)
    dims[axis] = int(sizes[0])
    return Shape(dims)


def _expanded(inputs: Sequence[Value], attrs: Mapping[str, Any]) -> Shape:
    dims = inputs[1].array
    if dims is None:
        count = inputs[1].shape[0]
        return _of_rank(max(count, len(inputs[0].shape))) if isinstance(count, int) else UNKNOWN
    return broadcast_shapes(inputs[0].shape, Shape(map(int, dims)))


_SHAPES: Final[Mapping[str, Callable[[Sequence[Value], Mapping[str, Any]], Shape]]] = {
    "Transpose": lambda given, attrs: _shape_of_op("Transpose", *given, np.array(attrs["perm"])),
    "Gather": lambda given, attrs: _shape_of_op("GatherV2", *given, attrs.get("axis", 0), batch_dims=0),
    "Concat": lambda given, attrs: _shape_of_op("ConcatV2", given, attrs["axis"]),
    "Einsum": lambda given, attrs: _shape_of_op("Einsum", given, equation=attrs["equation"]),
    "Tile": lambda given, attrs: _shape_of_op("Tile", *given),
    "Reshape": _reshaped, "Unsqueeze": _with_ones, "Squeeze": lambda given, attrs: _reduced(given, {"keepdims": 0}),
    "Expand": _expanded, "Slice": _sliced, "Pad": _padded, "Split": _divided,
    "TopK": lambda given, attrs: _of_rank(given[0].rank), "Range": lambda given, attrs: Shape((None,)),
    "NonZero": lambda given, attrs: Shape((given[0].rank, None)),
    "ConvInteger": _convolved, "GatherElements": lambda given, attrs: given[1].shape,
    **dict.fromkeys(
        ("MatMul", "MatMulInteger"), lambda given, attrs: _shape_of_op("BatchMatMulV2", *given[:2], adj_x=False, adj_y=False)
    ),
    **dict.fromkeys(
        ("ArgMax", "ArgMin"), lambda given, attrs: _shape_of_op("Sum", *given, attrs["axis"], keep_dims=attrs["keepdims"])
    ),
    **dict.fromkeys(("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL2"), _reduced),
}  # fmt: skip
