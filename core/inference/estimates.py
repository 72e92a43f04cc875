"""Estimates: what the shapes of a graph are likely to be, for counts of FLOPs.

Inference gives facts, which hold in every run. An estimate assumes two things more: an unknown size is not 1, and of two
unknown sizes that broadcast the first is the size of the result. So the count of a training is a formula of its batch. A run
of a batch of 1 breaks the assumptions, so nothing that changes or compiles a graph may import this module
(tests/test_architecture.py).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..graph.graph import Function, Graph, Node, Output
from ..registry import registry
from ..registry.registry import Cost
from ..support import dataclasses
from ..support.gc_control import rare_collection
from ..types.dims import Dim, DimLike, with_broadcasts
from ..types.shapes import Shape, TensorSpec
from ..types.tensors import FuncRef
from .inference import Answers, Derived, Library, LoopRule, derive, derive_again


class Estimate(Derived):
    """The likely spec of every output; no fact, so no `Inference`."""

    __slots__ = ()


@rare_collection()
def estimate(
    graph: Graph,
    overrides: Mapping[Output, TensorSpec],
    functions: Mapping[str, Function] | None = None,
    loop_rule: LoopRule | None = None,
    answers: Answers | None = None,
) -> Estimate:
    """Estimate the specs of all outputs of `graph`; arguments as of `inference.infer`, `answers` from estimates only."""
    library = Library(graph.functions if functions is None else functions, answers, loop_rule, _LIKELY)
    derived = derive(graph, overrides, library)
    return Estimate(derived.specs, derived.reasons, derived.records)


def estimate_again(
    nodes: Sequence[Node],
    before: Estimate,
    overrides: Mapping[Output, TensorSpec],
    functions: Mapping[str, Function],
    loop_rule: LoopRule,
) -> Estimate:
    """Estimate the specs of `nodes`, in topological order, anew from `overrides` and all other specs in `before`."""
    derived = derive_again(nodes, before, overrides, Library(functions, None, loop_rule, _LIKELY))
    return Estimate(derived.specs, derived.reasons)


def estimated_loop(
    functions: Mapping[str, Function], body: FuncRef, inputs: Sequence[TensorSpec], counter: Sequence[TensorSpec]
) -> list[TensorSpec] | None:
    """Estimate the specs of a loop's variables in every iteration and after the loop; None where the body is unknown."""
    return Library(functions, assumptions=_LIKELY).loop(body, inputs, counter)


def likely_cost(cost: Cost) -> Cost:
    """Return a cost of likely sizes: FLOPs functions broadcast shapes themselves."""
    return Cost(*(_likely(getattr(cost, field.name)) for field in dataclasses.fields(cost)))


class _Likely:
    """The assumptions of every estimate."""

    def shape_function(self, op: str) -> Callable[..., Any] | None:
        return registry.shape_function(op, likely=True)

    def settled(self, spec: TensorSpec) -> TensorSpec:
        if spec.shape.dims is not None and any(map(_is_undecided, spec.shape.dims)):
            spec = dataclasses.replace(spec, shape=Shape(map(_likely, spec.shape.dims)))
        # A size that was computed from shapes is a value, until an op makes a shape of it.
        if spec.value is not None and spec.value.dtype == object and any(map(_is_undecided, spec.value.flat)):
            value = spec.value.copy()
            value.flat[:] = [_likely(item) for item in value.flat]
            spec = dataclasses.replace(spec, value=value)
        return spec


_LIKELY = _Likely()


def _is_undecided(dim: Any) -> bool:
    return isinstance(dim, Dim) and dim.has_broadcast


def _likely(dim: DimLike) -> DimLike:
    return with_broadcasts(dim, _first)


def _first(operands: Sequence[DimLike]) -> DimLike:
    """Return the number among sizes that broadcast, or the first size with a name; a new unknown where none has a name."""
    named = [dim for dim in operands if not (isinstance(dim, Dim) and dim.is_anonymous)]
    numbers = [dim for dim in named if isinstance(dim, int) and dim != 1]
    return next(iter((*numbers, *named)), Dim.unknown())
