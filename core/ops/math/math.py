"""Elementwise ops of one input: powers, exponentials, trigonometry, rounding, their gradient ops, and chains of such ops."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...building.gradbuilder import GradientBuilder
from ...graph.graph import Node, Output
from ...inference.profiler_formulas import of_input, of_output
from ...numerics.array_namespace import NUMPY
from ...numerics.elementwise import in_blocks
from ...numerics.half_precision import widened
from ...registry import registry
from ...registry.registry import (
    ZERO,
    Cost,
    arrays,
    arrays_as,
    facts,
    flops,
    gradient,
    kernel,
    lower,
    onnx_arrays,
    profiled,
    shape,
)
from ...support.errors import InvalidArgumentError, UnimplementedError
from ...types import dtypes
from ...types.arrays import Array, Result
from ...types.shapes import TensorSpec
from ..shared.decompositions import composed
from ..shared.elementwise_tables import NARROW, ElementwiseProgram, Unary, register_unary, unary_flops
from ..shared.plain_shapes import first_shape

# (g, x, y, dy) -> dx. Complex derivatives are conjugated: TensorFlow's gradient is that of a real loss.


def _asin_gradient(g: GradientBuilder, x: Output, y: Output, dy: Output) -> Output:
    x = g.conj(x)
    return g.Mul(dy, g.Reciprocal(g.Sqrt(g.Sub(g.scalar_like(x, 1), g.Square(x)))))


def _over_one_and(combined: Callable[..., Output], g: GradientBuilder, x: Output, dy: Output) -> Output:
    """Return dy over the sum or the difference of 1 and x^2."""
    x = g.conj(x)
    return g.Mul(dy, g.Reciprocal(combined(g.scalar_like(x, 1), g.Square(x))))


def _rounded(xp: Any, x: Any) -> Any:
    """Round to the nearest integer, halves to even; TensorFlow's kernel returns 0 for integers."""
    return xp.zeros_like(x) if x.dtype.kind in "iu" else xp.rint(x)


def _sign(x: Array) -> Array:
    if x.dtype.kind == "c":
        magnitude = np.abs(x)
        return np.where(magnitude == 0, 0, x / np.where(magnitude == 0, 1, magnitude)).astype(x.dtype)
    return np.where(x == 0, x, np.sign(x))  # the zero's own sign; and a subnormal number counts as zero


def _sigmoid(x: Array, *, out: Array | None = None) -> Array:
    """Return 1 / (1 + exp(-x)); where exp overflows, the quotient is the correct zero."""
    one = _one_of(x.dtype)
    # A scalar from a ufunc is no array that the next ufunc could write to.
    if not x.ndim:
        return one / (one + np.exp(-x))
    return in_blocks(functools.partial(_sigmoid_of, one), x, out=out)


def _sigmoid_of(one: Array, x: Array, power: Array) -> None:
    # In place: one array for four steps.
    np.negative(x, power)
    np.exp(power, power)
    np.add(power, one, power)
    np.divide(one, power, power)


@functools.cache
def _one_of(dtype: np.dtype[Any]) -> Array:
    """Return 1 as an array of rank 0. A ufunc converts any other scalar at each call, which costs time."""
    one = np.ones((), dtype)
    one.flags.writeable = False
    return one


def _reciprocal(x: Array) -> Array:
    if x.dtype.kind in "iu":
        # C++ divides integers towards zero, so that only 1 and -1 have a reciprocal.
        return np.where(x == 1, 1, np.where(x == -1, -1, 0)).astype(x.dtype)
    return _one_of(x.dtype) / x


