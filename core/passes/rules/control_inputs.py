"""What a node that is rewritten waits for from then on: what acts behind the inputs that it had and is read no more."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from ...graph.graph import Graph, Node, Output
from ...graph.traversal import strongly_connected
from ..base.descendants import Waves
from ..base.graph_pass import PassContext

FAR: Final = 64
"""How many values are looked through for what acts behind them; where that is not enough, those at hand are waited for."""


class Effects:
    """What acts behind values, and whether that is still behind what stands for them, while a graph is rewritten."""

    def __init__(self, graph: Graph, ctx: PassContext) -> None:
        self._graph = graph
        self._ctx = ctx
        self._descent = _Descent(graph)

    def keep(self, node: Node, before: Sequence[Output], value: Output, made: Iterable[Node]) -> None:
        """Let `node`, which took `before`, wait for what acts there and is not behind `value`, which stands for it.

        `made` are the nodes that were made for that.
        """
        taken = {value, *(v for one in (value.node, *made) for v in one.inputs)}
        dropped, waits = self._behind(before, taken)
        lost = [self._ctx.anchor(v) for v in dropped if not self._descent.leads(self._source(v), value.node, node)]
        lost += [control for control in waits if not self._descent.leads(control, value.node, node)]
        for control in lost:
            self._graph.add_control_input(node, control)

    def note_users(self, node: Node, users: Sequence[Node]) -> None:
        """Note who read and waited for a node that another stands for now."""
        self._descent.note_users(node, users)

    def _source(self, value: Output) -> Output | Node:
        """What has to lead to a node so that it makes `value`'s node do all that it did."""
        return value if self._ctx.runs_as_read(value.node) else value.node

    def _behind(self, values: Sequence[Output], taken: set[Output]) -> tuple[list[Output], list[Node]]:
        """What acts behind `values`, up to what is `taken`, and what is waited for there and has effects."""
        seen: set[Output] = set()
        dropped, waits = [], []
        pending = list(values)
        while pending:
            v = pending.pop()
            if v in taken or v in seen or not self._ctx.has_effects(v.node):
                continue
            seen.add(v)
            if self._ctx.acts(v.node):
                dropped.append(v)
            elif len(seen) > FAR:
                return [v for v in dict.fromkeys(values) if v not in taken and self._ctx.has_effects(v.node)], []
            else:
                pending += v.node.inputs
                waits += [control for control in v.node.control_inputs if self._ctx.has_effects(control)]
        return dropped, list(dict.fromkeys(waits))


class _Descent:
    """Which nodes come after others, in a graph in which nodes give way to others that come after the same.

    A no may be wrong after changes, or where too much was asked; a yes holds.
    """

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._places: Mapping[Node, int] = {}
        self._waves: Waves | None = None
        self._gone: dict[Node, Sequence[Node]] = {}

    def leads(self, source: Output | Node, node: Node, changed: Node) -> bool:
        """True where `node` comes after `source`, as `changed` did before it was changed; it does from then on."""
        waves = self._waves = self._waves or self._all_waves()
        if source not in waves:
            waves.begin(source, (source,) if isinstance(source, Node) else self._graph.consumers(source))
        leads = self._is_after(source, waves, node, changed)
        for one in (changed, node) if leads else (changed,):
            waves.meet(source, one)
        return leads

    def note_users(self, node: Node, users: Sequence[Node]) -> None:
        """Note who came after a node that is gone."""
        if self._waves is not None:
            self._gone[node] = users

    def _all_waves(self) -> Waves:
        components = strongly_connected(self._graph, _predecessors)
        self._places = {node: place for place, component in enumerate(components) for node in component}
        return Waves(self._places, self._users)

    def _users(self, node: Node) -> Iterable[Node]:
        return node.uses if self._graph.get(node.name) is node else self._gone.get(node, ())

    def _is_after(self, source: Output | Node, waves: Waves, node: Node, changed: Node) -> bool:
        """Nodes that are new, and the changed one, come after what they take now."""
        pending, passed = [node], {node}
        while pending:
            current = pending.pop()
            if current is source or source in current.inputs:
                return True
            if current is not changed and waves.meets(source, {current}, waves.place(current)):
                return True
            if current is changed or current not in self._places:
                before = [one for one in _predecessors(current) if one not in passed]
                passed.update(before)
                pending += before
        return False


def _predecessors(node: Node) -> Iterator[Node]:
    """What a node takes or waits for, back edges of loops included."""
    yield from (value.node for value in node.inputs)
    yield from node.control_inputs
