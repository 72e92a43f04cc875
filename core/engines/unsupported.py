"""Ops that an engine translates and yet crashes on or gets wrong: a table of ops, conditions and reasons for each engine.

A line of `ENGINE_unsupported.txt` is `OP [ATTRIBUTE=VALUE,VALUE ...] | REASON`. The line denies nodes of the op in which
each attribute has any of the values listed. `empty=True` stands for an operand that is a constant without elements,
`computed=1` for operand 1, counted from 0, being no constant.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from typing import Any

from ..control_flow.copies import is_transparent
from ..graph.graph import Node, Output
from ..graph.traversal import trail_end
from ..inference.binding import plain
from ..support import dataclasses
from ..types.dtypes import DType
from .reasons import Reason, engine_error


@dataclasses.dataclass(frozen=True, slots=True)
class UnsupportedOp:
    """A line of the table: the op, the values of attributes, and the reason."""

    op: str
    values: Mapping[str, frozenset[str]]
    reason: Reason

    def holds(self, node: Node) -> bool:
        """Return True for a node that the line denies."""
        return self.op == node.op and all(unsupported & _known(node, name) for name, unsupported in self.values.items())


@dataclasses.dataclass(frozen=True, slots=True)
class UnsupportedOps:
    """The lines for an engine."""

    lines: tuple[UnsupportedOp, ...]

    @staticmethod
    def of(engine: str) -> UnsupportedOps:
        """Return the table of an engine that tfg brings."""
        path = os.path.join(os.path.dirname(__file__), f"{engine}_unsupported.txt")
        with open(path, encoding="ascii") as lines:
            return UnsupportedOps(tuple(_parse_line(line, engine) for line in lines if line.strip()))

    def reason(self, node: Node) -> Reason | None:
        """Return the reason against a node; None for a supported node."""
        return next((line.reason for line in self.lines if line.holds(node)), None)


def _parse_line(line: str, engine: str) -> UnsupportedOp:
    condition, _, reason = line.partition("|")
    op, *attributes = condition.split()
    pairs = (attribute.split("=") for attribute in attributes)
    return UnsupportedOp(
        op, {name: frozenset(values.split(",")) for name, values in pairs}, engine_error(reason.strip(), engine)
    )


def _known(node: Node, name: str) -> set[str]:
    """Return the values of a node's attribute or condition as the table spells them."""
    if name == "computed":
        return {str(place) for place, value in enumerate(node.inputs) if not source(value).node.is_constant}
    if name == "empty":
        return {str(any(map(is_empty_constant, node.inputs)))}
    return {_written(node.attr(name))}


def source(value: Output, own: Collection[Node] = ()) -> Output:
    """Return the value that a value copies, as a frozen variable copies a constant; nodes in `own` count as no copies."""
    return trail_end(value, lambda v: v.node.inputs[0] if v.node not in own and is_transparent(v.node) else None)


def is_empty_constant(value: Output) -> bool:
    """Return True for a constant without elements."""
    node = source(value).node
    return node.is_constant and not node.attrs["value"].size


def _written(value: Any) -> str:
    """Return an attribute's value as the table spells it."""
    return value.name if isinstance(value, DType) else str(plain(value)).replace(" ", "")
