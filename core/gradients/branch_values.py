"""Values on branches of a function's body, as the function hands them to its gradient.

A function's result must be alive whichever branch was taken. So each value leaves its branch by a Merge with a dummy that
nobody reads, and the gradient sends the value onto the branch of the same predicate again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..building.builder import GraphBuilder
from ..control_flow.deadness import Deadness, is_choice, predicate_source
from ..graph.graph import Graph, Node, Output
from ..types.shapes import UNKNOWN
from .function_parts import dtype_of
from .switch_branches import branches_of


def carry_over(body: Graph, read: Iterable[Output], readers: Sequence[Node]) -> tuple[list[Node], list[Node]]:
    """Let `readers` read values on branches through Merges and Switches.

    Returns the nodes that were added for values to leave branches, and the nodes that let them enter branches again.
    """
    if not any(is_choice(node) for node in body):
        return [], []
    carrier = _Carrier(body)
    taken = {value: carrier.entering(value) for value in read}
    for node in readers:
        body.set_inputs(node, [taken.get(value, value) for value in node.inputs])
    leaving = set(carrier.leaving)
    return carrier.leaving, [node for node in body.since(carrier.count) if node not in leaving]


class _Carrier:
    """A carrier of the values of a body out of branches and in again."""

    def __init__(self, body: Graph) -> None:
        self.g = GraphBuilder(body)
        self.count = len(body)
        self.deadness = Deadness(predicate=predicate_source)
        self.leaving: list[Node] = []
        self._entering: dict[Output, Output] = {}

    def entering(self, value: Output) -> Output:
        """Return the value as seen on its branch; a value on no branch is returned unchanged."""
        if value not in self._entering:
            branches = branches_of(value, self.deadness)
            entered = self.outside(value, branches) if branches else value
            for predicate, branch in branches:
                entered = self.g.Switch(entered, self.entering(predicate))[branch]
            self._entering[value] = entered
        return self._entering[value]

    def outside(self, value: Output, branches: Sequence[tuple[Output, int]]) -> Output:
        """Return a value that is always alive and equals the value on the branches where they are taken."""
        before = len(self.g.graph)
        for predicate, branch in reversed(branches):
            other = self.g.Switch(self.g.FakeParam(dtype=dtype_of(value), shape=UNKNOWN), predicate)[1 - branch]
            value = self.g.Merge([value, other])[0]
        self.leaving += self.g.graph.since(before)
        return value
