"""Activation functions and the ops of their gradients."""

from __future__ import annotations

import functools
from typing import Any

import ml_dtypes
import numpy as np

from ..arrays import Array, Result
from ..building.gradbuilder import GradientBuilder, Gradients
from ..errors import InvalidArgumentError
from ..graph import Node, Output
from ..numerics.widening import wide
from ..registry import Cost, facts, flops, gradient, kernel, not_differentiable, shape
from ..shapes import Shape, TensorSpec, merge_shapes

_SELU_SCALE = 1.0507009873554805
_SELU_ALPHA = 1.6732632423543772


def _in_float32(function: Any) -> Any:
    """`function` with 16-bit floats computed in float32."""

    @functools.wraps(function)
    def kernel_function(*inputs: Array, **attrs: Any) -> Array:
        dtype = inputs[0].dtype
        return np.asarray(function(*map(wide, inputs), **attrs)).astype(dtype, copy=False)

    return kernel_function


def _same_shapes(gradients: Array, features: Array) -> None:
    if np.shape(gradients) != np.shape(features):
        raise InvalidArgumentError(
            f"gradients and features must have one shape, not {Shape(np.shape(gradients))} and {Shape(np.shape(features))}"
        )


@kernel("Relu")
def relu(features: Array) -> Result:
    """max(x, 0); NaN stays NaN."""
    return np.maximum(features, features.dtype.type(0))


@gradient("Relu")
def relu_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    return [g.ReluGrad(grad, node.output())]


@kernel("Relu6")
def relu6(features: Array) -> Result:
    """min(max(x, 0), 6)."""
    positive = np.maximum(features, features.dtype.type(0))
    return np.minimum(positive, features.dtype.type(6), out=positive if positive.ndim else None)


@gradient("Relu6")
def relu6_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    return [g.Relu6Grad(grad, node.output())]


facts("idempotent", of=("Relu", "Relu6"))


@kernel("LeakyRelu")
@_in_float32
def leaky_relu(features: Array, *, alpha: float) -> Result:
    """x where positive, alpha x elsewhere."""
    return np.where(features > 0, features, features * features.dtype.type(alpha))


@gradient("LeakyRelu")
def leaky_relu_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    return [g.LeakyReluGrad(grad, node.inputs[0], alpha=node.attr("alpha"))]


@kernel("Elu")
@_in_float32
def elu(features: Array) -> Result:
    """x where not negative, exp(x) - 1 elsewhere."""
    return np.where(features < 0, np.expm1(features), features)


_FORWARD = ("Relu", "Relu6", "LeakyRelu", "Elu", "Selu", "Softplus", "Softsign")


@shape(*_FORWARD)
def activation_shape(features: TensorSpec) -> Shape:
    return features.shape


@gradient("Elu")
def elu_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    return [g.EluGrad(grad, node.output())]


facts("monotone", of=_FORWARD)


@kernel("Selu")
@_in_float32
def selu(features: Array) -> Result:
    """scale * x where not negative, scale * alpha * (exp(x) - 1) elsewhere (Klambauer et al. 2017)."""
    t = features.dtype.type
    return np.where(features < 0, t(_SELU_SCALE * _SELU_ALPHA) * np.expm1(features), t(_SELU_SCALE) * features)


@gradient("Selu")
def selu_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    return [g.SeluGrad(grad, node.output())]


facts("elementwise", of=("Relu", "Relu6", "LeakyRelu", "Elu", "Selu"))
facts("rectifier", of=("Elu", "Relu", "Relu6"))


@kernel("Softplus")
def softplus(features: Array) -> Result:
    """log(1 + exp(x)) without overflow, each step rounded; x or exp(x) where the dtype hardly tells the difference."""
    x = wide(features)
    bound = x.dtype.type(-2 - np.log(float(ml_dtypes.finfo(features.dtype).eps)))
    power = np.exp(np.minimum(x, bound)).astype(features.dtype, copy=False)
    near = np.where(x < -bound, wide(power), np.log1p(wide(power)))
    return np.where(x > bound, x, near).astype(features.dtype, copy=False)


@gradient("Softplus")
def softplus_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    return [g.Mul(grad, g.Sigmoid(node.inputs[0]))]


@kernel("Softsign")
@_in_float32
def softsign(features: Array) -> Result:
    """x / (|x| + 1)."""
    return features / (np.abs(features) + 1)


@gradient("Softsign")
def softsign_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    return [g.SoftsignGrad(grad, node.inputs[0])]


@kernel("ReluGrad")
def relu_grad(gradients: Array, features: Array) -> Result:
    """gradients where features are positive."""
    _same_shapes(gradients, features)
    return np.where(features > 0, gradients, gradients.dtype.type(0))


