"""The emitter that lowerings to ONNX receive: operators as methods, and helpers for shapes, casts, constants and branches."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import math
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any, Final, NoReturn, TypeAlias

import numpy as np

from ..numerics.integers import truncated_quotient
from ..support.errors import UnimplementedError
from ..support.hints import Hint, option
from ..types import dtypes
from ..types.arrays import Array
from ..types.dtypes import DType
from ..types.shapes import SCALAR, Shape, TensorSpec
from . import array_programs
from .blocks import Block, ElementShapes, Held, Operation, Value, carrier, common, computed_in, fitted, flat, is_branch_output
from .complex_numbers import on_parts, part_dtype, whole_dtype
from .result_shapes import result_shape

# Operators on constants are folded at once, so that lowerings may ask for the shapes that they compute.

_SMALL: Final = 1 << 12
"""The largest number of elements for operators that compute new elements to be folded."""


def _folded(name: str, values: Sequence[Value | None], attrs: Mapping[str, Any]) -> Array | None:
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
    # ONNX's Reshape keeps the input's size where the new size is 0, unless `allowzero`.
    return x.reshape([x.shape[i] if size == 0 and not allowzero else size for i, size in enumerate(dims)])


def _slice(x: Array, starts: Array, ends: Array, axes: Array, steps: Array | None = None) -> Array:
    taken = [slice(None)] * x.ndim
    for i, axis in enumerate(axes):
        step = 1 if steps is None else int(steps[i])
        # An end before the first element means all elements up to the first; to NumPy a negative end counts from the back.
        end = None if step < 0 and ends[i] < -x.shape[axis] else int(ends[i])
        taken[axis] = slice(int(starts[i]), end, step)
    return x[tuple(taken)]


def _gather(x: Array, indices: Array, axis: int = 0) -> Array:
    place: tuple[Any, ...] = (*[slice(None)] * (axis % x.ndim), indices)
    result: Array = x[place]  # np.take ends the process where there are too many dimensions
    return result


def _divide(x: Array, y: Array) -> Array:
    # ONNX's Div of integers rounds towards zero, NumPy's `//` down.
    result: Array = np.divide(x, y) if x.dtype.kind == "f" else truncated_quotient(x, y)
    return result


def _reduce_sum(x: Array, axes: Array | None = None, keepdims: int = 1, noop_with_empty_axes: int = 0) -> Array:
    # No axes at all mean all axes, unless `noop_with_empty_axes`.
    places = None if axes is None or not (axes.size or noop_with_empty_axes) else tuple(map(int, axes))
    return np.sum(x, places, dtype=x.dtype, keepdims=bool(keepdims))


_MOVING: Final[Mapping[str, Callable[..., Array]]] = {
    "Reshape": _reshape,
    "Transpose": lambda x, perm: np.ascontiguousarray(np.transpose(x, perm)),
    "Unsqueeze": lambda x, axes: np.expand_dims(x, tuple(map(int, axes))),
    "Squeeze": lambda x, axes: np.squeeze(x, tuple(map(int, axes))),
    "Concat": lambda *parts, axis: np.concatenate(parts, axis),
    "Slice": _slice,
}
_COMPUTING: Final[Mapping[str, Callable[..., Array]]] = {
    "Gather": _gather, "Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Div": _divide,
    "Max": lambda *arrays: functools.reduce(np.maximum, arrays), "Min": lambda *arrays: functools.reduce(np.minimum, arrays),
    "Equal": np.equal, "Less": np.less, "LessOrEqual": np.less_equal, "Greater": np.greater,
    "GreaterOrEqual": np.greater_equal, "Not": np.logical_not, "And": np.logical_and, "Or": np.logical_or,
    "Neg": np.negative, "Abs": np.abs, "Sign": np.sign, "Floor": np.floor, "Round": np.rint, "Sqrt": np.sqrt,
    "IsNaN": np.isnan, "IsInf": np.isinf, "Where": np.where, "ReduceSum": _reduce_sum,
    "Mod": lambda x, y, fmod=0: np.fmod(x, y) if fmod else np.mod(x, y),
}  # fmt: skip

# Some functions have only 32-bit kernels in onnxruntime. On 64-bit floats they are built from functions with 64-bit kernels.

_LARGE: Final = 1e150
"""A bound: beyond, adding 1 to the square makes no difference; the square is still finite."""


def _polynomial(g: Any, x: Any, coefficients: Sequence[float]) -> Any:
    """Emit a polynomial by Horner's scheme; the coefficients begin with the constant."""
    return functools.reduce(lambda total, c: g.Add(g.Mul(total, x), c), coefficients[-2::-1], g.like(coefficients[-1], x))


