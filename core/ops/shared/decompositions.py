"""Ops composed of other ops: engines run the parts, and gradients are those of the parts, built again; and gradients that are
single ops.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ...building.gradbuilder import GradientBuilder, Gradients
from ...graph.graph import Node, Output
from ...graph.traversal import topological_order
from ...registry import registry
from ...registry.catalog import CATALOG

Build = Callable[[GradientBuilder, Node, Sequence[Output]], Sequence[Output]]


def gradient_by_parts(*ops: str) -> Callable[[Build], Build]:
    """Register the composition of ops, (g, node, inputs) -> outputs; their gradient follows from the parts."""

    def register(build: Build) -> Build:
        registry.gradient(*ops)(functools.partial(_gradient, build))
        return build

    return register


def composed(*ops: str, static: tuple[int, ...] = ()) -> Callable[[Build], Build]:
    """Register the composition of ops as all that follows from it: the gradient, and what XLA and ONNX run."""

    def register(build: Build) -> Build:
        return registry.composed(*ops, static=static)(gradient_by_parts(*ops)(build))

    return register


def by_ops(*terms: str) -> Callable[..., Gradients]:
    """Return the gradient function that states an op for each input: "LRNGrad dy 0 y" is LRNGrad of the gradient, the first
    input and the output, and "Mul dy (Sigmoid 0)" a product with the Sigmoid of the input.

    `y1` is the second output, `dy1` its gradient, `#0` the shape of the first input, and `=0` a number. "dy" alone hands the
    gradient on; "" is no gradient, as for the inputs beyond the terms. `same` is the node's own op. Ops have the node's
    attributes; a name in small letters is a function of the builder.
    """
    parsed = list(map(_parsed, terms))

    def gradient(g: GradientBuilder, node: Node, *grads: Output) -> Gradients:
        made = [_made(g, node, grads, term) if term else None for term in parsed]
        return [*made, *[None] * (len(node.inputs) - len(made))]

    return gradient


def by_outputs(term: str) -> Callable[..., Gradients]:
    """Return the gradient function that states one op, whose outputs are the gradients of the inputs."""
    parsed = _parsed(term)
    return lambda g, node, *grads: list(_made(g, node, grads, parsed))


def _parsed(term: str) -> list[Any]:
    """Return an op and its operands, which are texts or lists of this kind."""

    def listed(tokens: Iterator[str]) -> list[Any]:
        # Up to the closing parenthesis, which the inner call takes.
        return [listed(tokens) if token == "(" else token for token in iter(lambda: next(tokens, ")"), ")")]

    return listed(iter(re.findall(r"[()]|[^\s()]+", term)))


def _made(g: GradientBuilder, node: Node, grads: Sequence[Output], term: Any) -> Any:
    if term == ["dy"]:
        return grads[0]
    if isinstance(term, list):
        name = node.op if term[0] == "same" else term[0]
        values = [_made(g, node, grads, operand) for operand in term[1:]]
        return getattr(g, name)(*values) if name[0].islower() else g.apply(name, *values, **shared_attrs(node, name))
    kind = term.rstrip("0123456789")
    number = int(term[len(kind) :] or 0)
    match kind:
        case "=":
            return number
        case "dy":
            return grads[number]
        case "y":
            return node.output(number)
        case "#":
            return g.shape_of(node.inputs[number])
    return node.inputs[number]


def shared_attrs(node: Node, op: str) -> dict[str, Any]:
    """Return the node's attributes that `op` has as well, but those that inputs of `op` decide."""
    decided = {name for arg in CATALOG[op].inputs for name in arg.attr_names}
    return {name: node.attr(name) for name in CATALOG[op].attrs if name in CATALOG[node.op].attrs and name not in decided}


def _gradient(build: Build, g: GradientBuilder, node: Node, *grads: Output | None) -> Gradients:
    """Return the gradients of the inputs. Copies of the inputs are differentiated, as an input may depend on another."""
    inputs = [g.Identity(value) for value in node.inputs]
    outputs = build(g, node, inputs)
    arrived: dict[Output, list[Output]] = {}
    for output, grad in zip(outputs, grads):
        if grad is not None:
            arrived.setdefault(output, []).append(grad)
    # The reverse sweep on the parts alone: the node itself stays as it is, and its gradient is that of the nodes it stands
    # for.
    for part in reversed(_parts(outputs, inputs)):
        for value, grad in zip(part.inputs, _taken_back(g, part, arrived)):
            if grad is not None and _carries(value):
                arrived.setdefault(value, []).append(g.densify(grad))
    return [_sum(g, arrived.get(value, [])) for value in inputs]


def _parts(outputs: Sequence[Output], inputs: Sequence[Output]) -> list[Node]:
    """Return the nodes between, in order."""
    ends = {value.node for value in inputs}
    members = dict.fromkeys(output.node for output in outputs if output.node not in ends)
    stack = list(members)
    while stack:
        for source in _sources(stack.pop()):
            if source not in members and source not in ends:
                members[source] = None
                stack.append(source)
    return topological_order(members, lambda node: (source for source in _sources(node) if source in members))


def _sources(node: Node) -> Iterator[Node]:
    return (value.node for value in node.inputs)


def _taken_back(g: GradientBuilder, part: Node, arrived: dict[Output, list[Output]]) -> Gradients:
    outputs = [part.output(i) for i in range(len(part.output_dtypes))]
    grads = [_sum(g, arrived.get(output, [])) for output in outputs]
    function = registry.gradient_function(part.op)
    if function is registry.NOT_DIFFERENTIABLE or not any(grads):
        return [None] * len(part.inputs)
    assert callable(function), part.op
    # Gradient functions of several outputs expect a gradient for each.
    dense = [g.zeros_like(output) if grad is None and _carries(output) else grad for output, grad in zip(outputs, grads)]
    gradients: Any = function(g, part, *dense)
    return gradients


def _carries(value: Output) -> bool:
    return value.dtype is not None and (value.dtype.is_floating or value.dtype.is_complex)


def _sum(g: GradientBuilder, grads: list[Output]) -> Output | None:
    if len(grads) > 1:
        return g.AddN(grads)
    return grads[0] if grads else None
