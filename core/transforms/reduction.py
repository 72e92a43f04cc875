"""Reduction: the smallest part of a graph for which a test still fails."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from ..graph.callers import called_functions
from ..graph.graph import Graph, Node, Output
from ..graph.node_making import add_constant, add_identity
from ..graph.traversal import closure, copied_from, reachable, trail_end
from ..types.tensors import Tensor
from .subgraphs import forget_locations

Values = Mapping[str, Sequence[Sequence[Any]]]
"""The computed outputs of nodes: by node name, for each run of the node, the list of outputs."""
_Item = TypeVar("_Item")


def reduce_graph(
    graph: Graph, fetches: Sequence[str], values: Values, fails: Callable[[Graph], bool], fed: Sequence[str] = ()
) -> Graph:
    """Return a part of a graph for which `fails` holds and from which no node can be left out.

    `fails` must hold for the whole. `values` are the values that the nodes computed in a run. Where a part takes a value
    that is left out, a constant stands in; nodes whose outputs have no single value (references, handles, values of loops)
    stay. Each of the names `fetches` runs the whole part; the nodes `fed` stay, used or not.
    """
    cutter = _Cutter(graph, fetches, values, fed)
    return cutter.part(minimal(cutter.candidates(), lambda nodes: fails(cutter.part(nodes))))


def minimal(items: Sequence[_Item], fails: Callable[[Sequence[_Item]], bool]) -> Sequence[_Item]:
    """Return a minimal subset of items for which `fails` holds, by A. Zeller and R. Hildebrandt's ddmin (2002)."""
    parts = 2
    while len(items) > 1:
        size = -(-len(items) // parts)
        chunks = [items[start : start + size] for start in range(0, len(items), size)]
        rests = [[item for other in chunks if other is not chunk for item in other] for chunk in chunks]
        # Chunks before their complements: where one fails, the items shrink the most.
        smaller = next((some for some in [*chunks, *rests] if len(some) < len(items) and fails(some)), None)
        if smaller is not None:
            # As in the paper: a chunk is cut in two again, and a complement keeps the size of its chunks.
            parts = 2 if smaller in chunks else max(parts - 1, 2)
            items = smaller
        elif parts >= len(items):
            break
        else:
            parts = min(len(items), 2 * parts)
    return items


class _Cutter:
    """Cuts parts out of a graph."""

    def __init__(self, graph: Graph, fetches: Sequence[str], values: Values, fed: Sequence[str]) -> None:
        self._graph = graph
        self._fed = {graph.node(name) for name in fed}
        self._fetched = [graph.node(name) for name in fetches]
        self._values = values

    def candidates(self) -> list[Node]:
        """Return the nodes that the fetches need, without constants, which follow their users."""
        needed = reachable(self._fetched)
        return [node for node in self._graph if node in needed - self._fed and not node.is_constant]

    def part(self, nodes: Iterable[Node]) -> Graph:
        """Return a graph with the given nodes, the nodes before them that cannot be cut off, the fed nodes and the fetches."""
        members = self._closure([*nodes, *self._fed])
        result = self._graph.emptied()
        made = {
            node: result.add_node(node.name, node.op, (), (), node.attrs, node.device)
            for node in self._graph
            if node in members
        }
        constants: dict[Output, Output] = {}
        for node, copy in made.items():
            inputs = [self._input(result, value, made, constants) for value in node.inputs]
            # A node that is left out has an effect that is left out, too: nothing waits for it.
            result.set_inputs(copy, inputs, [made[control] for control in node.control_inputs if control in made])
        self._add_fetches(result, [copy for node, copy in made.items() if not copy.uses and node not in self._fed])
        result.functions = {name: self._graph.functions[name] for name in sorted(called_functions(self._graph, members))}
        forget_locations(result)
        return result

    def _closure(self, nodes: Iterable[Node]) -> set[Node]:
        """Return the nodes with all their sources that no constant can replace."""
        return closure(nodes, lambda node: (value.node for value in node.inputs if self._value(value) is None))

    def _value(self, output: Output) -> Any:
        """Return the only value of an output; None for an output with no value, or with several.

        A copy of a variable has the copy's value.
        """
        value = self._value_at(trail_end(output, copied_from))
        return self._value_at(output) if value is None else value

    def _value_at(self, output: Output) -> Any:
        node = output.node
        if node.is_constant:
            return node.constant_value()
        runs = self._values.get(node.name, ())
        value = runs[0][output.index] if len(runs) == 1 and output.index < len(runs[0]) else None
        is_plain = isinstance(value, (np.ndarray, np.generic, bytes)) and output.dtype is not None and not output.dtype.is_ref
        return value if is_plain else None

    def _input(self, result: Graph, value: Output, made: Mapping[Node, Node], constants: dict[Output, Output]) -> Output:
        if value.node in made:
            return made[value.node].output(value.index)
        # Several readers of a value share its constant, as they shared the node.
        if value not in constants:
            tensor = Tensor.from_numpy(self._value(value), value.base_dtype)
            constants[value] = add_constant(result, value.node.name, tensor).output()
        return constants[value]

    def _add_fetches(self, result: Graph, ends: Sequence[Node]) -> None:
        """Let every fetch run the whole part, as the fetched node itself, or as a node that hands on an end of the part."""
        for fetched in self._fetched:
            node = result.get(fetched.name)
            if node is None:
                values = [end.output() for end in ends if end.output_dtypes and not end.output_dtypes[0].is_ref]
                # The test names its fetches, so a fetch that was cut off needs a node of its name.
                node = self._stand_in(result, fetched, values)
            for end in ends:
                if end is not node:
                    result.add_control_input(node, end)

    def _stand_in(self, result: Graph, fetched: Node, values: Sequence[Output]) -> Node:
        if fetched.output_dtypes and values:
            return add_identity(result, fetched.name, values[0], values[0].base_dtype)
        return result.add_node(fetched.name, "NoOp")
