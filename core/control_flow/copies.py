"""Values that are copies of others: results of nodes that hand their first input on."""

from __future__ import annotations

from typing import Final

from ..graph.graph import Node, Output
from ..graph.traversal import trail_end
from ..registry.op_facts import has_fact
from .frames import ENTER, SWITCH

_LETTING_IN: Final = (*ENTER, *SWITCH, "LoopCond")


def is_transparent(node: Node) -> bool:
    """True for a node whose output is its input: it takes no step of its own."""
    return has_fact(node.op, "transparent")


def hands_in(node: Node) -> bool:
    """True where each output that is there is the first input: of copies, and of what lets into a loop or onto a branch."""
    return node.op in _LETTING_IN or is_transparent(node)


def handed_in(value: Output) -> Output:
    """The tensor that a value copies, before the nodes that let it into loops and onto branches."""
    while hands_in(value.node):
        value = value.node.inputs[0]
    return value


def source_of(value: Output, known: dict[Output, Output] | None = None) -> Output:
    """The value past nodes that only pass it on; `known` is for `trail_end`."""
    return trail_end(value, _passed_on, known)


def _passed_on(value: Output) -> Output | None:
    return value.node.inputs[0] if is_transparent(value.node) and value.node.inputs else None
