"""Losses by name, built between a tensor of a graph and labels that are fed, as Keras defines them."""

from __future__ import annotations

import re
from typing import Final

import numpy as np

from ..building.builder import GraphBuilder
from ..building.gradbuilder import GradientBuilder
from ..graph.graph import Graph, Output
from ..inference.inference import infer
from ..support import dataclasses
from ..support.arguments import checked
from ..support.errors import InvalidArgumentError
from ..types.arrays import Array
from ..types.dtypes import int64
from ..types.shapes import UNKNOWN, Shape, TensorSpec

_NAMED: Final = re.compile(r"(mse|mae|crossentropy)(?:\(\s*([^\s,()]+)\s*(?:,\s*([^\s,()]+)\s*)?\))?")
_EPSILON: Final = 1e-7
"""How far probabilities are kept from 0 and 1, as Keras does, so that their logarithms are finite."""


@dataclasses.dataclass(frozen=True, slots=True)
class NamedLoss:
    """A loss by name: `mse`, `mse(output)` or `mse(output, labels)`; None stands for the only output or the only labels."""

    kind: str
    output: str | None = None
    labels: str | None = None

    @classmethod
    @checked
    def parse(cls, text: str) -> NamedLoss | None:
        """Return the loss that a text names: mse, mae or crossentropy; None for a text that names a tensor."""
        match = _NAMED.fullmatch(text.strip())
        return cls(*match.groups()) if match else None


def is_sparse(kind: str, output: TensorSpec, labels: Array) -> bool:
    """True if labels are the numbers of classes for a crossentropy, not their probabilities."""
    classes = output.shape.dims[-1] if output.shape.dims else None
    # Integers in the shape of the output are probabilities of 0 and 1, such as one-hot labels.
    return kind == "crossentropy" and labels.dtype.kind in "iu" and classes != 1 and labels.shape[-1:] != (classes,)


def add_labelled_loss(
    graph: Graph, kind: str, output: str, labels: str, value: Array, *, residuals: bool = False
) -> tuple[Graph, str, dict[str, Array]]:
    """Return a copy of the graph with a loss and a placeholder for its labels, the name of the loss, and the labels to feed.

    `labels` becomes the name of the placeholder, and `value` decides its dtype and shape. The rest is as for `add_loss`.
    """
    graph = graph.copy()
    target = graph.output(output)
    sparse = is_sparse(kind, infer(graph).specs[target], value)
    dtype = int64 if sparse or target.dtype is None else target.dtype.base
    shape = Shape([None, *value.shape[1:]]) if value.ndim else UNKNOWN
    placeholder = GraphBuilder(graph).Placeholder(dtype=dtype, shape=shape, name=labels)
    loss = add_loss(graph, kind, target, placeholder, residuals=residuals)
    return graph, loss.name, {placeholder.name: value.astype(dtype.numpy)}


def add_loss(graph: Graph, kind: str, output: Output, labels: Output, *, residuals: bool = False) -> Output:
    """Add a loss to the graph: a scalar, or with `residuals` the differences whose squares Levenberg-Marquardt sums.

    mse is mean((output - labels)^2), mae mean(|output - labels|); labels take the output's shape. crossentropy takes
    probabilities: of a single class where the last dimension is 1, else of several classes. Probabilities of several
    classes are divided by their sum, and integer labels are the numbers of classes. Raises InvalidArgumentError for
    residuals of another loss than mse.
    """
    g = GradientBuilder(graph)
    if residuals and kind != "mse":
        raise InvalidArgumentError(f"{kind} has no residuals", hint="use mse for least squares")
    with g.name_scope("loss"):
        if kind == "crossentropy":
            return _crossentropy(g, output, labels)
        difference = g.Sub(output, g.Reshape(labels, g.shape_of(output)))
        if residuals:
            return difference
        return _mean(g, g.Square(difference) if kind == "mse" else g.Abs(difference))


def _crossentropy(g: GradientBuilder, output: Output, labels: Output) -> Output:
    dims = infer(g.graph).specs[output].shape.dims
    if not dims or not isinstance(dims[-1], int):
        raise InvalidArgumentError("the number of classes is unknown: its last dimension is unknown", node=output.node.name)
    if dims[-1] == 1:
        return _of_one_class(g, output, g.Reshape(labels, g.shape_of(output)))
    if labels.dtype is not None and labels.dtype.is_integer:
        one, zero = g.scalar_like(output, 1), g.scalar_like(output, 0)
        labels = g.OneHot(labels, g.constant(np.int32(dims[-1])), one, zero)
    return _of_classes(g, output, g.Reshape(labels, g.shape_of(output)))


def _of_one_class(g: GradientBuilder, output: Output, target: Output) -> Output:
    one = g.scalar_like(output, 1)
    clipped = _clipped(g, output)
    positive = g.Mul(target, g.Log(clipped))
    negative = g.Mul(g.Sub(one, target), g.Log(g.Sub(one, clipped)))
    return g.Neg(_mean(g, g.AddV2(positive, negative)))


def _of_classes(g: GradientBuilder, output: Output, target: Output) -> Output:
    last = g.constant(np.array([-1], np.int32))
    # Keras scales predictions so, too: their sum need not be exactly 1.
    shares = g.RealDiv(output, g.Sum(output, last, keep_dims=True))
    return g.Neg(_mean(g, g.Sum(g.Mul(target, g.Log(_clipped(g, shares))), last)))


def _clipped(g: GradientBuilder, x: Output) -> Output:
    return g.Minimum(g.Maximum(x, g.scalar_like(x, _EPSILON)), g.scalar_like(x, 1 - _EPSILON))


def _mean(g: GradientBuilder, x: Output) -> Output:
    """Add the mean over all elements."""
    axes = g.Range(g.constant(np.int32(0)), g.Rank(x), g.constant(np.int32(1)))
    return g.Mean(x, axes)
