"""Reductions over axes: sums, means, extremes, products, logic, norms, and the places of extremes."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...building.gradbuilder import GradientBuilder, Gradients
from ...graph.graph import Node, Output
from ...inference.profiler_formulas import of_input, reduction
from ...numerics.array_namespace import NUMPY
from ...numerics.channel_sums import summed
from ...numerics.half_precision import is_narrow, wide
from ...numerics.integers import truncated_quotient
from ...registry.registry import (
    NOT_DIFFERENTIABLE,
    arrays,
    everywhere,
    facts,
    flops,
    gradient,
    kernel,
    layout,
    lower,
    not_differentiable,
    onnx,
    profiled,
    shape,
)
from ...support.errors import InvalidArgumentError, UnimplementedError
from ...types import dtypes
from ...types.arrays import Array, Result
from ...types.dims import Dim
from ...types.dtypes import DType
from ...types.shapes import UNKNOWN, Shape, TensorSpec, unknown_dims
from ..shared.argument_checks import is_empty, require, require_rank, single
from ..shared.elementwise_tables import RESULT, counted, reduction_flops, unary_flops
from ..shared.onnx_lowerings import iota
from ..shared.shape_arguments import normalize_axis, numbers, scalar_of


def _axes(indices: Array, rank: int) -> tuple[int, ...]:
    """Return the axes to reduce as a sorted tuple; InvalidArgumentError for an axis out of range or repeated."""
    return _sorted_axes(tuple(numbers(indices)), rank)


@functools.lru_cache(1024)
def _sorted_axes(indices: tuple[int, ...], rank: int) -> tuple[int, ...]:
    """Return the result of `_axes`; cached, as steps repeat the same few axes."""
    axes = []
    for axis in indices:
        if not -rank <= axis < rank:
            raise InvalidArgumentError(
                f"Invalid reduction dimension ({axis} for input with {rank} dimension(s)); it must be in [{-rank}, {rank})"
            )
        axes.append(axis % rank)
    if len(set(axes)) != len(axes):
        raise InvalidArgumentError(f"Invalid reduction arguments: axes contains duplicate dimension: {axes}")
    return tuple(sorted(axes))


def _reduction(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a kernel from `function(input, axes, keepdims)`."""

    def reduce(input: Array, reduction_indices: Array, *, keep_dims: bool) -> Array:
        # Without axes TensorFlow passes the input on. The gradient of a broadcast that added no axis is such a reduction.
        if not reduction_indices.size and reduction_indices.ndim == 1:
            return input
        axes = _axes(reduction_indices, input.ndim)
        # Over axes of size 1 TensorFlow passes the elements on, too: a sum of one would flush a subnormal number to zero.
        if math.prod([input.shape[axis] for axis in axes]) == 1:
            return input if keep_dims else np.squeeze(input, axes)
        return function(input, axes, keep_dims)

    return reduce


def _sum(input: Array, axes: tuple[int, ...], keepdims: bool) -> Array:
    if input.dtype == object:
        return np.sum(input, axes, keepdims=keepdims)
    if is_narrow(input.dtype):
        # Sums of narrow floats in 16 bits would stop growing at 2048 (half) or 256 (bfloat16) ones.
        return summed(wide(input), axes, keepdims).astype(input.dtype)
    return summed(input, axes, keepdims)


def _prod(input: Array, axes: tuple[int, ...], keepdims: bool) -> Array:
    if input.dtype == object:
        return np.asarray(np.prod(input, axes, keepdims=keepdims), object)
    return np.prod(wide(input), axes, keepdims=keepdims, dtype=wide(input).dtype).astype(input.dtype, copy=False)


def _mean(input: Array, axes: tuple[int, ...], keepdims: bool) -> Array:
    """Return the sum over the count, both rounded to the dtype before a floating division; integers are summed in 64 bits."""
    count = math.prod([input.shape[axis] for axis in axes])
    if input.dtype.kind not in "iu":
        total = _sum(input, axes, keepdims)
        if not count and input.dtype.kind == "c":
            return total  # TensorFlow's mean of no complex numbers is 0, of no floats NaN
        # The sum of halves is rounded first, and may be infinite though the mean is not: TensorFlow's is, too.
        return (total / input.dtype.type(count)).astype(input.dtype, copy=False)
    long = np.uint64 if input.dtype.kind == "u" else np.int64
    total = np.add.reduce(input, axes, dtype=long, keepdims=keepdims)  # type: ignore[call-overload]
    return truncated_quotient(total, long(max(count, 1))).astype(input.dtype)


