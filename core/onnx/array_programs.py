"""The arrays of lowerings on ONNX's operators, so that one array program of an op serves XLA and ONNX."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Final, NoReturn

import numpy as np

from ..numerics.half_precision import is_narrow
from ..ops.shared.shape_arguments import without_ellipsis
from ..support.errors import UnimplementedError
from ..types import dtypes
from ..types.dtypes import DType
from ..types.shapes import Shape, TensorSpec
from . import linear_algebra
from .blocks import Value

_UNARY: Final[Mapping[str, str]] = {
    "abs": "Abs", "arccos": "Acos", "arccosh": "Acosh", "arcsin": "Asin", "arcsinh": "Asinh", "arctan": "Atan",
    "arctanh": "Atanh", "ceil": "Ceil", "cos": "Cos", "cosh": "Cosh", "elu": "Elu", "erf": "Erf", "exp": "Exp",
    "floor": "Floor", "isinf": "IsInf", "isnan": "IsNaN", "log": "Log", "logical_not": "Not", "reciprocal": "Reciprocal",
    "relu": "Relu", "rint": "Round", "selu": "Selu", "sigmoid": "Sigmoid", "sign": "Sign", "sin": "Sin", "sinh": "Sinh",
    "soft_sign": "Softsign", "softplus": "Softplus", "sqrt": "Sqrt", "tan": "Tan", "tanh": "Tanh",
}  # fmt: skip
"""Functions that are one operator of one input."""
_BINARY: Final[Mapping[str, str]] = {
    "subtract": "Sub", "multiply": "Mul", "divide": "Div", "truncated_quotient": "Div",
    "maximum": "Max", "minimum": "Min", "less": "Less", "less_equal": "LessOrEqual", "greater": "Greater",
    "greater_equal": "GreaterOrEqual", "equal": "Equal", "logical_and": "And", "logical_or": "Or", "matmul": "MatMul",
}  # fmt: skip
"""Functions that are one operator of two inputs of one dtype."""
_BITWISE: Final[Mapping[str, tuple[str, str]]] = {
    "bitwise_and": ("BitwiseAnd", "And"), "bitwise_or": ("BitwiseOr", "Or"), "bitwise_xor": ("BitwiseXor", "Xor"),
}  # fmt: skip
"""Functions of bits: the operator of integers and of truth values."""
_REDUCTIONS: Final[Mapping[str, str]] = {"sum": "ReduceSum", "prod": "ReduceProd"}
_END: Final = np.iinfo(np.int64).max
"""The end of a slice that goes to the end of an axis, whatever the axis's size."""


def _promoted(first: DType, second: DType) -> DType:
    """Return the dtype of a result, as JAX has it: floats stay in their width beside integers of any width."""
    if first.is_floating != second.is_floating and not (first.is_complex or second.is_complex):
        return first if first.is_floating else second
    return dtypes.from_numpy(np.result_type(first.numpy, second.numpy))


