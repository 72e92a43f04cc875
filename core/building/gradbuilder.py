"""The builder of gradient functions: a GraphBuilder with the few shapes that recur in gradients."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from ..graph.graph import Graph, Node, Output
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
"""The gradient with respect to a tensor; None where the result does not depend on the tensor."""

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

        Return `grad` itself where x has the broadcast shape.
        """
        if broadcasts_to(self.static_shape(other), self.static_shape(x)):
            return grad
        shape = self.shape_of(x)
        axes, _ = self.BroadcastGradientArgs(shape, self.shape_of(other))
        return self.Reshape(self.Sum(grad, axes), shape)

    def densify(self, grad: Output | IndexedSlices) -> Output:
        """Return the gradient as a plain tensor, with nodes added for IndexedSlices."""
        if isinstance(grad, Output):
            return grad
        dense = self.UnsortedSegmentSum(grad.values, grad.indices, self.first_of(grad.dense_shape))
        return self.Reshape(dense, grad.dense_shape)

    def first_of(self, vector: Output) -> Output:
        """Return the first element of a vector, such as the number of rows in a shape."""
        return self.StridedSlice(
            vector, [0], [1], [1], begin_mask=0, end_mask=0, shrink_axis_mask=1, new_axis_mask=0, ellipsis_mask=0
        )

    def conj(self, x: Output) -> Output:
        """Return the complex conjugate, x itself where x is real."""
        return self.Conj(x) if x.dtype is not None and x.dtype.is_complex else x


def parts_of(node: Node, composition: Composition, shapes: Sequence[Shape]) -> tuple[Graph, list[Output], list[Output]]:
    """Return a graph of the parts of a node, for inputs of these shapes, and its inputs and outputs."""
    g = GradientBuilder()
    inputs = [g.Placeholder(dtype=value.base_dtype, shape=shape) for value, shape in zip(node.inputs, shapes, strict=True)]
    known = dict(zip(inputs, shapes))
    g.shapes = lambda output: known.get(output, UNKNOWN)
    return g.graph, inputs, list(composition.build(g, node, inputs))
