"""Kinds of nodes that are a single op with a role in every graph."""

from __future__ import annotations

from typing import Final

ABSENT: Final = "Absent"
"""The op type of the nodes that replace missing inputs, where a broken graph is loaded for inspection."""

INPUTS: Final = ("Placeholder", "PlaceholderV2", "PlaceholderWithDefault", "_Arg")
"""The ops whose nodes are the inputs of a graph or of a function's body."""


class NodeKinds:
    """Kinds by the node's op; a property of several ops is a fact, see op_facts."""

    __slots__ = ()

    op: str

    @property
    def is_constant(self) -> bool:
        """True for a Const, a value in an attribute."""
        return self.op == "Const"

    @property
    def is_identity(self) -> bool:
        """True for an Identity, the copy of a value."""
        return self.op == "Identity"

    @property
    def is_no_op(self) -> bool:
        """True for a NoOp, a node with control edges only."""
        return self.op == "NoOp"

    @property
    def is_argument(self) -> bool:
        """True for an _Arg, an argument of a function's body."""
        return self.op == "_Arg"

    @property
    def is_result(self) -> bool:
        """True for a _Retval, a result of a function's body."""
        return self.op == "_Retval"

    @property
    def is_loop_condition(self) -> bool:
        """True for a LoopCond, the condition of a V1 loop."""
        return self.op == "LoopCond"

    @property
    def is_control_trigger(self) -> bool:
        """True for a ControlTrigger, a NoOp that runs even if all control inputs are dead."""
        return self.op == "ControlTrigger"

    @property
    def is_variable_read(self) -> bool:
        """True for a ReadVariableOp, the value of a variable behind a handle."""
        return self.op == "ReadVariableOp"

    @property
    def is_placeholder(self) -> bool:
        """True for a Placeholder of any kind, with or without a default."""
        return self.must_be_fed or self.op == "PlaceholderWithDefault"

    @property
    def must_be_fed(self) -> bool:
        """True for a Placeholder without a default: a run must feed a value."""
        return self.op in ("Placeholder", "PlaceholderV2")