class OnnxNamespace:
    """The namespace of array programs that become ONNX's operators: that of the XLA engine, as far as ONNX goes.

    Its functions have the names of jax.numpy and jax.nn.
    """

    is_eager: ClassVar[bool] = False
    has_64_bits: ClassVar[bool] = True
    has_views: ClassVar[bool] = False
    """Whether arrays have a method `view`, for the bits of floats."""
    issubdtype = staticmethod(np.issubdtype)

    def __init__(self, g: Any) -> None:
        self.g = g
        self.fft = OnnxTransforms(self)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        """Return a function that is one operator, by its name."""
        if name in _UNARY:
            return functools.partial(self._unary, _UNARY[name])
        if name in _BINARY:
            return functools.partial(self._binary, _BINARY[name])
        if name in _BITWISE:
            return functools.partial(self._bitwise, _BITWISE[name])
        if name in _REDUCTIONS:
            return functools.partial(self._reduced, _REDUCTIONS[name])
        raise UnimplementedError(f"its lowering needs {name}, which ONNX lacks")

    def _unary(self, name: str, x: Any) -> Any:
        return self.array_of(self.g.op(name, self.value(x)))

    def _binary(self, name: str, x: Any, y: Any) -> Any:
        return self.array_of(self.g.op(name, *self._pair(x, y)))

    def _bitwise(self, names: tuple[str, str], x: Any, y: Any) -> Any:
        x, y = self._pair(x, y)
        return self.array_of(self.g.op(names[x.dtype is dtypes.bool_], x, y))

    def _reduced(self, name: str, x: Any, axis: Any = None, keepdims: bool = False, dtype: Any = None) -> Any:
        value = self.value(x if dtype is None else x.astype(dtype))
        if isinstance(axis, Sizes):
            return self.array_of(self.g.op(name, value, axis.value, keepdims=int(keepdims), noop_with_empty_axes=1))
        if axis is None and value.rank is None and not keepdims:
            return self.array_of(self.g.op(name, value, keepdims=0))
        axes = self._axes(value, axis)
        return self.array_of(self.g.op(name, value, axes, keepdims=int(keepdims)) if axes else value)

    def _axes(self, value: Value, axis: Any) -> list[int]:
        """Return axes in order, counted from the first where the rank is known: onnxruntime refuses others for no elements."""
        if axis is None:
            return list(range(self.g.rank(value)))
        axes = [axis] if isinstance(axis, int) else list(axis)
        return sorted(place % value.rank for place in axes) if value.rank else axes

    def _may_be_empty(self, value: Value, axis: Any) -> bool:
        """Return False if an axis surely has elements along `axis`, the axes that are reduced."""
        if value.rank is None or isinstance(axis, Sizes):
            return True
        return not all(isinstance(size := value.shape[place], int) and size for place in self._axes(value, axis))

    def max(self, x: Any, axis: Any = None, keepdims: bool = False, initial: Any = None) -> Any:
        """Return the greatest elements; of no elements onnxruntime has the `initial` that the programs give."""
        return self._reduced("ReduceMax", x, axis, keepdims)

    def min(self, x: Any, axis: Any = None, keepdims: bool = False, initial: Any = None) -> Any:
        return self._reduced("ReduceMin", x, axis, keepdims)

    def all(self, x: Any, axis: Any = None, keepdims: bool = False) -> Any:
        """Return the least truth values, as numbers if there may be none: onnxruntime refuses extremes of no truth values."""
        numbers = x.astype(np.int32) if self._may_be_empty(x.value, axis) else x
        return self._reduced("ReduceMin", numbers, axis, keepdims).astype(bool)

    def any(self, x: Any, axis: Any = None, keepdims: bool = False) -> Any:
        return ~self.all(~x, axis, keepdims)

    def mean(self, x: Any, axis: Any = None, keepdims: bool = False) -> Any:
        """Return the means, NaN for no floats; onnxruntime's ReduceMean has 0."""
        mean = self._reduced("ReduceMean", x, axis, keepdims)
        if x.value.dtype.is_integer or not self._may_be_empty(x.value, axis):
            return mean
        return self.where(self.array_of(self.g.Size(x.value)) == 0, np.nan, mean)

    # Between arrays and values.

    def array_of(self, value: Value) -> Any:
        """Return a value as an array."""
        return OnnxArray(self, value)

    def value(self, x: Any, like: Value | None = None) -> Any:
        """Return an array, or a constant, as a value; a Python number has the dtype of `like`."""
        if isinstance(getattr(x, "value", None), Value):
            return x.value
        if like is None or not isinstance(x, (bool, int, float, complex)):
            return self.g.constant(np.asarray(x))
        if isinstance(x, float) and like.dtype.is_integer:
            raise UnimplementedError(f"its lowering computes with {x} and integers")
        return self.g.constant(x, like.dtype)

    def _pair(self, x: Any, y: Any) -> tuple[Value, Value]:
        """Return two operands as values of the dtype that both promote to."""
        first, second = (getattr(each, "value", None) for each in (x, y))
        first, second = self.value(x, second), self.value(y, first)
        if first.dtype is second.dtype or first.dtype.is_object:
            return first, second
        common = _promoted(first.dtype, second.dtype)
        return self.g.cast(first, common), self.g.cast(second, common)

    # Elementwise.

    def invert(self, x: Any) -> Any:
        return self._unary("Not" if x.dtype == bool else "BitwiseNot", x)

    def add(self, x: Any, y: Any) -> Any:
        """Return the sum; texts are joined."""
        a, b = self._pair(x, y)
        return self.array_of(self.g.StringConcat(a, b) if a.dtype.is_object else self.g.Add(a, b))

    def negative(self, x: Any) -> Any:
        return 0 - x if x.dtype.kind == "u" else self._unary("Neg", x)

    def not_equal(self, x: Any, y: Any) -> Any:
        return self._unary("Not", self.equal(x, y))

    def square(self, x: Any) -> Any:
        return x * x

    def rsqrt(self, x: Any) -> Any:
        return self.reciprocal(self.sqrt(x))

    def relu6(self, x: Any) -> Any:
        return self.minimum(self.maximum(x, 0), 6)

    def erfc(self, x: Any) -> Any:
        return 1 - self.erf(x)

    def expm1(self, x: Any) -> Any:
        """Return exp(x) - 1 as tanh(x/2) (exp(x) + 1), exact for small x."""
        return self.tanh(x * 0.5) * (self.exp(x) + 1)

    def log1p(self, x: Any) -> Any:
        """Return log(1 + x), for small x by the first terms of the series."""
        if is_narrow(x.dtype):  # each term would be rounded to 16 bits
            return self.log1p(x.astype(np.float32)).astype(x.dtype)
        # Below 1e-3 the sum x + 1 has lost the last digits of x; the next term of the series is 2.5e-10 of the result at most.
        series = x * (1 - x * (0.5 - x / 3))
        return self.where(abs(x) < 1e-3, series, self.log(x + 1))

    def isfinite(self, x: Any) -> Any:
        if x.value.dtype.is_complex:
            return self.isfinite(x.real) & self.isfinite(x.imag)
        return ~(self.isnan(x) | self.isinf(x))

    def trunc(self, x: Any) -> Any:
        return self.sign(x) * self.floor(abs(x))

    def mod(self, x: Any, y: Any) -> Any:
        """Return the remainder with the divisor's sign; ONNX's remainder of floats has the dividend's."""
        a, b = self._pair(x, y)
        if a.dtype.is_integer:
            return self.array_of(self.g.Mod(a, b))
        rest, divisor = self.array_of(self.g.Mod(a, b, fmod=1)), self.array_of(b)
        return self.where((rest != 0) & ((rest < 0) ^ (divisor < 0)), rest + divisor, rest)

    def fmod(self, x: Any, y: Any) -> Any:
        return self.array_of(self.g.Mod(*self._pair(x, y), fmod=1))

    def floor_divide(self, x: Any, y: Any) -> Any:
        """Return the quotient rounded down; ONNX's quotient of integers is rounded towards zero."""
        if x.dtype.kind not in "iu":
            return self.floor(x / y)
        if x.dtype.kind == "u":
            return x / y
        # The remainders of both roundings differ where the quotient is not whole and negative. No step overflows.
        return x / y - (self.mod(x, y) != self.fmod(x, y)).astype(x.dtype)

    def power(self, x: Any, y: Any) -> Any:
        """Return the power; of integers by squares, with wrap-around: onnxruntime computes them as float64."""
        base, exponent = self._pair(x, y)
        if not base.dtype.is_integer:
            return self.array_of(self.g.Pow(base, exponent))
        largest = np.iinfo(exponent.dtype.numpy).max if exponent.array is None else max(exponent.array.max(initial=0), 0)
        square, bits = self.array_of(base), self.array_of(exponent)
        result = self.ones_like(square)
        for place in range(int(largest).bit_length()):
            square = square * square if place else square
            result = self.where((bits & (1 << place)) != 0, result * square, result)
        return result

    def left_shift(self, x: Any, y: Any) -> Any:
        return self._shifted(x, y, "LEFT")

    def right_shift(self, x: Any, y: Any) -> Any:
        """Shift arithmetically: the complement of a negative number is shifted, so that set bits enter from the left."""
        if x.dtype.kind == "u":
            return self._shifted(x, y, "RIGHT")
        is_negative = x < 0
        shifted = self._shifted(self.where(is_negative, ~x, x), y, "RIGHT")
        return self.where(is_negative, ~shifted, shifted)

    def _shifted(self, x: Any, distance: Any, direction: str) -> Any:
        """Shift bits; ONNX's operator is of unsigned numbers."""
        a, b = (self.array_of(value).astype(f"uint{8 * x.itemsize}").value for value in self._pair(x, distance))
        return self.array_of(self.g.BitShift(a, b, direction=direction)).astype(x.dtype)

    def population_count(self, x: Any) -> Any:
        """Return the number of bits that are set, byte by byte: that of each is in a table."""
        wide = x.astype(f"uint{8 * x.itemsize}").astype(np.uint64)
        table = np.bitwise_count(np.arange(256, dtype=np.uint8))
        bytes_ = (self.right_shift(wide, np.uint64(8 * place)) & np.uint64(255) for place in range(x.itemsize))
        return functools.reduce(operator.add, (self.take(table, byte.astype(np.int64), 0) for byte in bytes_))

    def arctan2(self, y: Any, x: Any) -> Any:
        """Return the arc tangent of y/x, turned by pi in the half plane x < 0 and on the border."""
        y, x = map(self.array_of, self._pair(y, x))
        half = self.where(y < 0, self.array_of(self.g.like(-math.pi / 2, y.value)), math.pi / 2)
        turned = self.arctan(y / x) + self.where(x < 0, half * 2, 0)
        return self.where(x == 0, self.where(y == 0, 0, half), turned)

    def clip(self, x: Any, low: Any, high: Any) -> Any:
        return self.minimum(self.maximum(x, low), high)

    def where(self, condition: Any, x: Any, y: Any) -> Any:
        return self.array_of(self.g.Where(self.value(condition), *self._pair(x, y)))

    def conj(self, x: Any) -> Any:
        return self.array_of(self.g.conjugate(x.value))

    def real(self, x: Any) -> Any:
        return self.array_of(self.g.parts(x.value)[0]) if x.value.dtype.is_complex else x

    def imag(self, x: Any) -> Any:
        return self.array_of(self.g.parts(x.value)[1]) if x.value.dtype.is_complex else self.zeros_like(x)

    def angle(self, x: Any) -> Any:
        return self.arctan2(x.imag, x.real)

    def complex(self, real: Any, imag: Any) -> Any:
        return self.array_of(self.g.complex(real.value, imag.value))

    def same_shape(self, x: Any, y: Any) -> bool:
        """Return False for arrays that are known to have different shapes."""
        a, b = x.value.shape, y.value.shape
        if a.rank is None or b.rank is None:
            return True
        return len(a) == len(b) and not any(isinstance(p, int) and isinstance(q, int) and p != q for p, q in zip(a, b))

    def with_factor(self, x: Any, result: Any, factor: Callable[[Any], Any]) -> Any:
        """Return the result of a function: only derivatives need the factor."""
        return result

    def with_derivatives(self, result: Any, path: Callable[[], Any]) -> Any:
        """Return the result of a function that has the derivatives of another."""
        return result

    def require(self, condition: Any, message: str = "") -> None:
        """Do nothing: a model has no way to refuse its inputs."""

    # Loops, whose values keep their shapes.

    def fori_loop(self, start: int, count: Any, advance: Callable[..., Any], values: Any) -> Any:
        """Return the values after `count` calls of `advance`, with 0, 1 ... and the values."""
        assert start == 0
        count = count if isinstance(count, int) else self.g.reshape(self.dims([count]), [])
        return self._looped(values, lambda run, carried: self.g.repeat(count, carried, run), advance)

    def while_loop(self, goes_on: Callable[[Any], Any], advance: Callable[[Any], Any], values: tuple[Any, ...]) -> Any:
        """Return the values after as many calls of `advance` as the condition on the values holds for."""

        def loop(run: Callable[..., list[Value]], carried: list[Value]) -> list[Value]:
            def step(number: Value, before: Sequence[Value]) -> list[Value]:
                after = run(number, before)
                return [self.value(goes_on(tuple(map(self.array_of, after)))), *after]

            looped: list[Value] = self.g.repeat_while(self.value(goes_on(values)), carried, step)
            return looped

        return self._looped(values, loop, lambda number, state: advance(state))

    def scanned(self, step: Callable[[Any, Any], Any], start: float, x: Any, axis: int, reverse: bool) -> Any:
        """Return the running results of step(total, row) along an axis, after `start`, which changes no total."""

        def advance(total: Value, row: Value) -> Value:
            after: Value = self.value(step(self.array_of(total), self.array_of(row)))
            return after

        # A sum has the shape of a row, also where only the run knows sizes.
        first = self.zeros_like(self._reduced("ReduceSum", x, axis)) + start
        # onnxruntime ends the process where a Scan along another axis than the first has no elements, and refuses no rows.
        rows = self.transpose(x, [axis, *(i for i in range(x.ndim) if i != axis)])
        rows = self.concatenate([rows, first[None]])
        results = self.array_of(self.g.scan(first.value, rows.value, reverse, advance))[:-1]
        return self.transpose(results, [*range(1, axis + 1), 0, *range(axis + 1, x.ndim)])

    def optimization_barrier(self, x: Any) -> Any:
        return x

    def stop_gradient(self, x: Any) -> Any:
        return x

    def _looped(self, values: Any, loop: Callable[..., Any], advance: Callable[..., Any]) -> Any:
        """Return the results of a loop on values as arrays: a tuple, or an array."""
        is_one = not isinstance(values, tuple)

        def run(number: Value, carried: Sequence[Value]) -> list[Value]:
            arrays = tuple(map(self.array_of, carried))
            results = advance(self.array_of(number), arrays[0] if is_one else arrays)
            return [self.value(result) for result in ([results] if is_one else results)]

        results = tuple(map(self.array_of, loop(run, [self.value(each) for each in ([values] if is_one else values)])))
        return results[0] if is_one else results

    # Making arrays.

    def asarray(self, x: Any, dtype: Any = None) -> Any:
        array = self.array_of(self.value(x))
        return array if dtype is None else array.astype(dtype)

    def full(self, shape: Any, number: Any, dtype: Any = None) -> Any:
        filled = self.asarray(number, dtype)
        return self.broadcast_to(filled, shape)

    def arange(self, size: Any) -> Any:
        """Return the numbers below a size, that of an array or a number."""
        return self.array_of(self.g.Range(0, self.g.reshape(self.dims([size]), []), 1))

    def zeros_like(self, x: Any) -> Any:
        return self.array_of(self.g.zeros_like(x.value))

    def ones_like(self, x: Any) -> Any:
        return self.array_of(self.g.Expand(self.g.like(1, x.value), self.g.dims(x.value)))

    # Shapes.

    def size(self, x: Any) -> Any:
        """Return the number of elements."""
        count = x.value.shape.num_elements
        return count if isinstance(count, int) else Size(self.g, self.g.reshape(self.g.Size(x.value), 1))

    def as_size(self, x: Any) -> Size:
        """Return an integer that the run computes as a size."""
        return Size(self.g, self.g.vector(self.value(x)))

    def dims(self, shape: Any) -> Value:
        """Return a shape, which or whose sizes only the run may know, as a vector."""
        given = getattr(shape, "value", None)
        if isinstance(given, Value):
            return given
        sizes: Sequence[Any] = shape if isinstance(shape, (tuple, list)) else np.ravel(shape).tolist()
        parts: list[Any] = [getattr(size, "value", size) for size in sizes]
        joined: Value = self.g.joined(*(part if isinstance(part, Value) else operator.index(part) for part in parts), [])
        return joined

    def bounds(self, *vectors: Any) -> list[list[Any]]:
        """Return the elements of vectors of one length, which one of them has to have: numbers where they are known."""
        counts = [len(each) if isinstance(each, np.ndarray) else each.value.shape.dims[0] for each in vectors]
        count = next((count for count in counts if isinstance(count, int)), None)
        if count is None:
            raise UnimplementedError("the number of its bounds is unknown")
        return [each.tolist() if isinstance(each, np.ndarray) else each.elements(count) for each in vectors]

    def part(self, x: Any, index: tuple[Any, ...]) -> Any:
        return x[index]

    def dims_of(self, sizes: Sequence[Any]) -> Any:
        """Return sizes as an array, int64."""
        return self.array_of(self.dims(sizes))

    def reshape(self, x: Any, shape: Any) -> Any:
        if isinstance(shape, (tuple, list)) and _leaves_one_open(shape):
            shape = [size if isinstance(size, int) else -1 for size in shape]
        dims = self.dims(shape)
        # ONNX allows -1 only where 0 stands for the size of the input, and without -1 a size may be 0.
        is_open = isinstance(shape, (tuple, list)) and any(isinstance(size, int) and size == -1 for size in shape)
        return self.array_of((self.g.reshape if is_open else self.g.of_dims)(self.value(x), dims))

    def broadcast_to(self, x: Any, shape: Any) -> Any:
        result = self.g.Expand(self.value(x), self.dims(shape))
        if result.rank is None and isinstance(shape, tuple):
            result.spec = TensorSpec(result.dtype, Shape(size if isinstance(size, int) else None for size in shape))
        return self.array_of(result)

    def broadcast_arrays(self, *arrays: Any) -> list[Any]:
        """Return arrays of a common shape; each is expanded to the shapes of the others that are not known to be its own."""
        values = [self.value(array) for array in arrays]
        shapes = dict.fromkeys(value.shape for value in values)
        # Equal open shapes may still be different in the run, if their sizes have no names.
        if len(shapes) == 1 and next(iter(shapes)).is_known:
            return list(arrays)
        dims = [self.g.dims(value) for value in values]
        others = [[*dims[:i], *dims[i + 1 :]] for i in range(len(dims))]
        return [self.array_of(functools.reduce(self.g.Expand, other, value)) for value, other in zip(values, others)]

    # Parts and wholes.

    def split(self, x: Any, count: int, axis: int) -> list[Any]:
        """Return equal parts along an axis."""
        return [self.array_of(part) for part in self.g.split(x.value, count, axis)]

    def concatenate(self, arrays: Sequence[Any], axis: int = 0) -> Any:
        values = [self.value(array) for array in arrays]
        return self.array_of(self.g.Concat(*values, axis=axis) if len(values) > 1 else values[0])

    def stack(self, arrays: Sequence[Any], axis: int = 0) -> Any:
        values = [self.value(array) for array in arrays]
        return self.array_of(self.g.Concat(*(self.g.unsqueeze(value, axis) for value in values), axis=axis))

    def transpose(self, x: Any, order: Sequence[int]) -> Any:
        return self.array_of(self.g.transpose(x.value, [place % len(order) for place in order]))

    def tile(self, x: Any, times: Any) -> Any:
        return self.array_of(self.g.Tile(x.value, self.dims(times)))

    def tril(self, x: Any, k: int = 0) -> Any:
        """Return matrices with zeros above a diagonal."""
        rows, columns = (self.arange(size) for size in x.shape[-2:])
        return self.where(rows[:, None] + k >= columns, x, 0)

    def pad(self, x: Any, widths: Any) -> Any:
        """Pad with zeros before and after each dimension."""
        before, after = zip(*(widths if isinstance(widths, list) else np.asarray(widths).tolist()))
        return self.array_of(self.g.Pad(x.value, self.dims((*before, *after)), self.g.like(0, x.value)))

    def take(self, x: Any, places: Any, axis: int, mode: str | None = None) -> Any:
        """Return the elements at places along an axis; places out of range are errors of the run, whatever the mode."""
        array = self.asarray(x)
        return self.array_of(self.g.Gather(array.value, self.value(places), axis=int(axis)))

    def take_along_axis(self, x: Any, places: Any, axis: int) -> Any:
        """Return the element at each place of the same row; places out of range are errors of the run."""
        return self.array_of(self.g.GatherElements(x.value, self.value(places), axis=axis))

    def scatter_nd(self, target: Any, indices: Any, updates: Any, how: str, policy: str) -> Any:
        """Return `target` with `updates` added, compared or set (`how`) at index vectors; others are errors of the run.

        Truth values, which ONNX cannot add, are set.
        """
        if updates.value.dtype.is_object and how != "set":
            raise UnimplementedError("ONNX adds no strings up")
        if policy == "IGNORE":
            raise UnimplementedError("ONNX leaves out no updates")
        return self.scattered(target, indices, updates, "set" if updates.dtype == bool else how)

    def searchsorted(self, limits: Any, x: Any, side: str) -> Any:
        """Return how many of a few ascending limits are not above each number, or below it for the left side."""
        wide = self.array_of(self.g.unsqueeze(x.value, self.g.rank(x.value)))
        is_passed = ~(limits > wide if side == "right" else limits >= wide)  # NaN is behind all limits
        return self.sum(is_passed.astype(np.int32), -1)

    def grouped(
        self,
        rows: Any,
        places: Any,
        count: Any,
        how: str,
        start: Any = 0,
        in_vectors: Callable[..., int] | None = None,
    ) -> Any:
        """Return `count` rows of `start`, with `rows` added, multiplied, compared or set (`how`) into those at `places`.

        Rows with other places are dropped: they go to one more row at the end. Which of several NaN an extreme has is open,
        so `in_vectors` means nothing here.
        """
        data, total = self.value(rows), self.dims([count])
        at = self.g.vector(self.value(places))
        # To ONNX a negative place counts from the end, and one beyond the end is an error.
        at = self.g.Where(self.g.Less(at, 0), total, self.g.Min(at, total))
        rest = self.g.slice(self.g.dims(data), 1, _END)
        target = self.g.Expand(self.g.like(start, data), self.g.joined(self.g.Add(total, 1), rest))
        filled = self.scattered(self.array_of(target), self.array_of(self.g.unsqueeze(at, 1)), rows, how)
        return self.array_of(self.g.slice(filled.value, 0, -1))  # by the operator, which needs no rank, as indexing does

    def scattered(self, target: Any, vectors: Any, rows: Any, how: str) -> Any:
        """Return `target` with `rows` added, multiplied, compared or set (`how`) at index vectors (..., depth) in range."""
        at = self.g.cast(self.value(vectors), dtypes.int64)
        reduction = "none" if how == "set" else how
        return self.array_of(self.g.ScatterND(self.value(target), at, self.value(rows), reduction=reduction))

    def elements_at(self, x: Any, vectors: Any) -> Any:
        """Return the elements at index vectors (..., rank), all in range."""
        return self.array_of(self.g.GatherND(self.value(x), self.g.cast(self.value(vectors), dtypes.int64)))

    # Along an axis.

    def argsort(self, x: Any, axis: int) -> Any:
        """Return the stable order that sorts an axis: of equal elements TopK takes the first first."""
        return self.array_of(self.g.TopK(x.value, self.g.dim(x.value, axis), outputs=2, axis=axis, largest=0)[1])

    def cumsum(self, x: Any, axis: int, dtype: Any) -> Any:
        return self.array_of(self.g.CumSum(x.astype(dtype).value, np.int64(axis)))

    def argmax(self, x: Any, axis: int, keepdims: bool = False) -> Any:
        return self.array_of(self.g.ArgMax(x.value, axis=axis, keepdims=int(keepdims)))

    def argmin(self, x: Any, axis: int) -> Any:
        return self.array_of(self.g.ArgMin(x.value, axis=axis, keepdims=0))

    def softmax(self, x: Any, axis: int = -1) -> Any:
        return self.array_of(self.g.Softmax(x.value, axis=axis))

    def log_softmax(self, x: Any, axis: int = -1) -> Any:
        return self.array_of(self.g.LogSoftmax(x.value, axis=axis))

    def einsum(self, equation: str, *arrays: Any) -> Any:
        """Return the sum of products; in ONNX each `...` stands for the same number of axes, which are broadcast."""
        subscripts = equation.partition("->")[0].split(",")
        if len(arrays) > 1 and all("..." in each for each in subscripts):
            counts = [array.ndim - len(each) + 3 for array, each in zip(arrays, subscripts)]
            heads = [[slice(None)] * each.index("...") for each in subscripts]
            arrays = tuple(
                array[(*head, *[None] * (max(counts) - count))] for array, head, count in zip(arrays, heads, counts)
            )
        return self.array_of(self.g.Einsum(*map(self.value, arrays), equation=equation))

    # Matrices, in the last two dimensions.

    solved = linear_algebra.solved
    inverted = linear_algebra.inverted
    substituted = linear_algebra.substituted
    cholesky = linear_algebra.cholesky
    lu = linear_algebra.lu
    pinv = linear_algebra.pinv
    tridiagonal_solve = linear_algebra.tridiagonal_solve

    def diagonal(self, x: Any) -> Any:
        """Return the diagonals of square matrices."""
        columns = self.arange(x.shape[-1])
        return self.sum(self.where(columns == columns[:, None], x, 0), -1)


