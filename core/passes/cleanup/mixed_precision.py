"""The choice of the ops that compute in 16-bit floats, by the algorithm of Grappler's auto_mixed_precision.

A port is a type attribute of a node. Ops of the fact `half_allow` are converted always, ops of `half_infer` and `half_clear`
between converted ops, and ops of `half_clear` beside converted ops. Nothing is converted behind an op of `half_deny`, as far
as only ops of the last two facts follow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from ...graph.graph import Graph, Node, Output
from ...graph.traversal import closure
from ...registry.op_facts import has_fact
from ...types.dtypes import float32


class Port(NamedTuple):
    """A type attribute of a node that is float32: all inputs and outputs of this type change together."""

    node: Node
    attr: str


def input_port(node: Node, index: int) -> Port | None:
    """Return the port of an input, None for an input of another dtype or of a fixed dtype."""
    attrs = _attrs_of_inputs(node)
    return _port(node, attrs[index]) if index < len(attrs) else None


def output_port(value: Output) -> Port | None:
    """Return the port of an output, None for an output of another dtype or of a fixed dtype."""
    definition = value.node.op_def
    if definition is None:
        return None
    attrs = [arg.type_attr for arg in definition.outputs for _ in range(definition.length(arg, value.node.attrs))]
    return _port(value.node, attrs[value.index]) if value.index < len(attrs) else None


def ports_to_convert(graph: Graph, is_able: Callable[[Port], bool]) -> set[Port]:
    """Return the ports of the nodes that compute in 16 bits; `is_able` is False for a port that has to stay float32."""
    before, after = _edges(graph)
    ports = before.keys() | after.keys()

    def of(fact: str) -> set[Port]:
        return {port for port in ports if has_fact(port.node.op, fact) and is_able(port)}

    allowed, inferred, clear = of(fact="half_allow"), of(fact="half_infer"), of(fact="half_clear")
    denied = {port for port in ports if has_fact(port.node.op, "half_deny")}
    passing = _reached(denied | inferred, clear, before)
    denied |= _reached(denied, passing, after)
    below = _reached(allowed, (inferred | clear) - denied, after)
    allowed |= _reached(allowed, below, before)
    return allowed | _reached(allowed, clear - denied, before, after)


_Edges = dict[Port, set[Port]]


def _edges(graph: Graph) -> tuple[_Edges, _Edges]:
    """Return the ports before and behind each port."""
    before: _Edges = {}
    after: _Edges = {}
    for node in graph:
        for index, value in enumerate(node.inputs):
            source, target = output_port(value), input_port(node, index)
            for port in filter(None, (source, target)):
                before.setdefault(port, set())
                after.setdefault(port, set())
            if source is not None and target is not None:
                before[target].add(source)
                after[source].add(target)
    return before, after


def _reached(roots: Iterable[Port], among: set[Port], *edges: _Edges) -> set[Port]:
    """Return the roots and the ports of `among` that edges lead to from a root, through ports of `among`."""
    return closure(roots, lambda port: (other for step in edges for other in step.get(port, ()) if other in among))


def _attrs_of_inputs(node: Node) -> list[str | None]:
    return list(_input_attrs(node)) if node.op_def is not None else []


def _input_attrs(node: Node) -> Iterator[str | None]:
    assert node.op_def is not None
    for arg in node.op_def.inputs:
        yield from [None if arg.is_ref else arg.type_attr] * node.op_def.length(arg, node.attrs)


def _port(node: Node, attr: str | None) -> Port | None:
    is_float = attr is not None and node.op_def is not None and node.op_def.attr(node.attrs, attr) is float32
    return Port(node, attr) if is_float and attr is not None else None
