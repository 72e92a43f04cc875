"""Einstein summation."""

from __future__ import annotations

import math
import re
import string
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...building.gradbuilder import GradientBuilder, Gradients
from ...graph.graph import Node, Output
from ...numerics import einsum as numerics
from ...numerics.einsum import ELLIPSIS
from ...numerics.half_precision import wide
from ...registry.registry import Cost, arrays, flops, gradient, kernel, multiply_adds, shape
from ...support.errors import InvalidArgumentError
from ...types.arrays import Array, Result
from ...types.dims import Dim, broadcast_dims
from ...types.shapes import UNKNOWN, Shape, TensorSpec, merge_dims


@kernel("Einsum", facts=("half_allow",))
def einsum(inputs: list[Array], *, equation: str) -> Result:
    """Sum products over the labels absent from the output, for one or two inputs."""
    dtype = inputs[0].dtype
    try:
        # Both inputs are widened, and the sum is rounded once: narrow partial sums would lose more than their factors have.
        return np.asarray(numerics.einsum(equation, [wide(np.asarray(x)) for x in inputs])).astype(dtype, copy=False)
    except ValueError as error:
        raise InvalidArgumentError(f"einsum '{equation}': {error}") from None


@shape("Einsum")
def einsum_shape(inputs: list[TensorSpec], *, equation: str) -> Shape:
    sizes, labels = _sizes(inputs, equation)
    if labels is None:
        return UNKNOWN
    return Shape(sizes[label] for label in labels)


def _parsed(equation: str, inputs: Sequence[object]) -> Any:
    try:
        parsed = numerics.parse(equation)
        _check_count(parsed, inputs)
        return parsed
    except ValueError as error:
        raise InvalidArgumentError(f"einsum '{equation}': {error}") from None


def _check_count(equation: Any, inputs: Sequence[object]) -> None:
    if len(equation.inputs) != len(inputs):
        raise ValueError(f"Expected {len(equation.inputs)} inputs but got: {len(inputs)}")


def _sizes(inputs: list[TensorSpec], equation: str) -> tuple[Any, Any]:
    """Return the size of each label, and the labels of the output; None if a rank is unknown."""
    try:
        parsed = numerics.parse(equation)
        _check_count(parsed, inputs)
        inputs = [_labelled(x, subscripts) for x, subscripts in zip(inputs, parsed.inputs)]
        if any(x.rank is None for x in inputs):
            return {}, None
        labels = [numerics.expand(s, len(x.shape)) for s, x in zip(parsed.inputs, inputs)]
        out = numerics.output_labels(parsed, labels)
    except ValueError as error:
        raise InvalidArgumentError(f"einsum '{equation}': {error}") from None
    sizes: dict[Any, Any] = {}
    for names, x in zip(labels, inputs):
        for label, dim in zip(names, x.shape):
            # A number is a dimension under the ellipsis: those broadcast, and named ones never do.
            merge = broadcast_dims if isinstance(label, int) else merge_dims
            sizes[label] = merge(sizes[label], dim) if label in sizes else dim
    return sizes, out


def _labelled(x: TensorSpec, subscripts: Any) -> TensorSpec:
    """Return a spec with a dimension for each label of an input of unknown rank without an ellipsis."""
    if x.rank is not None or numerics.ELLIPSIS in subscripts:
        return x
    return TensorSpec(x.dtype, Shape([None] * len(subscripts)))


def _labels_of(inputs: list[TensorSpec], equation: str) -> list[dict[Any, Any]]:
    """Return the labels of each input with their sizes there."""
    subscripts = _parsed(equation, inputs).inputs
    return [dict(zip(numerics.expand(s, len(x.shape)), x.shape)) for s, x in zip(subscripts, inputs)]


@flops("Einsum")
def einsum_flops(inputs: list[TensorSpec], *, equation: str) -> Cost:
    """Sums over labels of a single input; then a multiply-add for each combination, a product if no label is summed."""
    sizes, labels = _sizes(inputs, equation)
    if labels is None:
        return multiply_adds(Dim.unknown())
    own = _labels_of(inputs, equation)
    # Labels that only one input has are summed before the product, as the kernel does.
    lone = [set(names) - set(labels) - {name for other in own if other is not names for name in other} for names in own]
    cost = Cost()
    for names, alone in zip(own, lone):
        elements = math.prod(names.values())
        cost += Cost(elements - math.prod(size for name, size in names.items() if name not in alone))
    if len(inputs) == 1:
        return cost
    joint = {name for names, alone in zip(own, lone) for name in names if name not in alone}
    count = math.prod(sizes[name] for name in joint)
    return cost + (multiply_adds(count) if joint - set(labels) else Cost(count))


