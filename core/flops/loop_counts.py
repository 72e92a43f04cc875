"""Loops of a count: iterations, and the loop variables' specs in each iteration."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence

from ..graph.call_signatures import Signatures, renamed, signature_of
from ..graph.graph import Function, Node, Output
from ..graph.instantiation import with_attrs
from ..registry.registry import Cost
from ..support import dataclasses
from ..support.errors import InvalidArgumentError
from ..support.hints import Hint, option, step
from ..types.dims import Dim, DimLike
from ..types.shapes import TensorSpec
from .flops_report import NodeCost
from .growth import Growth, summed, while_growth
from .input_shapes import Symbols
from .trip_counts import while_trips

Known = Mapping[Output, TensorSpec]


@dataclasses.dataclass(frozen=True, slots=True)
class LoopCount:
    """A loop: iterations, and the growth of the variables."""

    name: str
    rounds: DimLike
    growth: Growth
    condition: frozenset[Node] = frozenset()
    """The nodes of a V1 loop that compute the condition and run once more than the others."""

    def repeated(self, costs: Iterable[NodeCost], more: int = 0) -> list[NodeCost]:
        """Return the costs of nodes in all iterations together; `more` is 1 for a condition, evaluated once again at the
        end.
        """
        return [_in_all(cost, self.growth.symbol, self.rounds + more, self.name) for cost in costs]

    def leaving(self) -> list[TensorSpec]:
        """Return the specs of the variables behind the loop."""
        return self.growth.after(self.rounds)


class LoopCounts:
    """The loops of a count."""

    def __init__(self, functions: Mapping[str, Function], trips: Mapping[str, int], symbols: Symbols) -> None:
        self._functions = functions
        self._trips = trips
        self._symbols = symbols
        self._derived: set[str] = set()
        self._met: set[str] = set()
        self._active: set[str] = set()
        self._growths: dict[Hashable, tuple[list[str], Growth]] = {}
        self._signatures = Signatures()

    def note(self, loop: LoopCount) -> Iterator[str]:
        """Yield a note on the iterations of a loop, none where they are a symbol."""
        if self._given_rounds(loop.name) is not None:
            yield f"loop {loop.name}: {loop.rounds} iterations, as set"
        elif loop.name in self._derived:
            yield f"loop {loop.name}: {loop.rounds} iterations, derived from its condition"

    def require_used(self) -> None:
        """Raise InvalidArgumentError where the user gives the iterations of a missing loop."""
        ends = {end for name in self._met for end in _ends(name)}
        for name in self._trips:
            if name not in ends:
                hint = f"the loops are {', '.join(sorted(self._met))}" if self._met else "no loop was counted"
                raise InvalidArgumentError(f"unknown loop '{name}'", hint=hint)

    def rounds(self, name: str, owner: object, derived: DimLike | None) -> DimLike:
        """Return the iterations given by the user, or derived from the graph, or a symbol."""
        self._met.add(name)
        user_rounds = self._given_rounds(name)
        if user_rounds is not None:
            return user_rounds
        if derived is not None:
            self._derived.add(name)
            # A condition that is false at once derives less than no iteration.
            return max(derived, 0) if isinstance(derived, int) else derived

        def meaning(label: str) -> Hint:
            return Hint(f"the iterations of loop {name}; ", step("trips", loop=label), " sets them")

        return self._symbols.claim("trips[{}]", name.rstrip("/"), owner, meaning)

    def _given_rounds(self, name: str) -> int | None:
        """Return the iterations given for the longest end of the loop's name, or None."""
        return next((self._trips[end] for end in _ends(name) if end in self._trips), None)

    def rule(self, node: Node, entering: Sequence[TensorSpec]) -> Sequence[TensorSpec] | None:
        """Return the specs of a While's results, for inference; None where the body is missing, active or too often
        derived.
        """
        name = node.attr("body").name
        if name not in self._functions or name in self._active or self._signatures.is_full(name):
            return None
        # A body that leads to its own loop again would be derived without end.
        self._active.add(name)
        try:
            return self.of_while(node, entering).leaving()
        finally:
            self._active.discard(name)

    def even(self, name: str, rounds: DimLike) -> LoopCount:
        """Return a loop whose iterations are all alike."""
        return LoopCount(name, rounds, Growth("", ()))

    def of_while(self, node: Node, entering: Sequence[TensorSpec]) -> LoopCount:
        """Return the loop of a While whose variables start with the specs `entering`."""
        rounds = self.rounds(node.name, node, while_trips(self._functions, node, entering))
        return LoopCount(node.name, rounds, self._while_growth(node, entering))

    def _while_growth(self, node: Node, entering: Sequence[TensorSpec]) -> Growth:
        """Return the growth of a While's variables, cached by specs: loops in loops would else take 2^depth analyses."""
        reference = node.attr("body")
        arguments, unnamed = signature_of(entering)
        # The key has the loop's name: two loops of one body may end after different numbers of iterations, so each has its own
        # symbol.
        key = (node.name, repr(reference), arguments)
        if key not in self._growths:
            self._signatures.add(reference.name)
            body = with_attrs(self._functions[reference.name], reference)
            growth = while_growth(body, entering, f"iteration of {node.name}", self._functions, self.rule)
            self._growths[key] = unnamed, growth
        before, known_growth = self._growths[key]
        return Growth(known_growth.symbol, renamed(known_growth.specs, before, unnamed))


def _in_all(node: NodeCost, symbol: str, rounds: DimLike, loop: str) -> NodeCost:
    """Return the cost of a node in the iterations 0 to `rounds` - 1 together."""
    values = (node.cost.flops, node.cost.macs, node.cost.transcendentals, node.bytes, node.times)
    sums = [total for value in values if (total := summed(value, symbol, rounds)) is not None]
    # A sum that brings in a size without a name says less than the cost of an iteration did.
    if len(sums) < len(values) or _is_anonymous(sums) > _is_anonymous(values):
        problem = f"its total cost in the {rounds} iterations of loop {loop} has no formula; set a number with "
        reason = Hint(problem, option("trips"))
        return dataclasses.replace(node, cost=Cost(), bytes=0, reason=reason)
    *cost, moved, times = sums
    return dataclasses.replace(node, cost=Cost(*cost), bytes=moved, times=times)


def _is_anonymous(values: Iterable[DimLike]) -> bool:
    return any(isinstance(value, Dim) and value.is_anonymous for value in values)


def _ends(name: str) -> list[str]:
    """Return the names by which a user may mean a loop: the whole name, and the ends of the path, longest first."""
    parts = name.rstrip("/").split("/")
    return [name, *("/".join(parts[i:]) for i in range(len(parts)))]
