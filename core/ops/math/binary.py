"""Elementwise ops of two inputs, comparisons, logic, bits of integers, sums of many, and the shapes of broadcasting."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ...building.gradbuilder import GradientBuilder, Gradients
from ...graph.graph import Node, Output
from ...inference.profiler_formulas import of_output, sum_of_inputs
from ...numerics.elementwise import power
from ...numerics.integers import truncated_quotient
from ...registry.registry import (
    NOT_DIFFERENTIABLE,
    Cost,
    arrays,
    arrays_as,
    estimate,
    everywhere,
    facts,
    flops,
    gradient,
    kernel,
    layout,
    lower,
    lower_as,
    onnx,
    profiled,
    shape,
)
from ...runtime.state.variants import added
from ...support.errors import InvalidArgumentError
from ...types import dtypes
from ...types.arrays import Array, Result
from ...types.dims import DimLike, dim_max, is_never_one
from ...types.shapes import Shape, TensorSpec, as_dims, broadcast_shapes
from ..control import _onnx_lists as lists
from ..shared.argument_checks import require_same_shape
from ..shared.elementwise_tables import (
    INTEGERS,
    RESULT,
    SIGNED,
    UNSIGNED,
    Binary,
    ElementwiseProgram,
    Unary,
    binary_flops,
    broadcasting,
    counted,
    register_binary,
    register_unary,
    unary_flops,
)
from ..shared.shape_arguments import shape_value


def _nonzero(function: Callable[..., Any]) -> Callable[..., Any]:
    """`function` for divisors that are not zero."""

    def checked(x: Array, y: Array) -> Array:
        # TensorFlow divides nothing by zero where there is nothing to divide; np.broadcast reports shapes that do not fit
        # first.
        if not (y.all() if y.ndim else y) and np.size(x):
            np.broadcast(x, y)
            raise InvalidArgumentError("Integer division by zero")
        return function(x, y)

    return checked


def _mul_no_nan(x: Array, y: Array) -> Array:
    # Also for infinite x, whose product with 0 is NaN.
    return np.where(y == 0, 0, x * y).astype(x.dtype)


def _div_no_nan(xp: Any, x: Any, y: Any) -> Any:
    # The divisor is replaced before the division, which would warn in NumPy, and whose derivative would be NaN in JAX.
    return xp.where(y == 0, 0, x / xp.where(y == 0, 1, y))


def _squared_difference(xp: Any, x: Any, y: Any) -> Any:
    difference = x - y
    return difference * xp.conj(difference)


def _integer_pow(x: Array, y: Array) -> Array:
    if np.any(y < 0):
        raise InvalidArgumentError("Integers to negative integer powers are not allowed")
    return np.power(x, y)


def _div_gradient(g: GradientBuilder, x: Output, y: Output, z: Output, dz: Output) -> tuple[Output, Output]:
    x, y = g.conj(x), g.conj(y)
    return g.RealDiv(dz, y), g.Mul(dz, g.RealDiv(g.RealDiv(g.Neg(x), y), y))


def _div_no_nan_gradient(g: GradientBuilder, x: Output, y: Output, z: Output, dz: Output) -> tuple[Output, Output]:
    x, y = g.conj(x), g.conj(y)
    return g.DivNoNan(dz, y), g.Mul(dz, g.DivNoNan(g.DivNoNan(g.Neg(x), y), y))


def _pow_gradient(g: GradientBuilder, x: Output, y: Output, z: Output, dz: Output) -> tuple[Output, Output]:
    """x^(y-1) y dz and z log(x) dz, where log counts as zero for x <= 0 (and x = 0 for complex x)."""
    x, y, z = g.conj(x), g.conj(y), g.conj(z)
    one = g.scalar_like(y, 1)
    is_complex = x.dtype is not None and x.dtype.is_complex
    zero = g.scalar_like(x, 0)
    # Where x is not positive, the logarithm of 1 stands in and is replaced by 0: NaN would reach the gradient of the gradient.
    positive = g.NotEqual(x, zero) if is_complex else g.Greater(x, zero)
    logarithm = g.SelectV2(positive, g.Log(g.SelectV2(positive, x, g.scalar_like(x, 1))), zero)
    return g.Mul(dz, g.Mul(y, g.Pow(x, g.Sub(y, one)))), g.Mul(dz, g.Mul(z, logarithm))


def _choosing(comparison: str) -> Callable[..., Any]:
    """Return the gradient of Maximum or Minimum: all of dz goes to x where x is chosen, to y elsewhere."""

    def gradient_of(g: GradientBuilder, x: Output, y: Output, z: Output, dz: Output) -> tuple[Output, Output]:
        # Where both are equal, all of the gradient goes to x, as in TensorFlow.
        chosen = getattr(g, comparison)(x, y)
        zeros = g.zeros_like(dz)
        return g.SelectV2(chosen, dz, zeros), g.SelectV2(chosen, zeros, dz)

    return gradient_of


def _squared_difference_gradient(g: GradientBuilder, x: Output, y: Output, z: Output, dz: Output) -> tuple[Output, Output]:
    scaled = g.Mul(g.Mul(g.scalar_like(dz, 2), dz), g.Sub(x, y))
    return scaled, g.Neg(scaled)


def _mod_gradient(quotient: str) -> Callable[..., tuple[Output, Output]]:
    """Return the gradient of x % y = x - y * quotient; the quotient is constant between its jumps."""
    return lambda g, x, y, z, dz: (dz, g.Mul(dz, g.Neg(getattr(g, quotient)(x, y))))


def _atan2_gradient(g: GradientBuilder, y: Output, x: Output, z: Output, dz: Output) -> tuple[Output, Output]:
    ratio = g.RealDiv(dz, g.AddV2(g.Square(x), g.Square(y)))
    return g.Mul(x, ratio), g.Mul(g.Neg(y), ratio)


@kernel("Add", "AddV2", T=("string",))
@broadcasting
def concatenate_strings(x: Array, y: Array) -> Result:
    """Concatenate strings elementwise."""
    return np.asarray(np.add(x, y, dtype=object), object)


# Integers have kernels of their own: `//` and `%` round down, the two others towards zero as C++ does. Floats are in the table
# below.
for _ops, _types, _function in (
    (("FloorDiv",), INTEGERS, operator.floordiv),
    (("FloorMod",), INTEGERS, operator.mod),
    (("Mod", "TruncateMod"), ("int32", "int64"), np.fmod),
    (("Div", "TruncateDiv"), SIGNED, truncated_quotient),
    (("Div", "TruncateDiv"), UNSIGNED, np.floor_divide),
):
    kernel(*_ops, T=_types)(broadcasting(_nonzero(_function)))
kernel("Pow", T=SIGNED)(broadcasting(_integer_pow))

BINARY = (
    Binary("Add", "add", lambda g, x, y, z, dz: (dz, dz)),
    Binary("AddV2", "add", lambda g, x, y, z, dz: (dz, dz)),
    Binary("Sub", "subtract", lambda g, x, y, z, dz: (dz, g.Neg(dz))),
    Binary("Mul", "multiply", lambda g, x, y, z, dz: (g.Mul(dz, g.conj(y)), g.Mul(g.conj(x), dz))),
    Binary("RealDiv", "divide", _div_gradient, widened=True),
    Binary("Div", broadcasting(np.true_divide), _div_gradient, widened=True),
    Binary("DivNoNan", ElementwiseProgram(_div_no_nan), _div_no_nan_gradient, widened=True),
    Binary("MulNoNan", broadcasting(_mul_no_nan), lambda g, x, y, z, dz: (g.MulNoNan(dz, y), g.MulNoNan(x, dz))),
    # No gradient: a step function, whose derivative is 0 or undefined. TensorFlow gives none either.
    # NumPy's floor_divide differs for infinities and where the quotient is rounded up.
    Binary("FloorDiv", broadcasting(lambda x, y: np.floor(np.true_divide(x, y))), None, widened=True),
    Binary("FloorMod", broadcasting(np.mod), _mod_gradient("FloorDiv")),
    Binary("Mod", broadcasting(np.fmod), _mod_gradient("TruncateDiv")),
    Binary("TruncateDiv", broadcasting(lambda x, y: np.trunc(np.true_divide(x, y))), None, widened=True),
    Binary("TruncateMod", broadcasting(np.fmod), _mod_gradient("TruncateDiv")),
    Binary("Pow", broadcasting(power), _pow_gradient, 0, 1, widened=True),
    Binary("Atan2", "arctan2", _atan2_gradient, 0, 1, widened=True),
    Binary("Maximum", "maximum", _choosing("GreaterEqual")),
    Binary("Minimum", "minimum", _choosing("LessEqual")),
    Binary("SquaredDifference", ElementwiseProgram(_squared_difference), _squared_difference_gradient, 2),
    Binary("Less", "less", None),
    Binary("LessEqual", "less_equal", None),
    Binary("Greater", "greater", None),
    Binary("GreaterEqual", "greater_equal", None),
    Binary("LogicalAnd", "logical_and", None),
    Binary("LogicalOr", "logical_or", None),
)
register_binary(BINARY)
facts("shape_arithmetic", of=("Add", "AddV2", "Sub", "Mul", "FloorDiv", "FloorMod"))
facts("total", of=("Add", "AddV2", "Sub", "Mul", "Maximum", "Minimum"))
profiled(of_output(1), "Add", "AddV2", "Sub", "Mul", "RealDiv", "Maximum", "Minimum")
facts("bounded_by_inputs", "half_clear", "own_gradient", of=("Maximum", "Minimum"))
facts("addition", "sum_of_inputs", of=("Add", "AddV2"))
facts("division", of=("Div", "RealDiv"))
facts("less", of=("Less", "LessEqual"))
facts("greater", of=("Greater", "GreaterEqual"))
facts("true_of_equals", of=("LessEqual", "GreaterEqual"))
facts("subtraction", of=("Sub",))
profiled(of_output(1), "Greater", "GreaterEqual", "Less", "LessEqual", "Equal", "NotEqual")
profiled(of_output(1), "Pow", differs="tfg counts transcendental functions separately")
profiled(of_output(2), "SquaredDifference")
facts("not_negative", of=("SquaredDifference",))


def _compare(x: Array, y: Array, equal: bool, incompatible_shape_error: bool) -> Result:
    try:
        result = x == y if equal else x != y
    except ValueError:
        if incompatible_shape_error:
            raise InvalidArgumentError(f"Incompatible shapes: {Shape(np.shape(x))} vs. {Shape(np.shape(y))}") from None
        # TensorFlow's answer for shapes that do not fit, if the node says that this is no error: one truth value.
        return np.bool_(not equal)
    return np.asarray(result, bool) if x.dtype == object else result


@kernel("Equal", gradient=NOT_DIFFERENTIABLE)
def equal(x: Array, y: Array, *, incompatible_shape_error: bool) -> Result:
    """x = y, elementwise; False as a whole for shapes that do not fit where that is no error."""
    return _compare(x, y, True, incompatible_shape_error)


@kernel("NotEqual", gradient=NOT_DIFFERENTIABLE)
def not_equal(x: Array, y: Array, *, incompatible_shape_error: bool) -> Result:
    return _compare(x, y, False, incompatible_shape_error)


@shape("Equal", "NotEqual")
def equal_shape(x: TensorSpec, y: TensorSpec, *, incompatible_shape_error: bool) -> Shape:
    if incompatible_shape_error:
        return broadcast_shapes(x.shape, y.shape)
    try:
        # A dimension that does not fit in a run makes the whole result a scalar, so an unknown one leaves even the rank open.
        return broadcast_shapes(x.shape, y.shape) if x.shape.is_known and y.shape.is_known else Shape()
    except InvalidArgumentError:
        return Shape(())


flops("Equal", "NotEqual")(counted(1, RESULT, "One comparison for each result."))
facts("elementwise", of=("Equal", "NotEqual", "ApproximateEqual"))


@everywhere("ApproximateEqual", shape="..., ... -> ...", gradient=NOT_DIFFERENTIABLE, flops=binary_flops(3))
def approximate_equal(xp: Any, x: Any, y: Any, *, tolerance: float) -> Any:
    """|x - y| < tolerance; the shapes must be equal."""
    if not xp.same_shape(x, y):
        require_same_shape(x, y, "x and y")
    # The attribute is a float32, whatever the dtype of the inputs.
    return abs(x - y) < np.asarray(tolerance, np.float32).astype(x.dtype)


@kernel("ClipByValue", shape="... -> ...", flops=unary_flops(2), facts=("elementwise", "own_gradient"))
def clip_by_value(t: Array, clip_value_min: Array, clip_value_max: Array) -> Result:
    """max(min(t, high), low), of real and imaginary part apart; the bounds are scalars or shaped like t."""
    _require_bounds(t, clip_value_min, clip_value_max)
    if t.dtype.kind == "c":
        parts = (t, clip_value_min, clip_value_max)
        return (_clip(np, *map(np.real, parts)) + 1j * _clip(np, *map(np.imag, parts))).astype(t.dtype)
    return _clip(np, t, clip_value_min, clip_value_max)


def _require_bounds(t: Any, *bounds: Any) -> None:
    for dims in map(np.shape, bounds):
        if dims not in ((), t.shape):
            raise InvalidArgumentError(f"both clip values must be scalars or shaped like t: {dims} and {t.shape}")


def _clip(xp: Any, t: Any, low: Any, high: Any) -> Any:
    if t.dtype.kind not in "iu":
        # A bound that is NaN bounds nothing in TensorFlow, while NaN among the values stays.
        low, high = _bound(xp, low, -np.inf), _bound(xp, high, np.inf)
    # In this order: if low > high, TensorFlow returns low.
    return xp.maximum(xp.minimum(t, high), low)


def _bound(xp: Any, bound: Any, absent: float) -> Any:
    return xp.where(bound == bound, bound, np.array(absent, bound.dtype))


@gradient("ClipByValue")
def clip_by_value_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    """Give the gradient to t inside the bounds, to the lower bound below and to the upper bound above."""
    t, low, high = node.inputs
    zeros = g.zeros_like(grad)
    below, above = g.Less(t, low), g.Greater(t, high)
    inside = g.SelectV2(g.LogicalOr(below, above), zeros, grad)
    return [
        inside,
        g.reduce_to(g.SelectV2(below, grad, zeros), low, t),
        g.reduce_to(g.SelectV2(above, grad, zeros), high, t),
    ]


@kernel("AddN", T=("variant",))
def add_n_variant(inputs: list[Array]) -> Result:
    """Add variants by their contents, as lists of gradients."""
    return functools.reduce(added, inputs)


@kernel("AddN", "AccumulateNV2", shape="... -> ...")
def add_n(inputs: list[Array]) -> Result:
    """Add tensors of equal shapes."""
    dims = inputs[0].shape
    for value in inputs:
        if value.shape != dims:
            raise InvalidArgumentError(f"inputs to AddN must have one shape, not {[np.shape(v) for v in inputs]}")
    if len(inputs) == 1:
        return inputs[0]
    total = inputs[0] + inputs[1]
    for value in inputs[2:]:
        total = total + value
    return total


@gradient("AddN", "AccumulateNV2")
def add_n_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    return [grad] * len(node.inputs)


@flops("AddN", "AccumulateNV2")
def add_n_flops(inputs: list[TensorSpec]) -> Cost:
    return Cost((len(inputs) - 1) * inputs[0].shape.num_elements)


layout("T* -> T", "AddN")
profiled(sum_of_inputs, "AddN")
facts("sum_of_inputs", of=("AddN",))


def _require_vectors(s0: Array, s1: Array) -> None:
    if s0.ndim != 1 or s1.ndim != 1:
        raise InvalidArgumentError(f"shapes must be vectors, not of shape {Shape(s0.shape)} and {Shape(s1.shape)}")


@functools.lru_cache(4096)
def _summed_axes(s0: tuple[int, ...], s1: tuple[int, ...], dtype: np.dtype[Any]) -> tuple[Array, ...]:
    """The axes for two shapes; the same few come again at every step of a training."""
    broadcast_shapes(Shape(s0), Shape(s1))
    rank = max(len(s0), len(s1))
    padded = ([1] * (rank - len(s)) + list(s) for s in (s0, s1))
    # Equal shapes have no axes, not even those of size 1; of different shapes both have an axis where both sizes are 1, as in
    # TensorFlow.
    return tuple(np.array([i for i, d in enumerate(dims) if d == 1 and s0 != s1], dtype) for dims in padded)


def _summed_in_every_run(shape_spec: TensorSpec, sizes: list[DimLike], others: list[DimLike]) -> Shape | TensorSpec:
    """Return the axes over which the gradient of an operand of `sizes` is summed; a vector of unknown length where the
    axes depend on sizes that only a run knows. Equal shapes have no axes, not even those of size 1.
    """
    ones = [True] * (len(others) - len(sizes)) + [_is_one(size) for size in sizes]
    is_equal = False if _must_differ(sizes, others) else sizes == others or None
    if not is_equal and (None in ones or (is_equal is None and True in ones)):
        return Shape([None])
    axes = [] if is_equal else [i for i, is_one in enumerate(ones) if is_one]
    return TensorSpec(shape_spec.dtype, Shape([len(axes)]), np.array(axes, shape_spec.dtype.numpy))


def _is_one(size: DimLike) -> bool | None:
    """Return whether a size is 1; None if some runs may decide otherwise."""
    if isinstance(size, int):
        return size == 1
    return False if is_never_one(size) else None


def _must_differ(sizes: list[DimLike], others: list[DimLike]) -> bool:
    """Return True if no run can have two equal shapes."""
    return len(sizes) != len(others) or any(map(_is_other, sizes, others)) or any(map(_is_other, others, sizes))


def _is_other(size: DimLike, other: DimLike) -> bool:
    return (isinstance(size - other, int) and size != other) or (size == 1 and is_never_one(other))


@kernel("BroadcastArgs", facts=("inexpensive",), arithmetic=False)
def broadcast_args(s0: Array, s1: Array) -> Result:
    """The shape that two shapes broadcast to."""
    _require_vectors(s0, s1)
    result = broadcast_shapes(Shape(as_dims(s0)), Shape(as_dims(s1)))
    return shape_value(result, dtypes.from_numpy(s0.dtype if s0.dtype != object else s1.dtype))


@shape("BroadcastArgs")
def broadcast_args_shape(s0: TensorSpec, s1: TensorSpec) -> Shape | TensorSpec:
    """As long as the longer shape, with the dimensions themselves where both are known."""
    if s0.value is not None and s1.value is not None:
        value = np.asarray(broadcast_args(s0.value, s1.value))
        return TensorSpec(s0.dtype, Shape(value.shape), value)
    return Shape([dim_max(s0.shape[0], s1.shape[0])])


@kernel("BroadcastGradientArgs", facts=("inexpensive",), arithmetic=False)
def broadcast_gradient_args(s0: Array, s1: Array) -> tuple[Result, ...]:
    """Return for each of two shapes the axes over which the gradient of a broadcast op is summed."""
    _require_vectors(s0, s1)
    # Inference asks with symbolic sizes, which are objects.
    dtype = s0.dtype if s0.dtype == s1.dtype != object else np.dtype(np.int32)
    return _summed_axes(tuple(s0.tolist()), tuple(s1.tolist()), dtype)


@shape("BroadcastGradientArgs")
def broadcast_gradient_args_shape(s0: TensorSpec, s1: TensorSpec) -> list[Shape | TensorSpec]:
    """The axes that every run sums over, where they are the same in every run: a size may be 1 in some of them."""
    if s0.value is None or s1.value is None:
        return [Shape([None]), Shape([None])]
    _require_vectors(s0.value, s1.value)
    sizes, others = as_dims(s0.value), as_dims(s1.value)
    broadcast_shapes(Shape(sizes), Shape(others))
    return [_summed_in_every_run(s0, sizes, others), _summed_in_every_run(s0, others, sizes)]


@estimate("BroadcastGradientArgs")
def broadcast_gradient_args_estimate(s0: TensorSpec, s1: TensorSpec) -> list[Shape | TensorSpec]:
    """The axes where no unknown size is 1: what a training on batches of many rows sums over."""
    if s0.value is None or s1.value is None:
        return [Shape([None]), Shape([None])]
    axes = broadcast_gradient_args(s0.value, s1.value)
    return [TensorSpec(s0.dtype, Shape(a.shape), a.astype(s0.dtype.numpy)) for a in axes]


def _division_of_arrays(whole: str, real: Callable[..., Any]) -> Callable[..., Any]:
    """Return a division: of integers by the function `whole` of the namespace, where no divisor is 0; of others by `real`."""

    def call(xp: Any, x: Any, y: Any) -> Any:
        if not _is_whole(y):
            return real(xp, x, y)
        xp.require((y != 0).all())
        return getattr(xp, whole)(x, y)

    return call


@arrays("Pow")
def _power_of_arrays(xp: Any, x: Any, y: Any) -> Any:
    """Return x to the power of y; integers need y >= 0."""
    if _is_whole(y):
        xp.require((y >= 0).all())
    return xp.power(x, y)


def _is_whole(x: Any) -> bool:
    return bool(x.dtype.kind in "iu")


arrays("FloorDiv")(_division_of_arrays("floor_divide", lambda xp, x, y: xp.floor(x / y)))
arrays("FloorMod")(_division_of_arrays("mod", lambda xp, x, y: xp.mod(x, y)))
arrays("Mod", "TruncateMod")(_division_of_arrays("fmod", lambda xp, x, y: xp.fmod(x, y)))
arrays("Div")(_division_of_arrays("truncated_quotient", lambda xp, x, y: x / y))
arrays("TruncateDiv")(_division_of_arrays("truncated_quotient", lambda xp, x, y: xp.trunc(x / y)))


@lower("ClipByValue")
def _clip_lowering(xla: Any, x: Any, low: Any, high: Any) -> Any:
    _require_bounds(x, low, high)
    return _clip(xla, x, low, high)


onnx("ClipByValue")(lambda g, x, low, high: g.Max(g.Min(x, high), low))  # of any rank: ONNX asks no shapes
# Only an infinite x needs the 0: elsewhere the product is 0 by itself, and its derivative by y stays x.
lower("MulNoNan")(lambda xla, x, y: xla.where((y == 0) & ~xla.isfinite(x), 0, x * y))
onnx("MulNoNan")(lambda g, x, y: g.Where(g.Equal(y, 0), 0, g.Mul(x, y)))  # without the derivative at 0
lower("AddN", "AccumulateNV2", always=True)(lambda xla, values: sum(values[1:], values[0]))
onnx("AddN", "AccumulateNV2")(lambda g, values: lists.added(g, values))  # lists, too
lower_as(Equal="equal", NotEqual="not_equal")


@onnx("Equal")
def _equal_onnx(g: Any, a: Any, b: Any, *, incompatible_shape_error: bool) -> Any:
    """False as a whole for shapes that are known not to fit where that is no error."""
    if not incompatible_shape_error:
        try:
            broadcast_shapes(a.shape, b.shape)
        except InvalidArgumentError:
            return g.constant(np.bool_(False))
    return g.Equal(a, b)


@onnx("NotEqual")
def _not_equal_onnx(g: Any, a: Any, b: Any, *, incompatible_shape_error: bool) -> Any:
    return g.Not(_equal_onnx(g, a, b, incompatible_shape_error=incompatible_shape_error))


def _of_one_rank_onnx(g: Any, s0: Any, s1: Any) -> Any:
    """Pad the shorter of two shapes with leading 1s."""
    sizes = [g.vector(size) for size in (s0, s1)]
    rank = g.Max(*(g.dim(size, 0) for size in sizes))
    missing = [g.Expand(g.constant(np.int64(1)), g.Sub(rank, g.dim(size, 0))) for size in sizes]
    return tuple(g.Concat(*pair, axis=0) for pair in zip(missing, sizes))


@onnx("BroadcastArgs")
def _broadcast_args_onnx(g: Any, s0: Any, s1: Any) -> Any:
    first, second = _of_one_rank_onnx(g, s0, s1)
    return g.cast(g.Where(g.Equal(first, 1), second, first), s0.dtype)


@onnx("BroadcastGradientArgs")
def _broadcast_gradient_args_onnx(g: Any, s0: Any, s1: Any) -> Any:
    """Return the places of 1s; none for equal shapes."""
    first, second = _of_one_rank_onnx(g, s0, s1)
    differs = g.Or(
        g.Not(g.Equal(g.dim(s0, 0), g.dim(s1, 0))),
        g.cast(g.ReduceMax(g.Concat(g.cast(g.Not(g.Equal(first, second)), dtypes.int64), [0], axis=0), [0]), dtypes.bool_),
    )
    one = g.constant(np.int64(1))
    return [
        g.cast(g.squeeze(g.Transpose(g.NonZero(g.And(g.Equal(sizes, one), differs)), perm=[1, 0]), 1), s0.dtype)
        for sizes in (first, second)
    ]


facts("half_infer", of=["Add", "AddN", "AddV2", "FloorDiv", "Mul", "RealDiv", "SquaredDifference", "Sub"])
facts("half_deny", "own_gradient", of=["Pow"])
facts("half_clear", of=["ClipByValue", "Equal", "Greater", "GreaterEqual", "Less", "LessEqual", "NotEqual"])


# Bits of integers: logic, shifts and counts.


def _shift(name: str) -> ElementwiseProgram:
    """Return the program of a shift whose distance is clipped to [0, bits - 1], as in TensorFlow."""

    def shift(xp: Any, x: Any, y: Any) -> Any:
        # A shift by the number of bits or more is undefined in C++.
        return getattr(xp, name)(x, xp.minimum(xp.maximum(y, 0), x.dtype.itemsize * 8 - 1))

    return ElementwiseProgram(shift)


register_binary(
    (
        Binary("BitwiseAnd", "bitwise_and", None),
        Binary("BitwiseOr", "bitwise_or", None),
        Binary("BitwiseXor", "bitwise_xor", None),
        Binary("LeftShift", _shift("left_shift"), None),
        Binary("RightShift", _shift("right_shift"), None),
    )
)
register_unary((Unary("Invert", "invert", None),))
facts("involution", of=("Invert",))


@kernel("PopulationCount", shape="... -> ...", gradient=NOT_DIFFERENTIABLE, flops=unary_flops(1), facts=("elementwise",))
def population_count(x: Array) -> Result:
    """Count the set bits, of negative numbers in two's complement."""
    return np.bitwise_count(np.asarray(x).view(f"u{x.dtype.itemsize}"))


arrays_as(PopulationCount="population_count")