def _extreme(function: np.ufunc, lowest: Callable[..., Any]) -> Callable[..., Any]:
    def reduce(input: Array, axes: tuple[int, ...], keepdims: bool) -> Array:
        if input.size:
            return function.reduce(input, axes, keepdims=keepdims)
        # NumPy refuses an extreme of nothing; TensorFlow has the identity of the extreme.
        return function.reduce(input, axes, keepdims=keepdims, initial=lowest(input.dtype))

    return reduce


def _lowest(dtype: Any) -> float:
    return -np.inf if dtype.kind in "fV" else np.iinfo(dtype).min


def _highest(dtype: Any) -> float:
    return np.inf if dtype.kind in "fV" else np.iinfo(dtype).max


def _no_root(dtype: np.dtype[Any]) -> int:
    """Return the norm of integers whose sum of squares wrapped around below 0."""
    # What x86 makes of NaN: the lowest number of 32 or 64 bits, whose low 8 or 16 bits are zeros.
    return int(np.iinfo(dtype).min) if dtype.itemsize > 2 else 0


for _op, _function in (
    ("Sum", _sum),
    ("Prod", _prod),
    ("Mean", _mean),
    ("Max", _extreme(np.maximum, _lowest)),
    ("Min", _extreme(np.minimum, _highest)),
    ("All", lambda input, axes, keepdims: np.logical_and.reduce(input, axes, keepdims=keepdims)),
    ("Any", lambda input, axes, keepdims: np.logical_or.reduce(input, axes, keepdims=keepdims)),
):
    kernel(_op)(_reduction(_function))
facts("shape_arithmetic", of=("Sum", "Prod"))
facts("total", of=("Sum", "Prod", "Mean", "Max", "Min", "All", "Any"))
facts("nothing_without_axes", of=("Sum", "Prod", "Mean", "Max", "Min", "All", "Any"))
facts("bounded_by_inputs", of=("Mean",))
not_differentiable("All", "Any")
layout("TA -> R", "All", "Any", "Sum", "Mean", "Max", "Min", "Prod")


@shape("Sum", "Prod", "Mean", "Max", "Min", "All", "Any", "EuclideanNorm")
def reduction_shape(input: TensorSpec, reduction_indices: TensorSpec, *, keep_dims: bool) -> Shape:
    if input.shape.dims is None:
        return UNKNOWN
    rank = len(input.shape)
    if reduction_indices.value is None:
        return unknown_dims(rank) if keep_dims else UNKNOWN
    axes = _axes(reduction_indices.value, rank)
    if keep_dims:
        return Shape(1 if i in axes else d for i, d in enumerate(input.shape))
    return Shape(d for i, d in enumerate(input.shape) if i not in axes)


flops("Sum", "Prod", "Max", "Min", "All", "Any", "ArgMax", "ArgMin")(reduction_flops)


# A sum and one division for each result.
flops("Mean")(unary_flops(1))


def _shape_with_ones(g: GradientBuilder, node: Node) -> tuple[Output, Output]:
    """Return the shape of the result with the reduced dimensions kept as 1."""
    x, axes = node.inputs
    source = g.shape_of(x)
    rank = g.Size(source)
    axes = g.FloorMod(g.AddV2(g.Reshape(g.Cast(axes, DstT="int32"), [-1]), rank), rank)
    return source, g.DynamicStitch([g.Range(0, rank, 1), axes], [source, g.Fill(g.Shape(axes), 1)])


def _spread(g: GradientBuilder, node: Node, grad: Output) -> Output:
    """Return the gradient of the result at every element reduced into it."""
    # The result's shape lacks the reduced dimensions, which must be there as 1 for the gradient to broadcast.
    source, shape_with_ones = _shape_with_ones(g, node)
    return g.BroadcastTo(g.Reshape(grad, shape_with_ones), source)


@gradient("Sum")
def sum_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    return [_spread(g, node, grad), None]


profiled(reduction, "Sum")


