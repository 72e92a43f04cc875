"""Values that are copies of others: results of nodes that hand their first input on."""

from __future__ import annotations

from typing import Final

from ..graph.graph import Node, Output
from ..graph.traversal import trail_end
from ..registry.op_facts import has_fact
from .frames import ENTER, SWITCH

_LETTING_IN: Final = (*ENTER, *SWITCH, "LoopCond")


def is_transparent(node: Node) -> bool:
    """True for a node that returns the input unchanged and needs no step."""
    return has_fact(node.op, "transparent")


def hands_in(node: Node) -> bool:
    """True where each live output is the first input: for copies, Enter, Switch and LoopCond."""
    return node.op in _LETTING_IN or is_transparent(node)


def handed_in(value: Output) -> Output:
    """Return the tensor that a value copies, before the nodes through which the tensor enters loops and branches."""
    while hands_in(value.node):
        value = value.node.inputs[0]
    return value


def source_of(value: Output, trails: dict[Output, Output] | None = None) -> Output:
    """Return the value before all nodes that only pass the value on; `trails` caches the results of `trail_end`."""
    return trail_end(value, _passed_on, trails)


def _passed_on(value: Output) -> Output | None:
    return value.node.inputs[0] if is_transparent(value.node) and value.node.inputs else None
