"""Loops whose tensors grow from one iteration to the next: their shapes as polynomials in the iteration."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

from ..dims import Dim, DimLike, substitute
from ..functions import Function
from ..graph import Node, Output
from ..inference import infer
from ..registry import Cost
from ..shapes import Shape, TensorSpec
from .report import NodeCost, add_up


@dataclasses.dataclass(frozen=True, slots=True)
class Growth:
    """The specs of a loop's variables at the iteration that `symbol` stands for, the first being 0."""

    symbol: str
    specs: Sequence[TensorSpec]

    def after(self, rounds: int) -> list[TensorSpec]:
        """The specs that leave the loop."""
        return [_at(spec, {self.symbol: rounds}) for spec in self.specs]

    def summed(self, costs: Sequence[NodeCost], rounds: int) -> list[NodeCost]:
        """The costs of iterations 0 to `rounds` - 1 together."""
        return [_summed(cost, self.symbol, rounds) for cost in costs]


def changing(body: Function, specs: Sequence[TensorSpec]) -> list[TensorSpec]:
    """The specs of a loop's variables in any iteration: values only of those that the body passes on."""
    kept = unchanged(body)
    return [spec if arg in kept else dataclasses.replace(spec, value=None) for spec, arg in zip(specs, body.args)]


def unchanged(body: Function) -> set[Node]:
    """The arguments of a loop's body that it returns as they are; of a function that is no loop's body maybe none."""
    pairs = zip(reversed(body.args), reversed(body.results))
    return {arg for arg, value in pairs if _passed_on(value) == arg.output()}


def _passed_on(value: Output) -> Output:
    while value.node.op == "Identity":
        value = value.node.inputs[0]
    return value


def find_growth(
    body: Function, specs: Sequence[TensorSpec], symbol: str, library: Mapping[str, Function]
) -> Growth | None:
    """How a loop's variables grow, None where all keep their shapes or they do not grow evenly."""
    specs = changing(body, specs)
    after = _next(body, specs, library)
    if all(str(a.shape) == str(b.shape) for a, b in zip(specs, after)):
        return None
    if any(a.shape.rank != b.shape.rank for a, b in zip(specs, after)):
        return None
    grown = [_growing(a, b, symbol) for a, b in zip(specs, after)]
    step = Dim.symbol(symbol) + 1
    expected = [_at(spec, {symbol: step}).shape for spec in grown]
    found = [spec.shape for spec in _next(body, grown, library)]
    return Growth(symbol, grown) if list(map(str, expected)) == list(map(str, found)) else None


def _next(body: Function, specs: Sequence[TensorSpec], library: Mapping[str, Function]) -> list[TensorSpec]:
    """The specs that an iteration makes of `specs`."""
    inference = infer(body.body, {arg.output(): spec for arg, spec in zip(body.args, specs)}, library)
    return [inference.specs[value] for value in body.results]


def _growing(before: TensorSpec, after: TensorSpec, symbol: str) -> TensorSpec:
    if before.shape.dims is None or after.shape.dims is None:
        return before
    iteration = Dim.symbol(symbol)
    dims: list[DimLike] = [a + (b - a) * iteration for a, b in zip(before.shape.dims, after.shape.dims)]
    return dataclasses.replace(before, shape=Shape(dims))


def _at(spec: TensorSpec, values: Mapping[str, DimLike]) -> TensorSpec:
    if spec.shape.dims is None:
        return spec
    return dataclasses.replace(spec, shape=Shape(substitute(dim, values) for dim in spec.shape.dims))


def _summed(node: NodeCost, symbol: str, rounds: int) -> NodeCost:
    def total(value: DimLike) -> DimLike:
        if not isinstance(value, Dim) or symbol not in value.symbols:
            return value * rounds
        return add_up(substitute(value, {symbol: i}) for i in range(rounds))

    cost = Cost(total(node.cost.flops), total(node.cost.macs), total(node.cost.transcendentals))
    return dataclasses.replace(node, cost=cost, bytes=total(node.bytes), times=total(node.times))
