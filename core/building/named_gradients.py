"""Gradients that a node may name in place of its op's: guided backpropagation and its relatives."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from ..functions.callers import gradient_name
from ..graph.graph import Node, Output
from ..registry import registry
from .gradbuilder import GradientBuilder, Gradients


def _guided(g: GradientBuilder, node: Node, *grads: Output | None) -> Gradients:
    """Return the op's own gradient of what arrives and is positive.

    Guided backpropagation: Springenberg et al., Striving for Simplicity: The All Convolutional Net, 2015.
    """
    own = registry.gradient_function(node.op)
    assert callable(own)  # override_gradients refuses other ops
    result: Gradients = own(g, node, *(None if grad is None else g.Relu(grad) for grad in grads))
    return result


def _deconvolution(g: GradientBuilder, node: Node, *grads: Output | None) -> Gradients:
    """Return what arrives and is positive, whatever the input was.

    Zeiler and Fergus, Visualizing and Understanding Convolutional Networks, 2014.
    """
    return [None if grads[0] is None else g.Relu(grads[0])]


def _straight_through(g: GradientBuilder, node: Node, *grads: Output | None) -> Gradients:
    """Return what arrives. Bengio et al., Estimating or Propagating Gradients Through Stochastic Neurons, 2013."""
    return [grads[0]]


NAMED: Final[Mapping[str, Callable[..., Gradients]]] = {
    "guided": _guided, "deconv": _deconvolution, "straight_through": _straight_through,
}  # fmt: skip
"""The gradients that tfg has by name; op libraries register others."""


def gradient_of(node: Node) -> registry.Gradient | None:
    """Return the gradient that a node names, or the gradient of its op, as `registry.gradient_function` does."""
    name = gradient_name(node)
    return NAMED.get(name) or registry.gradient_function(name or node.op)