def _half(g: Any, x: Any) -> Any:
    """Emit the tangent of half the angle whose tangent is x."""
    return g.Div(x, g.Add(g.Sqrt(g.Add(g.Mul(x, x), 1)), 1))


def _atan(g: Any, x: Any) -> Any:
    """Emit the series of a quarter of the angle, with a tangent of 0.2 at most; beyond 1 for the complement."""
    size = g.Abs(x)
    # Halving the angle twice brings the tangent below tan(pi/16) = 0.2, where 13 terms of the series are exact to double
    # precision. The reciprocal keeps squares of large numbers from overflowing.
    is_far = g.Greater(size, 1)
    quarter = _half(g, _half(g, g.Where(is_far, g.Reciprocal(size), size)))
    series = _polynomial(g, g.Mul(quarter, quarter), [(-1) ** k / (2 * k + 1) for k in range(13)])
    angle = g.Mul(g.Mul(quarter, series), 4)
    angle = g.Where(is_far, g.Sub(math.pi / 2, angle), angle)
    return g.Where(g.Less(x, 0), g.Neg(angle), angle)


def _sinh(g: Any, x: Any) -> Any:
    """Emit a series up to 1, where the difference of exponentials would lose digits."""
    near = g.Max(g.Min(x, 1), -1)
    series = _polynomial(g, g.Mul(near, near), [1 / math.factorial(2 * k + 1) for k in range(10)])
    far = g.Mul(g.Sub(g.Exp(x), g.Exp(g.Neg(x))), 0.5)
    return g.Where(g.Less(g.Abs(x), 1), g.Mul(near, series), far)


def _asinh(g: Any, x: Any) -> Any:
    size = g.Abs(x)
    root = g.Where(g.Greater(size, _LARGE), size, g.Sqrt(g.Add(g.Mul(x, x), 1)))
    result = g.Log(g.Add(size, root))
    return g.Where(g.Less(x, 0), g.Neg(result), result)


def _elu(g: Any, x: Any, alpha: float = 1.0) -> Any:
    # Where computes both sides: without the minimum the side that is not taken would overflow.
    return g.Where(g.Less(x, 0), g.Mul(g.Sub(g.Exp(g.Min(x, 0)), 1), alpha), x)


_IN_DOUBLE: Final[Mapping[str, Callable[..., Value]]] = {
    "Tan": lambda g, x: g.Div(g.Sin(x), g.Cos(x)),
    "Atan": _atan,
    # (1 - x)(1 + x) and not 1 - x^2, which cancels near 1.
    "Asin": lambda g, x: _atan(g, g.Div(x, g.Sqrt(g.Mul(g.Sub(1, x), g.Add(x, 1))))),
    # pi/2 less the arc sine would cancel near 1.
    "Acos": lambda g, x: g.Mul(_atan(g, g.Sqrt(g.Div(g.Sub(1, x), g.Add(x, 1)))), 2),
    "Sinh": _sinh,
    "Cosh": lambda g, x: g.Mul(g.Add(g.Exp(x), g.Exp(g.Neg(x))), 0.5),
    "Asinh": _asinh,
    # Two roots, since x^2 overflows for large x and x^2 - 1 cancels near 1.
    "Acosh": lambda g, x: g.Log(g.Add(x, g.Mul(g.Sqrt(g.Sub(x, 1)), g.Sqrt(g.Add(x, 1))))),
    "Atanh": lambda g, x: g.Mul(g.Log(g.Div(g.Add(x, 1), g.Sub(1, x))), 0.5),
    # log(1 + e^x) with an exponent that is never positive and so cannot overflow.
    "Softplus": lambda g, x: g.Add(g.Max(x, 0), g.Log(g.Add(g.Exp(g.Neg(g.Abs(x))), 1))),
    "Elu": _elu,
    # The constants of Klambauer et al. (2017); ONNX's attributes hold only 32 bits.
    "Selu": lambda g, x: g.Mul(_elu(g, x, 1.6732632423543772), 1.0507009873554805),
    "LeakyRelu": lambda g, x, alpha=0.01: g.Where(g.Less(x, 0), g.Mul(x, alpha), x),
    "Softsign": lambda g, x: g.Div(x, g.Add(g.Abs(x), 1)),
}
"""Operator -> what emits it on 64-bit floats."""