@gradient("ReluGrad")
def relu_grad_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    x = node.inputs[1]
    return [g.ReluGrad(grad, x), g.zeros_like(x)]


@kernel("Relu6Grad")
def relu6_grad(gradients: Array, features: Array) -> Result:
    """gradients where features lie between 0 and 6."""
    _same_shapes(gradients, features)
    return gradients * ((features > 0) & (features < 6))


@gradient("Relu6Grad")
def relu6_grad_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    x = node.inputs[1]
    return [g.Relu6Grad(grad, x), g.zeros_like(x)]


@kernel("LeakyReluGrad")
@_in_float32
def leaky_relu_grad(gradients: Array, features: Array, *, alpha: float) -> Result:
    _same_shapes(gradients, features)
    return np.where(features > 0, gradients, gradients * gradients.dtype.type(alpha))


@gradient("LeakyReluGrad")
def leaky_relu_grad_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    x = node.inputs[1]
    return [g.LeakyReluGrad(grad, x, alpha=node.attr("alpha")), g.zeros_like(x)]


facts("elementwise", of=("Softplus", "Softsign", "ReluGrad", "Relu6Grad", "LeakyReluGrad"))


@kernel("EluGrad")
@_in_float32
def elu_grad(gradients: Array, outputs: Array) -> Result:
    _same_shapes(gradients, outputs)
    return np.where(outputs < 0, (outputs + 1) * gradients, gradients)


_GRAD = ("ReluGrad", "Relu6Grad", "LeakyReluGrad", "EluGrad", "SeluGrad", "SoftplusGrad", "SoftsignGrad")


@shape(*_GRAD)
def activation_grad_shape(gradients: TensorSpec, features: TensorSpec) -> Shape:
    return merge_shapes(gradients.shape, features.shape)


@gradient("EluGrad")
def elu_grad_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    gradients, outputs = node.inputs
    zeros = g.zeros_like(outputs)
    return [g.EluGrad(grad, outputs), g.SelectV2(g.Less(outputs, zeros), g.Mul(grad, gradients), zeros)]


@kernel("SeluGrad")
@_in_float32
def selu_grad(gradients: Array, outputs: Array) -> Result:
    _same_shapes(gradients, outputs)
    t = gradients.dtype.type
    return np.where(outputs < 0, gradients * (outputs + t(_SELU_SCALE * _SELU_ALPHA)), gradients * t(_SELU_SCALE))


@gradient("SeluGrad")
def selu_grad_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    gradients, outputs = node.inputs
    zeros = g.zeros_like(outputs)
    return [g.SeluGrad(grad, outputs), g.SelectV2(g.Less(outputs, zeros), g.Mul(gradients, grad), zeros)]


@kernel("SoftplusGrad")
@_in_float32
def softplus_grad(gradients: Array, features: Array) -> Result:
    _same_shapes(gradients, features)
    return gradients / (np.exp(-features) + 1)


@gradient("SoftplusGrad")
def softplus_grad_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    """d/dx of dy / (exp(-x) + 1) is dy / (exp(-x) + 2 + exp(x))."""
    dy, x = node.inputs
    denominator = g.AddV2(g.AddV2(g.Exp(g.Neg(x)), g.scalar_like(x, 2)), g.Exp(x))
    return [g.SoftplusGrad(grad, x), g.RealDiv(g.Mul(grad, dy), denominator)]


@kernel("SoftsignGrad")
@_in_float32
def softsign_grad(gradients: Array, features: Array) -> Result:
    _same_shapes(gradients, features)
    return gradients / np.square(1 + np.abs(features))


facts("elementwise", of=("EluGrad", "SeluGrad", "SoftplusGrad", "SoftsignGrad"))
not_differentiable("SoftsignGrad")


def _per_element(cost: Any) -> Any:
    """A FLOPs function: so much for each element."""
    return lambda *specs: cost * specs[0].shape.num_elements


for _ops, _cost in (
    (("Relu", "ReluGrad"), Cost(1)),
    (("Relu6", "Relu6Grad", "LeakyRelu", "LeakyReluGrad"), Cost(2)),
    (("Elu",), Cost(1, transcendentals=1)),
    (("Selu",), Cost(2, transcendentals=1)),
    (("EluGrad", "SeluGrad"), Cost(3)),
    (("Softplus",), Cost(1, transcendentals=2)),
    (("SoftplusGrad",), Cost(3, transcendentals=1)),
    (("Softsign",), Cost(3)),
    (("SoftsignGrad",), Cost(4)),
):
    flops(*_ops)(_per_element(_cost))
