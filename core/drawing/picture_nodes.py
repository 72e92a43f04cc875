"""The nodes of a picture: their kinds, their layers, and the nodes that a picture leaves out, with links past the gaps.

Constants, identities and NoOps are most of a graph's nodes and say the least: a constant is written into the box of the
user, and links through an identity or a NoOp go on to the nodes behind.
"""

from __future__ import annotations

import collections
import heapq
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Final, TypeAlias, TypeVar

from ..graph.callers import function_references
from ..graph.graph import Node, Output
from ..graph.traversal import nodes_of_kind
from ..registry.op_facts import ABSENT, has_fact

_MAX_THROUGH: Final = 64
"""The number of bypassing control edges above which a NoOp is drawn."""


Link: TypeAlias = tuple[Node, Node, Output | None]
"""An edge between two nodes that are drawn, its source, target and value; without a value a control edge."""


def folded(nodes: Iterable[Node], keep: Collection[Node] = ()) -> set[Node]:
    """Return the members of `nodes` that need no box of their own; never a node of `keep`, nor a node without users."""
    silent = nodes_of_kind(nodes, lambda kind: kind.is_constant or kind.is_identity or kind.is_variable_read or kind.is_no_op)
    return {node for node in silent if node not in keep and node.uses and not (node.is_no_op and _saves_edges(node))}


def _saves_edges(node: Node) -> bool:
    """Return True for a NoOp that joins many nodes: m waiters and n waited for are m + n edges with its box, and m * n
    without.
    """
    return len(node.control_inputs) * len(node.uses) > _MAX_THROUGH


def links(nodes: Collection[Node], left_out: Collection[Node]) -> Iterator[Link]:
    """Yield the links between `nodes`, each once; links pass through the nodes `left_out`."""
    paths = _ElidedPaths(nodes, left_out)
    drawn = {node: None for node in nodes if node not in left_out}
    for node in drawn:
        # Most values come from drawn nodes, which needs no call to find out.
        values = dict.fromkeys([value if value.node in drawn else paths.origin(value) for value in node.inputs])
        yield from [(value.node, node, value) for value in values if value is not None]
        if not node.control_inputs:
            continue
        sources = {value.node for value in values if value is not None}
        for control in node.control_inputs:
            yield from ((source, node, None) for source in paths.waited_for(control) if source not in sources)


class _ElidedPaths:
    """Where edges come from once the nodes left out are passed."""

    def __init__(self, nodes: Collection[Node], left_out: Collection[Node]) -> None:
        self._nodes = nodes
        self._left_out = left_out
        self._waits: dict[Node, tuple[Node, ...]] = {}
        self._origins: dict[Node, Output] = {}

    def origin(self, value: Output) -> Output | None:
        """Return the output that a value comes from; None where that is left out, or outside of the picture."""
        if value.node not in self._left_out:
            return value if value.node in self._nodes else None
        seen: set[Node] = set()
        while value.node in self._left_out and value.node.inputs and value.node not in seen:
            seen.add(value.node)
            value = self._origins.get(value.node) or value.node.inputs[0]
        # Each node of a long chain of identities remembers the end, so later walks take one step.
        self._origins.update(dict.fromkeys(seen, value))
        return value if value.node in self._nodes and value.node not in self._left_out else None

    def waited_for(self, control: Node) -> tuple[Node, ...]:
        """Return the drawn nodes that a waiter for `control` waits for."""
        if control not in self._left_out:
            return (control,) if control in self._nodes else ()
        if control not in self._waits:
            self._waits[control] = tuple(self._behind(control))
        return self._waits[control]

    def _behind(self, control: Node) -> dict[Node, None]:
        """Return the drawn nodes before a node that is left out."""
        sources: dict[Node, None] = {}
        seen, pending = {control}, [control]
        while pending:
            node = pending.pop()
            for source in (*node.control_inputs, *(value.node for value in node.inputs)):
                if source not in self._left_out:
                    sources |= {source: None} if source in self._nodes else {}
                elif source not in seen:
                    seen.add(source)
                    pending.append(source)
        return sources


# Layers of a directed graph, each key below the keys that lead there; back edges, which close a cycle, are left out.
# These are the first two steps of Sugiyama, Tagawa and Toda, "Methods for visual understanding of hierarchical system
# structures", 1981.