@gradient("Mean")
def mean_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    # The sizes of input and result, as the axes may be known in the run only; a result without elements divides by 1.
    count = g.FloorDiv(g.Size(node.inputs[0]), g.Maximum(g.Size(node.output()), 1))
    return [g.RealDiv(_spread(g, node, grad), g.Cast(count, DstT=grad.base_dtype)), None]


profiled(of_input(1), "Mean")


@gradient("Max", "Min")
def extreme_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    """Shared equally among the elements that are the extreme."""
    x = node.inputs[0]
    _, shape_with_ones = _shape_with_ones(g, node)
    y, dy = g.Reshape(node.output(), shape_with_ones), g.Reshape(grad, shape_with_ones)
    chosen = g.Cast(g.Equal(y, x), DstT=grad.base_dtype)
    count = g.Reshape(g.Sum(chosen, node.inputs[1]), shape_with_ones)
    return [g.Mul(g.RealDiv(chosen, count), dy), None]


@gradient("Prod")
def prod_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    """Return at each element the product of all others, from exclusive products from both sides along a flattened axis."""
    x, axes = node.inputs
    source = g.shape_of(x)
    rank = g.Size(source)
    spread = _spread(g, node, grad)
    axes = g.FloorMod(g.AddV2(g.Reshape(g.Cast(axes, DstT="int32"), [-1]), rank), rank)
    others, _ = g.ListDiff(g.Range(0, rank, 1), axes)
    # The reduced axes come first, as one axis, along which the running products go.
    permutation = g.ConcatV2([axes, others], 0)
    sizes = [g.Prod(g.GatherV2(source, part, 0), 0) for part in (axes, others)]
    permuted = g.Transpose(x, permutation)
    flat = g.Reshape(permuted, g.Pack(sizes))
    # Not the product over the element: where that is zero, the product of the others would be lost.
    left = g.Cumprod(flat, 0, exclusive=True)
    right = g.Cumprod(flat, 0, exclusive=True, reverse=True)
    products = g.Reshape(g.Mul(g.conj(left), g.conj(right)), g.shape_of(permuted))
    restored = g.Transpose(products, g.InvertPermutation(permutation))
    return [g.Reshape(g.Mul(spread, restored), source), None]


@gradient("EuclideanNorm")
def euclidean_norm_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    x = node.inputs[0]
    _, shape_with_ones = _shape_with_ones(g, node)
    return [g.RealDiv(g.Mul(x, g.Reshape(grad, shape_with_ones)), g.Reshape(node.output(), shape_with_ones)), None]


def _place(name: str, worst: float) -> Callable[..., Any]:
    """Return the program of an op that finds an extreme; NaN counts as the `worst` number."""

    def place(xp: Any, x: Any, dimension: Array, *, output_type: DType) -> Any:
        if dimension.ndim:
            raise InvalidArgumentError(f"dim must be a scalar, but received a tensor of shape {dimension.shape}")
        axis = normalize_axis(int(dimension), x.ndim, "dimension")
        if isinstance(x.shape[axis], int) and not x.shape[axis]:
            raise InvalidArgumentError(f"Reduction axis {axis} is empty in shape {Shape(x.shape)}")
        # TensorFlow's comparisons with NaN do not hold, and NumPy takes NaN for the extreme.
        if x.dtype.kind in "fV" and not (xp.is_eager and not np.isnan(x).any()):
            x = xp.where(xp.isnan(x), np.array(worst, x.dtype), x)
        return getattr(xp, name)(x, axis).astype(output_type.numpy)

    return place


for _op, _worst in (("ArgMax", -np.inf), ("ArgMin", np.inf)):
    _program = _place(_op.lower(), _worst)
    kernel(_op)(functools.partial(_program, NUMPY))
    arrays(_op, static=(1,), axes=((1, 0),))(_program)


@shape("ArgMax", "ArgMin")
def place_shape(input: TensorSpec, dimension: TensorSpec) -> Shape:
    require_rank(dimension, 0, "dimension")
    if input.shape.dims is None or not len(input.shape):
        return input.shape
    axis = scalar_of(dimension)
    if axis is None:
        return unknown_dims(len(input.shape) - 1)
    axis = normalize_axis(axis, len(input.shape), "dimension")
    return input.shape[:axis] + input.shape[axis + 1 :]


not_differentiable("ArgMax", "ArgMin")
layout("TA -> R", "ArgMax", "ArgMin")
profiled(reduction, "ArgMax", "ArgMin")