class OnnxTransforms:
    """Discrete Fourier transforms by the names and arguments of jax.numpy.fft, over the last dimensions."""

    def __init__(self, xp: OnnxNamespace) -> None:
        self.xp = xp

    def fftn(self, x: Any, axes: Sequence[int]) -> Any:
        return self._over(x, axes, is_inverse=False)

    def ifftn(self, x: Any, axes: Sequence[int]) -> Any:
        return self._over(x, axes, is_inverse=True)

    def rfftn(self, x: Any, sizes: Sequence[int], axes: Sequence[int]) -> Any:
        """Return the first half of the spectrum of real numbers."""
        fitted = self._fitted(x, sizes)
        whole = self._over(self.xp.complex(fitted, self.xp.zeros_like(fitted)), axes, is_inverse=False)
        return self.xp.array_of(self.xp.g.slice(whole.value, 0, sizes[-1] // 2 + 1, -1))

    def irfftn(self, x: Any, sizes: Sequence[int], axes: Sequence[int]) -> Any:
        """Return real numbers; the other half of a spectrum is the conjugate backwards, once the other dimensions are done."""
        half = sizes[-1] // 2 + 1
        first = self._over(self._fitted(x, [*sizes[:-1], half]), axes[:-1], is_inverse=True)
        mirrored = self.xp.conj(self.xp.take(first, np.arange(sizes[-1] - half, 0, -1), -1))
        return self._over(self.xp.concatenate([first, mirrored], -1), [-1], is_inverse=True).real

    def _over(self, x: Any, axes: Sequence[int], is_inverse: bool) -> Any:
        """Transform some dimensions; ONNX has the parts of complex numbers along one more dimension, the last."""
        if not axes:
            return x
        g, value = self.xp.g, x.value
        # onnxruntime's inverse transform divides by the length in 32 bits. The inverse here is the forward transform between
        # two conjugations.
        packed = g.packed(g.conjugate(value) if is_inverse else value)
        for axis in axes:
            packed = g.DFT(packed, None, g.constant(np.int64(axis - 1)))
        if not is_inverse:
            return self.xp.array_of(g.unpacked(packed))
        count = functools.reduce(g.Mul, [g.cast(g.dim(value, axis), packed.dtype) for axis in axes])
        return self.xp.array_of(g.conjugate(g.unpacked(g.Div(packed, count))))

    def _fitted(self, x: Any, sizes: Sequence[int]) -> Any:
        """Return the last dimensions cut, or filled up with zeros, to `sizes`."""
        g, rank = self.xp.g, x.ndim
        cut = x[(..., *map(slice, sizes))].value
        missing = [g.Sub(np.array([size], np.int64), g.dim(cut, axis - len(sizes))) for axis, size in enumerate(sizes)]
        return self.xp.array_of(g.Pad(cut, g.joined([0] * (2 * rank - len(sizes)), *missing)))


def evaluate(
    g: Any,
    program: Callable[..., Any],
    static: Sequence[int],
    sizes: Sequence[int],
    inputs: Sequence[Any],
    attrs: dict[str, Any],
    axes: Sequence[tuple[int, int]] = (),
) -> Any:
    """Return the results of an array program as values; the inputs at the places `static` are NumPy arrays, as for XLA.

    Those that are also at the places `sizes` are `Sizes` where only the run knows them. Each of `axes`, a place and that of
    the input whose axis it names, may be computed: the program then becomes a branch for each axis.
    """
    xp = OnnxNamespace(g)
    arguments = [_wrapped(xp, value) for value in inputs]
    for place in static:
        value = inputs[place]
        if place in dict(axes):
            of = inputs[dict(axes)[place]]
            value = g.constant(np.int64(g.axis(value, (of if isinstance(of, Value) else of[0]).rank)))
        is_open = place in sizes and value.array is None
        if value.array is None and not is_open:
            g.refuse(f"its input {place} is not constant")
        arguments[place] = Sizes(g, g.vector(value), value.spec.value) if is_open else value.array
    results = program(xp, *arguments, **attrs)
    if isinstance(results, (tuple, list)):
        return [xp.value(result) for result in results]
    return xp.value(results)


def _wrapped(xp: OnnxNamespace, value: Any) -> Any:
    """Return an input as the program takes it: a value, a list of values, or a NamedTuple of values."""
    if isinstance(value, Value):
        return OnnxArray(xp, value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(_wrapped(xp, each) for each in value))
    return [_wrapped(xp, each) for each in value] if isinstance(value, (list, tuple)) else value


def _leaves_one_open(shape: Sequence[Any]) -> bool:
    """Return True for a shape with a single size that only the run knows, which then follows from the others."""
    return sum(isinstance(size, Size) for size in shape) == 1 and all(isinstance(size, Size) or size > 0 for size in shape)


class Size:
    """A dimension that only the run knows: programs may compute with it and give it to shapes, but not ask for its number."""

    __array_ufunc__ = None
    """NumPy's numbers leave operators with a size to it."""

    def __init__(self, g: Any, value: Value) -> None:
        self.g = g
        self.value = value

    def _with(self, operation: str, other: Any) -> Size:
        number = other.value if isinstance(other, Size) else self.g.constant(np.array([operator.index(other)], np.int64))
        return Size(self.g, self.g.op(operation, self.value, number))

    def __mul__(self, other: Any) -> Any:
        return self if isinstance(other, int) and other == 1 else self._with("Mul", other)

    __rmul__ = __mul__

    def __add__(self, other: Any) -> Any:
        return self._with("Add", other)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self._with("Sub", other)

    def __rsub__(self, other: Any) -> Any:
        return Size(self.g, self.g.constant(np.array([operator.index(other)], np.int64))) - self

    def __floordiv__(self, other: Any) -> Any:
        """Return the quotient; onnxruntime ends the process where an integer is divided by 0."""
        return self._with("Div", Size(self.g, self.g.Max(other.value, 1)) if isinstance(other, Size) else other)

    def __rfloordiv__(self, other: Any) -> Any:
        return Size(self.g, self.g.constant(np.array([other], np.int64))) // self

    def __mod__(self, other: Any) -> Any:
        return self._with("Mod", other)

    def __eq__(self, other: object) -> bool:
        return True if isinstance(other, Size) and self.value is other.value else self._unknown()

    __hash__ = object.__hash__

    def _unknown(self, *other: Any) -> NoReturn:
        raise UnimplementedError("a size on which its lowering depends is unknown")

    # A program that decided by such a number would be emitted for one outcome alone.
    __index__ = __int__ = __float__ = __bool__ = __lt__ = __le__ = __gt__ = __ge__ = _unknown
    __neg__ = __truediv__ = __rtruediv__ = __rmod__ = __pow__ = _unknown


class Sizes:
    """A shape that only the run knows, of any number of dimensions: programs may count elements and reshape to the shape.

    `known` has the elements, as far as inference knows them.
    """

    def __init__(self, g: Any, value: Value, known: np.ndarray[Any, Any] | None = None) -> None:
        self.g = g
        self.value = value
        self.known = known

    @property
    def shape(self) -> tuple[int]:
        rank: Any = self.value.shape[0] if self.value.rank == 1 else None
        if not isinstance(rank, int):
            self.g.refuse("the rank of a shape that its lowering takes is unknown")
        return (rank,)

    @property
    def ndim(self) -> int:
        return 1

    def prod(self) -> Size:
        """Return the number of elements."""
        return Size(self.g, self.g.ReduceProd(self.value))

    def tolist(self) -> list[Any]:
        """Return the dimensions, whose number must be known, as numbers where they are known."""
        return self.elements(*self.shape)

    def elements(self, count: int) -> list[Any]:
        """Return the first elements, those of a matrix row by row."""
        known = [None] * count if self.known is None else self.known.ravel().tolist()[:count]
        return [
            number if isinstance(number, int) else Size(self.g, self.g.slice(self.value, place, place + 1))
            for place, number in enumerate(known)
        ]


class OnnxArray:
    """An array of NumPy's language whose operators emit ONNX's operators."""

    __array_ufunc__ = None
    """NumPy's arrays leave operators with such an array to it."""

    def __init__(self, xp: OnnxNamespace, value: Value) -> None:
        self.xp = xp
        self.value = value

    @property
    def dtype(self) -> Any:
        return np.dtype(self.value.dtype.numpy)

    @property
    def ndim(self) -> int:
        rank: int = self.xp.g.rank(self.value)
        return rank

    @property
    def shape(self) -> tuple[Any, ...]:
        g = self.xp.g
        sizes = (self.value.shape[axis] for axis in range(self.ndim))
        return tuple(size if isinstance(size, int) else Size(g, g.dim(self.value, i)) for i, size in enumerate(sizes))

    @property
    def itemsize(self) -> int:
        return int(self.dtype.itemsize)

    @property
    def real(self) -> Any:
        return self.xp.real(self)

    @property
    def imag(self) -> Any:
        return self.xp.imag(self)

    def astype(self, dtype: Any, copy: bool = True) -> Any:
        return self.xp.array_of(self.xp.g.cast(self.value, dtypes.from_numpy(np.dtype(dtype))))

    def reshape(self, *shape: Any) -> Any:
        return self.xp.reshape(self, shape[0] if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape)

    def swapaxes(self, first: int, second: int) -> Any:
        order = list(range(self.ndim))
        order[first], order[second] = order[second], order[first]
        return self.xp.transpose(self, order)

    def all(self, axis: Any = None, keepdims: bool = False) -> Any:
        return self.xp.all(self, axis, keepdims=keepdims)

    def __neg__(self) -> Any:
        return self.xp.negative(self)

    def __abs__(self) -> Any:
        return self.xp.abs(self)

    def __invert__(self) -> Any:
        return self.xp.invert(self)

    def __getitem__(self, index: Any) -> Any:
        """Return a part of the array: slices, numbers, new axes and an ellipsis, or the rows at an array of places."""
        index = index if isinstance(index, tuple) else (index,)
        if len(index) == 1 and isinstance(index[0], (OnnxArray, np.ndarray, list)):
            return self.xp.take(self, index[0], 0)
        if any(isinstance(each, (OnnxArray, np.ndarray, list)) for each in index):
            raise UnimplementedError("its lowering indexes more than one dimension by arrays")
        return self._cut(without_ellipsis(index, self.ndim) if any(each is Ellipsis for each in index) else index)

    def _cut(self, index: Sequence[Any]) -> Any:
        g, entries = self.xp.g, [each for each in index if each is not None]
        bounds = [(axis, *_bounds(each)) for axis, each in enumerate(entries) if not _is_whole(each)]
        value = self.value
        if bounds:
            axes, *given = zip(*bounds)
            starts, ends, steps = map(self.xp.dims, given)
            value = g.Slice(
                value, starts, ends, axes, *([] if steps.array is not None and (steps.array == 1).all() else [steps])
            )
        value = g.squeeze(value, *(axis for axis, each in enumerate(entries) if not isinstance(each, slice)))
        left = [each for each in index if each is None or isinstance(each, slice)]
        return self.xp.array_of(g.unsqueeze(value, *(i for i, each in enumerate(left) if each is None)))


def _is_whole(index: Any) -> bool:
    return (
        isinstance(index, slice)
        and index.start is index.stop is None
        and (index.step is None or (isinstance(index.step, int) and index.step == 1))
    )


def _bounds(index: Any) -> tuple[Any, Any, Any]:
    """Return start, end and step of ONNX's Slice, for a slice or a number; only the run may know each of them."""
    if isinstance(index, Size):
        g = index.g
        is_last, end = g.Equal(index.value, -1), g.constant(np.array([_END]))
        return index, Size(g, g.Where(is_last, end, g.Add(index.value, 1))), 1
    if not isinstance(index, slice):
        # After the place -1, the end would be 0, which is the beginning.
        return index, index + 1 or _END, 1
    step = 1 if index.step is None else index.step
    start = _left_out(step, 0, _END) if index.start is None else index.start
    # Backwards the end lies before the first element, and ONNX takes -1 for the last: only a number beyond the size says it.
    return start, _left_out(step, _END, -_END) if index.stop is None else index.stop, step


def _left_out(step: Any, forwards: int, backwards: int) -> Any:
    """Return a bound that is left out, by the direction of the slice."""
    if not isinstance(step, Size):
        return forwards if step > 0 else backwards
    g = step.g
    return Size(g, g.Where(g.Greater(step.value, 0), *(g.constant(np.array([bound])) for bound in (forwards, backwards))))


def _operators(name: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Return the methods of an operator of two operands: the array before, and after the operator."""
    return (lambda self, other: getattr(self.xp, name)(self, other)), (lambda self, other: getattr(self.xp, name)(other, self))


for _name, _function in {
    "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide", "pow": "power", "mod": "mod",
    "floordiv": "floor_divide", "matmul": "matmul", "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor",
    "lshift": "left_shift", "rshift": "right_shift",
}.items():  # fmt: skip
    # Operators are methods of the class, because Python looks them up there and not by `__getattr__`.
    for _prefix, _method in zip(("", "r"), _operators(_function)):
        setattr(OnnxArray, f"__{_prefix}{_name}__", _method)
for _name, _function in {
    "lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal", "eq": "equal", "ne": "not_equal",
}.items():  # fmt: skip
    setattr(OnnxArray, f"__{_name}__", _operators(_function)[0])
