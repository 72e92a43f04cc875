"""The arrays of lowerings on ONNX's operators, so that one array program of an op serves XLA and ONNX."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, Final, NoReturn

import numpy as np

from ..support.errors import UnimplementedError
from ..types import dtypes
from .array_functions import ArrayFunctions
from .blocks import Value

_END: Final = np.iinfo(np.int64).max


def evaluate(
    g: Any,
    program: Callable[..., Any],
    static: Sequence[int],
    sizes: Sequence[int],
    inputs: Sequence[Any],
    attrs: dict[str, Any],
) -> Any:
    """Return the results of an array program as values; the inputs at the places `static` are NumPy arrays, as for XLA.

    Those that are also at the places `sizes` are `Sizes` where only the run knows them.
    """
    xp = OnnxNamespace(g)
    arguments = [_wrapped(xp, value) for value in inputs]
    for place in static:
        value = inputs[place]
        is_open = place in sizes and value.array is None
        arguments[place] = Sizes(g, g.vector(value)) if is_open else g.known(value, "sizes")
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

    __index__ = __int__ = __float__ = __bool__ = __lt__ = __le__ = __gt__ = __ge__ = _unknown
    __neg__ = __rsub__ = __truediv__ = __rtruediv__ = __rmod__ = __pow__ = _unknown


class Sizes:
    """A shape that only the run knows, of any number of dimensions: programs may count elements and reshape to the shape."""

    def __init__(self, g: Any, value: Value) -> None:
        self.g = g
        self.value = value

    def prod(self) -> Size:
        """Return the number of elements."""
        return Size(self.g, self.g.ReduceProd(self.value))


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

    def astype(self, dtype: Any) -> Any:
        return self.xp.array_of(self.xp.g.cast(self.value, dtypes.from_numpy(np.dtype(dtype))))

    def reshape(self, *shape: Any) -> Any:
        return self.xp.reshape(self, shape[0] if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape)

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
        return self._cut(_without_ellipsis(index, self.ndim))

    def _cut(self, index: Sequence[Any]) -> Any:
        g, entries = self.xp.g, [each for each in index if each is not None]
        bounds = [(axis, *_bounds(each)) for axis, each in enumerate(entries) if not _is_whole(each)]
        value = self.value
        if bounds:
            axes, starts, stops, steps = zip(*bounds)
            ends = self.xp.dims(stops) if any(isinstance(stop, Size) for stop in stops) else stops
            value = g.Slice(value, starts, ends, axes, *([steps] if any(step != 1 for step in steps) else []))
        value = g.squeeze(value, *(axis for axis, each in enumerate(entries) if not isinstance(each, slice)))
        left = [each for each in index if each is None or isinstance(each, slice)]
        return self.xp.array_of(g.unsqueeze(value, *(i for i, each in enumerate(left) if each is None)))


def _without_ellipsis(index: tuple[Any, ...], rank: int) -> tuple[Any, ...]:
    if Ellipsis not in index:
        return index
    place = index.index(Ellipsis)
    named = sum(each is not None for each in index) - 1
    return (*index[:place], *[slice(None)] * (rank - named), *index[place + 1 :])


def _is_whole(index: Any) -> bool:
    return isinstance(index, slice) and index.start is index.stop is index.step is None


def _bounds(index: Any) -> tuple[int, Any, int]:
    """Return start, end and step of ONNX's Slice, for a slice or a number; the end may be a size that only the run knows."""
    if not isinstance(index, slice):
        place = operator.index(index)
        return place, _END if place == -1 else place + 1, 1
    step = 1 if index.step is None else operator.index(index.step)
    start = (0 if step > 0 else _END) if index.start is None else operator.index(index.start)
    if isinstance(index.stop, Size):
        return start, index.stop, step
    return start, (_END if step > 0 else -_END) if index.stop is None else operator.index(index.stop), step


def _operators(name: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Return the methods of an operator of two operands: the array before, and after the operator."""
    return (lambda self, other: getattr(self.xp, name)(self, other)), (lambda self, other: getattr(self.xp, name)(other, self))


for _name, _function in {
    "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide", "pow": "power", "mod": "mod",
    "floordiv": "floor_divide", "matmul": "matmul", "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor",
    "lshift": "left_shift", "rshift": "right_shift",
}.items():  # fmt: skip
    for _prefix, _method in zip(("", "r"), _operators(_function)):
        setattr(OnnxArray, f"__{_prefix}{_name}__", _method)
for _name, _function in {
    "lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal", "eq": "equal", "ne": "not_equal",
}.items():  # fmt: skip
    setattr(OnnxArray, f"__{_name}__", _operators(_function)[0])


class OnnxNamespace(ArrayFunctions):
    """The namespace of array programs that become ONNX's operators: that of the XLA engine, as far as ONNX goes."""

    array_type = OnnxArray

    def size(self, x: Any) -> Any:
        """Return the number of elements."""
        count = x.value.shape.num_elements
        return count if isinstance(count, int) else Size(self.g, self.g.reshape(self.g.Size(x.value), 1))

    def as_size(self, x: Any) -> Size:
        """Return an integer that the run computes as a size."""
        return Size(self.g, self.g.vector(self.value(x)))
