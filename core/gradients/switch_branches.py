"""Branches of V1 conditionals that values lie on."""

from __future__ import annotations

from collections.abc import Iterable

from ..building.gradbuilder import GradientBuilder, IndexedSlices
from ..control_flow.deadness import Deadness, Literal
from ..graph.graph import Output
from ..support.errors import UnimplementedError
from .indexed_slices import alike, gradient_dtype, map_parts, zeros_for


def branches_of(value: Output, deadness: Deadness) -> list[tuple[Output, int]]:
    """Return the predicates that decide whether `value` is alive, outermost first, each with the value's branch.

    Raises UnimplementedError where a Merge on the way joins other values than the two branches of a predicate.
    """
    return in_order(deadness.of_value(value), deadness, f"whether '{value}' exists")


def in_order(literals: Iterable[Literal], deadness: Deadness, decided: str) -> list[tuple[Output, int]]:
    """Return predicates with branches, outermost first.

    Raises UnimplementedError for a literal that is no predicate; the message says in `decided` the matter at stake.
    """
    predicates = []
    for predicate, branch in literals:
        if not isinstance(predicate, Output):
            raise UnimplementedError(
                f"it decides {decided}, and its inputs are not the two branches of one predicate",
                node=predicate.name,
                op=predicate.op,
            )
        predicates.append((predicate, branch))
    return sorted(predicates, key=lambda literal: (len(deadness.of_node(literal[0].node)), literal[0].name))


def zeros_elsewhere(
    g: GradientBuilder, value: Output, grad: Output | IndexedSlices, branches: Iterable[tuple[Output, int]]
) -> Output | IndexedSlices:
    """Return the gradient of a value that is read on these branches only, outermost first: zeros on all other branches."""
    zeros = zeros_for(g, value, gradient_dtype(grad))
    for predicate, branch in reversed(list(branches)):
        other = g.Switch(zeros, predicate)[1 - branch]
        grad = map_parts(lambda *tensors: g.Merge(tensors)[0], *alike([g, g], [other, grad]))
    return grad
