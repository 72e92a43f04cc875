"""A While as plans of its condition and its body, without values that the loop only carries around.

A value that the body hands on unchanged is no result of the body. A variable that nobody reads after the loop, and from
which no other variable follows, is left out. Where each iteration pushes an element onto a list, or pops an element from a
list, the plan of the body returns or takes the element alone.
"""

from __future__ import annotations

import collections
from collections.abc import Collection, Mapping, Sequence, Set
from typing import Final

from ..graph.call_kinds import CallSite, function_targets
from ..graph.graph import Function, Node, Output
from ..graph.purity import impurity
from ..registry.op_facts import has_fact
from ..support import dataclasses
from .plan import Plan
from .planner import compile_plan, races_of
from .reachability import needed_nodes

_ELEMENT: Final = 1
"""The index of the element among the inputs of a node that pushes, and among the outputs of a node that pops."""


@dataclasses.dataclass(frozen=True, slots=True)
class WhilePlans:
    """The plans, and the indices of the loop variables that the plans take and return.

    `condition` takes `asked`. `body` takes an element of each list in `popped`, then `taken`; `body` returns an element for
    each list in `pushed`, then new values of `updated`. `popped` and `pushed` map to the nodes that change the lists.
    """

    condition: Plan
    body: Plan
    asked: tuple[int, ...]
    popped: Mapping[int, Node]
    taken: tuple[int, ...]
    pushed: Mapping[int, Node]
    updated: tuple[int, ...]


def while_plans(condition: Function, body: Function, site: CallSite, unused: Collection[int]) -> WhilePlans | None:
    """Return the plans of a loop whose results `unused` nobody reads.

    The result is None where fewer nodes would change state, or another order.
    """
    test, whole = function_targets(condition, site), function_targets(body, site)
    asked = _args_among(condition, needed_nodes(test))
    variables = _Variables(body, whole, asked)
    read = variables.read({i for i in range(len(body.args)) if i not in unused})
    needed = variables.needed(read)
    # A node that is left out must neither change state nor stand between two accesses to state.
    if not _is_pure(body, needed_nodes(whole) - needed) or any(races_of(body.body, whole, _outputs(body.args))):
        return None
    popped, pushed = ({i: node for i, node in lists.items() if i in read} for lists in (variables.popped, variables.pushed))
    taken = _args_among(body, needed)
    feeds = [*(node.output(_ELEMENT) for node in popped.values()), *_outputs([body.args[i] for i in taken])]
    return WhilePlans(
        compile_plan(condition.body, test, _outputs([condition.args[i] for i in asked])),
        compile_plan(body.body, variables.targets(read), feeds),
        asked,
        popped,
        taken,
        pushed,
        tuple(variables.changed(read)),
    )


class _Variables:
    """The changes of loop variables by a body; `whole` are the targets of a plain call of the body."""

    def __init__(self, body: Function, whole: Sequence[Output | Node], asked: Collection[int]) -> None:
        self.body = body
        self._asked = asked
        self._rest = whole[len(body.results) :]
        self._counts = collections.Counter(whole)
        self.popped = self._lists(fact="list_pop")
        self.pushed = self._lists(fact="list_push")
        self._elements = {node.output(_ELEMENT): i for i, node in self.popped.items()}

    def _lists(self, fact: str) -> dict[int, Node]:
        """Return the lists whose only change, and only use, is a push or pop."""
        places = [i for i in range(len(self.body.args)) if i not in self._asked]
        return {i: self.body.results[i].node for i in places if self._is_only(fact, i)}

    def _is_only(self, fact: str, place: int) -> bool:
        arg, result = self.body.args[place], self.body.results[place]
        node = result.node
        if not has_fact(node.op, fact) or result.index or node.inputs[0] != arg.output() or node.control_inputs:
            return False
        # The element alone stands for the list only if nobody else sees the list: neither before nor after the change.
        targets = {arg, node, arg.output()}
        if targets & self._counts.keys() or self._counts[result] > 1 or arg.uses != {node: 1}:
            return False
        return all(result not in user.inputs and node not in user.control_inputs for user in node.uses)

    def read(self, at_least: Set[int]) -> set[int]:
        """Return the variables `at_least`, the variables that the condition reads, and all variables that their new values
        depend on.
        """
        variables = set(at_least) | set(self._asked)
        while True:
            needed = self.needed(variables)
            following = {i for i, arg in enumerate(self.body.args) if arg in needed}
            taken = {value for node in needed for value in node.inputs} | set(self.targets(variables))
            # A popped element is a feed of the plan, so no path leads from it to the list.
            following |= {i for value, i in self._elements.items() if value in taken}
            # The new value of a variable may depend on more variables, whose new values depend on others in turn.
            if following <= variables:
                return variables
            variables |= following

    def changed(self, read: Set[int]) -> list[int]:
        """Return the variables of which the body computes new values; lists with only a push or pop are left out."""
        args, results = self.body.args, self.body.results
        lists = self.popped.keys() | self.pushed.keys()
        return [i for i in sorted(read - lists) if results[i] != args[i].output()]

    def targets(self, read: Set[int]) -> list[Output | Node]:
        """Return the targets of the body where the variables `read` are read."""
        elements = [node.inputs[_ELEMENT] for i, node in self.pushed.items() if i in read]
        return [*elements, *(self.body.results[i] for i in self.changed(read)), *self._rest]

    def needed(self, read: Set[int]) -> set[Node]:
        """Return the nodes that run for the targets of `read`."""
        return needed_nodes(self.targets(read), list(self._elements))


def _args_among(function: Function, nodes: Collection[Node]) -> tuple[int, ...]:
    return tuple(i for i, arg in enumerate(function.args) if arg in nodes)


def _outputs(args: Sequence[Node]) -> list[Output]:
    return [arg.output() for arg in args]


def _is_pure(function: Function, nodes: Collection[Node]) -> bool:
    """True if the nodes of a body do no more than compute values."""
    impurities: dict[str, str | None] = {}
    return all(node.is_argument or impurity(function.body, node, impurities) is None for node in nodes)
