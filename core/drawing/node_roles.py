"""The kinds of nodes that a picture tells apart."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from ..functions.callers import function_references
from ..graph.graph import Node
from ..registry.node_kinds import ABSENT
from ..registry.op_facts import has_fact


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
