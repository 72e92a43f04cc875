"""Ops composed of other ops: engines run the parts, and gradients are those of the parts, built again."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ...building.gradbuilder import GradientBuilder, Gradients
from ...graph.graph import Node, Output
from ...graph.traversal import topological_order
from ...registry import registry

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
