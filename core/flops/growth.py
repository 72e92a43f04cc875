"""Growth of loop variables: shapes, counters and lengths of lists as polynomials in the iteration."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from ..graph.graph import Function
from ..inference.containers import is_empty_list
from ..inference.estimates import estimate
from ..inference.inference import LoopRule
from ..support import dataclasses
from ..types.dims import Dim, DimLike, floor_div, substitute
from ..types.shapes import POSITION, UNKNOWN, Shape, TensorSpec, common_value, substituted

Advance = Callable[[Sequence[TensorSpec]], Sequence[TensorSpec]]
"""A function from the specs of a loop's variables before an iteration to the specs after."""


@dataclasses.dataclass(frozen=True, slots=True)
class Growth:
    """The specs of a loop's variables at the iteration that `symbol` stands for, the first being 0.

    A dimension that does not change linearly is anonymous; a value that does not is unknown.
    """

    symbol: str
    specs: Sequence[TensorSpec]

    def after(self, rounds: DimLike) -> list[TensorSpec]:
        """Return the specs that leave the loop."""
        return [substituted(spec, {self.symbol: rounds}) for spec in self.specs]


def find_growth(entering: Sequence[TensorSpec], advance: Advance, symbol: str) -> Growth:
    """Return the growth of a loop's variables: the change of the first iteration, as far as every iteration repeats the
    change.
    """
    specs = [_growing(before, after, symbol) for before, after in zip(entering, advance(entering))]
    step = Dim.symbol(symbol) + 1
    fresh: set[Dim] = set()
    while True:
        expected = [substituted(spec, {symbol: step}) for spec in specs]
        agreed = [_agreed(spec, want, got, fresh) for spec, want, got in zip(specs, expected, advance(specs))]
        # Each turn gives up the change of at least one dimension or value, so the turns end.
        if all(_is_same(a, b) for a, b in zip(specs, agreed)):
            return Growth(symbol, specs)
        specs = agreed


def while_growth(
    body: Function, entering: Sequence[TensorSpec], symbol: str, library: Mapping[str, Function], rule: LoopRule
) -> Growth:
    """Return the growth of a functional loop's variables; `rule` infers loops in the body."""
    # The elements of such a list may differ in shape by their position, which one spec for all elements could not say.
    collected = [i for i, spec in enumerate(entering) if is_empty_list(spec) and _is_pushed_to(body, i)]
    others = [i for i in range(len(entering)) if i not in collected]

    def after(specs: Sequence[TensorSpec]) -> list[TensorSpec]:
        arg_specs = {arg.output(): spec for arg, spec in zip(body.args, entering)}
        arg_specs |= {body.args[i].output(): spec for i, spec in zip(others, specs)}
        inference = estimate(body.body, arg_specs, library, rule)
        return [inference.specs[value] for value in body.results]

    def advance(specs: Sequence[TensorSpec]) -> list[TensorSpec]:
        grown = after(specs)
        return [grown[i] for i in others]

    growth = find_growth([entering[i] for i in others], advance, symbol)
    if not collected:
        return growth
    grown = after(growth.specs)
    specs = dict(zip(others, growth.specs)) | {i: _collecting(entering[i], grown[i], symbol) for i in collected}
    return Growth(symbol, [specs[i] for i in range(len(entering))])


def _is_pushed_to(body: Function, index: int) -> bool:
    """Return True for a list that each iteration only pushes a single element to."""
    value, result = body.args[index].output(), body.results[index].node
    return list(value.node.uses) == [result] and result.op == "TensorListPushBack" and result.inputs[0] == value


def _collecting(entering: TensorSpec, after: TensorSpec, symbol: str) -> TensorSpec:
    """Return the spec of a list in iteration `symbol`: as long as the iteration, with shapes that may depend on the
    position.
    """
    elements = substituted(after.handle[0], {symbol: Dim.symbol(POSITION)})
    length = dataclasses.replace(entering.handle[1], value=np.array(Dim.symbol(symbol), object))
    return dataclasses.replace(entering, handle=(elements, length, *entering.handle[2:]))


_MOST_ADDED: Final = 10_000
"""The largest number of iterations whose costs are added in turn; beyond, only a closed formula is used."""


