"""Values on branches of a function's body, as the function hands them to its gradient.

A result is there whichever branch was taken, so each value leaves its branch by a Merge with something that nobody reads. The
gradient lets it onto the branch of the same predicate again.
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
    """Let `readers` take what they read of values on branches through Merges and Switches.

    Returns the nodes that were added for values to leave branches, and those with which they enter them again.
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
    """The values of one body on their way."""

    def __init__(self, body: Graph) -> None:
        self.g = GraphBuilder(body)
        self.count = len(body)
        self.deadness = Deadness(predicate=predicate_source)
        self.leaving: list[Node] = []
        self._entering: dict[Output, Output] = {}

    def entering(self, value: Output) -> Output:
        """What stands for a value on its branch; the value itself where it is on none."""
        if value not in self._entering:
            branches = branches_of(value, self.deadness)
            entered = self.outside(value, branches) if branches else value
            for predicate, branch in branches:
                entered = self.g.Switch(entered, self.entering(predicate))[branch]
            self._entering[value] = entered
        return self._entering[value]

    def outside(self, value: Output, branches: Sequence[tuple[Output, int]]) -> Output:
        """A value that is there always: the one on the branches where they are taken."""
        before = len(self.g.graph)
        for predicate, branch in reversed(branches):
            other = self.g.Switch(self.g.FakeParam(dtype=dtype_of(value), shape=UNKNOWN), predicate)[1 - branch]
            value = self.g.Merge([value, other])[0]
        self.leaving += self.g.graph.since(before)
        return value