@gradient("Einsum")
def einsum_gradient(g: GradientBuilder, node: Node, grad: Output) -> Gradients:
    """Contract, for each input, the output's subscripts and the other input's to the input's subscripts."""
    equation = _parsed(node.attr("equation").decode("utf-8", "surrogateescape"), node.inputs)
    if len(node.inputs) == 1:
        return [_input_gradient(g, [grad], [equation.output], node.inputs[0], equation.inputs[0])]
    x, y = node.inputs
    first, second = equation.inputs
    # The gradient for a factor is a sum of products as well: of `grad` with the other factor, over the labels that x lacks.
    dx = _input_gradient(g, [grad, g.conj(y)], [equation.output, second], x, first)
    dy = _input_gradient(g, [grad, g.conj(x)], [equation.output, first], y, second)
    if ELLIPSIS in first and ELLIPSIS in second:
        return [_sum_broadcast(g, dx, first, x, y, second), _sum_broadcast(g, dy, second, y, x, first)]
    if ELLIPSIS in first or ELLIPSIS in second:
        return [g.reduce_to(dx, x, dx) if ELLIPSIS in second else dx, g.reduce_to(dy, y, dy) if ELLIPSIS in first else dy]
    return [dx, dy]


def _input_gradient(g: GradientBuilder, operands: list[Output], subscripts: list[str], x: Output, labels: str) -> Output:
    """Return the product of the operands with the labels of x; labels only in x are spread, repeated labels are inflated."""
    available = set("".join(subscripts)) - {"."}
    named = labels.replace(ELLIPSIS, "")
    is_direct = set(named) <= available and len(set(named)) == len(named)
    if is_direct:
        return _einsum(g, operands, subscripts, _with_ellipsis(labels, subscripts))
    reduced = "".join(label for label in dict.fromkeys(named) if label in available)
    if any(ELLIPSIS in s for s in subscripts):
        reduced = ELLIPSIS + reduced
    # A label that the product lacks was summed in the forward pass: its gradient is the same along the whole axis, hence the
    # product with ones.
    small = _einsum(g, operands, subscripts, reduced)
    return _einsum(g, [small, g.OnesLike(x)], [reduced, labels], _with_ellipsis(labels, [reduced]))


def _with_ellipsis(labels: str, subscripts: list[str]) -> str:
    """Return `labels`, after an ellipsis if only the other inputs have an ellipsis, whose axes are summed later."""
    return labels if ELLIPSIS in labels or all(ELLIPSIS not in s for s in subscripts) else ELLIPSIS + labels


def _einsum(g: GradientBuilder, operands: list[Output], subscripts: list[str], output: str) -> Output:
    return g.Einsum(list(operands), equation=f"{','.join(subscripts)}->{output}")


def _sum_broadcast(
    g: GradientBuilder, grad: Output, subscripts: str, x: Output, other: Output, other_subscripts: str
) -> Output:
    """Sum the gradient of x over the broadcast axes of its ellipsis."""
    head, _ = subscripts.split(ELLIPSIS)
    own, theirs = (_ellipsis_shape(g, v, s) for v, s in ((x, subscripts), (other, other_subscripts)))
    # At run time: which dimensions broadcast depends on sizes that may be unknown before.
    axes, _ = g.BroadcastGradientArgs(own, theirs)
    axes = g.AddV2(axes, g.constant(len(head), "int32"))
    return g.Reshape(g.Sum(grad, axes), g.shape_of(x))


def _ellipsis_shape(g: GradientBuilder, x: Output, subscripts: str) -> Output:
    head, tail = subscripts.split(ELLIPSIS)
    # With nothing behind the ellipsis the slice would end at -0, which is the beginning.
    end_mask = 0 if tail else 1
    return g.StridedSlice(g.shape_of(x), [len(head)], [-len(tail)], [1], end_mask=end_mask)


@arrays("Einsum")
def einsum_arrays(xp: Any, inputs: Sequence[Any], *, equation: str) -> Any:
    """Return the sum of products; labels that the output repeats are filled in afterwards, on diagonals."""
    equation = _lettered(equation)
    labels = re.findall(r"\.\.\.|.", equation.partition("->")[2])
    own = list(dict.fromkeys(labels))
    # TensorFlow's op alone repeats labels in its output: NumPy and JAX refuse them, and ONNX's Einsum too.
    result = xp.einsum(f"{equation.partition('->')[0]}->{''.join(own)}", *inputs)
    for place, label in enumerate(labels):
        if own[place : place + 1] != [label]:
            own.insert(place, label)
            result = _on_diagonal(xp, result, own, place)
    return result


def _lettered(equation: str) -> str:
    """Return an equation with letters for all labels: other characters are labels in TensorFlow alone."""
    others = [label for label in dict.fromkeys(equation) if label not in f"{string.ascii_letters},.->"]
    letters = (letter for letter in string.ascii_letters if letter not in equation)
    return equation.translate({ord(label): letter for label, letter in zip(others, letters)})


def _on_diagonal(xp: Any, x: Any, labels: Sequence[str], place: int) -> Any:
    """Return an array with a new axis at a place of `labels`: the elements where it equals the axis of its label, else 0."""
    ndim = x.ndim + 1
    first, second = (
        axis + ndim - len(labels) if ELLIPSIS in labels[:axis] else axis for axis in (labels.index(labels[place]), place)
    )
    wide = x[(*[slice(None)] * second, None)]
    places = xp.arange(x.shape[first])
    row, column = (places[tuple(slice(None) if axis == own else None for axis in range(ndim))] for own in (first, second))
    return xp.where(row == column, wide, xp.zeros_like(wide))