# The emitter.

Argument: TypeAlias = "Value | Array | Sequence[int] | float | None"
"""An input of an operator. A number is of the dtype of the other inputs, a sequence of numbers a vector of int64."""

DEEPEST: Final = 30
"""The deepest nesting of blocks: each takes three of the 100 levels of messages that protobuf reads, and its contents more."""
_TO_BOOL: Final = frozenset((
    "Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual", "Not", "And", "Or", "Xor", "IsNaN", "IsInf",
    "RegexFullMatch",
))  # fmt: skip
_TO_INT64: Final = frozenset(["Shape", "Size", "ArgMax", "ArgMin", "NonZero", "NonMaxSuppression"])


class UndecidedAxisError(UnimplementedError):
    """An axis that ONNX has as an attribute but the graph computes: `value`, a number from -`rank` to `rank` - 1."""

    def __init__(self, value: Value, rank: int) -> None:
        super().__init__("its axes are not constant")
        self.value, self.rank = value, rank


class ModelTooLargeError(UnimplementedError):
    """An error for a model far larger than the graph, or deeper than files can be."""


EXPORT_A_PART: Final = Hint("export a part with ", option("to"), " and ", option("from"))


def too_deep(source: str) -> ModelTooLargeError:
    """Return the error of a node that lies in too many conditionals and loops."""
    problem = f"conditionals and loops are nested more than {DEEPEST} deep, which ONNX files do not support"
    return ModelTooLargeError(f"{source}: {problem}", hint=EXPORT_A_PART)


