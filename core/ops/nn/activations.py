"""Activation functions and the ops of their gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np

from ...building.gradbuilder import GradientBuilder, Gradients
from ...graph.graph import Node, Output
from ...numerics.elementwise import choose, expm1_below_zero, in_blocks, positive_part
from ...numerics.half_precision import wide, widened
from ...registry.registry import arrays, arrays_as, everywhere, facts, flops, gradient, kernel, lower, onnx, shaped
from ...support.errors import InvalidArgumentError
from ...types.arrays import Array, Result
from ...types.shapes import Shape
from ..shared.argument_checks import may_equal
from ..shared.decompositions import by_ops, gradient_by_parts
from ..shared.elementwise_tables import unary_flops

_SELU_SCALE = 1.0507009873554805
_SELU_ALPHA = 1.6732632423543772


def _same_shapes(gradients: Any, features: Any) -> None:
    if gradients.shape != features.shape and not may_equal(gradients.shape, features.shape):
        raise InvalidArgumentError(
            f"gradients and features must have one shape, not {Shape(np.shape(gradients))} and {Shape(np.shape(features))}"
        )


@kernel("Relu", facts=("idempotent", "rectifier", "bounded_by_inputs", "not_negative"))
def relu(features: Array, *, out: Array | None = None) -> Result:
    """max(x, 0); NaN stays NaN."""
    return positive_part(features, out)


@kernel("Relu6", facts=("idempotent", "rectifier", "not_negative"))
def relu6(features: Array, *, out: Array | None = None) -> Result:
    """min(max(x, 0), 6)."""
    zero, six = features.dtype.type(0), features.dtype.type(6)
    if features.dtype.kind == "V":  # of bfloat16 NumPy has no clip
        return np.minimum(np.maximum(features, zero), six)
    return features.clip(zero, six, out=out)


@kernel("LeakyRelu", gradient=by_ops("LeakyReluGrad dy 0"))
@widened
def leaky_relu(features: Array, *, alpha: float) -> Result:
    """Return x where positive, alpha x elsewhere: the larger of the two while alpha is at most 1."""
    # The maximum takes one pass and no mask; it is the right one of the two only for slopes up to 1.
    slope = features.dtype.type(alpha)

    def evaluate(x: Array, y: Array) -> None:
        np.multiply(x, slope, out=y)
        if 0 < alpha <= 1:
            np.maximum(x, y, out=y)
        else:
            choose(x > 0, x, y, y)

    return in_blocks(evaluate, features)


@kernel("Elu", facts=("rectifier", "own_gradient"))
@widened
def elu(features: Array) -> Result:
    """Return x where not negative, exp(x) - 1 elsewhere; a sum in which either part is zero avoids a choice."""
    return in_blocks(_elu, features)


def _elu(x: Array, y: Array) -> None:
    # The minimum keeps exp from overflowing where the other part counts; exp(x) - 1 in one step keeps the digits of small
    # numbers, which the difference would cancel.
    expm1_below_zero(np.minimum(x, x.dtype.type(0)), y)
    np.add(y, positive_part(x), out=y)


_FORWARD = ("Relu", "Relu6", "LeakyRelu", "Elu", "Selu", "Softplus", "Softsign")


shaped("... -> ...", *_FORWARD)


for _op in ("Relu", "Relu6", "Elu", "Selu"):
    gradient(_op)(by_ops(f"{_op}Grad dy y"))


facts("monotone", of=_FORWARD)


@kernel("Selu", facts=("own_gradient",))
@widened
def selu(features: Array) -> Result:
    """scale * x where not negative, scale * alpha * (exp(x) - 1) elsewhere (Klambauer et al. 2017)."""
    return in_blocks(_selu, features)


def _selu(x: Array, y: Array) -> None:
    t = x.dtype.type
    expm1_below_zero(np.minimum(x, t(0)), y)
    np.multiply(y, t(_SELU_SCALE * _SELU_ALPHA), out=y)
    np.add(y, t(_SELU_SCALE) * positive_part(x), out=y)


@kernel("Softplus", facts=("not_negative",))
def softplus(features: Array) -> Result:
    """log(1 + exp(x)) without overflow, each step rounded; x or exp(x) where the dtype hardly tells the difference."""
    x = wide(features)
    # The threshold of TensorFlow's kernel. Beyond, 1 + exp(x) rounds to exp(x), and below its negative log(1 + exp(x)) to
    # exp(x).
    bound = x.dtype.type(-2 - np.log(float(ml_dtypes.finfo(features.dtype).eps)))
    # Larger numbers are taken as they are, and their exponentials could overflow.
    power = np.exp(np.minimum(x, bound)).astype(features.dtype, copy=False)
    near = np.where(x < -bound, wide(power), np.log1p(wide(power)))
    return np.where(x > bound, x, near).astype(features.dtype, copy=False)


gradient("Softplus")(by_ops("Mul dy (Sigmoid 0)"))


@kernel("Softsign", gradient=by_ops("SoftsignGrad dy 0"), facts=("partial", "own_gradient"))
@widened
def softsign(features: Array) -> Result:
    """x / (|x| + 1)."""
    return features / (np.abs(features) + 1)


@kernel("ReluGrad")
def relu_grad(gradients: Array, features: Array) -> Result:
    """Return gradients where features are positive: times 1 there and times 0 elsewhere, as in TensorFlow."""
    _same_shapes(gradients, features)
    # A product, not a choice: as in TensorFlow, an infinite gradient times 0 is NaN.
    return np.multiply(gradients, features > 0)


@kernel("Relu6Grad")
def relu6_grad(gradients: Array, features: Array) -> Result:
    """gradients where features lie between 0 and 6."""
    _same_shapes(gradients, features)
    return gradients * ((features > 0) & (features < 6))


@kernel("LeakyReluGrad")
@widened
def leaky_relu_grad(gradients: Array, features: Array, *, alpha: float) -> Result:
    _same_shapes(gradients, features)
    slope = gradients.dtype.type(alpha)
    return in_blocks(lambda dy, x, dx: choose(x > 0, dy, dy * slope, dx), gradients, features)


# Linear in the gradients; the slopes are constant between the kinks.
for _op in ("ReluGrad", "Relu6Grad", "LeakyReluGrad"):
    gradient(_op)(by_ops(f"{_op} dy 1", "ZerosLike 1"))


@kernel("EluGrad")
@widened
def elu_grad(gradients: Array, outputs: Array) -> Result:
    _same_shapes(gradients, outputs)
    # Below 0 the derivative exp(x) is the output plus 1, so the op needs no input.
    return in_blocks(lambda dy, y, dx: choose(y < 0, (y + 1) * dy, dy, dx), gradients, outputs)


_GRAD = ("ReluGrad", "Relu6Grad", "LeakyReluGrad", "EluGrad", "SeluGrad", "SoftplusGrad", "SoftsignGrad")


shaped("..., ... -> ...", *_GRAD)
facts("backward", of=_GRAD)
facts("elementwise", of=(*_FORWARD, *_GRAD))


@kernel("SeluGrad")
@widened
def selu_grad(gradients: Array, outputs: Array) -> Result:
    _same_shapes(gradients, outputs)
    t = gradients.dtype.type
    scale, bound = t(_SELU_SCALE), t(_SELU_SCALE * _SELU_ALPHA)
    # Below 0 the derivative, scale alpha exp(x), is the output plus scale alpha.
    return in_blocks(lambda dy, y, dx: choose(y < 0, dy * (y + bound), dy * scale, dx), gradients, outputs)


@gradient("EluGrad", "SeluGrad")
def exponential_grad_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    gradients, outputs = node.inputs
    zeros = g.zeros_like(outputs)
    return [g.apply(node.op, grad, outputs), g.SelectV2(g.Less(outputs, zeros), g.Mul(grad, gradients), zeros)]


@kernel("SoftplusGrad")
@widened
def softplus_grad(gradients: Array, features: Array) -> Result:
    _same_shapes(gradients, features)
    # Where exp overflows, the quotient by infinity is the 0 that the derivative tends to.
    return gradients / (np.exp(-features) + 1)


@gradient("SoftplusGrad")
def softplus_grad_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    """d/dx of dy / (exp(-x) + 1) is dy / (exp(-x) + 2 + exp(x))."""
    dy, x = node.inputs
    denominator = g.AddV2(g.AddV2(g.Exp(g.Neg(x)), g.scalar_like(x, 2)), g.Exp(x))
    return [g.SoftplusGrad(grad, x), g.RealDiv(g.Mul(grad, dy), denominator)]


@everywhere("SoftsignGrad", facts=("own_gradient",))
def softsign_grad(xp: Any, gradients: Any, features: Any) -> Any:
    _same_shapes(gradients, features)
    return (wide(gradients) / xp.square(1 + abs(wide(features)))).astype(gradients.dtype, copy=False)


@gradient_by_parts("SoftsignGrad")
def softsign_grad_parts(g: GradientBuilder, node: Node, inputs: Sequence[Output]) -> list[Output]:
    """Compose dy / (1 + |x|)^2; TensorFlow has no gradient for this op."""
    dy, x = inputs
    return [g.RealDiv(dy, g.Square(g.AddV2(g.Abs(x), g.scalar_like(x, 1))))]


for _ops, _cost in (
    (("Relu", "ReluGrad"), (1,)),
    (("Relu6", "Relu6Grad", "LeakyRelu", "LeakyReluGrad"), (2,)),
    (("Elu",), (1, 1)),
    (("Selu",), (2, 1)),
    (("EluGrad", "SeluGrad"), (3,)),
    (("Softplus",), (1, 2)),
    (("SoftplusGrad",), (3, 1)),
    (("Softsign",), (3,)),
    (("SoftsignGrad",), (4,)),
):
    flops(*_ops)(unary_flops(*_cost))

arrays_as(Relu="relu", Relu6="relu6", Elu="elu", Selu="selu", Softplus="softplus", Softsign="soft_sign")
lower("LeakyRelu")(lambda xla, x, *, alpha: xla.where(x > 0, x, x * alpha))
# Products, as in the kernels: an infinite gradient times 0 is NaN.
arrays("ReluGrad")(lambda xp, dy, x: dy * (x > 0).astype(dy.dtype))
arrays("Relu6Grad")(lambda xp, dy, x: dy * ((x > 0) & (x < 6)).astype(dy.dtype))
arrays("LeakyReluGrad")(lambda xp, dy, x, *, alpha: xp.where(x > 0, dy, dy * alpha))
arrays("EluGrad")(lambda xp, dy, y: xp.where(y < 0, dy * (y + 1), dy))
arrays("SeluGrad")(lambda xp, dy, y: xp.where(y < 0, dy * (y + _SELU_SCALE * _SELU_ALPHA), dy * _SELU_SCALE))
arrays("SoftplusGrad")(lambda xp, dy, x: dy * xp.sigmoid(x))
onnx("LeakyRelu")(lambda g, x, *, alpha: g.LeakyRelu(x, alpha=alpha))  # one operator in place of three


# The lists of TensorFlow's automatic mixed precision: ops that only compare take the dtype of their neighbours (clear), the
# others are computed in half precision where their inputs are (infer).
_EXACT = ("Relu", "Relu6", "ReluGrad", "Relu6Grad")
facts("half_clear", of=_EXACT)
facts("half_infer", of=[op for op in (*_FORWARD, *_GRAD) if op not in _EXACT])