@kernel("Range", gradient=NOT_DIFFERENTIABLE)
def range_(start: Array, limit: Array, delta: Array) -> Result:
    """start, start + delta ... below (or, for a negative delta, above) limit."""
    for name, value in (("start", start), ("limit", limit), ("delta", delta)):
        if np.shape(value) not in ((), (1,)):
            raise InvalidArgumentError(f"{name} must be a scalar, not shape {Shape(np.shape(value))}")
    start, limit, delta = (np.reshape(value, ()) for value in (start, limit, delta))
    if delta == 0:
        raise InvalidArgumentError(f"Requires delta != 0: {delta}")
    if (delta > 0 and start > limit) or (delta < 0 and start < limit):
        raise InvalidArgumentError(f"Requires start {'<=' if delta > 0 else '>='} limit when delta {delta}: {start}/{limit}")
    if start.dtype.kind in "iu":
        # NumPy counts by a quotient of floats: that of this end is whole, while that of the limit may be rounded.
        first, step = int(start), int(delta)
        return np.arange(first, first + _range_size(start, limit, delta) * step, step, dtype=start.dtype)
    # TensorFlow computes each number in the dtype of the op: it rounds the product, then the sum.
    places = np.arange(_range_size(start, limit, delta))
    return start + places.astype(start.dtype) * delta


