"""The builder of gradient functions: a GraphBuilder with the few shapes that recur in gradients.

A node may name another gradient than its op's: guided backpropagation and its relatives.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias

from ..graph.callers import gradient_name
from ..graph.graph import Graph, Node, Output
from ..registry import registry
from ..registry.registry import Composition
from ..support import dataclasses
from ..types.shapes import UNKNOWN, Shape, broadcasts_to
from .builder import GraphBuilder


@dataclasses.dataclass(frozen=True, slots=True)
class IndexedSlices:
    """A gradient that is zero but for some rows: `values[i]` belongs to row `indices[i]` of a tensor of `dense_shape`."""

    values: Output
    indices: Output
    dense_shape: Output


Gradient: TypeAlias = Output | IndexedSlices | None
"""The gradient with respect to a tensor; None if the result does not depend on the tensor."""

Gradients: TypeAlias = Sequence[Gradient]
"""The result of a gradient function: a gradient for each input of the node."""


class GradientBuilder(GraphBuilder):
    """The `g` of a gradient function `(g, node, *grads)`, which returns a gradient or None for each input."""

    sweep: str = "gradients"
    """The scope of the gradient computation that is being built."""
    shapes: Callable[[Output], Shape] | None = None
    """The inferred shapes of the forward graph, for `static_shape`."""

    def static_shape(self, x: Output) -> Shape:
        """Return the static shape of `x` in the forward graph; unknown for nodes that the gradient computation adds."""
        return UNKNOWN if self.shapes is None else self.shapes(x)

    def shape_of(self, x: Output) -> Output:
        """Add the shape of `x` as an int32 vector."""
        return self.Shape(x, out_type="int32")

    def zeros_like(self, x: Output) -> Output:
        return self.ZerosLike(x)

    def scalar_like(self, x: Output, value: float) -> Output:
        """Add a scalar constant of x's dtype."""
        return self.constant(value, x.dtype.base if x.dtype else None)

    def reduce_to(self, grad: Output, x: Output, other: Output) -> Output:
        """Sum `grad`, of the broadcast shape of x and `other`, to the shape of x.

        Return `grad` itself if x has the broadcast shape.
        """
        # TensorFlow leaves these nodes out too where the static shapes allow.
        if broadcasts_to(self.static_shape(other), self.static_shape(x)):
            return grad
        shape = self.shape_of(x)
        axes, _ = self.BroadcastGradientArgs(shape, self.shape_of(other))
        return self.Reshape(self.Sum(grad, axes), shape)

    def densify(self, grad: Output | IndexedSlices) -> Output:
        """Return the gradient as a plain tensor, with nodes added for IndexedSlices."""
        if isinstance(grad, Output):
            return grad
        # A row may occur several times, so the rows are added and not written.
        dense = self.UnsortedSegmentSum(grad.values, grad.indices, self.first_of(grad.dense_shape))
        return self.Reshape(dense, grad.dense_shape)

    def first_of(self, vector: Output) -> Output:
        """Return the first element of a vector, such as the number of rows in a shape."""
        return self.StridedSlice(
            vector, [0], [1], [1], begin_mask=0, end_mask=0, shrink_axis_mask=1, new_axis_mask=0, ellipsis_mask=0
        )

    def conj(self, x: Output) -> Output:
        """Return the complex conjugate, x itself if x is real."""
        return self.Conj(x) if x.dtype is not None and x.dtype.is_complex else x


def parts_of(node: Node, composition: Composition, shapes: Sequence[Shape]) -> tuple[Graph, list[Output], list[Output]]:
    """Return a graph of the parts of a node, for inputs of these shapes, and its inputs and outputs."""
    g = GradientBuilder()
    inputs = [g.Placeholder(dtype=value.base_dtype, shape=shape) for value, shape in zip(node.inputs, shapes, strict=True)]
    known = dict(zip(inputs, shapes))
    g.shapes = lambda output: known.get(output, UNKNOWN)
    return g.graph, inputs, list(composition.build(g, node, inputs))


# Gradients that a node may name in place of its op's.


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
    # tfg's names come first; any other is one that an op library registered.
    return NAMED.get(name) or registry.gradient_function(name or node.op)
