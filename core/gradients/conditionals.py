"""Gradients of V1 conditionals: a Switch on the way forward is a Merge on the way back, and the other way round."""

from __future__ import annotations

from ..building.gradbuilder import Gradients
from ..control_flow.deadness import Deadness
from ..graph.graph import Node, Output
from ..support.errors import UnimplementedError
from .indexed_slices import alike, gradient_dtype, map_parts, zeros_for
from .sweep import Sweep
from .switch_branches import branches_of


def switch_gradient(backward: Sweep, node: Node, grads: Gradients) -> Gradients:
    """Return the gradient from the branch that was taken; a branch without a gradient contributes zeros."""
    g = backward.builder
    dtype = gradient_dtype(next(grad for grad in grads if grad is not None))
    branches = [zeros_for(g, node.output(i), dtype) if grad is None else grad for i, grad in enumerate(grads)]
    return [map_parts(lambda *tensors: g.Merge(tensors)[0], *alike([g, g], branches)), None]


def merge_gradient(backward: Sweep, node: Node, grads: Gradients) -> Gradients:
    """Return the gradient, sent to the input that came from the branch taken."""
    g = backward.builder
    grad = grads[0]
    if grad is None:
        return [None] * len(node.inputs)
    predicate, branch_of_input = merge_predicate(node, backward.loops.deadness)
    return [map_parts(lambda part, branch=branch: g.Switch(part, predicate)[branch], grad) for branch in branch_of_input]


def merge_predicate(merge: Node, deadness: Deadness) -> tuple[Output, tuple[int, int]]:
    """Return the predicate of the branches that a cond's Merge joins, and the branch of each of the two inputs."""
    if len(merge.inputs) == 2:
        first, second = merge.inputs
        other = deadness.of_value(second)
        for predicate, branch in branches_of(first, deadness):
            if (predicate, 1 - branch) in other:
                return predicate, (branch, 1 - branch)
    raise UnimplementedError("its inputs are not the two branches of one predicate", node=merge.name, op=merge.op)