class Emitter:
    """Emits operations into the block that is open."""

    def __init__(self) -> None:
        self.block = Block()
        self.source = ""
        self.narrowed: dict[str, None] = {}
        self.tables: dict[str, tuple[Array, Array]] = {}
        self._depth = 0
        self._constants: dict[Hashable, Value] = {}

    def __getattr__(self, name: str) -> Callable[..., Any]:
        """Return an operator of ONNX by name, as a call of `op`."""
        if not name[0].isupper():
            raise AttributeError(name)
        return functools.partial(self.op, name)

    def op(self, name: str, *inputs: Argument, outputs: int = 1, dtype: DType | None = None, **attrs: Any) -> Any:
        """Emit an operation and return the output, or the list of outputs; `dtype` is theirs where it is not the usual
        dtype.

        Where onnxruntime has no kernel for the dtype, the operation is computed in a wider dtype.
        """
        values = self._values(inputs)
        known = _folded(name, values, attrs)
        if known is not None:
            return self.constant(known)
        if (dtype or dtypes.bool_).is_complex or any(value is not None and value.dtype.is_complex for value in values):
            return on_parts(self, name, values, outputs, dtype, attrs)
        if name == "Gather" and values[0] is not None and values[0].dtype is dtypes.string:
            x, indices = (value for value in values if value is not None)
            return self._gathered_strings(x, indices, **attrs)
        principal = _principal(name, values)
        # Operators with a reduction have kernels of their own.
        kernel = f"{name} {attrs['reduction']}" if attrs.get("reduction", "none") != "none" else name
        computed = None if principal is None else computed_in(kernel, principal)
        if principal is not None and computed is None:
            self.refuse(f"onnxruntime has no {name} for {principal}")
        out_dtypes = self._result_dtypes(name, values, outputs, dtype)
        shape = result_shape(name, values, attrs)
        if computed is principal or principal is None or computed is None:
            return self._emit(name, values, [Value(each, shape) for each in out_dtypes], attrs)
        if principal is dtypes.float64 and name in _IN_DOUBLE:
            return _IN_DOUBLE[name](self, *values, **attrs)
        # The user is told of nodes whose doubles a model computes in 32 bits.
        if principal is dtypes.float64:
            self.narrowed[self.source] = None
        # The condition of Where stays a truth value whatever the others are cast to.
        first = 1 if name == "Where" else 0
        wide = [self.cast(v, computed) if v is not None and v.dtype is principal else v for v in values[first:]]
        wide = [*values[:first], *wide]
        results = self._emit(name, wide, [Value(computed if each is principal else each, shape) for each in out_dtypes], attrs)
        flat = results if isinstance(results, list) else [results]
        narrow = [self.cast(value, each) for value, each in zip(flat, out_dtypes)]
        return narrow if isinstance(results, list) else narrow[0]

    def _gathered_strings(self, x: Value, indices: Value, axis: int = 0) -> Value:
        """Return a Gather of strings; onnxruntime's (1.31) leaves all but the first of several that are next to each other
        empty.
        """
        rank, count = self.rank(x), self.rank(indices)
        axis %= rank
        front = self.transpose(x, [axis, *(i for i in range(rank) if i != axis)])
        rows: Value = self.op("GatherND", front, self.unsqueeze(self.cast(indices, dtypes.int64), -1))
        rows.spec = TensorSpec(x.dtype, Shape([None] * (rank + count - 1)))
        rows = self.transpose(rows, [*range(count, count + axis), *range(count), *range(count + axis, rank + count - 1)])
        rows.spec = TensorSpec(x.dtype, result_shape("Gather", [x, indices], {"axis": axis}))
        return rows

    def _emit(self, name: str, inputs: list[Value | None], outputs: list[Value], attrs: dict[str, Any]) -> Any:
        self.block.operations.append(Operation(name, inputs, outputs, attrs, self.source))
        return outputs[0] if len(outputs) == 1 else outputs

    def _values(self, inputs: Sequence[Argument]) -> list[Value | None]:
        """Return the arguments as values; numbers are of the dtype of the first value that is no truth value."""
        dtypes_given = [value.dtype for value in inputs if isinstance(value, Value)]
        dtype = next((each for each in dtypes_given if each is not dtypes.bool_), dtypes.bool_)
        return [self._value(value, dtype) for value in inputs]

    def _value(self, value: Argument, dtype: DType) -> Value | None:
        if value is None or isinstance(value, Value):
            return value
        if isinstance(value, np.ndarray):
            return self.constant(value)
        if isinstance(value, (int, float)):
            return self.constant(value, dtype)
        return self.constant(np.array(value, np.int64).reshape(-1))

    def _result_dtypes(self, name: str, values: Sequence[Value | None], count: int, dtype: DType | None) -> list[DType]:
        first = dtypes.bool_ if name in _TO_BOOL else dtypes.int64 if name in _TO_INT64 else dtype or _principal(name, values)
        assert first is not None
        rest = dtypes.int64 if name in ("TopK", "Unique", "MaxPool", "StringSplit") else first
        return [first, *[rest] * (count - 1)]

    def constant(self, value: Any, dtype: DType | None = None) -> Value:
        """Return a constant; equal constants are shared."""
        array = np.asarray(value, None if dtype is None else dtype.numpy)
        # The key has a digest, because keys with the bytes would hold the weights of a model twice.
        content = tuple(array.flat) if array.dtype == object else hashlib.blake2b(array.tobytes()).digest()
        key = (str(array.dtype), array.shape, content)
        shared = self._constants.get(key)
        if shared is None:
            of = dtype or (dtypes.string if array.dtype == object else dtypes.from_numpy(array.dtype))
            shared = self._constants[key] = Value(of, Shape(array.shape), array)
        return shared

    evaluate = array_programs.evaluate

    def refuse(self, reason: str) -> NoReturn:
        """Say why ONNX cannot express the node."""
        raise UnimplementedError(reason)

    def known(self, value: Value, what: str) -> Array:
        """Return the elements of a constant; refuse other values, named `what` in the message."""
        if value.array is None:
            self.refuse(f"its {what} are not constant")
        return value.array

    def axis(self, value: Value, rank: int | None) -> int:
        """Return the axis, of `rank` axes, that a value with a single element names.

        A computed value raises UndecidedAxisError; the lowering is then called again for each axis that shapes allow.
        """
        if value.array is not None:
            place = int(value.array.reshape(-1)[0])
            return place % rank if rank else place
        if rank is None or value.shape.dims not in ((), (1,)):
            self.refuse("its axes are not constant")
        raise UndecidedAxisError(value, rank)

    def rank(self, value: Value) -> int:
        """Return the number of dimensions; refuse an unknown rank."""
        if value.rank is None:
            self.refuse("the rank of an input is unknown")
        return value.rank

    def cast(self, value: Value, dtype: DType) -> Value:
        """Return the value in another dtype, as ONNX's Cast converts; quantized dtypes are their integers."""
        dtype = carrier(dtype)
        if value.dtype is dtype:
            return value
        if value.array is not None and not (dtype.is_object or value.dtype.is_object):
            # TensorFlow's Cast of a complex number to a real dtype keeps the real part.
            array = value.array.real if value.dtype.is_complex and dtype.is_numeric and not dtype.is_complex else value.array
            with np.errstate(all="ignore"):
                return self.constant(array.astype(dtype.numpy), dtype)
        result: Value = self.op("Cast", value, dtype=dtype, to=dtype)
        return result

    def like(self, number: float, value: Value) -> Value:
        """Return a scalar constant of the value's dtype."""
        return self.constant(number, value.dtype)

    def zeros_like(self, value: Value) -> Value:
        """Return zeros of a value's shape and dtype."""
        result: Value = self.op("Expand", self.like(0, value), self.dims(value))
        return result

    # Complex numbers are pairs of values; those that enter and leave the model are along the last dimension of one.

    def parts(self, value: Value) -> tuple[Value, Value]:
        """Return the real and the imaginary part."""
        if value.parts is None:
            array = np.asarray(value.array)
            value.parts = self.constant(array.real), self.constant(array.imag)
        return value.parts

    def complex(self, real: Value, imag: Value) -> Value:
        """Return a complex number made of the two parts."""
        result = Value(whole_dtype(real.dtype), real.shape)
        result.parts = real, imag
        return result

    def conjugate(self, value: Value) -> Value:
        """Return the complex conjugate; real numbers are returned unchanged."""
        if not value.dtype.is_complex:
            return value
        real, imag = self.parts(value)
        return self.complex(real, self.op("Neg", imag))

    def packed(self, value: Value) -> Value:
        """Return (...) complex as (..., 2) real."""
        result: Value = self.op("Concat", *(self.unsqueeze(part, -1) for part in self.parts(value)), axis=-1)
        return result

    def unpacked(self, value: Value) -> Value:
        """Return (..., 2) real as (...) complex."""
        return self.complex(*(self.op("Gather", value, np.array(side), axis=-1) for side in (0, 1)))

    def fresh(self, dtype: DType, shape: Shape, like: Value | None = None) -> Value:
        """Return a new value for a block's input or output; a list where `like` is a list."""
        result = Value(dtype, shape, is_stacked=like is not None and like.is_stacked)
        result.elements = result.elements if like is None else like.elements
        if dtype.is_complex:
            result.parts = Value(part_dtype(dtype), shape), Value(part_dtype(dtype), shape)
        return result

    # Shapes are vectors of int64.

    def dims(self, value: Value) -> Value:
        """Return the shape of a value, a constant where known."""
        if value.shape.is_known:
            return self.constant(np.array(value.shape.known(), np.int64))
        result: Value = self.op("Shape", value)
        result.spec = TensorSpec(dtypes.int64, Shape((value.rank,)))
        return result

    def dim(self, value: Value, axis: int) -> Value:
        """Return a dimension, as a vector with a single element."""
        size = None if value.rank is None else value.shape[axis]
        if isinstance(size, int):
            return self.constant(np.array([size], np.int64))
        # For axis -1 the end would be 0, which is before the axis.
        ends: dict[str, Any] = {"end": axis + 1} if axis != -1 else {}
        result: Value = self.op("Shape", value, start=axis, **ends)
        result.spec = TensorSpec(dtypes.int64, Shape((1,)))
        return result

    def vector(self, value: Value) -> Value:
        """Return a scalar or a vector of numbers as a vector of int64."""
        numbers = self.cast(value, dtypes.int64)
        if numbers.rank == 0:
            return self.unsqueeze(numbers, 0)
        return numbers if numbers.rank == 1 else self.op("Reshape", numbers, [-1])

    def joined(self, *parts: Value | int | Sequence[int]) -> Value:
        """Return a vector of int64 made of vectors and numbers."""
        values = [part if isinstance(part, Value) else self.constant(np.array(part, np.int64).reshape(-1)) for part in parts]
        # Concat needs an input, though it may be empty.
        values = [value for value in values if value.array is None or value.array.size] or values[:1]
        return values[0] if len(values) == 1 else self.op("Concat", *values, axis=0)

    def reshape(self, value: Value, *parts: Value | int | Sequence[int]) -> Value:
        """Reshape to dimensions joined from vectors and numbers; 0 is an empty dimension."""
        dims = self.joined(*parts)
        if dims.array is not None and tuple(dims.array) == value.shape.dims:
            return value
        if dims.array is None or 0 not in dims.array:
            result: Value = self.op("Reshape", value, dims)
            return result
        # With `allowzero` a 0 is a size, and ONNX then allows no -1.
        sizes = np.where(dims.array == -1, _size_beside_zeros(value.shape, dims.array), dims.array)
        empty: Value = self.op("Reshape", value, sizes, allowzero=1)
        return empty

    def of_dims(self, value: Value, *parts: Value | int | Sequence[int]) -> Value:
        """Reshape to dimensions joined from vectors and numbers, all given; they may be 0."""
        dims = self.joined(*parts)
        if dims.array is not None:
            return self.reshape(value, dims)
        result: Value = self.op("Reshape", value, dims, allowzero=1)
        return result

    def unsqueeze(self, value: Value, *axes: int) -> Value:
        return self.op("Unsqueeze", value, axes) if axes else value

    def squeeze(self, value: Value, *axes: int) -> Value:
        return self.op("Squeeze", value, axes) if axes else value

    def transpose(self, value: Value, perm: Sequence[int]) -> Value:
        if list(perm) == sorted(perm):
            return value
        result: Value = self.op("Transpose", value, perm=list(perm))
        return result

    def channels_first(self, value: Value) -> Value:
        """Transpose N, ..., C to N, C, ..."""
        rank = self.rank(value)
        return self.transpose(value, [0, rank - 1, *range(1, rank - 1)])

    def channels_last(self, value: Value, rank: int) -> Value:
        """Transpose N, C, ... to N, ..., C."""
        return self.transpose(value, [0, *range(2, rank), 1])

    def split(self, value: Value, count: int, axis: int) -> list[Value]:
        """Split into `count` equal parts along an axis."""
        size = None if value.rank is None else value.shape[axis]
        if count < 2:
            return [value] * count
        if isinstance(size, int):
            pieces: list[Value] = self.op("Split", value, [size // count] * count, outputs=count, axis=axis)
        else:
            pieces = self.op("Split", value, outputs=count, axis=axis, num_outputs=count)
        return pieces

    def slice(self, value: Value, start: Any, end: Any, axis: int = 0) -> Value:
        """Return the elements from `start` to `end` along an axis; each bound is a number or a vector with a single
        element.
        """
        start, end = (bound if isinstance(bound, Value) else [bound] for bound in (start, end))
        result: Value = self.op("Slice", value, start, end, [axis])
        return result

    def stacked(self, rows: Value, elements: ElementShapes | None = None) -> Value:
        """Return a list whose elements are the rows of a tensor, of the rows' shape unless `elements` says otherwise."""
        # The list is a value of its own, so that the rows themselves remain a tensor.
        result: Value = self.op("Identity", rows)
        result.is_stacked = True
        of_rows = ElementShapes(written=Shape(None if rows.shape.dims is None else rows.shape.dims[1:]))
        result.elements = elements or (rows.elements if rows.is_stacked else of_rows)
        return result

    def unwritten(self, rows: Value, declared: Shape) -> Value:
        """Return a list without a written element, whose elements are declared to be of a shape."""
        return self.stacked(rows, ElementShapes(declared))

    def of_rank(self, elements: Value, shape: Shape) -> Value:
        """Return a list of elements of unknown rank, numbers as long as none is written, with the rank of `shape`."""
        if elements.rank == 1 and shape.rank:
            return self.stacked(self.unsqueeze(elements, *range(1, 1 + shape.rank)), elements.elements)
        return elements

    # Optionals.

    def held(self, values: Sequence[Any]) -> Held:
        """Return an optional that holds values."""
        return Held(self.constant(np.array(True)), tuple(values))

    def nothing(self) -> Held:
        """Return an optional without values."""
        return Held(self.constant(np.array(False)))

    # Blocks.

    @contextlib.contextmanager
    def inside(self, inputs: Sequence[Value] = ()) -> Iterator[Block]:
        """Open a new block for as long as the context lasts."""
        if self._depth == DEEPEST:
            raise too_deep(self.source)
        around, self.block = self.block, Block(list(inputs))
        self._depth += 1
        try:
            yield self.block
        finally:
            self.block = around
            self._depth -= 1

    def truth(self, value: Value) -> Value:
        """Return TensorFlow's truth of a value: a scalar other than zero and the empty string, any other tensor with
        elements.
        """
        if value.rank:
            result: Value = self.op("Greater", self.op("Size", value), 0)
            return result
        zero = self.constant(b"", dtypes.string) if value.dtype is dtypes.string else 0
        return value if value.dtype is dtypes.bool_ else self.op("Not", self.op("Equal", value, zero))

    def choose(self, chooser: Value, branches: Sequence[Callable[[], Sequence[Value]]]) -> list[Value]:
        """Emit the branch with the chooser's number, the last where there is none; a truth value is a number, too."""
        last = len(branches) - 1
        if chooser.array is not None:
            index = int(chooser.array.reshape(-1)[0])
            return list(branches[index if 0 <= index <= last else last]())
        if chooser.dtype is dtypes.bool_:
            return self._branch(chooser, branches[1], branches[0])
        return self._chosen(chooser, branches, 0)

    def _chosen(self, index: Value, branches: Sequence[Callable[[], Sequence[Value]]], first: int) -> list[Value]:
        """Emit a choice among the branches from `first` on."""
        if first == len(branches) - 1:
            return list(branches[first]())
        is_first = self.op("Equal", index, first)
        return self._branch(is_first, branches[first], lambda: self._chosen(index, branches, first + 1))

    def _branch(
        self, condition: Value, then: Callable[[], Sequence[Value]], otherwise: Callable[[], Sequence[Value]]
    ) -> list[Value]:
        blocks = []
        for emit in (then, otherwise):
            source = self.source
            with self.inside() as block:
                block.outputs = list(emit())
            # The branch has set `source` to the name of its own last node.
            self.source = source
            blocks.append(block)
        if not all(is_branch_output(value) for block in blocks for value in block.outputs):
            self.refuse("a branch returns a value that is not a tensor")
        outputs = [common(self, a, b) for a, b in zip(blocks[0].outputs, blocks[1].outputs)]
        for block in blocks:
            block.outputs = flat(self, [fitted(self, *pair) for pair in zip(block.outputs, outputs)])
        # A conditional of checks and prints alone has no outputs, and a model leaves it out.
        if outputs:
            self._emit("If", [condition], flat(self, outputs), {"then_branch": blocks[0], "else_branch": blocks[1]})
        return outputs

    def repeat(
        self, count: int | Value, carried: Sequence[Value], advance: Callable[[Value, Sequence[Value]], Sequence[Value]]
    ) -> list[Value]:
        """Return `carried`, whose shapes stay, after `count` calls of `advance` with 0, 1 ... count - 1 and the carried
        values.
        """
        most = self.constant(np.int64(count)) if isinstance(count, int) else count
        return self.repeat_while(None, carried, lambda *state: [self.constant(np.array(True)), *advance(*state)], most)

    def repeat_while(
        self,
        condition: Value | None,
        carried: Sequence[Value],
        advance: Callable[[Value, Sequence[Value]], Sequence[Value]],
        count: Value | None = None,
    ) -> list[Value]:
        """Return `carried`, whose shapes stay, after at most `count` calls of `advance` as long as the condition holds.

        `advance` takes 0, 1 ... and the carried values, and returns the next condition before the carried values.
        """
        number = Value(dtypes.int64, SCALAR)
        inner = [self.fresh(value.dtype, value.shape, value) for value in carried]
        with self.inside() as body:
            body.outputs = list(advance(number, inner))
        body.inputs = inner
        return self.loop(condition, carried, body, number, count)

    def loop(
        self,
        condition: Value | None,
        carried: Sequence[Value],
        body: Block,
        number: Value | None = None,
        count: Value | None = None,
    ) -> list[Value]:
        """Emit a Loop, whose body takes and returns the carried values, with the next condition as first result.

        `number` stands for the number of the iteration in the body, `count` is the largest number of iterations.
        """
        outputs = [self.fresh(value.dtype, value.shape, value) for value in body.inputs]
        # ONNX passes each iteration its number and the condition before the carried values.
        body.inputs = [number or Value(dtypes.int64, SCALAR), Value(dtypes.bool_, SCALAR), *flat(self, body.inputs)]
        body.outputs = flat(self, body.outputs)
        self._emit("Loop", [count, condition, *flat(self, carried)], flat(self, outputs), {"body": body})
        return outputs

    def scan(self, start: Value, rows: Value, reverse: bool, advance: Callable[[Value, Value], Value]) -> Value:
        """Return the results of `advance` on the result before, at first `start`, and each row of a tensor in turn."""
        inner = [self.fresh(value.dtype, start.shape) for value in (start, rows)]
        with self.inside(flat(self, inner)) as body:
            total = advance(*inner)
            body.outputs = flat(self, [total, total])
        last, results = self.fresh(start.dtype, start.shape), self.fresh(rows.dtype, rows.shape)
        inputs: list[Value | None] = [*flat(self, [start, rows])]
        count = len(flat(self, [rows]))
        directions = {f"scan_{way}_directions": [int(reverse)] * count for way in ("input", "output")}
        self._emit("Scan", inputs, flat(self, [last, results]), {"body": body, "num_scan_inputs": count, **directions})
        return results


def _size_beside_zeros(shape: Shape, dims: np.ndarray[Any, Any]) -> int:
    """Return the size that -1 stands for beside a 0 in the dimensions: as if the sizes that are 0 in both were left out."""
    sizes = [size for size in shape.dims or () if isinstance(size, int) and size]
    return max(math.prod(sizes) // int(np.prod(dims[dims > 0])), 1)


def _principal(name: str, values: Sequence[Value | None]) -> DType | None:
    """Return the dtype that an operator computes in."""
    place = {"Where": 1, "OneHot": 2}.get(name, 0)
    principal = values[place] if place < len(values) else None
    return None if principal is None else principal.dtype