def _range_size(start: Array, limit: Array, delta: Array) -> int:
    """Return the number of elements of a range, negative for a limit on the other side of the start.

    TensorFlow computes the number in the dtype, too: (3 - -3) / 0.01 are 600 float32 numbers, and would be 601 in float64. The
    quotient of integers is exact. InvalidArgumentError if 64 bits cannot hold the number.
    """
    if start.dtype.kind in "iu":
        return -((int(start) - int(limit)) // int(delta))
    with np.errstate(over="ignore", invalid="ignore"):
        count = float(np.ceil((limit - start) / delta))
    if not count < 2**63:
        raise InvalidArgumentError(f"Requires ((limit - start) / delta) <= 9223372036854775807: {start}, {limit}, {delta}")
    return int(count)


@shape("Range")
def range_shape(start: TensorSpec, limit: TensorSpec, delta: TensorSpec) -> Shape:
    if start.value is None or limit.value is None or delta.value is None:
        return Shape([None])
    first, last, step = (single(v, "a limit of a range") for v in (start.value, limit.value, delta.value))
    if not any(isinstance(v, Dim) for v in (first, last, step)):
        ends = (np.array(v, start.dtype.numpy) for v in (first, last, step))
        return Shape([max(_range_size(*ends), 0) if step else None])
    return Shape([last - first] if not isinstance(step, Dim) and step == 1 else [None])


@kernel("LinSpace", gradient=NOT_DIFFERENTIABLE)
def linspace(start: Array, stop: Array, num: Array) -> Result:
    """`num` numbers from start to stop, both included."""
    require(np.ndim(num) == np.ndim(start) == np.ndim(stop) == 0, "start, stop and num must be scalars")
    if num <= 0:
        raise InvalidArgumentError(f"Requires num > 0: {num}")
    values = np.linspace(start, stop, int(num), dtype=np.float64).astype(np.asarray(start).dtype)
    values[-1], values[0] = stop, start  # in this order: a single number is the start
    return values


flops("Range", "LinSpace")(counted(2, RESULT, "A product and a sum for each number; work done once is not counted."))


@shape("LinSpace")
def linspace_shape(start: TensorSpec, stop: TensorSpec, num: TensorSpec) -> Shape:
    count = scalar_of(num)
    require(count is None or count > 0, f"num must be positive, not {count}")
    return Shape([count])


def _reduction_of_arrays(name: str, bound: Callable[..., Any] | None = None) -> Callable[..., Any]:
    """Return the program of a reduction; an extreme of no elements is `bound`. In ONNX only the run may know the axes."""

    def reduced(xp: Any, x: Any, axes: Any, *, keep_dims: bool) -> Any:
        initial = {"initial": bound(x.dtype)} if bound is not None and is_empty(xp, x) else {}
        return getattr(xp, name)(x, _known_axes(axes), keepdims=keep_dims, **initial)

    return reduced


def _known_axes(axes: Any) -> Any:
    return tuple(axes.ravel().tolist()) if isinstance(axes, np.ndarray) else axes


for _op in ("Sum", "Prod", "All", "Any"):
    arrays(_op, static=(1,), sizes=(1,))(_reduction_of_arrays(_op.lower()))
arrays("Max", static=(1,), sizes=(1,))(_reduction_of_arrays("max", _lowest))
arrays("Min", static=(1,), sizes=(1,))(_reduction_of_arrays("min", _highest))


@arrays("Mean", static=(1,), sizes=(1,))
def _mean_of_arrays(xp: Any, x: Any, axes: Any, *, keep_dims: bool) -> Any:
    """Return the mean; sum and count of narrow floats are rounded before the division.

    onnxruntime computes both steps in float32 on CPUs and rounds once: it removes a cast between them, if one stands there.
    """
    places = _known_axes(axes)
    # Sizes or axes that only the run knows are left to ONNX's operator, whose mean of narrow floats is that of float32.
    sizes: list[Any] = [x.shape[place] for place in places] if is_narrow(x.dtype) and isinstance(places, tuple) else [None]
    if not all(isinstance(size, int) for size in sizes):
        return xp.mean(x, places, keepdims=keep_dims)
    return xp.sum(x, places, keepdims=keep_dims) / np.array(math.prod(sizes)).astype(x.dtype)


# Squares, a sum and a root for each result.
@everywhere("EuclideanNorm", static=(1,), sizes=(1,), flops=unary_flops(2))
def euclidean_norm(xp: Any, x: Any, axes: Any, *, keep_dims: bool) -> Any:
    """The square root of the sum of squares, also over no axes; squares of integers and their sum wrap around, perhaps below
    0.
    """
    is_whole = x.dtype.kind in "iu"
    if is_whole and not xp.has_64_bits:
        raise UnimplementedError("the norm of integers needs 64-bit numbers in JAX")
    # onnxruntime's sums of 32 bits end at the largest number, so integers are added in 64 bits and cut.
    values = x.astype(np.int64) if is_whole else wide(xp.abs(x) if x.dtype.kind == "c" else x)
    places = _axes(axes, x.ndim) if xp.is_eager else _known_axes(axes)
    total = xp.sum(xp.square(values), places, dtype=values.dtype, keepdims=keep_dims)
    total = total.astype(x.dtype)  # TensorFlow rounds narrow floats here, too: a sum above their range gives infinity
    if not is_whole:
        return xp.sqrt(wide(total)).astype(x.dtype)
    root = xp.sqrt(xp.maximum(total, 0).astype(np.float64)).astype(x.dtype)
    return xp.where(total < 0, x.dtype.type(_no_root(x.dtype)), root)


@lower("LinSpace", static=(2,))
def _linspace_lowering(xla: Any, start: Any, stop: Any, num: Array) -> Any:
    count = int(num)
    if count <= 0 or np.ndim(start) or np.ndim(stop):
        raise InvalidArgumentError(f"Requires num > 0: {num}")
    return xla.linspace(wide(start), wide(stop), count)


@onnx("Range")
def _range_onnx(g: Any, start: Any, limit: Any, delta: Any) -> Any:
    """Return the numbers; floats by products, since onnxruntime's Range adds the step again and again."""
    if start.dtype.is_integer:
        return g.Range(start, limit, delta)
    start, limit, delta = (g.reshape(value, []) for value in (start, limit, delta))
    count = g.cast(g.Ceil(g.Div(g.Sub(limit, start), delta)), dtypes.int64)
    return g.Add(start, g.Mul(g.cast(iota(g, count), start.dtype), delta))


@onnx("LinSpace")
def _lin_space_onnx(g: Any, start: Any, stop: Any, num: Any) -> Any:
    count = g.reshape(g.cast(num, dtypes.int64), [])
    places = g.cast(iota(g, count), start.dtype)
    step = g.Div(g.Sub(stop, start), g.Max(g.Sub(g.cast(count, start.dtype), 1), 1))
    return g.Where(g.Equal(places, g.Max(g.Sub(g.cast(count, start.dtype), 1), 1)), stop, g.Add(g.Mul(places, step), start))


facts("half_infer", of=["Prod"])
facts("half_deny", of=["Mean", "Sum"])
facts("half_clear", of=["ArgMax", "ArgMin", "Max", "Min"])