UNARY = (
    Unary("Neg", "negative", lambda g, x, y, dy: g.Neg(dy)),
    # The sign of 0 is 0, and so is the gradient there, where the modulus has no derivative.
    Unary("Abs", "abs", lambda g, x, y, dy: g.Mul(dy, g.Sign(x))),
    Unary("Sign", _sign, lambda g, x, y, dy: g.ZerosLike(x)),
    Unary("Square", "square", lambda g, x, y, dy: g.Mul(dy, g.Mul(g.scalar_like(x, 2), g.conj(x)))),
    Unary("Sqrt", np.sqrt, lambda g, x, y, dy: g.SqrtGrad(y, dy), widened=True),
    Unary("Rsqrt", lambda x: np.reciprocal(np.sqrt(x)), lambda g, x, y, dy: g.RsqrtGrad(y, dy), 2, widened=True),
    Unary("Reciprocal", _reciprocal, lambda g, x, y, dy: g.ReciprocalGrad(y, dy), widened=True),
    Unary("Inv", _reciprocal, lambda g, x, y, dy: g.ReciprocalGrad(y, dy), widened=True),
    Unary("Exp", "exp", lambda g, x, y, dy: g.Mul(dy, g.conj(y)), 0, 1, widened=True),
    Unary("Expm1", "expm1", lambda g, x, y, dy: g.Mul(dy, g.Exp(g.conj(x))), 0, 1, widened=True),
    Unary("Log", "log", lambda g, x, y, dy: g.Mul(dy, g.Reciprocal(g.conj(x))), 0, 1, widened=True),
    Unary(
        "Log1p",
        "log1p",
        lambda g, x, y, dy: g.Mul(dy, g.Reciprocal(g.AddV2(g.scalar_like(x, 1), g.conj(x)))),
        0,
        1,
        widened=True,
    ),
    Unary("Sin", "sin", lambda g, x, y, dy: g.Mul(dy, g.conj(g.Cos(x))), 0, 1, widened=True),
    Unary("Cos", "cos", lambda g, x, y, dy: g.Mul(dy, g.Neg(g.Sin(g.conj(x)))), 0, 1, widened=True),
    # TensorFlow's formula: 1 + tan^2 would be simpler, and rounds differently.
    Unary("Tan", "tan", lambda g, x, y, dy: g.Mul(g.Square(g.Reciprocal(g.Cos(g.conj(x)))), dy), 0, 1, widened=True),
    Unary("Asin", "arcsin", _asin_gradient, 0, 1, widened=True),
    Unary("Acos", "arccos", lambda g, x, y, dy: g.Neg(_asin_gradient(g, x, y, dy)), 0, 1, widened=True),
    Unary("Atan", "arctan", lambda g, x, y, dy: _over_one_and(g.AddV2, g, x, dy), 0, 1, widened=True),
    Unary("Sinh", "sinh", lambda g, x, y, dy: g.Mul(dy, g.conj(g.Cosh(x))), 0, 1, widened=True),
    Unary("Cosh", "cosh", lambda g, x, y, dy: g.Mul(dy, g.conj(g.Sinh(x))), 0, 1, widened=True),
    Unary("Tanh", "tanh", lambda g, x, y, dy: g.TanhGrad(g.conj(y), dy), 0, 1, widened=True),
    # TensorFlow's formulas, by the result, which spares a root.
    Unary("Asinh", "arcsinh", lambda g, x, y, dy: g.RealDiv(dy, g.Cosh(g.conj(y))), 0, 1, widened=True),
    Unary("Acosh", "arccosh", lambda g, x, y, dy: g.RealDiv(dy, g.Sinh(g.conj(y))), 0, 1, widened=True),
    Unary("Atanh", "arctanh", lambda g, x, y, dy: _over_one_and(g.Sub, g, x, dy), 0, 1, widened=True),
    Unary("Sigmoid", _sigmoid, lambda g, x, y, dy: g.SigmoidGrad(g.conj(y), dy), 3, 1, widened=True),
    Unary("Ceil", "ceil", None),
    Unary("Floor", "floor", None),
    Unary("Rint", "rint", None),
    Unary("Round", ElementwiseProgram(_rounded), None),
    Unary("LogicalNot", "logical_not", None),
    Unary("IsNan", "isnan", None),
    Unary("IsInf", "isinf", None),
    Unary("IsFinite", "isfinite", None),
)
register_unary(UNARY)
facts("involution", of=("Neg", "Reciprocal", "Inv", "LogicalNot"))
facts("idempotent", of=("Abs", "Sign", "Ceil", "Floor", "Rint", "Round"))
facts("monotone", of=("Exp", "Expm1", "Log", "Log1p", "Sqrt", "Sinh", "Tanh", "Asinh", "Atan", "Sigmoid"))
facts("monotone", of=("Ceil", "Floor", "Rint", "Round", "Sign"))
facts("shape_arithmetic", of=("Neg",))
facts("total", of=("Neg", "Abs", "Sign", "Square"))
facts("unit_range", of=("Tanh", "Sign", "Sigmoid"))
facts("not_negative", of=("Abs", "Exp", "Sigmoid", "Sqrt", "Square"))
facts("partial", of=("Log", "Log1p", "Sqrt"))
facts("reciprocal", of=("Reciprocal", "Inv"))


