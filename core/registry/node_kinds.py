"""What a node is, where that one op has a part of its own in every graph."""

from __future__ import annotations

from typing import Final

ABSENT: Final = "Absent"
"""The op type of nodes that stand for inputs which do not exist, where a broken graph is loaded to be looked at."""


class OfKind:
    """Answers by the node's op; what holds for several ops is a fact, see op_facts."""

    __slots__ = ()

    op: str

    @property
    def is_constant(self) -> bool:
        """True for a Const, which holds its value in an attribute."""
        return self.op == "Const"

    @property
    def is_identity(self) -> bool:
        """True for an Identity, which hands one value on."""
        return self.op == "Identity"

    @property
    def is_no_op(self) -> bool:
        """True for a NoOp, which is there for its control edges."""
        return self.op == "NoOp"

    @property
    def is_argument(self) -> bool:
        """True for an _Arg, which gives a function's body one of its arguments."""
        return self.op == "_Arg"

    @property
    def is_loop_condition(self) -> bool:
        """True for a LoopCond, which says whether a V1 loop goes on."""
        return self.op == "LoopCond"

    @property
    def is_control_trigger(self) -> bool:
        """True for a ControlTrigger, a NoOp that runs even where what it waits for does not."""
        return self.op == "ControlTrigger"

    @property
    def is_variable_read(self) -> bool:
        """True for a ReadVariableOp, which gives the value of the variable behind a handle."""
        return self.op == "ReadVariableOp"

    @property
    def is_placeholder(self) -> bool:
        """True for a Placeholder of any kind, which stands for a feed."""
        return self.must_be_fed or self.op == "PlaceholderWithDefault"

    @property
    def must_be_fed(self) -> bool:
        """True for a Placeholder that has no value unless one is fed."""
        return self.op in ("Placeholder", "PlaceholderV2")
