"""The control inputs of rewritten nodes: effects behind former inputs that are read no more."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from ...functions.purity import CONTROL_FLOW
from ...graph.graph import Graph, Node, Output
from ...graph.traversal import predecessors, strongly_connected
from ...registry.op_facts import has_fact
from ..base.descendants import Waves
from ..base.graph_pass import PassContext

FAR: Final = 64
"""The largest number of values searched for effects behind them; beyond the limit the values themselves are waited for."""


class Effects:
    """The effects behind values, and the check that the values' replacements still have the effects behind them."""

    def __init__(self, graph: Graph, ctx: PassContext) -> None:
        self._graph = graph
        self._ctx = ctx
        self._reachability = _Reachability(graph)

    def keep(self, node: Node, before: Sequence[Output], value: Output, made: Iterable[Node]) -> None:
        """Let `node`, which had the inputs `before`, wait for their effects that are not behind the replacement `value`.

        `made` are the nodes made for the replacement.
        """
        taken = {value, *(v for one in (value.node, *made) for v in one.inputs)}
        dropped, waits = self._behind(node, before, taken)
        lost = [self._ctx.anchor(v) for v in dropped if not self._reachability.leads(self._source(v), value.node, node)]
        lost += [control for control in waits if not self._reachability.leads(control, value.node, node)]
        for control in lost:
            self._graph.add_control_input(node, control)

    def note_users(self, node: Node, users: Sequence[Node]) -> None:
        """Record the users of a replaced node."""
        self._reachability.note_users(node, users)

    def _source(self, value: Output) -> Output | Node:
        """Return the output or node that must be reached so that the node of `value` keeps all effects."""
        return value if self._ctx.runs_as_read(value.node) else value.node

    def _behind(self, node: Node, values: Sequence[Output], taken: set[Output]) -> tuple[list[Output], list[Node]]:
        """Return the effects behind `values`, up to the `taken` values, and the control inputs with effects on the way.

        The search ends at control flow: an edge from a branch or a loop would switch the waiting node off, or be illegal. A
        draw that `node` alone reads, perhaps through other nodes, is no effect.
        """
        seen: set[Output] = set()
        readers = {node}
        dropped, waits = [], []
        pending = list(values)
        while pending:
            v = pending.pop()
            if v in taken or v in seen or not self._ctx.has_effects(v.node):
                continue
            seen.add(v)
            if readers.issuperset(v.node.uses) and not self._ctx.is_preserved(v.node):
                readers.add(v.node)
            is_unseen = v.node in readers and has_fact(v.node.op, "own_stream")
            if (self._ctx.acts(v.node) and not is_unseen) or v.node.op in CONTROL_FLOW:
                dropped.append(v)
            elif len(seen) > FAR:
                return [v for v in dict.fromkeys(values) if v not in taken and self._ctx.has_effects(v.node)], []
            else:
                pending += v.node.inputs
                waits += [control for control in v.node.control_inputs if self._ctx.has_effects(control)]
        return dropped, list(dict.fromkeys(waits))


class _Reachability:
    """Reachability in a changing graph, where nodes are replaced by nodes with the same ancestors.

    False may be wrong after changes, or after too many queries; True always holds.
    """

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._places: Mapping[Node, int] = {}
        self._waves: Waves | None = None
        self._gone: dict[Node, Sequence[Node]] = {}

    def leads(self, source: Output | Node, node: Node, changed: Node) -> bool:
        """Return True where `node` is a descendant of `source`, as `changed` was before the change; the answer is recorded."""
        waves = self._waves = self._waves or self._all_waves()
        if source not in waves:
            waves.begin(source, (source,) if isinstance(source, Node) else self._graph.consumers(source))
        leads = self._is_after(source, waves, node, changed)
        for one in (changed, node) if leads else (changed,):
            waves.meet(source, one)
        return leads

    def note_users(self, node: Node, users: Sequence[Node]) -> None:
        """Record the users of a removed node."""
        if self._waves is not None:
            self._gone[node] = users

    def _all_waves(self) -> Waves:
        components = strongly_connected(self._graph, predecessors)
        self._places = {node: place for place, component in enumerate(components) for node in component}
        return Waves(self._places, self._users)

    def _users(self, node: Node) -> Iterable[Node]:
        return node.uses if self._graph.get(node.name) is node else self._gone.get(node, ())

    def _is_after(self, source: Output | Node, waves: Waves, node: Node, changed: Node) -> bool:
        """Return True where the changed node, or a new node, is a descendant of the source by the current inputs."""
        pending, passed = [node], {node}
        while pending:
            current = pending.pop()
            if current is source or source in current.inputs:
                return True
            if current is not changed and waves.meets(source, {current}, waves.place(current)):
                return True
            if current is changed or current not in self._places:
                before = [one for one in predecessors(current) if one not in passed]
                passed.update(before)
                pending += before
        return False