def _of_value(formula: Callable[..., Any]) -> Callable[..., Any]:
    """Return a kernel of the same number of elements in y and dy, from a NumPy formula."""

    def gradient_op(y: Array, dy: Array) -> Array:
        if y.shape != dy.shape:
            if np.size(y) != np.size(dy):
                raise InvalidArgumentError(f"y and dy must have as many elements: {np.shape(y)} and {np.shape(dy)}")
            # TensorFlow's kernel reads both as flat arrays, and the result has the shape of y.
            dy = np.reshape(dy, np.shape(y))
        return formula(y, dy)

    return gradient_op


def _tanh_grad_gradient(g: GradientBuilder, node: Node, grad: Output) -> list[Output]:
    y, dy = node.inputs
    a, b = g.conj(y), g.conj(dy)
    return [g.Mul(g.Mul(g.scalar_like(a, -2), grad), g.Mul(b, a)), g.TanhGrad(a, grad)]


def _sigmoid_grad_gradient(g: GradientBuilder, node: Node, grad: Output) -> list[Output]:
    y, dy = node.inputs
    a, b = g.conj(y), g.conj(dy)
    gb = g.Mul(grad, b)
    return [g.Sub(gb, g.Mul(g.Mul(g.scalar_like(a, 2), gb), a)), g.SigmoidGrad(a, grad)]


def _reciprocal_grad_gradient(g: GradientBuilder, node: Node, grad: Output) -> list[Output]:
    y, dy = node.inputs
    ca, cg = g.conj(y), g.conj(grad)
    return [g.Mul(g.Mul(cg, g.scalar_like(cg, -2)), g.Mul(dy, ca)), g.ReciprocalGrad(ca, grad)]


def _sqrt_grad_gradient(g: GradientBuilder, node: Node, grad: Output) -> list[Output]:
    ga = g.RealDiv(grad, node.inputs[0])
    return [g.Mul(g.Neg(g.conj(ga)), node.output()), g.Mul(g.scalar_like(ga, 0.5), ga)]


def _rsqrt_grad_gradient(g: GradientBuilder, node: Node, grad: Output) -> list[Output]:
    y, dy = node.inputs
    ca, cg = g.conj(y), g.conj(grad)
    return [g.Mul(g.Mul(g.scalar_like(cg, -1.5), cg), g.Mul(dy, g.Square(ca))), g.RsqrtGrad(ca, grad)]


# TensorFlow conjugates y in some of these kernels; for the others their callers do.
def _register_gradient_op(
    op: str, formula: Callable[[Any, Any], Any], cost: int, second: Callable[..., Any], keeps_zero: bool = True
) -> None:
    """Register an op of y and dy by its formula. `keeps_zero`: it is 0 where dy is 0, also for a y that is infinite or NaN."""

    def program(xp: Any, y: Any, dy: Any) -> Any:
        # Eigen's gradient functors of TensorFlow return 0 for a gradient of 0 before they look at y.
        return xp.where(dy == 0, 0, formula(xp.conj(y), dy)) if keeps_zero else formula(y, dy)

    def differentiable(xla: Any, y: Any, dy: Any) -> Any:
        # Only an infinite factor needs the 0, so that the derivative by a gradient of 0 is the factor.
        y = xla.conj(y)
        return xla.where((dy == 0) & ~xla.isfinite(formula(y, xla.ones_like(dy))), 0, formula(y, dy))

    in_numpy = _of_value(functools.partial(program, NUMPY))
    kernel(op, T=NARROW)(widened(in_numpy))
    kernel(op)(in_numpy)
    lower(op)(_of_one_shape(differentiable if keeps_zero else program))
    onnx_arrays(op)(_of_one_shape(program))
    shape(op)(first_shape)
    flops(op)(unary_flops(cost))
    gradient(op)(second)
    facts("elementwise", "backward", of=(op,))