def summed(value: DimLike, symbol: str, rounds: DimLike) -> DimLike | None:
    """Return the sum of `value` over the iterations 0 to `rounds` - 1; None where no formula exists."""
    if not isinstance(value, Dim) or symbol not in value.symbols:
        return value * rounds
    parts: dict[int, DimLike] = {}
    for monomial, coefficient in value.terms.items():
        powers = dict(monomial)
        power = powers.pop(symbol, 0)
        rest = Dim({tuple(powers.items()): coefficient}) if powers else coefficient
        if isinstance(rest, Dim) and symbol in rest.symbols:
            # The number of iterations may come from a constant in the graph, and be too large to add up the iterations one by
            # one.
            is_short = isinstance(rounds, int) and rounds <= _MOST_ADDED
            return sum(substitute(value, {symbol: i}) for i in range(rounds)) if is_short else None
        parts[power] = parts.get(power, 0) + rest
    return sum(rest * _power_sum(power, rounds) for power, rest in parts.items())


def _power_sum(power: int, rounds: DimLike) -> DimLike:
    """Return 0^k + ... + (n-1)^k: the sum over j of S(k, j) n(n-1)...(n-j) / (j+1) with Stirling numbers S of the second
    kind.
    """
    if power == 0:
        return rounds
    total: DimLike = 0
    falling = rounds
    for j in range(1, power + 1):
        falling = falling * (rounds - j)
        # The division is exact: of j + 1 numbers in a row, one is divisible by j + 1.
        total = total + _stirling(power, j) * floor_div(falling, j + 1)
    return total


def _stirling(n: int, k: int) -> int:
    return int(sum((-1) ** (k - i) * math.comb(k, i) * i**n for i in range(k + 1)) // math.factorial(k))


def _growing(before: TensorSpec, after: TensorSpec, symbol: str) -> TensorSpec:
    """Return the spec that is `before` in iteration 0 and `after` in iteration 1, with linear change between and beyond."""
    iteration = Dim.symbol(symbol)
    value = common_value(before, after)
    if value is None:
        value = _growing_value(before, after, iteration)
    shape = _growing_shape(before.shape, after.shape, iteration)
    return TensorSpec(before.dtype, shape, value, _growing_handle(before, after, symbol))


def _growing_handle(before: TensorSpec, after: TensorSpec, symbol: str) -> tuple[TensorSpec, ...]:
    """Return a growing handle; a list that was empty has the elements of the first iteration."""
    if len(before.handle) != len(after.handle):
        return before.handle or after.handle
    parts = [_growing(x, y, symbol) for x, y in zip(before.handle, after.handle)]
    if parts and (is_empty_list(before) or before.handle[0].shape.dims is None):
        parts[0] = after.handle[0]
    return tuple(parts)


def _growing_shape(before: Shape, after: Shape, iteration: DimLike) -> Shape:
    if before.dims is None or after.dims is None:
        return UNKNOWN
    if len(before.dims) != len(after.dims):
        return UNKNOWN
    return Shape(a + (b - a) * iteration for a, b in zip(before.dims, after.dims))


def _growing_value(before: TensorSpec, after: TensorSpec, iteration: DimLike) -> np.ndarray[Any, Any] | None:
    """Return the value of a growing counter, a single integer; None for other values."""
    # Only counters decide sizes: sums of floats round, so no formula holds for them.
    if before.value is None or after.value is None or not before.dtype.is_integer:
        return None
    if before.value.size != 1 or after.value.size != 1:
        return None
    first, second = before.value.item(), after.value.item()
    number = first + (second - first) * iteration
    return np.array(number, object if isinstance(number, Dim) else before.dtype.numpy).reshape(before.value.shape)


def _agreed(spec: TensorSpec, want: TensorSpec, got: TensorSpec, fresh: set[Dim]) -> TensorSpec:
    """Return `spec` without the changes that an iteration was expected to make and did not."""
    handle = tuple(_agreed(*parts, fresh) for parts in zip(spec.handle, want.handle, got.handle))
    value = spec.value if common_value(want, got) is not None else None
    return TensorSpec(spec.dtype, _agreed_shape(spec.shape, want.shape, got.shape, fresh), value, handle)


def _agreed_shape(shape: Shape, want: Shape, got: Shape, fresh: set[Dim]) -> Shape:
    if shape.dims is None or want.dims is None or got.dims is None or len(want.dims) != len(got.dims):
        return UNKNOWN
    dims: list[DimLike] = []
    for dim, declared, derived in zip(shape.dims, want.dims, got.dims):
        if declared != derived and dim not in fresh:
            dim = Dim.unknown()
            fresh.add(dim)
        dims.append(dim)
    return Shape(dims)


def _is_same(a: TensorSpec, b: TensorSpec) -> bool:
    if a.shape != b.shape or (a.value is None) != (b.value is None) or len(a.handle) != len(b.handle):
        return False
    return all(_is_same(x, y) for x, y in zip(a.handle, b.handle))