_Key = TypeVar("_Key", bound=Hashable)
_After = Mapping[_Key, Mapping[_Key, None]]


def forward_edges(keys: Sequence[_Key], edges: Iterable[tuple[_Key, _Key]]) -> _After[_Key]:
    """Return the targets of each key's edges, without self loops and back edges.

    A back edge leads to a key that a depth-first walk, in the order of `keys`, has not left yet.
    """
    after: dict[_Key, dict[_Key, None]] = {key: {} for key in keys}
    for source, target in edges:
        if source != target:
            after[source][target] = None
    if _leads_forward(after):
        return after
    done: dict[_Key, bool] = {}
    for root in keys:
        if root not in done:
            _drop_back_edges(root, after, done)
    return after


def _leads_forward(after: _After[_Key]) -> bool:
    """Return True if each edge leads to a later key, as in most files: then no edge closes a cycle."""
    before: set[_Key] = set()
    for key, targets in after.items():
        before.add(key)
        if not before.isdisjoint(targets):
            return False
    return True


def _drop_back_edges(root: _Key, after: Mapping[_Key, dict[_Key, None]], done: dict[_Key, bool]) -> None:
    """Walk depth-first from `root` and delete back edges; `done` is True for keys left, False for keys on the stack."""
    stack = [(root, list(after[root]))]
    done[root] = False
    while stack:
        key, pending = stack[-1]
        if not pending:
            done[key] = True
            stack.pop()
            continue
        target = pending.pop()
        if target not in done:
            done[target] = False
            stack.append((target, list(after[target])))
        # On the stack: the edge closes a cycle.
        elif not done[target]:
            del after[key][target]


def flow_order(after: _After[_Key]) -> Iterator[_Key]:
    """Yield the keys in topological order, ties in the order of `after`."""
    if _leads_forward(after):  # the keys are in such an order already
        yield from after
        return
    keys = list(after)
    place = {key: i for i, key in enumerate(keys)}
    waiting = collections.Counter(target for targets in after.values() for target in targets)
    ready = [i for i, key in enumerate(keys) if not waiting[key]]
    while ready:
        key = keys[heapq.heappop(ready)]
        yield key
        for target in after[key]:
            waiting[target] -= 1
            if not waiting[target]:
                heapq.heappush(ready, place[target])


def layers_of(after: _After[_Key]) -> list[list[_Key]]:
    """Return the keys by layer, from the top.

    A key lies as far up as the sources of its edges allow; a key without sources lies just above the first of its targets.
    """
    layer = dict.fromkeys(after, 0)
    led_to = set()
    for key in flow_order(after):
        for target in after[key]:
            led_to.add(target)
            layer[target] = max(layer[target], layer[key] + 1)
    for key, targets in after.items():
        if key not in led_to and targets:
            # Constants and inputs would otherwise all stand in the first layer, far from their readers.
            layer[key] = min(layer[target] for target in targets) - 1
    layers: list[list[_Key]] = [[] for _ in range(max(layer.values(), default=-1) + 1)]
    for key in after:
        layers[layer[key]].append(key)
    return layers


# The kinds of nodes that a picture tells apart.


def _fact(*names: str) -> Callable[[Node], bool]:
    return lambda node: any(has_fact(node.op, name) for name in names)


_KINDS: Final[Sequence[tuple[str, Callable[[Node], bool]]]] = (
    ("absent", lambda node: node.op == ABSENT),
    ("constant", lambda node: node.is_constant),
    ("input", lambda node: node.is_placeholder or node.is_argument),
    ("output", lambda node: node.is_result),
    ("no-op", lambda node: node.is_no_op),
    ("variable", _fact("variable", "table")),
    ("update", _fact("assignment", "increment", "training", "fills_table")),
    ("control flow", _fact("enter", "exit", "next_iteration", "switch", "merge", "control_flow")),
    ("call", lambda node: any(True for _ in function_references(node))),
    ("random", _fact("random")),
    ("effect", _fact("side_effect")),
)
KINDS: Final = (*(kind for kind, _ in _KINDS), "op", "scope")
"""All kinds that `kind_of` returns, and `scope` for the box of a closed scope."""


def kind_of(node: Node) -> str:
    """Return the first of KINDS that fits the node."""
    return next((kind for kind, fits in _KINDS if fits(node)), "op")