def _of_one_shape(function: Any) -> Any:
    """Return a program of two tensors without broadcasting; for different shapes NumPy reports the error."""

    def call(xp: Any, y: Any, dy: Any) -> Any:
        # The kernel lets shapes differ as long as the numbers of elements agree; a program would need a shape that it has not.
        if not xp.same_shape(y, dy):
            raise UnimplementedError("its inputs have different shapes")
        return function(xp, y, dy)

    return call


_register_gradient_op("TanhGrad", lambda y, dy: dy * (1 - y * y), 3, _tanh_grad_gradient, keeps_zero=False)
_register_gradient_op("SigmoidGrad", lambda y, dy: dy * y * (1 - y), 3, _sigmoid_grad_gradient, keeps_zero=False)
for _op in ("ReciprocalGrad", "InvGrad"):
    _register_gradient_op(_op, lambda y, dy: -dy * y * y, 3, _reciprocal_grad_gradient)
_register_gradient_op("SqrtGrad", lambda y, dy: dy * 0.5 / y, 2, _sqrt_grad_gradient)
_register_gradient_op("RsqrtGrad", lambda y, dy: dy * (y * y * y * -0.5), 4, _rsqrt_grad_gradient)

profiled(of_input(1), "Reciprocal", "Square", "Neg")
profiled(of_input(1), "Log", differs="tfg counts transcendental functions separately")
profiled(of_input(2), "Rsqrt")
profiled(of_output(4), "RsqrtGrad")

arrays_as(Sign="sign", Sigmoid="sigmoid")


arrays("Sqrt")(lambda xp, x: xp.with_factor(x, xp.sqrt(x), lambda y: 0.5 / y))
arrays("Rsqrt")(lambda xp, x: xp.with_factor(x, xp.rsqrt(x), lambda y: -0.5 * y * y * y))
arrays("Reciprocal", "Inv")(lambda xp, x: xp.with_factor(x, xp.reciprocal(x), lambda y: -y * y))
facts("own_gradient", of=["Abs", "Acosh"])


facts("half_infer", of=["Inv", "Log", "Log1p", "Reciprocal", "Rsqrt", "Sigmoid", "SigmoidGrad", "Sqrt", "Tanh", "TanhGrad"])
facts("half_deny", of=["Exp", "Expm1"])
facts("half_clear", of=["Abs", "Ceil", "Floor", "IsFinite", "IsInf", "IsNan", "Neg", "Round", "Sign"])


_COMPOSABLE = frozenset((
    "Abs", "Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "Ceil", "Cos", "Cosh", "Elu", "Exp", "Expm1", "Floor", "Inv",
    "Log", "Log1p", "Neg", "Reciprocal", "Relu", "Relu6", "Rint", "Round", "Rsqrt", "Selu", "Sigmoid", "Sin", "Sinh",
    "Sqrt", "Square", "Tan", "Tanh",
))  # fmt: skip


def _require_composable(op_names: list[str]) -> None:
    unknown = [op for op in op_names if op not in _COMPOSABLE]
    if unknown or not op_names:
        raise InvalidArgumentError(f"_UnaryOpsComposition cannot compose {unknown or 'nothing'}")


@kernel("_UnaryOpsComposition", shape="... -> ...", facts=("elementwise",))
def unary_ops_composition(x: Array, *, op_names: list[str]) -> Result:
    """Apply the ops in turn. TensorFlow's optimizer makes one node of a chain of them."""
    _require_composable(op_names)
    attrs = {"T": dtypes.from_numpy(x.dtype)}
    for op in op_names:
        # The op's own kernel, so that a chain rounds as its parts do.
        function = next(k.function for k in registry.kernels(op) if k.accepts(attrs))
        x = function(x)
    return x


@flops("_UnaryOpsComposition")
def unary_ops_composition_flops(x: TensorSpec, *, op_names: list[str]) -> Cost:
    """The sum of the costs of the ops."""
    total = ZERO
    for op in op_names:
        function = registry.flops_function(op)
        # All of them keep the shape, so the first input's shape stands for that of every step.
        total = total + (ZERO if function is None else function(x, outputs=[x]))
    return total


@composed("_UnaryOpsComposition")
def unary_ops_composition_parts(g: GradientBuilder, node: Node, inputs: Sequence[Output]) -> list[Output]:
    """Apply the ops in turn."""
    (x,) = inputs
    for op in node.attr("op_names"):
        x = g.apply(op.decode("utf-8", "replace"), x)
    return [x]
