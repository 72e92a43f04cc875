"""Constant folding of ONNX operators: lowerings compute shapes, and numbers that follow from attributes, at once.

Operators on floats are folded whose result IEEE 754 defines.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from ..numerics.integers import truncated_quotient
from ..types.arrays import Array
from .blocks import Value

_SMALL: Final = 1 << 12
"""The largest number of elements for operators that compute new elements to be folded."""


def folded(name: str, values: Sequence[Value | None], attrs: Mapping[str, Any]) -> Array | None:
    """Return the result of an operator on constants; None where the operator stays in the graph."""
    function = _MOVING.get(name) or _COMPUTING.get(name)
    arrays = [value.array for value in values if value is not None]
    constants = [array for array in arrays if array is not None]
    if function is None or not constants or len(constants) < len(values):
        return None
    kinds = "iub" if name == "ReduceSum" else "iubf"  # a sum of floats depends on the order of the terms
    if name in _COMPUTING and any(array.dtype.kind not in kinds or array.size > _SMALL for array in constants):
        return None
    with np.errstate(all="ignore"):
        return np.asarray(function(*constants, **attrs))


def _reshape(x: Array, dims: Array, allowzero: int = 0) -> Array:
    return x.reshape([x.shape[i] if size == 0 and not allowzero else size for i, size in enumerate(dims)])


def _concat(*parts: Array, axis: int) -> Array:
    return np.concatenate(parts, axis)


def _slice(x: Array, starts: Array, ends: Array, axes: Array, steps: Array | None = None) -> Array:
    taken = [slice(None)] * x.ndim
    for i, axis in enumerate(axes):
        step = 1 if steps is None else int(steps[i])
        end = None if step < 0 and ends[i] < -x.shape[axis] else int(ends[i])
        taken[axis] = slice(int(starts[i]), end, step)
    return x[tuple(taken)]


def _gather(x: Array, indices: Array, axis: int = 0) -> Array:
    place: tuple[Any, ...] = (*[slice(None)] * (axis % x.ndim), indices)
    result: Array = x[place]  # np.take ends the process where there are too many dimensions
    return result


def _divide(x: Array, y: Array) -> Array:
    result: Array = np.divide(x, y) if x.dtype.kind == "f" else truncated_quotient(x, y)
    return result


def _max(*arrays: Array) -> Array:
    return functools.reduce(np.maximum, arrays)


def _min(*arrays: Array) -> Array:
    return functools.reduce(np.minimum, arrays)


def _mod(x: Array, y: Array, fmod: int = 0) -> Array:
    return np.fmod(x, y) if fmod else np.mod(x, y)


def _reduce_sum(x: Array, axes: Array | None = None, keepdims: int = 1, noop_with_empty_axes: int = 0) -> Array:
    places = None if axes is None or not (axes.size or noop_with_empty_axes) else tuple(map(int, axes))
    return np.sum(x, places, dtype=x.dtype, keepdims=bool(keepdims))


_MOVING: Final[Mapping[str, Callable[..., Array]]] = {
    "Reshape": _reshape,
    "Transpose": lambda x, perm: np.ascontiguousarray(np.transpose(x, perm)),
    "Unsqueeze": lambda x, axes: np.expand_dims(x, tuple(map(int, axes))),
    "Squeeze": lambda x, axes: np.squeeze(x, tuple(map(int, axes))),
    "Concat": _concat,
    "Slice": _slice,
}
_COMPUTING: Final[Mapping[str, Callable[..., Array]]] = {
    "Gather": _gather, "Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Div": _divide, "Max": _max, "Min": _min,
    "Equal": np.equal, "Less": np.less, "LessOrEqual": np.less_equal, "Greater": np.greater,
    "GreaterOrEqual": np.greater_equal, "Not": np.logical_not, "And": np.logical_and, "Or": np.logical_or,
    "Neg": np.negative, "Abs": np.abs, "Sign": np.sign, "Floor": np.floor, "Round": np.rint, "Sqrt": np.sqrt,
    "IsNaN": np.isnan, "IsInf": np.isinf, "Where": np.where, "Mod": _mod, "ReduceSum": _reduce_sum,
}  # fmt: skip
